/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of three levels: what fabric, tables and check are for two.
 *
 * Under OpenSM's lock tables are made with little effort (fors_route3_little_effort()), in about the time that minhop
 * takes. Rounds come with them; units without one are the worker's, who plans over the tables as they are.
 *
 * What is drained is as good as dead for tables and rounds, as at two levels. Held cables wait for the tables there,
 * too: a plan over them has no choice among path indices. Homes are never ranked afresh.
 */
#include "keeper_inside.h"

#include <stdlib.h>

#include "core/tables/check.h"
#include "keeper/look/absent.h"
#include "keeper/look/look_pods.h"

static const char *list_key(const struct fors_settings *settings)
{
	return settings->participants_file ? "participants_file" : "cn_guid_file";
}

/* --- what there is -------------------------------------------------------- */

static enum fors_err warn_of_absent(const struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	const struct fors_participants *there = &look->over->participants;

	return fors_absent_warn_of(fors_settings_participants(keeper->settings), list_key(keeper->settings),
				   there->guid, there->count, &look->warnings, error);
}

/* The tree as the draft has it, and what is drained in it. */
static enum fors_err be_pods(struct fors_keeper *keeper, struct fors_look *look, struct fors_warnings *warnings,
			     struct fors_error *error)
{
	const struct fors_settings *settings = keeper->settings;
	enum fors_err err = fors_look_be_pods(look, keeper->kept.draft, fors_settings_participants(settings), error);
	struct fors_pods *pods;

	if (err)
		return err;
	pods = look->pods->pods;
	err = fors_drain_look(&keeper->drain, settings, fors_pods_cabling(pods), look->kind == FORS_LOOK_ROUTED,
			      &pods->held_until_ms, error);
	return err ? err
		   : fors_drain_apply_pods(&keeper->drain, settings, pods, look->pods->plays, &look->slow, warnings,
					   error);
}

enum fors_err fors_keeper_understand_pods(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = be_pods(keeper, look, &look->warnings, error);

	if (err)
		return err;
	fors_drain_tell(&keeper->drain, &keeper->setup.log, fors_pods_cabling(look->pods->pods), &look->slow,
			&look->warnings);
	return warn_of_absent(keeper, look, error);
}

/* --- tables --------------------------------------------------------------- */

static const char *leaf_name(const struct fors_pods *pods, uint32_t leaf)
{
	const struct fors_node *node = &pods->now->node[pods->leaf[leaf].now];

	return *node->desc ? node->desc : node->id;
}

static bool has_player(const struct fors_look_pods *made, uint32_t leaf)
{
	const struct fors_pods_switch *here = &made->pods->leaf[leaf];

	for (uint32_t s = here->first; s < here->first + here->nslots; s++)
		if (made->plays[s])
			return true;
	return false;
}

/* Has leaf a no way to some server of leaf b that takes part? */
static bool is_cut(const struct fors_look *look, uint32_t row, uint32_t b)
{
	const struct fors_look_pods *made = look->pods;
	const struct fors_pods_switch *to = &made->pods->leaf[b];

	for (uint32_t s = to->first; s < to->first + to->nslots; s++)
		if (made->plays[s] && fors_lfts_port(look->lfts, row, made->pods->slot[s].lid) == FORS_NO_PATH)
			return true;
	return false;
}

/* Where cables lead up and down there is an entry, that is what the check sees to; so one that is missing tells. */
static enum fors_err check_connected(struct fors_look *look, struct fors_error *error)
{
	struct fors_look_pods *made = look->pods;
	uint32_t first[2] = {0, 0};

	made->cut_pairs = 0;
	for (uint32_t a = 0; a < made->pods->nleaves; a++) {
		uint32_t now = made->pods->leaf[a].now, row;

		if (now == FORS_NONE || !has_player(made, a))
			continue;
		row = fors_lfts_row(look->lfts, look->net->node[now].guid);
		for (uint32_t b = a + 1; b < made->pods->nleaves; b++)
			if (is_cut(look, row, b) && !made->cut_pairs++)
				first[0] = a, first[1] = b;
	}
	if (!made->cut_pairs)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPATH, "no way up and then down is left between leaf %s and leaf %s",
			 leaf_name(made->pods, first[0]), leaf_name(made->pods, first[1]));
}

static enum fors_err make_tables(struct fors_look *look, struct fors_error *error)
{
	const struct fors_pods *pods = look->pods->pods;
	enum fors_err err = fors_route3_make(pods, fors_route3_little_effort(pods), &look->pods->route, error);

	if (err)
		return err;
	fors_lfts_free(look->lfts);
	look->lfts = look->pods->route->lfts;
	return check_connected(look, error);
}

enum fors_err fors_keeper_fill_pods(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = make_tables(look, error);

	if (!err && fors_kept_forget(&keeper->kept)) {
		err = be_pods(keeper, look, NULL, error);
		if (!err)
			err = make_tables(look, error);
	}
	if (!err)
		fors_kept_accept(&keeper->kept);
	return err;
}

enum fors_err fors_keeper_check_pods(struct fors_look *look, struct fors_warnings *found, struct fors_error *error)
{
	const struct fors_pods *pods = look->pods->pods;
	uint8_t *level = fors_pods_levels_now(pods);
	struct fors_account account;
	enum fors_err err = level ? fors_tables_check_levels(look->net, level, look->lfts, found, NULL, error)
				  : fors_fail_memory(error);

	free(level);
	if (err)
		return err;
	account = fors_pods_account(pods, look->pods->plays);
	fors_account_warn(look->net, &account, found);
	return FORS_OK;
}

/* --- what became of them --------------------------------------------------- */

enum fors_err fors_keeper_end_pods(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_keeper_forget_strangers(look, error);

	if (err)
		return err;
	fors_kept_accept(&keeper->kept);
	fors_look_seal(look);
	return FORS_OK;
}

void fors_keeper_tell_pods(struct fors_keeper *keeper, const struct fors_look *look, double ms)
{
	const struct fors_pods *pods = look->pods->pods;

	fors_log_info(
		&keeper->setup.log,
		"tables of %u switches for %u servers, three levels (%u leaves, %u middle switches, %u tops) filled in "
		"%.3f ms",
		look->lfts->nswitches, look->pods->nplayers, pods->nleaves, pods->nmids, pods->ntops, ms);
}
