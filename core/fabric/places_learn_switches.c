/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn_switches.c - every switch gets a place: step 2 of learning.
 *
 * Who is known by its GUID has its place already. A new switch may be a replacement: it takes the place of the dead
 * one whose ports it occupies, so that all homes stay where they are. A new spine without such a one takes any dead
 * place before the list grows, since a spine more re-homes nearly every entry; a new leaf does not, as leaves may be
 * added for good. Spines that only the root GUIDs name have a place from the start, because who starts while a spine
 * is dead has to know about a switch that it cannot see.
 *
 * The name of a place is what people call its switch by, also in fors.conf, so no other switch takes it: one that gets the
 * description of another, living or dead, keeps the name that it had, and goes by its GUID if it is new. A name that
 * several had from the beginning, as unmanaged switches have, is nobody's.
 */
#include "places_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "places.h"

/* Has one place, and no more, this name? `own` is not asked. */
static bool is_held(const struct fors_learning *l, const char *name, const char *own)
{
	unsigned count = 0;

	for (uint32_t a = 0; a < l->known_leaves; a++)
		count += l->places->leaf[a].name != own && !strcmp(l->places->leaf[a].name, name);
	for (uint32_t k = 0; k < l->known_spines; k++)
		count += l->places->spine[k].name != own && !strcmp(l->places->spine[k].name, name);
	return count == 1;
}

/* A place has this switch now, and had the one of GUID `was`. */
static void take_name(const struct fors_learning *l, uint32_t node, uint64_t was, char *name)
{
	const struct fors_node *n = &l->net->node[node];
	bool is_new = was != n->guid || !*name;

	if (!strcmp(name, n->desc) || (!*n->desc && !is_new))
		return;
	if (!*n->desc)
		memcpy(name, n->id, FORS_NAME_MAX + 1);
	else if (!is_held(l, n->desc, name))
		memcpy(name, n->desc, FORS_NAME_MAX + 1);
	else if (is_new)
		snprintf(name, FORS_NAME_MAX + 1, "0x%016" PRIx64, n->guid);
}

/* How many of the cables of the new spine `node` are plugged in where those of the place `spine` were. */
static unsigned spine_overlap(const struct fors_learning *l, uint32_t node, uint32_t spine)
{
	unsigned overlap = 0;

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p);
		uint32_t a = peer == FORS_NONE ? FORS_NONE : fors_places_leaf(l->places, l->net->node[peer].guid);

		for (uint32_t k = 0; a != FORS_NONE && k < l->places->nlanes; k++)
			overlap += l->places->lane[k].spine == spine &&
				   l->places->leaf[a].plug[k].leaf_port == fors_net_port(l->net, node, p)->peer_port;
	}
	return overlap;
}

/* The same for a leaf: spine ports that it occupies and the dead leaf did. */
static unsigned leaf_overlap(const struct fors_learning *l, uint32_t node, uint32_t leaf)
{
	unsigned overlap = 0;

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p);
		uint32_t spine = peer == FORS_NONE ? FORS_NONE : fors_places_spine(l->places, l->net->node[peer].guid);

		for (uint32_t k = 0; spine != FORS_NONE && k < l->places->nlanes; k++)
			overlap +=
				l->places->lane[k].spine == spine &&
				l->places->leaf[leaf].plug[k].spine_port == fors_net_port(l->net, node, p)->peer_port;
	}
	return overlap;
}

/*
 * The dead place that a new switch takes: the one most of whose ports at the other side it occupies. Where it occupies
 * none a new spine takes the first dead place, and a new leaf none: FORS_NONE.
 */
static uint32_t dead_place_for(const struct fors_learning *l, uint32_t node, bool is_leaf)
{
	uint32_t best = FORS_NONE, count = is_leaf ? l->known_leaves : l->places->nspines;
	unsigned most = 0;

	for (uint32_t i = 0; i < count; i++) {
		unsigned overlap;

		if (fors_learn_is_alive(l, is_leaf ? l->places->leaf[i].guid : l->places->spine[i].guid))
			continue;
		overlap = is_leaf ? leaf_overlap(l, node, i) : spine_overlap(l, node, i);
		if ((!is_leaf && best == FORS_NONE) || overlap > most) {
			best = i;
			most = overlap;
		}
	}
	return best;
}

static enum fors_err place_spine(struct fors_learning *l, uint32_t node, struct fors_error *error)
{
	uint32_t k = fors_places_spine(l->places, l->net->node[node].guid);
	uint64_t was;
	enum fors_err err;

	if (k == FORS_NONE)
		k = dead_place_for(l, node, false);
	if (k == FORS_NONE && (err = fors_places_add_spine(l->places, &k, error)))
		return err;
	was = l->places->spine[k].guid;
	if (was != l->net->node[node].guid)
		l->places->spine[k].former = was;
	l->places->spine[k].guid = l->net->node[node].guid;
	take_name(l, node, was, l->places->spine[k].name);
	l->place[node] = k;
	return FORS_OK;
}

static enum fors_err place_leaf(struct fors_learning *l, uint32_t node, struct fors_error *error)
{
	uint32_t a = fors_places_leaf(l->places, l->net->node[node].guid);
	uint64_t was;
	enum fors_err err;

	if (a == FORS_NONE)
		a = dead_place_for(l, node, true);
	if (a == FORS_NONE && (err = fors_places_add_leaf(l->places, &a, error)))
		return err;
	was = l->places->leaf[a].guid;
	l->places->leaf[a].guid = l->net->node[node].guid;
	take_name(l, node, was, l->places->leaf[a].name);
	l->place[node] = a;
	return FORS_OK;
}

/* A listed spine without a place; one whose place another switch has taken is gone for good, listed or not. */
static bool lacks_place(const struct fors_learning *l, uint64_t guid)
{
	for (uint32_t k = 0; k < l->places->nspines; k++)
		if (l->places->spine[k].guid == guid || l->places->spine[k].former == guid)
			return false;
	return true;
}

/* The place of a dead spine that is not listed any more, or FORS_NONE. */
static uint32_t unlisted_place(const struct fors_learning *l)
{
	for (uint32_t k = 0; k < l->places->nspines; k++) {
		uint64_t guid = l->places->spine[k].guid;

		if (!fors_learn_is_alive(l, guid) && !fors_places_is_root(l->root, l->nroots, guid))
			return k;
	}
	return FORS_NONE;
}

static enum fors_err place_root(struct fors_learning *l, uint64_t guid, struct fors_error *error)
{
	uint32_t k = unlisted_place(l);
	enum fors_err err;

	if (k == FORS_NONE && (err = fors_places_add_spine(l->places, &k, error)))
		return err;
	l->places->spine[k].former = l->places->spine[k].guid;
	l->places->spine[k].guid = guid;
	l->places->spine[k].name[0] = '\0';
	return FORS_OK;
}

/* Spines named by root_guid_file that were never seen keep a place, in GUID order with the rest. */
static enum fors_err place_roots(struct fors_learning *l, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (size_t done = 0; !err && done < l->nroots; done++) {
		uint64_t next = 0;

		for (size_t i = 0; i < l->nroots; i++)
			if ((!next || l->root[i] < next) && lacks_place(l, l->root[i]))
				next = l->root[i];
		if (!next)
			break;
		err = place_root(l, next, error);
	}
	return err;
}

enum fors_err fors_learn_switches(struct fors_learning *l, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (!l->places->nspines) /* all at once, so that no order depends on who is alive at the start */
		err = place_roots(l, error);
	l->known_leaves = l->places->nleaves;
	l->known_spines = l->places->nspines;
	for (uint32_t i = 0; !err && i < l->net->nnodes; i++) {
		uint32_t node = l->net->by_guid[i];

		if (l->side[node] == FORS_SIDE_SPINE)
			err = place_spine(l, node, error);
		else if (l->side[node] == FORS_SIDE_LEAF)
			err = place_leaf(l, node, error);
	}
	return err ? err : place_roots(l, error);
}
