/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of method flows by themselves: which way a unit takes first, plans made shorter. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/base/random.h"
#include "core/planners/occupancy.h"
#include "core/planners/flows/retry.h"
#include "core/planners/flows/search.h"
#include "core/planners/flows/ways.h"

/*
 * Five units of ten tokens with two ways each. At first the second and the third share link 1, the others link 0. The first
 * finds no better way before the second has left link 1; and the last can do nothing, which is no reason to stop there.
 */
TEST(ways_are_chosen_until_nobody_moves)
{
	uint32_t senders[] = {10}, begin[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		 link[] = {0, 1, 1, 2, 1, 1, 0, 0, 0, 0};
	uint8_t exists[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const struct fors_flows_problem problem = {.nswitches = 1,
						   .ndests = 5,
						   .nlinks = 3,
						   .npaths = 2,
						   .senders = senders,
						   .begin = begin,
						   .link = link,
						   .exists = exists};
	static const uint32_t expected[] = {1, 3, 4, 6, 8};
	struct fors_error error;
	uint32_t *way;

	assert_int_equal(fors_flows_choose_ways(&problem, 10, &way, &error), FORS_OK);
	for (unsigned unit = 0; unit < 5; unit++)
		assert_int_equal(way[unit], expected[unit]);
	free(way);
}

/* ---- a leaf for each switch, a cable for each of its servers ---- */

#define LEAVES 5
#define EACH 3
#define SERVERS (LEAVES * EACH)

/* Server d is come to over cable d % ncables of the switch that sends, or with path index i over the i-th after that; and a cable of its own. */
struct flat {
	struct fors_flows_problem problem;
	uint32_t senders[LEAVES], first[LEAVES + 1], home[SERVERS], begin[EACH * LEAVES * SERVERS + 1],
		link[2 * EACH * LEAVES * SERVERS];
	uint8_t exists[EACH * LEAVES * SERVERS];
};

static void set_flat(struct flat *f, uint32_t ncables, uint32_t npaths)
{
	uint32_t n = 0, way = 0;

	memset(f, 0, sizeof(*f));
	f->problem = (struct fors_flows_problem){.nswitches = LEAVES,
						 .ndests = SERVERS,
						 .nlinks = LEAVES * EACH + SERVERS,
						 .npaths = npaths,
						 .senders = f->senders,
						 .first = f->first,
						 .home = f->home,
						 .begin = f->begin,
						 .link = f->link,
						 .exists = f->exists};
	memset(f->exists, 1, sizeof(f->exists));
	for (uint32_t s = 0; s < LEAVES; s++) {
		f->senders[s] = EACH;
		f->first[s + 1] = (s + 1) * EACH;
		for (uint32_t d = 0; d < SERVERS; d++) {
			f->home[d] = d / EACH;
			for (uint32_t i = 0; i < npaths; i++) {
				if (d / EACH != s) {
					f->link[n++] = s * EACH + (d % ncables + i) % EACH;
					f->link[n++] = LEAVES * EACH + d;
				}
				f->begin[++way] = n;
			}
		}
	}
}

/* Each unit in as many phases as it has tokens; in a phase a receiver and a link have one, a switch its senders at most. */
static void check_packing(const struct flat *f, const struct fors_flows_packing *packing)
{
	uint32_t tokens[LEAVES * SERVERS] = {0};

	assert_int_equal(packing->nwaiting, 0);
	for (uint32_t t = 0; t < packing->nphases; t++) {
		uint32_t load[LEAVES * EACH + SERVERS] = {0}, sent[LEAVES] = {0};

		for (uint32_t d = 0; d < SERVERS; d++) {
			uint32_t way = fors_flows_received(packing, d, t), unit;

			if (way == FORS_FLOWS_NONE)
				continue;
			unit = way / f->problem.npaths;
			assert_int_equal(unit % SERVERS, d);
			tokens[unit]++;
			assert_true(++sent[unit / SERVERS] <= EACH);
			for (uint32_t i = f->begin[way]; i < f->begin[way + 1]; i++)
				assert_int_equal(++load[f->link[i]], 1);
		}
	}
	for (uint32_t unit = 0; unit < LEAVES * SERVERS; unit++)
		assert_int_equal(tokens[unit], EACH);
}

/* A plan with twice the phases that it needs; base LIDs alone allow the same, where there are several. */
static void shorten(uint32_t npaths)
{
	const struct fors_flows_asked asked = {.known_bound = SERVERS},
				      limited = {.known_bound = SERVERS, .limits.steps = 1};
	struct fors_flows_packing *packing;
	struct fors_error error;
	struct flat f;

	set_flat(&f, EACH, npaths);
	assert_int_equal(fors_flows_packing_new(&f.problem, 2 * SERVERS, &packing, &error), FORS_OK);
	fors_flows_fill(packing);
	check_packing(&f, packing);
	assert_int_equal(fors_flows_retry(&f.problem, &limited, false, &packing, &error), FORS_OK);
	assert_int_equal(packing->nphases, 2 * SERVERS); /* who says how many steps there are gets no more */
	assert_int_equal(fors_flows_retry(&f.problem, &asked, false, &packing, &error), FORS_OK);
	assert_int_equal(packing->nphases, SERVERS);
	check_packing(&f, packing);
	fors_flows_packing_free(packing);
}

TEST(long_plans_become_short)
{
	shorten(1);
	shorten(2);
}

static const uint8_t rooms[] = {1, 3, 2};

static uint32_t room_of(uint32_t row)
{
	return row < sizeof(rooms) ? rooms[row] : 1;
}

/* Who is where, and which turns are full, counted beside it. */
static void assert_book(const struct fors_occupancy *occupancy, uint32_t (*who)[70][3], uint32_t row, uint32_t turn)
{
	uint32_t n, *at = fors_occupancy_places(occupancy, row, turn, &n), in = 0, found = 0;

	assert_int_equal(n, room_of(row));
	for (uint32_t i = 0; i < n; i++) {
		in += who[row][turn][i] != 0;
		for (uint32_t k = 0; k < n; k++)
			found += who[row][turn][i] && at[(size_t)k * occupancy->room] == who[row][turn][i];
	}
	assert_int_equal(found, in);
	assert_int_equal(fors_occupancy_busy(occupancy, row, turn / 64) >> (turn % 64) & 1, in == n);
}

/* An occupancy table whose rows have room for several, written and erased at random; a copy has all of it. */
TEST(a_occupancy_has_room_for_several)
{
	static uint32_t who[5][70][3];
	struct fors_random random = {11};
	struct fors_occupancy occupancy, copy;

	assert_true(fors_occupancy_init_wide(&occupancy, rooms, 3, 5, 1, 70, 80));
	assert_true(fors_occupancy_init_wide(&copy, rooms, 3, 5, 1, 70, 80));
	assert_int_equal(fors_occupancy_bytes(5, 3, 1, 80), 6 * 2 * 8 + (5 + 3) * 80 * 4 + 80 * 2);
	for (uint32_t step = 1; step <= 4000; step++) {
		uint32_t row = fors_random_below(&random, 5), turn = fors_random_below(&random, 70);
		uint32_t *one = &who[row][turn][fors_random_below(&random, room_of(row))];

		if (*one)
			fors_occupancy_erase(&occupancy, row, turn, *one);
		else
			fors_occupancy_write(&occupancy, row, turn, step);
		*one = *one ? 0 : step;
		assert_book(&occupancy, who, row, turn);
	}
	fors_occupancy_copy(&copy, &occupancy);
	for (uint32_t i = 0; i < 5 * 70; i++)
		assert_book(&copy, who, i / 70, i % 70);
	fors_occupancy_release(&occupancy);
	fors_occupancy_release(&copy);
}
