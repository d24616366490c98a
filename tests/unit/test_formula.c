/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns by formula: by hand, and by what permutations, exchanges and grids have to be. */
#include <stdlib.h>
#include <string.h>

#include "lab/model/patterns/formula.h"
#include "lab/model/patterns/pattern.h"
#include "unit.h"

FREES(fors_pattern_free, struct fors_pattern *)

static struct fors_error error;

static struct fors_pattern *pattern(const char *name, uint32_t n)
{
	struct fors_pattern *p = NULL;

	if (fors_pattern_new(name, n, NULL, &p, &error))
		fail_msg("%s for %u: %s", name, n, error.text);
	return p;
}

static uint32_t to(const char *name, uint32_t n, uint32_t phase, uint32_t i)
{
	struct fors_pattern *p FREED(fors_pattern_free) = pattern(name, n);
	struct fors_pair pair = fors_pattern_pair(p, phase, i);

	assert_true(phase < fors_pattern_nphases(p) && i < fors_pattern_npairs(p, phase) && pair.src == i &&
		    !pair.path);
	return pair.dst;
}

TEST(by_hand)
{
	assert_int_equal(to("bit-complement", 16, 0, 5), 10);
	assert_int_equal(to("BIT_REVERSE", 16, 0, 3), 12);
	assert_int_equal(to("bit-rotation", 16, 0, 3), 9);
	assert_int_equal(to("bit-shuffle", 16, 0, 9), 3);
	assert_int_equal(to("bit-transpose", 16, 0, 7), 13);
	assert_int_equal(to("bit-transpose", 16, 0, 5), FORS_NONE); /* on the diagonal */
	assert_int_equal(to("tornado", 8, 0, 6), 1);
	assert_int_equal(to("tornado", 9, 0, 6), 1);
	assert_int_equal(to("ring", 9, 7, 8), 0);
	assert_int_equal(to("xor", 8, 6, 2), 5);
	assert_int_equal(to("recursive-doubling", 8, 2, 3), 7);
	assert_int_equal(to("dissemination", 6, 2, 3), 1);
	assert_int_equal(to("broadcast", 6, 2, 1), 5);
	assert_int_equal(to("broadcast", 6, 2, 2), FORS_NONE);
	assert_int_equal(to("incast", 6, 4, 1), 4);
	assert_int_equal(to("incast", 6, 4, 4), FORS_NONE);
	assert_int_equal(to("hotspot(2)", 6, 0, 5), 0);
	assert_int_equal(to("hotspot(2)", 6, 6, 3), 0);
	assert_int_equal(to("NAS-CG", 16, 0, 4), 6); /* rows of 4: first the far column */
	assert_int_equal(to("NAS-CG", 16, 2, 7), 13);
	assert_int_equal(to("NAS-CG", 8, 2, 2), 4); /* 2 rows of 4: pairs (0 1)(2 3) | (4 5)(6 7) */
	assert_int_equal(to("NAS-MG", 64, 0, 3), 0);
	assert_int_equal(to("NAS-MG", 64, 3, 3), 15);
	assert_int_equal(to("NAS-BT", 9, 0, 2), 0);
	assert_int_equal(to("NAS-BT", 9, 4, 1), 3);
	assert_int_equal(to("WRF", 40, 0, 15), FORS_NONE);
	assert_int_equal(to("WRF", 40, 2, 20), 36);
	assert_int_equal(to("WRF", 40, 3, 5), FORS_NONE);
}

/* In each phase nobody is sent to twice, but where that is the point; nobody to himself. */
TEST(phases_are_matchings)
{
	static const uint32_t sizes[] = {2, 4, 9, 12, 16, 32, 36, 64, 128, 144, 256};
	bool taken[256];
	unsigned done = 0;

	for (size_t f = 0; fors_formula_at(f); f++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			const struct fors_formula *formula = fors_formula_at(f);
			uint32_t n = sizes[k];

			if (formula->may_have || fors_formula_check(formula, n, 0, &error))
				continue;
			for (uint32_t phase = 0; phase < formula->nphases(n, 0); phase++) {
				memset(taken, 0, sizeof(taken));
				for (uint32_t i = 0; i < n; i++) {
					uint32_t dst = formula->to(n, 0, phase, i);

					assert_true(dst <= n);
					if (dst < n && taken[dst])
						fail_msg("%s for %u, phase %u: %u twice", formula->shown, n, phase,
							 dst);
					if (dst < n)
						taken[dst] = true;
				}
			}
			done++;
		}
	assert_true(done > 100);
}

/* All pairs once: the exchanges. */
TEST(exchanges_are_whole)
{
	static const struct {
		const char *name;
		uint32_t n;
	} cases[] = {{"xor", 16}, {"NAS-FT", 16}, {"NAS-IS", 12}, {"incast", 12}};

	for (size_t c = 0; c < 4; c++) {
		struct fors_pattern *p FREED(fors_pattern_free) = pattern(cases[c].name, cases[c].n);
		unsigned met[16 * 16] = {0};

		for (uint32_t phase = 0; phase < fors_pattern_nphases(p); phase++)
			for (size_t i = 0; i < fors_pattern_npairs(p, phase); i++) {
				struct fors_pair pair = fors_pattern_pair(p, phase, i);

				if (pair.dst != FORS_NONE)
					met[pair.src * 16 + pair.dst]++;
			}
		for (uint32_t i = 0; i < 256; i++)
			assert_int_equal(met[i], i / 16 < cases[c].n && i % 16 < cases[c].n && i / 16 != i % 16);
	}
}

/* After the phases of a broadcast, of dissemination and of recursive doubling all know what server 0 knew. */
TEST(collectives_reach_all)
{
	static const char *const names[] = {"broadcast", "dissemination", "recursive-doubling"};

	for (size_t c = 0; c < 3; c++)
		for (uint32_t n = 2; n <= 64; n++) {
			struct fors_pattern *p FREED(fors_pattern_free) = NULL;
			bool knows[64] = {true}, next[64];

			if (fors_pattern_new(names[c], n, NULL, &p, &error))
				continue;
			for (uint32_t phase = 0; phase < fors_pattern_nphases(p); phase++) {
				memcpy(next, knows, sizeof(next));
				for (uint32_t i = 0; i < n; i++) {
					struct fors_pair pair = fors_pattern_pair(p, phase, i);

					if (pair.dst != FORS_NONE && knows[i])
						next[pair.dst] = true;
				}
				memcpy(knows, next, sizeof(next));
			}
			for (uint32_t i = 0; i < n; i++)
				assert_true(knows[i]);
		}
}

/* Who is a neighbour of somebody has him as a neighbour: there and back are two phases. */
TEST(grids_go_both_ways)
{
	static const struct {
		const char *name;
		uint32_t n;
	} cases[] = {{"NAS-MG", 64}, {"NAS-MG", 32}, {"NAS-BT", 16}, {"NAS-BT", 25}, {"WRF", 64}};

	for (size_t c = 0; c < 5; c++)
		for (uint32_t phase = 0; phase < (c == 4 ? 4 : 6); phase += 2)
			for (uint32_t i = 0; i < cases[c].n; i++) {
				uint32_t there = to(cases[c].name, cases[c].n, phase, i), back;

				if (there == FORS_NONE)
					continue;
				back = to(cases[c].name, cases[c].n, phase + 1, there);
				assert_true(back == i ||
					    (back == FORS_NONE && to(cases[c].name, cases[c].n, phase, there) == i));
			}
}

TEST(what_makes_no_sense)
{
	static const struct {
		const char *name, *text;
		uint32_t n;
	} cases[] = {{"bit-reverse", "power of two", 12},
		     {"bit-transpose", "power of four", 32},
		     {"NAS-BT", "square", 12},
		     {"ring", "two servers", 1},
		     {"incast(9)", "at most 8", 8},
		     {"hotspot", "needs a number", 8},
		     {"tornado(2)", "no number", 8},
		     {"incast(0)", "from 1", 8},
		     {"xor(", "no number", 8},
		     {"hotspot(2000000)", "at most", 8},
		     {"NAS-EP", "NAS-CG", 8}};
	struct fors_pattern *p = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fors_pattern_new(cases[i].name, cases[i].n, NULL, &p, &error), FORS_EINPUT);
		if (!strstr(error.text, cases[i].text))
			fail_msg("%s: %s", cases[i].name, error.text);
	}
}
