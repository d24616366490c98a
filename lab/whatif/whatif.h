/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif.h - `fors whatif`: failures, what each costs under each engine, and where that is kept.
 * Thread rules: whatif_run() has threads of its own, which call whatif_net(), whatif_shift(), whatif_engine(),
 * whatif_is_stopped(), and one at a time whatif_store_add(). The rest is for one thread.
 */
#ifndef FORS_LAB_WHATIF_WHATIF_H
#define FORS_LAB_WHATIF_WHATIF_H

#include <stdatomic.h>

#include "cli/cli.h"
#include "core/net/dump_lids.h"
#include "lab/analyze/ends.h"
#include "cli/json.h"
#include "core/net/lfts.h"
#include "core/planners/planner.h"
#include "cli/options.h"
#include "lab/model/measure/shift.h"
#include "lab/options.h"

enum whatif_kind { WHATIF_INTACT, WHATIF_LINK, WHATIF_SPINE, WHATIF_RANDOM };

/* A failure: cables that are cut, each named by one of its ends. */
struct whatif_case {
	enum whatif_kind kind;
	uint32_t ncut;
	struct whatif_cut {
		uint32_t node; /* leaf */
		uint8_t port;
	} * cut;    /* owned */
	char *name; /* owned; "Leaf00[21] - Spine00[1]"; unique */
};

/* What a failure leaves under an engine. */
struct whatif_result {
	bool is_known;
	double throughput;  /* of the exchange, 1: full speed; 0: some servers are cut off from each other */
	double shift;	    /* of the linear shift over base LIDs, without a plan */
	double planned;	    /* of the exchange by fors's plan over the engine's tables; of fors: throughput; 0: none */
	uint32_t phases;    /* of the plan; 0: there is none */
	uint32_t max_load;  /* of the linear shift */
	uint64_t broken;    /* flows of the linear shift that do not arrive */
	uint64_t changed;   /* table entries that differ from the intact fabric's; engines other than fors: 0 */
	double gbits;	    /* per server, by fors's plan, simulated; 0: there is none, or not asked */
	double shift_gbits; /* the same by the linear shift without a plan */
	char note[256];	    /* the method of the plan, or what went wrong */
};

#define WHATIF_MAX_ENGINES 9

struct whatif {
	struct cli_site site;
	struct cli_fabric intact; /* with LIDs; under a model net and tables only */
	const struct cli_source *source;
	const char *model; /* --routing: engine[0] is this model instead of fors; NULL: fors */
	const char *fabric_name;
	uint32_t nservers;
	unsigned lmc;
	unsigned threads;
	struct whatif_case *cases; /* ncases; 0 is the intact fabric */
	uint32_t ncases;
	const char **name;			/* per node of the intact net, for people; the names are borrowed */
	const char *engine[WHATIF_MAX_ENGINES]; /* engine[0] is "fors", or the model */
	uint32_t nengines;
	struct whatif_result *result; /* ncases x nengines */
	struct fors_shift *shift;     /* of the intact fabric under engine[0], to compare others with; or NULL */
	FILE *store;		      /* --resume, or NULL */
	struct cli_simulate
		simulate; /* is_wanted: each failure is simulated; its barrier is the fitted one. Texts are not owned */
	atomic_uint done; /* results that are known */
};

static inline struct whatif_result *whatif_at(const struct whatif *whatif, uint32_t number, uint32_t engine)
{
	return &whatif->result[(size_t)number * whatif->nengines + engine];
}

/* --- whatif_cases.c ------------------------------------------------------------------------------------------- */

/* The intact fabric, all cables, all spines, and `count` random sets of k cables. Returns an exit code. */
int whatif_list(struct whatif *whatif, unsigned k, unsigned count, unsigned seed);

/* --- whatif_net.c --------------------------------------------------------------------------------------------- */

/* The net of a case, without its cables, in *net, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err whatif_net(const struct whatif *whatif, const struct whatif_case *one, struct fors_net **net,
			 struct fors_error *error);
/*
 * The servers of a net of this site, in the order of plans, in *list (owned by the caller) and *count. Errors:
 * FORS_ENOMEM, FORS_ELIMIT.
 */
enum fors_err whatif_servers(const struct whatif *whatif, const struct fors_net *net, struct fors_endpoint **list,
			     uint32_t *count, struct fors_error *error);

/* --- whatif_shift.c ------------------------------------------------------------------------------------------- */

/* The linear shift over the tables of the intact fabric, in whatif->shift. Errors: FORS_ENOMEM. */
enum fors_err whatif_shift_intact(struct whatif *whatif, struct fors_error *error);
/*
 * The linear shift over these tables into *result, with --simulate in Gbit/s too. `like`: what to compare them with,
 * which takes less work; NULL: nothing.
 */
enum fors_err whatif_shift(const struct whatif *whatif, const struct fors_shift *like, const struct fors_net *net,
			   const struct fors_lfts *lfts, const struct fors_endpoint *server, uint32_t count,
			   struct whatif_result *result, struct fors_error *error);

/*
 * What fors's plan over these tables would make of the exchange, into *result, and the plan in *plan (NULL: nobody
 * wants it), owned by the caller; that there is none, NULL, is an answer too. rounds: what tables of fors in a tree of
 * three levels were made with, or NULL. Errors: FORS_ENOMEM.
 */
enum fors_err whatif_plan_over(const struct whatif *whatif, const struct fors_net *net, const struct fors_lfts *lfts,
			       const struct fors_pods_route *rounds, struct whatif_result *result,
			       struct fors_schedule **plan, struct fors_error *error);

/* --- whatif_simulate.c ---------------------------------------------------------------------------------------- */

/*
 * What a plan (NULL: the linear shift) gives each of `count` servers over these tables, packet by packet, in *gbits; 0 when
 * not all arrives. Any thread. Errors: FORS_EINPUT (settings that make no sense), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err whatif_simulate(const struct whatif *whatif, const struct fors_net *net, const struct fors_lfts *lfts,
			      const struct fors_endpoint *server, uint32_t count, const struct fors_schedule *plan,
			      double *gbits, struct fors_error *error);
/* Find the cost of a barrier for --measured, by the linear shift over the intact fabric. Returns an exit code. */
int whatif_fit(struct whatif *whatif, double gbits);

/* --- whatif_run.c --------------------------------------------------------------------------------------------- */

/*
 * Find out what is not known yet, on all processors; Ctrl-C stops it and says how to go on. Returns an exit code,
 * CLI_NO when fors has no plan even for the intact fabric (the user has been told why).
 */
int whatif_run(struct whatif *whatif);
/*
 * The plan that fors makes for a tree of two levels with tables of its own, into *result; one that the verifier refutes counts as
 * none. server[]: of the tree, needed where it is to be simulated. Errors: FORS_ENOMEM, those of whatif_simulate().
 */
enum fors_err whatif_plan(const struct whatif *whatif, const struct cli_fabric *made,
			  const struct fors_endpoint *server, struct whatif_result *result, struct fors_error *error);

/* --- whatif_engine.c ------------------------------------------------------------------------------------------ */

/* Are ibsim and opensm here? Returns an exit code. */
int whatif_engine_check(void);
/* A case under a stock engine, run by the opensm of this machine on a simulated fabric, into *result. */
enum fors_err whatif_engine(const struct whatif *whatif, const struct whatif_case *one, const char *engine,
			    struct whatif_result *result, struct fors_error *error);

/* --- whatif_stop.c -------------------------------------------------------------------------------------------- */

/* From here on SIGINT, SIGTERM and SIGHUP only ask to stop, so that simulations can be cleared away. */
void whatif_stop_watch(void);
bool whatif_is_stopped(void);
/* End as the signal wanted, if there was one. */
void whatif_stop_now(void);

/* --- whatif_store.c ------------------------------------------------------------------------------------------- */

/* Take the results that a file has, and have new ones appended to it. Returns an exit code. */
int whatif_store_open(struct whatif *whatif, const char *path);
/* Append a result; does nothing without --resume. */
void whatif_store_add(struct whatif *whatif, uint32_t number, uint32_t engine);
/* After the last result: is all of it in the file? Returns an exit code. */
int whatif_store_close(struct whatif *whatif, const char *path);

/* --- whatif_json.c -------------------------------------------------------------------------------------------- */

/* Worst first: the order of the failures (cases without the intact one) in order[], ncases - 1 of them. */
void whatif_sort(const struct whatif *whatif, uint32_t *order);
/* What --json prints, and all that the page shows; NULL when out of memory. To be released with json_decref(). */
json_t *whatif_json(const struct whatif *whatif, const uint32_t *order);
json_t *whatif_page(const struct whatif *whatif, const uint32_t *order);

#endif
