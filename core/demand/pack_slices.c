/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack_slices.c - phases of different length, one after another, the long ones first.
 *
 * What is left to carry over a resource is its need, and the largest need is the time that is left. A phase of length L keeps that bargain when
 * each resource that it leaves idle can spare L, and each message in it that is shorter belongs to resources that can spare the rest. So a phase
 * is a set of messages without conflict that holds all resources that can spare little. Sets of long messages make long phases, and few of
 * them: as long as such a set is found the shortest message that may hold a needy resource stays as long as it was, else it becomes shorter by
 * an eighth.
 *
 * A set begins greedily, the neediest resource first. A needy resource that nobody holds then drives others out, those that are needed least.
 * What is idle in the end takes any message. When no set is found the one of before stays as far as it goes, and is completed with shorter messages.
 */
#include "pack.h"
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define NOBODY UINT32_MAX
#define CHOICES 48     /* messages that a resource chooses from, beginning anywhere */
#define MOST_OFFERS 48 /* messages with several ways that are looked at for a resource */
#define FEW_MESSAGES 4096
#define MOST_ROUNDS 256

/* A message and a way of it. */
struct pick {
	uint32_t message, path;
};

struct keyed {
	uint64_t need;
	uint32_t x;
};

/* A message of a link or gate, and its sender, whose port is asked first. */
struct listed {
	uint32_t message, src;
};

struct slicer {
	const struct fors_demand_asked *asked;
	const struct fors_demand_problem *problem;
	struct fors_demand_pairs pairs; /* messages of ports, and what is left of them */
	uint64_t *load;			/* per resource: bytes that are left */
	uint32_t *first;		/* per link and gate: where its messages begin in list[]; one more */
	uint32_t *alive;		/* per link and gate: how many of them are left, in front */
	struct listed *list;		/* messages of links and gates */
	struct keyed *order;		/* resources that have something to carry, the neediest first */
	uint32_t norder;
	uint32_t *weight;   /* per resource */
	uint32_t *used;	    /* per resource: messages that it carries in the phase */
	uint32_t *holder;   /* per resource but gates: the message that it carries */
	uint32_t *driven;   /* per message: how often it was driven out of this phase */
	uint64_t *idle[2];  /* bits of servers that do not send in the phase, that do not receive */
	uint32_t *path;	    /* per message of the phase: its path index */
	uint32_t *queue;    /* needy resources that nobody holds */
	uint64_t *progress; /* per gate: bytes of the phase */
	uint64_t time;	    /* the largest need */
	struct fors_demand_put *put;
	uint32_t nput, put_room, nphases, most_phases;
	struct fors_random random;
};

/* ---- needs ---- */

static uint64_t need(const struct slicer *s, uint32_t x)
{
	uint32_t capacity = s->problem->capacity[x];

	return capacity <= 1 ? s->load[x] : (s->load[x] + capacity - 1) / capacity;
}

/* May it not idle for as long as a phase would be? */
static bool is_needy(const struct slicer *s, uint32_t x)
{
	return s->load[x] && need(s, x) + s->pairs.least > s->time;
}

static bool is_full(const struct slicer *s, uint32_t x)
{
	return s->used[x] >= s->problem->capacity[x];
}

static int by_need(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->need != b->need)
		return a->need > b->need ? -1 : 1;
	return (a->x > b->x) - (a->x < b->x);
}

/* A twentieth of the time is a factor of two. */
static void order_resources(struct slicer *s)
{
	s->norder = 0;
	for (uint32_t x = 0; x < s->problem->nresources; x++) {
		uint64_t n = need(s, x);

		s->weight[x] = s->time ? UINT32_C(1)
						 << (n >= s->time ? 20 : (unsigned)(20. * (double)n / (double)s->time))
				       : 1;
		if (n)
			s->order[s->norder++] = (struct keyed){n, x};
	}
	if (s->norder)
		qsort(s->order, s->norder, sizeof(*s->order), by_need);
}

/* ---- a set ---- */

/* Are its ports free, and with several paths have its gates room? */
static bool may_take(const struct slicer *s, uint32_t message)
{
	uint32_t load[FORS_DEMAND_MOST_USES], n = fors_demand_loads(s->problem, message, load);

	while (n && !is_full(s, load[n - 1]))
		n--;
	return !n;
}

/* A path on which all is free, or NOBODY. */
static uint32_t free_path(const struct slicer *s, uint32_t message)
{
	uint32_t use[FORS_DEMAND_MOST_USES];

	for (uint32_t path = 0; path < s->problem->npaths; path++) {
		uint32_t n = fors_demand_uses(s->problem, message, path, use), i = 0;

		while (i < n && s->holder[use[i]] == NOBODY)
			i++;
		if (n && i == n)
			return path;
	}
	return NOBODY;
}

/* A server becomes idle, or busy. */
static void note_idle(uint64_t *idle, uint32_t server, bool is_idle)
{
	uint64_t *word = &idle[server / 64], bit = UINT64_C(1) << server % 64;

	*word = is_idle ? *word | bit : *word & ~bit;
}

static void hold(struct slicer *s, uint32_t message, uint32_t path, uint32_t holder)
{
	uint32_t use[FORS_DEMAND_MOST_USES], load[FORS_DEMAND_MOST_USES];
	uint32_t n = fors_demand_uses(s->problem, message, path, use);
	uint32_t nloads = fors_demand_loads(s->problem, message, load);

	for (uint32_t i = 0; i < n; i++)
		s->holder[use[i]] = holder;
	for (uint32_t i = 0; i < nloads; i++)
		s->used[load[i]] += holder == NOBODY ? UINT32_MAX : 1;
	s->path[message] = path;
	note_idle(s->idle[0], s->problem->demand->message[message].src, holder == NOBODY);
	note_idle(s->idle[1], s->problem->demand->message[message].dst, holder == NOBODY);
}

/* What all that a message loads weighs, gates only while they have room. */
static uint64_t worth(const struct slicer *s, uint32_t message)
{
	uint32_t load[FORS_DEMAND_MOST_USES], n = fors_demand_loads(s->problem, message, load);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += is_full(s, load[i]) ? 0 : s->weight[load[i]];
	return sum;
}

/* The message of a link or gate at *i or behind it; those that are sent are moved behind the others. With is_free only one whose sender is idle. */
static uint32_t message_at(struct slicer *s, uint32_t x, uint32_t *i, bool is_free)
{
	struct listed *list = s->list + s->first[x];

	while (*i < s->alive[x]) {
		struct listed at = list[*i];

		if (is_free && s->holder[at.src] != NOBODY) {
			++*i;
			continue;
		}
		if (s->pairs.rest[at.message])
			return at.message;
		list[*i] = list[--s->alive[x]];
		list[s->alive[x]] = at;
	}
	return NOBODY;
}

/* The best message that a resource may take, and a path on which all is free. */
struct choice {
	uint32_t message, path;
	uint64_t value;
};

/* Is it of more use than what was chosen? Of equal ones what has more left is. */
static bool is_better(const struct slicer *s, uint32_t message, uint64_t value, const struct choice *than)
{
	return than->message == NOBODY || value > than->value ||
	       (value == than->value && s->pairs.rest[message] > s->pairs.rest[than->message]);
}

static void consider(const struct slicer *s, uint32_t message, struct choice *choice)
{
	uint64_t value;
	uint32_t path;

	value = worth(s, message);
	if (!is_better(s, message, value, choice))
		return;
	path = free_path(s, message);
	if (path != NOBODY)
		*choice = (struct choice){message, path, value};
}

/* Look at the messages of a link from one place to another, at most so many that it may take; how many of these are left to look at. */
static uint32_t consider_some(struct slicer *s, uint32_t x, uint32_t from, uint32_t to, uint64_t least, uint32_t most,
			      struct choice *choice)
{
	for (uint32_t i = from, m; most && i < to && (m = message_at(s, x, &i, true)) != NOBODY; i++)
		if (s->pairs.rest[m] >= least && may_take(s, m)) {
			consider(s, m, choice);
			most--;
		}
	fors_effort_spend(s->asked->effort, (to < s->alive[x] ? to : s->alive[x]) / 4 + 1);
	return most;
}

static void consider_listed(struct slicer *s, uint32_t x, uint64_t least, struct choice *choice)
{
	uint32_t start = s->alive[x] > CHOICES ? fors_random_below(&s->random, s->alive[x]) : 0;
	uint32_t left = consider_some(s, x, start, UINT32_MAX, least, CHOICES, choice);

	if (left && start)
		consider_some(s, x, 0, start, least, left, choice);
}

/* The same of a port, of which bits say whose other end is idle. */
static void consider_pairs(struct slicer *s, uint32_t x, uint64_t least, struct choice *choice)
{
	const uint64_t *row = (least > 1 ? s->pairs.enough : s->pairs.left) + (size_t)x * s->pairs.nwords;
	const uint64_t *idle = s->idle[x < s->problem->nservers];
	uint32_t nwords = s->pairs.nwords, start = fors_random_below(&s->random, 64 * nwords), seen = 0;
	uint64_t behind = ~UINT64_C(0) << start % 64;

	for (uint32_t i = 0; i <= nwords && seen < CHOICES; i++) {
		uint32_t w = (start / 64 + i) % nwords;
		uint64_t bits = row[w] & idle[w] & (i == 0 ? behind : i == nwords ? ~behind : ~UINT64_C(0));

		for (; bits && seen < CHOICES; bits &= bits - 1) {
			uint32_t m = fors_demand_pairs_of(&s->pairs, x, 64 * w + (uint32_t)__builtin_ctzll(bits));

			if (s->problem->npaths > 1 && !may_take(s, m))
				continue;
			consider(s, m, choice);
			seen++;
		}
	}
	fors_effort_spend(s->asked->effort, nwords / 4 + seen + 1);
}

/* Give a resource the message that helps others most, of those that have so much left; false: it cannot have any. */
static bool take_best(struct slicer *s, uint32_t x, uint64_t least)
{
	struct choice choice = {NOBODY, 0, 0};

	if (x < 2 * s->problem->nservers)
		consider_pairs(s, x, least, &choice);
	else
		consider_listed(s, x, least, &choice);
	if (choice.message == NOBODY)
		return false;
	hold(s, choice.message, choice.path, choice.message);
	return true;
}

/* Does this pass give it a message? Gates get theirs by their senders, and so does all that is not needy. */
static bool is_asked(const struct slicer *s, uint32_t x, uint64_t least)
{
	if (is_full(s, x) || x >= 2 * s->problem->nservers + s->problem->nlinks)
		return false;
	return x < s->problem->nservers || (least > 1 && is_needy(s, x));
}

static void take_all(struct slicer *s, uint64_t least)
{
	for (uint32_t i = 0; i < s->norder; i++)
		while (is_asked(s, s->order[i].x, least) && take_best(s, s->order[i].x, least))
			continue;
}

/* ---- repairs ---- */

/* What is lost when those that hold something of this way are driven out; how often they were counts too. */
static uint64_t price_of(const struct slicer *s, const uint32_t *use, uint32_t n, uint64_t most)
{
	uint64_t price = 0;

	for (uint32_t i = 0; i < n && price < most; i++) {
		uint32_t m = s->holder[use[i]], load[FORS_DEMAND_MOST_USES], nloads;

		if (m == NOBODY)
			continue;
		price += 1 + 4 * s->driven[m];
		nloads = fors_demand_loads(s->problem, m, load);
		for (uint32_t k = 0; k < nloads; k++)
			price += is_needy(s, load[k]) ? 8 : 0;
	}
	return price;
}

/* The cheapest way of a message; of equal ones any. */
static void offer_ways(struct slicer *s, uint32_t message, uint64_t *least, uint32_t *nequal, struct pick *best)
{
	uint32_t use[FORS_DEMAND_MOST_USES];

	for (uint32_t path = 0; path < s->problem->npaths; path++) {
		uint32_t n = fors_demand_uses(s->problem, message, path, use);
		uint64_t price = n ? price_of(s, use, n, *least + 1) + 4 * s->driven[message] : UINT64_MAX;

		if (!n || price > *least)
			continue;
		*nequal = price < *least ? 1 : *nequal + 1;
		*least = price;
		if (*nequal == 1 || !fors_random_below(&s->random, *nequal))
			*best = (struct pick){message, path};
	}
}

/* The cheapest ways so far. */
struct cheapest {
	struct pick *best;
	uint64_t price;
	uint32_t nequal, seen; /* messages that were looked at */
};

static void offer(struct slicer *s, uint32_t message, struct cheapest *cheapest)
{
	if (s->holder[s->problem->demand->message[message].src] == message)
		return;
	offer_ways(s, message, &cheapest->price, &cheapest->nequal, cheapest->best);
	cheapest->seen++;
}

static void offer_pairs(struct slicer *s, uint32_t port, uint32_t most, struct cheapest *cheapest)
{
	const uint64_t *row = s->pairs.enough + (size_t)port * s->pairs.nwords;
	uint32_t nwords = s->pairs.nwords, start = most < UINT32_MAX ? fors_random_below(&s->random, nwords) : 0;

	for (uint32_t i = 0; i < nwords && cheapest->seen < most; i++) {
		uint32_t w = (start + i) % nwords;

		for (uint64_t bits = row[w]; bits && cheapest->seen < most; bits &= bits - 1)
			offer(s, fors_demand_pairs_of(&s->pairs, port, 64 * w + (uint32_t)__builtin_ctzll(bits)),
			      cheapest);
	}
	fors_effort_spend(s->asked->effort, nwords / 4);
}

static void offer_listed(struct slicer *s, uint32_t x, uint32_t most, struct cheapest *cheapest)
{
	uint32_t i = s->alive[x] > most ? fors_random_below(&s->random, s->alive[x] - most) : 0;

	for (uint32_t m; cheapest->seen < most && (m = message_at(s, x, &i, false)) != NOBODY; i++)
		if (s->pairs.rest[m] >= s->pairs.least)
			offer(s, m, cheapest);
	fors_effort_spend(s->asked->effort, s->alive[x] / 4);
}

/* The cheapest message and way for a needy resource, among some where it has many; false: it has none that is long enough. */
static bool find_cheapest(struct slicer *s, uint32_t x, struct pick *best)
{
	struct cheapest cheapest = {best, UINT64_MAX - 1, 0, 0};
	uint32_t most = s->problem->npaths > 1 ? MOST_OFFERS : UINT32_MAX;

	if (x < 2 * s->problem->nservers)
		offer_pairs(s, x, most, &cheapest);
	else
		offer_listed(s, x, most, &cheapest);
	fors_effort_spend(s->asked->effort, 8 * (uint64_t)cheapest.seen * s->problem->npaths);
	return cheapest.nequal > 0;
}

/* Make room for a pick; needy resources that lose their holder are queued. */
static uint32_t drive_out(struct slicer *s, const struct pick *pick, uint32_t nqueue, uint32_t most)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(s->problem, pick->message, pick->path, use);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t m = s->holder[use[i]], load[FORS_DEMAND_MOST_USES], nloads;

		if (m == NOBODY)
			continue;
		nloads = fors_demand_loads(s->problem, m, load);
		hold(s, m, s->path[m], NOBODY);
		s->driven[m]++;
		for (uint32_t k = 0; k < nloads && nqueue < most; k++)
			if (is_needy(s, load[k]))
				s->queue[nqueue++] = load[k];
	}
	return nqueue;
}

static uint32_t queue_needy(struct slicer *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->norder && is_needy(s, s->order[i].x); i++)
		if (!is_full(s, s->order[i].x))
			s->queue[n++] = s->order[i].x;
	return n;
}

/* Let needy resources that are idle drive others out, until none is idle or enough was tried. */
static void repair(struct slicer *s)
{
	uint32_t most = 4 * s->problem->nresources, n = queue_needy(s), tries = 100 + 4 * n;

	if (n)
		memset(s->driven, 0, s->problem->demand->count * sizeof(*s->driven));
	while (n && tries-- && !fors_effort_is_over(s->asked->effort)) {
		uint32_t x = s->queue[--n];
		struct pick pick = {NOBODY, 0};

		if (is_full(s, x) || take_best(s, x, s->pairs.least) || !find_cheapest(s, x, &pick))
			continue;
		n = drive_out(s, &pick, n, most);
		hold(s, pick.message, pick.path, pick.message);
	}
}

static void begin_set(struct slicer *s)
{
	uint32_t ports = 2 * s->problem->nservers + s->problem->nlinks;

	memset(s->used, 0, s->problem->nresources * sizeof(*s->used));
	memset(s->holder, 0xFF, ports * sizeof(*s->holder));
	memset(s->idle[0], 0xFF, s->pairs.nwords * sizeof(*s->idle[0]));
	memset(s->idle[1], 0xFF, s->pairs.nwords * sizeof(*s->idle[1]));
}

/* ---- a phase ---- */

/* What the set carries over a resource in a phase of this length; gates: see measure_gates(). */
static uint64_t carried(const struct slicer *s, uint32_t x, uint64_t length)
{
	uint32_t m = s->holder[x];

	return m == NOBODY ? 0 : s->pairs.rest[m] < length ? s->pairs.rest[m] : length;
}

static void measure_gates(struct slicer *s, uint64_t length)
{
	uint32_t gates = 2 * s->problem->nservers + s->problem->nlinks;

	memset(s->progress, 0, 2 * (size_t)s->problem->nswitches * sizeof(*s->progress));
	for (uint32_t i = 0; i < s->problem->nservers; i++) {
		uint32_t load[FORS_DEMAND_MOST_USES], n;

		if (s->holder[i] == NOBODY)
			continue;
		n = fors_demand_loads(s->problem, s->holder[i], load);
		for (uint32_t k = 0; k < n; k++)
			if (load[k] >= gates)
				s->progress[load[k] - gates] += carried(s, i, length);
	}
}

/*
 * What gates allow of a length that ports and links allow: what they carry depends on it, so it is asked until it stays. Each
 * round leaves at most (capacity - 1) / capacity of the rest, so it soon does; a length after MOST_ROUNDS costs a little time at most.
 */
static uint64_t gated(struct slicer *s, uint64_t length)
{
	uint32_t gates = 2 * s->problem->nservers + s->problem->nlinks;
	uint64_t before = UINT64_MAX;

	for (uint32_t round = 0; length < before && round < MOST_ROUNDS; round++) {
		before = length;
		measure_gates(s, before);
		for (uint32_t i = 0; i < s->norder; i++) {
			uint32_t x = s->order[i].x;
			uint64_t most;

			if (x < gates)
				continue;
			most = s->time - s->order[i].need + s->progress[x - gates] / s->problem->capacity[x];
			length = most < length ? most : length;
		}
	}
	return length;
}

/* The longest phase after which no resource needs more than the time that is left, or 0. */
static uint64_t good_length(struct slicer *s)
{
	uint32_t gates = 2 * s->problem->nservers + s->problem->nlinks;
	uint64_t length = s->time;

	for (uint32_t i = 0; i < s->norder; i++) {
		uint32_t x = s->order[i].x;

		if (x < gates && s->time - s->order[i].need + carried(s, x, UINT64_MAX) < length)
			length = s->time - s->order[i].need + carried(s, x, UINT64_MAX);
	}
	return s->problem->npaths > 1 ? gated(s, length) : length;
}

static uint64_t longest_pick(const struct slicer *s)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < s->problem->nservers; i++)
		if (carried(s, i, UINT64_MAX) > most)
			most = carried(s, i, UINT64_MAX);
	return most;
}

static enum fors_err make_room(struct slicer *s, struct fors_error *error)
{
	if (s->nput + s->problem->nservers > s->put_room) {
		uint32_t room = 2 * s->put_room + s->problem->nservers;
		struct fors_demand_put *more = realloc(s->put, room * sizeof(*more));

		if (!more)
			return fors_fail_memory(error);
		s->put = more;
		s->put_room = room;
	}
	return FORS_OK;
}

/* So much time is left, or what is needed. */
static void leave_time(struct slicer *s, uint64_t time)
{
	s->time = time;
	for (uint32_t x = 0; x < s->problem->nresources; x++)
		if (need(s, x) > s->time)
			s->time = need(s, x);
}

/* The set is sent for so long. */
static enum fors_err send(struct slicer *s, uint64_t length, struct fors_error *error)
{
	enum fors_err err = make_room(s, error);

	for (uint32_t i = 0; !err && i < s->problem->nservers; i++) {
		uint32_t m = s->holder[i], load[FORS_DEMAND_MOST_USES], n;
		uint64_t bytes;

		if (m == NOBODY)
			continue;
		bytes = carried(s, i, length);
		s->put[s->nput++] = (struct fors_demand_put){{bytes, i, s->problem->demand->message[m].dst, s->path[m]},
							     s->nphases};
		fors_demand_pairs_send(&s->pairs, m, bytes);
		n = fors_demand_loads(s->problem, m, load);
		for (uint32_t k = 0; k < n; k++)
			s->load[load[k]] -= bytes;
	}
	s->nphases++;
	leave_time(s, s->time > length ? s->time - length : 0);
	return err;
}

/* ---- all of them ---- */

/*
 * The shortest phase that is taken whatever it costs: with these the plan just stays below most_phases. Of many messages no crumbs are made; of few there are
 * never many, and the bound may be met to the byte.
 */
static uint64_t floor_of(const struct slicer *s)
{
	uint32_t left = s->most_phases > s->nphases ? s->most_phases - s->nphases : 1;
	uint64_t crumb =
		s->problem->demand->count > FEW_MESSAGES ? s->asked->bound / (16 * (uint64_t)s->most_phases) : 0;

	return s->time / left + 1 > crumb ? s->time / left + 1 : crumb;
}

/* The set of the phase, as its shortest message may be now. */
static void make_set(struct slicer *s)
{
	take_all(s, s->pairs.least);
	repair(s);
	take_all(s, 1);
}

/* Messages may be shorter. What is too short for a needy resource even so makes room for others. */
static void allow_shorter(struct slicer *s)
{
	fors_demand_pairs_lower(&s->pairs, s->pairs.least - s->pairs.least / 8 - 1);
	for (uint32_t i = 0; i < s->problem->nservers; i++) {
		uint32_t m = s->holder[i];

		if (m != NOBODY && s->pairs.rest[m] < s->pairs.least)
			hold(s, m, s->path[m], NOBODY);
	}
}

static enum fors_err make_phase(struct slicer *s, struct fors_error *error)
{
	uint64_t floor = floor_of(s), length, longest;

	order_resources(s);
	begin_set(s);
	make_set(s);
	length = good_length(s);
	while (length < s->pairs.least && s->pairs.least > floor && !fors_effort_is_over(s->asked->effort)) {
		allow_shorter(s);
		make_set(s);
		length = good_length(s);
	}
	longest = longest_pick(s);
	length = length < floor ? floor : length;
	return send(s, length < longest ? length : longest, error);
}

static bool is_left(const struct slicer *s)
{
	for (uint32_t x = 0; x < s->problem->nservers; x++)
		if (s->load[x])
			return true;
	return false;
}

static enum fors_err make_all(struct slicer *s, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && is_left(s)) {
		err = make_phase(s, error);
		if (!err && s->asked->effort->is_cancelled)
			err = fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	}
	return err;
}

/* ---- making ---- */

static bool allocate(struct slicer *s)
{
	const struct fors_demand_problem *p = s->problem;
	size_t n = p->nresources + (size_t)1, messages = p->demand->count + (size_t)1;

	s->driven = calloc(messages, sizeof(*s->driven));
	s->idle[0] = malloc((s->pairs.nwords + (size_t)1) * sizeof(*s->idle[0]));
	s->idle[1] = malloc((s->pairs.nwords + (size_t)1) * sizeof(*s->idle[1]));
	s->load = fors_demand_load(p);
	s->first = calloc(n + 1, sizeof(*s->first));
	s->alive = calloc(n, sizeof(*s->alive));
	s->order = malloc(n * sizeof(*s->order));
	s->weight = malloc(n * sizeof(*s->weight));
	s->used = malloc(n * sizeof(*s->used));
	s->holder = malloc(n * sizeof(*s->holder));
	s->queue = malloc(8 * n * sizeof(*s->queue));
	s->path = malloc(messages * sizeof(*s->path));
	s->progress = malloc((2 * (size_t)p->nswitches + 1) * sizeof(*s->progress));
	return s->driven && s->idle[0] && s->idle[1] && s->load && s->first && s->alive && s->order && s->weight &&
	       s->used && s->holder && s->queue && s->path && s->progress;
}

/* How many messages each resource has. */
static void count(const struct slicer *s, uint32_t *messages)
{
	uint32_t load[FORS_DEMAND_MOST_USES];

	for (uint32_t m = 0; m < s->problem->demand->count; m++) {
		uint32_t n = fors_demand_loads(s->problem, m, load);

		for (uint32_t i = 0; i < n; i++)
			messages[load[i]]++;
	}
}

static enum fors_err list_messages(struct slicer *s, struct fors_error *error)
{
	const struct fors_demand *demand = s->problem->demand;
	uint32_t load[FORS_DEMAND_MOST_USES];

	s->list = malloc((s->first[s->problem->nresources] + (size_t)1) * sizeof(*s->list));
	if (!s->list)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < demand->count; m++) {
		uint32_t n = fors_demand_loads(s->problem, m, load);

		for (uint32_t i = 2; i < n; i++)
			s->list[s->first[load[i]] + s->alive[load[i]]++] = (struct listed){m, load[0]};
	}
	return FORS_OK;
}

/* What each resource has to carry, by how many messages, and those of links and gates. */
static enum fors_err index_messages(struct slicer *s, struct fors_error *error)
{
	const struct fors_demand_problem *p = s->problem;
	uint32_t *messages = calloc(p->nresources + (size_t)1, sizeof(*messages));

	if (!messages)
		return fors_fail_memory(error);
	count(s, messages);
	for (uint32_t x = 0; x < p->nresources; x++) {
		if (p->capacity[x] && messages[x] / p->capacity[x] > s->most_phases)
			s->most_phases = messages[x] / p->capacity[x];
		s->first[x + 1] = s->first[x] + (x < 2 * p->nservers ? 0 : messages[x]);
	}
	free(messages);
	return list_messages(s, error);
}

static void finish(struct slicer *s)
{
	fors_demand_pairs_clear(&s->pairs);
	free(s->driven);
	free(s->idle[0]);
	free(s->idle[1]);
	free(s->load);
	free(s->first);
	free(s->alive);
	free(s->list);
	free(s->order);
	free(s->weight);
	free(s->used);
	free(s->holder);
	free(s->queue);
	free(s->path);
	free(s->progress);
	free(s->put);
}

enum fors_err fors_demand_pack_slices(const struct fors_demand_asked *asked, uint32_t percent, uint32_t spare,
				      struct fors_demand_plan **plan, struct fors_error *error)
{
	struct slicer s = {.asked = asked, .problem = asked->problem, .random = {1}};
	bool is_good = fors_demand_pairs_make(s.problem->demand, &s.pairs);
	enum fors_err err = is_good && allocate(&s) ? index_messages(&s, error) : fors_fail_memory(error);

	s.most_phases = (uint32_t)((uint64_t)s.most_phases * percent / 100) + spare;
	if (!err) {
		leave_time(&s, asked->bound);
		err = make_all(&s, error);
	}
	if (!err)
		err = fors_demand_plan_make(s.put, s.nput, s.nphases, s.problem->nservers, "slices", plan, error);
	finish(&s);
	return err;
}
