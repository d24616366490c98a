/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners_inside.h - what the files of the search for owners share.
 *
 * Owners are numbered as the jobs of the list, and one more for all that share. Each has a party at each leaf where it has
 * servers; owners with one party only, and jobs that share, have none of their own.
 * Thread rules: a search belongs to one thread.
 */
#ifndef FORS_CORE_JOBS_OWNERS_INSIDE_H
#define FORS_CORE_JOBS_OWNERS_INSIDE_H

#include "mask.h"
#include "owners.h"

#define SPEED_ONE 1000	/* energy of an owner at full speed */
#define OVERLOAD_PART 8 /* all that stands above P costs an eighth of what the fullest lane does */

/* The servers of one owner at one leaf. */
struct party {
	uint32_t owner, leaf, n; /* n servers, or the lanes that its flows would fill */
	uint32_t nlanes;	 /* that it has */
	struct mask mask;	 /* these */
	struct mask poured;	 /* those that its flows are spread over */
};

/*
 * One owner with its lanes as they are. A pair of its parties (i < k) is number i (2 count - i - 1) / 2 + k - i - 1; its row
 * of `share` says what each lane carries of its flows, and behind the lanes whether it is cut off.
 */
struct owner {
	uint32_t first, count; /* its parties; count is 0 or at least 2 */
	uint32_t nservers;
	uint32_t *want;	 /* [pair]: flows from one of the two to the other, in the direction that has more */
	uint32_t *load;	 /* [party of it * nlanes + lane] */
	uint32_t *share; /* [pair * (nlanes + 1) + lane]; zero where not both parties have the lane */
	uint32_t ncut;	 /* pairs without a lane in common */
	int64_t energy;	 /* SPEED_ONE and up */
};

struct search {
	const struct fors_owners_task *task;
	uint32_t nowners, nparties, nlanes, nwords;
	struct owner *owner;
	struct party *party;   /* by owner, then leaf */
	uint32_t *at;	       /* [leaf * nlanes + lane]: owner, or FORS_NO_JOB */
	uint32_t *party_at;    /* [leaf * nowners + owner]: party, FORS_NONE */
	uint32_t *best;	       /* the best that `at` was */
	uint32_t *shared_leaf; /* leaves with more than one party */
	uint32_t nshared;
	uint32_t *wants;	     /* of all owners, one after the other */
	uint32_t *water;	     /* loads and shares of all owners, one after the other */
	uint32_t *saved;	     /* room for as much: what it was before a move */
	uint32_t *level;	     /* nlanes */
	uint32_t *lane;		     /* nlanes, in the order of level */
	uint64_t work, since, until; /* done so far; when the annealing began and when it ends */
};

/* Pairs of an owner's parties. */
static inline size_t owner_pairs(const struct owner *owner)
{
	return owner->count ? (size_t)owner->count * (owner->count - 1) / 2 : 0;
}

/* The number of a pair of an owner's parties, i < k. */
static inline size_t owner_pair(const struct owner *owner, uint32_t i, uint32_t k)
{
	return (size_t)i * (2 * owner->count - i - 1) / 2 + k - i - 1;
}

/* The row of `share` of two parties of an owner, i < k. */
static inline uint32_t *owner_share(const struct search *s, const struct owner *owner, uint32_t i, uint32_t k)
{
	return owner->share + owner_pair(owner, i, k) * (s->nlanes + 1);
}

/* Words of load and share of an owner, which follow each other. */
static inline size_t owner_words(const struct search *s, const struct owner *owner)
{
	return (size_t)owner->count * s->nlanes + owner_pairs(owner) * (s->nlanes + 1);
}

/* Spread the flows of an owner over the lanes that `at` gives it; its energy is right then. Counts the work. */
void fors_owners_pour(struct search *search, struct owner *owner);
/* The same where only the lanes at one leaf of the owner have changed. */
void fors_owners_pour_leaf(struct search *search, struct owner *owner, uint32_t leaf);
/* Share out the lanes for a start, into `at`; is_served: false for each owner. */
void fors_owners_start(struct search *search, bool *is_served);
/* Make it better until the work is done, or all are at full speed; `best` is the result. */
void fors_owners_improve(struct search *search);

#endif
