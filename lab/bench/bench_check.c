/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_check.c - what both invariants of tables cost to check, beside what filling the tables costs: both run under
 * OpenSM's lock. One JSON object per line.
 *
 * usage: bench_check [--quick]
 *
 * Processor time, the least of many runs of either in turn, so that other work on the machine changes little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/random.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/tree_net.h"
#include "core/tables/check.h"
#include "core/tables/tables.h"

struct site {
	const char *spec;
	unsigned lmc, dead; /* random cables */
	unsigned least;	    /* leaves have this many servers to as many as the specification says, at random; 0: all */
};

static const struct site sites[] = {
	{"FT(2;20,18)", 0, 0, 0},
	{"FT(2;20,18)", 0, 9, 0},
	{"FT(2;20,18)", 5, 0, 0},
	{"FT(2;20,18)", 5, 9, 0},
	{"FT(2;32,32)", 0, 0, 0},
	{"FT(2;32,32)", 5, 0, 0},
	{"FT(2;32,32)", 5, 1, 0},
	{"FT(2;32,32)", 5, 20, 0},
	{"FT(2;32,32)", 5, 100, 0},
	{"FT(2;32,32)", 5, 512, 0},
	{"FT(2;32,47)", 5, 40, 0},
	/* Not filled evenly: fewer servers than lanes; a free port here and there; more servers than lanes; both kinds. */
	{"FT(2;20,18)", 0, 0, 10},
	{"FT(2;20,18)", 0, 18, 10},
	{"FT(2;32,47)", 0, 0, 31},
	{"FT(2;32,47)", 0, 40, 31},
	{"FT(2;10,24;servers=27)", 0, 0, 11},
	{"FT(2;10,24;servers=27)", 0, 24, 11},
	{"FT(2;12,40;servers=30)", 0, 0, 13},
	{"FT(2;12,40;servers=30)", 0, 40, 13},
	{"FT(2;12,19;servers=24)", 0, 0, 1},
	{"FT(2;12,19;servers=24)", 0, 22, 1},
	{"FT(2;12,13;cables=2;servers=60)", 0, 0, 25},
	{"FT(2;12,13;cables=2;servers=60)", 0, 31, 25},
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench_check: %s\n", error->text);
	exit(1);
}

static void kill_cables(struct fors_net *net, const struct fors_fabric *fabric, unsigned count)
{
	struct fors_xorshift random = {88172645463325252u};

	while (count) {
		uint64_t draw = fors_xorshift_next(&random) >> 20;
		uint32_t leaf = (uint32_t)(draw % fabric->nleaves);
		uint32_t lane = (uint32_t)(draw / fabric->nleaves % fabric->nlanes);
		uint32_t node = fabric->leaf[leaf].node, port = fors_cable(fabric, leaf, lane)->leaf_port;

		if (fors_net_port(net, node, port)->peer == FORS_NONE)
			continue;
		fors_net_disconnect(net, node, port);
		count--;
	}
}

/* Take servers away, at random. They come last in the net, leaf by leaf. */
static void thin_out(struct fors_net *net, const struct site *site, uint32_t nleaves, uint32_t nservers)
{
	struct fors_xorshift random = {88172645463325252u};
	uint32_t first = net->nnodes - nleaves * nservers;

	for (uint32_t a = 0; site->least && a < nleaves; a++) {
		uint32_t spare = (uint32_t)((fors_xorshift_next(&random) >> 20) % (nservers - site->least + 1));

		while (spare) {
			uint64_t draw = fors_xorshift_next(&random) >> 20;
			uint32_t node = first + a * nservers + (uint32_t)(draw % nservers);

			if (fors_net_port(net, node, 1)->peer == FORS_NONE)
				continue;
			fors_net_disconnect(net, node, 1);
			spare--;
		}
	}
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void measure(const struct site *site, const struct fors_fabric *fabric, unsigned runs)
{
	double fill = 1e9, check = 1e9;
	struct fors_error error;

	for (unsigned i = 0; i < runs; i++) {
		struct fors_lfts *lfts;
		double start = cpu_ms(), middle;

		must(fors_tables_build(fabric, &lfts, &error), &error);
		middle = cpu_ms();
		must(fors_tables_check(fabric, lfts, NULL, NULL, &error), &error);
		check = cpu_ms() - middle < check ? cpu_ms() - middle : check;
		fill = middle - start < fill ? middle - start : fill;
		fors_lfts_free(lfts);
	}
	printf("{\"fabric\": \"%s\", \"servers\": %u, \"lmc\": %u, \"dead\": %u, \"fill_ms\": %.3f, \"check_ms\": %.3f, \"ratio\": %.2f}\n",
	       site->spec, fabric->nservers, site->lmc, site->dead, fill, check, check / fill);
	fflush(stdout);
}

static void run(const struct site *site, unsigned runs)
{
	struct fors_tree_spec spec;
	struct fors_places *places = fors_places_new();
	struct fors_net *net;
	struct fors_fabric *fabric;
	struct fors_error error = {0};

	must(places ? FORS_OK : FORS_ENOMEM, &error);
	must(fors_tree_spec_parse(site->spec, &spec, &error), &error);
	must(fors_tree_net(&spec, &net, &error), &error);
	thin_out(net, site, spec.tree.m[1], spec.tree.m[0]);
	fors_tree_spec_clear(&spec);
	must(fors_places_learn(places, net, NULL, 0, &error), &error);
	must(fors_assign_lids(net, places, site->lmc, false, &error), &error);
	must(fors_fabric_build(net, places, NULL, &fabric, &error), &error);
	kill_cables(net, fabric, site->dead);
	fors_fabric_free(fabric);
	must(fors_fabric_build(net, places, NULL, &fabric, &error), &error);
	measure(site, fabric, runs);
	fors_fabric_free(fabric);
	fors_net_free(net);
	fors_places_free(places);
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 1 && !strcmp(argv[1], "--quick");

	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		run(&sites[i], is_quick ? 5 : 50);
	return 0;
}
