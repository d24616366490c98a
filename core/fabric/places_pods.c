/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_pods.c - learning a tree of three levels, and which kind of tree it is.
 *
 * A tree of three levels has two sides, too: its middle switches on the one, leaves and tops on the other. What tells
 * it from one of two is that leaves of different pods never had a spine in common; a tree of two in which dead cables
 * part leaves is told from it by the cables that were ever seen. Root GUIDs that name tops leave no doubt: then it is
 * none of two levels.
 */
#include "places_pods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places_inside.h"
#include "places_pods_inside.h"

/* --- the type ------------------------------------------------------------- */

struct fors_pod_places *fors_pod_places_new(uint32_t nnodes)
{
	struct fors_pod_places *pods = calloc(1, sizeof(*pods));

	if (!pods)
		return NULL;
	pods->mark = calloc(nnodes + (size_t)1, sizeof(*pods->mark));
	pods->former = calloc(nnodes + (size_t)1, sizeof(*pods->former));
	pods->level = calloc(nnodes + (size_t)1, sizeof(*pods->level));
	if (pods->mark && pods->former && pods->level)
		return pods;
	fors_pod_places_free(pods);
	return NULL;
}

void fors_pod_places_free(struct fors_pod_places *pods)
{
	if (!pods)
		return;
	fors_net_free(pods->known);
	free(pods->mark);
	free(pods->former);
	free(pods->level);
	free(pods);
}

/* The same lists with room for `nnodes` nodes, without the net. */
static struct fors_pod_places *copy_lists(const struct fors_pod_places *from, uint32_t nnodes)
{
	struct fors_pod_places *to = fors_pod_places_new(nnodes);
	size_t n = from->known->nnodes;

	if (!to)
		return NULL;
	memcpy(to->mark, from->mark, n * sizeof(*to->mark));
	memcpy(to->former, from->former, n * sizeof(*to->former));
	memcpy(to->level, from->level, n * sizeof(*to->level));
	return to;
}

struct fors_pod_places *fors_pod_places_copy(const struct fors_pod_places *from)
{
	struct fors_pod_places *to = copy_lists(from, from->known->nnodes);

	if (to && !fors_net_copy(from->known, &to->known, NULL))
		return to;
	fors_pod_places_free(to);
	return NULL;
}

uint32_t fors_pod_places_switch(const struct fors_pod_places *pods, uint64_t guid)
{
	uint32_t node = fors_net_find_guid(pods->known, guid);

	return node != FORS_NONE && pods->level[node] ? node : FORS_NONE;
}

static uint32_t count_slots(const struct fors_net *known, uint32_t leaf)
{
	uint32_t count = 0;

	for (unsigned port = 1; port <= known->node[leaf].nports; port++) {
		uint32_t peer = fors_net_port(known, leaf, port)->peer;

		count += peer != FORS_NONE && known->node[peer].type != FORS_SWITCH;
	}
	return count;
}

struct fors_places_size fors_pod_places_size(const struct fors_pod_places *pods)
{
	struct fors_places_size size = {0, 0, 0, 0};

	for (uint32_t node = 0; node < pods->known->nnodes; node++) {
		size.leaves += pods->level[node] == FORS_PODS_LEAF;
		size.spines += pods->level[node] > FORS_PODS_LEAF;
		if (pods->level[node] == FORS_PODS_LEAF)
			size.slots += count_slots(pods->known, node);
	}
	return size;
}

const struct fors_net *fors_places_known(const struct fors_places *places)
{
	return places->pods ? places->pods->known : NULL;
}

/* --- which switches are tops ----------------------------------------------- */

static bool is_listed(const uint64_t *root, size_t nroots, uint64_t guid)
{
	for (size_t i = 0; i < nroots; i++)
		if (root[i] == guid)
			return true;
	return false;
}

enum fors_err fors_pod_places_build(const struct fors_pod_places *from, const struct fors_net *known,
				    const struct fors_net *now, struct fors_pods **pods, struct fors_error *error)
{
	uint64_t *root = malloc((known->nnodes + (size_t)1) * sizeof(*root));
	size_t nroots = 0;
	enum fors_err err;

	if (!root)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < known->nnodes; node++)
		if (from->mark[node].in_roots)
			root[nroots++] = known->node[node].guid;
	err = fors_pods_build(known, now, root, nroots, pods, error);
	free(root);
	return err;
}

enum fors_err fors_places_pods(const struct fors_places *places, const struct fors_net *known,
			       const struct fors_net *now, struct fors_pods **pods, struct fors_error *error)
{
	return fors_pod_places_build(places->pods, known, now, pods, error);
}

/* --- learning three levels ------------------------------------------------- */

/* Had one switch, and no more, this name? That of number `own` is not asked. */
static bool is_held(const struct fors_net *before, const char *name, uint32_t own)
{
	unsigned count = 0;

	for (uint32_t n = 0; n < before->nnodes; n++)
		count += n != own && before->node[n].type == FORS_SWITCH && !strcmp(before->node[n].desc, name);
	return count == 1;
}

/* A known node is this one now. No switch takes the name of another: see places_learn_switches.c. */
static void take_name(const struct fors_net *known, uint32_t node, const struct fors_net *before,
		      const struct fors_node *now)
{
	bool is_old = before && node < before->nnodes && before->node[node].guid == now->guid;
	char *name = known->node[node].desc;

	if (now->type == FORS_SWITCH && is_old && (!*now->desc || !strcmp(before->node[node].desc, now->desc)))
		return;
	if (now->type != FORS_SWITCH || !before || !is_held(before, now->desc, node))
		memcpy(name, now->desc, FORS_NAME_MAX + 1);
	else if (!is_old)
		snprintf(name, FORS_NAME_MAX + 1, "0x%016" PRIx64, now->guid);
}

/* What the net says of each known node; before is what was known until now (NULL: nothing). */
static void set_marks(struct fors_pod_places *made, const struct fors_pod_places *before, const struct fors_net *now,
		      const uint64_t *root, size_t nroots)
{
	const struct fors_net *known = made->known;

	for (uint32_t node = 0; node < known->nnodes; node++) {
		uint64_t guid = known->node[node].guid;
		uint32_t here = fors_net_find_guid(now, guid);

		if (before && node < before->known->nnodes && before->known->node[node].guid != guid)
			made->former[node] = before->known->node[node].guid;
		made->mark[node].is_alive = here != FORS_NONE;
		if (here != FORS_NONE)
			take_name(known, node, before ? before->known : NULL, &now->node[here]);
		made->mark[node].in_roots = known->node[node].type == FORS_SWITCH &&
					    (is_listed(root, nroots, guid) ||
					     (made->former[node] && is_listed(root, nroots, made->former[node])));
	}
}

static enum fors_err set_levels(struct fors_pod_places *made, struct fors_error *error)
{
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_pod_places_build(made, made->known, made->known, &pods, error);

	if (!err)
		memcpy(made->level, pods->level, made->known->nnodes * sizeof(*made->level));
	fors_pods_free(pods);
	return err;
}

/* What is known with `now`, in *made; before may be NULL. */
static enum fors_err learn_pods(const struct fors_pod_places *before, const struct fors_net *now, const uint64_t *root,
				size_t nroots, struct fors_pod_places **made, struct fors_error *error)
{
	struct fors_net *known = NULL;
	enum fors_err err = before ? fors_net_copy(before->known, &known, error) : FORS_OK;

	*made = NULL;
	if (!err)
		err = fors_pods_learn(&known, now, error);
	if (!err) {
		*made = before ? copy_lists(before, known->nnodes) : fors_pod_places_new(known->nnodes);
		err = *made ? FORS_OK : fors_fail_memory(error);
	}
	if (err) {
		fors_net_free(known);
		return err;
	}
	(*made)->known = known;
	set_marks(*made, before, now, root, nroots);
	err = set_levels(*made, error);
	if (err) {
		fors_pod_places_free(*made);
		*made = NULL;
	}
	return err;
}

/* From now on these are places of three levels. */
static void become_three(struct fors_places *places, struct fors_pod_places *pods)
{
	fors_pod_places_free(places->pods);
	places->pods = pods;
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

/* --- which kind ------------------------------------------------------------ */

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

/* Have all leaves with servers ever had a spine in common, two by two? Nearly always one is common to all. */
static enum fors_err find_whole(const struct fors_places *places, bool *is_whole, struct fors_error *error)
{
	uint64_t(*set)[SET_WORDS] = calloc(places->nleaves + (size_t)1, sizeof(*set)), common[SET_WORDS];
	uint8_t first_lane[FORS_MAX_LANES];
	uint32_t count = 0;

	if (!set)
		return fors_fail_memory(error);
	memset(common, 0xFF, sizeof(common));
	find_first_lanes(places, first_lane);
	for (uint32_t a = 0; a < places->nleaves; a++)
		if (has_servers(&places->leaf[a]))
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
	return err ? err : find_whole(two, is_whole, error);
}

/* A tree of three was known. */
static enum fors_err learn_after_three(struct fors_places *places, const struct teacher *t, struct fors_error *error)
{
	struct fors_pod_places *made = NULL;
	struct fors_places *two;
	bool is_whole = false;
	enum fors_err err = learn_pods(places->pods, t->net, t->root, t->nroots, &made, t->not_three);

	if (is_no_tree(err) && !places->reference) {
		err = learn_pods(NULL, t->net, t->root, t->nroots, &made, t->not_three);
		places->nrestarts += !err;
	}
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
		become_two(places, two);
		return FORS_OK;
	}
	fors_places_free(two);
	return err == FORS_ENOMEM ? err : fors_fail(error, FORS_ENOTREE, "%s", t->not_three->text);
}

static enum fors_err learn_after_two(struct fors_places *places, const struct teacher *t, struct fors_error *error)
{
	struct fors_pod_places *made = NULL;
	struct fors_error why = {0};
	bool is_whole;
	enum fors_err err = learn_two(t, places, &is_whole, &why), three;

	if ((err && !is_no_tree(err)) || is_whole)
		return err ? fors_fail(error, err, "%s", why.text) : FORS_OK;
	three = learn_pods(NULL, t->net, t->root, t->nroots, &made, t->not_three);
	if (!three)
		become_three(places, made);
	if (!three || !err)
		return three == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
	return fors_fail(error, err, "%s; %s", why.text, t->not_three->text);
}

enum fors_err fors_places_learn_tree(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				     size_t nroots, struct fors_error *not_three, struct fors_error *error)
{
	struct fors_error unused;
	struct teacher t = {net, root_guids, nroots, not_three ? not_three : &unused};
	enum fors_err err;

	*t.not_three = (struct fors_error){0};
	err = places->pods ? learn_after_three(places, &t, error) : learn_after_two(places, &t, error);
	if (!err && places->pods)
		*t.not_three = (struct fors_error){0};
	return err;
}
