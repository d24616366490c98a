/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checker of plans for demands (core/demand/check.c): a good plan passes, and each way to break one is found and named. */
#include <stdlib.h>
#include <string.h>

#include "core/demand/check.h"
#include "support.h"

#define MOST 4 /* pieces */

/* FT(2;4,4), servers 0..3 below Leaf00, 4..7 below Leaf01, and so on; two path indices. The plan is to be broken. */
struct victim {
	struct bed *bed;
	uint64_t guid[16];
	struct fors_demand demand;
	struct fors_demand_plan plan; /* its arrays are those below */
	uint64_t length[2];
	uint32_t begin[3];
	struct fors_demand_piece piece[MOST];
};

/* Two messages beside each other, and the rest of the first one alone. */
static void victim_make(struct victim *v)
{
	static const struct fors_demand_message message[] = {{0, 4, 100}, {1, 9, 50}};
	static const struct fors_demand_piece piece[MOST] = {{60, 0, 4, 0}, {50, 1, 9, 0}, {40, 0, 4, 1}};

	*v = (struct victim){.bed = bed_new("FT(2;4,4)", 1), .length = {60, 40}, .begin = {0, 2, 3}};
	for (uint32_t s = 0; s < 16; s++)
		v->guid[s] = v->bed->fabric->server[s].guid;
	v->demand.message = malloc(sizeof(message));
	assert_non_null(v->demand.message);
	memcpy(v->demand.message, message, sizeof(message));
	v->demand.count = 2;
	v->demand.nservers = 16;
	memcpy(v->piece, piece, sizeof(piece));
	v->plan = (struct fors_demand_plan){
		.nservers = 16, .nphases = 2, .npieces = 3, .length = v->length, .begin = v->begin, .piece = v->piece};
}

static void victim_free(struct victim *v)
{
	fors_demand_clear(&v->demand);
	bed_free(v->bed);
}

static struct fors_demand_verdict verdict_of(const struct victim *v)
{
	struct fors_demand_verdict verdict;
	struct fors_error error;

	assert_int_equal(fors_demand_check(v->bed->net, v->bed->lfts, v->guid, &v->demand, &v->plan, &verdict, &error),
			 FORS_OK);
	return verdict;
}

TEST(a_good_plan)
{
	struct victim v;
	struct fors_demand_verdict verdict;

	victim_make(&v);
	verdict = verdict_of(&v);
	assert_true(verdict.is_right);
	assert_int_equal(verdict.nflows, 3);
	assert_string_equal(verdict.text, "");
	victim_free(&v);
}

/* ---- pieces ---- */

/* A piece of phase 0 or 1 that is another one, and what is said of it. */
static const struct fault {
	uint32_t at;
	struct fors_demand_piece piece;
	const char *says;
} faults[] = {
	{0, {59, 0, 4, 0}, "99 of 100 bytes go from server 0 to server 4"},
	{2, {39, 0, 4, 1}, "99 of 100 bytes go from server 0 to server 4"},
	{1, {51, 1, 9, 0}, "51 of 50 bytes go from server 1 to server 9"},
	{2, {41, 0, 4, 1}, "phase 1 of 40 bytes has a piece of 41"},
	{1, {0, 1, 9, 0}, "phase 0 of 60 bytes has a piece of 0"},
	{1, {50, 9, 1, 0}, "server 9 has nothing for server 1"},
	{1, {50, 1, 8, 0}, "server 1 has nothing for server 8"},
	{1, {50, 1, 1, 0}, "from 1 to 1 are no two servers"},
	{1, {50, 16, 9, 0}, "from 16 to 9 are no two servers"},
	{1, {50, 1, 16, 0}, "from 1 to 16 are no two servers"},
	{2, {40, 0, 4, 2}, "server 4 has no path index 2"},
};

TEST(broken_pieces)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct fors_demand_verdict verdict;
		struct victim v;

		victim_make(&v);
		v.piece[faults[i].at] = faults[i].piece;
		verdict = verdict_of(&v);
		assert_false(verdict.is_right);
		if (!strstr(verdict.text, faults[i].says))
			fail_msg("%s, not %s", verdict.text, faults[i].says);
		victim_free(&v);
	}
}

/* ---- conflicts ---- */

/* The second message is another one, whose piece goes beside the first. */
static void assert_conflict(uint32_t src, uint32_t dst, const char *says)
{
	struct fors_demand_verdict verdict;
	struct victim v;

	victim_make(&v);
	v.demand.message[1] = (struct fors_demand_message){src, dst, 50};
	v.piece[1] = (struct fors_demand_piece){50, src, dst, 0};
	verdict = verdict_of(&v);
	assert_int_equal(verdict.is_right, !says);
	if (says && !strstr(verdict.text, says))
		fail_msg("%u to %u: %s, not %s", src, dst, verdict.text, says);
	victim_free(&v);
}

/* Tables of fors lead to server 4 and to server 8, the first of their leaves, over one spine. */
TEST(conflicts)
{
	assert_conflict(0, 9, "two pieces leave Node00-00 by port 1");
	assert_conflict(1, 4, "server 4 receives two pieces");
	assert_conflict(1, 8, "two pieces leave Leaf00 by port ");
	assert_conflict(4, 0, NULL);
	assert_conflict(5, 8, NULL);
}

/* ---- tables and net ---- */

/* Both pieces for server 4 come by its leaf, each on a LID of its own. */
TEST(tables_that_do_not_lead_there)
{
	struct victim v;
	const struct fors_node *leaf;
	uint32_t row;

	victim_make(&v);
	leaf = &v.bed->net->node[fors_net_port(v.bed->net, v.bed->fabric->server[4].node, 1)->peer];
	row = fors_lfts_row(v.bed->lfts, leaf->guid);
	for (uint32_t path = 0; path < 2; path++) {
		uint32_t lid = v.bed->fabric->server[4].lid + path;
		uint8_t *entry = &v.bed->lfts->port[(size_t)row * v.bed->lfts->nlids + lid];

		for (unsigned port = 0; port <= FORS_NO_PATH; port++) {
			*entry = (uint8_t)port;
			/* others lead to hosts, back up, or nowhere */
			assert_int_equal(verdict_of(&v).is_right, port == 1);
		}
		*entry = 1;
	}
	victim_free(&v);
}

TEST(a_dead_cable)
{
	struct victim v;
	struct fors_port *port;

	victim_make(&v);
	port = fors_net_port(v.bed->net, v.bed->fabric->server[1].node, 1);
	port->peer = FORS_NONE;
	assert_non_null(strstr(verdict_of(&v).text, "is not reached from server 1"));
	victim_free(&v);
}

TEST(a_server_that_is_not_there)
{
	struct victim v;

	victim_make(&v);
	v.guid[7] = 0x4711;
	assert_string_equal(verdict_of(&v).text, "server 7 is not in the net");
	victim_free(&v);
}
