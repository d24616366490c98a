/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switches.h - the living switches of a net with their tables, numbered: what checks of tables walk over.
 *
 * Nothing here comes from how the tables were made: switches, cables and rows, in the order of the net's nodes.
 * Thread rules: built by one thread, read by any number.
 */
#ifndef FORS_CORE_TABLES_SWITCHES_H
#define FORS_CORE_TABLES_SWITCHES_H

#include "core/fabric/fabric.h"
#include "core/net/lfts.h"

#define FORS_NO_NEIGHBOUR 255 /* a port that leads to no other switch */

struct fors_switch {
	uint32_t node;	     /* in the net */
	uint32_t island;     /* equal for switches that cables join */
	const uint8_t *row;  /* its table; a row without entries, if it has none */
	uint32_t first;	     /* its neighbours are neighbour[first ..] */
	uint8_t nneighbours; /* other switches that it has cables to */
	bool is_leaf;	     /* of the fabric */
	uint8_t level;	     /* of a tree of more than two levels, leaves 1; 0: a two-level fabric, or no level */
	bool has_ends;	     /* hosts or routers are plugged in */
	bool is_empty;	     /* a leaf without them, where no subnet manager runs */
	bool is_asked;	     /* packets begin here: a leaf, or CAs or a subnet manager */
	uint8_t toward[256]; /* which neighbour a port leads to, FORS_NO_NEIGHBOUR: none */
};

struct fors_neighbour {
	uint32_t at;  /* number of the switch */
	uint8_t back; /* which of its neighbours this one is */
};

struct fors_switches {
	const struct fors_net *net;
	uint32_t count, nneighbours, nlids;
	struct fors_switch *all;
	struct fors_neighbour *neighbour;
	uint8_t *blank; /* the row of a switch without a table */
};

/* Both are borrowed, and must outlive *switches, which the caller owns. Errors: FORS_ENOMEM. */
enum fors_err fors_switches_build(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				  struct fors_switches **switches, struct fors_error *error);

/* The same of a tree of more levels: level[net->nnodes], leaves 1, 0: no switch, or on no level. */
enum fors_err fors_switches_build_levels(const struct fors_net *net, const uint8_t *level, const struct fors_lfts *lfts,
					 struct fors_switches **switches, struct fors_error *error);
void fors_switches_free(struct fors_switches *switches);

/* The switch that a port leads to, or FORS_NONE. */
static inline uint32_t fors_switches_next(const struct fors_switches *switches, uint32_t at, uint8_t port)
{
	const struct fors_switch *here = &switches->all[at];

	return here->toward[port] == FORS_NO_NEIGHBOUR ? FORS_NONE
						       : switches->neighbour[here->first + here->toward[port]].at;
}

/* What people call a switch. */
static inline const char *fors_switches_name(const struct fors_switches *switches, uint32_t at)
{
	return fors_node_name(switches->net, switches->all[at].node);
}

#endif
