/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulation_json.c - a simulation for programs. Times are nanoseconds. */
#include "simulation.h"
#include "lab/options.h"

#include <stdlib.h>

#define ns(ps) ((double)(ps) / 1000)

static json_t *link_json(const struct cli_simulation *sim, uint32_t link)
{
	char name[2 * FORS_NAME_MAX + 32];

	if (link == FORS_NONE)
		return json_null();
	cli_simulation_link(sim, link, name, sizeof(name));
	return fors_json_text(name);
}

static json_t *steps_json(const struct cli_simulation *sim)
{
	const struct fors_sim_result *r = sim->result;
	json_t *list = json_array();

	for (uint32_t i = 0; r->step && i < r->nsteps; i++)
		json_array_append_new(
			list,
			json_pack("{s:i, s:f, s:f, s:f, s:o, s:i, s:f, s:o, s:i, s:i}", "phase", sim->program->phase[i],
				  "begin_ns", ns(r->step[i].begin), "end_ns", ns(r->step[i].end), "bound_ns",
				  ns(r->step[i].bound), "fullest_link", link_json(sim, r->step[i].full),
				  "fullest_messages", r->step[i].full_messages, "stall_ns", ns(r->step[i].stall),
				  "stalled_link", link_json(sim, r->step[i].link), "waiting_links",
				  r->step[i].waiting_links, "waiting_servers", r->step[i].waiting_servers));
	return list;
}

/* Payload that arrived, and stalls of all links together, bin by bin; up to the last bin with either. */
static json_t *line_json(const struct fors_sim_result *r)
{
	json_t *arrived = json_array(), *stalled = json_array();
	uint32_t n = FORS_SIM_BINS;

	while (n && !r->arrived_bytes[n - 1] && !r->stalled_ps[n - 1])
		n--;
	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(arrived, json_integer((json_int_t)r->arrived_bytes[i]));
		json_array_append_new(stalled, json_real(ns(r->stalled_ps[i])));
	}
	return json_pack("{s:f, s:o, s:o}", "bin_ns", ns(r->bin), "arrived_bytes", arrived, "stalled_ns", stalled);
}

static json_t *part_json(double gbits, double whole)
{
	return whole > 0 ? json_real(gbits / whole) : json_null();
}

/* Links that stalled, longest first. */
static json_t *stalls_json(const struct cli_simulation *sim)
{
	json_t *list = json_array();
	uint32_t *worst, n = cli_simulation_worst_links(sim, &worst);

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o, s:f, s:f}", "link", link_json(sim, worst[i]), "stall_ns",
						      ns(sim->result->link[worst[i]].stall), "busy_ns",
						      ns(sim->result->link[worst[i]].busy)));
	free(worst);
	return list;
}

static json_t *cycle_json(const struct cli_simulation *sim)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < sim->result->ncycle; i++)
		json_array_append_new(list, link_json(sim, sim->result->cycle[i]));
	return list;
}

static json_t *latency_json(const struct fors_histogram *h)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "mean_ns", ns(fors_histogram_mean(h)), "median_ns",
			 ns(fors_histogram_at(h, 0.5)), "p99_ns", ns(fors_histogram_at(h, 0.99)), "p999_ns",
			 ns(fors_histogram_at(h, 0.999)), "max_ns", ns(h->max));
}

/* The time that the longest packet takes on a server's cable. */
static double packet_ns(const struct cli_simulation *sim)
{
	const struct fors_sim_settings *set = &sim->set;
	double payload = set->message < set->mtu ? (double)set->message : set->mtu;

	return sim->line > 0 ? 8 * (payload + set->header) / sim->line : 0;
}

static json_t *heading_json(const struct cli_simulation *sim, const struct cli_settings *settings)
{
	const struct cli_analysis *a = &sim->analysis;
	const struct fors_sim_settings *set = &sim->set;

	return json_pack("{s:o, s:o, s:s, s:o, s:i, s:i, s:I, s:I, s:b, s:f, s:b, s:f, s:f}", "fabric",
			 fors_json_text(a->title), "routing", fors_json_text(a->routing), "policy",
			 cli_policies[set->policy], "pattern", fors_json_text(a->pattern_name), "servers",
			 sim->program->nservers, "slots", sim->program->nsteps, "message_bytes",
			 (json_int_t)set->message, "seed", (json_int_t)settings->seed, "has_barrier", set->has_barrier,
			 "barrier_ns", ns(set->barrier), "barrier_is_fitted", sim->has_fitted, "line_gbits", sim->line,
			 "packet_ns", packet_ns(sim));
}

static json_t *figures_json(const struct cli_simulation *sim)
{
	const struct fors_sim_result *r = sim->result;
	double gbits = fors_sim_gbits(r, sim->program->nservers);

	return json_pack("{s:f, s:f, s:f, s:f, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "time_ns",
			 ns(r->time), "bound_ns", ns(r->bound), "gbits_per_server", gbits, "line_share",
			 sim->line > 0 ? gbits / sim->line : 0, "is_deadlocked", r->ncycle > 0, "messages",
			 (json_int_t)r->nmessages, "broken", (json_int_t)r->nbroken, "packets_sent",
			 (json_int_t)r->sent, "packets_arrived", (json_int_t)r->arrived, "packet_hops",
			 (json_int_t)r->hops, "reordered", (json_int_t)r->nreordered, "overflows",
			 (json_int_t)r->noverflows, "notifications", (json_int_t)r->nnotices, "most_packets_in_flight",
			 r->most_in_flight);
}

json_t *cli_simulation_json(const struct cli_simulation *sim, const struct cli_settings *settings)
{
	json_t *object = heading_json(sim, settings), *figures = figures_json(sim);
	double gbits;

	if (!object || !figures || json_object_update(object, figures)) {
		json_decref(object);
		json_decref(figures);
		return NULL;
	}
	json_decref(figures);
	cli_simulation_wait_json(&cli_lab(settings)->simulate, sim, object);
	json_object_set_new(object, "message_latency", latency_json(&sim->result->message_ps));
	json_object_set_new(object, "message_gbits",
			    part_json(sim->result->message_rates, (double)sim->result->message_ps.count));
	json_object_set_new(object, "packet_latency", latency_json(&sim->result->packet_ps));
	gbits = fors_sim_gbits(sim->result, sim->program->nservers);
	json_object_set_new(object, "senders", json_integer(cli_simulation_senders(sim)));
	json_object_set_new(object, "load", sim->load > 0 ? json_real(sim->load) : json_null());
	json_object_set_new(object, "healthy_share", part_json(gbits, sim->healthy));
	json_object_set_new(object, "crossbar_share", part_json(gbits, sim->crossbar));
	json_object_set_new(object, "has_rate_limits", json_boolean(sim->set.qcn.has_limiters));
	json_object_set_new(object, "watched_server",
			    sim->set.watch == FORS_NONE ? json_null() : json_integer(sim->set.watch));
	json_object_set_new(object, "time_line", line_json(sim->result));
	json_object_set_new(object, "deadlock", cycle_json(sim));
	json_object_set_new(object, "stalled_links", stalls_json(sim));
	json_object_set_new(object, "slot", steps_json(sim));
	return object;
}
