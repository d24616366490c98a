/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cohorts.c - the closed form of regular three-level trees, and its repair.
 *
 * Call (x,y') with block C an item: all units to servers x of leaves y' from C - beta[x] pods before. Two items meet in a round if and only if
 * tau^-y'(C) is the same for both: that number is their *cohort*, and what two items of one cohort do in one round they do in all. A cohort has one
 * item (x,y') for each x and y'. So there are npods small problems instead of npods * m2 rounds, each of them a board of planes and rungs.
 *
 * At home item (x,y') has the rung of its servers. Where C = beta[x] it stays inside its pod: its rung idles, in all pods at once.
 * That is the room for items whose rung is damaged in some pod: such an item takes a rung of its own plane that idles. If none does,
 * an item that stays inside, (x',y'), changes lanes with one of the plane that is wanted, (x",y'): x" then goes over the plane of x', on the
 * rung that idles there, and x', inside its pod, over that of x", whose rung idles now. (x" may be the displaced item itself.) Each item inside helps one
 * displaced item: a matching.
 *
 * Lanes: numbers y' of the same destination leaf only exchange lanes among themselves, so a leaf's lanes down still have one item each; and
 * from one source leaf all items of a round go to leaves of one number, so its lanes up do, too. Since C, and with it the exchange, depends
 * on the pods and the server, all leaves of a pod have the same entries: one LID is enough.
 */
#include "cohorts.h"

#include <stdlib.h>
#include <string.h>

void fors_cohorts_free(struct fors_cohorts *cohorts)
{
	if (!cohorts)
		return;
	free(cohorts->power);
	free(cohorts->beta);
	free(cohorts->cohort);
	free(cohorts->turn);
	free(cohorts->slot);
	free(cohorts->leaf);
	free(cohorts);
}

/* ---- tau and beta ---- */

/*
 * Blocks in cycles, the longest first, of lengths that divide m2; and each x where fewest items stay inside: one in a cycle of length n
 * stays inside m2 / n times in each cohort of the cycle.
 */
static void choose_cycles(struct fors_cohorts *c, uint32_t *begin, uint32_t *inside)
{
	uint32_t ncycles = 0, used = 0;

	while (used < c->npods) {
		uint32_t length = c->m2 < c->npods - used ? c->m2 : c->npods - used;

		while (c->m2 % length)
			length--;
		for (uint32_t i = 0; i < length; i++)
			for (uint32_t k = 0; k < c->m2; k++)
				c->power[k * c->npods + used + i] = (uint16_t)(used + (i + k) % length);
		begin[ncycles++] = used;
		used += length;
	}
	begin[ncycles] = used;
	for (uint32_t x = 0; x < c->m1; x++) {
		uint32_t best = 0, length, turn;

		for (uint32_t i = 1; i < ncycles; i++)
			best = inside[i] < inside[best] ? i : best;
		length = begin[best + 1] - begin[best];
		turn = inside[best] / (c->m2 / length);
		c->beta[x] = (uint16_t)(begin[best] + turn % length);
		inside[best] += c->m2 / length;
	}
}

static uint32_t power(const struct fors_cohorts *c, uint32_t exponent, uint32_t block)
{
	return c->power[exponent % c->m2 * c->npods + block];
}

/* Cohort and turn of every item, by the closed form. */
static void find_places(struct fors_cohorts *c)
{
	const struct fors_pods *pods = c->lanes->pods;

	for (uint32_t p = 0; p < c->npods; p++)
		for (uint32_t s = 0; s < pods->nslots; s++) {
			const struct fors_pods_switch *to = &pods->leaf[pods->slot[s].leaf];
			uint32_t block = (to->pod + c->npods - p + c->beta[pods->slot[s].rank]) % c->npods;

			c->cohort[(size_t)p * pods->nslots + s] = (uint16_t)power(c, c->m2 - to->number, block);
			c->turn[(size_t)p * pods->nslots + s] = (uint8_t)to->number;
		}
}

enum fors_err fors_cohorts_new(const struct fors_lanes3 *lanes, struct fors_cohorts **cohorts, struct fors_error *error)
{
	const struct fors_pods *pods = lanes->pods;
	struct fors_cohorts *c = calloc(1, sizeof(*c));
	uint32_t *begin = calloc(pods->npods + (size_t)2, sizeof(*begin));
	uint32_t *inside = calloc(pods->npods + (size_t)2, sizeof(*inside));

	if (c) {
		*c = (struct fors_cohorts){.lanes = lanes, .m1 = lanes->m1, .m2 = lanes->m2, .npods = pods->npods};
		c->power = calloc((size_t)c->m2 * c->npods + 1, sizeof(*c->power));
		c->beta = calloc(c->m1 + (size_t)1, sizeof(*c->beta));
		c->cohort = calloc((size_t)c->npods * pods->nslots + 1, sizeof(*c->cohort));
		c->turn = calloc((size_t)c->npods * pods->nslots + 1, sizeof(*c->turn));
		c->slot = calloc(pods->nleaves + (size_t)1, sizeof(*c->slot));
		c->leaf = calloc(pods->nleaves + (size_t)1, sizeof(*c->leaf));
	}
	if (!c || !begin || !inside || !c->power || !c->beta || !c->slot || !c->leaf || !c->cohort || !c->turn) {
		fors_cohorts_free(c);
		free(begin);
		free(inside);
		return fors_fail_memory(error);
	}
	choose_cycles(c, begin, inside);
	find_places(c);
	for (uint32_t a = 0; a < pods->nleaves; a++) {
		c->slot[pods->leaf[a].pod * c->m2 + pods->leaf[a].number] = pods->leaf[a].first;
		c->leaf[pods->leaf[a].pod * c->m2 + pods->leaf[a].number] = a;
	}
	free(begin);
	free(inside);
	*cohorts = c;
	return FORS_OK;
}

/* ---- repair ---- */

struct repair {
	const struct fors_cohorts *c;
	struct fors_ways3 *ways;
	bool *is_damaged; /* [plane * nrungs + rung]: dead in a pod whose mid lives */
	bool *is_used;	  /* [y * m1 + x]: it has given its rung away */
	uint32_t *helps;  /* [x * m2 + y]: of an item inside, the displaced one that it helps, FORS_NONE */
	bool *is_seen;	  /* the same shape: while paths are looked for */
	bool *is_done;	  /* the displaced ones that have a helper */
	uint32_t cohort;
};

/* Planes of a cohort's board. */
static uint32_t plane_of(const struct repair *r, uint32_t x)
{
	return fors_lanes3_plane(r->c->lanes, x);
}

static uint32_t rung_of(const struct repair *r, uint32_t x, uint32_t y)
{
	return r->c->lanes->home_rung[r->c->slot[y] + x];
}

static bool is_damaged(const struct repair *r, uint32_t x, uint32_t y)
{
	return r->is_damaged[plane_of(r, x) * r->c->lanes->nrungs + rung_of(r, x, y)];
}

static bool stays_inside(const struct repair *r, uint32_t x, uint32_t y)
{
	return power(r->c, y, r->cohort) == r->c->beta[x];
}

/* How many pods further the item's units go. */
static uint32_t distance(const struct repair *r, uint32_t x, uint32_t y)
{
	return (power(r->c, y, r->cohort) + r->c->npods - r->c->beta[x]) % r->c->npods;
}

static void find_damage(struct repair *r)
{
	const struct fors_lanes3 *l = r->c->lanes;

	for (uint32_t m = 0; m < l->pods->nmids; m++) {
		const struct fors_pods_switch *mid = &l->pods->mid[m];

		for (uint32_t i = 0; mid->now != FORS_NONE && mid->pod != FORS_NONE && i < l->rungs[mid->plane]; i++)
			if (!fors_lanes3_rung_live(l, m, i))
				r->is_damaged[mid->plane * l->nrungs + i] = true;
	}
}

/* Lane `lane` for what leaves of pod p send to slot `slot`, if it lives and its mid knows a way; else nothing yet. */
static void set_lane(const struct repair *r, uint32_t pod, uint32_t slot, uint32_t lane)
{
	const struct fors_lanes3 *l = r->c->lanes;

	for (uint32_t y = 0; y < r->c->m2; y++) {
		uint32_t leaf = r->c->leaf[pod * r->c->m2 + y];
		uint8_t port;

		if (leaf == l->pods->slot[slot].leaf)
			continue;
		port = l->leaf_port[(size_t)leaf * l->nlanes + lane];
		r->ways->leaf[(size_t)leaf * r->ways->ncolumns + slot] =
			fors_lanes3_live(l, leaf, lane) && fors_ways3_arrives(r->ways, leaf, port, slot) ? port : 0;
	}
}

/* A rung for what the mid of a plane in pod p sends to `slot`, if top and cable are good for it; else nothing yet. */
static void set_rung(const struct repair *r, uint32_t pod, uint32_t plane, uint32_t slot, uint32_t rung)
{
	const struct fors_lanes3 *l = r->c->lanes;
	uint32_t mid = fors_pods_mid(l->pods, pod, plane), top = l->rung_top[plane * l->nrungs + rung];

	if (mid == FORS_NONE)
		return;
	r->ways->mid[(size_t)mid * r->ways->ncolumns + slot] =
		fors_lanes3_rung_live(l, mid, rung) && fors_ways3_gets_down(r->ways, top, slot)
			? l->mid_port[(size_t)mid * l->nrungs + rung]
			: 0;
}

/* The items (x,y), inside, and (z,y) change lanes. */
static void exchange(const struct repair *r, uint32_t x, uint32_t z, uint32_t y)
{
	const struct fors_cohorts *c = r->c;

	for (uint32_t p = 0; p < c->npods; p++) {
		uint32_t q = (p + distance(r, z, y)) % c->npods, to = c->slot[q * c->m2 + y] + z;

		set_lane(r, p, c->slot[p * c->m2 + y] + x, z);
		set_rung(r, p, plane_of(r, x), to, rung_of(r, x, y));
		set_lane(r, p, to, x);
	}
}

/* Item (x,y) takes another rung of its plane wherever its own is dead. */
static void displace(const struct repair *r, uint32_t x, uint32_t y, uint32_t rung)
{
	const struct fors_cohorts *c = r->c;

	for (uint32_t p = 0; p < c->npods; p++) {
		uint32_t q = (p + distance(r, x, y)) % c->npods, to = c->slot[q * c->m2 + y] + x,
			 mid = fors_pods_mid(c->lanes->pods, p, plane_of(r, x)), leaf;

		if (mid == FORS_NONE || r->ways->mid[(size_t)mid * r->ways->ncolumns + to])
			continue;
		set_rung(r, p, plane_of(r, x), to, rung);
		for (uint32_t i = 0; i < c->m2; i++) {
			leaf = c->leaf[p * c->m2 + i];
			if (r->ways->mid[(size_t)mid * r->ways->ncolumns + to] && fors_lanes3_live(c->lanes, leaf, x))
				r->ways->leaf[(size_t)leaf * r->ways->ncolumns + to] =
					c->lanes->leaf_port[(size_t)leaf * c->lanes->nlanes + x];
		}
	}
}

/* ---- who helps whom ---- */

/* A server of the plane, at number y, that may give its rung away to another item of its plane; m1: none. */
static uint32_t find_partner(const struct repair *r, uint32_t plane, uint32_t y)
{
	uint32_t z = plane;

	while (z < r->c->m1 && (stays_inside(r, z, y) || r->is_used[y * r->c->m1 + z] || is_damaged(r, z, y)))
		z += r->c->lanes->pods->nplanes;
	return z < r->c->m1 ? z : r->c->m1;
}

/* How an item inside helps a displaced one; the cheapest first. */
enum help { SAME_PLANE, SAME_NUMBER, BY_PARTNER, NO_HELP };

static enum help help_of(const struct repair *r, uint32_t displaced, uint32_t inside)
{
	uint32_t x = displaced / r->c->m2, y = displaced % r->c->m2, z = inside / r->c->m2, at = inside % r->c->m2;

	if (!stays_inside(r, z, at) || is_damaged(r, z, at))
		return NO_HELP;
	if (plane_of(r, x) == plane_of(r, z))
		return SAME_PLANE;
	if (y == at)
		return SAME_NUMBER;
	return find_partner(r, plane_of(r, x), at) < r->c->m1 ? BY_PARTNER : NO_HELP;
}

/* A helper for a displaced item, others passed on if need be (Kuhn's augmenting paths); `most`: of these kinds. */
static bool match(struct repair *r, uint32_t displaced, enum help most)
{
	for (uint32_t i = 0; i < r->c->m1 * r->c->m2; i++) {
		if (r->is_seen[i] || help_of(r, displaced, i) > most)
			continue;
		r->is_seen[i] = true;
		if (r->helps[i] != FORS_NONE && !match(r, r->helps[i], most))
			continue;
		r->helps[i] = displaced;
		return true;
	}
	return false;
}

static void match_all(struct repair *r)
{
	uint32_t nitems = r->c->m1 * r->c->m2;

	for (uint32_t i = 0; i < nitems; i++)
		r->helps[i] = FORS_NONE;
	memset(r->is_done, 0, nitems * sizeof(*r->is_done));
	for (enum help most = SAME_PLANE; most < NO_HELP; most++)
		for (uint32_t i = 0; i < nitems; i++) {
			uint32_t x = i / r->c->m2, y = i % r->c->m2;

			if (r->is_done[i] || !is_damaged(r, x, y) || stays_inside(r, x, y))
				continue;
			memset(r->is_seen, 0, nitems * sizeof(*r->is_seen));
			r->is_done[i] = match(r, i, most);
		}
}

static void help(struct repair *r, uint32_t displaced, uint32_t inside)
{
	uint32_t x = displaced / r->c->m2, y = displaced % r->c->m2, z = inside / r->c->m2, at = inside % r->c->m2,
		 partner;

	if (plane_of(r, x) == plane_of(r, z)) {
		displace(r, x, y, rung_of(r, z, at));
	} else if (y == at) {
		exchange(r, z, x, y);
	} else {
		partner = find_partner(r, plane_of(r, x), at);
		if (partner == r->c->m1)
			return; /* another displaced item was faster */
		exchange(r, z, partner, at);
		r->is_used[at * r->c->m1 + partner] = true;
		displace(r, x, y, rung_of(r, partner, at));
	}
}

static void repair_cohort(struct repair *r)
{
	const struct fors_cohorts *c = r->c;

	memset(r->is_used, 0, (size_t)c->m1 * c->m2 * sizeof(*r->is_used));
	match_all(r);
	for (uint32_t i = 0; i < c->m1 * c->m2; i++)
		if (r->helps[i] != FORS_NONE)
			help(r, r->helps[i], i);
}

enum fors_err fors_cohorts_repair(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, struct fors_error *error)
{
	struct repair r = {.c = cohorts, .ways = ways};
	enum fors_err err = FORS_OK;

	r.is_damaged =
		calloc((size_t)cohorts->lanes->pods->nplanes * cohorts->lanes->nrungs + 1, sizeof(*r.is_damaged));
	r.is_used = calloc((size_t)cohorts->m1 * cohorts->m2 + 1, sizeof(*r.is_used));
	r.helps = malloc(((size_t)cohorts->m1 * cohorts->m2 + 1) * sizeof(*r.helps));
	r.is_seen = calloc((size_t)cohorts->m1 * cohorts->m2 + 1, sizeof(*r.is_seen));
	r.is_done = calloc((size_t)cohorts->m1 * cohorts->m2 + 1, sizeof(*r.is_done));
	if (!r.is_damaged || !r.is_used || !r.helps || !r.is_seen || !r.is_done)
		err = fors_fail_memory(error);
	else
		find_damage(&r);
	for (r.cohort = 0; !err && r.cohort < cohorts->npods; r.cohort++)
		repair_cohort(&r);
	free(r.is_damaged);
	free(r.is_used);
	free(r.helps);
	free(r.is_seen);
	free(r.is_done);
	return err;
}
