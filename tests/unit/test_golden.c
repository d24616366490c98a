/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_golden.c - tables and plans are the same bytes on any machine, today and tomorrow.
 *
 * That they are right is what other tests are for. Here are checksums of tables and plans of fabrics with random
 * failures, one for each kind of fabric and method. A change of core/ that is not meant to change them does not; one
 * that is takes over the checksums that this test prints, and says so: it moves entries in the switches of running
 * fabrics, and all of their schedules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/schedule/schedule_file.h"
#include "support.h"

#define ROUNDS 6

enum { TABLES, CLOSED, OWN, EXACT, FLOWS, NSUMS };

static const char *const names[NSUMS] = {"tables", "closed", "rounds", "exact", "flows"};

struct golden {
	const char *spec;
	unsigned lmc;
	uint32_t sum[NSUMS]; /* 0 for a method: it declines each time */
};

static const struct golden golden[] = {
	{"FT(2;4,3)", 0, {0x12b1e0e8, 0x646682b2, 0x21e1d456, 0, 0x6c4e1559}},
	{"FT(2;4,4)", 2, {0xfcf59aeb, 0xdf004a63, 0x863ab713, 0x4ea13934, 0x2b840dfc}},
	{"FT(2;5,6)", 3, {0xc6880ad0, 0xbd953337, 0xdc2d31a0, 0xebce29b0, 0x8b0000f7}},
	{"FT(2;6,4;servers=3)", 1, {0x962cca2d, 0, 0xebb2dde5, 0, 0x266f3edd}},
	{"FT(2;3,5;servers=5)", 2, {0x006568c3, 0x7f8f7e1b, 0x4b899070, 0x7b25c8f2, 0x193300b7}},
	{"FT(2;3,4;servers=6;cables=2)", 3, {0x28707793, 0x4d110877, 0x2aae522e, 0x2faf3e3f, 0x5d76ee87}},
	{"FT(2;8,6;empty=0/0,0/1,3/4,5/7)", 3, {0xbdfff820, 0, 0x51438b85, 0x7ca4c263, 0xa8281310}},
	{"FT(2;8,16)", 3, {0x0cd76631, 0x2352f7e4, 0x4bf5964f, 0xcf5543ed, 0xfa063255}},
	{"FT(2;12,7)", 4, {0xc9a66992, 0xbdcb909a, 0x0d4ad97b, 0xced24b70, 0x1979ef7b}},
	{"FT(2;10,3)", 4, {0xe2ab4f9f, 0x7360e6d8, 0xcb682379, 0x34288988, 0x15d2a6f3}},
	{"FT(2;9,9;servers=9)", 4, {0xba63321c, 0xeda4e428, 0xe23e00cf, 0xb7424afd, 0xd55f2980}},
	{"FT(2;13,4)", 4, {0xda3f545b, 0x7a75a0cd, 0xb3d811b0, 0xe2edf5f2, 0x4b873b5e}},
	{"FT(2;6,5;cables=3;servers=12)", 5, {0x6d222c0c, 0x0dd5867c, 0x0073d271, 0xf5e208f4, 0x6b3ecb21}},
	{"FT(2;4,6;servers=4)", 1, {0x06b029fe, 0x9aed4ae1, 0x83dcc62c, 0, 0xdc3cfce9}},
	{"FT(2;4,7;servers=8)", 2, {0xfc3fb90f, 0x41951474, 0x24c4460e, 0xe77942be, 0x58600362}},
	{"FT(2;2,6;servers=2)", 1, {0x47219340, 0x343659ef, 0x4fcf47d6, 0x774e94a6, 0x6df4afa8}},
	{"FT(2;7,8;servers=5)", 0, {0x1d13e577, 0, 0x8502cec7, 0, 0x60445e89}},
};

static uint32_t add(uint32_t sum, const void *bytes, size_t size)
{
	return (uint32_t)crc32(sum, bytes, (unsigned)size);
}

static uint32_t add_tables(uint32_t sum, const struct bed *bed)
{
	return add(sum, bed->lfts->port, (size_t)bed->lfts->nswitches * bed->lfts->nlids);
}

/* Plans that a method declines leave the sum as it is. */
static uint32_t add_plan(uint32_t sum, const struct bed *bed, const struct fors_method *method)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	void *bytes;
	size_t size;

	if (method->plan(&task, &schedule, &error))
		return sum;
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, &error), FORS_OK);
	sum = add(sum, bytes, size);
	fors_schedule_free(schedule);
	free(bytes);
	return sum;
}

/* Intact at first, then with more and more dead cables; every other time not all servers take part. */
static void sum_up(const struct golden *which, uint32_t sum[NSUMS])
{
	static const struct fors_method *const method[NSUMS] = {[CLOSED] = &fors_method_closed_form,
								[OWN] = &fors_method_rounds,
								[EXACT] = &fors_method_exact,
								[FLOWS] = &fors_method_flows};
	struct bed *bed FREED(bed_free) = bed_new(which->spec, which->lmc);
	uint32_t cables = bed->fabric->nleaves * bed->fabric->nlanes, servers = bed->fabric->nservers;
	struct rng rng = {.state = 1};

	memset(sum, 0, NSUMS * sizeof(*sum));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		bed_restore(bed);
		bed_participants(bed, NULL);
		if (round % 2)
			bed_random_participants(bed, &rng, servers * 3 / 4);
		bed_random_failures(bed, &rng, cables * round / 16);
		sum[TABLES] = add_tables(sum[TABLES], bed);
		for (int i = CLOSED; i < NSUMS; i++)
			sum[i] = add_plan(sum[i], bed, method[i]);
	}
}

TEST(the_same_bytes)
{
	unsigned others = 0;

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		uint32_t sum[NSUMS];

		sum_up(&golden[i], sum);
		for (int k = 0; k < NSUMS; k++)
			if (sum[k] != golden[i].sum[k]) {
				print_error("%s, LMC %u, %s: 0x%08x\n", golden[i].spec, golden[i].lmc, names[k],
					    sum[k]);
				others++;
			}
	}
	if (others)
		fail_msg("%u checksums are not what they were", others);
}
