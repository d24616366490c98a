/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts_find.h - the cuts (cuts.h) of a graph that no specification describes.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_CUTS_FIND_H
#define FORS_LAB_MODEL_OPTIMUM_CUTS_FIND_H

#include "cuts.h"

/*
 * The cuts of any graph, degraded or no tree at all: level-k subtrees are what hangs together of the nodes at most k
 * links away from a server. Switches that lead nowhere (one neighbour) are not counted. Errors: FORS_ENOMEM.
 */
enum fors_err fors_cuts_of_graph(const struct fors_graph *graph, struct fors_cuts **cuts, struct fors_error *error);

#endif
