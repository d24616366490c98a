/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_worth.c - is what a longer search has found worth its price?
 *
 * What it gains is time: of each job the phases that its entries allow, beyond one for each server. What it costs is an
 * epoch for each job that gets other lanes or entries, as in the search for owners.
 */
#include "entries.h"

#define ALL 1000	  /* the time of a job at full speed */
#define WITHOUT (3 * ALL) /* of one that wants entries and has none: what it gets otherwise is shared with all */

static uint64_t time_of(const struct fors_entries_task *task, const struct fors_entries *entries, uint32_t job)
{
	if (!fors_entries_wanted(task, job))
		return ALL;
	return entries->bound[job] ? (uint64_t)ALL * entries->bound[job] / task->list->job[job].count : WITHOUT;
}

uint64_t fors_entries_lost(const struct fors_entries_task *task, const struct fors_entries *entries)
{
	uint64_t sum = 0;

	for (uint32_t j = 0; j < task->list->count; j++)
		sum += time_of(task, entries, j) - ALL;
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

static bool has_moved(const struct fors_joblist *list, const struct fors_entered *then, const struct fors_entered *now,
		      uint32_t job)
{
	if (has_other_lanes(then->owners, now->owners, job))
		return true;
	for (uint32_t i = 0; i < list->job[job].count; i++)
		if (has_other_entries(then->entries, now->entries, list->job[job].server[i]))
			return true;
	return false;
}

bool fors_entries_pay(const struct fors_entries_task *task, const struct fors_entered *then,
		      const struct fors_entered *now)
{
	uint64_t price = 0;

	for (uint32_t j = 0; j < task->list->count; j++)
		price += has_moved(task->list, then, now, j) ? FORS_EPOCH_COST : 0;
	return fors_entries_lost(task, now->entries) + price < fors_entries_lost(task, then->entries);
}
