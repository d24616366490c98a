/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deadlock.c - nothing can happen any more, and packets are under way: who waits for whom?
 *
 * The first packet of each queue in the buffer of lane A wants a lane B, and waits for room in B's buffer; in it there
 * are packets too (it is full), which wait for others. So from any full buffer one can go on and on, and there are
 * finitely many: the way comes back to where it was. That circle is the deadlock.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* For each lane, one that a packet at the head of a queue in its buffer waits for. */
static void find_waits(struct sim *sim, uint32_t *waits_for)
{
	for (uint32_t q = 0; q < sim->nqueues; q++) {
		const struct sim_packet *packet = &sim->packet[sim->queue[q].head];

		if (sim->queue[q].head != FORS_NONE)
			waits_for[packet->lane] = packet->onto;
	}
}

/* Lanes of the circle that begins and ends at `lane`, as links, in cycle[]; how many. */
static uint32_t walk(const struct sim *sim, const uint32_t *waits_for, uint32_t lane, uint32_t *cycle)
{
	uint32_t n = 0, at = lane;

	do {
		cycle[n++] = at >> sim->vl_bits;
		at = waits_for[at];
	} while (at != lane);
	return n;
}

enum fors_err fors_sim_find_deadlock(struct sim *sim, struct fors_error *error)
{
	size_t nlanes = (size_t)sim->nlinks << sim->vl_bits, i = 0;
	uint32_t *waits_for = malloc((nlanes + 1) * sizeof(*waits_for));
	uint32_t *cycle = malloc((nlanes + 1) * sizeof(*cycle)), at;

	if (!waits_for || !cycle) {
		free(waits_for);
		free(cycle);
		return fors_fail_memory(error);
	}
	memset(waits_for, 0xff, (nlanes + 1) * sizeof(*waits_for));
	find_waits(sim, waits_for);
	while (i < nlanes && waits_for[i] == FORS_NONE)
		i++;
	at = (uint32_t)i;
	for (size_t step = 0; step < nlanes && at < nlanes; step++)
		at = waits_for[at];
	if (at < nlanes)
		sim->result->ncycle = walk(sim, waits_for, at, cycle);
	sim->result->cycle = cycle;
	free(waits_for);
	return at < nlanes ? FORS_OK : fors_fail(error, FORS_ENOPLAN, "the simulation stands still, without a circle");
}
