/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * haste.c - how many phases the tables need that the plugin makes while OpenSM waits.
 *
 * usage: haste NETFILE [DOWN...]
 *
 * Prints "PHASES TABLES PLAN": phases of the plan that the worker makes over these tables, and milliseconds of processor time: of
 * the tables, of reading them, planning and proving.
 * One LID for each server. Ends with 1 where there is no plan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/netfile.h"
#include "core/planners/outcome.h"
#include "core/planners/routing.h"

static void must(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "haste: %s\n", error->text);
	exit(1);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct fors_net *read_net(const char *path)
{
	struct fors_error error = {0};
	FILE *file = fopen(path, "r");
	size_t room = (size_t)1 << 26, size;
	char *text = malloc(room);
	struct fors_net *net;

	if (!file || !text) {
		perror(path);
		exit(1);
	}
	size = fread(text, 1, room, file);
	fclose(file);
	must(fors_netfile_read(text, size, path, &net, NULL, &error), &error);
	free(text);
	return net;
}

static uint32_t plan(const struct fors_fattree *tree, const struct fors_net *net, const struct fors_lfts *lfts,
		     const struct fors_pods_route *rounds)
{
	struct fors_request request = {.task = {.fabric = tree->fabric}, .net = net, .lfts = lfts, .rounds = rounds};
	struct fors_schedule *schedule;
	struct fors_error error = {0};
	uint32_t phases;

	must(fors_plan_proven(&request, &schedule, NULL, &error), &error);
	phases = schedule->nphases;
	fors_schedule_free(schedule);
	return phases;
}

static void tell(const struct fors_net *net, const struct fors_places *places)
{
	struct fors_fattree tree;
	struct fors_lfts *lfts;
	struct fors_pods_route *rounds;
	struct fors_error error = {0};
	uint32_t phases;
	double start, spent;

	must(fors_fattree_build(net, places, NULL, &tree, &error), &error);
	start = now_ms();
	must(fors_routing_make(&tree, true, &lfts, &rounds, &error), &error);
	spent = now_ms() - start;
	phases = plan(&tree, net, lfts, rounds);
	printf("%u %.3f %.3f\n", phases, spent, now_ms() - start - spent);
	fors_routing_free(lfts, rounds);
	fors_fattree_free(&tree);
}

int main(int argc, char **argv)
{
	struct fors_places *places = fors_places_new();
	struct fors_net *intact, *now;
	struct fors_error error = {0};

	if (argc < 2 || !places) {
		fprintf(stderr, "usage: haste NETFILE [DOWN...]\n");
		return 2;
	}
	intact = read_net(argv[1]);
	must(fors_places_learn_tree(places, intact, NULL, 0, NULL, &error), &error);
	must(fors_net_copy(intact, &now, &error), &error);
	must(fors_assign_lids(now, places, 0, true, &error), &error);
	for (int i = 2; i < argc; i++)
		must(fors_net_down(intact, now, argv[i], &error), &error);
	tell(now, places);
	fors_net_free(now);
	fors_net_free(intact);
	fors_places_free(places);
	return 0;
}
