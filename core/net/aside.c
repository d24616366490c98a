/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aside.c - switches without hosts that fit no tree: see aside.h. */
#include "aside.h"

#include <stdlib.h>

#include "core/base/numbers.h"

#define RARE 8 /* one in so many, or two, may be odd */

static bool is_hostless(const struct fors_net *net, uint32_t node)
{
	return net->node[node].type == FORS_SWITCH && !fors_net_hosts(net, node);
}

/* Has a switch cables to two others at least? */
static bool has_two_neighbours(const struct fors_net *net, uint32_t node)
{
	uint32_t first = FORS_NONE;

	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		uint32_t peer = fors_peer_switch(net, node, port);

		if (peer == FORS_NONE)
			continue;
		if (first != FORS_NONE && peer != first)
			return true;
		first = peer;
	}
	return false;
}

/* The switch at a port, unless it hangs there and has no hosts. */
static uint32_t support_at(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer = fors_peer_switch(net, node, port);

	return peer != FORS_NONE && is_hostless(net, peer) && !has_two_neighbours(net, peer) ? FORS_NONE : peer;
}

static uint32_t supports(const struct fors_net *net, uint32_t node)
{
	uint32_t count = 0;

	for (unsigned port = 1; port <= net->node[node].nports; port++)
		count += support_at(net, node, port) != FORS_NONE;
	return count;
}

/* The switches without hosts that do not hang, by the number of their cables, a key each: that, then the place by GUID. */
static size_t list(const struct fors_net *net, uint64_t *key)
{
	size_t count = 0;

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (is_hostless(net, net->by_guid[i]) && has_two_neighbours(net, net->by_guid[i]))
			key[count++] = (uint64_t)supports(net, net->by_guid[i]) << 32 | i;
	qsort(key, count, sizeof(*key), fors_by_number);
	return count;
}

/* How many of key[n], by size, are odd: few, with few cables. */
static size_t count_odd(const uint64_t *key, size_t n)
{
	size_t most = n / RARE > 2 ? n / RARE : 2, count = 0;

	while (count < n && 2 * (key[count] >> 32) <= key[n / 2] >> 32)
		count++;
	return count > most ? 0 : count;
}

enum fors_err fors_aside_find(const struct fors_net *net, uint32_t *node, uint32_t *count, struct fors_error *error)
{
	uint64_t *key = malloc((net->nnodes + (size_t)1) * sizeof(*key));
	size_t n;

	if (!key)
		return fors_fail_memory(error);
	n = count_odd(key, list(net, key));
	for (*count = 0; *count < n && *count < FORS_MOST_ASIDE; ++*count)
		node[*count] = net->by_guid[(uint32_t)key[*count]];
	free(key);
	return FORS_OK;
}

static void put_one(const struct fors_net *net, uint32_t node, struct fors_net *rest)
{
	uint32_t first = FORS_NONE;

	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		uint32_t support = support_at(net, node, port);

		if (first == FORS_NONE)
			first = support;
		if (support != first && support != FORS_NONE)
			fors_net_disconnect(rest, node, port);
	}
}

enum fors_err fors_aside_put(const struct fors_net *net, const uint32_t *node, uint32_t count, struct fors_net **rest,
			     struct fors_error *error)
{
	enum fors_err err = fors_net_copy(net, rest, error);

	for (uint32_t i = 0; !err && i < count; i++)
		put_one(net, node[i], *rest);
	return err;
}
