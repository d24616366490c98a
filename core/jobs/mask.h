/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mask.h - sets of lanes. Private to this module.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_JOBS_MASK_H
#define FORS_CORE_JOBS_MASK_H

#include <stdbool.h>
#include <stdint.h>

#define MASK_WORDS 4 /* of 64 lanes each: FORS_MAX_LANES */

/* Some lanes. */
struct mask {
	uint64_t word[MASK_WORDS];
};

static inline void mask_flip(struct mask *mask, uint32_t lane)
{
	mask->word[lane / 64] ^= UINT64_C(1) << lane % 64;
}

/* Each lane that is in both masks, in their order; nwords of them are in use. */
#define for_each_common(lane, a, b, nwords)                                                                            \
	for (uint32_t word_ = 0; word_ < (nwords); word_++)                                                            \
		for (uint64_t bits_ = (a)->word[word_] & (b)->word[word_], lane = 0;                                   \
		     bits_ && (lane = 64 * word_ + (unsigned)__builtin_ctzll(bits_), true); bits_ &= bits_ - 1)

#endif
