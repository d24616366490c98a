/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mesh.h - the connections of one rank to all ranks, one per pair, as an application of InfiniBand
 * keeps one queue pair per pair of servers: it carries both directions, between the two LIDs that the plan names.
 */
#ifndef FORS_LAB_TESTBED_MESH_H
#define FORS_LAB_TESTBED_MESH_H

#include "plan.h"

/* Of one rank; the rank itself has two ends, one to write and one to read. */
struct mesh {
	uint32_t rank, nranks;
	int listener;
	int out[MAX_RANKS], in[MAX_RANKS]; /* the same socket but for the rank itself; -1: none */
};

/* Listen for the other ranks, in this process's network namespace. False: printed why. */
bool mesh_listen(struct mesh *mesh, uint32_t rank, uint32_t nranks);

/* Connect to all ranks as the plan says, in place of what was. All ranks listen already. False: printed why. */
bool mesh_connect(struct mesh *mesh, const struct plan *plan, double seconds);

void mesh_close(struct mesh *mesh);

#endif
