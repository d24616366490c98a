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
 * Where few take part, chance has few phases to even out in, and one that is slow for the second time is much of the
 * whole: two levels with up to PLANNED servers are planned for trial, and the plan's own time counts. Over 144 random
 * fabrics, LMC 0 to 4, all trials together took 1 ms in the median, 5 ms in nine of ten, 79 ms at most.
 *
 * Else T is the larger of the bounds. Of two levels tables are made for trial: their fullest cable is what one LID for
 * each server needs, and which flows go over which cable can be counted. With LIDs for all lanes planners choose among
 * them, and the bound of the cables is what they reach. Tables of three levels take too long for a trial: there the
 * flows of a leaf count as spread evenly over its cables up, and those that leave a pod over the cables of each middle
 * switch.
 */
#include "slow_length.h"

#include <stdlib.h>

#include "bound.h"
#include "core/net/rates.h"
#include "core/fabric/fattree.h"
#include "core/planners/planner.h"
#include "core/planners/pods/route3.h"
#include "core/schedule/pace.h"
#include "core/schedule/schedule.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"

#define PLANNED 64    /* servers that are planned for trial at most */
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

static bool loads_alloc(struct loads *loads, size_t most)
{
	loads->load = malloc((most + 1) * sizeof(*loads->load));
	return loads->load;
}

/* --- two levels --------------------------------------------------------------------------------------------------- */

/* Tables made for trial. */
struct trial {
	const struct fors_fabric *fabric;
	uint32_t full;
	struct fors_lfts *lfts;
	struct fors_lanes *lanes;
	uint64_t *up, *down; /* [leaf * nlanes + lane]: flows of the base LIDs */
	struct loads loads;
};

static void trial_clear(struct trial *t)
{
	fors_lanes_free(t->lanes);
	fors_lfts_free(t->lfts);
	free(t->up);
	free(t->down);
	free(t->loads.load);
}

static enum fors_err make_tables(struct trial *t, struct fors_error *error)
{
	const struct fors_fabric *f = t->fabric;
	size_t ncables = (size_t)f->nleaves * f->nlanes;
	enum fors_err err = fors_tables_build(f, &t->lfts, error);

	if (!err)
		err = fors_lanes_read(f, t->lfts, &t->lanes, error);
	if (err)
		return err;
	t->up = calloc(ncables + 1, sizeof(*t->up));
	t->down = calloc(ncables + 1, sizeof(*t->down));
	return t->up && t->down && loads_alloc(&t->loads, ncables + f->nservers) ? FORS_OK : fors_fail_memory(error);
}

/* What a leaf sends to a server. */
static void count_flows(struct trial *t, uint32_t leaf, uint32_t d)
{
	const struct fors_fabric *f = t->fabric;
	uint32_t flows = f->leaf[leaf].nservers, to = f->server[d].leaf;
	uint8_t up, down;

	if (!flows || to == leaf)
		return;
	up = fors_lane_to(f, t->lanes, leaf, d, 0);
	if (up == FORS_NO_LANE)
		return;
	down = fors_lane_down(f, t->lanes, up, d, 0);
	t->up[(size_t)leaf * f->nlanes + up] += flows;
	if (down != FORS_NO_LANE)
		t->down[(size_t)to * f->nlanes + down] += flows;
}

static void load_cables(struct trial *t)
{
	const struct fors_fabric *f = t->fabric;

	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++)
			count_flows(t, a, d);
	for (uint32_t i = 0; i < f->nleaves * f->nlanes; i++)
		if (fors_live(f, i / f->nlanes, i % f->nlanes))
			add(&t->loads, fors_speeds_cable(f, i / f->nlanes, i % f->nlanes, t->full), (double)t->up[i],
			    (double)t->down[i]);
	for (uint32_t s = 0; s < f->nservers; s++) {
		const struct fors_slot *slot = fors_slot(f, f->server[s].leaf, f->server[s].slot);

		add(&t->loads, fors_speeds_server(f, slot, t->full), f->nservers - 1, f->nservers - 1);
	}
}

static enum fors_err count_phases(const struct trial *t, uint64_t *phases, struct fors_error *error)
{
	const struct fors_fabric *f = t->fabric;
	uint64_t tables = 0, lump = f->lmc ? 0 : fors_lump_bound(f);
	uint32_t bound;
	enum fors_err err = fors_lower_bound(f, &bound, error);

	if (!err && !fors_home_has_all(f->nlanes, f->lmc))
		err = fors_lanes_bound(f, t->lanes, &tables, error);
	if (err)
		return err;
	*phases = bound > lump ? bound : lump;
	*phases = tables > *phases ? tables : *phases;
	return FORS_OK;
}

/* By bounds and chance. */
static enum fors_err reckon(struct trial *t, struct fors_slow_length *length, struct fors_error *error)
{
	uint64_t phases = 0;
	enum fors_err err = count_phases(t, &phases, error);

	if (err)
		return err;
	load_cables(t);
	*length = length_of(&t->loads, (double)phases);
	return FORS_OK;
}

/* By a plan; *length stays where there is none. */
static enum fors_err plan(const struct trial *t, const struct fors_net *net, struct fors_slow_length *length,
			  struct fors_error *error)
{
	const struct fors_task task = {.fabric = t->fabric, .lanes = t->lanes};
	struct fors_schedule *made = NULL;
	struct fors_pace pace;
	enum fors_err err = fors_plan(&task, "auto", &made, error);

	if (err)
		return err == FORS_ENOMEM ? err : FORS_OK;
	err = fors_pace_of(net, t->lfts, made, NULL, &pace, error);
	if (!err)
		*length = (struct fors_slow_length){pace.length, made->nphases, pace.slow_phases > 0};
	fors_schedule_free(made);
	return err;
}

static enum fors_err length_of_fabric(const struct fors_fattree *tree, uint32_t full, struct fors_slow_length *length,
				      struct fors_error *error)
{
	const struct fors_fabric *fabric = tree->fabric;
	struct trial trial = {.fabric = fabric, .full = full};
	enum fors_err err = FORS_OK;

	*length = (struct fors_slow_length){.length = -1};
	if (!fabric->nservers || fabric->unreachable_pairs)
		return FORS_OK;
	err = make_tables(&trial, error);
	if (!err && fabric->nservers <= PLANNED)
		err = plan(&trial, tree->net, length, error);
	if (!err && length->length < 0)
		err = reckon(&trial, length, error);
	trial_clear(&trial);
	return err;
}

/* --- three -------------------------------------------------------------------------------------------------------- */

struct spread {
	const struct fors_pods *pods;
	uint32_t full, count; /* who takes part */
	uint64_t lump;	      /* fors_lump_bound(), for three levels; 0: somebody has more than one LID */
	uint32_t *in_pod;     /* of these */
	double *climbing;     /* per switch (fors_pods_row()): flows that go further up from here */
	uint32_t *up;	      /* per switch: living cables up */
	struct loads loads;
};

static bool takes_part(const struct spread *s, uint32_t slot)
{
	return s->pods->plays[slot] && s->pods->leaf[s->pods->slot[slot].leaf].now != FORS_NONE;
}

static void count_players(struct spread *s)
{
	const struct fors_pods *pods = s->pods;
	struct fors_fattree tree = fors_fattree_of_pods(pods);
	struct fors_fattree_cable cable;

	s->lump = 1;
	for (uint32_t slot = 0; slot < pods->nslots; slot++)
		if (takes_part(s, slot)) {
			uint32_t leaf = pods->slot[slot].leaf;

			s->count++;
			s->in_pod[pods->leaf[leaf].pod]++;
			s->climbing[leaf]++; /* servers, at first */
			s->lump = pods->slot[slot].lmc ? 0 : s->lump;
		}
	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable) && cable.state == FORS_CABLE_LIVE)
			s->up[cable.low]++;
}

/* What leaves a leaf, and of this what leaves its pod, for each cable up that lives. */
static void climb_from_leaves(struct spread *s)
{
	const struct fors_pods *pods = s->pods;
	struct fors_fattree tree = fors_fattree_of_pods(pods);
	bool has_one_lid = s->lump;
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable) && cable.state == FORS_CABLE_LIVE && cable.low < pods->nleaves)
			s->climbing[cable.high] += s->climbing[cable.low] *
						   (s->count - s->in_pod[pods->leaf[cable.low].pod]) / s->up[cable.low];
	for (uint32_t a = 0; a < pods->nleaves; a++) {
		uint64_t here = (uint64_t)s->climbing[a], up = s->up[a];
		uint64_t lump = has_one_lid && up ? here * ((s->count - here + up - 1) / up) : 0;

		s->lump = lump > s->lump ? lump : s->lump;
		s->climbing[a] = (double)here * (double)(s->count - here);
	}
}

static void spread_loads(struct spread *s)
{
	const struct fors_pods *pods = s->pods;
	struct fors_fattree tree = fors_fattree_of_pods(pods);
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable) && cable.state == FORS_CABLE_LIVE) {
			double flows = s->climbing[cable.low] / s->up[cable.low];

			add(&s->loads, fors_speeds_plugged(&tree, &cable, s->full), flows, flows);
		}
	for (uint32_t slot = 0; slot < pods->nslots; slot++) {
		const struct fors_pods_slot *at = &pods->slot[slot];

		if (takes_part(s, slot))
			add(&s->loads,
			    fors_port_slowness(fors_net_port(pods->now, pods->leaf[at->leaf].now, at->port), s->full),
			    s->count - 1, s->count - 1);
	}
}

static bool spread_alloc(struct spread *s)
{
	size_t nswitches = (size_t)s->pods->nleaves + s->pods->nmids + s->pods->ntops;

	s->in_pod = calloc(s->pods->npods + (size_t)1, sizeof(*s->in_pod));
	s->climbing = calloc(nswitches + 1, sizeof(*s->climbing));
	s->up = calloc(nswitches + 1, sizeof(*s->up));
	return s->in_pod && s->climbing && s->up &&
	       loads_alloc(&s->loads, (size_t)s->pods->known->nports + s->pods->nslots);
}

static enum fors_err length_of_pods(const struct fors_pods *pods, uint32_t full, struct fors_slow_length *length,
				    struct fors_error *error)
{
	struct spread s = {.pods = pods, .full = full};
	uint32_t phases;
	enum fors_err err = fors_route3_bound(pods, pods->plays, &phases, error);

	*length = (struct fors_slow_length){.length = -1};
	if (!err && !spread_alloc(&s))
		err = fors_fail_memory(error);
	if (!err) {
		count_players(&s);
		climb_from_leaves(&s);
		spread_loads(&s);
		if (s.count && phases != UINT32_MAX)
			*length = length_of(&s.loads, s.lump > phases ? (double)s.lump : phases);
	}
	free(s.in_pod);
	free(s.climbing);
	free(s.up);
	free(s.loads.load);
	return err;
}

enum fors_err fors_slow_length(const struct fors_fattree *tree, uint32_t full, struct fors_slow_length *length,
			       struct fors_error *error)
{
	return tree->fabric ? length_of_fabric(tree, full, length, error)
			    : length_of_pods(tree->pods, full, length, error);
}
