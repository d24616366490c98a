/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cables.h"

#include <stdlib.h>
#include <string.h>

struct by_guid {
	uint64_t guid;
	uint32_t server;
};

static int compare(const void *left, const void *right)
{
	const struct by_guid *a = left, *b = right;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

uint32_t *fors_demand_numbers(const struct fors_flows_routed *routed, const struct fors_schedule *schedule)
{
	struct by_guid *list = malloc((routed->nservers + (size_t)1) * sizeof(*list));
	uint32_t *number = list ? malloc((schedule->nservers + (size_t)1) * sizeof(*number)) : NULL;

	for (uint32_t s = 0; number && s < routed->nservers; s++)
		list[s] = (struct by_guid){routed->server[s].guid, s};
	if (number && routed->nservers)
		qsort(list, routed->nservers, sizeof(*list), compare);
	for (uint32_t s = 0; number && s < schedule->nservers; s++) {
		const struct by_guid key = {schedule->server[s].guid, 0};
		const struct by_guid *found = bsearch(&key, list, routed->nservers, sizeof(key), compare);

		number[s] = found ? found->server : FORS_NONE;
	}
	free(list);
	return number;
}

/* A flow may leave by the ports of its way. */
static void allow(const struct fors_flows_routed *routed, uint32_t src, uint32_t dst, uint32_t path, bool *is_barred)
{
	const struct fors_flows_problem *p = &routed->problem;
	uint32_t way = (p->home[src] * p->ndests + dst) * p->npaths + path;

	for (uint32_t i = p->begin[way]; path < p->npaths && i < p->begin[way + 1]; i++)
		is_barred[routed->link_port[p->link[i]]] = false;
}

bool *fors_demand_bar_others(const struct fors_flows_routed *routed, const struct fors_schedule *schedule)
{
	uint32_t *number = fors_demand_numbers(routed, schedule);
	bool *is_barred = number ? malloc((routed->net->nports + (size_t)1) * sizeof(*is_barred)) : NULL;

	if (is_barred)
		memset(is_barred, true, routed->net->nports * sizeof(*is_barred));
	for (uint32_t s = 0; is_barred && s < schedule->nservers; s++)
		for (uint32_t t = 0; t < schedule->nphases; t++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);

			if (cell.dst != FORS_IDLE && number[s] != FORS_NONE && number[cell.dst] != FORS_NONE)
				allow(routed, number[s], number[cell.dst], cell.path, is_barred);
		}
	free(number);
	return is_barred;
}
