/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of libforsched/mpi/decision.c: which calls follow, by what was measured, and that slow ones are left to MPI again. */

#include "libforsched/mpi/decision.h"
#include "unit.h"

#define KIB ((uint64_t)1024)
#define MIB (KIB * KIB)
#define PEERS 10
#define RATE 1e-9 /* seconds for a byte */

/* Equal messages of so many bytes. */
static struct sizes equal(uint64_t bytes)
{
	return (struct sizes){.longest = bytes, .rank = PEERS * bytes, .unit = 4};
}

static double plain(const struct sizes *sizes)
{
	return RATE * (double)sizes->rank;
}

static void learn_plain(struct decision *decision, uint64_t bytes, int times)
{
	struct sizes sizes = equal(bytes);

	while (times--)
		forsched_mpi_learn(decision, &sizes, WAY_MPI, plain(&sizes));
}

static enum way way_of(const struct decision *decision, uint64_t bytes)
{
	struct sizes sizes = equal(bytes);

	return forsched_mpi_decide(decision, &sizes);
}

/* Messages of 100 KiB from which on waiting is a twentieth, after three calls of `bytes`. */
static struct decision made(uint64_t bytes)
{
	struct decision decision;

	forsched_mpi_begin_deciding(&decision, PEERS, 0.05 * PEERS * 100 * KIB * RATE);
	learn_plain(&decision, bytes, 3);
	return decision;
}

TEST(nothing_follows_before_it_is_measured)
{
	struct decision decision;

	forsched_mpi_begin_deciding(&decision, PEERS, 1e-9);
	assert_int_equal(way_of(&decision, MIB), WAY_MPI);
	learn_plain(&decision, MIB, 2);
	assert_int_equal(way_of(&decision, MIB), WAY_MPI);
	learn_plain(&decision, MIB, 1);
	assert_int_equal(way_of(&decision, MIB), WAY_PHASES);
	forsched_mpi_begin_deciding(&decision, PEERS, 0); /* no schedule */
	learn_plain(&decision, MIB, 9);
	assert_int_equal(way_of(&decision, MIB), WAY_MPI);
}

TEST(waiting_is_a_twentieth)
{
	struct decision decision = made(MIB);

	assert_in_range(decision.least, 100 * KIB - 1, 100 * KIB + 1);
	assert_int_equal(way_of(&decision, 99 * KIB), WAY_MPI);
	assert_int_equal(way_of(&decision, 101 * KIB), WAY_PHASES);
}

/* Longer messages than those measured are left to MPI until their own rate is known; shorter ones say nothing. */
TEST(the_longest_messages_count)
{
	struct decision decision = made(MIB);
	struct sizes small = equal(100);

	assert_int_equal(forsched_mpi_most(&decision), 2 * MIB);
	assert_int_equal(way_of(&decision, 2 * MIB), WAY_PHASES);
	assert_int_equal(way_of(&decision, 2 * MIB + 1), WAY_MPI);
	forsched_mpi_learn(&decision, &small, WAY_MPI, 1);
	assert_in_range(decision.least, 100 * KIB - 1, 100 * KIB + 1);
	learn_plain(&decision, 4 * MIB, 2);
	assert_int_equal(way_of(&decision, 4 * MIB), WAY_MPI);
	assert_int_equal(way_of(&decision, MIB), WAY_MPI);
	learn_plain(&decision, 4 * MIB, 1);
	assert_int_equal(way_of(&decision, 4 * MIB), WAY_PHASES);
	assert_int_equal(way_of(&decision, MIB), WAY_PHASES);
}

/* One slow call is bad luck; two in a row are not. The middle of three rates counts. */
TEST(slow_calls_are_left_to_mpi_again)
{
	struct decision decision = made(MIB);
	struct sizes sizes = equal(512 * KIB);

	for (int i = 0; i < 10; i++)
		forsched_mpi_learn(&decision, &sizes, WAY_PHASES, (i % 2 ? 1.09 : 9) * plain(&sizes));
	assert_int_equal(way_of(&decision, 512 * KIB), WAY_PHASES);
	for (int i = 0; i < 2; i++)
		forsched_mpi_learn(&decision, &sizes, i ? WAY_CHUNKS : WAY_PHASES, 1.11 * plain(&sizes));
	assert_int_equal(decision.least, MIB);
	assert_int_equal(way_of(&decision, 512 * KIB), WAY_MPI);
	assert_int_equal(way_of(&decision, MIB), WAY_PHASES);
	learn_plain(&decision, MIB, 9);
	assert_int_equal(decision.least, MIB);
}

TEST(ways_by_sizes)
{
	struct decision decision = made(MIB);
	struct sizes sizes = {.longest = 2 * MIB, .rank = PEERS * MIB, .unit = 4};

	assert_int_equal(forsched_mpi_decide(&decision, &sizes), WAY_CHUNKS);
	sizes.is_whole = true;
	assert_int_equal(forsched_mpi_decide(&decision, &sizes), WAY_MPI);
	sizes.rank = 0;
	forsched_mpi_learn(&decision, &sizes, WAY_MPI, 1); /* of no bytes nothing is learnt */
	assert_in_range(decision.least, 100 * KIB - 1, 100 * KIB + 1);
}

TEST(chunks_hold_whole_units)
{
	struct decision decision = made(MIB);
	struct sizes sizes = {.longest = MIB, .rank = PEERS * 100000, .unit = 12};

	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 0), 50004);
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 100), 108);
	sizes.rank = PEERS;
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 0), 8196);
	sizes.rank = PEERS * 64 * MIB;
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 0), 1048584);
	sizes.unit = 2 * MIB;
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 0), 2 * MIB);
	sizes.unit++;
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 0), 0);
	sizes.unit = 0;
	assert_int_equal(forsched_mpi_chunk(&decision, &sizes, 100), 0);
}

TEST(the_middle_of_three)
{
	static const double order[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};

	for (int i = 0; i < 6; i++) {
		struct three three = {.n = 0};

		forsched_mpi_note_number(&three, 9);
		for (int k = 0; k < 3; k++) {
			assert_true(k == 2 || forsched_mpi_middle(&(struct three){.n = (uint32_t)k}) < 0);
			forsched_mpi_note_number(&three, order[i][k]);
		}
		assert_true(forsched_mpi_middle(&three) == 2);
	}
}

/* No rate and no waiting, however odd, makes a number of bytes that is none. */
TEST(odd_measurements)
{
	struct decision decision;
	struct sizes sizes = {.longest = UINT64_MAX, .rank = UINT64_MAX, .unit = 1};

	forsched_mpi_begin_deciding(&decision, 1, 1e9);
	for (int i = 0; i < 3; i++)
		forsched_mpi_learn(&decision, &sizes, WAY_MPI, 1e-9);
	assert_int_equal(decision.least, UINT64_MAX - 1);
	forsched_mpi_begin_deciding(&decision, 1, 1e-9);
	sizes.rank = 1;
	for (int i = 0; i < 3; i++)
		forsched_mpi_learn(&decision, &sizes, WAY_MPI, 1e9);
	assert_int_equal(decision.least, 0);
}
