/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the search for table entries of jobs: rows made level, and one of several cables for each server. */
#include <stdlib.h>
#include <string.h>

#include "core/jobs/entries_inside.h"
#include "support.h"

#define P 10 /* servers of the team */

/* A team of two squads over two lanes, with one entry: from the first squad, of two, to a member of the other. */
struct pair {
	struct entry_search search;
	struct team team;
	struct squad squad[2];
	struct mask in[P];
	uint32_t squad_of[P], row[8], excess[FULLEST * P + 1], full[8], full_at[8];
	uint8_t cell[2 * P];
};

static const struct fors_entries_task even = {.flows = NULL}; /* a flow for each pair */

/* Flows on the rows: up and down over the lane that the entry has, and over the other one. */
static void pair_new(struct pair *p, uint32_t up, uint32_t down, uint32_t other_up, uint32_t other_down)
{
	*p = (struct pair){
		.squad = {{.n = 2, .nlanes = 2, .mask = {{3}}}, {.n = P - 2, .first = 2, .nlanes = 2, .mask = {{3}}}},
		.row = {up, other_up, 0, 0, 0, 0, down, other_down}};
	for (uint32_t m = 0; m < P; m++) {
		p->in[m] = (struct mask){{3}};
		p->squad_of[m] = m >= 2;
	}
	memset(p->cell, FORS_NO_LANE, sizeof(p->cell));
	p->cell[2] = 0;
	p->team = (struct team){.count = 2,
				.nservers = P,
				.squad_of = p->squad_of,
				.in = p->in,
				.cell = p->cell,
				.row = {p->row, p->row + 4},
				.excess = p->excess,
				.full = p->full,
				.full_at = p->full_at};
	p->search = (struct entry_search){.task = &even,
					  .nlanes = 2,
					  .nwords = 1,
					  .nteams = 1,
					  .nsquads = 2,
					  .team = &p->team,
					  .squad = p->squad};
	if (up <= P)
		return;
	p->team.most = up - P;
	p->team.beyond = up - P;
	p->team.excess[up - P] = 1;
	p->team.nfull = 1; /* full[0] is row 0 */
}

/* Which lane has the entry when all is level? */
static uint32_t lane_of(uint32_t up, uint32_t down, uint32_t other_up, uint32_t other_down)
{
	struct pair p;

	pair_new(&p, up, down, other_up, other_down);
	fors_entries_level(&p.search, &p.team);
	free(p.search.change);
	assert_int_equal(p.row[0] + p.row[1], up + other_up);
	assert_int_equal(p.row[6] + p.row[7], down + other_down);
	return p.cell[2];
}

/* Two flows go to lower rows, unless one of these would be over-full, and was not before. */
static void rows_have_room(void **state)
{
	assert_int_equal(lane_of(6, 10, 7, 1), 1);
	assert_int_equal(lane_of(6, 10, 8, 1), 1);  /* to the brim */
	assert_int_equal(lane_of(6, 10, 9, 1), 0);  /* one too many, up */
	assert_int_equal(lane_of(10, 6, 1, 9), 0);  /* the same down */
	assert_int_equal(lane_of(12, 10, 9, 1), 1); /* no fuller than the other was */
	assert_int_equal(lane_of(12, 10, 11, 1), 0);
	assert_int_equal(lane_of(6, 6, 5, 5), 0); /* the sum of squares would rise */
}

/* Of a spine's cables that a job owns a server has one, the next server of the leaf the next one. */
static void cables_in_turn(void **state)
{
	struct bed *bed = bed_new("FT(2;4,3;cables=3)", 1);
	const struct fors_fabric *fabric = bed->fabric;
	uint32_t order[64], n = 0, squad_of[8] = {0}, taken[64] = {0};
	struct squad squad = {.first = 1, .n = 6};
	struct mask in[8];
	struct team team = {.count = 1, .nservers = 8, .squad_of = squad_of, .in = in};
	struct entry_search s = {.fabric = fabric,
				 .nlanes = fabric->nlanes,
				 .nwords = 1,
				 .order = order,
				 .has_parallel = true,
				 .squad = &squad};

	assert_in_range(fabric->nlanes, 6, 64);
	for (uint32_t spine = 0; spine < fabric->nspines; spine++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (fabric->lane[k].spine == spine) {
				order[n++] = k;
				if (spine < 2 &&
				    fabric->lane[k].cable != spine) /* two cables of two spines, none of others */
					mask_flip(&squad.mask, k);
			}
	for (uint32_t m = 1; m < 7; m++) {
		uint32_t nth[2] = {0, 0};

		fors_entries_find_in(&s, &team, m);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = order[i], spine = fabric->lane[k].spine;
			bool is_own = squad.mask.word[k / 64] >> k % 64 & 1, is_in = in[m].word[k / 64] >> k % 64 & 1;

			if (is_own)
				assert_int_equal(is_in, nth[spine]++ == (m - 1) % 2);
			else
				assert_false(is_in);
			taken[k] += is_in;
		}
	}
	for (uint32_t k = 0; k < fabric->nlanes; k++)
		assert_int_equal(taken[k], squad.mask.word[k / 64] >> k % 64 & 1 ? 3 : 0);
	bed_free(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_room),
		cmocka_unit_test(cables_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
