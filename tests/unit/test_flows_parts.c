/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of method flows by themselves: which way a unit takes first, the coordinates of a hypercube. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/planners/flows/cube.h"
#include "core/planners/flows/ways.h"

/*
 * Five units of ten tokens with two ways each. At first the second and the third share link 1, the others link 0. The first
 * finds no better way before the second has left link 1; and the last can do nothing, which is no reason to stop there.
 */
static void ways_are_chosen_until_nobody_moves(void **state)
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

	(void)state;
	assert_int_equal(fors_flows_choose_ways(&problem, 10, &way, &error), FORS_OK);
	for (unsigned unit = 0; unit < 5; unit++)
		assert_int_equal(way[unit], expected[unit]);
	free(way);
}

/* ---- hypercubes ---- */

#define MOST_SWITCHES 16

/* Switches with a server each, and a list of links (which here nobody looks at) as long as two are apart. */
struct lengths {
	struct fors_flows_problem problem;
	uint32_t senders[MOST_SWITCHES], first[MOST_SWITCHES + 1], begin[MOST_SWITCHES * MOST_SWITCHES + 1];
};

static void set_lengths(struct lengths *l, uint32_t n, uint32_t (*distance)(uint32_t a, uint32_t b))
{
	memset(l, 0, sizeof(*l));
	l->problem = (struct fors_flows_problem){
		.nswitches = n, .ndests = n, .npaths = 1, .senders = l->senders, .first = l->first, .begin = l->begin};
	for (uint32_t a = 0; a < n; a++) {
		l->senders[a] = 1;
		l->first[a + 1] = a + 1;
		for (uint32_t b = 0; b < n; b++)
			l->begin[a * n + b + 1] = l->begin[a * n + b] + distance(a, b);
	}
}

/* Which corner of a hypercube a switch is, in an order without any. */
static uint32_t corner_of(uint32_t s)
{
	static const uint32_t corner[MOST_SWITCHES] = {5, 12, 3, 0, 9, 15, 6, 10, 1, 8, 14, 2, 11, 4, 13, 7};

	return corner[s];
}

static uint32_t in_cube(uint32_t a, uint32_t b)
{
	return (uint32_t)__builtin_popcount(corner_of(a) ^ corner_of(b));
}

static uint32_t in_ring(uint32_t a, uint32_t b)
{
	uint32_t d = (a + 8 - b) % 8;

	return d < 8 - d ? d : 8 - d;
}

static uint32_t in_star(uint32_t a, uint32_t b)
{
	return a == b ? 0 : a && b ? 2 : 1;
}

/* As a cube, but for one way that goes round. */
static uint32_t with_a_detour(uint32_t a, uint32_t b)
{
	return a == 11 && b == 6 ? in_cube(a, b) + 2 : in_cube(a, b);
}

static void corners_of_a_hypercube_are_found(void **state)
{
	struct lengths l;
	uint32_t number[MOST_SWITCHES];

	(void)state;
	set_lengths(&l, 16, in_cube);
	fors_flows_cube(&l.problem, number);
	for (uint32_t a = 0; a < 16; a++)
		for (uint32_t b = 0; b < 16; b++) {
			assert_true(number[a] < 16);
			assert_int_equal(__builtin_popcount(number[a] ^ number[b]), in_cube(a, b));
		}
}

/* Whatever is no hypercube with shortest ways keeps its numbers. */
static void others_keep_their_numbers(void **state)
{
	static const struct {
		uint32_t n;
		uint32_t (*distance)(uint32_t a, uint32_t b);
	} all[] = {{8, in_ring}, {4, in_star}, {16, with_a_detour}, {15, in_cube}, {1, in_star}};
	struct lengths l;
	uint32_t number[MOST_SWITCHES];

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		set_lengths(&l, all[i].n, all[i].distance);
		fors_flows_cube(&l.problem, number);
		for (uint32_t s = 0; s < all[i].n; s++)
			assert_int_equal(number[s], s);
	}
	set_lengths(&l, 16, in_cube);
	l.senders[3] = 0;
	fors_flows_cube(&l.problem, number);
	assert_int_equal(number[3], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_are_chosen_until_nobody_moves),
		cmocka_unit_test(corners_of_a_hypercube_are_found),
		cmocka_unit_test(others_keep_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
