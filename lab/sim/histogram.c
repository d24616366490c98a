/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* histogram.c - percentiles. */
#include "histogram.h"

static uint64_t least_of(unsigned bin)
{
	return bin < 64 ? bin : (uint64_t)(32 + bin % 32) << (bin / 32 - 1);
}

uint64_t fors_histogram_at(const struct fors_histogram *h, double share)
{
	double wanted = share * (double)h->count;
	uint64_t seen = 0;

	if (!h->count || share >= 1)
		return h->max;
	for (unsigned bin = 0; bin < FORS_HISTOGRAM_BINS; bin++) {
		seen += h->bin[bin];
		if (seen && (double)seen >= wanted)
			return least_of(bin);
	}
	return h->max;
}

double fors_histogram_mean(const struct fors_histogram *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}
