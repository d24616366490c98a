/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_fabric.c - sides, places in a stable order, the fabric at one moment, LIDs. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/netfile.h"

static struct fors_net *net_of(const char *text)
{
	struct fors_net *net = NULL;
	struct fors_error error;

	if (fors_netfile_read(text, strlen(text), "test", &net, NULL, &error))
		fail_msg("%s", error.text);
	return net;
}

/* Places learn the net as it is now, and the fabric follows. */
static void learn_again(struct bed *bed)
{
	assert_int_equal(fors_places_learn(bed->places, bed->net, NULL, 0, NULL), FORS_OK);
	bed_rebuild(bed);
}

static enum fors_err learn(const char *text, struct fors_error *error)
{
	struct fors_net *net FREED(fors_net_free) = net_of(text);
	struct fors_places *places FREED(fors_places_free) = fors_places_new();

	return fors_places_learn(places, net, NULL, 0, error);
}

#define HOST(name, leaf, port) "Hca 1 \"" name "\"\n[1] \"" leaf "\"[" port "]\n\n"
#define HOSTS HOST("h0", "L0", "1") HOST("h1", "L1", "1")

TEST(model_fabric)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;20,18)", 5);
	const struct fors_fabric *f = bed->fabric;

	assert_int_equal(f->nleaves, 18);
	assert_int_equal(f->nspines, 20);
	assert_int_equal(f->nlanes, 20);
	assert_int_equal(f->nslots, 20);
	assert_int_equal(f->nservers, 360);
	assert_int_equal(f->lmc, 5);
	assert_int_equal(f->reduction, 0);
	assert_int_equal(f->affected_spines, 0);
	assert_int_equal(f->server[25].leaf, 1);
	assert_int_equal(f->server[25].slot, 5);
	assert_int_equal(f->server[25].lid, 26 * 32);
	assert_int_equal(fors_cable(f, 4, 9)->leaf_port, 30);
	assert_int_equal(fors_cable(f, 4, 9)->spine_port, 5);
}

TEST(the_dead_keep_their_places)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	uint64_t healthy = bed->fabric->fingerprint;

	bed_down(bed, "Spine01 Leaf00[8] Node02-01");
	learn_again(bed);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_int_equal(bed->fabric->nservers, 11);
	assert_int_equal(bed->fabric->reduction, 2);
	assert_int_equal(bed->fabric->affected_spines, 2);
	assert_int_equal(fors_cable(bed->fabric, 0, 3)->state, FORS_CABLE_DEAD);
	assert_int_equal(fors_cable(bed->fabric, 2, 1)->state, FORS_CABLE_DEAD);
	assert_int_equal(bed->fabric->leaf[0].nlive, 2);
	assert_int_equal(bed->fabric->server[10].slot, 3);
	assert_int_equal(bed->fabric->server[10].rank, 2);
	assert_true(bed->fabric->fingerprint != healthy);
	bed_restore(bed);
	assert_true(bed->fabric->fingerprint == healthy);
}

/* The second net, learnt after FT(2;4,3) whose Spine01 died, has a new spine at the same leaf ports. */
TEST(a_new_spine_replaces_the_dead_one)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	uint32_t node = fors_net_find_guid(bed->net, bed->fabric->spine[1].guid);

	bed->net->node[node].guid = 0xabcdef;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	learn_again(bed);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_true(bed->fabric->spine[1].guid == 0xabcdef);
	assert_true(fors_live(bed->fabric, 2, 1));
}

/* A switch of the bed is gone altogether, as OpenSM would see it; or is another one at the same ports. */
static void exchange(struct bed *bed, uint32_t node, uint64_t guid)
{
	bed->net->node[node].guid = guid;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
}

/* Of two dead spines, the one whose ports the new spine occupies, not the first one; most of its ports are enough. */
TEST(a_new_spine_takes_the_place_of_its_ports)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	uint32_t first = bed->fabric->spine[1].node, second = bed->fabric->spine[2].node;
	unsigned port = fors_cable(bed->fabric, 0, 1)->leaf_port;

	bed_down(bed, "Spine01");
	exchange(bed, first, 0xdead01);
	exchange(bed, second, 0xabcdef);
	fors_net_disconnect(bed->net, bed->fabric->leaf[0].node, port + 1);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->leaf[0].node, port, second, 1, NULL), FORS_OK);
	learn_again(bed);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_true(bed->fabric->spine[2].guid == 0xabcdef);
	assert_int_equal(bed->fabric->spine[1].node, FORS_NONE);
	assert_true(fors_live(bed->fabric, 1, 2) && fors_live(bed->fabric, 2, 2));
}

/* As many ports of either: the first in the kept order. */
TEST(between_equal_places_the_first)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	uint32_t first = bed->fabric->spine[1].node, second = bed->fabric->spine[2].node;
	unsigned port = fors_cable(bed->fabric, 0, 1)->leaf_port;

	bed_down(bed, "Spine01 Spine02[3]");
	exchange(bed, first, 0xdead01);
	exchange(bed, second, 0xabcdef);
	fors_net_disconnect(bed->net, bed->fabric->leaf[0].node, port + 1);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->leaf[0].node, port, second, 1, NULL), FORS_OK);
	learn_again(bed);
	assert_true(bed->fabric->spine[1].guid == 0xabcdef);
	assert_int_equal(bed->fabric->spine[2].node, FORS_NONE);
}

/* The same for leaves; a leaf whose ports nobody had is one more. */
TEST(a_new_leaf_takes_the_place_of_its_ports)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4)", 0);
	uint32_t first = bed->fabric->leaf[1].node, second = bed->fabric->leaf[2].node;

	bed_down(bed, "Leaf01");
	exchange(bed, first, 0xdead01);
	exchange(bed, second, 0xabcdef);
	learn_again(bed);
	assert_int_equal(bed->fabric->nleaves, 4);
	assert_true(bed->fabric->leaf[2].guid == 0xabcdef);
	assert_int_equal(bed->fabric->leaf[1].node, FORS_NONE);
}

/* A spine with one cable less than others is affected, as if it had died; where no server is, none is missed. */
TEST(a_cable_that_never_was_counts)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);

	fors_net_disconnect(bed->net, bed->fabric->leaf[1].node, fors_cable(bed->fabric, 1, 2)->leaf_port);
	fors_places_free(bed->places);
	bed->places = fors_places_new();
	learn_again(bed);
	assert_int_equal(fors_cable(bed->fabric, 1, 2)->state, FORS_CABLE_ABSENT);
	assert_int_equal(bed->fabric->affected_spines, 1);
	assert_int_equal(bed->fabric->reduction, 1);
	bed_participants(bed, "0/0 0/1 2/0 2/1");
	assert_int_equal(bed->fabric->affected_spines, 0);
}

/* A cable at another port of its spine is another cable, until it is learnt. */
TEST(a_cable_has_two_ends)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	uint32_t leaf = bed->fabric->leaf[0].node, other = bed->fabric->leaf[1].node;
	unsigned port = fors_cable(bed->fabric, 0, 2)->leaf_port;

	fors_net_disconnect(bed->net, leaf, port);
	fors_net_disconnect(bed->net, other, port);
	assert_int_equal(fors_net_connect(bed->net, leaf, port, bed->fabric->spine[2].node, 2, NULL), FORS_OK);
	bed_rebuild(bed);
	assert_int_equal(fors_cable(bed->fabric, 0, 2)->state, FORS_CABLE_DEAD);
	learn_again(bed);
	assert_true(fors_live(bed->fabric, 0, 2));
	assert_int_equal(fors_cable(bed->fabric, 0, 2)->spine_port, 2);
	assert_int_equal(fors_cable(bed->fabric, 1, 2)->state, FORS_CABLE_ABSENT);
}

TEST(a_moved_cable_is_no_second_lane)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;servers=2)", 0);
	uint32_t leaf = bed->fabric->leaf[1].node, spine = bed->fabric->spine[2].node;
	unsigned old = fors_cable(bed->fabric, 1, 2)->leaf_port;

	/* Spine02's cable of Leaf01 moves to the port of Spine03's, whose own is gone. */
	fors_net_disconnect(bed->net, leaf, old);
	fors_net_disconnect(bed->net, leaf, old + 1);
	assert_int_equal(fors_net_connect(bed->net, leaf, old + 1, spine, 2, NULL), FORS_OK);
	learn_again(bed);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_int_equal(fors_cable(bed->fabric, 1, 2)->leaf_port, old + 1);
	assert_true(fors_live(bed->fabric, 1, 2));
	assert_int_equal(fors_cable(bed->fabric, 1, 3)->state, FORS_CABLE_ABSENT);
}

/* Switches that nobody has named. */
TEST(namesakes_go_by_their_guids)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	struct fors_fabric *f FREED(fors_fabric_free) = NULL;
	struct fors_error error;
	const uint32_t namesakes[] = {bed->fabric->leaf[0].node, bed->fabric->leaf[2].node, bed->fabric->spine[1].node};

	for (unsigned i = 0; i < 3; i++)
		strcpy(bed->net->node[namesakes[i]].desc, "Infiniscale-IV");
	fors_places_free(bed->places); /* which know them by other names */
	bed->places = fors_places_new();
	assert_non_null(bed->places);
	assert_int_equal(fors_places_learn(bed->places, bed->net, NULL, 0, &error), FORS_OK);
	assert_int_equal(fors_fabric_build(bed->net, bed->places, NULL, &f, &error), FORS_OK);
	for (unsigned i = 0; i < 3; i++) {
		const char *name = i < 2 ? f->leaf[2 * i].name : f->spine[1].name;
		uint32_t found;
		unsigned port;

		assert_int_equal(strlen(name), 18);
		assert_int_equal(fors_net_find(bed->net, name, &found, &port, &error), FORS_OK);
		assert_int_equal(found, namesakes[i]);
	}
	assert_string_equal(f->leaf[1].name, "Leaf01");
	assert_string_equal(f->spine[0].name, "Spine00");
}

TEST(parallel_cables_are_lanes)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4;servers=6;cables=2)", 0);

	assert_int_equal(bed->fabric->nlanes, 6);
	assert_int_equal(bed->fabric->lane[3].spine, 1);
	assert_int_equal(bed->fabric->lane[3].cable, 1);
	bed_down(bed, "Leaf01[7] Leaf01[8]"); /* both cables to Spine00 */
	assert_int_equal(bed->fabric->reduction, 2);
	assert_int_equal(bed->fabric->affected_spines, 1);
	assert_int_equal(bed->fabric->unreachable_pairs, 0);
}

TEST(empty_ports_are_no_slots)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;empty=0/0,0/2,1/2,2/2)", 0);
	const struct fors_fabric *f = bed->fabric;

	assert_int_equal(f->nslots, 3);
	assert_int_equal(f->nservers, 8);
	assert_int_equal(fors_slot(f, 0, 0)->leaf_port, 2);
	assert_int_equal(f->server[0].rank, 0);
	assert_int_equal(f->leaf[0].nservers, 2);
	assert_int_equal(f->max_servers, 3);
}

TEST(participants_have_ranks)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);

	bed_participants(bed, "0/3 2/1 2/2");
	assert_int_equal(bed->fabric->nservers, 3);
	assert_int_equal(bed->fabric->server[2].slot, 2);
	assert_int_equal(bed->fabric->server[2].rank, 1);
	assert_int_equal(bed->fabric->leaf[1].nservers, 0);
}

/* The LMC of the exchange is the smallest of those who take part; who has no LID takes none. */
TEST(the_smallest_lmc_and_no_lid)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 3);
	struct fors_port *fifth = fors_net_port(bed->net, bed->fabric->server[5].node, 1);
	struct fors_port *sixth = fors_net_port(bed->net, bed->fabric->server[6].node, 1);

	fifth->lmc = 1;
	sixth->lmc = 2;
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->lmc, 1);
	fifth->lid = 0;
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nservers, 11);
	assert_int_equal(bed->fabric->lmc, 2);
	assert_int_equal(fors_slot(bed->fabric, 1, 1)->server, FORS_NONE);
	assert_int_equal(fors_slot(bed->fabric, 1, 2)->server, 5);
	bed_participants(bed, "0/0 1/0 2/3");
	assert_int_equal(bed->fabric->lmc, 3);
}

/* Each thing that tables or plans depend on makes another fingerprint; the same again makes the same. */
TEST(fingerprints_tell)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4)", 2);
	struct fors_port *port = fors_net_port(bed->net, bed->fabric->server[4].node, 1);
	uint64_t *leaf = &bed->net->node[bed->fabric->leaf[3].node].guid;
	uint64_t *spine = &bed->net->node[bed->fabric->spine[2].node].guid;
	uint64_t seen[8], intact = bed->fabric->fingerprint;

	bed_participants(bed, "0/0 0/1 0/2 1/0 1/1 1/2 2/0 2/1 2/2 3/0 3/1");
	seen[0] = bed->fabric->fingerprint;
	bed_participants(bed, NULL);
	assert_true(bed->fabric->fingerprint == intact);
	port->is_sm = true;
	bed_rebuild(bed);
	seen[1] = bed->fabric->fingerprint;
	port->is_sm = false;
	port->lmc = 1;
	bed_rebuild(bed);
	seen[2] = bed->fabric->fingerprint;
	port->lid++;
	bed_rebuild(bed);
	seen[3] = bed->fabric->fingerprint;
	port->guid++;
	bed_rebuild(bed);
	seen[4] = bed->fabric->fingerprint;
	exchange(bed, bed->fabric->leaf[3].node, *leaf + 0x100000);
	learn_again(bed);
	seen[5] = bed->fabric->fingerprint;
	exchange(bed, bed->fabric->spine[2].node, *spine + 0x100000);
	learn_again(bed);
	seen[6] = bed->fabric->fingerprint;
	assert_int_equal(bed->fabric->affected_spines, 0);
	bed_down(bed, "Leaf02[5]");
	seen[7] = bed->fabric->fingerprint;
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 0; k <= i; k++)
			assert_true(seen[i] != (k == i ? intact : seen[k]));
}

static uint32_t add_node(struct fors_net *net, enum fors_node_type type, unsigned nports)
{
	uint64_t guid = 0x100 + net->nnodes;
	char id[32];
	uint32_t node;

	snprintf(id, sizeof(id), "N%04u", net->nnodes);
	assert_int_equal(fors_net_add_node(net, type, nports, guid, id, id, &node, NULL), FORS_OK);
	return node;
}

/* Two leaves, one cabled to 127 spines, the other to `more` other ones; and one server each. */
static struct fors_net *many_spines(unsigned more)
{
	struct fors_net *net = fors_net_new();
	uint32_t leaf[2];

	for (unsigned a = 0; a < 2; a++) {
		leaf[a] = add_node(net, FORS_SWITCH, 200);
		assert_int_equal(fors_net_connect(net, leaf[a], 1, add_node(net, FORS_CA, 1), 1, NULL), FORS_OK);
		for (unsigned k = 0; k < (a ? more : 127); k++)
			assert_int_equal(fors_net_connect(net, leaf[a], 2 + k, add_node(net, FORS_SWITCH, 2), 1, NULL),
					 FORS_OK);
	}
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	return net;
}

TEST(the_last_lane)
{
	for (unsigned more = 127; more <= 128; more++) {
		struct fors_net *net FREED(fors_net_free) = many_spines(more);
		struct fors_places *places FREED(fors_places_free) = fors_places_new();
		struct fors_error error = {.text = ""};

		assert_int_equal(fors_places_learn(places, net, NULL, 0, &error), more == 127 ? FORS_OK : FORS_ELIMIT);
		assert_int_equal(!strstr(error.text, "more than 254 spine lanes"), more == 127);
	}
}

TEST(cut_leaves_are_named)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	struct fors_error error;

	assert_int_equal(fors_fabric_connected(bed->fabric, &error), FORS_OK);
	bed_down(bed, "Leaf00[3] Leaf02[4]");
	assert_int_equal(bed->fabric->unreachable_pairs, 1);
	assert_int_equal(fors_fabric_connected(bed->fabric, &error), FORS_ENOPATH);
	assert_non_null(strstr(error.text, "Leaf00 and Leaf02"));
	assert_null(strstr(error.text, "no cable is missed"));
}

TEST(no_two_level_tree)
{
	struct fors_error error;

	/* Leaf to leaf. */
	assert_int_equal(learn("Switch 4 \"L0\"\n[1] \"h0\"[1]\n[2] \"L1\"[2]\n[3] \"S0\"[1]\n\n"
			       "Switch 4 \"L1\"\n[1] \"h1\"[1]\n[2] \"L0\"[2]\n[3] \"S0\"[2]\n\n"
			       "Switch 4 \"S0\"\n[1] \"L0\"[3]\n[2] \"L1\"[3]\n\n" HOSTS,
			       &error),
			 FORS_ENOTREE);
	assert_non_null(strstr(error.text, "joins two leaves"));
	/* Spine to spine. */
	assert_int_equal(learn("Switch 4 \"L0\"\n[1] \"h0\"[1]\n[2] \"S1\"[1]\n[3] \"S0\"[1]\n\n"
			       "Switch 4 \"L1\"\n[1] \"h1\"[1]\n[3] \"S0\"[2]\n\n"
			       "Switch 4 \"S0\"\n[1] \"L0\"[3]\n[2] \"L1\"[3]\n[3] \"S1\"[3]\n\n"
			       "Switch 4 \"S1\"\n[1] \"L0\"[2]\n[3] \"S0\"[3]\n\n" HOSTS,
			       &error),
			 FORS_ENOTREE);
	assert_non_null(strstr(error.text, "joins two spines"));
	/* No switch. */
	assert_int_equal(learn("Hca 1 \"a\"\n[1] \"b\"[1]\n\nHca 1 \"b\"\n[1] \"a\"[1]\n", &error), FORS_ENOTREE);
}

TEST(one_leaf_is_a_tree)
{
	struct fors_net *net =
		net_of("Switch 3 \"L0\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n\n" HOST("a", "L0", "1") HOST("b", "L0", "2"));
	struct fors_places *places FREED(fors_places_free) = fors_places_new();
	struct fors_fabric *f FREED(fors_fabric_free) = NULL;

	assert_int_equal(fors_places_learn(places, net, NULL, 0, NULL), FORS_OK);
	assert_int_equal(fors_assign_lids(net, places, 0, false, NULL), FORS_OK);
	assert_int_equal(fors_fabric_build(net, places, NULL, &f, NULL), FORS_OK);
	assert_int_equal(f->nleaves, 1);
	assert_int_equal(f->nlanes, 0);
	assert_int_equal(f->nservers, 2);
	fors_net_free(net);
}

/* Two spines, one of them with more CAs than there are under leaves: only the roots tell. */
TEST(root_guids_decide)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2;servers=1)", 0);
	struct fors_places *places FREED(fors_places_free) = fors_places_new();
	uint64_t roots[] = {bed->fabric->leaf[0].guid, bed->fabric->leaf[1].guid, 0x99};
	struct fors_fabric *f FREED(fors_fabric_free) = NULL;

	assert_int_equal(fors_places_learn(places, bed->net, roots, 3, NULL), FORS_OK);
	assert_int_equal(fors_fabric_build(bed->net, places, NULL, &f, NULL), FORS_OK);
	assert_int_equal(f->nspines, 3); /* the one never seen keeps a place too */
	assert_int_equal(f->nlanes, 3);
	assert_true(f->spine[0].guid == 0x99 || f->spine[2].guid == 0x99);
	assert_int_equal(f->nservers, 0); /* CAs on spines take no part */
}

/* Base LID and LMC of a port "NODE[PORT]" (0: of a switch itself). */
static void assert_lid(const struct fors_net *net, const char *what, unsigned lid, unsigned lmc)
{
	uint32_t node;
	unsigned port;

	assert_int_equal(fors_net_find(net, what, &node, &port, NULL), FORS_OK);
	assert_int_equal(fors_net_port(net, node, port)->lid, lid);
	assert_int_equal(fors_net_port(net, node, port)->lmc, lmc);
}

/* Servers in slot order, whatever their GUIDs; then what hangs on spines, then switches. Dead ports have no LID. */
TEST(the_order_of_lids)
{
	struct fors_net *net =
		net_of("Switch 4 \"L0\"\n[1] \"b\"[1]\n[2] \"a\"[1]\n[3] \"S0\"[1]\n\n"
		       "Switch 4 \"L1\"\n[3] \"S0\"[2]\n[4] \"x\"[2]\n\n"
		       "Switch 4 \"S0\"\n[1] \"L0\"[3]\n[2] \"L1\"[3]\n[3] \"c\"[1]\n\n" HOST("c", "S0", "3")
			       HOST("a", "L0", "2") HOST("b", "L0", "1") "Hca 2 \"x\"\n[2] \"L1\"[4]\n\n");
	struct fors_places *places FREED(fors_places_free) = fors_places_new();

	assert_int_equal(fors_places_learn(places, net, NULL, 0, NULL), FORS_OK);
	assert_int_equal(fors_assign_lids(net, places, 1, false, NULL), FORS_OK);
	assert_lid(net, "b[1]", 2, 1);
	assert_lid(net, "a[1]", 4, 1);
	assert_lid(net, "x[2]", 6, 1);
	assert_lid(net, "x[1]", 0, 0);
	assert_lid(net, "c[1]", 8, 1);
	assert_lid(net, "L0", 10, 0);
	assert_lid(net, "L1", 11, 0);
	assert_lid(net, "S0", 12, 0);
	fors_net_free(net);
}

/* 382 servers with 128 LIDs each and 128 switches need every LID from 128 to the last; one switch more is too many. */
TEST(the_last_lid)
{
	struct bed *bed = bed_new("FT(2;64,64;servers=6;empty=0/0,0/1)", 0);
	struct fors_error error;
	uint32_t most = 0;

	assert_int_equal(fors_assign_lids(bed->net, bed->places, 7, false, &error), FORS_OK);
	for (uint32_t i = 0; i < bed->net->nports; i++)
		most = bed->net->port[i].lid > most ? bed->net->port[i].lid : most;
	assert_int_equal(most, FORS_LID_MAX);
	bed_free(bed);
	bed = bed_new("FT(2;65,64;servers=6;empty=0/0,0/1)", 0);
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 7, false, &error), FORS_ELIMIT);
	assert_non_null(strstr(error.text, "LIDs up to 49152"));
	assert_non_null(strstr(error.text, "use a smaller LMC"));
	bed_free(bed);
}

/* What a text says stays, when it makes sense; a server without a LID stays without; where nobody has one, all are new. */
TEST(lids_of_a_text_stay)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_port *first = fors_net_port(bed->net, bed->fabric->server[0].node, 1);
	struct fors_port *last = fors_net_port(bed->net, bed->fabric->server[3].node, 1);
	struct fors_port *leaf = fors_net_port(bed->net, bed->fabric->leaf[0].node, 0);
	struct fors_error error;

	last->lid = FORS_LID_MAX - 1;
	leaf[1].lid = 2; /* ports of a switch other than 0 have none */
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 0, true, &error), FORS_OK);
	assert_int_equal(first->lid, 2);
	assert_int_equal(last->lid, FORS_LID_MAX - 1);
	last->lid = FORS_LID_MAX;
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 0, true, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "no unicast LID"));
	last->lid = 8;
	leaf->lid = 9;
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 0, true, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "LID 9 belongs to both"));
	leaf->lid = 1;
	first->lid = 0;
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 0, true, &error), FORS_OK);
	assert_int_equal(first->lid, 0);
	assert_int_equal(last->lid, 8);
	assert_int_equal(last->lmc, 1);
	assert_int_equal(leaf->lid, 1);
	for (uint32_t s = 0; s < bed->fabric->nservers; s++)
		fors_net_port(bed->net, bed->fabric->server[s].node, 1)->lid = 0;
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 0, true, &error), FORS_OK);
	assert_int_equal(first->lid, 1);
	assert_int_equal(last->lid, 4);
	assert_int_equal(leaf->lid, 5);
	assert_int_equal(leaf[1].lid, 0);
}

TEST(lids_are_assigned_like_opensm)
{
	struct bed *bed = bed_new("FT(2;4,3)", 2);
	struct fors_error error;

	assert_int_equal(bed->fabric->server[0].lid, 4);
	assert_int_equal(bed->fabric->server[11].lid, 48);
	fors_net_port(bed->net, bed->fabric->server[1].node, 1)->lid = 4;
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 2, true, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "LID 4 belongs to both"));
	bed_free(bed);
	bed = bed_new("FT(2;32,48)", 0);
	assert_int_equal(fors_assign_lids(bed->net, bed->places, 5, false, &error), FORS_ELIMIT);
	assert_int_equal(bed->net->port[0].lmc, 0);
	bed_free(bed);
}
