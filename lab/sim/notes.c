/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notes.c - what is noted while a simulation runs: loads of links, stalls, arrivals; in ticks, and picoseconds in the end.
 *
 * Of a step the fullest link and the one that waited longest are kept, not all: links note what they carry in the step
 * that they last heard of, and begin anew with the next one, so that nothing has to be gone through between steps.
 *
 * The time line is a row of bins. When time goes beyond the last one, two neighbours become one; so any length fits,
 * and where the edges lie depends on the length alone.
 */
#include "state.h"

/* What a link notes of a step, emptied when it is the first of a new one. */
static struct sim_link *link_in_step(struct sim *sim, uint32_t l)
{
	struct sim_link *link = &sim->link[l];

	if (link->step != sim->step) {
		link->step = sim->step;
		link->load = link->step_stall = link->step_loads = 0;
	}
	return link;
}

static struct fors_sim_step *current_step(struct sim *sim)
{
	return sim->result->step ? &sim->result->step[sim->step] : NULL;
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
	struct fors_sim_step *step = current_step(sim);
	uint64_t *bound = step ? &step->bound : &sim->result->bound;

	for (uint32_t i = 0; i < sim->message[m].nlinks; i++) {
		struct sim_link *link = link_in_step(sim, way[i]);

		link->load += message_ticks(sim, link, sim->message[m].bytes);
		link->step_loads++;
		if (link->load <= *bound)
			continue;
		*bound = link->load;
		if (step) {
			step->full = way[i];
			step->full_messages = link->step_loads;
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
	struct sim_link *link = link_in_step(sim, l);
	struct fors_sim_step *step = current_step(sim);

	sim->result->link[l].stall += ticks;
	sim->result->stalled_ps[bin_now(sim)] += ticks;
	if (step && ticks && !link->step_stall) {
		step->waiting_links++;
		step->waiting_servers += graph->is_terminal[graph->from[l]];
	}
	link->step_stall += ticks;
	if (!step || link->step_stall <= step->stall)
		return;
	step->stall = link->step_stall;
	step->link = l;
}

/* ---- the end ---- */

/* Ticks become picoseconds. */
static void finish_step(const struct sim *sim, struct fors_sim_step *step)
{
	step->begin = fors_sim_ps(sim, step->begin);
	step->end = fors_sim_ps(sim, step->end);
	step->bound = fors_sim_ps(sim, step->bound);
	step->stall = fors_sim_ps(sim, step->stall);
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
	uint64_t bound = r->step ? 0 : r->bound;

	if (sim->messages_left)
		finish_stalls(sim);
	for (uint32_t i = 0; r->step && i < r->nsteps; i++) {
		bound += r->step[i].bound;
		finish_step(sim, &r->step[i]);
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
