/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods.c - from a site to a three-level fat-tree with tables.
 *
 * A three-level tree has two sides, too: its middle switches on the one, leaves and tops on the other. So what is
 * understood as a two-level tree whose leaves all have a spine in common is one, and only then three levels are asked
 * for; all leaves, since participants may all be in one pod. As at two levels the intact net says what has a place.
 */
#include "cli/cli.h"
#include "cli/clock.h"

#include <stdlib.h>

#include "core/fabric/bare.h"
#include "core/fabric/drained.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/fabric/pods.h"
#include "core/fabric/pods_account.h"
#include "core/planners/pods/route3.h"
#include "core/planners/slow.h"
#include "core/tables/check.h"

int cli_site_is_two_level(const struct cli_site *site, bool *answer)
{
	struct cli_fabric intact;
	int code;

	*answer = false;
	if (!site->places)
		return CLI_GOOD;
	code = cli_fabric_whole(site, &intact);
	*answer = !code && !intact.fabric->unreachable_pairs;
	cli_fabric_free(&intact);
	return code;
}

/* Why it is a tree neither of two levels nor of three. */
static int fail_both(const struct cli_site *site, const struct fors_error *three)
{
	struct fors_places *places = fors_places_new();
	struct fors_error two = {0};

	if (places && fors_places_learn(places, site->intact, NULL, 0, &two))
		cli_error("%s; %s", two.text, three->text);
	else
		cli_error("out of memory");
	fors_places_free(places);
	return CLI_BAD;
}

int cli_site_has_pods(const struct cli_site *site, bool *answer, struct fors_error *why)
{
	struct fors_error error = {0};
	struct fors_pods *pods = NULL;
	bool is_two;
	int code = cli_site_is_two_level(site, &is_two);

	*answer = false;
	if (code || is_two)
		return code;
	*answer = !fors_pods_build(site->intact, site->intact, NULL, 0, &pods, &error);
	fors_pods_free(pods);
	if (!*answer && !site->places)
		return fail_both(site, &error);
	if (!*answer && why)
		*why = error;
	return CLI_GOOD;
}

/* It is no tree of three levels, and not one of two in which all leaves have a spine in common: what it is not. */
static int fail_neither(const struct cli_site *site, const struct fors_error *not_three)
{
	const struct cli_site whole = {.intact = site->intact, .places = site->places};
	struct fors_error error = {0};
	struct cli_fabric intact;
	int code = cli_fabric_make(&whole, false, 0, NULL, 0, &intact);

	if (!code) {
		fors_fabric_connected(intact.fabric, &error);
		cli_error("%s; %s", error.text, not_three->text);
		code = CLI_BAD;
	}
	cli_fabric_free(&intact);
	return code;
}

int cli_own_tables(const struct cli_site *site, const struct cli_source *source, struct cli_fabric *made)
{
	struct fors_error not_three = {0};
	struct cli_pods pods = {0};
	bool has_pods = false;
	int code = cli_site_has_pods(site, &has_pods, &not_three);

	*made = (struct cli_fabric){0};
	if (code)
		return code;
	if (!has_pods && *not_three.text)
		return fail_neither(site, &not_three);
	if (!has_pods)
		return cli_fabric_make(site, source->has_lmc, source->lmc, source->down, source->ndown, made);
	code = cli_pods_make(site, source, &pods);
	if (!code) {
		made->net = pods.net;
		made->lfts = pods.route->lfts;
		made->tables_ms = pods.tables_ms + pods.check_ms;
		made->check_ms = pods.check_ms;
		made->warnings = pods.warnings;
		pods.net = NULL;
		pods.route->lfts = NULL;
	}
	cli_pods_free(&pods);
	return code;
}

static enum fors_err check(struct cli_pods *made, struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = fors_tables_check_levels(made->net, made->route->level, made->route->lfts, &made->warnings,
						     NULL, error);

	made->check_ms = cli_now_ms() - start;
	if (!err)
		fors_bare_warn(made->known, &made->warnings);
	return err;
}

static enum fors_err list_players(const struct cli_site *site, struct cli_pods *made, struct fors_error *error)
{
	uint32_t count;
	enum fors_err err = fors_pods_players(made->pods, site->has_participants ? &site->participants : NULL,
					      &made->plays, &count, error);

	if (!err)
		err = fors_pods_list(made->pods, made->plays, count, &made->players, error);
	if (err)
		return err;
	made->account = fors_pods_account(made->pods, made->plays);
	fors_account_warn(made->net, &made->account, &made->warnings);
	return FORS_OK;
}

static enum fors_err drain(const struct cli_site *site, struct cli_pods *made, struct fors_error *error)
{
	bool any;
	enum fors_err err = fors_slow_mark_pods(made->pods, made->plays, site->degraded, &made->slow, error);

	return err ? err : fors_drained_take_out(fors_pods_cabling(made->pods), &any, &made->warnings, error);
}

enum fors_err cli_pods_route(const struct cli_site *site, const struct fors_net *known, struct cli_pods *made,
			     struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = fors_pods_build(known, made->net, NULL, 0, &made->pods, error);

	if (!err)
		err = list_players(site, made, error);
	if (!err)
		err = drain(site, made, error);
	if (!err)
		err = fors_route3_make(made->pods, FORS_ROUTE3_EFFORT, &made->route, error);
	made->tables_ms = cli_now_ms() - start;
	return err;
}

static enum fors_err make(const struct cli_site *site, const struct cli_source *source, struct cli_pods *made,
			  struct fors_error *error)
{
	enum fors_err err = fors_net_copy(site->intact, &made->known, error);

	if (!err)
		err = fors_assign_lids(made->known, NULL, source->has_lmc ? source->lmc : 0, !source->has_lmc, error);
	if (!err)
		err = fors_net_copy(made->known, &made->net, error);
	for (size_t i = 0; !err && i < source->ndown; i++)
		err = fors_net_down(made->known, made->net, source->down[i], error);
	if (!err)
		err = cli_pods_route(site, made->known, made, error);
	return err ? err : check(made, error);
}

int cli_pods_make(const struct cli_site *site, const struct cli_source *source, struct cli_pods *made)
{
	struct fors_error error = {0};

	*made = (struct cli_pods){0};
	return make(site, source, made, &error) ? cli_fail(&error) : CLI_GOOD;
}

void cli_pods_free(struct cli_pods *made)
{
	free(made->players.guid);
	free(made->plays);
	fors_route3_free(made->route);
	fors_pods_free(made->pods);
	fors_net_free(made->net);
	fors_net_free(made->known);
	*made = (struct cli_pods){0};
}
