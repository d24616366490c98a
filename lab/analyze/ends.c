/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ends.c - who the servers of an analysis are, and the tables that a model gives them. */
#include "ends.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/lftfile.h"
#include "core/net/netfile.h"
#include "core/net/spec.h"
#include "lab/model/routers/model_tables.h"

enum fors_err cli_model_make(const struct cli_source *source, const char *routing, struct fors_net *net,
			     struct fors_lfts **lfts, struct fors_error *error)
{
	struct fors_spec spec = {0};
	enum fors_err err = FORS_OK;

	if (source->synthetic)
		err = fors_spec_parse(source->synthetic, &spec, error);
	if (!err)
		err = fors_model_lids(net, error);
	if (!err)
		err = fors_model_tables(net, spec.is_graph ? &spec.graph : NULL, fors_model_find(routing), lfts, error);
	fors_spec_clear(&spec);
	return err;
}

int cli_model_tables(const struct cli_source *source, const char *routing, struct fors_net *net,
		     struct fors_lfts **lfts)
{
	struct fors_error error = {0};

	return cli_model_make(source, routing, net, lfts, &error) ? cli_fail(&error) : CLI_GOOD;
}

/* `fors fabric --routing`: the net with the LIDs that the tables are for, or these tables. */
int cli_write_model(const struct cli_settings *settings, int format)
{
	const struct cli_source *source = &settings->source;
	struct fors_error error = {0};
	struct fors_net *net = NULL;
	struct fors_lfts *lfts = NULL;
	char *text;
	int code;

	if (format != CLI_FABRIC_NET && format != CLI_FABRIC_LFTS)
		return cli_usage_error("--routing goes with --format net and --format lfts");
	if (source->has_lmc)
		return cli_usage_error("--routing and --lmc exclude each other: models give one LID");
	code = cli_net_load(source, &net);
	if (!code)
		code = cli_model_tables(source, settings->routing, net, &lfts);
	if (!code && (format == CLI_FABRIC_LFTS ? fors_lftfile_write(net, lfts, &text, NULL, &error)
						: fors_netfile_write(net, &text, NULL, &error)))
		code = cli_fail(&error);
	else if (!code)
		code = cli_emit(settings, text);
	fors_lfts_free(lfts);
	fors_net_free(net);
	return code;
}

enum fors_err cli_fabric_endpoints(const struct fors_fabric *fabric, struct fors_endpoint **list, uint32_t *count,
				   struct fors_error *error)
{
	struct fors_endpoint *ends = calloc(fabric->nservers + (size_t)1, sizeof(*ends));

	if (!ends)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < fabric->nservers; i++) {
		const struct fors_server *server = &fabric->server[i];

		ends[i] = fors_endpoint_at(fabric->net, server->node,
					   fors_slot(fabric, server->leaf, server->slot)->ca_port);
	}
	*list = ends;
	*count = fabric->nservers;
	return FORS_OK;
}

static int compare_guids(const void *a, const void *b)
{
	const struct fors_endpoint *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/* sorted: by GUID. */
static uint32_t order_by_plan(const struct fors_schedule *plan, const struct fors_endpoint *sorted, uint32_t count,
			      struct fors_endpoint *list)
{
	uint32_t found = 0;

	for (uint32_t s = 0; s < plan->nservers; s++) {
		const struct fors_endpoint key = {.guid = plan->server[s].guid};
		const struct fors_endpoint *at = bsearch(&key, sorted, count, sizeof(key), compare_guids);

		if (at)
			list[found++] = *at;
	}
	return found;
}

enum fors_err cli_plan_endpoints(const struct fors_schedule *plan, const struct fors_endpoint *server, uint32_t count,
				 struct fors_endpoint **list, uint32_t *found, struct fors_error *error)
{
	struct fors_endpoint *sorted = calloc(count + (size_t)1, sizeof(*sorted));
	struct fors_endpoint *ordered = sorted ? calloc(plan->nservers + (size_t)1, sizeof(*ordered)) : NULL;

	if (!ordered) {
		free(sorted);
		return fors_fail_memory(error);
	}
	if (count)
		memcpy(sorted, server, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_guids);
	*found = order_by_plan(plan, sorted, count, ordered);
	*list = ordered;
	free(sorted);
	return FORS_OK;
}
