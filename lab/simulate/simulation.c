/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simulation.c - from the options of `fors simulate` to a simulation.
 *
 * Fabric, router and pattern are those of `fors analyze`. The speed of a link is what the fabric's text says of its
 * cable, or --speed, slowed down by --link-rate.
 */
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

#include "lab/model/routers/crossbar.h"

/* --- speeds ----------------------------------------------------------------------------------------------------- */

/* Both directions of the cable at a port run slower. */
static void slow_down(struct cli_simulation *sim, uint32_t node, unsigned port, double part)
{
	const struct fors_routes *routes = sim->analysis.routes;
	const struct fors_port *at = fors_net_port(routes->net, node, port);
	uint32_t there = routes->link_of[routes->net->node[node].first_port + port], back;

	back = routes->link_of[routes->net->node[at->peer].first_port + at->peer_port];
	if (there != FORS_NONE)
		sim->gbits[there] *= part;
	if (back != FORS_NONE)
		sim->gbits[back] *= part;
}

/* NODE[PORT]=PART */
static int slow_link(struct cli_simulation *sim, const char *text)
{
	const struct fors_routes *routes = sim->analysis.routes;
	const char *sign = strrchr(text, '=');
	struct fors_error error = {0};
	char name[256];
	uint32_t node;
	unsigned port;
	double part;

	if (!sign)
		return cli_usage_error("--link-rate is '%s', but has to be NODE[PORT]=PART, as in 'Leaf00[21]=0.33'",
				       text);
	if (!cli_rate_of("link-rate", sign + 1, 1, &part))
		return CLI_BAD;
	if (!routes)
		return cli_usage_error("--link-rate needs a fabric whose cables have names; this one is too large");
	snprintf(name, sizeof(name), "%.*s", (int)(sign - text), text);
	if (fors_net_find(routes->net, name, &node, &port, &error))
		return cli_fail(&error);
	if (!port)
		return cli_usage_error(
			"--link-rate: there is no live cable at '%s': a port is missing, as in 'Leaf00[21]=0.33'",
			name);
	if (fors_net_port(routes->net, node, port)->peer == FORS_NONE)
		return cli_usage_error("--link-rate: there is no live cable at '%s'", name);
	slow_down(sim, node, port, part);
	return CLI_GOOD;
}

/* SERVER=PART */
static int slow_server(struct cli_simulation *sim, const char *text)
{
	const struct fors_graph *graph = sim->analysis.router.graph;
	char *sign;
	unsigned long server = strtoul(text, &sign, 10);
	double part;

	if (*text < '0' || *text > '9' || *sign != '=')
		return cli_usage_error("--straggler is '%s', but has to be SERVER=PART, as in 3=0.8", text);
	if (server >= graph->nservers)
		return cli_usage_error("--straggler: server %lu: there are %u, numbered from 0", server,
				       graph->nservers);
	if (!cli_rate_of("straggler", sign + 1, 1, &part))
		return CLI_BAD;
	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (graph->from[l] == graph->server[server] || graph->to[l] == graph->server[server])
			sim->gbits[l] *= part;
	return CLI_GOOD;
}

static int set_speeds(const struct cli_settings *settings, struct cli_simulation *sim)
{
	const struct cli_texts *slow = &cli_lab(settings)->simulate.link_rate;
	const struct fors_graph *graph = sim->analysis.router.graph;
	uint32_t n = 0;
	int code = CLI_GOOD;

	sim->gbits = calloc(graph->nlinks + (size_t)1, sizeof(*sim->gbits));
	if (!sim->gbits)
		return cli_fail(&(struct fors_error){FORS_ENOMEM, "out of memory"});
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		sim->gbits[l] = cli_analysis_speed(&cli_lab(settings)->simulate, sim->analysis.routes, l);
		sim->line += graph->is_terminal[graph->from[l]] ? sim->gbits[l] : 0;
		n += graph->is_terminal[graph->from[l]];
	}
	sim->line = n ? sim->line / n : CLI_USUAL_GBITS;
	for (size_t i = 0; i < slow->count && !code; i++)
		code = slow_link(sim, slow->text[i]);
	slow = &cli_lab(settings)->simulate.straggler;
	for (size_t i = 0; i < slow->count && !code; i++)
		code = slow_server(sim, slow->text[i]);
	return code;
}

/* --- settings --------------------------------------------------------------------------------------------------- */

static uint64_t or_else(const struct cli_amount *amount, uint64_t usual)
{
	return amount->is_given ? amount->value : usual;
}

/* Bytes that have to fit into 32 bits; more is cut to what is too much for the simulation. */
static uint32_t bytes(const struct cli_amount *amount, uint32_t usual)
{
	uint64_t value = or_else(amount, usual);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

struct fors_sim_settings cli_simulation_settings(const struct cli_simulate *given, const double *gbits)
{
	struct fors_sim_settings set = fors_sim_defaults();

	set.gbits = gbits;
	set.message = or_else(&given->message, set.message);
	set.mtu = bytes(&given->mtu, set.mtu);
	set.buffer = bytes(&given->buffer, set.buffer);
	set.pause_high = bytes(&given->pause_high, 0);
	set.pause_low = bytes(&given->pause_low, 0);
	set.wire = or_else(&given->wire, set.wire);
	set.switching = or_else(&given->switching, set.switching);
	set.adapter = or_else(&given->adapter, 0);
	set.adapter_rate = given->adapter_rate > 0 ? given->adapter_rate : 1;
	cli_simulation_policy_settings(given, &set);
	set.is_fifo = given->queues == CLI_QUEUES_FIFO;
	set.is_store_and_forward = given->is_store_and_forward;
	cli_simulation_wait_settings(given, &set);
	set.barrier = or_else(&given->barrier, 0);
	set.jitter = or_else(&given->jitter, 0);
	set.skew = or_else(&given->skew, 0);
	set.keeps_idle = given->idle == CLI_IDLE_KEPT;
	if (given->load > 0 || given->waiting)
		set.has_barrier = set.keeps_idle = false;
	return set;
}

/* --- the run ---------------------------------------------------------------------------------------------------- */

static int simulate(struct cli_simulation *sim)
{
	struct fors_error error = {0};
	enum fors_err err;

	fors_sim_result_free(sim->result);
	sim->result = NULL;
	cli_progress_name("simulating", 0);
	err = fors_simulate(&sim->analysis.router, sim->program, &sim->set, &sim->result, &error);
	if (!err)
		cli_progress(NULL, 1); /* a short one has told of nothing yet */
	cli_progress_end();
	return err ? cli_fail(&error) : CLI_GOOD;
}

/* Once without cost, then with the cost that the measured rate leaves. */
static int fit(struct cli_simulation *sim, double gbits)
{
	struct fors_error error = {0};

	if (!cli_simulation_is_sound(sim))
		return CLI_GOOD;
	if (fors_sim_fit(sim->result, sim->program->nservers, gbits, &sim->set.barrier, &error))
		return cli_fail(&error);
	sim->has_fitted = true;
	return simulate(sim);
}

/* The same program and settings where only servers can be in one another's way. */
static enum fors_err run_crossbar(struct cli_simulation *sim, const struct fors_graph *bar, struct fors_error *error)
{
	const struct fors_router router = fors_crossbar_router(bar);
	struct fors_sim_settings set = sim->set;
	struct fors_sim_result *result = NULL;
	double *gbits = cli_simulation_server_speeds(sim);
	enum fors_err err;

	set.gbits = gbits;
	set.policy = FORS_POLICY_TABLES;
	set.has_lanes_by_hop = set.qcn.has_limiters = false;
	err = gbits ? fors_simulate(&router, sim->program, &set, &result, error) : fors_fail_memory(error);
	if (!err)
		sim->crossbar = fors_sim_gbits(result, sim->program->nservers);
	fors_sim_result_free(result);
	free(gbits);
	return err;
}

static int simulate_crossbar(struct cli_simulation *sim)
{
	struct fors_graph *bar = NULL;
	struct fors_error error = {0};
	enum fors_err err = fors_crossbar_graph(sim->program->nservers, &bar, &error);

	if (!err) {
		cli_progress_name("one switch for all", 0);
		err = run_crossbar(sim, bar, &error);
		cli_progress_end();
	}
	fors_graph_free(bar);
	return err ? cli_fail(&error) : CLI_GOOD;
}

static int make_program(const struct cli_simulate *given, struct cli_simulation *sim)
{
	const struct cli_analysis *a = &sim->analysis;
	struct fors_error error = {0};

	int code = CLI_GOOD;

	if (fors_program_of(a->pattern, a->router.graph->nservers, &sim->program, &error))
		return cli_fail(&error);
	if (fors_pattern_has_sizes(a->pattern) && (given->load > 0 || given->ranks > 1 || given->sigma > 0))
		return cli_usage_error("this schedule says how large messages are: it goes without --load, --ranks and "
				       "--sigma");
	if (fors_program_resize(sim->program, a->pattern, sim->set.message, &error))
		return cli_fail(&error);
	if (given->load > 0)
		code = cli_simulation_offer(given, sim);
	else
		code = cli_simulation_reshape(given, sim);
	if (code)
		return code;
	for (size_t i = 0; i < fors_program_nmessages(sim->program); i++)
		sim->program->send[i].vl = (uint8_t)(sim->program->send[i].dst % sim->set.nvls);
	return CLI_GOOD;
}

static int watch(const struct cli_simulate *given, struct cli_simulation *sim)
{
	uint32_t n = sim->analysis.router.graph->nservers;

	if (!given->has_watch)
		return CLI_GOOD;
	if (given->watch >= n)
		return cli_usage_error("--watch-server is %u: there are %u servers, numbered from 0", given->watch, n);
	sim->set.watch = given->watch;
	return CLI_GOOD;
}

int cli_simulation_run(const struct cli_settings *settings, struct cli_simulation *sim)
{
	int code;

	*sim = (struct cli_simulation){.has_fitted = false};
	code = cli_simulation_check_policy(&cli_lab(settings)->simulate);
	if (!code)
		code = cli_analysis_prepare(settings, &sim->analysis);
	if (!code)
		code = set_speeds(settings, sim);
	if (code)
		return code;
	sim->set = cli_simulation_settings(&cli_lab(settings)->simulate, sim->gbits);
	sim->set.seed = settings->seed;
	sim->set.progress = cli_progress;
	sim->load = cli_lab(settings)->simulate.load;
	sim->healthy = cli_lab(settings)->simulate.healthy;
	code = watch(&cli_lab(settings)->simulate, sim);
	if (!code)
		code = make_program(&cli_lab(settings)->simulate, sim);
	if (!code)
		code = cli_simulation_make_policy(settings, sim);
	if (!code)
		code = simulate(sim);
	if (!code && cli_lab(settings)->simulate.measured > 0)
		code = fit(sim, cli_lab(settings)->simulate.measured);
	return code || !cli_lab(settings)->simulate.wants_crossbar ? code : simulate_crossbar(sim);
}

void cli_simulation_free(struct cli_simulation *sim)
{
	fors_sim_result_free(sim->result);
	fors_program_free(sim->program);
	fors_hops_free(sim->hops);
	fors_blocks_free(sim->blocks);
	free(sim->gbits);
	cli_analysis_free(&sim->analysis);
}

uint32_t cli_simulation_senders(const struct cli_simulation *sim)
{
	const struct fors_program *p = sim->program;
	uint32_t n = 0;

	for (size_t s = 0; s < p->nservers; s++)
		n += p->first[(s + 1) * p->nranks] > p->first[s * p->nranks];
	return n;
}

bool cli_simulation_is_sound(const struct cli_simulation *sim)
{
	return !sim->result->ncycle && !sim->result->nbroken;
}

/* --- words ------------------------------------------------------------------------------------------------------ */

void cli_simulation_link(const struct cli_simulation *sim, uint32_t link, char *text, size_t room)
{
	if (sim->analysis.routes)
		fors_link_name(sim->analysis.routes, link, text, room);
	else
		snprintf(text, room, "link %u", link);
}

struct ranked {
	uint64_t value;
	uint32_t number;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The numbers of those with a value, largest first, over ranked[]; it becomes the list. */
static uint32_t rank(struct ranked *ranked, uint32_t n, uint32_t **list)
{
	uint32_t *numbers = (uint32_t *)ranked, found = 0;

	qsort(ranked, n, sizeof(*ranked), by_value);
	for (; found < n && ranked[found].value; found++) {
		uint32_t number = ranked[found].number;

		numbers[found] = number;
	}
	*list = numbers;
	return found;
}

uint32_t cli_simulation_worst_links(const struct cli_simulation *sim, uint32_t **list)
{
	const struct fors_sim_result *r = sim->result;
	struct ranked *ranked = malloc((r->nlinks + (size_t)1) * sizeof(*ranked));

	*list = NULL;
	for (uint32_t l = 0; ranked && l < r->nlinks; l++)
		ranked[l] = (struct ranked){r->link[l].stall, l};
	return ranked ? rank(ranked, r->nlinks, list) : 0;
}

uint32_t cli_simulation_worst_steps(const struct cli_simulation *sim, uint32_t **list)
{
	const struct fors_sim_result *r = sim->result;
	uint32_t n = r->step ? r->nsteps : 0;
	struct ranked *ranked = malloc((n + (size_t)1) * sizeof(*ranked));

	*list = NULL;
	for (uint32_t i = 0; ranked && i < n; i++)
		ranked[i] = (struct ranked){r->step[i].end - r->step[i].begin, i};
	return ranked ? rank(ranked, n, list) : 0;
}
