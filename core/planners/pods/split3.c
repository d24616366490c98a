/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split3.c - how many items of each pair of pods go over which top.
 *
 * At home each pair of pods has one item in each track, so a track has one place left of each pod. A dead cable takes a
 * track from its pod, for all pairs with it: each of those items is an edge of a graph of pods that wants another track,
 * one that both ends have room in. It is found as an edge colouring is made: a track with room at both ends, else one
 * track with room at one end, and another at the other; items change between these two along a chain of pods, until
 * one of them has room at both. Pods are not two sides here, and dead cables forbid tracks, so that a chain may end in
 * nothing. What is left over then throws out others, which look for tracks themselves, for some steps: what was put
 * last stays for a while, and the best that was seen is what counts.
 *
 * All tracks of a plane have the leaves' cables to its mid below them, m2 of them: so together they take m2 items of a
 * pod in a cohort, which says something where there are more than m2.
 *
 * A split is the same in both directions: then a pod has as many items left up as down in every plane, which is what
 * its own items, those that stay inside, need (lift3.c).
 */
#include "split3.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define STEPS 2000     /* of throwing out, at least */
#define MOST_PAIRS 400 /* of tracks that are tried for one item */
#define TABU_LEAST 10
#define TABU_SPREAD 10

struct search {
	struct fors_split3 *s;
	const struct fors_mix3 *mix;   /* NULL: whole items */
	uint32_t which;		       /* of its lengths */
	uint32_t items;		       /* of a pair */
	uint32_t wanted;	       /* at most, of them or their parts */
	struct fors_split3_pair *left; /* items without a track */
	uint32_t nleft;
	uint16_t *room;	 /* [(p * npods + q) * planes + plane]: how many more of a pair it may have; NULL: any */
	uint32_t *back;	 /* per pod and side of a chain: the pod before, FORS_NONE: not seen */
	uint32_t *queue; /* of pods and sides */
	uint32_t *until; /* [(p * npods + q) * ntracks + track]: the step until which it stays */
	uint16_t *best;	 /* count[] of the best */
	uint32_t step;
	struct fors_random random;
};

void fors_split3_free(struct fors_split3 *split)
{
	if (!split)
		return;
	free(split->lives);
	free(split->load);
	free(split->count);
	free(split->items);
	free(split->left);
	free(split);
}

/* ---- items in tracks ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* How many more items of a pod all tracks of a plane could take together: in a cohort as many as there are leaves. */
static uint32_t room_in_plane(const struct fors_split3 *s, uint32_t p, uint32_t plane)
{
	uint32_t most = s->m2 * s->ncohorts, load = 0;

	for (uint32_t k = 0; k < s->width; k++)
		load += s->load[(size_t)p * s->ntracks + plane * s->width + k];
	return most > load ? most - load : 0;
}

/* How many more items of a pod a track could take. */
static uint32_t room_of(const struct fors_split3 *s, uint32_t p, uint32_t track)
{
	size_t at = (size_t)p * s->ntracks + track;
	uint32_t room = s->lives[at] && s->load[at] < s->ncohorts ? s->ncohorts - s->load[at] : 0;

	return room && s->width > s->m2 ? least(room, room_in_plane(s, p, track / s->width)) : room;
}

/* Items of a pair, or parts of the length in hand. */
static uint32_t wanted_of(const struct search *w, uint32_t p, uint32_t q)
{
	return w->mix ? w->items * w->mix->nparts[fors_mix3_kind(w->mix, p, q)][w->which] : w->items;
}

static uint16_t *room_of_pair(const struct search *w, uint32_t p, uint32_t q, uint32_t track)
{
	return &w->room[((size_t)p * w->s->npods + q) * w->mix->nplanes + track / w->s->width];
}

/* May a pair use a track, if its cables live? */
static bool may_use(const struct search *w, uint32_t p, uint32_t q, uint32_t track)
{
	return !w->mix || *room_of_pair(w, p, q, track);
}

/* May an item of a pair go from one track to another? */
static bool may_go(const struct search *w, uint32_t p, uint32_t q, uint32_t from, uint32_t to)
{
	return may_use(w, p, q, to) || from / w->s->width == to / w->s->width;
}

/* One item more, or one less, of a pair in a track. */
static void add(const struct search *w, uint32_t p, uint32_t q, uint32_t track, int more)
{
	struct fors_split3 *s = w->s;

	*fors_split3_count(s, p, q, track) = (uint16_t)(*fors_split3_count(s, p, q, track) + more);
	*fors_split3_count(s, q, p, track) = *fors_split3_count(s, p, q, track);
	s->items[p * s->npods + q] = (uint16_t)(s->items[p * s->npods + q] + more);
	s->items[q * s->npods + p] = s->items[p * s->npods + q];
	s->load[(size_t)p * s->ntracks + track] = (uint16_t)(s->load[(size_t)p * s->ntracks + track] + more);
	s->load[(size_t)q * s->ntracks + track] = (uint16_t)(s->load[(size_t)q * s->ntracks + track] + more);
	if (w->mix) {
		*room_of_pair(w, p, q, track) = (uint16_t)(*room_of_pair(w, p, q, track) - more);
		*room_of_pair(w, q, p, track) = *room_of_pair(w, p, q, track);
	}
}

static void put_left(struct search *w, uint32_t p, uint32_t q)
{
	w->left[w->nleft++] = (struct fors_split3_pair){(uint16_t)p, (uint16_t)q};
}

/* ---- chains ---- */

/*
 * One item fewer of pod q in track `one`: items change between `one` and `other` along a chain from q on, which is not
 * to end where `one` is wanted, at `p`. back[] and the end's number (pod * 2 + side; side 1: it gets one more in
 * `other`); FORS_NONE: there is no such chain.
 */
static uint32_t find_chain(struct search *w, uint32_t p, uint32_t q, uint32_t one, uint32_t other)
{
	const struct fors_split3 *s = w->s;
	uint32_t head = 0, tail = 0;

	memset(w->back, 0xFF, 2 * (size_t)s->npods * sizeof(*w->back));
	w->back[q * 2] = q * 2;
	w->queue[tail++] = q * 2;
	while (head < tail) {
		uint32_t at = w->queue[head++], pod = at / 2, side = at % 2, from = side ? other : one,
			 to = side ? one : other;

		for (uint32_t r = 0; r < s->npods; r++) {
			uint32_t next = r * 2 + !side;

			if (r == pod || w->back[next] != FORS_NONE || !*fors_split3_count(s, pod, r, from) ||
			    !fors_split3_lives(s, r, to) || !fors_split3_lives(s, pod, to) ||
			    !may_go(w, pod, r, from, to))
				continue;
			w->back[next] = at;
			if (room_of(s, r, to) > (uint32_t)((r == p && to == one) || (r == q && to == other)))
				return next;
			w->queue[tail++] = next;
		}
	}
	return FORS_NONE;
}

/* The items of a chain change tracks, from its end on; false, and nothing has changed: the chain meets itself. */
static bool turn_chain(struct search *w, uint32_t end, uint32_t q, uint32_t one, uint32_t other)
{
	uint32_t at = end, done = 0;
	bool good = true;

	while (at != q * 2 && good) {
		uint32_t before = w->back[at], from = before % 2 ? other : one, to = before % 2 ? one : other;

		good = *fors_split3_count(w->s, before / 2, at / 2, from);
		if (!good)
			break;
		add(w, before / 2, at / 2, from, -1);
		add(w, before / 2, at / 2, to, 1);
		done++;
		at = before;
	}
	for (at = end; !good && done; done--) {
		uint32_t before = w->back[at], from = before % 2 ? other : one, to = before % 2 ? one : other;

		add(w, before / 2, at / 2, from, 1);
		add(w, before / 2, at / 2, to, -1);
		at = before;
	}
	return good;
}

/* A track that both pods have room in, the emptiest. */
static bool put_free(struct search *w, uint32_t p, uint32_t q)
{
	uint32_t best = FORS_NONE, most = 0;

	for (uint32_t track = 0; track < w->s->ntracks; track++) {
		uint32_t at_p = room_of(w->s, p, track), at_q = room_of(w->s, q, track), room = at_p + at_q;

		if (at_p && at_q && room > most && may_use(w, p, q, track)) {
			most = room;
			best = track;
		}
	}
	if (best != FORS_NONE)
		add(w, p, q, best, 1);
	return best != FORS_NONE;
}

/* A track for an item, after changes along a chain if need be. */
static bool put(struct search *w, uint32_t p, uint32_t q)
{
	const struct fors_split3 *s = w->s;
	uint32_t tries = 0;

	if (put_free(w, p, q))
		return true;
	for (uint32_t one = 0; one < s->ntracks; one++)
		for (uint32_t other = 0;
		     room_of(s, p, one) && fors_split3_lives(s, q, one) && may_use(w, p, q, one) && other < s->ntracks;
		     other++) {
			uint32_t end;

			if (other == one || !room_of(s, q, other))
				continue;
			end = find_chain(w, p, q, one, other);
			if (end != FORS_NONE && turn_chain(w, end, q, one, other) && room_of(s, p, one) &&
			    room_of(s, q, one)) {
				add(w, p, q, one, 1);
				return true;
			}
			if (++tries == MOST_PAIRS)
				return false;
		}
	return false;
}

/* ---- throwing out ---- */

/* One item of a pod in a track, any that need not stay, goes; false: there is none. */
static bool throw_out(struct search *w, uint32_t p, uint32_t track)
{
	const struct fors_split3 *s = w->s;
	uint32_t first = fors_random_below(&w->random, s->npods);

	for (uint32_t i = 0; i < s->npods; i++) {
		uint32_t r = (first + i) % s->npods;

		if (r == p || !*fors_split3_count(s, p, r, track) ||
		    w->until[((size_t)p * s->npods + r) * s->ntracks + track] > w->step)
			continue;
		add(w, p, r, track, -1);
		put_left(w, p, r);
		return true;
	}
	return false;
}

/* An item into any track that lives at both ends; who is too many there goes. */
static void put_by_force(struct search *w, uint32_t p, uint32_t q)
{
	const struct fors_split3 *s = w->s;
	uint32_t first = fors_random_below(&w->random, s->ntracks), best = FORS_NONE, least = UINT32_MAX, until;

	for (uint32_t i = 0; i < s->ntracks; i++) {
		uint32_t track = (first + i) % s->ntracks, full;

		if (!fors_split3_lives(s, p, track) || !fors_split3_lives(s, q, track) || !may_use(w, p, q, track))
			continue;
		full = !room_of(s, p, track) + !room_of(s, q, track);
		if (full < least) {
			least = full;
			best = track;
		}
	}
	if (best == FORS_NONE || (!room_of(s, p, best) && !throw_out(w, p, best)) ||
	    (!room_of(s, q, best) && !throw_out(w, q, best))) {
		put_left(w, p, q);
		return;
	}
	add(w, p, q, best, 1);
	until = w->step + TABU_LEAST + fors_random_below(&w->random, TABU_SPREAD);
	w->until[((size_t)p * s->npods + q) * s->ntracks + best] = until;
	w->until[((size_t)q * s->npods + p) * s->ntracks + best] = until;
}

/* Items that no split has a track for: half of those that cables that live have no room for, and all of one pod's. */
static uint32_t least_left(const struct search *w)
{
	const struct fors_split3 *s = w->s;
	uint32_t sum = 0, most = 0;

	for (uint32_t p = 0; p < s->npods; p++) {
		uint32_t room = 0, items = 0, excess;

		for (uint32_t first = 0; first < s->ntracks; first += s->width) {
			uint32_t n = 0;

			for (uint32_t k = 0; k < s->width; k++)
				n += fors_split3_lives(s, p, first + k);
			room += least(n, s->m2) * s->ncohorts;
		}
		for (uint32_t q = 0; q < s->npods; q++)
			items += q == p ? 0 : wanted_of(w, p, q);
		excess = items > room ? items - room : 0;
		sum += excess;
		most = excess > most ? excess : most;
	}
	return (sum + 1) / 2 > most ? (sum + 1) / 2 : most;
}

/* What follows from count[]. */
static void count_all(struct fors_split3 *s)
{
	memset(s->load, 0, (size_t)s->npods * s->ntracks * sizeof(*s->load));
	memset(s->items, 0, (size_t)s->npods * s->npods * sizeof(*s->items));
	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t q = 0; q < s->npods; q++)
			for (uint32_t track = 0; track < s->ntracks; track++) {
				uint16_t n = *fors_split3_count(s, p, q, track);

				s->load[(size_t)p * s->ntracks + track] =
					(uint16_t)(s->load[(size_t)p * s->ntracks + track] + n);
				s->items[p * s->npods + q] = (uint16_t)(s->items[p * s->npods + q] + n);
			}
}

/* Slots for those that are left, by throwing out others. */
static void search(struct search *w, size_t size)
{
	uint32_t least = least_left(w), best = w->nleft, end = STEPS + 20 * w->nleft;

	memcpy(w->best, w->s->count, size * sizeof(*w->best));
	while (best > least && w->step < end) {
		uint32_t i = fors_random_below(&w->random, w->nleft);
		struct fors_split3_pair e = w->left[i];

		w->step++;
		w->left[i] = w->left[--w->nleft];
		if (!put_free(w, e.p, e.q) && (w->step % 4 || !put(w, e.p, e.q)))
			put_by_force(w, e.p, e.q);
		if (w->nleft >= best)
			continue;
		best = w->nleft;
		memcpy(w->best, w->s->count, size * sizeof(*w->best));
	}
	memcpy(w->s->count, w->best, size * sizeof(*w->best));
	count_all(w->s);
}

/* ---- what is left ---- */

static uint32_t missing(const struct search *w, uint32_t p, uint32_t q)
{
	return wanted_of(w, p, q) - w->s->items[p * w->s->npods + q];
}

/* A pod whose item with p could leave a track, for few of these pods are left; FORS_NONE: p has room there, or none. */
static uint32_t who_leaves(struct search *w, uint32_t p, uint32_t q, uint32_t track, uint32_t most)
{
	uint32_t best = FORS_NONE, least = most, first = fors_random_below(&w->random, w->s->npods);

	for (uint32_t i = 0; i < w->s->npods && !room_of(w->s, p, track); i++) {
		uint32_t r = (first + i) % w->s->npods,
			 n = r == p || r == q || !*fors_split3_count(w->s, p, r, track) ? most : missing(w, p, r);

		if (n < least) {
			least = n;
			best = r;
		}
	}
	return best;
}

/* An item of two pods comes into a track, those of one or both with others leave it for that; false: no track will do. */
static bool change_partners(struct search *w, uint32_t p, uint32_t q, uint32_t most)
{
	struct fors_split3 *s = w->s;
	uint32_t first = fors_random_below(&w->random, s->ntracks);

	for (uint32_t i = 0; i < s->ntracks; i++) {
		uint32_t track = (first + i) % s->ntracks, at_p, at_q;

		if (!fors_split3_lives(s, p, track) || !fors_split3_lives(s, q, track))
			continue;
		at_p = who_leaves(w, p, q, track, most);
		at_q = who_leaves(w, q, p, track, most);
		if ((at_p == FORS_NONE && !room_of(s, p, track)) || (at_q == FORS_NONE && !room_of(s, q, track)))
			continue;
		if (at_p != FORS_NONE)
			add(w, p, at_p, track, -1);
		if (at_q != FORS_NONE)
			add(w, q, at_q, track, -1);
		add(w, p, q, track, 1);
		return true;
	}
	return false;
}

/* Not too many of the same two pods. */
static void spread(struct search *w, uint32_t most)
{
	for (uint32_t p = 0; p < w->s->npods; p++)
		for (uint32_t q = p + 1; q < w->s->npods; q++)
			while (missing(w, p, q) > most && change_partners(w, p, q, most))
				;
}

/* What is left, by pods. */
static void list_left(struct search *w)
{
	struct fors_split3 *s = w->s;

	s->nleft = 0;
	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t q = p + 1; q < s->npods; q++)
			for (uint32_t n = missing(w, p, q); n; n--)
				s->left[s->nleft++] = (struct fors_split3_pair){(uint16_t)p, (uint16_t)q};
}

/* ---- the whole ---- */

/* The items of a pair, at home, or over its planes in turn. */
static void begin_pair(struct search *w, const struct fors_lanes3 *l, uint32_t p, uint32_t q)
{
	struct fors_split3 *s = w->s;
	uint32_t at = w->mix ? (p + q) * l->m2 / 2 % w->items : 0, n = wanted_of(w, p, q);

	while (n) {
		uint32_t track = at / l->m2 * s->width + at % l->m2;

		at = (at + 1) % w->items;
		if (w->mix && fors_mix3_of_plane(w->mix, p, q, track / s->width) != w->which)
			continue;
		n--;
		if (room_of(s, p, track) && room_of(s, q, track) && may_use(w, p, q, track))
			add(w, p, q, track, 1);
		else
			put_left(w, p, q);
	}
}

/* Items at home whose cables live; the others are left. */
static void set_up(struct search *w, const struct fors_lanes3 *l)
{
	struct fors_split3 *s = w->s;

	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t track = 0; track < s->ntracks; track++) {
			uint32_t mid = fors_pods_mid(l->pods, p, track / s->width);

			s->lives[(size_t)p * s->ntracks + track] =
				mid != FORS_NONE && fors_lanes3_rung_live(l, mid, track % s->width);
		}
	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t q = p + 1; q < s->npods; q++)
			begin_pair(w, l, p, q);
}

/* Who has least room first. */
static void put_all(struct search *w)
{
	uint32_t n = w->nleft;

	w->nleft = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct fors_split3_pair e = w->left[i];

		if (!put(w, e.p, e.q))
			w->left[w->nleft++] = e;
	}
}

/* Planes that are not for the length in hand have no room. */
static void begin_room(struct search *w, uint32_t npods)
{
	uint32_t nplanes = w->mix->nplanes;

	w->room = malloc(((size_t)npods * npods * nplanes + 1) * sizeof(*w->room));
	for (uint32_t p = 0; w->room && p < npods; p++)
		for (uint32_t q = 0; q < npods; q++)
			for (uint32_t j = 0; j < nplanes; j++)
				w->room[((size_t)p * npods + q) * nplanes + j] =
					fors_mix3_of_plane(w->mix, p, q, j) == w->which ? (uint16_t)w->items : 0;
}

static bool allocate(struct search *w, uint32_t npods, uint32_t ntracks, size_t size)
{
	struct fors_split3 *s = w->s;

	s->lives = calloc((size_t)npods * ntracks + 1, sizeof(*s->lives));
	s->load = calloc((size_t)npods * ntracks + 1, sizeof(*s->load));
	s->count = calloc(size + 1, sizeof(*s->count));
	s->items = calloc((size_t)npods * npods + 1, sizeof(*s->items));
	s->left = malloc(((size_t)npods * npods * w->wanted + 3) * sizeof(*s->left));
	w->left = malloc(((size_t)npods * npods * w->wanted + 3) * sizeof(*w->left));
	if (w->mix)
		begin_room(w, npods);
	w->back = malloc((2 * (size_t)npods + 1) * sizeof(*w->back));
	w->queue = malloc((2 * (size_t)npods + 1) * sizeof(*w->queue));
	w->until = calloc(size + 1, sizeof(*w->until));
	w->best = malloc((size + 1) * sizeof(*w->best));
	return (w->room || !w->mix) && s->lives && s->load && s->count && s->items && s->left && w->left && w->back &&
	       w->queue && w->until && w->best;
}

/* What is at home, and then as much as a search finds. */
static void fill(struct search *w, const struct fors_lanes3 *lanes, uint32_t most, size_t size)
{
	set_up(w, lanes);
	put_all(w);
	if (w->nleft)
		search(w, size);
	spread(w, most);
	list_left(w);
}

static void free_search(struct search *w)
{
	free(w->left);
	free(w->room);
	free(w->back);
	free(w->queue);
	free(w->until);
	free(w->best);
}

enum fors_err fors_split3_find(const struct fors_lanes3 *lanes, const struct fors_mix3 *mix, uint32_t which,
			       uint32_t ncohorts, uint32_t most, uint32_t seed, struct fors_split3 **split,
			       struct fors_error *error)
{
	uint32_t npods = lanes->pods->npods, width = 0, ntracks;
	size_t size;
	struct search w = {.s = calloc(1, sizeof(*w.s)),
			   .mix = mix,
			   .which = which,
			   .items = lanes->m1 * lanes->m2,
			   .wanted = lanes->m1 * lanes->m2,
			   .random = {seed}};
	bool good;

	if (mix)
		w.wanted *=
			mix->nparts[0][which] > mix->nparts[1][which] ? mix->nparts[0][which] : mix->nparts[1][which];
	for (uint32_t j = 0; j < lanes->pods->nplanes; j++)
		width = lanes->rungs[j] > width ? lanes->rungs[j] : width;
	ntracks = lanes->pods->nplanes * width;
	size = (size_t)npods * npods * ntracks;
	good = w.s && allocate(&w, npods, ntracks, size);
	if (good) {
		w.s->npods = npods;
		w.s->width = width;
		w.s->ntracks = ntracks;
		w.s->m2 = lanes->m2;
		w.s->ncohorts = ncohorts;
		fill(&w, lanes, most, size);
	}
	free_search(&w);
	if (!good) {
		fors_split3_free(w.s);
		return fors_fail_memory(error);
	}
	*split = w.s;
	return FORS_OK;
}
