/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analysis_page.c - a fabric as the page draws it, with two values of each link; and the page of `fors analyze`. */
#include "lab/model/routers/router.h"
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

static bool step_up(uint32_t *level, uint32_t from, uint32_t to)
{
	if (level[from] == FORS_NONE || level[to] <= level[from] + 1)
		return false;
	level[to] = level[from] + 1;
	return true;
}

/* Over living cables, and over dead ones: a spine that has lost them all still stands above the leaves. */
static bool spread_levels(const struct cli_analysis *a, uint32_t *level)
{
	const struct fors_graph *graph = a->router.graph;
	bool is_moving = false;

	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (!graph->is_terminal[graph->from[l]] && !graph->is_terminal[graph->to[l]])
			is_moving |= step_up(level, graph->from[l], graph->to[l]);
	for (size_t i = 0; i < a->ndead; i++) {
		uint32_t x = a->dead[i].a_node, y = a->dead[i].b_node;

		if (x < graph->nnodes && y < graph->nnodes && !graph->is_terminal[x] && !graph->is_terminal[y])
			is_moving |= step_up(level, x, y) | step_up(level, y, x);
	}
	return is_moving;
}

/* Steps from the servers: switches with servers 0, their other neighbours 1, and so on; FORS_NONE: adapters. */
static uint32_t *find_levels(const struct cli_analysis *a)
{
	const struct fors_graph *graph = a->router.graph;
	const struct fors_fabric *fabric = a->made.fabric;
	uint32_t *level = malloc((graph->nnodes + (size_t)1) * sizeof(*level));

	for (uint32_t i = 0; level && i < graph->nnodes; i++)
		level[i] = FORS_NONE;
	for (uint32_t s = 0; level && a->routes && s < graph->nservers; s++)
		level[a->routes->server[s].leaf] = 0;
	for (uint32_t i = 0; level && fabric && i < fabric->nleaves; i++) /* also one without a server */
		if (fabric->leaf[i].node != FORS_NONE)
			level[fabric->leaf[i].node] = 0;
	while (level && spread_levels(a, level))
		;
	return level;
}

/* None of a tree that is no net: it has no ports and no names, and may have millions. */
static json_t *switches_json(const struct cli_analysis *a, const uint32_t *level)
{
	const struct fors_graph *graph = a->router.graph;
	json_t *list = json_array();

	for (uint32_t i = 0; a->routes && i < graph->nnodes; i++)
		if (!graph->is_terminal[i])
			json_array_append_new(list, json_pack("[i, o, i]", i,
							      fors_json_text(fors_node_name(a->routes->net, i)),
							      level[i] == FORS_NONE ? 0 : level[i]));
	return list;
}

/* The opposite direction of a link; itself where it cannot be told. */
static uint32_t other_way(const struct cli_analysis *a, uint32_t link)
{
	const struct fors_port *port;

	if (!a->routes)
		return link;
	port = &a->routes->net->port[a->routes->port_of[link]];
	return a->routes->link_of[a->routes->net->node[port->peer].first_port + port->peer_port];
}

static unsigned port_of(const struct cli_analysis *a, uint32_t link)
{
	return a->routes->port_of[link] - a->routes->net->node[a->router.graph->from[link]].first_port;
}

/* Cables between switches: [node, port, node, port, first value there and back, second value there and back]. */
static json_t *cables_json(const struct cli_analysis *a, cli_link_values *values, const void *context)
{
	const struct fors_graph *graph = a->router.graph;
	double there[2], here[2];
	json_t *list = json_array();

	for (uint32_t l = 0; a->routes && l < graph->nlinks; l++) {
		uint32_t back = other_way(a, l);

		if (graph->is_terminal[graph->from[l]] || graph->is_terminal[graph->to[l]] || back < l)
			continue;
		values(context, l, there);
		values(context, back, here);
		json_array_append_new(list,
				      json_pack("[i, i, i, i, f, f, f, f]", graph->from[l], port_of(a, l), graph->to[l],
						port_of(a, back), there[0], here[0], there[1], here[1]));
	}
	return list;
}

/* Servers: [switch, name, first value out and in]. */
static json_t *servers_json(const struct cli_analysis *a, cli_link_values *values, const void *context)
{
	const struct fors_graph *graph = a->router.graph;
	json_t *list = json_array();

	for (uint32_t s = 0; a->routes && s < graph->nservers; s++) {
		const struct fors_endpoint *end = &a->routes->server[s];
		uint32_t out = a->routes->link_of[a->routes->net->node[end->node].first_port + end->port];
		double there[2], here[2];

		values(context, out, there);
		values(context, other_way(a, out), here);
		json_array_append_new(list, json_pack("[i, o, f, f]", end->leaf,
						      fors_json_text(fors_node_name(a->routes->net, end->node)),
						      there[0], here[0]));
	}
	return list;
}

/* Broken cables: [node, port, node, port]. */
static json_t *broken_cables_json(const struct cli_analysis *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->ndead; i++)
		json_array_append_new(list, json_pack("[i, i, i, i]", a->dead[i].a_node, a->dead[i].a_port,
						      a->dead[i].b_node, a->dead[i].b_port));
	return list;
}

static json_t *rates_json(const double *rate, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_real(rate[i]));
	return list;
}

static json_t *bins_json(const struct fors_evaluation *r)
{
	json_t *list = json_array();

	for (int bin = 0; bin < FORS_RATE_BINS; bin++)
		json_array_append_new(list, json_integer((json_int_t)r->rate_bins[bin]));
	return list;
}

bool cli_analysis_draw(const struct cli_analysis *a, cli_link_values *values, const void *context, json_t *object)
{
	uint32_t *level = find_levels(a);

	if (level) {
		json_object_set_new(object, "switches", switches_json(a, level));
		json_object_set_new(object, "cables", cables_json(a, values, context));
		json_object_set_new(object, "servers", servers_json(a, values, context));
		json_object_set_new(object, "dead", broken_cables_json(a));
	}
	free(level);
	return level != NULL;
}

/* --- the page of fors analyze ----------------------------------------------------------------------------------- */

static void loads_of(const void *context, uint32_t link, double value[2])
{
	const struct fors_evaluation *r = context;

	value[0] = r->link_load[link];
	value[1] = (double)r->link_flows[link];
}

json_t *cli_analysis_page(const struct cli_analysis *a, const struct cli_settings *settings)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string("analyze"));
	json_object_set_new(object, "result", cli_analysis_json(a, settings));
	json_object_set_new(object, "rate_bins", bins_json(a->result));
	json_object_set_new(object, "phase_rate", rates_json(a->result->phase_rate, a->result->nphases));
	if (cli_analysis_draw(a, loads_of, a->result, object))
		return object;
	json_decref(object);
	return NULL;
}
