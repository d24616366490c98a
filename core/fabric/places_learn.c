/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn.c - what has a place in the fabric, in an order that never changes: the steps of learning.
 *
 * Tables are computed from places: a server has its home by its rank among all that have one (places_rank.c). So
 * no place may move because something died; a dead spine keeps its lanes and a
 * pulled server its slot, and what is new fills the places of the dead before
 * any list grows. Learning works on a copy that replaces the original only when
 * all went well, in this order:
 *
 *   1. sides: which switches are leaves, which spines (sides.c); here: were they wrong until now?
 *   2. switches: every switch gets a place, new ones that of the dead one whose ports they occupy
 *      (places_learn_switches.c)
 *   3. cables: known ones are confirmed, those whose ports are used otherwise
 *      forgotten, new ones put into free lanes of their spine (places_learn_cables.c)
 *   4. slots: every CA port under a leaf gets a slot and a home (places_learn_slots.c)
 */
#include "places_learn.h"

#include <stdlib.h>

#include "places.h"

/* --- were the sides wrong? ------------------------------------------------ */

static enum fors_side known_as(const struct fors_learning *l, uint64_t guid)
{
	if (fors_places_leaf(l->places, guid) != FORS_NONE)
		return FORS_SIDE_LEAF;
	return fors_places_spine(l->places, guid) != FORS_NONE ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
}

/* Do the root GUIDs make a leaf of what is known as a spine, or the other way round? */
static bool contradicts_roots(const struct fors_learning *l)
{
	for (uint32_t node = 0; node < l->net->nnodes; node++) {
		enum fors_side known = known_as(l, l->net->node[node].guid);

		if (l->side[node] != FORS_SIDE_NONE && known != FORS_SIDE_NONE && known != l->side[node])
			return true;
	}
	for (size_t i = 0; i < l->nroots; i++)
		if (known_as(l, l->root[i]) == FORS_SIDE_LEAF)
			return true;
	return false;
}

static unsigned count_spine_cas(const struct fors_learning *l)
{
	unsigned count = 0;

	for (uint32_t node = 0; node < l->net->nnodes; node++)
		for (unsigned p = 1; l->side[node] == FORS_SIDE_SPINE && p <= l->net->node[node].nports; p++)
			count += fors_learn_has_end_node(l->net, node, p);
	return count;
}

static unsigned count_known_slots(const struct fors_places *places)
{
	unsigned count = 0;

	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++)
			count += fors_places_is_slot(&places->leaf[a], s);
	return count;
}

/*
 * Who starts before the servers are switched on may take spines for leaves, and must not remember that for ever:
 * a root list decides, else that more CAs stand under the spines than the leaves ever had places for. But the sides of
 * switches that live are only doubted while they are a guess, with fewer places for servers than there are leaves.
 * A reference fabric shows its servers; what it says stays.
 */
static bool is_upside_down(const struct fors_learning *l)
{
	unsigned slots = count_known_slots(l->places);

	if (l->places->reference || !(l->places->nleaves + l->places->nspines))
		return false;
	if (l->nroots)
		return contradicts_roots(l);
	return slots < l->places->nleaves && count_spine_cas(l) > slots;
}

static enum fors_err find_sides(struct fors_learning *l, struct fors_error *error)
{
	enum fors_err err = fors_sides(l->net, l->places, l->root, l->nroots, l->side, error);

	if (err || !is_upside_down(l))
		return err;
	l->places->nleaves = l->places->nspines = l->places->nlanes = 0;
	l->places->nrestarts++;
	return fors_sides(l->net, l->places, l->root, l->nroots, l->side, error);
}

/* --- learning ----------------------------------------------------------- */

static void mark_places(struct fors_learning *l)
{
	for (uint32_t k = 0; k < l->places->nspines; k++) {
		struct fors_spine_place *spine = &l->places->spine[k];

		spine->marks.is_alive = fors_learn_is_alive(l, spine->guid);
		spine->marks.in_roots = fors_learn_is_listed(l, spine->guid);
	}
	for (uint32_t a = 0; a < l->places->nleaves; a++)
		l->places->leaf[a].marks.is_alive = fors_learn_is_alive(l, l->places->leaf[a].guid);
}

static enum fors_err learn(struct fors_learning *l, struct fors_error *error)
{
	enum fors_err err = find_sides(l, error);

	l->known_lanes = l->places->nlanes;
	if (!err)
		err = fors_learn_switches(l, error);
	if (!err)
		err = fors_learn_cables(l, error);
	if (!err)
		err = fors_learn_slots(l, error);
	if (!err)
		mark_places(l);
	return err;
}

enum fors_err fors_places_learn(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				size_t nroots, struct fors_error *error)
{
	struct fors_learning l = {.net = net, .root = root_guids, .nroots = nroots};
	enum fors_err err = FORS_OK;

	if (places->pods)
		return fors_fail(error, FORS_ENOTREE, "not a two-level fat-tree: what is known of it has three levels");
	l.places = fors_places_copy(places);
	l.side = calloc((size_t)net->nnodes + 1, sizeof(*l.side));
	l.place = calloc((size_t)net->nnodes + 1, sizeof(*l.place));
	if (!l.places || !l.side || !l.place)
		err = fors_fail_memory(error);
	else
		err = learn(&l, error);
	if (!err) {
		struct fors_places old = *places;

		*places = *l.places;
		*l.places = old;
	}
	fors_places_free(l.places);
	free(l.side);
	free(l.place);
	return err;
}
