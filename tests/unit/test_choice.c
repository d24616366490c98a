/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/choice.c over made-up fabrics, in which each way takes so long for each byte that it waits
 * for: the quickest way has to win, and what trials cost has to stay small, whichever it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libforsched/mpi/choice.h"

#define SERVERS 16

/* What a fabric gives: seconds for each byte, and for all barriers of an exchange. */
struct world {
	double mpi, phases, chunks, barriers, planned;
};

static double bytes(const struct demand *demand, enum way way)
{
	return (double)(way == WAY_PHASES ? demand->turns : way == WAY_DEMAND ? demand->planned : demand->port);
}

static double takes(const struct world *world, const struct demand *demand, enum way way)
{
	const double rate[NWAYS] = {world->mpi, world->phases, world->chunks, world->planned};

	return rate[way] * bytes(demand, way) + (way == WAY_PHASES ? world->barriers : 0);
}

static double best_of(const struct world *world, const struct demand *demand)
{
	double best = takes(world, demand, WAY_MPI);

	for (enum way way = WAY_PHASES; way < NWAYS; way++)
		if (takes(world, demand, way) < best && !(way == WAY_CHUNKS && !demand->unit) &&
		    !(way == WAY_DEMAND && !demand->planned))
			best = takes(world, demand, way);
	return best;
}

static struct memory memory_of(const struct world *world)
{
	return (struct memory){.messages = SERVERS - 1, .barriers = world->barriers};
}

static struct demand demand_of(uint64_t port, double slowness)
{
	return (struct demand){
		.longest = port / 15 + 1, .port = port, .turns = (uint64_t)((double)port * slowness), .unit = 4};
}

static double one_call(struct memory *memory, const struct world *world, const struct demand *demand, enum way *way)
{
	struct choice choice;
	double seconds;

	forsched_mpi_choose(memory, demand, &choice);
	assert_true(choice.way < NWAYS);
	assert_true(choice.way != WAY_DEMAND || demand->planned);
	assert_true(choice.way != WAY_CHUNKS || (demand->unit && choice.chunk && choice.chunk % demand->unit == 0));
	seconds = takes(world, demand, choice.way);
	forsched_mpi_learn(memory, demand, choice.way, seconds);
	*way = choice.is_trial ? NWAYS : choice.way;
	return seconds;
}

/* Which way wins in the end, and what all calls take over what MPI's own way would. */
static enum way winner(const struct world *world, const struct demand *demand, unsigned calls, double *over_mpi)
{
	struct memory memory = memory_of(world);
	enum way way, last = NWAYS;
	double all = 0;

	for (unsigned i = 0; i < calls; i++) {
		all += one_call(&memory, world, demand, &way);
		last = way == NWAYS ? last : way;
	}
	*over_mpi = all / (calls * takes(world, demand, WAY_MPI));
	return last;
}

static void mpi_is_first_and_stays_where_it_is_the_quickest(void **state)
{
	const struct world world = {1e-9, 1e-9, 1.3e-9, 1e-3, 0};
	struct demand demand = demand_of(10000000, 1.0);
	struct memory memory = memory_of(&world);
	struct choice choice;
	double over;

	(void)state;
	forsched_mpi_choose(&memory, &demand, &choice);
	assert_int_equal(choice.way, WAY_MPI);
	assert_true(choice.is_trial && choice.seconds[WAY_MPI] < 0);
	assert_int_equal(winner(&world, &demand, 200, &over), WAY_MPI);
	assert_true(over < 1.03);
}

/* MPI's own order meets a dead cable, the phases do not. */
static void phases_win_over_conflicts_at_the_third_call(void **state)
{
	const struct world world = {2e-9, 1e-9, 1.7e-9, 1e-4, 0};
	struct demand demand = demand_of(10000000, 1.03);
	struct memory memory = memory_of(&world);
	enum way way;
	double over;

	(void)state;
	assert_int_equal(winner(&world, &demand, 100, &over), WAY_PHASES);
	assert_true(over < 0.6);
	for (unsigned i = 0; i < 5; i++)
		one_call(&memory, &world, &demand, &way);
	assert_int_equal(way, WAY_PHASES);
}

/* The same where phases are 380 for 359 messages, as in FT(2;20,18) without a cable: MPI's own way has no fewer to wait for. */
static void phases_more_than_messages_are_tried_where_messages_are_alike(void **state)
{
	const struct world world = {2e-9, 1e-9, 2.2e-9, 1e-4, 0};
	const uint64_t message = 100000;
	struct demand demand = {.longest = message, .port = 359 * message, .turns = 380 * message, .unit = 4};
	struct memory memory = {.messages = 359, .barriers = world.barriers};
	struct choice choice;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		forsched_mpi_choose(&memory, &demand, &choice);
		forsched_mpi_learn(&memory, &demand, choice.way, takes(&world, &demand, choice.way));
	}
	assert_int_equal(choice.way, WAY_PHASES);
}

static void unequal_sizes_never_wait_for_the_longest(void **state)
{
	const struct world world = {1.5e-9, 1e-9, 1.16e-9, 1e-5, 0};
	struct demand demand = demand_of(10000000, 9.5);
	struct memory memory = memory_of(&world);
	enum way way;
	double over;

	(void)state;
	assert_int_equal(winner(&world, &demand, 100, &over), WAY_CHUNKS);
	assert_true(over < 0.85);
	for (unsigned i = 0; i < 1000; i++) {
		struct choice choice;

		forsched_mpi_choose(&memory, &demand, &choice);
		assert_int_not_equal(choice.way, WAY_PHASES);
		one_call(&memory, &world, &demand, &way);
	}
}

/* Where messages cannot be cut nothing is: types of different sizes, in place, ranks that expect other sizes. */
static void what_cannot_be_cut_is_not(void **state)
{
	const struct world world = {2e-9, 1e-9, 0.1e-9, 1e-5, 0};
	const uint64_t units[] = {0, 1 << 24, 3000000};
	enum way way;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct demand demand = demand_of(15 * 40000, 1.0);
		struct memory memory = memory_of(&world);
		struct choice choice;

		demand.unit = units[i];
		for (unsigned k = 0; k < 50; k++) {
			forsched_mpi_choose(&memory, &demand, &choice);
			assert_int_not_equal(choice.way, WAY_CHUNKS);
			assert_true(choice.seconds[WAY_CHUNKS] < 0);
			forsched_mpi_learn(&memory, &demand, choice.way, takes(&world, &demand, choice.way));
		}
		assert_int_equal(winner(&world, &demand, 50, &(double){0}), WAY_PHASES);
	}
	(void)way;
}

/* A chunk holds whole elements, also where these are large; sums are beyond 32 bits. */
static void chunks_hold_whole_elements(void **state)
{
	const uint64_t units[] = {1, 3, 24, 4096, 100003};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct demand demand = {
			.longest = 1ull << 34, .port = 1ull << 36, .turns = 1ull << 37, .unit = units[i]};
		struct memory memory = {.messages = SERVERS - 1};
		struct choice choice;

		forsched_mpi_choose(&memory, &demand, &choice);
		assert_true(choice.chunk >= units[i] && choice.chunk % units[i] == 0);
		assert_true(choice.chunk <= 2u << 20);
	}
}

static uint64_t state_of_random = 1;

static double random_below_1(void)
{
	state_of_random = state_of_random * 6364136223846793005 + 1442695040888963407;
	return (double)(state_of_random >> 11) / 9007199254740992.0;
}

/*
 * Any fabric, calls of all sizes mixed: trials together cost little. And where some way is much better than MPI's own
 * for all of them, the calls are that much quicker in the end.
 */
static void trials_cost_little_whatever_the_fabric(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct world world = {1e-9 * (1 + random_below_1()), 1e-9, 1e-9 * (1 + random_below_1()),
				      1e-4 * random_below_1(), 0};
		struct memory memory = memory_of(&world);
		double all = 0, mpi = 0, late = 0, best = 0;
		enum way way;

		for (unsigned k = 0; k < 600; k++) {
			struct demand demand = demand_of((uint64_t)(1e6 * (1 + 60 * random_below_1())),
							 1 + (k % 3) * random_below_1());
			double seconds = one_call(&memory, &world, &demand, &way);

			all += seconds;
			mpi += takes(&world, &demand, WAY_MPI);
			late += k < 300 ? 0 : seconds;
			best += k < 300 ? 0 : best_of(&world, &demand);
		}
		assert_true(all < 1.05 * mpi);
		assert_true(late < 1.15 * best);
	}
}

/*
 * Whatever the fabric: a way that took more than 5 % longer than MPI's own is taken twice at most, and phases that are
 * expected to take so long not at all, since what they are expected to is their least.
 */
static void calls_that_take_much_longer_are_few(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct world world = {1e-9, 1e-9 * (0.7 + 0.3 * random_below_1()), 1e-9 * (0.7 + random_below_1()),
				      1e-3 * random_below_1(), 0};
		struct demand demand = demand_of(20000000, 1 + (i % 3) * random_below_1());
		struct memory memory = memory_of(&world);
		unsigned longer[NWAYS] = {0};
		struct choice choice;

		for (unsigned k = 0; k < 1000; k++) {
			forsched_mpi_choose(&memory, &demand, &choice);
			longer[choice.way] +=
				takes(&world, &demand, choice.way) > 1.05 * takes(&world, &demand, WAY_MPI);
			forsched_mpi_learn(&memory, &demand, choice.way, takes(&world, &demand, choice.way));
		}
		assert_true(longer[WAY_CHUNKS] <= 2);
		assert_int_equal(longer[WAY_PHASES], 0);
	}
}

/* A call that fits a demand: `times` the demand, whose leaf or cable needs `held` times what its fullest port does. */
static struct demand planned_demand(uint64_t port, double times, double held)
{
	struct demand demand = demand_of(port, 9);

	demand.planned_port = (uint64_t)((double)port * times);
	demand.planned = (uint64_t)((double)port * times * held);
	return demand;
}

/* Also where a leaf lacks a cable: the schedule is a third longer than the port needs, and so is every other way. */
static void the_schedule_of_a_demand_wins_over_conflicts(void **state)
{
	const struct world world = {1.7e-9, 1e-9, 1.5e-9, 1e-3, 1.05e-9};
	const double held[] = {1, 1.33};
	double over;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct demand demand = planned_demand(10000000, 1.01, held[i]);

		assert_int_equal(winner(&world, &demand, 100, &over), WAY_DEMAND);
		assert_true(over < 0.7 * held[i]);
	}
}

static void a_call_unlike_the_demand_goes_another_way(void **state)
{
	const struct world world = {1e-9, 1e-9, 1.2e-9, 1e-3, 0.9e-9};
	struct demand none = demand_of(10000000, 9), unlike = planned_demand(10000000, 1.2, 1);
	struct memory memory = memory_of(&world);
	struct choice choice;
	double over;

	(void)state;
	assert_int_equal(winner(&world, &none, 100, &over), WAY_MPI);
	for (unsigned i = 0; i < 100; i++) { /* a fifth of the time would be waste */
		forsched_mpi_choose(&memory, &unlike, &choice);
		assert_int_not_equal(choice.way, WAY_DEMAND);
		forsched_mpi_learn(&memory, &unlike, choice.way, takes(&world, &unlike, choice.way));
	}
}

/* Phases take time, too: so many of them are not even tried with short messages. */
static void many_phases_are_not_tried_with_short_messages(void **state)
{
	const struct world world = {1.7e-9, 1e-9, 1.5e-9, 1e-3, 1e-9};
	struct demand demand = planned_demand(1000000, 1, 1);
	struct memory memory = memory_of(&world);
	struct choice choice;
	enum way way, last = NWAYS;
	double seconds;

	(void)state;
	memory.asking = 2e-5;
	forsched_mpi_forget_demand(&memory, 1000);
	for (unsigned i = 0; i < 20; i++) {
		one_call(&memory, &world, &demand, &way);
		assert_int_not_equal(way, WAY_DEMAND);
	}
	forsched_mpi_forget_demand(&memory, 10);
	for (unsigned i = 0; i < 20; i++) {
		one_call(&memory, &world, &demand, &way);
		last = way == NWAYS ? last : way;
	}
	assert_int_equal(last, WAY_DEMAND);
	forsched_mpi_choose(&memory, &demand, &choice);
	seconds = takes(&world, &demand, WAY_DEMAND) + memory.asking;
	assert_true(choice.seconds[WAY_DEMAND] > seconds * 0.999 &&
		    choice.seconds[WAY_DEMAND] < seconds * 1.001); /* phases are in what was seen */
	forsched_mpi_forget_demand(&memory, 1000); /* another schedule: nothing of the first is believed */
	one_call(&memory, &world, &demand, &way);
	assert_int_not_equal(way, WAY_DEMAND);
}

/* One call that the machine was busy in decides nothing. */
static void a_slow_call_decides_nothing(void **state)
{
	const struct world world = {1e-9, 3e-9, 3e-9, 1e-3, 0};
	struct demand demand = demand_of(10000000, 1.0);
	struct memory memory = memory_of(&world);
	struct choice choice;
	unsigned others = 0;

	(void)state;
	for (unsigned k = 0; k < 200; k++) {
		forsched_mpi_choose(&memory, &demand, &choice);
		others += choice.way != WAY_MPI;
		forsched_mpi_learn(&memory, &demand, choice.way,
				   takes(&world, &demand, choice.way) * (k % 5 == 4 ? 20 : 1));
	}
	assert_true(others <= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mpi_is_first_and_stays_where_it_is_the_quickest),
		cmocka_unit_test(phases_win_over_conflicts_at_the_third_call),
		cmocka_unit_test(phases_more_than_messages_are_tried_where_messages_are_alike),
		cmocka_unit_test(unequal_sizes_never_wait_for_the_longest),
		cmocka_unit_test(what_cannot_be_cut_is_not),
		cmocka_unit_test(chunks_hold_whole_elements),
		cmocka_unit_test(trials_cost_little_whatever_the_fabric),
		cmocka_unit_test(calls_that_take_much_longer_are_few),
		cmocka_unit_test(the_schedule_of_a_demand_wins_over_conflicts),
		cmocka_unit_test(a_call_unlike_the_demand_goes_another_way),
		cmocka_unit_test(many_phases_are_not_tried_with_short_messages),
		cmocka_unit_test(a_slow_call_decides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
