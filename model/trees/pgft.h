/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pgft.h - fat-trees of any height from a specification, and single-path routing in them.
 *
 *      XGFT(h; m0,...,mh-1; w0,...,wh-1)              extended generalised fat-tree
 *      PGFT(h; m0,...,mh-1; w0,...,wh-1; p0,...,ph-1) the same with parallel cables
 *
 * Level 0 are the servers, level h the roots. A node of level i has w[i] parents, p[i] cables to each
 * of them, and a node of level i+1 has m[i] children (Mollah et al., section 2.1). XGFT(2;S,M;1,S) is FT(2;S,M).
 *
 * Numbers. A level-k subtree is an XGFT of height k; server s lies in number s / (m[0]...m[k-1]) of them.
 * Its roots are the level-k switches; switch x of level k stands in subtree x / (w[0]...w[k-1]), and
 * the rest of that division, read as digits with base w[0], w[1], ..., says which parent one took at
 * each level to arrive there.
 *
 * Cables are directed links, all of one capacity: fors_pgft_up() and fors_pgft_down() number them. Everything
 * here is a pure function; any thread.
 */
#ifndef FORS_MODEL_TREES_PGFT_H
#define FORS_MODEL_TREES_PGFT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_PGFT_LEVELS 8 /* the highest tree */

struct fors_pgft {
	unsigned height;		      /* h, 1..FORS_PGFT_LEVELS */
	uint32_t m[FORS_PGFT_LEVELS];	      /* children of a node of level i+1 */
	uint32_t w[FORS_PGFT_LEVELS];	      /* parents of a node of level i */
	uint32_t p[FORS_PGFT_LEVELS];	      /* cables from a node of level i to each parent */
	uint32_t below[FORS_PGFT_LEVELS + 1]; /* servers of a level-i subtree: m[0]...m[i-1] */
	uint32_t roots[FORS_PGFT_LEVELS + 1]; /* roots of a level-i subtree: w[0]...w[i-1] */
	uint32_t first[FORS_PGFT_LEVELS + 1]; /* cables below level i: the number of the first one from level i up */
	uint32_t servers;		      /* below[height] */
	uint32_t cables;		      /* of the whole tree, first[height]; twice as many directed links */
};

/* Is this the beginning of such a specification, rather than of an FT(...)? */
bool fors_pgft_is_spec(const char *text);

/* Parse `text`. Errors: FORS_EINPUT (says where), FORS_ELIMIT (more than 2^31 cables or servers). */
enum fors_err fors_pgft_parse(const char *text, struct fors_pgft *tree, struct fors_error *error);

/* The canonical text, XGFT where all p are 1; owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_pgft_format(const struct fors_pgft *tree, char **text, struct fors_error *error);

/* How many nodes level 0..height has. */
static inline uint32_t fors_pgft_nodes(const struct fors_pgft *tree, unsigned level)
{
	return tree->servers / tree->below[level] * tree->roots[level];
}

/* The lowest level whose subtree holds both servers; 0 when they are the same. */
static inline unsigned fors_pgft_meet(const struct fors_pgft *tree, uint32_t a, uint32_t b)
{
	unsigned level = 0;

	while (a / tree->below[level] != b / tree->below[level])
		level++;
	return level;
}

/* Directed link of cable `port` (0..w p - 1, parent-major) from node x of `level` to its parent, and back. */
static inline uint32_t fors_pgft_up(const struct fors_pgft *tree, unsigned level, uint32_t x, uint32_t port)
{
	return tree->first[level] + x * tree->w[level] * tree->p[level] + port;
}

static inline uint32_t fors_pgft_down(const struct fors_pgft *tree, unsigned level, uint32_t x, uint32_t port)
{
	return tree->cables + fors_pgft_up(tree, level, x, port);
}

enum fors_pgft_routing {
	FORS_ROUTE_DMODK,  /* by the destination's number: cable (d / (w0...wi-1)) mod (wi pi) up from level i */
	FORS_ROUTE_SMODK,  /* the same with the source's number */
	FORS_ROUTE_RANDOM, /* for each pair of servers a random path */
	FORS_ROUTE_HASH, /* for each destination a random path, whatever the source: what a table of random entries does */
};

/* "d-mod-k", "s-mod-k", "random", "hash"; also without dashes and as "dmodk", "dmk", "smk". Errors: FORS_EINPUT (lists them). */
enum fors_err fors_pgft_routing_parse(const char *name, enum fors_pgft_routing *routing, struct fors_error *error);
const char *fors_pgft_routing_name(enum fors_pgft_routing routing);

/*
 * The directed links of the flow from server s to d in path[], in their order, and how many: two times the level
 * where they meet, at most 2 FORS_PGFT_LEVELS, 0 for s = d. `seed` matters to the random ones only.
 */
unsigned fors_pgft_route(const struct fors_pgft *tree, enum fors_pgft_routing routing, uint64_t seed, uint32_t s,
			 uint32_t d, uint32_t *path);

#endif
