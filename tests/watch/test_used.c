/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a schedule over a reading depends on: each cable and each table entry of random fabrics is changed, and what is said
 * of it compared with walks of every pair of servers.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support.h"
#include "watch/used.h"

FREES(fors_used_free, struct fors_used *)

/* Does a packet from any server to this LID pass (node, port)? A walk by itself. */
static bool passes(const struct fors_net *net, const struct fors_lfts *lfts, uint32_t lid, uint32_t node, unsigned port)
{
	for (uint32_t from = 0; from < net->nnodes; from++) {
		uint32_t at = net->node[from].type == FORS_CA ? fors_net_port(net, from, 1)->peer : FORS_NONE;

		for (unsigned hops = 0; at != FORS_NONE && net->node[at].type == FORS_SWITCH && hops < 16; hops++) {
			uint8_t out = fors_lfts_port(lfts, fors_lfts_row(lfts, net->node[at].guid), lid);

			if (at == node && out == port)
				return true;
			if (!out || out > net->node[at].nports)
				break;
			at = fors_net_port(net, at, out)->peer;
		}
	}
	return false;
}

static bool is_server_lid(const struct fors_net *net, uint32_t lid)
{
	for (uint32_t i = 0; i < net->nports; i++)
		if (net->port[i].lid && lid >= net->port[i].lid && lid < net->port[i].lid + (1u << net->port[i].lmc))
			for (uint32_t node = 0; node < net->nnodes; node++)
				if (net->node[node].type == FORS_CA && i >= net->node[node].first_port &&
				    i <= net->node[node].first_port + net->node[node].nports)
					return true;
	return false;
}

static bool is_used(const struct bed *bed, uint32_t node, unsigned port)
{
	const struct fors_port *at = fors_net_port(bed->net, node, port);

	if (bed->net->node[at->peer].type == FORS_CA || bed->net->node[node].type == FORS_CA)
		return true;
	for (uint32_t lid = 1; lid < bed->lfts->nlids; lid++)
		if (is_server_lid(bed->net, lid) && (passes(bed->net, bed->lfts, lid, node, port) ||
						     passes(bed->net, bed->lfts, lid, at->peer, at->peer_port)))
			return true;
	return false;
}

/* A port that ways leave by, or that a server is at, is used; one of a cable that nobody needs is not. */
static void check_port(const struct fors_used *used, const struct bed *bed, uint32_t node, unsigned port)
{
	const struct fors_node *n = &bed->net->node[node];
	bool leaves = bed->net->node[fors_net_port(bed->net, node, port)->peer].type == FORS_CA;

	if (n->type == FORS_CA)
		return;
	for (uint32_t lid = 1; lid < bed->lfts->nlids; lid++)
		leaves |= is_server_lid(bed->net, lid) && passes(bed->net, bed->lfts, lid, node, port);
	if (leaves || !is_used(bed, node, port))
		assert_int_equal(fors_used_has_port(used, n->guid, port), leaves);
	assert_false(fors_used_has_port(used, n->guid, n->nports + 1u));
}

static struct fors_used *find(const struct bed *bed)
{
	struct fors_used *used;
	struct fors_error error;

	assert_int_equal(fors_used_find(bed->net, bed->lfts, &used, &error), FORS_OK);
	assert_null(fors_used_change(used, bed->net, bed->lfts));
	return used;
}

static struct fors_net *copy(const struct fors_net *net)
{
	struct fors_net *made;
	struct fors_error error;

	assert_int_equal(fors_net_copy(net, &made, &error), FORS_OK);
	return made;
}

TEST(each_cable)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;5,3;servers=2)", "XGFT(3;2,2,2;1,2,2)"};
	unsigned counted[2] = {0};

	for (unsigned s = 0; s < 3; s++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[s], s == 2);
		struct fors_used *used FREED(fors_used_free) = find(bed);

		for (uint32_t node = 0; node < bed->net->nnodes; node++)
			for (unsigned port = 1; port <= bed->net->node[node].nports; port++) {
				struct fors_net *net;
				bool has_changed;

				if (fors_net_port(bed->net, node, port)->peer == FORS_NONE)
					continue;
				check_port(used, bed, node, port);
				net = copy(bed->net);
				fors_net_disconnect(net, node, port);
				has_changed = fors_used_change(used, net, bed->lfts);
				assert_int_equal(has_changed, is_used(bed, node, port));
				counted[has_changed]++;
				fors_net_free(net);
			}
	}
	assert_true(counted[0] > 4 && counted[1] > 100); /* FT(2;5,3) has a spine that nobody needs */
}

TEST(each_entry)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 1);
	struct fors_used *used FREED(fors_used_free) = find(bed);

	for (uint32_t row = 0; row < bed->lfts->nswitches; row++)
		for (uint32_t lid = 1; lid < bed->lfts->nlids; lid++) {
			uint8_t *entry = &bed->lfts->port[(size_t)row * bed->lfts->nlids + lid], was = *entry;
			uint32_t node = fors_net_find_guid(bed->net, bed->lfts->guid[row]);
			bool wanted = is_server_lid(bed->net, lid) && passes(bed->net, bed->lfts, lid, node, was);
			struct fors_lfts *other FREED(fors_lfts_free) = fors_lfts_copy(bed->lfts);

			other->port[(size_t)row * other->nlids + lid] = was == 1 ? 2 : 1;
			assert_int_equal(fors_used_change(used, bed->net, other) != NULL, wanted);
		}
}

/* Another LID, another LMC, another leaf; a switch more or less far down the list of rows. */
TEST(servers_and_switches)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	struct fors_used *used FREED(fors_used_free) = find(bed);
	struct fors_net *net FREED(fors_net_free) = copy(bed->net);
	struct fors_error error;
	uint32_t node = 0, extra;

	while (net->node[node].type != FORS_CA)
		node++;
	fors_net_port(net, node, 1)->lid++;
	assert_string_equal(fors_used_change(used, net, bed->lfts), "a server has another LID");
	fors_net_port(net, node, 1)->lid--;
	fors_net_port(net, node, 1)->lmc++;
	assert_string_equal(fors_used_change(used, net, bed->lfts), "a server has another LID");
	fors_net_port(net, node, 1)->lmc--;
	assert_int_equal(fors_net_add_node(net, FORS_SWITCH, 4, 7, "S-7", "new", &extra, &error), FORS_OK);
	assert_int_equal(fors_net_index(net, &error), FORS_OK);
	assert_null(fors_used_change(used, net, bed->lfts));
}
