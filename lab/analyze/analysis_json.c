/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analysis_json.c - an analysis for programs, and for the page. */
#include "lab/model/routers/router.h"
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

static json_t *broken_json(const struct fors_evaluation *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o?}", "flows", (json_int_t)r->nbroken, "hole",
			 (json_int_t)r->ways[FORS_WAY_HOLE], "no_table", (json_int_t)r->ways[FORS_WAY_NO_TABLE],
			 "dead_cable", (json_int_t)r->ways[FORS_WAY_DEAD], "loop", (json_int_t)r->ways[FORS_WAY_LOOP],
			 "astray", (json_int_t)r->ways[FORS_WAY_ASTRAY], "first",
			 r->nbroken ? fors_json_text(r->problem) : NULL);
}

static json_t *mismatch_json(const struct fors_mismatch *m)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o?}", "unknown_switches", m->unknown_switches, "missing_tables",
			 m->missing_tables, "absent_lids", m->absent_lids, "bad_ports", m->bad_ports, "missing_lids",
			 m->missing_lids, "first", m->text[0] ? fors_json_text(m->text) : NULL);
}

static json_t *jobs_json(const struct cli_analysis *a)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->jobs.count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:i, s:i, s:i}", "name", fors_json_text(a->jobs.job[i].name),
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
				      json_pack("{s:o, s:o, s:o, s:o}", "a", fors_json_text(a->dead[i].a), "a_port",
						port_json(a->dead[i].a_port), "b", fors_json_text(a->dead[i].b),
						"b_port", port_json(a->dead[i].b_port)));
	return list;
}

static json_t *heading_json(const struct cli_analysis *a, const struct cli_settings *settings)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:I, s:i, s:i, s:i}", "fabric", fors_json_text(a->title), "routing",
			 fors_json_text(a->routing), "pattern", fors_json_text(a->pattern_name), "map",
			 cli_lab(settings)->map == CLI_MAP_RANDOM ? "random" : "direct", "seed",
			 (json_int_t)settings->seed, "servers", a->router.graph->nservers, "left_out", a->nspectators,
			 "links", a->router.graph->nlinks);
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
	json_object_set_new(object, "costs", cli_analysis_costs_json(a));
	json_object_set_new(object, "spread", cli_analysis_spread_json(a));
	json_object_set_new(object, "jobs", jobs_json(a));
	json_object_set_new(object, "phase_load", loads_json(a->result->phase_load, a->result->nphases));
	return object;
}
