/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain.c - `fors watch --once --explain`: is a schedule worth it here?
 *
 * Three numbers of the same exchange, each as a part of full speed: the linear shift over the tables as they are, which is
 * what applications do without a schedule; the plan over these tables; and the plan over the tables that fors would write
 * as the routing engine, for what is alive now. With one LID for each server a fourth: the plan over tables with two
 * (explain_lids.c). It is an estimate: no one knows what the manager would write.
 */
#include "explain.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "lab/whatif/whatif.h"
#include "core/base/text.h"
#include "core/fabric/lids.h"

struct explained {
	struct whatif whatif; /* the site, for its functions */
	struct cli_source source;
	struct cli_fabric now;			  /* fabric and lanes where it is a two-level fat-tree */
	bool is_two, is_tree;			  /* two levels; two or three */
	struct whatif_result today, engine, more; /* more: with two LIDs for each server */
};

/* ---- loading ---------------------------------------------------------------------------------------------------- */

static int load(struct explained *explained, const char *lfts)
{
	struct cli_site *site = &explained->whatif.site;
	int code = cli_any_site_load(&explained->source, site);

	if (!code)
		code = cli_site_net(site, &explained->source, &explained->now.net);
	if (!code)
		code = cli_read_tables(lfts, explained->now.net, &explained->now.lfts);
	if (!code)
		code = cli_fabric_understand(site, &explained->now);
	explained->is_two = !code && cli_site_is_two_level(site);
	explained->is_tree = !code && site->places && !*site->neither.text;
	return code;
}

static enum fors_err list_servers(const struct explained *explained, struct fors_endpoint **server, uint32_t *count,
				  struct fors_error *error)
{
	if (explained->now.fabric)
		return cli_fabric_endpoints(explained->now.fabric, server, count, error);
	return fors_endpoints(explained->now.net, NULL, server, count, error);
}

/* ---- the numbers ------------------------------------------------------------------------------------------------ */

static enum fors_err look_at_today(struct explained *explained, struct fors_error *error)
{
	const struct cli_fabric *now = &explained->now;
	struct fors_endpoint *server = NULL;
	uint32_t count = 0;
	enum fors_err err = list_servers(explained, &server, &count, error);

	if (!err && count)
		err = whatif_shift(&explained->whatif, NULL, now->net, now->lfts, server, count, &explained->today,
				   error);
	if (!err)
		err = whatif_plan_over(&explained->whatif, now->net, now->lfts, NULL, &explained->today, NULL, error);
	free(server);
	return err;
}

/* Tables and plan of fors for what is alive, with the LIDs that there are. Returns an exit code. */
static int look_at_engine(struct explained *explained)
{
	struct cli_fabric made = {0};
	struct fors_error error = {0};
	int code;

	if (!explained->is_tree)
		return CLI_GOOD;
	code = cli_fabric_make(&explained->whatif.site, false, 0, NULL, 0, &made);
	if (!code && (explained->is_two ? whatif_plan(&explained->whatif, &made, NULL, &explained->engine, &error)
					: whatif_plan_over(&explained->whatif, made.net, made.lfts, made.rounds,
							   &explained->engine, NULL, &error)))
		code = cli_fail(&error);
	cli_fabric_free(&made);
	return code;
}

static bool has_one_lid(const struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++)
		if (net->port[i].lid && net->port[i].lmc)
			return false;
	return true;
}

static enum fors_err look_at_more(struct explained *explained, struct fors_error *error)
{
	struct fors_net *net = NULL;
	struct fors_lfts *lfts = NULL;
	enum fors_err err;

	if (!has_one_lid(explained->now.net))
		return FORS_OK;
	err = fors_net_copy(explained->now.net, &net, error);
	if (!err)
		err = fors_assign_lids(net, NULL, 1, false, error);
	if (!err)
		err = cli_turned_tables(explained->now.net, explained->now.lfts, net, &lfts, error);
	if (!err)
		err = whatif_plan_over(&explained->whatif, net, lfts, NULL, &explained->more, NULL, error);
	fors_lfts_free(lfts);
	fors_net_free(net);
	return err;
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

static void tell_plan(const char *label, const struct whatif_result *result, const char *what)
{
	if (result->phases)
		printf("%-12s%5.1f %% of full speed, %u %s: %s\n", label, 100 * result->planned, result->phases,
		       fors_plural(result->phases, "phase", "phases"), what);
	else
		printf("%-12snone: %s%s%s\n", label, what, result->note[0] ? ": " : "", result->note);
}

static void tell(const struct explained *explained)
{
	const struct whatif_result *today = &explained->today;

	if (today->broken)
		printf("%-12snot all servers reach each other over these tables\n", "today");
	else
		printf("%-12s%5.1f %% of full speed: a linear shift over these tables, without a schedule; the fullest link carries %u %s at a time\n",
		       "today", 100 * today->shift, today->max_load, fors_plural(today->max_load, "flow", "flows"));
	tell_plan("scheduled", today, "a schedule of fors over these tables as they are");
	if (explained->is_tree)
		tell_plan("as engine", &explained->engine,
			  "tables and schedule of fors, if it routed what is alive now");
	else
		printf("%-12snone: fors routes fat-trees of two or three levels\n", "as engine");
	if (explained->more.phases && explained->more.phases < today->phases)
		printf("%-12sabout %.1f %%, %u %s: an estimate, with two LIDs for each server over ways like these; only who owns the subnet manager can change that\n",
		       "LMC 1", 100 * explained->more.planned, explained->more.phases,
		       fors_plural(explained->more.phases, "phase", "phases"));
}

int cli_explain(const char *net, const char *lfts)
{
	struct explained explained = {.source = {.fabric = net}};
	struct fors_error error = {0};
	int code = load(&explained, lfts);

	if (!code && (look_at_today(&explained, &error) || look_at_more(&explained, &error)))
		code = cli_fail(&error);
	if (!code)
		code = look_at_engine(&explained);
	if (!code)
		tell(&explained);
	cli_fabric_free(&explained.now);
	cli_site_free(&explained.whatif.site);
	return code;
}
