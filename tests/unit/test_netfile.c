/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibnetdiscover text: recorded files, what people write, and everything that can be wrong with it. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/net/netfile.h"
#include "core/net/rates.h"

FREES(fors_net_free, struct fors_net *)

static const struct fors_port *port_of(const struct fors_net *net, const char *what)
{
	uint32_t node;
	unsigned port;

	assert_int_equal(fors_net_find(net, what, &node, &port, NULL), FORS_OK);
	return fors_net_port(net, node, port);
}

/* opensm had given LMC 1; the text says who has which LID, and the order differs from the specification's. */
TEST(test_recorded)
{
	struct fors_net *net FREED(fors_net_free) = data_net_file("small.ibnetdiscover");

	assert_int_equal(net->nnodes, 10);
	assert_int_equal(port_of(net, "Leaf02")->lid, 1);
	assert_int_equal(port_of(net, "Leaf02")->lmc, 0);
	assert_int_equal(port_of(net, "Node02-00[1]")->lid, 14);
	assert_int_equal(port_of(net, "Node02-00[1]")->lmc, 1);
	assert_true(port_of(net, "Node02-00[1]")->guid == 0x100009);
	assert_int_equal(port_of(net, "Leaf02[3]")->peer_port, 3);
	assert_string_equal(net->node[port_of(net, "Leaf02[3]")->peer].desc, "Spine00");
	assert_string_equal(net->node[port_of(net, "Leaf02[3]")->peer].id, "S-0000000000200003");
	assert_false(port_of(net, "Leaf02[3]")->is_degraded);
}

/* -g and -f say more, but nothing else. */
TEST(test_variants)
{
	struct fors_net *plain FREED(fors_net_free) = data_net_file("small.ibnetdiscover");
	struct fors_net *grouped FREED(fors_net_free) = data_net_file("small-grouped.ibnetdiscover");
	struct fors_net *full FREED(fors_net_free) = data_net_file("small-full.ibnetdiscover");

	data_same_net(plain, grouped);
	data_same_net(plain, full);
}

TEST(test_chassis)
{
	struct fors_net *net FREED(fors_net_free) = data_net_file("chassis.ibnetdiscover");

	assert_int_equal(net->nnodes, 6);
	assert_int_equal(port_of(net, "S-0002c90200401400")->lid, 6);
	assert_string_equal(net->node[2].desc, "old switch port 0");
	assert_int_equal(port_of(net, "S-0002c90200401500")->lid, 7);
	assert_int_equal(port_of(net, "R-0002c903000a3000[1]")->lid, 0);
	assert_int_equal(net->node[5].type, FORS_ROUTER);
	assert_int_equal(net->node[3].type, FORS_CA);
	assert_string_equal(net->node[3].desc, "host ?a? HCA-1");
	assert_true(port_of(net, "H-0002c903000a2000[2]")->guid == 0x2c903000a20ff); /* not node GUID + 2 */
	assert_true(port_of(net, "H-0002c903000a2000[1]")->guid == 0);
	assert_true(port_of(net, "S-0002c90200401400[20]")->is_degraded); /* DDR among QDR */
	assert_true(port_of(net, "S-0002c90200401300[2]")->is_degraded);
	assert_false(port_of(net, "S-0002c90200401300[1]")->is_degraded);
	assert_true(port_of(net, "S-0002c90200401400[2]")->is_degraded); /* 1x; of two hosts the faster is usual */
	assert_false(port_of(net, "S-0002c90200401400[1]")->is_degraded);
	assert_false(port_of(net, "S-0002c90200401400[3]")->is_degraded); /* unknown rate */
}

/* GUIDs as ibsim numbers them: counters set and shifted by GUID lines. */
TEST(test_by_hand)
{
	struct fors_net *net FREED(fors_net_free) = data_net_file("ibsim.net");

	assert_true(port_of(net, "leaf one")->guid == 0x10);
	assert_true(port_of(net, "The Top")->guid == 0x11);
	assert_true(port_of(net, "lonely")->guid == 0x13);
	assert_true(port_of(net, "host1[1]")->guid == 0x100001);
	assert_true(port_of(net, "host2[2]")->guid == 0x102);
	assert_true(port_of(net, "host3[1]")->guid == 0x104);
	assert_int_equal(port_of(net, "top[4]")->peer_port, 1);
	assert_int_equal(port_of(net, "lonely[1]")->peer, FORS_NONE);
}

/* Every cable at one end only is fine; what its other end would say is taken from this one. */
TEST(test_one_end)
{
	static const char text[] = "Switch 4 \"a\"\n[1] \"b\"[2]\n[2] \"h\"[1](77) # \"h\" lid 9\n\n"
				   "Switch 4 \"b\"\n\nCa 1 \"h\"\n";
	struct fors_net *net FREED(fors_net_free) = data_net(text, sizeof(text) - 1);

	assert_int_equal(port_of(net, "b[2]")->peer, 0);
	assert_int_equal(port_of(net, "b[2]")->peer_port, 1);
	assert_true(port_of(net, "h[1]")->guid == 0x77);
	assert_int_equal(port_of(net, "h[1]")->lid, 9);
}

/* Up to the last unicast LID. */
TEST(test_last_lid)
{
	static const char text[] = "Switch 4 \"a\" # \"d\" base port 0 lid 49151 lmc 0\n[1] \"h\"[1]\n\n"
				   "Ca 1 \"h\"\n[1] \"a\"[1] # lid 49148 lmc 1 \"d\" lid 49151 4xSDR\n";
	struct fors_net *net FREED(fors_net_free) = data_net(text, sizeof(text) - 1);

	assert_int_equal(port_of(net, "a")->lid, 49151);
	assert_int_equal(port_of(net, "h[1]")->lid, 49148);
	assert_int_equal(port_of(net, "h[1]")->lmc, 1);
}

/* Cards whose first port has the node's GUID: what would be counted for their second port is another card. */
TEST(test_port_guids)
{
	static const char text[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n\n"
				   "caguid=0x20\nCa 2 \"a\"\n[1](20) \"s\"[1]\n\n"
				   "caguid=0x22\nCa 2 \"b\"\n[1](22) \"s\"[2]\n";
	struct fors_net *net FREED(fors_net_free) = data_net(text, sizeof(text) - 1);

	assert_true(port_of(net, "a[1]")->guid == 0x20);
	assert_true(port_of(net, "a[2]")->guid == 0);
	assert_true(port_of(net, "b[1]")->guid == 0x22);
}

static void write_and_read(const struct fors_net *net)
{
	char *text FREED(free) = NULL;
	size_t size = 0;
	struct fors_net *back FREED(fors_net_free) = NULL;

	assert_int_equal(fors_netfile_write(net, &text, &size, NULL), FORS_OK);
	assert_int_equal(strlen(text), size);
	back = data_net(text, size);
	data_same_net(net, back);
}

TEST(test_round_trip)
{
	static const char *const specs[] = {"FT(2;20,18)", "FT(2;1,1)", "FT(2;3,5;servers=2;cables=3;empty=0/0,4/1)"};
	static const char *const files[] = {"small.ibnetdiscover", "chassis.ibnetdiscover", "ibsim.net"};

	for (size_t i = 0; i < 3; i++) {
		struct fors_net *net = data_net_spec(specs[i]);

		write_and_read(net);
		fors_net_free(net);
		net = data_net_file(files[i]);
		write_and_read(net);
		fors_net_free(net);
	}
}

/* LIDs, LMC, degraded cables and dead ones survive too. */
TEST(test_round_trip_lids)
{
	struct fors_net *net FREED(fors_net_free) = data_net_spec("FT(2;3,4)");
	uint16_t lid = 64;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		unsigned port = net->node[node].type == FORS_SWITCH ? 0 : 1;

		fors_net_port(net, node, port)->lid = lid;
		fors_net_port(net, node, port)->lmc = port ? 3 : 0;
		lid += 8;
	}
	fors_net_disconnect(net, 0, 5);
	fors_net_port(net, 1, 4)->is_degraded = true;
	fors_net_port(net, fors_net_port(net, 1, 4)->peer, fors_net_port(net, 1, 4)->peer_port)->is_degraded = true;
	write_and_read(net);
}

#define SWITCH_A "Switch 4 \"a\"\n[1] \"b\"[1]\n"
#define SWITCH_B "\nSwitch 4 \"b\"\n[1] \"a\"[1]\n"

static const struct {
	const char *text, *message;
} bad[] = {
	{"", "net: the file is empty"},
	{"\n\n", "net: there is no node"},
	{"# only a comment\n", "net: there is no node"},
	{"Once upon a time\n", "net:1: \"Once upon a time\" is not a line of ibnetdiscover"},
	{"\x7f"
	 "ELF\x02\n",
	 "net:1: \"?ELF?\" is not"},
	{"Switch \"a\"\n", "net:1: the number of ports is missing"},
	{"Switch 0 \"a\"\n", "net:1: 0 ports: a node has 1 to 254"},
	{"Switch 255 \"a\"\n", "net:1: 255 ports"},
	{"Switch 4\n", "net:1: a node id in quotes is missing"},
	{"Switch 4 \"a\n", "net:1: a node id in quotes is missing"},
	{"Switch 4 \"\"\n", "net:1: \"\" is not a node id"},
	{"Switch 4 \"a@b\"\n", "net:1: \"a@b\" is not a node id"},
	{"Switch 4 \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg\"\n", "is not a node id"},
	{"Switch 4 \"a\x01\"\n", "is not a node id"},
	{"Switch 4 \"a\x7f\"\n", "is not a node id"},
	{"Switch 4 \"a\" 4\n", "net:1: \"4\" after the node id"},
	{"Switch 4 \"a\" # \"desc\n", "net:1: a quote is not closed"},
	{"Switch 4 \"a\" # \"d\" base port 0 lid 49152 lmc 0\n", "net:1: LID 49152 with LMC 0 is out of range"},
	{"Switch 4 \"a\" # \"d\" base port 0 lid 5 lmc 8\n", "LMC 8 is out of range"},
	{"Ca 1 \"h\"\n[1] \"a\"[1] # lid 49151 lmc 1 \"a\" lid 1 4xSDR\n", "net:2: LID 49151 with LMC 1"},
	{"[1] \"a\"[1]\n", "net:1: a port without a node"},
	{"Switch 4 \"a\"\n\n[1] \"a\"[2]\n", "net:3: a port without a node"},
	{"Switch 4 \"a\"\n[x] \"a\"[2]\n", "net:2: a port line starts with [PORT]"},
	{"Switch 4 \"a\"\n[1](xyz) \"a\"[2]\n", "net:2: a port line starts with [PORT]"},
	{"Switch 4 \"a\"\n[1][ext 4 \"a\"\n", "net:2: a port line starts with [PORT]"},
	{"Switch 4 \"a\"\n[0] \"a\"[2]\n", "net:2: port 0: \"a\" has ports 1 to 4"},
	{"Switch 4 \"a\"\n[5] \"a\"[2]\n", "net:2: port 5: \"a\" has ports 1 to 4"},
	{"Switch 4 \"a\"\n[256] \"a\"[2]\n", "net:2: a port line starts with"},
	{"Switch 4 \"a\"\n[1] a[2]\n", "net:2: a node id in quotes is missing"},
	{"Switch 4 \"a\"\n[1] \"a\"[x]\n", "net:2: the port of the other end"},
	{"Switch 4 \"a\"\n[1] \"a\"[2](12\n", "net:2: the port GUID of the other end"},
	{"Switch 4 \"a\"\n[1] \"a\"[2] what\n", "net:2: \"what\" is not understood"},
	{"Switch 4 \"a\"\n[1] \"z\"[2]\n", "net:2: port 1 of \"a\" goes to \"z\", which is not in the file"},
	{"Switch 4 \"a\"\n[1] \"b\"[5]\n\nSwitch 4 \"b\"\n",
	 "net:2: port 1 of \"a\" goes to port 5 of \"b\", which has ports 1 to 4"},
	{"Switch 4 \"a\"\n[1] \"b\"[0]\n\nSwitch 4 \"b\"\n", "goes to port 0 of \"b\""},
	{"Switch 4 \"a\"\n[1] \"a\"[1]\n", "net:2: port 1 of \"a\" goes to itself"},
	{SWITCH_A "[1] \"b\"[2]\n" SWITCH_B, "net:3: port 1 of \"a\" is used twice: it stands in line 2"},
	{SWITCH_A "[2] \"b\"[1]\n" SWITCH_B,
	 "net:3: port 1 of \"b\" is used twice: by line 2 it goes to port 1 of \"a\""},
	{SWITCH_A "\nSwitch 4 \"b\"\n[1] \"a\"[2]\n",
	 "net:5: port 1 of \"b\" is used twice: by line 2 it goes to port 1 of \"a\""},
	{SWITCH_A "[2] \"c\"[1]\n" SWITCH_B "\nSwitch 4 \"c\"\n",
	 "net:3: port 2 of \"a\" goes to port 1 of \"c\", which does not list it"},
	{"Switch 4 \"a\"\n[1] \"b\"[2] # \"b\" lid 1 4xSDR\n\nSwitch 4 \"b\"\n",
	 "net:2: port 1 of \"a\" goes to port 2 of \"b\", which does not list it"},
	{SWITCH_A SWITCH_B "\nSwitch 4 \"a\"\n", "net:7: node id \"a\" stands in line 1"},
	{"switchguid=0x5\n" SWITCH_A "\nswitchguid=0x5" SWITCH_B,
	 "net:6: \"b\" has node GUID 0x5, but so has \"a\" in line 2"},
	{"Ca 1 \"x\"\n[1](7) \"y\"[1]\n\nCa 1 \"y\"\n[1](7) \"x\"[1]\n",
	 "net:5: \"y\" has port GUID 0x7, but so has \"x\" in line 2"},
	{"Ca 1 \"x\"\n[1](7) \"y\"[1](9)\n\nCa 1 \"y\"\n[1](8) \"x\"[1]\n",
	 "net:2: port 1 of \"y\" has port GUID 0x9 here, but 0x8"},
	{"Switch 4 \"a\" # \"a\" base port 0 lid 3 lmc 0\n\nSwitch 4 \"b\" # \"b\" base port 0 lid 3 lmc 0\n",
	 "net:3: \"b\" has LID 3, but so has \"a\""},
	{"Switch 4 \"a\" # \"a\" base port 0 lid 5 lmc 0\n[1] \"h\"[1]\n\nCa 1 \"h\"\n[1] \"a\"[1] # lid 4 lmc 1 \"a\" "
	 "lid 5 4xSDR\n",
	 "net:5: \"h\" has LID 5, but so has \"a\""},
	{"switchguid\nSwitch 4 \"a\"\n", "net:1: a = and a GUID are missing"},
	{"switchguid=abc\nSwitch 4 \"a\"\n", "net:1: this is no GUID"},
	{"switchguid=0x0\nSwitch 4 \"a\"\n", "net:1: 0 is not a GUID"},
	{"caguid=0x123456789abcdef01\n", "net:1: this is no GUID"},
	{"vendid 0x2c9\n", "net:1: a = and a number are missing"},
	{"Switch 4 \"a\"\n\nvendid=0x2c9\ndevid=0x1\n", "net:4: no node follows this line"},
	{"include \"other\"\n", "are not read"},
	{"module=\"x\"\n", "are not read"},
	{"Switch 4 \"a\"\n@[1] \"alias\"\n", "net:2: ibsim's"},
	{"Switch 4 \"a\"", "net:1: the file ends in the line of a node"},
};

TEST(test_bad)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fors_net *net = NULL;
		struct fors_error error = {0};

		if (fors_netfile_read(bad[i].text, strlen(bad[i].text), "net", &net, NULL, &error) != FORS_EINPUT)
			fail_msg("accepted, or not as bad input: %s", bad[i].text);
		data_contains(error.text, bad[i].message);
		assert_null(net);
	}
}

TEST(test_binary)
{
	struct fors_net *net = NULL;
	struct fors_error error;

	assert_int_equal(fors_netfile_read("Switch\0004", 8, "net", &net, NULL, &error), FORS_EINPUT);
	assert_string_equal(error.text, "net: the file is binary, not text");
}

/* A text that was cut short anywhere is refused, but where nothing but line ends is missing. */
TEST(test_truncated)
{
	static const char *const files[] = {"small.ibnetdiscover", "small-grouped.ibnetdiscover",
					    "small-full.ibnetdiscover", "chassis.ibnetdiscover"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t size;
		char *text FREED(free) = data_read(files[i], &size);

		while (text[size - 1] == '\n')
			size--;
		for (size_t cut = 0; cut < size; cut++) {
			struct fors_warnings warnings = {0};
			struct fors_net *net FREED(fors_net_free) = NULL;

			/* seen as whole: the first node alone, and all of it but what follows the last rate */
			if (fors_netfile_read(text, cut, "net", &net, &warnings, NULL) == FORS_OK && net->nnodes > 1 &&
			    size - cut > strlen(" s=1 w=2 v=4"))
				fail_msg("%s was accepted when cut after %zu of %zu bytes", files[i], cut, size);
		}
	}
}

/* Lines of a terminal before, after and between those of the text, whichever they are between, are told and nothing else. */
TEST(test_strange)
{
	static const char *const strange[] = {
		"=~=~=~= PuTTY log 2021.01.01 00:00:00 =~=~=~=",
		"[root@n1 ~]# ibnetdiscover",
		"[12:00:01] done",
		"src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1,1,31 Attr 0x11:0) bad status 110; Connection timed out",
		"Cannot open /etc/rdma/ib-node-name-map",
		"ibwarn: [4711] _do_madrpc: recv failed",
		"Switches are slow today",
	};
	size_t size;
	char *text = data_read("small-full.ibnetdiscover", &size), *mixed = malloc(size + 200);
	struct fors_net *plain FREED(fors_net_free) = data_net(text, size);

	for (size_t at = 0, i = 0; at < size; at += strcspn(text + at, "\n") + 1, i++) {
		const char *line = strange[i % (sizeof(strange) / sizeof(strange[0]))];
		struct fors_warnings warnings = {0};
		struct fors_net *net FREED(fors_net_free) = NULL;
		struct fors_error error;
		int length = sprintf(mixed, "%.*s%s\n%s", (int)at, text, line, text + at);

		if (fors_netfile_read(mixed, (size_t)length, "net", &net, &warnings, &error))
			fail_msg("%s", error.text);
		assert_int_equal(warnings.count, 1);
		data_contains(warnings.text[0], "net: 1 line is not of ibnetdiscover, passed over; it is line");
		data_same_net(plain, net);
	}
	free(mixed);
	free(text);
}

/* Nothing but strange lines, or more of them than a log has, is no text of a fabric; who takes none is told the first. */
TEST(test_too_strange)
{
	static const char ports[] =
		"CA   134  1 0x0000000000000a01 4x EDR - SW  1719 10 0x0000000000000b01 ( 'h' - 's' )\n";
	static const char node[] = "Switch 4 \"a\"\n";
	struct fors_warnings warnings = {0};
	struct fors_net *net = NULL;
	struct fors_error error;
	char text[2048] = "";

	assert_int_equal(fors_netfile_read(ports, sizeof(ports) - 1, "net", &net, &warnings, &error), FORS_EINPUT);
	data_contains(error.text, "net:1: \"CA   134");
	data_contains(error.text, "what ibnetdiscover prints without -p and -l");
	for (int i = 0; i < 100; i++)
		strcat(text, "motd\n");
	strcat(text, node);
	assert_int_equal(fors_netfile_read(text, strlen(text), "net", &net, NULL, &error), FORS_EINPUT);
	assert_int_equal(fors_netfile_read(text, strlen(text), "net", &net, &warnings, &error), FORS_OK);
	data_contains(warnings.text[0],
		      "100 lines are not of ibnetdiscover, passed over; the first is line 1, \"motd\"");
	fors_net_free(net);
	strcat(text, "motd\n");
	assert_int_equal(fors_netfile_read(text, strlen(text), "net", &net, &warnings, &error), FORS_EINPUT);
	data_contains(error.text, "net:1: \"motd\" and 100 more of 102 lines");
}

/* ibsim's examples have a rate without a comment. */
TEST(test_bare_rate)
{
	static const char text[] =
		SWITCH_A "[2] \"b\"[2] 12xQDR\n" SWITCH_B "[2] \"a\"[2] 4xDDR # \"a\" lid 1 12xQDR\n";
	struct fors_net *net FREED(fors_net_free) = data_net(text, sizeof(text) - 1);

	assert_int_equal(port_of(net, "a[2]")->width, 12);
	assert_int_equal(port_of(net, "a[2]")->speed, FORS_QDR);
	assert_int_equal(port_of(net, "a[1]")->width, 0);
}

/* The newest speeds, few lanes, ibsim's option for two; what a tool did not know is unknown, and not slow. */
TEST(test_new_rates)
{
	static const struct {
		const char *text, *rate;
	} port[] = {{"4xNDR", "4xNDR"}, {"2xNDR", "2xNDR"},	 {"1xNDR", "1xNDR"}, {"4xXDR", "4xXDR"},
		    {"2xXDR", "2xXDR"}, {"4xNDR w=16", "2xNDR"}, {"4x???", ""},	     {"??XDR", ""}};

	for (size_t i = 0; i < sizeof(port) / sizeof(port[0]); i++) {
		char text[512], rate[FORS_RATE_TEXT];
		const char *option = strchr(port[i].text, ' ') ? strchr(port[i].text, ' ') : "";
		int width = (int)strcspn(port[i].text, " ");
		struct fors_net *net FREED(fors_net_free) = NULL;

		snprintf(text, sizeof(text),
			 SWITCH_A "[2] \"b\"[2]%s # \"b\" lid 2 %.*s\n" SWITCH_B "[2] \"a\"[2] # \"a\" lid 1 %.*s\n",
			 option, width, port[i].text, width, port[i].text);
		net = data_net(text, strlen(text));
		fors_rate_text(port_of(net, "a[2]")->width, port_of(net, "a[2]")->speed, rate);
		assert_string_equal(rate, port[i].rate);
		assert_false(port_of(net, "a[2]")->is_degraded);
	}
}

/* A number of nodes, and of lines, that no subnet has, ends in a message and not in memory. */
TEST(test_huge)
{
	static const char record[] = "Ca 1 \"%u\"\n\n";
	char *text = malloc(50000 * 32), *at = text;
	struct fors_net *net = NULL;
	struct fors_error error;

	assert_non_null(text);
	for (unsigned i = 0; i < 50000; i++)
		at += sprintf(at, record, i);
	assert_int_equal(fors_netfile_read(text, (size_t)(at - text), "net", &net, NULL, &error), FORS_EINPUT);
	data_contains(error.text, "more than 49151 nodes");
	assert_int_equal(fors_netfile_read(text, (size_t)1 << 40, "net", &net, NULL, &error), FORS_ELIMIT);
	free(text);
}
