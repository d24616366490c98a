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
#include "engine_inside.h"

#include <stdlib.h>

#include "core/tables/check.h"
#include "keeper/look/absent.h"
#include "keeper/look/look_pods.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

static const char *list_key(const struct fors_settings *settings)
{
	return settings->participants_file ? "participants_file" : "cn_guid_file";
}

/* --- what there is -------------------------------------------------------- */

static enum fors_err warn_of_absent(const struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	const struct fors_participants *there = &job->over->participants;

	return fors_absent_warn_of(fors_settings_participants(engine->settings), list_key(engine->settings),
				   there->guid, there->count, &job->warnings, error);
}

/* The tree as the draft has it, and what is drained in it. */
static enum fors_err be_pods(struct fors_engine *engine, struct fors_look *job, struct fors_warnings *warnings,
			     struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	enum fors_err err = fors_look_be_pods(job, engine->kept.draft, fors_settings_participants(settings), error);
	struct fors_pods *pods;

	if (err)
		return err;
	pods = job->pods->pods;
	err = fors_drain_look(&engine->drain, settings, fors_pods_cabling(pods), job->kind == FORS_LOOK_ROUTED,
			      &pods->held_until_ms, error);
	return err ? err
		   : fors_drain_apply_pods(&engine->drain, settings, pods, job->pods->plays, &job->slow, warnings,
					   error);
}

enum fors_err fors_engine_understand_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = be_pods(engine, job, &job->warnings, error);

	if (err)
		return err;
	fors_drain_tell(&engine->drain, &engine->osm->log, fors_pods_cabling(job->pods->pods), &job->slow,
			&job->warnings);
	return warn_of_absent(engine, job, error);
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
static bool is_cut(const struct fors_look *job, uint32_t row, uint32_t b)
{
	const struct fors_look_pods *made = job->pods;
	const struct fors_pods_switch *to = &made->pods->leaf[b];

	for (uint32_t s = to->first; s < to->first + to->nslots; s++)
		if (made->plays[s] && fors_lfts_port(job->lfts, row, made->pods->slot[s].lid) == FORS_NO_PATH)
			return true;
	return false;
}

/* Where cables lead up and down there is an entry, that is what the check sees to; so one that is missing tells. */
static enum fors_err check_connected(struct fors_look *job, struct fors_error *error)
{
	struct fors_look_pods *made = job->pods;
	uint32_t first[2] = {0, 0};

	made->cut_pairs = 0;
	for (uint32_t a = 0; a < made->pods->nleaves; a++) {
		uint32_t now = made->pods->leaf[a].now, row;

		if (now == FORS_NONE || !has_player(made, a))
			continue;
		row = fors_lfts_row(job->lfts, job->net->node[now].guid);
		for (uint32_t b = a + 1; b < made->pods->nleaves; b++)
			if (is_cut(job, row, b) && !made->cut_pairs++)
				first[0] = a, first[1] = b;
	}
	if (!made->cut_pairs)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPATH, "no way up and then down is left between leaf %s and leaf %s",
			 leaf_name(made->pods, first[0]), leaf_name(made->pods, first[1]));
}

static enum fors_err make_tables(struct fors_look *job, struct fors_error *error)
{
	const struct fors_pods *pods = job->pods->pods;
	enum fors_err err = fors_route3_make(pods, fors_route3_little_effort(pods), &job->pods->route, error);

	if (err)
		return err;
	fors_lfts_free(job->lfts);
	job->lfts = job->pods->route->lfts;
	return check_connected(job, error);
}

enum fors_err fors_engine_fill_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = make_tables(job, error);

	if (!err && fors_kept_forget(&engine->kept)) {
		err = be_pods(engine, job, NULL, error);
		if (!err)
			err = make_tables(job, error);
	}
	if (!err)
		fors_kept_accept(&engine->kept);
	return err;
}

enum fors_err fors_engine_check_pods(struct fors_look *job, struct fors_warnings *found, struct fors_error *error)
{
	const struct fors_pods *pods = job->pods->pods;
	uint8_t *level = fors_pods_levels_now(pods);
	struct fors_account account;
	enum fors_err err = level ? fors_tables_check_levels(job->net, level, job->lfts, found, NULL, error)
				  : fors_fail_memory(error);

	free(level);
	if (err)
		return err;
	account = fors_pods_account(pods, job->pods->plays);
	fors_account_warn(job->net, &account, found);
	return FORS_OK;
}

/* --- what became of them --------------------------------------------------- */

enum fors_err fors_engine_end_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = fors_engine_forget_strangers(job, error);

	if (err)
		return err;
	fors_kept_accept(&engine->kept);
	fors_look_seal(job);
	return FORS_OK;
}

void fors_engine_tell_pods(struct fors_engine *engine, const struct fors_look *job, double ms)
{
	const struct fors_pods *pods = job->pods->pods;

	fors_log_info(
		&engine->osm->log,
		"tables of %u switches for %u servers, three levels (%u leaves, %u middle switches, %u tops) filled in "
		"%.3f ms",
		job->lfts->nswitches, job->pods->nplayers, pods->nleaves, pods->nmids, pods->ntops, ms);
}
