/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of what slow cables cost: core/net/rates.c, core/fabric/fattree.c, core/schedule/pace.c, core/planners/slow.c; and
 * who is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/fabric/drained.h"
#include "core/fabric/fattree.h"
#include "core/net/rates.h"
#include "core/fabric/repairs.h"
#include "core/planners/bound.h"
#include "core/planners/mended.h"
#include "core/planners/slow.h"
#include "core/schedule/pace.h"
#include "core/schedule/verify.h"
#include "core/status/status.h"

/* All cables at one width and speed. */
static void all_at(struct bed *bed, unsigned width, enum fors_speed speed)
{
	for (uint32_t i = 0; i < bed->intact->nports; i++) {
		bed->intact->port[i].width = (uint8_t)width;
		bed->intact->port[i].speed = (uint8_t)speed;
	}
	fors_rates_mark(bed->intact);
	bed_restore(bed);
}

/* Both ends of a cable, or one. */
static void one_at(struct bed *bed, const char *what, unsigned width, enum fors_speed speed, bool both)
{
	struct fors_error error;
	struct fors_port *port;
	uint32_t node;
	unsigned number;

	assert_int_equal(fors_net_find(bed->intact, what, &node, &number, &error), FORS_OK);
	port = fors_net_port(bed->intact, node, number);
	port->width = (uint8_t)width;
	port->speed = (uint8_t)speed;
	if (both) {
		port = fors_net_port(bed->intact, port->peer, port->peer_port);
		port->width = (uint8_t)width;
		port->speed = (uint8_t)speed;
	}
	fors_rates_mark(bed->intact);
	bed_restore(bed);
}

static struct fors_schedule *plan(const struct bed *bed)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_plan(&task, "auto", &schedule, &error), FORS_OK);
	return schedule;
}

/* How slow the cable of a server is, and that of its leaf and a lane. */
static double own_slowness(const struct bed *bed, uint32_t server, uint32_t full)
{
	const struct fors_server *s = &bed->fabric->server[server];

	return fors_port_slowness(fors_net_port(bed->net, s->node, fors_slot(bed->fabric, s->leaf, s->slot)->ca_port),
				  full);
}

static double lane_slowness(const struct bed *bed, uint32_t server, uint8_t lane, uint32_t full)
{
	uint32_t leaf = bed->fabric->server[server].leaf;

	if (lane == FORS_NO_LANE)
		return 1;
	return fors_port_slowness(
		fors_net_port(bed->net, bed->fabric->leaf[leaf].node, fors_cable(bed->fabric, leaf, lane)->leaf_port),
		full);
}

/* The same, by lanes instead of tables: the slowest cable of each phase. */
static double length_by_lanes(const struct bed *bed, const struct fors_schedule *schedule, uint32_t full,
			      uint32_t *slow)
{
	double length = 0;

	*slow = 0;
	for (uint32_t t = 0; t < schedule->nphases; t++) {
		double slowest = 1;

		for (uint32_t s = 0; s < schedule->nservers; s++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);

			if (cell.dst == FORS_IDLE)
				continue;
			for (unsigned end = 0; end < 2; end++) {
				uint32_t server = end ? cell.dst : s;
				double own = own_slowness(bed, server, full);
				double way = lane_slowness(bed, server, cell.lane, full);

				slowest = own > slowest ? own : slowest;
				slowest = way > slowest ? way : slowest;
			}
		}
		length += slowest;
		*slow += slowest > 1;
	}
	return length;
}

static void near(double a, double b)
{
	if (a - b > 1e-6 || b - a > 1e-6)
		fail_msg("%f is not %f", a, b);
}

static struct fors_pace pace_of(const struct bed *bed)
{
	struct fors_schedule *schedule FREED(fors_schedule_free) = plan(bed);
	struct fors_pace pace;
	struct fors_error error;
	uint32_t slow;

	assert_int_equal(fors_pace_of(bed->net, bed->lfts, schedule, NULL, &pace, &error), FORS_OK);
	near(pace.length, length_by_lanes(bed, schedule, pace.full, &slow));
	assert_int_equal(pace.slow_phases, slow);
	return pace;
}

static double drained(const struct bed *bed)
{
	struct fors_slow slow;
	struct fors_error error;

	assert_int_equal(fors_slow_mark(fors_fattree_of_fabric(bed->fabric), FORS_SLOW_IGNORE, &slow, &error), FORS_OK);
	assert_int_equal(slow.ndrained, 0);
	near(slow.chosen, slow.ignored);
	return slow.drained;
}

/* --- rates ------------------------------------------------------------------------------------------------------- */

TEST(texts_of_rates)
{
	struct fors_port port = {.width = 4, .speed = FORS_HDR};
	char text[FORS_RATE_TEXT];

	fors_rate_text(12, FORS_FDR10, text);
	assert_string_equal(text, "12xFDR10");
	fors_rate_text(4, FORS_SPEED_UNKNOWN, text);
	assert_string_equal(text, "");
	fors_rate_text(0, FORS_QDR, text);
	assert_string_equal(text, "");
	assert_string_equal(fors_speed_name((enum fors_speed)FORS_NSPEEDS), "");
	assert_int_equal(fors_port_rate(&port), 200000);
	near(fors_port_slowness(&port, 400000), 2);
	near(fors_port_slowness(&port, 100000), 1);
	near(fors_port_slowness(&port, 0), 1);
	port.speed = FORS_SPEED_UNKNOWN;
	near(fors_port_slowness(&port, 400000), 1);
}

TEST(the_slower_end_counts)
{
	struct fors_port port = {.width = 0};

	fors_port_slower(&port, 4, FORS_QDR);
	assert_true(port.width == 4 && port.speed == FORS_QDR);
	fors_port_slower(&port, 4, FORS_EDR);
	assert_true(port.width == 4 && port.speed == FORS_QDR);
	fors_port_slower(&port, 0, FORS_SDR);
	assert_true(port.width == 4 && port.speed == FORS_QDR);
	fors_port_slower(&port, 1, FORS_EDR); /* 25 of 40 */
	assert_true(port.width == 1 && port.speed == FORS_EDR);
}

/* These ports of all leaves. */
static void leaves_at(struct bed *bed, unsigned first, unsigned last, unsigned width, enum fors_speed speed)
{
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned port = first; port <= last; port++) {
			char what[16];

			snprintf(what, sizeof(what), "Leaf%02u[%u]", leaf, port);
			one_at(bed, what, width, speed, true);
		}
}

static uint32_t full_of(const struct bed *bed)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(bed->fabric);

	return fors_fattree_full(&tree);
}

/* Full speed is that of the fastest server, and of the usual cable between switches where that is slower. */
TEST(full_speed)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);

	assert_int_equal(full_of(bed), 0);
	all_at(bed, 4, FORS_EDR);
	assert_int_equal(full_of(bed), 100000);
	leaves_at(bed, 5, 8, 4, FORS_QDR); /* servers that are faster than the switches */
	assert_int_equal(full_of(bed), 32000);
	near(pace_of(bed).length, 16);
	all_at(bed, 4, FORS_EDR);
	leaves_at(bed, 1, 4, 2, FORS_EDR);
	assert_int_equal(full_of(bed), 50000);
	one_at(bed, "Leaf01[6]", 2, FORS_EDR, true);
	assert_true(fors_cable(bed->fabric, 1, 1)->is_degraded);
	near(pace_of(bed).length, 16);
	near(drained(bed), -1);
	one_at(bed, "Leaf01[6]", 1, FORS_EDR, true);
	near(pace_of(bed).length, 16 + pace_of(bed).slow_phases);
}

/* --- cables that carry several flows ----------------------------------------------------------------------------- */

static struct fors_verdict verdict_of(const struct bed *bed, const struct fors_schedule *schedule)
{
	struct fors_verdict verdict;
	struct fors_error error;
	bool is_right;

	assert_int_equal(fors_verify(bed->net, bed->lfts, schedule, NULL, NULL, &verdict, &error), FORS_OK);
	assert_int_equal(fors_verify_holds(bed->net, bed->lfts, schedule, 1, NULL, NULL, &is_right, &error), FORS_OK);
	assert_int_equal(is_right, verdict.is_good);
	return verdict;
}

/* Do flows go over all cables, both ways? */
static bool uses_all(const struct bed *bed, const struct fors_schedule *schedule)
{
	bool *is_used = calloc(bed->net->nports, sizeof(*is_used)), all = true;
	struct fors_verdict verdict;

	assert_int_equal(fors_verify_used(bed->net, bed->lfts, schedule, 1, NULL, NULL, &verdict, is_used, NULL),
			 FORS_OK);
	for (uint32_t i = 0; i < bed->net->nports; i++)
		all &= is_used[i] == (bed->net->port[i].peer != FORS_NONE);
	free(is_used);
	return all;
}

/* Phases change places, so that the last flow of all stays inside a leaf. */
static void end_inside(const struct bed *bed, struct fors_schedule *schedule)
{
	uint32_t last = schedule->nservers - 1, n = schedule->nphases, t = 0;
	struct fors_cell *of_last = schedule->cell + (size_t)last * n;

	while (of_last[t].dst == last || of_last[t].dst == FORS_IDLE ||
	       bed->fabric->server[of_last[t].dst].leaf != bed->fabric->server[last].leaf)
		t++;
	for (uint32_t s = 0; s <= last; s++) {
		struct fors_cell *cell = schedule->cell + (size_t)s * n, other = cell[t];

		cell[t] = cell[n - 1];
		cell[n - 1] = other;
	}
}

/*
 * 8 servers below 4 uplinks k times as fast, k rounded down: as many phases as any plan needs, and the proof, which counts k by itself,
 * refuses that plan where k is less.
 */
TEST(uplinks_faster_than_servers)
{
	static const struct {
		unsigned width;
		enum fors_speed speed;
		unsigned capacity, phases;
	} up[] = {{4, FORS_EDR, 1, 48},
		  {8, FORS_EDR, 2, 32},
		  {12, FORS_EDR, 3, 32},
		  {4, FORS_HDR, 2, 32},
		  {2, FORS_HDR, 1, 48}};

	for (unsigned lmc = 0; lmc < 3; lmc++)
		for (unsigned i = 0; i < 5; i++) {
			struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4;servers=8)", lmc);
			struct fors_schedule *schedule FREED(fors_schedule_free) = NULL;
			struct fors_error error;
			uint32_t bound;

			all_at(bed, 4, FORS_EDR);
			leaves_at(bed, 9, 12, up[i].width, up[i].speed);
			assert_int_equal(fors_cable(bed->fabric, 1, 2)->capacity, up[i].capacity);
			assert_int_equal(bed->fabric->reduction, up[i].capacity > 1 ? 0 : 4);
			assert_int_equal(fors_lower_bound(bed->fabric, &bound, &error), FORS_OK);
			schedule = plan(bed);
			assert_int_equal(schedule->nphases, up[i].phases);
			assert_int_equal(bound, up[i].phases);
			assert_true(verdict_of(bed, schedule).is_good);
			assert_int_equal(verdict_of(bed, schedule).max_load, up[i].capacity > 1 ? 2 : 1);
			if (!schedule->parts) /* of single flows */
				end_inside(bed, schedule);
			assert_true(verdict_of(bed, schedule).is_good);
			assert_int_equal(verdict_of(bed, schedule).max_load, up[i].capacity > 1 ? 2 : 1);
			assert_true(up[i].capacity > 2 || uses_all(bed, schedule));
			one_at(bed, "Leaf02[3]", 4, FORS_HDR, true); /* one server is faster than the others */
			assert_int_equal(verdict_of(bed, schedule).is_good, up[i].capacity == 1);
			one_at(bed, "Leaf02[3]", 4, FORS_EDR, true);
			assert_true(verdict_of(bed, schedule).is_good);
			leaves_at(bed, 9, 12, 4, FORS_EDR);
			assert_int_equal(verdict_of(bed, schedule).is_good, up[i].capacity == 1);
		}
}

/* A cable that comes back is taken for one as fast as most: 2 of 3 uplinks carry 4 flows. */
TEST(a_fast_cable_comes_back)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4;servers=6)", 0);
	struct fors_task task = bed_task(bed);
	struct fors_repair *list FREED(free) = NULL;
	uint32_t count, phases = 0;

	all_at(bed, 4, FORS_EDR);
	leaves_at(bed, 7, 9, 4, FORS_HDR);
	bed_down(bed, "Leaf00[7]");
	bed_down(bed, "Leaf00[8]");
	task = bed_task(bed);
	assert_int_equal(fors_repairs_list(fors_fattree_of_fabric(bed->fabric), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 2);
	assert_int_equal(fors_phases_mended(&task, fors_fattree_of_fabric(bed->fabric), list, 54, &phases, NULL),
			 FORS_OK);
	assert_true(phases >= 27 && phases < 36); /* 108 flows */
}

/* The fastest who takes part says what a flow is; and one cable of another speed counts as what it is. */
TEST(capacities_that_differ)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4;servers=8)", 0);
	struct fors_schedule *schedule FREED(fors_schedule_free) = NULL;
	uint32_t bound;

	all_at(bed, 4, FORS_EDR);
	leaves_at(bed, 9, 12, 4, FORS_HDR);
	one_at(bed, "Leaf02[3]", 4, FORS_HDR, true);
	assert_int_equal(fors_cable(bed->fabric, 1, 2)->capacity, 1);
	assert_int_equal(full_of(bed), 200000);
	one_at(bed, "Leaf02[3]", 4, FORS_EDR, true);
	one_at(bed, "Leaf02[9]", 4, FORS_EDR, false);
	assert_int_equal(fors_cable(bed->fabric, 2, 0)->capacity, 1);
	assert_int_equal(bed->fabric->reduction, 1);
	assert_int_equal(fors_lower_bound(bed->fabric, &bound, NULL), FORS_OK);
	assert_int_equal(bound, 32); /* 192 flows over 7 at a time */
	schedule = plan(bed);
	assert_true(verdict_of(bed, schedule).is_good);
	assert_true(schedule->nphases >= bound && schedule->nphases <= 48);
}

/* --- what it costs ------------------------------------------------------------------------------------------------ */

/* Random cables at random rates, with failures, at LMC 0 and 2: beside the count by lanes. */
TEST(random_slow_cables)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;4,3;servers=6)", "FT(2;6,5;cables=2)",
					    "FT(2;3,7;servers=2)"};
	struct rng rng = {19};

	for (unsigned round = 0; round < 40; round++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[round % 4], round % 3 ? 0 : 2);

		all_at(bed, 4, FORS_EDR);
		for (unsigned i = 0; i < 1 + round / 8; i++) {
			struct fors_port *port = &bed->intact->port[rng_below(&rng, bed->intact->nports)];

			port->width = rng_below(&rng, 2) ? 1 : 4;
			port->speed = (uint8_t)(FORS_SDR + rng_below(&rng, FORS_EDR));
			if (port->peer != FORS_NONE)
				*fors_net_port(bed->intact, port->peer, port->peer_port) = (struct fors_port){
					.guid = fors_net_port(bed->intact, port->peer, port->peer_port)->guid,
					.peer = fors_net_port(bed->intact, port->peer, port->peer_port)->peer,
					.peer_port = fors_net_port(bed->intact, port->peer, port->peer_port)->peer_port,
					.lid = fors_net_port(bed->intact, port->peer, port->peer_port)->lid,
					.lmc = fors_net_port(bed->intact, port->peer, port->peer_port)->lmc,
					.width = port->width,
					.speed = port->speed};
		}
		bed_restore(bed);
		bed_random_failures(bed, &rng, round % 4);
		pace_of(bed);
	}
}

/* The flows of a link are those of the schedule. */
TEST(flows_of_ports)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_schedule *schedule FREED(fors_schedule_free) = plan(bed);
	uint32_t *flows = calloc(bed->net->nports, sizeof(*flows)), sum = 0;
	struct fors_pace pace;
	struct fors_error error;

	assert_int_equal(fors_pace_of(bed->net, bed->lfts, schedule, flows, &pace, &error), FORS_OK);
	near(pace.length, 16);
	assert_true(pace.full == 0 && pace.slow_phases == 0);
	for (uint32_t i = 0; i < bed->net->nports; i++)
		sum += flows[i];
	assert_int_equal(sum, 16 * 12 * 4 + 16 * 3 * 2);
	free(flows);
}

/* --- what draining would give -------------------------------------------------------------------------------------- */

TEST(draining)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 2);
	uint32_t bound;

	near(drained(bed), -1);
	all_at(bed, 4, FORS_HDR);
	near(drained(bed), -1);
	one_at(bed, "Leaf01[6]", 1, FORS_HDR, true);
	bed_down(bed, "Leaf01[5]");
	near(drained(bed), 24); /* two uplinks for four servers' flows to twelve others */
	bed_down(bed, "Leaf01[6]");
	assert_int_equal(fors_lower_bound(bed->fabric, &bound, NULL), FORS_OK);
	assert_int_equal(bound, 24);
	near(drained(bed), -1); /* it is dead */
	bed_restore(bed);
	one_at(bed, "Leaf02[1]", 1, FORS_HDR, true);
	near(drained(bed), 62.96875); /* what cannot be drained stays, in as many phases as meet by chance */
	bed_restore(bed);
	mark_drained(bed->fabric, 1, 1, FORS_DRAIN_EXCLUDED);
	assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(bed->fabric), &(struct fors_warnings){0}, NULL),
			 FORS_OK);
	near(drained(bed), -1); /* it is drained */
}

/* Cables that two leaves cannot do without are not promised to be drained. */
TEST(what_cannot_be_spared)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);

	all_at(bed, 4, FORS_HDR);
	one_at(bed, "Leaf00[3]", 1, FORS_HDR, true);
	near(drained(bed), 8);
	bed_down(bed, "Leaf01[4]");
	near(drained(bed), -1);
}

/* How many cables auto drains here, as many times as it is asked; those that it drains are marked. */
static uint32_t chosen(const struct bed *bed, struct fors_slow *slow)
{
	struct fors_fabric *copy FREED(fors_fabric_free) = NULL;
	uint32_t marked = 0;

	assert_int_equal(fors_fabric_copy(bed->fabric, bed->fabric->net, &copy, NULL), FORS_OK);
	assert_int_equal(fors_slow_mark(fors_fattree_of_fabric(copy), FORS_SLOW_AUTO, slow, NULL), FORS_OK);
	for (uint32_t i = 0; i < copy->nleaves * copy->nlanes; i++)
		marked += copy->cable[i].drained == FORS_DRAIN_DEGRADED;
	assert_int_equal(marked, slow->ndrained);
	return marked;
}

/* One cable at a quarter, two of a leaf's three at half speed, all of a leaf's, and a server that is slower than all. */
TEST(what_auto_chooses)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	struct fors_slow slow;

	assert_int_equal(chosen(bed, &slow), 0); /* rates are not known */
	all_at(bed, 4, FORS_HDR);
	assert_int_equal(chosen(bed, &slow), 0);
	assert_int_equal(slow.ncables, 0);
	one_at(bed, "Leaf01[6]", 1, FORS_HDR, true);
	assert_int_equal(chosen(bed, &slow), 1);
	near(slow.chosen, slow.drained);
	near(slow.drained, 16);
	assert_true(slow.ignored > 16 + 3 * 11);
	one_at(bed, "Leaf02[1]", 1, FORS_HDR, true); /* a server as slow: a phase less is no gain worth phases */
	assert_true(chosen(bed, &slow) <= 1 && slow.chosen <= slow.ignored);
	bed_restore(bed);
	all_at(bed, 4, FORS_HDR);
	for (unsigned port = 5; port <= 8; port++) {
		char end[16];

		snprintf(end, sizeof(end), "Leaf01[%u]", port);
		one_at(bed, end, 2, FORS_HDR, true);
	}
	assert_int_equal(chosen(bed, &slow), 0);
	near(slow.drained, -1);
	one_at(bed, "Leaf01[8]", 4, FORS_HDR, true);
	assert_int_equal(chosen(bed, &slow), 0); /* three times as many phases, to be twice as fast */
	near(slow.drained, 48);
	bed_free(bed);
	bed = bed_new("FT(2;4,4)", 0);
	all_at(bed, 4, FORS_HDR);
	one_at(bed, "Leaf01[6]", 1, FORS_HDR, true);
	mark_drained(bed->fabric, 1, 1, FORS_DRAIN_HELD);
	assert_int_equal(chosen(bed, &slow), 0); /* it is held, which is decided elsewhere */
	assert_int_equal(slow.ncables, 0);
	bed_free(bed);
}

/* The fabric that was asked is as it was. */
TEST(nothing_changes)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_fabric *copy FREED(fors_fabric_free) = NULL;
	uint64_t fingerprint;

	all_at(bed, 4, FORS_HDR);
	one_at(bed, "Leaf01[6]", 1, FORS_HDR, true);
	fingerprint = bed->fabric->fingerprint;
	drained(bed);
	assert_true(bed->fabric->fingerprint == fingerprint && fors_live(bed->fabric, 1, 1));
	assert_int_equal(fors_fabric_copy(bed->fabric, bed->fabric->net, &copy, NULL), FORS_OK);
	assert_int_equal(fors_fabric_recount(copy, NULL), FORS_OK);
	assert_true(copy->fingerprint == fingerprint && copy->nservers == 16);
}

/* A server that is plugged in elsewhere now is not lost, nor is one that takes no part. */
TEST(lost_servers)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_status status CLEARED(fors_status_clear);
	struct fors_port *port;

	bed_down(bed, "Node00-00 Node02-03 Leaf03");
	fors_status_init(&status);
	assert_int_equal(status_of_fabric(&status, bed->fabric, NULL), FORS_OK);
	assert_int_equal(status.lost_servers.count, 6);
	assert_string_equal(status.lost_servers.link[1].a, "Leaf02");
	assert_int_equal(status.lost_servers.link[1].a_port, 4);
	assert_int_equal(strlen(status.lost_servers.link[1].b), 18);
	bed_restore(bed);
	bed_down(bed, "Node00-00");
	port = fors_net_port(bed->net, bed->fabric->server[0].node, 1);
	port->guid = bed->fabric->slot[0].seen; /* it has a new place */
	bed_rebuild(bed);
	assert_int_equal(status_of_fabric(&status, bed->fabric, NULL), FORS_OK);
	assert_int_equal(status.lost_servers.count, 0);
	bed_restore(bed);
	bed_participants(bed, "0/0 1/1 2/2");
	bed_down(bed, "Node00-00 Node02-03");
	assert_int_equal(status_of_fabric(&status, bed->fabric, NULL), FORS_OK);
	assert_int_equal(status.lost_servers.count, 1);
}
