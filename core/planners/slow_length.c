/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow_length.c - how long an exchange takes about where some cables are slow.
 *
 * A plan of T phases takes T, and more for each phase that has a flow over a slow cable: as long as its slowest flow. Take
 * the slownesses s1 > s2 > ... of the cables in use. The phases with a flow over a cable of slowness s or more take
 * s - (the next one) longer than they would without: the length is T plus, for each s, that difference times the number
 * of these phases.
 *
 * How many they are is the planner's doing. They are no fewer than the flows of the fullest cable among them, which has one
 * flow in a phase, and no more than in T phases meet by chance: with x flows on a cable a phase is free of it with
 * 1 - x/T, and of all with the product of these numbers. Planners know nothing of speeds, and what they do lies between
 * the two, nearer to chance.
 *
 * T is the larger of the bounds. The flows of a leaf count as spread evenly over its cables up, and those that leave a pod
 * over the cables of each middle switch.
 */
#include "slow_length.h"

#include <stdlib.h>

#include "bound.h"
#include "core/net/rates.h"
#include "core/fabric/fattree.h"
#include "core/planners/pods/route.h"

#define BY_CHANCE 0.7 /* where between the two the phases lie: 0 the fullest cable, 1 chance */

/* The flows of a slow cable, both ways. */
struct load {
	double slowness;
	double up, down;
};

struct loads {
	struct load *load; /* room for all cables and servers */
	uint32_t count;
};

static void add(struct loads *loads, double slowness, double up, double down)
{
	if (slowness > 1 && (up > 0 || down > 0))
		loads->load[loads->count++] = (struct load){slowness, up, down};
}

static int slowest_first(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return (x->slowness < y->slowness) - (x->slowness > y->slowness);
}

static double share_of(double flows, double phases)
{
	return flows < phases ? flows / phases : 1;
}

/* What a plan of so many phases takes; sorts the loads. */
static struct fors_slow_length length_of(const struct loads *loads, double phases)
{
	double fullest = 0, free_of_all = 1, length = phases;

	if (loads->count)
		qsort(loads->load, loads->count, sizeof(*loads->load), slowest_first);
	for (uint32_t i = 0; i < loads->count; i++) {
		const struct load *at = &loads->load[i];
		double up = share_of(at->up, phases), down = share_of(at->down, phases);
		double next = i + 1 < loads->count ? at[1].slowness : 1;

		fullest = up > fullest ? up : fullest;
		fullest = down > fullest ? down : fullest;
		free_of_all *= (1 - up) * (1 - down);
		length += (at->slowness - next) * phases * ((1 - BY_CHANCE) * fullest + BY_CHANCE * (1 - free_of_all));
	}
	return (struct fors_slow_length){length, phases, loads->count > 0};
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

struct spread {
	const struct fors_fattree *tree;
	uint32_t full, count; /* who takes part */
	uint32_t *in_pod;     /* of these, three levels */
	double *climbing;     /* per switch: flows that go further up from here */
	uint32_t *up;	      /* per switch: living cables up */
	struct loads loads;
};

static bool get_live(const struct fors_fattree *tree, uint32_t i, struct fors_fattree_cable *cable)
{
	return tree->kind->get(tree, i, cable) && cable->state == FORS_CABLE_LIVE;
}

static bool get_player(const struct fors_fattree *tree, uint32_t i, struct fors_fattree_slot *stand)
{
	return tree->kind->slot(tree, i, stand) && stand->plays && stand->node != FORS_NONE;
}

static uint32_t pod_of(const struct fors_fattree *tree, uint32_t leaf)
{
	return tree->pods ? tree->pods->leaf[leaf].pod : 0;
}

static void count_players(struct spread *s)
{
	const struct fors_fattree *tree = s->tree;
	struct fors_fattree_cable cable;
	struct fors_fattree_slot stand;

	for (uint32_t i = 0; i < tree->nslots; i++)
		if (get_player(tree, i, &stand)) {
			s->count++;
			s->in_pod[pod_of(tree, stand.leaf)]++;
			s->climbing[stand.leaf]++; /* servers, at first */
		}
	for (uint32_t i = 0; i < tree->ncables; i++)
		if (get_live(tree, i, &cable))
			s->up[cable.low]++;
}

/* What leaves a leaf, and of this what leaves its pod, for each cable up that lives. */
static void climb_from_leaves(struct spread *s)
{
	const struct fors_fattree *tree = s->tree;
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; tree->pods && i < tree->ncables; i++)
		if (get_live(tree, i, &cable) && cable.low < tree->nleaves)
			s->climbing[cable.high] += s->climbing[cable.low] *
						   (s->count - s->in_pod[pod_of(tree, cable.low)]) / s->up[cable.low];
	for (uint32_t a = 0; a < tree->nleaves; a++)
		s->climbing[a] *= s->count - s->climbing[a];
}

static void spread_loads(struct spread *s)
{
	const struct fors_fattree *tree = s->tree;
	struct fors_fattree_cable cable;
	struct fors_fattree_slot stand;

	for (uint32_t i = 0; i < tree->ncables; i++)
		if (get_live(tree, i, &cable)) {
			double flows = s->climbing[cable.low] / s->up[cable.low];

			add(&s->loads, fors_speeds_plugged(tree, &cable, s->full), flows, flows);
		}
	for (uint32_t i = 0; i < tree->nslots; i++)
		if (get_player(tree, i, &stand))
			add(&s->loads, fors_port_slowness(fors_net_port(tree->net, stand.node, stand.ca_port), s->full),
			    s->count - 1, s->count - 1);
}

static bool spread_alloc(struct spread *s)
{
	const struct fors_fattree *tree = s->tree;

	s->in_pod = calloc((tree->pods ? tree->pods->npods : 0) + (size_t)1, sizeof(*s->in_pod));
	s->climbing = calloc(tree->nswitches + (size_t)1, sizeof(*s->climbing));
	s->up = calloc(tree->nswitches + (size_t)1, sizeof(*s->up));
	s->loads.load = malloc(((size_t)tree->ncables + tree->nslots + 1) * sizeof(*s->loads.load));
	return s->in_pod && s->climbing && s->up && s->loads.load;
}

/* The larger of the bounds; UINT32_MAX: some are cut off. */
static enum fors_err count_phases(const struct fors_fattree *tree, uint32_t *phases, struct fors_error *error)
{
	struct fors_witness lump = {0};
	enum fors_err err = FORS_OK;

	*phases = UINT32_MAX;
	if (tree->pods)
		err = fors_pods_route_bound(tree->pods, tree->pods->plays, phases, error);
	else if (!tree->fabric->unreachable_pairs)
		err = fors_lower_bound(tree->fabric, phases, error);
	fors_lump_leaves(tree, &lump);
	if (lump.bound > *phases)
		*phases = (uint32_t)lump.bound;
	return err;
}

enum fors_err fors_slow_length(const struct fors_fattree *tree, uint32_t full, struct fors_slow_length *length,
			       struct fors_error *error)
{
	struct spread s = {.tree = tree, .full = full};
	uint32_t phases;
	enum fors_err err = count_phases(tree, &phases, error);

	*length = (struct fors_slow_length){.length = -1};
	if (!err && !spread_alloc(&s))
		err = fors_fail_memory(error);
	if (!err) {
		count_players(&s);
		climb_from_leaves(&s);
		spread_loads(&s);
		if (s.count && phases != UINT32_MAX)
			*length = length_of(&s.loads, phases);
	}
	free(s.in_pod);
	free(s.climbing);
	free(s.up);
	free(s.loads.load);
	return err;
}
