/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods.c - a network understood as a three-level fat-tree: see pods.h.
 *
 * Levels and pods come from pods_roles.c, planes from pods_planes.c. Here they are put together: switches in the order of
 * known's nodes, leaves numbered within their pod, slots in the order of their leaf's ports; and what of it is there now.
 */
#include "pods.h"
#include "pods_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/copy.h"
#include "core/net/rates.h"

void fors_pods_free(struct fors_pods *pods)
{
	if (!pods)
		return;
	free(pods->leaf);
	free(pods->mid);
	free(pods->top);
	free(pods->slot);
	free(pods->level);
	free(pods->number);
	free(pods->mid_of);
	free(pods->peer);
	free(pods->live);
	free(pods->unseen);
	free(pods->drained);
	free(pods->since_ms);
	free(pods->changes);
	free(pods->plays);
	free(pods->capacity);
	fors_net_free(pods->own);
	free(pods);
}

static struct fors_pods *new_pods(const struct fors_net *known, const struct fors_net *now)
{
	struct fors_pods *pods = calloc(1, sizeof(*pods));

	if (!pods)
		return NULL;
	pods->known = known;
	pods->now = now;
	pods->leaf = calloc(known->nnodes + (size_t)1, sizeof(*pods->leaf));
	pods->mid = calloc(known->nnodes + (size_t)1, sizeof(*pods->mid));
	pods->top = calloc(known->nnodes + (size_t)1, sizeof(*pods->top));
	pods->slot = calloc(known->nports + (size_t)1, sizeof(*pods->slot));
	pods->level = calloc(known->nnodes + (size_t)1, sizeof(*pods->level));
	pods->number = malloc((known->nnodes + (size_t)1) * sizeof(*pods->number));
	pods->live = calloc(known->nports + (size_t)1, sizeof(*pods->live));
	pods->unseen = calloc(known->nports + (size_t)1, sizeof(*pods->unseen));
	pods->drained = calloc(known->nports + (size_t)1, sizeof(*pods->drained));
	pods->since_ms = calloc(known->nports + (size_t)1, sizeof(*pods->since_ms));
	pods->changes = calloc(known->nports + (size_t)1, sizeof(*pods->changes));
	pods->plays = calloc(known->nports + (size_t)1, sizeof(*pods->plays));
	pods->capacity = calloc(known->nports + (size_t)1, sizeof(*pods->capacity));
	pods->peer = malloc((known->nports + (size_t)1) * sizeof(*pods->peer));
	if (!pods->leaf || !pods->mid || !pods->top || !pods->slot || !pods->level || !pods->number || !pods->live ||
	    !pods->unseen || !pods->drained || !pods->since_ms || !pods->changes || !pods->plays || !pods->capacity ||
	    !pods->peer) {
		fors_pods_free(pods);
		return NULL;
	}
	for (uint32_t node = 0; node < known->nnodes; node++)
		for (unsigned port = 0; port <= known->node[node].nports; port++)
			pods->peer[known->node[node].first_port + port] = fors_peer_switch(known, node, port);
	return pods;
}

enum fors_err fors_pods_copy(const struct fors_pods *pods, const struct fors_net *known, const struct fors_net *now,
			     struct fors_pods **copy, struct fors_error *error)
{
	struct fors_pods *p = malloc(sizeof(*p));

	if (!p)
		return fors_fail_memory(error);
	*p = *pods;
	p->known = known;
	p->now = now;
	p->own = NULL;
	p->leaf = fors_copy_array(pods->leaf, pods->nleaves, sizeof(*p->leaf));
	p->mid = fors_copy_array(pods->mid, pods->nmids, sizeof(*p->mid));
	p->top = fors_copy_array(pods->top, pods->ntops, sizeof(*p->top));
	p->slot = fors_copy_array(pods->slot, pods->nslots, sizeof(*p->slot));
	p->level = fors_copy_array(pods->level, known->nnodes, sizeof(*p->level));
	p->number = fors_copy_array(pods->number, known->nnodes, sizeof(*p->number));
	p->mid_of = fors_copy_array(pods->mid_of, (size_t)pods->npods * pods->nplanes, sizeof(*p->mid_of));
	p->peer = fors_copy_array(pods->peer, known->nports, sizeof(*p->peer));
	p->live = fors_copy_array(pods->live, known->nports, sizeof(*p->live));
	p->unseen = fors_copy_array(pods->unseen, known->nports, sizeof(*p->unseen));
	p->drained = fors_copy_array(pods->drained, known->nports, sizeof(*p->drained));
	p->since_ms = fors_copy_array(pods->since_ms, known->nports, sizeof(*p->since_ms));
	p->changes = fors_copy_array(pods->changes, known->nports, sizeof(*p->changes));
	p->plays = fors_copy_array(pods->plays, pods->nslots, sizeof(*p->plays));
	p->capacity = fors_copy_array(pods->capacity, known->nports, sizeof(*p->capacity));
	if (!p->leaf || !p->mid || !p->top || !p->slot || !p->level || !p->number || !p->mid_of || !p->peer ||
	    !p->live || !p->unseen || !p->drained || !p->since_ms || !p->changes || !p->plays || !p->capacity) {
		fors_pods_free(p);
		return fors_fail_memory(error);
	}
	*copy = p;
	return FORS_OK;
}

/* ---- what has a place ---- */

static uint32_t add(struct fors_pods_switch *list, uint32_t *count, const struct fors_pods *pods, uint32_t node,
		    uint32_t pod)
{
	uint64_t guid = pods->known->node[node].guid;

	list[*count] = (struct fors_pods_switch){
		.node = node, .now = fors_net_find_guid(pods->now, guid), .pod = pod, .plane = FORS_NONE};
	return (*count)++;
}

static void add_switches(struct fors_pods *pods, const uint32_t *pod)
{
	for (uint32_t node = 0; node < pods->known->nnodes; node++) {
		uint32_t *number = &pods->number[node];

		*number = FORS_NONE;
		if (pods->level[node] == FORS_PODS_LEAF)
			*number = add(pods->leaf, &pods->nleaves, pods, node, pod[node]);
		else if (pods->level[node] == FORS_PODS_MID)
			*number = add(pods->mid, &pods->nmids, pods, node, pod[node]);
		else if (pods->level[node] == FORS_PODS_TOP)
			*number = add(pods->top, &pods->ntops, pods, node, FORS_NONE);
	}
}

static enum fors_err number_leaves(struct fors_pods *pods, struct fors_error *error)
{
	uint32_t *next = calloc(pods->npods + (size_t)1, sizeof(*next));

	if (!next)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		pods->leaf[a].number = next[pods->leaf[a].pod]++;
	free(next);
	return FORS_OK;
}

/* ---- what is there now ---- */

uint32_t fors_pods_now(const struct fors_pods *pods, uint32_t node)
{
	uint32_t number = pods->number[node];

	if (number == FORS_NONE)
		return FORS_NONE;
	if (pods->level[node] == FORS_PODS_LEAF)
		return pods->leaf[number].now;
	return pods->level[node] == FORS_PODS_MID ? pods->mid[number].now : pods->top[number].now;
}

/* Is the cable of a known port there now, between the same ports? */
static bool is_there(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	const struct fors_port *known = fors_net_port(pods->known, node, port), *there;
	uint32_t here = fors_pods_now(pods, node), peer = fors_pods_peer(pods, node, port);

	if (here == FORS_NONE || peer == FORS_NONE || port > pods->now->node[here].nports)
		return false;
	there = fors_net_port(pods->now, here, port);
	return there->peer != FORS_NONE && there->peer == fors_pods_now(pods, peer) &&
	       there->peer_port == known->peer_port;
}

static void find_live(struct fors_pods *pods)
{
	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		for (unsigned port = 1; pods->level[node] && port <= pods->known->node[node].nports; port++)
			pods->live[pods->known->node[node].first_port + port] = is_there(pods, node, port);
}

/* Who is at a leaf's port now. */
static void look_at_slot(const struct fors_pods *pods, struct fors_pods_slot *slot)
{
	uint32_t here = pods->leaf[slot->leaf].now;
	const struct fors_port *there;

	if (here == FORS_NONE || slot->port > pods->now->node[here].nports)
		return;
	there = fors_net_port(pods->now, here, slot->port);
	if (there->peer == FORS_NONE || pods->now->node[there->peer].type == FORS_SWITCH)
		return;
	slot->is_host = fors_is_host(pods->now, there->peer);
	there = fors_net_port(pods->now, there->peer, there->peer_port);
	slot->guid = there->guid;
	slot->lid = there->lid;
	slot->lmc = there->lmc;
}

static void add_slots(struct fors_pods *pods)
{
	for (uint32_t a = 0; a < pods->nleaves; a++) {
		struct fors_pods_switch *leaf = &pods->leaf[a];

		leaf->first = pods->nslots;
		for (unsigned port = 1; port <= pods->known->node[leaf->node].nports; port++) {
			uint32_t peer = fors_net_port(pods->known, leaf->node, port)->peer;

			if (peer == FORS_NONE || pods->known->node[peer].type == FORS_SWITCH)
				continue;
			pods->slot[pods->nslots] = (struct fors_pods_slot){
				.leaf = a, .rank = (uint16_t)leaf->nslots++, .port = (uint8_t)port};
			look_at_slot(pods, &pods->slot[pods->nslots]);
			pods->plays[pods->nslots] = pods->slot[pods->nslots].lid && pods->slot[pods->nslots].is_host;
			pods->nplayers += pods->plays[pods->nslots++];
		}
	}
}

/* The port of now where a port of known is, NULL: its switch is dead, or has fewer. */
static const struct fors_port *port_now(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	uint32_t now = fors_pods_now(pods, node);

	return now == FORS_NONE || port > pods->now->node[now].nports ? NULL : fors_net_port(pods->now, now, port);
}

/* What cables carry follows from who takes part. */
static void find_capacities(struct fors_pods *pods)
{
	const struct fors_net *known = pods->known;

	pods->flow = 0;
	for (uint32_t s = 0; s < pods->nslots; s++)
		if (pods->plays[s])
			fors_rates_takes_part(
				pods->now,
				fors_net_port(pods->now, pods->leaf[pods->slot[s].leaf].now, pods->slot[s].port),
				&pods->flow);
	for (uint32_t node = 0; node < known->nnodes; node++)
		for (unsigned p = 0; p <= known->node[node].nports; p++) {
			const struct fors_port *port = port_now(pods, node, p);

			pods->capacity[known->node[node].first_port + p] =
				port ? fors_rates_capacity(pods->now, port, pods->flow) : 1;
		}
}

enum fors_err fors_pods_build(const struct fors_net *known, const struct fors_net *now, const uint64_t *root_guids,
			      size_t nroots, struct fors_pods **pods, struct fors_error *error)
{
	struct fors_pods *made = new_pods(known, now);
	uint32_t *pod = malloc((known->nnodes + (size_t)1) * sizeof(*pod));
	enum fors_err err = made && pod ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_pods_roles(known, root_guids, nroots, made->level, pod, &made->npods, error);
	if (!err) {
		add_switches(made, pod);
		err = number_leaves(made, error);
	}
	if (!err)
		err = fors_pods_planes(made, error);
	if (!err) {
		find_live(made);
		add_slots(made);
		find_capacities(made);
	}
	free(pod);
	if (err)
		fors_pods_free(made);
	else
		*pods = made;
	return err;
}

enum fors_err fors_pods_seat(struct fors_pods *pods, const struct fors_participants *participants,
			     struct fors_error *error)
{
	struct fors_participants sorted;
	enum fors_err err = fors_participants_sort(participants, &sorted, error);

	if (err)
		return err;
	pods->nplayers = 0;
	for (uint32_t s = 0; s < pods->nslots; s++) {
		pods->plays[s] = pods->slot[s].lid && pods->slot[s].is_host &&
				 fors_participants_have(&sorted, pods->slot[s].guid);
		pods->nplayers += pods->plays[s];
	}
	free(sorted.guid);
	find_capacities(pods);
	return FORS_OK;
}

bool fors_pods_is_uneven(const struct fors_pods *pods)
{
	uint8_t capacity = 0;

	for (uint32_t i = 0; i < pods->known->nports; i++) {
		if (!pods->live[i])
			continue;
		capacity = capacity ? capacity : pods->capacity[i];
		if (pods->capacity[i] != capacity)
			return true;
	}
	return false;
}

uint8_t *fors_pods_levels_now(const struct fors_pods *pods)
{
	uint8_t *level = calloc(pods->now->nnodes + (size_t)1, sizeof(*level));

	for (uint32_t node = 0; level && node < pods->known->nnodes; node++) {
		uint32_t now = fors_pods_now(pods, node);

		if (now != FORS_NONE)
			level[now] = pods->level[node];
	}
	return level;
}
