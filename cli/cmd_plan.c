/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_plan.c - `fors plan`: what would fors do with this fabric and these failures, or over these tables?
 *
 * The way is the plugin's: tables, plan, verify; nothing is called good before the verifier has walked every
 * flow. Two more plans answer what a person wants to know next: what the intact fabric would reach, and what
 * a larger LMC would give.
 *
 * With --lfts the tables are anybody's. They are looked at first: whether a plan can be made over them at all, and how short
 * it could be. In a two-level fat-tree whose ways go up and down once all planning methods are asked, as for tables of
 * fors; everywhere else, and where service levels are to be carried, single flows are packed over the ways as they are
 * (core/planners/outcome.h). So they are in a three-level tree, where the plan begins with the rounds of the tables.
 */
#include "cli/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/plan_demand.h"
#include "core/fabric/places.h"
#include "core/planners/bound.h"
#include "core/planners/lmc.h"
#include "core/planners/mended.h"

#define ALONE_SERVERS 4096 /* of more nobody asks what others cost: that is another plan */

/* --- planning ------------------------------------------------------------------------------------------------- */

static struct fors_request request_of(const struct cli_site *site, const struct cli_fabric *made,
				      const struct fors_plan_limits *limits)
{
	return (struct fors_request){
		.task = {.fabric = made->fabric,
			 .lanes = made->lanes,
			 .progress = cli_progress,
			 .threads = cli_processors(),
			 .limits = *limits},
		.net = made->net,
		.lfts = made->lfts,
		.clock_ms = cli_now_ms,
		.participants = site->has_participants ? &site->participants : NULL,
		.rounds = made->rounds,
	};
}

static uint8_t level_of(void *levels, uint32_t src, uint32_t dst)
{
	return cli_level(levels, src, dst);
}

struct fors_request cli_plan_request(const struct cli_plan *plan)
{
	struct fors_request request = request_of(plan->site, &plan->made, &plan->settings->limits);

	if (!plan->is_ours)
		request.task.fabric = NULL;
	request.sl = plan->settings->levels ? level_of : NULL;
	request.levels = (void *)&plan->levels;
	return request;
}

bool cli_plan_is_for_trees(const struct cli_plan *plan)
{
	const struct fors_fabric *fabric = plan->made.fabric;

	return fabric && fabric->nservers == plan->outcome.seen.nservers && !fabric->unreachable_pairs &&
	       !plan->settings->levels;
}

/* By the methods for trees, after a look at the ways; what that has found stays. */
static enum fors_err plan_as_tree(struct cli_plan *plan, struct fors_request *request, struct fors_error *error)
{
	const struct fors_outcome look = plan->outcome;
	struct fors_outcome *outcome = &plan->outcome;
	enum fors_err err;

	request->task.fabric = plan->made.fabric;
	err = fors_outcome_make(request, outcome, error);
	request->task.fabric = NULL;
	if (err)
		return err;
	if (outcome->plan && !outcome->is_proven) /* a way that is no lane: over the ways as they are, then */
		fors_fail(&outcome->error, FORS_ENOTAPPL, "the tables do not go up and down once: %.400s",
			  outcome->verdict.text);
	outcome->seen = look.seen;
	outcome->lump_bound = FORS_UNKNOWN; /* that is about tables of fors */
	if (outcome->lower_bound < look.lower_bound)
		outcome->lower_bound = look.lower_bound;
	outcome->tables_bound = look.tables_bound > outcome->lower_bound ? look.tables_bound : outcome->lower_bound;
	return FORS_OK;
}

/* Over tables of anybody's: they say which method may be asked. Errors: as fors_outcome_make(). */
static enum fors_err plan_given(struct cli_plan *plan, struct fors_error *error)
{
	struct fors_request request = cli_plan_request(plan);
	const char *method = fors_method_of(&request.task.limits);
	int64_t known = 0;
	enum fors_err err = fors_outcome_look(&request, &plan->outcome, error);

	if (err || plan->outcome.error.code)
		return err;
	if (cli_plan_is_for_trees(plan)) {
		err = plan_as_tree(plan, &request, error);
		if (err || plan->outcome.is_proven || (strcmp(method, "auto") && strcmp(method, "flows")))
			return err;
		known = plan->outcome.lower_bound;
	}
	err = fors_outcome_make(&request, &plan->outcome, error);
	if (plan->outcome.lower_bound < known)
		plan->outcome.lower_bound = known;
	if (plan->outcome.tables_bound < known)
		plan->outcome.tables_bound = known;
	return err;
}

/* A plan that the verifier refutes is none, which would be a fault of fors. Errors: as fors_outcome_make(). */
static enum fors_err make_plan(struct cli_plan *plan, struct fors_error *error)
{
	const struct fors_request request = cli_plan_request(plan);
	struct fors_outcome *outcome = &plan->outcome;
	enum fors_err err = plan->is_ours ? fors_outcome_make(&request, outcome, error) : plan_given(plan, error);

	cli_progress_end();
	if (outcome->plan && !outcome->is_proven) {
		fors_schedule_free(outcome->plan);
		outcome->plan = NULL;
	}
	plan->best_length = outcome->seen.best_length > (double)outcome->lower_bound ? outcome->seen.best_length
										     : (double)outcome->lower_bound;
	return err;
}

/* --- what else there is to know --------------------------------------------------------------------------------- */

/* Phases that the plan of this source would have, or FORS_UNKNOWN. */
static int64_t phases_of(const struct cli_site *site, const struct cli_source *source,
			 const struct fors_plan_limits *limits)
{
	struct fors_outcome outcome;
	struct cli_fabric made;
	int64_t phases = FORS_UNKNOWN;

	fors_outcome_init(&outcome);
	if (!cli_fabric_make(site, source->has_lmc, source->lmc, source->down, source->ndown, &made)) {
		const struct fors_request request = request_of(site, &made, limits);

		if (!fors_outcome_plan(&request, &outcome, NULL) && outcome.plan)
			phases = outcome.plan->nphases;
		cli_progress_end();
	}
	fors_outcome_clear(&outcome);
	cli_fabric_free(&made);
	return phases;
}

/*
 * What a larger LMC would give; it is only offered when planning with it has shown that it helps. Asked also where the
 * method declined for another reason: the plan with the larger LMC may be any method's.
 */
static void ask_for_lmc(struct cli_plan *plan)
{
	struct cli_source source = plan->settings->source;
	const struct fors_plan_limits automatic = {.seconds = 0};
	int64_t now = plan->status.phases, lmc = fors_lmc_needed(plan->made.fabric, now, plan->status.lower_bound);

	if (lmc < 0 || plan->made.fabric->unreachable_pairs)
		return;
	source.has_lmc = true;
	source.lmc = (unsigned)lmc;
	plan->phases_with_lmc = phases_of(plan->site, &source, &automatic);
	if (plan->phases_with_lmc > 0 && (now < 0 || plan->phases_with_lmc < now))
		plan->status.lmc_needed = lmc;
}

/* What the intact cables would give the servers that live: others make another exchange, that compares with nothing. */
static void ask_for_healthy_bound(struct cli_plan *plan)
{
	const struct cli_site *site = plan->site;
	const struct cli_source *source = &plan->settings->source;
	struct cli_site living = {.intact = site->reference ? site->reference : site->intact,
				  .places = site->places,
				  .has_participants = true,
				  .degraded = FORS_SLOW_IGNORE};
	struct cli_fabric intact = {0};
	uint32_t bound;

	if (plan->settings->is_json || !plan->made.fabric->nservers || (!site->reference && source->state))
		return;
	if (!fors_fattree_players(&plan->made.tree, &living.participants, NULL) &&
	    !cli_fabric_make(&living, source->has_lmc, source->lmc, NULL, 0, &intact) &&
	    !intact.fabric->unreachable_pairs && !fors_lower_bound(intact.fabric, &bound, NULL))
		plan->healthy_bound = bound;
	free(living.participants.guid);
	cli_fabric_free(&intact);
}

/* Servers that are lost by their names, which the intact fabric knows. */
static void name_lost(const struct cli_site *site, struct fors_status *status)
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

static enum fors_err ask_alone(struct cli_plan *plan, struct fors_error *error)
{
	struct fors_task task = {.threads = cli_processors(), .limits = plan->settings->limits};
	uint32_t phases = 0;
	enum fors_err err = FORS_OK;

	fors_limit_method(&task.limits, "auto");
	if (plan->status.phases > 0 && plan->status.servers <= ALONE_SERVERS)
		err = fors_phases_alone(&task, &plan->made.tree, &phases, error);
	if (!err && phases)
		plan->status.phases_alone = phases;
	return err;
}

/* What status.json would say of the plan. Errors: FORS_ENOMEM. */
static enum fors_err fill_plan(struct cli_plan *plan, struct fors_error *error)
{
	const struct fors_outcome *outcome = &plan->outcome;
	struct fors_status *status = &plan->status;
	struct fors_pace pace;
	enum fors_err err;

	status->lower_bound = outcome->lower_bound;
	status->lump_bound = outcome->lump_bound;
	status->tables_bound = outcome->tables_bound;
	status->state = outcome->plan ? FORS_ACTIVE : FORS_FAILED;
	if (!plan->is_ours) /* there is no tree to count them in */
		status->servers = outcome->seen.nservers;
	if (!outcome->plan) {
		snprintf(status->reason, sizeof(status->reason), "%s", outcome->error.text);
		return FORS_OK;
	}
	err = fors_pace_of(plan->made.net, plan->made.lfts, outcome->plan, NULL, &pace, error);
	if (err)
		return err;
	status->plan_ms = outcome->plan_ms;
	fors_status_schedule(status, outcome->plan);
	fors_status_pace(status, &pace);
	return FORS_OK;
}

/* And of the tree. Errors: FORS_ENOMEM. */
static enum fors_err fill_tree(struct cli_plan *plan, struct fors_error *error)
{
	struct fors_status *status = &plan->status;
	const struct cli_fabric *made = &plan->made;
	enum fors_err err = fors_status_tree(status, &made->tree, error);

	status->tables_ms = made->tables_ms + made->check_ms;
	status->check_ms = made->check_ms;
	status->warnings = made->warnings;
	fors_status_slow(status, &made->slow);
	name_lost(plan->site, status);
	return err;
}

/* All that is known of tables of fors. That there is no plan is no error here. */
static enum fors_err investigate(struct cli_plan *plan, struct fors_error *error)
{
	enum fors_err err = make_plan(plan, error);

	if (!err && plan->is_ours) {
		fors_outcome_lump(&plan->made.tree, &plan->outcome);
		err = fill_tree(plan, error);
	}
	if (!err)
		err = fill_plan(plan, error);
	if (err || !plan->is_ours)
		return err;
	if (plan->is_two)
		ask_for_lmc(plan);
	err = ask_alone(plan, error);
	if (!err && plan->is_two)
		ask_for_healthy_bound(plan);
	return err ? err : cli_compare(&plan->settings->source, &plan->made.tree, &plan->compared, error);
}

/* --- the command ---------------------------------------------------------------------------------------------- */

/* There is no plan as for two levels, and it is no tree of three: both are the reason. */
static void tell_neither(struct cli_plan *plan)
{
	struct fors_error two = plan->outcome.error;

	if (!*plan->site->neither.text || !plan->is_two || plan->outcome.plan)
		return;
	fors_fail(&plan->outcome.error, two.code, "%.250s; %.250s", two.text, plan->site->neither.text);
	snprintf(plan->status.reason, sizeof(plan->status.reason), "%s", plan->outcome.error.text);
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

static int load_two_levels(struct cli_plan *plan)
{
	const struct cli_source *source = &plan->settings->source;
	int code = cli_fabric_make(plan->site, source->has_lmc, source->lmc, source->down, source->ndown, &plan->made);

	return code || plan->made.fabric->nservers ? code : check_servers(plan->site);
}

static int load_three_levels(struct cli_plan *plan)
{
	int code = cli_own_tables(plan->site, &plan->settings->source, &plan->made);

	return code ? code : cli_site_narrow(plan->site, &plan->made);
}

/* A net and tables of anybody's; it may be a tree. */
static int load_given(struct cli_plan *plan)
{
	const struct cli_settings *settings = plan->settings;
	int code = cli_site_net(plan->site, &settings->source, &plan->made.net);

	if (!code)
		code = cli_read_tables(settings->lfts, plan->made.net, &plan->made.lfts);
	if (!code && settings->levels)
		code = cli_levels_read(settings->levels, &plan->levels);
	return code ? code : cli_fabric_understand(plan->site, &plan->made);
}

static int load(struct cli_plan *plan)
{
	const struct cli_site *site = plan->site;

	if (!plan->is_ours)
		return load_given(plan);
	plan->is_two = site->places && !fors_places_known(site->places);
	return plan->is_two ? load_two_levels(plan) : load_three_levels(plan);
}

static int plan_and_tell(struct cli_plan *plan)
{
	struct fors_error error = {0};

	if (investigate(plan, &error))
		return cli_fail(&error);
	tell_neither(plan);
	return cli_plan_tell(plan);
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct cli_site site;
	struct cli_plan plan = {.settings = settings,
				.site = &site,
				.is_ours = !settings->lfts,
				.healthy_bound = FORS_UNKNOWN,
				.phases_with_lmc = FORS_UNKNOWN};
	int code;

	if (settings->demand)
		return cli_plan_demand(settings);
	fors_outcome_init(&plan.outcome);
	fors_status_init(&plan.status);
	code = cli_any_site_load(&settings->source, &site);
	if (!code)
		code = load(&plan);
	if (!code)
		code = plan_and_tell(&plan);
	cli_compared_clear(&plan.compared);
	fors_status_clear(&plan.status);
	fors_outcome_clear(&plan.outcome);
	cli_levels_clear(&plan.levels);
	cli_fabric_free(&plan.made);
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
