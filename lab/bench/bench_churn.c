/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_churn.c - leaf entries that a failure changes although their way lives; one JSON object per line.
 *
 * usage: bench_churn [--quick]
 *
 * Cables die one by one, at random, never so that a leaf is cut off. After each the tables before and after are compared,
 * entry by entry, over all leaves: how many changed, and how many of these went over cables that still live. The first
 * failure, the second, those up to the fifth and those up to the twentieth are told apart, over many series.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/fabric/fabric.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/net/tree_net.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"

#define FAILURES 20
#define BINS 4

static const char *const specs[] = {"FT(2;20,18)", "FT(2;8,16)", "FT(2;9,12;cables=2;servers=18)",
				    "FT(2;16,18;servers=24)"};
static const unsigned bin_end[BINS] = {1, 2, 5, FAILURES};

struct scene {
	struct fors_net *net;
	struct fors_places *places;
	struct fors_fabric *fabric;
	struct fors_lanes *lanes;
};

struct counts {
	unsigned long changed, needless;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench_churn: %s\n", error->text);
	exit(1);
}

static void look(struct scene *scene)
{
	struct fors_lfts *lfts;
	struct fors_error error;

	must(fors_fabric_build(scene->net, scene->places, NULL, &scene->fabric, &error), &error);
	must(fors_tables_build(scene->fabric, &lfts, &error), &error);
	must(fors_lanes_read(scene->fabric, lfts, &scene->lanes, &error), &error);
	fors_lfts_free(lfts);
}

static void begin(struct scene *scene, const char *text)
{
	struct fors_tree_spec spec;
	struct fors_error error;

	must(fors_tree_spec_parse(text, &spec, &error), &error);
	must(fors_tree_net(&spec, &scene->net, &error), &error);
	fors_tree_spec_clear(&spec);
	scene->places = fors_places_new();
	must(scene->places ? fors_places_learn(scene->places, scene->net, NULL, 0, &error) : fors_fail_memory(&error),
	     &error);
	must(fors_assign_lids(scene->net, scene->places, 0, false, &error), &error);
	look(scene);
}

/* Cut a cable whose leaf keeps some others. */
static void cut_one(struct scene *scene, struct fors_random *random)
{
	uint32_t leaf, lane;

	do {
		leaf = fors_random_below(random, scene->fabric->nleaves);
		lane = fors_random_below(random, scene->fabric->nlanes);
	} while (!fors_live(scene->fabric, leaf, lane) || scene->fabric->leaf[leaf].nlive < 3);
	fors_net_disconnect(scene->net, scene->fabric->leaf[leaf].node,
			    fors_cable(scene->fabric, leaf, lane)->leaf_port);
}

static void compare(const struct scene *before, const struct scene *after, struct counts *counts)
{
	const struct fors_fabric *f = after->fabric;

	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++) {
			uint32_t was = fors_lane_to(f, before->lanes, a, d, 0), down;

			if (f->server[d].leaf == a || was == FORS_NO_LANE ||
			    was == fors_lane_to(f, after->lanes, a, d, 0))
				continue;
			down = fors_lane_down(f, before->lanes, was, d, 0);
			counts->changed++;
			counts->needless += fors_live(f, a, was) && fors_live(f, f->server[d].leaf, down);
		}
}

static void one_series(const char *spec, struct fors_random *random, struct counts counts[BINS])
{
	struct scene scene = {0};
	unsigned bin = 0;

	begin(&scene, spec);
	for (unsigned failure = 1; failure <= FAILURES; failure++) {
		struct scene before = scene;

		cut_one(&scene, random);
		look(&scene);
		bin += failure > bin_end[bin];
		compare(&before, &scene, &counts[bin]);
		fors_lanes_free(before.lanes);
		fors_fabric_free(before.fabric);
	}
	fors_lanes_free(scene.lanes);
	fors_fabric_free(scene.fabric);
	fors_places_free(scene.places);
	fors_net_free(scene.net);
}

int main(int argc, char **argv)
{
	unsigned nseries = argc > 1 && !strcmp(argv[1], "--quick") ? 3 : 40;
	struct fors_random random = {1};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct counts counts[BINS] = {{0, 0}};

		for (unsigned series = 0; series < nseries; series++)
			one_series(specs[i], &random, counts);
		for (unsigned bin = 0; bin < BINS; bin++)
			printf("{\"fabric\": \"%s\", \"failures\": \"%u-%u\", \"changed\": %lu, \"way lived\": %lu}\n",
			       specs[i], bin ? bin_end[bin - 1] + 1 : 1, bin_end[bin], counts[bin].changed,
			       counts[bin].needless);
	}
	return 0;
}
