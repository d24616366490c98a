/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * maxmin.h - max-min fair rates of flows over single paths.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_GRAPH_MAXMIN_H
#define FORS_LAB_MODEL_GRAPH_MAXMIN_H

#include "graph.h"

/*
 * The max-min fair rates of the flows over their single paths, in rate[0 .. nflows-1] (progressive
 * filling with a queue of the links' limits; each flow and each link is fixed once). A flow without a path
 * gets 0; no rate is above the capacities of its path. O((links of all paths) log(links)).
 * Errors: FORS_ENOMEM; rate is undefined then.
 */
enum fors_err fors_maxmin(const struct fors_graph *graph, const struct fors_flows *flows, double *rate,
			  struct fors_error *error);

#endif
