/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of core/fabric/missing.c: which cables a text lacks is found by comparison, at any height.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/fabric/missing.h"
#include "core/fabric/repairs.h"
#include "core/fabric/places.h"
#include "core/net/spec.h"

/* A tree that is learnt from a net in which something was dead before, and that then loses more. */
struct scene {
	struct fors_net *text, *net;
	struct fors_places *places;
	struct fors_fattree tree;
};

static void take(const struct fors_net *from, struct fors_net *net, const char *what)
{
	char copy[256], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", what);
	for (char *word = strsep(&rest, " "); word && *word; word = strsep(&rest, " "))
		assert_int_equal(fors_net_down(from, net, word, NULL), FORS_OK);
}

static void open_scene(struct scene *s, const char *text, const char *never, const char *down)
{
	struct fors_spec spec = {0};
	struct fors_net *whole;

	assert_int_equal(fors_spec_parse(text, &spec, NULL), FORS_OK);
	assert_int_equal(fors_spec_net(&spec, &whole, NULL), FORS_OK);
	fors_spec_clear(&spec);
	assert_int_equal(fors_net_copy(whole, &s->text, NULL), FORS_OK);
	take(whole, s->text, never);
	assert_int_equal(fors_net_copy(s->text, &s->net, NULL), FORS_OK);
	s->places = fors_places_new();
	assert_int_equal(fors_places_learn_tree(s->places, s->text, NULL, 0, NULL, NULL), FORS_OK);
	take(s->text, s->net, down);
	for (uint32_t n = 0; n < s->net->nnodes; n++)
		for (unsigned p = 0; s->net->node[n].type == FORS_CA && p <= s->net->node[n].nports; p++)
			fors_net_port(s->net, n, p)->lid = (uint16_t)(n + 1);
	assert_int_equal(fors_fattree_build(s->net, s->places, NULL, &s->tree, NULL), FORS_OK);
	fors_net_free(whole);
}

static void close_scene(struct scene *s)
{
	fors_fattree_free(&s->tree);
	fors_places_free(s->places);
	fors_net_free(s->net);
	fors_net_free(s->text);
}

/* "Leaf03-Spine04:0/1 17/17": has/wanted, agree/siblings. */
static void assert_missing(const char *spec, const char *never, const char *down, const char *want)
{
	struct scene s;
	struct fors_missing *list;
	unsigned unclear;
	uint32_t count;
	char text[512] = "";
	size_t used = 0;

	open_scene(&s, spec, never, down);
	assert_int_equal(fors_missing_list(&s.tree, &list, &count, &unclear, NULL), FORS_OK);
	for (uint32_t i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s-%s:%u/%u %u/%u", i ? ", " : "",
					 s.tree.kind->at(&s.tree, list[i].low).name,
					 s.tree.kind->at(&s.tree, list[i].high).name, list[i].has, list[i].wanted,
					 list[i].agree, list[i].siblings);
	assert_string_equal(text, want);
	free(list);
	close_scene(&s);
}

static void test_missing_on_two_levels(void **state)
{
	assert_missing("FT(2;6,18;servers=6)", "", "", "");
	assert_missing("FT(2;6,18;servers=6)", "Leaf03[11]", "", "Leaf03-Spine04:0/1 17/17");
	assert_missing("FT(2;6,18;servers=6)", "Leaf03[11]", "Leaf05[7]",
		       "Leaf03-Spine04:0/1 17/17"); /* dead is known */
	assert_missing("FT(2;2,4;servers=2;cables=3)", "Leaf01[4]", "", "Leaf01-Spine00:2/3 3/3");
	assert_missing("FT(2;4,8;servers=2)", "Leaf00[3] Leaf01[3]", "",
		       "Leaf00-Spine00:0/1 6/7, Leaf01-Spine00:0/1 6/7");
	assert_missing("FT(2;3,3;servers=2)", "Leaf00[3]", "", "Leaf00-Spine00:0/1 2/2");
	/* less than three of four agree; all look alike */
	assert_missing("FT(2;3,3;servers=2)", "Leaf00[3] Leaf01[4] Leaf02[5]", "", "");
	assert_missing("FT(2;4,3;servers=2)", "Leaf00[3] Leaf01[3] Leaf02[3]", "", "");
}

static void test_missing_on_three_levels(void **state)
{
	assert_missing("XGFT(3;4,4,4;1,4,4)", "", "", "");
	assert_missing("XGFT(3;4,4,4;1,4,4)", "Leaf05[6]", "", "Leaf05-Mid2-05:0/1 3/3");
	assert_missing("XGFT(3;4,4,4;1,4,4)", "Mid2-00[5]", "", "Mid2-00-Spine00:0/1 3/3");
	assert_missing("XGFT(3;4,4,4;1,4,4)", "Mid2-00[5]", "Mid2-00[6]", "Mid2-00-Spine00:0/1 3/3");
}

/* Of which stage nobody can tell; 0: of none. */
static void assert_unclear(const char *spec, const char *never, unsigned stage)
{
	struct scene s;
	struct fors_missing *list;
	unsigned unclear;
	uint32_t count;

	open_scene(&s, spec, never, "");
	assert_int_equal(fors_missing_list(&s.tree, &list, &count, &unclear, NULL), FORS_OK);
	assert_int_equal(unclear, stage);
	assert_true(!stage || !count);
	free(list);
	close_scene(&s);
}

static void test_what_comparison_cannot_say(void **state)
{
	assert_unclear("FT(2;4,8;servers=2)", "", 0);
	assert_unclear("FT(2;4,8;servers=2)", "Leaf00[3] Leaf01[3] Leaf02[3]", 0);
	assert_unclear("FT(2;3,3;servers=2)", "Leaf00[3] Leaf01[4]", 0);
	assert_unclear("FT(2;3,3;servers=2)", "Leaf00[3] Leaf01[4] Leaf02[5]", 1);
	assert_unclear("XGFT(3;4,3,3;1,4,4)", "Leaf04[6] Mid2-00[4]", 0);
	assert_unclear(
		"XGFT(3;4,3,3;1,4,4)",
		"Leaf00[5] Leaf01[6] Leaf02[7] Leaf03[5] Leaf04[6] Leaf05[7] Leaf06[5] Leaf07[6] Leaf08[7] Leaf00[6]",
		1);
	assert_unclear("XGFT(3;3,2,2;1,2,2)", "Mid2-00[3] Mid2-02[4] Mid2-03[3]", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_on_two_levels),
		cmocka_unit_test(test_missing_on_three_levels),
		cmocka_unit_test(test_what_comparison_cannot_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
