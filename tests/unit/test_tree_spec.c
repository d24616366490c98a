/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fat-trees as text and as nets: the grammar, and who is cabled to whom. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/net/tree_net.h"

FREES(fors_net_free, struct fors_net *)

TEST(test_same_tree)
{
	static const struct {
		const char *text, *same;
	} cases[] = {
		{"  FT ( 2 ; 20 , 18 ; cables = 1 ; servers = 20 ) ", "FT(2;20,18)"},
		{"FT(2;4,3;empty=2/1,0/3,2/1;servers=5)", "FT(2;4,3;servers=5;empty=0/3,2/1)"},
		{"FT(2;127,254;servers=127)", "FT(2;127,254)"},
		{"FT(2;4,3;cables=2)", "PGFT(2;4,3;1,4;1,2)"},
		{" PGFT( 2 ; 20,18 ; 1,20 ; 1,1 ) ", "XGFT(2;20,18;1,20)"},
		{"PGFT(3;18,18,36;1,18,18;1,1,1)", "XGFT(3;18,18,36;1,18,18)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_tree_spec a, b;

		assert_int_equal(fors_tree_spec_parse(cases[i].text, &a, NULL), FORS_OK);
		assert_int_equal(fors_tree_spec_parse(cases[i].same, &b, NULL), FORS_OK);
		assert_memory_equal(&a.tree, &b.tree, sizeof(a.tree));
		assert_int_equal(a.empty.count, b.empty.count);
		if (a.empty.count)
			assert_memory_equal(a.empty.slot, b.empty.slot, a.empty.count * sizeof(*a.empty.slot));
		fors_tree_spec_clear(&a);
		fors_tree_spec_clear(&b);
	}
}

TEST(test_bad)
{
	static const struct {
		const char *text;
		enum fors_err err;
		const char *message;
	} cases[] = {
		{"", FORS_EINPUT, "character 1: this is no fat-tree"},
		{"ft(2;3,3)", FORS_EINPUT, "character 1"},
		{"FT(3;3,3)", FORS_EINPUT, "only two-level"},
		{"FT(2;3)", FORS_EINPUT, "character 7: a comma"},
		{"FT(2;,3)", FORS_EINPUT, "character 6: a number is missing"},
		{"FT(2;-1,3)", FORS_EINPUT, "character 6: a number is missing"},
		{"FT(2;0,3)", FORS_EINPUT, "character 6: the number must be at least 1"},
		{"FT(2;3,3;servers=0)", FORS_EINPUT, "at least 1"},
		{"FT(2;3,3;cables=1;cables=1)", FORS_EINPUT, "character 19"},
		{"FT(2;3,3;spare=1)", FORS_EINPUT, "character 10"},
		{"FT(2;3,3;empty=)", FORS_EINPUT, "character 16"},
		{"FT(2;3,3;empty=1)", FORS_EINPUT, "slot"},
		{"FT(2;3,3;empty=3/0)", FORS_EINPUT, "empty=3/0: leaves are numbered 0 to 2 and slots 0 to 2"},
		{"FT(2;3,3;empty=0/3)", FORS_EINPUT, "empty=0/3"},
		{"FT(2;3,3", FORS_EINPUT, "a ; or a ) is expected"},
		{"FT(2;3,3))", FORS_EINPUT, "something follows"},
		{"FT(2;70000,3)", FORS_ELIMIT, "larger than 65535"},
		{"FT(2;3,18446744073709551617)", FORS_ELIMIT, "larger than 65535"},
		{"FT(2;128,3)", FORS_ELIMIT, "a leaf needs 256 ports, a switch has at most 254"},
		{"FT(2;3,128;cables=2)", FORS_ELIMIT, "a spine needs 256 ports"},
		{"FT(2;65535,65535;cables=65535;servers=65535)", FORS_ELIMIT, "ports"},
		{"XGFT", FORS_EINPUT, "character 5"},
		{"XGFT(", FORS_EINPUT, "character 6: a height from 1 to 8"},
		{"XGFT(0;;)", FORS_EINPUT, "character 6: a height"},
		{"XGFT(9;1;1)", FORS_EINPUT, "character 6: a height"},
		{"XGFT(2;3;1,1)", FORS_EINPUT, "character 9: the list is shorter than the height"},
		{"XGFT(2;3,3;1)", FORS_EINPUT, "the list is shorter"},
		{"XGFT(2;3,3;1,1", FORS_EINPUT, "a ) is expected"},
		{"XGFT(2;3,3;1,1;1,1)", FORS_EINPUT, "character 15: a ) is expected"},
		{"PGFT(2;3,3;1,1)", FORS_EINPUT, "character 15: a ; and a list are missing"},
		{"XGFT(1;0;1)", FORS_EINPUT, "character 8: the number must be at least 1"},
		{"XGFT(1;-1;1)", FORS_EINPUT, "character 8: a number is missing"},
		{"XGFT(1;65536;1)", FORS_ELIMIT, "character 8: the number is larger than 65535"},
		{"XGFT(1;3;1)x", FORS_EINPUT, "something follows"},
		{"XGFT(2;3,3,3;1,1)", FORS_EINPUT, "character 11"},
		{"YGFT(1;3;1)", FORS_EINPUT, "write FT(2;SPINES,LEAVES), XGFT("},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_tree_spec spec = {.tree = {.height = 77}};
		struct fors_error error;

		assert_int_equal(fors_tree_spec_parse(cases[i].text, &spec, &error), cases[i].err);
		data_contains(error.text, cases[i].message);
		assert_int_equal(spec.tree.height, 77); /* untouched */
	}
}

static uint32_t find(const struct fors_net *net, const char *name)
{
	uint32_t node = FORS_NONE;
	unsigned port;

	assert_int_equal(fors_net_find(net, name, &node, &port, NULL), FORS_OK);
	return node;
}

static void check_cable(const struct fors_net *net, const char *a, unsigned a_port, const char *b, unsigned b_port)
{
	const struct fors_port *end = fors_net_port(net, find(net, a), a_port);

	assert_int_equal(end->peer, find(net, b));
	assert_int_equal(end->peer_port, b_port);
}

/* Leaf ports: servers first, then spine by spine; spine ports: leaf by leaf. */
TEST(test_cables)
{
	struct fors_net *net FREED(fors_net_free) = data_net_spec("FT(2;3,4;servers=5;cables=2;empty=1/4,2/0)");

	assert_int_equal(net->nnodes, 4 + 3 + 18);
	assert_int_equal(net->node[find(net, "Leaf03")].nports, 5 + 3 * 2);
	assert_int_equal(net->node[find(net, "Spine02")].nports, 4 * 2);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 0; spine < 3; spine++)
			for (unsigned cable = 0; cable < 2; cable++) {
				char a[32], b[32];

				snprintf(a, sizeof(a), "Leaf%02u", leaf);
				snprintf(b, sizeof(b), "Spine%02u", spine);
				check_cable(net, a, 5 + spine * 2 + cable + 1, b, leaf * 2 + cable + 1);
			}
	check_cable(net, "Leaf00", 1, "Node00-00", 1);
	check_cable(net, "Leaf01", 4, "Node01-03", 1);
	check_cable(net, "Leaf03", 5, "Node03-04", 1);
	assert_int_equal(fors_net_port(net, find(net, "Leaf01"), 5)->peer, FORS_NONE);
	assert_int_equal(fors_net_port(net, find(net, "Leaf02"), 1)->peer, FORS_NONE);
}

/* As ibsim 0.10 numbers a text without GUIDs; seen with ibnetdiscover. */
TEST(test_guids)
{
	struct fors_net *net FREED(fors_net_free) = data_net_spec("FT(2;2,3;servers=2;empty=0/1)");

	assert_true(net->node[find(net, "Leaf00")].guid == 0x200000);
	assert_true(net->node[find(net, "Leaf02")].guid == 0x200002);
	assert_true(net->node[find(net, "Spine01")].guid == 0x200004);
	assert_true(net->node[find(net, "Node00-00")].guid == 0x100000);
	assert_true(net->node[find(net, "Node01-00")].guid == 0x100002);
	assert_true(fors_net_port(net, find(net, "Node02-01"), 1)->guid == 0x100009);
	assert_true(fors_net_port(net, find(net, "Spine01"), 0)->guid == 0x200004);
}

/* Two digits are the least; names widen where needed. */
TEST(test_wide)
{
	struct fors_net *net FREED(fors_net_free) = data_net_spec("FT(2;1,120;servers=101)");

	assert_int_not_equal(find(net, "Node119-100"), FORS_NONE);
	assert_int_not_equal(find(net, "Node09-09"), FORS_NONE);
	assert_int_equal(net->nnodes, 121 + 120 * 101);
}

static void check_same_net(const struct fors_net *a, const struct fors_net *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nports, b->nports);
	for (uint32_t n = 0; n < a->nnodes; n++) {
		assert_string_equal(a->node[n].id, b->node[n].id);
		assert_true(a->node[n].guid == b->node[n].guid);
	}
	for (uint32_t p = 0; p < a->nports; p++) {
		assert_true(a->port[p].guid == b->port[p].guid);
		assert_int_equal(a->port[p].peer, b->port[p].peer);
		assert_int_equal(a->port[p].peer_port, b->port[p].peer_port);
	}
}

/* One tree, however it is spelled, is one net. */
TEST(test_spellings)
{
	struct fors_net *net = data_net_spec("PGFT(2;4,5;1,3;1,2)"),
			*wanted = data_net_spec("FT(2;3,5;servers=4;cables=2)");

	check_same_net(net, wanted);
	fors_net_free(net);
	fors_net_free(wanted);
}

/* Three levels: 2 x 3 x 2 servers; a leaf has 2 parents, by 2 cables each, a middle switch 3. Pods share no Mid. */
TEST(test_three_levels)
{
	struct fors_net *net FREED(fors_net_free) = data_net_spec("PGFT(3;2,3,2;1,2,3;1,2,1)");

	assert_int_equal(net->nnodes, 6 + 4 + 6 + 12);
	assert_int_equal(find(net, "Leaf05"), 5);
	assert_int_equal(find(net, "Mid2-03"), 9);
	assert_int_equal(find(net, "Spine05"), 15);
	assert_int_equal(net->node[find(net, "Leaf00")].nports, 2 + 4);
	assert_int_equal(net->node[find(net, "Mid2-00")].nports, 3 * 2 + 3);
	assert_int_equal(net->node[find(net, "Spine00")].nports, 2);
	check_cable(net, "Node04-01", 1, "Leaf04", 2);
	check_cable(net, "Leaf00", 3, "Mid2-00", 1);
	check_cable(net, "Leaf00", 5, "Mid2-01", 1);
	check_cable(net, "Leaf04", 6, "Mid2-03", 4);
	check_cable(net, "Mid2-03", 7, "Spine01", 2);
	check_cable(net, "Mid2-03", 9, "Spine05", 2);
	check_cable(net, "Mid2-02", 8, "Spine02", 2);
}

TEST(test_no_net)
{
	struct fors_tree_spec spec;
	struct fors_net *net = NULL;

	assert_int_equal(fors_tree_spec_parse("XGFT(2;200,2;1,55)", &spec, NULL), FORS_OK);
	assert_int_equal(fors_tree_net(&spec, &net, NULL), FORS_ELIMIT);
	assert_int_equal(fors_tree_spec_parse("XGFT(1;2;2)", &spec, NULL), FORS_OK);
	assert_int_equal(fors_tree_net(&spec, &net, NULL), FORS_ENOTAPPL);
	assert_null(net);
}
