/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis.h - what `fors analyze` works on and finds out; `fors indices` and `fors simulate` begin in the same way.
 * Thread rules: one thread.
 */
#ifndef FORS_LAB_ANALYZE_ANALYSIS_H
#define FORS_LAB_ANALYZE_ANALYSIS_H

#include "cli/cli.h"
#include "ends.h"
#include "core/net/tree_spec.h"
#include "core/schedule/schedule.h"
#include "cli/json.h"
#include "lab/model/optimum/cuts.h"
#include "lab/model/measure/costs.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/jobs.h"
#include "lab/model/measure/spread.h"
#include "lab/model/routers/dump.h"
#include "lab/model/routers/tree_router.h"
#include "lab/model/routers/router.h"
#include "lab/model/routers/routes.h"
#include "lab/options.h"

#define CLI_USUAL_GBITS 200 /* of a link of which nothing says more */

/* A cable that the fabric had. */
struct cli_dead_cable {
	char a[FORS_NAME_MAX + 1], b[FORS_NAME_MAX + 1];
	uint32_t a_node, b_node; /* in the net */
	uint8_t a_port, b_port;
};

struct cli_analysis {
	struct cli_site site;
	struct cli_fabric made;	    /* net; fabric and lanes where it is a two-level fat-tree */
	struct fors_tree_spec spec; /* has_tree: routed by rules, not by tables */
	struct fors_tree_paths paths;
	struct fors_graph *bare;    /* of a tree that is too large for a net */
	struct fors_routes *routes; /* NULL: there is no net */
	struct fors_router router;
	struct fors_schedule *plan; /* pattern plan, or --schedule */
	struct fors_pattern *pattern;
	struct fors_efi_jobs jobs;
	struct fors_evaluation *result;
	struct fors_efi *efi;	       /* NULL: no --jobs, and too many servers */
	struct fors_mismatch mismatch; /* tables from a file only */
	bool tells_lids;	       /* the fabric has none, and the tables say whose they are */
	struct cli_dead_cable *dead;   /* ndead */
	size_t ndead;
	uint32_t nslow;		    /* directed links that are slower than a flow could be */
	uint32_t nspectators;	    /* adapters on spines, which take no part */
	double optimum;		    /* aggregate over all routings, negative: not asked */
	bool is_optimum_exact;	    /* else it is a bound */
	struct fors_spread *spread; /* NULL: no --policy */
	const char *spread_name;
	bool has_tree;
	bool has_costs, has_fitted; /* costs, line and message count; costs.phase is what --measured asked for */
	struct fors_costs costs;
	double line;	  /* Gbit/s of a server's cable, on average */
	uint64_t message; /* bytes */
	char title[256], routing[64], pattern_name[64];
};

/* --- analysis.c ----------------------------------------------------------------------------------------------- */

/* Fabric and router, nothing of patterns. Returns an exit code; to be freed in any case. */
int cli_analysis_load(const struct cli_settings *settings, struct cli_analysis *analysis);
/* These, and the pattern. Returns an exit code; to be freed in any case. */
int cli_analysis_prepare(const struct cli_settings *settings, struct cli_analysis *analysis);
/* The jobs in the file, unless they were read before; without a file one of all servers, where these are not too many. */
int cli_analysis_jobs(const char *path, struct cli_analysis *analysis);
/* Load all, evaluate all. Returns an exit code; to be freed in any case. */
int cli_analyze(const struct cli_settings *settings, struct cli_analysis *analysis);
void cli_analysis_free(struct cli_analysis *analysis);
/* Do all flows arrive, and do tables and fabric belong together? */
bool cli_analysis_is_sound(const struct cli_analysis *analysis);

/* --- analysis_net.c ------------------------------------------------------------------------------------------- */

/* Net and tables of files, or under fors's own rules, and the routes. Returns an exit code. */
int cli_analysis_load_net(const struct cli_settings *settings, struct cli_analysis *analysis);
/* A net under a model of a routing engine. Returns an exit code. */
int cli_analysis_load_model(const struct cli_settings *settings, const char *model, struct cli_analysis *analysis);
/* Other tables of the net, which are taken, than those that everything was loaded with. Returns an exit code. */
int cli_analysis_replace_tables(struct cli_analysis *analysis, struct fors_lfts *lfts);
/* A net under scheduling-aware routing, for the jobs of --jobs, which are read too. Returns an exit code. */
int cli_analysis_load_sar(const struct cli_settings *settings, struct cli_analysis *analysis);
/* Routes between the servers of analysis->made, and their router. Returns an exit code. */
int cli_analysis_routes(struct cli_analysis *analysis);
/* Fill dead[] and ndead with the cables that the fabric had. Returns an exit code. */
int cli_analysis_find_dead(struct cli_analysis *analysis);

/* --- analysis_tree.c ------------------------------------------------------------------------------------------ */

/* A synthetic fabric under a rule of --routing. Returns an exit code. */
int cli_analysis_load_tree(const struct cli_settings *settings, struct cli_analysis *analysis);
/* What --optimum asks. Returns an exit code. */
int cli_analysis_optimum(struct cli_analysis *analysis);
/* The cuts between the router's servers, and the graph that they are of; NULL when it is a tree without failures. */
enum fors_err cli_analysis_cuts(const struct cli_analysis *analysis, struct fors_cuts **cuts, struct fors_graph **graph,
				struct fors_error *error);

/* --- analysis_blocks.c ---------------------------------------------------------------------------------------- */

/* The blocks of --blocks, or a synthetic Dragonfly's groups, in *blocks; none: unchanged, an error where TAGO needs them. */
int cli_analysis_blocks(const struct cli_settings *settings, bool is_tago, const struct cli_analysis *analysis,
			struct fors_blocks **blocks);

/* --- analysis_costs.c ----------------------------------------------------------------------------------------- */

/* Gbit/s of a link: what the options say, else the text of the fabric, else the usual. routes: NULL where there is no net. */
double cli_analysis_speed(const struct cli_simulate *given, const struct fors_routes *routes, uint32_t link);
/* Gbit/s by loads and fixed costs, where options ask for them: fills costs. Returns an exit code. */
int cli_analysis_costs(const struct cli_settings *settings, struct cli_analysis *analysis);
void cli_analysis_print_costs(const struct cli_analysis *analysis);
/* New reference; null where nobody asked. */
json_t *cli_analysis_costs_json(const struct cli_analysis *analysis);

/* --- analysis_spread.c ---------------------------------------------------------------------------------------- */

/* The pattern by the policy that is asked for: fills spread. Returns an exit code. */
int cli_analysis_spread(const struct cli_settings *settings, struct cli_analysis *analysis);
void cli_analysis_print_spread(const struct cli_analysis *analysis);
/* New reference; null where nobody asked. */
json_t *cli_analysis_spread_json(const struct cli_analysis *analysis);

/* --- analysis_json.c ------------------------------------------------------------------------------------------ */

/* What --json prints; NULL when out of memory. To be released with json_decref(). */
json_t *cli_analysis_json(const struct cli_analysis *analysis, const struct cli_settings *settings);

/* --- analysis_page.c ------------------------------------------------------------------------------------------ */

/* What a page says of a link: two values. */
typedef void cli_link_values(const void *context, uint32_t link, double value[2]);

/*
 * Put what a page draws of the fabric into `object`: switches, cables and servers with the values of their links, dead
 * cables. False: out of memory.
 */
bool cli_analysis_draw(const struct cli_analysis *analysis, cli_link_values *values, const void *context,
		       json_t *object);
/* All that the page of fors analyze shows; NULL when out of memory. To be released with json_decref(). */
json_t *cli_analysis_page(const struct cli_analysis *analysis, const struct cli_settings *settings);

#endif
