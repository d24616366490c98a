/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * directory.c - three sorted lists. Nodes with the same description stand in the order of their GUIDs, so that what is
 * said of them depends on no order of nodes.
 */
#include "directory.h"

#include <stdlib.h>
#include <string.h>

struct described {
	const struct fors_node *node;
	uint32_t number;
};

static int by_desc(const void *left, const void *right)
{
	const struct described *a = left, *b = right;
	int order = strcmp(a->node->desc, b->node->desc);

	return order ? order : (a->node->guid > b->node->guid) - (a->node->guid < b->node->guid);
}

static int by_id(const void *left, const void *right)
{
	return strcmp(((const struct described *)left)->node->id, ((const struct described *)right)->node->id);
}

static int by_guid(const void *left, const void *right)
{
	const struct fors_directory_guid *a = left, *b = right;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

static enum fors_err list_names(struct fors_directory *d, struct fors_error *error)
{
	const struct fors_net *net = d->net;
	struct described *all = malloc((net->nnodes + (size_t)1) * sizeof(*all));

	d->by_desc = malloc((net->nnodes + (size_t)1) * sizeof(*d->by_desc));
	d->by_id = malloc((net->nnodes + (size_t)1) * sizeof(*d->by_id));
	if (!all || !d->by_desc || !d->by_id) {
		free(all);
		return fors_fail_memory(error);
	}
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (net->node[n].type != FORS_SWITCH && net->node[n].type != FORS_OTHER && *net->node[n].desc)
			all[d->ndescs++] = (struct described){&net->node[n], n};
	qsort(all, d->ndescs, sizeof(*all), by_desc);
	for (uint32_t i = 0; i < d->ndescs; i++)
		d->by_desc[i] = all[i].number;
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (net->node[n].type != FORS_SWITCH && net->node[n].type != FORS_OTHER)
			all[d->nids++] = (struct described){&net->node[n], n};
	qsort(all, d->nids, sizeof(*all), by_id);
	for (uint32_t i = 0; i < d->nids; i++)
		d->by_id[i] = all[i].number;
	free(all);
	return FORS_OK;
}

static void add_guid(struct fors_directory *d, uint64_t guid, uint32_t node)
{
	if (guid)
		d->by_guid[d->nguids++] = (struct fors_directory_guid){guid, node};
}

static enum fors_err list_guids(struct fors_directory *d, struct fors_error *error)
{
	const struct fors_net *net = d->net;

	d->by_guid = malloc((net->nnodes + (size_t)net->nports + 1) * sizeof(*d->by_guid));
	if (!d->by_guid)
		return fors_fail_memory(error);
	for (uint32_t n = 0; n < net->nnodes; n++) {
		if (net->node[n].type == FORS_SWITCH || net->node[n].type == FORS_OTHER)
			continue;
		add_guid(d, net->node[n].guid, n);
		for (unsigned p = 1; p <= net->node[n].nports; p++)
			add_guid(d, fors_net_port(net, n, p)->guid, n);
	}
	qsort(d->by_guid, d->nguids, sizeof(*d->by_guid), by_guid);
	return FORS_OK;
}

enum fors_err fors_directory_make(const struct fors_net *net, struct fors_directory *directory,
				  struct fors_error *error)
{
	struct fors_directory made = {.net = net};
	enum fors_err err = list_names(&made, error);

	if (!err)
		err = list_guids(&made, error);
	if (err)
		fors_directory_clear(&made);
	else
		*directory = made;
	return err;
}

void fors_directory_clear(struct fors_directory *directory)
{
	free(directory->by_desc);
	free(directory->by_id);
	free(directory->by_guid);
	*directory = (struct fors_directory){.net = NULL};
}

uint32_t fors_directory_guid(const struct fors_directory *directory, uint64_t guid)
{
	size_t low = 0, high = directory->nguids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (directory->by_guid[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < directory->nguids && directory->by_guid[low].guid == guid ? directory->by_guid[low].node
									       : FORS_NONE;
}

static uint32_t find_id(const struct fors_directory *d, const char *id)
{
	uint32_t low = 0, high = d->nids;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(d->net->node[d->by_id[middle]].id, id);

		if (!order)
			return d->by_id[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return FORS_NONE;
}

enum fors_err fors_directory_address(const struct fors_directory *directory, const char *what,
				     struct fors_address *address, struct fors_error *error)
{
	enum fors_err err = fors_address_read(what, address, error);

	if (err)
		return err;
	address->node = find_id(directory, address->name);
	if (address->node == FORS_NONE && address->is_guid)
		address->node = fors_directory_guid(directory, address->guid);
	return FORS_OK;
}

static int compare_desc(const struct fors_directory *d, uint32_t i, const char *desc)
{
	return strcmp(d->net->node[d->by_desc[i]].desc, desc);
}

uint32_t fors_directory_desc(const struct fors_directory *directory, const char *desc, uint32_t *first)
{
	uint32_t low = 0, high = directory->ndescs, count = 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_desc(directory, middle, desc) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + count < directory->ndescs && !compare_desc(directory, low + count, desc))
		count++;
	*first = low;
	return count;
}
