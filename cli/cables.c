/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cables.c - the cables between switches, and what is known of each.
 *
 * Cables are those of the intact net, so that dead ones are listed too. Tables are those of --lfts, or, in a fat-tree
 * of two or three levels, those that fors would write; the plan is the one of --schedule, or, of two levels, the one
 * that fors would make over its tables.
 */
#include "cli/cables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/rates.h"
#include "core/planners/outcome.h"
#include "core/schedule/pace.h"
#include "core/schedule/verify.h"

/* --- what there is ------------------------------------------------------------------------------------------------ */

static bool is_switch(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type == FORS_SWITCH;
}

static void describe(const struct cli_cables *cables, uint32_t node, unsigned number, struct cli_cable *cable)
{
	const struct fors_port *before = fors_net_port(cables->site.intact, node, number);
	const struct fors_port *now = fors_net_port(cables->made.net, node, number);

	*cable = (struct cli_cable){.node = {node, before->peer},
				    .port = {(uint8_t)number, before->peer_port},
				    .is_dead = now->peer == FORS_NONE,
				    .is_degraded = now->peer != FORS_NONE && now->is_degraded,
				    .errors = {FORS_COUNTER_UNKNOWN, FORS_COUNTER_UNKNOWN}};
	if (!cable->is_dead)
		fors_rate_text(now->width, (enum fors_speed)now->speed, cable->rate);
	for (int end = 0; cables->counters && end < 2; end++)
		cable->errors[end] = fors_counters_sum(
			&cables->counters[cables->site.intact->node[cable->node[end]].first_port + cable->port[end]]);
}

/* A switch's number in the tree; FORS_NONE: none. */
static uint32_t number_of(const struct fors_fattree *tree, uint32_t node)
{
	for (uint32_t i = 0; i < tree->nswitches; i++)
		if (tree->kind->at(tree, i).node == node)
			return i;
	return FORS_NONE;
}

/* Each cable once, from the lower level where the net can be understood so, else from the smaller GUID. */
static bool comes_first(const struct cli_cables *cables, uint32_t node, unsigned number)
{
	const struct fors_net *net = cables->site.intact;
	const struct fors_port *port = fors_net_port(net, node, number);
	uint32_t here = number_of(&cables->made.tree, node), there = number_of(&cables->made.tree, port->peer);

	if (here != there && here != FORS_NONE && there != FORS_NONE)
		return here < there;
	if (node == port->peer)
		return number < port->peer_port;
	return net->node[node].guid < net->node[port->peer].guid;
}

static int list(struct cli_cables *cables)
{
	const struct fors_net *net = cables->site.intact;

	cables->cable = calloc(net->nports + (size_t)1, sizeof(*cables->cable));
	for (uint32_t i = 0; cables->cable && i < net->nnodes; i++)
		for (unsigned p = 1; is_switch(net, net->by_guid[i]) && p <= net->node[net->by_guid[i]].nports; p++)
			if (is_switch(net, fors_net_port(net, net->by_guid[i], p)->peer) &&
			    comes_first(cables, net->by_guid[i], p))
				describe(cables, net->by_guid[i], p, &cables->cable[cables->count++]);
	if (cables->cable)
		return CLI_GOOD;
	cli_error("out of memory");
	return CLI_BAD;
}

static enum fors_err read_counters(const char *text, size_t size, const char *path, void *context,
				   struct fors_error *error)
{
	struct cli_cables *cables = context;
	uint32_t nforeign = 0;
	enum fors_err err =
		fors_counters_read(text, size, path, cables->site.intact, &cables->counters, &nforeign, error);

	if (!err && nforeign)
		fprintf(stderr, "%s: %u port%s that the fabric does not have; is it of the same fabric?\n", path,
			nforeign, nforeign == 1 ? "" : "s");
	return err;
}

/* --- what tables and plan put on them --------------------------------------------------------------------------- */

static int load_tables(const struct cli_settings *settings, struct cli_cables *cables)
{
	const struct cli_source *source = &settings->source;
	int code;

	if (!settings->lfts && !*cables->site.neither.text) {
		code = cli_own_tables(&cables->site, source, &cables->made);
	} else {
		code = cli_site_net(&cables->site, source, &cables->made.net);
		if (!code && settings->lfts)
			code = cli_read_tables(settings->lfts, cables->made.net, &cables->made.lfts);
	}
	cables->has_tables = !code && cables->made.lfts;
	return code;
}

uint32_t *cli_count_lids(const struct fors_net *net, const struct fors_lfts *lfts)
{
	uint32_t *load = calloc(net->nports + (size_t)1, sizeof(*load));

	for (uint32_t i = 0; load && i < net->nports; i++) {
		const struct fors_port *host = &net->port[i];
		bool is_host = host->lid && host->peer != FORS_NONE && is_switch(net, host->peer) && host->guid &&
			       fors_is_host(net, fors_net_port(net, host->peer, host->peer_port)->peer);

		for (uint32_t lid = host->lid; is_host && lid < host->lid + (1u << host->lmc); lid++)
			for (uint32_t row = 0; row < lfts->nswitches; row++) {
				uint32_t node = fors_net_find_guid(net, lfts->guid[row]);
				uint8_t out = fors_lfts_port(lfts, row, lid);

				if (node != FORS_NONE && out && out <= net->node[node].nports)
					load[net->node[node].first_port + out]++;
			}
	}
	return load;
}

/* The plan that fors would make; NULL without an error: there is none. */
static enum fors_err make_plan(const struct cli_fabric *made, struct fors_schedule **schedule, struct fors_error *error)
{
	const struct fors_request request = {
		.task = {.fabric = made->fabric,
			 .lanes = made->lanes,
			 .progress = cli_progress,
			 .threads = cli_processors()},
		.net = made->net,
		.lfts = made->lfts,
	};
	enum fors_err err = fors_plan_proven(&request, schedule, NULL, error);

	cli_progress_end();
	return err == FORS_ENOMEM || err == FORS_ECANCELLED ? err : FORS_OK;
}

/* One of a file has to be right over the tables, else its flows do not go where it says. */
static int read_plan(const char *path, const struct cli_fabric *made, struct fors_schedule **schedule)
{
	struct fors_error error = {0};
	struct fors_verdict verdict;
	int code = cli_read_schedule(path, schedule);

	if (code)
		return code;
	if (!(*schedule)->nphases) {
		cli_error("%s: the schedule is withdrawn: %s", path, (*schedule)->reason);
		return CLI_BAD;
	}
	if (fors_verify_used(made->net, made->lfts, *schedule, cli_processors(), NULL, NULL, &verdict, NULL, &error))
		return cli_fail(&error);
	if (verdict.is_good)
		return CLI_GOOD;
	cli_error("%s does not fit the tables: %.400s", path, verdict.text);
	return CLI_BAD;
}

static int count_flows(const struct cli_settings *settings, struct cli_cables *cables, uint32_t *flows)
{
	const struct cli_fabric *made = &cables->made;
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {0};
	struct fors_pace pace;
	int code = CLI_GOOD;

	if (settings->schedule)
		code = read_plan(settings->schedule, made, &schedule);
	else if (made->fabric && made->fabric->nservers && make_plan(made, &schedule, &error))
		code = cli_fail(&error);
	if (!code && schedule && fors_pace_of(made->net, made->lfts, schedule, flows, &pace, &error))
		code = cli_fail(&error);
	cables->has_plan = !code && schedule;
	fors_schedule_free(schedule);
	return code;
}

static int load_cables(const struct cli_settings *settings, struct cli_cables *cables)
{
	const struct fors_net *net = cables->made.net;
	uint32_t *lids = cli_count_lids(net, cables->made.lfts),
		 *flows = calloc(net->nports + (size_t)1, sizeof(*flows));
	int code = CLI_BAD;

	if (lids && flows)
		code = count_flows(settings, cables, flows);
	else
		cli_error("out of memory");
	for (size_t i = 0; !code && i < cables->count; i++)
		for (int end = 0; end < 2; end++) {
			struct cli_cable *cable = &cables->cable[i];
			uint32_t port = net->node[cable->node[end]].first_port + cable->port[end];

			cable->lids[end] = lids[port];
			cable->flows[end] = flows[port];
		}
	free(flows);
	free(lids);
	return code;
}

/* --- together ----------------------------------------------------------------------------------------------------- */

uint64_t cli_cable_errors(const struct cli_cable *cable)
{
	uint64_t a = cable->errors[0], b = cable->errors[1];

	return a == FORS_COUNTER_UNKNOWN ? b : b == FORS_COUNTER_UNKNOWN ? a : a + b;
}

/* Unknown ones at the end; what is equal stays in its order, which the place in the row tells. */
static int worst_first(const void *a, const void *b)
{
	const struct cli_cable *x = a, *y = b;
	uint64_t p = cli_cable_errors(x) + 1, q = cli_cable_errors(y) + 1; /* unknown becomes 0 */

	if (p != q)
		return p < q ? 1 : -1;
	return x->node[0] != y->node[0] ? (x->node[0] > y->node[0]) - (x->node[0] < y->node[0])
					: x->port[0] - y->port[0];
}

int cli_cables_load(const struct cli_settings *settings, struct cli_cables *cables)
{
	int code;

	*cables = (struct cli_cables){.count = 0};
	if (settings->lfts && settings->source.has_lmc)
		return cli_usage_error("--lmc and --lfts exclude each other: LIDs are those of the tables");
	code = cli_any_site_load(&settings->source, &cables->site);
	if (!code)
		code = load_tables(settings, cables);
	if (!code && settings->schedule && !cables->has_tables)
		return cli_usage_error("over which tables is the schedule? --lfts FILE is missing");
	if (!code && settings->counters)
		code = cli_use_file(settings->counters, read_counters, cables);
	if (!code)
		code = list(cables);
	if (!code && cables->has_tables)
		code = load_cables(settings, cables);
	if (!code && cables->counters)
		qsort(cables->cable, cables->count, sizeof(*cables->cable), worst_first);
	return code;
}

void cli_cables_free(struct cli_cables *cables)
{
	free(cables->cable);
	free(cables->counters);
	cli_fabric_free(&cables->made);
	cli_site_free(&cables->site);
}

void cli_cable_end(const struct cli_cables *cables, const struct cli_cable *cable, int end, char *text, size_t room)
{
	const struct fors_net *net = cables->site.intact;
	const struct fors_node *node = &net->node[cable->node[end]];
	struct fors_error ambiguous;
	uint32_t found;
	unsigned port;

	snprintf(text, room, "%s[%u]", node->desc, cable->port[end]);
	if (strchr(text, ',') || fors_net_find(net, text, &found, &port, &ambiguous) || found != cable->node[end])
		snprintf(text, room, "0x%016" PRIx64 "[%u]", node->guid, cable->port[end]);
}
