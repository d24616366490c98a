/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incidence.h - the links of each node of a graph.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_GRAPH_INCIDENCE_H
#define FORS_LAB_MODEL_GRAPH_INCIDENCE_H

#include "graph.h"

/*
 * Sort the links by the node in by[] (graph->from: links that leave a node, graph->to: that enter one): those of node n
 * are (*link)[(*first)[n]] .. (*link)[(*first)[n + 1] - 1], in rising order. Both arrays are the caller's (free()).
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_links_by(const struct fors_graph *graph, const uint32_t *by, size_t **first, uint32_t **link,
			    struct fors_error *error);

#endif
