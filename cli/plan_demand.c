/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan_demand.c - `fors plan --demand`: phases for an exchange that need not be uniform.
 *
 * The tables come first, those of fors or those of --lfts; they say who the servers are and which ways messages take. Then the file is read.
 * The plan of all with all is made too: it is what an application would follow without a demand, and where the demand is uniform it is
 * the plan. Nothing is told of a plan that the checker has not walked.
 */
#include "cli/plan_demand.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/clock.h"
#include "cli/json.h"
#include "cli/plan.h"
#include "core/base/text.h"
#include "core/demand/published.h"
#include "core/demand/steps.h"
#include "core/demand/uniform.h"
#include "core/planners/outcome.h"

#define MOST_COST UINT64_C(1000000000000) /* picoseconds of a phase */

struct planned {
	const struct cli_settings *settings;
	struct cli_site site;
	struct cli_fabric made;
	struct fors_demand_steps steps;
	uint32_t senders, receivers;
	struct fors_schedule *uniform; /* the plan of all with all; NULL: there is none */
	struct fors_demand_shift shift;
	struct fors_demand_verdict verdict;
	double plan_ms, verify_ms;
};

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static int load_tables(struct planned *p)
{
	const struct cli_settings *settings = p->settings;
	int code = cli_any_site_load(&settings->source, &p->site);

	if (!code && !settings->lfts)
		return cli_own_tables(&p->site, &settings->source, &p->made);
	if (!code)
		code = cli_site_net(&p->site, &settings->source, &p->made.net);
	if (!code)
		code = cli_read_tables(settings->lfts, p->made.net, &p->made.lfts);
	return code ? code : cli_fabric_understand(&p->site, &p->made);
}

/* The servers, and the ways between them. */
static enum fors_err find_ways(struct planned *p, struct fors_error *error)
{
	p->steps.net = p->made.net;
	p->steps.lfts = p->made.lfts;
	p->steps.limits = p->settings->limits;
	return fors_demand_find_ways(&p->steps, &p->made.warnings, error);
}

/* ---- the demand ------------------------------------------------------------------------------------------------ */

static enum fors_err read_demand(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct planned *p = context;

	return fors_demand_find_messages(&p->steps, text, size, path, &p->made.warnings, error);
}

/* Servers that send, and that receive. */
static enum fors_err count_ends(struct planned *p, struct fors_error *error)
{
	bool *seen = calloc(2 * (size_t)p->steps.demand.nservers + 1, sizeof(*seen));

	if (!seen)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < p->steps.demand.count; m++) {
		const struct fors_demand_message *message = &p->steps.demand.message[m];

		p->senders += !seen[message->src];
		p->receivers += !seen[p->steps.demand.nservers + message->dst];
		seen[message->src] = seen[p->steps.demand.nservers + message->dst] = true;
	}
	free(seen);
	return FORS_OK;
}

static enum fors_err look(struct planned *p, struct fors_error *error)
{
	const struct cli_amount *given = &p->settings->phase_cost;
	enum fors_err err =
		fors_demand_find_bounds(&p->steps, given->is_given ? given->value : FORS_DEMAND_PHASE_COST, error);

	if (!err)
		err = count_ends(p, error);
	return err ? err : fors_demand_by_shift(&p->steps.problem, &p->shift, error);
}

/* ---- plans ----------------------------------------------------------------------------------------------------- */

/* The plan of all with all: over lanes, where it is a tree of two levels, else over ways. That there is none is no error. */
static enum fors_err plan_uniform(struct planned *p, struct fors_error *error)
{
	const struct fors_fabric *fabric = p->made.fabric;
	bool is_tree = fabric && fabric->nservers == p->steps.routed->nservers && !fabric->unreachable_pairs;
	struct fors_request request = {
		.task = {.fabric = is_tree ? fabric : NULL, .lanes = p->made.lanes, .threads = cli_processors()},
		.net = p->made.net,
		.lfts = p->made.lfts,
		.rounds = p->made.rounds};
	struct fors_error why;
	enum fors_err err = fors_plan_proven(&request, &p->uniform, NULL, &why);

	if (err && err != FORS_ENOMEM && is_tree) {
		request.task.fabric = NULL;
		err = fors_plan_proven(&request, &p->uniform, NULL, &why);
	}
	return err == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
}

static enum fors_err plan(struct planned *p, struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = plan_uniform(p, error);

	if (!err)
		err = fors_demand_find_plan(&p->steps, p->uniform, error);
	p->plan_ms = cli_now_ms() - start;
	start = cli_now_ms();
	if (!err)
		err = fors_demand_prove(&p->steps, &p->verdict, error);
	p->verify_ms = cli_now_ms() - start;
	return err;
}

/* ---- figures --------------------------------------------------------------------------------------------------- */

/* T / LB of a plan of this time. */
static double ratio(const struct planned *p, double time)
{
	return p->steps.bound.most ? time / (double)p->steps.bound.most : 1;
}

static double time_of(const struct planned *p, const struct fors_demand_plan *plan)
{
	return (double)fors_demand_plan_time(plan, p->steps.cost);
}

static double shift_time(const struct planned *p)
{
	return (double)(p->shift.length + p->shift.nphases * p->steps.cost);
}

/* Of messages of one size a phase that is several of them long is as many phases, as bounds count them. */
static uint64_t phases_of(const struct planned *p, const struct fors_demand_plan *plan)
{
	return p->steps.demand.is_unit ? fors_demand_plan_length(plan) : plan->nphases;
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void print_demand(const struct planned *p)
{
	printf("demand      %u %s from %u to %u of %u servers", p->steps.demand.count,
	       fors_plural(p->steps.demand.count, "message", "messages"), p->senders, p->receivers,
	       p->steps.demand.nservers);
	if (!p->steps.demand.is_unit)
		printf(", %.0f bytes", (double)fors_demand_total(&p->steps.demand));
	printf("\n");
	cli_print_warnings(&p->made.warnings);
}

static void print_bound(const struct planned *p)
{
	const char *unit = p->steps.demand.is_unit ? "phases" : "bytes";

	printf("bounds      ports %.0f %s, leaves %.0f, cables %.0f; the %s binds: %s\n", (double)p->steps.bound.ports,
	       unit, (double)p->steps.bound.leaf, (double)p->steps.bound.cable,
	       fors_demand_limit_name(p->steps.bound.which), p->steps.bound.what);
}

static void print_other(const struct planned *p, const char *what, uint64_t phases, double time)
{
	printf("%-12s%" PRIu64 " %s, %.3f of the bound\n", what, phases, fors_plural(phases, "phase", "phases"),
	       ratio(p, time));
}

static void print_report(const struct planned *p)
{
	const struct fors_demand_plan *plan = fors_demand_chosen(&p->steps);
	uint64_t phases = phases_of(p, plan);

	print_demand(p);
	print_bound(p);
	printf("plan        %s%" PRIu64 " %s%s, method %s", cli_colour(CLI_GREEN), phases,
	       fors_plural(phases, "phase", "phases"), cli_colour(CLI_PLAIN), plan->method);
	if (!p->steps.demand.is_unit)
		printf(", %.0f bytes long", (double)fors_demand_plan_length(plan));
	printf("; %.3f of the bound", ratio(p, (double)fors_demand_plan_length(plan)));
	if (p->steps.cost)
		printf(", %.3f with %.0f bytes for each phase", ratio(p, time_of(p, plan)), (double)p->steps.cost);
	printf("\nrate        the fullest port sends or receives %.1f %% of the time\n",
	       100 * (double)p->steps.bound.ports / time_of(p, plan));
	if (p->steps.uniform)
		print_other(p, "uniform", phases_of(p, p->steps.uniform), time_of(p, p->steps.uniform));
	print_other(p, "shift", p->shift.nphases, shift_time(p));
	printf("verified    all %llu pieces through the tables, no link carries two in a phase\n",
	       (unsigned long long)p->verdict.nflows);
	printf("time        plan %.1f ms, verification %.1f ms\n", p->plan_ms, p->verify_ms);
}

/* ---- for programs ---------------------------------------------------------------------------------------------- */

static json_t *count(uint64_t number)
{
	return json_integer((json_int_t)number);
}

static void add_demand(const struct planned *p, json_t *data)
{
	bool has_sizes = !p->steps.demand.is_unit;

	json_object_set_new(data, "servers", count(p->steps.demand.nservers));
	json_object_set_new(data, "senders", count(p->senders));
	json_object_set_new(data, "receivers", count(p->receivers));
	json_object_set_new(data, "messages", count(p->steps.demand.count));
	json_object_set_new(data, "bytes", has_sizes ? count(fors_demand_total(&p->steps.demand)) : json_null());
	json_object_set_new(data, "hosts_left_out", count(p->steps.left_out));
	json_object_set_new(data, "lower_bound", count(p->steps.fewest));
	json_object_set_new(data, "length_bound", has_sizes ? count(p->steps.bound.most) : json_null());
	json_object_set_new(data, "ports_bound", count(p->steps.bound.ports));
	json_object_set_new(data, "leaf_bound", count(p->steps.bound.leaf));
	json_object_set_new(data, "cable_bound", count(p->steps.bound.cable));
	json_object_set_new(data, "bound_by", json_string(fors_demand_limit_name(p->steps.bound.which)));
	json_object_set_new(data, "bound_at", fors_json_text(p->steps.bound.what));
	json_object_set_new(data, "proven_bound", count(p->steps.bound.most));
	json_object_set_new(data, "phase_cost", has_sizes ? count(p->steps.cost) : json_null());
	json_object_set_new(data, "shift_phases", count(p->shift.nphases));
	json_object_set_new(data, "shift_time_over_bound", json_real(ratio(p, shift_time(p))));
}

static void add_plan(const struct planned *p, json_t *data)
{
	const struct fors_demand_plan *plan = fors_demand_chosen(&p->steps), *uniform = p->steps.uniform;
	uint64_t length = fors_demand_plan_length(plan);
	bool has_sizes = !p->steps.demand.is_unit;

	json_object_set_new(data, "phases", count(phases_of(p, plan)));
	json_object_set_new(data, "length", has_sizes ? count(length) : json_null());
	json_object_set_new(data, "length_over_bound", json_real(ratio(p, (double)length)));
	json_object_set_new(data, "time_over_bound", json_real(ratio(p, time_of(p, plan))));
	json_object_set_new(data, "port_share", json_real((double)p->steps.bound.ports / time_of(p, plan)));
	json_object_set_new(data, "uniform_phases", uniform ? count(phases_of(p, uniform)) : json_null());
	json_object_set_new(data, "uniform_time_over_bound",
			    uniform ? json_real(ratio(p, time_of(p, uniform))) : json_null());
	json_object_set_new(data, "method", json_string(plan->method));
	json_object_set_new(data, "flows", count(p->verdict.nflows));
	json_object_set_new(data, "plan_ms", json_real(p->plan_ms));
	json_object_set_new(data, "verify_ms", json_real(p->verify_ms));
}

static json_t *json_of(const struct planned *p)
{
	json_t *data = json_object();

	json_object_set_new(data, "state", json_string("active"));
	json_object_set_new(data, "reason", json_null());
	add_demand(p, data);
	add_plan(p, data);
	json_object_set_new(data, "remarks", fors_warnings_to_json(&p->made.warnings));
	return data;
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

/* The plan as it is published. */
static int write_schedule(const struct planned *p)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {0};
	int code;

	if (fors_demand_schedule(p->steps.routed, &p->steps.demand, fors_demand_chosen(&p->steps), NULL, &schedule,
				 &error))
		return cli_fail(&error);
	code = cli_write_schedule(p->settings->output, schedule);
	fors_schedule_free(schedule);
	return code;
}

static int tell(const struct planned *p)
{
	int code = p->settings->output ? write_schedule(p) : CLI_GOOD;

	if (!code && p->settings->is_json)
		return cli_print_json(json_of(p));
	if (!code)
		print_report(p);
	if (!code && p->settings->output)
		printf("schedule    written to %s\n", p->settings->output);
	return code;
}

static void finish(struct planned *p)
{
	fors_schedule_free(p->uniform);
	fors_demand_steps_clear(&p->steps);
	cli_fabric_free(&p->made);
	cli_site_free(&p->site);
}

int cli_plan_demand(const struct cli_settings *settings)
{
	struct planned p = {.settings = settings};
	struct fors_error error = {0};
	int code = settings->phase_cost.value > MOST_COST ? cli_usage_error("--phase-cost is more than a second")
							  : load_tables(&p);

	if (!code && find_ways(&p, &error))
		code = cli_fail(&error);
	if (!code)
		code = cli_use_file(settings->demand, read_demand, &p);
	if (!code)
		code = look(&p, &error) || plan(&p, &error) ? cli_fail(&error) : tell(&p);
	finish(&p);
	return code;
}
