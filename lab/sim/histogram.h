/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * histogram.h - how often which value: for percentiles of latencies, in little room.
 *
 * Values below 32 have a bin each; of all others the leading six bits decide, so a value is known to 1 part in 32.
 * (Like Tene's HdrHistogram.) Thread rules: one thread.
 */
#ifndef FORS_LAB_SIM_HISTOGRAM_H
#define FORS_LAB_SIM_HISTOGRAM_H

#include <stdint.h>

#define FORS_HISTOGRAM_BINS (32 * 60)

/* All zero: empty. */
struct fors_histogram {
	uint64_t count, max;
	double sum;
	uint64_t bin[FORS_HISTOGRAM_BINS];
};

static inline unsigned fors_histogram_bin(uint64_t value)
{
	unsigned shift = value < 64 ? 0 : 58 - (unsigned)__builtin_clzll(value);

	return shift * 32 + (unsigned)(value >> shift);
}

static inline void fors_histogram_add(struct fors_histogram *histogram, uint64_t value)
{
	histogram->count++;
	histogram->sum += (double)value;
	histogram->max = value > histogram->max ? value : histogram->max;
	histogram->bin[fors_histogram_bin(value)]++;
}

/*
 * The least value of the bin in which at least `share` (0..1) of all are reached; the largest one for 1; 0 when there
 * is none.
 */
uint64_t fors_histogram_at(const struct fors_histogram *histogram, double share);
double fors_histogram_mean(const struct fors_histogram *histogram);

#endif
