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
 *
 * These are the steps of two levels; three are learnt as a net (known.c). A tree of three levels has two sides, too: its
 * middle switches on the one, leaves and tops on the other. What tells it from one of two is that leaves of different pods
 * never had a spine in common; a tree of two in which dead cables part leaves is told from it by the cables that were ever
 * seen. Root GUIDs that name tops leave no doubt: then it is none of two levels. Where hosts are in one pod only, the other
 * pods show what they are: leaves that have no spine in common, and each middle switch has a top.
 *
 * A switch without hosts decides nothing: where one may be what makes it no tree, it is put aside (aside.h).
 */
#include "places_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/aside.h"
#include "known.h"
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
			count += fors_learn_has_host(l->net, node, p);
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
	unsigned slots = fors_places_size(l->places).slots;

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
		spine->marks.in_roots = fors_places_is_root(l->root, l->nroots, spine->guid);
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

	if (places->known)
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

/* --- which kind ------------------------------------------------------------ */

const struct fors_net *fors_places_known(const struct fors_places *places)
{
	return places->known ? places->known->net : NULL;
}

enum fors_err fors_places_pods(const struct fors_places *places, struct fors_net *known, const struct fors_net *now,
			       struct fors_pods **pods, struct fors_error *error)
{
	return fors_known_pods(places->known, known, now, pods, error);
}

/* From now on these are places of three levels. */
static void become_three(struct fors_places *places, struct fors_known *known)
{
	fors_known_free(places->known);
	places->known = known;
	places->nleaves = places->nspines = places->nlanes = 0;
}

/* From now on they are those of `two`, which is used up; the reference is the same. */
static void become_two(struct fors_places *places, struct fors_places *two)
{
	struct fors_places old = *places;

	*places = *two;
	places->reference = old.reference;
	places->nrestarts = old.nrestarts;
	*two = old;
	fors_places_free(two);
}

#define SET_WORDS ((FORS_MAX_LANES + 63) / 64)

/* The spines that a leaf was ever cabled to, each by the first of its lanes. */
static void spines_of(const struct fors_places *places, const struct fors_leaf_place *leaf, const uint8_t *first_lane,
		      uint64_t set[SET_WORDS])
{
	memset(set, 0, SET_WORDS * sizeof(*set));
	for (uint32_t k = 0; k < places->nlanes; k++)
		if (leaf->plug[k].leaf_port)
			set[first_lane[k] / 64] |= UINT64_C(1) << first_lane[k] % 64;
}

static bool meet(const uint64_t a[SET_WORDS], const uint64_t b[SET_WORDS])
{
	for (unsigned w = 0; w < SET_WORDS; w++)
		if (a[w] & b[w])
			return true;
	return false;
}

static bool has_servers(const struct fors_leaf_place *leaf)
{
	for (unsigned s = 0; s < leaf->nslots; s++)
		if (fors_places_is_slot(leaf, s))
			return true;
	return false;
}

static void find_first_lanes(const struct fors_places *places, uint8_t *first_lane)
{
	for (uint32_t k = 0; k < places->nlanes; k++) {
		first_lane[k] = (uint8_t)k;
		for (uint32_t i = 0; i < k && first_lane[k] == k; i++)
			if (places->lane[i].spine == places->lane[k].spine)
				first_lane[k] = (uint8_t)i;
	}
}

/*
 * Have all leaves, or (`all` false) all with servers, ever had a spine in common, two by two? Nearly always one is common
 * to all.
 */
static enum fors_err find_whole(const struct fors_places *places, bool all, bool *is_whole, struct fors_error *error)
{
	uint64_t(*set)[SET_WORDS] = calloc(places->nleaves + (size_t)1, sizeof(*set)), common[SET_WORDS];
	uint8_t first_lane[FORS_MAX_LANES];
	uint32_t count = 0;

	if (!set)
		return fors_fail_memory(error);
	memset(common, 0xFF, sizeof(common));
	find_first_lanes(places, first_lane);
	for (uint32_t a = 0; a < places->nleaves; a++)
		if (all || has_servers(&places->leaf[a]))
			spines_of(places, &places->leaf[a], first_lane, set[count++]);
	for (uint32_t a = 0; a < count; a++)
		for (unsigned w = 0; w < SET_WORDS; w++)
			common[w] &= set[a][w];
	*is_whole = count < 2 || meet(common, common);
	if (!*is_whole) {
		*is_whole = true;
		for (uint32_t a = 0; a < count && *is_whole; a++)
			for (uint32_t b = a + 1; b < count && *is_whole; b++)
				*is_whole = meet(set[a], set[b]);
	}
	free(set);
	return FORS_OK;
}

struct teacher {
	const struct fors_net *net;
	const uint64_t *root;
	size_t nroots;
	struct fors_error *not_three;
};

/* May it be another kind of tree? Memory is no answer. */
static bool is_no_tree(enum fors_err err)
{
	return err == FORS_ENOTREE || err == FORS_ELIMIT;
}

/* A tree of two levels in `two`, which knows nothing yet or knew one before; *is_whole: it surely is one. */
static enum fors_err learn_two(const struct teacher *t, struct fors_places *two, bool *is_whole,
			       struct fors_error *error)
{
	enum fors_err err = fors_places_learn(two, t->net, t->root, t->nroots, error);

	*is_whole = false;
	return err ? err : find_whole(two, false, is_whole, error);
}

/* A tree of three was known. *is_sure: it is one, or surely one of two. */
static enum fors_err learn_after_three(struct fors_places *places, const struct teacher *t, bool *is_sure,
				       struct fors_error *error)
{
	struct fors_known *made = NULL;
	struct fors_places *two;
	bool is_whole = false;
	enum fors_err err = fors_known_learn(places->known, t->net, t->root, t->nroots, &made, t->not_three);

	if (is_no_tree(err) && !places->reference) {
		err = fors_known_learn(NULL, t->net, t->root, t->nroots, &made, t->not_three);
		places->nrestarts += !err;
	}
	*is_sure = !is_no_tree(err);
	if (!is_no_tree(err)) {
		if (!err)
			become_three(places, made);
		else
			fors_fail(error, err, "%s", t->not_three->text);
		return err;
	}
	two = fors_places_new();
	err = two ? learn_two(t, two, &is_whole, error) : fors_fail_memory(error);
	if (!err && is_whole) {
		*is_sure = true;
		become_two(places, two);
		return FORS_OK;
	}
	fors_places_free(two);
	return err == FORS_ENOMEM ? err : fors_fail(error, FORS_ENOTREE, "%s", t->not_three->text);
}

/*
 * Is what was learnt for the first time whole because pods have no hosts? Then it may be one of three levels, each of whose
 * middle switches has a top. Errors: FORS_ENOMEM.
 */
static enum fors_err learn_dark_pods(struct fors_places *places, const struct teacher *t, struct fors_error *error)
{
	struct fors_known *made = NULL;
	struct fors_error why;
	bool is_whole;
	enum fors_err err = find_whole(places, true, &is_whole, error);

	if (err || is_whole)
		return err;
	err = fors_known_learn(NULL, t->net, t->root, t->nroots, &made, &why);
	if (!err && fors_known_has_tops(made))
		become_three(places, made);
	else if (!err)
		fors_known_free(made);
	return err == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
}

static enum fors_err learn_after_two(struct fors_places *places, const struct teacher *t, bool *is_sure,
				     struct fors_error *error)
{
	struct fors_known *made = NULL;
	struct fors_error why = {0};
	bool is_whole, is_first = !places->nleaves;
	enum fors_err err = learn_two(t, places, &is_whole, &why), three;

	*is_sure = (err && !is_no_tree(err)) || is_whole;
	if (*is_sure && !err && is_first)
		return learn_dark_pods(places, t, error);
	if (*is_sure)
		return err ? fors_fail(error, err, "%s", why.text) : FORS_OK;
	three = fors_known_learn(NULL, t->net, t->root, t->nroots, &made, t->not_three);
	*is_sure = !three || three == FORS_ENOMEM;
	if (!three)
		become_three(places, made);
	if (!three || !err)
		return three == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
	return fors_fail(error, err, "%s; %s", why.text, t->not_three->text);
}

static enum fors_err learn_any(struct fors_places *places, const struct teacher *t, bool *is_sure,
			       struct fors_error *error)
{
	*t->not_three = (struct fors_error){0};
	return places->known ? learn_after_three(places, t, is_sure, error)
			     : learn_after_two(places, t, is_sure, error);
}

/* The same with switches put aside; *is_sure: that is what it is. Errors: FORS_ENOMEM; the places are unchanged then. */
static enum fors_err learn_without(struct fors_places *places, const struct teacher *t, const uint32_t *node,
				   uint32_t count, bool *is_sure, struct fors_error *error)
{
	struct fors_places *made = fors_places_copy(places), old = *places;
	struct fors_error why, not_three;
	struct fors_net *rest = NULL;
	struct teacher some = {NULL, t->root, t->nroots, &not_three};
	enum fors_err err = made ? fors_aside_put(t->net, node, count, &rest, error) : fors_fail_memory(error);

	some.net = rest;
	if (!err)
		err = learn_any(made, &some, is_sure, &why);
	*is_sure = !err && *is_sure;
	if (*is_sure) {
		*places = *made;
		*made = old;
	}
	fors_places_free(made);
	fors_net_free(rest);
	return err == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
}

enum fors_err fors_places_learn_tree(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				     size_t nroots, struct fors_error *not_three, struct fors_error *error)
{
	struct fors_error unused;
	struct teacher t = {net, root_guids, nroots, not_three ? not_three : &unused};
	uint32_t aside[FORS_MOST_ASIDE], count = 0;
	bool is_sure = false;
	enum fors_err err = learn_any(places, &t, &is_sure, error), found = FORS_OK;

	if (!is_sure && err != FORS_ENOMEM)
		found = fors_aside_find(net, aside, &count, error);
	for (uint32_t i = 0; !found && !is_sure && i < count; i++)
		found = learn_without(places, &t, &aside[i], 1, &is_sure, error);
	if (!found && !is_sure && count > 1)
		found = learn_without(places, &t, aside, count, &is_sure, error);
	if (found || (is_sure && count))
		err = found;
	if (!err && (places->known || (is_sure && count)))
		*t.not_three = (struct fors_error){0};
	return err;
}
