/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_edit.c - the kept order against a reference fabric, and what is dropped from it.
 *
 * Two subnet managers write the same tables when they know the same places. So that they do even if one of
 * them never saw the intact fabric, the administrator may give both the same reference: its places are
 * learnt first, in an order that depends on nothing else, and what sweeps show is learnt on top, as ever. Whether
 * kept places began with this very reference is told by a digest of the reference's places.
 */
#include "places_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "known.h"
#include "places.h"
#include "places_inside.h"

/* --- the reference -------------------------------------------------------- */

/* Names, marks and what came later do not matter. Never 0. */
static enum fors_err digest_of(const struct fors_places *places, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *bare = fors_places_copy(places);
	enum fors_err err;
	char *text;
	size_t size;

	if (!bare)
		return fors_fail_memory(error);
	for (uint32_t k = 0; k < bare->nspines; k++)
		bare->spine[k] = (struct fors_spine_place){.guid = bare->spine[k].guid};
	for (uint32_t a = 0; a < bare->nleaves; a++) {
		bare->leaf[a].name[0] = '\0';
		memset(bare->leaf[a].slot_guid, 0, sizeof(bare->leaf[a].slot_guid));
		bare->leaf[a].marks = (struct fors_place_marks){false, false, false};
	}
	fors_hosts_clear(&bare->hosts);
	if (bare->known)
		fors_known_bare(bare->known);
	err = fors_places_encode(bare, &text, &size, error);
	if (!err) {
		*digest = (uint64_t)crc32_z(0, (unsigned char *)text, size) << 32 |
			  adler32_z(1, (unsigned char *)text, size);
		free(text);
	}
	fors_places_free(bare);
	return err;
}

/* All that has a place is in the reference, or nothing is. */
static void mark_reference(struct fors_places *places, bool in_reference)
{
	for (uint32_t k = 0; k < places->nspines; k++)
		places->spine[k].marks.in_reference = in_reference;
	for (uint32_t a = 0; a < places->nleaves; a++)
		places->leaf[a].marks.in_reference = in_reference;
	if (places->known)
		fors_known_mark(places->known, in_reference);
}

enum fors_err fors_places_refer(const struct fors_net *net, const uint64_t *root_guids, size_t nroots,
				struct fors_places **places, struct fors_error *error)
{
	struct fors_places *made = fors_places_new();
	enum fors_err err =
		made ? fors_places_learn_tree(made, net, root_guids, nroots, NULL, error) : fors_fail_memory(error);

	if (!err && !made->known && !fors_places_count_slots(made))
		err = fors_fail(error, FORS_ENOTREE,
				"no server below a leaf: which switches are the leaves cannot be told");
	if (!err)
		mark_reference(made, true);
	if (!err)
		err = digest_of(made, &made->reference, error);
	if (err)
		fors_places_free(made);
	else
		*places = made;
	return err;
}

enum fors_err fors_places_adopt(struct fors_places **places, const struct fors_places *reference, bool *is_new,
				struct fors_error *error)
{
	struct fors_places *copy;

	*is_new = false;
	if (!reference) {
		(*places)->reference = 0;
		mark_reference(*places, false);
		return FORS_OK;
	}
	if ((*places)->reference == reference->reference)
		return FORS_OK;
	copy = fors_places_copy(reference);
	if (!copy)
		return fors_fail_memory(error);
	fors_places_free(*places);
	*places = copy;
	*is_new = true;
	return FORS_OK;
}

/* --- differences ---------------------------------------------------------- */

#define SHOWN 3 /* differences that are spelt out */

struct list {
	char *text;
	size_t room, used;
	uint32_t count;
};

static void add(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct list *list, const char *format, ...)
{
	va_list values;
	int n;

	if (list->count++ >= SHOWN || list->used + 2 >= list->room)
		return;
	if (list->used) {
		memcpy(list->text + list->used, ", ", 3);
		list->used += 2;
	}
	va_start(values, format);
	n = vsnprintf(list->text + list->used, list->room - list->used, format, values);
	va_end(values);
	if (n > 0)
		list->used += (size_t)n < list->room - list->used ? (size_t)n : list->room - list->used - 1;
}

/* A switch, and who had its place in the reference; before is 0: nobody, it is one more. */
static void compare_switch(struct list *list, const char *what, uint64_t guid, const char *name, uint64_t before,
			   const char *name_before)
{
	if (!before)
		add(list, "%s %s (0x%016" PRIx64 ")", what, name, guid);
	else if (guid != before)
		add(list, "%s %s (0x%016" PRIx64 ") in the place of %s (0x%016" PRIx64 ")", what, name, guid,
		    name_before, before);
}

static void compare_spines(struct list *list, const struct fors_places *places, const struct fors_places *reference)
{
	for (uint32_t k = 0; k < places->nspines; k++) {
		const struct fors_spine_place *spine = &places->spine[k],
					      *before = k < reference->nspines ? &reference->spine[k] : NULL;

		compare_switch(list, "spine", spine->guid, spine->name, before ? before->guid : 0,
			       before ? before->name : "");
	}
}

static bool knows_plug(const struct fors_places *reference, const struct fors_leaf_place *leaf,
		       const struct fors_plug *plug, uint32_t spine)
{
	for (uint32_t k = 0; k < reference->nlanes; k++)
		if (reference->lane[k].spine == spine && leaf->plug[k].leaf_port == plug->leaf_port &&
		    leaf->plug[k].spine_port == plug->spine_port)
			return true;
	return false;
}

static void compare_ports(struct list *list, const struct fors_places *places, const struct fors_places *reference,
			  uint32_t a)
{
	const struct fors_leaf_place *leaf = &places->leaf[a];

	for (uint32_t k = 0; k < places->nlanes; k++)
		if (leaf->plug[k].leaf_port &&
		    !knows_plug(reference, &reference->leaf[a], &leaf->plug[k], places->lane[k].spine))
			add(list, "cable %s[%u] - %s[%u]", leaf->name, leaf->plug[k].leaf_port,
			    places->spine[places->lane[k].spine].name, leaf->plug[k].spine_port);
	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] &&
		    fors_places_slot_at(&reference->leaf[a], leaf->slot_port[s]) == reference->leaf[a].nslots)
			add(list, "server at %s[%u]", leaf->name, leaf->slot_port[s]);
}

static void compare_leaves(struct list *list, const struct fors_places *places, const struct fors_places *reference)
{
	for (uint32_t a = 0; a < places->nleaves; a++) {
		const struct fors_leaf_place *leaf = &places->leaf[a],
					     *before = a < reference->nleaves ? &reference->leaf[a] : NULL;

		compare_switch(list, "leaf", leaf->guid, leaf->name, before ? before->guid : 0,
			       before ? before->name : "");
		if (before)
			compare_ports(list, places, reference, a);
	}
}

/* Of three levels: what is plugged in at a switch's port that was in the reference too, and was not then. */
static void compare_known_port(struct list *list, const struct fors_net *known, const struct fors_net *reference,
			       uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(known, node, port), *before = fors_net_port(reference, node, port);
	const struct fors_node *n = &known->node[node], *peer = &known->node[here->peer];
	bool was_server = before->peer != FORS_NONE && reference->node[before->peer].type != FORS_SWITCH;

	if (peer->type == FORS_SWITCH && (before->peer != here->peer || before->peer_port != here->peer_port) &&
	    here->peer > node)
		add(list, "cable %s[%u] - %s[%u]", n->desc, port, peer->desc, here->peer_port);
	else if (peer->type != FORS_SWITCH && !was_server)
		add(list, "server at %s[%u]", n->desc, port);
}

static void compare_known(struct list *list, const struct fors_known *known, const struct fors_net *reference)
{
	static const char *const levels[] = {
		[FORS_PODS_LEAF] = "leaf", [FORS_PODS_MID] = "middle switch", [FORS_PODS_TOP] = "top"};

	for (uint32_t node = 0; node < known->net->nnodes; node++) {
		const struct fors_node *n = &known->net->node[node],
				       *before = node < reference->nnodes ? &reference->node[node] : NULL;

		if (!known->node[node].level)
			continue;
		compare_switch(list, levels[known->node[node].level], n->guid, n->desc, before ? before->guid : 0,
			       before ? before->desc : "");
		for (unsigned port = 1; before && port <= n->nports; port++)
			if (fors_net_port(known->net, node, port)->peer != FORS_NONE)
				compare_known_port(list, known->net, reference, node, port);
	}
}

uint32_t fors_places_compare(const struct fors_places *places, const struct fors_places *reference, char *text,
			     size_t room)
{
	struct list list = {.text = text, .room = room};

	text[0] = '\0';
	if (!places->known != !reference->known)
		add(&list, "a tree of %s levels", places->known ? "three" : "two");
	else if (places->known)
		compare_known(&list, places->known, reference->known->net);
	else {
		compare_spines(&list, places, reference);
		compare_leaves(&list, places, reference);
	}
	return list.count;
}

/* --- forgetting ----------------------------------------------------------- */

static enum fors_err may_be_forgotten(uint64_t guid, const char *name, const struct fors_place_marks *marks,
				      struct fors_error *error)
{
	if (marks->is_alive)
		return fors_fail(error, FORS_ENOTAPPL,
				 "0x%016" PRIx64 " (%s) is alive; only what is dead can be forgotten", guid, name);
	if (marks->in_reference)
		return fors_fail(error, FORS_ENOTAPPL,
				 "0x%016" PRIx64
				 " (%s) has its place from the reference fabric; take it out of that file",
				 guid, name);
	if (marks->in_roots)
		return fors_fail(error, FORS_ENOTAPPL,
				 "0x%016" PRIx64
				 " (%s) is named in OpenSM's root_guid_file; take it out of that file first",
				 guid, name);
	return FORS_OK;
}

/* Take lane k away from all leaves. */
static void drop_lane(struct fors_places *places, uint32_t k)
{
	size_t behind = places->nlanes - k - 1;

	for (uint32_t a = 0; a < places->nleaves; a++) {
		struct fors_plug *plug = places->leaf[a].plug;

		memmove(&plug[k], &plug[k + 1], behind * sizeof(*plug));
		plug[places->nlanes - 1] = (struct fors_plug){0, 0};
	}
	memmove(&places->lane[k], &places->lane[k + 1], behind * sizeof(places->lane[0]));
	places->nlanes--; /* homes are ranked afresh */
}

static void drop_spine(struct fors_places *places, uint32_t spine)
{
	for (uint32_t k = places->nlanes; k-- > 0;)
		if (places->lane[k].spine == spine)
			drop_lane(places, k);
	for (uint32_t k = 0; k < places->nlanes; k++)
		places->lane[k].spine -= places->lane[k].spine > spine;
	memmove(&places->spine[spine], &places->spine[spine + 1],
		(places->nspines - spine - 1) * sizeof(*places->spine));
	places->nspines--;
}

static void drop_leaf(struct fors_places *places, uint32_t leaf)
{
	memmove(&places->leaf[leaf], &places->leaf[leaf + 1], (places->nleaves - leaf - 1) * sizeof(*places->leaf));
	places->nleaves--;
}

static enum fors_err fail_place(uint64_t guid, const char *what, struct fors_error *error)
{
	return fors_fail(error, FORS_ENOTAPPL, "no %s with GUID 0x%016" PRIx64 " has a place", what, guid);
}

static enum fors_err forget_known(struct fors_places *places, uint64_t guid, struct fors_error *error)
{
	uint32_t node = fors_known_switch(places->known, guid);
	enum fors_err err;

	if (node == FORS_NONE)
		return fail_place(guid, "leaf, middle switch or top", error);
	err = may_be_forgotten(guid, places->known->net->node[node].desc, &places->known->node[node].marks, error);
	return err ? err : fors_known_drop(&places->known, node, error);
}

enum fors_err fors_places_forget(struct fors_places *places, uint64_t guid, struct fors_error *error)
{
	uint32_t spine = fors_places_spine(places, guid), leaf = fors_places_leaf(places, guid);
	enum fors_err err;

	if (places->known)
		return forget_known(places, guid, error);
	if (spine == FORS_NONE && leaf == FORS_NONE)
		return fail_place(guid, "leaf or spine", error);
	if (spine != FORS_NONE)
		err = may_be_forgotten(guid, places->spine[spine].name, &places->spine[spine].marks, error);
	else
		err = may_be_forgotten(guid, places->leaf[leaf].name, &places->leaf[leaf].marks, error);
	if (err)
		return err;
	if (spine != FORS_NONE)
		drop_spine(places, spine);
	else
		drop_leaf(places, leaf);
	return fors_places_rank(places, NULL, error);
}
