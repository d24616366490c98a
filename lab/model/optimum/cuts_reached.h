/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts_reached.h - are the rates under the cuts (cuts.h) those of a routing, whatever the pattern?
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_CUTS_REACHED_H
#define FORS_LAB_MODEL_OPTIMUM_CUTS_REACHED_H

#include <stdbool.h>

#include "lab/model/graph/graph.h"

/*
 * Does any pattern reach the rates under the cuts of this graph? *always is true for two-level networks whose leaves
 * all spread their cables over the spines in the same proportions, as healthy trees do, and those that lost whole
 * spines; false means "not known from this alone". Errors: FORS_ENOMEM.
 */
enum fors_err fors_cuts_reached(const struct fors_graph *graph, bool *always, struct fors_error *error);

#endif
