/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level.c - the map of the lanes that leaf entries use, before any is chosen (level_build.c).
 *
 * Which cable of a spine an entry goes down over is chosen here, for a home lane and all source leaves at once. The
 * home lane itself, if it lives. At other spines the cable that has the number of the home lane's, else the next one
 * that lives. Where the home lane died the cable of each spine that least comes down by, from that one on: other home
 * lanes stay with what is at home there as long as cables are idle.
 */
#include "level.h"

#include <stdlib.h>
#include <string.h>

/* What is found out for one leaf. */
struct cables {
	const struct fors_fabric *fabric;
	const bool *live; /* [lane]: of the leaf's */
	uint32_t to;
	uint32_t *load;	  /* [lane]: what comes down by it, in parts of a server's, as many as spines get to the leaf */
	uint32_t *wanted; /* home lanes that died, ndead of them */
	uint32_t *first;  /* [spine]: its first lane, */
	uint32_t *next;	  /* [lane]: and its spine's next one; nlanes: there is no more */
	uint32_t ndead, nspines;
};

/* The lane of a spine's cable with this number, or the next one that lives; FORS_NO_LANE: none does. */
static uint8_t next_live(const struct cables *c, uint32_t spine, uint32_t cable)
{
	const struct fors_fabric *fabric = c->fabric;
	uint32_t least = UINT32_MAX;
	uint8_t best = FORS_NO_LANE;

	for (uint32_t lane = c->first[spine]; lane < fabric->nlanes; lane = c->next[lane]) {
		uint32_t after = fabric->lane[lane].cable + (fabric->lane[lane].cable < cable ? FORS_MAX_LANES : 0u);

		if (c->live[lane] && after < least) {
			least = after;
			best = (uint8_t)lane;
		}
	}
	return best;
}

/* The spine's lane that least comes down by, of equals the one that next_live() would find; FORS_NO_LANE. */
static uint8_t least_full(const struct cables *c, uint32_t spine, uint32_t cable)
{
	uint8_t best = next_live(c, spine, cable);

	for (uint32_t lane = c->first[spine]; lane < c->fabric->nlanes; lane = c->next[lane])
		if (c->live[lane] && c->load[lane] < c->load[best])
			best = (uint8_t)lane;
	return best;
}

static bool is_dead(const struct cables *c, uint32_t home)
{
	return !c->live[home] && fors_cable(c->fabric, c->to, home)->state != FORS_CABLE_ABSENT;
}

/* Does any lane of a spine live? */
static bool gets_there(const struct cables *c, uint32_t spine)
{
	return next_live(c, spine, 0) != FORS_NO_LANE;
}

/* Servers at home on lanes that live, and which lanes died. */
static void count_homes(struct cables *c)
{
	const struct fors_fabric *fabric = c->fabric;

	memset(c->load, 0, fabric->nlanes * sizeof(*c->load));
	c->ndead = c->nspines = 0;
	for (uint32_t spine = 0; spine < fabric->nspines; spine++)
		c->nspines += gets_there(c, spine);
	for (uint32_t i = 0; i < fabric->nslots; i++) {
		const struct fors_slot *slot = fors_slot(fabric, c->to, i);

		if (slot->leaf_port)
			c->load[slot->home] += c->nspines;
	}
	for (uint32_t home = 0; home < fabric->nlanes; home++)
		if (is_dead(c, home))
			c->wanted[c->ndead++] = home;
}

/* The ways down of home lanes that are no choice. */
static void find_simple(const struct cables *c, uint32_t spine, uint8_t *down)
{
	const struct fors_fabric *fabric = c->fabric;

	for (uint32_t home = 0; home < fabric->nlanes; home++)
		if (c->live[home] && fabric->lane[home].spine == spine)
			down[home] = (uint8_t)home;
		else if (!is_dead(c, home))
			down[home] = next_live(c, spine, fabric->lane[home].cable);
}

/*
 * The ways down to one leaf, [spine * nlanes + home]. Each spine begins with other home lanes that died: a server that
 * shares its cable at one spine has an idle one at another.
 */
static void find_down(struct cables *c, uint8_t *down)
{
	const struct fors_fabric *fabric = c->fabric;
	uint32_t nseen = 0;

	count_homes(c);
	for (uint32_t spine = 0; spine < fabric->nspines; spine++, down += fabric->nlanes) {
		if (!gets_there(c, spine))
			continue;
		find_simple(c, spine, down);
		for (uint32_t i = 0; i < c->ndead; i++) {
			uint32_t home = c->wanted[(i + nseen * c->ndead / c->nspines) % c->ndead];
			uint8_t lane = least_full(c, spine, fabric->lane[home].cable);

			down[home] = lane;
			c->load[lane] += c->load[home] > 0;
		}
		nseen++;
	}
}

/* The lanes of each spine, in order: a walk over all lanes for each spine and home lane takes long in large trees. */
static void chain_lanes(struct cables *c)
{
	const struct fors_fabric *fabric = c->fabric;

	for (uint32_t spine = 0; spine < fabric->nspines; spine++)
		c->first[spine] = fabric->nlanes;
	for (uint32_t lane = fabric->nlanes; lane-- > 0;) {
		uint32_t *first = &c->first[fabric->lane[lane].spine];

		c->next[lane] = *first;
		*first = lane;
	}
}

/* Fill level->down. */
static bool find_all_down(const struct fors_fabric *fabric, const bool *live, struct fors_level *level)
{
	size_t row = (size_t)fabric->nspines * fabric->nlanes;
	size_t room = 3 * (size_t)fabric->nlanes + fabric->nspines;
	struct cables c = {.fabric = fabric, .load = malloc(room * sizeof(*c.load))};

	if (!c.load)
		return false;
	c.wanted = c.load + fabric->nlanes;
	c.next = c.wanted + fabric->nlanes;
	c.first = c.next + fabric->nlanes;
	chain_lanes(&c);
	memset(level->down, FORS_NO_LANE, fabric->nleaves * row);
	for (c.to = 0; c.to < fabric->nleaves; c.to++) {
		c.live = live + (size_t)c.to * fabric->nlanes;
		find_down(&c, level->down + c.to * row);
	}
	free(c.load);
	return true;
}

static bool allocate(const struct fors_fabric *fabric, struct fors_level *level)
{
	size_t nentries = (size_t)fabric->nleaves * fabric->nleaves * level->nclasses;

	level->base = malloc(((size_t)fabric->nleaves * fabric->nslots + 1) * sizeof(*level->base));
	level->lane = malloc(nentries + 1);
	level->down = malloc((size_t)fabric->nleaves * fabric->nspines * fabric->nlanes + 1);
	if (!level->base || !level->lane || !level->down)
		return false;
	memset(level->lane, FORS_NO_LANE, nentries);
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nslots; i++)
		level->base[i] = (uint16_t)fors_home_class(fabric->nlanes, fabric->slot[i].copy, fabric->slot[i].home);
	return true;
}

struct fors_level *fors_level_new(const struct fors_fabric *fabric, const bool *live)
{
	struct fors_level *level = calloc(1, sizeof(*level));

	if (!level)
		return NULL;
	level->nleaves = fabric->nleaves;
	level->nlanes = fabric->nlanes;
	level->nslots = fabric->nslots;
	level->nclasses = fors_home_nclasses(fabric);
	if (!allocate(fabric, level) || (fabric->nlanes && !find_all_down(fabric, live, level))) {
		fors_level_free(level);
		return NULL;
	}
	return level;
}

void fors_level_free(struct fors_level *level)
{
	if (!level)
		return;
	free(level->base);
	free(level->lane);
	free(level->down);
	free(level);
}
