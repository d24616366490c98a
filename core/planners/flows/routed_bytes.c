/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed_bytes.c - what it takes to read the ways between servers, before anybody does. Bytes are measured and
 * rounded up (tests/unit/test_over_memory.c).
 */
#include "routed.h"

#include <inttypes.h>

#define BYTES_WAY 64 /* of a leaf and a receiver: four links, where they begin; the way of a schedule, how to find it */

/* The hosts on a switch; the path indices that one has are in *paths, if they are more. */
static uint32_t count_hosts(const struct fors_net *net, uint32_t node, uint32_t *paths)
{
	uint32_t here = 0;

	for (unsigned port = 1; net->node[node].type == FORS_SWITCH && port <= net->node[node].nports; port++) {
		const struct fors_port *at = fors_net_port(net, node, port);
		uint8_t lmc;

		if (!fors_is_host(net, at->peer))
			continue;
		here++;
		lmc = fors_net_port(net, at->peer, at->peer_port)->lmc;
		*paths = 1u << lmc > *paths ? 1u << lmc : *paths;
	}
	return here;
}

uint64_t fors_ways_bytes(const struct fors_net *net, uint32_t most_paths, uint32_t *nservers)
{
	uint64_t servers = 0, leaves = 0;
	uint32_t paths = 1;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		uint32_t here = count_hosts(net, node, &paths);

		servers += here;
		leaves += here > 0;
	}
	*nservers = (uint32_t)servers;
	/* What is remembered of ways for each receiver while they are read and written takes less than a leaf more would. */
	return BYTES_WAY * (leaves + 1) * servers * (paths < most_paths ? paths : most_paths);
}

enum fors_err fors_ways_fit(const struct fors_net *net, uint32_t most_paths, uint64_t limit, struct fors_error *error)
{
	uint32_t nservers;
	uint64_t bytes = fors_ways_bytes(net, most_paths, &nservers);

	if (bytes <= limit)
		return FORS_OK;
	return fors_fail(error, FORS_ELIMIT,
			 "to read the ways between %u servers would take some %" PRIu64
			 " MiB of memory, and the limit is %" PRIu64,
			 nservers, bytes >> 20, limit >> 20);
}
