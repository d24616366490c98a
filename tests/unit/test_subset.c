/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of libforsched/mpi/subset.c over schedules of real plans: each pair of a communicator has one phase, and in no phase
 * a port or a link is taken twice; in a family of communicators not by any two of them.
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

/* Pairs that a member of the family has taken are not taken again: two communicators may have the same two servers. */
static uint8_t is_taken[MOST][MOST];

/* A communicator of some servers, one rank each: its phases. */
static uint32_t pack(const int *server, int n, const struct family *family, uint32_t *least)
{
	static uint16_t cell[MOST * MOST];
	struct places places;
	uint32_t nphases = 0;

	memset(cell, 0xff, sizeof(cell));
	assert_true(forsched_mpi_make_places(&places, server, n, forsched_nservers(schedule)));
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, family, 0, cell, &nphases, least));
	for (uint32_t a = 0; a < places.n; a++)
		for (uint32_t b = 0; b < places.n; b++) {
			uint32_t from = places.server[a], to = places.server[b];

			if (a == b || is_taken[from][to])
				continue;
			is_taken[from][to] = 1;
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
		memset(is_taken, 0, sizeof(is_taken));
		nphases = pack(server, n, NULL, &least);
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

/* Ranks in a grid, one on each server: `group` of all, told to each. */
static void check_family(int (*group_of)(int), int ngroups)
{
	static uint64_t guid[MOST];
	static int group[MOST], first[MOST];
	struct family family = {(int)forsched_nservers(schedule), group, guid};
	uint32_t all = 0;

	clear();
	memset(is_taken, 0, sizeof(is_taken));
	memset(first, 0xff, sizeof(first));
	for (int rank = 0; rank < family.n; rank++) {
		struct forsched_server server;
		int colour = group_of(rank);

		assert_int_equal(forsched_server(schedule, (uint32_t)rank, &server), FORSCHED_OK);
		guid[rank] = server.guid;
		if (colour >= 0 && first[colour] < 0)
			first[colour] = rank;
		group[rank] = colour < 0 ? -1 : first[colour];
	}
	for (int colour = 0; colour < ngroups; colour++) {
		int server[MOST], n = 0;
		uint32_t nphases, least;

		for (int rank = 0; rank < family.n; rank++)
			if (group_of(rank) == colour)
				server[n++] = rank;
		nphases = pack(server, n, &family, &least);
		assert_true(!all || nphases == all);
		all = nphases;
		assert_in_range(nphases, least, least + least / 4 + 1);
	}
}

static int row_of_four(int rank)
{
	return rank / 4;
}

static int column_of_six(int rank)
{
	return rank % 6;
}

static int some(int rank)
{
	return rank % 5 == 4 ? -1 : rank % 5 % 2;
}

static void test_families(void **unused)
{
	(void)unused;
	make_schedule("FT(2;6,6)", 0, "Leaf00[7]", "rounds");
	check_family(row_of_four, 9);
	check_family(column_of_six, 6);
	check_family(some, 2);
	free_schedule();
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
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, NULL, 1, cell, &nphases, &least));
	for (uint32_t a = 0; a < 16; a++)
		for (uint32_t b = 0; b < 16; b++)
			if (a / 4 != a % 4 && b / 4 != b % 4)
				assert_int_equal(cell[a] == cell[b],
						 phase_of((uint32_t)server[a / 4], (uint32_t)server[a % 4]) ==
							 phase_of((uint32_t)server[b / 4], (uint32_t)server[b % 4]));
	forsched_mpi_places_free(&places);
	free_schedule();
}

/* Several ranks of a communicator on a server, and several communicators with the same servers, are one flow. */
static void test_several_ranks(void **unused)
{
	const int server[] = {5, 5, 9, 9, 9, 20};
	uint64_t guid[12];
	int group[12];
	struct family family = {12, group, guid};
	struct forsched_server one;
	struct places places;
	uint16_t cell[9];
	uint32_t nphases, least;

	(void)unused;
	make_schedule("FT(2;6,6)", 0, NULL, "rounds");
	for (int rank = 0; rank < 12; rank++) {
		assert_int_equal(forsched_server(schedule, (uint32_t)server[rank / 2], &one), FORSCHED_OK);
		guid[rank] = one.guid;
		group[rank] = rank % 2;
	}
	assert_true(forsched_mpi_make_places(&places, server, 6, 36));
	assert_true(forsched_mpi_pack_places(bytes.data, bytes.size, &places, &family, 0, cell, &nphases, &least));
	assert_int_equal(least, 2);
	assert_int_equal(nphases, 2);
	forsched_mpi_places_free(&places);
	free_schedule();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_servers),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_other_paths),
		cmocka_unit_test(test_several_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
