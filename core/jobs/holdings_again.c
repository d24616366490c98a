/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* holdings_again.c - lanes and entries of jobs that run, on what has become of the tree. */
#include <stdlib.h>
#include <string.h>

#include "holdings.h"
#include "running.h"

static enum fors_err alloc(uint32_t count, struct fors_holdings *made, struct fors_error *error)
{
	*made = (struct fors_holdings){.nfloors = count,
				       .owners = calloc(count + (size_t)1, sizeof(*made->owners)),
				       .entries = calloc(count + (size_t)1, sizeof(*made->entries))};
	return made->owners && made->entries ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_holdings_entries_again(const struct fors_floors *then, const struct fors_holdings *holdings,
					  const struct fors_floors *now, struct fors_holdings *again,
					  struct fors_error *error)
{
	struct fors_holdings made;
	bool is_alike = then->count == now->count && holdings->nfloors == now->count;
	enum fors_err err = alloc(now->count, &made, error);

	for (uint32_t f = 0; !err && is_alike && f < now->count; f++) {
		err = fors_entries_again(then->floor[f], &holdings->entries[f], now->floor[f], &made.entries[f], error);
		is_alike = made.entries[f].up || !holdings->entries[f].up;
	}
	*again = (struct fors_holdings){0};
	if (err || !is_alike)
		fors_holdings_clear(&made);
	else
		*again = made;
	return err;
}

/* Whose the lanes of a floor were; *is_alike: it has the same leaves and lanes. */
static enum fors_err carry(const struct fors_fabric *then, const struct fors_owners *owners,
			   const struct fors_fabric *now, const uint32_t *was_of, uint32_t count,
			   struct fors_owners *owned, bool *is_alike, struct fors_error *error)
{
	enum fors_err err = fors_owners_carried(then, owners, now, was_of, count, &owned->job, error);

	*owned = (struct fors_owners){now->nleaves, now->nlanes, owned->job};
	*is_alike = owned->job;
	return err;
}

enum fors_err fors_holdings_again(const struct fors_floors *then, const struct fors_holdings *holdings,
				  const struct fors_floors *now, const uint32_t *was_of, uint32_t count,
				  struct fors_holdings *before, struct fors_error *error)
{
	struct fors_holdings made;
	enum fors_err err = fors_holdings_entries_again(then, holdings, now, &made, error);
	bool is_alike = true;

	*before = (struct fors_holdings){0};
	if (err)
		return err;
	for (uint32_t f = 0; !err && is_alike && f < made.nfloors; f++)
		err = carry(then->floor[f], &holdings->owners[f], now->floor[f], was_of, count, &made.owners[f],
			    &is_alike, error);
	if (err || !is_alike)
		fors_holdings_clear(&made);
	else
		*before = made;
	return err;
}

/* ---- the same ways ---- */

/* Does each leaf of a floor send to the server up the same lane, and come down by the same? */
static bool is_same_server(const struct fors_fabric *f, const struct fors_entries *then, const struct fors_entries *now,
			   uint32_t d)
{
	for (uint32_t a = 0; a < f->nleaves; a++) {
		uint32_t up = now->up[(size_t)a * f->nservers + d];
		size_t down = up == FORS_NO_LANE ? 0 : (size_t)f->lane[up].spine * f->nservers + d;

		if (up != then->up[(size_t)a * f->nservers + d] ||
		    (up != FORS_NO_LANE && then->down[down] != now->down[down]))
			return false;
	}
	return true;
}

bool fors_holdings_same_ways(const struct fors_floors *floors, const struct fors_jobentry *was,
			     const struct fors_holdings *then, const struct fors_jobentry *is,
			     const struct fors_holdings *now)
{
	bool is_same = then->nfloors == floors->count && now->nfloors == floors->count && was->count == is->count &&
		       was->nleaves == is->nleaves && is->nleaves > 1 &&
		       !memcmp(was->server, is->server, is->count * sizeof(*is->server));

	for (uint32_t f = 0; is_same && f < floors->count; f++)
		is_same = then->entries[f].up && now->entries[f].up;
	for (uint32_t f = 0; is_same && f < floors->count; f++)
		for (uint32_t i = 0; is_same && i < is->count; i++)
			is_same = is_same_server(floors->floor[f], &then->entries[f], &now->entries[f], is->server[i]);
	return is_same;
}

/* ---- lanes without entries ---- */

static bool has_entries(const struct fors_holdings *holdings, const struct fors_jobentry *job)
{
	const struct fors_entries *first = holdings->entries;

	for (uint32_t i = 0; first->up && i < job->count; i++)
		for (uint32_t a = 0; a < first->nleaves; a++)
			if (first->up[(size_t)a * first->nservers + job->server[i]] != FORS_NO_LANE)
				return true;
	return false;
}

/* The lanes of a floor that entries go over, in is_used[leaf * nlanes + lane]. */
static void mark_used(const struct fors_fabric *f, const struct fors_entries *entries, bool *is_used)
{
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++) {
			uint32_t up = entries->up[(size_t)a * f->nservers + d], down;

			if (up == FORS_NO_LANE)
				continue;
			is_used[(size_t)a * f->nlanes + up] = true;
			down = entries->down[(size_t)f->lane[up].spine * f->nservers + d];
			if (down != FORS_NO_LANE)
				is_used[(size_t)f->server[d].leaf * f->nlanes + down] = true;
		}
}

static enum fors_err narrow_floor(const struct fors_fabric *f, const bool *is_narrow,
				  const struct fors_entries *entries, struct fors_owners *owners,
				  struct fors_error *error)
{
	size_t n = (size_t)f->nleaves * f->nlanes;
	bool *is_used = calloc(n + 1, sizeof(*is_used));

	if (!is_used)
		return fors_fail_memory(error);
	mark_used(f, entries, is_used);
	for (size_t i = 0; i < n; i++)
		if (owners->job[i] != FORS_NO_JOB && is_narrow[owners->job[i]] && !is_used[i])
			owners->job[i] = FORS_NO_JOB;
	free(is_used);
	return FORS_OK;
}

enum fors_err fors_holdings_narrow(const struct fors_floors *floors, const struct fors_joblist *list,
				   struct fors_holdings *holdings, struct fors_error *error)
{
	bool *is_narrow = calloc(list->count + (size_t)1, sizeof(*is_narrow));
	enum fors_err err = is_narrow ? FORS_OK : fors_fail_memory(error);

	for (uint32_t j = 0; !err && holdings->nfloors && j < list->count; j++)
		is_narrow[j] = has_entries(holdings, &list->job[j]);
	for (uint32_t f = 0; !err && f < holdings->nfloors; f++)
		err = narrow_floor(floors->floor[f], is_narrow, &holdings->entries[f], &holdings->owners[f], error);
	free(is_narrow);
	return err;
}
