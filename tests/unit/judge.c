/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* judge.c - see judge.h. Slow and plain on purpose. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LID_ROOM 49152

struct court {
	const struct fors_fabric *f;
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t owner[LID_ROOM]; /* node that has the LID, FORS_NONE */
	uint32_t *island;	  /* per node */
	bool *waits;		  /* [out port of the net * nports + out port that its packets go on to] */
	uint8_t *colour;	  /* per out port */
	struct judgement verdict;
};

static void fault(struct court *c, const char *what, uint32_t node, uint32_t lid)
{
	if (!c->verdict.text[0])
		snprintf(c->verdict.text, sizeof(c->verdict.text), "from %s, LID %u of %s: %s", c->net->node[node].desc,
			 lid, c->net->node[c->owner[lid]].desc, what);
}

static bool is_switch(const struct court *c, uint32_t node)
{
	return node != FORS_NONE && c->net->node[node].type == FORS_SWITCH;
}

static void find_owners(struct court *c)
{
	for (uint32_t lid = 0; lid < LID_ROOM; lid++)
		c->owner[lid] = FORS_NONE;
	for (uint32_t node = 0; node < c->net->nnodes; node++)
		for (unsigned p = 0; p <= c->net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(c->net, node, p);
			bool is_own = is_switch(c, node) ? p == 0 : port->peer != FORS_NONE && is_switch(c, port->peer);

			for (uint32_t i = 0; is_own && port->lid && i < 1u << port->lmc; i++)
				c->owner[port->lid + i] = node;
		}
}

/* Labels spread over switch-switch cables until nothing changes. */
static void find_islands(struct court *c)
{
	bool is_more = true;

	for (uint32_t node = 0; node < c->net->nnodes; node++)
		c->island[node] = node;
	while (is_more) {
		is_more = false;
		for (uint32_t node = 0; node < c->net->nnodes; node++)
			for (unsigned p = 1; is_switch(c, node) && p <= c->net->node[node].nports; p++) {
				uint32_t peer = fors_net_port(c->net, node, p)->peer;

				if (is_switch(c, peer) && c->island[peer] > c->island[node]) {
					c->island[peer] = c->island[node];
					is_more = true;
				}
			}
	}
}

static uint8_t entry(const struct court *c, uint32_t node, uint32_t lid)
{
	return fors_lfts_port(c->lfts, fors_lfts_row(c->lfts, c->net->node[node].guid), lid);
}

static bool is_leaf(const struct court *c, uint32_t node)
{
	for (uint32_t a = 0; a < c->f->nleaves; a++)
		if (c->f->leaf[a].node == node)
			return true;
	return false;
}

/* Do packets begin at the switch? */
static bool is_asked(const struct court *c, uint32_t node)
{
	for (unsigned p = 1; p <= c->net->node[node].nports; p++) {
		uint32_t peer = fors_net_port(c->net, node, p)->peer;

		if (peer != FORS_NONE && !is_switch(c, peer))
			return true;
	}
	return is_leaf(c, node) || fors_net_port(c->net, node, 0)->is_sm;
}

static bool are_cabled(const struct court *c, uint32_t a, uint32_t b)
{
	for (unsigned p = 1; p <= c->net->node[a].nports; p++)
		if (fors_net_port(c->net, a, p)->peer == b)
			return true;
	return false;
}

/* The switch where a LID leaves the switches. */
static uint32_t switch_of(const struct court *c, uint32_t lid)
{
	const struct fors_net *net = c->net;
	uint32_t node = c->owner[lid];

	if (is_switch(c, node))
		return node;
	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		const struct fors_port *port = fors_net_port(net, node, p);

		if (port->peer != FORS_NONE && port->lid <= lid && lid < port->lid + (1u << port->lmc))
			return port->peer;
	}
	return FORS_NONE;
}

static bool is_plain(const struct court *c, uint32_t from, uint32_t to)
{
	if (from == to || are_cabled(c, from, to))
		return true;
	for (uint32_t k = 0; is_leaf(c, from) && is_leaf(c, to) && k < c->f->nspines; k++)
		if (c->f->spine[k].node != FORS_NONE && are_cabled(c, c->f->spine[k].node, from) &&
		    are_cabled(c, c->f->spine[k].node, to))
			return true;
	return false;
}

/* One packet. */
static void walk(struct court *c, uint32_t start, uint32_t lid)
{
	uint32_t at = start, goal = switch_of(c, lid), before = FORS_NONE;
	bool counts = is_asked(c, start) && c->island[start] == c->island[goal];

	for (uint32_t hops = 0; is_switch(c, at); hops++) {
		uint8_t port = entry(c, at, lid);
		uint32_t out = c->net->node[at].first_port + port;

		if (port == 0)
			break;
		if (port == FORS_NO_PATH) {
			c->verdict.nowhere += counts;
			if (counts && is_plain(c, start, goal)) {
				c->verdict.needless++;
				fault(c, "no path", start, lid);
			}
			return;
		}
		if (port > c->net->node[at].nports || c->net->port[out].peer == FORS_NONE) {
			c->verdict.dropped += counts;
			if (counts)
				fault(c, "dead port", start, lid);
			return;
		}
		if (is_switch(c, c->net->port[out].peer)) {
			if (before != FORS_NONE)
				c->waits[(size_t)before * c->net->nports + out] = true;
			before = out;
		}
		if (hops > c->net->nnodes) {
			c->verdict.wrong++;
			fault(c, "round in circles", start, lid);
			return;
		}
		at = c->net->port[out].peer;
	}
	if (at != c->owner[lid]) {
		c->verdict.wrong++;
		fault(c, "wrong place", start, lid);
	}
}

/* Depth first; true: a circle. */
static bool visit(struct court *c, uint32_t out)
{
	c->colour[out] = 1;
	for (uint32_t next = 0; next < c->net->nports; next++)
		if (c->waits[(size_t)out * c->net->nports + next] &&
		    (c->colour[next] == 1 || (!c->colour[next] && visit(c, next))))
			return true;
	c->colour[out] = 2;
	return false;
}

struct judgement judge_tables(const struct fors_fabric *fabric, const struct fors_lfts *lfts)
{
	struct court *c = calloc(1, sizeof(*c));
	struct judgement verdict;

	assert_non_null(c);
	c->f = fabric;
	c->net = fabric->net;
	c->lfts = lfts;
	c->island = calloc(c->net->nnodes, sizeof(*c->island));
	c->waits = calloc((size_t)c->net->nports * c->net->nports, sizeof(*c->waits));
	c->colour = calloc(c->net->nports, 1);
	assert_true(c->island && c->waits && c->colour);
	find_owners(c);
	find_islands(c);
	for (uint32_t node = 0; node < c->net->nnodes; node++)
		for (uint32_t lid = 1; is_switch(c, node) && lid < lfts->nlids; lid++)
			if (c->owner[lid] != FORS_NONE)
				walk(c, node, lid);
	for (uint32_t out = 0; out < c->net->nports; out++)
		c->verdict.has_loop |= !c->colour[out] && visit(c, out);
	verdict = c->verdict;
	free(c->island);
	free(c->waits);
	free(c->colour);
	free(c);
	return verdict;
}
