/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analysis_json.c - an analysis for programs, and for the page. */
#include "model/routers/router.h"
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static json_t *loads_json(const uint32_t *load, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(load[i]));
	return list;
}

static json_t *rates_json(const double *rate, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_real(rate[i]));
	return list;
}

static json_t *broken_json(const struct fors_evaluation *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o?}", "flows", (json_int_t)r->nbroken, "hole",
			 (json_int_t)r->ways[FORS_WAY_HOLE], "no_table", (json_int_t)r->ways[FORS_WAY_NO_TABLE],
			 "dead_cable", (json_int_t)r->ways[FORS_WAY_DEAD], "loop", (json_int_t)r->ways[FORS_WAY_LOOP],
			 "astray", (json_int_t)r->ways[FORS_WAY_ASTRAY], "first",
			 r->nbroken ? cli_json_text(r->problem) : NULL);
}

static json_t *mismatch_json(const struct fors_mismatch *m)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o?}", "unknown_switches", m->unknown_switches, "missing_tables",
			 m->missing_tables, "absent_lids", m->absent_lids, "bad_ports", m->bad_ports, "missing_lids",
			 m->missing_lids, "first", m->text[0] ? cli_json_text(m->text) : NULL);
}

static json_t *jobs_json(const struct cli_analysis *a)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->jobs.count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:i, s:i, s:i}", "name", cli_json_text(a->jobs.job[i].name),
						"servers", a->jobs.job[i].count, "efi_max", a->efi->job_max[i], "links",
						a->efi->job_links[i]));
	return list;
}

static json_t *port_json(unsigned port)
{
	return port ? json_integer(port) : json_null();
}

static json_t *dead_json(const struct cli_analysis *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->ndead; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o}", "a", cli_json_text(a->dead[i].a), "a_port",
						port_json(a->dead[i].a_port), "b", cli_json_text(a->dead[i].b),
						"b_port", port_json(a->dead[i].b_port)));
	return list;
}

static json_t *heading_json(const struct cli_analysis *a, const struct cli_settings *settings)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:I, s:i, s:i, s:i}", "fabric", cli_json_text(a->title), "routing",
			 cli_json_text(a->routing), "pattern", cli_json_text(a->pattern_name), "map",
			 settings->map == CLI_MAP_RANDOM ? "random" : "direct", "seed", (json_int_t)settings->seed,
			 "servers", a->router.graph->nservers, "left_out", a->nspectators, "links",
			 a->router.graph->nlinks);
}

static json_t *results_json(const struct cli_analysis *a)
{
	const struct fors_evaluation *r = a->result;

	return json_pack("{s:i, s:I, s:o?, s:f, s:i, s:I, s:f, s:f, s:f, s:o?, s:o?, s:o?, s:o?, s:I}", "phases",
			 r->nphases, "flows", (json_int_t)r->nflows, "sync_throughput",
			 r->sync_throughput < 0 ? NULL : json_real(r->sync_throughput), "time", r->time,
			 "max_link_load", r->max_link_load, "sum_of_phase_loads", (json_int_t)r->length, "mmf_min",
			 r->rates.min, "mmf_mean", r->rates.mean, "mmf_aggregate", r->rates.aggregate,
			 "optimum_aggregate", a->optimum >= 0 ? json_real(a->optimum) : NULL, "efi_max",
			 a->efi ? json_integer((json_int_t)a->efi->max) : NULL, "dark_fiber",
			 a->efi ? json_real(a->efi->dark_fiber) : NULL, "broken_routes",
			 a->efi ? json_integer((json_int_t)a->efi->broken) : NULL, "detours", (json_int_t)r->ndetours);
}

json_t *cli_analysis_json(const struct cli_analysis *a, const struct cli_settings *settings)
{
	json_t *object = heading_json(a, settings), *results = results_json(a);

	if (!object || !results || json_object_update(object, results)) {
		json_decref(object);
		json_decref(results);
		return NULL;
	}
	json_decref(results);
	json_object_set_new(object, "optimum_is_exact",
			    a->optimum >= 0 ? json_boolean(a->is_optimum_exact) : json_null());
	json_object_set_new(object, "broken", broken_json(a->result));
	json_object_set_new(object, "mismatch", mismatch_json(&a->mismatch));
	json_object_set_new(object, "dead_cables", dead_json(a));
	json_object_set_new(object, "slow_links", json_integer(a->nslow));
	json_object_set_new(object, "jobs", jobs_json(a));
	json_object_set_new(object, "phase_load", loads_json(a->result->phase_load, a->result->nphases));
	return object;
}

/* --- the page --------------------------------------------------------------------------------------------------- */

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
							      cli_json_text(fors_node_name(a->routes->net, i)),
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

/* Cables between switches: [node, port, node, port, worst load there and back, flows there and back]. */
static json_t *cables_json(const struct cli_analysis *a)
{
	const struct fors_graph *graph = a->router.graph;
	const struct fors_evaluation *r = a->result;
	json_t *list = json_array();

	for (uint32_t l = 0; a->routes && l < graph->nlinks; l++) {
		uint32_t back = other_way(a, l);

		if (graph->is_terminal[graph->from[l]] || graph->is_terminal[graph->to[l]] || back < l)
			continue;
		json_array_append_new(list,
				      json_pack("[i, i, i, i, i, i, I, I]", graph->from[l], port_of(a, l), graph->to[l],
						port_of(a, back), r->link_load[l], r->link_load[back],
						(json_int_t)r->link_flows[l], (json_int_t)r->link_flows[back]));
	}
	return list;
}

/* Servers: [switch, name, worst load out and in]. */
static json_t *servers_json(const struct cli_analysis *a)
{
	const struct fors_graph *graph = a->router.graph;
	json_t *list = json_array();

	for (uint32_t s = 0; a->routes && s < graph->nservers; s++) {
		const struct fors_endpoint *end = &a->routes->server[s];
		uint32_t out = a->routes->link_of[a->routes->net->node[end->node].first_port + end->port];

		json_array_append_new(list,
				      json_pack("[i, o, i, i]", end->leaf,
						cli_json_text(fors_node_name(a->routes->net, end->node)),
						a->result->link_load[out], a->result->link_load[other_way(a, out)]));
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

static json_t *bins_json(const struct fors_evaluation *r)
{
	json_t *list = json_array();

	for (int bin = 0; bin < FORS_RATE_BINS; bin++)
		json_array_append_new(list, json_integer((json_int_t)r->rate_bins[bin]));
	return list;
}

json_t *cli_analysis_page(const struct cli_analysis *a, const struct cli_settings *settings)
{
	uint32_t *level = find_levels(a);
	json_t *object = level ? json_object() : NULL;

	if (object) {
		json_object_set_new(object, "kind", json_string("analyze"));
		json_object_set_new(object, "result", cli_analysis_json(a, settings));
		json_object_set_new(object, "switches", switches_json(a, level));
		json_object_set_new(object, "cables", cables_json(a));
		json_object_set_new(object, "servers", servers_json(a));
		json_object_set_new(object, "dead", broken_cables_json(a));
		json_object_set_new(object, "rate_bins", bins_json(a->result));
		json_object_set_new(object, "phase_rate", rates_json(a->result->phase_rate, a->result->nphases));
	}
	free(level);
	return object;
}
