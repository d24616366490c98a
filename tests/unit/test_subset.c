/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/subset.c over schedules of real plans: each pair of a communicator has one phase, and in no phase
 * a port or a link is taken twice.
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "libforsched/forsched.h"
#include "libforsched/mpi/subset.h"
#include "published.h"

#define MOST 64	   /* servers */
#define PHASES 128 /* at most */
#define LINKS 65536

static struct forsched *schedule;
static struct bytes bytes;
static struct bed *bed;

static void make_schedule(const char *spec, unsigned lmc, const char *down, const char *method)
{
	bed = bed_new(spec, lmc);
	if (down)
		bed_down(bed, down);
	bytes = published_bytes(published_plan(bed, method, 77));
	assert_int_equal(forsched_open_memory(bytes.data, bytes.size, "memory", &schedule, NULL), FORSCHED_OK);
	assert_true(forsched_nservers(schedule) <= MOST && forsched_nphases(schedule) <= PHASES);
}

static void free_schedule(void)
{
	forsched_close(schedule);
	free(bytes.data);
	bed_free(bed);
}

/* What is taken in each phase: ports and links. */
static uint8_t sends[PHASES][MOST], receives[PHASES][MOST], carries[PHASES][LINKS];

static void clear(void)
{
	memset(sends, 0, sizeof(sends));
	memset(receives, 0, sizeof(receives));
	memset(carries, 0, sizeof(carries));
}

static uint32_t phase_of(uint32_t from, uint32_t to)
{
	struct forsched_flow flow;

	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++)
		if (!forsched_flow(schedule, from, phase, &flow) && flow.to == to)
			return phase;
	fail_msg("no flow from %u to %u", from, to);
	return 0;
}

static void take(uint32_t from, uint32_t to, uint32_t phase)
{
	uint32_t link[8], n;

	assert_int_equal(forsched_links(schedule, from, phase_of(from, to), link, 8, &n, NULL), FORSCHED_OK);
	assert_int_equal(sends[phase][from]++, 0);
	assert_int_equal(receives[phase][to]++, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(carries[phase][link[i]]++, 0);
}

/* A communicator of some servers, one rank each: its phases. */
static uint32_t pack(const int *server, int n, uint32_t *least)
{
	static uint16_t cell[MOST * MOST];
	struct places places;
	uint32_t nphases = 0;

	memset(cell, 0xff, sizeof(cell));
	assert_true(forsched_mpi_make_places(&places, server, n, forsched_nservers(schedule)));
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, 0, cell, &nphases, least));
	for (uint32_t a = 0; a < places.n; a++)
		for (uint32_t b = 0; b < places.n; b++) {
			uint32_t from = places.server[a], to = places.server[b];

			if (a == b)
				continue;
			assert_true(cell[a * places.n + b] < nphases);
			take(from, to, cell[a * places.n + b]);
		}
	forsched_mpi_places_free(&places);
	return nphases;
}

static uint32_t state;

static uint32_t pick(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static void any_servers(const char *spec, unsigned lmc, const char *down, const char *method)
{
	int server[MOST];

	make_schedule(spec, lmc, down, method);
	for (state = 1; state < 40000000; state = state * 5 + 1) {
		uint32_t least, nphases;
		int n = 0;

		for (uint32_t s = 0, share = 1 + pick(6); s < forsched_nservers(schedule); s++)
			if (!pick(share))
				server[n++] = (int)s;
		if (n < 2)
			continue;
		clear();
		nphases = pack(server, n, &least);
		assert_in_range(least, n - 1, nphases);
		assert_true(nphases <= forsched_nphases(schedule));
	}
	free_schedule();
}

static void test_any_servers(void **unused)
{
	(void)unused;
	any_servers("FT(2;6,6)", 0, NULL, "rounds");
	any_servers("FT(2;6,6)", 0, "Leaf00[7]", "rounds");
	any_servers("FT(2;4,8;cables=2)", 0, "Leaf01[9]", "rounds");
	any_servers("FT(2;6,6)", 0, "Spine02", "flows");
}

/* Of a path that ranks do not use nothing is known: the schedule's own phases, without those that are empty. */
static void test_other_paths(void **unused)
{
	const int server[] = {1, 9, 17, 30};
	struct places places;
	uint16_t cell[16];
	uint32_t nphases, least;

	(void)unused;
	make_schedule("FT(2;6,6)", 0, NULL, "rounds");
	assert_true(forsched_mpi_make_places(&places, server, 4, 36));
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, 1, cell, &nphases, &least));
	for (uint32_t a = 0; a < 16; a++)
		for (uint32_t b = 0; b < 16; b++)
			if (a / 4 != a % 4 && b / 4 != b % 4)
				assert_int_equal(cell[a] == cell[b],
						 phase_of((uint32_t)server[a / 4], (uint32_t)server[a % 4]) ==
							 phase_of((uint32_t)server[b / 4], (uint32_t)server[b % 4]));
	forsched_mpi_places_free(&places);
	free_schedule();
}

/* Several ranks of a communicator on a server are one flow. */
static void test_several_ranks(void **unused)
{
	const int server[] = {5, 5, 9, 9, 9, 20};
	struct places places;
	uint16_t cell[9];
	uint32_t nphases, least;

	(void)unused;
	make_schedule("FT(2;6,6)", 0, NULL, "rounds");
	assert_true(forsched_mpi_make_places(&places, server, 6, 36));
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, 0, cell, &nphases, &least));
	assert_int_equal(least, 2);
	assert_int_equal(nphases, 2);
	forsched_mpi_places_free(&places);
	free_schedule();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_servers),
		cmocka_unit_test(test_other_paths),
		cmocka_unit_test(test_several_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
