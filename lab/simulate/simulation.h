/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simulation.h - what `fors simulate` works on and finds out.
 * Thread rules: one thread.
 */
#ifndef FORS_LAB_SIMULATE_SIMULATION_H
#define FORS_LAB_SIMULATE_SIMULATION_H

#include "lab/analyze/analysis.h"
#include "lab/options.h"
#include "lab/sim/sim.h"

struct cli_simulation {
	struct cli_analysis analysis; /* fabric, router, pattern; nothing of it is evaluated */
	struct fors_program *program;
	double *gbits; /* per link */
	struct fors_hops *hops;
	struct fors_blocks *blocks;
	struct fors_sim_settings set;
	struct fors_sim_result *result;
	double crossbar; /* Gbit/s per server on one switch for all; 0: not asked */
	double healthy;	 /* Gbit/s per server that --healthy says; 0: it does not */
	double load;	 /* --load; 0: none */
	double line;	 /* Gbit/s of a server's cable, on average */
	bool has_fitted; /* set.barrier is what --measured asked for */
};

/* Load all, simulate. Returns an exit code; to be freed in any case. */
int cli_simulation_run(const struct cli_settings *settings, struct cli_simulation *simulation);
void cli_simulation_free(struct cli_simulation *simulation);
/* Servers that send anything. */
uint32_t cli_simulation_senders(const struct cli_simulation *simulation);
/* Has all arrived? */
bool cli_simulation_is_sound(const struct cli_simulation *simulation);

/* What the options say, and what is usual; without seed and progress. */
struct fors_sim_settings cli_simulation_settings(const struct cli_simulate *given, const double *gbits);

/* "Leaf00[21] -> Spine00[1]", or a number where links have no names. */
void cli_simulation_link(const struct cli_simulation *simulation, uint32_t link, char *text, size_t room);
/*
 * Slots, or links, by what stalled longest: their numbers in *list, owned by the caller; how many. 0 also: out of
 * memory.
 */
uint32_t cli_simulation_worst_links(const struct cli_simulation *simulation, uint32_t **list);
uint32_t cli_simulation_worst_steps(const struct cli_simulation *simulation, uint32_t **list);

/* --- simulation_load.c ---------------------------------------------------------------------------------------- */

/* Gbit/s of the servers' own cables: of server s [s] from it, [nservers + s] to it. To be freed; NULL: out of memory. */
double *cli_simulation_server_speeds(const struct cli_simulation *simulation);
/* The program becomes load at random moments, to those that it sends to. Returns an exit code. */
int cli_simulation_offer(const struct cli_simulate *given, struct cli_simulation *simulation);

/* --- simulation_wait.c ---------------------------------------------------------------------------------------- */

/* What the options say of who waits for whom. */
void cli_simulation_wait_settings(const struct cli_simulate *given, struct fors_sim_settings *set);
/* The program with ranks, sizes and chunks, as the options say. Returns an exit code. */
int cli_simulation_reshape(const struct cli_simulate *given, struct cli_simulation *simulation);
/* For people, who waits for whom. */
void cli_simulation_print_wait(const struct cli_simulate *given, const struct cli_simulation *simulation);
/* For programs: keys into the object. */
void cli_simulation_wait_json(const struct cli_simulate *given, const struct cli_simulation *simulation,
			      json_t *object);

/* --- simulation_policy.c -------------------------------------------------------------------------------------- */

/* What the options say of the policy and its lanes. */
void cli_simulation_policy_settings(const struct cli_simulate *given, struct fors_sim_settings *set);
int cli_simulation_check_policy(const struct cli_simulate *given);
/* Next hops and blocks, for a policy that needs them. Returns an exit code. */
int cli_simulation_make_policy(const struct cli_settings *settings, struct cli_simulation *simulation);

/* --- simulation_json.c ---------------------------------------------------------------------------------------- */

/* What --json prints; NULL when out of memory. To be released with json_decref(). */
json_t *cli_simulation_json(const struct cli_simulation *simulation, const struct cli_settings *settings);

/* --- simulation_page.c ---------------------------------------------------------------------------------------- */

/* What the page shows; NULL when out of memory. To be released with json_decref(). */
json_t *cli_simulation_page(const struct cli_simulation *simulation, const struct cli_settings *settings);

#endif
