/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis_tree.c - synthetic fat-trees of any height under routing by rules, and the best that any routing could
 * give.
 *
 * A tree is a net like any other where LIDs and ports suffice, so that cables can be taken down and have names; the
 * largest ones are links with numbers only.
 */
#include "analysis.h"

#include <stdlib.h>

#include "core/net/lfts.h"
#include "lab/model/optimum/cuts_find.h"
#include "lab/model/optimum/optimum.h"
#include "lab/model/trees/tree_graph.h"

static enum fors_err parse(const struct cli_settings *settings, struct cli_analysis *a, struct fors_error *error)
{
	enum fors_tree_routing routing;
	enum fors_err err = fors_tree_spec_parse(settings->source.synthetic, &a->spec, error);

	if (!err)
		err = fors_tree_routing_parse(settings->routing, &routing, error);
	if (err)
		return err;
	a->has_tree = true;
	a->paths = (struct fors_tree_paths){.tree = &a->spec.tree, .routing = routing, .seed = settings->seed};
	snprintf(a->routing, sizeof(a->routing), "%s", fors_tree_routing_name(routing));
	return FORS_OK;
}

/*
 * Rules need no LIDs, but ports without one are not servers to lab/model/routers/routes.h: each gets a LID, as long as
 * there are some.
 */
static enum fors_err number_ports(struct fors_net *net, struct fors_error *error)
{
	uint32_t lid = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++) {
			if (lid == FORS_LID_MAX)
				return fors_fail(error, FORS_ELIMIT, "more servers than LIDs");
			fors_net_port(net, node, p)->lid = (uint16_t)++lid;
		}
	return FORS_OK;
}

/* Without a net: links by number. */
static int load_bare(struct cli_analysis *a)
{
	struct fors_error error = {0};

	if (fors_tree_graph(&a->spec.tree, &a->bare, &error))
		return cli_fail(&error);
	a->paths.graph = a->bare;
	a->router = fors_tree_router(&a->paths);
	return CLI_GOOD;
}

/* Can it be a net? */
static bool is_net(const struct fors_tree_spec *spec)
{
	return spec->tree.servers - spec->empty.count <= FORS_LID_MAX && !fors_tree_check_ports(&spec->tree, NULL);
}

static int load_net(const struct cli_settings *settings, struct cli_analysis *a)
{
	struct fors_error error = {0};
	int code = cli_any_site_load(&settings->source, &a->site);

	if (!code)
		code = cli_site_net(&a->site, &settings->source, &a->made.net);
	if (code)
		return code;
	a->made.lfts = fors_lfts_new(0, 1);
	if (!a->made.lfts)
		return cli_fail(&(struct fors_error){FORS_ENOMEM, "out of memory"});
	if (number_ports(a->made.net, &error))
		return cli_fail(&error);
	code = cli_analysis_routes(a);
	if (code)
		return code;
	if (fors_tree_paths_over(&a->paths, a->routes, &error))
		return cli_fail(&error);
	a->router = fors_tree_router(&a->paths);
	return CLI_GOOD;
}

int cli_analysis_load_tree(const struct cli_settings *settings, struct cli_analysis *a)
{
	struct fors_error error = {0};

	if (parse(settings, a, &error))
		return cli_fail(&error);
	if (is_net(&a->spec))
		return load_net(settings, a);
	if (settings->source.ndown || settings->source.participants || a->spec.empty.count)
		return cli_usage_error(
			"--down, --participants and empty= need a fabric with at most %u servers and 254 ports per switch",
			FORS_LID_MAX);
	return load_bare(a);
}

/* --- the optimum ------------------------------------------------------------------------------------------------ */

/* A tree without failures has its cuts by rule; any other net by looking. */
enum fors_err cli_analysis_cuts(const struct cli_analysis *a, struct fors_cuts **cuts, struct fors_graph **graph,
				struct fors_error *error)
{
	enum fors_err err;

	if (a->has_tree && !a->ndead && a->router.graph->nservers == a->spec.tree.servers)
		return fors_cuts_of_tree(&a->spec.tree, cuts, error);
	err = fors_graph_of_servers(a->routes, graph, error);
	return err ? err : fors_cuts_of_graph(*graph, cuts, error);
}

int cli_analysis_optimum(struct cli_analysis *a)
{
	struct fors_error error = {0};
	struct fors_cuts *cuts = NULL;
	struct fors_graph *graph = NULL;
	struct fors_optimum *optimum = NULL;
	enum fors_err err = cli_analysis_cuts(a, &cuts, &graph, &error);

	if (!err)
		err = fors_optimum_of(cuts, graph, a->pattern, cli_processors(), &optimum, &error);
	if (!err) {
		a->optimum = optimum->rates.aggregate;
		a->is_optimum_exact = optimum->is_exact && !a->nslow; /* it takes all cables for equally fast */
	}
	fors_optimum_free(optimum);
	fors_cuts_free(cuts);
	fors_graph_free(graph);
	return err ? cli_fail(&error) : CLI_GOOD;
}
