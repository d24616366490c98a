/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * offers.c - which items could go from one lane to another.
 *
 * A heap for each pair of lanes. An item that leaves its lane stays in the heaps of that lane until it comes to their
 * top; whether it is there still is asked then. One that comes back is entered again: that it may be there twice does
 * no harm.
 */
#include "offers.h"

#include <stdlib.h>

bool fors_rounds_offers_init(struct fors_rounds_offers *offers, uint32_t nlanes, const uint8_t *on)
{
	*offers = (struct fors_rounds_offers){.nlanes = nlanes, .on = on};
	offers->heap = calloc((size_t)nlanes * nlanes + 1, sizeof(*offers->heap));
	return offers->heap;
}

void fors_rounds_offers_release(struct fors_rounds_offers *offers)
{
	for (size_t i = 0; offers->heap && i < (size_t)offers->nlanes * offers->nlanes; i++)
		free(offers->heap[i].number);
	free(offers->heap);
	offers->heap = NULL;
}

static bool has_room(struct fors_rounds_heap *heap)
{
	uint32_t room = heap->room ? 2 * heap->room : 16;
	uint32_t *larger;

	if (heap->count < heap->room)
		return true;
	larger = realloc(heap->number, room * sizeof(*larger));
	if (!larger)
		return false;
	heap->number = larger;
	heap->room = room;
	return true;
}

bool fors_rounds_offer(struct fors_rounds_offers *offers, uint8_t from, uint8_t to, uint32_t number)
{
	struct fors_rounds_heap *heap = &offers->heap[(size_t)from * offers->nlanes + to];
	uint32_t at;

	if (!has_room(heap))
		return false;
	for (at = heap->count++; at > 0 && heap->number[(at - 1) / 2] > number; at = (at - 1) / 2)
		heap->number[at] = heap->number[(at - 1) / 2];
	heap->number[at] = number;
	return true;
}

static void drop_first(struct fors_rounds_heap *heap)
{
	uint32_t last = heap->number[--heap->count], at = 0, child = 1;

	for (; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count && heap->number[child + 1] < heap->number[child])
			child++;
		if (heap->number[child] >= last)
			break;
		heap->number[at] = heap->number[child];
		at = child;
	}
	heap->number[at] = last;
}

uint32_t fors_rounds_first_offer(struct fors_rounds_offers *offers, uint8_t from, uint8_t to)
{
	struct fors_rounds_heap *heap = &offers->heap[(size_t)from * offers->nlanes + to];

	while (heap->count && offers->on[heap->number[0]] != from)
		drop_first(heap);
	return heap->count ? heap->number[0] : FORS_NO_OFFER;
}
