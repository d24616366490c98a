/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notes.c - what is noted while a simulation runs: loads of links, stalls, arrivals; in ticks, and picoseconds in the end.
 *
 * Of a slot the fullest link and the one that waited longest are kept, not all: links note what they carry in the slot
 * that they last heard of, and begin anew with the next one, so that nothing has to be gone through between slots.
 *
 * The time line is a row of bins. When time goes beyond the last one, two neighbours become one; so any length fits,
 * and where the edges lie depends on the length alone.
 */
#include "state.h"

/* What a link notes of a slot, emptied when it is the first of a new one. */
static struct sim_link *link_in_slot(struct sim *sim, uint32_t l)
{
	struct sim_link *link = &sim->link[l];

	if (link->slot != sim->slot) {
		link->slot = sim->slot;
		link->load = link->slot_stall = link->slot_loads = 0;
	}
	return link;
}

static struct fors_sim_slot *current_slot(struct sim *sim)
{
	return sim->result->slot ? &sim->result->slot[sim->slot] : NULL;
}

/* ---- loads ---- */

/* Ticks of a whole message on a link. */
static uint64_t message_ticks(const struct sim *sim, const struct sim_link *link, uint64_t bytes)
{
	const struct fors_sim_settings *set = sim->settings;
	uint64_t whole = bytes / set->mtu, rest = bytes % set->mtu;

	return whole * fors_sim_ticks(link, set->mtu + set->header) +
	       (rest ? fors_sim_ticks(link, (uint32_t)rest + set->header) : 0);
}

void fors_sim_note_load(struct sim *sim, uint32_t m)
{
	const uint32_t *way = &sim->way[(size_t)m * sim->router->max_links];
	struct fors_sim_slot *slot = current_slot(sim);
	uint64_t *bound = slot ? &slot->bound : &sim->result->bound;

	for (uint32_t i = 0; i < sim->message[m].nlinks; i++) {
		struct sim_link *link = link_in_slot(sim, way[i]);

		link->load += message_ticks(sim, link, sim->message[m].bytes);
		link->slot_loads++;
		if (link->load <= *bound)
			continue;
		*bound = link->load;
		if (slot) {
			slot->full = way[i];
			slot->full_messages = link->slot_loads;
		}
	}
}

/* ---- the time line ---- */

static void fold(uint64_t *bin)
{
	for (uint32_t i = 0; i < FORS_SIM_BINS; i++)
		bin[i] = i < FORS_SIM_BINS / 2 ? bin[2 * i] + bin[2 * i + 1] : 0;
}

/* The bin of now. */
static uint32_t bin_now(struct sim *sim)
{
	while (sim->calendar->now >> sim->bin_bits >= FORS_SIM_BINS) {
		fold(sim->result->arrived_bytes);
		fold(sim->result->stalled_ps);
		sim->bin_bits++;
	}
	return (uint32_t)(sim->calendar->now >> sim->bin_bits);
}

void fors_sim_note_arrival(struct sim *sim, uint32_t bytes)
{
	sim->result->arrived_bytes[bin_now(sim)] += bytes;
}

void fors_sim_note_stall(struct sim *sim, uint32_t l, uint64_t ticks)
{
	const struct fors_graph *graph = sim->router->graph;
	struct sim_link *link = link_in_slot(sim, l);
	struct fors_sim_slot *slot = current_slot(sim);

	sim->result->link[l].stall += ticks;
	sim->result->stalled_ps[bin_now(sim)] += ticks;
	if (slot && ticks && !link->slot_stall) {
		slot->waiting_links++;
		slot->waiting_servers += graph->is_terminal[graph->from[l]];
	}
	link->slot_stall += ticks;
	if (!slot || link->slot_stall <= slot->stall)
		return;
	slot->stall = link->slot_stall;
	slot->link = l;
}

/* ---- the end ---- */

/* Ticks become picoseconds. */
static void finish_slot(const struct sim *sim, struct fors_sim_slot *slot)
{
	slot->begin = fors_sim_ps(sim, slot->begin);
	slot->end = fors_sim_ps(sim, slot->end);
	slot->bound = fors_sim_ps(sim, slot->bound);
	slot->stall = fors_sim_ps(sim, slot->stall);
}

/* A deadlock: what waits, waits up to now. */
static void finish_stalls(struct sim *sim)
{
	for (uint32_t l = 0; l < sim->nlinks; l++)
		if (sim->link[l].stalled != FORS_SIM_NEVER)
			fors_sim_note_stall(sim, l, sim->calendar->now - sim->link[l].stalled);
	if (sim->calendar->now > sim->last)
		sim->last = sim->calendar->now;
}

void fors_sim_finish(struct sim *sim)
{
	struct fors_sim_result *r = sim->result;
	uint64_t bound = r->slot ? 0 : r->bound;

	if (sim->messages_left)
		finish_stalls(sim);
	for (uint32_t i = 0; r->slot && i < r->nslots; i++) {
		bound += r->slot[i].bound;
		finish_slot(sim, &r->slot[i]);
	}
	r->bound = fors_sim_ps(sim, bound);
	r->time = fors_sim_ps(sim, sim->last);
	r->bin = fors_sim_ps(sim, (uint64_t)1 << sim->bin_bits);
	for (uint32_t i = 0; i < FORS_SIM_BINS; i++)
		r->stalled_ps[i] = fors_sim_ps(sim, r->stalled_ps[i]);
	for (uint32_t l = 0; l < r->nlinks; l++) {
		r->link[l].busy = fors_sim_ps(sim, sim->link[l].busy);
		r->link[l].stall = fors_sim_ps(sim, r->link[l].stall);
	}
}
