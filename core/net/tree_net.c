/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_net.c - fat-trees as nets.
 *
 * The net of FT(2;S,M1;servers=N;cables=C), in the order in which it is written
 * (leaves, spines, servers):
 *
 *      leaf a     port slot + 1            Node<a>-<slot>, port 1
 *                 port N + k C + c + 1     spine k, cable c of C
 *      spine k    port a C + c + 1         leaf a, cable c
 *
 * and likewise in taller trees: children first, then parents.
 *
 * GUIDs are those that ibsim gives to such a text without GUIDs: switches are
 * numbered from 0x200000; a CA takes one number from 0x100000 on for itself and
 * one for each of its ports (no tree has so many that they meet). So a specification, the text written from it and
 * what opensm sees under ibsim are the same fabric.
 */
#include "tree_net.h"

#include <stdio.h>

#define FIRST_CA_GUID 0x100000

_Static_assert(FIRST_CA_GUID + 2 * FORS_TREE_SERVERS <= FORS_MADE_SWITCHES, "GUIDs of servers meet those of switches");

static void name_switch(const struct fors_tree *tree, unsigned level, uint32_t x, char *name)
{
	if (level > 1 && level < tree->height)
		snprintf(name, FORS_NAME_MAX, "Mid%u-%02u", level, x);
	else
		snprintf(name, FORS_NAME_MAX, "%s%02u", level == 1 ? "Leaf" : "Spine", x);
}

static enum fors_err add_switches(struct fors_net *net, const struct fors_tree *tree, struct fors_error *error)
{
	uint64_t guid = FORS_MADE_SWITCHES;
	enum fors_err err = FORS_OK;
	char name[FORS_NAME_MAX];
	uint32_t node;

	for (unsigned level = 1; level <= tree->height; level++)
		for (uint32_t x = 0; x < fors_tree_nodes(tree, level) && !err; x++) {
			name_switch(tree, level, x, name);
			err = fors_net_add_node(net, FORS_SWITCH,
						fors_tree_ports_down(tree, level) + fors_tree_ports_up(tree, level),
						guid++, name, name, &node, error);
		}
	return err;
}

/* Cables between switches. */
static enum fors_err add_cables(struct fors_net *net, const struct fors_tree *tree, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned level = 1; level < tree->height; level++) {
		uint32_t first = fors_tree_first_node(tree, level), above = fors_tree_first_node(tree, level + 1);

		for (uint32_t x = 0; x < fors_tree_nodes(tree, level); x++)
			for (uint32_t port = 0; port < fors_tree_ports_up(tree, level) && !err; port++)
				err = fors_net_connect(net, first + x, fors_tree_ports_down(tree, level) + port + 1,
						       above + fors_tree_parent(tree, level, x, port),
						       fors_tree_parent_port(tree, level, x, port), error);
	}
	return err;
}

static enum fors_err add_server(struct fors_net *net, uint32_t leaf, uint32_t slot, uint32_t number,
				struct fors_error *error)
{
	uint64_t guid = FIRST_CA_GUID + 2 * (uint64_t)number;
	char name[FORS_NAME_MAX];
	uint32_t node;
	enum fors_err err;

	snprintf(name, sizeof(name), "Node%02u-%02u", leaf, slot);
	err = fors_net_add_node(net, FORS_CA, 1, guid, name, name, &node, error);
	if (err)
		return err;
	fors_net_port(net, node, 1)->guid = guid + 1;
	return fors_net_connect(net, leaf, slot + 1, node, 1, error);
}

enum fors_err fors_made_servers(struct fors_net *net, uint32_t nleaves, uint32_t servers,
				const struct fors_empty_slots *empty, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	uint32_t number = 0;
	size_t next = 0;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		for (uint32_t slot = 0; slot < servers && !err; slot++)
			if (next < empty->count && empty->slot[next].leaf == leaf && empty->slot[next].slot == slot)
				next++;
			else
				err = add_server(net, leaf, slot, number++, error);
	return err ? err : fors_net_index(net, error);
}

enum fors_err fors_tree_net(const struct fors_tree_spec *spec, struct fors_net **net, struct fors_error *error)
{
	struct fors_net *result;
	enum fors_err err = fors_tree_check_ports(&spec->tree, error);

	if (err)
		return err;
	result = fors_net_new();
	if (!result)
		return fors_fail_memory(error);
	err = add_switches(result, &spec->tree, error);
	if (!err)
		err = add_cables(result, &spec->tree, error);
	if (!err)
		err = fors_made_servers(result, fors_tree_nodes(&spec->tree, 1), spec->tree.m[0], &spec->empty, error);
	if (err) {
		fors_net_free(result);
		return err;
	}
	*net = result;
	return FORS_OK;
}
