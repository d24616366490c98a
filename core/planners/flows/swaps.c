/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * swaps.c - few phases, or none, more than there are receivers: a search among full packings, in which links are shared still.
 *
 * In P phases every receiver is busy in each, and so is every sender: no token can move alone, and a search that throws
 * tokens out (search.c) ends with a few that have no room, though links have plenty. So here receivers and senders are
 * right always, and links are what is mended. A packing is a table: which switch each receiver d hears in each phase t, if any.
 * Switch a is n_a times in each row, and at most n_a times in each column. What keeps that so is an exchange in two phases t and u
 * along a circle of receivers: d hears a in t and b in u, the next one c in t and a in u, and so on until somebody hears b in
 * t; all change t with u. Where switches have seats left a path will do. One, two or three receivers take part.
 *
 * The price is the number of tokens too many on links, over all links and phases. A step takes a token on a link that is shared,
 * any, looks at some circles of it, those first in which least is in the way of its receiver, and does the cheapest, even where it
 * costs; what was changed stays for some steps (tabu). It ends when no link is shared, or the work is spent, or was long in vain, or
 * when the price falls so slowly that the work will not do: what succeeds is below a straight line down to nothing all the time.
 * A token that has several ways takes the one with least on it when it comes to a phase. Whenever the tokens of a phase have changed,
 * and a link is shared in it, all of them may take other ways: those that share one wait, each in turn takes the way on which least is in the
 * way, and who is thrown out waits in its place.
 *
 * The beginning is a packing with few waiting. These are inserted one by one as in an edge colouring of receivers and switches
 * (Koenig): receiver and switch have some free phase each, and along a path from one to the other tokens change between
 * those two phases. Links are not asked there.
 */
#include "swaps.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define MOST_CIRCLES 60 /* looked at in a step */
#define LOOK_WORK 4	/* of a circle that is not one after all */
#define TABU_LEAST 3
#define TABU_SPREAD 8
#define ASK_EVERY 256
#define REROUTE_STEPS 200 /* tokens that get another way, all in all */
#define SOON 10		  /* it is asked after one part in so many of the work whether it will be enough */
#define VAIN 3000	  /* steps without anything better */
#define LEAST_PER_FLOW 20 /* links looked at: with less nothing is found */
#define NOBODY UINT16_MAX
#define ANY_PATH UINT8_MAX

/* New ways for the tokens of one phase, where there are several for a token. */
struct reroute {
	bool *is_done;	  /* per phase: it was tried since its tokens changed */
	uint16_t *holder; /* per link: the receiver whose token is on it, NOBODY */
	uint16_t *waiting, nwaiting;
	uint16_t *fails;      /* per receiver: how often its token had no way */
	uint8_t *path, *best; /* per receiver */
};

struct table {
	const struct fors_flows_problem *problem;
	uint32_t p, n;	  /* receivers; phases, no fewer */
	uint16_t *heard;  /* [d * n + t]: the switch */
	uint16_t *seat;	  /* [seat_row[s] + t * senders[s] + i]: receivers that hear switch s in phase t */
	uint16_t *place;  /* [d * n + t]: i of it */
	size_t *seat_row; /* per switch */
	uint8_t *path;	  /* [d * n + t]: of its token */
	uint16_t *load;	  /* [link * n + t]: tokens, one for each receiver at most */
	uint32_t *extra;  /* per phase: tokens too many on links */
	uint32_t price;	  /* the same of all phases */
	uint32_t *rank;	  /* per phase: what is in the way of an exchange with it */
	uint32_t *tabu;	  /* [d * n + t]: the step until which it stays */
	struct reroute reroute;
	uint32_t step;
	uint64_t work;
	struct fors_random random;
};

/* Receivers that exchange what they hear in two phases. */
struct circle {
	uint32_t d[3], n;
	uint32_t t, u;
	int32_t price;
};

/* ---- links ---- */

static void load_link(struct table *x, uint32_t link, uint32_t t)
{
	if (x->load[(size_t)link * x->n + t]++) {
		x->extra[t]++;
		x->price++;
	}
}

static void relieve_link(struct table *x, uint32_t link, uint32_t t)
{
	if (--x->load[(size_t)link * x->n + t]) {
		x->extra[t]--;
		x->price--;
	}
}

/* The links of a path index of a token, none of an idle receiver's; FORS_FLOWS_NONE: there is no such way. */
static uint32_t links_of(const struct table *x, uint32_t s, uint32_t d, uint32_t path, uint32_t *link)
{
	const struct fors_flows_problem *p = x->problem;

	if (s == NOBODY)
		return path ? FORS_FLOWS_NONE : 0;
	if (path && !p->exists[(s * p->ndests + d) * p->npaths + path])
		return FORS_FLOWS_NONE;
	return fors_flows_links(p, s, d, path, link);
}

/* The path index over which least is in the way in a phase, but for tokens on `own`, which leave it; in *least how much that is. */
static uint32_t best_path(struct table *x, uint32_t s, uint32_t d, uint32_t t, const uint32_t *own, uint32_t nown,
			  uint32_t *least)
{
	uint32_t best = 0;

	*least = UINT32_MAX;
	for (uint32_t path = 0; path < x->problem->npaths && *least; path++) {
		uint32_t link[FORS_FLOWS_MOST_LINKS], n = links_of(x, s, d, path, link), tokens = 0;

		if (n == FORS_FLOWS_NONE)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			tokens += x->load[(size_t)link[i] * x->n + t];
			for (uint32_t k = 0; k < nown; k++)
				tokens -= own[k] == link[i];
		}
		x->work += n;
		if (tokens < *least) {
			*least = tokens;
			best = path;
		}
	}
	return best;
}

/* Receiver d hears s in phase t over this path index; ANY_PATH: over the best. */
static void load_token(struct table *x, uint32_t s, uint32_t d, uint32_t t, uint8_t path)
{
	uint32_t link[FORS_FLOWS_MOST_LINKS], n, least;

	if (path == ANY_PATH)
		path = x->problem->npaths > 1 ? (uint8_t)best_path(x, s, d, t, NULL, 0, &least) : 0;
	x->path[(size_t)d * x->n + t] = path;
	n = links_of(x, s, d, path, link);
	for (uint32_t i = 0; i < n; i++)
		load_link(x, link[i], t);
	x->work += n;
}

static void relieve_token(struct table *x, uint32_t s, uint32_t d, uint32_t t)
{
	uint32_t link[FORS_FLOWS_MOST_LINKS], n = links_of(x, s, d, x->path[(size_t)d * x->n + t], link);

	for (uint32_t i = 0; i < n; i++)
		relieve_link(x, link[i], t);
	x->work += n;
}

/* ---- seats ---- */

static uint16_t *seats(const struct table *x, uint32_t s, uint32_t t)
{
	return x->seat + x->seat_row[s] + (size_t)t * x->problem->senders[s];
}

/* Receiver d hears switch s in phase t, on this seat. */
static void sit(struct table *x, uint32_t d, uint32_t t, uint32_t s, uint32_t place)
{
	x->heard[(size_t)d * x->n + t] = (uint16_t)s;
	if (s == NOBODY)
		return;
	x->place[(size_t)d * x->n + t] = (uint16_t)place;
	seats(x, s, t)[place] = (uint16_t)d;
}

/* A free seat of a switch, its number of seats: none. Nobody has one always. */
static uint32_t free_seat(const struct table *x, uint32_t s, uint32_t t)
{
	uint32_t i = 0;

	if (s == NOBODY)
		return 0;
	while (i < x->problem->senders[s] && seats(x, s, t)[i] != NOBODY)
		i++;
	return i;
}

static void stand_up(struct table *x, uint32_t d, uint32_t t)
{
	size_t at = (size_t)d * x->n + t;

	if (x->heard[at] != NOBODY)
		seats(x, x->heard[at], t)[x->place[at]] = NOBODY;
	x->heard[at] = NOBODY;
}

/* ---- the beginning ---- */

static uint32_t heard(const struct table *x, uint32_t d, uint32_t t)
{
	return x->heard[(size_t)d * x->n + t];
}

/* A phase in which a receiver hears nobody, one in which a switch has a free seat: there is one each while a token waits. */
static uint32_t idle_phase(const struct table *x, uint32_t d)
{
	uint32_t t = 0;

	while (heard(x, d, t) != NOBODY)
		t++;
	return t;
}

static uint32_t seat_phase(const struct table *x, uint32_t s)
{
	uint32_t t = 0;

	while (free_seat(x, s, t) == x->problem->senders[s])
		t++;
	return t;
}

/*
 * A token of switch s to receiver d: d is idle in t, and in u a seat of s is free. Where s has no seat left in t the receiver on
 * that very seat in t goes to u, and whoever it heard there goes to t, on the seat that it leaves, and so on. Seats by number are nodes
 * with one token in t and in u at most, and so are receivers: it is a path, which ends at a free seat in t or at a receiver that is idle in u.
 */
static void insert(struct table *x, uint32_t s, uint32_t d)
{
	uint32_t t = idle_phase(x, d), u = seat_phase(x, s), place = free_seat(x, s, u);

	for (;;) {
		uint32_t seat = free_seat(x, s, t), e, next, left;

		if (seat < x->problem->senders[s]) {
			sit(x, d, t, s, seat);
			x->path[(size_t)d * x->n + t] = ANY_PATH;
			return;
		}
		e = seats(x, s, t)[place];
		next = heard(x, e, u);
		left = x->place[(size_t)e * x->n + u];
		stand_up(x, e, t);
		stand_up(x, e, u);
		sit(x, d, t, s, place);
		sit(x, e, u, s, place);
		x->path[(size_t)d * x->n + t] = x->path[(size_t)e * x->n + u] = x->path[(size_t)e * x->n + t] =
			ANY_PATH;
		if (next == NOBODY)
			return;
		s = next;
		d = e;
		place = left;
	}
}

/* Whom a receiver hears in a phase of a packing. */
static void take_over(struct table *x, const struct fors_flows_packing *from, uint32_t d, uint32_t t)
{
	const struct fors_flows_problem *p = x->problem;
	uint32_t way = fors_flows_received(from, d, t), s;

	if (way == FORS_FLOWS_NONE)
		return;
	s = fors_flows_switch(p, fors_flows_unit(p, way));
	sit(x, d, t, s, free_seat(x, s, t));
	x->path[(size_t)d * x->n + t] = (uint8_t)(way % p->npaths);
}

static void begin(struct table *x, const struct fors_flows_packing *from)
{
	const struct fors_flows_problem *p = x->problem;

	for (uint32_t d = 0; d < x->p; d++)
		for (uint32_t t = 0; t < x->n; t++)
			take_over(x, from, d, t);
	for (uint32_t i = 0; i < from->nwaiting; i++)
		insert(x, from->waiting[i] / p->ndests, from->waiting[i] % p->ndests);
	for (uint32_t d = 0; d < x->p; d++)
		for (uint32_t t = 0; t < x->n; t++)
			load_token(x, heard(x, d, t), d, t, x->path[(size_t)d * x->n + t]);
}

/* ---- other ways in a phase ---- */

/* Put d's token on a path: who was in its way waits. */
static void hold(struct table *x, uint32_t d, uint32_t t, uint32_t path)
{
	struct reroute *r = &x->reroute;
	uint32_t link[FORS_FLOWS_MOST_LINKS], n = links_of(x, heard(x, d, t), d, path, link);

	r->path[d] = (uint8_t)path;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = r->holder[link[i]], other[FORS_FLOWS_MOST_LINKS], m;

		if (e != NOBODY && e != d) {
			m = links_of(x, heard(x, e, t), e, r->path[e], other);
			for (uint32_t k = 0; k < m; k++)
				r->holder[other[k]] = NOBODY;
			r->waiting[r->nwaiting++] = (uint16_t)e;
		}
		r->holder[link[i]] = (uint16_t)d;
	}
	x->work += 2 * n;
}

/* What the tokens in the way of a path have failed so far, and 1 for each; UINT32_MAX: there is no such way. */
static uint32_t price_of_path(struct table *x, uint32_t d, uint32_t t, uint32_t path)
{
	const struct reroute *r = &x->reroute;
	uint32_t link[FORS_FLOWS_MOST_LINKS], n = links_of(x, heard(x, d, t), d, path, link), price = 0;

	if (n == FORS_FLOWS_NONE)
		return UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		price += r->holder[link[i]] != NOBODY ? 1u + r->fails[r->holder[link[i]]] : 0;
	x->work += n;
	return price;
}

/* A waiting token takes the way on which least is in its way. */
static void place_waiting(struct table *x, uint32_t t)
{
	struct reroute *r = &x->reroute;
	uint32_t i = fors_random_below(&x->random, r->nwaiting), d = r->waiting[i], npaths = x->problem->npaths,
		 first = fors_random_below(&x->random, npaths), best = 0, least = UINT32_MAX;

	r->waiting[i] = r->waiting[--r->nwaiting];
	for (uint32_t k = 0; k < npaths && least; k++) {
		uint32_t path = (first + k) % npaths, price = price_of_path(x, d, t, path);

		if (price < least) {
			least = price;
			best = path;
		}
	}
	r->fails[d] += least > 0;
	hold(x, d, t, best);
}

/* All tokens of a phase whose links are free where they are; the others wait. */
static void begin_reroute(struct table *x, uint32_t t)
{
	struct reroute *r = &x->reroute;

	memset(r->holder, 0xFF, x->problem->nlinks * sizeof(*r->holder));
	memset(r->fails, 0, x->p * sizeof(*r->fails));
	r->nwaiting = 0;
	for (uint32_t d = 0; d < x->p; d++) {
		r->path[d] = x->path[(size_t)d * x->n + t];
		if (heard(x, d, t) == NOBODY)
			continue;
		if (price_of_path(x, d, t, r->path[d]))
			r->waiting[r->nwaiting++] = (uint16_t)d;
		else
			hold(x, d, t, r->path[d]);
	}
}

/* Take these paths in a phase; the paths of before come into path[]. */
static void take_paths(struct table *x, uint32_t t, uint8_t *path)
{
	for (uint32_t d = 0; d < x->p; d++) {
		uint8_t before = x->path[(size_t)d * x->n + t];

		if (path[d] == before)
			continue;
		relieve_token(x, heard(x, d, t), d, t);
		load_token(x, heard(x, d, t), d, t, path[d]);
		path[d] = before;
	}
}

/* Other ways for the tokens of a phase, over which fewer links are shared in it; false: none were found, and all is as before. */
static bool reroute(struct table *x, uint32_t t)
{
	struct reroute *r = &x->reroute;
	uint32_t before = x->price, least;

	if (x->problem->npaths < 2 || r->is_done[t])
		return false;
	r->is_done[t] = true;
	begin_reroute(x, t);
	least = r->nwaiting;
	memcpy(r->best, r->path, x->p);
	for (uint32_t step = 0; r->nwaiting && step < REROUTE_STEPS; step++) {
		place_waiting(x, t);
		if (r->nwaiting >= least)
			continue;
		least = r->nwaiting;
		memcpy(r->best, r->path, x->p);
	}
	take_paths(x, t, r->best);
	if (x->price > before)
		take_paths(x, t, r->best);
	return x->price < before;
}

/* ---- exchanges ---- */

/* Links of one receiver's exchange. */
static void exchange_links(struct table *x, uint32_t d, uint32_t t, uint32_t u)
{
	uint32_t a = heard(x, d, t), b = heard(x, d, u);

	relieve_token(x, a, d, t);
	relieve_token(x, b, d, u);
	load_token(x, b, d, t, ANY_PATH);
	load_token(x, a, d, u, ANY_PATH);
}

/* Back again, over the paths of before. */
static void restore_links(struct table *x, uint32_t d, uint32_t t, uint32_t u, uint8_t path_t, uint8_t path_u)
{
	uint32_t a = heard(x, d, t), b = heard(x, d, u);

	relieve_token(x, b, d, t);
	relieve_token(x, a, d, u);
	load_token(x, a, d, t, path_t);
	load_token(x, b, d, u, path_u);
}

/* What a circle would cost. */
static int32_t price_of(struct table *x, const struct circle *c)
{
	uint32_t before = x->price;
	uint8_t path_t[3], path_u[3];
	int32_t price;

	for (uint32_t i = 0; i < c->n; i++) {
		path_t[i] = x->path[(size_t)c->d[i] * x->n + c->t];
		path_u[i] = x->path[(size_t)c->d[i] * x->n + c->u];
		exchange_links(x, c->d[i], c->t, c->u);
	}
	price = (int32_t)x->price - (int32_t)before;
	for (uint32_t i = c->n; i-- > 0;)
		restore_links(x, c->d[i], c->t, c->u, path_t[i], path_u[i]);
	return price;
}

static void apply(struct table *x, const struct circle *c)
{
	uint32_t from_t[3], from_u[3];

	x->reroute.is_done[c->t] = x->reroute.is_done[c->u] = false;
	for (uint32_t i = 0; i < c->n; i++) {
		exchange_links(x, c->d[i], c->t, c->u);
		from_t[i] = heard(x, c->d[i], c->t);
		from_u[i] = heard(x, c->d[i], c->u);
		stand_up(x, c->d[i], c->t);
		stand_up(x, c->d[i], c->u);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t d = c->d[i];

		sit(x, d, c->t, from_u[i], free_seat(x, from_u[i], c->t));
		sit(x, d, c->u, from_t[i], free_seat(x, from_t[i], c->u));
		x->tabu[(size_t)d * x->n + c->t] = x->tabu[(size_t)d * x->n + c->u] =
			x->step + TABU_LEAST + fors_random_below(&x->random, TABU_SPREAD);
	}
}

static bool is_tabu(const struct table *x, uint32_t d, uint32_t t)
{
	return x->tabu[(size_t)d * x->n + t] > x->step;
}

/* Keep the circle if it is cheaper than the best; of equal ones the first. */
static void consider(struct table *x, struct circle *c, struct circle *best, uint32_t *left)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (is_tabu(x, c->d[i], c->t) && is_tabu(x, c->d[i], c->u))
			return;
	c->price = price_of(x, c);
	--*left;
	if (c->price < best->price)
		*best = *c;
}

/* Has a switch a seat left in a phase? */
static bool has_seat(const struct table *x, uint32_t s, uint32_t t)
{
	return s == NOBODY || free_seat(x, s, t) < x->problem->senders[s];
}

/* The same for circles of three: e goes back to t, and f with what e heard there. */
static void look_at_third(struct table *x, struct circle *two, uint32_t b, uint32_t c, struct circle *best,
			  uint32_t *left)
{
	for (uint32_t k = 0; *left && k < x->problem->senders[c]; k++) {
		uint32_t f = seats(x, c, two->u)[k];

		x->work += LOOK_WORK;
		if (f == NOBODY || heard(x, f, two->t) != b)
			continue;
		two->d[2] = f;
		two->n = 3;
		consider(x, two, best, left);
	}
}

/* Circles in which d's token of phase t goes to u. */
static void look_at_phase(struct table *x, uint32_t d, uint32_t t, uint32_t u, struct circle *best, uint32_t *left)
{
	uint32_t a = heard(x, d, t), b = heard(x, d, u);
	bool has_b = has_seat(x, b, t);

	if (has_b && has_seat(x, a, u))
		consider(x, &(struct circle){{d}, 1, t, u, 0}, best, left);
	for (uint32_t i = 0; *left && i < x->problem->senders[a]; i++) {
		uint32_t e = seats(x, a, u)[i], c;
		struct circle two = {{d, e}, 2, t, u, 0};

		if (e == NOBODY)
			continue;
		c = heard(x, e, t);
		if (c == b || (has_b && c != a && has_seat(x, c, u)))
			consider(x, &two, best, left);
		else if (c != a && c != NOBODY)
			look_at_third(x, &two, b, c, best, left);
	}
}

/* Does what a receiver hears in a phase share a link? */
static bool is_shared(struct table *x, uint32_t d, uint32_t t)
{
	uint32_t s = heard(x, d, t), link[FORS_FLOWS_MOST_LINKS], n;

	n = s == NOBODY ? 0 : links_of(x, s, d, x->path[(size_t)d * x->n + t], link);
	x->work += n;
	for (uint32_t i = 0; i < n; i++)
		if (x->load[(size_t)link[i] * x->n + t] > 1)
			return true;
	return false;
}

/* A token on a link that is shared: its receiver, and its phase in *t. There is one. */
static uint32_t pick(struct table *x, uint32_t *t)
{
	uint32_t d;

	*t = fors_random_below(&x->random, x->n);
	while (!x->extra[*t])
		*t = *t + 1 < x->n ? *t + 1 : 0;
	d = fors_random_below(&x->random, x->p);
	while (!is_shared(x, d, *t))
		d = d + 1 < x->p ? d + 1 : 0;
	return d;
}

/* How much is in the way of d's exchange with each phase; UINT32_MAX: it would be none. */
static void rank_phases(struct table *x, uint32_t d, uint32_t t)
{
	uint32_t a = heard(x, d, t), own[FORS_FLOWS_MOST_LINKS],
		 nown = links_of(x, a, d, x->path[(size_t)d * x->n + t], own);

	for (uint32_t u = 0; u < x->n; u++) {
		uint32_t b = heard(x, d, u), other[FORS_FLOWS_MOST_LINKS], n, here, there;

		x->rank[u] = UINT32_MAX;
		if (b == a)
			continue;
		n = b == NOBODY ? 0 : links_of(x, b, d, x->path[(size_t)d * x->n + u], other);
		best_path(x, a, d, u, other, n, &there);
		best_path(x, b, d, t, own, nown, &here);
		x->rank[u] = (here + there) << 16 | fors_random_next(&x->random) >> 48;
	}
}

/* The phase of least rank, which then has none. */
static uint32_t next_phase(struct table *x)
{
	uint32_t best = 0;

	for (uint32_t u = 1; u < x->n; u++)
		if (x->rank[u] < x->rank[best])
			best = u;
	if (x->rank[best] == UINT32_MAX)
		return x->n;
	x->rank[best] = UINT32_MAX;
	x->work += x->n / 8;
	return best;
}

static void take_step(struct table *x)
{
	uint32_t t, d = pick(x, &t), left = MOST_CIRCLES, u;
	struct circle best = {.price = INT32_MAX};

	x->step++;
	if (reroute(x, t))
		return;
	rank_phases(x, d, t);
	while (left && (u = next_phase(x)) < x->n)
		look_at_phase(x, d, t, u, &best, &left);
	if (best.n)
		apply(x, &best);
}

/* Does the price fall too slowly to be 0 when the work is spent? */
static bool is_slow(const struct table *x, uint32_t first, uint64_t budget)
{
	return x->work > budget / SOON && x->work < budget && x->price * budget > first * (budget - x->work);
}

static enum fors_err run(struct table *x, uint64_t budget, const struct fors_flows_asked *asked,
			 struct fors_error *error)
{
	uint32_t first = x->price, least = first, since = 0;

	for (uint32_t t = 0; t < x->n; t++)
		reroute(x, t);
	while (x->price && x->work < budget && x->step - since < VAIN) {
		if (x->price < least) {
			least = x->price;
			since = x->step;
		}
		if (x->step % ASK_EVERY == 0 && asked->cancelled && asked->cancelled(asked->context))
			return fors_fail(error, FORS_ECANCELLED, "flows: planning was cancelled");
		if (is_slow(x, first, budget))
			break;
		take_step(x);
	}
	return FORS_OK;
}

/* ---- in and out ---- */

static bool allocate(struct table *x)
{
	size_t cells = (size_t)x->p * x->n, loads = (size_t)x->problem->nlinks * x->n, nseats = 0;

	x->seat_row = malloc((x->problem->nswitches + (size_t)1) * sizeof(*x->seat_row));
	x->heard = malloc(cells * sizeof(*x->heard));
	x->seat = malloc(cells * sizeof(*x->seat));
	x->place = malloc(cells * sizeof(*x->place));
	x->path = malloc(cells * sizeof(*x->path));
	x->load = calloc(loads + 1, sizeof(*x->load));
	x->extra = calloc(x->n, sizeof(*x->extra));
	x->rank = malloc(x->n * sizeof(*x->rank));
	x->tabu = calloc(cells, sizeof(*x->tabu));
	x->reroute.is_done = calloc(x->n, sizeof(*x->reroute.is_done));
	x->reroute.holder = malloc((x->problem->nlinks + (size_t)1) * sizeof(*x->reroute.holder));
	x->reroute.waiting = malloc(x->p * sizeof(*x->reroute.waiting));
	x->reroute.fails = malloc(x->p * sizeof(*x->reroute.fails));
	x->reroute.path = malloc(x->p);
	x->reroute.best = malloc(x->p);
	if (!x->seat_row || !x->heard || !x->seat || !x->place || !x->path || !x->load || !x->extra || !x->rank ||
	    !x->tabu || !x->reroute.is_done || !x->reroute.holder || !x->reroute.waiting || !x->reroute.fails ||
	    !x->reroute.path || !x->reroute.best)
		return false;
	memset(x->path, 0xFF, cells * sizeof(*x->path));
	memset(x->heard, 0xFF, cells * sizeof(*x->heard));
	memset(x->seat, 0xFF, cells * sizeof(*x->seat));
	for (uint32_t s = 0; s < x->problem->nswitches; nseats += (size_t)x->problem->senders[s++] * x->n)
		x->seat_row[s] = nseats;
	return true;
}

static enum fors_err write_packing(const struct table *x, struct fors_flows_packing **made, struct fors_error *error)
{
	enum fors_err err = fors_flows_packing_new(x->problem, x->n, made, error);

	if (err)
		return err;
	for (uint32_t d = 0; d < x->p; d++)
		for (uint32_t t = 0; t < x->n; t++)
			if (heard(x, d, t) != NOBODY)
				fors_flows_put(*made,
					       (heard(x, d, t) * x->p + d) * x->problem->npaths +
						       x->path[(size_t)d * x->n + t],
					       t);
	(*made)->nwaiting = 0;
	return FORS_OK;
}

static void release(struct table *x)
{
	free(x->seat_row);
	free(x->heard);
	free(x->seat);
	free(x->place);
	free(x->path);
	free(x->load);
	free(x->extra);
	free(x->rank);
	free(x->tabu);
	free(x->reroute.is_done);
	free(x->reroute.holder);
	free(x->reroute.waiting);
	free(x->reroute.fails);
	free(x->reroute.path);
	free(x->reroute.best);
}

bool fors_flows_swaps_may_be(const struct fors_flows_problem *problem, uint32_t nphases)
{
	return problem->npaths < ANY_PATH && !problem->links_of && !problem->capacity && problem->lump <= 1 &&
	       nphases >= problem->ndests && nphases < NOBODY && problem->nswitches > 1;
}

enum fors_err fors_flows_swaps(const struct fors_flows_packing *from, uint64_t budget,
			       const struct fors_flows_asked *asked, struct fors_flows_packing **made,
			       struct fors_error *error)
{
	struct table x = {.problem = from->problem, .p = from->problem->ndests, .n = from->nphases};
	enum fors_err err = allocate(&x) ? FORS_OK : fors_fail_memory(error);

	*made = NULL;
	if (!err) {
		begin(&x, from);
		err = run(&x, budget, asked, error);
	}
	if (!err && !x.price)
		err = write_packing(&x, made, error);
	release(&x);
	return err;
}

bool fors_flows_swaps_worth(const struct fors_flows_problem *problem)
{
	return (uint64_t)problem->ndests * problem->ndests <= FORS_FLOWS_SWAPS_WORK / LEAST_PER_FLOW;
}

bool fors_flows_swaps_fit(const struct fors_flows_problem *problem, uint32_t nphases)
{
	return 3 * fors_flows_packing_bytes(problem, nphases) + fors_flows_swaps_bytes(problem, nphases) <=
	       fors_flows_pack_bytes(problem, nphases);
}

uint64_t fors_flows_swaps_bytes(const struct fors_flows_problem *problem, uint32_t nphases)
{
	const struct table *x = NULL;
	const struct reroute *r = NULL;
	uint64_t row = problem->ndests * (sizeof(*x->heard) + sizeof(*x->seat) + sizeof(*x->place) + sizeof(*x->path) +
					  sizeof(*x->tabu)) +
		       problem->nlinks * sizeof(*x->load) + sizeof(*x->extra) + sizeof(*x->rank) + sizeof(*r->is_done);
	uint64_t phase = problem->nlinks * sizeof(*r->holder) +
			 problem->ndests * (sizeof(*r->waiting) + sizeof(*r->fails) + 2 * sizeof(*r->path));

	return row * nphases + phase + problem->nswitches * sizeof(*x->seat_row);
}
