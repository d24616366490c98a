/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_relieve.h - homes by rank where one leaf is much larger than others, for places_rank.c only.
 * Thread rules: as fabric.h.
 */
#ifndef FORS_CORE_FABRIC_PLACES_RELIEVE_H
#define FORS_CORE_FABRIC_PLACES_RELIEVE_H

#include <stdint.h>

struct fors_places;

/* Places whose slots all have homes, and how many are at home where. */
struct fors_home_counts {
	struct fors_places *places;
	uint32_t nservers;
	uint32_t *own;	 /* [leaf * nlanes + lane]: servers at home */
	uint32_t *total; /* [lane]: the same of all leaves */
};

/*
 * Give few servers other homes while that takes flows from an uplink that has more than any homes need. No leaf may have two
 * servers on one lane. Homes and counts change, nothing else.
 */
void fors_places_relieve(struct fors_home_counts *counts);

#endif
