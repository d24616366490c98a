/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * occupancy.h - who is where at which turn: the occupancy of a packing, for planners that put things into rounds or phases.
 *
 * A row is what things may have to share: a link, a receiver, a group of senders. At a turn (a round, a phase) a named
 * row takes as many things as its capacity, mostly one, and knows which; a counted row takes several, and knows how many.
 * busy[] has a bit per row and turn: no room there. So "at which turns does this fit?" is an OR of a few masks, 64 turns
 * at a time.
 *
 * What things are, which rows they need, and in which order they are placed is the planner's business.
 * Thread rules: an occupancy belongs to one thread.
 */
#ifndef FORS_CORE_PLANNERS_OCCUPANCY_H
#define FORS_CORE_PLANNERS_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORS_OCCUPANCY_NOBODY UINT32_MAX

struct fors_occupancy {
	uint32_t nturns;	   /* turns there are, at most `room` */
	uint32_t room;		   /* turns there is room for */
	uint32_t nwords;	   /* of a mask */
	uint32_t nnamed, ncounted; /* rows: first those that are named, then those that are counted */
	uint64_t *busy;		   /* rows x nwords; turns from nturns on are busy */
	uint32_t *place; /* per named row, and one more: its first place, as many as its capacity; NULL: one each */
	uint32_t *at;	 /* places x room: who is there, FORS_OCCUPANCY_NOBODY */
	uint16_t *count; /* counted rows x room: how many */
};

/*
 * An empty occupancy table with so many rows, nturns turns, and room for at least that many; the first ncapacities named rows take
 * capacity[row] things at a turn, NULL: one each. False: out of memory, *occupancy is to be released still.
 */
bool fors_occupancy_init_wide(struct fors_occupancy *occupancy, const uint8_t *capacity, uint32_t ncapacities,
			      uint32_t nnamed, uint32_t ncounted, uint32_t nturns, uint32_t room);
void fors_occupancy_release(struct fors_occupancy *occupancy);
/* Write the same, and as many turns, into another occupancy with the same rows and room. */
void fors_occupancy_copy(struct fors_occupancy *to, const struct fors_occupancy *from);
/* Another number of turns, at most `room`; nobody is at those that go or come. */
void fors_occupancy_set_turns(struct fors_occupancy *occupancy, uint32_t nturns);
/* Bytes that an occupancy takes; extra: places of named rows beyond one each. */
uint64_t fors_occupancy_bytes(uint64_t nnamed, uint64_t extra, uint64_t ncounted, uint64_t room);

/* The words that hold turns. */
static inline uint32_t fors_occupancy_words(const struct fors_occupancy *occupancy)
{
	return (occupancy->nturns + 63) / 64;
}

/* Which bits of word w, one of them, stand for turns. */
static inline uint64_t fors_occupancy_valid(const struct fors_occupancy *occupancy, uint32_t w)
{
	uint32_t left = occupancy->nturns - w * 64;

	return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

/* The busy turns of word w of a row. */
static inline uint64_t fors_occupancy_busy(const struct fors_occupancy *occupancy, uint32_t row, uint32_t w)
{
	return occupancy->busy[(size_t)row * occupancy->nwords + w];
}

/*
 * The turns of word w at which all of n rows have room. The last rows come first, receivers and senders: in a full occupancy
 * they say already that there is none.
 */
static inline uint64_t fors_occupancy_free(const struct fors_occupancy *occupancy, const uint32_t *row, uint32_t n,
					   uint32_t w)
{
	uint64_t taken = 0;

	while (n > 0 && ~taken)
		taken |= fors_occupancy_busy(occupancy, row[--n], w);
	return ~taken;
}

/* The bit of a turn, in *word. */
static inline uint64_t fors_occupancy_bit(const struct fors_occupancy *occupancy, uint32_t row, uint32_t turn,
					  uint64_t **word)
{
	*word = &occupancy->busy[(size_t)row * occupancy->nwords + turn / 64];
	return UINT64_C(1) << (turn % 64);
}

/* The places of a named row at a turn, `room` apart, in *n how many. */
static inline uint32_t *fors_occupancy_places(const struct fors_occupancy *occupancy, uint32_t row, uint32_t turn,
					      uint32_t *n)
{
	uint32_t first = occupancy->place ? occupancy->place[row] : row;

	*n = occupancy->place ? occupancy->place[row + 1] - first : 1;
	return &occupancy->at[(size_t)first * occupancy->room + turn];
}

/* Who is in a named row of capacity 1 at a turn; FORS_OCCUPANCY_NOBODY. */
static inline uint32_t fors_occupancy_at(const struct fors_occupancy *occupancy, uint32_t row, uint32_t turn)
{
	return occupancy->at[(size_t)(occupancy->place ? occupancy->place[row] : row) * occupancy->room + turn];
}

/* Write somebody into a named row that has room. */
static inline void fors_occupancy_write(struct fors_occupancy *occupancy, uint32_t row, uint32_t turn, uint32_t who)
{
	uint64_t *word, bit = fors_occupancy_bit(occupancy, row, turn, &word);
	uint32_t n, *at = fors_occupancy_places(occupancy, row, turn, &n);

	for (; n > 1 && *at != FORS_OCCUPANCY_NOBODY; n--)
		at += occupancy->room;
	*at = who;
	for (; n > 1 && at[occupancy->room] != FORS_OCCUPANCY_NOBODY; n--)
		at += occupancy->room;
	if (n == 1)
		*word |= bit;
}

/* Who is there is there no more. */
static inline void fors_occupancy_erase(struct fors_occupancy *occupancy, uint32_t row, uint32_t turn, uint32_t who)
{
	uint64_t *word, bit = fors_occupancy_bit(occupancy, row, turn, &word);
	uint32_t n, *at = fors_occupancy_places(occupancy, row, turn, &n);

	for (; n > 1 && *at != who; n--)
		at += occupancy->room;
	*at = FORS_OCCUPANCY_NOBODY;
	*word &= ~bit;
}

/* How many are in a counted row at a turn. */
static inline uint16_t *fors_occupancy_count(const struct fors_occupancy *occupancy, uint32_t row, uint32_t turn)
{
	return &occupancy->count[(size_t)(row - occupancy->nnamed) * occupancy->room + turn];
}

/* One more in a counted row, which takes `most` at a turn. */
static inline void fors_occupancy_enter(struct fors_occupancy *occupancy, uint32_t row, uint32_t turn, uint32_t most)
{
	uint64_t *word, bit = fors_occupancy_bit(occupancy, row, turn, &word);

	if (++*fors_occupancy_count(occupancy, row, turn) >= most)
		*word |= bit;
}

/* One fewer. */
static inline void fors_occupancy_leave(struct fors_occupancy *occupancy, uint32_t row, uint32_t turn)
{
	uint64_t *word, bit = fors_occupancy_bit(occupancy, row, turn, &word);

	--*fors_occupancy_count(occupancy, row, turn);
	*word &= ~bit;
}

/*
 * The first turn at or (going round) after `start` at which n rows have room, looking at `most` words at the most;
 * FORS_OCCUPANCY_NOBODY: none. In *seen the words that were looked at.
 */
static inline uint32_t fors_occupancy_find(const struct fors_occupancy *occupancy, const uint32_t *row, uint32_t n,
					   uint32_t start, uint32_t most, uint32_t *seen)
{
	uint32_t words = fors_occupancy_words(occupancy), w = start / 64;
	/* The first word comes again at the end, for its turns before `start`, if there are any. */
	uint32_t visits = start % 64 ? words + 1 : words;
	uint64_t wanted = ~UINT64_C(0) << (start % 64);

	visits = visits < most ? visits : most;
	for (uint32_t i = 0; i < visits; i++) {
		uint64_t good = wanted & fors_occupancy_free(occupancy, row, n, w);

		if (good) {
			*seen = i + 1;
			return w * 64 + (uint32_t)__builtin_ctzll(good);
		}
		wanted = ~UINT64_C(0);
		w = w + 1 < words ? w + 1 : 0;
	}
	*seen = visits;
	return FORS_OCCUPANCY_NOBODY;
}

#endif
