/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/places.c: whatever number of ranks each server has, every rank sends to each rank of another
 * server once, in the phase of their servers; steps are even; nobody waits in a circle.
 */
#include <stdlib.h>

#include "libforsched/mpi/places.h"
#include "unit.h"

#define MAX_SERVERS 9
#define MAX_RANKS 64
#define SPARE 3 /* servers of the schedule that have no rank */

static uint32_t state;

static int pick(int below)
{
	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (uint32_t)below);
}

/* A communicator, and the plan of its servers: a shift, with a phase of nothing now and then. */
struct world {
	int size, server_of[MAX_RANKS];
	uint32_t nservers, nphases, to[MAX_SERVERS][3 * MAX_SERVERS], from[MAX_SERVERS][3 * MAX_SERVERS];
	struct places places;
	struct turns turns[MAX_RANKS];
};

static void make_ranks(struct world *world, uint32_t n, int most)
{
	world->size = 0;
	for (uint32_t server = 0; server < n; server++)
		for (int k = 1 + pick(most); k > 0; k--)
			world->server_of[world->size++] = (int)(server + SPARE);
	for (int i = world->size - 1; i > 0; i--) {
		int other = pick(i + 1), swap = world->server_of[i];

		world->server_of[i] = world->server_of[other];
		world->server_of[other] = swap;
	}
	world->nservers = n + 2 * SPARE;
}

static void make_plan(struct world *world, uint32_t n)
{
	world->nphases = 0;
	for (uint32_t shift = 1; shift < n; shift++) {
		bool is_pause = !pick(3);

		for (uint32_t p = 0; p < n; p++) {
			world->to[p][world->nphases] = (p + shift) % n;
			world->from[(p + shift) % n][world->nphases] = p;
			world->to[p][world->nphases + 1] = world->from[p][world->nphases + 1] = NO_PLACE;
		}
		world->nphases += 1 + is_pause;
	}
}

static void make_world(struct world *world, uint32_t n, int most)
{
	make_ranks(world, n, most);
	make_plan(world, n);
	assert_true(forsched_mpi_make_places(&world->places, world->server_of, world->size, world->nservers));
	assert_int_equal(world->places.n, n);
	for (int rank = 0; rank < world->size; rank++) {
		uint32_t place = world->places.at[rank];

		assert_true(forsched_mpi_make_turns(&world->turns[rank], &world->places, rank, world->nphases,
						    world->to[place], world->from[place]));
	}
}

static void free_world(struct world *world)
{
	for (int rank = 0; rank < world->size; rank++)
		forsched_mpi_turns_free(&world->turns[rank]);
	forsched_mpi_places_free(&world->places);
}

static void check_places(const struct world *world)
{
	const struct places *places = &world->places;
	int before = -1;

	assert_int_equal(places->first[places->n], world->size);
	for (uint32_t place = 0; place < places->n; place++) {
		assert_int_equal(places->of[places->server[place]], place);
		before = -1;
		for (int i = places->first[place]; i < places->first[place + 1]; i++) {
			assert_int_equal(world->server_of[places->rank[i]], places->server[place]);
			assert_true(places->rank[i] > before);
			before = places->rank[i];
		}
	}
	assert_int_equal(places->of[0], NO_PLACE);
}

/* Each pair once, in the phase of its servers. */
static void check_pairs(const struct world *world)
{
	static int met[MAX_RANKS][MAX_RANKS];

	for (int i = 0; i < MAX_RANKS * MAX_RANKS; i++)
		met[i / MAX_RANKS][i % MAX_RANKS] = 0;
	for (int rank = 0; rank < world->size; rank++) {
		const struct turns *turns = &world->turns[rank];
		uint32_t me = world->places.at[rank];

		for (uint32_t phase = 0; phase < turns->n; phase++) {
			for (uint32_t i = turns->out_first[phase]; i < turns->out_first[phase + 1]; i++) {
				assert_int_equal(world->places.at[turns->out[i]], world->to[me][phase]);
				met[rank][turns->out[i]] += 1;
			}
			for (uint32_t i = turns->in_first[phase]; i < turns->in_first[phase + 1]; i++) {
				assert_int_equal(world->places.at[turns->in[i]], world->from[me][phase]);
				met[turns->in[i]][rank] += 16;
			}
		}
	}
	for (int a = 0; a < world->size; a++)
		for (int b = 0; b < world->size; b++)
			assert_int_equal(met[a][b], world->server_of[a] == world->server_of[b] ? 0 : 17);
}

/* In one step of a phase no rank is sent to by more than its share of the senders. */
static void check_steps(const struct world *world)
{
	for (uint32_t phase = 0; phase < world->nphases; phase++) {
		for (uint32_t step = 0; step < MAX_RANKS; step++) {
			int got[MAX_RANKS] = {0};

			for (int rank = 0; rank < world->size; rank++) {
				const struct turns *turns = &world->turns[rank];
				uint32_t at = turns->out_first[phase] + step;

				if (at < turns->out_first[phase + 1])
					got[turns->out[at]]++;
			}
			for (int rank = 0; rank < world->size; rank++) {
				uint32_t from = world->from[world->places.at[rank]][phase];
				int kd = forsched_mpi_ranks_at(&world->places, world->places.at[rank]);
				int ks = from == NO_PLACE ? 0 : forsched_mpi_ranks_at(&world->places, from);

				assert_true(got[rank] <= (ks + kd - 1) / kd);
			}
		}
	}
}

/* One send and one receive of each rank at a time, in order, done when both ends have come to it: all get done. */
static void check_no_circle(const struct world *world)
{
	uint32_t out[MAX_RANKS] = {0}, in[MAX_RANKS] = {0};
	bool is_moving = true;

	while (is_moving) {
		is_moving = false;
		for (int rank = 0; rank < world->size; rank++) {
			const struct turns *turns = &world->turns[rank];
			int to = out[rank] < turns->out_first[turns->n] ? turns->out[out[rank]] : -1;

			if (to < 0 || in[to] == world->turns[to].in_first[turns->n] ||
			    world->turns[to].in[in[to]] != rank)
				continue;
			out[rank]++;
			in[to]++;
			is_moving = true;
		}
	}
	for (int rank = 0; rank < world->size; rank++) {
		assert_int_equal(out[rank], world->turns[rank].out_first[world->nphases]);
		assert_int_equal(in[rank], world->turns[rank].in_first[world->nphases]);
	}
}

static void test_any_numbers_of_ranks(void **unused)
{
	static struct world world;

	(void)unused;
	for (state = 1; state < 1000000000; state = state * 3 + 1) {
		make_world(&world, 1 + (uint32_t)pick(MAX_SERVERS), 1 + pick(7));
		check_places(&world);
		check_pairs(&world);
		check_steps(&world);
		check_no_circle(&world);
		free_world(&world);
	}
}

/* Two senders for four: the first begins at 0, the second at 2. Four senders for two: two begin at each. */
static void test_where_a_rank_begins(void **unused)
{
	const int server_of[] = {0, 0, 1, 1, 1, 1};
	uint32_t to = 1, from = 1, other_to = 0, other_from = 0;
	struct places places;
	struct turns one, other;

	(void)unused;
	assert_true(forsched_mpi_make_places(&places, server_of, 6, 2));
	assert_true(forsched_mpi_make_turns(&one, &places, 1, 1, &to, &from));
	assert_true(forsched_mpi_make_turns(&other, &places, 4, 1, &other_to, &other_from));
	assert_memory_equal(one.out, ((int[]){4, 5, 2, 3}), 4 * sizeof(int));
	assert_memory_equal(one.in, ((int[]){4, 5, 2, 3}), 4 * sizeof(int));
	assert_memory_equal(other.out, ((int[]){1, 0}), 2 * sizeof(int));
	assert_memory_equal(other.in, ((int[]){1, 0}), 2 * sizeof(int));
	forsched_mpi_turns_free(&one);
	forsched_mpi_turns_free(&other);
	forsched_mpi_places_free(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_numbers_of_ranks),
		cmocka_unit_test(test_where_a_rank_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
