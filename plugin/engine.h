/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.h - the routing engine "fors" inside OpenSM.
 *
 * Threads: OpenSM calls the engine's callbacks and reports the events that are used
 * here from one thread, the sweeper. It owns all of struct fors_engine; the worker's thread
 * sees only the looks that it is given, and reads sm_state. Reports of changed tables come from a thread that has
 * received an answer: it looks at is_watching, and tells the worker.
 */
#ifndef FORS_PLUGIN_ENGINE_H
#define FORS_PLUGIN_ENGINE_H

#include "daemon/daemon.h"

struct osm_opensm;
struct osm_routing_engine;

struct fors_engine {
	struct osm_opensm *osm;
	struct fors_log log; /* OpenSM's */
	struct fors_daemon *daemon;
	bool is_stopped;	    /* OpenSM ends: the daemon's threads have */
	bool is_cache_old;	    /* OpenSM's unicast cache has brought back tables that are wrong now */
	uint64_t managers;	    /* fors_snapshot_managers() when fors filled the tables last time */
	bool is_watching;	    /* the next report of changed tables matters; atomic, any thread */
	uint64_t first_us, last_us; /* when switches confirmed blocks of this sweep, 0: none has; atomic, any thread */
	uint64_t awaited;	    /* number of the tables that this sweep sends, 0: none, or not any more */
	uint64_t over_digest;	    /* of another engine's tables when they were last copied; 0: never */
};

/*
 * An engine with its worker running, or NULL (logged). Bad settings are no reason for NULL: the
 * engine then declines until a sweep finds them mended.
 */
struct fors_engine *fors_engine_new(struct osm_opensm *osm);
/* Its threads must have ended, or end now. NULL is allowed. */
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
