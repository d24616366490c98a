/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trespass.h"

#include <stdio.h>
#include <stdlib.h>

struct walk {
	const struct fors_fabric *fabric;
	const struct fors_lfts *lfts;
	const struct fors_joblist *list;
	const struct fors_owners *owners;
	uint32_t *leaf_row, *spine_row; /* rows of the tables, FORS_NONE */
	uint32_t *seen;			/* per job: one more than the intruder that was noted last */
	struct fors_trespass *job;
};

static bool alloc(struct walk *w)
{
	const struct fors_fabric *f = w->fabric;

	w->leaf_row = malloc((f->nleaves + (size_t)1) * sizeof(*w->leaf_row));
	w->spine_row = malloc((f->nspines + (size_t)1) * sizeof(*w->spine_row));
	w->seen = calloc(w->list->count + (size_t)1, sizeof(*w->seen));
	w->job = calloc(w->list->count + (size_t)1, sizeof(*w->job));
	if (!w->leaf_row || !w->spine_row || !w->seen || !w->job)
		return false;
	for (uint32_t a = 0; a < f->nleaves; a++)
		w->leaf_row[a] = fors_lfts_row(w->lfts, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nspines; k++)
		w->spine_row[k] = fors_lfts_row(w->lfts, f->spine[k].guid);
	return true;
}

static uint8_t port_of(const struct walk *w, uint32_t row, uint32_t lid)
{
	return row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(w->lfts, row, lid);
}

static void note(struct walk *w, uint32_t intruder, uint32_t leaf, uint32_t lane)
{
	uint32_t owner = fors_owner(w->owners, leaf, lane);
	struct fors_trespass *job;

	if (owner == FORS_NO_JOB || owner == intruder || w->seen[owner] == intruder + 1)
		return;
	w->seen[owner] = intruder + 1;
	job = &w->job[owner];
	if (job->count < FORS_TRESPASS_NAMED)
		job->first[job->count] = intruder;
	job->count++;
}

/* What leaves `leaf` for the base LID of a server below another. A detour (tables.c) is seen as far as it goes up. */
static void walk_way(struct walk *w, uint32_t intruder, uint32_t leaf, const struct fors_server *to)
{
	uint32_t lane = fors_lane_at(w->fabric, leaf, FORS_NONE, port_of(w, w->leaf_row[leaf], to->lid)), spine;

	if (lane == FORS_NONE)
		return;
	note(w, intruder, leaf, lane);
	spine = w->fabric->lane[lane].spine;
	lane = fors_lane_at(w->fabric, to->leaf, spine, port_of(w, w->spine_row[spine], to->lid));
	if (lane != FORS_NONE)
		note(w, intruder, to->leaf, lane);
}

static void walk_job(struct walk *w, uint32_t number)
{
	const struct fors_jobentry *job = &w->list->job[number];
	const struct fors_server *server = w->fabric->server;

	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t leaf = server[job->server[i]].leaf;

		if (i && leaf == server[job->server[i - 1]].leaf)
			continue; /* servers stand in the order of leaves */
		for (uint32_t d = 0; d < job->count; d++)
			if (server[job->server[d]].leaf != leaf)
				walk_way(w, number, leaf, &server[job->server[d]]);
	}
}

enum fors_err fors_trespass_find(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				 const struct fors_joblist *list, const struct fors_owners *owners,
				 struct fors_trespass **jobs, struct fors_error *error)
{
	struct walk w = {.fabric = fabric, .lfts = lfts, .list = list, .owners = owners};
	bool is_good = alloc(&w);

	for (uint32_t j = 0; is_good && j < list->count; j++)
		if (!list->job[j].is_exclusive)
			walk_job(&w, j);
	free(w.leaf_row);
	free(w.spine_row);
	free(w.seen);
	if (!is_good) {
		free(w.job);
		return fors_fail_memory(error);
	}
	*jobs = w.job;
	return FORS_OK;
}

void fors_trespass_tell(const struct fors_joblist *list, const struct fors_trespass *job, char *text, size_t size)
{
	uint32_t named = job->count < FORS_TRESPASS_NAMED ? job->count : FORS_TRESPASS_NAMED;
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < named && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 list->job[job->first[i]].name);
	if (named < job->count && used < size)
		snprintf(text + used, size - used, " and %u more", job->count - named);
}
