/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/portions.c: pieces of any message make up the message, hold whole units, and are no longer than the
 * ratio allows.
 */

#include "libforsched/mpi/portions.h"
#include "unit.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t state_of_random = 1;

static uint64_t random_below(uint64_t n)
{
	state_of_random = state_of_random * 6364136223846793005 + 1442695040888963407;
	return (state_of_random >> 20) % n;
}

/* Some places with a rank each; portions of place 0. */
static void make(struct portions *portions, struct places *places, int size, uint32_t nphases)
{
	int servers[16];

	for (int rank = 0; rank < size; rank++)
		servers[rank] = rank;
	assert_true(forsched_mpi_make_places(places, servers, size, (uint32_t)size));
	assert_true(forsched_mpi_make_portions(portions, places, 0, nphases));
}

static void add(struct portions *portions, uint32_t to, uint64_t bytes, uint32_t from, uint64_t in_bytes)
{
	forsched_mpi_add_portion(portions, &(struct portion_cell){to, from, bytes, in_bytes});
}

static void phases_in_which_it_does_nothing_are_left_out(void **state)
{
	struct portions portions;
	struct places places;

	make(&portions, &places, 4, 5);
	add(&portions, 1, 100, NO_PLACE, 0);
	add(&portions, NO_PLACE, 0, NO_PLACE, 0);
	add(&portions, NO_PLACE, 0, 1, 70);
	add(&portions, 2, 30, 1, 40);
	add(&portions, 1, 50, 3, 10);
	assert_int_equal(portions.n, 4);
	assert_int_equal(portions.portion[0].offset, 0);
	assert_int_equal(portions.portion[2].in_offset, 70);
	assert_int_equal(portions.portion[2].offset, 0);
	assert_int_equal(portions.portion[3].offset, 100);
	assert_int_equal(portions.out_total[1], 150);
	assert_int_equal(portions.in_total[1], 110);
	assert_int_equal(portions.in_total[2], 0);
	assert_int_equal(forsched_mpi_portions_port(&portions, places.n), 180); /* it sends more than it gets */
	add(&portions, NO_PLACE, 0, 2, 1000);
	assert_int_equal(forsched_mpi_portions_port(&portions, places.n), 1120);
	forsched_mpi_portions_free(&portions);
	assert_null(portions.portion);
	forsched_mpi_places_free(&places);
}

static void the_ratio_is_that_of_the_place_with_most(void **state)
{
	struct portions portions;
	struct places places;

	make(&portions, &places, 4, 3);
	add(&portions, 1, 100, NO_PLACE, 0);
	add(&portions, 2, 3, NO_PLACE, 0);
	assert_int_equal(forsched_mpi_ratio(&portions, places.n), 0);
	portions.wanted[1] = 250;
	assert_int_equal(forsched_mpi_ratio(&portions, places.n), RATIO_ONE / 2 * 5);
	portions.wanted[2] = 10;
	assert_int_equal(forsched_mpi_ratio(&portions, places.n), (10 * (uint64_t)RATIO_ONE + 2) / 3); /* rounded up */
	portions.wanted[2] = (uint64_t)1 << 50;
	assert_true(forsched_mpi_ratio(&portions, places.n) == NO_RATIO);
	portions.out_total[2] = (uint64_t)1 << 49;
	assert_true(forsched_mpi_ratio(&portions, places.n) >= 2 * (uint64_t)RATIO_ONE);
	assert_true(forsched_mpi_ratio(&portions, places.n) <= 2 * (uint64_t)RATIO_ONE + RATIO_ONE);
	portions.wanted[3] = 1; /* the demand has nothing for it */
	assert_true(forsched_mpi_ratio(&portions, places.n) == NO_RATIO);
	forsched_mpi_portions_free(&portions);
	forsched_mpi_places_free(&places);
}

/* Cut a message of the demand at random places, and another one alike. */
static void cut_one(uint64_t total, uint64_t message, uint64_t unit)
{
	uint64_t offset = 0, last = 0;

	assert_int_equal(forsched_mpi_cut(message, 0, total, unit), 0);
	while (offset < total) {
		uint64_t bytes = 1 + random_below(total - offset), cut;
		wide most = ((wide)message * bytes + total - 1) / total + unit + (message >> 30);

		offset += bytes;
		cut = forsched_mpi_cut(message, offset, total, unit);
		assert_true(cut >= last && cut <= message);
		assert_true(cut % unit == 0 || cut == message);
		assert_true(cut - last <= (uint64_t)most);
		if (total <= UINT32_MAX && offset < total)
			assert_true(cut == (uint64_t)((wide)message * offset / total) / unit * unit);
		last = cut;
	}
	assert_true(last == message);
}

static void pieces_make_up_the_message(void **state)
{
	const uint64_t units[] = {1, 4, 12, 4096};

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t total = 1 + random_below((uint64_t)1 << (1 + random_below(50)));

		cut_one(total, random_below((uint64_t)1 << (1 + random_below(43))), units[i % 4]);
	}
	cut_one(1, (uint64_t)1 << 60, 1);
	cut_one((uint64_t)1 << 50, (uint64_t)1 << 60, 8);
}

/* What is cut nowhere goes as a whole: a demand that counts messages has one piece of each. */
static void a_message_of_one_piece_is_whole(void **state)
{
	assert_int_equal(forsched_mpi_cut(12345, 0, 1, 4), 0);
	assert_int_equal(forsched_mpi_cut(12345, 1, 1, 4), 12345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_in_which_it_does_nothing_are_left_out),
		cmocka_unit_test(the_ratio_is_that_of_the_place_with_most),
		cmocka_unit_test(pieces_make_up_the_message),
		cmocka_unit_test(a_message_of_one_piece_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
