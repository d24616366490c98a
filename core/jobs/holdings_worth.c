/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings_worth.c - is what a longer search has found worth its price?
 *
 * What it gains is time: of each job the phases that its entries allow, beyond one for each server. What it costs is an
 * epoch for each job that gets other lanes or entries, as in the search for owners; none for one that sends as before, whose plan
 * stays, whatever lanes it has beside that.
 */
#include "holdings.h"

#define ALL 1000	  /* the time of a job at full speed */
#define WITHOUT (3 * ALL) /* of one that wants entries and has none: what it gets otherwise is shared with all */

static uint64_t time_of(const struct fors_joblist *list, bool has_exclusive, const struct fors_holdings *holdings,
			uint32_t job)
{
	const struct fors_entries_task task = {.list = list, .has_exclusive = has_exclusive};

	if (!fors_entries_wanted(&task, job))
		return ALL;
	return holdings->bound[job] ? (uint64_t)ALL * holdings->bound[job] / list->job[job].count : WITHOUT;
}

uint64_t fors_holdings_lost(const struct fors_joblist *list, bool has_exclusive, const struct fors_holdings *holdings)
{
	uint64_t sum = 0;

	for (uint32_t j = 0; j < list->count; j++)
		sum += time_of(list, has_exclusive, holdings, j) - ALL;
	return sum;
}

static bool has_other_lanes(const struct fors_owners *then, const struct fors_owners *now, uint32_t job)
{
	for (size_t i = 0; i < (size_t)now->nleaves * now->nlanes; i++)
		if ((then->job[i] == job) != (now->job[i] == job))
			return true;
	return false;
}

/* Has a server other entries, at any leaf or spine? */
static bool has_other_entries(const struct fors_entries *then, const struct fors_entries *now, uint32_t d)
{
	for (uint32_t a = 0; a < now->nleaves; a++)
		if (then->up[(size_t)a * now->nservers + d] != now->up[(size_t)a * now->nservers + d])
			return true;
	for (uint32_t k = 0; k < now->nspines; k++)
		if (then->down[(size_t)k * now->nservers + d] != now->down[(size_t)k * now->nservers + d])
			return true;
	return false;
}

static bool has_moved(const struct fors_floors *floors, const struct fors_jobentry *entry,
		      const struct fors_holdings *then, const struct fors_holdings *now, uint32_t job)
{
	if (then->bound[job] && now->bound[job] && fors_holdings_same_ways(floors, entry, then, entry, now))
		return false;
	for (uint32_t f = 0; f < now->nfloors; f++) {
		if (has_other_lanes(&then->owners[f], &now->owners[f], job))
			return true;
		for (uint32_t i = 0; i < entry->count; i++)
			if (has_other_entries(&then->entries[f], &now->entries[f], entry->server[i]))
				return true;
	}
	return false;
}

bool fors_holdings_pay(const struct fors_floors *floors, const struct fors_joblist *list, bool has_exclusive,
		       const struct fors_holdings *then, const struct fors_holdings *now)
{
	uint64_t price = 0;

	for (uint32_t j = 0; j < list->count; j++)
		price += has_moved(floors, &list->job[j], then, now, j) ? FORS_EPOCH_COST : 0;
	return fors_holdings_lost(list, has_exclusive, now) + price < fors_holdings_lost(list, has_exclusive, then);
}
