/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lacking.c - what the text of a fabric lacks and a status knows to be dead, for pictures.
 *
 * A text that was taken after a cable died shows nothing of it. The status of the state folder has its ends by name and
 * port, the switches that are gone, and the places of lost servers. With these the fabric is what it was, as far as
 * anybody knows. GUIDs of what is gone are not known: they are made up, above all others, so such a switch stands at the
 * end of its row.
 */
#include "cli/lacking.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_PORTS 254
#define FIRST_GUID 0xffffffffffff0000ull

struct adding {
	struct fors_net *intact, *now;
	uint64_t guid; /* the next that is made up */
};

/* The only node with this description, FORS_NONE: none, or several. */
static uint32_t find(const struct fors_net *net, const char *name)
{
	uint32_t found = FORS_NONE;

	for (uint32_t i = 0; i < net->nnodes; i++) {
		if (strcmp(fors_node_name(net, i), name) != 0)
			continue;
		if (found != FORS_NONE)
			return FORS_NONE;
		found = i;
	}
	return found;
}

/* In both nets, under the same number. */
static enum fors_err add_node(struct adding *a, enum fors_node_type type, unsigned nports, const char *name,
			      uint32_t *node, struct fors_error *error)
{
	uint32_t same;
	enum fors_err err = fors_net_add_node(a->intact, type, nports, a->guid, name, name, node, error);

	if (!err)
		err = fors_net_add_node(a->now, type, nports, a->guid, name, name, &same, error);
	a->guid++;
	return err;
}

static enum fors_err add_switches(struct adding *a, const struct fors_dead_switches *gone, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	uint32_t node;

	for (size_t i = 0; !err && i < gone->count; i++)
		if (find(a->intact, gone->one[i].name) == FORS_NONE)
			err = add_node(a, FORS_SWITCH, MOST_PORTS, gone->one[i].name, &node, error);
	return err;
}

static bool is_free(const struct fors_net *net, uint32_t node, unsigned port)
{
	return node != FORS_NONE && port && port <= net->node[node].nports &&
	       fors_net_port(net, node, port)->peer == FORS_NONE;
}

static enum fors_err add_cables(struct adding *a, const struct fors_links *dead, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (size_t i = 0; !err && i < dead->count; i++) {
		const struct fors_link *link = &dead->link[i];
		uint32_t low = find(a->intact, link->a), high = find(a->intact, link->b);

		if (low != high && is_free(a->intact, low, link->a_port) && is_free(a->intact, high, link->b_port))
			err = fors_net_connect(a->intact, low, link->a_port, high, link->b_port, error);
	}
	return err;
}

/* Each has a port of its own in the picture, so none is looked for by its name. */
static enum fors_err add_servers(struct adding *a, const struct fors_links *lost, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	uint32_t node;

	for (size_t i = 0; !err && i < lost->count; i++) {
		const struct fors_link *place = &lost->link[i];
		uint32_t leaf = find(a->intact, place->a);

		if (!is_free(a->intact, leaf, place->a_port))
			continue;
		err = add_node(a, FORS_CA, 1, *place->host ? place->host : place->b, &node, error);
		if (!err)
			err = fors_net_connect(a->intact, node, 1, leaf, place->a_port, error);
	}
	return err;
}

enum fors_err cli_lacking_add(const struct fors_status *status, struct fors_net *intact, struct fors_net *now,
			      struct fors_error *error)
{
	struct adding a = {.intact = intact, .now = now, .guid = FIRST_GUID};
	enum fors_err err = add_switches(&a, &status->dead_switches, error);

	if (!err)
		err = add_cables(&a, &status->dead_links, error);
	if (!err)
		err = add_servers(&a, &status->lost_servers, error);
	if (!err)
		err = fors_net_index(intact, error);
	return err ? err : fors_net_index(now, error);
}
