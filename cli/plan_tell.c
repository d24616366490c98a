/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan_tell.c - what `fors plan` says, to people and to programs.
 *
 * Over ways two numbers stand beside the phases: what these tables need at least (above it is the price of the schedule) and
 * what any tables would (above it is the price of the tables); the first is never less. Both are phases, however fast
 * cables are. What the exchange takes is compared with a time: what any tables take at the least with cables as fast as
 * they are, in phases at full speed.
 */
#include "cli/plan.h"

#include <stdlib.h>

#include "cli/certificate.h"
#include "cli/json.h"
#include "core/base/text.h"
#include "core/planners/bound.h"
#include "core/planners/over.h"
#include "core/planners/pods/route.h"
#include "core/schedule/schedule_file.h"
#include "core/tables/lanes.h"

/* --- for people: the fabric ------------------------------------------------------------------------------------- */

static void print_two(const struct fors_fabric *fabric)
{
	printf("fabric      %u %s, %u %s, %u %s, %u %s; LMC %u\n", fabric->nleaves,
	       fabric->nleaves == 1 ? "leaf" : "leaves", fabric->nspines, fabric->nspines == 1 ? "spine" : "spines",
	       fabric->nlanes, fabric->nlanes == 1 ? "lane" : "lanes", fabric->nservers,
	       fabric->nservers == 1 ? "server" : "servers", fabric->lmc);
}

static void print_three(const struct fors_pods *pods)
{
	printf("tree        three levels: %u %s in %u %s, %u %s in %u %s, %u %s\n", pods->nleaves,
	       fors_plural(pods->nleaves, "leaf", "leaves"), pods->npods, fors_plural(pods->npods, "pod", "pods"),
	       pods->nmids, fors_plural(pods->nmids, "middle switch", "middle switches"), pods->napart,
	       fors_plural(pods->napart, "plane", "planes"), pods->ntops, fors_plural(pods->ntops, "top", "tops"));
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
	cli_print_speeds(status->full_speed_mbits, status->cable_flows, status->cable_flows_most);
}

/* Where fors routes there is more to say of the tree. */
static void print_tree(const struct cli_plan *plan)
{
	const struct fors_status *status = &plan->status;

	if (plan->is_two)
		print_two(plan->made.fabric);
	else
		print_three(plan->made.tree.pods);
	cli_compared_print(&plan->compared, &plan->made.tree, status);
	cli_print_lost(status, status->servers + (int64_t)status->lost_servers.count);
	cli_print_links("degraded", status, &status->degraded_links, true);
	cli_print_slow_servers(status);
	if (plan->is_two)
		print_capacity(plan->made.fabric, status);
	cli_print_ca_ports(status);
	cli_print_warnings(&status->warnings);
}

/* --- the ways of tables ------------------------------------------------------------------------------------------ */

static void print_ways(const struct fors_ways_seen *seen)
{
	printf("fabric      %u server%s on %u switch%s\n", seen->nservers, seen->nservers == 1 ? "" : "s",
	       seen->nleaves, seen->nleaves == 1 ? "" : "es");
	if (seen->nnameless)
		printf("left out    %u port%s of adapters without a LID\n", seen->nnameless,
		       seen->nnameless == 1 ? "" : "s");
	printf("tables      ways of up to %u cables between switches", seen->longest);
	if (seen->fullest_flows)
		printf("; the fullest, %s, carries %u %s", seen->fullest, seen->fullest_flows,
		       fors_plural(seen->fullest_flows, "flow", "flows"));
	printf("\n");
	cli_print_speeds(seen->full, seen->least_flows, seen->most_flows);
}

/* Where there is no tree to name them by: who holds up phases. */
static void print_slow(const struct fors_ways_seen *seen)
{
	uint32_t rest = seen->nservers - seen->nslow;

	if (seen->nslow && rest)
		printf("slow        %u of these servers, most %s: without %s the exchange of the other %u needs %u %s at full speed at least\n",
		       seen->nslow, seen->slowest, seen->nslow == 1 ? "it" : "them", rest, rest,
		       fors_plural(rest, "phase", "phases"));
}

/* Whose fault is what is above the servers' number? */
static void print_bounds(const struct fors_status *status)
{
	int64_t lump = status->lump_bound, lower = status->lower_bound, best = lump > lower ? lump : lower;

	printf("bounds      these tables need %lld %s at least, the best of all tables %lld %s",
	       (long long)status->tables_bound, fors_plural(status->tables_bound, "phase", "phases"), (long long)best,
	       fors_plural(best, "phase", "phases"));
	if (best > lower)
		printf(", with several LIDs per server %lld", (long long)lower);
	printf("%s\n", status->phases > best ? "; an estimate: perhaps none does" : "");
}

/* --- the plan ---------------------------------------------------------------------------------------------------- */

/* Throughput: of the exchange of P servers, each of which would need at least P phases. */
static void print_throughput(const struct cli_plan *plan)
{
	const struct fors_status *status = &plan->status;
	double length = status->length > 0 ? status->length : (double)status->phases;
	double best = plan->is_two ? (double)status->lower_bound : plan->best_length;
	bool is_slow = plan->is_two && status->slow_phases > 0, is_less = status->lost_servers.count, is_guess;

	if (!plan->is_two && (double)status->lump_bound > best)
		best = (double)status->lump_bound;
	is_guess = !plan->is_two && (double)status->phases > best;
	printf("throughput  %.1f %% of full speed", 100 * fors_status_share(status));
	if (!plan->is_two)
		printf(", %.1f %% of what these tables allow",
		       100 * ((double)status->tables_bound > best ? (double)status->tables_bound : best) / length);
	if (best > 0)
		printf(", %.1f %% of what these cables allow%s", 100 * best / length,
		       is_slow	  ? " at full speed"
		       : is_guess ? " (an estimate)"
				  : "");
	if (plan->healthy_bound > 0)
		printf(", %.1f %% of the intact fabric's%s", 100 * (double)plan->healthy_bound / length,
		       is_less ? " for as many servers" : "");
	printf("\n");
	cli_print_slow(status);
}

/* How far it is from what could be had. */
static void print_phases(const struct cli_plan *plan)
{
	const struct fors_status *status = &plan->status;
	int64_t bound = plan->is_two ? status->lower_bound : status->tables_bound;

	printf("plan        %s%lld %s%s, method %s; ", cli_colour(CLI_GREEN), (long long)status->phases,
	       fors_plural(status->phases, "phase", "phases"), cli_colour(CLI_PLAIN), status->method);
	if (status->phases == bound)
		printf("%s\n", plan->is_two ? "this is the lower bound" : "over these tables none is shorter");
	else if (plan->is_two)
		printf("lower bound %lld\n", (long long)bound);
	else
		printf("%.1f %% above what these tables need\n", 100 * ((double)status->phases / (double)bound - 1));
	if (plan->is_two)
		cli_print_bounds(status);
}

static void print_plan(const struct cli_plan *plan)
{
	const struct fors_outcome *outcome = &plan->outcome;

	if (!outcome->plan) {
		printf("plan        %snone%s\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN)); /* why: see cli_plan_tell() */
		return;
	}
	print_phases(plan);
	print_throughput(plan);
	printf("verified    all %llu flows through the tables, %s\n", (unsigned long long)outcome->verdict.nflows,
	       cli_no_conflict(outcome->verdict.max_load));
	printf("time        ");
	if (plan->is_ours)
		printf("tables %.1f ms, ", plan->status.tables_ms);
	printf("plan %.1f ms, verification %.1f ms\n", outcome->plan_ms, outcome->verify_ms);
}

static void print_lmc(const struct cli_plan *plan)
{
	const struct fors_status *status = &plan->status;

	if (status->lmc_needed < 0)
		return;
	printf("larger LMC  LMC %lld would give %lld %s (%.1f %% of full speed)\n", (long long)status->lmc_needed,
	       (long long)plan->phases_with_lmc, fors_plural(plan->phases_with_lmc, "phase", "phases"),
	       100 * (double)status->servers / (double)plan->phases_with_lmc);
}

static void print_report(const struct cli_plan *plan)
{
	const struct fors_ways_seen *seen = &plan->outcome.seen;
	bool is_seen = plan->is_two || seen->nservers;

	if (plan->is_ours && is_seen)
		print_tree(plan);
	if (is_seen)
		cli_print_not_hosts(&plan->status);
	if (is_seen)
		cli_print_alone(&plan->status);
	if (seen->nservers)
		print_ways(seen);
	if (seen->nservers && !plan->is_ours)
		print_slow(seen);
	if (seen->nservers)
		print_bounds(&plan->status);
	print_plan(plan);
	print_lmc(plan);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

static json_t *number(bool is_known, double value)
{
	return is_known ? json_real(value) : json_null();
}

static json_t *count(bool is_known, uint64_t value)
{
	return is_known ? json_integer((json_int_t)value) : json_null();
}

/* Why the bounds of two levels are bounds. Errors: FORS_ENOMEM. */
static enum fors_err witness_two(const struct cli_plan *plan, struct cli_witnesses *witnesses, struct fors_error *error)
{
	const struct fors_fabric *fabric = plan->made.fabric;
	enum fors_err err;

	if (fabric->unreachable_pairs || !fabric->nservers)
		return FORS_OK;
	err = fors_lower_bound_witness(fabric, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	if (err || fabric->lmc)
		return err;
	fors_lump_witness(fabric, cli_witness_new(witnesses, CLI_BOUND_LUMP));
	witnesses->npaths = 1;
	return fors_lanes_witness(fabric, plan->made.lanes, cli_witness_new(witnesses, CLI_BOUND_TABLES), error);
}

/* The same over ways: of all tables, of a leaf, of these tables. Errors: FORS_ENOMEM. */
static enum fors_err witness_ways(const struct cli_plan *plan, struct cli_witnesses *witnesses,
				  struct fors_error *error)
{
	const struct fors_request request = cli_plan_request(plan);
	const struct fors_ways_seen *seen = &plan->outcome.seen;
	const struct fors_pods *pods = plan->made.tree.pods;
	struct fors_witness *around = cli_witness_new(witnesses, CLI_BOUND_LOWER);
	enum fors_err err = fors_over_witness_best(plan->made.net, seen, around, error);

	witnesses->npaths = seen->npaths;
	if (!err && cli_plan_is_for_trees(plan))
		err = fors_lower_bound_witness(plan->made.fabric, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	if (!err && pods && pods->nplayers == seen->nservers)
		err = fors_pods_route_witness(pods, pods->plays, cli_witness_new(witnesses, CLI_BOUND_LOWER), error);
	if (!err && plan->status.lump_bound >= 0)
		fors_lump_leaves(&plan->made.tree, cli_witness_new(witnesses, CLI_BOUND_LUMP));
	return err ? err
		   : fors_over_witness_tables(&request, seen, cli_witness_new(witnesses, CLI_BOUND_TABLES), error);
}

/* The certificates of the bounds, null: there are none. Errors: FORS_ENOMEM. */
static enum fors_err certify(const struct cli_plan *plan, json_t **certificates, struct fors_error *error)
{
	const struct fors_status *status = &plan->status;
	const int64_t bound[] = {status->lower_bound, status->lump_bound, status->tables_bound};
	struct cli_witnesses witnesses = {0};
	enum fors_err err;

	*certificates = json_null();
	if (!plan->is_two && !plan->outcome.seen.nservers)
		return FORS_OK;
	err = plan->is_two ? witness_two(plan, &witnesses, error) : witness_ways(plan, &witnesses, error);
	if (!err)
		*certificates = cli_certificates_json(plan->made.net, &witnesses, bound);
	cli_witnesses_clear(&witnesses);
	return err;
}

/* What there is to say of ways. Keys that status.json has too mean the same. */
static void add_ways(const struct cli_plan *plan, json_t *data)
{
	const struct fors_ways_seen *seen = &plan->outcome.seen;
	const struct fors_outcome *outcome = &plan->outcome;
	bool is_seen = seen->nservers, is_there = outcome->plan;

	json_object_set_new(data, "switches", count(is_seen, seen->nleaves));
	json_object_set_new(data, "length_bound", number(is_seen, plan->best_length));
	json_object_set_new(data, "fullest_link", is_seen ? fors_json_text(seen->fullest) : json_null());
	json_object_set_new(data, "fullest_flows", count(is_seen, seen->fullest_flows));
	json_object_set_new(data, "longest_way", count(is_seen, seen->longest));
	json_object_set_new(data, "flows", count(is_there, outcome->verdict.nflows));
	json_object_set_new(data, "verify_ms", number(is_there && outcome->verify_ms >= 0, outcome->verify_ms));
}

/* Those of status.json that are known of tables of anybody's. */
static void add_given(const struct cli_plan *plan, json_t *data)
{
	const struct fors_ways_seen *seen = &plan->outcome.seen;
	const struct fors_status *status = &plan->status;
	bool is_seen = seen->nservers, is_there = plan->outcome.plan;

	json_object_set_new(data, "state", json_string(is_there ? "active" : "failed"));
	json_object_set_new(data, "reason", is_there ? json_null() : fors_json_text(status->reason));
	json_object_set_new(data, "servers", count(is_seen, seen->nservers));
	json_object_set_new(data, "left_out", count(is_seen, seen->nnameless));
	json_object_set_new(data, "phases", count(is_there, (uint64_t)status->phases));
	json_object_set_new(data, "length", number(is_there, status->length));
	json_object_set_new(data, "slow_phases", count(is_there, (uint64_t)status->slow_phases));
	json_object_set_new(data, "full_speed_mbits", count(is_seen && seen->full, seen->full));
	json_object_set_new(data, "cable_flows", count(seen->least_flows, seen->least_flows));
	json_object_set_new(data, "cable_flows_most", count(seen->most_flows, seen->most_flows));
	json_object_set_new(data, "degraded_choice", json_null()); /* who routes in place of fors drains nothing */
	json_object_set_new(data, "ignored_length", json_null());
	json_object_set_new(data, "drained_length", json_null());
	json_object_set_new(data, "lower_bound", count(is_seen, (uint64_t)status->lower_bound));
	json_object_set_new(data, "tables_bound", count(is_seen, (uint64_t)status->tables_bound));
	json_object_set_new(data, "method", is_there ? json_string(status->method) : json_null());
	json_object_set_new(data, "plan_ms", number(is_there && status->plan_ms >= 0, status->plan_ms));
	json_object_set_new(data, "remarks", fors_warnings_to_json(&plan->made.warnings));
}

/* NULL: no memory. */
static json_t *json_of(const struct cli_plan *plan, json_t *certificates)
{
	json_t *data = NULL;

	if (!plan->is_ours) {
		data = json_object();
		add_given(plan, data);
	} else if (fors_status_to_json(&plan->status, &data, NULL)) {
		data = NULL;
	}
	if (!plan->is_two)
		add_ways(plan, data);
	json_object_set_new(data, "certificates", certificates);
	return data;
}

/* The report for programs. Returns an exit code. */
static int print_json(const struct cli_plan *plan)
{
	struct fors_error error = {0};
	json_t *certificates;

	if (certify(plan, &certificates, &error))
		return cli_fail(&error);
	return cli_print_status_keys(json_of(plan, certificates));
}

/* --- all --------------------------------------------------------------------------------------------------------- */

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

int cli_plan_tell(struct cli_plan *plan)
{
	const char *output = plan->outcome.plan ? plan->settings->output : NULL;
	int code = output ? cli_write_schedule(output, plan->outcome.plan) : CLI_GOOD;

	if (!code && plan->settings->is_json)
		code = print_json(plan);
	else if (!code)
		print_report(plan);
	if (!code && !plan->settings->is_json && output)
		printf("schedule    written to %s\n", output);
	return code || plan->outcome.plan ? code : cli_fail(&plan->outcome.error);
}
