/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sims.h - what tests of simulations share: graphs and ways by hand, programs, and runs in which nothing may be lost.
 */
#ifndef FORS_TESTS_SIMS_H
#define FORS_TESTS_SIMS_H

#include "lab/sim/sim.h"
#include "unit.h"

#define HAND_MOST_LINKS 8

/* A way for each pair of servers, at most eight of them; 0 links: none. */
struct hand {
	struct fors_graph *graph; /* to be freed */
	uint32_t n, length[64];
	uint32_t link[64][HAND_MOST_LINKS];
};

struct fors_router hand_router(const struct hand *hand);
/*
 * n servers (at most 8) with a switch each, switches in a ring, ways of at most `hops` clockwise; links s up, n + s down,
 * 2n + s on.
 */
void hand_ring(struct hand *hand, uint32_t n, uint32_t hops);
/* One switch, at most 8 servers: server s has link s up and n + s down. */
void hand_star(struct hand *hand, uint32_t n);

/* The program of a pattern's name, or of the lines of a pattern file. To be freed. */
struct fors_program *sims_program(const char *name, uint32_t nservers, uint64_t seed);
struct fors_program *sims_text(const char *text, uint32_t nservers);

/*
 * The result, to be freed; the test ends unless nothing is lost, nothing is out of order, and nothing is faster than its
 * links. All links run at 200 Gbit/s unless the settings say something else.
 */
struct fors_sim_result *sims_run(const struct fors_router *router, const struct fors_program *program,
				 const struct fors_sim_settings *set);

/* One speed for all links of a graph, to be freed. */
double *sims_speeds(const struct fors_graph *graph, double gbits);

/* Packets of 1,000 bytes at 8 Gbit/s, so that a byte is 1 ns and a packet 1 us; for stars of four. */
struct fors_sim_settings sims_plain(void);
/* The time of a program, or of a text's messages, over a star of four, ps. */
uint64_t sims_star_time_of(const struct fors_program *program, const struct fors_sim_settings *set);
uint64_t sims_star_time(const char *text, const struct fors_sim_settings *set);

#define US 1000000u /* ps */

#endif
