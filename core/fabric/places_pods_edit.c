/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_pods_edit.c - the kept order of a tree of three levels against a reference fabric, and what is dropped from
 * it.
 */
#include "places_pods_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {
	[FORS_PODS_LEAF] = "leaf", [FORS_PODS_MID] = "middle switch", [FORS_PODS_TOP] = "top"};

void fors_pod_places_mark(struct fors_pod_places *pods, bool in_reference)
{
	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		pods->mark[node].in_reference = in_reference && pods->level[node];
}

void fors_pod_places_bare(struct fors_pod_places *pods)
{
	for (uint32_t node = 0; node < pods->known->nnodes; node++) {
		struct fors_node *n = &pods->known->node[node];

		pods->mark[node] = (struct fors_place_marks){false, false, false};
		pods->former[node] = 0;
		n->desc[0] = '\0';
		if (n->type != FORS_SWITCH)
			n->guid = 0;
	}
}

/* --- differences ---------------------------------------------------------- */

struct comparing {
	const struct fors_net *known, *reference;
	void (*tell)(void *context, const char *text);
	void *context;
};

static void compare_switch(const struct comparing *c, uint32_t node, const char *level)
{
	const struct fors_node *n = &c->known->node[node], *before = &c->reference->node[node];
	char text[FORS_ERROR_TEXT];

	if (node < c->reference->nnodes && before->guid == n->guid)
		return;
	if (node < c->reference->nnodes)
		snprintf(text, sizeof(text), "%s %s (0x%016" PRIx64 ") in the place of %s (0x%016" PRIx64 ")", level,
			 n->desc, n->guid, before->desc, before->guid);
	else
		snprintf(text, sizeof(text), "%s %s (0x%016" PRIx64 ")", level, n->desc, n->guid);
	c->tell(c->context, text);
}

/* What is plugged in at a switch's port that was in the reference too, and was not then. */
static void compare_port(const struct comparing *c, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(c->known, node, port),
			       *before = fors_net_port(c->reference, node, port);
	const struct fors_node *n = &c->known->node[node], *peer = &c->known->node[here->peer];
	bool was_server = before->peer != FORS_NONE && c->reference->node[before->peer].type != FORS_SWITCH;
	char text[FORS_ERROR_TEXT];

	if (peer->type == FORS_SWITCH && (before->peer != here->peer || before->peer_port != here->peer_port) &&
	    here->peer > node)
		snprintf(text, sizeof(text), "cable %s[%u] - %s[%u]", n->desc, port, peer->desc, here->peer_port);
	else if (peer->type != FORS_SWITCH && !was_server)
		snprintf(text, sizeof(text), "server at %s[%u]", n->desc, port);
	else
		return;
	c->tell(c->context, text);
}

void fors_pod_places_compare(const struct fors_pod_places *pods, const struct fors_pod_places *reference,
			     void (*tell)(void *context, const char *text), void *context)
{
	const struct comparing c = {pods->known, reference->known, tell, context};

	for (uint32_t node = 0; node < pods->known->nnodes; node++) {
		if (!pods->level[node])
			continue;
		compare_switch(&c, node, level_names[pods->level[node]]);
		for (unsigned port = 1; node < c.reference->nnodes && port <= c.known->node[node].nports; port++)
			if (fors_net_port(c.known, node, port)->peer != FORS_NONE)
				compare_port(&c, node, port);
	}
}

/* --- dropping ------------------------------------------------------------- */

/* Would the node hang in the air without `gone`, and is nothing of it alive? */
static bool is_left_over(const struct fors_pod_places *pods, uint32_t node, uint32_t gone)
{
	const struct fors_net *known = pods->known;

	if (known->node[node].type == FORS_SWITCH || pods->mark[node].is_alive)
		return false;
	for (unsigned port = 1; port <= known->node[node].nports; port++) {
		uint32_t peer = fors_net_port(known, node, port)->peer;

		if (peer != FORS_NONE && peer != gone)
			return false;
	}
	return true;
}

/* What stays, in its order; its new number comes into to[node], FORS_NONE: it goes. */
static enum fors_err keep_nodes(const struct fors_pod_places *pods, uint32_t gone, struct fors_pod_places *made,
				uint32_t *to, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t node = 0; !err && node < pods->known->nnodes; node++) {
		const struct fors_node *n = &pods->known->node[node];

		to[node] = FORS_NONE;
		if (node == gone || is_left_over(pods, node, gone))
			continue;
		err = fors_net_add_node(made->known, n->type, n->nports, n->guid, n->id, n->desc, &to[node], error);
		if (err)
			return err;
		made->mark[to[node]] = pods->mark[node];
		made->former[to[node]] = pods->former[node];
		made->level[to[node]] = pods->level[node];
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

enum fors_err fors_pod_places_drop(struct fors_pod_places **pods, uint32_t node, struct fors_error *error)
{
	struct fors_pod_places *made = fors_pod_places_new((*pods)->known->nnodes);
	uint32_t *to = malloc(((*pods)->known->nnodes + (size_t)1) * sizeof(*to));
	enum fors_err err = FORS_OK;

	if (made)
		made->known = fors_net_new();
	if (!made || !made->known || !to)
		err = fors_fail_memory(error);
	if (!err)
		err = keep_nodes(*pods, node, made, to, error);
	if (!err)
		err = keep_cables((*pods)->known, made->known, to, error);
	free(to);
	if (err) {
		fors_pod_places_free(made);
		return err;
	}
	fors_pod_places_free(*pods);
	*pods = made;
	return FORS_OK;
}
