/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_places.c - the kept order as text, references, forgetting, and sides that were wrong. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/places.h"
#include "core/net/netfile.h"
#include "core/fabric/places_file.h"
#include "core/net/tree_net.h"

static char *encode(const struct fors_places *places, size_t *size)
{
	char *text;

	assert_int_equal(fors_places_encode(places, &text, size, NULL), FORS_OK);
	return text;
}

static struct fors_places *decode(const char *text, size_t size)
{
	struct fors_places *places = NULL;
	struct fors_error error;

	if (fors_places_decode(text, size, "places", &places, &error))
		fail_msg("%s", error.text);
	return places;
}

/* The bed's places become what their text says; fabric, tables and all must be the same. */
static void assert_survives_text(struct bed *bed)
{
	uint64_t before = bed->fabric->fingerprint;
	size_t size, again_size;
	char *text = encode(bed->places, &size), *again;
	struct fors_places *read = decode(text, size);

	again = encode(read, &again_size);
	assert_int_equal(size, again_size);
	assert_memory_equal(text, again, size);
	fors_places_free(bed->places);
	bed->places = read;
	bed_rebuild(bed);
	assert_true(bed->fabric->fingerprint == before);
	free(text);
	free(again);
}

TEST(text_and_back)
{
	static const char *const specs[] = {"FT(2;20,18)",
					    "FT(2;3,1)",
					    "FT(2;1,1;servers=1)",
					    "FT(2;3,4;servers=6;cables=2)",
					    "FT(2;4,3;empty=0/0,0/2,1/2,2/2)",
					    "FT(2;32,48;servers=32)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i], 0);

		assert_survives_text(bed);
	}
}

static void learn(struct bed *bed)
{
	struct fors_error error;

	if (fors_places_learn(bed->places, bed->net, NULL, 0, &error))
		fail_msg("%s", error.text);
	bed_rebuild(bed);
}

TEST(the_dead_survive_too)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 2);

	bed_down(bed, "Spine01 Leaf02 Leaf00[8] Node03-01");
	learn(bed);
	assert_survives_text(bed);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_int_equal(bed->fabric->nleaves, 4);
}

TEST(empty_places)
{
	struct fors_places *none = fors_places_new(), *read;
	size_t size;
	char *text FREED(free) = encode(none, &size);

	read = decode(text, size);
	fors_places_free(read);
	fors_places_free(none);
}

static void refuse(const char *text, size_t size, const char *word)
{
	struct fors_places *places = NULL;
	struct fors_error error = {0};

	assert_int_not_equal(fors_places_decode(text, size, "places", &places, &error), FORS_OK);
	assert_null(places);
	if (word && !strstr(error.text, word))
		fail_msg("\"%s\" does not speak of \"%s\"", error.text, word);
	assert_non_null(strstr(error.text, "places"));
}

/* The text without its names of hosts, sealed again; the caller's. */
static char *without_hosts(const char *text)
{
	char *bare = malloc(strlen(text) + 32);
	char *hosts;

	assert_non_null(bare);
	strcpy(bare, text);
	hosts = strstr(bare, "\nhost ");
	assert_non_null(hosts);
	hosts++;
	sprintf(hosts, "crc 0x%08lx\n", crc32(0, (const unsigned char *)bare, (unsigned)(hosts - bare)));
	return bare;
}

/* It is read, and written as of today. What hosts are called it does not say. */
TEST(the_version_before_is_read)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4;servers=6;cables=2)", 2);
	size_t size, former_size, again_size;
	char *text, *former, *again, *bare;
	struct fors_places *read;

	bed_down(bed, "Spine01 Leaf02 Leaf00[8] Node03-01");
	learn(bed);
	text = encode(bed->places, &size);
	former = former_places(text, "fors-places 2", &former_size);
	read = decode(former, former_size);
	again = encode(read, &again_size);
	bare = without_hosts(text);
	assert_string_equal(again, bare);
	fors_places_free(read);
	free(bare);
	free(again);
	former[former_size / 2] ^= 1;
	refuse(former, former_size, "checksum");
	free(former);
	former = former_places(text, "fors-pods 1", &former_size);
	refuse(former, former_size, "no node");
	free(former);
	free(text);
}

TEST(every_damage_is_noticed)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 0);
	size_t size;
	char *text FREED(free) = encode(bed->places, &size);

	for (size_t cut = 0; cut < size; cut++)
		refuse(text, cut, NULL);
	for (size_t i = 0; i < size; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			text[i] ^= (char)(1 << bit);
			refuse(text, size, NULL);
			text[i] ^= (char)(1 << bit);
		}
}

/* With a checksum that is right, whatever the text says. */
static void refuse_sealed(const char *body, const char *word)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "%s", body);

	n += snprintf(text + n, sizeof(text) - (size_t)n, "crc 0x%08lx\n",
		      crc32(0, (const unsigned char *)text, (unsigned)n));
	refuse(text, (size_t)n, word);
}

#define TITLE "fors-places 3\nreference 0x0000000000000000\nlevels 2\n"
#define NEW TITLE SPINE "lanes 0.0\n"
#define SPINE "spine 0x0000000000000001 alive \"S\"\n"
#define LEAF "leaf 0x0000000000000002 alive \"L\"\n"
#define HOST "host 0x0000000000000003 \"N\"\n"

TEST(nonsense_with_a_good_checksum)
{
	refuse_sealed("fors-places 4\nwhatever\n", "version 4; this fors reads versions 2 and 3");
	refuse_sealed("hello\n", "not a kept order");
	refuse_sealed("fors-places 3\n", "reference");
	refuse_sealed("fors-places 3\nreference 0x0000000000000000\nlevels 4\n", "two levels, nor three");
	refuse_sealed("fors-places 3\nreference 0x0000000000000000\nlevels 2 \n", "two levels, nor three");
	refuse_sealed("fors-places 0\n", "version 0");
	refuse_sealed("fors-places 1\n", "version 1");
	refuse_sealed("fors-places 2\nreference 0x0000000000000000\nlevels 2\n" SPINE "lanes 0.0\n", "no spine");
	refuse_sealed("fors-places 2\nreference 0x0000000000000000\n" SPINE "lanes 0.0\n" LEAF
		      "slots 1.0u\nservers -\ncables 2.1\n",
		      "different leaf ports");
	refuse_sealed(NEW LEAF "slots 1\nservers -\ncables 2.1\n", "without a home");
	refuse_sealed(NEW LEAF "slots 1.1\nservers -\ncables 2.1\n", "without a home");
	refuse_sealed(NEW LEAF "slots 1.0x\nservers -\ncables 2.1\n", "different leaf ports");
	refuse_sealed(NEW LEAF "slots 0.0\nservers -\ncables 2.1\n", "different leaf ports");
	refuse_sealed(NEW LEAF "slots 1.0n\ncables 2.1\n", "servers of a leaf are missing");
	refuse_sealed(NEW LEAF "slots 1.0n\nservers\ncables 2.1\n", "not a server");
	refuse_sealed(NEW LEAF "slots 1.0n\nservers - -\ncables 2.1\n", "more servers");
	refuse_sealed(NEW LEAF "slots 1.0v\nservers 0x0000000000000000\ncables 2.1\n", "notation");
	refuse_sealed(NEW LEAF "slots 1.0u\nservers -\ncables 2.1\n", "different leaf ports");
	refuse_sealed(TITLE "spam\n", "no spine");
	refuse_sealed(TITLE SPINE SPINE "lanes\n", "has a place already");
	refuse_sealed(TITLE "spine 0x0000000000000000 alive \"S\"\nlanes\n", "not a spine");
	refuse_sealed(TITLE "spine 0x0000000000000001 undead \"S\"\nlanes\n", "not a spine");
	refuse_sealed(TITLE "spine 0x0000000000000001 alive \"S\nlanes\n", "not a spine");
	refuse_sealed(TITLE SPINE "lanes 1.0\n", "no lane 1.0");
	refuse_sealed(TITLE SPINE "lanes 0.1\n", "no lane 0.1");
	refuse_sealed(TITLE SPINE "lanes 0.0 0.0\n", "no lane 0.0");
	refuse_sealed(TITLE SPINE "lanes 0\n", "not a list of lanes");
	refuse_sealed(TITLE SPINE LEAF, "no spine, lanes, leaf or host");
	refuse_sealed(TITLE HOST, "no spine, lanes, leaf or host");
	refuse_sealed(NEW HOST HOST, "not a host behind the one before");
	refuse_sealed(NEW HOST "host 0x0000000000000002 \"N\"\n", "not a host behind the one before");
	refuse_sealed(NEW "host 0x0000000000000000 \"N\"\n", "not a host");
	refuse_sealed(NEW "host 0x0000000000000003 \"\"\n", "not a host");
	refuse_sealed(NEW "host 0x0000000000000003 \"N\n", "not a host");
	refuse_sealed(NEW HOST LEAF "slots 1.0\nservers -\ncables 2.1\n", "no spine, lanes, leaf or host");
	refuse_sealed("fors-places 2\nreference 0x0000000000000000\n" SPINE "lanes 0.0\n" HOST, "leaf or host");
	refuse_sealed(NEW LEAF, "slots of a leaf are missing");
	refuse_sealed(NEW LEAF "slots 1.0\nservers -\n", "cables of a leaf are missing");
	refuse_sealed(NEW LEAF "slots 1.0 1.0\nservers - -\ncables -\n", "different leaf ports");
	refuse_sealed(NEW LEAF "slots 255.0\nservers -\ncables -\n", "different leaf ports");
	refuse_sealed(NEW LEAF "slots  9.0\nservers -\ncables 2.1\n", "different leaf ports");
	refuse_sealed(NEW LEAF "slots 1.0\nservers -\ncables 1.1\n", "not a cable");
	refuse_sealed(NEW LEAF "slots 1.0\nservers -\ncables 2.0\n", "not a cable");
	refuse_sealed(NEW LEAF "slots 1.0\nservers -\ncables\n", "not a cable");
	refuse_sealed(NEW LEAF "slots 1.0\nservers -\ncables 2.1 3.1\n", "more cables than lanes");
	refuse_sealed(NEW LEAF "slots 01.0\nservers -\ncables 2.1\n", "notation");
	refuse_sealed(TITLE "spine 0x0000000000000001 dead reference roots former 0x0000000000000000 \"S\"\nlanes\n",
		      "notation");
}

/* --- slots ------------------------------------------------------------------ */

/* Homes are by rank, whichever ports are free: 8 servers on 4 lanes have each twice. */
TEST(free_ports_have_no_rank)
{
	static const char *const specs[] = {"FT(2;4,3;empty=1/2,1/3,2/2,2/3)", "FT(2;4,3;empty=0/2,0/3,1/2,1/3)",
					    "FT(2;4,3;empty=0/0,0/1,2/0,2/3)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i], 0);
		const struct fors_fabric *f = bed->fabric;

		assert_int_equal(f->nservers, 8);
		for (uint32_t s = 0; s < f->nservers; s++)
			assert_int_equal(fors_slot(f, f->server[s].leaf, f->server[s].slot)->home, s % 4);
	}
}

/* The switch has another GUID from now on. */
static void exchange(struct bed *bed, uint32_t node, uint64_t guid)
{
	bed->net->node[node].guid = guid;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
}

/* --- names of hosts --------------------------------------------------------- */

/* The slot's name and GUID as the tree of this moment has them. */
static struct fors_fattree_slot place_of(const struct bed *bed, uint32_t slot)
{
	struct fors_fattree tree = fors_fattree_of_fabric(bed->fabric);
	struct fors_fattree_slot stand;

	assert_true(tree.kind->slot(&tree, slot, &stand));
	return stand;
}

/* The places as somebody who starts anew reads them. */
static void restart(struct bed *bed)
{
	size_t size;
	char *text = encode(bed->places, &size);

	fors_places_free(bed->places);
	bed->places = decode(text, size);
	free(text);
	bed_rebuild(bed);
}

/* Who is gone has a name, after a restart too; one that is there is called by the net. */
TEST(the_lost_have_names)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);

	assert_string_equal(place_of(bed, 13).name, "");
	bed_down(bed, "Node03-01 Leaf02");
	learn(bed);
	for (unsigned again = 0; again < 2; again++) {
		assert_string_equal(place_of(bed, 13).name, "Node03-01");
		assert_string_equal(place_of(bed, 8).name, "Node02-00");
		assert_string_equal(place_of(bed, 11).name, "Node02-03");
		assert_string_equal(place_of(bed, 12).name, "");
		restart(bed);
	}
}

/* Of a host that was named anew the new name is known, and of one that was replaced only who came last. */
TEST(names_change)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	uint32_t node = place_of(bed, 13).node, other = place_of(bed, 14).node;
	size_t size;
	char *text;

	sprintf(bed->net->node[node].desc, "daq07 HCA-1");
	sprintf(bed->net->node[other].desc, "daq08 HCA-1");
	fors_net_port(bed->net, other, 1)->guid ^= 1u << 20;
	learn(bed);
	bed->net->node[node].desc[0] = '\0'; /* it does not answer for its name at the moment */
	learn(bed);
	text = encode(bed->places, &size);
	assert_non_null(strstr(text, "\"daq07 HCA-1\"\n"));
	assert_non_null(strstr(text, "\"daq08 HCA-1\"\n"));
	assert_null(strstr(text, "Node03-01"));
	assert_null(strstr(text, "Node03-02"));
	free(text);
	fors_net_disconnect(bed->net, node, 1);
	fors_net_disconnect(bed->net, other, 1);
	learn(bed);
	assert_string_equal(place_of(bed, 13).name, "daq07 HCA-1");
	assert_string_equal(place_of(bed, 14).name, "daq08 HCA-1");
}

/* --- cables ---------------------------------------------------------------- */

static void unplug(struct bed *bed, uint32_t leaf, uint32_t lane)
{
	fors_net_disconnect(bed->net, bed->fabric->leaf[leaf].node, fors_cable(bed->fabric, leaf, lane)->leaf_port);
}

/* Of parallel cables two have died; a new one at ports that neither used has the lane of the first. */
TEST(a_new_cable_has_the_first_dead_lane)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2;cables=3;servers=2)", 0);
	unsigned spine_port = fors_cable(bed->fabric, 1, 2)->spine_port;
	uint32_t leaf = bed->fabric->leaf[0].node;

	unplug(bed, 0, 0);
	unplug(bed, 0, 1);
	unplug(bed, 1, 2);
	fors_net_disconnect(bed->net, leaf, 1); /* a server's */
	assert_int_equal(fors_net_connect(bed->net, leaf, 1, bed->fabric->spine[0].node, spine_port, NULL), FORS_OK);
	learn(bed);
	assert_int_equal(bed->fabric->nlanes, 6);
	assert_true(fors_live(bed->fabric, 0, 0));
	assert_int_equal(fors_cable(bed->fabric, 0, 0)->leaf_port, 1);
	assert_int_equal(fors_cable(bed->fabric, 0, 0)->spine_port, spine_port);
	assert_int_equal(fors_cable(bed->fabric, 0, 1)->state, FORS_CABLE_DEAD);
	assert_int_equal(fors_cable(bed->fabric, 1, 2)->state, FORS_CABLE_ABSENT);
}

/* A cable stays in its lane, though cables in the order of their ports would have others. */
TEST(a_moved_cable_keeps_its_lane)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2;cables=3;servers=2)", 0);
	unsigned leaf_port = fors_cable(bed->fabric, 0, 5)->leaf_port;
	unsigned spine_port = fors_cable(bed->fabric, 0, 0)->spine_port;

	unplug(bed, 0, 0);
	unplug(bed, 0, 5);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->leaf[0].node, leaf_port, bed->fabric->spine[0].node,
					  spine_port, NULL),
			 FORS_OK);
	for (unsigned again = 0; again < 3; again++) {
		learn(bed);
		assert_int_equal(fors_cable(bed->fabric, 0, 0)->leaf_port, leaf_port);
		assert_int_equal(fors_cable(bed->fabric, 0, 1)->leaf_port, leaf_port - 4);
		assert_int_equal(fors_cable(bed->fabric, 0, 2)->leaf_port, leaf_port - 3);
		assert_int_equal(fors_cable(bed->fabric, 0, 5)->state, FORS_CABLE_ABSENT);
		assert_survives_text(bed);
	}
}

/* --- forgetting ------------------------------------------------------------ */

static void assert_refused(struct fors_places *places, uint64_t guid, const char *word)
{
	struct fors_error error;

	assert_int_equal(fors_places_forget(places, guid, &error), FORS_ENOTAPPL);
	if (!strstr(error.text, word))
		fail_msg("\"%s\" does not speak of \"%s\"", error.text, word);
}

TEST(only_the_dead_are_forgotten)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4;cables=2;servers=6)", 0);
	uint64_t spine = bed->fabric->spine[1].guid, leaf = bed->fabric->leaf[2].guid, next = bed->fabric->leaf[3].guid;

	assert_refused(bed->places, 0xbad, "has a place");
	assert_refused(bed->places, spine, "alive");
	bed_down(bed, "Spine01 Leaf02");
	for (uint32_t i = 0; i < bed->net->nnodes; i++) /* gone altogether, as OpenSM would see it */
		if (bed->net->node[i].guid == spine || bed->net->node[i].guid == leaf)
			bed->net->node[i].guid = 0xdead00 + i;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	learn(bed);
	assert_int_equal(fors_places_forget(bed->places, leaf, NULL), FORS_OK);
	assert_int_equal(fors_places_forget(bed->places, spine, NULL), FORS_OK);
	assert_refused(bed->places, spine, "has a place");
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nleaves, 3);
	assert_int_equal(bed->fabric->nspines, 2);
	assert_int_equal(bed->fabric->nlanes, 4);
	assert_true(bed->fabric->leaf[2].guid == next);
	assert_int_equal(bed->fabric->lane[2].spine, 1);
	for (uint32_t a = 0; a < 3; a++)
		for (uint32_t k = 0; k < 4; k++)
			assert_true(fors_live(bed->fabric, a, k));
	assert_survives_text(bed);
}

/* --- references ------------------------------------------------------------ */

static struct fors_places *refer(const struct fors_net *net)
{
	struct fors_places *reference = NULL;
	struct fors_error error;

	if (fors_places_refer(net, NULL, 0, &reference, &error))
		fail_msg("%s", error.text);
	return reference;
}

TEST(a_reference_comes_first)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	struct fors_places *reference = refer(bed->intact), *late = fors_places_new();
	uint64_t fingerprint;
	bool is_new;
	char text[256];

	bed_down(bed, "Spine01 Leaf00[8]");
	fingerprint = bed->fabric->fingerprint;
	assert_int_equal(fors_places_learn(late, bed->net, NULL, 0, NULL), FORS_OK); /* never saw it intact */
	assert_int_equal(fors_places_adopt(&late, reference, &is_new, NULL), FORS_OK);
	assert_true(is_new);
	assert_int_equal(fors_places_learn(late, bed->net, NULL, 0, NULL), FORS_OK);
	fors_places_free(bed->places);
	bed->places = late;
	bed_rebuild(bed);
	assert_true(bed->fabric->fingerprint == fingerprint);
	assert_survives_text(bed);
	assert_int_equal(fors_places_adopt(&bed->places, reference, &is_new, NULL), FORS_OK);
	assert_false(is_new); /* also after the text */
	assert_int_equal(fors_places_compare(bed->places, reference, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_refused(bed->places, bed->fabric->leaf[0].guid, "alive");
	fors_places_free(reference);
}

TEST(differences_are_listed)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3;servers=3)", 0);
	struct fors_places *reference FREED(fors_places_free) = refer(bed->intact);
	bool is_new;
	char text[256];

	assert_int_equal(fors_places_adopt(&bed->places, reference, &is_new, NULL), FORS_OK);
	bed->net->node[bed->fabric->spine[1].node].guid = 0xabcdef;
	fors_net_disconnect(bed->net, bed->fabric->leaf[0].node, 4);
	fors_net_disconnect(bed->net, bed->fabric->leaf[1].node, 4);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->leaf[0].node, 4, bed->fabric->spine[0].node, 2, NULL),
			 FORS_OK);
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	learn(bed);
	assert_int_equal(fors_places_compare(bed->places, reference, text, sizeof(text)), 2);
	assert_non_null(strstr(text, "spine Spine01 (0x0000000000abcdef) in the place of Spine01"));
	assert_non_null(strstr(text, "cable Leaf00[4] - Spine00[2]"));
	for (size_t room = 1; room < 40; room++)
		assert_int_equal(fors_places_compare(bed->places, reference, text, room), 2);
}

TEST(a_reference_without_servers_is_none)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 0);
	struct fors_places *reference = NULL;
	struct fors_error error;

	for (uint32_t i = 0; i < bed->net->nnodes; i++)
		if (bed->net->node[i].type == FORS_CA)
			fors_net_disconnect(bed->net, i, 1);
	assert_int_equal(fors_places_refer(bed->net, NULL, 0, &reference, &error), FORS_ENOTREE);
	assert_null(reference);
}

/* What a reference gave a place cannot be forgotten, until there is no reference any more. */
TEST(a_reference_is_not_forgotten)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	struct fors_places *reference FREED(fors_places_free) = refer(bed->intact);
	uint64_t spine = bed->fabric->spine[1].guid, leaf = bed->fabric->leaf[2].guid;
	bool is_new;

	assert_int_equal(fors_places_adopt(&bed->places, reference, &is_new, NULL), FORS_OK);
	bed_down(bed, "Spine01 Leaf02");
	exchange(bed, bed->fabric->spine[1].node, 0xdead01);
	exchange(bed, bed->fabric->leaf[2].node, 0xdead02);
	learn(bed);
	assert_refused(bed->places, spine, "reference fabric");
	assert_refused(bed->places, leaf, "reference fabric");
	assert_int_equal(fors_places_adopt(&bed->places, NULL, &is_new, NULL), FORS_OK);
	assert_false(is_new);
	assert_int_equal(fors_places_forget(bed->places, spine, NULL), FORS_OK);
	assert_int_equal(fors_places_forget(bed->places, leaf, NULL), FORS_OK);
}

/* --- root GUIDs and sides -------------------------------------------------- */

TEST(a_listed_spine_is_replaced)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	uint64_t roots[4], old = bed->fabric->spine[1].guid;

	for (uint32_t k = 0; k < 3; k++)
		roots[k] = bed->fabric->spine[k].guid;
	roots[3] = 0xabcdef;
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 3, NULL), FORS_OK);
	bed->net->node[bed->fabric->spine[1].node].guid = 0xabcdef;
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	/* The list is still the old one, then it names both, then the new one only. */
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 3, NULL), FORS_OK);
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 4, NULL), FORS_OK);
	bed_rebuild(bed);
	assert_survives_text(bed);
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 4, NULL), FORS_OK);
	roots[1] = 0xabcdef;
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 3, NULL), FORS_OK);
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nlanes, 3);
	assert_true(bed->fabric->spine[1].guid == 0xabcdef);
	assert_refused(bed->places, old, "has a place");
}

TEST(a_listed_spine_is_to_be_replaced)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	uint64_t roots[3];

	for (uint32_t k = 0; k < 3; k++)
		roots[k] = bed->fabric->spine[k].guid;
	bed_down(bed, "Spine01");
	bed->net->node[bed->fabric->spine[1].node].guid = 0x77; /* out of sight */
	assert_int_equal(fors_net_index(bed->net, NULL), FORS_OK);
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 3, NULL), FORS_OK);
	assert_refused(bed->places, roots[1], "root_guid_file");
	roots[1] = 0xabcdef; /* named before it is plugged in */
	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 3, NULL), FORS_OK);
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nlanes, 3);
	assert_true(bed->fabric->spine[1].guid == 0xabcdef);
}

TEST(roots_correct_the_sides)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,2;servers=3)", 0);
	uint64_t roots[2] = {bed->fabric->leaf[0].guid, bed->fabric->leaf[1].guid};

	assert_int_equal(fors_places_learn(bed->places, bed->net, roots, 2, NULL), FORS_OK);
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nleaves, 3);
	assert_int_equal(bed->fabric->nspines, 2);
	assert_int_equal(fors_places_restarts(bed->places), 1);
}

/* Only a CA below a spine is on: it is taken for a leaf, until the servers come. And the other way round it stays. */
TEST(servers_correct_the_sides)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	uint32_t boss = bed->fabric->server[5].node;
	struct fors_places *places = fors_places_new();

	fors_net_disconnect(bed->net, bed->fabric->spine[1].node, 1);
	fors_net_disconnect(bed->net, boss, 1);
	for (uint32_t i = 0; i < bed->net->nnodes; i++)
		if (bed->net->node[i].type == FORS_CA)
			fors_net_disconnect(bed->net, i, 1);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->spine[1].node, 1, boss, 1, NULL), FORS_OK);
	assert_int_equal(fors_places_learn(places, bed->net, NULL, 0, NULL), FORS_OK);
	assert_int_equal(fors_places_learn(bed->places, bed->net, NULL, 0, NULL), FORS_OK);
	fors_places_free(bed->places);
	bed->places = places;
	bed_rebuild(bed);
	assert_int_equal(bed->fabric->nleaves, 2);
	bed_restore(bed);
	learn(bed);
	assert_int_equal(bed->fabric->nleaves, 3);
	assert_int_equal(bed->fabric->nservers, 6);
	assert_int_equal(fors_places_restarts(bed->places), 1);
}
