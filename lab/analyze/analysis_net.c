/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analysis_net.c - the net that `fors analyze` works on, its tables, and the cables that it lost.
 *
 * Net and tables come from files, or fors's own rules make the tables, for trees of two levels and of three. Where the
 * net is a two-level fat-tree, its servers have the order of plans (leaf, slot); any other net has the same order by
 * switch GUID and port, and its plans are over the tables.
 */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#include "lab/model/routers/sar.h"
#include "core/base/text.h"

/* --- net and tables from files ---------------------------------------------------------------------------------- */

static int load_net_and_tables(const struct cli_settings *settings, struct cli_analysis *a)
{
	struct fors_error error = {0};
	int code = cli_any_site_load(&settings->source, &a->site);

	if (!code)
		code = cli_site_net(&a->site, &settings->source, &a->made.net);
	a->tells_lids = !code && fors_net_lid_end(a->made.net) == 1;
	if (!code)
		code = cli_read_tables(settings->lfts, a->made.net, &a->made.lfts);
	if (!code)
		code = cli_fabric_understand(&a->site, &a->made);
	if (!code && fors_mismatch_find(a->made.net, a->made.lfts, &a->mismatch, &error))
		code = cli_fail(&error);
	snprintf(a->routing, sizeof(a->routing), "%.63s", settings->lfts);
	return code;
}

/* The tables that fors would write. Who is a guest in a tree of three levels sends nothing. */
static int make_own_tables(const struct cli_settings *settings, struct cli_analysis *a)
{
	const struct cli_source *source = &settings->source;
	int code = cli_any_site_load(source, &a->site);

	snprintf(a->routing, sizeof(a->routing), "fors");
	if (!code)
		code = cli_own_tables(&a->site, source, &a->made);
	return code ? code : cli_site_narrow(&a->site, &a->made);
}

int cli_analysis_load_net(const struct cli_settings *settings, struct cli_analysis *a)
{
	int code = settings->lfts ? load_net_and_tables(settings, a) : make_own_tables(settings, a);

	return code ? code : cli_analysis_routes(a);
}

/* Tables made up for any net. */
int cli_analysis_load_model(const struct cli_settings *settings, const char *model, struct cli_analysis *a)
{
	int code = cli_any_site_load(&settings->source, &a->site);

	snprintf(a->routing, sizeof(a->routing), "%.48s (a model)", model);
	if (!code)
		code = cli_site_net(&a->site, &settings->source, &a->made.net);
	if (!code)
		code = cli_model_tables(&settings->source, model, a->made.net, &a->made.lfts);
	if (!code)
		code = cli_fabric_understand(&a->site, &a->made);
	return code ? code : cli_analysis_routes(a);
}

/* Who is in which job, as ports of the net. */
static enum fors_err list_placed(const struct cli_analysis *a, struct fors_placed **list, size_t *count,
				 struct fors_error *error)
{
	size_t n = 0;

	for (uint32_t j = 0; j < a->jobs.count; j++)
		n += a->jobs.job[j].count;
	*list = malloc((n + 1) * sizeof(**list));
	if (!*list)
		return fors_fail_memory(error);
	for (uint32_t j = n = 0; j < a->jobs.count; j++)
		for (uint32_t i = 0; i < a->jobs.job[j].count; i++) {
			const struct fors_endpoint *server = &a->routes->server[a->jobs.job[j].server[i]];

			(*list)[n++] = (struct fors_placed){server->node, j, server->port};
		}
	*count = n;
	return FORS_OK;
}

int cli_analysis_replace_tables(struct cli_analysis *a, struct fors_lfts *lfts)
{
	int code;

	fors_routes_free(a->routes);
	a->routes = NULL;
	fors_lanes_free(a->made.lanes);
	a->made.lanes = NULL;
	fors_fattree_free(&a->made.tree);
	a->made.fabric = NULL;
	fors_lfts_free(a->made.lfts);
	a->made.lfts = lfts;
	code = cli_fabric_understand(&a->site, &a->made);
	return code ? code : cli_analysis_routes(a);
}

/* Which servers the jobs mean is known under any tables: sssp's, which it grew from. */
int cli_analysis_load_sar(const struct cli_settings *settings, struct cli_analysis *a)
{
	struct fors_placed *placed = NULL;
	struct fors_lfts *lfts = NULL;
	struct fors_error error = {0};
	size_t count = 0;
	int code = cli_analysis_load_model(settings, "sssp", a);

	if (!code)
		code = cli_analysis_jobs(settings->jobs, a);
	if (!code &&
	    (list_placed(a, &placed, &count, &error) || fors_sar_tables(a->made.net, placed, count, &lfts, &error)))
		code = cli_fail(&error);
	free(placed);
	snprintf(a->routing, sizeof(a->routing), "sar (a model), for %u %s", a->jobs.count,
		 fors_plural(a->jobs.count, "job", "jobs"));
	return code ? code : cli_analysis_replace_tables(a, lfts);
}

/*
 * Servers without a LID: nobody can send to them. If no server has one, they stay, and lab/model/routers/routes.h says
 * what to do. Tables that were given may be older, or of another fabric; those that were made here know no better.
 */
static void leave_out_nameless(struct cli_analysis *a, struct fors_endpoint *server, uint32_t *count)
{
	struct fors_mismatch *m = &a->mismatch;
	uint32_t n = 0, first = FORS_NONE;

	for (uint32_t s = 0; s < *count; s++)
		if (!server[s].lid && first == FORS_NONE)
			first = server[s].node;
		else
			n += server[s].lid != 0;
	if (!n || n == *count)
		return;
	m->missing_lids = a->tells_lids ? *count - n : 0;
	if (!a->tells_lids)
		cli_error("%s has no LID, and is left out%s", fors_node_name(a->made.net, first),
			  *count - n > 1 ? ", as others are" : "");
	else if (!m->text[0])
		snprintf(m->text, sizeof(m->text), "%s has no LID, and is left out",
			 fors_node_name(a->made.net, first));
	for (uint32_t s = n = 0; s < *count; s++)
		if (server[s].lid)
			server[n++] = server[s];
	*count = n;
}

/* In the order of plans, and without those on spines, where it is a two-level fat-tree. */
static enum fors_err order_servers(struct cli_analysis *a, struct fors_endpoint **server, uint32_t *count,
				   struct fors_error *error)
{
	const struct fors_fabric *fabric = a->made.fabric;

	if (!fabric || !fabric->nservers)
		return FORS_OK;
	a->nspectators = *count - fabric->nservers;
	free(*server);
	*server = NULL;
	return cli_fabric_endpoints(fabric, server, count, error);
}

int cli_analysis_routes(struct cli_analysis *a)
{
	struct fors_error error = {0};
	struct fors_endpoint *server = NULL;
	uint32_t count = 0;
	const struct fors_participants *them = a->site.has_participants ? &a->site.participants : NULL;
	enum fors_err err = fors_endpoints(a->made.net, them, &server, &count, &error);

	if (!err && !count)
		err = fors_fail(&error, FORS_EINPUT, "there is no server with a live cable in the fabric");
	if (!err) {
		leave_out_nameless(a, server, &count);
		err = order_servers(a, &server, &count, &error);
	}
	if (!err)
		err = fors_routes_new(a->made.net, a->made.lfts, server, count, &a->routes, &error);
	for (uint32_t l = 0; !err && l < a->routes->graph->nlinks; l++)
		a->nslow += a->routes->graph->capacity[l] < 1;
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

int cli_analysis_find_dead(struct cli_analysis *a)
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
