/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * book.c - memory of a book. What is done with it, again and again, is in book.h.
 *
 * Each fact is kept twice: by name or number, for whoever wants to push somebody out, and as a bit, to find room fast.
 */
#include "book.h"

#include <stdlib.h>
#include <string.h>

/* Turns from `first` to `end` - 1 in all rows: they are there, or not. */
static void open_turns(struct fors_book *book, uint32_t first, uint32_t end, bool is_open)
{
	size_t rows = (size_t)book->nnamed + book->ncounted;

	for (uint32_t w = first / 64; w * 64 < end; w++) {
		uint64_t from = w * 64 < first ? ~UINT64_C(0) << (first % 64) : ~UINT64_C(0);
		uint64_t bits = end - w * 64 < 64 ? from & ~(~UINT64_C(0) << (end % 64)) : from;

		for (size_t row = 0; row < rows; row++) {
			uint64_t *word = &book->busy[row * book->nwords + w];

			*word = is_open ? *word & ~bits : *word | bits;
		}
	}
}

/* Where the places of each row begin; false: out of memory. */
static bool lay_out(struct fors_book *book, const uint8_t *capacity, uint32_t ncapacities)
{
	if (!capacity)
		return true;
	book->place = malloc((book->nnamed + (size_t)1) * sizeof(*book->place));
	if (!book->place)
		return false;
	book->place[0] = 0;
	for (uint32_t row = 0; row < book->nnamed; row++)
		book->place[row + 1] = book->place[row] + (row < ncapacities ? capacity[row] : 1);
	return true;
}

static size_t count_names(const struct fors_book *book)
{
	return (size_t)(book->place ? book->place[book->nnamed] : book->nnamed) * book->room;
}

bool fors_book_init(struct fors_book *book, uint32_t nnamed, uint32_t ncounted, uint32_t nturns, uint32_t room)
{
	return fors_book_init_wide(book, NULL, 0, nnamed, ncounted, nturns, room);
}

bool fors_book_init_wide(struct fors_book *book, const uint8_t *capacity, uint32_t ncapacities, uint32_t nnamed,
			 uint32_t ncounted, uint32_t nturns, uint32_t room)
{
	size_t names;

	*book = (struct fors_book){
		.nturns = nturns, .room = room, .nwords = (room + 63) / 64, .nnamed = nnamed, .ncounted = ncounted};
	if (!lay_out(book, capacity, ncapacities))
		return false;
	names = count_names(book);
	book->busy = calloc(((size_t)nnamed + ncounted) * book->nwords + 1, sizeof(*book->busy));
	book->at = malloc((names + 1) * sizeof(*book->at));
	book->count = calloc((size_t)ncounted * room + 1, sizeof(*book->count));
	if (!book->busy || !book->at || !book->count)
		return false;
	memset(book->at, 0xFF, names * sizeof(*book->at));
	open_turns(book, nturns, book->nwords * 64, false);
	return true;
}

void fors_book_release(struct fors_book *book)
{
	free(book->busy);
	free(book->place);
	free(book->at);
	free(book->count);
	*book = (struct fors_book){0};
}

void fors_book_copy(struct fors_book *to, const struct fors_book *from)
{
	size_t rows = (size_t)from->nnamed + from->ncounted;

	to->nturns = from->nturns;
	memcpy(to->busy, from->busy, rows * from->nwords * sizeof(*from->busy));
	memcpy(to->at, from->at, count_names(from) * sizeof(*from->at));
	memcpy(to->count, from->count, (size_t)from->ncounted * from->room * sizeof(*from->count));
}

void fors_book_set_turns(struct fors_book *book, uint32_t nturns)
{
	if (nturns > book->nturns)
		open_turns(book, book->nturns, nturns, true);
	else
		open_turns(book, nturns, book->nturns, false);
	book->nturns = nturns;
}

uint64_t fors_book_bytes(uint64_t nnamed, uint64_t extra, uint64_t ncounted, uint64_t room)
{
	return (nnamed + ncounted) * ((room + 63) / 64) * sizeof(uint64_t) +
	       (nnamed + extra) * room * sizeof(uint32_t) + ncounted * room * sizeof(uint16_t);
}
