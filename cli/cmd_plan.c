/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_plan.c - `fors plan`: what would fors do with this fabric and these failures?
 *
 * The way is the plugin's: tables, plan, verify; nothing is called good before the verifier has walked every
 * flow. Two more plans answer what a person wants to know next: what the intact fabric would reach, and what
 * a larger LMC would give.
 */
#include "cli/cli.h"
#include "cli/ahead.h"
#include "cli/certificate.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "cli/plan_demand.h"
#include "cli/plan_over.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/fabric/places.h"
#include "core/planners/bound.h"
#include "core/planners/lmc.h"
#include "core/planners/mended.h"
#include "core/planners/outcome.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/tables/lanes.h"

#define ALONE_SERVERS 4096 /* of more nobody asks what others cost: that is another plan */

/* All that there is to say about one plan. */
struct report {
	struct fors_status status;
	struct fors_schedule *schedule; /* NULL: there is no plan */
	double verify_ms;
	uint64_t nflows;
	uint32_t max_load;
	int64_t healthy_bound;	 /* lower bound of the same servers on the intact fabric, or FORS_UNKNOWN */
	int64_t intact_servers;	 /* how many take part there, or FORS_UNKNOWN */
	int64_t phases_with_lmc; /* what status.lmc_needed would give, or FORS_UNKNOWN */
	struct cli_ahead ahead;
	struct fors_error error; /* why there is no plan */
};

/* --- planning ------------------------------------------------------------------------------------------------- */

static struct fors_request request_of(const struct cli_fabric *made, const struct cli_settings *settings)
{
	return (struct fors_request){
		.task = {.fabric = made->fabric,
			 .lanes = made->lanes,
			 .progress = cli_progress,
			 .threads = cli_processors(),
			 .limits = settings->limits},
		.net = made->net,
		.lfts = made->lfts,
		.clock_ms = cli_now_ms,
	};
}

/* Phases that the plan of this source would have, or FORS_UNKNOWN. */
static int64_t phases_of(const struct cli_site *site, const struct cli_settings *settings)
{
	const struct cli_source *source = &settings->source;
	struct fors_outcome outcome;
	struct cli_fabric made;
	int64_t phases = FORS_UNKNOWN;

	fors_outcome_init(&outcome);
	if (!cli_fabric_make(site, source->has_lmc, source->lmc, source->down, source->ndown, &made)) {
		struct fors_request request = request_of(&made, settings);

		if (!fors_outcome_plan(&request, &outcome, NULL) && outcome.plan)
			phases = outcome.plan->nphases;
		cli_progress_end();
	}
	fors_outcome_clear(&outcome);
	cli_fabric_free(&made);
	return phases;
}

/* Phases that the plan for the same failures would have with this LMC, or FORS_UNKNOWN. */
static int64_t phases_with(const struct cli_site *site, const struct cli_settings *settings, unsigned lmc)
{
	struct cli_settings automatic = {.source = settings->source};

	automatic.source.has_lmc = true;
	automatic.source.lmc = lmc;
	return phases_of(site, &automatic);
}

/* What one more dead cable would cost, where that is to be told. */
static void ask_ahead(const struct cli_site *site, const struct cli_settings *settings, const struct fors_fattree *tree,
		      struct report *report)
{
	struct cli_settings worse = *settings;
	char text[CLI_DOWN_ROOM];

	if (settings->is_json ||
	    !cli_ahead_down(&settings->source, tree, &report->ahead, report->schedule, text, &worse.source.down))
		return;
	worse.source.ndown++;
	report->ahead.phases = phases_of(site, &worse);
	free(worse.source.down);
}

/*
 * What a larger LMC would give; it is only offered when planning with it has shown that it helps. Asked also where the
 * method declined for another reason: the plan with the larger LMC may be any method's.
 */
static void ask_for_lmc(const struct cli_site *site, const struct cli_settings *settings,
			const struct fors_fabric *fabric, struct report *report)
{
	int64_t now = report->status.phases, lmc = fors_lmc_needed(fabric, now, report->status.lower_bound);

	if (lmc < 0 || fabric->unreachable_pairs)
		return;
	report->phases_with_lmc = phases_with(site, settings, (unsigned)lmc);
	if (report->phases_with_lmc > 0 && (now < 0 || report->phases_with_lmc < now))
		report->status.lmc_needed = lmc;
}

/* The servers that live, as participants; to be freed. */
static enum fors_err list_living(const struct fors_fabric *fabric, struct fors_participants *them)
{
	them->guid = malloc((fabric->nservers + (size_t)1) * sizeof(*them->guid));
	for (uint32_t s = 0; them->guid && s < fabric->nservers; s++)
		them->guid[them->count++] = fabric->server[s].guid;
	return them->guid ? FORS_OK : FORS_ENOMEM;
}

/* What the intact cables would give the servers that live: others make another exchange, that compares with nothing. */
static void ask_for_healthy_bound(const struct cli_site *site, const struct cli_settings *settings,
				  const struct fors_fabric *fabric, struct report *report)
{
	const struct cli_source *source = &settings->source;
	struct cli_site living = {.intact = site->reference ? site->reference : site->intact,
				  .places = site->places,
				  .has_participants = true,
				  .degraded = FORS_SLOW_IGNORE};
	struct cli_fabric intact = {0};
	uint32_t bound;

	if (!list_living(fabric, &living.participants) &&
	    !cli_fabric_make(&living, source->has_lmc, source->lmc, NULL, 0, &intact) &&
	    !intact.fabric->unreachable_pairs && !fors_lower_bound(intact.fabric, &bound, NULL))
		report->healthy_bound = bound;
	free(living.participants.guid);
	cli_fabric_free(&intact);
}

void cli_name_lost(const struct cli_site *site, struct fors_status *status)
{
	const struct fors_links *lost = &status->lost_servers;
	const struct fors_net *intact = site->reference ? site->reference : site->intact;

	for (size_t i = 0; i < lost->count; i++) {
		struct fors_link *place = &lost->link[i];
		struct fors_error ignored;
		uint32_t node;
		unsigned port;

		if (place->b[0] && !fors_net_find(intact, place->b, &node, &port, &ignored))
			snprintf(place->b, sizeof(place->b), "%s", fors_node_name(intact, node));
		else if (*place->host)
			continue; /* the kept order knows its name */
		snprintf(place->host, sizeof(place->host), "%s", place->b);
	}
}

enum fors_err cli_ask_alone(const struct cli_settings *settings, const struct fors_fattree *tree,
			    struct fors_status *status, struct fors_error *error)
{
	struct fors_task task = {.threads = cli_processors(), .limits = settings->limits};
	uint32_t phases = 0;
	enum fors_err err = FORS_OK;

	fors_limit_method(&task.limits, "auto");
	if (status->phases > 0 && status->servers <= ALONE_SERVERS)
		err = fors_phases_alone(&task, tree, &phases, error);
	if (!err && phases)
		status->phases_alone = phases;
	return err;
}

/* What slow links cost the plan. */
static enum fors_err ask_for_pace(const struct cli_fabric *made, struct report *report, struct fors_error *error)
{
	struct fors_pace pace;
	enum fors_err err;

	if (!report->schedule)
		return FORS_OK;
	err = fors_pace_of(made->net, made->lfts, report->schedule, NULL, &pace, error);
	if (err)
		return err;
	fors_status_pace(&report->status, &pace);
	return FORS_OK;
}

/* Into the report what came of planning. A plan that the verifier refutes is none, which would be a fault of fors. */
static void take_outcome(struct report *report, struct fors_outcome *outcome)
{
	struct fors_status *status = &report->status;

	report->error = outcome->error;
	status->lower_bound = outcome->lower_bound;
	status->lump_bound = outcome->lump_bound;
	status->tables_bound = outcome->tables_bound;
	if (outcome->plan)
		status->plan_ms = outcome->plan_ms;
	report->verify_ms = outcome->verify_ms;
	report->nflows = outcome->verdict.nflows;
	report->max_load = outcome->verdict.max_load;
	report->schedule = fors_outcome_take(outcome);
	if (outcome->plan)
		fors_fail(&report->error, FORS_ENOPLAN,
			  "the plan of method %s is wrong (please report this in the issue tracker of fors): %.300s",
			  outcome->plan->method, outcome->verdict.text);
	status->state = report->schedule ? FORS_ACTIVE : FORS_FAILED;
	if (report->schedule)
		fors_status_schedule(status, report->schedule);
	else
		snprintf(status->reason, sizeof(status->reason), "%s", report->error.text);
}

static enum fors_err plan_and_verify(const struct cli_fabric *made, const struct cli_settings *settings,
				     struct report *report, struct fors_error *error)
{
	struct fors_request request = request_of(made, settings);
	struct fors_outcome outcome;
	enum fors_err err;

	fors_outcome_init(&outcome);
	err = fors_outcome_make(&request, &outcome, error);
	cli_progress_end();
	if (!err)
		take_outcome(report, &outcome);
	fors_outcome_clear(&outcome);
	return err;
}

/* Fill the report of a fabric. Errors: FORS_ENOMEM; that there is no plan is no error here. */
static enum fors_err investigate(const struct cli_site *site, const struct cli_settings *settings,
				 const struct cli_fabric *made, struct report *report, struct fors_error *error)
{
	struct fors_status *status = &report->status;
	enum fors_err err = fors_status_tree(status, &made->tree, error);

	if (!err)
		err = plan_and_verify(made, settings, report, error);
	if (!err)
		err = ask_for_pace(made, report, error);
	if (err)
		return err;
	status->tables_ms = made->tables_ms + made->check_ms;
	status->check_ms = made->check_ms;
	status->warnings = made->warnings;
	fors_status_slow(status, &made->slow);
	cli_name_lost(site, status);
	report->intact_servers = status->servers + (int64_t)status->lost_servers.count;
	ask_for_lmc(site, settings, made->fabric, report);
	err = cli_ask_alone(settings, &made->tree, status, error);
	if (err)
		return err;
	if (!settings->is_json && made->fabric->nservers && (site->reference || !settings->source.state))
		ask_for_healthy_bound(site, settings, made->fabric, report);
	err = cli_ahead_look(&settings->source, &made->tree, &report->ahead, error);
	if (!err)
		ask_ahead(site, settings, &made->tree, report);
	return err;
}

/* --- for people ----------------------------------------------------------------------------------------------- */

static void print_fabric(const struct fors_fabric *fabric)
{
	printf("fabric      %u %s, %u %s, %u %s, %u %s; LMC %u\n", fabric->nleaves,
	       fabric->nleaves == 1 ? "leaf" : "leaves", fabric->nspines, fabric->nspines == 1 ? "spine" : "spines",
	       fabric->nlanes, fabric->nlanes == 1 ? "lane" : "lanes", fabric->nservers,
	       fabric->nservers == 1 ? "server" : "servers", fabric->lmc);
}

static void print_capacity(const struct fors_fabric *fabric, const struct fors_status *status)
{
	char reduction[FORS_REDUCTION];

	printf("reduction   %s", fors_status_reduction(status, reduction, sizeof(reduction)));
	if (status->capacity >= 0)
		printf("; a leaf can send %lld %s of its %u servers in a phase", (long long)status->capacity,
		       fors_plural(status->capacity, "flow", "flows"), fabric->max_servers);
	printf("\n");
	if (status->unreachable_pairs)
		printf("cut off     %lld pair%s of leaves without a common spine, first %s and %s\n",
		       (long long)status->unreachable_pairs, status->unreachable_pairs == 1 ? "" : "s",
		       fabric->leaf[fabric->cut_leaf[0]].name, fabric->leaf[fabric->cut_leaf[1]].name);
}

/* Throughput: of the exchange of P servers, each of which would need at least P phases. */
static void print_throughput(const struct report *report)
{
	const struct fors_status *status = &report->status;
	double length = status->length > 0 ? status->length : (double)status->phases;
	bool is_slow = status->slow_phases > 0, is_less = status->lost_servers.count;

	printf("throughput  %.1f %% of full speed", 100 * fors_status_share(status));
	if (status->lower_bound > 0)
		printf(", %.1f %% of what these cables allow%s", 100 * (double)status->lower_bound / length,
		       is_slow ? " at full speed" : "");
	if (report->healthy_bound > 0)
		printf(", %.1f %% of the intact fabric's%s", 100 * (double)report->healthy_bound / length,
		       is_less ? " for as many servers" : "");
	printf("\n");
	cli_print_slow(status);
}

static void print_plan(const struct report *report)
{
	const struct fors_status *status = &report->status;

	if (!report->schedule) {
		printf("plan        %snone%s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN)); /* why: see tell() */
		return;
	}
	printf("plan        %s%lld %s%s, method %s; ", cli_colour(CLI_GREEN), (long long)status->phases,
	       fors_plural(status->phases, "phase", "phases"), cli_colour(CLI_PLAIN), status->method);
	if (status->phases == status->lower_bound)
		printf("this is the lower bound\n");
	else
		printf("lower bound %lld\n", (long long)status->lower_bound);
	cli_print_bounds(status);
	print_throughput(report);
	printf("verified    all %llu flows through the tables, %s\n", (unsigned long long)report->nflows,
	       cli_no_conflict(report->max_load));
	printf("time        tables %.1f ms, plan %.1f ms, verification %.1f ms\n", status->tables_ms, status->plan_ms,
	       report->verify_ms);
}

static void print_lmc(const struct report *report)
{
	const struct fors_status *status = &report->status;

	if (status->lmc_needed < 0)
		return;
	printf("larger LMC  LMC %lld would give %lld %s (%.1f %% of full speed)\n", (long long)status->lmc_needed,
	       (long long)report->phases_with_lmc, fors_plural(report->phases_with_lmc, "phase", "phases"),
	       100 * (double)status->servers / (double)report->phases_with_lmc);
}

/* Where the CA ports are that are not in the schedule, and what else there is to know. */
static void print_account(const struct fors_status *status)
{
	if (status->ca_ports > status->servers)
		printf("CA ports    %lld: %lld %s, %lld not participants, %lld %s, %lld left out\n",
		       (long long)status->ca_ports, (long long)status->servers,
		       fors_plural(status->servers, "server", "servers"), (long long)status->not_participants,
		       (long long)status->guests, fors_plural(status->guests, "guest on spines", "guests on spines"),
		       (long long)status->left_out);
	for (unsigned i = 0; i < fors_warnings_kept(&status->warnings); i++)
		printf("%-12s%s%s%s\n", i ? "" : "warning", cli_colour(CLI_YELLOW), status->warnings.text[i],
		       cli_colour(CLI_PLAIN));
}

static void print_report(const struct fors_fabric *fabric, const struct report *report)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(fabric);

	print_fabric(fabric);
	cli_ahead_print_dead(&report->ahead, &tree, &report->status);
	cli_print_lost(&report->status, report->intact_servers);
	cli_print_links("degraded", &report->status, &report->status.degraded_links, true);
	cli_print_slow_servers(&report->status);
	print_capacity(fabric, &report->status);
	cli_print_speeds(report->status.full_speed_mbits, report->status.cable_flows, report->status.cable_flows_most);
	print_account(&report->status);
	cli_print_not_hosts(&report->status);
	cli_print_alone(&report->status);
	print_plan(report);
	print_lmc(report);
	cli_ahead_print_next(&report->ahead, &tree);
}

/* --- the command ---------------------------------------------------------------------------------------------- */

int cli_write_schedule(const char *path, const struct fors_schedule *schedule)
{
	struct fors_error error = {0};
	void *bytes;
	size_t size;
	int code;

	if (fors_schedule_encode(schedule, &bytes, &size, &error))
		return cli_fail(&error);
	code = cli_write_file(path, bytes, size);
	free(bytes);
	return code;
}

/* Why the bounds of the report are bounds. Errors: FORS_ENOMEM. */
static enum fors_err find_witnesses(const struct cli_fabric *made, struct cli_witnesses *witnesses,
				    struct fors_error *error)
{
	const struct fors_fabric *fabric = made->fabric;
	enum fors_err err;

	if (fabric->unreachable_pairs || !fabric->nservers)
		return FORS_OK;
	err = fors_lower_bound_witness(fabric, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	if (err || fabric->lmc)
		return err;
	fors_lump_witness(fabric, cli_witness_new(witnesses, CLI_BOUND_LUMP));
	witnesses->npaths = 1;
	return fors_lanes_witness(fabric, made->lanes, cli_witness_new(witnesses, CLI_BOUND_TABLES), error);
}

/* The keys of status.json, and the certificates. Returns an exit code. */
static int print_json(const struct cli_fabric *made, const struct fors_status *status)
{
	const int64_t bound[] = {status->lower_bound, status->lump_bound, status->tables_bound};
	struct cli_witnesses witnesses = {0};
	struct fors_error error = {0};
	json_t *data = NULL;
	enum fors_err err = find_witnesses(made, &witnesses, &error);

	if (!err)
		err = cli_status_json(status, &data, &error);
	if (!err)
		json_object_set_new(data, "certificates", cli_certificates_json(made->net, &witnesses, bound));
	cli_witnesses_clear(&witnesses);
	return err ? cli_fail(&error) : cli_print_status_keys(data);
}

/* The report on stdout; last, on stderr, why there is no plan. */
static int tell(const struct cli_settings *settings, const struct cli_fabric *made, const struct report *report)
{
	int code = CLI_GOOD;

	if (settings->output && report->schedule)
		code = cli_write_schedule(settings->output, report->schedule);
	if (!code && settings->is_json)
		code = print_json(made, &report->status);
	else if (!code)
		print_report(made->fabric, report);
	if (!code && !settings->is_json && settings->output && report->schedule)
		printf("schedule    written to %s\n", settings->output);
	return code || report->schedule ? code : cli_fail(&report->error);
}

/* There is no plan as for two levels, and it is no tree of three: both are the reason. */
static void tell_neither(struct report *report, const struct fors_error *not_three)
{
	struct fors_error two = report->error;

	fors_fail(&report->error, two.code, "%.250s; %.250s", two.text, not_three->text);
	snprintf(report->status.reason, sizeof(report->status.reason), "%s", report->error.text);
}

static int plan_site(const struct cli_site *site, const struct cli_settings *settings, const struct cli_fabric *made)
{
	struct report report = {
		.healthy_bound = FORS_UNKNOWN, .intact_servers = FORS_UNKNOWN, .phases_with_lmc = FORS_UNKNOWN};
	struct fors_error error = {0};
	int code;

	fors_status_init(&report.status);
	if (investigate(site, settings, made, &report, &error)) {
		code = cli_fail(&error);
	} else {
		if (*site->neither.text && !report.schedule)
			tell_neither(&report, &site->neither);
		code = tell(settings, made, &report);
	}
	cli_ahead_clear(&report.ahead);
	fors_schedule_free(report.schedule);
	fors_status_clear(&report.status);
	return code;
}

/* A fabric that never had a server is bad input; one that has lost them all is a fabric without a plan. */
static int check_servers(const struct cli_site *site)
{
	struct cli_fabric intact;
	int code = cli_fabric_make(site, false, 0, NULL, 0, &intact);

	if (!code && !intact.fabric->nservers) {
		cli_error(site->has_participants ? "none of the participants is under a leaf"
						 : "there are no servers in this fabric: nothing to plan");
		code = CLI_BAD;
	}
	cli_fabric_free(&intact);
	return code;
}

static int plan_two_levels(const struct cli_settings *settings, const struct cli_site *site)
{
	const struct cli_source *source = &settings->source;
	struct cli_fabric made = {0};
	int code = cli_fabric_make(site, source->has_lmc, source->lmc, source->down, source->ndown, &made);

	if (!code && !made.fabric->nservers)
		code = check_servers(site);
	if (!code)
		code = plan_site(site, settings, &made);
	cli_fabric_free(&made);
	return code;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct cli_site site;
	int code;

	if (settings->demand)
		return cli_plan_demand(settings);
	if (settings->lfts)
		return cli_plan_over(settings);
	code = cli_any_site_load(&settings->source, &site);
	if (!code && (!site.places || fors_places_known(site.places)))
		code = cli_plan_levels(settings, &site);
	else if (!code)
		code = plan_two_levels(settings, &site);
	cli_site_free(&site);
	return code;
}

const struct cli_command cli_plan_command = {
	.id = CLI_CMD_PLAN,
	.name = "plan",
	.summary = "Plan the exchange of a fabric, with failures if you like",
	.usage = "(--fabric FILE | --synthetic SPEC) [--lfts FILE] [OPTION]...",
	.details = "With --lfts any topology and the tables of any engine, else a fat-tree of two or three\n"
		   "levels and those of fors.\n"
		   "NODE is a node id, a GUID or a description that only one node has.\n"
		   "Example: fors plan --synthetic 'FT(2;20,18)' --down 'Leaf00[21]' --output schedule\n",
	.run = run,
};
