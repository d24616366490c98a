/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_world.h - a tree of three levels to try things on, and a judge of its tables. Functions here end the running
 * cmocka test when something goes wrong that should not.
 */
#ifndef FORS_TESTS_PODS_WORLD_H
#define FORS_TESTS_PODS_WORLD_H

#include "support.h"

#include "core/base/random.h"
#include "core/fabric/pods.h"
#include "core/planners/pods/route.h"

/* A tree with LIDs, before anything fails, and what is left of it. */
struct world {
	struct fors_net *known, *now;
	struct fors_pods *pods;
	struct fors_pods_route *route;
};

void must(enum fors_err err, const struct fors_error *error);

/* The net of a specification, with LIDs; the caller's. */
struct fors_net *net_of(const char *text, unsigned lmc);

/*
 * Boards that all mids are cabled to, in place of the tops, `boards` of them: a director switch; leaves of a pod come
 * first at a mid's ports.
 */
void make_director(struct fors_net *net, uint32_t mids, unsigned leaves, uint32_t boards);
/* A gateway at a port of a switch, in place of what is there. */
void add_gateway(struct fors_net *net, const char *at, unsigned port);
/* A world of what was made, the net in its hands; the tops that boards replace are not there. */
struct world world_of(struct fors_net *net);
/* Both. */
struct world director_new(const char *text, uint32_t mids, unsigned leaves, uint32_t boards);

/* Nothing is down, and nothing looked at yet. */
void world_new(struct world *w, const char *text);
void world_free(struct world *w);

/* What `fors plan --down` takes. */
void take_down(struct world *w, const char *what);
/* All is alive again. */
void mend(struct world *w);

/* The tree as it is now, nothing drained. */
void look(struct world *w);
/* Tables of what was looked at. */
void make_tables(struct world *w, uint32_t effort);
/* Both. */
void route_with(struct world *w, uint32_t effort);
void route(struct world *w);

/* Walk every pair: up, then down, and to the right port. Nothing here comes from how the tables were made. */
void judge(const struct world *w);

/*
 * In no round two units have a link or a receiver, and no leaf has more than it has servers. By the tables as they are
 * written.
 */
void judge_rounds(const struct world *w);

/* Take down so many cables between mids and tops, any; the tree was looked at. */
void cut_top_cables(struct world *w, struct fors_random *random, unsigned n);

/* Plan over the tables, which are checked and judged; the number of phases. */
uint32_t plan_over(struct world *w);

#endif
