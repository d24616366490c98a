/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "owners_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- parties ---- */

/* The owner that the job is: itself, or the one for all that share. */
static uint32_t owner_of(const struct fors_joblist *list, uint32_t job)
{
	return list->job[job].is_exclusive ? job : list->count;
}

/* servers[leaf * nowners + owner], of jobs that need cables. */
static void count_servers(const struct search *s, uint32_t *servers)
{
	const struct fors_joblist *list = s->task->list;

	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; list->job[j].nleaves > 1 && i < list->job[j].count; i++) {
			uint32_t leaf = s->task->fabric->server[list->job[j].server[i]].leaf;

			servers[(size_t)leaf * s->nowners + owner_of(list, j)]++;
		}
}

/* Turns the numbers of servers in party_at into parties. */
static void name_parties(struct search *s)
{
	for (uint32_t o = 0; o < s->nowners; o++) {
		struct owner *owner = &s->owner[o];

		owner->first = s->nparties;
		for (uint32_t a = 0; a < s->task->fabric->nleaves; a++) {
			uint32_t *at = &s->party_at[(size_t)a * s->nowners + o], n = *at;

			*at = n ? s->nparties : FORS_NONE;
			if (n)
				s->party[s->nparties++] = (struct party){.owner = o, .leaf = a, .n = n};
			owner->nservers += n;
		}
		owner->count = s->nparties - owner->first;
	}
}

static void find_shared(struct search *s)
{
	for (uint32_t a = 0; a < s->task->fabric->nleaves; a++) {
		uint32_t n = 0;

		for (uint32_t o = 0; o < s->nowners; o++)
			n += s->party_at[(size_t)a * s->nowners + o] != FORS_NONE;
		if (n > 1)
			s->shared_leaf[s->nshared++] = a;
	}
}

/* ---- memory ---- */

static bool alloc(struct search *s)
{
	const struct fors_fabric *fabric = s->task->fabric;
	size_t grid = (size_t)fabric->nleaves * s->nlanes + 1;

	s->owner = calloc(s->nowners, sizeof(*s->owner));
	s->party = calloc(fabric->nservers + (size_t)1, sizeof(*s->party));
	s->party_at = calloc((size_t)fabric->nleaves * s->nowners + 1, sizeof(*s->party_at));
	s->shared_leaf = calloc(fabric->nleaves + (size_t)1, sizeof(*s->shared_leaf));
	s->at = malloc(grid * sizeof(*s->at));
	s->best = malloc(grid * sizeof(*s->best));
	s->level = calloc(s->nlanes + (size_t)1, sizeof(*s->level));
	s->lane = calloc(s->nlanes + (size_t)1, sizeof(*s->lane));
	return s->owner && s->party && s->party_at && s->shared_leaf && s->at && s->best && s->level && s->lane;
}

/* Loads and shares, once it is known who has how many parties. */
static bool alloc_water(struct search *s)
{
	size_t words = 0;

	for (uint32_t o = 0; o < s->nowners; o++)
		words += owner_words(s, &s->owner[o]);
	s->water = calloc(words + 1, sizeof(*s->water));
	s->saved = calloc(words + 1, sizeof(*s->saved));
	if (!s->water || !s->saved)
		return false;
	words = 0;
	for (uint32_t o = 0; o < s->nowners; o++) {
		struct owner *owner = &s->owner[o];

		owner->load = s->water + words;
		owner->share = owner->load + (size_t)owner->count * s->nlanes;
		words += owner_words(s, owner);
	}
	return true;
}

static void release(struct search *s)
{
	free(s->owner);
	free(s->party);
	free(s->party_at);
	free(s->shared_leaf);
	free(s->at);
	free(s->level);
	free(s->lane);
	free(s->water);
	free(s->saved);
}

/* ---- the whole ---- */

static bool run(struct search *s)
{
	bool *is_served = calloc(s->nowners, sizeof(*is_served));

	if (!is_served || !alloc(s)) {
		free(is_served);
		return false;
	}
	count_servers(s, s->party_at);
	name_parties(s);
	find_shared(s);
	for (size_t i = 0; i < (size_t)s->task->fabric->nleaves * s->nlanes; i++)
		s->at[i] = FORS_NO_JOB;
	fors_owners_start(s, is_served);
	free(is_served);
	if (!alloc_water(s))
		return false;
	fors_owners_improve(s);
	return true;
}

enum fors_err fors_owners_find(const struct fors_owners_task *task, struct fors_owners *owners,
			       struct fors_error *error)
{
	struct search s = {.task = task, .nowners = task->list->count + 1, .nlanes = task->fabric->nlanes};
	bool is_good;

	s.nwords = (s.nlanes + 63) / 64;
	is_good = run(&s);

	release(&s);
	if (!is_good) {
		free(s.best);
		return fors_fail_memory(error);
	}
	for (size_t i = 0; i < (size_t)task->fabric->nleaves * s.nlanes; i++)
		if (s.best[i] == task->list->count)
			s.best[i] = FORS_NO_JOB;
	*owners = (struct fors_owners){task->fabric->nleaves, s.nlanes, s.best};
	return FORS_OK;
}

void fors_owners_clear(struct fors_owners *owners)
{
	free(owners->job);
	*owners = (struct fors_owners){0};
}
