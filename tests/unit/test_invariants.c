/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_invariants.c - nobody is cut off in silence, no credit loop, every CA port accounted for: on fabrics that were
 * built by accident, and with much of them dead. Judged by judge.c, and by counting.
 *
 * FORS_FABRICS=20000 tries so many random ones (`make invariants`), FORS_SEED=n other ones.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/account.h"
#include "core/fabric/drained.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/tables/check.h"

/* --- nets of any kind ----------------------------------------------------- */

struct site {
	struct fors_net *net;
	struct fors_places *places;
	struct fors_participants some; /* guid NULL: all */
	struct fors_fabric *fabric;
	struct fors_lfts *lfts;
	struct fors_warnings warnings;
	unsigned lmc;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (err)
		fail_msg("%s", error->text);
}

static uint32_t add_node(struct fors_net *net, enum fors_node_type type, unsigned nports, const char *name)
{
	struct fors_error error;
	uint32_t node;

	must(fors_net_add_node(net, type, nports, 0x1000 + net->nnodes * UINT64_C(0x100), name, name, &node, &error),
	     &error);
	for (unsigned p = type == FORS_SWITCH ? 0 : 1; p <= (type == FORS_SWITCH ? 0 : nports); p++)
		fors_net_port(net, node, p)->guid = net->node[node].guid + p;
	return node;
}

static unsigned free_port(const struct fors_net *net, uint32_t node)
{
	unsigned p = 1;

	while (p <= net->node[node].nports && fors_net_port(net, node, p)->peer != FORS_NONE)
		p++;
	return p;
}

static void connect(struct fors_net *net, uint32_t a, uint32_t b)
{
	struct fors_error error;

	must(fors_net_connect(net, a, free_port(net, a), b, free_port(net, b), &error), &error);
}

static void add_hosts(struct fors_net *net, uint32_t at, unsigned count, const char *kind)
{
	for (unsigned i = 0; i < count; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s%u", kind, net->nnodes);
		connect(net, add_node(net, FORS_CA, 1, name), at);
	}
}

/* A tree's switches: leaves first, then spines; `name` tells trees apart. */
struct tree {
	uint32_t leaf[16], spine[16];
	unsigned nleaves, nspines;
};

static void add_tree(struct fors_net *net, char name, unsigned nleaves, unsigned nspines, unsigned servers,
		     struct tree *tree)
{
	char text[40];

	tree->nleaves = nleaves;
	tree->nspines = nspines;
	for (unsigned a = 0; a < nleaves; a++) {
		snprintf(text, sizeof(text), "%cLeaf%u", name, a);
		tree->leaf[a] = add_node(net, FORS_SWITCH, 60, text);
		snprintf(text, sizeof(text), "%cNode%u-", name, a);
		add_hosts(net, tree->leaf[a], servers, text);
	}
	for (unsigned k = 0; k < nspines; k++) {
		snprintf(text, sizeof(text), "%cSpine%u", name, k);
		tree->spine[k] = add_node(net, FORS_SWITCH, 60, text);
	}
}

static void cable_tree(struct fors_net *net, const struct tree *tree)
{
	for (unsigned a = 0; a < tree->nleaves; a++)
		for (unsigned k = 0; k < tree->nspines; k++)
			connect(net, tree->leaf[a], tree->spine[k]);
}

static struct fors_net *whole_tree(char name, unsigned nleaves, unsigned nspines, unsigned servers, struct tree *tree)
{
	struct fors_net *net = fors_net_new();

	assert_non_null(net);
	add_tree(net, name, nleaves, nspines, servers, tree);
	cable_tree(net, tree);
	return net;
}

/* --- understanding them --------------------------------------------------- */

static void forget_moment(struct site *site)
{
	fors_lfts_free(site->lfts);
	fors_fabric_free(site->fabric);
	site->lfts = NULL;
	site->fabric = NULL;
}

static void site_free(struct site *site)
{
	forget_moment(site);
	fors_places_free(site->places);
	fors_net_free(site->net);
	free(site->some.guid);
}

/* Learn the net as it is, with LIDs; what fors says. */
static enum fors_err site_learn(struct site *site, struct fors_error *error)
{
	enum fors_err err;

	must(fors_net_index(site->net, error), error);
	if (!site->places)
		site->places = fors_places_new();
	assert_non_null(site->places);
	err = fors_places_learn(site->places, site->net, NULL, 0, error);
	if (!err)
		must(fors_assign_lids(site->net, site->places, site->lmc, false, error), error);
	return err;
}

/* Tables of this moment, checked by fors. */
static enum fors_err site_route(struct site *site, uint32_t *nowhere, struct fors_error *error)
{
	forget_moment(site);
	site->warnings.count = 0;
	must(fors_fabric_build(site->net, site->places, site->some.guid ? &site->some : NULL, &site->fabric, error),
	     error);
	must(fors_tables_build(site->fabric, &site->lfts, error), error);
	return fors_tables_check(site->fabric, site->lfts, &site->warnings, nowhere, error);
}

/* Tables that fors takes for good, and the judge too. */
static struct judgement site_judge(struct site *site, const char *what)
{
	struct fors_error error = {0};
	struct judgement verdict;
	uint32_t nowhere = 0;

	if (site_route(site, &nowhere, &error))
		fail_msg("%s: %s", what, error.text);
	verdict = judge_tables(site->fabric, site->lfts);
	if (verdict.has_loop || verdict.needless || verdict.dropped || verdict.wrong)
		fail_msg("%s: loop %d, needless %u, dropped %u, wrong %u: %s", what, verdict.has_loop, verdict.needless,
			 verdict.dropped, verdict.wrong, verdict.text);
	if (verdict.nowhere != nowhere || (nowhere && !site->warnings.count))
		fail_msg("%s: %u entries without a path, %u were named", what, verdict.nowhere, nowhere);
	return verdict;
}

static unsigned count_ca_ports(const struct fors_net *net)
{
	unsigned count = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			count += fors_net_port(net, node, p)->peer != FORS_NONE;
	return count;
}

static struct fors_account account_of(const struct site *site)
{
	struct fors_account account;
	struct fors_error error;

	must(account_of_fabric(site->fabric, &account, &error), &error);
	assert_int_equal(account.ports, count_ca_ports(site->net));
	assert_int_equal(account.servers, site->fabric->nservers);
	assert_int_equal(account.servers + account.not_participants + account.guests + fors_account_left_out(&account),
			 account.ports);
	return account;
}

static void only(struct site *site, const char *prefix)
{
	site->some.guid = calloc(site->net->nnodes, sizeof(*site->some.guid));
	assert_non_null(site->some.guid);
	for (uint32_t node = 0; node < site->net->nnodes; node++)
		if (!strncmp(site->net->node[node].desc, prefix, strlen(prefix)))
			site->some.guid[site->some.count++] = fors_net_port(site->net, node, 1)->guid;
}

static void cut(struct site *site, uint32_t a, uint32_t b)
{
	for (unsigned p = 1; p <= site->net->node[a].nports; p++)
		if (fors_net_port(site->net, a, p)->peer == b)
			fors_net_disconnect(site->net, a, p);
}

/* --- I1 ------------------------------------------------------------------- */

/* Two leaves without a common spine, one of them without participants: the packets go round, and a warning says so. */
TEST(a_cut_is_not_hidden_by_participants)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error;

	site.net = whole_tree('A', 3, 4, 3, &tree);
	must(site_learn(&site, &error), &error);
	only(&site, "ANode0");
	cut(&site, tree.leaf[0], tree.spine[0]);
	cut(&site, tree.leaf[0], tree.spine[1]);
	cut(&site, tree.leaf[1], tree.spine[2]);
	cut(&site, tree.leaf[1], tree.spine[3]);
	assert_int_equal(site_judge(&site, "cut").nowhere, 0);
	assert_int_equal(fors_fabric_connected(site.fabric, NULL), FORS_OK);
	assert_int_equal(site.warnings.count, 1);
	assert_non_null(strstr(site.warnings.text[0], "ALeaf0 and ALeaf1"));
}

/* Three leaves in a ring of spines, each pair with one of its own, and a leaf beside: nothing may close the ring. */
TEST(a_ring_of_leaves_stays_open)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error;

	site.net = whole_tree('A', 4, 4, 2, &tree);
	for (unsigned k = 0; k < 4; k++)
		add_hosts(site.net, tree.spine[k], 1, "Guest");
	must(site_learn(&site, &error), &error);
	for (unsigned a = 0; a < 4; a++)
		cut(&site, tree.leaf[a], tree.spine[a]);
	assert_int_equal(site_judge(&site, "ring").nowhere, 0);
	assert_int_equal(account_of(&site).guests, 4);
}

/* A subnet manager on a spine's own port is reached, and reaches, as any other. */
TEST(a_spine_may_run_the_manager)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error;

	site.net = whole_tree('A', 3, 3, 2, &tree);
	fors_net_port(site.net, tree.spine[1], 0)->is_sm = true;
	must(site_learn(&site, &error), &error);
	cut(&site, tree.leaf[0], tree.spine[1]);
	assert_int_equal(site_judge(&site, "manager").nowhere, 0);
}

/* --- I2 ------------------------------------------------------------------- */

/* Gateways on all spines, `dead` random dead cables: 6x6x6. */
TEST(no_loop_with_gateways)
{
	struct rng rng = {.state = 5};

	for (unsigned round = 0; round < 60; round++) {
		struct site site CLEARED(site_free) = {0};
		struct tree tree;
		struct fors_error error;

		site.net = whole_tree('A', 6, 6, 6, &tree);
		for (unsigned k = 0; k < 6; k++)
			add_hosts(site.net, tree.spine[k], 1, "Guest");
		must(site_learn(&site, &error), &error);
		for (unsigned i = 0; i < (round % 2 ? 12 : 2); i++)
			cut(&site, tree.leaf[rng_below(&rng, 6)], tree.spine[rng_below(&rng, 6)]);
		site_judge(&site, "gateways");
	}
}

/* A check that finds nothing is worth nothing: tables with planted faults. */
TEST(planted_faults_are_found)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error = {0};
	uint32_t row[2], lid;

	site.net = whole_tree('A', 3, 3, 2, &tree);
	must(site_learn(&site, &error), &error);
	site_judge(&site, "intact");
	lid = site.fabric->server[0].lid;
	row[0] = fors_lfts_row(site.lfts, site.net->node[tree.leaf[1]].guid);
	row[1] = fors_lfts_row(site.lfts, site.net->node[tree.spine[0]].guid);
	for (unsigned kind = 0; kind < 5; kind++) {
		uint8_t *up = &site.lfts->port[(size_t)row[0] * site.lfts->nlids + lid], was_up = *up;
		uint8_t *down = &site.lfts->port[(size_t)row[1] * site.lfts->nlids + lid], was_down = *down;

		if (kind == 0)
			*up = FORS_NO_PATH;
		if (kind == 1)
			*up = 59; /* nothing there */
		if (kind == 2)
			*up = 1; /* a server */
		if (kind == 3)
			*up = 3, *down = 2; /* up and down again */
		if (kind == 4)
			*up = 0;
		assert_int_equal(fors_tables_check(site.fabric, site.lfts, NULL, NULL, &error), FORS_ETABLES);
		*up = was_up;
		*down = was_down;
	}
}

/* Whichever of a server's LIDs its own leaf sends to its neighbour, it is named. */
TEST(all_lids_are_delivered)
{
	struct site site CLEARED(site_free) = {.lmc = 2};
	struct tree tree;
	struct fors_error error = {0};
	uint32_t row;

	site.net = whole_tree('A', 3, 3, 2, &tree);
	must(site_learn(&site, &error), &error);
	site_judge(&site, "intact");
	row = fors_lfts_row(site.lfts, site.net->node[site.fabric->leaf[0].node].guid);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t lid = site.fabric->server[0].lid + i;
		uint8_t *port = &site.lfts->port[(size_t)row * site.lfts->nlids + lid], was = *port;
		char words[64];

		*port = fors_lfts_port(site.lfts, row, site.fabric->server[1].lid);
		snprintf(words, sizeof(words), "would not deliver LID %u,", lid);
		assert_int_equal(fors_tables_check(site.fabric, site.lfts, NULL, NULL, &error), FORS_ETABLES);
		assert_non_null(strstr(error.text, words));
		*port = was;
	}
}

/* Three spines that turn at three leaves, as tables of before did: the check names the circle. */
TEST(a_planted_loop_is_found)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error = {0};

	site.net = whole_tree('A', 3, 4, 1, &tree);
	must(site_learn(&site, &error), &error);
	for (unsigned a = 0; a < 3; a++)
		cut(&site, tree.leaf[a], tree.spine[a]);
	site_judge(&site, "before");
	/* Spine a lost leaf a; it shall turn at leaf a + 1, which sends LIDs of leaf a to spine a + 2. */
	for (unsigned a = 0; a < 3; a++) {
		uint32_t lid = site.fabric->server[a].lid;
		uint32_t spine = fors_lfts_row(site.lfts, site.net->node[tree.spine[a]].guid);
		uint32_t leaf = fors_lfts_row(site.lfts, site.net->node[tree.leaf[(a + 1) % 3]].guid);

		site.lfts->port[(size_t)spine * site.lfts->nlids + lid] = (a + 1) % 3 + 1;
		for (unsigned p = 1; p < 60; p++)
			if (fors_net_port(site.net, tree.leaf[(a + 1) % 3], p)->peer == tree.spine[(a + 2) % 3])
				site.lfts->port[(size_t)leaf * site.lfts->nlids + lid] = (uint8_t)p;
	}
	for (unsigned a = 0; a < 3; a++) { /* spine ports count the leaves that are left */
		uint32_t lid = site.fabric->server[a].lid;
		uint32_t spine = fors_lfts_row(site.lfts, site.net->node[tree.spine[a]].guid);

		for (unsigned p = 1; p < 60; p++)
			if (fors_net_port(site.net, tree.spine[a], p)->peer == tree.leaf[(a + 1) % 3])
				site.lfts->port[(size_t)spine * site.lfts->nlids + lid] = (uint8_t)p;
	}
	assert_true(judge_tables(site.fabric, site.lfts).has_loop);
	assert_int_equal(fors_tables_check(site.fabric, site.lfts, NULL, NULL, &error), FORS_ETABLES);
	assert_non_null(strstr(error.text, "credit loop"));
}

/* --- joined trees --------------------------------------------------------- */

static char *text_of(const struct fors_places *places)
{
	struct fors_error error;
	char *text;
	size_t size;

	must(fors_places_encode(places, &text, &size, &error), &error);
	return text;
}

/* A tree that fors knows, joined to another one: declined with the cable named; then as if nothing had been. */
static void try_joined(unsigned of_other, const char *between, const char *name)
{
	struct site site CLEARED(site_free) = {0};
	struct tree a, b;
	struct fors_error error = {0};
	struct fors_net *alone;
	char *before, *after;
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	uint32_t from, to;

	site.net = whole_tree('A', 4, 4, 4, &a);
	must(site_learn(&site, &error), &error);
	site_judge(&site, "alone");
	before = text_of(site.places);
	must(fors_net_copy(site.net, &alone, &error), &error);
	lfts = site.lfts;
	site.lfts = NULL;
	add_tree(site.net, 'B', of_other, of_other, of_other, &b);
	cable_tree(site.net, &b);
	from = between[0] == 's' ? a.spine[1] : a.leaf[1];
	to = between[1] == 's' ? b.spine[2] : b.leaf[2];
	connect(site.net, from, to);
	assert_int_equal(site_learn(&site, &error), FORS_ENOTREE);
	if (!strstr(error.text, name))
		fail_msg("%s: %s", name, error.text);
	after = text_of(site.places);
	assert_string_equal(before, after);
	forget_moment(&site);
	fors_net_free(site.net);
	site.net = alone;
	must(site_learn(&site, &error), &error);
	free(after);
	after = text_of(site.places);
	assert_string_equal(before, after);
	site_judge(&site, "alone again");
	assert_memory_equal(lfts->port, site.lfts->port, (size_t)lfts->nswitches * lfts->nlids);
	free(before);
	free(after);
}

TEST(joined_trees_are_declined)
{
	try_joined(6, "ss", "BSpine2[7] - ASpine1[5] joins two trees");
	try_joined(4, "ss", "BSpine2[5] - ASpine1[5] joins two trees");
	try_joined(3, "ss", "BSpine2[4] - ASpine1[5] joins two trees");
	try_joined(6, "ll", "BLeaf2[13] - ALeaf1[9] joins two trees");
	try_joined(4, "ll", "BLeaf2[9] - ALeaf1[9] joins two trees");
	try_joined(6, "sl", "BLeaf2[13] - ASpine1[5] joins two trees");
	try_joined(4, "ls", "BSpine2[5] - ALeaf1[9] joins two trees");
}

/* Nobody knows either of them. */
TEST(joined_trees_are_declined_from_the_start)
{
	static const char *const kinds[] = {"ss", "ll", "sl", "ls"};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned other = 3; other < 7; other++) {
			struct site site CLEARED(site_free) = {0};
			struct tree a, b;
			struct fors_error error = {0};

			site.net = whole_tree('A', 4, 4, 4, &a);
			add_tree(site.net, 'B', other, other, other, &b);
			cable_tree(site.net, &b);
			connect(site.net, kinds[i][0] == 's' ? a.spine[0] : a.leaf[0],
				kinds[i][1] == 's' ? b.spine[0] : b.leaf[0]);
			assert_int_equal(site_learn(&site, &error), FORS_ENOTREE);
			assert_non_null(strstr(error.text, "joins two trees"));
		}
}

/* --- every CA port -------------------------------------------------------- */

/* Two switches with servers, and no spine. */
TEST(two_switches_are_no_tree)
{
	struct site site CLEARED(site_free) = {0};
	struct fors_error error = {0};
	uint32_t one, other;

	site.net = fors_net_new();
	one = add_node(site.net, FORS_SWITCH, 20, "One");
	other = add_node(site.net, FORS_SWITCH, 20, "Other");
	add_hosts(site.net, one, 4, "Node");
	add_hosts(site.net, other, 3, "Node");
	connect(site.net, one, other);
	assert_int_equal(site_learn(&site, &error), FORS_ENOTREE);
	assert_non_null(strstr(error.text, "One[5] - Other[4] joins two switches with servers"));
}

/* A switch with servers below a leaf: no home moves, its servers are reached from everywhere, and named. */
TEST(a_stub_is_named_and_reached)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error = {0};
	struct fors_account account;
	char *before, *after;
	uint32_t stub;

	site.net = whole_tree('A', 3, 3, 3, &tree);
	must(site_learn(&site, &error), &error);
	before = text_of(site.places);
	stub = add_node(site.net, FORS_SWITCH, 8, "Stub");
	connect(site.net, tree.leaf[1], stub);
	add_hosts(site.net, stub, 2, "Hidden");
	must(site_learn(&site, &error), &error);
	after = text_of(site.places);
	assert_string_equal(before, after);
	cut(&site, tree.leaf[0], tree.spine[1]);
	assert_int_equal(site_judge(&site, "stub").nowhere, 0);
	account = account_of(&site);
	assert_int_equal(account.left_out[FORS_LEFT_STUB], 2);
	fors_account_warn(site.fabric->net, &account, &site.warnings);
	assert_non_null(strstr(site.warnings.text[site.warnings.count - 1], "2 CA ports below a switch"));
	assert_non_null(strstr(site.warnings.text[site.warnings.count - 1], "Hidden"));
	free(before);
	free(after);
}

/* Gateways that boot one after the other never turn a tree over, however many there are. */
TEST(guests_do_not_turn_the_sides)
{
	struct site site CLEARED(site_free) = {0};
	struct tree tree;
	struct fors_error error = {0};

	site.net = whole_tree('A', 4, 4, 1, &tree);
	must(site_learn(&site, &error), &error);
	for (unsigned k = 0; k < 4; k++) {
		add_hosts(site.net, tree.spine[k], 3, "Guest");
		must(site_learn(&site, &error), &error);
		site_judge(&site, "guests");
		assert_int_equal(site.fabric->nservers, 4);
		assert_int_equal(account_of(&site).guests, 3 * (k + 1));
	}
	assert_int_equal(fors_places_restarts(site.places), 0);
}

/* --- by accident ---------------------------------------------------------- */

struct tally {
	unsigned fabrics, declined, states, detours, cut, guests, stubs;
};

static void decorate(struct fors_net *net, const struct tree *tree, struct rng *rng)
{
	if (rng_below(rng, 2))
		for (unsigned i = 1 + rng_below(rng, 4); i; i--)
			add_hosts(net, tree->spine[rng_below(rng, tree->nspines)], 1 + rng_below(rng, 2), "Guest");
	for (unsigned i = rng_below(rng, 4) ? 0 : 1 + rng_below(rng, 2); i; i--) {
		uint32_t stub = add_node(net, FORS_SWITCH, 8, "Stub");
		uint32_t leaf = tree->leaf[rng_below(rng, tree->nleaves)];

		for (unsigned cables = 1 + rng_below(rng, 2); cables; cables--)
			connect(net, leaf, stub);
		add_hosts(net, stub, rng_below(rng, 3), "Hidden");
	}
	if (!rng_below(rng, 4))
		connect(net, add_node(net, FORS_ROUTER, 1, "Router"), tree->leaf[rng_below(rng, tree->nleaves)]);
	if (!rng_below(rng, 4))
		fors_net_port(net, tree->spine[rng_below(rng, tree->nspines)], 0)->is_sm = true;
	if (rng_below(rng, 2))
		fors_net_port(net, tree->leaf[0] + 1, 1)->is_sm = net->node[tree->leaf[0] + 1].type == FORS_CA;
}

static struct fors_net *random_net(struct rng *rng)
{
	struct fors_net *net = fors_net_new();
	unsigned cables = 1 + rng_below(rng, 2), holes = rng_below(rng, 3) ? 0 : rng_below(rng, 30);
	struct tree tree;

	assert_non_null(net);
	add_tree(net, 'A', 1 + rng_below(rng, 8), 1 + rng_below(rng, 7), 0, &tree);
	for (unsigned a = 0; a < tree.nleaves; a++)
		add_hosts(net, tree.leaf[a], rng_below(rng, 5), "Node");
	for (unsigned a = 0; a < tree.nleaves; a++)
		for (unsigned k = 0; k < tree.nspines; k++)
			for (unsigned i = 0; i < cables; i++)
				if (rng_below(rng, 100) >= holes)
					connect(net, tree.leaf[a], tree.spine[k]);
	decorate(net, &tree, rng);
	if (!rng_below(rng, 12)) {
		struct tree other;

		add_tree(net, 'B', 1 + rng_below(rng, 4), 1 + rng_below(rng, 4), rng_below(rng, 4), &other);
		cable_tree(net, &other);
		connect(net, rng_below(rng, 2) ? tree.leaf[0] : tree.spine[0],
			rng_below(rng, 2) ? other.leaf[0] : other.spine[0]);
	}
	return net;
}

static void kill_cables(struct fors_net *net, struct rng *rng, unsigned percent)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_SWITCH && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE && rng_below(rng, 100) < percent)
				fors_net_disconnect(net, node, p);
}

static void choose_participants(struct site *site, struct rng *rng)
{
	if (!rng_below(rng, 2))
		return;
	site->some.guid = calloc(site->net->nnodes, sizeof(*site->some.guid));
	assert_non_null(site->some.guid);
	for (uint32_t node = 0; node < site->net->nnodes; node++)
		if (site->net->node[node].type == FORS_CA && rng_below(rng, 3))
			site->some.guid[site->some.count++] = fors_net_port(site->net, node, 1)->guid;
}

/* Cables that live and shall not be used. */
static void drain_some(struct site *site, struct rng *rng)
{
	struct fors_error error;

	for (uint32_t a = 0; a < site->fabric->nleaves; a++)
		for (uint32_t k = 0; k < site->fabric->nlanes; k++)
			if (!rng_below(rng, 6))
				mark_drained(site->fabric, a, k, FORS_DRAIN_EXCLUDED);
	must(fors_drained_apply(fors_fattree_of_fabric(site->fabric), NULL, &error), &error);
}

static void judge_moment(struct site *site, const char *what, struct rng *rng, struct tally *tally)
{
	struct judgement verdict = site_judge(site, what);
	struct fors_account account = account_of(site);
	struct fors_error error = {0};
	uint32_t nowhere;

	tally->states++;
	tally->cut += verdict.nowhere > 0;
	tally->detours += site->warnings.count > (verdict.nowhere > 0);
	tally->guests += account.guests > 0;
	tally->stubs += fors_account_left_out(&account) > 0;
	if (rng_below(rng, 3))
		return;
	drain_some(site, rng);
	fors_lfts_free(site->lfts);
	site->lfts = NULL;
	must(fors_tables_build(site->fabric, &site->lfts, &error), &error);
	if (fors_tables_check(site->fabric, site->lfts, NULL, &nowhere, &error))
		fail_msg("%s, drained: %s", what, error.text);
	verdict = judge_tables(site->fabric, site->lfts);
	if (verdict.has_loop || verdict.needless || verdict.dropped || verdict.wrong || verdict.nowhere != nowhere)
		fail_msg("%s, drained: loop %d, needless %u, dropped %u, wrong %u, nowhere %u, named %u: %s", what,
			 verdict.has_loop, verdict.needless, verdict.dropped, verdict.wrong, verdict.nowhere, nowhere,
			 verdict.text);
}

static void print_net(const struct fors_net *net)
{
	for (uint32_t node = 0; getenv("FORS_SHOW") && node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);

			if (port->peer != FORS_NONE && port->peer < node)
				print_message("%s[%u] - %s[%u]\n", net->node[node].desc, p, net->node[port->peer].desc,
					      port->peer_port);
		}
}

static void try_fabric(uint64_t seed, struct tally *tally)
{
	struct rng rng = {.state = seed * 7919};
	struct site site = {.lmc = rng_below(&rng, 3)};
	struct fors_error error = {0};
	char what[60];

	site.net = random_net(&rng);
	tally->fabrics++;
	print_net(site.net);
	snprintf(what, sizeof(what), "FORS_FABRICS=1 FORS_SEED=%llu", (unsigned long long)seed);
	if (site_learn(&site, &error)) {
		assert_int_equal(error.code, FORS_ENOTREE);
		tally->declined++;
		site_free(&site);
		return;
	}
	choose_participants(&site, &rng);
	judge_moment(&site, what, &rng, tally);
	kill_cables(site.net, &rng, rng_below(&rng, 50));
	judge_moment(&site, what, &rng, tally);
	site_free(&site);
}

TEST(random_fabrics)
{
	const char *count = getenv("FORS_FABRICS"), *seed = getenv("FORS_SEED");
	struct tally tally = {0};

	for (unsigned i = 0; i < (count ? (unsigned)atoi(count) : 400u); i++)
		try_fabric((seed ? strtoull(seed, NULL, 10) : 1) + i, &tally);
	print_message("%u fabrics, %u declined; %u states, with guests %u, with CAs left out %u, with detours between "
		      "leaves %u, with entries that no turn allows %u\n",
		      tally.fabrics, tally.declined, tally.states, tally.guests, tally.stubs, tally.detours, tally.cut);
}
