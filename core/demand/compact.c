/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compact.c - shorter phases by moving what is in them into others.
 *
 * Most phases leave something idle. A piece goes, as a whole or in parts, into phases in which all that it needs is idle, and as much of it as
 * there is room into those in which a shorter piece of the same pair goes already. A phase is as long as the longest piece that stays.
 */
#include "index.h"
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define PASSES 6
#define MOST_WORDS (UINT64_C(1) << 26) /* of masks */

/* A piece, and the next one of its message, and of its phase; NOBODY: it is the last. */
struct entry {
	struct fors_demand_put put;
	uint32_t message, after, beside;
};

/* A phase, as long as when phases were put in order. */
struct ordered {
	uint64_t length;
	uint32_t phase;
};

struct mover {
	const struct fors_demand_asked *asked;
	const struct fors_demand_problem *problem;
	uint32_t nphases, words;
	uint64_t *length;		 /* per phase */
	uint64_t *free;			 /* [resource * words + ...]: phases in which it is idle */
	uint32_t *of_message, *in_phase; /* the first entry of each, NOBODY */
	struct entry *entry;
	uint32_t nentries, room;
	struct ordered *order; /* phases, the shortest first */
};

/* ---- places ---- */

static void mark(struct mover *v, uint32_t i, bool is_free)
{
	const struct entry *entry = &v->entry[i];
	uint32_t use[FORS_DEMAND_MOST_USES], phase = entry->put.phase;
	uint32_t n = fors_demand_uses(v->problem, entry->message, entry->put.piece.path, use);
	uint64_t bit = UINT64_C(1) << phase % 64;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t *word = &v->free[(size_t)use[k] * v->words + phase / 64];

		*word = is_free ? *word | bit : *word & ~bit;
	}
}

/* Bytes that fit into the phase of another piece of the same message, beside it. */
static uint64_t room_beside(const struct mover *v, uint32_t other)
{
	const struct fors_demand_put *put = &v->entry[other].put;

	return put->piece.bytes ? v->length[put->phase] - put->piece.bytes : 0;
}

/* Phases, as bits of a word, in which all that a way needs is idle. */
static uint64_t idle_word(const struct mover *v, const uint32_t *use, uint32_t n, uint32_t word)
{
	uint64_t mask = n ? ~UINT64_C(0) : 0;

	for (uint32_t k = 0; k < n && mask; k++)
		mask &= v->free[(size_t)use[k] * v->words + word];
	return mask;
}

/* ---- moving ---- */

static bool add_entry(struct mover *v, const struct fors_demand_piece *piece, uint32_t message, uint32_t phase)
{
	if (v->nentries == v->room) {
		uint32_t room = 2 * v->room + 64;
		struct entry *more = realloc(v->entry, room * sizeof(*more));

		if (!more)
			return false;
		v->entry = more;
		v->room = room;
	}
	v->entry[v->nentries] = (struct entry){{*piece, phase}, message, v->of_message[message], v->in_phase[phase]};
	v->of_message[message] = v->in_phase[phase] = v->nentries;
	mark(v, v->nentries++, false);
	return true;
}

/* Where a part of a piece may go. */
struct goal {
	uint32_t phase, path;
	uint32_t other; /* the piece that is there, NOBODY */
	uint64_t room;	/* bytes, 0: there is none */
};

/* A smaller room that is large enough is better than a larger one, which is better than one that is too small. */
static bool is_better(uint64_t room, uint64_t than, uint64_t bytes)
{
	if (room >= bytes)
		return than < bytes || room < than;
	return room > than;
}

static void offer(struct goal *best, const struct goal *other, uint64_t bytes)
{
	if (other->room && is_better(other->room, best->room, bytes))
		*best = *other;
}

static struct goal find_goal(const struct mover *v, uint32_t i, uint64_t bytes)
{
	uint32_t use[FORS_DEMAND_MOST_USES], message = v->entry[i].message;
	struct goal best = {0};

	for (uint32_t k = v->of_message[message]; k != NOBODY; k = v->entry[k].after) {
		const struct goal beside = {v->entry[k].put.phase, 0, k, room_beside(v, k)};

		if (k != i)
			offer(&best, &beside, bytes);
	}
	for (uint32_t path = 0; path < v->problem->npaths; path++) {
		uint32_t n = fors_demand_uses(v->problem, message, path, use);

		for (uint32_t w = 0; w < v->words; w++)
			for (uint64_t mask = idle_word(v, use, n, w); mask; mask &= mask - 1) {
				uint32_t k = w * 64 + (uint32_t)__builtin_ctzll(mask);
				const struct goal idle = {k, path, NOBODY, v->length[k]};

				offer(&best, &idle, bytes);
			}
	}
	fors_effort_spend(v->asked->effort, 4 * (uint64_t)v->words * v->problem->npaths);
	return best;
}

/* Move up to so many bytes of a piece elsewhere; false: out of memory. */
static bool move(struct mover *v, uint32_t i, uint64_t bytes)
{
	while (bytes && !fors_effort_is_over(v->asked->effort)) {
		const struct goal goal = find_goal(v, i, bytes);
		struct fors_demand_piece piece = v->entry[i].put.piece;

		piece.bytes = goal.room < bytes ? goal.room : bytes;
		piece.path = goal.path;
		if (!piece.bytes)
			break;
		if (goal.other != NOBODY)
			v->entry[goal.other].put.piece.bytes += piece.bytes;
		else if (!add_entry(v, &piece, v->entry[i].message, goal.phase))
			return false;
		v->entry[i].put.piece.bytes -= piece.bytes;
		bytes -= piece.bytes;
	}
	if (!v->entry[i].put.piece.bytes)
		mark(v, i, true);
	return true;
}

/* ---- phases ---- */

/* All bytes that others have room for, at most those of the piece, as if it were the only one that moves. */
static uint64_t room_for(const struct mover *v, uint32_t i)
{
	uint32_t use[FORS_DEMAND_MOST_USES], message = v->entry[i].message;
	uint64_t sum = 0, bytes = v->entry[i].put.piece.bytes;

	for (uint32_t k = v->of_message[message]; k != NOBODY && sum < bytes; k = v->entry[k].after)
		sum += k == i ? 0 : room_beside(v, k);
	for (uint32_t path = 0; path < v->problem->npaths && sum < bytes; path++) {
		uint32_t n = fors_demand_uses(v->problem, message, path, use);

		for (uint32_t w = 0; w < v->words && sum < bytes; w++)
			for (uint64_t mask = idle_word(v, use, n, w); mask; mask &= mask - 1)
				sum += v->length[w * 64 + (uint32_t)__builtin_ctzll(mask)];
	}
	fors_effort_spend(v->asked->effort, 4 * (uint64_t)v->words * v->problem->npaths);
	return sum < bytes ? sum : bytes;
}

/* The bytes of the largest piece that cannot go elsewhere, of a phase. */
static uint64_t what_stays(const struct mover *v, uint32_t phase)
{
	uint64_t stays = 0;

	for (uint32_t i = v->in_phase[phase]; i != NOBODY && stays < v->length[phase]; i = v->entry[i].beside) {
		uint64_t bytes = v->entry[i].put.piece.bytes;
		uint64_t left = bytes > stays ? bytes - room_for(v, i) : 0;

		stays = left > stays ? left : stays;
	}
	return stays;
}

/* Down to the length that all pieces can spare, or most of the way. False: out of memory. */
static bool shorten(struct mover *v, uint32_t phase)
{
	uint64_t stays = what_stays(v, phase), length = 0;

	if (stays >= v->length[phase])
		return true;
	for (uint32_t i = v->in_phase[phase]; i != NOBODY; i = v->entry[i].beside) {
		uint64_t bytes = v->entry[i].put.piece.bytes;

		if (bytes > stays && !move(v, i, bytes - stays))
			return false;
		bytes = v->entry[i].put.piece.bytes;
		length = bytes > length ? bytes : length;
	}
	v->length[phase] = length;
	return true;
}

static int shorter_first(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;

	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return (a->phase > b->phase) - (a->phase < b->phase);
}

static void order_phases(struct mover *v)
{
	for (uint32_t k = 0; k < v->nphases; k++)
		v->order[k] = (struct ordered){v->length[k], k};
	qsort(v->order, v->nphases, sizeof(*v->order), shorter_first);
}

static uint64_t total(const struct mover *v)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < v->nphases; k++)
		sum += v->length[k] ? v->length[k] + v->asked->cost : 0;
	return sum;
}

/* Until a pass gives less than a thousandth. False: out of memory. */
static bool shorten_all(struct mover *v)
{
	uint64_t before, now = total(v);
	uint32_t pass = 0;

	do {
		before = now;
		order_phases(v);
		for (uint32_t k = 0; k < v->nphases && !fors_effort_is_over(v->asked->effort); k++)
			if (v->length[v->order[k].phase] && !shorten(v, v->order[k].phase))
				return false;
		now = total(v);
	} while (++pass < PASSES && now + before / 1000 < before);
	return true;
}

/* ---- the whole ---- */

static bool allocate(struct mover *v, const struct fors_demand_plan *plan)
{
	const struct fors_demand_problem *p = v->problem;
	size_t words = (size_t)p->nresources * v->words, messages = p->demand->count + (size_t)1;

	v->length = malloc((v->nphases + (size_t)1) * sizeof(*v->length));
	v->order = malloc((v->nphases + (size_t)1) * sizeof(*v->order));
	v->in_phase = malloc((v->nphases + (size_t)1) * sizeof(*v->in_phase));
	v->of_message = malloc(messages * sizeof(*v->of_message));
	v->free = malloc((words + 1) * sizeof(*v->free));
	v->room = plan->npieces;
	v->entry = malloc((v->room + (size_t)1) * sizeof(*v->entry));
	if (!v->length || !v->order || !v->in_phase || !v->of_message || !v->free || !v->entry)
		return false;
	memset(v->free, 0xFF, words * sizeof(*v->free));
	memset(v->in_phase, 0xFF, v->nphases * sizeof(*v->in_phase));
	memset(v->of_message, 0xFF, p->demand->count * sizeof(*v->of_message));
	return true;
}

/* Bits behind the last phase are never free. */
static bool take_plan(struct mover *v, const struct fors_demand_plan *plan, const struct fors_demand_index *index)
{
	uint64_t last = v->nphases % 64 ? (UINT64_C(1) << v->nphases % 64) - 1 : ~UINT64_C(0);

	for (uint32_t x = 0; x < v->problem->nresources; x++)
		v->free[(size_t)x * v->words + v->words - 1] = last;
	for (uint32_t k = 0; k < v->nphases; k++) {
		v->length[k] = plan->length[k];
		for (uint32_t i = plan->begin[k]; i < plan->begin[k + 1]; i++) {
			const struct fors_demand_piece *piece = &plan->piece[i];

			if (!add_entry(v, piece, fors_demand_index_at(index, piece->src, piece->dst), k))
				return false;
		}
	}
	return true;
}

/* Pieces of which nothing is left are dropped. */
static enum fors_err write_plan(const struct mover *v, struct fors_demand_plan **plan, struct fors_error *error)
{
	struct fors_demand_put *put = malloc((v->nentries + (size_t)1) * sizeof(*put));
	struct fors_demand_plan *made = NULL;
	uint32_t used = 0;
	enum fors_err err;

	if (!put)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < v->nentries; i++)
		if (v->entry[i].put.piece.bytes)
			put[used++] = v->entry[i].put;
	err = fors_demand_plan_make(put, used, v->nphases, v->problem->nservers, (*plan)->method, &made, error);
	free(put);
	if (err)
		return err;
	fors_demand_plan_free(*plan);
	*plan = made;
	return FORS_OK;
}

static void finish(struct mover *v)
{
	free(v->length);
	free(v->order);
	free(v->in_phase);
	free(v->of_message);
	free(v->free);
	free(v->entry);
}

enum fors_err fors_demand_compact(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
				  struct fors_error *error)
{
	struct mover v = {.asked = asked, .problem = asked->problem, .nphases = (*plan)->nphases};
	struct fors_demand_index index;
	enum fors_err err;
	bool is_good;

	v.words = (v.nphases + 63) / 64;
	if (!v.nphases || (uint64_t)v.words * v.problem->nresources > MOST_WORDS)
		return FORS_OK;
	is_good = fors_demand_index_make(v.problem->demand, &index) && allocate(&v, *plan) &&
		  take_plan(&v, *plan, &index);
	fors_demand_index_clear(&index);
	err = is_good && shorten_all(&v) ? write_plan(&v, plan, error) : fors_fail_memory(error);
	finish(&v);
	return err;
}
