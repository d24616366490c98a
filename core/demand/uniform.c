/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "uniform.h"

#include <stdlib.h>
#include <string.h>

#include "cables.h"

/* ---- a schedule ---- */

/* The piece of a flow of the schedule, with 0 bytes where nothing is to be sent. */
static struct fors_demand_piece piece_of(const struct fors_demand_problem *problem, const uint32_t *number, uint32_t s,
					 struct fors_cell cell)
{
	struct fors_demand_piece piece = {0, number[s], FORS_NONE, cell.path};

	if (cell.dst == FORS_IDLE)
		return piece;
	piece.dst = number[cell.dst];
	if (piece.src != FORS_NONE && piece.dst != FORS_NONE)
		piece.bytes = fors_demand_of(problem->demand, piece.src, piece.dst);
	return piece;
}

/* Every message has one flow; returns how many there are. */
static uint32_t list_pieces(const struct fors_demand_problem *problem, const struct fors_schedule *schedule,
			    const uint32_t *number, struct fors_demand_put *put)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t t = 0; t < schedule->nphases && n < problem->demand->count; t++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);

			put[n] = (struct fors_demand_put){piece_of(problem, number, s, cell), t};
			n += put[n].piece.bytes > 0;
		}
	return n;
}

enum fors_err fors_demand_by_schedule(const struct fors_demand_problem *problem, const struct fors_schedule *schedule,
				      struct fors_demand_plan **plan, struct fors_error *error)
{
	struct fors_demand_put *put = malloc((problem->demand->count + (size_t)1) * sizeof(*put));
	uint32_t *number = put ? fors_demand_numbers(problem->routed, schedule) : NULL;
	enum fors_err err = number ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		uint32_t n = list_pieces(problem, schedule, number, put);

		*plan = NULL;
		if (n == problem->demand->count)
			err = fors_demand_plan_make(put, n, schedule->nphases, problem->nservers, "uniform", plan,
						    error);
	}
	free(put);
	free(number);
	return err;
}

/* ---- a shift ---- */

/* Messages by how far they go. */
struct by_shift {
	uint32_t *first; /* per shift: a message of it, FORS_DEMAND_NONE */
	uint32_t *next;	 /* per message: another one of the same shift, FORS_DEMAND_NONE */
};

static void list_by_shift(const struct fors_demand *demand, struct by_shift *list)
{
	memset(list->first, 0xFF, demand->nservers * sizeof(*list->first));
	for (uint32_t m = 0; m < demand->count; m++) {
		uint32_t src = demand->message[m].src, dst = demand->message[m].dst;
		uint32_t t = dst > src ? dst - src : dst + demand->nservers - src;

		list->next[m] = list->first[t];
		list->first[t] = m;
	}
}

/* The bytes over the fullest resource while the messages of shift t are sent; load[] is all 0, and so it is left. */
static uint64_t phase_of_shift(const struct fors_demand_problem *problem, const struct by_shift *list, uint32_t t,
			       uint64_t *load)
{
	uint32_t use[FORS_DEMAND_MOST_USES];
	uint64_t most = 0;

	for (uint32_t m = list->first[t]; m != FORS_DEMAND_NONE; m = list->next[m]) {
		uint32_t n = fors_demand_uses(problem, m, 0, use);

		for (uint32_t i = 0; i < n; i++) {
			load[use[i]] += problem->demand->message[m].bytes;
			most = load[use[i]] > most ? load[use[i]] : most;
		}
	}
	for (uint32_t m = list->first[t]; m != FORS_DEMAND_NONE; m = list->next[m]) {
		uint32_t n = fors_demand_uses(problem, m, 0, use);

		for (uint32_t i = 0; i < n; i++)
			load[use[i]] = 0;
	}
	return most;
}

enum fors_err fors_demand_by_shift(const struct fors_demand_problem *problem, struct fors_demand_shift *shift,
				   struct fors_error *error)
{
	uint64_t *load = calloc(problem->nresources + (size_t)1, sizeof(*load));
	struct by_shift list = {malloc((problem->nservers + (size_t)1) * sizeof(*list.first)),
				malloc((problem->demand->count + (size_t)1) * sizeof(*list.next))};
	bool is_good = load && list.first && list.next;

	if (is_good) {
		*shift = (struct fors_demand_shift){0};
		list_by_shift(problem->demand, &list);
		for (uint32_t t = 1; t < problem->nservers; t++) {
			uint64_t length = phase_of_shift(problem, &list, t, load);

			shift->length += length;
			shift->nphases += length > 0;
		}
	}
	free(load);
	free(list.first);
	free(list.next);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
