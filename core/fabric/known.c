/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known.c - all that was ever seen of a tree of three levels, and what a net adds to it.
 *
 * What was ever seen is a net too, whose nodes keep their numbers. A switch that is new, and has a cable at a port where
 * a dead one of the same size had it, is that one repaired: it takes over node, number and cables.
 */
#include "known.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "missing.h"

/* --- the type ------------------------------------------------------------- */

struct fors_known *fors_known_new(uint32_t nnodes)
{
	struct fors_known *known = calloc(1, sizeof(*known));

	if (known && (known->node = calloc(nnodes + (size_t)1, sizeof(*known->node))))
		return known;
	free(known);
	return NULL;
}

void fors_known_free(struct fors_known *known)
{
	if (!known)
		return;
	fors_net_free(known->net);
	free(known->node);
	free(known);
}

/* What `from` (NULL: nothing) knows, with room for `nnodes` nodes, without the net. */
static struct fors_known *copy_nodes(const struct fors_known *from, uint32_t nnodes)
{
	struct fors_known *to = fors_known_new(nnodes);

	if (to && from) {
		memcpy(to->node, from->node, from->net->nnodes * sizeof(*to->node));
		to->completes = from->completes;
	}
	return to;
}

struct fors_known *fors_known_copy(const struct fors_known *from)
{
	struct fors_known *to = copy_nodes(from, from->net->nnodes);

	if (to && !fors_net_copy(from->net, &to->net, NULL))
		return to;
	fors_known_free(to);
	return NULL;
}

uint32_t fors_known_switch(const struct fors_known *known, uint64_t guid)
{
	uint32_t node = fors_net_find_guid(known->net, guid);

	return node != FORS_NONE && known->node[node].level ? node : FORS_NONE;
}

struct fors_places_size fors_known_size(const struct fors_known *known)
{
	struct fors_places_size size = {0, 0, 0, 0};

	for (uint32_t node = 0; node < known->net->nnodes; node++) {
		size.leaves += known->node[node].level == FORS_PODS_LEAF;
		size.spines += known->node[node].level > FORS_PODS_LEAF;
		if (known->node[node].level == FORS_PODS_LEAF)
			size.slots += fors_net_hosts(known->net, node);
	}
	return size;
}

bool fors_known_has_tops(const struct fors_known *known)
{
	bool all = true;

	for (uint32_t node = 0; all && node < known->net->nnodes; node++) {
		bool has = known->node[node].level != FORS_PODS_MID;

		for (unsigned port = 1; !has && port <= known->net->node[node].nports; port++) {
			uint32_t peer = fors_peer_switch(known->net, node, port);

			has = peer != FORS_NONE && known->node[peer].level == FORS_PODS_TOP;
		}
		all = has;
	}
	return all;
}

/* --- which switches are tops ----------------------------------------------- */

enum fors_err fors_known_build(const struct fors_known *from, const struct fors_net *net, const struct fors_net *now,
			       struct fors_pods **pods, struct fors_error *error)
{
	uint64_t *root = malloc((net->nnodes + (size_t)1) * sizeof(*root));
	size_t nroots = 0;
	enum fors_err err;

	if (!root)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < net->nnodes; node++)
		if (from->node[node].marks.in_roots)
			root[nroots++] = net->node[node].guid;
	err = fors_pods_build(net, now, root, nroots, pods, error);
	free(root);
	return err;
}

/* Cables of the tree that `from` does not have were never seen. */
static void mark_unseen(const struct fors_known *from, struct fors_pods *pods)
{
	for (uint32_t i = 0; i < pods->known->nports; i++)
		pods->unseen[i] = pods->known->port[i].peer != from->net->port[i].peer;
}

enum fors_err fors_known_pods(const struct fors_known *from, struct fors_net *net, const struct fors_net *now,
			      struct fors_pods **pods, struct fors_error *error)
{
	struct fors_pods *made = NULL;
	uint32_t added = 0;
	enum fors_err err = fors_known_build(from, net, now, &made, error);

	if (!err && from->completes)
		err = fors_complete(made, net, &added, error);
	if (!err && added) {
		fors_pods_free(made);
		made = NULL;
		err = fors_known_build(from, net, now, &made, error);
	}
	if (err) {
		fors_pods_free(made);
		return err;
	}
	mark_unseen(from, made);
	*pods = made;
	return FORS_OK;
}

/* --- what a net adds --------------------------------------------------------- */

struct learning {
	const struct fors_net *now;
	struct fors_net *known;
	uint32_t *known_of; /* per node of now */
	bool *is_taken;	    /* per node of known: a new switch stands for it */
};

static bool is_alive(const struct learning *l, uint32_t known)
{
	return fors_net_find_guid(l->now, l->known->node[known].guid) != FORS_NONE;
}

/* The ports of a node, without the last ones if those are where parts of the switch itself are. */
static uint8_t ports_of(const struct fors_net *net, uint32_t node)
{
	uint8_t count = net->node[node].nports;

	while (count && fors_is_part(net, fors_net_port(net, node, count)->peer))
		count--;
	return count;
}

/* The dead switch whose place a new one takes: what was at the other end of one of its cables. */
static uint32_t find_dead(const struct learning *l, uint32_t node)
{
	for (unsigned port = 1; port <= l->now->node[node].nports; port++) {
		const struct fors_port *here = fors_net_port(l->now, node, port);
		uint32_t peer = here->peer == FORS_NONE ? FORS_NONE
							: fors_net_find_guid(l->known, l->now->node[here->peer].guid),
			 dead;

		if (peer == FORS_NONE || here->peer_port > l->known->node[peer].nports)
			continue;
		dead = fors_net_port(l->known, peer, here->peer_port)->peer;
		if (dead != FORS_NONE && l->known->node[dead].type == FORS_SWITCH && !is_alive(l, dead) &&
		    !l->is_taken[dead] &&
		    (l->known->node[dead].nports == l->now->node[node].nports ||
		     l->known->node[dead].nports == ports_of(l->now, node)))
			return dead;
	}
	return FORS_NONE;
}

/* New switches in places of dead ones. GUIDs are written down later: until then nodes are found by them. */
static void find_places(struct learning *l)
{
	const struct fors_net *now = l->now;

	for (uint32_t i = 0; i < now->nnodes; i++)
		l->known_of[i] = fors_net_find_guid(l->known, now->node[i].guid);
	for (uint32_t i = 0; i < now->nnodes; i++) {
		uint32_t node = now->by_guid[i],
			 dead = l->known_of[node] == FORS_NONE && now->node[node].type == FORS_SWITCH
					? find_dead(l, node)
					: FORS_NONE;

		if (dead == FORS_NONE)
			continue;
		l->known_of[node] = dead;
		l->is_taken[dead] = true;
	}
}

static void rename_taken(struct learning *l)
{
	for (uint32_t i = 0; i < l->now->nnodes; i++) {
		const struct fors_node *from = &l->now->node[i];
		uint32_t place = l->known_of[i];

		if (place == FORS_NONE || !l->is_taken[place])
			continue;
		l->known->node[place].guid = from->guid;
		memcpy(l->known->node[place].id, from->id, sizeof(from->id));
		memcpy(l->known->node[place].desc, from->desc, sizeof(from->desc));
	}
}

static enum fors_err add_new(struct learning *l, uint32_t node, struct fors_error *error)
{
	const struct fors_node *from = &l->now->node[node];

	if (l->known_of[node] != FORS_NONE || (from->type != FORS_SWITCH && from->type != FORS_CA))
		return FORS_OK;
	return fors_net_add_node(l->known, from->type, ports_of(l->now, node), from->guid, from->id, from->desc,
				 &l->known_of[node], error);
}

static enum fors_err learn_cable(struct learning *l, uint32_t node, unsigned port, struct fors_error *error)
{
	const struct fors_port *here = fors_net_port(l->now, node, port);
	uint32_t a = l->known_of[node], b;
	const struct fors_port *known;

	if (here->peer == FORS_NONE || here->peer == node)
		return FORS_OK;
	b = l->known_of[here->peer];
	if (a == FORS_NONE || b == FORS_NONE)
		return FORS_OK;
	if (port > l->known->node[a].nports || here->peer_port > l->known->node[b].nports)
		return FORS_OK;
	known = fors_net_port(l->known, a, port);
	if (known->peer == b && known->peer_port == here->peer_port)
		return FORS_OK;
	fors_net_disconnect(l->known, a, port);
	fors_net_disconnect(l->known, b, here->peer_port);
	return fors_net_connect(l->known, a, port, b, here->peer_port, error);
}

static enum fors_err add_all(struct learning *l, struct fors_error *error)
{
	const struct fors_net *now = l->now;
	enum fors_err err = FORS_OK;

	find_places(l);
	rename_taken(l);
	for (uint32_t i = 0; !err && i < now->nnodes; i++)
		err = add_new(l, now->by_guid[i], error);
	for (uint32_t i = 0; !err && i < now->nnodes; i++)
		for (unsigned port = 1; !err && port <= now->node[i].nports; port++)
			err = learn_cable(l, i, port, error);
	return err ? err : fors_net_index(l->known, error);
}

/*
 * What was known `before` (indexed; NULL: nothing), and what `now` shows for the first time, in *made, indexed, owned by
 * the caller; a cable that is plugged otherwise now replaces the one of before. Errors: FORS_ENOMEM, FORS_EINPUT.
 */
static enum fors_err learn_net(const struct fors_net *before, const struct fors_net *now, struct fors_net **made,
			       struct fors_error *error)
{
	struct learning l = {.now = now};
	enum fors_err err = FORS_OK;

	l.known_of = malloc((now->nnodes + (size_t)1) * sizeof(*l.known_of));
	l.is_taken = calloc((before ? before->nnodes : 0) + (size_t)1, sizeof(*l.is_taken));
	if (!l.known_of || !l.is_taken)
		err = fors_fail_memory(error);
	else if (before)
		err = fors_net_copy(before, &l.known, error);
	else if (!(l.known = fors_net_new()))
		err = fors_fail_memory(error);
	if (!err)
		err = add_all(&l, error);
	free(l.known_of);
	free(l.is_taken);
	if (err) {
		fors_net_free(l.known);
		return err;
	}
	*made = l.known;
	return FORS_OK;
}

/* --- marks, names and levels ------------------------------------------------ */

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
static void set_marks(struct fors_known *made, const struct fors_known *before, const struct fors_net *now,
		      const uint64_t *root, size_t nroots)
{
	const struct fors_net *known = made->net;

	for (uint32_t node = 0; node < known->nnodes; node++) {
		uint64_t guid = known->node[node].guid;
		uint32_t here = fors_net_find_guid(now, guid);

		if (before && node < before->net->nnodes && before->net->node[node].guid != guid)
			made->node[node].former = before->net->node[node].guid;
		made->node[node].marks.is_alive = here != FORS_NONE;
		made->node[node].is_other =
			here != FORS_NONE && known->node[node].type != FORS_SWITCH && !fors_is_host(now, here);
		if (here != FORS_NONE)
			take_name(known, node, before ? before->net : NULL, &now->node[here]);
		made->node[node].marks.in_roots =
			known->node[node].type == FORS_SWITCH &&
			(fors_places_is_root(root, nroots, guid) ||
			 (made->node[node].former && fors_places_is_root(root, nroots, made->node[node].former)));
	}
}

/* Would completing add a cable? Errors: FORS_ENOMEM. */
static enum fors_err lacks_cables(const struct fors_pods *pods, bool *lacks, struct fors_error *error)
{
	uint32_t added = 0;
	enum fors_err err = fors_complete(pods, NULL, &added, error);

	*lacks = added;
	return err;
}

enum fors_err fors_known_lacks(const struct fors_known *known, bool *lacks, struct fors_error *error)
{
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_known_build(known, known->net, known->net, &pods, error);

	if (!err)
		err = lacks_cables(pods, lacks, error);
	fors_pods_free(pods);
	return err;
}

enum fors_err fors_known_complete(struct fors_known *known, struct fors_error *error)
{
	return fors_known_lacks(known, &known->completes, error);
}

static enum fors_err set_levels(struct fors_known *made, bool is_first, struct fors_error *error)
{
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_known_build(made, made->net, made->net, &pods, error);

	if (!err)
		for (uint32_t node = 0; node < made->net->nnodes; node++)
			made->node[node].level = pods->level[node];
	if (!err && is_first)
		err = lacks_cables(pods, &made->completes, error);
	fors_pods_free(pods);
	return err;
}

enum fors_err fors_known_learn(const struct fors_known *before, const struct fors_net *now, const uint64_t *root,
			       size_t nroots, struct fors_known **made, struct fors_error *error)
{
	struct fors_net *known = NULL;
	enum fors_err err = learn_net(before ? before->net : NULL, now, &known, error);

	*made = NULL;
	if (!err) {
		*made = copy_nodes(before, known->nnodes);
		err = *made ? FORS_OK : fors_fail_memory(error);
	}
	if (err) {
		fors_net_free(known);
		return err;
	}
	(*made)->net = known;
	set_marks(*made, before, now, root, nroots);
	err = set_levels(*made, !before, error);
	if (err) {
		fors_known_free(*made);
		*made = NULL;
	}
	return err;
}

/* --- references ------------------------------------------------------------- */

void fors_known_mark(struct fors_known *known, bool in_reference)
{
	for (uint32_t node = 0; node < known->net->nnodes; node++)
		known->node[node].marks.in_reference = in_reference && known->node[node].level;
}

void fors_known_bare(struct fors_known *known)
{
	known->completes = false;
	for (uint32_t node = 0; node < known->net->nnodes; node++) {
		struct fors_node *n = &known->net->node[node];

		known->node[node] = (struct fors_known_node){.level = known->node[node].level};
		n->desc[0] = '\0';
		if (n->type != FORS_SWITCH)
			n->guid = 0;
	}
}

/* --- dropping ------------------------------------------------------------- */

/* Would the node hang in the air without `gone`, and is nothing of it alive? FORS_NONE: all go that are no hosts. */
static bool is_left_over(const struct fors_known *before, uint32_t node, uint32_t gone)
{
	const struct fors_net *net = before->net;

	if (gone == FORS_NONE)
		return before->node[node].is_other;
	if (net->node[node].type == FORS_SWITCH || before->node[node].marks.is_alive)
		return false;
	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		uint32_t peer = fors_net_port(net, node, port)->peer;

		if (peer != FORS_NONE && peer != gone)
			return false;
	}
	return true;
}

/* What stays, in its order; its new number comes into to[node], FORS_NONE: it goes. */
static enum fors_err keep_nodes(const struct fors_known *before, uint32_t gone, struct fors_known *made, uint32_t *to,
				struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t node = 0; !err && node < before->net->nnodes; node++) {
		const struct fors_node *n = &before->net->node[node];

		to[node] = FORS_NONE;
		if (node == gone || is_left_over(before, node, gone))
			continue;
		err = fors_net_add_node(made->net, n->type, n->nports, n->guid, n->id, n->desc, &to[node], error);
		if (err)
			return err;
		made->node[to[node]] = before->node[node];
	}
	return err;
}

static enum fors_err keep_cables(const struct fors_net *known, struct fors_net *made, const uint32_t *to,
				 struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t node = 0; node < known->nnodes; node++)
		for (unsigned port = 1; !err && to[node] != FORS_NONE && port <= known->node[node].nports; port++) {
			const struct fors_port *end = fors_net_port(known, node, port);

			if (end->peer != FORS_NONE && end->peer > node && to[end->peer] != FORS_NONE)
				err = fors_net_connect(made, to[node], port, to[end->peer], end->peer_port, error);
		}
	return err ? err : fors_net_index(made, error);
}

bool fors_known_has_others(const struct fors_known *known)
{
	for (uint32_t node = 0; node < known->net->nnodes; node++)
		if (known->node[node].is_other)
			return true;
	return false;
}

enum fors_err fors_known_clean(struct fors_known **known, struct fors_error *error)
{
	return fors_known_drop(known, FORS_NONE, error);
}

enum fors_err fors_known_drop(struct fors_known **known, uint32_t node, struct fors_error *error)
{
	struct fors_known *made = fors_known_new((*known)->net->nnodes);
	uint32_t *to = malloc(((*known)->net->nnodes + (size_t)1) * sizeof(*to));
	enum fors_err err = FORS_OK;

	if (made)
		made->net = fors_net_new();
	if (!made || !made->net || !to)
		err = fors_fail_memory(error);
	if (!err)
		err = keep_nodes(*known, node, made, to, error);
	if (!err)
		err = keep_cables((*known)->net, made->net, to, error);
	free(to);
	if (err) {
		fors_known_free(made);
		return err;
	}
	made->completes = (*known)->completes;
	fors_known_free(*known);
	*known = made;
	return FORS_OK;
}
