/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep_stays.c - what moves in the tables of trees that lack cables from the beginning, and how long plans are.
 *
 * usage: sweep_stays TREES [SEED [SERVERS [NUMBER]]]	(random trees of up to SERVERS servers, 160)
 *
 * Each tree has one LMC, 0 to 5 in turn, and loses in turn: single cables; all cables of a spine; a series of cables;
 * then one of these returns, or comes that never was there. A line for each:
 *
 *	KIND TREE/NUMBER lmc LMC lost N moved N spine N phases N dead LEAF[PORT]...
 *
 * lost, moved and spine as in incomplete.h: entries for servers before and after. Cuts, `series` and `drain` compare with
 * the tree as it was built: what moves there though its way lives is what may not be. `return` and `first` compare with the
 * moment before, and so does `step`, of a series: what was displaced already may move again there. phases is 0 where
 * nobody plans, or a planner does not come to an end within so many steps.
 *
 * With NUMBER it is that tree alone, and its cables and servers are told first: a row for each leaf.
 * tests/sweep/stays.py builds this file with another build of fors too, and compares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/drained.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "core/tables/lanes.h"
#include "tests/sweep/incomplete.h"

#ifdef TWO_LEVELS_ALONE /* a build from before there was one model of a tree */
#define fors_fattree_of_fabric(fabric) (fabric)
#endif

#define SINGLES 10
#define SERIES 6
#define FIRSTS 3
#define MOST_ASKED 400 /* times that a planner may ask whether to go on: it does so every few milliseconds */

/* A tree at one moment. */
struct moment {
	struct fors_net *net;
	struct fors_fabric *fabric;
	struct fors_lfts *lfts;
};

struct sweep {
	struct incomplete tree;
	struct incomplete_cable *cable;
	uint32_t ncables;
	struct fors_random random;
	unsigned lmc;
	uint32_t number, line;
};

static struct moment look(struct fors_net *net, const struct fors_places *places)
{
	struct moment moment = {.net = net, .fabric = incomplete_fabric(net, places)};

	moment.lfts = incomplete_tables(moment.fabric);
	return moment;
}

static void forget(struct moment *moment)
{
	fors_lfts_free(moment->lfts);
	fors_fabric_free(moment->fabric);
	fors_net_free(moment->net);
}

static bool asked_too_often(void *context)
{
	return ++*(unsigned *)context > MOST_ASKED;
}

/* Phases of the best plan, 0: none. */
static uint32_t plan(const struct moment *moment)
{
	unsigned asked = 0;
	struct fors_task task = {.fabric = moment->fabric, .cancelled = asked_too_often, .context = &asked};
	struct fors_schedule *schedule;
	struct fors_lanes *lanes;
	struct fors_error error;
	uint32_t phases = 0;

	if (fors_lanes_read(moment->fabric, moment->lfts, &lanes, &error))
		return 0;
	task.lanes = lanes;
	if (!fors_plan(&task, "auto", &schedule, &error)) {
		phases = schedule->nphases;
		fors_schedule_free(schedule);
	}
	fors_lanes_free(lanes);
	return phases;
}

/* The cables that the net of the comparison lacks. */
static void name_dead(const struct sweep *sweep, const struct fors_net *net)
{
	printf(" dead");
	for (uint32_t i = 0; i < sweep->ncables; i++)
		if (fors_net_port(net, sweep->cable[i].leaf, sweep->cable[i].port)->peer == FORS_NONE)
			printf(" %s[%u]", net->node[sweep->cable[i].leaf].id, sweep->cable[i].port);
	putchar('\n');
}

static void tell(struct sweep *sweep, const char *kind, const struct fors_net *net, const struct moment *was,
		 const struct moment *is, bool plans)
{
	struct incomplete_moves moves = incomplete_compare(net, was->lfts, is->lfts);

	printf("%s %u/%u lmc %u lost %u moved %u spine %u phases %u", kind, sweep->number, sweep->line++, sweep->lmc,
	       moves.lost, moves.moved, moves.spine, plans ? plan(is) : 0);
	name_dead(sweep, net);
}

static const struct incomplete_cable *any_cable(struct sweep *sweep)
{
	return &sweep->cable[fors_random_below(&sweep->random, sweep->ncables)];
}

/* The tree without the cables of a net, told beside another moment; false: leaves are cut off. */
static bool cut(struct sweep *sweep, const char *kind, const struct moment *healthy, struct fors_net *net)
{
	struct moment moment = look(net, sweep->tree.places);
	bool good = !moment.fabric->unreachable_pairs;

	if (good)
		tell(sweep, kind, net, healthy, &moment, true);
	forget(&moment);
	return good;
}

static void cut_singles(struct sweep *sweep, const struct moment *healthy)
{
	for (int i = 0; i < SINGLES; i++) {
		const struct incomplete_cable *cable = any_cable(sweep);
		struct fors_net *net = incomplete_copy(sweep->tree.net);

		fors_net_disconnect(net, cable->leaf, cable->port);
		cut(sweep, "single", healthy, net);
	}
}

/* A spine dies: all its cables. */
static void cut_spine(struct sweep *sweep, const struct moment *healthy)
{
	uint32_t spine = sweep->tree.plan.nleaves + fors_random_below(&sweep->random, sweep->tree.plan.nspines);
	struct fors_net *net = incomplete_copy(sweep->tree.net);

	for (unsigned port = 1; port <= net->node[spine].nports; port++)
		fors_net_disconnect(net, spine, port);
	cut(sweep, "spine", healthy, net);
}

/* Excluded, not dead: the fabric is the whole tree's, the net of the comparison lacks the cable. */
static void drain(struct sweep *sweep, const struct moment *healthy)
{
	const struct incomplete_cable *cable = any_cable(sweep);
	struct fors_net *without = incomplete_copy(sweep->tree.net);
	struct moment moment = {.net = incomplete_copy(sweep->tree.net)};
	struct fors_error error;
	uint32_t leaf = 0, lane;

	moment.fabric = incomplete_fabric(moment.net, sweep->tree.places);
	while (moment.fabric->leaf[leaf].node != cable->leaf)
		leaf++;
	lane = fors_lane_at(moment.fabric, leaf, FORS_NONE, cable->port);
	fors_drained_mark_cable(fors_fattree_of_fabric(moment.fabric), leaf * moment.fabric->nlanes + lane,
				FORS_DRAIN_EXCLUDED);
	if (!fors_drained_apply(fors_fattree_of_fabric(moment.fabric), NULL, &error) &&
	    !fors_live(moment.fabric, leaf, lane)) {
		fors_net_disconnect(without, cable->leaf, cable->port);
		moment.lfts = incomplete_tables(moment.fabric);
		tell(sweep, "drain", without, healthy, &moment, true);
	}
	fors_net_free(without);
	forget(&moment);
}

/* Cables die one after the other; then the first of them returns. */
static void cut_series(struct sweep *sweep, const struct moment *healthy)
{
	struct moment before = look(incomplete_copy(sweep->tree.net), sweep->tree.places);
	const struct incomplete_cable *first = NULL;

	for (int i = 0; i < SERIES; i++) {
		const struct incomplete_cable *cable = any_cable(sweep);
		struct moment now = {.net = incomplete_copy(before.net)};

		fors_net_disconnect(now.net, cable->leaf, cable->port);
		now = look(now.net, sweep->tree.places);
		if (now.fabric->unreachable_pairs) {
			forget(&now);
			continue;
		}
		first = first ? first : cable;
		tell(sweep, "series", now.net, healthy, &now, true);
		tell(sweep, "step", now.net, &before, &now, false);
		forget(&before);
		before = now;
	}
	if (first) {
		const struct fors_port *port = fors_net_port(sweep->tree.net, first->leaf, first->port);
		struct moment now = {.net = incomplete_copy(before.net)};
		struct fors_error error;

		if (!fors_net_connect(now.net, first->leaf, first->port, port->peer, port->peer_port, &error)) {
			now = look(now.net, sweep->tree.places);
			tell(sweep, "return", now.net, &before, &now, true);
		}
		forget(&now);
	}
	forget(&before);
}

/* Take a few cables down in both nets, but not the one between them. */
static void kill_some(struct sweep *sweep, uint32_t count, const struct incomplete_cable *but, struct fors_net *net,
		      struct fors_net *other)
{
	for (; count > 0; count--) {
		const struct incomplete_cable *dead = any_cable(sweep);

		if (dead == but)
			continue;
		fors_net_disconnect(net, dead->leaf, dead->port);
		fors_net_disconnect(other, dead->leaf, dead->port);
	}
}

/* A cable comes that was never seen, while some others are dead. */
static void plug_first(struct sweep *sweep, uint32_t ndead)
{
	const struct incomplete_cable *cable = any_cable(sweep);
	struct fors_net *with = incomplete_copy(sweep->tree.net), *without = incomplete_copy(sweep->tree.net);
	struct fors_places *places = fors_places_new();
	struct moment before = {.net = without}, now = {.net = with};
	struct fors_error error;
	bool is_learnt;

	fors_net_disconnect(without, cable->leaf, cable->port);
	is_learnt = places && !fors_places_learn(places, without, NULL, 0, &error);
	kill_some(sweep, ndead, cable, with, without);
	if (is_learnt)
		before = look(without, places);
	if (is_learnt && !before.fabric->unreachable_pairs && !fors_places_learn(places, with, NULL, 0, &error)) {
		now = look(with, places);
		tell(sweep, "first", with, &before, &now, true);
	}
	forget(&before);
	forget(&now);
	fors_places_free(places);
}

/* Draw and build the tree; false: it is none. */
static bool begin(struct sweep *sweep, uint32_t most_servers)
{
	bool good;

	incomplete_draw(&sweep->tree, &sweep->random, most_servers);
	good = incomplete_build(&sweep->tree, &sweep->random, sweep->lmc);
	if (!good)
		incomplete_clear(&sweep->tree);
	return good;
}

static void show(const struct incomplete_plan *plan)
{
	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++) {
		printf("# Leaf%02u, %u servers, cables to each spine", leaf, plan->servers[leaf]);
		for (uint32_t spine = 0; spine < plan->nspines; spine++)
			printf(" %u", plan->cables[leaf * plan->nspines + spine]);
		putchar('\n');
	}
}

static void sweep_tree(struct sweep *sweep)
{
	struct moment healthy;

	sweep->ncables = incomplete_cables(&sweep->tree, &sweep->cable);
	healthy = look(incomplete_copy(sweep->tree.net), sweep->tree.places);
	tell(sweep, "whole", healthy.net, &healthy, &healthy, true);
	cut_singles(sweep, &healthy);
	cut_spine(sweep, &healthy);
	drain(sweep, &healthy);
	cut_series(sweep, &healthy);
	for (uint32_t i = 0; i < FIRSTS; i++)
		plug_first(sweep, i);
	forget(&healthy);
	free(sweep->cable);
}

/* The argument, or what is meant without it. */
static uint32_t number_of(int argc, char **argv, int which, uint32_t usual)
{
	return argc > which ? (uint32_t)strtoul(argv[which], NULL, 10) : usual;
}

int main(int argc, char **argv)
{
	uint32_t trees = number_of(argc, argv, 1, 0), seed = number_of(argc, argv, 2, 1), done = 0;
	uint32_t most = number_of(argc, argv, 3, 160), only = number_of(argc, argv, 4, FORS_NONE);

	if (!trees || most < 40) {
		fprintf(stderr, "usage: sweep_stays TREES [SEED [SERVERS [NUMBER]]]; 40 servers or more\n");
		return 2;
	}
	for (uint32_t number = 0; done < trees && (only == FORS_NONE || number <= only); number++) {
		struct sweep sweep = {.number = number, .lmc = done % 6};

		sweep.random.state = fors_random_of(seed) + fors_random_of(number + 1);
		if (!begin(&sweep, most))
			continue;
		done++;
		if (only == number)
			show(&sweep.tree.plan);
		if (only == FORS_NONE || only == number)
			sweep_tree(&sweep);
		incomplete_clear(&sweep.tree);
		fflush(stdout);
	}
	return 0;
}
