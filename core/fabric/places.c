/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.c - the book of places: leaves and spines in their order, found by GUID.
 *
 * Who writes into it: sweeps (places_learn.c), a kept order (places_file.c), requests and references (places_edit.c).
 */
#include "known.h"
#include "places.h"
#include "places_inside.h"

#include <stdlib.h>
#include <string.h>

struct fors_places *fors_places_new(void)
{
	return calloc(1, sizeof(struct fors_places));
}

void fors_places_free(struct fors_places *places)
{
	if (!places)
		return;
	fors_known_free(places->known);
	free(places->leaf);
	free(places->spine);
	fors_hosts_clear(&places->hosts);
	free(places);
}

struct fors_places *fors_places_copy(const struct fors_places *from)
{
	struct fors_places *to = fors_places_new();
	struct fors_error error;
	bool has_names;

	if (!to)
		return NULL;
	*to = *from;
	has_names = !fors_hosts_copy(&from->hosts, &to->hosts, &error);
	to->known = from->known ? fors_known_copy(from->known) : NULL;
	to->leaf = calloc((size_t)from->nleaves + 1, sizeof(*to->leaf));
	to->spine = calloc((size_t)from->nspines + 1, sizeof(*to->spine));
	to->leaf_room = from->nleaves + 1;
	to->spine_room = from->nspines + 1;
	if (!has_names || !to->leaf || !to->spine || (from->known && !to->known)) {
		fors_places_free(to);
		return NULL;
	}
	if (from->nleaves)
		memcpy(to->leaf, from->leaf, from->nleaves * sizeof(*to->leaf));
	if (from->nspines)
		memcpy(to->spine, from->spine, from->nspines * sizeof(*to->spine));
	return to;
}

uint32_t fors_places_restarts(const struct fors_places *places)
{
	return places->nrestarts;
}

uint32_t fors_places_leaf(const struct fors_places *places, uint64_t guid)
{
	for (uint32_t a = 0; a < places->nleaves; a++)
		if (places->leaf[a].guid == guid)
			return a;
	return FORS_NONE;
}

uint32_t fors_places_spine(const struct fors_places *places, uint64_t guid)
{
	for (uint32_t k = 0; k < places->nspines; k++)
		if (places->spine[k].guid == guid)
			return k;
	return FORS_NONE;
}

bool fors_places_has(const struct fors_places *places, uint64_t guid)
{
	if (places->known)
		return fors_known_switch(places->known, guid) != FORS_NONE;
	return fors_places_leaf(places, guid) != FORS_NONE || fors_places_spine(places, guid) != FORS_NONE;
}

struct fors_places_size fors_places_size(const struct fors_places *places)
{
	struct fors_places_size size = {places->nleaves, places->nspines, places->nlanes, 0};

	if (places->known)
		return fors_known_size(places->known);
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++)
			size.slots += fors_places_is_slot(&places->leaf[a], s);
	return size;
}

static bool grow(void **array, uint32_t *room, uint32_t used, size_t size)
{
	void *grown;

	if (used < *room)
		return true;
	grown = realloc(*array, (size_t)used * 2 * size + size);
	if (!grown)
		return false;
	*array = grown;
	*room = used * 2 + 1;
	return true;
}

enum fors_err fors_places_add_leaf(struct fors_places *places, uint32_t *index, struct fors_error *error)
{
	if (!grow((void **)&places->leaf, &places->leaf_room, places->nleaves, sizeof(*places->leaf)))
		return fors_fail_memory(error);
	memset(&places->leaf[places->nleaves], 0, sizeof(*places->leaf));
	*index = places->nleaves++;
	return FORS_OK;
}

enum fors_err fors_places_add_spine(struct fors_places *places, uint32_t *index, struct fors_error *error)
{
	if (!grow((void **)&places->spine, &places->spine_room, places->nspines, sizeof(*places->spine)))
		return fors_fail_memory(error);
	memset(&places->spine[places->nspines], 0, sizeof(*places->spine));
	*index = places->nspines++;
	return FORS_OK;
}
