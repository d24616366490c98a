/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* incidence.c - the links of each node, by counting. */
#include "incidence.h"

#include <stdlib.h>

enum fors_err fors_links_by(const struct fors_graph *graph, const uint32_t *by, size_t **first, uint32_t **link,
			    struct fors_error *error)
{
	size_t *starts = calloc(graph->nnodes + (size_t)2, sizeof(*starts));
	uint32_t *links = malloc((graph->nlinks + (size_t)1) * sizeof(*links));

	if (!starts || !links) {
		free(starts);
		free(links);
		return fors_fail_memory(error);
	}
	for (uint32_t l = 0; l < graph->nlinks; l++)
		starts[by[l] + 2]++;
	for (uint32_t n = 2; n <= graph->nnodes + 1; n++)
		starts[n] += starts[n - 1];
	for (uint32_t l = 0; l < graph->nlinks; l++)
		links[starts[by[l] + 1]++] = l;
	*first = starts;
	*link = links;
	return FORS_OK;
}
