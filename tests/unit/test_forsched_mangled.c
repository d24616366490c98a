/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libforsched, fed with schedules in which bytes were changed at random (always the same way), mostly with checksums
 * made right again, so that what is behind them has to cope. It may refuse or answer; this program is always built with
 * the sanitizers, the library's sources included, and what it answers has to be within bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule_format.h"
#include "libforsched/forsched.h"
#include "published.h"

#define ROUNDS 3000 /* mangled copies of each schedule */

static void use_flow(const struct forsched *schedule, uint32_t s, uint32_t phase)
{
	struct forsched_flow flow;

	if (forsched_flow(schedule, s, phase, &flow) != FORSCHED_OK)
		return;
	assert_true(flow.to == FORSCHED_NOBODY || (flow.to < forsched_nservers(schedule) && flow.to != s));
	assert_true(flow.from == FORSCHED_NOBODY || (flow.from < forsched_nservers(schedule) && flow.from != s));
	assert_true((flow.to == FORSCHED_NOBODY) == (flow.dlid == 0));
}

static void use(const struct forsched *schedule)
{
	struct forsched_server server;
	struct forsched_error error = {.text = ""};

	for (uint32_t s = 0; s < forsched_nservers(schedule); s++) {
		assert_int_equal(forsched_server(schedule, s, &server), FORSCHED_OK);
		for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++)
			use_flow(schedule, s, phase);
	}
	assert_true(!forsched_check(schedule, &error) || error.text[0]);
}

/* In memory of exactly its size, so that a read behind the end is seen. True: it was opened. */
static bool try_bytes(struct bytes bytes)
{
	unsigned char *copy = malloc(bytes.size + !bytes.size);
	struct forsched *schedule = NULL;
	struct forsched_error error = {.text = ""};
	enum forsched_err err;

	assert_non_null(copy);
	memcpy(copy, bytes.data, bytes.size);
	err = forsched_open_memory(copy, bytes.size, "mangled", &schedule, &error);
	assert_true(err ? error.text[0] != '\0' : schedule != NULL);
	if (!err)
		use(schedule);
	forsched_close(schedule);
	free(copy);
	return !err;
}

/* Mostly in the header and the servers, where a number decides about memory. */
static void mangle(struct bytes bytes, struct rng *rng)
{
	static const unsigned char likely[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	size_t room = rng_below(rng, 3) ? bytes.size : sizeof(struct fors_sf_header),
	       at = rng_below(rng, (uint32_t)room);

	switch (rng_below(rng, 3)) {
	case 0:
		bytes.data[at] = likely[rng_below(rng, sizeof(likely))];
		break;
	case 1:
		bytes.data[at] ^= (unsigned char)(1u << rng_below(rng, 8));
		break;
	default:
		bytes.data[at] = bytes.data[rng_below(rng, (uint32_t)bytes.size)];
	}
}

static void try_schedule(struct bytes good, uint64_t seed)
{
	struct bytes bad = {.data = malloc(good.size), .size = good.size};
	struct rng rng = {seed};
	unsigned opened = 0;

	assert_non_null(bad.data);
	assert_true(try_bytes(good));
	for (unsigned round = 0; round < ROUNDS; round++) {
		memcpy(bad.data, good.data, good.size);
		for (unsigned i = rng_below(&rng, 4) + 1; i > 0; i--)
			mangle(bad, &rng);
		if (rng_below(&rng, 8))
			published_restamp(bad);
		opened += try_bytes(bad);
	}
	assert_true(opened > ROUNDS / 20); /* else the checksums hid everything */
	free(bad.data);
	free(good.data);
}

TEST(mangled_dense)
{
	try_schedule(published_spec("FT(2;4,3;servers=3)", 2, "exact", 1), 1);
}

TEST(mangled_rounds)
{
	try_schedule(published_spec("FT(2;4,3;servers=3)", 0, "rounds", 1), 2);
	try_schedule(published_spec("FT(2;4,4)", 1, "rounds", 1), 3);
}

TEST(mangled_withdrawn)
{
	try_schedule(published_withdrawn("no tree", 1), 4);
}
