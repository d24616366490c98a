/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ends.h - servers in the order of a fabric or of a plan, and tables by a model of a routing engine. */
#ifndef FORS_LAB_ANALYZE_ENDS_H
#define FORS_LAB_ANALYZE_ENDS_H

#include "cli/cli.h"
#include "core/net/endpoints.h"

/*
 * Tables by a model of a routing engine (lab/model/routers/model_tables.h; its name is known) for a net of this source,
 * whose servers get LIDs where one lacks them, in *lfts, owned by the caller. Any thread. Errors: of
 * fors_model_tables() and fors_model_lids().
 */
enum fors_err cli_model_make(const struct cli_source *source, const char *routing, struct fors_net *net,
			     struct fors_lfts **lfts, struct fors_error *error);
/* The same, with what went wrong told; an exit code. */
int cli_model_tables(const struct cli_source *source, const char *routing, struct fors_net *net,
		     struct fors_lfts **lfts);

/* The servers of a fabric, in its order; as fors_endpoints(). Errors: FORS_ENOMEM. */
enum fors_err cli_fabric_endpoints(const struct fors_fabric *fabric, struct fors_endpoint **list, uint32_t *count,
				   struct fors_error *error);

/*
 * The servers in the order of a plan, which may be one of its own, in *list (owned by the caller): as many as the plan
 * has, or fewer, where some of them are not in server[count]; *found says how many. Errors: FORS_ENOMEM.
 */
enum fors_err cli_plan_endpoints(const struct fors_schedule *plan, const struct fors_endpoint *server, uint32_t count,
				 struct fors_endpoint **list, uint32_t *found, struct fors_error *error);

#endif
