/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checker {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	const struct fors_demand *demand;
	const struct fors_demand_plan *plan;
	struct fors_demand_verdict *verdict;
	uint32_t *port;	 /* per server: its port, an index of net->port */
	uint32_t *owner; /* per port of the net: its node */
	uint32_t *row;	 /* per node: its table, FORS_NONE */
	uint32_t *sent;	 /* per port of the net: the phase, from 1, in which something left by it last */
	uint32_t *came;	 /* per server: the phase in which something came last */
	uint32_t *first; /* per server: its first message in the demand; one more */
	uint64_t *bytes; /* per message of the demand */
};

static bool wrong(struct checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct checker *c, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(c->verdict->text, sizeof(c->verdict->text), format, list);
	va_end(list);
	return false;
}

/* ---- one piece ---- */

/* Something leaves by a port of the net. */
static bool leave(struct checker *c, uint32_t port, uint32_t phase)
{
	const struct fors_node *node = &c->net->node[c->owner[port]];

	if (c->sent[port] == phase + 1)
		return wrong(c, "phase %u: two pieces leave %s by port %u", phase, node->desc, port - node->first_port);
	c->sent[port] = phase + 1;
	return true;
}

/* From the sender's port to the receiver's, cable by cable. */
static bool walk(struct checker *c, const struct fors_demand_piece *piece, uint32_t phase)
{
	const struct fors_net *net = c->net;
	uint32_t port = c->port[piece->src], end = c->port[piece->dst], lid = net->port[end].lid + piece->path;

	for (uint32_t hops = 0; hops <= net->nnodes; hops++) {
		uint32_t peer = net->port[port].peer, number;

		if (!leave(c, port, phase))
			return false;
		if (peer == FORS_NONE)
			break;
		if (net->node[peer].first_port + net->port[port].peer_port == end)
			return true;
		if (net->node[peer].type != FORS_SWITCH || c->row[peer] == FORS_NONE)
			break;
		number = fors_lfts_port(c->lfts, c->row[peer], lid);
		if (!number || number > net->node[peer].nports)
			break;
		port = net->node[peer].first_port + number;
	}
	return wrong(c, "phase %u: LID %u is not reached from server %u", phase, lid, piece->src);
}

static bool is_named(const struct checker *c, const struct fors_demand_piece *piece, uint32_t phase)
{
	if (piece->src >= c->demand->nservers || piece->dst >= c->demand->nservers || piece->src == piece->dst)
		return wrong((struct checker *)c, "phase %u: from %u to %u are no two servers", phase, piece->src,
			     piece->dst);
	return piece->path < 1u << c->net->port[c->port[piece->dst]].lmc ||
	       wrong((struct checker *)c, "phase %u: server %u has no path index %u", phase, piece->dst, piece->path);
}

/* The message of a pair, by halves of what the sender has; FORS_NONE. */
static uint32_t message_of(const struct checker *c, uint32_t src, uint32_t dst)
{
	uint32_t low = c->first[src], high = c->first[src + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->demand->message[middle].dst < dst)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->first[src + 1] && c->demand->message[low].dst == dst ? low : FORS_NONE;
}

static bool check_piece(struct checker *c, const struct fors_demand_piece *piece, uint32_t phase)
{
	uint32_t message;

	if (!is_named(c, piece, phase))
		return false;
	if (!piece->bytes || piece->bytes > c->plan->length[phase])
		return wrong(c, "phase %u of %" PRIu64 " bytes has a piece of %" PRIu64, phase, c->plan->length[phase],
			     piece->bytes);
	message = message_of(c, piece->src, piece->dst);
	if (message == FORS_NONE)
		return wrong(c, "phase %u: server %u has nothing for server %u", phase, piece->src, piece->dst);
	if (c->came[piece->dst] == phase + 1)
		return wrong(c, "phase %u: server %u receives two pieces", phase, piece->dst);
	c->came[piece->dst] = phase + 1;
	c->bytes[message] += piece->bytes;
	c->verdict->nflows++;
	return walk(c, piece, phase);
}

/* ---- all of them ---- */

static bool check_all(struct checker *c)
{
	for (uint32_t k = 0; k < c->plan->nphases; k++)
		for (uint32_t i = c->plan->begin[k]; i < c->plan->begin[k + 1]; i++)
			if (!check_piece(c, &c->plan->piece[i], k))
				return false;
	for (uint32_t m = 0; m < c->demand->count; m++)
		if (c->bytes[m] != c->demand->message[m].bytes)
			return wrong(c, "%" PRIu64 " of %" PRIu64 " bytes go from server %u to server %u", c->bytes[m],
				     c->demand->message[m].bytes, c->demand->message[m].src, c->demand->message[m].dst);
	return true;
}

/* ---- what is asked often ---- */

struct named_port {
	uint64_t guid;
	uint32_t port;
};

static int by_guid(const void *left, const void *right)
{
	const struct named_port *a = left, *b = right;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

/* The ports of servers, by their GUIDs; false: one is not there. */
static bool find_ports(struct checker *c, const uint64_t *guid, struct named_port *named)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < c->net->nnodes; node++)
		for (unsigned p = 1; c->net->node[node].type == FORS_CA && p <= c->net->node[node].nports; p++)
			named[n++] = (struct named_port){fors_net_port(c->net, node, p)->guid,
							 c->net->node[node].first_port + p};
	if (n)
		qsort(named, n, sizeof(*named), by_guid);
	for (uint32_t s = 0; s < c->demand->nservers; s++) {
		const struct named_port key = {guid[s], 0}, *found = bsearch(&key, named, n, sizeof(key), by_guid);

		if (!found)
			return wrong(c, "server %u is not in the net", s);
		c->port[s] = found->port;
	}
	return true;
}

static void prepare(struct checker *c)
{
	for (uint32_t m = 0; m < c->demand->count; m++)
		c->first[c->demand->message[m].src + 1] = m + 1;
	for (uint32_t s = 0; s < c->demand->nservers; s++)
		if (c->first[s + 1] < c->first[s])
			c->first[s + 1] = c->first[s];
	for (uint32_t node = 0; node < c->net->nnodes; node++) {
		c->row[node] = fors_lfts_row(c->lfts, c->net->node[node].guid);
		for (unsigned p = 0; p <= c->net->node[node].nports; p++)
			c->owner[c->net->node[node].first_port + p] = node;
	}
}

static bool allocate(struct checker *c)
{
	c->port = calloc(c->demand->nservers + (size_t)1, sizeof(*c->port));
	c->came = calloc(c->demand->nservers + (size_t)1, sizeof(*c->came));
	c->owner = calloc(c->net->nports + (size_t)1, sizeof(*c->owner));
	c->sent = calloc(c->net->nports + (size_t)1, sizeof(*c->sent));
	c->row = calloc(c->net->nnodes + (size_t)1, sizeof(*c->row));
	c->first = calloc(c->demand->nservers + (size_t)1, sizeof(*c->first));
	c->bytes = calloc(c->demand->count + (size_t)1, sizeof(*c->bytes));
	return c->port && c->came && c->owner && c->sent && c->row && c->first && c->bytes;
}

enum fors_err fors_demand_check(const struct fors_net *net, const struct fors_lfts *lfts, const uint64_t *guid,
				const struct fors_demand *demand, const struct fors_demand_plan *plan,
				struct fors_demand_verdict *verdict, struct fors_error *error)
{
	struct checker c = {.net = net, .lfts = lfts, .demand = demand, .plan = plan, .verdict = verdict};
	struct named_port *named = malloc((net->nports + (size_t)1) * sizeof(*named));
	bool is_good = allocate(&c) && named;

	*verdict = (struct fors_demand_verdict){0};
	if (is_good) {
		prepare(&c);
		verdict->is_right = find_ports(&c, guid, named) && check_all(&c);
	}
	free(c.port);
	free(c.came);
	free(c.owner);
	free(c.sent);
	free(c.row);
	free(c.first);
	free(c.bytes);
	free(named);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
