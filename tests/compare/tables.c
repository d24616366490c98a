/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables.c - what the command cannot show of a fabric with failures, as bytes for compare.
 *
 *	tables SPEC LMC [NODE[PORT]]... [LEAF/LANE]...
 *
 * What NODE[PORT] names is down, the cables LEAF/LANE (numbers) are excluded. Written are the places as text,
 * learnt in three histories: intact; first with what is down, then intact; intact, then with other switches for
 * the first two spines. Then the LFTs over each of the places, read back from their text, and what is planned
 * over them without the excluded cables.
 *
 * It is built within the tree of either revision, so it uses little of core/, and each folder there is searched
 * for headers (compare says which): a header may move, and what it says may move to another that is named here.
 */
#if __has_include("drained.h") /* since the rooms */
#include "drained.h"
#else
#include "aside.h"
#define fors_drained_mark_cable(tree, number, reason) fors_aside_mark(fabric, leaf, lane, reason)
#define fors_drained_apply fors_aside_apply
#define FORS_DRAIN_EXCLUDED FORS_ASIDE_EXCLUDED
#endif
#if __has_include("fattree.h") /* since trees of two levels and three are one thing */
#include "fattree.h"
#define TREE_OF(fabric) fors_fattree_of_fabric(fabric)
#else
#define TREE_OF(fabric) (fabric)
#ifndef fors_drained_mark_cable
#define fors_drained_mark_cable(tree, number, reason) fors_drained_mark(fabric, leaf, lane, reason)
#endif
#endif
#if __has_include("tree_net.h") /* since FT, XGFT and PGFT are one language */
#include "tree_net.h"
#else
#include "synthetic.h"
#define fors_tree_spec fors_spec
#define fors_tree_spec_parse fors_spec_parse
#define fors_tree_spec_clear fors_spec_clear
#define fors_tree_net fors_synthetic
#endif
#include "fabric.h"
#include "places_file.h"
#include "planner.h"
#include "schedule_file.h"
#include "tables.h"
#if __has_include("lids.h")
#include "lids.h"
#endif
#if __has_include("places.h")
#include "places.h"
#endif
#if __has_include("lfts.h")
#include "lfts.h"
#endif
#if __has_include("lanes.h")
#include "lanes.h"
#endif
#if __has_include("method.h")
#include "method.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHER_GUID 0x300000 /* of the switch that replaces spine 0; that of spine 1 has the one before */

static struct fors_error error;

/* What fails is a result too, the same in either revision, but for its sentence. */
static bool is_good(const char *what, enum fors_err err)
{
	if (err) {
		printf("%s: %s\n", what, fors_strerror(err));
		fprintf(stderr, "%s: %s\n", what, error.text);
	}
	return !err;
}

static void die(const char *what)
{
	fprintf(stderr, "tables: %s: %s\n", what, error.text);
	exit(2);
}

static struct fors_net *copy(const struct fors_net *net)
{
	struct fors_net *result;

	if (fors_net_copy(net, &result, &error))
		die("copy");
	return result;
}

static struct fors_net *make_net(const char *text)
{
	struct fors_tree_spec spec;
	struct fors_net *net;

	if (fors_tree_spec_parse(text, &spec, &error) || fors_tree_net(&spec, &net, &error))
		die(text);
	fors_tree_spec_clear(&spec);
	return net;
}

static void take_down(const struct fors_net *intact, struct fors_net *net, char **name)
{
	for (; *name; name++)
		if (!strchr(*name, '/') && fors_net_down(intact, net, *name, &error))
			die(*name);
}

/* Other switches in the places of the first two spines, in the other order of GUIDs. */
static struct fors_net *with_other_spines(const struct fors_net *intact)
{
	struct fors_net *net = copy(intact);

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (!strcmp(net->node[i].id, "Spine00") || !strcmp(net->node[i].id, "Spine01"))
			net->node[i].guid = OTHER_GUID - (net->node[i].id[6] - '0');
	if (fors_net_index(net, &error))
		die("index");
	return net;
}

static void exclude(struct fors_fabric *fabric, char **name)
{
	unsigned leaf, lane;

	for (; *name; name++)
		if (sscanf(*name, "%u/%u", &leaf, &lane) == 2 && leaf < fabric->nleaves && lane < fabric->nlanes)
			fors_drained_mark_cable(TREE_OF(fabric), leaf * fabric->nlanes + lane, FORS_DRAIN_EXCLUDED);
	if (fors_drained_apply(TREE_OF(fabric), NULL, &error))
		die("exclude");
}

static void write_lfts(const struct fors_lfts *lfts)
{
	printf("lfts %u x %u\n", lfts->nswitches, lfts->nlids);
	for (uint32_t row = 0; row < lfts->nswitches; row++) {
		printf("%016" PRIx64, lfts->guid[row]);
		for (uint32_t lid = 0; lid < lfts->nlids; lid++)
			printf(" %u", lfts->port[(size_t)row * lfts->nlids + lid]);
		putchar('\n');
	}
}

static void write_plan(const struct fors_fabric *fabric, const struct fors_lfts *lfts)
{
	struct fors_task task = {.fabric = fabric};
	struct fors_schedule *schedule;
	struct fors_lanes *lanes;
	void *bytes;
	size_t size;

	if (fors_lanes_read(fabric, lfts, &lanes, &error))
		die("lanes");
	task.lanes = lanes;
	if (is_good("plan", fors_plan(&task, "auto", &schedule, &error))) {
		if (fors_schedule_encode(schedule, &bytes, &size, &error))
			die("encode");
		printf("schedule of %zu bytes\n", size);
		fwrite(bytes, size, 1, stdout);
		free(bytes);
		fors_schedule_free(schedule);
	}
	fors_lanes_free(lanes);
}

/* Tables and plan of the net over these places. */
static void write_fabric(const struct fors_net *net, const struct fors_places *places, char **name)
{
	struct fors_fabric *fabric;
	struct fors_lfts *lfts;

	if (!is_good("fabric", fors_fabric_build(net, places, NULL, &fabric, &error)))
		return;
	exclude(fabric, name);
	printf("fingerprint %016" PRIx64 "\n", fabric->fingerprint);
	if (is_good("tables", fors_tables_build(fabric, &lfts, &error))) {
		write_lfts(lfts);
		write_plan(fabric, lfts);
		fors_lfts_free(lfts);
	}
	fors_fabric_free(fabric);
}

/* The places that two nets teach, one after the other, then what follows from them for the second with failures. */
static void write_history(const char *what, const struct fors_net *first, const struct fors_net *second, unsigned lmc,
			  char **name)
{
	struct fors_places *learnt = fors_places_new(), *places;
	struct fors_net *net = copy(second);
	char *text;
	size_t size;

	printf("history: %s\n", what);
	if (!learnt || !is_good("first", fors_places_learn(learnt, first, NULL, 0, &error)) ||
	    !is_good("second", fors_places_learn(learnt, second, NULL, 0, &error)))
		goto out;
	if (fors_places_encode(learnt, &text, &size, &error) || fputs(text, stdout) < 0 ||
	    fors_places_decode(text, size, "places", &places, &error))
		die("places");
	if (is_good("LIDs", fors_assign_lids(net, places, lmc, false, &error))) {
		take_down(second, net, name);
		write_fabric(net, places, name);
	}
	fors_places_free(places);
	free(text);
out:
	fors_places_free(learnt);
	fors_net_free(net);
}

int main(int argc, char **argv)
{
	struct fors_net *intact, *damaged, *other;
	unsigned lmc;

	if (argc < 3)
		return 2;
	lmc = (unsigned)atoi(argv[2]);
	intact = make_net(argv[1]);
	damaged = copy(intact);
	take_down(intact, damaged, argv + 3);
	other = with_other_spines(intact);
	write_history("intact", intact, intact, lmc, argv + 3);
	write_history("first damaged", damaged, intact, lmc, argv + 3);
	write_history("other spines", intact, other, lmc, argv + 3);
	fors_net_free(other);
	fors_net_free(damaged);
	fors_net_free(intact);
	return ferror(stdout) || fflush(stdout) ? 2 : 0;
}
