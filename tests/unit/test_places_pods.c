/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_places_pods.c - the kept order of trees of three levels: which kind a fabric is, text, replaced and forgotten switches. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/fattree.h"
#include "core/fabric/known.h"
#include "core/fabric/lids.h"
#include "core/fabric/places_file.h"
#include "core/fabric/places.h"
#include "core/net/others.h"
#include "core/net/tree_net.h"
#include "core/planners/pods/route.h"
#include "core/planners/routing.h"

FREES(fors_known_free, struct fors_known *)
FREES(fors_pods_route_free, struct fors_pods_route *)

#define TREE "XGFT(3;2,2,3;1,2,2)" /* 12 servers, 6 leaves, 6 mids, 4 tops */

static struct fors_net *net_of(const char *text)
{
	struct fors_tree_spec spec = {0};
	struct fors_net *net = NULL;

	assert_int_equal(fors_tree_spec_parse(text, &spec, NULL), FORS_OK);
	assert_int_equal(fors_tree_net(&spec, &net, NULL), FORS_OK);
	fors_tree_spec_clear(&spec);
	assert_int_equal(fors_assign_lids(net, NULL, 0, false, NULL), FORS_OK);
	return net;
}

/* A copy without what a comma separates in `down`. */
static struct fors_net *without(const struct fors_net *net, const char *down)
{
	struct fors_net *less;
	char names[256], *rest = NULL;

	assert_int_equal(fors_net_copy(net, &less, NULL), FORS_OK);
	snprintf(names, sizeof(names), "%s", down);
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		assert_int_equal(fors_net_down(net, less, name, NULL), FORS_OK);
	return less;
}

/* What a sweep sees: what cables lead to from the first server. */
static struct fors_net *seen(const struct fors_net *net)
{
	uint32_t *number = malloc(net->nnodes * sizeof(*number)), *queue = malloc(net->nnodes * sizeof(*queue)), n = 0;
	struct fors_net *part = fors_net_new();

	assert_true(number && queue && part);
	memset(number, 0xFF, net->nnodes * sizeof(*number));
	for (uint32_t node = 0; node < net->nnodes && !n; node++)
		if (net->node[node].type == FORS_CA && fors_net_port(net, node, 1)->peer != FORS_NONE)
			queue[n++] = node, number[node] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct fors_node *from = &net->node[queue[i]];
		uint32_t index;

		assert_int_equal(fors_net_add_node(part, from->type, from->nports, from->guid, from->id, from->desc,
						   &index, NULL),
				 FORS_OK);
		number[queue[i]] = index;
		for (unsigned p = 1; p <= from->nports; p++) {
			uint32_t peer = fors_net_port(net, queue[i], p)->peer;

			if (peer != FORS_NONE && number[peer] == FORS_NONE)
				queue[n++] = peer, number[peer] = 0;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		for (unsigned p = 0; p <= net->node[queue[i]].nports; p++) {
			const struct fors_port *from = fors_net_port(net, queue[i], p);
			struct fors_port *to = fors_net_port(part, number[queue[i]], p);

			*to = *from;
			to->peer = from->peer == FORS_NONE ? FORS_NONE : number[from->peer];
		}
	assert_int_equal(fors_net_index(part, NULL), FORS_OK);
	free(number);
	free(queue);
	return part;
}

static void must_learn(struct fors_places *places, const struct fors_net *net)
{
	struct fors_error error = {0};

	if (fors_places_learn_tree(places, net, NULL, 0, NULL, &error))
		fail_msg("%s", error.text);
}

/* Learn what is left of the net. */
static void learn_part(struct fors_places *places, const struct fors_net *net, const char *down)
{
	struct fors_net *less = without(net, down), *part = seen(less);

	must_learn(places, part);
	fors_net_free(less);
	fors_net_free(part);
}

static struct fors_places *places_of(const struct fors_net *net)
{
	struct fors_places *places = fors_places_new();

	assert_non_null(places);
	must_learn(places, net);
	return places;
}

static char *encode(const struct fors_places *places, size_t *size)
{
	char *text;

	assert_int_equal(fors_places_encode(places, &text, size, NULL), FORS_OK);
	return text;
}

/* --- which kind ----------------------------------------------------------- */

TEST(two_levels_or_three)
{
	static const struct {
		const char *spec;
		bool is_three;
	} cases[] = {{"FT(2;4,4)", false},
		     {"FT(2;3,4;servers=6;cables=2)", false},
		     {TREE, true},
		     {"XGFT(3;2,1,2;1,2,2)", true},
		     {"PGFT(3;2,2,2;1,2,2;1,2,1)", true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_net *net FREED(fors_net_free) = net_of(cases[i].spec);
		struct fors_places *places FREED(fors_places_free) = places_of(net);

		if (!!fors_places_known(places) != cases[i].is_three)
			fail_msg("%s", cases[i].spec);
	}
}

/* A tree of two levels, cut so that leaves have no spine in common, is none of three; and it is told from one. */
TEST(cut_is_not_three)
{
	struct fors_net *net = net_of("FT(2;2,3)"), *less = without(net, "Leaf00[4],Leaf01[3]");
	struct fors_places *places = places_of(net), *fresh = fors_places_new();
	struct fors_error why = {0};

	assert_int_equal(fors_places_learn_tree(places, less, NULL, 0, &why, NULL), FORS_OK);
	assert_null(fors_places_known(places));
	assert_string_equal(why.text, ""); /* nobody had to ask */
	assert_int_equal(fors_places_learn_tree(fresh, less, NULL, 0, &why, NULL), FORS_OK);
	assert_null(fors_places_known(fresh));
	assert_non_null(strstr(why.text, "three-level"));
	fors_places_free(places);
	fors_places_free(fresh);
	fors_net_free(net);
	fors_net_free(less);
}

/* A pod alone looks like a tree of two levels; and two of its leaves, when tops come later, are leaves of three. */
TEST(a_pod_alone)
{
	static const char others[] = "Spine00,Spine01,Spine02,Spine03";
	struct fors_net *net FREED(fors_net_free) = net_of(TREE);
	struct fors_places *places = places_of(net), *fresh = fors_places_new();
	struct fors_places_size size;

	learn_part(places, net, others);
	assert_non_null(fors_places_known(places));
	size = fors_places_size(places);
	assert_int_equal(size.leaves, 6);
	assert_int_equal(size.spines, 10);
	assert_int_equal(size.slots, 12);
	learn_part(fresh, net, others);
	assert_null(fors_places_known(fresh));
	must_learn(fresh, net);
	assert_non_null(fors_places_known(fresh));
	assert_int_equal(fors_places_size(fresh).leaves, 6);
	fors_places_free(places);
	fors_places_free(fresh);
}

/* Another fabric altogether: of two levels, and of three that contradicts what was known. */
TEST(it_was_rebuilt)
{
	struct fors_net *three = net_of(TREE), *two = net_of("FT(2;2,3)");
	struct fors_places *places FREED(fors_places_free) = places_of(two);

	must_learn(places, three); /* the same GUIDs stand for other switches */
	assert_non_null(fors_places_known(places));
	must_learn(places, two);
	assert_null(fors_places_known(places));
	assert_int_equal(fors_places_size(places).leaves, 3);
	fors_net_free(three);
	fors_net_free(two);
}

TEST(a_crossed_cable)
{
	struct fors_net *net FREED(fors_net_free) = net_of("XGFT(3;3,2,3;1,2,2)");
	struct fors_places *places FREED(fors_places_free) = places_of(net);
	struct fors_error error = {0};
	size_t size, again_size;
	char *before = encode(places, &size), *again;
	uint32_t a, b;
	unsigned port;

	assert_int_equal(fors_net_find(net, "Leaf00", &a, &port, NULL), FORS_OK);
	assert_int_equal(fors_net_find(net, "Leaf03", &b, &port, NULL), FORS_OK);
	fors_net_disconnect(net, a, 1);
	fors_net_disconnect(net, b, 1);
	assert_int_equal(fors_net_connect(net, a, 1, b, 1, NULL), FORS_OK);
	assert_int_equal(fors_places_learn_tree(places, net, NULL, 0, NULL, &error), FORS_ENOTREE);
	assert_non_null(strstr(error.text, "Leaf00 and Leaf03"));
	again = encode(places, &again_size);
	assert_string_equal(before, again);
	free(before);
	free(again);
}

TEST(four_levels)
{
	struct fors_net *net FREED(fors_net_free) = net_of("XGFT(4;2,2,2,2;1,2,2,2)");
	struct fors_places *places FREED(fors_places_free) = fors_places_new();
	struct fors_error why = {0};

	assert_int_equal(fors_places_learn_tree(places, net, NULL, 0, &why, NULL), FORS_OK);
	assert_null(fors_places_known(places)); /* one of two, in which nearly all leaves are cut off from each other */
	assert_non_null(strstr(why.text, "not a three-level fat-tree: "));
	assert_non_null(strstr(why.text, "a fourth level"));
}

/* --- text ----------------------------------------------------------------- */

static void refuse(const char *text, size_t size, const char *word)
{
	struct fors_places *places = NULL;
	struct fors_error error = {0};

	assert_int_not_equal(fors_places_decode(text, size, "places", &places, &error), FORS_OK);
	assert_null(places);
	if (word && !strstr(error.text, word))
		fail_msg("\"%s\" does not speak of \"%s\"", error.text, word);
}

/* The tables that places lead to. */
static struct fors_pods_route *route_of(const struct fors_places *places, const struct fors_net *now)
{
	struct fors_pods_route *route = NULL;
	struct fors_fattree tree CLEARED(fors_fattree_free);

	assert_int_equal(fors_fattree_build(now, places, NULL, &tree, NULL), FORS_OK);
	assert_int_equal(fors_pods_route_make(tree.pods, 100, &route, NULL), FORS_OK);
	return route;
}

static void assert_same_tables(const struct fors_places *one, const struct fors_places *other,
			       const struct fors_net *now)
{
	struct fors_pods_route *a = route_of(one, now), *b = route_of(other, now);

	assert_memory_equal(a->lfts->port, b->lfts->port, (size_t)a->lfts->nswitches * a->lfts->nlids);
	fors_pods_route_free(a);
	fors_pods_route_free(b);
}

static void assert_other_tables(const struct fors_places *one, const struct fors_places *other,
				const struct fors_net *now)
{
	struct fors_pods_route *a = route_of(one, now), *b = route_of(other, now);

	assert_memory_not_equal(a->lfts->port, b->lfts->port, (size_t)a->lfts->nswitches * a->lfts->nlids);
	fors_pods_route_free(a);
	fors_pods_route_free(b);
}

TEST(text_and_back)
{
	struct fors_net *net = net_of(TREE), *less = without(net, "Leaf02,Mid2-01,Spine03");
	struct fors_places *places = places_of(net), *read = NULL;
	size_t size, again_size;
	char *text, *again;

	learn_part(places, net, "Leaf02,Mid2-01,Spine03");
	text = encode(places, &size);
	assert_non_null(strstr(text, "dead \"Spine03\""));
	assert_int_equal(fors_places_decode(text, size, "places", &read, NULL), FORS_OK);
	again = encode(read, &again_size);
	assert_string_equal(text, again);
	assert_same_tables(places, read, less);
	free(text);
	free(again);
	fors_places_free(places);
	fors_places_free(read);
	fors_net_free(net);
	fors_net_free(less);
}

TEST(the_version_before_is_read)
{
	struct fors_net *net FREED(fors_net_free) = net_of(TREE);
	struct fors_places *places = places_of(net), *read = NULL;
	size_t size, former_size, again_size;
	char *text, *former, *again;

	learn_part(places, net, "Leaf02,Mid2-01,Spine03");
	text = encode(places, &size);
	former = former_places(text, "fors-pods 1", &former_size);
	assert_int_equal(fors_places_decode(former, former_size, "places", &read, NULL), FORS_OK);
	again = encode(read, &again_size);
	assert_string_equal(again, text);
	free(text);
	free(former);
	free(again);
	fors_places_free(places);
	fors_places_free(read);
}

TEST(every_damage_is_noticed)
{
	struct fors_net *net FREED(fors_net_free) = net_of("XGFT(3;1,1,2;1,1,1)");
	struct fors_places *places FREED(fors_places_free) = places_of(net);
	size_t size;
	char *text FREED(free) = encode(places, &size);

	assert_non_null(fors_places_known(places));
	for (size_t cut = 0; cut < size; cut++)
		refuse(text, cut, NULL);
	for (size_t i = 0; i < size; i++)
		for (unsigned bit = 0; bit < 8; bit += 3) {
			text[i] ^= (char)(1 << bit);
			refuse(text, size, NULL);
			text[i] ^= (char)(1 << bit);
		}
}

static void refuse_sealed(const char *body, const char *word)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "fors-places 3\nreference 0x0000000000000000\nlevels 3\n%s", body);

	n += snprintf(text + n, sizeof(text) - (size_t)n, "crc 0x%08lx\n",
		      crc32(0, (const unsigned char *)text, (unsigned)n));
	refuse(text, (size_t)n, word);
}

#define NODES                                                                                                          \
	"server 0x0000000000000001 1 alive \"N\"\nserver 0x0000000000000002 1 alive \"O\"\n"                           \
	"leaf 0x0000000000000003 2 alive \"L\"\nleaf 0x0000000000000004 2 alive \"M\"\n"                               \
	"middle 0x0000000000000005 2 alive \"P\"\nmiddle 0x0000000000000006 2 alive \"Q\"\n"                           \
	"top 0x0000000000000007 2 alive \"T\"\n"
#define CABLES "cable 0.1 2.1\ncable 1.1 3.1\ncable 2.2 4.1\ncable 3.2 5.1\ncable 4.2 6.1\ncable 5.2 6.2\n"

TEST(other_versions)
{
	static const struct {
		const char *title, *words;
	} cases[] = {{"fors-places 1", "a kept order of version 1; this fors reads versions 2 and 3"},
		     {"fors-places 2", "no spine"},
		     {"fors-places 0", "a kept order of version 0"},
		     {"fors-places 4294967295", "a kept order of version 4294967295"},
		     {"fors-places 4294967296", "not a kept order"},
		     {"fors-places 03x", "not a kept order"},
		     {"fors-pods 1", "no node"},
		     {"fors-pods 2", "not a kept order"},
		     {"fors-pods 1x", "not a kept order"},
		     {"fors-places 3", "no spine"}}; /* the lines of three levels in one of two */

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[2048];
		int n = snprintf(text, sizeof(text), "%s\nreference 0x0000000000000000\nlevels 2\n" NODES CABLES,
				 cases[i].title);

		n += snprintf(text + n, sizeof(text) - (size_t)n, "crc 0x%08lx\n",
			      crc32(0, (const unsigned char *)text, (unsigned)n));
		refuse(text, (size_t)n, cases[i].words);
	}
}

TEST(nonsense_with_a_good_checksum)
{
	refuse_sealed("", "no tree");
	refuse_sealed("spam\n", "no node");
	refuse_sealed("leaf 0x0000000000000000 2 alive \"L\"\n", "not a leaf");
	refuse_sealed("leaf 0x0000000000000001 255 alive \"L\"\n", "not a leaf");
	refuse_sealed("top 0x0000000000000001 2 undead \"L\"\n", "not a top");
	refuse_sealed(NODES "cable 0.1 9.1\n", "between two nodes");
	refuse_sealed(NODES "cable 0.2 2.1\n", "no such cable");
	refuse_sealed(NODES "cable 0.1 2.1\ncable 1.1 2.1\n", "no such cable");
	refuse_sealed(NODES CABLES NODES, "no node, or no cable");
	refuse_sealed(NODES, "no tree");
	refuse_sealed(NODES NODES CABLES, "0x0000000000000001");
	refuse_sealed("server 0x0000000000000001 1 alive \"N\"\nserver 0x0000000000000002 1 alive \"O\"\n"
		      "leaf 0x0000000000000003 2 alive \"L\"\nleaf 0x0000000000000004 2 alive \"M\"\n"
		      "middle 0x0000000000000005 2 alive \"P\"\ntop 0x0000000000000006 2 alive \"Q\"\n"
		      "top 0x0000000000000007 2 alive \"T\"\n" CABLES,
		      "levels");
	refuse_sealed(NODES
		      "cable 2.1 0.1\ncable 1.1 3.1\ncable 2.2 4.1\ncable 3.2 5.1\ncable 4.2 6.1\ncable 5.2 6.2\n",
		      "notation");
}

/* --- who takes whose place --------------------------------------------------- */

static uint32_t node_of(const struct fors_net *net, const char *name)
{
	uint32_t node;
	unsigned port;

	assert_int_equal(fors_net_find(net, name, &node, &port, NULL), FORS_OK);
	return node;
}

/* A top is replaced by a new one; the list of roots names the old one as before. */
TEST(a_listed_top_is_replaced)
{
	struct fors_net *net FREED(fors_net_free) = net_of(TREE);
	struct fors_places *places FREED(fors_places_free) = fors_places_new();
	uint64_t roots[4], old;
	char name[32];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "Spine0%d", i);
		roots[i] = net->node[node_of(net, name)].guid;
	}
	assert_int_equal(fors_places_learn_tree(places, net, roots, 4, NULL, NULL), FORS_OK);
	old = roots[2];
	net->node[node_of(net, "Spine02")].guid = fors_net_port(net, node_of(net, "Spine02"), 0)->guid = 0xabcdef;
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(fors_places_learn_tree(places, net, roots, 4, NULL, NULL), FORS_OK);
		assert_true(fors_places_has(places, 0xabcdef));
		assert_false(fors_places_has(places, old));
		assert_int_equal(fors_places_size(places).spines, 10);
	}
}

TEST(only_the_dead_are_forgotten)
{
	struct fors_net *net = net_of(TREE), *less = without(net, "Leaf02");
	struct fors_places *places FREED(fors_places_free) = places_of(net);
	uint64_t leaf = net->node[node_of(net, "Leaf02")].guid;
	struct fors_error error = {0};
	struct fors_pods_route *route FREED(fors_pods_route_free) = NULL;

	assert_int_equal(fors_places_forget(places, leaf, &error), FORS_ENOTAPPL);
	assert_non_null(strstr(error.text, "alive"));
	assert_int_equal(fors_places_forget(places, 0x99, &error), FORS_ENOTAPPL);
	learn_part(places, net, "Leaf02");
	assert_int_equal(fors_places_forget(places, leaf, &error), FORS_OK);
	assert_false(fors_places_has(places, leaf));
	assert_int_equal(fors_places_size(places).leaves, 5);
	assert_int_equal(fors_places_size(places).slots, 10);
	assert_int_equal(fors_places_known(places)->nnodes, net->nnodes - 3); /* with its servers */
	route = route_of(places, less);
	assert_int_equal(route->nservers, 10);
	fors_net_free(net);
	fors_net_free(less);
}

/* --- references ------------------------------------------------------------- */

TEST(a_reference_comes_first)
{
	struct fors_net *net FREED(fors_net_free) = net_of(TREE);
	struct fors_places *reference = NULL, *places = fors_places_new();
	struct fors_error error = {0};
	char text[FORS_ERROR_TEXT];
	bool is_new;

	learn_part(places, net, "Mid2-01");
	assert_int_equal(fors_places_refer(net, NULL, 0, &reference, NULL), FORS_OK);
	assert_int_equal(fors_places_adopt(&places, reference, &is_new, NULL), FORS_OK);
	assert_true(is_new);
	learn_part(places, net, "Mid2-01");
	assert_int_equal(fors_places_adopt(&places, reference, &is_new, NULL), FORS_OK);
	assert_false(is_new);
	assert_int_equal(fors_places_compare(places, reference, text, sizeof(text)), 0);
	assert_int_equal(fors_places_forget(places, net->node[node_of(net, "Mid2-01")].guid, &error), FORS_ENOTAPPL);
	assert_non_null(strstr(error.text, "reference"));
	net->node[node_of(net, "Mid2-01")].guid = 0xabcdef;
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	must_learn(places, net);
	assert_int_equal(fors_places_compare(places, reference, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "in the place of Mid2-01"));
	fors_places_free(reference);
	fors_places_free(places);
}

/* A reference of two levels, and a fabric of three: the order of the fabric is not learnt anew with each sweep. */
TEST(a_reference_of_the_other_kind)
{
	struct fors_net *three = net_of(TREE), *two = net_of("FT(2;2,3)");
	struct fors_places *reference = NULL, *places = fors_places_new();
	char text[FORS_ERROR_TEXT];
	bool is_new;

	assert_int_equal(fors_places_refer(two, NULL, 0, &reference, NULL), FORS_OK);
	assert_int_equal(fors_places_adopt(&places, reference, &is_new, NULL), FORS_OK);
	must_learn(places, three);
	assert_non_null(fors_places_known(places));
	assert_int_equal(fors_places_adopt(&places, reference, &is_new, NULL), FORS_OK);
	assert_false(is_new);
	assert_int_equal(fors_places_compare(places, reference, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "three levels"));
	fors_places_free(reference);
	fors_places_free(places);
	fors_net_free(three);
	fors_net_free(two);
}

/* --- what was never seen -------------------------------------------------- */

#define TITLE "fors-places 3\nreference 0x0000000000000000\nlevels 3"
#define COMPLETED_TITLE TITLE " completed"
#define COMPLETED "levels 3 completed"

/* The text's last line, of a text that was changed. */
static void seal(char *text, size_t size)
{
	size_t crc = size - strlen("crc 0x01234567\n");

	snprintf(text + crc, size - crc + 1, "crc 0x%08lx\n", crc32(0, (const unsigned char *)text, (unsigned)crc));
}

/* What is never told of: a cable that was never seen. */
static uint32_t count_told(const struct fors_places *places, const struct fors_net *now, bool *any_dead)
{
	struct fors_fattree_cable cable;
	struct fors_fattree tree CLEARED(fors_fattree_free);
	uint32_t told = 0;

	*any_dead = false;
	assert_int_equal(fors_fattree_build(now, places, NULL, &tree, NULL), FORS_OK);
	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable)) {
			told++;
			*any_dead |= cable.state != FORS_CABLE_LIVE;
		}
	return told;
}

/* The tables are the same, but that nothing is sent over a cable that was never seen: where `died` keeps a dead one's port. */
static void assert_same_ways(const struct fors_places *died, const struct fors_places *never,
			     const struct fors_net *now)
{
	struct fors_pods_route *a = route_of(died, now), *b = route_of(never, now);

	for (size_t i = 0; i < (size_t)a->lfts->nswitches * a->lfts->nlids; i++)
		if (b->lfts->port[i] != FORS_NO_PATH)
			assert_int_equal(a->lfts->port[i], b->lfts->port[i]);
	fors_pods_route_free(a);
	fors_pods_route_free(b);
}

/* Cables that lack from the beginning count as dead: the tables are those of who saw them die, and nobody is told of them. */
TEST(what_was_never_seen_is_completed)
{
	static const struct {
		const char *tree, *missing;
		uint32_t count;
	} cases[] = {{"XGFT(3;4,4,4;1,4,4)", "Leaf03[8]", 1},
		     {"XGFT(3;4,4,4;1,4,4)", "Mid2-05[6]", 1},
		     {"XGFT(3;4,4,4;1,4,4)", "Leaf00[6],Leaf05[7],Mid2-02[8],Mid2-11[5]", 4},
		     {"PGFT(3;12,4,4;1,6,8;1,2,1)", "Leaf02[13],Leaf02[14]", 2}}; /* both to one switch */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_net *net = net_of(cases[i].tree), *less = without(net, cases[i].missing);
		struct fors_places *seen_whole = places_of(net), *never = places_of(less);
		size_t size;
		char *text FREED(free) = encode(never, &size);
		bool any_dead;

		assert_same_ways(seen_whole, never, less);
		assert_int_equal(count_told(never, less, &any_dead),
				 count_told(seen_whole, net, &any_dead) - cases[i].count);
		assert_false(any_dead);
		assert_non_null(strstr(text, COMPLETED));
		must_learn(never, net); /* what comes is simply alive */
		assert_same_tables(seen_whole, never, net);
		fors_places_free(seen_whole);
		fors_places_free(never);
		fors_net_free(net);
		fors_net_free(less);
	}
}

/* A stage of 32 pairs: eight that lack are a quarter, nine are more. Who has no cable up at all is not compared. */
TEST(what_many_lack_is_not_completed)
{
	static const struct {
		const char *missing;
		bool is_completed;
	} cases[] = {
		{"Leaf00[5],Leaf00[6],Leaf01[6],Leaf02[7],Leaf03[8],Leaf04[5],Leaf05[6],Leaf06[7]", true},
		{"Leaf00[5],Leaf00[6],Leaf01[6],Leaf02[7],Leaf03[8],Leaf04[5],Leaf05[6],Leaf06[7],Leaf07[8]", false},
		{"Mid2-01[5],Mid2-01[6],Mid2-01[7]", true},
		{"Mid2-01[5],Mid2-01[6],Mid2-01[7],Mid2-01[8]", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_net *net = net_of("XGFT(3;4,4,2;1,4,4)"), *less = without(net, cases[i].missing);
		struct fors_places *places FREED(fors_places_free) = places_of(less);
		size_t size;
		char *text FREED(free) = encode(places, &size);

		assert_int_equal(strstr(text, COMPLETED) != NULL, cases[i].is_completed);
		fors_net_free(net);
		fors_net_free(less);
	}
}

/* One middle switch without a top is enough, wherever it stands. */
TEST(a_middle_switch_without_tops)
{
	static const char *const down[] = {"", "Mid2-00[3]", "Mid2-00[3],Mid2-00[4]", "Mid2-03[3],Mid2-03[4]"};
	struct fors_net *net FREED(fors_net_free) = net_of("XGFT(3;2,2,2;1,2,2)");
	struct fors_known *known FREED(fors_known_free) = NULL;

	assert_int_equal(fors_known_learn(NULL, net, NULL, 0, &known, NULL), FORS_OK);
	for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++) {
		struct fors_known less = {.net = without(known->net, down[i]), .node = known->node};

		assert_int_equal(fors_known_has_tops(&less), i < 2);
		fors_net_free(less.net);
	}
}

/* An order of before is completed when homes are ranked, and not by reading it, or by what comes. */
TEST(a_kept_order_is_completed_by_a_ranking)
{
	struct fors_net *net = net_of("PGFT(3;12,4,4;1,6,8;1,2,1)"), *less = without(net, "Leaf02[13],Leaf05[14]");
	struct fors_places *never = places_of(less), *old = NULL, *ranked = NULL;
	size_t size;
	char *first = encode(never, &size), *text, *again;
	bool is_same;

	assert_memory_equal(first, COMPLETED_TITLE, strlen(COMPLETED_TITLE));
	memmove(first + strlen(TITLE), first + strlen(COMPLETED_TITLE), size - strlen(COMPLETED_TITLE) + 1);
	seal(first, size - strlen(COMPLETED_TITLE) + strlen(TITLE));
	assert_int_equal(fors_places_decode(first, strlen(first), "places", &old, NULL), FORS_OK);
	must_learn(old, less);
	text = encode(old, &size);
	assert_null(strstr(text, COMPLETED));
	assert_other_tables(never, old, less);
	assert_int_equal(fors_places_ranked(never, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_true(is_same);
	assert_int_equal(fors_places_ranked(old, NULL, &ranked, &is_same, NULL), FORS_OK);
	assert_false(is_same);
	again = encode(ranked, &size);
	assert_non_null(strstr(again, COMPLETED));
	assert_same_tables(never, ranked, less);
	free(first);
	free(text);
	free(again);
	fors_places_free(never);
	fors_places_free(old);
	fors_places_free(ranked);
	fors_net_free(net);
	fors_net_free(less);
}

/* The entries of all switches, owned by the caller; how many in *count. */
static uint8_t *entries_of(const struct fors_places *places, const struct fors_net *net, size_t *count)
{
	struct fors_fattree tree CLEARED(fors_fattree_free);
	struct fors_pods_route *rounds = NULL;
	struct fors_lfts *lfts = NULL;
	uint8_t *port;

	assert_int_equal(fors_fattree_build(net, places, NULL, &tree, NULL), FORS_OK);
	assert_int_equal(fors_routing_make(&tree, false, &lfts, &rounds, NULL), FORS_OK);
	*count = (size_t)lfts->nswitches * lfts->nlids;
	port = malloc(*count);
	assert_non_null(port);
	memcpy(port, lfts->port, *count);
	fors_routing_free(lfts, rounds);
	return port;
}

/*
 * An order of a version that took them for hosts, of two levels and of three: it stays, and so do the tables, until a ranking;
 * then it is that of somebody who begins now.
 */
TEST(what_is_no_host_goes_with_a_ranking)
{
	static char some[] = "Node00-0*", one[] = "Node03-01", *names[] = {some, one};
	static const char *const specs[] = {"FT(2;4,4)", "XGFT(3;4,4,4;1,4,4)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct fors_net *net FREED(fors_net_free) = net_of(specs[i]);
		struct fors_places *places = places_of(net), *ranked = NULL, *fresh;
		struct fors_names none = {names, 2};
		char *before, *after;
		uint8_t *was, *now;
		size_t size[2], count[2];
		bool is_same = false;

		before = encode(places, &size[0]);
		was = entries_of(places, net, &count[0]);
		fors_others_mark(net, &none);
		must_learn(places, net);
		now = entries_of(places, net, &count[1]);
		assert_true(count[0] == count[1] && !memcmp(was, now, count[0]));
		free(was);
		free(now);
		after = encode(places, &size[1]);
		assert_true(size[0] == size[1] && !memcmp(before, after, size[0]));
		free(before);
		free(after);
		assert_int_equal(fors_places_ranked(places, NULL, &ranked, &is_same, NULL), FORS_OK);
		assert_false(is_same);
		must_learn(ranked, net); /* forgets their names */
		fresh = places_of(net);
		before = encode(ranked, &size[0]);
		after = encode(fresh, &size[1]);
		assert_string_equal(before, after);
		free(before);
		free(after);
		fors_places_free(ranked);
		ranked = NULL;
		assert_int_equal(fors_places_ranked(fresh, NULL, &ranked, &is_same, NULL), FORS_OK);
		assert_true(is_same && !ranked);
		fors_places_free(fresh);
		fors_places_free(places);
	}
}
