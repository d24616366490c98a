/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - what a plan would take, before anybody plans.
 *
 * A daemon that runs as root and plans for five thousand servers is not to find out by failing. Plans of single flows
 * have a cell for each server and phase, and what made them as much again, or three times as much; plans in units have
 * a cell for each leaf and phase. Bytes per cell are measured (doc/benchmarks.md) and rounded up.
 */
#include "memory.h"

#include <inttypes.h>

#define BYTES_DENSE 20	/* of a server and phase: closed-form 12, exact 14, the proof's included */
#define BYTES_FLOWS 60	/* 45 to 50 */
#define BYTES_ROUNDS 64 /* of a leaf and receiver, for each part of a unit */
#define MOST_PARTS 4
#define BYTES_WAY 64 /* of a leaf and a receiver: four links, where they begin; the way of a schedule, how to find it */
#define BYTES_TAIL 8 /* of a switch above leaves and a receiver, while ways are written (flows/routed_ways.c) */

uint64_t fors_plan_bytes(const struct fors_fabric *fabric, const struct fors_method *method, uint32_t phases)
{
	uint64_t parts = 1u << fabric->lmc < MOST_PARTS ? 1u << fabric->lmc : MOST_PARTS;

	if (method == &fors_method_rounds)
		return BYTES_ROUNDS * parts * fabric->nleaves * fabric->nservers;
	return (method == &fors_method_flows ? BYTES_FLOWS : BYTES_DENSE) * (uint64_t)fabric->nservers * phases;
}

enum fors_err fors_plan_fits(const struct fors_task *task, const struct fors_method *method, uint32_t phases,
			     uint64_t *wanted, struct fors_error *error)
{
	uint64_t bytes = fors_plan_bytes(task->fabric, method, phases);

	if (!task->limits.bytes || bytes <= task->limits.bytes)
		return FORS_OK;
	if (wanted && bytes > *wanted)
		*wanted = bytes;
	return fors_fail(error, FORS_ELIMIT,
			 "a plan of method %s for %u servers would take some %" PRIu64 " MiB of memory, and the limit "
			 "is %" PRIu64,
			 method->name, task->fabric->nservers, (bytes >> 20) + 1, task->limits.bytes >> 20);
}

static bool is_host(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type != FORS_SWITCH;
}

/* The hosts on a switch; the path indices that one has are in *paths, if they are more. */
static uint32_t count_hosts(const struct fors_net *net, uint32_t node, uint32_t *paths)
{
	uint32_t here = 0;

	for (unsigned port = 1; net->node[node].type == FORS_SWITCH && port <= net->node[node].nports; port++) {
		const struct fors_port *at = fors_net_port(net, node, port);
		uint8_t lmc;

		if (!is_host(net, at->peer))
			continue;
		here++;
		lmc = fors_net_port(net, at->peer, at->peer_port)->lmc;
		*paths = 1u << lmc > *paths ? 1u << lmc : *paths;
	}
	return here;
}

static bool has_leaf(const struct fors_net *net, uint32_t node)
{
	uint32_t paths = 0;

	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		uint32_t peer = fors_peer_switch(net, node, port);

		if (peer != FORS_NONE && count_hosts(net, peer, &paths))
			return true;
	}
	return false;
}

uint64_t fors_ways_bytes(const struct fors_net *net, uint32_t most_paths, uint32_t *nservers)
{
	uint64_t servers = 0, leaves = 0, above = 0;
	uint32_t paths = 1;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		uint32_t here = count_hosts(net, node, &paths);

		servers += here;
		leaves += here > 0;
		above += net->node[node].type == FORS_SWITCH && !here && has_leaf(net, node);
	}
	*nservers = (uint32_t)servers;
	return (BYTES_WAY * leaves + BYTES_TAIL * above) * servers * (paths < most_paths ? paths : most_paths);
}
