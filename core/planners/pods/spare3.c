/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spare3.c - other lanes and rungs for units that lost their way, in the rounds that they have.
 *
 * Where leaves have more lanes than servers, or the bound asks for no more rounds than there are at home, a dead cable or mid
 * costs no phase: a unit keeps the round that the closed form gives it, and takes another lane there. What has to be chosen with
 * the lane is the rung: a mid has one entry for a server and all leaves of its pod. So the units from a pod to a server that have no
 * way are looked at together first, and the lane and rung are taken that leave most of them alone in their rounds, lanes that are
 * nobody's home first. What is left may take a place where one other unit is in the way, if that finds another one in the same
 * round, and so on, a few units deep. A search that knew the rounds, but not the rungs, ended a round or two too late.
 */
#include "spare3.h"

#include <stdlib.h>

#define MOST_OWNERS (UINT64_C(1) << 24) /* links times rounds: 64 MiB */
#define DEPTH 5				/* units that make room for one another */
#define NOBODY UINT32_MAX		/* in the way */
#define SEVERAL (UINT32_MAX - 1)

struct work {
	const struct fors_cohorts *c;
	const struct fors_lanes3 *l;
	const struct fors_pods *pods;
	struct fors_ways3 *ways;
	uint32_t *owner;  /* [link * nrounds + round]: the unit, leaf * nslots + slot, and 1; 0: nobody */
	uint16_t *nusers; /* [mid * nslots + slot]: units that go up by the mid's entry */
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
	uint32_t lane, mid;
	uint8_t up;    /* the mid's port; 0: its entry stays as it is */
	uint32_t nfit; /* of a group */
};

static uint8_t *leaf_entry(const struct work *w, uint32_t leaf, uint32_t slot)
{
	return &w->ways->leaf[(size_t)leaf * w->ways->ncolumns + slot];
}

static uint8_t *mid_entry(const struct work *w, uint32_t mid, uint32_t slot)
{
	return &w->ways->mid[(size_t)mid * w->ways->ncolumns + slot];
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

/* Links and the mid's entry of a unit that has a way get an owner and a user, or (is_in: false) lose them. */
static void set_owner(struct work *w, uint32_t leaf, uint32_t slot, bool is_in)
{
	uint8_t port = *leaf_entry(w, leaf, slot);
	uint32_t node = w->pods->leaf[leaf].node, mid = w->pods->number[fors_pods_peer(w->pods, node, port)];
	uint32_t link[4], n = fors_ways3_links(w->ways, node, port, slot, link);
	uint32_t round = fors_cohorts_round(w->c, leaf, slot);

	for (uint32_t i = 0; round != FORS_COHORTS_NONE && i < n; i++)
		w->owner[(size_t)link[i] * w->c->nrounds + round] = is_in ? leaf * w->pods->nslots + slot + 1 : 0;
	w->nusers[(size_t)mid * w->pods->nslots + slot] += is_in ? 1 : -1;
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

/* The next place of a unit from a pod to a slot, from lanes that are nobody's home and the server's home rung on; false: there is none. */
static bool next_place(const struct work *w, uint32_t pod, uint32_t slot, uint32_t *turn, struct place *place)
{
	const struct fors_lanes3 *l = w->l;

	for (; *turn < l->nlanes * l->nrungs; (*turn)++) {
		uint32_t lane = (l->m1 + *turn / l->nrungs) % l->nlanes, i = *turn % l->nrungs;
		uint32_t plane = fors_lanes3_plane(l, lane), mid = fors_pods_mid(w->pods, pod, plane), rung;
		bool stays =
			pod == pod_of(w, slot) || (mid != FORS_NONE && w->nusers[(size_t)mid * w->pods->nslots + slot]);

		if (mid == FORS_NONE || i >= (stays ? 1 : l->rungs[plane]))
			continue;
		*place = (struct place){.lane = lane, .mid = mid};
		if (!stays) {
			rung = (fors_lanes3_rung(l, plane, slot, 0) + i) % l->rungs[plane];
			if (!fors_lanes3_rung_live(l, mid, rung) ||
			    !fors_ways3_gets_down(w->ways, l->rung_top[(size_t)plane * l->nrungs + rung], slot))
				continue;
			place->up = l->mid_port[(size_t)mid * l->nrungs + rung];
		}
		(*turn)++;
		return true;
	}
	return false;
}

/* The mid's entry as the place wants it; returns what it was. */
static uint8_t set_mid(const struct work *w, const struct place *place, uint32_t slot)
{
	uint8_t *entry = mid_entry(w, place->mid, slot), before = *entry;

	if (place->up)
		*entry = place->up;
	return before;
}

/* Who is in the way of a unit at a place. */
static uint32_t look_at(struct work *w, uint32_t leaf, uint32_t slot, const struct place *place)
{
	uint8_t port = port_of(w, leaf, place->lane), before;
	uint32_t who;

	if (!port)
		return SEVERAL;
	w->steps -= w->steps > 0;
	before = set_mid(w, place, slot);
	who = who_is_there(w, leaf, slot, port);
	*mid_entry(w, place->mid, slot) = before;
	return who;
}

static void put(struct work *w, uint32_t leaf, uint32_t slot, const struct place *place)
{
	set_mid(w, place, slot);
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

	for (uint32_t turn = 0; best.nfit < g->n && next_place(w, g->pod, g->slot, &turn, &place);) {
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
		struct place place = find_place(w, g);

		if (!place.nfit)
			return;
		for (uint32_t i = 0; i < g->n; i++)
			if (look_at(w, g->leaf[i], g->slot, &place) == NOBODY)
				put(w, g->leaf[i], g->slot, &place);
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
	struct place place;

	for (uint32_t turn = 0; next_place(w, w->pods->leaf[leaf].pod, slot, &turn, &place);)
		if (look_at(w, leaf, slot, &place) == NOBODY) {
			put(w, leaf, slot, &place);
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
	uint8_t port = *leaf_entry(w, other, its), before = *mid_entry(w, place->mid, slot);
	bool is_done;

	take_out(w, other, its);
	put(w, leaf, slot, place);
	w->held[w->nheld++] = leaf * w->pods->nslots + slot;
	is_done = put_anywhere(w, other, its, depth - 1);
	w->nheld--;
	if (is_done)
		return true;
	take_out(w, leaf, slot);
	*mid_entry(w, place->mid, slot) = before;
	*leaf_entry(w, other, its) = port;
	set_owner(w, other, its, true);
	return false;
}

/* A unit without a way, in its round; false: there is no room for it. */
static bool put_anywhere(struct work *w, uint32_t leaf, uint32_t slot, uint32_t depth)
{
	struct place place;

	if (put_where_free(w, leaf, slot))
		return true;
	for (uint32_t turn = 0; depth && w->steps && next_place(w, w->pods->leaf[leaf].pod, slot, &turn, &place);) {
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

static bool any_lost(const struct work *w)
{
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		for (uint32_t s = 0; s < w->pods->nslots; s++)
			if (is_lost(w, a, s))
				return true;
	return false;
}

static void place_all(struct work *w)
{
	set_owners(w);
	for (uint32_t s = 0; s < w->pods->nslots; s++)
		for (uint32_t p = 0; p < w->pods->npods; p++)
			place_group(w, &(struct group){.pod = p, .slot = s});
	for (uint32_t depth = 1; depth <= DEPTH; depth++)
		for (uint32_t a = 0; a < w->pods->nleaves; a++)
			for (uint32_t s = 0; w->steps && s < w->pods->nslots; s++)
				if (is_lost(w, a, s) && fors_cohorts_round(w->c, a, s) != FORS_COHORTS_NONE)
					put_anywhere(w, a, s, depth);
}

enum fors_err fors_spare3(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, uint64_t steps,
			  struct fors_error *error)
{
	struct work w = {.c = cohorts, .l = cohorts->lanes, .pods = cohorts->lanes->pods, .ways = ways, .steps = steps};
	size_t nowners = (size_t)ways->nlinks * cohorts->nrounds;
	enum fors_err err = FORS_OK;

	if (w.l->m2 > UINT8_MAX || nowners > MOST_OWNERS || !any_lost(&w))
		return FORS_OK;
	w.owner = calloc(nowners + 1, sizeof(*w.owner));
	w.nusers = calloc((size_t)w.pods->nmids * w.pods->nslots + 1, sizeof(*w.nusers));
	if (w.owner && w.nusers)
		place_all(&w);
	else
		err = fors_fail_memory(error);
	free(w.owner);
	free(w.nusers);
	return err;
}
