/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* oracle.c - the lower bounds, see oracle.h. */
#include "tests/sweep/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#include "tests/unit/unit.h"
#endif
#ifdef HAVE_LPSOLVE
#include <lpsolve/lp_lib.h>
#endif

/* Live cables between a leaf and a spine. */
static uint32_t cables(const struct fors_fabric *fabric, uint32_t leaf, uint32_t spine)
{
	uint32_t n = 0;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		n += fabric->lane[lane].spine == spine && fors_live(fabric, leaf, lane);
	return n;
}

/* Flows of one leaf a to the others over spines. */
struct net {
	uint32_t nleaves, nspines;
	uint32_t *live; /* nleaves x nspines: live cables */
	uint32_t *want; /* per leaf b: flows that are not placed yet */
	uint32_t *room; /* per spine */
	uint32_t *flow; /* nleaves x nspines */
	bool *leaf_seen, *spine_seen;
	uint32_t a;
};

static bool usable(const struct net *net, uint32_t b, uint32_t s)
{
	return net->live[net->a * net->nspines + s] && net->live[b * net->nspines + s];
}

/* Push up to `amount` flows that leaf b has to place; returns how many found a place. */
static uint32_t push(struct net *net, uint32_t b, uint32_t amount)
{
	net->leaf_seen[b] = true;
	for (uint32_t s = 0; s < net->nspines; s++) {
		uint32_t *flow = &net->flow[b * net->nspines + s];

		if (!usable(net, b, s) || !net->room[s])
			continue;
		amount = amount < net->room[s] ? amount : net->room[s];
		net->room[s] -= amount;
		*flow += amount;
		return amount;
	}
	for (uint32_t s = 0; s < net->nspines; s++) {
		if (!usable(net, b, s) || net->spine_seen[s])
			continue;
		net->spine_seen[s] = true;
		for (uint32_t c = 0; c < net->nleaves; c++) {
			uint32_t moved, there = net->flow[c * net->nspines + s];

			if (net->leaf_seen[c] || !there)
				continue;
			moved = push(net, c, amount < there ? amount : there);
			if (!moved)
				continue;
			net->flow[c * net->nspines + s] -= moved;
			net->flow[b * net->nspines + s] += moved;
			return moved;
		}
	}
	return 0;
}

/* phases if the flows of leaf a fit in them, else what the cut asks for. */
static uint32_t fit(struct net *net, const struct fors_fabric *fabric, uint32_t phases)
{
	uint32_t flows = 0, width = 0;

	memset(net->flow, 0, (size_t)net->nleaves * net->nspines * sizeof(*net->flow));
	for (uint32_t s = 0; s < net->nspines; s++)
		net->room[s] = phases * net->live[net->a * net->nspines + s];
	for (uint32_t b = 0; b < net->nleaves; b++)
		net->want[b] = b == net->a ? 0 : (uint32_t)fabric->leaf[net->a].nservers * fabric->leaf[b].nservers;
	for (uint32_t b = 0; b < net->nleaves; b++) {
		while (net->want[b]) {
			uint32_t placed;

			memset(net->leaf_seen, 0, net->nleaves);
			memset(net->spine_seen, 0, net->nspines);
			placed = push(net, b, net->want[b]);
			net->want[b] -= placed;
			if (!placed)
				goto cut;
		}
	}
	return phases;
cut:
	for (uint32_t b = 0; b < net->nleaves; b++)
		flows += !net->leaf_seen[b] || b == net->a
				 ? 0
				 : (uint32_t)fabric->leaf[net->a].nservers * fabric->leaf[b].nservers;
	for (uint32_t s = 0; s < net->nspines; s++)
		width += net->spine_seen[s] ? net->live[net->a * net->nspines + s] : 0;
	return (flows + width - 1) / width;
}

static uint32_t *count_live(const struct fors_fabric *fabric)
{
	uint32_t *live = calloc((size_t)fabric->nleaves * fabric->nspines + 1, sizeof(*live));

	assert_non_null(live);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t s = 0; s < fabric->nspines; s++)
			live[a * fabric->nspines + s] = cables(fabric, a, s);
	return live;
}

uint32_t oracle_bound(const struct fors_fabric *fabric)
{
	size_t n = (size_t)fabric->nleaves + fabric->nspines + 1;
	struct net net = {.nleaves = fabric->nleaves, .nspines = fabric->nspines, .live = count_live(fabric)};
	uint32_t phases = fabric->nservers;

	net.want = calloc(n, sizeof(*net.want));
	net.room = calloc(n, sizeof(*net.room));
	net.flow = calloc((size_t)fabric->nleaves * fabric->nspines + 1, sizeof(*net.flow));
	net.leaf_seen = calloc(n, 1);
	net.spine_seen = calloc(n, 1);
	assert_true(net.want && net.room && net.flow && net.leaf_seen && net.spine_seen);
	for (net.a = 0; net.a < fabric->nleaves; net.a++) {
		uint32_t next = fit(&net, fabric, phases);

		while (next > phases) {
			phases = next;
			next = fit(&net, fabric, phases);
		}
	}
	free(net.live);
	free(net.want);
	free(net.room);
	free(net.flow);
	free(net.leaf_seen);
	free(net.spine_seen);
	return phases;
}

#ifdef HAVE_LPSOLVE
/* Rows: 1.. pairs of leaves, then (leaf, spine) up, then down. Column 1 is T. */
struct rows {
	int pair, up, down, n;
};

static struct rows count_rows(const struct fors_fabric *fabric)
{
	int pairs = (int)(fabric->nleaves * fabric->nleaves), ends = (int)(fabric->nleaves * fabric->nspines);

	return (struct rows){.pair = 1, .up = 1 + pairs, .down = 1 + pairs + ends, .n = pairs + 2 * ends};
}

/* T: in the row of each end with minus its live cables; cost 1. */
static void add_phases(lprec *lp, const struct fors_fabric *fabric, const uint32_t *live, struct rows rows)
{
	int ends = (int)(fabric->nleaves * fabric->nspines), n = 0, *row = calloc((size_t)rows.n + 1, sizeof(*row));
	REAL *value = calloc((size_t)rows.n + 1, sizeof(*value));

	assert_true(row && value);
	value[n] = 1;
	row[n++] = 0;
	for (int i = 0; i < ends; i++) {
		row[n] = rows.up + i;
		value[n++] = -(REAL)live[i];
	}
	for (int i = 0; i < ends; i++) {
		row[n] = rows.down + i;
		value[n++] = -(REAL)live[i];
	}
	assert_true(add_columnex(lp, n, value, row));
	free(row);
	free(value);
}

/* What tables leave open: flows of a pair that may choose, and what is at home on the ends already. */
struct demand {
	uint32_t *pair;	     /* nleaves x nleaves */
	uint32_t *up, *down; /* nleaves x nspines */
};

static struct demand demand_new(const struct fors_fabric *fabric)
{
	size_t n = (size_t)fabric->nleaves * (fabric->nleaves + fabric->nspines) + 1;
	struct demand demand = {.pair = calloc(n, sizeof(uint32_t)),
				.up = calloc(n, sizeof(uint32_t)),
				.down = calloc(n, sizeof(uint32_t))};

	assert_true(demand.pair && demand.up && demand.down);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t b = 0; b < fabric->nleaves; b++)
			demand.pair[a * fabric->nleaves + b] =
				a == b ? 0 : (uint32_t)fabric->leaf[a].nservers * fabric->leaf[b].nservers;
	return demand;
}

static void demand_free(struct demand *demand)
{
	free(demand->pair);
	free(demand->up);
	free(demand->down);
}

/* Take off what base LIDs at home, over cables that live, leave no choice. Single cables: a spine is a lane. */
static void settle(const struct fors_fabric *fabric, const uint32_t *live, struct demand *demand)
{
	uint32_t nspines = fabric->nspines;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		for (uint32_t d = 0; d < fabric->nservers; d++) {
			const struct fors_server *server = &fabric->server[d];
			uint32_t b = server->leaf, n = fabric->leaf[a].nservers;
			uint32_t s = fabric->lane[fors_slot(fabric, b, server->slot)->home].spine;

			if (a == b || !live[a * nspines + s] || !live[b * nspines + s])
				continue;
			demand->pair[a * fabric->nleaves + b] -= n;
			demand->up[a * nspines + s] += n;
			demand->down[b * nspines + s] += n;
		}
	}
}

static void add_flows(lprec *lp, const struct fors_fabric *fabric, const uint32_t *live, const struct demand *demand,
		      struct rows rows)
{
	uint32_t nspines = fabric->nspines;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		for (uint32_t b = 0; b < fabric->nleaves; b++) {
			int pair = rows.pair + (int)(a * fabric->nleaves + b);

			assert_true(set_constr_type(lp, pair, EQ));
			assert_true(set_rh(lp, pair, demand->pair[a * fabric->nleaves + b]));
			for (uint32_t s = 0; a != b && s < nspines; s++) {
				int row[3] = {pair, rows.up + (int)(a * nspines + s),
					      rows.down + (int)(b * nspines + s)};
				REAL ones[3] = {1, 1, 1};

				if (live[a * nspines + s] && live[b * nspines + s])
					assert_true(add_columnex(lp, 3, ones, row));
			}
		}
	}
}

/* The least T that carries what is settled and the rest in fractions, rounded up. */
static uint32_t least_phases(const struct fors_fabric *fabric, const uint32_t *live, const struct demand *demand)
{
	struct rows rows = count_rows(fabric);
	int ends = (int)(fabric->nleaves * fabric->nspines);
	lprec *lp = make_lp(rows.n, 0);
	REAL least;

	assert_non_null(lp);
	set_verbose(lp, NEUTRAL);
	for (int i = 0; i < ends; i++) {
		assert_true(set_constr_type(lp, rows.up + i, LE) && set_rh(lp, rows.up + i, -(REAL)demand->up[i]));
		assert_true(set_constr_type(lp, rows.down + i, LE) &&
			    set_rh(lp, rows.down + i, -(REAL)demand->down[i]));
	}
	add_phases(lp, fabric, live, rows);
	add_flows(lp, fabric, live, demand, rows);
	set_minim(lp);
	assert_int_equal(solve(lp), OPTIMAL);
	least = get_objective(lp);
	delete_lp(lp);
	return (uint32_t)ceil(least - 1e-6);
}

static uint32_t solve_for(const struct fors_fabric *fabric, bool at_home)
{
	uint32_t *live = count_live(fabric), least;
	struct demand demand = demand_new(fabric);

	if (at_home)
		settle(fabric, live, &demand);
	least = least_phases(fabric, live, &demand);
	demand_free(&demand);
	free(live);
	return least;
}

uint32_t oracle_fraction(const struct fors_fabric *fabric)
{
	return solve_for(fabric, false);
}

/* What divides the number of servers of every leaf. */
static uint32_t common_divisor(const struct fors_fabric *fabric)
{
	uint32_t divisor = 0;

	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t n = fabric->leaf[a].nservers, rest; n; n = rest) {
			rest = divisor % n;
			divisor = n;
		}
	return divisor ? divisor : 1;
}

uint32_t oracle_at_home(const struct fors_fabric *fabric)
{
	uint32_t least = solve_for(fabric, true), unit = common_divisor(fabric);

	return (least + unit - 1) / unit * unit;
}
#else
uint32_t oracle_fraction(const struct fors_fabric *fabric)
{
	return 0;
}

uint32_t oracle_at_home(const struct fors_fabric *fabric)
{
	return 0;
}
#endif
