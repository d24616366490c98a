/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * look.h - one look at the fabric, which the source hands to the worker. It owns copies of all that it speaks of.
 * Thread rules: plain data of whoever has it.
 */
#ifndef FORS_DAEMON_LOOK_LOOK_H
#define FORS_DAEMON_LOOK_LOOK_H

#include "core/fabric/holddown.h"
#include "core/base/warnings.h"
#include "core/fabric/drained.h"
#include "core/fabric/fattree.h"
#include "core/net/lfts.h"
#include "core/planners/method.h"
#include "core/tables/tables.h"
#include "daemon/base/conf.h"
#include "levels.h"
#include "claim.h"

enum fors_look_kind {
	FORS_LOOK_ROUTED,     /* fors made these tables; the switches will hold them soon: plan, do not publish */
	FORS_LOOK_INSTALLED,  /* the switches hold these tables: publish */
	FORS_LOOK_INCOMPLETE, /* they hold these, but the sweep met errors (reason): publish nothing new */
	FORS_LOOK_DECLINED,   /* fors does not route this fabric (reason): withdraw */
};

/*
 * What a look says of tables that the plan is made over as they are: another engine's, or those of fors in a tree of
 * three levels, over which the plan begins with the rounds that they were made with.
 */
struct fors_look_given {
	bool has_participants; /* false: all servers take part */
	struct fors_participants participants;
	struct fors_levels *levels; /* service levels; NULL: not known */
	uint64_t basis;		    /* fors_look_basis(), see fors_look_seal() */
	uint64_t changes;	    /* fors_worker_changes() when another engine's tables were looked at */
};

struct fors_look {
	enum fors_look_kind kind;
	uint64_t number;      /* routed, and installed in the same sweep: of fors's tables, 1, 2, ...; else 0 */
	bool is_active;	      /* routed: all ports that flows may pass were active when the sweep found them */
	struct fors_net *net; /* owned, as all that follows; of a declined look as far as it was understood, or NULL */
	struct fors_fattree
		tree; /* borrows net; its kind is NULL where the tables are another engine's, or it is none */
	struct fors_fabric *fabric; /* the tree's, of two levels, not owned; NULL: there is none */
	struct fors_floors
		floors; /* where lanes of jobs are shared out, if table entries of jobs are wanted; else empty */
	struct fors_lfts *lfts;
	struct fors_pods_route *rounds; /* what the tables were made with; NULL: nothing, or nobody knows */
	struct fors_look_given *given; /* NULL: the tables are fors's own, of two levels, or nobody planned over them */
	char tables_by[48];	       /* routing engine that made the tables; empty: not known */
	double tables_ms;	       /* time to fill the tables, negative: unknown */
	double check_ms;	       /* of this, to check them; likewise */
	struct fors_plan_limits limits; /* of fors.conf */
	const char *chosen_by;		/* the setting that says who takes part, a constant; NULL: nobody is left out */
	char fabric_name[64];		/* of fors.conf; empty: none */
	char jobs_file[FORS_CONF_LINE_MAX];   /* of fors.conf: each job in it gets a schedule of its own; empty: none */
	char demand_file[FORS_CONF_LINE_MAX]; /* likewise; empty: none */
	char demand_dir[FORS_CONF_LINE_MAX];  /* likewise; empty: jobs have no demands */
	bool jobs_move;			      /* likewise: running jobs do not prefer the lanes that they have */
	bool job_index, job_routes;	      /* likewise: see settings.h */
	struct fors_claim *claim; /* whose entries, as far as they are right, are in these tables, held; NULL: none */
	uint64_t
		refused; /* number of the claim that the tables came without, since they would have been wrong; 0: none */
	char reason[FORS_ERROR_TEXT];
	struct fors_warnings warnings; /* about drained cables, absent participants, and what tables leave out */
	struct fors_flap *flap;	       /* nflaps hosts that are held, or flap; NULL: there are none */
	uint32_t nflaps;
	struct fors_slow slow; /* what was decided about slow cables; all zero: there are none */
	uint64_t
		due_ms; /* by fors_clock_ms(): when a sweep is due, since a held cable may return or homes be ranked; 0: none */
	bool is_wrong;	     /* installed: the switches hold what fors would not have them hold, as the warnings say */
	uint64_t withdrawal; /* installed: homes shall be ranked, withdraw and say that this number is done; 0: no */
};

/* An empty look, or NULL when out of memory. */
struct fors_look *fors_look_new(enum fors_look_kind kind);
/* Free the look and what it owns; NULL is allowed. */
void fors_look_free(struct fors_look *look);

/*
 * Let the look be one over tables as they are: look->given, for these participants (copied; NULL: all servers). Its
 * net, tables and levels are to be filled in, then it is sealed. Errors: FORS_ENOMEM.
 */
enum fors_err fors_look_take_given(struct fors_look *look, const struct fors_participants *participants,
				   struct fors_error *error);
/*
 * Make the tree of look->net, of these places; what it was before is forgotten. Where the plan will be made over the tables
 * as they are, look->given is there, too. Errors of fors_fattree_build().
 */
enum fors_err fors_look_be_tree(struct fors_look *look, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_error *error);
/*
 * The floors of the tree as it is now, with what is drained; look->floors stays empty where a tree has none (it shares its
 * tops between planes, or has too many lanes). Errors: FORS_ENOMEM.
 */
enum fors_err fors_look_be_shared(struct fors_look *look, struct fors_error *error);

/* Both show the same tables: `newer` takes what they were made with from `older`, should it not know. */
void fors_look_inherit(struct fors_look *newer, struct fors_look *older);

/* All of a look with `given` is there: compute its basis. */
void fors_look_seal(struct fors_look *look);

/* Did another engine make the tables? */
static inline bool fors_look_is_foreign(const struct fors_look *look)
{
	return look->given && !look->tree.kind;
}

/* Does the look show what can be planned for? */
static inline bool fors_look_has_tables(const struct fors_look *look)
{
	return look->tree.kind || look->given;
}

/*
 * The digest of all that a plan for the look depends on: fabric, tables, method; or cables, tables, service levels and
 * who takes part, where another engine made the tables. The look has tables.
 */
uint64_t fors_look_basis(const struct fors_look *look);

/* The digest of the fabric: the same as long as no cable and no participant is another. The look has tables. */
uint64_t fors_look_fingerprint(const struct fors_look *look);

/* The digest of places and what of them lives; 0: the look has no tree. */
uint64_t fors_look_tree(const struct fors_look *look);

/* The digest of what the status shows of cables and engines, and of the warnings. The look has tables. */
uint64_t fors_look_view(const struct fors_look *look);

/* Does `newer` make it pointless to go on with `current`? */
bool fors_look_overtakes(const struct fors_look *newer, const struct fors_look *current);

/* Do both show the same cables and tables, byte for byte? */
bool fors_look_same_tables(const struct fors_look *a, const struct fors_look *b);

#endif
