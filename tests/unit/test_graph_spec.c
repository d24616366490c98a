/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Networks that are no trees: as text, as nets, and the tables that models of engines give them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

#include "core/net/spec.h"
#include "lab/model/routers/model_tables.h"

FREES(fors_lfts_free, struct fors_lfts *)
FREES(fors_net_free, struct fors_net *)

static void assert_same(const struct fors_graph_spec *a, const struct fors_graph_spec *b)
{
	assert_true(a->kind == b->kind && a->ndims == b->ndims && a->servers == b->servers && a->seed == b->seed);
	assert_true(a->nswitches == b->nswitches && a->nleaves == b->nleaves);
	assert_memory_equal(a->size, b->size, sizeof(a->size));
	assert_int_equal(a->empty.count, b->empty.count);
	if (a->empty.count)
		assert_memory_equal(a->empty.slot, b->empty.slot, a->empty.count * sizeof(*a->empty.slot));
	assert_int_equal(a->traffic.count, b->traffic.count);
	if (a->traffic.count)
		assert_memory_equal(a->traffic.list, b->traffic.list, a->traffic.count * sizeof(*a->traffic.list));
}

TEST(spellings)
{
	static const struct {
		const char *text, *same;
	} cases[] = {
		{" TORUS( 4 x 3 ; 2 ) ", "TORUS(4x3;2)"},
		{"TORUS(3;2;empty=2/1,0/0,2/1)", "TORUS(3;2;empty=0/0,2/1)"},
		{" CUBE ( 6;2)", "CUBE(6;2)"},
		{"DRAGONFLY(4, 2, 9;2)", "DRAGONFLY(4,2,9;2)"},
		{"DFPLUS(4,2,4,9 ;4)", "DFPLUS(4,2,4,9;4)"},
		{"RRG(20,5,3; 7)", "RRG(20,5,3;7)"},
		{"FLEXFLY(4,4,9;2; empty=0/1; traffic= 0 - 2 : 5, +3:1)",
		 "FLEXFLY(4,4,9;2;traffic=0-2:5,+3:1;empty=0/1)"},
		{"FLEXSPANDER(8,3,2,9;2;traffic=+1:1;seed=7)", "FLEXSPANDER(8,3,2,9;2;seed=7;traffic=+1:1)"},
		{"FLEXSPANDER(8,3,2,9;2;seed=0)", "FLEXSPANDER(8,3,2,9;2)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_spec a, b;
		struct fors_error error;

		if (fors_spec_parse(cases[i].text, &a, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_int_equal(fors_spec_parse(cases[i].same, &b, NULL), FORS_OK);
		assert_true(a.is_graph && b.is_graph);
		assert_same(&a.graph, &b.graph);
		fors_spec_clear(&a);
		fors_spec_clear(&b);
	}
}

TEST(bad)
{
	static const struct {
		const char *text;
		enum fors_err err;
		const char *message;
	} cases[] = {
		{"MESH(3;3)", FORS_EINPUT, "character 1: this is no fat-tree, nor another network"},
		{"TORUS", FORS_EINPUT, "character 6: a ( is missing"},
		{"TORUS(;2)", FORS_EINPUT, "character 7: a number is missing"},
		{"TORUS(4x;2)", FORS_EINPUT, "character 9: a number is missing"},
		{"TORUS(4x4)", FORS_EINPUT, "a ; and the servers of a switch are missing"},
		{"TORUS(4x4;0)", FORS_EINPUT, "at least 1"},
		{"TORUS(1x4;1)", FORS_EINPUT, "at least two switches in each dimension"},
		{"TORUS(2x2x2x2x2x2x2x2x2;1)", FORS_EINPUT, "more than eight sizes"},
		{"TORUS(65535x65535x65535;1)", FORS_ELIMIT, "fors takes at most"},
		{"TORUS(4x4;251)", FORS_ELIMIT, "needs 255 ports"},
		{"TORUS(4x4;2", FORS_EINPUT, "a ) is expected"},
		{"TORUS(4x4;2)x", FORS_EINPUT, "something follows"},
		{"TORUS(4x4;2;empty=16/0)", FORS_EINPUT, "numbered 0 to 15 and slots 0 to 1"},
		{"TORUS(4x4;2;servers=3)", FORS_EINPUT, "here empty= is expected"},
		{"CUBE(19;1)", FORS_ELIMIT, "19 dimensions"},
		{"CUBE(3,3;1)", FORS_EINPUT, "a ; and the servers"},
		{"DRAGONFLY(2,2,6;1)", FORS_EINPUT, "fewer cables to other groups"},
		{"DRAGONFLY(2,2;1)", FORS_EINPUT, "a comma and a number are missing"},
		{"DFPLUS(65535,65535,65535,65535;65535)", FORS_ELIMIT, "ports"},
		{"RRG(5,3,1;1)", FORS_EINPUT, "an odd number"},
		{"RRG(4,4,1;1)", FORS_EINPUT, "not below the number of switches"},
		{"RRG(4,1,1;1)", FORS_EINPUT, "do not hang together"},
		{"RRG(4,2,1)", FORS_EINPUT, "the seed are missing"},
		{"RRG(65535,250,4;1)", FORS_ELIMIT, "cables; fors takes at most"},
		{"FLEXFLY(2,2,6;1)", FORS_EINPUT, "fewer cables to other blocks"},
		{"FLEXFLY(600,2,1025;1)", FORS_ELIMIT, "1025 blocks"},
		{"FLEXFLY(4,4,9;2;traffic=0-9:1)", FORS_EINPUT, "a block that is not there"},
		{"FLEXFLY(4,4,9;2;traffic=+9:1)", FORS_EINPUT, "a block that is not there"},
		{"FLEXFLY(4,4,9;2;traffic=3-3:1)", FORS_EINPUT, "to itself"},
		{"FLEXFLY(4,4,9;2;traffic=+0:1)", FORS_EINPUT, "to itself"},
		{"FLEXFLY(4,4,9;2;traffic=0-1:0)", FORS_EINPUT, "at least 1"},
		{"FLEXFLY(4,4,9;2;traffic=0-1)", FORS_EINPUT, "a weight are missing"},
		{"FLEXFLY(4,4,9;2;traffic=0:1)", FORS_EINPUT, "the other block are missing"},
		{"FLEXFLY(4,4,9;2;traffic=+1:1;traffic=+2:1)", FORS_EINPUT, "once"},
		{"FLEXFLY(4,4,9;2;seed=1)", FORS_EINPUT, "here traffic="},
		{"FLEXSPANDER(5,3,2,3;1)", FORS_EINPUT, "an odd number"},
		{"FLEXSPANDER(4,3,65535,9;1)", FORS_ELIMIT, "ports"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_spec spec = {.graph = {.servers = 77}};
		struct fors_error error;

		if (fors_spec_parse(cases[i].text, &spec, &error) != cases[i].err)
			fail_msg("%s: %s", cases[i].text, error.text);
		data_contains(error.text, cases[i].message);
		assert_int_equal(spec.graph.servers, 77); /* untouched */
	}
}

static struct fors_net *make(const char *text, struct fors_spec *spec)
{
	struct fors_net *net = NULL;
	struct fors_error error;

	if (fors_spec_parse(text, spec, &error) || fors_spec_net(spec, &net, &error))
		fail_msg("%s: %s", text, error.text);
	return net;
}

/* Switches, servers, cables between switches; each switch has all its ports in use but `spare` of them in all. */
TEST(shapes)
{
	static const struct {
		const char *text;
		uint32_t switches, servers, cables, spare;
	} cases[] = {
		{"TORUS(4x4x4;2)", 64, 128, 192, 0},
		{"TORUS(2x3;1;empty=0/0,3/0)", 6, 4, 9, 2},
		{"CUBE(5;3)", 32, 96, 80, 0},
		{"DRAGONFLY(4,2,9;2)", 36, 72, 54 + 36, 0},
		{"DRAGONFLY(3,2,3;1)", 9, 9, 18, 0},
		{"DRAGONFLY(3,2,6;1)", 18, 18, 18 + 15, 6},
		{"DRAGONFLY(4,2,1;1)", 4, 4, 6, 8},
		{"DFPLUS(4,2,4,9;4)", 54, 144, 72 + 36, 0},
		{"RRG(20,5,3;7)", 20, 60, 50, 0},
		{"RRG(6,5,1;1)", 6, 6, 15, 0},
		{"RRG(2,1,1;1)", 2, 2, 1, 0},
		{"FLEXFLY(4,4,9;2)", 36, 72, 54 + 72, 0},
		{"FLEXFLY(4,4,9;2;traffic=0-1:1)", 36, 72, 54 + 36 + 8, 56},
		{"FLEXFLY(3,1,4;1;traffic=+2:1)", 12, 12, 12 + 6, 0},
		{"FLEXFLY(1,5,2;1)", 2, 2, 5, 0},
		{"FLEXFLY(3,2,1;1)", 3, 3, 3, 6},
		{"FLEXSPANDER(8,3,2,9;2)", 72, 144, 9 * 12 + 72, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t switches = 0, servers = 0, ends = 0, spare = 0;
		struct fors_spec spec CLEARED(fors_spec_clear);
		struct fors_net *net FREED(fors_net_free) = make(cases[i].text, &spec);

		for (uint32_t node = 0; node < net->nnodes; node++) {
			bool is_switch = net->node[node].type == FORS_SWITCH;

			switches += is_switch;
			servers += !is_switch;
			for (unsigned p = 1; is_switch && p <= net->node[node].nports; p++) {
				ends += fors_peer_switch(net, node, p) != FORS_NONE;
				spare += fors_net_port(net, node, p)->peer == FORS_NONE;
			}
		}
		if (switches != cases[i].switches || servers != cases[i].servers || ends != 2 * cases[i].cables ||
		    spare != cases[i].spare)
			fail_msg("%s: %u switches, %u servers, %u ends, %u spare", cases[i].text, switches, servers,
				 ends, spare);
	}
}

/* Cables between blocks of `a` switches. */
static void count_pairs(const struct fors_net *net, uint32_t a, uint32_t count[9][9])
{
	memset(count, 0, 81 * sizeof(count[0][0]));
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_SWITCH && p <= net->node[node].nports; p++)
			if (fors_peer_switch(net, node, p) != FORS_NONE)
				count[node / a][fors_peer_switch(net, node, p) / a]++;
}

/*
 * One cable for each pair, the others by weight: +2:1 gives 5 to the next block but one; 0-1 three times as heavy as 0-2 has 6
 * of their 10 beside 4; and those of a pair are spread over the switches.
 */
TEST(cables_follow_traffic)
{
	struct fors_spec spec;
	struct fors_net *net = make("FLEXFLY(4,4,9;2;traffic=+2:7)", &spec);
	uint32_t count[9][9];

	count_pairs(net, 4, count);
	for (unsigned i = 0; i < 9; i++)
		for (unsigned j = 0; j < 9; j++)
			assert_int_equal(count[i][j], i == j ? 12 : (i + 2) % 9 == j || (j + 2) % 9 == i ? 5 : 1);
	for (uint32_t node = 0; node < 4; node++) {
		unsigned there = 0;

		for (unsigned p = 1; p <= net->node[node].nports; p++)
			there += fors_peer_switch(net, node, p) / 4 == 2;
		assert_in_range(there, 1, 2);
	}
	fors_net_free(net);
	fors_spec_clear(&spec);
	net = make("FLEXSPANDER(4,2,4,9;2;traffic=0-1:3,2-0:1)", &spec);
	count_pairs(net, 4, count);
	assert_int_equal(count[0][1], 7);
	assert_int_equal(count[0][2], 3);
	assert_int_equal(count[1][2], 1);
	assert_int_equal(count[0][0], 8);
	fors_net_free(net);
	fors_spec_clear(&spec);
}

/* Each pair of groups has as many cables as any other. */
TEST(groups_are_alike)
{
	uint32_t count[5][5] = {{0}};
	struct fors_spec spec CLEARED(fors_spec_clear);
	struct fors_net *net FREED(fors_net_free) = make("DRAGONFLY(4,3,5;1)", &spec);

	for (uint32_t node = 0; node < 20; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++)
			if (fors_peer_switch(net, node, p) != FORS_NONE)
				count[node / 4][fors_peer_switch(net, node, p) / 4]++;
	for (unsigned a = 0; a < 5; a++)
		for (unsigned b = 0; b < 5; b++)
			assert_int_equal(count[a][b], a == b ? 12 : 3);
}

/* The hops of a way; a failure when it does not arrive. `ups` sees the switches. */
static unsigned hops(const struct fors_net *net, const struct fors_lfts *lfts, uint32_t from, uint32_t server)
{
	uint32_t lid = fors_net_port(net, server, 1)->lid, at = from;
	unsigned n = 0;

	while (n <= net->nnodes) {
		uint8_t port = fors_lfts_port(lfts, fors_lfts_row(lfts, net->node[at].guid), lid);

		assert_true(port && port != FORS_NO_PATH);
		if (fors_net_port(net, at, port)->peer == server)
			return n;
		at = fors_net_port(net, at, port)->peer;
		n++;
	}
	fail_msg("a loop from %s to %s", net->node[from].desc, net->node[server].desc);
	return 0;
}

/* All models arrive everywhere; shortest, sssp and dor as short as one another, up-down not shorter. */
TEST(models)
{
	static const char *const text[] = {"TORUS(4x5;2)",	"TORUS(4x2x3;1)", "CUBE(4;1)", "DRAGONFLY(4,2,5;2)",
					   "DFPLUS(2,2,2,3;2)", "RRG(20,3,2;3)",  "FT(2;3,4)", "XGFT(3;2,2,2;1,2,2)"};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct fors_lfts *lfts[FORS_NMODELS] = {NULL};
		struct fors_spec spec;
		struct fors_net *net FREED(fors_net_free) = make(text[i], &spec);
		unsigned nmodels = i < 3 ? FORS_NMODELS : FORS_MODEL_DOR;

		assert_int_equal(fors_model_lids(net, NULL), FORS_OK);
		for (unsigned m = 0; m < nmodels; m++)
			assert_int_equal(fors_model_tables(net, &spec.graph, (enum fors_model)m, &lfts[m], NULL),
					 FORS_OK);
		for (uint32_t s = 0; s < net->nnodes; s++)
			for (uint32_t d = 0; d < net->nnodes; d++) {
				unsigned least;

				if (net->node[s].type != FORS_SWITCH || net->node[d].type != FORS_CA)
					continue;
				least = hops(net, lfts[FORS_MODEL_SHORTEST], s, d);
				assert_int_equal(hops(net, lfts[FORS_MODEL_SSSP], s, d), least);
				assert_true(hops(net, lfts[FORS_MODEL_UP_DOWN], s, d) >= least);
				if (nmodels == FORS_NMODELS)
					assert_int_equal(hops(net, lfts[FORS_MODEL_DOR], s, d), least);
			}
		for (unsigned m = 0; m < nmodels; m++)
			fors_lfts_free(lfts[m]);
		fors_spec_clear(&spec);
	}
}

/* Depth-first: can a cable be waited for, by way of others, by who holds it? */
struct waits {
	uint8_t *edge; /* ports x ports */
	uint8_t *seen; /* 0 not yet, 1 on the way, 2 done */
	uint32_t n;
};

static bool has_ring(struct waits *w, uint32_t at)
{
	w->seen[at] = 1;
	for (uint32_t next = 0; next < w->n; next++)
		if (w->edge[(size_t)at * w->n + next] &&
		    (w->seen[next] == 1 || (w->seen[next] == 0 && has_ring(w, next))))
			return true;
	w->seen[at] = 2;
	return false;
}

static void wait_along(struct waits *w, const struct fors_net *net, const struct fors_lfts *lfts, uint32_t at,
		       uint32_t server)
{
	uint32_t lid = fors_net_port(net, server, 1)->lid, before = FORS_NONE;

	for (;;) {
		uint8_t port = fors_lfts_port(lfts, fors_lfts_row(lfts, net->node[at].guid), lid);
		uint32_t link = net->node[at].first_port + port;

		if (before != FORS_NONE)
			w->edge[(size_t)before * w->n + link] = 1;
		before = link;
		if (net->node[fors_net_port(net, at, port)->peer].type == FORS_CA)
			return;
		at = fors_net_port(net, at, port)->peer;
	}
}

/* Cables never wait for one another in a ring under up-down; under shortest ways on a ring they do. */
static bool may_lock(const char *text, enum fors_model model)
{
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	struct fors_spec spec CLEARED(fors_spec_clear);
	struct fors_net *net FREED(fors_net_free) = make(text, &spec);
	struct waits w = {.n = net->nports};
	bool answer = false;

	w.edge = calloc((size_t)w.n * w.n, 1);
	w.seen = calloc(w.n, 1);
	assert_true(w.edge && w.seen);
	assert_int_equal(fors_model_lids(net, NULL), FORS_OK);
	assert_int_equal(fors_model_tables(net, NULL, model, &lfts, NULL), FORS_OK);
	for (uint32_t s = 0; s < net->nnodes; s++)
		for (uint32_t d = 0; d < net->nnodes; d++)
			if (net->node[s].type == FORS_SWITCH && net->node[d].type == FORS_CA)
				wait_along(&w, net, lfts, s, d);
	for (uint32_t link = 0; link < w.n; link++)
		answer |= !w.seen[link] && has_ring(&w, link);
	free(w.edge);
	free(w.seen);
	return answer;
}

TEST(up_down_never_locks)
{
	assert_true(may_lock("TORUS(6;1)", FORS_MODEL_SHORTEST));
	assert_false(may_lock("TORUS(6;1)", FORS_MODEL_UP_DOWN));
	assert_false(may_lock("TORUS(4x5;1)", FORS_MODEL_UP_DOWN));
	assert_false(may_lock("RRG(20,4,1;3)", FORS_MODEL_UP_DOWN));
	assert_false(may_lock("DRAGONFLY(4,2,5;1)", FORS_MODEL_UP_DOWN));
}

TEST(dor_is_for_tori)
{
	struct fors_lfts *lfts = NULL;
	struct fors_error error;
	struct fors_spec spec CLEARED(fors_spec_clear);
	struct fors_net *net FREED(fors_net_free) = make("RRG(6,3,1;1)", &spec);

	assert_int_equal(fors_model_tables(net, &spec.graph, FORS_MODEL_DOR, &lfts, &error), FORS_ENOTAPPL);
	assert_null(lfts);
}
