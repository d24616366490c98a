/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan_over.c - `fors plan --lfts`: a plan over the tables of any engine.
 *
 * Tables are looked at first: whether a plan can be made over them at all, and how short it could be. In a two-level
 * fat-tree whose ways go up and down once all planning methods are asked, as for tables of fors; everywhere else, and
 * where service levels are to be carried, single flows are packed over the ways as they are (core/planners/over.h).
 *
 * In a three-level fat-tree the tables may be those of fors; the plan begins with the rounds that they were made with.
 *
 * Two numbers stand beside the phases: what these tables need at least (above it is the price of the schedule) and what any
 * tables would (above it is the price of the tables); the first is never less. Both are phases, however fast cables are. What
 * the exchange takes is compared with a time: what any tables take at the least with cables as fast as they are, in
 * phases at full speed.
 */
#include "cli/plan_over.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ahead.h"
#include "cli/certificate.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "cli/levels.h"
#include "core/base/text.h"
#include "core/net/cuts.h"
#include "core/planners/bound.h"
#include "core/planners/outcome.h"
#include "core/planners/over.h"
#include "core/planners/pods/route3.h"
#include "core/schedule/pace.h"
#include "core/status/status_json.h"

struct over {
	const struct cli_settings *settings;
	struct cli_site site;
	struct cli_fabric made; /* fabric and lanes where it is a two-level fat-tree; where fors routes, all of it */
	struct cli_levels levels;
	bool is_ours; /* the tables are those of fors, in a three-level tree */
	struct fors_over_report report;
	struct fors_schedule *schedule;
	uint64_t lump;	    /* phases that servers with one LID each need over any tables, three levels; 0: not known */
	double best_length; /* no exchange takes less, over any tables, in phases at full speed */
	struct fors_pace pace; /* of the schedule */
	struct cli_ahead ahead;
	struct fors_error error; /* why there is none */
};

/* ---- what there is -------------------------------------------------------------------------------------------- */

static uint8_t level_of(void *context, uint32_t src, uint32_t dst)
{
	const struct over *over = context;

	return cli_level(&over->levels, src, dst);
}

/* Single flows and nothing else, also where there are rounds. */
static bool wants_flows(const struct over *over)
{
	return !strcmp(over->settings->limits.method, "flows");
}

static struct fors_over_task task_of(struct over *over)
{
	return (struct fors_over_task){
		.net = over->made.net,
		.lfts = over->made.lfts,
		.participants = over->site.has_participants ? &over->site.participants : NULL,
		.sl = over->settings->levels ? level_of : NULL,
		.rounds = wants_flows(over) ? NULL : over->made.rounds,
		.progress = cli_progress,
		.context = over,
		.threads = cli_processors(),
		.clock_ms = cli_now_ms,
		.limits = over->settings->limits,
	};
}

static int load(struct over *over)
{
	const struct cli_settings *settings = over->settings;
	int code = cli_any_site_load(&settings->source, &over->site);

	if (!code)
		code = cli_site_net(&over->site, &settings->source, &over->made.net);
	if (!code)
		code = cli_read_tables(settings->lfts, over->made.net, &over->made.lfts);
	if (!code && settings->levels)
		code = cli_levels_read(settings->levels, &over->levels);
	if (!code)
		code = cli_fabric_understand(&over->site, &over->made);
	return code;
}

/* Cuts of several switches may be narrower than those of one, which is all that core/planners/over.h looks at. */
static enum fors_err ask_cuts(struct over *over, struct fors_error *error)
{
	const struct fors_participants *them = over->site.has_participants ? &over->site.participants : NULL;
	struct fors_endpoint *server = NULL;
	uint32_t count = 0, named = 0, phases = 0;
	enum fors_err err = fors_endpoints(over->made.net, them, &server, &count, error);

	for (uint32_t i = 0; i < count; i++)
		if (server[i].lid)
			server[named++] = server[i];
	if (!err)
		err = fors_cuts_bound(over->made.net, server, named, &over->best_length, &phases, error);
	if (phases > over->report.bound_best)
		over->report.bound_best = phases;
	free(server);
	return err;
}

/* In a three-level tree that fors routes pods and planes make narrower cuts. */
static void ask_levels(struct over *over)
{
	const struct fors_route3 *route = over->made.rounds;

	if (route && route->nservers == over->report.nservers && route->bound_servers > over->report.bound_best)
		over->report.bound_best = route->bound_servers;
}

/* What no tables allow these do not. */
static void level_bounds(struct over *over)
{
	struct fors_over_report *report = &over->report;

	if (report->bound_best > report->bound_tables)
		report->bound_tables = report->bound_best;
	if (over->best_length < report->bound_best)
		over->best_length = report->bound_best;
}

/* Of three levels that fors routes: what servers with one LID each need, whatever the tables. */
static void ask_lumps(struct over *over)
{
	struct fors_witness witness = {0};

	if (!over->is_ours || over->made.tree.pods == NULL || over->made.tree.pods->nplayers != over->report.nservers)
		return;
	fors_lump_leaves(&over->made.tree, &witness);
	if (witness.by)
		over->lump = witness.bound > over->report.bound_best ? witness.bound : over->report.bound_best;
}

/* ---- plans ---------------------------------------------------------------------------------------------------- */

/* Is it for the methods of two-level fat-trees: all servers are below leaves, and nobody wants service levels? */
static bool is_for_trees(const struct over *over)
{
	return over->made.fabric && over->made.fabric->nservers == over->report.nservers &&
	       !over->made.fabric->unreachable_pairs && !over->settings->levels;
}

/* By the methods for trees. That they have none is no error. */
static enum fors_err plan_tree(struct over *over, struct fors_error *error)
{
	const struct fors_request request = {
		.task = {.fabric = over->made.fabric,
			 .lanes = over->made.lanes,
			 .progress = cli_progress,
			 .threads = cli_processors(),
			 .limits = over->settings->limits},
		.net = over->made.net,
		.lfts = over->made.lfts,
		.clock_ms = cli_now_ms,
	};
	struct fors_outcome outcome;
	enum fors_err err;

	fors_outcome_init(&outcome);
	err = fors_outcome_make(&request, &outcome, error);
	if (!err) {
		over->error = outcome.error;
		over->schedule = fors_outcome_take(&outcome);
		over->report.verdict = outcome.verdict;
		over->report.plan_ms = outcome.plan_ms;
		over->report.verify_ms = outcome.verify_ms;
		if (outcome.lower_bound > over->report.bound_best)
			over->report.bound_best = (uint32_t)outcome.lower_bound;
		level_bounds(over);
	}
	if (!err && outcome.plan) /* a way that is no lane: over the ways as they are, then */
		fors_fail(&over->error, FORS_ENOTAPPL, "the tables do not go up and down once: %.400s",
			  outcome.verdict.text);
	fors_outcome_clear(&outcome);
	return err;
}

/* Single flows over the ways as they are. */
static enum fors_err plan_any(struct over *over, struct fors_error *error)
{
	const struct fors_over_task task = task_of(over);
	uint32_t best = over->report.bound_best;
	enum fors_err err = fors_plan_over(&task, &over->schedule, &over->report, &over->error);

	if (best > over->report.bound_best)
		over->report.bound_best = best;
	level_bounds(over);
	if (err == FORS_ENOMEM || err == FORS_ECANCELLED)
		return fors_fail(error, err, "%s", over->error.text);
	return FORS_OK;
}

static bool may_be_any(const struct over *over)
{
	return !strcmp(fors_method_of(&over->settings->limits), "auto") || wants_flows(over);
}

/* What slow links cost. */
static enum fors_err ask_for_pace(struct over *over, struct fors_error *error)
{
	return fors_pace_of(over->made.net, over->made.lfts, over->schedule, NULL, &over->pace, error);
}

/* The method that was asked for is none of these. */
static void refuse_method(struct over *over)
{
	fors_fail(&over->error, FORS_ENOTAPPL,
		  "method %s is for two-level fat-trees; over these tables there is method flows",
		  over->settings->limits.method);
}

/* What there is to say of the tables, or over->error, whatever else is known by now. Errors: FORS_ENOMEM. */
static enum fors_err look(struct over *over, struct fors_error *error)
{
	const struct fors_over_task task = task_of(over);
	enum fors_err err = fors_over_look(&task, &over->report, &over->error);

	return err == FORS_ENOMEM ? fors_fail(error, err, "%s", over->error.text) : FORS_OK;
}

/* The bounds that only the command knows. Errors: FORS_ENOMEM. */
static enum fors_err ask_bounds(struct over *over, struct fors_error *error)
{
	enum fors_err err = over->report.nservers ? ask_cuts(over, error) : FORS_OK;

	ask_levels(over);
	level_bounds(over);
	ask_lumps(over);
	return err;
}

/* Over tables of anybody's: they say which method may be asked. */
static enum fors_err plan_tables(struct over *over, struct fors_error *error)
{
	enum fors_err err = look(over, error);

	if (err || !over->report.nservers)
		return err;
	err = ask_bounds(over, error);
	if (!err && is_for_trees(over))
		err = plan_tree(over, error);
	else if (!err && !may_be_any(over))
		refuse_method(over);
	if (!err && !over->schedule && may_be_any(over))
		err = plan_any(over, error);
	return err;
}

/*
 * Over tables of fors in a three-level tree there are rounds, or else single flows, so nobody has to look before: a plan
 * reads all ways once.
 */
static enum fors_err plan_levels(struct over *over, struct fors_error *error)
{
	struct fors_error why;
	enum fors_err err = FORS_OK;

	if (may_be_any(over))
		err = plan_any(over, error);
	else
		refuse_method(over);
	if (err || over->schedule)
		return err ? err : ask_bounds(over, error);
	why = over->error;
	err = look(over, error);
	over->error = why;
	return err ? err : ask_bounds(over, error);
}

/* A schedule, or over->error. Errors: FORS_ENOMEM. */
static enum fors_err plan(struct over *over, struct fors_error *error)
{
	enum fors_err err = over->is_ours && may_be_any(over) ? plan_levels(over, error) : plan_tables(over, error);

	cli_progress_end();
	if (!over->schedule)
		return err;
	over->report.nphases = over->schedule->nphases;
	return err ? err : ask_for_pace(over, error);
}

/* ---- for people ----------------------------------------------------------------------------------------------- */

static void print_tables(const struct fors_over_report *report)
{
	printf("fabric      %u server%s on %u switch%s\n", report->nservers, report->nservers == 1 ? "" : "s",
	       report->nleaves, report->nleaves == 1 ? "" : "es");
	if (report->nnameless)
		printf("left out    %u port%s of adapters without a LID\n", report->nnameless,
		       report->nnameless == 1 ? "" : "s");
	printf("tables      ways of up to %u cables between switches", report->longest);
	if (report->fullest_flows)
		printf("; the fullest, %s, carries %u %s", report->fullest, report->fullest_flows,
		       fors_plural(report->fullest_flows, "flow", "flows"));
	printf("\n");
	cli_print_speeds(report->full, report->least_flows, report->most_flows);
}

/* Where there is no tree to name them by: who holds up phases. */
static void print_slow(const struct fors_over_report *report)
{
	if (report->nslow && report->nslow < report->nservers)
		printf("slow        %u of these servers, most %s: without %s the exchange of the other %u needs %u %s at full speed at least\n",
		       report->nslow, report->slowest, report->nslow == 1 ? "it" : "them",
		       report->nservers - report->nslow, report->nservers - report->nslow,
		       fors_plural(report->nservers - report->nslow, "phase", "phases"));
}

/* Whose fault is what is above the servers' number? */
static void print_bounds(const struct over *over)
{
	const struct fors_over_report *report = &over->report;
	uint64_t best = over->lump > report->bound_best ? over->lump : report->bound_best;

	printf("bounds      these tables need %u %s at least, the best of all tables %llu %s", report->bound_tables,
	       fors_plural(report->bound_tables, "phase", "phases"), (unsigned long long)best,
	       fors_plural(best, "phase", "phases"));
	if (best > report->bound_best)
		printf(", with several LIDs per server %u", report->bound_best);
	printf(over->lump && report->nphases > best ? "; an estimate: perhaps none does\n" : "\n");
}

static void print_plan(const struct over *over)
{
	const struct fors_over_report *report = &over->report;
	double phases = report->nphases, length = over->pace.length, best = fmax(over->best_length, over->lump);

	printf("plan        %s%u %s%s, method %s; ", cli_colour(CLI_GREEN), report->nphases,
	       fors_plural(report->nphases, "phase", "phases"), cli_colour(CLI_PLAIN), over->schedule->method);
	if (report->nphases == report->bound_tables)
		printf("over these tables none is shorter\n");
	else
		printf("%.1f %% above what these tables need\n", 100 * (phases / report->bound_tables - 1));
	printf("throughput  %.1f %% of full speed, %.1f %% of what these tables allow, %.1f %% of what any would\n",
	       100 * report->nservers / length, 100 * fmax(report->bound_tables, best) / length, 100 * best / length);
	cli_print_held_up(over->pace.slow_phases, report->nphases, length);
	if (over->made.slow.ncables) { /* where fors routes; other engines drain nothing */
		char choice[24];

		fors_slow_choice(&over->made.slow, choice, sizeof(choice));
		cli_print_choice(choice, report->nservers, over->made.slow.ignored, over->made.slow.drained);
	}
	printf("verified    all %llu flows through the tables, %s\n", (unsigned long long)report->verdict.nflows,
	       cli_no_conflict(report->verdict.max_load));
	printf("time        plan %.1f ms, verification %.1f ms\n", report->plan_ms, report->verify_ms);
}

/* Where fors routes there is more to say of the tree. */
static void print_tree(const struct over *over, const struct fors_status *status)
{
	const struct fors_pods *pods = over->made.tree.pods;

	printf("tree        three levels: %u %s in %u %s, %u %s in %u %s, %u %s\n", pods->nleaves,
	       fors_plural(pods->nleaves, "leaf", "leaves"), pods->npods, fors_plural(pods->npods, "pod", "pods"),
	       pods->nmids, fors_plural(pods->nmids, "middle switch", "middle switches"), pods->napart,
	       fors_plural(pods->napart, "plane", "planes"), pods->ntops, fors_plural(pods->ntops, "top", "tops"));
	cli_ahead_print_dead(&over->ahead, &over->made.tree, status);
	cli_print_lost(status, status->servers + (int64_t)status->lost_servers.count);
	cli_print_links("degraded", status, &status->degraded_links, true);
	cli_print_slow_servers(status);
	if (status->ca_ports > status->servers)
		printf("CA ports    %lld: %lld %s, %lld not participants, %lld guests on middle switches and tops, %lld left out\n",
		       (long long)status->ca_ports, (long long)status->servers,
		       fors_plural(status->servers, "server", "servers"), (long long)status->not_participants,
		       (long long)status->guests, (long long)status->left_out);
	for (unsigned i = 0; i < fors_warnings_kept(&status->warnings); i++)
		printf("%-12s%s%s%s\n", i ? "" : "warning", cli_colour(CLI_YELLOW), status->warnings.text[i],
		       cli_colour(CLI_PLAIN));
	printf("made        tables in %.1f ms, checked in %.1f ms\n", over->made.tables_ms, over->made.check_ms);
}

static void print_report(const struct over *over, const struct fors_status *status)
{
	if (over->report.nservers) {
		if (over->is_ours)
			print_tree(over, status);
		cli_print_not_hosts(status);
		cli_print_alone(status);
		print_tables(&over->report);
		if (!over->is_ours)
			print_slow(&over->report);
		print_bounds(over);
	}
	if (over->schedule)
		print_plan(over);
	else
		printf("plan        %snone%s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN)); /* why: see tell() */
	if (over->is_ours && over->report.nservers)
		cli_ahead_print_next(&over->ahead, &over->made.tree);
}

/* ---- for programs --------------------------------------------------------------------------------------------- */

static json_t *number(bool is_known, double value)
{
	return is_known ? json_real(value) : json_null();
}

static json_t *remarks_of(const struct fors_warnings *warnings)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < fors_warnings_kept(warnings); i++)
		json_array_append_new(list, cli_json_text(warnings->text[i]));
	return list;
}

/* Why the bounds over all tables are bounds. Errors: FORS_ENOMEM. */
static enum fors_err witness_best(const struct over *over, struct cli_witnesses *witnesses, struct fors_error *error)
{
	const struct fors_pods *pods = over->made.tree.pods;
	struct fors_witness *around = cli_witness_new(witnesses, CLI_BOUND_LOWER);
	enum fors_err err = fors_over_witness_best(over->made.net, &over->report, around, error);

	if (!err && is_for_trees(over))
		err = fors_lower_bound_witness(over->made.fabric, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	if (!err && pods && pods->nplayers == over->report.nservers)
		err = fors_route3_witness(pods, pods->plays, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	return err;
}

/* The certificates of the bounds, null: there are none. Errors: FORS_ENOMEM. */
static enum fors_err certify(struct over *over, json_t **certificates, struct fors_error *error)
{
	const struct fors_over_report *report = &over->report;
	const int64_t bound[] = {report->bound_best, over->lump ? (int64_t)over->lump : FORS_UNKNOWN,
				 report->bound_tables};
	const struct fors_over_task task = task_of(over);
	struct cli_witnesses witnesses = {.npaths = report->npaths};
	enum fors_err err = FORS_OK;

	*certificates = json_null();
	if (!report->nservers)
		return FORS_OK;
	err = witness_best(over, &witnesses, error);
	if (over->lump)
		fors_lump_leaves(&over->made.tree, cli_witness_new(&witnesses, CLI_BOUND_LUMP));
	if (!err)
		err = fors_over_witness_tables(&task, report, cli_witness_new(&witnesses, CLI_BOUND_TABLES), error);
	if (!err)
		*certificates = cli_certificates_json(over->made.net, &witnesses, bound);
	cli_witnesses_clear(&witnesses);
	return err;
}

/* Keys that status.json has too mean the same. */
static json_t *json_of(const struct over *over, json_t *certificates)
{
	const struct fors_over_report *report = &over->report;
	const struct fors_slow *slow = &over->made.slow;
	bool is_seen = report->nservers, is_there = over->schedule;
	json_t *data = json_object();
	char choice[24];

	fors_slow_choice(slow, choice, sizeof(choice));

#define COUNT(is_known, value) ((is_known) ? json_integer((json_int_t)(value)) : json_null())
	json_object_set_new(data, "state", json_string(is_there ? "active" : "failed"));
	json_object_set_new(data, "reason", is_there ? json_null() : cli_json_text(over->error.text));
	json_object_set_new(data, "servers", COUNT(is_seen, report->nservers));
	json_object_set_new(data, "switches", COUNT(is_seen, report->nleaves));
	json_object_set_new(data, "left_out", COUNT(is_seen, report->nnameless));
	json_object_set_new(data, "phases", COUNT(is_there, report->nphases));
	json_object_set_new(data, "length", number(is_there, over->pace.length));
	json_object_set_new(data, "slow_phases", COUNT(is_there, over->pace.slow_phases));
	json_object_set_new(data, "full_speed_mbits", COUNT(is_seen && report->full, report->full));
	json_object_set_new(data, "cable_flows", COUNT(report->least_flows, report->least_flows));
	json_object_set_new(data, "cable_flows_most", COUNT(report->most_flows, report->most_flows));
	json_object_set_new(data, "degraded_choice", *choice ? json_string(choice) : json_null());
	json_object_set_new(data, "ignored_length", number(slow->ncables && slow->ignored > 0, slow->ignored));
	json_object_set_new(data, "drained_length", number(slow->ncables && slow->drained > 0, slow->drained));
	json_object_set_new(data, "lower_bound", COUNT(is_seen, report->bound_best));
	json_object_set_new(data, "length_bound", number(is_seen, over->best_length));
	json_object_set_new(data, "tables_bound", COUNT(is_seen, report->bound_tables));
	json_object_set_new(data, "fullest_link", is_seen ? cli_json_text(report->fullest) : json_null());
	json_object_set_new(data, "fullest_flows", COUNT(is_seen, report->fullest_flows));
	json_object_set_new(data, "longest_way", COUNT(is_seen, report->longest));
	json_object_set_new(data, "method", is_there ? json_string(over->schedule->method) : json_null());
	json_object_set_new(data, "flows", COUNT(is_there, report->verdict.nflows));
	json_object_set_new(data, "plan_ms", number(is_there && report->plan_ms >= 0, report->plan_ms));
	json_object_set_new(data, "verify_ms", number(is_there && report->verify_ms >= 0, report->verify_ms));
	json_object_set_new(data, "certificates", certificates);
	json_object_set_new(data, "remarks", remarks_of(&over->made.warnings));
#undef COUNT
	return data;
}

/* The keys of status.json, and these beside them. */
static json_t *json_of_tree(const struct over *over, const struct fors_status *status, json_t *certificates)
{
	json_t *data = NULL, *own = json_of(over, certificates);

	if (!cli_status_json(status, &data, NULL) && json_object_update_missing(data, own)) {
		json_decref(data);
		data = NULL;
	}
	json_decref(own);
	return data;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

/* What status.json would say, where fors routes. Errors: FORS_ENOMEM. */
static enum fors_err fill_status(const struct over *over, struct fors_status *status, struct fors_error *error)
{
	const struct fors_over_report *report = &over->report;
	enum fors_err err = over->is_ours ? fors_status_tree(status, &over->made.tree, error) : FORS_OK;

	if (!err && over->made.net)
		fors_others_text(over->made.net, status->not_hosts);
	if (err || !over->is_ours)
		return err;
	status->state = over->schedule ? FORS_ACTIVE : FORS_FAILED;
	status->tables_ms = over->made.tables_ms + over->made.check_ms;
	status->check_ms = over->made.check_ms;
	status->warnings = over->made.warnings;
	fors_status_slow(status, &over->made.slow);
	cli_name_lost(&over->site, status);
	if (report->nservers) {
		status->lower_bound = report->bound_best;
		status->tables_bound = report->bound_tables;
		status->lump_bound = over->lump ? (int64_t)over->lump : FORS_UNKNOWN;
	}
	if (over->schedule) {
		fors_status_schedule(status, over->schedule);
		fors_status_pace(status, &over->pace);
		status->plan_ms = report->plan_ms;
		err = cli_ask_alone(over->settings, &over->made.tree, status, error);
	} else {
		snprintf(status->reason, sizeof(status->reason), "%s", over->error.text);
	}
	return err;
}

/* The report for programs. Returns an exit code. */
static int print_json(struct over *over, const struct fors_status *status)
{
	struct fors_error error = {0};
	json_t *certificates;

	if (certify(over, &certificates, &error))
		return cli_fail(&error);
	return cli_print_json(over->is_ours ? json_of_tree(over, status, certificates) : json_of(over, certificates));
}

/* The report on stdout; last, on stderr, why there is no plan. */
static int tell_all(struct over *over, const struct fors_status *status)
{
	const struct cli_settings *settings = over->settings;
	int code = CLI_GOOD;

	if (settings->output && over->schedule)
		code = cli_write_schedule(settings->output, over->schedule);
	if (!code && settings->is_json)
		code = print_json(over, status);
	else if (!code)
		print_report(over, status);
	if (!code && !settings->is_json && settings->output && over->schedule)
		printf("schedule    written to %s\n", settings->output);
	return code || over->schedule ? code : cli_fail(&over->error);
}

static int tell(struct over *over)
{
	struct fors_error error = {0};
	struct fors_status status;
	int code;

	fors_status_init(&status);
	code = fill_status(over, &status, &error) ? cli_fail(&error) : tell_all(over, &status);
	fors_status_clear(&status);
	return code;
}

int cli_plan_over(const struct cli_settings *settings)
{
	struct over over = {.settings = settings};
	struct fors_error error = {0};
	int code = load(&over);

	if (!code)
		code = plan(&over, &error) ? cli_fail(&error) : tell(&over);
	fors_schedule_free(over.schedule);
	cli_levels_clear(&over.levels);
	cli_fabric_free(&over.made);
	cli_site_free(&over.site);
	return code;
}

/* Phases of the plan of a site over tables of fors, with what is down in these settings; or FORS_UNKNOWN. */
static int64_t phases_of(const struct cli_site *site, const struct cli_settings *settings)
{
	struct over over = {.settings = settings, .is_ours = true, .site = *site};
	struct fors_error ignored = {0};
	int64_t phases = FORS_UNKNOWN;

	if (!cli_own_tables(site, &settings->source, &over.made) && !plan_any(&over, &ignored) && over.schedule)
		phases = over.schedule->nphases;
	cli_progress_end();
	fors_schedule_free(over.schedule);
	cli_fabric_free(&over.made);
	return phases;
}

/* What one more dead cable would cost. Errors: FORS_ENOMEM. */
static enum fors_err look_ahead(struct over *over, struct fors_error *error)
{
	const struct cli_source *source = &over->settings->source;
	struct cli_settings worse = *over->settings;
	char text[CLI_DOWN_ROOM];
	enum fors_err err = cli_ahead_look(source, &over->made.tree, &over->ahead, error);

	if (err || over->settings->is_json ||
	    !cli_ahead_down(source, &over->made.tree, &over->ahead, over->schedule, text, &worse.source.down))
		return err;
	worse.source.ndown++;
	over->ahead.phases = phases_of(&over->site, &worse);
	free(worse.source.down);
	return FORS_OK;
}

int cli_plan_levels(const struct cli_settings *settings, struct cli_site *site)
{
	struct over over = {.settings = settings, .is_ours = true};
	struct fors_error error = {0};
	int code = cli_own_tables(site, &settings->source, &over.made);

	if (!code)
		code = cli_site_narrow(site, &over.made);
	over.site = *site;
	if (!code)
		code = plan(&over, &error) || look_ahead(&over, &error) ? cli_fail(&error) : tell(&over);
	cli_ahead_clear(&over.ahead);
	fors_schedule_free(over.schedule);
	cli_fabric_free(&over.made);
	return code;
}
