/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis.c - from the options of `fors analyze` to loads and rates.
 *
 * First the net and its routes (analysis_net.c, or analysis_tree.c where rules route), then the pattern and the jobs.
 * From there on only the router is asked.
 */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/made.h"
#include "core/base/text.h"
#include "core/net/graph_spec.h"
#include "core/net/lftfile.h"
#include "core/planners/outcome.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "lab/model/routers/model_tables.h"

/* --- patterns --------------------------------------------------------------------------------------------------- */

/* "plan" or "plan(METHOD)": METHOD in *method; false: another pattern. */
static bool is_plan(const char *name, char *method, size_t room)
{
	size_t length = strlen(name);

	if (strcasecmp(name, "plan") && (strncasecmp(name, "plan(", 5) || name[length - 1] != ')'))
		return false;
	snprintf(method, room, "%.*s", length > 5 ? (int)(length - 6) : 4, length > 5 ? name + 5 : "auto");
	return true;
}

/* Of a two-level fat-tree. */
static enum fors_err plan_tree(struct cli_analysis *a, const char *method, struct fors_error *error)
{
	struct fors_task task = {.fabric = a->made.fabric,
				 .lanes = a->made.lanes,
				 .progress = cli_progress,
				 .threads = cli_processors()};

	return fors_plan(&task, method, &a->plan, error);
}

/* Of any net: single flows over the tables as they are. */
static enum fors_err plan_over(struct cli_analysis *a, const char *method, struct fors_error *error)
{
	const struct fors_request request = {
		.task = {.progress = cli_progress},
		.net = a->made.net,
		.lfts = a->made.lfts,
		.participants = a->site.has_participants ? &a->site.participants : NULL,
		.rounds = strcmp(method, fors_method_flows.name) ? a->made.rounds : NULL,
	};

	if (strcmp(method, "auto") && strcmp(method, fors_method_flows.name))
		return fors_fail(error, FORS_ENOTREE,
				 "method %.32s is for two-level fat-trees with servers under leaves; this is none, "
				 "plan(flows) is for any net",
				 method);
	return fors_plan_proven(&request, &a->plan, NULL, error);
}

/*
 * A plan of any net has an order of servers of its own: the routes follow it. When it is of other servers they stay as
 * they are, and check_servers() says so.
 */
static enum fors_err follow_plan(struct cli_analysis *a, struct fors_error *error)
{
	uint32_t n = a->plan->nservers, found = 0;
	struct fors_endpoint *list = NULL;
	struct fors_routes *routes = NULL;
	enum fors_err err = FORS_OK;

	if (a->plan->ways && a->routes && n == a->routes->graph->nservers)
		err = cli_plan_endpoints(a->plan, a->routes->server, n, &list, &found, error);
	if (!err && list && found == n)
		err = fors_routes_new(a->made.net, a->made.lfts, list, n, &routes, error);
	free(list);
	if (routes) {
		fors_routes_free(a->routes);
		a->routes = routes;
		a->router = fors_routes_router(routes);
	}
	return err;
}

static enum fors_err make_plan(struct cli_analysis *a, const char *method, bool is_tree, struct fors_error *error)
{
	enum fors_err err;

	if (!a->made.fabric && (!a->routes || a->has_tree))
		return fors_fail(
			error, FORS_ENOTREE,
			"plans are for tables, and --routing %s is a rule without any; --routing fors has some, and "
			"shortest, up-down and sssp",
			a->routing);
	err = is_tree ? plan_tree(a, method, error) : plan_over(a, method, error);
	cli_progress_end();
	if (!err)
		err = follow_plan(a, error);
	return err ? err : fors_pattern_plan(a->plan, &a->pattern, error);
}

/* A schedule speaks of its own list of servers, which has to be the router's. */
static enum fors_err check_servers(const struct cli_analysis *a, const char *path, struct fors_error *error)
{
	const struct fors_schedule *plan = a->plan;
	uint32_t n = a->router.graph->nservers;

	if (!plan->nphases)
		return fors_fail(error, FORS_EINPUT, "%s: the schedule is withdrawn: %s", path, plan->reason);
	for (uint32_t s = 0; a->routes && s < n && s < plan->nservers; s++)
		if (plan->server[s].guid != a->routes->server[s].guid)
			return fors_fail(error, FORS_EINPUT,
					 "%s: server %u is port 0x%016llx, but 0x%016llx in the fabric", path, s,
					 (unsigned long long)plan->server[s].guid,
					 (unsigned long long)a->routes->server[s].guid);
	if (!a->routes || plan->nservers != n)
		return fors_fail(error, FORS_EINPUT, "%s: the schedule is for %u %s, the fabric has %u", path,
				 plan->nservers, fors_plural(plan->nservers, "server", "servers"), n);
	return FORS_OK;
}

static int load_schedule(struct cli_analysis *a, const char *path)
{
	struct fors_error error = {0};
	int code = cli_read_schedule(path, &a->plan);

	if (code)
		return code;
	if (follow_plan(a, &error) || check_servers(a, path, &error) || fors_pattern_plan(a->plan, &a->pattern, &error))
		return cli_fail(&error);
	return CLI_GOOD;
}

struct pattern_context {
	struct cli_analysis *analysis;
	struct fors_pattern_options options;
};

static enum fors_err read_pattern(const char *text, size_t size, const char *path, void *context,
				  struct fors_error *error)
{
	struct pattern_context *c = context;

	return fors_pattern_read(text, size, path, c->analysis->router.graph->nservers, &c->options,
				 &c->analysis->pattern, error);
}

/*
 * Is a plan for the planners of two-level fat-trees? Over tables of others it is not, where the net only looks like one: a
 * taller tree has two sides, too.
 */
static bool is_for_trees(const struct cli_settings *settings, const struct cli_analysis *a)
{
	if (!a->made.fabric || (settings->routing && !strcmp(settings->routing, "fors")))
		return a->made.fabric;
	return cli_site_is_two_level(&a->site);
}

static int make_pattern(const struct cli_settings *settings, struct cli_analysis *a)
{
	struct pattern_context context = {a, {settings->seed, cli_lab(settings)->map == CLI_MAP_RANDOM}};
	struct fors_error error = {0};
	enum fors_err err;
	char method[32];

	snprintf(a->pattern_name, sizeof(a->pattern_name), "%.63s",
		 cli_lab(settings)->pattern ? cli_lab(settings)->pattern
		 : settings->schedule	    ? settings->schedule
					    : cli_lab(settings)->pattern_file);
	if (settings->schedule)
		return load_schedule(a, settings->schedule);
	if (cli_lab(settings)->pattern_file)
		return cli_use_file(cli_lab(settings)->pattern_file, read_pattern, &context);
	if (is_plan(cli_lab(settings)->pattern, method, sizeof(method)))
		err = make_plan(a, method, is_for_trees(settings, a), &error);
	else
		err = fors_pattern_new(cli_lab(settings)->pattern, a->router.graph->nservers, &context.options,
				       &a->pattern, &error);
	return err ? cli_fail(&error) : CLI_GOOD;
}

#define MANY_SERVERS 4096 /* above, nobody waits for all routes unless they are asked for with --jobs */

/* --- jobs ------------------------------------------------------------------------------------------------------- */

static enum fors_err read_jobs(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	struct cli_analysis *a = context;

	return fors_efi_jobs_read(text, size, path, a->router.graph->nservers, a->routes, &a->jobs, error);
}

int cli_analysis_jobs(const char *path, struct cli_analysis *a)
{
	struct fors_error error = {0};
	uint32_t nservers = a->router.graph->nservers;

	if (a->jobs.count)
		return CLI_GOOD;
	if (path)
		return cli_use_file(path, read_jobs, a);
	if (nservers > MANY_SERVERS)
		return CLI_GOOD;
	return fors_efi_jobs_all(nservers, &a->jobs, &error) ? cli_fail(&error) : CLI_GOOD;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static bool is_model(const struct cli_settings *settings)
{
	return settings->routing && fors_model_find(settings->routing) != FORS_NMODELS;
}

static bool is_sar(const struct cli_settings *settings)
{
	return settings->routing && !strcmp(settings->routing, "sar");
}

static bool is_rule(const struct cli_settings *settings)
{
	return settings->routing && strcmp(settings->routing, "fors") && !is_model(settings) && !is_sar(settings);
}

static int check_source(const struct cli_settings *settings)
{
	if (!settings->lfts && !settings->routing)
		return cli_usage_error("which tables? --lfts FILE or --routing NAME is missing");
	if (is_rule(settings) && !settings->source.synthetic)
		return cli_usage_error(
			"--routing %s is a rule for --synthetic fabrics; here it can be fors, or shortest, "
			"up-down, sssp",
			settings->routing);
	if (is_rule(settings) && fors_graph_spec_begins(settings->source.synthetic))
		return cli_usage_error(
			"--routing %s is a rule for fat-trees; here it can be shortest, up-down, sssp, or dor",
			settings->routing);
	return CLI_GOOD;
}

/* A name of nothing is not a rule for other fabrics. */
static int check_name(const struct cli_settings *settings)
{
	enum fors_tree_routing routing;
	struct fors_error unused;

	if (!is_rule(settings) || !fors_tree_routing_parse(settings->routing, &routing, &unused))
		return CLI_GOOD;
	return cli_usage_error(
		"there is no routing '%s'; there are fors; models of engines: shortest, up-down, sssp, dor; "
		"and for --synthetic trees the rules d-mod-k, s-mod-k, random, hash",
		settings->routing);
}

static int load_fabric(const struct cli_settings *settings, struct cli_analysis *a)
{
	int code = check_name(settings);

	if (!code)
		code = check_source(settings);
	if (code)
		return code;
	if (is_rule(settings)) {
		code = cli_analysis_load_tree(settings, a);
	} else if (is_model(settings)) {
		code = cli_analysis_load_model(settings, settings->routing, a);
	} else if (is_sar(settings)) {
		code = cli_analysis_load_sar(settings, a);
	} else {
		code = cli_analysis_load_net(settings, a);
	}
	return code || !a->routes ? code : cli_analysis_find_dead(a);
}

static int evaluate(struct cli_analysis *a)
{
	struct fors_error error = {0};

	if (fors_evaluate(&a->router, a->pattern, true, cli_processors(), &a->result, &error))
		return cli_fail(&error);
	if (!a->jobs.count)
		return CLI_GOOD;
	return fors_efi_count(&a->router, &a->jobs, &a->efi, &error) ? cli_fail(&error) : CLI_GOOD;
}

int cli_analysis_load(const struct cli_settings *settings, struct cli_analysis *analysis)
{
	*analysis = (struct cli_analysis){.optimum = -1};
	snprintf(analysis->title, sizeof(analysis->title), "%.255s", cli_made_input(settings));
	return load_fabric(settings, analysis);
}

int cli_analysis_prepare(const struct cli_settings *settings, struct cli_analysis *analysis)
{
	int code;

	*analysis = (struct cli_analysis){.optimum = -1};
	if (!cli_lab(settings)->pattern + !cli_lab(settings)->pattern_file + !settings->schedule != 2)
		return cli_usage_error("one of --pattern NAME, --pattern-file FILE and --schedule FILE is needed");
	code = cli_analysis_load(settings, analysis);
	return code ? code : make_pattern(settings, analysis);
}

int cli_analyze(const struct cli_settings *settings, struct cli_analysis *analysis)
{
	int code = cli_analysis_prepare(settings, analysis);

	if (!code)
		code = cli_analysis_jobs(settings->jobs, analysis);
	if (!code)
		code = evaluate(analysis);
	if (!code)
		code = cli_analysis_costs(settings, analysis);
	if (!code)
		code = cli_analysis_spread(settings, analysis);
	return code || !cli_lab(settings)->wants_optimum ? code : cli_analysis_optimum(analysis);
}

void cli_analysis_free(struct cli_analysis *analysis)
{
	fors_efi_free(analysis->efi);
	fors_evaluation_free(analysis->result);
	fors_spread_free(analysis->spread);
	fors_efi_jobs_clear(&analysis->jobs);
	fors_pattern_free(analysis->pattern);
	fors_schedule_free(analysis->plan);
	fors_tree_paths_clear(&analysis->paths);
	fors_tree_spec_clear(&analysis->spec);
	fors_graph_free(analysis->bare);
	fors_routes_free(analysis->routes);
	free(analysis->dead);
	cli_fabric_free(&analysis->made);
	cli_site_free(&analysis->site);
}

bool cli_analysis_is_sound(const struct cli_analysis *analysis)
{
	const struct fors_mismatch *m = &analysis->mismatch;

	return !analysis->result->nbroken && !(analysis->efi && analysis->efi->broken) && !m->unknown_switches &&
	       !m->absent_lids && !m->bad_ports && !m->missing_tables && !m->missing_lids;
}
