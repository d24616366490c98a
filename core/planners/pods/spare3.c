/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spare3.c - other lanes and rungs for units that lost their way, in the rounds that they have.
 *
 * Where leaves have more lanes than servers, or the bound asks for no more rounds than there are at home, a dead cable or mid
 * costs no phase: a unit keeps the round that the closed form gives it, and takes another lane there. What has to be chosen with
 * the lane is the rung: a mid has one entry for a server and all leaves of its pod. So has a top that planes share, or that has
 * several cables to a mid: its port down is chosen with the first unit that comes by. So the units from a pod to a server that have no
 * way are looked at together first, and the place is taken where most of them are alone in their rounds, lanes that are nobody's home
 * first. What is left may take a place where one other unit is in the way, if that finds another one in the same round, and so on,
 * a few units deep. A search that knew the rounds, but not rungs and ports, ended a round or two too late.
 */
#include "spare3.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OWNERS (UINT64_C(1) << 24) /* links times rounds: 64 MiB */
#define DEPTH 5				/* units that make room for one another */
#define LEAST_PART 4			/* one in so many is worth it, where not all find room */
#define NOBODY UINT32_MAX		/* in the way */
#define SEVERAL (UINT32_MAX - 1)

struct work {
	const struct fors_cohorts *c;
	const struct fors_lanes3 *l;
	const struct fors_pods *pods;
	struct fors_ways3 *ways;
	uint32_t *owner; /* [link * nrounds + round]: the unit, leaf * nslots + slot, and 1; 0: nobody */
	/* [mid * nslots + slot]: units that go up by the mid's entry; behind them [top * nslots + slot]: down by the top's */
	uint16_t *nusers;
	/* [top * npods + pod]: where the top's ports to the pod begin in port[]; NULL: tops have no choice */
	uint32_t *first;
	uint8_t *port;
	uint32_t nports;		 /* of a top to a pod, the most */
	uint32_t held[DEPTH + 1], nheld; /* units that have just got their place */
	uint64_t steps;			 /* left */
};

/* The units from a pod to a server that have no way. */
struct group {
	uint32_t pod, slot;
	uint32_t leaf[UINT8_MAX + 1], n;
};

/* Where somebody could go. */
struct place {
	uint32_t lane, mid, top;
	uint8_t up, down; /* ports of the mid and the top; 0: the entry stays as it is */
	uint32_t nfit;	  /* of a group */
};

/* A number that counts through the places of a unit. */
struct turn {
	uint32_t lane, rung, port;
};

static uint8_t *leaf_entry(const struct work *w, uint32_t leaf, uint32_t slot)
{
	return &w->ways->leaf[(size_t)leaf * w->ways->ncolumns + slot];
}

static uint8_t *mid_entry(const struct work *w, uint32_t mid, uint32_t slot)
{
	return &w->ways->mid[(size_t)mid * w->ways->ncolumns + slot];
}

static uint8_t *top_entry(const struct work *w, uint32_t top, uint32_t slot)
{
	return &w->ways->top[(size_t)top * w->ways->ncolumns + slot];
}

static uint16_t *mid_users(const struct work *w, uint32_t mid, uint32_t slot)
{
	return &w->nusers[(size_t)mid * w->pods->nslots + slot];
}

static uint16_t *top_users(const struct work *w, uint32_t top, uint32_t slot)
{
	return mid_users(w, w->pods->nmids + top, slot);
}

static uint32_t pod_of(const struct work *w, uint32_t slot)
{
	return w->pods->leaf[w->pods->slot[slot].leaf].pod;
}

/* A leaf's port on a lane that lives, 0: none. */
static uint8_t port_of(const struct work *w, uint32_t leaf, uint32_t lane)
{
	return fors_lanes3_live(w->l, leaf, lane) ? w->l->leaf_port[(size_t)leaf * w->l->nlanes + lane] : 0;
}

/* ---- links and rounds ---- */

/* Who is in the way of a unit that takes this port, by the entries above as they are; SEVERAL: it does not arrive, too. */
static uint32_t who_is_there(const struct work *w, uint32_t leaf, uint32_t slot, uint8_t port)
{
	uint32_t link[4], n = fors_ways3_links(w->ways, w->pods->leaf[leaf].node, port, slot, link);
	uint32_t round = fors_cohorts_round(w->c, leaf, slot), who = NOBODY;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t owner = w->owner[(size_t)link[i] * w->c->nrounds + round];

		if (owner && who != NOBODY && who != owner - 1)
			return SEVERAL;
		who = owner ? owner - 1 : who;
	}
	return n ? who : SEVERAL;
}

/* The switch above a port of a leaf or mid, by its number on its level. */
static uint32_t above(const struct work *w, uint32_t node, uint8_t port)
{
	return w->pods->number[fors_pods_peer(w->pods, node, port)];
}

/* Links and entries above of a unit that has a way get an owner and a user, or (is_in: false) lose them. */
static void set_owner(struct work *w, uint32_t leaf, uint32_t slot, bool is_in)
{
	uint8_t port = *leaf_entry(w, leaf, slot);
	uint32_t node = w->pods->leaf[leaf].node, mid = above(w, node, port);
	uint32_t link[4], n = fors_ways3_links(w->ways, node, port, slot, link);
	uint32_t round = fors_cohorts_round(w->c, leaf, slot);

	for (uint32_t i = 0; round != FORS_COHORTS_NONE && i < n; i++)
		w->owner[(size_t)link[i] * w->c->nrounds + round] = is_in ? leaf * w->pods->nslots + slot + 1 : 0;
	if (w->pods->leaf[leaf].pod == pod_of(w, slot))
		return;
	*mid_users(w, mid, slot) += is_in ? 1 : -1;
	*top_users(w, above(w, w->pods->mid[mid].node, *mid_entry(w, mid, slot)), slot) += is_in ? 1 : -1;
}

/* Does a server come down to its leaf over its home lane? */
static bool is_lane_live(const struct work *w, uint32_t slot)
{
	return fors_lanes3_live(w->l, w->pods->slot[slot].leaf, w->l->home_lane[slot]);
}

/*
 * All that has a way, those first that are at home all the way. Others may come down over a cable that is somebody's home: where
 * that is taken in their round they have no way, either.
 */
static void set_owners(struct work *w)
{
	for (unsigned at_home = 2; at_home-- > 0;)
		for (uint32_t s = 0; s < w->pods->nslots; s++)
			for (uint32_t a = 0; is_lane_live(w, s) == at_home && a < w->pods->nleaves; a++) {
				uint8_t *entry = leaf_entry(w, a, s);

				if (w->pods->slot[s].leaf == a || !*entry)
					continue;
				if (fors_cohorts_round(w->c, a, s) == FORS_COHORTS_NONE ||
				    who_is_there(w, a, s, *entry) == NOBODY)
					set_owner(w, a, s, true);
				else
					*entry = 0;
			}
}

/* ---- places ---- */

/* The place of a turn for a unit that goes up to a top; false: it is none. */
static bool is_place_over_top(const struct work *w, uint32_t slot, const struct turn *turn, struct place *place)
{
	const struct fors_lanes3 *l = w->l;
	uint32_t plane = fors_lanes3_plane(l, place->lane), rung, at;

	rung = (fors_lanes3_rung(l, plane, slot, 0) + turn->rung) % l->rungs[plane];
	if (!fors_lanes3_rung_live(l, place->mid, rung))
		return false;
	place->up = l->mid_port[(size_t)place->mid * l->nrungs + rung];
	place->top = l->rung_top[(size_t)plane * l->nrungs + rung];
	if (!turn->port)
		return fors_ways3_gets_down(w->ways, place->top, slot);
	if (!w->first || *top_users(w, place->top, slot))
		return false;
	at = place->top * w->pods->npods + pod_of(w, slot);
	if (w->first[at] + turn->port > w->first[at + 1])
		return false;
	place->down = w->port[w->first[at] + turn->port - 1];
	return fors_pods_live(w->pods, w->pods->top[place->top].node, place->down);
}

/* The place of a turn; false: it is none. */
static bool is_place(const struct work *w, uint32_t pod, uint32_t slot, const struct turn *turn, struct place *place)
{
	uint32_t lane = (w->l->m1 + turn->lane) % w->l->nlanes, plane = fors_lanes3_plane(w->l, lane),
		 mid = fors_pods_mid(w->pods, pod, plane);

	*place = (struct place){.lane = lane, .mid = mid};
	if (mid == FORS_NONE)
		return false;
	if (pod == pod_of(w, slot) || *mid_users(w, mid, slot))
		return !turn->rung && !turn->port;
	return turn->rung < w->l->rungs[plane] && is_place_over_top(w, slot, turn, place);
}

/* The next place of a unit from a pod to a slot, from lanes that are nobody's home and the server's home rung on; false: there is none. */
static bool next_place(const struct work *w, uint32_t pod, uint32_t slot, struct turn *turn, struct place *place)
{
	bool is_one = false;

	while (!is_one && turn->lane < w->l->nlanes) {
		is_one = is_place(w, pod, slot, turn, place);
		if (++turn->port <= (w->first ? w->nports : 0))
			continue;
		turn->port = 0;
		if (++turn->rung < w->l->nrungs)
			continue;
		turn->rung = 0;
		turn->lane++;
	}
	return is_one;
}

/* The entries above as the place wants them; *before: what they were, in a place, too. */
static void set_above(const struct work *w, const struct place *place, uint32_t slot, struct place *before)
{
	*before = *place;
	if (place->up) {
		before->up = *mid_entry(w, place->mid, slot);
		*mid_entry(w, place->mid, slot) = place->up;
	}
	if (place->down) {
		before->down = *top_entry(w, place->top, slot);
		*top_entry(w, place->top, slot) = place->down;
	}
}

static void restore_above(const struct work *w, const struct place *place, uint32_t slot, const struct place *before)
{
	if (place->up)
		*mid_entry(w, place->mid, slot) = before->up;
	if (place->down)
		*top_entry(w, place->top, slot) = before->down;
}

/* Who is in the way of a unit at a place. */
static uint32_t look_at(struct work *w, uint32_t leaf, uint32_t slot, const struct place *place)
{
	uint8_t port = port_of(w, leaf, place->lane);
	struct place before;
	uint32_t who;

	if (!port)
		return SEVERAL;
	w->steps -= w->steps > 0;
	set_above(w, place, slot, &before);
	who = who_is_there(w, leaf, slot, port);
	restore_above(w, place, slot, &before);
	return who;
}

/* A unit there; *before: as set_above() says. */
static void put(struct work *w, uint32_t leaf, uint32_t slot, const struct place *place, struct place *before)
{
	set_above(w, place, slot, before);
	*leaf_entry(w, leaf, slot) = port_of(w, leaf, place->lane);
	set_owner(w, leaf, slot, true);
}

static void take_out(struct work *w, uint32_t leaf, uint32_t slot)
{
	set_owner(w, leaf, slot, false);
	*leaf_entry(w, leaf, slot) = 0;
}

/* ---- groups ---- */

static void find_group(const struct work *w, struct group *g)
{
	g->n = 0;
	for (uint32_t y = 0; y < w->c->m2; y++) {
		uint32_t a = w->c->leaf[g->pod * w->c->m2 + y];

		if (a != w->pods->slot[g->slot].leaf && !*leaf_entry(w, a, g->slot) &&
		    fors_cohorts_round(w->c, a, g->slot) != FORS_COHORTS_NONE)
			g->leaf[g->n++] = a;
	}
}

/* The place where most of a group would be alone. */
static struct place find_place(struct work *w, const struct group *g)
{
	struct place best = {.nfit = 0}, place;
	struct turn turn = {0};

	while (best.nfit < g->n && next_place(w, g->pod, g->slot, &turn, &place)) {
		for (uint32_t i = 0; i < g->n; i++)
			place.nfit += look_at(w, g->leaf[i], g->slot, &place) == NOBODY;
		if (place.nfit > best.nfit)
			best = place;
	}
	return best;
}

/* Place by place, as long as anybody finds room. */
static void place_group(struct work *w, struct group *g)
{
	for (find_group(w, g); g->n && w->steps; find_group(w, g)) {
		struct place place = find_place(w, g), before;

		if (!place.nfit)
			return;
		for (uint32_t i = 0; i < g->n; i++)
			if (look_at(w, g->leaf[i], g->slot, &place) == NOBODY)
				put(w, g->leaf[i], g->slot, &place, &before);
	}
}

/* ---- one by one ---- */

static bool is_held(const struct work *w, uint32_t unit)
{
	for (uint32_t i = 0; i < w->nheld; i++)
		if (w->held[i] == unit)
			return true;
	return false;
}

static bool put_where_free(struct work *w, uint32_t leaf, uint32_t slot)
{
	struct place place, before;
	struct turn turn = {0};

	while (next_place(w, w->pods->leaf[leaf].pod, slot, &turn, &place))
		if (look_at(w, leaf, slot, &place) == NOBODY) {
			put(w, leaf, slot, &place, &before);
			return true;
		}
	return false;
}

static bool put_anywhere(struct work *w, uint32_t leaf, uint32_t slot, uint32_t depth);

/* At a place where one unit is in the way, which finds another one; false: all is as before. */
static bool put_instead(struct work *w, uint32_t leaf, uint32_t slot, const struct place *place, uint32_t who,
			uint32_t depth)
{
	uint32_t other = who / w->pods->nslots, its = who % w->pods->nslots;
	uint8_t port = *leaf_entry(w, other, its);
	struct place before;
	bool is_done;

	take_out(w, other, its);
	put(w, leaf, slot, place, &before);
	w->held[w->nheld++] = leaf * w->pods->nslots + slot;
	is_done = put_anywhere(w, other, its, depth - 1);
	w->nheld--;
	if (is_done)
		return true;
	take_out(w, leaf, slot);
	restore_above(w, place, slot, &before);
	*leaf_entry(w, other, its) = port;
	set_owner(w, other, its, true);
	return false;
}

/* A unit without a way, in its round; false: there is no room for it. */
static bool put_anywhere(struct work *w, uint32_t leaf, uint32_t slot, uint32_t depth)
{
	struct place place;
	struct turn turn = {0};

	if (put_where_free(w, leaf, slot))
		return true;
	while (depth && w->steps && next_place(w, w->pods->leaf[leaf].pod, slot, &turn, &place)) {
		uint32_t who = look_at(w, leaf, slot, &place);

		if (who < SEVERAL && !is_held(w, who) && put_instead(w, leaf, slot, &place, who, depth))
			return true;
	}
	return false;
}

/* ---- the whole ---- */

static bool is_lost(const struct work *w, uint32_t leaf, uint32_t slot)
{
	return w->pods->slot[slot].leaf != leaf && !*leaf_entry(w, leaf, slot);
}

static uint32_t count_lost(const struct work *w)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		for (uint32_t s = 0; s < w->pods->nslots; s++)
			n += is_lost(w, a, s);
	return n;
}

static void place_all(struct work *w)
{
	struct group g;

	set_owners(w);
	for (g.slot = 0; g.slot < w->pods->nslots; g.slot++)
		for (g.pod = 0; g.pod < w->pods->npods; g.pod++)
			place_group(w, &g);
	for (uint32_t depth = 1; depth <= DEPTH; depth++)
		for (uint32_t a = 0; a < w->pods->nleaves; a++)
			for (uint32_t s = 0; w->steps && s < w->pods->nslots; s++)
				if (is_lost(w, a, s) && fors_cohorts_round(w->c, a, s) != FORS_COHORTS_NONE)
					put_anywhere(w, a, s, depth);
}

/* Ports of tops by pods, where they have several; false: out of memory. */
static bool list_ports(struct work *w)
{
	const struct fors_pods *pods = w->pods;
	uint32_t n = 0;

	if (!fors_lanes3_tops_choose(w->l))
		return true;
	w->first = malloc(((size_t)pods->ntops * pods->npods + 1) * sizeof(*w->first));
	w->port = malloc(pods->known->nports + (size_t)1);
	if (!w->first || !w->port)
		return false;
	for (uint32_t at = 0; at < pods->ntops * pods->npods; at++) {
		uint32_t node = pods->top[at / pods->npods].node;

		w->first[at] = n;
		for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
			uint32_t mid = fors_pods_peer(pods, node, port);

			if (mid != FORS_NONE && pods->mid[pods->number[mid]].pod == at % pods->npods)
				w->port[n++] = (uint8_t)port;
		}
		w->nports = n - w->first[at] > w->nports ? n - w->first[at] : w->nports;
	}
	w->first[pods->ntops * pods->npods] = n;
	return true;
}

/* All of them, or (may_be_part) as many as find room; a small part of the `nlost` is not worth what it would be in the way of. */
static enum fors_err place(struct work *w, uint32_t nlost, bool may_be_part, struct fors_error *error)
{
	size_t size = fors_ways3_size(w->ways);
	uint8_t *before = malloc(size + 1);
	uint32_t most = may_be_part ? nlost - nlost / LEAST_PART : 0;

	if (!before)
		return fors_fail_memory(error);
	memcpy(before, w->ways->leaf, size);
	place_all(w);
	if (count_lost(w) > most)
		memcpy(w->ways->leaf, before, size);
	free(before);
	return FORS_OK;
}

enum fors_err fors_spare3(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, bool may_be_part, uint64_t steps,
			  struct fors_error *error)
{
	struct work w = {.c = cohorts, .l = cohorts->lanes, .pods = cohorts->lanes->pods, .ways = ways, .steps = steps};
	size_t nowners = (size_t)ways->nlinks * cohorts->nrounds;
	uint32_t nlost = count_lost(&w);
	enum fors_err err;

	if (w.l->m2 > UINT8_MAX || nowners > MOST_OWNERS || !nlost)
		return FORS_OK;
	w.owner = calloc(nowners + 1, sizeof(*w.owner));
	w.nusers = calloc(((size_t)w.pods->nmids + w.pods->ntops) * w.pods->nslots + 1, sizeof(*w.nusers));
	err = w.owner && w.nusers && list_ports(&w) ? place(&w, nlost, may_be_part, error) : fors_fail_memory(error);
	free(w.owner);
	free(w.nusers);
	free(w.first);
	free(w.port);
	return err;
}
