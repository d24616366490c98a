/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_net.c - nodes, ports, cables, and finding what a person means. */
#include "support.h"

#include <string.h>

#include "core/base/random.h"
#include "core/net/aside.h"
#include "core/net/others.h"
#include "core/net/partitions.h"
#include "core/net/rates.h"

static uint32_t add(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid, const char *id,
		    const char *desc)
{
	uint32_t index = FORS_NONE;

	assert_int_equal(fors_net_add_node(net, type, nports, guid, id, desc, &index, NULL), FORS_OK);
	return index;
}

/* Two switches and a host between them; two nodes share a description. */
static struct fors_net *small_net(void)
{
	struct fors_net *net = fors_net_new();
	uint32_t a = add(net, FORS_SWITCH, 4, 0x10, "S-10", "switch");
	uint32_t b = add(net, FORS_SWITCH, 4, 0x20, "S-20", "switch");
	uint32_t host = add(net, FORS_CA, 2, 0x30, "H-30", "host mlx5_0");

	fors_net_port(net, host, 1)->guid = 0x31;
	assert_int_equal(fors_net_connect(net, a, 1, b, 2, NULL), FORS_OK);
	assert_int_equal(fors_net_connect(net, a, 3, host, 1, NULL), FORS_OK);
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	return net;
}

TEST(cables_name_each_other)
{
	struct fors_net *net = small_net(), *copy;

	assert_int_equal(fors_net_port(net, 0, 1)->peer, 1);
	assert_int_equal(fors_net_port(net, 1, 2)->peer, 0);
	assert_int_equal(fors_net_port(net, 1, 2)->peer_port, 1);
	assert_int_equal(fors_net_copy(net, &copy, NULL), FORS_OK);
	fors_net_disconnect(net, 1, 2);
	fors_net_disconnect(net, 1, 2); /* nothing to pull: nothing happens */
	assert_int_equal(fors_net_port(net, 0, 1)->peer, FORS_NONE);
	assert_int_equal(fors_net_port(copy, 0, 1)->peer, 1);
	assert_int_equal(fors_net_find_guid(copy, 0x30), 2);
	fors_net_free(copy);
	fors_net_free(net);
}

TEST(bad_cables_are_named)
{
	struct fors_net *net FREED(fors_net_free) = small_net();
	struct fors_error error;

	assert_int_equal(fors_net_connect(net, 0, 1, 1, 3, &error), FORS_EINPUT);
	assert_string_equal(error.text, "port S-10[1] is used twice, it already goes to S-20[2]");
	assert_int_equal(fors_net_connect(net, 0, 5, 1, 3, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "S-10 has no port 5"));
	assert_int_equal(fors_net_connect(net, 0, 0, 1, 3, &error), FORS_EINPUT);
	assert_int_equal(fors_net_connect(net, 0, 4, 0, 4, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "cabled to itself"));
	assert_int_equal(fors_net_port(net, 1, 3)->peer, FORS_NONE);
}

TEST(a_person_finds_nodes)
{
	struct fors_net *net FREED(fors_net_free) = small_net();
	struct fors_error error;
	uint32_t node = 77;
	unsigned port = 77;

	assert_int_equal(fors_net_find(net, "S-20[2]", &node, &port, &error), FORS_OK);
	assert_int_equal(node, 1);
	assert_int_equal(port, 2);
	assert_int_equal(fors_net_find(net, "0x0000000000000031", &node, &port, &error), FORS_OK);
	assert_int_equal(node, 2);
	assert_int_equal(port, 0);
	assert_int_equal(fors_net_find(net, "host mlx5_0[1]", &node, &port, &error), FORS_OK);
	assert_int_equal(node, 2);

	node = port = 77;
	assert_int_equal(fors_net_find(net, "switch", &node, &port, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "0x0000000000000010 0x0000000000000020"));
	assert_int_equal(fors_net_find(net, "nobody", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "S-10[9]", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "S-10[x]", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "S-10[]", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "[3]", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(node, 77);
	assert_int_equal(port, 77);
}

/* Vendors wrap the name that an administrator gave; a director has many switches of one name. */
TEST(vendors_names_are_found_by_their_core)
{
	static const char *const desc[] = {"MF0;sw-01:MQM8700/U1", "MF0;sw-02:SX6036/U1", "MF0;dir:CS7500/L01/U1",
					   "MF0;dir:CS7500/S02/U1", "sw-03 mlx5_0"};
	struct fors_net *net FREED(fors_net_free) = fors_net_new();
	struct fors_error error;
	uint32_t node;
	unsigned port;
	char id[16];

	for (uint32_t i = 0; i < 5; i++) {
		snprintf(id, sizeof(id), "S-%u", i);
		fors_net_add_node(net, i < 4 ? FORS_SWITCH : FORS_CA, 4, 16 + i, id, desc[i], &node, NULL);
	}
	assert_int_equal(fors_net_find(net, "sw-02[3]", &node, &port, &error), FORS_OK);
	assert_int_equal(node, 1);
	assert_int_equal(port, 3);
	assert_int_equal(fors_net_find(net, "dir/S02/U1", &node, &port, &error), FORS_OK);
	assert_int_equal(node, 3);
	assert_int_equal(fors_net_find(net, "dir", &node, &port, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "several nodes, use a GUID: 0x0000000000000012 0x0000000000000013"));
	assert_int_equal(fors_net_find(net, "sw-01/U2", &node, &port, &error), FORS_EINPUT);
	assert_int_equal(fors_net_find(net, "sw-10", &node, &port, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "'sw-10'; is it 'sw-01', 'sw-02'?"));
	assert_int_equal(fors_net_find(net, "dri", &node, &port, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "'dri'; is it 'dir'?"));
	assert_int_equal(fors_net_find(net, "something else", &node, &port, &error), FORS_EINPUT);
	assert_null(strchr(error.text, '?'));
}

TEST(cables_go_down)
{
	struct fors_net *intact = small_net(), *net;
	struct fors_error error;

	assert_int_equal(fors_net_copy(intact, &net, NULL), FORS_OK);
	assert_int_equal(fors_net_down(intact, net, "S-10[1]", &error), FORS_OK);
	assert_int_equal(fors_net_port(net, 1, 2)->peer, FORS_NONE);
	assert_int_equal(fors_net_down(intact, net, "S-20[2]", &error), FORS_OK); /* its other end */
	assert_int_equal(fors_net_down(intact, net, "S-10[2]", &error), FORS_EINPUT);
	assert_int_equal(fors_net_port(net, 0, 3)->peer, 2);
	assert_int_equal(fors_net_down(intact, net, "H-30", &error), FORS_OK);
	assert_int_equal(fors_net_port(net, 0, 3)->peer, FORS_NONE);
	fors_net_free(net);
	fors_net_free(intact);
}

TEST(guids_are_unique)
{
	struct fors_net *net FREED(fors_net_free) = small_net();
	struct fors_error error;
	uint32_t other = add(net, FORS_CA, 1, 0x40, "H-40", "");

	assert_int_equal(fors_net_find_guid(net, 0x10), FORS_NONE); /* not indexed yet */
	fors_net_port(net, other, 1)->guid = 0x31;
	assert_int_equal(fors_net_index(net, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "port GUID 0x0000000000000031 is used twice"));
	fors_net_port(net, other, 1)->guid = 0x41;
	add(net, FORS_SWITCH, 1, 0x20, "S-x", "");
	assert_int_equal(fors_net_index(net, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "by S-20 and S-x"));
}

TEST(names_are_harmless)
{
	struct fors_net *net FREED(fors_net_free) = fors_net_new();
	struct fors_error error;
	char lengthy[300];
	uint32_t index;

	memset(lengthy, 'x', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	add(net, FORS_CA, 1, 1, "a\"b<c>\n", lengthy);
	assert_string_equal(net->node[0].id, "a?b?c??");
	assert_int_equal(strlen(net->node[0].desc), FORS_NAME_MAX);
	assert_int_equal(fors_net_add_node(net, FORS_SWITCH, 255, 2, "big", "", &index, &error), FORS_ELIMIT);
	assert_int_equal(net->nnodes, 1);
	fors_net_free(NULL);
}

/* Whom OpenSM's partitions let talk: counted by kinds of membership, and pair by pair. */
TEST(partitions_are_counted_by_kinds)
{
	struct fors_random random = {7};

	for (int run = 0; run < 200; run++) {
		struct fors_port port[24] = {{0}};
		const struct fors_port *list[24];
		struct fors_warnings warnings = {0};
		uint32_t n = 2 + fors_random_below(&random, 23), nbits = 1 + fors_random_below(&random, 4);
		int64_t cut = 0;

		for (uint32_t i = 0; i < n; i++) {
			port[i].full = fors_random_below(&random, 1u << nbits);
			port[i].limited = fors_random_below(&random, 1u << nbits) & ~port[i].full;
			list[i] = &port[i];
		}
		port[0].full |= 1;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++) {
				uint64_t common = (port[i].full | port[i].limited) & (port[k].full | port[k].limited);

				cut += i != k && !(common & (port[i].full | port[k].full));
			}
		assert_int_equal(fors_partitions_cut(list, n, &warnings), cut);
		assert_int_equal(warnings.count, cut > 0);
	}
}

/* Whom the exchange leaves out, or who has no LID, keeps nobody from talking. */
TEST(partitions_of_participants_count)
{
	struct fors_net *net FREED(fors_net_free) = fors_net_new();
	uint64_t guid[] = {0x31, 0x32};
	struct fors_participants some = {guid, 2};
	char id[16];

	add(net, FORS_SWITCH, 4, 0x10, "S-10", "switch");
	for (uint32_t i = 1; i <= 4; i++) {
		snprintf(id, sizeof(id), "H-%u", i);
		add(net, FORS_CA, 1, 0x20 + i, id, "host");
		*fors_net_port(net, i, 1) =
			(struct fors_port){.guid = 0x30 + i, .lid = i % 4, .full = i < 3 ? 1 : 2, .peer = FORS_NONE};
		assert_int_equal(fors_net_connect(net, 0, i, i, 1, NULL), FORS_OK);
	}
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	for (unsigned run = 0; run < 2; run++) {
		struct fors_warnings warnings = {0};

		assert_int_equal(fors_partitions_warn(net, run ? &some : NULL, &warnings, NULL), FORS_OK);
		assert_int_equal(warnings.count, run ? 0 : 1);
		if (!run)
			assert_non_null(strstr(warnings.text[0], "4 of 6 pairs of servers from talking (2 kinds"));
	}
}

/* By device, description, or what people say; who is named no more is a host again. */
TEST(adapters_that_are_no_hosts)
{
	static const struct {
		const char *desc;
		uint16_t device;
		const char *name;
		enum fors_other other;
	} cases[] = {{"node-1 mlx5_0", 0x101b, "node-2*", FORS_NOTHERS},
		     {"some adapter", 0xcf09, "", FORS_OTHER_AGGREGATION},
		     {"Mellanox Technologies Aggregation Node", 0, "", FORS_OTHER_AGGREGATION},
		     {"MF0;gw-1:SKYGW/U1", 0, "", FORS_OTHER_GATEWAY},
		     {"MF0;sw-1:MQM8700/U1", 0, "", FORS_OTHER_MANAGEMENT},
		     {"Quantum Mellanox Technologies", 0, "", FORS_OTHER_MANAGEMENT},
		     {"site gateway", 0, "", FORS_OTHER_GATEWAY},
		     {"login-1 mlx5_0", 0, "LOGIN-*", FORS_OTHER_NAMED},
		     {"login-1 mlx5_0", 0, "H-1", FORS_OTHER_NAMED},
		     {"login-1 mlx5_0", 0, "0x30", FORS_OTHER_NAMED},
		     {"login-1 mlx5_0", 0, "0x31", FORS_OTHER_NAMED},
		     {"login-1 mlx5_0", 0, "0x0", FORS_NOTHERS}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[16], *list[] = {name};
		struct fors_net *net FREED(fors_net_free) = fors_net_new();
		uint32_t node = add(net, FORS_CA, 1, 0x30, "H-1", cases[i].desc);
		enum fors_other other = cases[i].other;

		strcpy(name, cases[i].name);
		net->node[node].device = cases[i].device;
		fors_net_port(net, node, 1)->guid = 0x31;
		fors_others_mark(net, &(struct fors_names){list, *name ? 1 : 0});
		if (net->node[node].type != (other == FORS_NOTHERS ? FORS_CA : FORS_OTHER) ||
		    (other != FORS_NOTHERS && net->node[node].other != other))
			fail_msg("case %zu: type %u, %u", i, net->node[node].type, net->node[node].other);
		fors_others_mark(net, NULL);
		assert_int_equal(net->node[node].type,
				 other == FORS_NOTHERS || other == FORS_OTHER_NAMED ? FORS_CA : FORS_OTHER);
	}
}

TEST(no_hosts_are_counted)
{
	static const char *const desc[] = {
		"X Aggregation Node", "Y Aggregation Node", "MF0;sw:MQM8700/U1", "A Gateway", "login-1", "login-2"};
	static char one[] = "login-1", both[] = "login-*";
	char *name = both, text[FORS_OTHERS_TEXT], id[8];
	struct fors_names names = {&name, 1};
	struct fors_net *net FREED(fors_net_free) = fors_net_new();

	assert_int_equal(fors_others_text(net, text), 0);
	assert_string_equal(text, "");
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(id, sizeof(id), "H-%u", i);
		add(net, FORS_CA, 1, 16 + i, id, desc[i]);
	}
	fors_others_mark(net, &names);
	assert_int_equal(fors_others_text(net, text), 6);
	assert_string_equal(text, "2 aggregation nodes, 1 management port, 1 gateway and 2 more by not_hosts");
	name = one;
	fors_others_mark(net, &names);
	assert_int_equal(fors_others_text(net, text), 5);
	assert_string_equal(text, "2 aggregation nodes, 1 management port, 1 gateway and 1 more by not_hosts");
}

/* The next free port of either. */
static void join(struct fors_net *net, uint32_t a, uint32_t b)
{
	unsigned port_a = 1, port_b = 1;

	while (fors_net_port(net, a, port_a)->peer != FORS_NONE)
		port_a++;
	while (fors_net_port(net, b, port_b)->peer != FORS_NONE)
		port_b++;
	assert_int_equal(fors_net_connect(net, a, port_a, b, port_b, NULL), FORS_OK);
}

/*
 * Switches without hosts: two times four and four with four cables each, and odd ones with two, which come before them by
 * GUID. From each odd one a switch hangs, by two cables.
 */
static struct fors_net *net_with_odd(uint32_t nodd)
{
	struct fors_net *net = fors_net_new();
	char id[16];

	for (uint32_t i = 0; i < 16 + 2 * nodd; i++) {
		snprintf(id, sizeof(id), "S-%u", i);
		add(net, FORS_SWITCH, 36, i < 16 ? 0x100 + i : i < 16 + nodd ? 0x80 - i : 0x200 + i, id, "switch");
	}
	for (uint32_t i = 0; i < 32; i++)
		join(net, i / 4, 8 + i / 16 * 4 + i % 4);
	for (uint32_t i = 16; i < 16 + nodd; i++) {
		join(net, i, 0);
		join(net, i, i + nodd);
		join(net, i, i + nodd);
		join(net, i, 1);
	}
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	return net;
}

static uint32_t find_aside(const struct fors_net *net, uint32_t node[FORS_MOST_ASIDE])
{
	uint32_t count = 0;

	assert_int_equal(fors_aside_find(net, node, &count, NULL), FORS_OK);
	return count;
}

/* A few with half of the cables of others are odd, and keep the cables to one neighbour, and to what hangs from them. */
TEST(odd_switches_are_few)
{
	static const uint32_t found[] = {0, 1, 2, 0};
	uint32_t node[FORS_MOST_ASIDE];

	for (uint32_t nodd = 0; nodd < 4; nodd++) {
		struct fors_net *net = net_with_odd(nodd), *rest;

		assert_int_equal(find_aside(net, node), found[nodd]);
		for (uint32_t i = 0; i < found[nodd]; i++)
			assert_int_equal(node[i], 15 + nodd - i); /* by GUID */
		assert_int_equal(fors_aside_put(net, node, found[nodd], &rest, NULL), FORS_OK);
		for (uint32_t i = 0; i < found[nodd]; i++)
			for (unsigned port = 1; port <= 4; port++)
				assert_int_equal(fors_net_port(rest, node[i], port)->peer == FORS_NONE, port == 4);
		fors_net_free(rest);
		fors_net_free(net);
	}
}

static void set_rate(struct fors_net *net, uint32_t node, unsigned port, unsigned width, enum fors_speed speed)
{
	fors_net_port(net, node, port)->width = (uint8_t)width;
	fors_net_port(net, node, port)->speed = (uint8_t)speed;
}

/* A cable is as fast as its slower end; flows as the fastest of who takes part, which cables carry as often as they are faster. */
TEST(cables_carry_what_both_ends_can)
{
	static const struct {
		unsigned width;
		uint32_t carries;
	} cases[] = {{1, 1}, {4, 1}, {8, 2}, {12, 3}};
	struct fors_net *net FREED(fors_net_free) = small_net();
	uint32_t flow = 0;

	set_rate(net, 0, 3, 4, FORS_HDR);
	set_rate(net, 2, 1, 4, FORS_EDR);
	assert_int_equal(fors_rates_cable(net, fors_net_port(net, 0, 3)), 100000);
	assert_int_equal(fors_rates_cable(net, fors_net_port(net, 2, 1)), 100000);
	assert_int_equal(fors_rates_cable(net, fors_net_port(net, 0, 4)), 0);
	assert_int_equal(fors_rates_full(net, 100000), 100000); /* of cables between switches nothing is known */
	assert_int_equal(fors_rates_flow(net), 100000);
	fors_rates_takes_part(net, fors_net_port(net, 0, 4), &flow);
	fors_rates_takes_part(net, fors_net_port(net, 2, 1), &flow);
	assert_int_equal(flow, 100000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_rate(net, 0, 1, 12, FORS_NDR);
		set_rate(net, 1, 2, cases[i].width, FORS_EDR);
		assert_int_equal(fors_rates_capacity(net, fors_net_port(net, 0, 1), flow), cases[i].carries);
		assert_int_equal(fors_rates_capacity(net, fors_net_port(net, 1, 2), flow), cases[i].carries);
		assert_int_equal(fors_rates_capacity(net, fors_net_port(net, 0, 1), 0), 1);
	}
	set_rate(net, 1, 2, 12, FORS_NDR);
	assert_int_equal(fors_rates_capacity(net, fors_net_port(net, 0, 1), 2000), FORS_MOST_CAPACITY);
}

/* What is mended becomes as most are, not as the fastest. */
TEST(mended_is_like_most)
{
	static const enum fors_speed speed[] = {FORS_HDR, FORS_EDR, FORS_EDR, FORS_QDR};
	struct fors_net *net FREED(fors_net_free) = fors_net_new();
	uint32_t a = add(net, FORS_SWITCH, 4, 1, "S-1", "switch"), b = add(net, FORS_SWITCH, 4, 2, "S-2", "switch");

	for (unsigned port = 1; port <= 4; port++) {
		assert_int_equal(fors_net_connect(net, a, port, b, port, NULL), FORS_OK);
		set_rate(net, a, port, 4, speed[port - 1]);
		set_rate(net, b, port, 4, speed[port - 1]);
	}
	fors_rates_mend(net, fors_net_port(net, b, 4));
	assert_int_equal(fors_rates_cable(net, fors_net_port(net, a, 4)), 100000);
	assert_int_equal(fors_net_port(net, b, 4)->speed, FORS_EDR);
	assert_int_equal(fors_net_port(net, a, 1)->speed, FORS_HDR);
}
