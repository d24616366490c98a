/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of core/fabric/repairs.c and core/planners/mended.c: what could be mended, that the fabric as it would be is
 * the one that is found when somebody has mended it, and what it gives back.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/fabric/drained.h"
#include "core/fabric/repairs.h"
#include "core/planners/mended.h"
#include "core/planners/outcome.h"

/* Phases of the plan of a fabric. */
static uint32_t phases_of(const struct fors_fabric *fabric, const struct fors_net *net)
{
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	struct fors_outcome outcome CLEARED(fors_outcome_clear);
	uint32_t phases;

	assert_int_equal(fors_tables_build(fabric, &lfts, NULL), FORS_OK);
	fors_outcome_init(&outcome);
	assert_int_equal(fors_outcome_make(&(struct fors_request){.task = {.fabric = fabric}, .net = net, .lfts = lfts},
					   &outcome, NULL),
			 FORS_OK);
	assert_true(outcome.is_proven);
	phases = outcome.plan->nphases;
	return phases;
}

/* The net as it is now, but for one switch, which is gone as a dead one is. */
static struct fors_net *without(const struct fors_net *net, uint64_t guid)
{
	struct fors_net *left = fors_net_new();
	uint32_t *to = calloc(net->nnodes, sizeof(*to));

	for (uint32_t n = 0; n < net->nnodes; n++) {
		const struct fors_node *node = &net->node[n];

		to[n] = FORS_NONE;
		if (node->guid == guid)
			continue;
		assert_int_equal(fors_net_add_node(left, node->type, node->nports, node->guid, node->id, node->desc,
						   &to[n], NULL),
				 FORS_OK);
		for (unsigned p = 0; p <= node->nports; p++) {
			*fors_net_port(left, to[n], p) = *fors_net_port(net, n, p);
			fors_net_port(left, to[n], p)->peer = FORS_NONE;
		}
	}
	for (uint32_t n = 0; n < net->nnodes; n++)
		for (unsigned p = 1; p <= net->node[n].nports; p++) {
			const struct fors_port *port = fors_net_port(net, n, p);

			if (to[n] != FORS_NONE && port->peer != FORS_NONE && to[port->peer] != FORS_NONE &&
			    n < port->peer)
				assert_int_equal(
					fors_net_connect(left, to[n], p, to[port->peer], port->peer_port, NULL),
					FORS_OK);
		}
	free(to);
	assert_int_equal(fors_net_index(left, NULL), FORS_OK);
	return left;
}

/* Mend it by hand, in a copy of the bed's net, from the intact one. */
static struct fors_net *mend_by_hand(const struct bed *bed, const struct fors_repair *repair)
{
	const struct fors_fabric *f = bed->fabric;
	struct fors_net *net;

	assert_int_equal(fors_net_copy(bed->net, &net, NULL), FORS_OK);
	for (uint32_t leaf = 0; leaf < f->nleaves; leaf++)
		for (uint32_t lane = 0; lane < f->nlanes; lane++) {
			const struct fors_cable *cable = fors_cable(f, leaf, lane);
			bool is_meant = repair->leaf == FORS_NONE ? f->lane[lane].spine == f->lane[repair->lane].spine
								  : leaf == repair->leaf && lane == repair->lane;

			if (is_meant && cable->state == FORS_CABLE_DEAD)
				assert_int_equal(
					fors_net_connect(net, fors_net_find_guid(net, f->leaf[leaf].guid),
							 cable->leaf_port,
							 fors_net_find_guid(net, f->spine[f->lane[lane].spine].guid),
							 cable->spine_port, NULL),
					FORS_OK);
		}
	return net;
}

/* Each repair of a bed gives the fabric, and the phases, that it has when it was done. */
static void assert_repairs_are_true(const struct bed *bed)
{
	struct fors_repair *list FREED(free) = NULL;
	uint32_t count, now = phases_of(bed->fabric, bed->net);

	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct fors_net *net FREED(fors_net_free) = mend_by_hand(bed, &list[i]);
		struct fors_task task = {.fabric = bed->fabric};
		struct fors_fabric *fabric FREED(fors_fabric_free) = NULL;
		struct fors_mended mended CLEARED(fors_mended_free);
		uint32_t told = 0, real;

		assert_int_equal(fors_fabric_build(net, bed->places, NULL, &fabric, NULL), FORS_OK);
		assert_int_equal(fors_mended_build(fors_fattree_of_fabric(bed->fabric), &list[i], &mended, NULL),
				 FORS_OK);
		assert_true(mended.tree.fabric->fingerprint == fabric->fingerprint);
		assert_int_equal(mended.tree.fabric->affected_spines, fabric->affected_spines);
		real = phases_of(fabric, net);
		assert_int_equal(
			fors_phases_mended(&task, fors_fattree_of_fabric(task.fabric), &list[i], now, &told, NULL),
			FORS_OK);
		assert_int_equal(told, real < now ? real : now);
	}
}

TEST(a_repair_gives_what_it_gives_when_it_is_done)
{
	static const char *const specs[] = {"FT(2;8,4)", "FT(2;4,3;cables=2)", "FT(2;6,6;servers=4)"};
	struct rng rng = {19};

	for (unsigned i = 0; i < 24; i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i % 3], i % 4);

		bed_random_failures(bed, &rng, 1 + rng_below(&rng, 6));
		assert_repairs_are_true(bed);
	}
}

TEST(a_dead_spine_is_one_repair)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;6,4)", 3);
	struct fors_net *gone;
	struct fors_fabric *fabric;
	struct fors_repair *list;
	struct fors_mended mended;
	struct fors_task task = {0};
	uint32_t count, phases = 0;

	bed_down(bed, "Leaf02[7]");
	gone = without(bed->net, bed->fabric->spine[3].guid);
	assert_int_equal(fors_fabric_build(gone, bed->places, NULL, &fabric, NULL), FORS_OK);
	assert_int_equal(fabric->spine[3].node, FORS_NONE);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 2);
	assert_int_equal(list[0].leaf, FORS_NONE); /* the spine first */
	assert_int_equal(fabric->lane[list[0].lane].spine, 3);
	assert_int_equal(list[1].leaf, 2);
	assert_int_equal(fors_mended_build(fors_fattree_of_fabric(fabric), &list[0], &mended, NULL), FORS_OK);
	assert_true(mended.tree.fabric->fingerprint == bed->fabric->fingerprint);
	task.fabric = fabric;
	assert_int_equal(fors_phases_mended(&task, fors_fattree_of_fabric(task.fabric), &list[0], 1000, &phases, NULL),
			 FORS_OK);
	assert_int_equal(phases, phases_of(bed->fabric, bed->net));
	fors_mended_free(&mended);
	free(list);
	fors_fabric_free(fabric);
	fors_net_free(gone);

	bed_down(bed, "Spine03"); /* it is there, without a cable */
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 2);
	assert_int_equal(list[0].leaf, FORS_NONE);
	assert_repairs_are_true(bed);
	free(list);
}

TEST(the_leaf_that_lacks_most_is_asked_first)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;6,4)", 3);
	struct fors_repair *list FREED(free) = NULL;
	uint32_t count;

	bed_down(bed, "Leaf00[7] Leaf03[8] Leaf03[9] Leaf01[10]");
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 4);
	assert_int_equal(list[0].leaf, 3);
	assert_int_equal(list[1].leaf, 3);
	assert_int_equal(list[2].leaf, 0);
	assert_int_equal(list[3].leaf, 1);
}

/* Cables of a dead leaf, ports that were given to others, cables that live: nothing to mend. */
TEST(what_is_no_repair)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;6,4)", 0);
	struct fors_repair *list, odd = {0, 0, 0};
	struct fors_mended mended;
	struct fors_net *gone;
	struct fors_fabric *fabric;
	struct fors_error error;
	uint32_t count, a = bed->fabric->leaf[1].node, b = bed->fabric->leaf[2].node;

	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 0);
	free(list);
	assert_int_equal(fors_mended_build(fors_fattree_of_fabric(bed->fabric), &odd, &mended, &error), FORS_EINPUT);
	gone = without(bed->net, bed->fabric->leaf[0].guid);
	assert_int_equal(fors_fabric_build(gone, bed->places, NULL, &fabric, NULL), FORS_OK);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 0);
	free(list);
	fors_fabric_free(fabric);
	fors_net_free(gone);
	fors_net_disconnect(bed->net, a, 7);
	fors_net_disconnect(bed->net, b, 8);
	assert_int_equal(fors_net_connect(bed->net, a, 7, bed->fabric->spine[1].node, 3, NULL), FORS_OK);
	bed_rebuild(bed); /* Leaf01[7] is in Leaf02's place now, which has a free port */
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 0);
	free(list);
}

/* Plug a host of its own into a port of a switch. */
static void plug_host(struct bed *bed, uint32_t node, unsigned port)
{
	uint32_t host;

	assert_int_equal(fors_net_add_node(bed->net, FORS_CA, 1, 0x77, "H-77", "visitor", &host, NULL), FORS_OK);
	fors_net_port(bed->net, host, 1)->guid = 0x78;
	assert_int_equal(fors_net_connect(bed->net, host, 1, node, port, NULL), FORS_OK);
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	bed_rebuild(bed);
}

/* A spine without a living cable, in whose port for Leaf01 a host is: it comes back with the other cables. */
TEST(a_spine_whose_port_is_taken)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	uint32_t count, node = bed->fabric->spine[2].node;
	struct fors_repair *list FREED(free) = NULL;
	struct fors_mended mended CLEARED(fors_mended_free);

	bed_down(bed, "Spine02");
	plug_host(bed, node, fors_cable(bed->fabric, 1, 2)->spine_port);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].leaf, FORS_NONE);
	assert_int_equal(fors_mended_build(fors_fattree_of_fabric(bed->fabric), &list[0], &mended, NULL), FORS_OK);
	for (uint32_t leaf = 0; leaf < bed->fabric->nleaves; leaf++) {
		const struct fors_cable *cable = fors_cable(mended.tree.fabric, leaf, 2);

		assert_int_equal(cable->state == FORS_CABLE_LIVE, leaf != 1);
	}
}

/* A slow cable that is drained counts as broken, one that an administrator excludes does not. */
TEST(drained_cables)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;6,4)", 3);
	struct fors_repair *list;
	struct fors_mended mended;
	uint32_t count, node = bed->fabric->leaf[3].node;
	uint64_t healthy = bed->fabric->fingerprint;

	fors_net_port(bed->net, node, 9)->is_degraded = true;
	bed_rebuild(bed);
	fors_drained_degraded(fors_fattree_of_fabric(bed->fabric));
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), NULL, NULL), FORS_OK);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].leaf, 3);
	assert_int_equal(fors_mended_build(fors_fattree_of_fabric(bed->fabric), &list[0], &mended, NULL), FORS_OK);
	assert_true(mended.tree.fabric->fingerprint == healthy);
	assert_false(fors_net_port(mended.net, node, 9)->is_degraded);
	fors_mended_free(&mended);
	free(list);
	bed_restore(bed);
	mark_drained(bed->fabric, 1, 1, FORS_DRAIN_EXCLUDED);
	mark_drained(bed->fabric, 1, 2, FORS_DRAIN_HELD);
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), NULL, NULL), FORS_OK);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 0);
	free(list);
}

static bool at_once(void *context)
{
	++*(int *)context;
	return true;
}

TEST(it_can_be_broken_off)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;8,6)", 0);
	struct fors_repair *list FREED(free) = NULL;
	struct fors_error error;
	int asked = 0;
	struct fors_task task = {.cancelled = at_once, .context = &asked};
	uint32_t count, phases = 77;

	bed_down(bed, "Leaf00[9]");
	task.fabric = bed->fabric;
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(
		fors_phases_mended(&task, fors_fattree_of_fabric(task.fabric), &list[0], 1000, &phases, &error),
		FORS_ECANCELLED);
	assert_int_equal(phases, 77);
	assert_true(asked > 0);
	asked = 0; /* at the bound already: nothing is planned */
	assert_int_equal(fors_phases_mended(&task, fors_fattree_of_fabric(task.fabric), &list[0], bed->fabric->nservers,
					    &phases, &error),
			 FORS_OK);
	assert_int_equal(phases, bed->fabric->nservers);
	assert_int_equal(asked, 0);
}
