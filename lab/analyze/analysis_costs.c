/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis_costs.c - what `fors analyze` says in Gbit/s: loads, an adapter's limit, and a fixed cost of each phase
 * (lab/model/measure/costs.h). No packet is simulated.
 */
#include "analysis.h"

#include "core/net/rates.h"
#include "lab/sim/sim.h"

static bool is_asked(const struct cli_simulate *given)
{
	return given->message.is_given || given->barrier.is_given || given->measured > 0 || given->speed > 0 ||
	       given->adapter_rate > 0;
}

double cli_analysis_speed(const struct cli_simulate *given, const struct fors_routes *routes, uint32_t link)
{
	uint32_t rate = routes ? fors_port_rate(&routes->net->port[routes->port_of[link]]) : 0;

	if (given->speed > 0)
		return given->speed;
	return rate ? rate / 1000. : CLI_USUAL_GBITS;
}

/* Gbit/s of a server's cable, on average. */
static double speed_of_servers(const struct cli_simulate *given, const struct cli_analysis *a)
{
	const struct fors_graph *graph = a->router.graph;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (graph->is_terminal[graph->from[l]]) {
			sum += cli_analysis_speed(given, a->routes, l);
			n++;
		}
	return n ? sum / n : 0;
}

static int check(const struct cli_simulate *given)
{
	if (given->message.is_given && (!given->message.value || given->message.value > (uint64_t)1 << 40))
		return cli_usage_error("messages have to have from 1 byte to 1 TiB");
	return CLI_GOOD;
}

/* The cost of a phase that leaves the measured rate. */
static int fit(double measured, struct cli_analysis *a)
{
	struct fors_error error = {0};

	a->has_fitted = true;
	if (!fors_costs_fit(a->result, measured / a->line, &a->costs, &error))
		return CLI_GOOD;
	cli_error(
		"--measured %g cannot be reached by any cost of a phase: without any a server gets %.1f of the %g Gbit/s of its "
		"cable (--speed says how fast cables are)",
		measured, fors_costs_share(a->result, &a->costs) * a->line, a->line);
	return CLI_BAD;
}

int cli_analysis_costs(const struct cli_settings *settings, struct cli_analysis *a)
{
	const struct cli_simulate *given = &cli_lab(settings)->simulate;
	int code = is_asked(given) ? check(given) : CLI_GOOD;

	if (code || !is_asked(given))
		return code;
	a->has_costs = true;
	a->line = speed_of_servers(given, a);
	a->message = given->message.is_given ? given->message.value : fors_sim_defaults().message;
	a->costs = (struct fors_costs){.message = a->line > 0 ? 8. * (double)a->message / a->line : 0,
				       .part = given->adapter_rate > 0 ? given->adapter_rate : 1,
				       .phase = (double)given->barrier.value / 1000};
	if (given->measured <= 0 || a->result->nbroken)
		return CLI_GOOD;
	return fit(given->measured, a);
}

void cli_analysis_print_costs(const struct cli_analysis *a)
{
	const struct fors_costs *c = &a->costs;

	if (!a->has_costs || a->result->nbroken)
		return;
	printf("fixed cost  %s%.1f Gbit/s%s of %g per server, when a phase takes max(load%s", cli_colour(CLI_BOLD),
	       fors_costs_share(a->result, c) * a->line, cli_colour(CLI_PLAIN), a->line, c->part < 1 ? ", " : "");
	if (c->part < 1)
		printf("1/%g", c->part);
	printf(") x %.0f ns and %.0f ns besides%s\n", c->message, c->phase,
	       a->has_fitted ? " (fitted to what was measured)" : "");
}

json_t *cli_analysis_costs_json(const struct cli_analysis *a)
{
	const struct fors_costs *c = &a->costs;

	if (!a->has_costs)
		return json_null();
	return json_pack("{s:I, s:f, s:f, s:f, s:b, s:o, s:o}", "message_bytes", (json_int_t)a->message, "line_gbits",
			 a->line, "adapter_rate", c->part, "barrier_ns", c->phase, "barrier_is_fitted", a->has_fitted,
			 "time_ns", a->result->nbroken ? json_null() : json_real(fors_costs_time(a->result, c)),
			 "gbits_per_server",
			 a->result->nbroken ? json_null() : json_real(fors_costs_share(a->result, c) * a->line));
}
