/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff.c - what changed between two nets.
 *
 * First the nodes are matched, by GUID, then by description for what was replaced. Matched nodes get one number, `id`, and so
 * each net becomes a sorted list of cables between ids, which one walk compares. What only one list has is gone or new; a
 * cable that is gone and one that is new, with an end in common, are one that was plugged elsewhere.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

struct cable {
	uint32_t id[2]; /* of the nodes, the smaller end first */
	uint8_t port[2];
	bool is_degraded;
	bool is_used; /* up in a move */
};

struct cables {
	struct cable *list;
	size_t count;
};

struct matching {
	const struct fors_net *net[2];
	uint32_t *id[2];   /* by node; in the first net by GUID */
	uint32_t *node[2]; /* by id, FORS_NONE: not in this net */
	uint32_t nids;
	struct cables cables[2];
	struct fors_diff diff;
};

/* --- nodes ----------------------------------------------------------------------------------------------------- */

static bool is_single(const struct matching *m, int which, uint32_t node)
{
	const struct fors_net *net = m->net[which];

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (i != node && m->node[1 - which][m->id[which][i]] == FORS_NONE &&
		    net->node[i].type == net->node[node].type && !strcmp(net->node[i].desc, net->node[node].desc))
			return false;
	return true;
}

/* The number of the node of the first net that this unmatched one of the second replaces, or FORS_NONE. */
static uint32_t replaced_by(const struct matching *m, uint32_t node)
{
	const struct fors_node *new = &m->net[1]->node[node];

	for (uint32_t i = 0; i < m->net[0]->nnodes; i++) {
		const struct fors_node *old = &m->net[0]->node[i];

		if (m->node[1][m->id[0][i]] == FORS_NONE && old->type == new->type && * old->desc &&
		    !strcmp(old->desc, new->desc))
			return is_single(m, 0, i) && is_single(m, 1, node) ? m->id[0][i] : FORS_NONE;
	}
	return FORS_NONE;
}

/* Give a node of the second net the number of the same one in the first, or one of its own. */
static void match_node(struct matching *m, uint32_t node)
{
	uint32_t same = fors_net_find_guid(m->net[0], m->net[1]->node[node].guid), id;

	if (same != FORS_NONE && m->net[0]->node[same].type == m->net[1]->node[node].type) {
		id = m->id[0][same];
	} else {
		id = m->nids++;
		m->node[0][id] = FORS_NONE;
	}
	m->node[1][id] = node;
	m->id[1][node] = id;
}

static void match_nodes(struct matching *m)
{
	uint32_t n = m->net[0]->nnodes, *replaced = m->node[0] + n + m->net[1]->nnodes; /* room behind the ids */

	for (uint32_t i = 0; i < n; i++) {
		m->node[0][i] = m->net[0]->by_guid[i];
		m->id[0][m->node[0][i]] = i;
		m->node[1][i] = FORS_NONE;
	}
	m->nids = n;
	for (uint32_t k = 0; k < m->net[1]->nnodes; k++)
		match_node(m, m->net[1]->by_guid[k]);
	for (uint32_t j = 0; j < m->net[1]->nnodes; j++)
		replaced[j] = m->id[1][j] >= n ? replaced_by(m, j) : FORS_NONE;
	for (uint32_t j = 0; j < m->net[1]->nnodes; j++)
		if (replaced[j] != FORS_NONE) {
			m->node[1][m->id[1][j]] = FORS_NONE;
			m->id[1][j] = replaced[j];
			m->node[1][replaced[j]] = j;
		}
}

/* --- cables ---------------------------------------------------------------------------------------------------- */

static int compare_ends(uint32_t id, uint8_t port, uint32_t other, uint8_t other_port)
{
	return id != other ? (id > other) - (id < other) : (port > other_port) - (port < other_port);
}

static int compare_cables(const void *a, const void *b)
{
	const struct cable *x = a, *y = b;
	int order = compare_ends(x->id[0], x->port[0], y->id[0], y->port[0]);

	return order ? order : compare_ends(x->id[1], x->port[1], y->id[1], y->port[1]);
}

static void list_cables(struct matching *m, int which)
{
	const struct fors_net *net = m->net[which];
	struct cables *cables = &m->cables[which];

	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 1; p <= net->node[i].nports; p++) {
			const struct fors_port *port = fors_net_port(net, i, p);
			uint32_t near = m->id[which][i], far = port->peer == FORS_NONE ? 0 : m->id[which][port->peer];

			if (port->peer != FORS_NONE && compare_ends(near, (uint8_t)p, far, port->peer_port) < 0)
				cables->list[cables->count++] = (struct cable){
					{near, far}, {(uint8_t)p, port->peer_port}, port->is_degraded, false};
		}
	qsort(cables->list, cables->count, sizeof(*cables->list), compare_cables);
}

/* --- what is found --------------------------------------------------------------------------------------------- */

static void put(struct matching *m, struct fors_change change)
{
	m->diff.change[m->diff.count++] = change;
}

static uint32_t count_cables(const struct fors_net *net, uint32_t node)
{
	uint32_t count = 0;

	for (unsigned p = 1; p <= net->node[node].nports; p++)
		count += fors_net_port(net, node, p)->peer != FORS_NONE;
	return count;
}

static void put_node(struct matching *m, uint32_t id)
{
	uint32_t a = m->node[0][id], b = m->node[1][id];
	struct fors_change change = {.a = a, .b = b};

	if (a == FORS_NONE && b == FORS_NONE)
		return; /* a number that was given up for a replacement */
	if (b == FORS_NONE) {
		change.kind = FORS_NODE_GONE;
		change.ncables = count_cables(m->net[0], a);
	} else if (a == FORS_NONE) {
		change.kind = FORS_NODE_NEW;
		change.ncables = count_cables(m->net[1], b);
	} else if (m->net[0]->node[a].guid != m->net[1]->node[b].guid) {
		change.kind = FORS_NODE_REPLACED;
	} else if (strcmp(m->net[0]->node[a].desc, m->net[1]->node[b].desc) != 0) {
		change.kind = FORS_NODE_RENAMED;
	} else {
		return;
	}
	put(m, change);
}

/* An end of a cable, in terms of a net that has it. */
static struct fors_end end_of(const struct matching *m, int which, const struct cable *cable, int end)
{
	return (struct fors_end){m->node[which][cable->id[end]], cable->port[end]};
}

static void put_cable(struct matching *m, enum fors_change_kind kind, int which, const struct cable *cable)
{
	put(m, (struct fors_change){.kind = kind,
				    .a = FORS_NONE,
				    .b = FORS_NONE,
				    .near = end_of(m, which, cable, 0),
				    .far = end_of(m, which, cable, 1)});
}

/* Are both its nodes in the other net, too? */
static bool counts(const struct matching *m, int which, const struct cable *cable)
{
	return m->node[1 - which][cable->id[0]] != FORS_NONE && m->node[1 - which][cable->id[1]] != FORS_NONE;
}

/* The end of `old` that `new` has too, -1: none; *other is the end of `new` that is not it. */
static int common_end(const struct cable *old, const struct cable *new, int *other)
{
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			if (!compare_ends(old->id[i], old->port[i], new->id[j], new->port[j])) {
				*other = 1 - j;
				return i;
			}
	return -1;
}

/* A cable that is gone: was it plugged elsewhere? `fresh` are those that are new. */
static void put_gone(struct matching *m, const struct cable *old, struct cable **fresh, size_t nfresh)
{
	for (size_t i = 0; i < nfresh; i++) {
		int other = 0, end = fresh[i]->is_used ? -1 : common_end(old, fresh[i], &other);

		if (end < 0)
			continue;
		fresh[i]->is_used = true;
		put(m, (struct fors_change){.kind = FORS_CABLE_MOVED,
					    .a = FORS_NONE,
					    .b = FORS_NONE,
					    .near = end_of(m, 0, old, end),
					    .far = end_of(m, 0, old, 1 - end),
					    .now = end_of(m, 1, fresh[i], other)});
		return;
	}
	put_cable(m, FORS_CABLE_GONE, 0, old);
}

/* Walk both lists: what is in one only goes to lost and fresh, what is in both may have another speed. */
static void compare_lists(struct matching *m, struct cable **lost, size_t *nlost, struct cable **fresh, size_t *nfresh)
{
	const struct cables *a = &m->cables[0], *b = &m->cables[1];

	for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
		int order = i == a->count ? 1 : j == b->count ? -1 : compare_cables(&a->list[i], &b->list[j]);

		if (order < 0) {
			lost[*nlost] = &a->list[i++];
			*nlost += counts(m, 0, lost[*nlost]);
		} else if (order > 0) {
			fresh[*nfresh] = &b->list[j++];
			*nfresh += counts(m, 1, fresh[*nfresh]);
		} else {
			if (a->list[i].is_degraded != b->list[j].is_degraded)
				put_cable(m, b->list[j].is_degraded ? FORS_CABLE_SLOWER : FORS_CABLE_FASTER, 1,
					  &b->list[j]);
			i++, j++;
		}
	}
}

/* False: out of memory. */
static bool put_cables(struct matching *m)
{
	struct cable **lost = calloc(m->cables[0].count + 1, sizeof(*lost)),
		     **fresh = calloc(m->cables[1].count + 1, sizeof(*fresh));
	size_t nlost = 0, nfresh = 0;
	bool is_good = lost && fresh;

	if (is_good) {
		compare_lists(m, lost, &nlost, fresh, &nfresh);
		for (size_t i = 0; i < nlost; i++)
			put_gone(m, lost[i], fresh, nfresh);
		for (size_t i = 0; i < nfresh; i++)
			if (!fresh[i]->is_used)
				put_cable(m, FORS_CABLE_NEW, 1, fresh[i]);
	}
	free(lost);
	free(fresh);
	return is_good;
}

static void put_ports(struct matching *m, uint32_t id)
{
	uint32_t a = m->node[0][id], b = m->node[1][id];
	unsigned most;

	if (a == FORS_NONE || b == FORS_NONE)
		return;
	most = m->net[0]->node[a].nports < m->net[1]->node[b].nports ? m->net[0]->node[a].nports
								     : m->net[1]->node[b].nports;
	for (unsigned p = 0; p <= most; p++) {
		const struct fors_port *was = fors_net_port(m->net[0], a, p), *is = fors_net_port(m->net[1], b, p);
		struct fors_change change = {.a = FORS_NONE, .b = FORS_NONE, .near = {b, (uint8_t)p}};

		if (was->lid != is->lid || was->lmc != is->lmc) {
			change.kind = FORS_PORT_LID;
			put(m, change);
		}
		if (was->is_sm != is->is_sm) {
			change.kind = FORS_PORT_SM;
			put(m, change);
		}
	}
}

/* --- all of it ------------------------------------------------------------------------------------------------- */

/* By kind; the order of finding, which is by id, decides the rest. */
static void sort_changes(struct fors_diff *diff, struct fors_change *room)
{
	size_t n = 0;

	for (int kind = 0; kind < FORS_NCHANGES; kind++)
		for (size_t i = 0; i < diff->count; i++)
			if ((int)diff->change[i].kind == kind)
				room[n++] = diff->change[i];
	memcpy(diff->change, room, n * sizeof(*room));
}

static bool allocate(struct matching *m, struct fors_change **room)
{
	size_t n = (size_t)m->net[0]->nnodes + m->net[1]->nnodes + 1,
	       ports = (size_t)m->net[0]->nports + m->net[1]->nports;

	for (int i = 0; i < 2; i++) {
		m->id[i] = calloc(n, sizeof(*m->id[i]));
		m->node[i] = calloc(2 * n, sizeof(*m->node[i]));
		m->cables[i].list = calloc((size_t)m->net[i]->nports + 1, sizeof(*m->cables[i].list));
	}
	m->diff.change = calloc(n + 3 * ports, sizeof(*m->diff.change));
	*room = calloc(n + 3 * ports, sizeof(**room));
	return m->id[0] && m->id[1] && m->node[0] && m->node[1] && m->cables[0].list && m->cables[1].list &&
	       m->diff.change && *room;
}

static bool compare(struct matching *m)
{
	match_nodes(m);
	list_cables(m, 0);
	list_cables(m, 1);
	for (uint32_t id = 0; id < m->nids; id++)
		put_node(m, id);
	if (!put_cables(m))
		return false;
	for (uint32_t id = 0; id < m->nids; id++)
		put_ports(m, id);
	return true;
}

enum fors_err fors_net_diff(const struct fors_net *a, const struct fors_net *b, struct fors_diff *diff,
			    struct fors_error *error)
{
	struct matching m = {.net = {a, b}};
	struct fors_change *room = NULL;
	bool is_good = allocate(&m, &room) && compare(&m);

	if (is_good) {
		sort_changes(&m.diff, room);
		*diff = m.diff;
	} else {
		free(m.diff.change);
	}
	for (int i = 0; i < 2; i++) {
		free(m.id[i]);
		free(m.node[i]);
		free(m.cables[i].list);
	}
	free(room);
	return is_good ? FORS_OK : fors_fail_memory(error);
}

void fors_diff_clear(struct fors_diff *diff)
{
	free(diff->change);
	*diff = (struct fors_diff){NULL, 0};
}
