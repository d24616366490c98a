/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis.c - from the options of `fors analyze` to loads and rates.
 *
 * First the net and its tables: from files, or made by fors's own rules. Where the net is a two-level fat-tree, its
 * servers have the order of plans (leaf, slot), and plans can be made; any other net has the same order by switch GUID
 * and port, and everything but plans. From there on only the router is asked.
 */
#include "cli/analysis.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/lftfile.h"
#include "core/planner.h"

unsigned cli_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned)n;
}

/* --- tables ---------------------------------------------------------------------------------------------------- */

/* The tables of a file, and the LIDs that they name. */
static enum fors_err read_tables(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct cli_fabric *made = context;
	enum fors_err err = fors_lftfile_read(text, size, path, &made->lfts, error);

	return err ? err : fors_lids_from_dump(made->net, text, size, path, error);
}

/*
 * Servers that hang on the side of the spines take no part in a two-level fat-tree. But many of them mean that
 * it is something else, a torus for example, whose switches fall into two sides by chance.
 */
static enum fors_err is_tree(const struct fors_fabric *fabric, const struct fors_participants *them, bool *answer,
			     struct fors_error *error)
{
	struct fors_endpoint *list = NULL;
	uint32_t count = 0;
	enum fors_err err = fors_endpoints(fabric->net, them, &list, &count, error);

	free(list);
	*answer = !err && (count - fabric->nservers) * 4 <= count;
	return err;
}

/* The net as leaves, spines and lanes, where it can be understood so; else made->fabric stays NULL. */
static enum fors_err understand(const struct cli_site *site, struct cli_fabric *made, struct fors_error *error)
{
	const struct fors_participants *them = site->has_participants ? &site->participants : NULL;
	bool is_good = false;
	enum fors_err err;

	if (!site->places)
		return FORS_OK;
	err = fors_fabric_build(made->net, site->places, them, &made->fabric, error);
	if (!err)
		err = is_tree(made->fabric, them, &is_good, error);
	if (!err && is_good)
		return fors_lanes_read(made->fabric, made->lfts, &made->lanes, error);
	fors_fabric_free(made->fabric);
	made->fabric = NULL;
	return err;
}

/* --- net and tables from files ---------------------------------------------------------------------------------- */

static int load_net_and_tables(const struct cli_analysis_settings *settings, struct cli_analysis *a)
{
	struct fors_error error = {0};
	int code = cli_any_site_load(&settings->source, &a->site);

	if (!code)
		code = cli_net_load(&settings->source, &a->made.net);
	if (!code)
		code = cli_use_file(settings->lfts, read_tables, &a->made);
	if (!code && understand(&a->site, &a->made, &error))
		code = cli_fail(&error);
	if (!code && fors_mismatch_find(a->made.net, a->made.lfts, &a->mismatch, &error))
		code = cli_fail(&error);
	snprintf(a->routing, sizeof(a->routing), "%.63s", settings->lfts);
	return code;
}

/* The tables that fors would write. */
static int make_own_tables(const struct cli_analysis_settings *settings, struct cli_analysis *a)
{
	const struct cli_source *source = &settings->source;
	int code = cli_site_load(source, &a->site);

	snprintf(a->routing, sizeof(a->routing), "fors");
	if (code)
		return code;
	return cli_fabric_make(&a->site, source->has_lmc, source->lmc, source->down, source->ndown, &a->made);
}

int cli_analysis_routes(struct cli_analysis *a)
{
	struct fors_error error = {0};
	struct fors_endpoint *server = NULL;
	uint32_t count = 0;
	const struct fors_participants *them = a->site.has_participants ? &a->site.participants : NULL;
	enum fors_err err = a->made.fabric ? fors_fabric_endpoints(a->made.fabric, &server, &count, &error)
					   : fors_endpoints(a->made.net, them, &server, &count, &error);

	if (!err && !count)
		err = fors_fail(&error, FORS_EINPUT, "there is no server with a live cable in the fabric");
	if (!err)
		err = fors_routes_new(a->made.net, a->made.lfts, server, count, &a->routes, &error);
	free(server);
	if (err)
		return cli_fail(&error);
	a->router = fors_routes_router(a->routes);
	return CLI_GOOD;
}

/* --- what was lost ---------------------------------------------------------------------------------------------- */

static void note_dead(struct cli_analysis *a, uint32_t node, unsigned number)
{
	const struct fors_net *intact = a->site.intact;
	const struct fors_port *port = fors_net_port(intact, node, number);
	struct cli_dead_cable *cable = &a->dead[a->ndead++];

	*cable = (struct cli_dead_cable){
		.a_node = node, .b_node = port->peer, .a_port = (uint8_t)number, .b_port = port->peer_port};
	snprintf(cable->a, sizeof(cable->a), "%s", fors_node_name(intact, node));
	snprintf(cable->b, sizeof(cable->b), "%s", fors_node_name(intact, port->peer));
}

/* Cables that the intact net has and this one has not. */
static void compare_cables(struct cli_analysis *a)
{
	const struct fors_net *intact = a->site.intact, *net = a->made.net;

	for (uint32_t node = 0; node < intact->nnodes; node++)
		for (unsigned p = 1; p <= intact->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(intact, node, p);

			if (port->peer == FORS_NONE || port->peer < node ||
			    (port->peer == node && port->peer_port < p) ||
			    fors_net_port(net, node, p)->peer != FORS_NONE)
				continue;
			note_dead(a, node, p);
		}
}

/* Does more than half of the leaves have this lane? */
static bool is_usual(const struct fors_fabric *fabric, uint32_t lane)
{
	uint32_t n = 0;

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		n += fors_cable(fabric, leaf, lane)->state != FORS_CABLE_ABSENT;
	return 2 * n > fabric->nleaves;
}

/* What a text of the broken fabric cannot say: cables that the other leaves have. Their ports are not known (0). */
static void find_gaps(struct cli_analysis *a)
{
	const struct fors_fabric *fabric = a->made.fabric;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++) {
		const struct fors_spine *spine = &fabric->spine[fabric->lane[lane].spine];

		for (uint32_t leaf = 0; is_usual(fabric, lane) && leaf < fabric->nleaves; leaf++) {
			struct cli_dead_cable *cable = &a->dead[a->ndead];

			if (fors_cable(fabric, leaf, lane)->state != FORS_CABLE_ABSENT)
				continue;
			*cable = (struct cli_dead_cable){.a_node = fabric->leaf[leaf].node, .b_node = spine->node};
			snprintf(cable->a, sizeof(cable->a), "%s", fabric->leaf[leaf].name);
			snprintf(cable->b, sizeof(cable->b), "%s", spine->name);
			a->ndead++;
		}
	}
}

static int find_dead_cables(struct cli_analysis *a)
{
	const struct fors_fabric *fabric = a->made.fabric;

	a->dead = calloc(a->site.intact->nports + (fabric ? (size_t)fabric->nleaves * fabric->nlanes : 0) + 1,
			 sizeof(*a->dead));
	if (!a->dead) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	compare_cables(a);
	if (fabric)
		find_gaps(a);
	return CLI_GOOD;
}

/* --- patterns --------------------------------------------------------------------------------------------------- */

/* "plan" or "plan(METHOD)": METHOD in *method; false: another pattern. */
static bool is_plan(const char *name, char *method, size_t room)
{
	size_t length = strlen(name);

	if (strcmp(name, "plan") && (strncmp(name, "plan(", 5) || name[length - 1] != ')'))
		return false;
	snprintf(method, room, "%.*s", length > 5 ? (int)(length - 6) : 4, length > 5 ? name + 5 : "auto");
	return true;
}

static enum fors_err make_plan(struct cli_analysis *a, const char *method, struct fors_error *error)
{
	struct fors_task task = {.fabric = a->made.fabric,
				 .lanes = a->made.lanes,
				 .progress = cli_progress,
				 .threads = cli_processors()};
	enum fors_err err;

	if (!a->made.fabric)
		return fors_fail(error, FORS_ENOTREE,
				 "plans are for two-level fat-trees with servers under leaves; this is none");
	err = fors_plan(&task, method, &a->plan, error);
	cli_progress_end();
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
		return fors_fail(error, FORS_EINPUT, "%s: the schedule is for %u servers, the fabric has %u", path,
				 plan->nservers, n);
	return FORS_OK;
}

static int load_schedule(struct cli_analysis *a, const char *path)
{
	struct fors_error error = {0};
	int code = cli_read_schedule(path, &a->plan);

	if (code)
		return code;
	if (check_servers(a, path, &error) || fors_pattern_plan(a->plan, &a->pattern, &error))
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

static int make_pattern(const struct cli_analysis_settings *settings, struct cli_analysis *a)
{
	struct pattern_context context = {a, {settings->seed, settings->is_random_map}};
	struct fors_error error = {0};
	enum fors_err err;
	char method[32];

	snprintf(a->pattern_name, sizeof(a->pattern_name), "%.63s",
		 settings->pattern    ? settings->pattern
		 : settings->schedule ? settings->schedule
				      : settings->pattern_file);
	if (settings->schedule)
		return load_schedule(a, settings->schedule);
	if (settings->pattern_file)
		return cli_use_file(settings->pattern_file, read_pattern, &context);
	if (is_plan(settings->pattern, method, sizeof(method)))
		err = make_plan(a, method, &error);
	else
		err = fors_pattern_new(settings->pattern, a->router.graph->nservers, &context.options, &a->pattern,
				       &error);
	return err ? cli_fail(&error) : CLI_GOOD;
}

#define MANY_SERVERS 4096 /* above, nobody waits for all routes unless they are asked for with --jobs */

/* --- jobs ------------------------------------------------------------------------------------------------------- */

static enum fors_err read_jobs(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	struct cli_analysis *a = context;

	return fors_jobs_read(text, size, path, a->router.graph->nservers, a->routes, &a->jobs, error);
}

static int load_jobs(const char *path, struct cli_analysis *a)
{
	struct fors_error error = {0};
	uint32_t nservers = a->router.graph->nservers;

	if (path)
		return cli_use_file(path, read_jobs, a);
	if (nservers > MANY_SERVERS)
		return CLI_GOOD;
	return fors_jobs_all(nservers, &a->jobs, &error) ? cli_fail(&error) : CLI_GOOD;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static bool is_rule(const struct cli_analysis_settings *settings)
{
	return settings->routing && strcmp(settings->routing, "fors");
}

static int check_source(const struct cli_analysis_settings *settings)
{
	bool has_tree = settings->source.synthetic && fors_pgft_is_spec(settings->source.synthetic);

	if (settings->lfts && settings->routing)
		return cli_usage_error("--lfts and --routing exclude each other");
	if (!settings->lfts && !settings->routing)
		return cli_usage_error("which tables? --lfts FILE or --routing NAME is missing");
	if (is_rule(settings) && !has_tree)
		return cli_usage_error("--routing %s is for synthetic XGFT and PGFT fabrics; here it can be fors",
				       settings->routing);
	return CLI_GOOD;
}

static int load_fabric(const struct cli_analysis_settings *settings, struct cli_analysis *a)
{
	int code = check_source(settings);

	if (code)
		return code;
	if (is_rule(settings)) {
		code = cli_analysis_load_tree(settings, a);
	} else {
		code = settings->lfts ? load_net_and_tables(settings, a) : make_own_tables(settings, a);
		if (!code)
			code = cli_analysis_routes(a);
	}
	return code || !a->routes ? code : find_dead_cables(a);
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

int cli_analysis_load(const struct cli_analysis_settings *settings, struct cli_analysis *analysis)
{
	const char *what = settings->source.fabric ? settings->source.fabric : settings->source.synthetic;

	*analysis = (struct cli_analysis){.optimum = -1};
	snprintf(analysis->title, sizeof(analysis->title), "%.255s", what ? what : "");
	return load_fabric(settings, analysis);
}

int cli_analyze(const struct cli_analysis_settings *settings, struct cli_analysis *analysis)
{
	int code;

	*analysis = (struct cli_analysis){.optimum = -1};
	if (!settings->pattern + !settings->pattern_file + !settings->schedule != 2)
		return cli_usage_error("one of --pattern NAME, --pattern-file FILE and --schedule FILE is needed");
	code = cli_analysis_load(settings, analysis);
	if (!code)
		code = make_pattern(settings, analysis);
	if (!code)
		code = load_jobs(settings->jobs, analysis);
	if (!code)
		code = evaluate(analysis);
	return code || !settings->wants_optimum ? code : cli_analysis_optimum(analysis);
}

void cli_analysis_free(struct cli_analysis *analysis)
{
	fors_efi_free(analysis->efi);
	fors_evaluation_free(analysis->result);
	fors_jobs_clear(&analysis->jobs);
	fors_pattern_free(analysis->pattern);
	fors_schedule_free(analysis->plan);
	fors_pgft_paths_clear(&analysis->paths);
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
	       !m->absent_lids && !m->bad_ports && !m->missing_tables;
}
