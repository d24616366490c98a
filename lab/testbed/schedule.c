/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libforsched/forsched.h"

struct schedule {
	struct forsched *open;
	const struct place *place;
	uint32_t nranks;
	struct plan next;	     /* under construction */
	uint32_t rank_of[MAX_RANKS]; /* by server number */
};

static void complain(const char *what)
{
	fprintf(stderr, "exchange: %s\n", what);
}

struct schedule *schedule_new(const char *file, const struct place *place, uint32_t nranks)
{
	struct schedule *schedule = calloc(1, sizeof *schedule);
	struct forsched_error error = {.text = "out of memory"};

	if (!schedule || forsched_open(file, &schedule->open, &error)) {
		complain(error.text);
		free(schedule);
		return NULL;
	}
	schedule->place = place;
	schedule->nranks = nranks;
	return schedule;
}

/* Which rank is which server; all of them must be there, and nobody else. */
static bool find_ranks(struct schedule *schedule)
{
	uint32_t number;

	if (forsched_nservers(schedule->open) != schedule->nranks || forsched_nphases(schedule->open) >= MAX_PHASES) {
		complain("the schedule is withdrawn, too long, or for other servers: it changes nothing");
		return false;
	}
	for (uint32_t rank = 0; rank < schedule->nranks; rank++) {
		struct forsched_error error;

		if (forsched_find_guid(schedule->open, schedule->place[rank].guid, &number, &error)) {
			complain(error.text);
			return false;
		}
		schedule->rank_of[number] = rank;
	}
	return true;
}

/* What one server does in one phase, into the plan. */
static void add_flow(struct schedule *schedule, uint32_t rank, uint32_t phase, const struct forsched_flow *flow)
{
	struct plan *next = &schedule->next;
	struct step *step = &next->step[phase][rank];
	uint32_t base = schedule->place[rank].lid;

	*step = (struct step){.to = NOBODY, .from = NOBODY};
	if (flow->from != FORSCHED_NOBODY)
		step->from = (uint16_t)schedule->rank_of[flow->from];
	if (flow->to == FORSCHED_NOBODY)
		return;
	step->to = (uint16_t)schedule->rank_of[flow->to];
	next->ends[rank][step->to] =
		(struct ends){.lid = (uint16_t)(base + flow->src_path_bits), .peer_lid = flow->dlid};
}

/* The message to oneself goes in the first phase with nothing else to do; a phase more if there is none. */
static void add_own(struct schedule *schedule, uint32_t rank)
{
	struct plan *next = &schedule->next;
	uint16_t lid = schedule->place[rank].lid;
	uint32_t p = 0;

	while (p < next->nphases && (next->step[p][rank].to != NOBODY || next->step[p][rank].from != NOBODY))
		p++;
	if (p == next->nphases)
		memset(next->step[next->nphases++], 0xFF, sizeof next->step[0]);
	next->step[p][rank] = (struct step){.to = (uint16_t)rank, .from = (uint16_t)rank};
	next->ends[rank][rank] = (struct ends){.lid = lid, .peer_lid = lid};
}

static bool make_plan(struct schedule *schedule)
{
	struct plan *next = &schedule->next;
	struct forsched_error error;
	struct forsched_flow flow;

	if (!find_ranks(schedule))
		return false;
	if (forsched_check(schedule->open, &error)) {
		complain(error.text);
		return false;
	}
	next->epoch = forsched_epoch(schedule->open);
	next->nranks = schedule->nranks;
	next->nphases = forsched_nphases(schedule->open);
	for (uint32_t number = 0; number < next->nranks; number++)
		for (uint32_t p = 0; p < next->nphases; p++)
			if (!forsched_flow(schedule->open, number, p, &flow))
				add_flow(schedule, schedule->rank_of[number], p, &flow);
	for (uint32_t rank = 0; rank < next->nranks; rank++)
		add_own(schedule, rank);
	return true;
}

bool schedule_refresh(struct schedule *schedule, struct plan *plan)
{
	struct forsched_error error;

	if (forsched_refresh(&schedule->open, &error))
		complain(error.text);
	if (forsched_epoch(schedule->open) <= plan->epoch || !make_plan(schedule))
		return false;
	*plan = schedule->next;
	return true;
}

void schedule_free(struct schedule *schedule)
{
	if (schedule)
		forsched_close(schedule->open);
	free(schedule);
}
