/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_spec.h - networks that are no trees, as people write them (man fors), N servers on each switch that has any:
 *
 *      TORUS(4x4x4;N)             a torus; neighbours in each dimension have one cable, in one of size 2 too
 *      CUBE(D;N)                  a hypercube of 2^D switches
 *      DRAGONFLY(A,H,G;N)         G groups of A switches, each cabled to all others of its group and to H in other groups
 *      DFPLUS(L,S,H,G;N)          Dragonfly+: groups of L leaves and S spines, all leaves cabled to all spines, each spine
 *                                 to H in other groups; servers under the leaves
 *      RRG(SWITCHES,DEGREE,N;SEED)  a connected random graph, DEGREE cables between switches at each
 *      FLEXFLY(A,H,G;N)           a Dragonfly whose cables between groups (blocks) go where traffic does: one for each pair, the
 *                                 others by ;traffic=I-J:W,... (pair of blocks, weight) or +K:W (each block and the K-th after it)
 *      FLEXSPANDER(A,D,H,G;N)     the same with blocks that are connected random graphs, D cables at each switch; ;seed=SEED
 *
 * and in all of them ;empty=SWITCH/SLOT,... before the ), as FT has it. graph_net.h makes a net of one and says how
 * switches and ports are numbered.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_GRAPH_SPEC_H
#define FORS_CORE_NET_GRAPH_SPEC_H

#include "spec_text.h"

#define FORS_GRAPH_DIMENSIONS 8

enum fors_graph_kind {
	FORS_TORUS,
	FORS_CUBE,
	FORS_DRAGONFLY,
	FORS_DFPLUS,
	FORS_RANDOM_REGULAR,
	FORS_FLEXFLY,
	FORS_FLEXSPANDER,
	FORS_NGRAPH_KINDS
};

#define FORS_FLEX_BLOCKS 1024 /* at most */

/* Of a pair of blocks. */
struct fors_block_weight {
	uint32_t from, to; /* from FORS_NONE: all blocks, and the `to`-th after each */
	uint32_t weight;   /* > 0 */
};

struct fors_block_weights {
	size_t count;
	struct fors_block_weight *list; /* owned */
};

/* All zero: nothing to clear. */
struct fors_graph_spec {
	enum fors_graph_kind kind;
	unsigned ndims; /* of a torus */
	uint32_t size
		[FORS_GRAPH_DIMENSIONS]; /* of each dimension of a torus; of the others the numbers before the servers */
	uint32_t servers;		 /* of a switch that has any */
	uint32_t seed;			 /* RRG, FLEXSPANDER */
	struct fors_block_weights traffic; /* FLEXFLY, FLEXSPANDER; none: all pairs alike */
	uint32_t nswitches;		   /* in all */
	uint32_t cables, cables_above;	   /* of a switch with servers to other switches; of one without */
	uint32_t nleaves;		   /* those that have servers come first: so many */
	struct fors_empty_slots empty;	   /* without a server */
};

/* Does the text begin with the name of such a network? */
bool fors_graph_spec_begins(const char *text);

/*
 * Parse `text` into *spec (fors_graph_spec_clear() frees it). Errors: FORS_EINPUT (says what and where), FORS_ELIMIT (a
 * number, or a network, that is too large; a switch that needs more than 254 ports), FORS_ENOMEM.
 */
enum fors_err fors_graph_spec_parse(const char *text, struct fors_graph_spec *spec, struct fors_error *error);
void fors_graph_spec_clear(struct fors_graph_spec *spec);

#endif
