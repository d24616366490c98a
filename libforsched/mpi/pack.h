/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - phases for an exchange between some servers of a schedule.
 *
 * Pure: no MPI, no clock, no random numbers: the same flows give the same phases. One thread at a time for one packing.
 */
#ifndef FORSCHED_MPI_PACK_H
#define FORSCHED_MPI_PACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Flows, each with what it needs for itself: its sender, its receiver, the links on its way. All are numbers below
 * `nneeds`, of one kind. Flow f needs need[first[f]] .. need[first[f + 1] - 1], each of them once.
 */
struct pack_flows {
	uint32_t n, nneeds;
	uint32_t *first; /* n + 1 */
	uint32_t *need;
	uint32_t *turn; /* the flow's phase in the schedule: flows of one phase need nothing in common */
	bool are_known; /* all ways are known; else only flows of one phase may be in one phase */
};

/*
 * A phase for each flow, in phase[n], so that no two flows of one phase need the same; *nphases of them, and at least so
 * many there have to be: *least. False: no memory.
 */
bool forsched_mpi_pack_phases(const struct pack_flows *flows, uint32_t *phase, uint32_t *nphases, uint32_t *least);

#endif
