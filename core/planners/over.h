/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over.h - a plan over the ways of tables as they are, and why its bounds are bounds. outcome.h is who asks.
 * Thread rules: pure; several may run at a time.
 */
#ifndef FORS_CORE_PLANNERS_OVER_H
#define FORS_CORE_PLANNERS_OVER_H

#include "outcome.h"

/*
 * Plan the exchange, in outcome->plan, whose method is "flows" or "rounds"; epochs are 0. seen, the bounds and wanted_bytes are
 * written as far as they are known, without a plan too. Errors: all that outcome.h names, in *error.
 */
enum fors_err fors_over_plan(const struct fors_request *request, struct fors_outcome *outcome,
			     struct fors_error *error);
/* The same without a plan. */
enum fors_err fors_over_look(const struct fors_request *request, struct fors_outcome *outcome,
			     struct fors_error *error);

/*
 * The argument of seen.best, in *witness (all zero; the caller's to clear): port, distance, or the cut of a switch.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_over_witness_best(const struct fors_net *net, const struct fors_ways_seen *seen,
				     struct fors_witness *witness, struct fors_error *error);
/* The same of seen.tables: port, link, or ways, for which the tables are read again. Errors: as fors_over_look(). */
enum fors_err fors_over_witness_tables(const struct fors_request *request, const struct fors_ways_seen *seen,
				       struct fors_witness *witness, struct fors_error *error);

#endif
