/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan.h"

#include <stdlib.h>
#include <string.h>

#include "core/schedule/verify.h"

/* ---- may it stay? ---- */

/* Has it what it had, of the lanes of one kind at this leaf; and, if it asks for more, no more? */
static bool is_same_leaf(struct fors_jobview first, uint32_t then, struct fors_jobview second, uint32_t now,
			 uint32_t leaf, enum fors_jobplan_lanes whose, bool asks_for_more)
{
	for (uint32_t lane = 0; lane < first.owners->nlanes; lane++) {
		bool had = fors_jobplan_may_use(fors_owner(first.owners, leaf, lane), then, whose),
		     has = fors_jobplan_may_use(fors_owner(second.owners, leaf, lane), now, whose);

		if ((had && !has) || (asks_for_more && has && !had))
			return false;
	}
	return true;
}

bool fors_jobplan_may_stay(const struct fors_fabric *fabric, struct fors_jobview first, uint32_t then,
			   struct fors_jobview second, uint32_t now, enum fors_jobplan_lanes whose, bool is_best)
{
	const struct fors_jobentry *was = &first.list->job[then], *is = &second.list->job[now];
	bool asks_for_more = !is_best || (is->is_exclusive ? whose != FORS_OVER_OWN : whose == FORS_OVER_ALL);

	if (was->count != is->count || was->is_exclusive != is->is_exclusive || was->has_index != is->has_index ||
	    memcmp(was->server, is->server, is->count * sizeof(*is->server)) != 0)
		return false;
	for (uint32_t i = 0; i < is->count; i++) {
		uint32_t leaf = fabric->server[is->server[i]].leaf;

		if (i && leaf == fabric->server[is->server[i - 1]].leaf)
			continue;
		if (!is_same_leaf(first, then, second, now, leaf, FORS_OVER_OWN, asks_for_more) ||
		    (whose != FORS_OVER_OWN &&
		     !is_same_leaf(first, then, second, now, leaf, FORS_OVER_FREE, asks_for_more)))
			return false;
	}
	return true;
}

/* ---- which are right? ---- */

/* Cables that are in use now; false: one of them was before. */
static bool take_cables(bool *is_taken, const bool *is_used, uint32_t nports)
{
	for (uint32_t port = 0; port < nports; port++)
		if (is_used[port] && is_taken[port])
			return false;
	for (uint32_t port = 0; port < nports; port++)
		is_taken[port] |= is_used[port];
	return true;
}

enum fors_err fors_jobplans_right(const struct fors_net *net, const struct fors_lfts *lfts,
				  const struct fors_jobkept *kept, uint32_t count, bool (*cancelled)(void *context),
				  void *context, bool *is_right, struct fors_error *error)
{
	bool *is_taken = calloc(2 * (size_t)net->nports + 1, sizeof(*is_taken)), *is_used = is_taken + net->nports;
	enum fors_err err = is_taken ? FORS_OK : fors_fail_memory(error);

	for (uint32_t j = 0; j < count && !err; j++) {
		struct fors_verdict verdict = {.is_good = false};

		memset(is_used, 0, net->nports * sizeof(*is_used));
		if (kept[j].plan && kept[j].plan->nphases)
			err = fors_verify_used(net, lfts, kept[j].plan, 0, cancelled, context, &verdict, is_used,
					       error);
		is_right[j] = verdict.is_good &&
			      (kept[j].whose != FORS_OVER_OWN || take_cables(is_taken, is_used, net->nports));
	}
	free(is_taken);
	return err;
}

void fors_jobplans_clear(struct fors_jobplans *plans)
{
	for (uint32_t j = 0; j < plans->count; j++)
		fors_schedule_free(plans->job[j].plan);
	free(plans->job);
	*plans = (struct fors_jobplans){0};
}

const char *fors_jobplan_over(enum fors_jobplan_lanes whose)
{
	static const char *const name[] = {"own", "free", "all"};

	return name[whose];
}

enum fors_err fors_jobplan_ends(const struct fors_jobplan *made, enum fors_err err, struct fors_error *error)
{
	return err == FORS_ENOMEM || err == FORS_ECANCELLED ? fors_fail(error, err, "%s", made->error.text) : FORS_OK;
}
