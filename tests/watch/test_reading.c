/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which reading counts: one beside a manager that sent nothing for a second, or the second of two equal ones; by a fake clock. */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/support.h"
#include "fake_mads.h"
#include "watch/bytes.h"
#include "watch/reading.h"
#include "watch/wire.h"

FREES(fors_mads_close, struct fors_mads *)

static enum fors_err let_pass(struct fake *fake, double until_ms)
{
	(void)fake;
	fake_clock_advance((uint64_t)(until_ms - fors_clock_exact_ms()) + 1);
	return FORS_OK;
}

/* The manager sends packets while this host reads nothing. */
static enum fors_err let_send(struct fake *fake, double until_ms)
{
	fake->counted += 5;
	return let_pass(fake, until_ms);
}

static enum fors_err stop(struct fake *fake, double until_ms)
{
	(void)fake;
	(void)until_ms;
	return FORS_ECANCELLED;
}

static bool is_new_reading(const struct fake *fake, uint16_t attribute, uint32_t modifier)
{
	return attribute == FORS_ATTR_SWITCH_INFO && !modifier && fake->lfts;
}

/* With each reading another entry: for a LID that nobody has, so the net stays the same. */
static bool other_tables(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	fake->state += is_new_reading(fake, attribute, modifier);
	if (attribute == FORS_ATTR_LINEAR_FT && !modifier)
		data[0] = (uint8_t)(1 + fake->state % 200);
	return true;
}

static enum fors_err wait_for(struct fake *fake, double most_ms, struct fors_reading *reading, const char **how,
			      double *took_ms, struct fors_error *error)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	double began = fors_clock_exact_ms();
	struct fors_mads *mads FREED(fors_mads_close) = NULL;
	enum fors_err err;

	fake->net = bed->net;
	fake->lfts = bed->lfts;
	for (uint32_t i = 0; i < bed->net->nnodes; i++)
		if (bed->net->node[i].type == FORS_CA && fors_net_port(bed->net, i, 1)->peer != FORS_NONE)
			fake->from = i;
	mads = fake_mads(fake);
	err = fors_reading_wait(mads, most_ms, reading, how, error);
	*took_ms = fors_clock_exact_ms() - began;
	return err;
}

TEST(at_rest)
{
	struct fake quiet = {.pause = let_pass}, busy = {.pause = let_send};
	struct fors_reading reading;
	struct fors_error error;
	uint64_t once;
	const char *how;
	double took;

	assert_int_equal(wait_for(&quiet, 20000, &reading, &how, &took, &error), FORS_OK);
	assert_non_null(strstr(how, "sent nothing meanwhile"));
	assert_true(took >= FORS_QUIET_MS && took < 1.5 * FORS_QUIET_MS);
	once = reading.asked;
	assert_true(quiet.asked == once + 1); /* one reading, and one question to the manager before */
	fors_reading_clear(&reading);

	assert_int_equal(wait_for(&busy, 20000, &reading, &how, &took, &error), FORS_OK);
	assert_non_null(strstr(how, "two readings a second apart"));
	assert_true(took >= 2 * FORS_QUIET_MS && took < 2.5 * FORS_QUIET_MS);
	assert_true(busy.asked > once + once / 2 && busy.asked < 3 * once);
	fors_reading_clear(&reading);
}

TEST(never_at_rest)
{
	struct fake changing = {.pause = let_send, .lie = other_tables}, stopped = {.pause = stop};
	struct fors_reading reading = {.survey = NULL};
	struct fors_error error;
	const char *how;
	double took;

	assert_int_equal(wait_for(&changing, 6000, &reading, &how, &took, &error), FORS_ETIMEOUT);
	assert_non_null(strstr(error.text, "no two readings in 6 s are equal"));
	assert_true(took >= 6000 && took < 6000 + 1.5 * FORS_QUIET_MS && changing.state > 5);
	assert_int_equal(wait_for(&stopped, 6000, &reading, &how, &took, &error), FORS_ECANCELLED);
	assert_true(took < 1);
}

/* ---- tables of large fabrics ---- */

/* Each block says its own number. */
static bool numbered(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_SWITCH_INFO)
		fors_put16(data + 6, 0xBFFF);
	if (attribute == FORS_ATTR_LINEAR_FT) {
		data[8] = (uint8_t)(modifier / 200 + 1);
		data[9] = (uint8_t)(modifier % 200 + 1);
	}
	return true;
}

/* Blocks beyond the 256th, of 16,384 LIDs, come where they belong. */
TEST(all_blocks)
{
	struct fake fake = {.pause = let_pass, .lie = numbered};
	struct fors_reading reading CLEARED(fors_reading_clear);
	struct fors_error error;
	const char *how;
	double took;

	assert_int_equal(wait_for(&fake, 20000, &reading, &how, &took, &error), FORS_OK);
	assert_int_equal(reading.lfts->nlids, 0xC000);
	for (uint32_t row = 0; row < reading.lfts->nswitches; row++)
		for (uint32_t block = 0; block < 0xC000 / FORS_LFT_BLOCK; block++) {
			uint32_t lid = block * FORS_LFT_BLOCK + 8;

			assert_int_equal(fors_lfts_port(reading.lfts, row, lid), block / 200 + 1);
			assert_int_equal(fors_lfts_port(reading.lfts, row, lid + 1), block % 200 + 1);
		}
}
