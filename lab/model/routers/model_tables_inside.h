/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model_tables_inside.h - tables in the making, for the models of engines only (model_tables.c, sar.c). */
#ifndef FORS_LAB_MODEL_ROUTERS_MODEL_TABLES_INSIDE_H
#define FORS_LAB_MODEL_ROUTERS_MODEL_TABLES_INSIDE_H

#include "model_tables.h"

/* Switches in the order of their GUIDs, as rows of the tables have it, and cables between them. */
struct fors_model_maker {
	const struct fors_net *net;
	const struct fors_graph_spec *spec;
	enum fors_model model;
	bool takes_first; /* of equal arcs; else another one for each LID */
	struct fors_lfts *lfts;
	uint32_t n;	   /* switches */
	uint32_t *node;	   /* per switch */
	uint32_t *row;	   /* per node: its switch, FORS_NONE */
	uint64_t *servers; /* per switch: CA ports with a cable */
	uint32_t *first;   /* per switch: its first arc; n + 1 */
	uint32_t *to;	   /* per arc: switch */
	uint8_t *port;	   /* per arc */
	uint64_t *load;	   /* per arc: flows so far */
	uint32_t *rank;	   /* per switch: its place in the order of up-down */
	uint32_t *turn;	   /* switches by rank */
	/* for one destination */
	const uint64_t *senders; /* per switch: ports there whose way to it counts */
	uint32_t *distance;	 /* per switch, FAR */
	bool *is_down;		 /* per switch: reaches it by going down only */
	uint32_t *queue;	 /* switches by distance */
	uint32_t *bucket;	 /* n + 2 */
	uint64_t *cost;		 /* per switch: what its way carries in sum */
	uint64_t *carried;	 /* per switch: flows that come to it, its own among them */
};

/* With net, spec and model set, all else zero: look at the switches and their cables. False: out of memory; clear it in any case. */
bool fors_model_start(struct fors_model_maker *m);
/* All but the tables. */
void fors_model_clear(struct fors_model_maker *m);
/* The port `number` of the CA `node`, when it has a LID and a switch; else NULL. */
const struct fors_port *fors_model_port(const struct fors_model_maker *m, uint32_t node, unsigned number);
/* The ways of all switches to the LIDs of such a port; m->senders says how many servers at each switch use them. */
void fors_model_route(struct fors_model_maker *m, const struct fors_port *port);

#endif
