/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of core/fabric/drained.c and core/fabric/holddown.c: names, what is drained and what has to stay, and who is held
 * how long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/base/names.h"
#include "core/fabric/drained.h"
#include "core/net/lfts.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"
#include "core/fabric/holddown.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "core/tables/turns.h"

FREES(fors_turns_free, struct fors_turns *)

FREES(fors_holddown_free, struct fors_holddown *)

#define HOLD 10000

/* Mark, from "LINK, LINK" and "SPINE, SPINE"; NULL for none. */
static void exclude(struct bed *bed, const char *links, const char *spines, struct fors_warnings *warnings)
{
	struct fors_names names = {NULL, 0};

	memset(warnings, 0, sizeof(*warnings));
	assert_int_equal(fors_names_add(&names, spines ? spines : "", NULL), FORS_OK);
	fors_drained_spines(fors_fattree_of_fabric(bed->fabric), &names, "exclude_spines", warnings);
	fors_names_clear(&names);
	assert_int_equal(fors_names_add(&names, links ? links : "", NULL), FORS_OK);
	fors_drained_links(fors_fattree_of_fabric(bed->fabric), &names, "exclude_links", warnings);
	fors_names_clear(&names);
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), warnings, NULL), FORS_OK);
}

static uint32_t count_drained(const struct bed *bed)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < bed->fabric->nleaves * bed->fabric->nlanes; i++)
		count += bed->fabric->cable[i].drained && bed->fabric->cable[i].state == FORS_CABLE_DEAD;
	return count;
}

/* New tables and lanes for the fabric as it is; plan by every method; all flows stay off drained cables. */
static void plan_around(struct bed *bed)
{
	struct fors_schedule *schedule;
	struct fors_error error = {0};
	struct fors_task task;

	fors_lfts_free(bed->lfts);
	fors_lanes_free(bed->lanes);
	assert_int_equal(fors_tables_build(bed->fabric, &bed->lfts, NULL), FORS_OK);
	assert_int_equal(fors_lanes_read(bed->fabric, bed->lfts, &bed->lanes, NULL), FORS_OK);
	task = bed_task(bed);
	if (fors_plan(&task, "auto", &schedule, &error))
		fail_msg("%s", error.text);
	assert_plan(bed, schedule, "auto");
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);

			if (cell.dst == FORS_IDLE || cell.lane == FORS_NO_LANE)
				continue;
			assert_true(fors_live(bed->fabric, bed->fabric->server[s].leaf, cell.lane));
			assert_int_not_equal(fors_lane_down(bed->fabric, bed->lanes, cell.lane, cell.dst, cell.path),
					     FORS_NO_LANE);
		}
	fors_schedule_free(schedule);
}

TEST(names_are_cut_at_commas)
{
	struct fors_names names = {NULL, 0};

	assert_int_equal(fors_names_add(&names, " Leaf 00[3] ,,\tMF0;sw:SX/U1 , ", NULL), FORS_OK);
	assert_int_equal(fors_names_add(&names, "x", NULL), FORS_OK);
	assert_int_equal(names.count, 3);
	assert_string_equal(names.name[0], "Leaf 00[3]");
	assert_string_equal(names.name[1], "MF0;sw:SX/U1");
	assert_string_equal(names.name[2], "x");
	fors_names_clear(&names);
	assert_int_equal(names.count, 0);
}

TEST(excluded_is_as_good_as_dead)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2), *dead = bed_new("FT(2;4,4)", 2);
	struct fors_warnings warnings;

	exclude(bed, "Leaf00[5], Spine02[3]", NULL, &warnings);
	bed_down(dead, "Leaf00[5] Spine02[3]");
	assert_int_equal(warnings.count, 0);
	assert_int_equal(count_drained(bed), 2);
	assert_int_equal(bed->fabric->reduction, dead->fabric->reduction);
	assert_int_equal(bed->fabric->affected_spines, dead->fabric->affected_spines);
	assert_int_equal(bed->fabric->leaf[0].nlive, 3);
	assert_int_equal(bed->fabric->fingerprint, dead->fabric->fingerprint);
	plan_around(bed);
	for (uint32_t a = 0; a < 4; a++) /* for servers the leaves' tables are those of a dead cable */
		for (uint32_t s = 0; s < 16; s++)
			for (uint32_t i = 0; i < 4; i++) {
				uint32_t row = fors_lfts_row(bed->lfts, bed->fabric->leaf[a].guid);
				uint32_t lid = bed->fabric->server[s].lid + i;

				assert_int_equal(fors_lfts_port(bed->lfts, row, lid),
						 fors_lfts_port(dead->lfts, row, lid));
			}
	bed_free(bed);
	bed_free(dead);
}

/* Down over cables that are drained each LID has the cable of its home, as over living ones. */
TEST(aside_each_goes_down_its_own)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3;cables=2;servers=4)", 2);
	struct fors_warnings warnings;
	const struct fors_fabric *f;

	exclude(bed, NULL, "Spine01", &warnings);
	plan_around(bed);
	f = bed->fabric;
	for (uint32_t s = 0; s < f->leaf[0].nservers; s++)
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t home = fors_home_lane(f, 0, f->server[s].slot, i);
			uint32_t row = fors_lfts_row(bed->lfts, f->spine[1].guid);

			if (f->lane[home].spine == 1)
				assert_int_equal(fors_lfts_port(bed->lfts, row, f->server[s].lid + i),
						 fors_cable(f, 0, home)->spine_port);
		}
	assert_int_equal(fors_lfts_port(bed->lfts, fors_lfts_row(bed->lfts, f->spine[1].guid),
					fors_net_port(bed->net, f->leaf[0].node, 0)->lid),
			 fors_cable(f, 0, 2)->spine_port); /* the leaf itself over the first one */
}

/* Every LID of the net from every switch: the number of those that do not arrive. */
static unsigned count_lost(const struct bed *bed)
{
	const struct fors_net *net = bed->net;
	unsigned lost = 0;

	for (uint32_t from = 0; from < net->nnodes; from++)
		for (uint32_t i = 0; net->node[from].type == FORS_SWITCH && i < net->nports; i++)
			for (unsigned k = 0; net->port[i].lid && k < 1u << net->port[i].lmc; k++) {
				uint32_t node = from;
				int hops = 0;

				for (; hops < 6 && net->node[node].type == FORS_SWITCH; hops++) {
					uint32_t row = fors_lfts_row(bed->lfts, net->node[node].guid);
					uint8_t port = fors_lfts_port(bed->lfts, row, net->port[i].lid + k);

					if (!port || port > net->node[node].nports)
						break;
					node = fors_net_port(net, node, port)->peer;
					if (node == FORS_NONE)
						break;
				}
				lost += node == FORS_NONE ||
					!(i >= net->node[node].first_port &&
					  i <= net->node[node].first_port + net->node[node].nports);
			}
	return lost;
}

TEST(nothing_is_lost_by_a_drain)
{
	static const char *const specs[] = {"FT(2;3,3)", "FT(2;4,3;servers=2)", "FT(2;2,4;cables=2)",
					    "FT(2;3,5;servers=4)"};

	for (size_t n = 0; n < sizeof(specs) / sizeof(specs[0]); n++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[n], 2);
		struct fors_warnings warnings;

		exclude(bed, "Leaf01[5]", "Spine01", &warnings);
		plan_around(bed);
		assert_int_equal(count_lost(bed), 0);
	}
}

TEST(what_is_needed_stays)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 1);
	struct fors_warnings warnings;

	bed_down(bed, "Leaf00[3]"); /* Spine00 */
	exclude(bed, NULL, "Spine01", &warnings);
	assert_int_equal(count_drained(bed), 0); /* Leaf00 reaches the others over Spine01 only */
	assert_int_equal(warnings.count, 3);
	assert_non_null(strstr(warnings.text[0], "Leaf00[4] - Spine01[1] stays in use"));
	plan_around(bed);
	bed_restore(bed);
	exclude(bed, NULL, "Spine00,Spine01", &warnings); /* a slip: all spines */
	assert_int_equal(bed->fabric->unreachable_pairs, 0);
	assert_int_equal(count_drained(bed), 3);
	plan_around(bed);
}

/* Leaf00 comes first and has three live spines, so those turn there; the fourth, over a drained cable, turns at Leaf01. */
TEST(spines_turn_at_live_cables)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_warnings warnings;
	struct fors_turns *turns FREED(fors_turns_free) = NULL;

	exclude(bed, "Leaf00[8]", NULL, &warnings);
	assert_int_equal(fors_turns_build(bed->fabric, &turns, NULL), FORS_OK);
	assert_int_equal(turns->leaf[0], 0);
	assert_int_equal(turns->leaf[2], 0);
	assert_int_equal(turns->leaf[3], 1);
}

/* The entries of Leaf00 for the servers of Leaf01, in port[], of tables for the fabric as it is. */
static void entries_of_leaf00(struct bed *bed, uint8_t port[3])
{
	uint32_t row;

	fors_lfts_free(bed->lfts);
	assert_int_equal(fors_tables_build(bed->fabric, &bed->lfts, NULL), FORS_OK);
	row = fors_lfts_row(bed->lfts, bed->fabric->leaf[0].guid);
	for (uint32_t s = 0; s < 3; s++)
		port[s] = fors_lfts_port(bed->lfts, row, fors_slot(bed->fabric, 1, s)->lid);
}

/*
 * Leaf00 and Leaf02 have no servers, and the first has only cables that are drained. When Leaf02 loses the spines that Leaf01
 * has, it gets there by a detour; the entries of Leaf00, by its first cable that carries, stay.
 */
TEST(a_torn_leaf_moves_no_entry_of_others)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4;empty=0/0,0/1,0/2,2/0,2/1,2/2)", 0);
	struct fors_warnings warnings;
	uint8_t before[3], after[3];

	bed_down(bed, "Leaf01[6]");
	exclude(bed, "Leaf00[4], Leaf00[5], Leaf00[6]", NULL, &warnings);
	assert_int_equal(count_drained(bed), 3);
	entries_of_leaf00(bed, before);
	assert_int_equal(before[0], 4);
	bed_down(bed, "Leaf01[6] Leaf02[4] Leaf02[5]");
	exclude(bed, "Leaf00[4], Leaf00[5], Leaf00[6]", NULL, &warnings);
	assert_int_equal(count_drained(bed), 3);
	entries_of_leaf00(bed, after);
	assert_memory_equal(before, after, sizeof(before));
}

TEST(held_goes_before_excluded)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_warnings warnings = {0};

	mark_drained(bed->fabric, 0, 0, FORS_DRAIN_EXCLUDED);
	mark_drained(bed->fabric, 0, 1, FORS_DRAIN_HELD);
	mark_drained(bed->fabric, 0, 1, FORS_DRAIN_EXCLUDED); /* the first mark stays */
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), &warnings, NULL), FORS_OK);
	assert_false(fors_live(bed->fabric, 0, 0));
	assert_true(fors_live(bed->fabric, 0, 1));
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text[0], "held"));
}

/* One way between two leaves has to come back: Leaf00 over Spine00 for this reason, or over Spine01 for that one. */
static void assert_called_back(enum fors_drain_reason stays, enum fors_drain_reason returns)
{
	for (uint32_t at = 0; at < 2; at++) {
		struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2;servers=1)", 1);
		struct fors_warnings warnings = {0};

		mark_drained(bed->fabric, 0, at, returns);
		mark_drained(bed->fabric, 0, 1 - at, stays);
		assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), &warnings, NULL), FORS_OK);
		assert_true(fors_live(bed->fabric, 0, at));
		assert_false(fors_live(bed->fabric, 0, 1 - at));
		assert_int_equal(warnings.count, 1);
		assert_non_null(strstr(warnings.text[0], fors_drained_name(returns)));
	}
}

TEST(held_before_degraded_before_excluded)
{
	assert_called_back(FORS_DRAIN_EXCLUDED, FORS_DRAIN_DEGRADED);
	assert_called_back(FORS_DRAIN_EXCLUDED, FORS_DRAIN_HELD);
	assert_called_back(FORS_DRAIN_DEGRADED, FORS_DRAIN_HELD);
}

/* Two degraded cables come back rather than one excluded. */
TEST(two_rather_than_a_worse_one)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_warnings warnings = {0};

	mark_drained(bed->fabric, 0, 0, FORS_DRAIN_EXCLUDED);
	mark_drained(bed->fabric, 0, 1, FORS_DRAIN_DEGRADED);
	mark_drained(bed->fabric, 1, 1, FORS_DRAIN_DEGRADED);
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), &warnings, NULL), FORS_OK);
	assert_false(fors_live(bed->fabric, 0, 0));
	assert_true(fors_live(bed->fabric, 0, 1) && fors_live(bed->fabric, 1, 1));
	assert_int_equal(warnings.count, 2);
}

/* Of spines for which as much has to be called back, the first. */
TEST(of_equal_spines_the_first)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,2)", 1);
	struct fors_warnings warnings;

	exclude(bed, "Leaf00", NULL, &warnings);
	assert_int_equal(count_drained(bed), 2);
	assert_true(fors_live(bed->fabric, 0, 0));
	assert_int_equal(warnings.count, 1);
}

TEST(leaves_that_nobody_uses_may_be_cut)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3;empty=2/0,2/1)", 1);
	struct fors_warnings warnings;

	exclude(bed, "Leaf02", NULL, &warnings);
	assert_int_equal(warnings.count, 0);
	assert_int_equal(count_drained(bed), 2);
	plan_around(bed);
	assert_int_equal(count_lost(bed), 0);
}

TEST(odd_names_get_warnings)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_warnings warnings;

	exclude(bed, "Leaf07, Leaf00[1], Leaf00[77], Node00-00, Leaf00[3]", "Leaf01, Spine00[1], Spine09", &warnings);
	assert_int_equal(warnings.count, 7);
	assert_int_equal(count_drained(bed), 1);
	for (unsigned i = 0; i < 7; i++)
		assert_non_null(strstr(warnings.text[i], i < 3 ? "exclude_spines: " : "exclude_links: "));
	bed_restore(bed);
	strcpy(bed->net->node[bed->fabric->spine[0].node].desc, "twin");
	strcpy(bed->net->node[bed->fabric->spine[1].node].desc, "twin");
	exclude(bed, NULL, "twin", &warnings);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text[0], "several nodes"));
}

/* As on a fabric where nobody named the switches. */
TEST(many_with_one_description)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;9,12)", 1);
	struct fors_warnings warnings;
	const char *text = warnings.text[0];

	for (uint32_t n = 0; n < bed->net->nnodes; n++)
		snprintf(bed->net->node[n].desc, sizeof(bed->net->node[n].desc), "%s",
			 "a switch with a description of sixty-three bytes; the most ever");
	exclude(bed, NULL, bed->net->node[0].desc, &warnings);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(text, "use a GUID: 0x"));
	assert_non_null(strstr(text, " more; ignored"));
}

TEST(the_dead_may_be_named)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_warnings warnings;
	uint64_t guid = bed->fabric->spine[1].guid;
	char text[64];

	bed_down(bed, "Leaf00[4]");
	exclude(bed, "Leaf00[4]", NULL, &warnings);
	assert_int_equal(warnings.count, 0);
	bed->fabric->spine[1].node = FORS_NONE; /* powered off, and not in the net any more */
	bed->net->node[3].guid = 1;
	for (uint32_t n = 0; n < bed->net->nnodes; n++)
		if (!strcmp(bed->net->node[n].desc, "Spine01")) {
			strcpy(bed->net->node[n].desc, "gone");
			strcpy(bed->net->node[n].id, "gone");
			bed->net->node[n].guid = 0;
		}
	snprintf(text, sizeof(text), "Spine01, 0x%llx", (unsigned long long)guid);
	exclude(bed, "Spine01[1]", text, &warnings);
	assert_int_equal(warnings.count, 0);
	strcpy(bed->fabric->spine[1].name, "MF0;sw-01:MQM8700/U1");
	exclude(bed, "sw-01[1]", "sw-01/U1", &warnings);
	assert_int_equal(warnings.count, 0);
}

TEST(warnings_have_an_end)
{
	struct fors_warnings warnings = {0};

	for (int i = 0; i < 1000; i++)
		fors_warn(&warnings, "%d", i);
	fors_warn(NULL, "nobody listens");
	assert_int_equal(warnings.count, 1000);
	assert_int_equal(fors_warnings_kept(&warnings), FORS_WARNINGS_MAX);
	assert_string_equal(warnings.text[FORS_WARNINGS_MAX - 1], "7");
}

TEST(random_excludes)
{
	struct rng rng = {7};

	for (int round = 0; round < 60; round++) {
		struct bed *bed FREED(bed_free) =
			bed_new(round % 2 ? "FT(2;4,4)" : "FT(2;3,4;cables=2)", round % 3 ? 3 : 0);
		struct fors_warnings warnings = {0};

		bed_random_failures(bed, &rng, rng_below(&rng, 6));
		for (uint32_t i = 0; i < 12; i++)
			mark_drained(bed->fabric, rng_below(&rng, bed->fabric->nleaves),
				     rng_below(&rng, bed->fabric->nlanes),
				     (enum fors_drain_reason)(FORS_DRAIN_EXCLUDED + rng_below(&rng, 3)));
		assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), &warnings, NULL), FORS_OK);
		assert_int_equal(bed->fabric->unreachable_pairs, 0);
		plan_around(bed);
	}
}

/* --- watch ---------------------------------------------------------------- */

static struct fors_moment at(uint64_t seconds)
{
	return (struct fors_moment){seconds * 1000 + 1, 1700000000000 + seconds * 1000};
}

/* Look at the bed at a time, and release; the number of held cables. */
static uint32_t look(struct fors_holddown *watch, struct bed *bed, uint64_t seconds)
{
	bed_rebuild(bed);
	assert_int_equal(fors_holddown_look(watch, fors_fattree_of_fabric(bed->fabric), at(seconds), NULL), FORS_OK);
	fors_holddown_release(watch, at(seconds).ms, HOLD);
	return fors_holddown_mark(watch, fors_fattree_of_fabric(bed->fabric));
}

TEST(what_returns_is_held)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();
	const struct fors_cable *cable;

	assert_int_equal(look(watch, bed, 0), 0);
	bed_down(bed, "Leaf01[3]");
	assert_int_equal(look(watch, bed, 5), 0);
	cable = fors_cable(bed->fabric, 1, 0);
	assert_int_equal(cable->since_ms, at(5).unix_ms);
	assert_int_equal(fors_holddown_due(watch, HOLD), 0);
	bed_restore(bed);
	assert_int_equal(look(watch, bed, 8), 1);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->drained, FORS_DRAIN_HELD);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->since_ms, at(8).unix_ms);
	assert_int_equal(fors_holddown_due(watch, HOLD), at(18).ms);
	assert_int_equal(look(watch, bed, 17), 1);
	assert_int_equal(look(watch, bed, 18), 0);
	assert_int_equal(fors_holddown_due(watch, HOLD), 0);
}

/* Changes of the last hour, counted by quarters. */
TEST(changes_are_counted)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();

	look(watch, bed, 0);
	for (unsigned i = 0; i < 3; i++) {
		bed_down(bed, "Leaf01[3]");
		look(watch, bed, 100 + 6 * i);
		bed_restore(bed);
		look(watch, bed, 103 + 6 * i);
		assert_int_equal(fors_cable(bed->fabric, 1, 0)->changes, 2 * i + 2);
		assert_int_equal(fors_cable(bed->fabric, 0, 0)->changes, 0);
	}
	look(watch, bed, 3000);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->changes, 6);
	bed_down(bed, "Leaf01[3]");
	look(watch, bed, 3700);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->changes, 7);
	look(watch, bed, 4600);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->changes, 1);
	look(watch, bed, 900000);
	assert_int_equal(fors_cable(bed->fabric, 1, 0)->changes, 0);
}

static struct fors_flap flap_of(const struct fors_holddown *watch, const struct bed *bed, uint32_t slot)
{
	struct fors_flap flap;

	assert_true(fors_holddown_host(watch, fors_fattree_of_fabric(bed->fabric), slot, &flap));
	assert_int_equal(flap.slot, slot);
	return flap;
}

/* A host's cable is counted and held as others are; it is none between switches, and stays what it is for tables. */
TEST(hosts_that_return_are_held)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(look(watch, bed, 30 * i), 0);
		bed_down(bed, "Leaf01[1]");
		assert_int_equal(look(watch, bed, 30 * i + 5), 0);
		assert_int_equal(flap_of(watch, bed, 2).since_ms, at(30 * i + 5).unix_ms);
		assert_false(flap_of(watch, bed, 2).is_held);
		bed_restore(bed);
		assert_int_equal(look(watch, bed, 30 * i + 8), 0);
		assert_true(flap_of(watch, bed, 2).is_held);
		assert_int_equal(flap_of(watch, bed, 2).changes, 2 * i + 2);
		assert_int_equal(flap_of(watch, bed, 1).changes, 0);
		assert_int_equal(fors_holddown_due(watch, HOLD), at(30 * i + 18).ms);
		look(watch, bed, 30 * i + 18);
		assert_false(flap_of(watch, bed, 2).is_held);
	}
}

TEST(each_flap_starts_anew)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();

	look(watch, bed, 0);
	for (uint64_t t = 10; t < 100; t += 10) {
		bed_down(bed, "Leaf01[3]");
		assert_int_equal(look(watch, bed, t), 0);
		bed_restore(bed);
		assert_int_equal(look(watch, bed, t + 1), 1);
	}
	assert_int_equal(look(watch, bed, 100), 1);
	assert_int_equal(look(watch, bed, 101), 0);
}

TEST(returns_are_rate_limited)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();
	static const char *const down[] = {"Leaf01[5] Leaf02[5] Leaf03[5]", "Leaf02[5] Leaf03[5]", "Leaf03[5]"};

	look(watch, bed, 0);
	for (uint64_t i = 0; i < 3; i++) { /* three die, and come back a second after each other */
		bed_restore(bed);
		bed_down(bed, down[i]);
		look(watch, bed, 1 + i);
	}
	bed_restore(bed);
	assert_int_equal(look(watch, bed, 4), 3);
	assert_int_equal(look(watch, bed, 12), 2); /* the first one returns */
	assert_int_equal(look(watch, bed, 14), 2); /* the others are ready, but that would be the next epoch so soon */
	assert_int_equal(fors_holddown_due(watch, HOLD), at(22).ms);
	assert_int_equal(look(watch, bed, 22), 0); /* and they return together */
}

TEST(without_hold_down_all_return_at_once)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();

	look(watch, bed, 0);
	bed_down(bed, "Leaf00[3] Leaf01[4]");
	look(watch, bed, 1);
	bed_restore(bed);
	bed_rebuild(bed);
	assert_int_equal(fors_holddown_look(watch, fors_fattree_of_fabric(bed->fabric), at(2), NULL), FORS_OK);
	assert_int_equal(fors_holddown_release(watch, at(2).ms, 0), 2);
	assert_int_equal(fors_holddown_mark(watch, fors_fattree_of_fabric(bed->fabric)), 0);
}

/* A leaf is added: places shift, names do not. */
TEST(memory_survives_growth)
{
	struct bed *small = bed_new("FT(2;2,2)", 1), *large = bed_new("FT(2;3,3)", 1);
	struct fors_holddown *watch FREED(fors_holddown_free) = fors_holddown_new();

	look(watch, small, 0);
	bed_down(small, "Leaf01[3]");
	look(watch, small, 1);
	bed_restore(small);
	assert_int_equal(look(watch, small, 2), 1);
	for (uint32_t a = 0; a < 2; a++) { /* the larger fabric has the same switches, and ports, at these places */
		large->fabric->leaf[a].guid = small->fabric->leaf[a].guid;
		large->fabric->spine[a].guid = small->fabric->spine[a].guid;
		for (uint32_t k = 0; k < 2; k++)
			large->fabric->cable[a * 3 + k].leaf_port = fors_cable(small->fabric, a, k)->leaf_port;
	}
	assert_int_equal(fors_holddown_look(watch, fors_fattree_of_fabric(large->fabric), at(3), NULL), FORS_OK);
	assert_int_equal(fors_holddown_mark(watch, fors_fattree_of_fabric(large->fabric)), 1);
	assert_int_equal(fors_cable(large->fabric, 1, 0)->drained, FORS_DRAIN_HELD);
	fors_holddown_free(NULL);
	bed_free(small);
	bed_free(large);
}
