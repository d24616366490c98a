/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service levels by a subnet administration in memory, which tells all at once, three at a time, or nothing. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support.h"
#include "fake_mads.h"
#include "watch/paths.h"

FREES(fors_mads_close, struct fors_mads *)

static uint8_t all_two(uint16_t src, uint16_t dst)
{
	(void)src;
	(void)dst;
	return 2;
}

static uint8_t mixed(uint16_t src, uint16_t dst)
{
	return (src * 7 + dst) % 5;
}

static uint8_t none(uint16_t src, uint16_t dst)
{
	(void)src;
	(void)dst;
	return 16;
}

static enum fors_err ask(const struct bed *bed, struct fake *fake, struct fors_levels **levels)
{
	struct fors_error error;
	struct fors_mads *mads FREED(fors_mads_close) = NULL;
	enum fors_err err;

	fake->net = bed->net;
	fake->lfts = bed->lfts;
	assert_int_equal(fors_levels_new(bed->net, NULL, true, levels, &error), FORS_OK);
	mads = fake_mads(fake);
	err = fors_paths_ask(mads, *levels, &error);
	return err;
}

static uint8_t level(const struct fors_levels *levels, uint32_t server, uint32_t column)
{
	return levels->sl[(size_t)server * levels->nlids + column];
}

/* Each level is what was told, wherever anything was: by server, one by one, and a sample where that would be too many. */
TEST(as_told)
{
	static const uint32_t rooms[] = {1000, 3};
	struct bed *bed FREED(bed_free) = bed_new("FT(2;6,6)", 1);

	for (unsigned r = 0; r < 2; r++) {
		struct fake fake = {.level = mixed, .most_records = rooms[r]};
		struct fors_levels *levels;
		struct fors_paths paths;
		uint64_t known = 0;

		assert_int_equal(ask(bed, &fake, &levels), FORS_OK);
		for (uint32_t s = 0; s < levels->nservers; s++)
			for (uint32_t c = 0; c < levels->nlids; c++) {
				if (level(levels, s, c) == FORS_NO_SL || (r && levels->server_of[levels->lid[c]] == s))
					continue;
				/* to itself, too: what is told of switches goes nowhere */
				assert_int_equal(level(levels, s, c), mixed(levels->base[s], levels->lid[c]));
				known += levels->server_of[levels->lid[c]] != s;
			}
		paths = fors_paths_sum(levels, 0);
		assert_int_equal(paths.count, 36 * 35 * 2);
		assert_int_equal(paths.known, known);
		/* by server; or one answer that was cut, and the paths that it did not tell */
		assert_true(r ? fake.asked <= known + 1 && fake.asked + 3 >= known + 1 : fake.asked == 36);
		assert_true(r ? known > 200 && known < 320 : known == paths.count);
		assert_true(!paths.is_one && paths.src && paths.other == mixed(paths.src, paths.dst) && paths.other);
		fors_levels_free(levels);
	}
}

TEST(one_level)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	struct fake fake = {.level = all_two, .most_records = 1000};
	struct fors_levels *levels;
	struct fors_paths paths;

	assert_int_equal(ask(bed, &fake, &levels), FORS_OK);
	paths = fors_paths_sum(levels, 2);
	assert_true(paths.is_one && paths.level == 2 && !paths.src && paths.known == 72 && paths.count == 72);
	paths = fors_paths_sum(levels, 0);
	assert_true(paths.is_one && paths.src && paths.dst && paths.other == 2);
	fors_levels_free(levels);
	fake.level = none;
	assert_int_equal(ask(bed, &fake, &levels), FORS_OK);
	paths = fors_paths_sum(levels, 0);
	assert_true(!paths.is_one && !paths.known && !paths.src && paths.count == 72);
	fors_levels_free(levels);
	fake.level = NULL;
	assert_int_equal(ask(bed, &fake, &levels), FORS_EIO);
	fors_levels_free(levels);
}
