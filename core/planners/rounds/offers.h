/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * offers.h - which items could go from one lane to another: the first of them, found at once (private to pattern_paths.c).
 * Thread rules: offers belong to one call.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_OFFERS_H
#define FORS_CORE_PLANNERS_ROUNDS_OFFERS_H

#include <stdbool.h>
#include <stdint.h>

#define FORS_NO_OFFER UINT32_MAX

/* A heap of numbers, the smallest first. */
struct fors_rounds_heap {
	uint32_t *number;
	uint32_t count, room;
};

/* For each pair of lanes the items that are on the one, or were, and could go to the other. */
struct fors_rounds_offers {
	uint32_t nlanes;
	const uint8_t *on;	       /* borrowed: [item's number]: the lane that it is on now */
	struct fors_rounds_heap *heap; /* [from * nlanes + to] */
};

/* None yet; false: out of memory. To be released in any case. */
bool fors_rounds_offers_init(struct fors_rounds_offers *offers, uint32_t nlanes, const uint8_t *on);
void fors_rounds_offers_release(struct fors_rounds_offers *offers);
/* An item that is on `from` could go to another lane; false: out of memory. */
bool fors_rounds_offer(struct fors_rounds_offers *offers, uint8_t from, uint8_t to, uint32_t number);
/* The smallest number that is on `from` and could go to the other lane; FORS_NO_OFFER: none. */
uint32_t fors_rounds_first_offer(struct fors_rounds_offers *offers, uint8_t from, uint8_t to);

#endif
