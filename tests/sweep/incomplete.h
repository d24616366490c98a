/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incomplete.h - random two-level trees that lack cables from the beginning, and which entries of their tables move when
 * more is lost. Who counts reads nets and tables only. Whatever fails ends the program.
 */
#ifndef FORS_TESTS_SWEEP_INCOMPLETE_H
#define FORS_TESTS_SWEEP_INCOMPLETE_H

#include "core/base/random.h"
#include "core/fabric/fabric.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"

/* How a tree is cabled. */
struct incomplete_plan {
	uint32_t nleaves, nspines;
	uint32_t most;	  /* parallel cables of a leaf and a spine */
	uint8_t *cables;  /* [leaf * nspines + spine] */
	uint8_t *servers; /* [leaf] */
	bool is_shuffled; /* GUIDs and ports in no order */
};

/* A tree, nothing dead, and what has a place in it. */
struct incomplete {
	struct incomplete_plan plan;
	struct fors_net *net; /* with LIDs */
	struct fors_places *places;
	uint32_t nservers;
};

/*
 * A random plan of at most so many servers: missing pairs, uneven leaves, parallel cables, alike everywhere or not. Freed with
 * incomplete_clear().
 */
void incomplete_draw(struct incomplete *tree, struct fors_random *random, uint32_t most_servers);
/* Net and places of tree->plan; false: it does not hang together, or is no tree for fors. */
bool incomplete_build(struct incomplete *tree, struct fors_random *random, unsigned lmc);
void incomplete_clear(struct incomplete *tree);

/* A copy of a net, the caller's. */
struct fors_net *incomplete_copy(const struct fors_net *net);
/* The cables between switches: node of the lower end and its port, for each; how many. Owned by the caller. */
struct incomplete_cable {
	uint32_t leaf;
	uint8_t port;
};
uint32_t incomplete_cables(const struct incomplete *tree, struct incomplete_cable **cable);

/* The fabric of a net over places, the caller's. */
struct fors_fabric *incomplete_fabric(const struct fors_net *net, const struct fors_places *places);
struct fors_lfts *incomplete_tables(const struct fors_fabric *fabric);

/* Entries for servers that are one thing before and another thing after. */
struct incomplete_moves {
	uint32_t lost;	/* in leaves: their way died */
	uint32_t moved; /* in leaves: their way lives, and they are another one all the same */
	uint32_t spine; /* in spines: they are another one although their cable lives */
};
/* Compare tables, walking the ways of `was` over what lives in `net`. */
struct incomplete_moves incomplete_compare(const struct fors_net *net, const struct fors_lfts *was,
					   const struct fors_lfts *is);

#endif
