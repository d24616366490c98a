/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repair.c - ways round dead tops, and dead cables to tops, that leave every unit its round.
 *
 * Groups do not meet (groups.c), so each is a board of its own: for every pod and plane the rungs up, and the rungs
 * down, each for one item. In a plane the items between pods are a bipartite graph of pods with a colour, the rung,
 * for each. An item whose rung is dead at one of its ends is inserted again as Koenig does it: on a rung that is free
 * at both ends, or is made free there: the items of it and of one that is free at that end change their colours along
 * a chain. Nothing but entries of mids changes.
 *
 * That needs a rung that is free at either end. Items that stay in their pod have none: server x of leaf number y
 * where tau^y(D) = beta(x), in all pods. Where they are of another plane, one of them, (z,y), changes lanes with an
 * item (x,y) of the plane that is wanted. The lanes down of leaf (q,y) are in order again if in pod q both have
 * changed, and so on from pod to pod, as far as the distance of (x,y) leads: an orbit of pods, the shorter the more
 * that distance, beta(z) - beta(x), has in common with the number of pods. All leaves of a pod have equal entries,
 * whatever is done: one LID is enough.
 *
 * A top that planes share, or that has several cables to a mid, sends to a server over one of them, and that is chosen with
 * the first item that does not come down at home (claims.h). A server has one item in a group, so within a group no
 * two items ask for the same entry; what one group chose the next ones keep.
 */
#include "repair.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/divisor.h"
#include "claims.h"

#define NOBODY UINT32_MAX
#define NO_RUNG UINT16_MAX
#define MOST_TRIES 64 /* exchanges that are tried for one item */

/* Who is where; items are numbered (source pod * m2 + y) * m1 + x. */
struct board {
	uint16_t *lane, *rung; /* per item; NO_RUNG: it stays in its pod, or has no way */
	uint32_t *up, *down;   /* [(pod * nplanes + plane) * nrungs + rung]: the item, NOBODY */
	size_t bytes;	       /* of all four, in one piece from `up` on */
};

/* Where an item comes from, and where it goes; what is asked for again and again. */
struct item {
	uint32_t source, target; /* pods */
	uint32_t slot;
};

/* An exchange of lanes that could make room. */
struct trade {
	uint16_t z, x, y;
	uint32_t orbit; /* pods */
};

/* Items that have changed between two rungs. */
struct freed {
	uint32_t *chain; /* two per pod */
	uint32_t n, one, other;
};

struct repair {
	const struct fors_pods_groups *c;
	const struct fors_pods_lanes *l;
	uint32_t group, nrungs, nitems;
	struct item *item; /* of the group */
	uint16_t *plane;   /* per lane */
	uint8_t *far; /* [(pod * nplanes + plane) * nrungs + rung]: the top's port of that cable; 0: none that lives */
	struct board now, home;	     /* home: what all begin with */
	struct board before[2];	     /* trades that may fail */
	uint32_t *waiting, nwaiting; /* items without a rung */
	struct freed freed[2];
	struct trade *trade; /* m1 * m1 * m2 */
	struct fors_pods_claims claims;
	bool may_trade; /* items may change lanes */
	struct fors_pods_repair *found;
};

/* ---- items ---- */

static uint32_t item_of(const struct repair *r, uint32_t pod, uint32_t x, uint32_t y)
{
	return (pod * r->c->m2 + y) * r->c->m1 + x;
}

static uint32_t source_of(const struct repair *r, uint32_t item)
{
	return r->item[item].source;
}

/* How many pods further the items (x,y) of this group go; 0: they stay. */
static uint32_t distance(const struct repair *r, uint32_t x, uint32_t y)
{
	return (r->c->power[y * r->c->npods + r->group] + r->c->npods - r->c->beta[x]) % r->c->npods;
}

static uint32_t target_of(const struct repair *r, uint32_t item)
{
	return r->item[item].target;
}

static uint32_t slot_of(const struct repair *r, uint32_t item)
{
	return r->item[item].slot;
}

static uint32_t plane_of(const struct repair *r, uint32_t item)
{
	return r->plane[r->now.lane[item]];
}

static uint32_t *cell(const struct repair *r, uint32_t *side, uint32_t pod, uint32_t plane, uint32_t rung)
{
	return &side[((size_t)pod * r->l->pods->nplanes + plane) * r->nrungs + rung];
}

static uint32_t *up_of(const struct repair *r, uint32_t item, uint32_t rung)
{
	return cell(r, r->now.up, source_of(r, item), plane_of(r, item), rung);
}

static uint32_t *down_of(const struct repair *r, uint32_t item, uint32_t rung)
{
	return cell(r, r->now.down, target_of(r, item), plane_of(r, item), rung);
}

static uint8_t far_of(const struct repair *r, uint32_t pod, uint32_t plane, uint32_t rung)
{
	return r->far[((size_t)pod * r->l->pods->nplanes + plane) * r->nrungs + rung];
}

/* Could the item take this rung of its plane? As fors_pods_ways_meets() says, which looks all up. */
static bool is_good(const struct repair *r, uint32_t item, uint32_t rung)
{
	uint32_t plane = plane_of(r, item), top = r->l->rung_top[plane * r->l->nrungs + rung];
	uint8_t down = far_of(r, target_of(r, item), plane, rung);

	return down && far_of(r, source_of(r, item), plane, rung) &&
	       fors_pods_claims_top(&r->claims, top, slot_of(r, item), plane, down);
}

/* ---- rungs ---- */

static void put(struct repair *r, uint32_t item, uint32_t rung)
{
	r->now.rung[item] = (uint16_t)rung;
	*up_of(r, item, rung) = item;
	*down_of(r, item, rung) = item;
}

static void take(struct repair *r, uint32_t item)
{
	uint32_t rung = r->now.rung[item];

	if (rung == NO_RUNG)
		return;
	*up_of(r, item, rung) = NOBODY;
	*down_of(r, item, rung) = NOBODY;
	r->now.rung[item] = NO_RUNG;
}

/*
 * The items that have to change between rungs `one` and `other` so that `one` is free at an end of `first`, where it
 * is now and `other` is free: at its source, is_up, or at its target. In chain[], and how many; 0: one of them cannot.
 */
static uint32_t find_chain(const struct repair *r, uint32_t first, bool is_up, uint32_t one, uint32_t other,
			   uint32_t *chain)
{
	uint32_t n = 0, next = first;

	while (next != NOBODY) {
		uint32_t to = n % 2 == 0 ? other : one;

		if (!is_good(r, next, to))
			return 0;
		chain[n++] = next;
		is_up = !is_up; /* it meets the next one at its other end */
		next = is_up ? *up_of(r, next, to) : *down_of(r, next, to);
	}
	return n;
}

/* All of a chain change; again, and it is as before. */
static void turn_chain(struct repair *r, const uint32_t *chain, uint32_t n, uint32_t one, uint32_t other)
{
	bool is_back = n && r->now.rung[chain[0]] == other;

	for (uint32_t i = 0; i < n; i++)
		take(r, chain[i]);
	for (uint32_t i = 0; i < n; i++)
		put(r, chain[i], (i % 2 == 0) != is_back ? other : one);
}

/* Free rung `one` at an end of an item; false: it cannot be done. The chain in *freed. */
static bool free_end(struct repair *r, uint32_t item, bool is_up, uint32_t one, struct freed *freed)
{
	uint32_t rungs = r->l->rungs[plane_of(r, item)], who = is_up ? *up_of(r, item, one) : *down_of(r, item, one);

	freed->n = 0;
	for (uint32_t other = 0; who != NOBODY && other < rungs; other++) {
		if ((is_up ? *up_of(r, item, other) : *down_of(r, item, other)) != NOBODY)
			continue;
		freed->n = find_chain(r, who, is_up, one, other, freed->chain);
		freed->one = one;
		freed->other = other;
		if (!freed->n)
			continue;
		turn_chain(r, freed->chain, freed->n, one, other);
		return true;
	}
	return who == NOBODY;
}

/*
 * Rung `one` for an item, after chains at both ends. The one from the target does not come to the source: it would
 * have to leave it over `one`, which is free there.
 */
static bool insert_at(struct repair *r, uint32_t item, uint32_t one)
{
	if (!is_good(r, item, one) || !free_end(r, item, true, one, &r->freed[0]))
		return false;
	if (!free_end(r, item, false, one, &r->freed[1])) {
		turn_chain(r, r->freed[0].chain, r->freed[0].n, r->freed[0].one, r->freed[0].other);
		return false;
	}
	put(r, item, one);
	return true;
}

/* Give an item without a rung one of its plane, from its home on; one that is free, if there is any. */
static bool insert(struct repair *r, uint32_t item)
{
	uint32_t rungs = r->l->rungs[plane_of(r, item)], home = r->l->home_rung[slot_of(r, item)];

	for (uint32_t i = 0; i < rungs; i++) {
		uint32_t rung = (home + i) % rungs;

		if (*up_of(r, item, rung) == NOBODY && *down_of(r, item, rung) == NOBODY && is_good(r, item, rung)) {
			put(r, item, rung);
			return true;
		}
	}
	for (uint32_t i = 0; i < rungs; i++)
		if (insert_at(r, item, (home + i) % rungs))
			return true;
	return false;
}

/* ---- lanes ---- */

/* Is there a rung of a plane that nobody has, and that lives? */
static bool has_room(const struct repair *r, uint32_t *side, uint32_t pod, uint32_t plane)
{
	uint32_t mid = fors_pods_mid(r->l->pods, pod, plane);

	for (uint32_t rung = 0; mid != FORS_NONE && rung < r->l->rungs[plane]; rung++)
		if (*cell(r, side, pod, plane, rung) == NOBODY && fors_pods_lanes_rung_live(r->l, mid, rung))
			return true;
	return false;
}

/*
 * The items of a trade change lanes in all pods of the orbit of `pod`; false: somebody finds no rung, or has traded
 * already.
 */
static bool exchange(struct repair *r, const struct trade *t, uint32_t pod)
{
	uint32_t step = distance(r, t->x, t->y);

	for (uint32_t i = 0, p = pod; i < t->orbit; i++, p = (p + step) % r->c->npods) {
		uint32_t goes = item_of(r, p, t->x, t->y), stays = item_of(r, p, t->z, t->y);

		if (r->now.lane[goes] != t->x || r->now.lane[stays] != t->z ||
		    !fors_pods_claims_lane(&r->claims, slot_of(r, goes), t->z) ||
		    !fors_pods_claims_lane(&r->claims, slot_of(r, stays), t->x))
			return false;
		take(r, goes);
		r->now.lane[goes] = t->z;
		r->now.lane[stays] = t->x;
	}
	for (uint32_t i = 0, p = pod; i < t->orbit; i++, p = (p + step) % r->c->npods)
		if (!insert(r, item_of(r, p, t->x, t->y)))
			return false;
	return true;
}

static uint32_t orbit_of(uint32_t npods, uint32_t step)
{
	return npods / fors_divisor(npods, step);
}

static int by_orbit(const void *a, const void *b)
{
	const struct trade *x = a, *y = b;

	if (x->orbit != y->orbit)
		return x->orbit < y->orbit ? -1 : 1;
	if (x->y != y->y)
		return x->y < y->y ? -1 : 1;
	return x->z != y->z ? (x->z < y->z ? -1 : 1) : (x->x > y->x) - (x->x < y->x);
}

/* All trades that could make room in a plane, the shortest orbits first; how many. */
static uint32_t list_trades(struct repair *r, uint32_t plane)
{
	uint32_t n = 0;

	for (uint32_t y = 0; y < r->c->m2; y++)
		for (uint32_t z = 0; z < r->c->m1; z++)
			for (uint32_t x = plane; x < r->c->m1; x += r->l->pods->nplanes)
				if (!distance(r, z, y) && distance(r, x, y) && fors_pods_lanes_plane(r->l, z) != plane)
					r->trade[n++] = (struct trade){(uint16_t)z, (uint16_t)x, (uint16_t)y,
								       orbit_of(r->c->npods, distance(r, x, y))};
	qsort(r->trade, n, sizeof(*r->trade), by_orbit);
	return n;
}

static void save(struct repair *r, struct board *to)
{
	memcpy(to->up, r->now.up, r->now.bytes);
}

static void restore(struct repair *r, const struct board *from)
{
	memcpy(r->now.up, from->up, r->now.bytes);
}

/* Room at the item's target, too, if need be by a trade of n; false, and all is as it was. */
static bool make_room_at_target(struct repair *r, uint32_t item, uint32_t n, uint32_t *tries)
{
	uint32_t to = target_of(r, item);

	if (insert(r, item))
		return true;
	if (has_room(r, r->now.down, to, plane_of(r, item)))
		return false;
	save(r, &r->before[1]);
	for (uint32_t i = 0; i < n && ++*tries < MOST_TRIES; i++) {
		if (exchange(r, &r->trade[i], to) && (r->now.rung[item] != NO_RUNG || insert(r, item)))
			return true;
		restore(r, &r->before[1]);
	}
	return false;
}

/* Room for an item that finds none in its plane: by trades, at its source, at its target, or both. */
static bool make_room(struct repair *r, uint32_t item)
{
	uint32_t n = list_trades(r, plane_of(r, item)), from = source_of(r, item), tries = 0;

	if (has_room(r, r->now.up, from, plane_of(r, item)) && make_room_at_target(r, item, n, &tries))
		return true;
	save(r, &r->before[0]);
	for (uint32_t i = 0; i < n && ++tries < MOST_TRIES; i++) {
		if (exchange(r, &r->trade[i], from) &&
		    (r->now.rung[item] != NO_RUNG || make_room_at_target(r, item, n, &tries)))
			return true;
		restore(r, &r->before[0]);
	}
	return false;
}

/* ---- a group ---- */

/* Is a mid dead, or has it, where tops choose, lost all cables to them? */
static bool is_dead(const struct repair *r, uint32_t mid)
{
	bool lives = !r->claims.top;

	if (mid == FORS_NONE || r->l->pods->mid[mid].now == FORS_NONE)
		return true;
	for (uint32_t rung = 0; !lives && rung < r->l->rungs[r->l->pods->mid[mid].plane]; rung++)
		lives = fors_pods_lanes_rung_live(r->l, mid, rung);
	return !lives;
}

/* Can leaves and mids of the item's plane do anything for it at all? */
static bool is_hopeless(const struct repair *r, uint32_t item)
{
	const struct fors_pods *pods = r->l->pods;
	uint32_t plane = plane_of(r, item), from = fors_pods_mid(pods, source_of(r, item), plane),
		 to = fors_pods_mid(pods, target_of(r, item), plane), leaf = pods->slot[slot_of(r, item)].leaf;

	return is_dead(r, from) || is_dead(r, to) || !fors_pods_lanes_live(r->l, leaf, r->now.lane[item]);
}

/* The items of a group, each on its home lane. */
static void list_items(struct repair *r)
{
	const struct fors_pods_groups *c = r->c;

	for (uint32_t y = 0; y < c->m2; y++)
		for (uint32_t x = 0; x < c->m1; x++) {
			uint32_t target = distance(r, x, y);

			for (uint32_t pod = 0; pod < c->npods; pod++) {
				uint32_t item = item_of(r, pod, x, y);

				r->item[item] = (struct item){pod, target, c->slot[target * c->m2 + y] + x};
				r->now.lane[item] = (uint16_t)x;
				target = target + 1 < c->npods ? target + 1 : 0;
			}
		}
}

/* All at home, but for those who cannot. */
static void set_up(struct repair *r)
{
	memset(r->now.up, 0xFF, r->now.bytes);
	list_items(r);
	r->nwaiting = 0;
	for (uint32_t item = 0; item < r->nitems; item++) {
		uint32_t rung;

		if (source_of(r, item) == target_of(r, item))
			continue;
		rung = r->l->home_rung[slot_of(r, item)];
		if (is_good(r, item, rung))
			put(r, item, rung);
		else if (!is_hopeless(r, item))
			r->waiting[r->nwaiting++] = item;
	}
}

static uint32_t rung_or_none(const struct repair *r, uint32_t item)
{
	return r->now.rung[item] == NO_RUNG ? FORS_NONE : r->now.rung[item];
}

static bool note_move(struct repair *r, uint32_t item)
{
	struct fors_pods_repair *found = r->found;

	if (found->nmoves == found->room) {
		uint32_t room = 2 * found->room + 64;
		struct fors_pods_move *larger = realloc(found->move, room * sizeof(*larger));

		if (!larger)
			return false;
		found->move = larger;
		found->room = room;
	}
	found->move[found->nmoves++] =
		(struct fors_pods_move){source_of(r, item), slot_of(r, item), r->now.lane[item], rung_or_none(r, item)};
	return true;
}

/* False: out of memory. */
static bool repair_group(struct repair *r)
{
	uint32_t nleft = 0;
	bool good = true;

	set_up(r);
	if (!r->nwaiting)
		return true;
	memcpy(r->home.up, r->now.up, r->now.bytes);
	for (uint32_t i = 0; i < r->nwaiting; i++) {
		uint32_t item = r->waiting[i];

		if (r->now.rung[item] == NO_RUNG && !insert(r, item) && (!r->may_trade || !make_room(r, item)))
			r->waiting[nleft++] = item;
	}
	for (uint32_t item = 0; good && item < r->nitems; item++) {
		bool is_moved = r->now.lane[item] != r->home.lane[item];

		r->found->nlanes += is_moved;
		if (is_moved || r->now.rung[item] != r->home.rung[item])
			good = note_move(r, item);
		if (good && (is_moved || r->now.rung[item] != r->home.rung[item]))
			fors_pods_claims_take(&r->claims, slot_of(r, item), r->now.lane[item], rung_or_none(r, item));
	}
	for (uint32_t i = 0; i < nleft; i++)
		r->found->nleft += r->now.rung[r->waiting[i]] == NO_RUNG;
	return good;
}

/* ---- the whole ---- */

static bool new_board(const struct repair *r, struct board *board)
{
	size_t cells = (size_t)r->c->npods * r->l->pods->nplanes * r->nrungs;

	board->bytes = 2 * cells * sizeof(*board->up) + 2 * (size_t)r->nitems * sizeof(*board->lane);
	board->up = malloc(board->bytes + 1);
	if (!board->up)
		return false;
	board->down = board->up + cells;
	board->lane = (uint16_t *)(board->down + cells);
	board->rung = board->lane + r->nitems;
	return true;
}

static bool list_cables(struct repair *r)
{
	const struct fors_pods_lanes *l = r->l;
	uint32_t n = 0;

	r->far = malloc((size_t)r->c->npods * l->pods->nplanes * r->nrungs + 1);
	for (uint32_t pod = 0; r->far && pod < r->c->npods; pod++)
		for (uint32_t plane = 0; plane < l->pods->nplanes; plane++) {
			uint32_t mid = fors_pods_mid(l->pods, pod, plane);

			for (uint32_t rung = 0; rung < r->nrungs; rung++)
				r->far[n++] = mid != FORS_NONE && fors_pods_lanes_rung_live(l, mid, rung)
						      ? fors_pods_lanes_far(l->pods, l->pods->mid[mid].node,
									    l->mid_port[(size_t)mid * l->nrungs + rung])
						      : 0;
		}
	return r->far;
}

static bool allocate(struct repair *r)
{
	const struct fors_pods_groups *c = r->c;

	for (uint32_t j = 0; j < r->l->pods->nplanes; j++)
		r->nrungs = r->l->rungs[j] > r->nrungs ? r->l->rungs[j] : r->nrungs;
	r->nitems = c->npods * c->m1 * c->m2;
	r->item = malloc((r->nitems + (size_t)1) * sizeof(*r->item));
	r->plane = malloc((r->l->nlanes + (size_t)1) * sizeof(*r->plane));
	r->waiting = malloc((r->nitems + (size_t)1) * sizeof(*r->waiting));
	for (unsigned i = 0; i < 2; i++)
		r->freed[i].chain = malloc((2 * (size_t)c->npods + 2) * sizeof(*r->freed[i].chain));
	r->trade = malloc(((size_t)c->m1 * c->m1 * c->m2 + 1) * sizeof(*r->trade));
	for (uint32_t lane = 0; r->plane && lane < r->l->nlanes; lane++)
		r->plane[lane] = (uint16_t)fors_pods_lanes_plane(r->l, lane);
	return list_cables(r) && r->item && r->plane && new_board(r, &r->now) && new_board(r, &r->home) &&
	       new_board(r, &r->before[0]) && new_board(r, &r->before[1]) && r->waiting && r->freed[0].chain &&
	       r->freed[1].chain && r->trade;
}

/* Is anything dead between mids and tops? */
static bool is_damaged(const struct fors_pods_lanes *l)
{
	for (uint32_t m = 0; m < l->pods->nmids; m++)
		for (uint32_t i = 0; i < l->rungs[l->pods->mid[m].plane]; i++)
			if (l->pods->mid[m].pod != FORS_NONE && l->pods->mid[m].now != FORS_NONE &&
			    !fors_pods_lanes_rung_live(l, m, i))
				return true;
	return false;
}

void fors_pods_repair_clear(struct fors_pods_repair *repair)
{
	free(repair->move);
	*repair = (struct fors_pods_repair){0};
}

void fors_pods_repair_write(const struct fors_pods_repair *repair, const struct fors_pods_groups *groups,
			    struct fors_pods_ways *ways)
{
	for (uint32_t i = 0; i < repair->nmoves; i++) {
		const struct fors_pods_move *move = &repair->move[i];

		fors_pods_claims_write(ways, move->slot, move->lane, move->rung);
		fors_pods_groups_send(groups, ways, move->pod, move->slot, move->lane, move->rung);
	}
}

enum fors_err fors_pods_repair_find(const struct fors_pods_groups *groups, const struct fors_pods_ways *ways,
				    bool may_trade, uint32_t most, struct fors_pods_repair *repair,
				    struct fors_error *error)
{
	struct repair r = {.c = groups, .l = groups->lanes, .found = repair};
	bool good = true;

	*repair = (struct fors_pods_repair){0};
	r.may_trade = may_trade;
	if (!is_damaged(r.l))
		return FORS_OK;
	good = allocate(&r) && !fors_pods_claims_new(ways, &r.claims, error);
	for (r.group = 0; good && r.group < groups->npods && repair->nleft <= most; r.group++)
		good = repair_group(&r);
	if (!good)
		fors_pods_repair_clear(repair);
	free(r.now.up);
	free(r.home.up);
	free(r.before[0].up);
	free(r.before[1].up);
	free(r.item);
	free(r.plane);
	free(r.far);
	free(r.waiting);
	free(r.freed[0].chain);
	free(r.freed[1].chain);
	free(r.trade);
	fors_pods_claims_clear(&r.claims);
	return good ? FORS_OK : fors_fail_memory(error);
}
