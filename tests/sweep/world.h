/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * world.h - made-up networks with tables, as problems for method flows; and the judge of what comes out, who reads net and
 * tables only. Whatever fails ends the program.
 */
#ifndef FORS_TESTS_SWEEP_WORLD_H
#define FORS_TESTS_SWEEP_WORLD_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "core/planners/flows/pack.h"

/* What is wanted. */
struct world_wish {
	const char *spec;
	const char *tables; /* d-mod-k, or a name of model_tables.h */
	unsigned dead;	    /* cables between switches */
	unsigned empty;	    /* per cent of the places */
	unsigned most;	    /* servers, 0: 512 */
};

struct world {
	struct fors_net *net;
	struct fors_lfts *lfts;
	uint32_t nswitches; /* with servers */
	uint32_t nservers;
	uint32_t *leaf;	  /* per switch, in the order of the problem: node */
	uint32_t *first;  /* per switch: its first server */
	uint32_t *server; /* per server, by switch: node */
};

/* false: fewer than 50 servers, more than wished for, or they do not hang together. */
bool world_make(struct world *world, const struct world_wish *wish);
void world_clear(struct world *world);
void world_name(const struct world_wish *wish, char *text, size_t room);
/* Number switches and servers of a switch in any order. */
void world_shuffle(struct world *world, uint64_t seed);

/* The units and ways, to be cleared. */
void world_problem(const struct world *world, struct fors_flows_problem *problem);
/* max(P, flows of the fullest cable), counted along the tables. */
uint32_t world_bound(const struct world *world);
/* Are P and the fullest cable within 10 %? */
bool world_is_tight(const char *spec, const char *tables);
/* Walk all flows; false, and said: it is no plan. */
bool world_check(const struct world *world, const struct fors_flows_packing *packing, const char *what);

#endif
