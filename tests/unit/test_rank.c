/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_rank.c - homes by rank: who came when does not matter after a ranking; between rankings nobody moves. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/tables/lanes.h"

static char *encode(const struct fors_places *places)
{
	size_t size;
	char *text;

	assert_int_equal(fors_places_encode(places, &text, &size, NULL), FORS_OK);
	return text;
}

static void rank(struct fors_places *places)
{
	assert_int_equal(fors_places_rank(places, NULL, NULL), FORS_OK);
}

static void learn(struct fors_places *places, const struct fors_net *net)
{
	struct fors_error error;

	if (fors_places_learn(places, net, NULL, 0, &error))
		fail_msg("%s", error.text);
}

static void learn_bed(struct bed *bed)
{
	learn(bed->places, bed->net);
	bed_rebuild(bed);
}

static unsigned home(const struct bed *bed, uint32_t leaf, uint32_t slot)
{
	return fors_slot(bed->fabric, leaf, slot)->home;
}

static void unplug(struct bed *bed, uint32_t leaf, unsigned port)
{
	fors_net_disconnect(bed->net, bed->fabric->leaf[leaf].node, port);
}

/* --- rankings --------------------------------------------------------------- */

/* The nodes of the intact net in random order: those that arrive are there from then on. */
static uint32_t *arrivals(const struct fors_net *net, struct rng *rng)
{
	uint32_t *order = malloc(net->nnodes * sizeof(*order));

	assert_non_null(order);
	for (uint32_t i = 0; i < net->nnodes; i++) {
		uint32_t j = rng_below(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

/* Take all cables of a node out. */
static void isolate(struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		fors_net_disconnect(net, node, p);
}

/* Learn the fabric as it grows to the intact one, in a few steps; rank at the end. Servers last: else sides are a guess. */
static struct fors_places *grow(const struct bed *bed, struct rng *rng)
{
	struct fors_places *places = fors_places_new();
	uint32_t *order = arrivals(bed->intact, rng), n = bed->intact->nnodes;

	assert_non_null(places);
	for (uint32_t there = n / 2; places && there <= n;
	     there += there < n && there + n / 4 > n ? n - there : n / 4) {
		struct fors_net *net FREED(fors_net_free) = NULL;

		assert_int_equal(fors_net_copy(bed->intact, &net, NULL), FORS_OK);
		for (uint32_t i = there; i < n; i++)
			if (net->node[order[i]].type == FORS_CA)
				isolate(net, order[i]);
		learn(places, net);
	}
	free(order);
	rank(places);
	return places;
}

static const char *const specs[] = {"FT(2;4,3)", "FT(2;7,8;servers=5)", "FT(2;5,4;servers=7;empty=0/0,1/3)",
				    "FT(2;3,6;cables=2;servers=8;empty=2/1,2/2,2/3,4/0)",
				    "FT(2;8,5;servers=6;empty=0/1,0/5,3/2)"};

TEST(arrival_does_not_matter)
{
	struct rng rng = {7};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i], 0);
		char *at_once FREED(free) = encode(bed->places);

		for (int again = 0; again < 10; again++) {
			struct fors_places *places FREED(fors_places_free) = grow(bed, &rng);
			char *grown FREED(free) = encode(places);

			assert_string_equal(grown, at_once);
		}
	}
}

/* A spine that came last is at the end of the order, until all is ranked. */
TEST(late_switches_are_ranked_too)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_places *places = fors_places_new(), *ranked = NULL;
	char *at_once = encode(bed->places), *grown;
	bool is_same = false;

	isolate(bed->net, bed->fabric->spine[1].node);
	for (unsigned p = 1; p <= 4; p++) /* of a leaf: its servers are there, but no way leads to them */
		unplug(bed, 2, p);
	isolate(bed->net, bed->fabric->leaf[2].node);
	learn(places, bed->net);
	learn(places, bed->intact);
	assert_int_equal(fors_places_ranked(places, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_false(is_same);
	grown = encode(ranked);
	assert_string_equal(grown, at_once);
	fors_places_free(places);
	places = ranked;
	ranked = NULL;
	assert_int_equal(fors_places_ranked(places, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_true(is_same && !ranked);
	fors_places_free(places);
	free(at_once);
	free(grown);
}

/* Stretched ranks may leave lanes to nobody for good: that is no reason to rank again. Nor is a spine that was replaced. */
TEST(what_is_ranked_stays)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;5,6;servers=1)", 0);
	struct fors_places *ranked = NULL;
	bool is_same = false;

	assert_int_equal(fors_places_ranked(bed->places, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_true(is_same && !ranked);
	bed->net->node[bed->fabric->spine[0].node].guid = 0xffff;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	learn_bed(bed);
	is_same = false;
	assert_int_equal(fors_places_ranked(bed->places, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_true(is_same && !ranked);
}

/* The phases that no plan over these tables goes below. */
static uint32_t tables_bound(const struct bed *bed)
{
	uint64_t bound = 0;

	assert_int_equal(fors_lanes_bound(bed->fabric, bed->lanes, &bound, NULL), FORS_OK);
	return (uint32_t)bound;
}

/*
 * Those who take part are ranked first, where that gains them something. The list alone moves nothing, neither before nor after; and
 * a ranking of all leads back.
 */
TEST(participants_come_first)
{
	struct rng rng = {.state = 7};
	uint32_t gained = 0;

	for (uint32_t count = 20; count <= 180; count += 20) {
		struct bed *bed FREED(bed_free) = bed_new(count % 40 ? "FT(2;8,18;servers=12)" : "FT(2;12,18)", 0);
		struct fors_places *ranked = NULL;
		char *before = encode(bed->places), *after;
		bool is_same = false;
		uint32_t bound;

		bed_random_participants(bed, &rng, count);
		bound = tables_bound(bed);
		assert_int_equal(fors_places_ranked(bed->places, &bed->participants, &ranked, &is_same, NULL), FORS_OK);
		assert_true(is_same && !ranked);
		assert_int_equal(fors_places_rank(bed->places, &bed->participants, NULL), FORS_OK);
		bed_rebuild(bed);
		assert_in_range(tables_bound(bed), count, bound);
		gained += tables_bound(bed) < bound;
		after = encode(bed->places);
		learn_bed(bed);
		assert_int_equal(fors_places_ranked(bed->places, NULL, &ranked, &is_same, NULL), FORS_OK);
		assert_true(is_same && !ranked);
		rank(bed->places);
		free(after);
		after = encode(bed->places);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
	assert_true(gained >= 3);
}

TEST(ranks_are_stretched_where_it_is_free)
{
	struct bed *bed = bed_new("FT(2;7,8;servers=5)", 0); /* 40 servers on 7 lanes: 42 is the next multiple */

	for (uint32_t r = 0; r < 40; r++)
		assert_int_equal(home(bed, r / 5, r % 5), r * 42 / 40 % 7);
	bed_free(bed);
	bed = bed_new("FT(2;7,8;servers=7;empty=0/0)", 0); /* two of a leaf would share a lane */
	for (uint32_t r = 0; r < 55; r++)
		assert_int_equal(home(bed, (r + 1) / 7, r < 6 ? r : (r + 1) % 7), r % 7);
	bed_free(bed);
}

/* A tree of `nleaves` leaves with so many servers, on `nlanes` spines. */
static struct bed *bed_of_sizes(unsigned nlanes, const unsigned *size, unsigned nleaves)
{
	char spec[512];
	size_t used = (size_t)snprintf(spec, sizeof(spec), "FT(2;%u,%u;servers=%u", nlanes, nleaves, nlanes);
	const char *before = ";empty=";

	for (unsigned a = 0; a < nleaves; a++)
		for (unsigned s = size[a]; s < nlanes; s++, before = ",")
			used += (size_t)snprintf(spec + used, sizeof(spec) - used, "%s%u/%u", before, a, s);
	snprintf(spec + used, sizeof(spec) - used, ")");
	return bed_new(spec, 0);
}

/* Servers of leaf b, at home on the lane; FORS_NONE: of all leaves. */
static uint32_t count_home(const struct bed *bed, uint32_t b, unsigned lane)
{
	uint32_t count = 0;

	for (uint32_t a = 0; a < bed->fabric->nleaves; a++)
		for (uint32_t s = 0; s < bed->fabric->leaf[a].nslots; s++)
			count += (a == b || b == FORS_NONE) && home(bed, a, s) == lane;
	return count;
}

/* Flows on the fullest uplink by the homes; no two servers of a leaf share one. */
static uint32_t fullest_uplink(const struct bed *bed)
{
	uint32_t fullest = 0;

	for (uint32_t a = 0; a < bed->fabric->nleaves; a++)
		for (unsigned k = 0; k < bed->fabric->nlanes; k++) {
			uint32_t own = count_home(bed, a, k);
			uint32_t flows = bed->fabric->leaf[a].nslots * (count_home(bed, FORS_NONE, k) - own);

			assert_true(own <= 1);
			fullest = flows > fullest ? flows : fullest;
		}
	return fullest;
}

/* By ranks alone 12, 12, 21 and 18 flows share one uplink; at least P, or a whole row of flows more than the rest, must. */
TEST(a_large_leaf_waits_for_no_single_uplink)
{
	static const struct {
		unsigned nlanes, nleaves, size[5], bound;
	} cases[] = {
		{7, 3, {1, 6, 1}, 8}, {8, 3, {2, 6, 2}, 10}, {8, 4, {2, 7, 7, 2}, 18}, {7, 5, {1, 6, 2, 6, 1}, 16}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed *bed FREED(bed_free) = bed_of_sizes(cases[i].nlanes, cases[i].size, cases[i].nleaves);

		assert_true(fullest_uplink(bed) <= cases[i].bound);
	}
}

TEST(what_is_left_over_is_marked)
{
	struct bed *bed FREED(bed_free) =
		bed_new("FT(2;4,3;servers=11;empty=1/0,1/1,1/2,1/3,1/4,1/5,1/6,1/7,2/0,2/1,2/2)", 0);

	for (uint32_t slot = 0; slot < 11; slot++)
		assert_int_equal(fors_slot(bed->fabric, 0, slot)->is_varied, slot >= 8); /* 11 on 4 lanes */
	for (uint32_t slot = 0; slot < 3; slot++)
		assert_false(fors_slot(bed->fabric, 1, slot)->is_varied); /* 3 on 4 lanes */
	for (uint32_t slot = 0; slot < 8; slot++)
		assert_false(fors_slot(bed->fabric, 2, slot)->is_varied); /* 8 on 4 lanes */
	for (uint32_t slot = 0; slot < 3; slot++) /* after 8 of leaf 0: what varies leaves no gap */
		assert_int_equal(home(bed, 1, slot), slot);
}

/* --- in between -------------------------------------------------------------- */

TEST(losses_move_nothing)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;servers=3)", 0);
	char *before = encode(bed->places), *after;

	unplug(bed, 0, 2);
	unplug(bed, 2, 3);
	learn_bed(bed);
	after = encode(bed->places);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

TEST(newcomers_move_nobody)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;servers=4)", 0);
	unsigned was[2];

	unplug(bed, 0, 1);
	unplug(bed, 0, 3);
	unplug(bed, 1, 4);
	fors_places_free(bed->places);
	bed->places = fors_places_new();
	learn_bed(bed); /* ranks: leaf 0 has 0, 1; leaf 1 has 2, 3, 0; leaf 2 has 1, 2, 3, 0 */
	was[0] = home(bed, 0, 0);
	was[1] = home(bed, 0, 1);
	assert_int_equal(was[0] * 4 + was[1], 1);
	bed_restore(bed);
	learn_bed(bed);
	assert_int_equal(bed->fabric->nservers, 12);
	for (uint32_t slot = 0; slot < 2; slot++) {
		assert_int_equal(home(bed, 0, slot), was[slot]);
		assert_true(fors_slot(bed->fabric, 0, slot)->is_ranked);
		assert_false(fors_slot(bed->fabric, 0, 2 + slot)->is_ranked);
	}
	/* Lanes of leaf 0 not used: 2 and 3, each by two servers elsewhere. Leaf 1: 1 is. */
	assert_int_equal(home(bed, 0, 2), 2);
	assert_int_equal(home(bed, 0, 3), 3);
	assert_int_equal(home(bed, 1, 3), 1);
}

/* The host of a port goes to another: its place goes with it, and nobody else's does. */
TEST(a_moved_host_keeps_its_home)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;servers=4;empty=1/3)", 0);
	uint32_t leaf = bed->fabric->leaf[1].node, node = fors_slot(bed->fabric, 1, 0)->node;
	unsigned was = home(bed, 1, 0);

	unplug(bed, 1, 1);
	assert_int_equal(fors_net_connect(bed->net, leaf, 4, node, 1, NULL), FORS_OK);
	learn_bed(bed);
	assert_int_equal(bed->fabric->leaf[1].nslots, 3);
	assert_int_equal(fors_slot(bed->fabric, 1, 0)->leaf_port, 4);
	assert_int_equal(home(bed, 1, 0), was);
	assert_true(fors_slot(bed->fabric, 1, 0)->is_ranked);
}

/* --- what it costs --------------------------------------------------------------- */

/* Leaf entries that differ. */
static uint32_t count_moved(const struct bed *bed, const struct fors_lfts *before)
{
	uint32_t moved = 0;

	for (uint32_t a = 0; a < bed->fabric->nleaves; a++)
		for (uint32_t s = 0; s < bed->fabric->nservers; s++) {
			uint32_t row = fors_lfts_row(before, bed->fabric->leaf[a].guid);
			uint32_t lid = bed->fabric->server[s].lid;

			moved += fors_lfts_port(before, row, lid) != fors_lfts_port(bed->lfts, row, lid);
		}
	return moved;
}

/* Who comes moves nobody; ranked afresh, the 360th server of 18 leaves moves half of the entries, wherever it is. */
TEST(the_last_server_moves_half)
{
	uint32_t sum = 0, most = 0, count = 0;

	for (uint32_t last = 0; last < 360; last += 37, count++) {
		struct bed *bed FREED(bed_free) = bed_new("FT(2;20,18)", 0);
		struct fors_lfts *before FREED(fors_lfts_free) = NULL;
		uint32_t moved;

		unplug(bed, last / 20, last % 20 + 1);
		fors_places_free(bed->places);
		bed->places = fors_places_new();
		learn_bed(bed);
		before = bed->lfts;
		bed->lfts = NULL;
		bed_restore(bed);
		learn_bed(bed);
		assert_int_equal(count_moved(bed, before), 18); /* its own LID */
		rank(bed->places);
		bed_rebuild(bed);
		moved = count_moved(bed, before);
		sum += moved;
		most = moved > most ? moved : most;
	}
	print_message("the 360th server: %u entries of 6480 move on average, at most %u\n", sum / count, most);
	assert_true(sum / count < 6480 * 6 / 10);
}
