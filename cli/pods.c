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

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/fabric/pods.h"
#include "core/fabric/pods_account.h"
#include "core/planners/pods/route3.h"
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

static enum fors_err check(struct cli_pods *made, struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = fors_tables_check_levels(made->net, made->route->level, made->route->lfts, &made->warnings,
						     NULL, error);

	made->check_ms = cli_now_ms() - start;
	return err;
}

static enum fors_err list_players(const struct cli_site *site, struct cli_pods *made, struct fors_error *error)
{
	bool *plays = NULL;
	uint32_t count;
	enum fors_err err = fors_pods_players(made->pods, site->has_participants ? &site->participants : NULL, &plays,
					      &count, error);

	if (!err)
		err = fors_pods_list(made->pods, plays, count, &made->players, error);
	if (!err)
		made->account = fors_pods_account(made->pods, plays);
	free(plays);
	return err;
}

static enum fors_err make(const struct cli_site *site, const struct cli_source *source, struct cli_pods *made,
			  struct fors_error *error)
{
	enum fors_err err = fors_net_copy(site->intact, &made->known, error);
	double start;

	if (!err)
		err = fors_assign_lids(made->known, NULL, source->has_lmc ? source->lmc : 0, !source->has_lmc, error);
	if (!err)
		err = fors_net_copy(made->known, &made->net, error);
	for (size_t i = 0; !err && i < source->ndown; i++)
		err = fors_net_down(made->known, made->net, source->down[i], error);
	start = cli_now_ms();
	if (!err)
		err = fors_pods_build(made->known, made->net, NULL, 0, &made->pods, error);
	if (!err)
		err = fors_route3_make(made->pods, FORS_ROUTE3_EFFORT, &made->route, error);
	made->tables_ms = cli_now_ms() - start;
	if (!err)
		err = list_players(site, made, error);
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
	fors_route3_free(made->route);
	fors_pods_free(made->pods);
	fors_net_free(made->net);
	fors_net_free(made->known);
	*made = (struct cli_pods){0};
}
