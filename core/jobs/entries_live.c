/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_live.c - entries that were chosen a while ago, on what has become of the fabric, and of the tables.
 *
 * An entry is right as long as both its cables carry traffic between servers. Where one does not any more the entry is
 * dropped, up and down each for itself: then the tables keep there what they have without it, which is the repair that
 * they make at once after a failure. Mixed like that every way is still one up and one down over living cables: a leaf
 * without an entry goes up where it would anyway, and the spine there goes down over the job's cable, or its own.
 *
 * Who has all its entries is not remembered but read off the tables: what is planned over them is planned over what
 * they really say.
 */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

/* Does the spine's cable to the server's leaf, in the numbers of the entries, carry traffic? */
static bool goes_down(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t spine, uint32_t d)
{
	uint32_t lane = entries->down[(size_t)spine * entries->nservers + d];

	return lane < fabric->nlanes && fabric->lane[lane].spine == spine &&
	       fors_live(fabric, fabric->server[d].leaf, lane);
}

/* A way up, and down again, to a server of another leaf? */
static bool goes_up(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t leaf, uint32_t d)
{
	uint32_t lane = entries->up[(size_t)leaf * entries->nservers + d];

	return lane < fabric->nlanes && leaf != fabric->server[d].leaf && fors_live(fabric, leaf, lane) &&
	       goes_down(fabric, entries, fabric->lane[lane].spine, d);
}

void fors_entries_prune(const struct fors_fabric *fabric, struct fors_entries *entries)
{
	for (uint32_t spine = 0; spine < entries->nspines; spine++)
		for (uint32_t d = 0; d < entries->nservers; d++)
			if (!goes_down(fabric, entries, spine, d))
				entries->down[(size_t)spine * entries->nservers + d] = FORS_NO_LANE;
	for (uint32_t leaf = 0; leaf < entries->nleaves; leaf++)
		for (uint32_t d = 0; d < entries->nservers; d++)
			if (!goes_up(fabric, entries, leaf, d))
				entries->up[(size_t)leaf * entries->nservers + d] = FORS_NO_LANE;
}

bool fors_entries_alike(const struct fors_entries *a, const struct fors_entries *b)
{
	if (!a->up || !b->up)
		return fors_entries_are_none(a) && fors_entries_are_none(b);
	return a->nleaves == b->nleaves && a->nspines == b->nspines && a->nservers == b->nservers &&
	       !memcmp(a->up, b->up, (size_t)a->nleaves * a->nservers) &&
	       !memcmp(a->down, b->down, (size_t)a->nspines * a->nservers);
}

bool fors_entries_are_none(const struct fors_entries *entries)
{
	size_t n = entries->up ? (size_t)entries->nleaves * entries->nservers : 0, i = 0;

	while (i < n && entries->up[i] == FORS_NO_LANE)
		i++;
	return i == n;
}

/* ---- in the tables ---- */

/* The rows of all leaves and spines; NULL: a switch has none. */
struct holder {
	const struct fors_fabric *fabric;
	const struct fors_jobindex *index;
	const uint8_t **leaf, **spine;
	uint32_t nlids;
};

static bool find_rows(struct holder *h, const struct fors_lfts *lfts)
{
	const struct fors_fabric *f = h->fabric;

	h->leaf = malloc((f->nleaves + (size_t)f->nspines + 1) * sizeof(*h->leaf));
	if (!h->leaf)
		return false;
	h->spine = h->leaf + f->nleaves;
	h->nlids = lfts->nlids;
	for (uint32_t a = 0; a < f->nleaves; a++)
		h->leaf[a] = fors_lfts_row_at(lfts, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nspines; k++)
		h->spine[k] = fors_lfts_row_at(lfts, f->spine[k].guid);
	return true;
}

static bool has_entry(const struct holder *h, uint32_t leaf, uint32_t d)
{
	const struct fors_entries *entries = h->index->entries;
	const struct fors_server *server = &h->fabric->server[d];
	uint32_t lid = fors_server_lid(h->fabric, d, h->index->index, h->nlids), up, down, spine;

	if (!lid || !goes_up(h->fabric, entries, leaf, d))
		return false;
	up = entries->up[(size_t)leaf * entries->nservers + d];
	spine = h->fabric->lane[up].spine;
	down = entries->down[(size_t)spine * entries->nservers + d];
	return h->leaf[leaf] && h->spine[spine] && h->leaf[leaf][lid] == fors_cable(h->fabric, leaf, up)->leaf_port &&
	       h->spine[spine][lid] == fors_cable(h->fabric, server->leaf, down)->spine_port;
}

/* From each leaf of the job to each server of it elsewhere. */
static bool is_job_held(const struct holder *h, const struct fors_jobentry *job)
{
	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t leaf = h->fabric->server[job->server[i]].leaf;

		if (i && leaf == h->fabric->server[job->server[i - 1]].leaf)
			continue;
		for (uint32_t m = 0; m < job->count; m++)
			if (h->fabric->server[job->server[m]].leaf != leaf && !has_entry(h, leaf, job->server[m]))
				return false;
	}
	return job->nleaves > 1;
}

enum fors_err fors_entries_held(const struct fors_fabric *fabric, const struct fors_joblist *list,
				const struct fors_jobindex *index, const struct fors_lfts *lfts, bool *is_held,
				struct fors_error *error)
{
	struct holder h = {.fabric = fabric, .index = index};

	if (!index->entries->up) {
		memset(is_held, 0, list->count * sizeof(*is_held));
		return FORS_OK;
	}
	if (!find_rows(&h, lfts))
		return fors_fail_memory(error);
	for (uint32_t j = 0; j < list->count; j++)
		is_held[j] = is_job_held(&h, &list->job[j]);
	free(h.leaf);
	return FORS_OK;
}
