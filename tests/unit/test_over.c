/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans over any tables in any net: trees, rings, tori, nets without a plan; what is wrong with tables is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/net/tree_net.h"
#include "core/net/tree_spec.h"
#include "core/planners/flows/routed.h"
#include "core/planners/outcome.h"
#include "core/schedule/verify.h"

#define PORTS 8 /* of each switch of a made net, the first two for servers */

/* A net with tables. */
struct world {
	struct fors_net *net;
	struct fors_lfts *lfts;
};

static void world_free(struct world *w)
{
	fors_net_free(w->net);
	fors_lfts_free(w->lfts);
}

/* ---- nets ---- */

static uint32_t add(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid, const char *name)
{
	struct fors_error error;
	uint32_t node;

	if (fors_net_add_node(net, type, nports, guid, name, name, &node, &error))
		fail_msg("%s", error.text);
	return node;
}

static void plug(struct fors_net *net, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
	struct fors_error error;

	if (fors_net_connect(net, a, port_a, b, port_b, &error))
		fail_msg("%s", error.text);
}

/* `count` switches, the first of the nodes, with `servers` servers each; server s of switch i has LID 100 + i servers + s. */
static struct fors_net *make_switches(uint32_t count, uint32_t servers)
{
	struct fors_net *net = fors_net_new();
	char name[32];

	assert_non_null(net);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "Switch%02u", i);
		add(net, FORS_SWITCH, PORTS, 0x1000 + i, name);
		net->port[net->node[i].first_port].lid = (uint16_t)(1 + i);
	}
	for (uint32_t i = 0; i < count * servers; i++) {
		uint32_t node;

		snprintf(name, sizeof(name), "Node%02u-%u", i / servers, i % servers);
		node = add(net, FORS_CA, 1, 0x2000 + i, name);
		fors_net_port(net, node, 1)->guid = 0x3000 + i;
		fors_net_port(net, node, 1)->lid = (uint16_t)(100 + i);
		plug(net, node, 1, i / servers, 1 + i % servers);
	}
	return net;
}

static void finish(struct fors_net *net)
{
	struct fors_error error;

	if (fors_net_index(net, &error))
		fail_msg("%s", error.text);
}

/* A ring of n switches: port 7 clockwise, port 8 back. */
static struct fors_net *make_ring(uint32_t n, uint32_t servers)
{
	struct fors_net *net = make_switches(n, servers);

	for (uint32_t i = 0; i < n; i++)
		plug(net, i, 7, (i + 1) % n, 8);
	finish(net);
	return net;
}

/* A torus of w x h switches: ports 5 and 6 along rows, 7 and 8 along columns. */
static struct fors_net *make_torus(uint32_t w, uint32_t h, uint32_t servers)
{
	struct fors_net *net = make_switches(w * h, servers);

	for (uint32_t i = 0; i < w * h; i++) {
		plug(net, i, 5, i / w * w + (i + 1) % w, 6);
		plug(net, i, 7, (i + w) % (w * h), 8);
	}
	finish(net);
	return net;
}

/* ---- tables ---- */

/* Shortest ways to one port, among several the one by the lowest port at or after one that goes by the LID. */
static void route(struct world *w, uint32_t node, uint32_t lid, uint32_t *distance, uint32_t *queue)
{
	const struct fors_net *net = w->net;
	uint32_t end = 1;

	memset(distance, 0xFF, net->nnodes * sizeof(*distance));
	distance[node] = 0;
	queue[0] = node;
	for (uint32_t i = 0; i < end; i++)
		for (unsigned port = 1; port <= net->node[queue[i]].nports; port++) {
			uint32_t peer = fors_net_port(net, queue[i], port)->peer;

			if (peer == FORS_NONE || distance[peer] != FORS_NONE || net->node[peer].type != FORS_SWITCH)
				continue;
			distance[peer] = distance[queue[i]] + 1;
			queue[end++] = peer;
		}
	for (uint32_t row = 0; row < w->lfts->nswitches; row++) {
		uint32_t at = fors_net_find_guid(net, w->lfts->guid[row]), nports = net->node[at].nports;

		if (at == node)
			w->lfts->port[(size_t)row * w->lfts->nlids + lid] = 0;
		for (unsigned i = 0; i < nports; i++) {
			unsigned port = 1 + (lid + i) % nports;
			uint32_t peer = fors_net_port(net, at, port)->peer;

			if (at == node || peer == FORS_NONE || distance[peer] >= distance[at])
				continue;
			w->lfts->port[(size_t)row * w->lfts->nlids + lid] = (uint8_t)port;
			break;
		}
	}
}

/* Shortest ways for all LIDs of a net. */
static struct world routed(struct fors_net *net)
{
	struct world w = {.net = net};
	uint32_t *distance = calloc(net->nnodes, sizeof(*distance)), *queue = calloc(net->nnodes, sizeof(*queue));
	uint32_t n = 0;

	assert_true(distance && queue);
	for (uint32_t i = 0; i < net->nnodes; i++)
		n += net->node[i].type == FORS_SWITCH;
	w.lfts = fors_lfts_new(n, fors_net_lid_end(net));
	assert_non_null(w.lfts);
	n = 0;
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[net->by_guid[i]].type == FORS_SWITCH)
			w.lfts->guid[n++] = net->node[net->by_guid[i]].guid;
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned port = 0; port <= net->node[i].nports; port++) {
			const struct fors_port *p = fors_net_port(net, i, port);

			for (uint32_t k = 0; p->lid && k < 1u << p->lmc; k++)
				route(&w, i, p->lid + k, distance, queue);
		}
	free(distance);
	free(queue);
	return w;
}

/* A tree of a specification with shortest ways. */
static struct world tree(const char *text, unsigned lmc)
{
	struct fors_tree_spec spec = {0};
	struct fors_net *net = NULL;
	struct fors_error error;

	uint32_t lid = 1 << lmc;

	if (fors_tree_spec_parse(text, &spec, &error) || fors_tree_net(&spec, &net, &error))
		fail_msg("%s: %s", text, error.text);
	fors_tree_spec_clear(&spec);
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[i].type == FORS_CA) {
			fors_net_port(net, i, 1)->lid = (uint16_t)lid;
			fors_net_port(net, i, 1)->lmc = (uint8_t)lmc;
			lid += 1u << lmc;
		}
	return routed(net);
}

static uint8_t *entry(const struct world *w, uint64_t guid, uint32_t lid)
{
	uint32_t row = fors_lfts_row(w->lfts, guid);

	assert_true(row != FORS_NONE && lid < w->lfts->nlids);
	return &w->lfts->port[(size_t)row * w->lfts->nlids + lid];
}

/* ---- plans ---- */

/* A check that shares nothing with fors_verify(): every pair once, and a link of a phase once, by walks of its own. */
static void assert_right(const struct world *w, const struct fors_schedule *schedule, const char *what)
{
	const struct fors_net *net = w->net;
	uint32_t p = schedule->nservers;
	uint32_t *used = calloc(net->nports, sizeof(*used)), *met = calloc((size_t)p * p, sizeof(*met));
	uint64_t guid;

	assert_true(used && met);
	for (uint32_t t = 0; t < schedule->nphases; t++)
		for (uint32_t s = 0; s < p; s++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);
			uint32_t at = FORS_NONE, port = 0, hops = 0;

			if (cell.dst == FORS_IDLE)
				continue;
			met[s * p + cell.dst]++;
			for (uint32_t i = 0; i < net->nports && at == FORS_NONE; i++)
				if (net->port[i].guid == schedule->server[s].guid && net->port[i].peer != FORS_NONE)
					at = net->port[i].peer;
			do {
				uint32_t link;

				port = *entry(w, net->node[at].guid, schedule->server[cell.dst].lid + cell.path);
				link = net->node[at].first_port + port;
				if (used[link] == t + 1)
					fail_msg("%s: phase %u: two flows leave %s[%u]", what, t, net->node[at].desc,
						 port);
				used[link] = t + 1;
				port = net->port[link].peer_port;
				at = net->port[link].peer;
			} while (net->node[at].type == FORS_SWITCH && ++hops < 100);
			guid = fors_net_port(net, at, port)->guid;
			if (guid != schedule->server[cell.dst].guid)
				fail_msg("%s: phase %u: arrives at 0x%llx", what, t, (unsigned long long)guid);
		}
	for (uint32_t i = 0; i < p * p; i++)
		assert_int_equal(met[i], i / p != i % p);
	free(used);
	free(met);
}

static uint32_t phases; /* of the last plan() */

static struct fors_outcome plan(const struct world *w, const struct fors_participants *them, const char *what)
{
	const struct fors_request task = {.net = w->net, .lfts = w->lfts, .participants = them};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_plan_proven(&task, &schedule, &report, &error))
		fail_msg("%s: %s", what, error.text);
	assert_right(w, schedule, what);
	assert_true(report.verdict.is_good);
	phases = schedule->nphases;
	assert_int_equal(report.seen.nservers, schedule->nservers);
	assert_true(report.lower_bound <= report.tables_bound);
	assert_true(report.tables_bound <= phases);
	fors_schedule_free(schedule);
	return report;
}

TEST(trees_of_two_and_three_levels)
{
	static const struct {
		const char *spec;
		uint32_t servers;
	} cases[] = {{"FT(2;4,6)", 24},
		     {"XGFT(3;2,2,3;1,2,2)", 12},
		     {"XGFT(3;4,4,4;1,4,4)", 64},
		     {"FT(2;3,4;cables=2)", 12}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = tree(cases[i].spec, 0);
		struct fors_outcome report = plan(&w, NULL, cases[i].spec);

		assert_int_equal(report.seen.nservers, cases[i].servers);
		assert_true(phases * 100 <= report.tables_bound * 103);
		world_free(&w);
	}
}

/* A ring of 6 with one server each: 3 switches away is by one of both ways, so a fullest cable and a floor are known. */
TEST(rings_and_tori)
{
	struct world w = routed(make_ring(6, 1));
	struct fors_outcome report = plan(&w, NULL, "ring of 6");

	assert_int_equal(report.seen.nservers, 6);
	assert_int_equal(report.seen.longest, 3);
	assert_int_equal(report.lower_bound, 6); /* distances: 6 (1 + 1 + 2 + 2 + 3) = 54 over 12 cables is 5 */
	world_free(&w);
	w = routed(make_ring(6, 2));
	report = plan(&w, NULL, "ring of 6, two servers each");
	assert_int_equal(report.lower_bound, 18); /* 4 x 54 over 12 */
	assert_true(report.seen.fullest_flows >= 18 && report.seen.fullest[0]);
	world_free(&w);
	w = routed(make_torus(4, 4, 2));
	report = plan(&w, NULL, "torus 4 x 4");
	assert_int_equal(report.seen.nservers, 32);
	assert_true(phases * 100 <= report.tables_bound * 110);
	world_free(&w);
}

TEST(more_lids_are_used)
{
	struct world w = tree("FT(2;4,4)", 2);
	struct fors_outcome report = plan(&w, NULL, "LMC 2");

	assert_int_equal(report.seen.npaths, 4);
	world_free(&w);
}

TEST(participants_only)
{
	struct world w = routed(make_torus(3, 3, 2));
	uint64_t guid[] = {0x3011, 0x3000, 0x3004, 0x3005, 0x9999};
	struct fors_participants them = {guid, 5};
	struct fors_outcome report = plan(&w, &them, "four of them, and one that is dead");

	assert_int_equal(report.seen.nservers, 4);
	assert_int_equal(report.seen.nleaves, 3);
	them.count = 1;
	report = plan(&w, &them, "alone");
	assert_int_equal(phases, 1);
	world_free(&w);
}

/* Two switches with two cables: servers stand in the order of the ports that lead to them from far away, not of their own. */
TEST(servers_stand_by_class)
{
	struct fors_net *net = make_switches(2, 2);
	const struct fors_lfts *lfts;
	struct fors_flows_routed *routed_net;
	struct fors_error error;
	struct world w;

	plug(net, 0, 5, 1, 5);
	plug(net, 0, 6, 1, 6);
	finish(net);
	w = routed(net);
	lfts = w.lfts;
	*entry(&w, 0x1001, 100) = 6;
	*entry(&w, 0x1001, 101) = 5;
	*entry(&w, 0x1000, 102) = 5;
	*entry(&w, 0x1000, 103) = 6;
	assert_int_equal(
		fors_flows_routed_read(&(struct fors_flows_tables){.net = w.net, .lfts = lfts, .most_paths = 1},
				       &routed_net, &error),
		FORS_OK);
	assert_int_equal(routed_net->server[0].lid, 101);
	assert_int_equal(routed_net->server[1].lid, 100);
	assert_int_equal(routed_net->server[2].lid, 102);
	assert_int_equal(routed_net->server[3].lid, 103);
	fors_flows_routed_free(routed_net);
	world_free(&w);
}

/* ---- tables that are no good ---- */

/* No plan, for this reason. */
static void assert_refused(const struct world *w, enum fors_err code, const char *reason)
{
	const struct fors_request task = {.net = w->net, .lfts = w->lfts};
	struct fors_outcome report;
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {0};
	enum fors_err err = fors_plan_proven(&task, &schedule, &report, &error);

	assert_null(schedule);
	if (err != code || !strstr(error.text, reason))
		fail_msg("wanted %d \"%s\", got %d \"%s\"", code, reason, err, error.text);
}

/* What is wrong with an entry is said with switch and LID. Node03-0 has LID 103 and hangs on Switch03. */
TEST(bad_entries_are_named)
{
	struct world w = routed(make_ring(6, 1));
	uint8_t good = *entry(&w, 0x1002, 103);

	*entry(&w, 0x1002, 103) = FORS_NO_PATH;
	assert_refused(&w, FORS_ENOPATH, "switch Switch02 has no entry for this LID");
	assert_refused(&w, FORS_ENOPATH, "to Node03-0 (LID 103)");
	*entry(&w, 0x1002, 103) = 0;
	assert_refused(&w, FORS_ENOPATH, "switch Switch02 takes this LID for its own");
	*entry(&w, 0x1002, 103) = 40;
	assert_refused(&w, FORS_ENOTAPPL, "switch Switch02 with its 8 ports names port 40, which may be a group");
	*entry(&w, 0x1002, 103) = 4;
	assert_refused(&w, FORS_ENOPATH, "switch Switch02 sends it to port 4, where no live cable is");
	*entry(&w, 0x1002, 103) = 1;
	assert_refused(&w, FORS_ENOPATH, "behind switch Switch02 it comes out at Node02-0");
	*entry(&w, 0x1002, 103) = 8;
	assert_refused(&w, FORS_ENOTAPPL, "the tables loop from");
	*entry(&w, 0x1002, 103) = good;
	plan(&w, NULL, "mended");
	*entry(&w, 0x1003, 103) = 7; /* past its own switch, all around */
	assert_refused(&w, FORS_ENOTAPPL, "the tables loop from");
	world_free(&w);
}

TEST(strange_tables_are_refused)
{
	struct world w = routed(make_ring(5, 1));

	w.lfts->guid[4] = 0x7777;
	assert_refused(&w, FORS_ENOTAPPL, "switch 0x0000000000007777, which is not in this fabric");
	w.lfts->guid[4] = 0x1004;
	*entry(&w, 0x1001, 50) = 7;
	assert_refused(&w, FORS_ENOTAPPL, "switch Switch01 has an entry for LID 50, which no port");
	*entry(&w, 0x1001, 50) = FORS_NO_PATH;
	w.lfts->nswitches--;
	assert_refused(&w, FORS_ENOPATH, "switch Switch04 has no table");
	w.lfts->nswitches++;
	fors_net_port(w.net, 6, 1)->lid = 100;
	assert_refused(&w, FORS_ENOTAPPL, "share LID 100");
	fors_net_port(w.net, 6, 1)->lid = 101;
	plan(&w, NULL, "mended");
	fors_net_disconnect(w.net, 0, 7);
	assert_refused(&w, FORS_ENOPATH, "where no live cable is");
	world_free(&w);
}

TEST(nobody_takes_part)
{
	struct world w = routed(make_ring(3, 1));
	struct fors_participants them = {0};
	const struct fors_request task = {.net = w.net, .lfts = w.lfts, .participants = &them};
	struct fors_outcome report;
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_ENOTAPPL);
	for (uint32_t i = 3; i < 6; i++)
		fors_net_disconnect(w.net, i, 1);
	assert_refused(&w, FORS_ENOTAPPL, "no server with a LID");
	world_free(&w);
}

TEST(memory_is_limited_in_words)
{
	struct world w = routed(make_torus(4, 4, 2));
	const struct fors_request task = {.net = w.net, .lfts = w.lfts, .task.limits = {.bytes = 10000}};
	struct fors_outcome report;
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_ELIMIT);
	assert_non_null(strstr(error.text, "32 servers"));
	world_free(&w);
}

/* ---- the schedule ---- */

static uint8_t level_of(void *context, uint32_t src, uint32_t dst)
{
	(*(unsigned *)context)++;
	return (uint8_t)((src + dst) % 8);
}

TEST(service_levels_are_carried)
{
	struct world w = routed(make_ring(4, 1));
	unsigned asked = 0;
	const struct fors_request task = {.net = w.net, .lfts = w.lfts, .sl = level_of, .levels = &asked};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	assert_int_equal(asked, 12);
	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t d = 0; d < 4; d++)
			assert_int_equal(fors_schedule_sl(schedule, s, d),
					 s == d ? FORS_NO_SL : (schedule->server[s].lid + schedule->server[d].lid) % 8);
	fors_schedule_free(schedule);
	world_free(&w);
}

static bool stop(void *context)
{
	return --*(int *)context < 0;
}

TEST(stopped_anywhere)
{
	struct world w = routed(make_torus(4, 4, 2));

	for (int after = 0;; after++) {
		int left = after;
		const struct fors_request task = {
			.net = w.net, .lfts = w.lfts, .task.cancelled = stop, .task.context = &left};
		struct fors_outcome report;
		struct fors_schedule *schedule = NULL;
		struct fors_error error;
		enum fors_err err = fors_plan_proven(&task, &schedule, &report, &error);

		if (!err) {
			fors_schedule_free(schedule);
			assert_true(after > 10);
			break;
		}
		assert_int_equal(err, FORS_ECANCELLED);
		assert_null(schedule);
	}
	world_free(&w);
}

/* A tree's ways have a topmost switch, a torus's have none. */
TEST(tops_of_trees)
{
	struct world w = tree("FT(2;2,3)", 0), torus = routed(make_torus(3, 3, 1));
	struct fors_request task = {.net = w.net, .lfts = w.lfts};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	for (uint32_t d = 0; d < 6; d++) {
		uint64_t top = fors_waylist_top(schedule->ways, fors_waylist_find(schedule->ways, 0, d, 0));
		uint32_t node = top ? fors_net_find_guid(w.net, top) : FORS_NONE;

		assert_int_equal(top == 0, schedule->server[d].leaf == 0);
		assert_true(!top || !strncmp(w.net->node[node].desc, "Spine", 5));
	}
	fors_schedule_free(schedule);
	task = (struct fors_request){.net = torus.net, .lfts = torus.lfts};
	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	for (uint32_t d = 0; d < 9; d++)
		assert_true(!fors_waylist_top(schedule->ways, fors_waylist_find(schedule->ways, 0, d, 0)));
	fors_schedule_free(schedule);
	world_free(&w);
	world_free(&torus);
}

/* ---- the verifier over ways ---- */

static void assert_verdict(const struct world *w, const struct fors_schedule *schedule, const char *text)
{
	struct fors_verdict verdict;
	struct fors_error error;

	assert_int_equal(fors_verify(w->net, w->lfts, schedule, NULL, NULL, &verdict, &error), FORS_OK);
	assert_int_equal(verdict.is_good, !text);
	if (text && !strstr(verdict.text, text))
		fail_msg("wanted \"%s\", got \"%s\"", text, verdict.text);
}

/* Swap the flows of a server in two phases: at a receiver, or on a cable, two meet. */
static void swap_phases(struct fors_schedule *schedule, uint32_t s, uint32_t t, uint32_t u)
{
	struct fors_cell *row = schedule->cell + (size_t)s * schedule->nphases, kept = row[t];

	row[t] = row[u];
	row[u] = kept;
}

TEST(planted_errors_are_found)
{
	struct world w = routed(make_ring(6, 1));
	const struct fors_request task = {.net = w.net, .lfts = w.lfts};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;
	struct fors_waylist *ways;
	uint32_t number, kept;
	uint8_t port;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	ways = schedule->ways;
	assert_verdict(&w, schedule, NULL);

	swap_phases(schedule, 0, 0, 1);
	assert_verdict(&w, schedule, "phase");
	swap_phases(schedule, 0, 0, 1);

	number = fors_waylist_find(ways, 0, 2, 0);
	port = ways->way[number].port;
	ways->way[number].port = port == 7 ? 8 : 7;
	assert_verdict(&w, schedule, "but the schedule names another way");
	ways->way[number].port = port;

	kept = ways->way[number].rest;
	ways->way[number].rest = ways->way[kept].rest; /* one switch left out */
	assert_verdict(&w, schedule, "but the");
	ways->way[number].rest = kept;

	kept = ways->of[2];
	ways->of[2] = FORS_NONE;
	assert_verdict(&w, schedule, "names no way for");
	ways->of[2] = kept;
	assert_verdict(&w, schedule, NULL);

	ways->nservers--;
	assert_verdict(&w, schedule, "its ways are of");
	ways->nservers++;

	port = *entry(&w, 0x1002, 103);
	*entry(&w, 0x1002, 103) = 8;
	assert_verdict(&w, schedule, "goes in a loop: from switch");
	*entry(&w, 0x1002, 103) = FORS_NO_PATH;
	assert_verdict(&w, schedule, "its table has no way to that LID");
	*entry(&w, 0x1002, 103) = port;

	schedule->cell[0].dst = FORS_IDLE;
	schedule->cell[1].dst = FORS_IDLE;
	assert_verdict(&w, schedule, "never sends to");
	fors_schedule_free(schedule);
	world_free(&w);
}

/* Two servers of a switch get each other's flows: each takes one at a time, by the ways that the schedule names. */
TEST(the_wrong_door)
{
	struct world w = routed(make_ring(6, 2));
	const struct fors_request task = {.net = w.net, .lfts = w.lfts};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;
	uint8_t *a, *b, kept;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	assert_verdict(&w, schedule, NULL);
	a = entry(&w, schedule->ways->guid[1], schedule->server[2].lid);
	b = entry(&w, schedule->ways->guid[1], schedule->server[3].lid);
	kept = *a;
	*a = *b;
	*b = kept;
	assert_verdict(&w, schedule, "instead (last hop");
	fors_schedule_free(schedule);
	world_free(&w);
}

/* The other way round the ring than the tables: arrives, but not where it was told. */
TEST(tables_that_moved_are_found)
{
	struct world w = routed(make_torus(3, 3, 1));
	const struct fors_request task = {.net = w.net, .lfts = w.lfts};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error;

	assert_int_equal(fors_plan_proven(&task, &schedule, &report, &error), FORS_OK);
	/* Switch00 to Switch04 (one right, one down): by the other of its two ways */
	assert_true(*entry(&w, 0x1000, 104) == 5 || *entry(&w, 0x1000, 104) == 7);
	*entry(&w, 0x1000, 104) ^= 2;
	assert_verdict(&w, schedule, "leaves switch Switch00 by port");
	fors_schedule_free(schedule);
	world_free(&w);
}
