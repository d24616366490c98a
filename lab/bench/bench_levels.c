/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_levels.c - three-level trees: how long tables and rounds take, how good they are, how many entries move; one JSON
 * object per line.
 *
 * usage: bench_levels [--quick]
 *
 * For each kind of failure some sets, spread over the tree or random. Phases are those of whole rounds where there are
 * rounds, and are compared with the best in whole rounds; entries are those of leaves for servers.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/random.h"
#include "core/fabric/lids.h"
#include "core/fabric/pods.h"
#include "core/net/tree_net.h"
#include "core/planners/pods/route.h"
#include "core/tables/check.h"

static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;6,6,8;1,6,6)", "XGFT(3;8,8,16;1,8,8)",
				    "XGFT(3;12,12,18;1,12,12)"};

enum kind { HEALTHY, LEAF_CABLE, TOP_CABLE, MID, TOP, FEW_CABLES, FEW_TOP_CABLES, TENTH, NKINDS };

static const char *const kind_names[NKINDS] = {
	"none",	 "a cable leaf to mid", "a cable mid to top",	    "a mid",
	"a top", "2 to 5 cables",	"2 to 5 cables mid to top", "1 to 10 % of the cables",
};

struct tally {
	unsigned sets, best; /* best: in as few rounds as there can be */
	double tables_ms, worst_ms, check_ms, over, worst_over, moved;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench_levels: %s\n", error->text);
	exit(1);
}

/* Processor time. */
static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- failures ---- */

static void cut_any(const struct fors_pods *whole, struct fors_net *now, struct fors_random *random, bool is_top)
{
	for (;;) {
		uint32_t node = whole->mid[fors_random_below(random, whole->nmids)].node;
		unsigned port = 1 + fors_random_below(random, whole->known->node[node].nports);
		uint32_t peer = fors_pods_peer(whole, node, port);

		if (peer == FORS_NONE || (is_top && whole->level[peer] != FORS_PODS_TOP))
			continue;
		fors_net_disconnect(now, node, port);
		return;
	}
}

static void cut_switch(struct fors_net *now, uint32_t node)
{
	for (unsigned port = 1; port <= now->node[node].nports; port++)
		fors_net_disconnect(now, node, port);
}

/* The cable of one kind that is number `i` of some, and goes up from a switch. */
static void cut_up(const struct fors_pods *whole, struct fors_net *now, const struct fors_pods_switch *from, unsigned i)
{
	unsigned nports = whole->known->node[from->node].nports;

	for (unsigned k = 0; k < nports; k++) {
		unsigned port = 1 + (i + k) % nports;
		uint32_t peer = fors_pods_peer(whole, from->node, port);

		if (peer == FORS_NONE || whole->level[peer] < whole->level[from->node])
			continue;
		fors_net_disconnect(now, from->node, port);
		return;
	}
}

static void fail(const struct fors_pods *whole, struct fors_net *now, enum kind kind, unsigned i,
		 struct fors_random *random)
{
	uint32_t cables = whole->nleaves * whole->nplanes, n = 2 + i % 4;

	if (kind == LEAF_CABLE)
		cut_up(whole, now, &whole->leaf[i * 7 % whole->nleaves], i);
	if (kind == TOP_CABLE)
		cut_up(whole, now, &whole->mid[i * 7 % whole->nmids], i);
	if (kind == MID)
		cut_switch(now, whole->mid[i * 5 % whole->nmids].node);
	if (kind == TOP)
		cut_switch(now, whole->top[i * 5 % whole->ntops].node);
	if (kind == TENTH)
		n = 2 * cables * (1 + i % 10) / 100;
	for (uint32_t k = 0; kind >= FEW_CABLES && k < n; k++)
		cut_any(whole, now, random, kind == FEW_TOP_CABLES);
}

/* ---- what comes of it ---- */

static unsigned count_moved(const struct fors_pods *pods, const struct fors_pods_route *route,
			    const struct fors_lfts *before)
{
	unsigned moved = 0;

	for (uint32_t a = 0; a < pods->nleaves; a++) {
		uint64_t guid = pods->known->node[pods->leaf[a].node].guid;
		uint32_t row = fors_lfts_row(before, guid), now = fors_lfts_row(route->lfts, guid);

		for (uint32_t s = 0; s < pods->nslots; s++)
			moved += fors_lfts_port(before, row, pods->slot[s].lid) !=
				 fors_lfts_port(route->lfts, now, pods->slot[s].lid);
	}
	return moved;
}

static void count(const struct fors_pods *pods, const struct fors_pods_route *route, const struct fors_lfts *before,
		  struct tally *tally)
{
	uint32_t best = route->length ? (route->bound + route->length - 1) / route->length : 0;
	double over = best ? (double)(route->nrounds * route->length + route->nleft) / route->bound : 0;

	tally->sets++;
	tally->best += best && !route->nleft && route->nrounds == best;
	tally->over += over;
	tally->worst_over = over > tally->worst_over ? over : tally->worst_over;
	tally->moved += before ? count_moved(pods, route, before) : 0;
}

static struct fors_pods_route *measure(const struct fors_pods *whole, struct fors_net *now,
				       const struct fors_lfts *before, struct tally *tally)
{
	struct fors_error error = {0};
	struct fors_pods *pods;
	struct fors_pods_route *route;
	double start = now_ms(), made, checked;

	must(fors_pods_build(whole->known, now, NULL, 0, &pods, &error), &error);
	must(fors_pods_route_make(pods, FORS_PODS_ROUTE_EFFORT, &route, &error), &error);
	made = now_ms();
	must(fors_tables_check_levels(now, route->level, route->lfts, NULL, &error), &error);
	checked = now_ms();
	tally->tables_ms += made - start;
	tally->worst_ms = made - start > tally->worst_ms ? made - start : tally->worst_ms;
	tally->check_ms += checked - made;
	count(pods, route, before, tally);
	fors_pods_free(pods);
	return route;
}

static void print(const char *spec, enum kind kind, const struct tally *t)
{
	printf("{\"fabric\": \"%s\", \"failure\": \"%s\", \"sets\": %u, \"best\": %u, \"tables_ms\": %.2f, "
	       "\"worst_ms\": %.2f, \"check_ms\": %.2f, \"over_bound\": %.4f, \"worst_over\": %.4f, \"moved\": %.0f}\n",
	       spec, kind_names[kind], t->sets, t->best, t->tables_ms / t->sets, t->worst_ms, t->check_ms / t->sets,
	       t->over / t->sets, t->worst_over, t->moved / t->sets);
	fflush(stdout);
}

static void one_tree(const char *text, unsigned sets)
{
	struct fors_tree_spec spec = {0};
	struct fors_error error = {0};
	struct fors_random random = {1};
	struct fors_pods_route *healthy = NULL;
	struct fors_pods *whole;
	struct fors_net *net;

	must(fors_tree_spec_parse(text, &spec, &error), &error);
	must(fors_tree_net(&spec, &net, &error), &error);
	fors_tree_spec_clear(&spec);
	must(fors_assign_lids(net, NULL, 0, false, &error), &error);
	must(fors_pods_build(net, net, NULL, 0, &whole, &error), &error);
	for (enum kind kind = 0; kind < NKINDS; kind++) {
		struct tally tally = {0};

		for (unsigned i = 0; i < sets; i++) {
			struct fors_pods_route *route;
			struct fors_net *now;

			must(fors_net_copy(net, &now, &error), &error);
			fail(whole, now, kind, i, &random);
			route = measure(whole, now, healthy ? healthy->lfts : NULL, &tally);
			if (healthy)
				fors_pods_route_free(route);
			else
				healthy = route;
			fors_net_free(now);
		}
		print(text, kind, &tally);
	}
	fors_pods_route_free(healthy);
	fors_pods_free(whole);
	fors_net_free(net);
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 1 && !strcmp(argv[1], "--quick");

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]) - is_quick; i++)
		one_tree(specs[i], is_quick ? 2 : i < 3 ? 20 : 4);
	return 0;
}
