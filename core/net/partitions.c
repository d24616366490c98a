/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * partitions.c - ports with the same memberships are one kind, and there are few kinds: all pairs of ports are counted by
 * pairs of kinds. Within a kind all talk, or, where all are limited members alone, nobody does.
 */
#include "partitions.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/text.h"

static int by_membership(const void *left, const void *right)
{
	const struct fors_port *a = *(const struct fors_port *const *)left,
			       *b = *(const struct fors_port *const *)right;

	if (a->full != b->full)
		return a->full < b->full ? -1 : 1;
	return (a->limited > b->limited) - (a->limited < b->limited);
}

/* The end of the kind that list[i] is of. */
static uint32_t end_of(const struct fors_port **list, uint32_t count, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < count && !by_membership(&list[i], &list[end]))
		end++;
	return end;
}

/* The exchange stays one: a partition has its turns in it, and whoever may not talk is idle in the others. */
static void warn(struct fors_warnings *warnings, int64_t cut, uint32_t count, uint32_t nkinds)
{
	fors_warn(
		warnings,
		"partitions keep %" PRId64 " of %" PRIu64
		" pairs of servers from talking (%u %s of membership): these are "
		"idle in each other's turns; a job for each partition in jobs_file has a schedule of its own, with fewer "
		"phases",
		cut, (uint64_t)count * (count - 1), nkinds, fors_plural(nkinds, "kind", "kinds"));
}

int64_t fors_partitions_cut(const struct fors_port **list, uint32_t count, struct fors_warnings *warnings)
{
	uint32_t nkinds = 0;
	int64_t cut = 0;

	if (count)
		qsort(list, count, sizeof(*list), by_membership);
	for (uint32_t a = 0, a_end, b, b_end; a < count; a = a_end, nkinds++) {
		a_end = end_of(list, count, a);
		for (b = a; b < count; b = b_end) {
			b_end = end_of(list, count, b);
			if (!fors_ports_talk(list[a], list[b]))
				cut += (int64_t)(a_end - a) * (a == b ? a_end - a - 1 : 2 * (b_end - b));
		}
	}
	if (!count || (nkinds == 1 && !list[0]->full && !list[0]->limited))
		return -1;
	if (cut)
		warn(warnings, cut, count, nkinds);
	return cut;
}

enum fors_err fors_partitions_warn(const struct fors_net *net, const struct fors_participants *participants,
				   struct fors_warnings *warnings, struct fors_error *error)
{
	const struct fors_port **list = malloc((net->nports + (size_t)1) * sizeof(*list));
	struct fors_participants sorted = {0};
	uint32_t count = 0;
	enum fors_err err = list ? fors_participants_sort(participants, &sorted, error) : fors_fail_memory(error);

	for (uint32_t node = 0; node < net->nnodes && !err; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);

			if (port->peer != FORS_NONE && port->lid && fors_participants_have(&sorted, port->guid))
				list[count++] = port;
		}
	if (!err)
		fors_partitions_cut(list, count, warnings);
	free(list);
	free(sorted.guid);
	return err;
}
