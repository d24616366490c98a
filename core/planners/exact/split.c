/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split.c - step 0 of the exact planner: the split of all flows over the ways.
 *
 * A leaf of n servers sends and receives n flows in a phase at most: it has n seats up and n seats down, and each of its
 * lanes has one of either. So many of the n_a n_b flows from leaf a to leaf b shall take each way that no seat has more than
 * T flows. Then no lane has, and the leaf has room for what it sends.
 *
 * 1. Fill, pair by pair: like water in a vessel, to a common level of what the two seats of a way have.
 * 2. Sweep: take off and fill in again the pairs that use a seat with more than T, at a steep price of what is above it. This
 *    is coordinate descent on a convex function.
 * 3. Chains: from a seat that has more than T move one flow to another way, where one seat has one too many then, which moves
 *    one of its own, and so on, until one lands where there is room; found breadth-first.
 *
 * At first each lane has a seat of its own. A leaf of fewer servers than lanes lets them share then, by what they carry: the
 * fullest first, each to the seat that has least; and if a seat has too much then, all flows are filled in anew.
 *
 * That gives a split for the bound nearly always (doc/planners.md has figures). When it does not, it is tried again from
 * another pair on; then T goes up by 1, 2, 4 ... phases until it does, and halves its way back.
 */
#include "split.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define STEEP 64  /* price of a flow above T, in flows below it */
#define IDLE 4	  /* sweeps that do not help, one after another */
#define TRIES 4	  /* for a number of phases */
#define ALIKE 8	  /* lanes with as many eighths of T share seats in their order: leaves alike are coloured sooner */
#define SEATS 256 /* of a leaf, at most */
#define WORK_AT_LEAST UINT64_C(20000000)
#define WORK_PER_FLOW 400 /* steps, beside those: nearly all splits take a few */

/* One flow moves from a way to another one of the same pair, off a seat that has one too many. */
struct move {
	uint32_t from, to, seat;
};

struct search {
	const struct fors_fabric *fabric;
	struct fors_split *split;
	uint32_t nways;
	struct fors_split_way *best; /* the ways of the best split so far */
	int64_t limit;		     /* T */
	int64_t overflow;	     /* what all seats have above it */
	uint32_t nseats;	     /* up; those down come behind them in load, leaf_of, move, is_seen */
	int64_t *load;
	uint32_t *leaf_of;
	uint32_t *seat[2]; /* [leaf * nlanes + lane]: up, down */
	struct move *move; /* how a chain came to a seat */
	bool *is_seen;
	uint32_t *queue, nqueued;  /* seats that a chain came to */
	struct fors_random random; /* where to begin, of things that are alike */
	struct fors_effort effort;
};

/* ---- loads ---- */

static inline int64_t larger(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

static inline int64_t above(const struct search *s, uint32_t seat)
{
	return s->load[seat] > s->limit ? s->load[seat] - s->limit : 0;
}

static inline uint32_t seat_of(const struct search *s, uint32_t way, int side)
{
	return s->split->way[way].seat[side] + (side ? s->nseats : 0);
}

/* Put n more (or less) flows on a way. */
static inline void put(struct search *s, uint32_t way, int64_t n)
{
	s->split->way[way].flows = (uint16_t)(s->split->way[way].flows + n);
	for (int side = 0; side < 2; side++) {
		uint32_t seat = seat_of(s, way, side);

		s->overflow -= above(s, seat);
		s->load[seat] += n;
		s->overflow += above(s, seat);
	}
}

/* ---- fill ---- */

/*
 * How many flows a way takes before one more costs above `level`: a flow costs what the two seats have, and STEEP for each
 * that they have above T.
 */
static inline int64_t takes(const struct search *s, uint32_t way, int64_t level)
{
	const int64_t one = s->load[seat_of(s, way, 0)], other = s->load[seat_of(s, way, 1)];
	const int64_t room[2] = {s->limit - larger(one, other), s->limit + larger(-one, -other)};
	const int64_t left = level - one - other;
	int64_t n = left / 2;

	if (n > room[0])
		n = larger(room[0], (left + STEEP * room[0]) / (2 + STEEP));
	if (n > room[1])
		n = larger(room[1], (left + STEEP * (room[0] + room[1])) / (2 + 2 * STEEP));
	return larger(n, 0);
}

static int64_t all_take(struct search *s, uint32_t first, uint32_t end, int64_t level)
{
	int64_t sum = 0;

	fors_effort_spend(&s->effort, end - first);
	for (uint32_t way = first; way < end; way++)
		sum += takes(s, way, level);
	return sum;
}

/* The highest level at which the ways first .. end - 1 take no more than n flows. */
static int64_t level_for(struct search *s, uint32_t first, uint32_t end, int64_t n)
{
	int64_t low = 0, high = 1;

	while (all_take(s, first, end, high) <= n)
		high *= 2;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (all_take(s, first, end, middle) <= n)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Give n flows at most to the ways, each what it takes up to this level, from one or another on. Returns what is left. */
static int64_t give(struct search *s, uint32_t first, uint32_t end, int64_t level, int64_t n)
{
	uint32_t turn = fors_random_below(&s->random, end - first);

	for (uint32_t i = 0; n > 0 && i < end - first; i++) {
		uint32_t way = turn + i < end - first ? first + turn + i : turn + i - (end - first) + first;
		int64_t mine = takes(s, way, level);

		mine = mine < n ? mine : n;
		put(s, way, mine);
		n -= mine;
	}
	return n;
}

/* Take all flows of a pair off its ways, and spread them anew. (Ways may share seats, and take less together then.) */
static void fill(struct search *s, uint32_t pair)
{
	uint32_t n = s->split->nleaves, first = s->split->begin[pair], end = s->split->begin[pair + 1];
	int64_t left = (int64_t)s->fabric->leaf[pair / n].nservers * s->fabric->leaf[pair % n].nservers;

	for (uint32_t way = first; way < end; way++)
		put(s, way, -(int64_t)s->split->way[way].flows);
	while (first < end && left > 0) {
		int64_t level = level_for(s, first, end, left);

		left = give(s, first, end, level, left);
		left = give(s, first, end, level + 1, left);
	}
}

/* Does the pair put flows on a seat that has too many? */
static bool is_over(const struct search *s, uint32_t pair)
{
	for (uint32_t way = s->split->begin[pair]; way < s->split->begin[pair + 1]; way++)
		if (s->split->way[way].flows && (above(s, seat_of(s, way, 0)) || above(s, seat_of(s, way, 1))))
			return true;
	return false;
}

/* Fill in again the pairs that use seats with too many, while it helps. */
static void sweep(struct search *s)
{
	const uint32_t npairs = s->split->nleaves * s->split->nleaves;
	int64_t best = s->overflow;

	for (uint32_t idle = 0; s->overflow && idle < IDLE; idle++) {
		for (uint32_t pair = 0; s->overflow && pair < npairs && fors_effort_spend(&s->effort, 1); pair++)
			if (is_over(s, pair))
				fill(s, pair);
		if (s->overflow < best) {
			best = s->overflow;
			idle = 0;
		}
	}
}

/* ---- chains ---- */

/* Make (n = 1) or take back (-1) the moves of the chain that ends with *last. False: a way has not as many flows as leave it. */
static bool move_chain(struct search *s, const struct move *last, int64_t n)
{
	bool good = true;

	for (const struct move *move = last;; move = &s->move[move->seat]) {
		good &= s->split->way[move->from].flows > 0;
		put(s, move->from, -n);
		put(s, move->to, n);
		if (move->seat == s->queue[0])
			return good;
	}
}

/* Make the moves of the chain that ends with *last. They stay if they help: two of them may use one seat, or one way. */
static bool try_chain(struct search *s, const struct move *last)
{
	const int64_t before = s->overflow;

	if (move_chain(s, last, 1) && s->overflow < before)
		return true;
	move_chain(s, last, -1);
	return false;
}

/* Would a flow that comes from way `from` be one too many at this end of way `to`? */
static inline bool is_full(const struct search *s, uint32_t from, uint32_t to, int side)
{
	uint32_t seat = seat_of(s, to, side);

	return seat != seat_of(s, from, side) && s->load[seat] >= s->limit;
}

/* A flow leaves a seat, from a way: the end of a chain (true: done), or more seats to go on from. */
static bool leave(struct search *s, uint32_t seat, uint32_t from, uint32_t first, uint32_t end)
{
	uint32_t turn = fors_random_below(&s->random, end - first);

	fors_effort_spend(&s->effort, end - first);
	for (uint32_t i = 0; i < end - first; i++) {
		uint32_t to = first + (turn + i) % (end - first), next;
		const struct move move = {from, to, seat};
		bool up_full = is_full(s, from, to, 0), down_full = is_full(s, from, to, 1);

		if (seat_of(s, to, 0) == seat || seat_of(s, to, 1) == seat || (up_full && down_full))
			continue;
		if (!up_full && !down_full && try_chain(s, &move))
			return true;
		next = seat_of(s, to, down_full);
		if (up_full + down_full == 0 || s->is_seen[next])
			continue;
		s->is_seen[next] = true;
		s->move[next] = move;
		s->queue[s->nqueued++] = next;
	}
	return false;
}

/* The same from any way of a pair over the seat. */
static bool leave_pair(struct search *s, uint32_t seat, uint32_t pair)
{
	const uint32_t first = s->split->begin[pair], end = s->split->begin[pair + 1];
	const int side = seat >= s->nseats;

	for (uint32_t way = first; way < end; way++)
		if (seat_of(s, way, side) == seat && s->split->way[way].flows && leave(s, seat, way, first, end))
			return true;
	return false;
}

/* Take one flow off a seat that has overflow, by a chain of moves. */
static bool relieve(struct search *s, uint32_t start)
{
	const uint32_t n = s->split->nleaves;

	memset(s->is_seen, 0, 2 * s->nseats * sizeof(*s->is_seen));
	s->is_seen[start] = true;
	s->queue[0] = start;
	s->nqueued = 1;
	for (uint32_t next = 0; next < s->nqueued && !fors_effort_is_over(&s->effort); next++) {
		uint32_t seat = s->queue[next], leaf = s->leaf_of[seat], turn = fors_random_below(&s->random, n);

		fors_effort_spend(&s->effort, s->nways / n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t other = (turn + i) % n;

			if (leave_pair(s, seat, seat < s->nseats ? leaf * n + other : other * n + leaf))
				return true;
		}
	}
	return false;
}

/* Chains while they work. */
static void relieve_all(struct search *s)
{
	for (uint32_t seat = 0; seat < 2 * s->nseats; seat++)
		while (above(s, seat))
			if (!relieve(s, seat))
				return;
}

/* ---- seats ---- */

/* All lanes take their seats, or each has one of its own; count what is there. */
static void sit(struct search *s, bool is_shared)
{
	const uint32_t n = s->split->nleaves, nlanes = s->fabric->nlanes;

	s->nseats = is_shared ? s->fabric->nservers : n * nlanes;
	s->overflow = 0;
	memset(s->load, 0, 2 * s->nseats * sizeof(*s->load));
	for (uint32_t pair = 0; pair < n * n; pair++) {
		const uint32_t leaf[2] = {pair / n, pair % n};

		for (uint32_t i = s->split->begin[pair]; i < s->split->begin[pair + 1]; i++) {
			struct fors_split_way *way = &s->split->way[i];
			const uint16_t flows = way->flows;

			for (int side = 0; side < 2; side++) {
				uint32_t lane = leaf[side] * nlanes + way->lane[side];

				way->seat[side] = is_shared ? s->seat[side][lane] : lane;
				s->leaf_of[seat_of(s, i, side)] = leaf[side];
			}
			way->flows = 0;
			put(s, i, flows);
		}
	}
}

/* The fullest lane first, each lane of a leaf to the seat that has least. */
static void share(struct search *s, uint32_t a, int side)
{
	const struct fors_leaf *leaf = &s->fabric->leaf[a];
	const uint32_t nlanes = s->fabric->nlanes;
	uint32_t *seat = s->seat[side] + (size_t)a * nlanes;
	int64_t *load = s->load + (size_t)side * s->nseats + (size_t)a * nlanes, sum[SEATS] = {0};

	for (uint32_t k = 0; k < nlanes; k++)
		load[k] = fors_live(s->fabric, a, k) ? 1 + load[k] * ALIKE / s->limit : 0;
	for (uint32_t i = 0; leaf->nservers && i < nlanes; i++) {
		uint32_t lane = 0, least = 0;

		for (uint32_t k = 1; k < nlanes; k++)
			lane = load[k] > load[lane] ? k : lane;
		for (uint32_t k = 1; k < leaf->nservers; k++)
			least = sum[k] < sum[least] ? k : least;
		seat[lane] = leaf->first_server + least;
		sum[least] += load[lane];
		load[lane] = -1;
	}
}

/* ---- the number of phases ---- */

/* All flows anew. */
static void spread(struct search *s, bool is_shared)
{
	const uint32_t npairs = s->split->nleaves * s->split->nleaves;

	for (uint32_t way = 0; way < s->nways; way++)
		s->split->way[way].flows = 0;
	sit(s, is_shared);
	for (uint32_t i = 0, start = fors_random_below(&s->random, npairs); i < npairs; i++)
		fill(s, (start + i) % npairs);
	sweep(s);
	relieve_all(s);
}

/* Is there a split for so many phases? It is in s->split then. Whoever asks again begins elsewhere. */
static bool try_once(struct search *s, uint32_t nphases)
{
	s->limit = nphases;
	spread(s, false);
	if (s->overflow)
		return false;
	for (uint32_t a = 0; a < s->split->nleaves; a++) {
		share(s, a, 0);
		share(s, a, 1);
	}
	sit(s, true);
	if (s->overflow)
		spread(s, true);
	return !s->overflow;
}

/* The same, kept in s->best. */
static bool try(struct search *s, uint32_t nphases)
{
	for (int i = 0; i < TRIES && !s->effort.is_cancelled; i++)
		if (try_once(s, nphases)) {
			memcpy(s->best, s->split->way, s->nways * sizeof(*s->best));
			return true;
		}
	return false;
}

/* The smallest number, at_least or more, for which there is one, as far as that can be told. */
static void find(struct search *s, uint32_t at_least)
{
	uint32_t failed = at_least - 1, works = at_least;

	for (uint32_t step = 1; !s->effort.is_cancelled && !try(s, works); works += step, step *= 2)
		failed = works;
	while (works - failed > 1 && !fors_effort_is_over(&s->effort)) {
		uint32_t middle = failed + (works - failed) / 2;

		if (try(s, middle))
			works = middle;
		else
			failed = middle;
	}
	memcpy(s->split->way, s->best, s->nways * sizeof(*s->best));
	s->split->nphases = works;
}

static bool alloc(struct search *s)
{
	const size_t nlanes = (size_t)s->split->nleaves * s->fabric->nlanes;
	size_t n = 2 * (nlanes > s->fabric->nservers ? nlanes : s->fabric->nservers) + 1;

	s->load = calloc(n, sizeof(*s->load));
	s->move = calloc(n, sizeof(*s->move));
	s->is_seen = calloc(n, sizeof(*s->is_seen));
	s->best = calloc((size_t)s->nways + 1, sizeof(*s->best));
	s->leaf_of = calloc(n, sizeof(*s->leaf_of));
	s->queue = calloc(n, sizeof(*s->queue));
	s->seat[0] = calloc(nlanes + 1, sizeof(*s->seat[0]));
	s->seat[1] = calloc(nlanes + 1, sizeof(*s->seat[1]));
	return s->best && s->load && s->move && s->is_seen && s->leaf_of && s->queue && s->seat[0] && s->seat[1];
}

static void release(struct search *s)
{
	free(s->best);
	free(s->load);
	free(s->move);
	free(s->is_seen);
	free(s->leaf_of);
	free(s->queue);
	free(s->seat[0]);
	free(s->seat[1]);
}

enum fors_err fors_split_find(const struct fors_task *task, uint32_t at_least, struct fors_split *split,
			      struct fors_error *error)
{
	const uint64_t nservers = task->fabric->nservers;
	struct search s = {.fabric = task->fabric,
			   .split = split,
			   .nways = split->begin[split->nleaves * split->nleaves],
			   .effort = fors_effort_for(task, WORK_AT_LEAST + WORK_PER_FLOW * nservers * nservers)};
	enum fors_err err = alloc(&s) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		find(&s, at_least);
	if (!err && s.effort.is_cancelled)
		err = fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	fors_effort_tell(&s.effort);
	release(&s);
	return err;
}

void fors_split_free(struct fors_split *split)
{
	free(split->begin);
	free(split->way);
	*split = (struct fors_split){0};
}
