/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics from a specification: the grammar, and who is cabled to whom. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/net/synthetic.h"

static void test_canonical(void **state)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
		{"FT(2;20,18)", "FT(2;20,18)"},
		{"  FT ( 2 ; 20 , 18 ; cables = 1 ; servers = 20 ) ", "FT(2;20,18)"},
		{"FT(2;4,3;cables=2)", "FT(2;4,3;cables=2)"},
		{"FT(2;4,3;servers=8)", "FT(2;4,3;servers=8)"},
		{"FT(2;4,3;empty=2/1,0/3,2/1;servers=5)", "FT(2;4,3;servers=5;empty=0/3,2/1)"},
		{"FT(2;1,1)", "FT(2;1,1)"},
		{"FT(2;127,254;servers=127)", "FT(2;127,254)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_spec spec;
		char *text = NULL;

		assert_int_equal(fors_spec_parse(cases[i].text, &spec, NULL), FORS_OK);
		assert_int_equal(fors_spec_format(&spec, &text, NULL), FORS_OK);
		assert_string_equal(text, cases[i].canonical);
		free(text);
		fors_spec_clear(&spec);
	}
}

static void test_bad(void **state)
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
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_spec spec = {.leaves = 77};
		struct fors_error error;

		assert_int_equal(fors_spec_parse(cases[i].text, &spec, &error), cases[i].err);
		data_contains(error.text, cases[i].message);
		assert_int_equal(spec.leaves, 77); /* untouched */
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
static void test_cables(void **state)
{
	struct fors_net *net = data_net_spec("FT(2;3,4;servers=5;cables=2;empty=1/4,2/0)");

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
	fors_net_free(net);
}

/* As ibsim 0.10 numbers a text without GUIDs; seen with ibnetdiscover. */
static void test_guids(void **state)
{
	struct fors_net *net = data_net_spec("FT(2;2,3;servers=2;empty=0/1)");

	assert_true(net->node[find(net, "Leaf00")].guid == 0x200000);
	assert_true(net->node[find(net, "Leaf02")].guid == 0x200002);
	assert_true(net->node[find(net, "Spine01")].guid == 0x200004);
	assert_true(net->node[find(net, "Node00-00")].guid == 0x100000);
	assert_true(net->node[find(net, "Node01-00")].guid == 0x100002);
	assert_true(fors_net_port(net, find(net, "Node02-01"), 1)->guid == 0x100009);
	assert_true(fors_net_port(net, find(net, "Spine01"), 0)->guid == 0x200004);
	fors_net_free(net);
}

/* Two digits are the least; names widen where needed. */
static void test_wide(void **state)
{
	struct fors_net *net = data_net_spec("FT(2;1,120;servers=101)");

	assert_int_not_equal(find(net, "Node119-100"), FORS_NONE);
	assert_int_not_equal(find(net, "Node09-09"), FORS_NONE);
	assert_int_equal(net->nnodes, 121 + 120 * 101);
	fors_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical), cmocka_unit_test(test_bad),  cmocka_unit_test(test_cables),
		cmocka_unit_test(test_guids),	  cmocka_unit_test(test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
