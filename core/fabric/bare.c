/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bare.c - a text may list a switch that nothing is plugged into: a spare one, or one that was taken out. It is left out by itself,
 * since nobody gets there and nobody sends from there; all there is to do is to say so.
 */
#include "bare.h"

#include <stdbool.h>
#include <stdio.h>

#define SHOWN 3

static bool is_bare(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->peer != FORS_NONE)
			return false;
	return net->node[node].type == FORS_SWITCH;
}

void fors_bare_warn(const struct fors_net *intact, struct fors_warnings *warnings)
{
	char names[SHOWN * (FORS_NAME_MAX + 2) + 8] = "";
	size_t used = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < intact->nnodes; i++) {
		const struct fors_node *node = &intact->node[intact->by_guid[i]];

		if (!is_bare(intact, intact->by_guid[i]))
			continue;
		if (count++ < SHOWN)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", count > 1 ? ", " : "",
						 node->desc[0] ? node->desc : node->id);
	}
	if (count)
		fors_warn(warnings, "%u switch%s without a cable, left out: %s%s", count, count == 1 ? "" : "es", names,
			  count > SHOWN ? ", ..." : "");
}
