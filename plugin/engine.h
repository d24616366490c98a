/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.h - the routing engine "fors" inside OpenSM.
 *
 * Threads: OpenSM calls the engine's callbacks and reports the events that are used
 * here from one thread, the sweeper. It owns all of struct fors_engine; the worker's thread
 * sees only the jobs that it is given, and reads sm_state. Reports of changed tables come from a thread that has
 * received an answer: it looks at is_watching, and tells the worker.
 */
#ifndef FORS_PLUGIN_ENGINE_H
#define FORS_PLUGIN_ENGINE_H

#include "core/fabric/fabric.h"
#include "keeper/worker/advisor.h"
#include "keeper/look/drain.h"
#include "keeper/look/kept.h"
#include "keeper/settings/loader.h"
#include "keeper/look/rehome.h"
#include "keeper/settings/settings.h"
#include "keeper/worker/worker.h"

struct osm_opensm;
struct osm_routing_engine;

struct fors_engine {
	struct osm_opensm *osm;
	bool is_fresh;			/* the settings have not been read again since opensm started */
	bool has_built;			/* fors made tables in this sweep */
	bool is_cache_old;		/* OpenSM's unicast cache has brought back tables that are wrong now */
	struct fors_loader *loader;	/* reads them */
	bool is_told;			/* the log knows that one of their files does not answer */
	struct fors_settings *settings; /* in force; NULL: none were ever good, see trouble */
	struct fors_kept kept;		/* the kept order */
	struct fors_drain drain;	/* drained cables */
	struct fors_rehome rehome;	/* when homes are ranked afresh */
	struct fors_folder folder;	/* where the worker publishes */
	struct fors_advisor *advisor;	/* what to mend first */
	struct fors_outbox *outbox;	/* copies for publish_dir, and publish_command */
	struct fors_worker *worker;
	char trouble[FORS_ERROR_TEXT];	/* why the settings could not be loaded last time, or "" */
	char declined[FORS_ERROR_TEXT]; /* why fors did not fill the tables last time, or "" */
	struct fors_claim *claim;	/* in the tables that were filled last, held; NULL: none */
	uint64_t refused;		/* number of the one that they came without; 0: none */
	struct fors_look *spare;		/* for when there is no memory to say so in; NULL: used up */
	bool is_short;			/* memory ran out in this sweep: the next one has to try again */
	uint64_t managers;		/* fors_snapshot_managers() when fors filled the tables last time */
	bool is_watching;		/* the next report of changed tables matters; atomic, any thread */
	uint64_t first_us, last_us; /* when switches confirmed blocks of this sweep, 0: none has; atomic, any thread */
	uint64_t tables;	    /* how often tables have been filled: their number */
	uint64_t awaited;	    /* number of those that this sweep sends, 0: none, or not any more */
	uint64_t over_digest;	    /* of another engine's tables when they were last copied; 0: never */
	double tables_ms;	    /* how long filling the tables took last time, negative: unknown */
	double check_ms;	    /* of this, checking them; likewise */
	uint64_t told_left;	    /* digest of what fors_engine_check() wrote to the log last */
};

/*
 * An engine with its worker running, or NULL (logged). Bad settings are no reason for NULL: the
 * engine then declines until a sweep finds them mended.
 */
struct fors_engine *fors_engine_new(struct osm_opensm *osm);
/* The worker must have been stopped, or is stopped now. NULL is allowed. */
void fors_engine_free(struct fors_engine *engine);

/* The engine's setup() in OpenSM's list of modules; routing->context is the engine. Returns 0. */
int fors_engine_setup(struct osm_routing_engine *routing, struct osm_opensm *osm);

/*
 * Read the settings again. Without OpenSM's lock. To be called when a heavy sweep has discovered the fabric and has not
 * routed it: OpenSM begins its discovery anew, without a word, when a SIGHUP comes while it lasts.
 */
void fors_engine_reload(struct fors_engine *engine);
/* A switch has confirmed a change of its tables. Any thread, OpenSM's lock may be held: only a note is taken. */
void fors_engine_note_change(struct fors_engine *engine);
/* Routing is done, the sweep is not: are the tables that another engine made the same? Without OpenSM's lock. */
void fors_engine_check_tables(struct fors_engine *engine);
/* Routing is done, the sweep is not: tell the worker if the switches hold the tables of this sweep. Without OpenSM's lock. */
void fors_engine_note_tables(struct fors_engine *engine);
/* A step of the sweep comes now. Any thread, any lock may be held. */
void fors_engine_note_step(struct fors_engine *engine, enum fors_step step);
/* A switch has confirmed a block. Likewise; for each block, so it costs next to nothing. */
void fors_engine_note_block(struct fors_engine *engine);
/* A heavy sweep begins, ends or is broken off. Any lock may be held. */
void fors_engine_note_sweep(struct fors_engine *engine, enum fors_sweep sweep);
/* A sweep or a reroute is complete: look again, and tell the worker what the switches hold now. Without OpenSM's lock. */
void fors_engine_observe(struct fors_engine *engine);

#endif
