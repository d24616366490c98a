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
#include "cli/plan_over.h"
#include "core/base/text.h"
#include "core/demand/check.h"
#include "core/demand/demand_file.h"
#include "core/demand/odd.h"
#include "core/demand/pack.h"
#include "core/demand/published.h"
#include "core/demand/reach.h"
#include "core/demand/uniform.h"
#include "core/net/rates.h"
#include "core/planners/outcome.h"
#include "core/planners/over.h"

#define MOST_PATHS 128	   /* path indices that are looked at: all */
#define USUAL_RATE 200000  /* Mb/s where the fabric does not say */
#define USUAL_COST 4000000 /* picoseconds of a phase */
#define MOST_COST UINT64_C(1000000000000)
#define BUDGET UINT64_C(400000000) /* steps of the packers */
#define BUDGET_PER_MESSAGE UINT64_C(5000)
#define ODD_BUDGET UINT64_C(40000000) /* of the search for a better bound */

struct planned {
	const struct cli_settings *settings;
	struct cli_site site;
	struct cli_fabric made;
	struct fors_flows_routed *routed;
	uint64_t *guid; /* of servers */
	struct fors_demand demand;
	struct fors_demand_problem problem;
	struct fors_demand_bound bound;
	uint64_t odd;	   /* a bound by an odd set of ports and links, which may be less */
	uint32_t odd_size; /* so many of them */
	uint32_t left_out; /* hosts of the file */
	uint32_t senders, receivers;
	uint32_t fewest;	       /* no plan has fewer phases */
	uint64_t cost;		       /* of a phase, in bytes; 0 where messages have no size */
	struct fors_schedule *uniform; /* the plan of all with all; NULL: there is none */
	struct fors_demand_plan *by_uniform, *plan;
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
static enum fors_err read_ways(struct planned *p, struct fors_error *error)
{
	const struct fors_flows_tables tables = {.net = p->made.net, .lfts = p->made.lfts, .most_paths = MOST_PATHS};
	enum fors_err err = fors_demand_reach(&tables, &p->routed, &p->made.warnings, error);

	if (err)
		return err;
	p->guid = malloc((p->routed->nservers + (size_t)1) * sizeof(*p->guid));
	if (!p->guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < p->routed->nservers; s++)
		p->guid[s] = p->routed->server[s].guid;
	return FORS_OK;
}

/* ---- the demand ------------------------------------------------------------------------------------------------ */

static enum fors_err read_demand(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct planned *p = context;
	uint32_t *node = malloc((p->routed->nservers + (size_t)1) * sizeof(*node));
	const struct fors_demand_hosts hosts = {p->made.net, p->guid, node, p->routed->nservers};
	enum fors_err err;

	if (!node)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < hosts.count; s++)
		node[s] = p->routed->server[s].node;
	err = fors_demand_read(text, size, path, &hosts, &p->demand, &p->left_out, &p->made.warnings, error);
	free(node);
	return err;
}

/* The better of the bounds. */
static uint64_t proven(const struct planned *p)
{
	return p->odd > p->bound.most ? p->odd : p->bound.most;
}

/* What a phase costs in bytes at the rate of the links, in *cost. */
static uint64_t cost_of(const struct planned *p)
{
	const struct cli_amount *given = &p->settings->phase_cost;
	uint32_t rate = fors_rates_full(p->made.net);
	double ps = given->is_given ? (double)given->value : USUAL_COST;

	if (p->demand.is_unit)
		return 0;
	return (uint64_t)(ps * (rate ? rate : USUAL_RATE) / 8e6);
}

/* The phases that a demand needs at least; of messages of one size a bound says it. */
static enum fors_err count_fewest(struct planned *p, struct fors_error *error)
{
	if (!p->demand.is_unit)
		return fors_demand_fewest(&p->problem, &p->fewest, error);
	p->fewest = (uint32_t)(proven(p) > UINT32_MAX ? UINT32_MAX : proven(p));
	return FORS_OK;
}

/* Servers that send, and that receive. */
static enum fors_err count_ends(struct planned *p, struct fors_error *error)
{
	bool *seen = calloc(2 * (size_t)p->demand.nservers + 1, sizeof(*seen));

	if (!seen)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < p->demand.count; m++) {
		const struct fors_demand_message *message = &p->demand.message[m];

		p->senders += !seen[message->src];
		p->receivers += !seen[p->demand.nservers + message->dst];
		seen[message->src] = seen[p->demand.nservers + message->dst] = true;
	}
	free(seen);
	return FORS_OK;
}

static enum fors_err look(struct planned *p, struct fors_error *error)
{
	struct fors_effort effort = {.budget = ODD_BUDGET};
	enum fors_err err = fors_demand_problem_make(&p->demand, p->routed, &p->problem, error);

	if (!err)
		err = fors_demand_bound_of(&p->problem, &p->bound, error);
	if (!err)
		err = fors_demand_odd_bound(&p->problem, &effort, &p->odd, &p->odd_size, error);
	if (!err)
		err = count_fewest(p, error);
	if (!err)
		err = count_ends(p, error);
	if (!err)
		err = fors_demand_by_shift(&p->problem, &p->shift, error);
	p->cost = cost_of(p);
	return err;
}

/* ---- plans ----------------------------------------------------------------------------------------------------- */

/* Two levels: as `fors plan` does. */
static enum fors_err plan_tree(struct planned *p, struct fors_error *error)
{
	const struct fors_request request = {
		.task = {.fabric = p->made.fabric, .lanes = p->made.lanes, .threads = cli_processors()},
		.net = p->made.net,
		.lfts = p->made.lfts,
	};
	struct fors_outcome outcome;
	enum fors_err err;

	fors_outcome_init(&outcome);
	err = fors_outcome_make(&request, &outcome, error);
	if (!err)
		p->uniform = fors_outcome_take(&outcome);
	fors_outcome_clear(&outcome);
	return err;
}

/* The plan of all with all. That there is none is no error. */
static enum fors_err plan_uniform(struct planned *p, struct fors_error *error)
{
	const struct fors_over_task task = {.net = p->made.net, .lfts = p->made.lfts, .rounds = p->made.rounds};
	struct fors_over_report report;
	struct fors_error why;
	enum fors_err err = FORS_OK;

	if (p->made.fabric && p->made.fabric->nservers == p->routed->nservers && !p->made.fabric->unreachable_pairs)
		err = plan_tree(p, error);
	if (err || p->uniform)
		return err;
	err = fors_plan_over(&task, &p->uniform, &report, &why);
	return err == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
}

/* No plan takes less time than this. */
static uint64_t least_time(const struct planned *p)
{
	return proven(p) + p->fewest * p->cost;
}

/* A plan that is no longer is the uniform one. Where that reaches the bound none is looked for. */
static enum fors_err choose(struct planned *p, struct fors_error *error)
{
	struct fors_effort effort = {.budget = BUDGET + BUDGET_PER_MESSAGE * p->demand.count};
	const struct fors_demand_asked asked = {&p->problem, proven(p), p->cost, &effort};
	uint64_t bytes;
	enum fors_err err;

	if (p->by_uniform && (fors_demand_is_uniform(&p->demand, &bytes) ||
			      fors_demand_plan_time(p->by_uniform, p->cost) <= least_time(p)))
		return FORS_OK;
	err = fors_demand_pack(&asked, &p->plan, error);
	if (err || !p->by_uniform ||
	    fors_demand_plan_time(p->plan, p->cost) < fors_demand_plan_time(p->by_uniform, p->cost))
		return err;
	fors_demand_plan_free(p->plan);
	p->plan = NULL;
	return FORS_OK;
}

/* The plan that was chosen. */
static const struct fors_demand_plan *plan_of(const struct planned *p)
{
	return p->plan ? p->plan : p->by_uniform;
}

static enum fors_err plan(struct planned *p, struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = plan_uniform(p, error);

	if (!err && p->uniform)
		err = fors_demand_by_schedule(&p->problem, p->uniform, &p->by_uniform, error);
	if (!err)
		err = choose(p, error);
	p->plan_ms = cli_now_ms() - start;
	start = cli_now_ms();
	if (!err)
		err = fors_demand_check(p->made.net, p->made.lfts, p->guid, &p->demand, plan_of(p), &p->verdict, error);
	p->verify_ms = cli_now_ms() - start;
	if (!err && !p->verdict.is_right)
		err = fors_fail(error, FORS_ENOPLAN, "the plan of method %s is wrong (please report this): %.300s",
				plan_of(p)->method, p->verdict.text);
	return err;
}

/* ---- figures --------------------------------------------------------------------------------------------------- */

/* T / LB of a plan of this time. */
static double ratio(const struct planned *p, double time)
{
	return p->bound.most ? time / (double)p->bound.most : 1;
}

static double time_of(const struct planned *p, const struct fors_demand_plan *plan)
{
	return (double)fors_demand_plan_time(plan, p->cost);
}

static double shift_time(const struct planned *p)
{
	return (double)(p->shift.length + p->shift.nphases * p->cost);
}

/* Of messages of one size a phase that is several of them long is as many phases, as bounds count them. */
static uint64_t phases_of(const struct planned *p, const struct fors_demand_plan *plan)
{
	return p->demand.is_unit ? fors_demand_plan_length(plan) : plan->nphases;
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void print_demand(const struct planned *p)
{
	printf("demand      %u %s from %u to %u of %u servers", p->demand.count,
	       fors_plural(p->demand.count, "message", "messages"), p->senders, p->receivers, p->demand.nservers);
	if (!p->demand.is_unit)
		printf(", %.0f bytes", (double)fors_demand_total(&p->demand));
	printf("\n");
	for (unsigned i = 0; i < fors_warnings_kept(&p->made.warnings); i++)
		printf("%-12s%s%s%s\n", i ? "" : "warning", cli_colour(CLI_YELLOW), p->made.warnings.text[i],
		       cli_colour(CLI_PLAIN));
}

static void print_bound(const struct planned *p)
{
	const char *unit = p->demand.is_unit ? "phases" : "bytes";

	printf("bounds      ports %.0f %s, leaves %.0f, cables %.0f; the %s binds: %s\n", (double)p->bound.ports, unit,
	       (double)p->bound.leaf, (double)p->bound.cable, fors_demand_limit_name(p->bound.which), p->bound.what);
	if (p->odd > p->bound.most)
		printf("%12sbut no plan is below %.0f: messages conflict in a ring (ports and cables in it: %u)\n", "",
		       (double)p->odd, p->odd_size);
}

static void print_other(const struct planned *p, const char *what, uint64_t phases, double time)
{
	printf("%-12s%" PRIu64 " %s, %.3f of the bound\n", what, phases, fors_plural(phases, "phase", "phases"),
	       ratio(p, time));
}

static void print_report(const struct planned *p)
{
	const struct fors_demand_plan *plan = plan_of(p);
	uint64_t phases = phases_of(p, plan);

	print_demand(p);
	print_bound(p);
	printf("plan        %s%" PRIu64 " %s%s, method %s", cli_colour(CLI_GREEN), phases,
	       fors_plural(phases, "phase", "phases"), cli_colour(CLI_PLAIN), plan->method);
	if (!p->demand.is_unit)
		printf(", %.0f bytes long", (double)fors_demand_plan_length(plan));
	printf("; %.3f of the bound", ratio(p, (double)fors_demand_plan_length(plan)));
	if (p->cost)
		printf(", %.3f with %.0f bytes for each phase", ratio(p, time_of(p, plan)), (double)p->cost);
	printf("\nrate        the fullest port sends or receives %.1f %% of the time\n",
	       100 * (double)p->bound.ports / time_of(p, plan));
	if (p->by_uniform)
		print_other(p, "uniform", phases_of(p, p->by_uniform), time_of(p, p->by_uniform));
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
	bool has_sizes = !p->demand.is_unit;

	json_object_set_new(data, "servers", count(p->demand.nservers));
	json_object_set_new(data, "senders", count(p->senders));
	json_object_set_new(data, "receivers", count(p->receivers));
	json_object_set_new(data, "messages", count(p->demand.count));
	json_object_set_new(data, "bytes", has_sizes ? count(fors_demand_total(&p->demand)) : json_null());
	json_object_set_new(data, "hosts_left_out", count(p->left_out));
	json_object_set_new(data, "lower_bound", count(p->fewest));
	json_object_set_new(data, "length_bound", has_sizes ? count(p->bound.most) : json_null());
	json_object_set_new(data, "ports_bound", count(p->bound.ports));
	json_object_set_new(data, "leaf_bound", count(p->bound.leaf));
	json_object_set_new(data, "cable_bound", count(p->bound.cable));
	json_object_set_new(data, "bound_by", json_string(fors_demand_limit_name(p->bound.which)));
	json_object_set_new(data, "bound_at", cli_json_text(p->bound.what));
	json_object_set_new(data, "proven_bound", count(proven(p)));
	json_object_set_new(data, "phase_cost", has_sizes ? count(p->cost) : json_null());
	json_object_set_new(data, "shift_phases", count(p->shift.nphases));
	json_object_set_new(data, "shift_time_over_bound", json_real(ratio(p, shift_time(p))));
}

static void add_plan(const struct planned *p, json_t *data)
{
	const struct fors_demand_plan *plan = plan_of(p), *uniform = p->by_uniform;
	uint64_t length = fors_demand_plan_length(plan);
	bool has_sizes = !p->demand.is_unit;

	json_object_set_new(data, "phases", count(phases_of(p, plan)));
	json_object_set_new(data, "length", has_sizes ? count(length) : json_null());
	json_object_set_new(data, "length_over_bound", json_real(ratio(p, (double)length)));
	json_object_set_new(data, "time_over_bound", json_real(ratio(p, time_of(p, plan))));
	json_object_set_new(data, "port_share", json_real((double)p->bound.ports / time_of(p, plan)));
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
	json_t *data = json_object(), *remarks = json_array();

	json_object_set_new(data, "state", json_string("active"));
	json_object_set_new(data, "reason", json_null());
	add_demand(p, data);
	add_plan(p, data);
	for (unsigned i = 0; i < fors_warnings_kept(&p->made.warnings); i++)
		json_array_append_new(remarks, cli_json_text(p->made.warnings.text[i]));
	json_object_set_new(data, "remarks", remarks);
	return data;
}

/* ---- the pieces as text ---------------------------------------------------------------------------------------- */

static void write_phase(const struct planned *p, uint32_t phase, struct fors_buffer *text)
{
	const struct fors_demand_plan *plan = plan_of(p);

	fors_buffer_print(text, "phase %" PRIu64 "\n", plan->length[phase]);
	for (uint32_t i = plan->begin[phase]; i < plan->begin[phase + 1]; i++) {
		const struct fors_demand_piece *piece = &plan->piece[i];

		fors_buffer_print(text, "0x%016" PRIx64 " 0x%016" PRIx64 " %u %" PRIu64 "\n", p->guid[piece->src],
				  p->guid[piece->dst], piece->path, piece->bytes);
	}
}

static int write_pieces(const struct planned *p)
{
	struct fors_buffer text = {0};
	struct fors_error error = {0};
	char *written;
	size_t size;
	int code;

	fors_buffer_print(&text,
			  "# phase %s, then for each piece: port GUID of the sender, of the receiver, path index, %s\n",
			  p->demand.is_unit ? "MESSAGES" : "BYTES", p->demand.is_unit ? "messages" : "bytes");
	for (uint32_t k = 0; k < plan_of(p)->nphases; k++)
		write_phase(p, k, &text);
	if (fors_buffer_finish(&text, &written, &size, &error))
		return cli_fail(&error);
	code = cli_write_file(p->settings->pieces, written, size);
	free(written);
	return code;
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

/* The plan as it is published. */
static int write_schedule(const struct planned *p)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {0};
	int code;

	if (fors_demand_schedule(p->routed, &p->demand, plan_of(p), NULL, &schedule, &error))
		return cli_fail(&error);
	code = cli_write_schedule(p->settings->output, schedule);
	fors_schedule_free(schedule);
	return code;
}

static int tell(const struct planned *p)
{
	int code = p->settings->pieces ? write_pieces(p) : CLI_GOOD;

	if (!code && p->settings->output)
		code = write_schedule(p);
	if (!code && p->settings->is_json)
		return cli_print_json(json_of(p));
	if (!code)
		print_report(p);
	if (!code && p->settings->pieces)
		printf("pieces      written to %s\n", p->settings->pieces);
	if (!code && p->settings->output)
		printf("schedule    written to %s\n", p->settings->output);
	return code;
}

static void finish(struct planned *p)
{
	fors_demand_plan_free(p->plan);
	fors_demand_plan_free(p->by_uniform);
	fors_schedule_free(p->uniform);
	fors_demand_problem_clear(&p->problem);
	fors_demand_clear(&p->demand);
	fors_flows_routed_free(p->routed);
	free(p->guid);
	cli_fabric_free(&p->made);
	cli_site_free(&p->site);
}

int cli_plan_demand(const struct cli_settings *settings)
{
	struct planned p = {.settings = settings};
	struct fors_error error = {0};
	int code = settings->phase_cost.value > MOST_COST ? cli_usage_error("--phase-cost is more than a second")
							  : load_tables(&p);

	if (!code && read_ways(&p, &error))
		code = cli_fail(&error);
	if (!code)
		code = cli_use_file(settings->demand, read_demand, &p);
	if (!code)
		code = look(&p, &error) || plan(&p, &error) ? cli_fail(&error) : tell(&p);
	finish(&p);
	return code;
}
