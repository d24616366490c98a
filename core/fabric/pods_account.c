/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_account.c - every CA port of a tree of three levels, counted from the net as account.c does.
 */
#include "pods_account.h"

#include <stdlib.h>
#include <string.h>

static int by_guid(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

enum fors_err fors_pods_players(const struct fors_pods *pods, const struct fors_participants *participants,
				bool **plays, uint32_t *count, struct fors_error *error)
{
	size_t n = participants ? participants->count : 0;
	uint64_t *sorted = malloc(n * sizeof(*sorted) + 1);
	bool *made = calloc(pods->nslots + (size_t)1, sizeof(*made));

	if (!sorted || !made) {
		free(sorted);
		free(made);
		return fors_fail_memory(error);
	}
	if (n) {
		memcpy(sorted, participants->guid, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_guid);
	}
	*count = 0;
	for (uint32_t s = 0; s < pods->nslots; s++) {
		made[s] = pods->slot[s].lid &&
			  (!participants || bsearch(&pods->slot[s].guid, sorted, n, sizeof(*sorted), by_guid));
		*count += made[s];
	}
	free(sorted);
	*plays = made;
	return FORS_OK;
}

enum fors_err fors_pods_list(const struct fors_pods *pods, const bool *plays, uint32_t count,
			     struct fors_participants *list, struct fors_error *error)
{
	struct fors_participants made = {.guid = malloc(count * sizeof(*made.guid) + 1)};

	if (!made.guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < pods->nslots; s++)
		if (plays[s])
			made.guid[made.count++] = pods->slot[s].guid;
	*list = made;
	return FORS_OK;
}

/* --- the account ---------------------------------------------------------- */

struct counter {
	const struct fors_pods *pods;
	const bool *plays;
	struct fors_account *account;
};

static void leave_out(const struct counter *c, enum fors_left_out why, uint32_t node)
{
	uint32_t at = c->account->left_out[why]++;

	if (at < FORS_LEFT_SHOWN)
		c->account->first[why][at] = node;
}

static void count_on_leaf(const struct counter *c, uint32_t a, uint32_t node, const struct fors_port *port)
{
	const struct fors_pods_switch *leaf = &c->pods->leaf[a];

	for (uint32_t s = leaf->first; s < leaf->first + leaf->nslots; s++) {
		if (c->pods->slot[s].port != port->peer_port)
			continue;
		if (c->plays[s])
			c->account->servers++;
		else
			c->account->not_participants++;
		return;
	}
	leave_out(c, FORS_LEFT_ADRIFT, node);
}

static void count_port(const struct counter *c, uint32_t node, const struct fors_port *port)
{
	const struct fors_node *peer = &c->pods->now->node[port->peer];
	uint32_t place = peer->type == FORS_SWITCH ? fors_net_find_guid(c->pods->known, peer->guid) : FORS_NONE;
	uint8_t level = place == FORS_NONE ? FORS_PODS_NONE : c->pods->level[place];

	c->account->ports++;
	if (!level)
		leave_out(c, FORS_LEFT_ADRIFT, node);
	else if (!port->lid)
		leave_out(c, FORS_LEFT_LIDLESS, node);
	else if (level == FORS_PODS_LEAF)
		count_on_leaf(c, c->pods->number[place], node, port);
	else
		fors_account_guest(c->account, node);
}

struct fors_account fors_pods_account(const struct fors_pods *pods, const bool *plays)
{
	const struct fors_net *now = pods->now;
	struct fors_account account = {.has_levels = true};
	struct counter c = {.pods = pods, .plays = plays, .account = &account};

	for (uint32_t i = 0; i < now->nnodes; i++) {
		uint32_t node = now->by_guid[i];

		for (unsigned p = 1; now->node[node].type == FORS_CA && p <= now->node[node].nports; p++)
			if (fors_net_port(now, node, p)->peer != FORS_NONE)
				count_port(&c, node, fors_net_port(now, node, p));
	}
	return account;
}
