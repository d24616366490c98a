/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/pack.c: whatever the flows, no two of one phase need the same; there are no more phases than the
 * schedule's own, and where the least number can be had, not many more than that.
 */
#include <stdlib.h>
#include <string.h>

#include "libforsched/mpi/pack.h"
#include "unit.h"

#define LEAVES 12
#define EACH 12 /* servers of a leaf, and spines */
#define SERVERS (LEAVES * EACH)
#define MOST (SERVERS * SERVERS)

static uint32_t state;

static uint32_t pick(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static uint32_t first[MOST + 1], need[4 * MOST], turn[MOST], phase[MOST];

static struct pack_flows begin(void)
{
	return (struct pack_flows){.nneeds = 2 * SERVERS + 2 * LEAVES * EACH,
				   .first = first,
				   .need = need,
				   .turn = turn,
				   .are_known = true};
}

/*
 * A flow of the linear shift, over the spine of its receiver's slot: no link carries two flows of one turn when all is
 * whole. A spine with a dead cable to a leaf is left to the next one, for its turn then with a conflict.
 */
static void add(struct pack_flows *flows, uint32_t from, uint32_t to)
{
	uint32_t spine = to % EACH, *at = &need[flows->first[flows->n]];

	*at++ = from;
	*at++ = SERVERS + to;
	if (from / EACH != to / EACH) {
		*at++ = 2 * SERVERS + from / EACH * EACH + spine;
		*at++ = 2 * SERVERS + LEAVES * EACH + to / EACH * EACH + spine;
	}
	turn[flows->n++] = (to + SERVERS - from) % SERVERS;
	first[flows->n] = (uint32_t)(at - need);
}

static void add_all(struct pack_flows *flows, const uint32_t *server, uint32_t n)
{
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (a != b)
				add(flows, server[a], server[b]);
}

static void check(const struct pack_flows *flows, uint32_t nphases)
{
	static uint8_t taken[2 * SERVERS + 2 * LEAVES * EACH][SERVERS];

	assert_true(nphases < SERVERS);
	memset(taken, 0, sizeof(taken));
	for (uint32_t f = 0; f < flows->n; f++) {
		assert_true(phase[f] < nphases);
		for (uint32_t i = first[f]; i < first[f + 1]; i++) {
			assert_false(taken[need[i]][phase[f]]);
			taken[need[i]][phase[f]] = 1;
		}
	}
}

static uint32_t turns_of(const struct pack_flows *flows)
{
	uint8_t seen[SERVERS] = {0};
	uint32_t n = 0;

	for (uint32_t f = 0; f < flows->n; f++) {
		n += !seen[turn[f]];
		seen[turn[f]] = 1;
	}
	return n;
}

/* Any servers: at most the schedule's phases, and the same when it is done again. */
static void test_any_servers(void **unused)
{
	uint32_t server[SERVERS], again[64];

	(void)unused;
	for (state = 1; state < 300000000; state = state * 5 + 1) {
		struct pack_flows flows = begin();
		uint32_t n = 0, nphases, least, other;

		for (uint32_t s = 0, share = 1 + pick(8); s < SERVERS; s++)
			if (!pick(share))
				server[n++] = s;
		add_all(&flows, server, n);
		if (!flows.n)
			continue;
		assert_true(forsched_mpi_pack_phases(&flows, phase, &nphases, &least));
		check(&flows, nphases);
		assert_in_range(nphases, least, turns_of(&flows));
		memcpy(again, phase, sizeof(again));
		assert_true(forsched_mpi_pack_phases(&flows, phase, &other, &least));
		assert_int_equal(other, nphases);
		assert_memory_equal(again, phase, sizeof(again) < flows.n * 4 ? sizeof(again) : flows.n * 4);
	}
}

/* The servers of a leaf, and a server of each leaf: the ports are what counts, and each leaves no room for much more. */
static void test_rows_and_columns(void **unused)
{
	uint32_t server[EACH], nphases, least;

	(void)unused;
	for (uint32_t row = 0; row < LEAVES; row++) {
		struct pack_flows flows = begin();

		for (uint32_t i = 0; i < EACH; i++)
			server[i] = row * EACH + i;
		add_all(&flows, server, EACH);
		assert_true(forsched_mpi_pack_phases(&flows, phase, &nphases, &least));
		check(&flows, nphases);
		assert_int_equal(least, EACH - 1);
		assert_in_range(nphases, least, least + 1);
	}
	for (uint32_t column = 0; column < EACH; column++) {
		struct pack_flows flows = begin();

		for (uint32_t i = 0; i < LEAVES; i++)
			server[i] = i * EACH + (column + i) % EACH; /* all over different spines */
		add_all(&flows, server, LEAVES);
		assert_true(forsched_mpi_pack_phases(&flows, phase, &nphases, &least));
		check(&flows, nphases);
		assert_int_equal(least, LEAVES - 1);
		assert_in_range(nphases, least, least + 1);
	}
}

/* All rows at once, and all columns. */
static void test_families(void **unused)
{
	uint32_t server[EACH], nphases, least;
	struct pack_flows rows = begin(), columns;

	(void)unused;
	for (uint32_t row = 0; row < LEAVES; row++) {
		for (uint32_t i = 0; i < EACH; i++)
			server[i] = row * EACH + i;
		add_all(&rows, server, EACH);
	}
	assert_true(forsched_mpi_pack_phases(&rows, phase, &nphases, &least));
	check(&rows, nphases);
	assert_in_range(nphases, least, least + 1);
	columns = begin();
	for (uint32_t column = 0; column < EACH; column++) {
		for (uint32_t i = 0; i < LEAVES; i++)
			server[i] = i * EACH + (column + i) % EACH;
		add_all(&columns, server, LEAVES);
	}
	assert_true(forsched_mpi_pack_phases(&columns, phase, &nphases, &least));
	check(&columns, nphases);
	assert_in_range(nphases, least, least + 3);
}

/* Ways that are not known: only flows of one turn go together. */
static void test_unknown_ways(void **unused)
{
	const uint32_t server[] = {3, 17, 18, 40, 77};
	struct pack_flows flows = begin();
	uint32_t nphases, least;

	(void)unused;
	add_all(&flows, server, 5);
	flows.are_known = false;
	assert_true(forsched_mpi_pack_phases(&flows, phase, &nphases, &least));
	assert_int_equal(nphases, turns_of(&flows));
	for (uint32_t a = 0; a < flows.n; a++)
		for (uint32_t b = 0; b < flows.n; b++)
			assert_int_equal(turn[a] == turn[b], phase[a] == phase[b]);
}

/* Three flows of which each two need the same, but not all three: the schedule's phases stay, though each need is met in two. */
static void test_no_fewer_than_there_are(void **unused)
{
	static const uint32_t needs[] = {0, 1, 1, 2, 2, 0};
	struct pack_flows flows = begin();
	uint32_t nphases, least;

	(void)unused;
	memcpy(need, needs, sizeof(needs));
	for (; flows.n < 3; flows.n++) {
		turn[flows.n] = 7 * flows.n;
		first[flows.n + 1] = 2 * flows.n + 2;
	}
	assert_true(forsched_mpi_pack_phases(&flows, phase, &nphases, &least));
	check(&flows, nphases);
	assert_true(least == 2 && nphases == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_servers),
		cmocka_unit_test(test_rows_and_columns),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_unknown_ways),
		cmocka_unit_test(test_no_fewer_than_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
