/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_learn.c - what a net adds to what was seen before.
 *
 * What was ever seen is a net too, whose nodes keep their numbers: orders follow from them (pods.h). At first they are
 * those of the GUIDs, so that two who begin with the same fabric know the same; what comes later is added behind. A
 * switch that is new, and has a cable at a port where a dead one of the same size had it, is that one repaired: it takes
 * over node, number and cables.
 */
#include "pods.h"

#include <stdlib.h>
#include <string.h>

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
		    !l->is_taken[dead] && l->known->node[dead].nports == l->now->node[node].nports)
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

	if (l->known_of[node] != FORS_NONE)
		return FORS_OK;
	return fors_net_add_node(l->known, from->type, from->nports, from->guid, from->id, from->desc,
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
	if (port > l->known->node[a].nports || here->peer_port > l->known->node[b].nports)
		return FORS_OK;
	known = fors_net_port(l->known, a, port);
	if (known->peer == b && known->peer_port == here->peer_port)
		return FORS_OK;
	fors_net_disconnect(l->known, a, port);
	fors_net_disconnect(l->known, b, here->peer_port);
	return fors_net_connect(l->known, a, port, b, here->peer_port, error);
}

static enum fors_err learn(struct learning *l, struct fors_error *error)
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

enum fors_err fors_pods_learn(struct fors_net **known, const struct fors_net *now, struct fors_error *error)
{
	struct learning l = {.now = now};
	enum fors_err err = FORS_OK;

	l.known_of = malloc((now->nnodes + (size_t)1) * sizeof(*l.known_of));
	l.is_taken = calloc((*known ? (*known)->nnodes : 0) + (size_t)1, sizeof(*l.is_taken));
	if (!l.known_of || !l.is_taken)
		err = fors_fail_memory(error);
	else if (*known)
		err = fors_net_copy(*known, &l.known, error);
	else if (!(l.known = fors_net_new()))
		err = fors_fail_memory(error);
	if (!err)
		err = learn(&l, error);
	free(l.known_of);
	free(l.is_taken);
	if (err) {
		fors_net_free(l.known);
		return err;
	}
	fors_net_free(*known);
	*known = l.known;
	return FORS_OK;
}
