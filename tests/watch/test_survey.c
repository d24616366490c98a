/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readings of a fabric in memory: honest ones give the net and the tables, byte for byte and from every port; those of nodes
 * that lie or fall silent end with a sentence, in bounded time and memory.
 */
#include <stdlib.h>
#include <string.h>

#include "core/net/netfile.h"
#include "core/net/rates.h"
#include "tests/unit/support.h"
#include "fake_mads.h"
#include "watch/bytes.h"
#include "watch/reading.h"
#include "watch/wire.h"

FREES(fors_mads_close, struct fors_mads *)

static char *text_of(const struct fors_net *net)
{
	struct fors_error error;
	char *text;
	size_t size;

	assert_int_equal(fors_netfile_write(net, &text, &size, &error), FORS_OK);
	return text;
}

static uint32_t first_server(const struct fors_net *net, uint32_t which)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[i].type == FORS_CA && fors_net_port(net, i, 1)->peer != FORS_NONE && !which--)
			return i;
	fail_msg("no such server");
	return 0;
}

static enum fors_err read_after(const struct bed *bed, struct fake *fake, const struct fors_reading *before,
				struct fors_reading *reading, struct fors_error *error)
{
	struct fors_mads *mads FREED(fors_mads_close) = NULL;
	enum fors_err err;

	fake->net = bed->net;
	fake->lfts = bed->lfts;
	mads = fake_mads(fake);
	err = fors_reading_make(mads, before, true, false, reading, error);
	return err;
}

static enum fors_err read_bed(const struct bed *bed, struct fake *fake, struct fors_reading *reading,
			      struct fors_error *error)
{
	return read_after(bed, fake, NULL, reading, error);
}

/* From every port the same bytes, and the fabric's own cables, LIDs and tables. */
TEST(honest)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;3,5;servers=4;cables=2)", "XGFT(3;2,2,2;1,2,2)"};

	for (unsigned s = 0; s < 3; s++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[s], s);
		struct fors_reading first CLEARED(fors_reading_clear) = {.survey = NULL};
		struct fors_error error;

		for (uint32_t from = 0; from < 6; from++) {
			struct fake fake = {.from = first_server(bed->net, from)};
			struct fors_reading reading;

			assert_int_equal(read_bed(bed, &fake, &reading, &error), FORS_OK);
			assert_true(reading.is_quiet);
			assert_int_equal(fake.asked, reading.asked);
			if (!from) {
				first = reading;
				continue;
			}
			assert_true(fors_reading_is_equal(&first, &reading));
			fors_reading_clear(&reading);
		}
		for (uint32_t i = 0; i < bed->net->nnodes; i++) {
			uint32_t node = fors_net_find_guid(first.net, bed->net->node[i].guid);

			assert_int_not_equal(node, FORS_NONE);
			for (unsigned p = 0; p <= bed->net->node[i].nports; p++) {
				const struct fors_port *was = fors_net_port(bed->net, i, p),
						       *is = fors_net_port(first.net, node, p);

				assert_int_equal(was->lid, is->lid);
				assert_int_equal(was->peer_port, is->peer_port);
				if (was->peer != FORS_NONE)
					assert_int_equal(bed->net->node[was->peer].guid,
							 first.net->node[is->peer].guid);
			}
		}
		assert_int_equal(first.lfts->nlids, bed->lfts->nlids);
		assert_memory_equal(first.lfts->port, bed->lfts->port, (size_t)bed->lfts->nswitches * bed->lfts->nlids);
		free(text_of(first.net));
	}
}

/* ---- speeds ---- */

/* What ports say of their speed, and which of it only when asked for extended speeds. */
struct told {
	const char *name;
	uint8_t able[4], also_able[2]; /* of adapters and of port 0 */
	uint8_t width, plain, extended, extended_2;
	bool is_shy;
	const char *rate; /* what the net has */
};
static const struct told *told;

static bool tell(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	bool is_end = fake->net->node[node].type != FORS_SWITCH || !(modifier & 0xFF);

	if (attribute != FORS_ATTR_PORT_INFO)
		return true;
	if (is_end) {
		memcpy(data + 20, told->able, sizeof(told->able));
		memcpy(data + 60, told->also_able, sizeof(told->also_able));
	}
	data[31] = told->width;
	data[35] = told->plain;
	if (told->is_shy && !(modifier & 0x80000000u))
		return true;
	data[56] = told->extended_2;
	data[62] = told->extended;
	return true;
}

/* PortInfo as switches and adapters of each age have it; an unknown speed is unknown, and no cable is slower than its like. */
TEST(speeds)
{
	static const struct told all[] = {
		{"QDR", {0}, {0}, 2, 0x44, 0, 0, false, "4xQDR"},
		{"SDR, on one lane", {0}, {0}, 1, 0x17, 0, 0, false, "1xSDR"},
		{"EDR", {0, 0, 0x40}, {0}, 2, 0x47, 0x23, 0, false, "4xEDR"},
		{"HDR100", {0, 0, 0xC0}, {0, 0x30}, 16, 0x47, 0x47, 0, false, "2xHDR"},
		{"NDR", {0, 0, 0xC0}, {4, 0x30}, 2, 0x47, 0x8F, 0, false, "4xNDR"},
		{"NDR200", {0, 0, 0xC0}, {4, 0x30}, 16, 0x07, 0x8F, 0, false, "2xNDR"},
		{"NDR, told when asked for", {0, 0, 0xC0}, {4, 0x30}, 2, 0x47, 0x8F, 0, true, "4xNDR"},
		{"NDR100, told when asked for", {0, 0, 0xC0}, {4, 0x30}, 1, 0x07, 0x8F, 0, true, "1xNDR"},
		{"NDR, never told", {0, 0, 0xC0}, {4, 0x30}, 2, 0x47, 0, 0, false, ""},
		{"XDR", {0, 0, 0xC0}, {0x1C, 0x30}, 2, 0x47, 0x0F, 0x29, false, "4xXDR"},
		{"XDR, told when asked for", {0, 0, 0xC0}, {0x1C, 0x30}, 16, 0x07, 0x0F, 0x29, true, "2xXDR"},
		{"XDR, with the bit that has no meaning",
		 {0, 0, 0xC0},
		 {0x1C, 0x30},
		 2,
		 0x47,
		 0x0F,
		 0xA9,
		 false,
		 "4xXDR"},
		{"beyond XDR", {0, 0, 0xC0}, {0x1C, 0x30}, 2, 0x47, 0x0F, 0x5B, false, ""},
		{"XDR able, at NDR", {0, 0, 0xC0}, {0x1C, 0x30}, 2, 0x47, 0x8F, 0x09, false, "4xNDR"},
		{"QDR of a port that can NDR", {0, 0, 0xC0}, {4, 0x30}, 2, 0x47, 0x0F, 0, false, "4xQDR"},
		{"bits of the newest without the sign", {0, 0, 0xC0}, {4, 0x30}, 2, 0x47, 0x8F, 0x29, false, "4xNDR"},
	};
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_error error;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct fake fake = {.from = first_server(bed->net, 0), .lie = tell};
		struct fors_reading reading CLEARED(fors_reading_clear);

		told = &all[i];
		assert_int_equal(read_bed(bed, &fake, &reading, &error), FORS_OK);
		for (uint32_t p = 0; p < reading.net->nports; p++) {
			const struct fors_port *port = &reading.net->port[p];
			char rate[FORS_RATE_TEXT];

			fors_rate_text(port->width, port->speed, rate);
			if (port->peer != FORS_NONE && strcmp(rate, all[i].rate))
				fail_msg("%s: %s", all[i].name, rate);
			assert_false(port->is_degraded);
		}
	}
}

/* ---- what changed is read again ---- */

static void doubt(const struct bed *bed, struct fors_survey *survey, uint32_t node)
{
	uint32_t seen = fors_survey_find(survey, bed->net->node[node].guid);

	if (seen != FORS_NONE)
		survey->node[seen].is_doubtful = true;
}

/* Pull a random cable, or plug one back in that was pulled, at its place or at that of another. Its ends are in doubt. */
static void change(const struct bed *bed, const struct fors_net *intact, struct rng *rng, struct fors_survey *survey)
{
	uint32_t node = rng_below(rng, bed->net->nnodes), peer;
	unsigned port = 1 + rng_below(rng, bed->net->node[node].nports);
	const struct fors_port *was = fors_net_port(intact, node, port), *is = fors_net_port(bed->net, node, port);
	struct fors_error error;

	peer = is->peer != FORS_NONE ? is->peer : was->peer;
	if (peer == FORS_NONE)
		return;
	doubt(bed, survey, node);
	doubt(bed, survey, peer);
	if (is->peer != FORS_NONE)
		fors_net_disconnect(bed->net, node, port);
	else if (fors_net_port(bed->net, peer, was->peer_port)->peer == FORS_NONE)
		assert_int_equal(fors_net_connect(bed->net, node, port, peer, was->peer_port, &error), FORS_OK);
}

/* All cables of a switch: it is dead. */
static void kill_switch(const struct bed *bed, uint32_t node, struct fors_survey *survey)
{
	for (unsigned p = 1; bed->net->node[node].type == FORS_SWITCH && p <= bed->net->node[node].nports; p++)
		if (fors_net_port(bed->net, node, p)->peer != FORS_NONE) {
			doubt(bed, survey, fors_net_port(bed->net, node, p)->peer);
			fors_net_disconnect(bed->net, node, p);
		}
}

/* A series of changes, each read again as far as it is in doubt, gives what a reading of everything gives, with fewer questions. */
TEST(again)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;3,5;servers=4;cables=2)", "XGFT(3;2,2,2;1,2,2)"};
	uint64_t asked = 0, asked_all = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[seed % 3], 0);
		struct rng rng = {seed};
		struct fake fake = {.from = first_server(bed->net, 0)};
		struct fors_reading all, part, before;
		struct fors_net *intact FREED(fors_net_free) = NULL;
		struct fors_error error;

		assert_int_equal(fors_net_copy(bed->net, &intact, &error), FORS_OK);
		assert_int_equal(read_bed(bed, &fake, &before, &error), FORS_OK);
		for (unsigned n = 0; n < 20; n++) {
			for (uint32_t count = rng_below(&rng, 4); count; count--)
				change(bed, intact, &rng, before.survey);
			if (!rng_below(&rng, 10))
				kill_switch(bed, rng_below(&rng, bed->net->nnodes), before.survey);
			assert_int_equal(read_bed(bed, &fake, &all, &error), FORS_OK);
			assert_int_equal(read_after(bed, &fake, &before, &part, &error), FORS_OK);
			assert_true(all.is_all && !part.is_all && !part.is_doubtful);
			assert_true(fors_reading_is_equal(&all, &part));
			asked += part.asked;
			asked_all += all.asked;
			fors_reading_clear(&all);
			fors_reading_clear(&before);
			before = part;
		}
		fors_reading_clear(&before);
	}
	assert_true(asked < asked_all * 3 / 4);
}

/* A switch that nobody doubted, but that says that its ports have changed: the reading does not count, the next one does. */
static bool one_has_changed(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_SWITCH_INFO && node == fake->state)
		data[11] |= 0x04;
	return true;
}

TEST(untold)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	struct fake fake = {.from = first_server(bed->net, 0)};
	struct fors_reading before, part, next, all;
	struct fors_error error;
	uint32_t leaf = fors_net_port(bed->net, fake.from, 1)->peer, spine = FORS_NONE;

	for (unsigned p = 1; p <= bed->net->node[leaf].nports; p++) {
		uint32_t peer = fors_net_port(bed->net, leaf, p)->peer;

		if (peer != FORS_NONE && bed->net->node[peer].type == FORS_SWITCH)
			spine = peer;
	}
	assert_int_equal(read_bed(bed, &fake, &before, &error), FORS_OK);
	fake.lie = one_has_changed;
	fake.state = spine;
	for (unsigned p = 1; p <= bed->net->node[spine].nports; p++)
		if (fors_net_port(bed->net, spine, p)->peer != leaf) {
			fors_net_disconnect(bed->net, spine, p);
			break;
		}
	assert_int_equal(read_after(bed, &fake, &before, &part, &error), FORS_OK);
	assert_true(part.is_doubtful);
	assert_int_equal(read_after(bed, &fake, &part, &next, &error), FORS_OK);
	assert_int_equal(read_bed(bed, &fake, &all, &error), FORS_OK);
	assert_true(!next.is_doubtful && fors_reading_is_equal(&next, &all) && !fors_reading_is_equal(&part, &all));
	fors_reading_clear(&before);
	fors_reading_clear(&part);
	fors_reading_clear(&next);
	fors_reading_clear(&all);
}

/* The ports of one switch, all of them: whichever cable is cut is down, but that to who asks. */
TEST(ports)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	struct fake fake = {.from = first_server(bed->net, 0)};
	uint32_t leaf = fors_net_port(bed->net, fake.from, 1)->peer, seen;
	struct fors_reading reading;
	struct fors_error error;
	struct fors_mads *mads;

	assert_int_equal(read_bed(bed, &fake, &reading, &error), FORS_OK);
	seen = fors_survey_find(reading.survey, bed->net->node[leaf].guid);
	mads = fake_mads(&fake);
	for (unsigned p = 1; p <= bed->net->node[leaf].nports; p++) {
		struct fors_port was = *fors_net_port(bed->net, leaf, p);

		assert_int_equal(reading.survey->node[seen].port[p].state, FORS_PORT_ACTIVE);
		if (was.peer == fake.from)
			continue;
		fors_net_disconnect(bed->net, leaf, p);
		assert_int_equal(fors_survey_ports(reading.survey, seen, mads, &error), FORS_OK);
		assert_int_not_equal(reading.survey->node[seen].port[p].state, FORS_PORT_ACTIVE);
		assert_int_equal(fors_net_connect(bed->net, leaf, p, was.peer, was.peer_port, &error), FORS_OK);
	}
	fors_mads_close(mads);
	fors_reading_clear(&reading);
}

/* What cannot be a net leaves what the caller had. */
TEST(no_net)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	struct fake fake = {.from = first_server(bed->net, 0)};
	struct fors_net *net = NULL;
	struct fors_reading reading CLEARED(fors_reading_clear);
	struct fors_error error;

	assert_int_equal(read_bed(bed, &fake, &reading, &error), FORS_OK);
	reading.survey->node[1].guid = reading.survey->node[2].guid;
	assert_int_not_equal(fors_survey_net(reading.survey, false, &net, &error), FORS_OK);
	assert_null(net);
}

static bool is_spine_port(void *context, uint64_t guid, unsigned port)
{
	(void)port;
	return guid == *(uint64_t *)context;
}

/* The ports that are asked for once more: one that is down, or a server with another LID, is found; others are not asked. */
TEST(checked)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	uint32_t from = first_server(bed->net, 0), server = first_server(bed->net, 4);
	struct fake fake = {.from = from};
	uint64_t leaf = bed->net->node[fors_net_port(bed->net, server, 1)->peer].guid;
	struct fors_reading reading CLEARED(fors_reading_clear);
	struct fors_error error;
	struct fors_mads *mads FREED(fors_mads_close) = NULL;

	assert_int_equal(read_bed(bed, &fake, &reading, &error), FORS_OK);
	mads = fake_mads(&fake);
	fake.asked = 0;
	assert_int_equal(fors_survey_check(reading.survey, is_spine_port, &leaf, mads, &error), FORS_OK);
	assert_int_equal(fake.asked, 4); /* its two servers, its two spines */
	fors_net_port(bed->net, server, 1)->lid++;
	assert_int_equal(fors_survey_check(reading.survey, is_spine_port, &leaf, mads, &error), FORS_EIO);
	fors_net_port(bed->net, server, 1)->lid--;
	fors_net_disconnect(bed->net, server, 1);
	assert_int_equal(fors_survey_check(reading.survey, is_spine_port, &leaf, mads, &error), FORS_EIO);
	leaf = 0;
	assert_int_equal(fors_survey_check(reading.survey, is_spine_port, &leaf, mads, &error), FORS_OK);
}

/* ---- lies ---- */

static uint64_t next(struct fake *fake)
{
	fake->state += UINT64_C(0x9E3779B97F4A7C15);
	return (fake->state ^ fake->state >> 31) * UINT64_C(0xBF58476D1CE4E5B9);
}

static bool many_ports(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_NODE_INFO && fake->net->node[node].type == FORS_SWITCH)
		data[3] = 255;
	return true;
}

/* Behind each port of a switch there is another switch, for ever. */
static bool endless(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_NODE_INFO) {
		memset(data, 0, FORS_SMP_DATA);
		data[2] = 2;
		data[3] = (uint8_t)(fake->from ? 254 : 2);
		fors_put64(data + 12, fake->asked);
		data[36] = 1;
	}
	if (attribute == FORS_ATTR_PORT_INFO) {
		data[32] = FORS_PORT_ACTIVE;
		data[33] = FORS_PHYS_LINK_UP << 4;
	}
	return true;
}

static bool one_guid(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_NODE_INFO && fake->net->node[node].type == FORS_SWITCH)
		fors_put64(data + 12, 77);
	return true;
}

static bool far_top(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	if (attribute == FORS_ATTR_SWITCH_INFO) {
		fors_put16(data, 0xFFFF);
		fors_put16(data + 6, 0xFFFF);
	}
	return true;
}

static bool deaf_switch(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	return node != fake->state;
}

static bool restless(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	fake->counted += attribute == FORS_ATTR_LINEAR_FT && !modifier;
	return true;
}

static bool noise(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data)
{
	uint64_t dice = next(fake);

	if (dice % 64 == 0)
		return false;
	for (unsigned i = 0; dice % 4 == 1 && i < 1 + dice % 7; i++)
		data[next(fake) >> 13 & 63] = (uint8_t)(next(fake) >> 17);
	return fake->asked < 200000;
}

/* What comes of a reading with this lie; *asked questions were put. */
static enum fors_err try(const char *spec, bool (*lie)(struct fake *, uint16_t, uint32_t, uint32_t, uint8_t *),
			 uint64_t seed, uint64_t *asked, bool *is_quiet)
{
	struct bed *bed FREED(bed_free) = bed_new(spec, 0);
	struct fake fake = {.lie = lie, .state = seed, .from = first_server(bed->net, 0)};
	struct fors_reading reading CLEARED(fors_reading_clear) = {.survey = NULL};
	struct fors_error error = {0};
	enum fors_err err = read_bed(bed, &fake, &reading, &error);

	if (err)
		assert_true(strlen(error.text) > 10);
	else
		free(text_of(reading.net));
	*asked = fake.asked;
	*is_quiet = reading.is_quiet;
	return err;
}

#define MOST ((uint64_t)FORS_SURVEY_PORTS * 3)

TEST(lies)
{
	uint64_t asked;
	bool is_quiet;

	assert_int_equal(try("FT(2;4,4)", many_ports, 0, &asked, &is_quiet), FORS_ELIMIT);
	assert_int_equal(try("FT(2;4,4)", endless, 0, &asked, &is_quiet), FORS_ELIMIT);
	assert_true(asked < MOST);
	assert_int_equal(try("FT(2;4,4)", one_guid, 0, &asked, &is_quiet), FORS_EIO);
	assert_int_equal(try("FT(2;4,4)", far_top, 0, &asked, &is_quiet), FORS_OK);
	assert_true(asked < 8 * 800);
}

/* A node that falls silent fails the reading, whichever it is; packets of the manager are seen. */
TEST(silence)
{
	struct bed *bed = bed_new("FT(2;2,3)", 0);
	uint64_t asked;
	bool is_quiet;

	for (uint32_t node = 0; node < bed->net->nnodes; node++)
		assert_int_equal(try("FT(2;2,3)", deaf_switch, node, &asked, &is_quiet), FORS_EIO);
	bed_free(bed);
	assert_int_equal(try("FT(2;2,3)", restless, 0, &asked, &is_quiet), FORS_OK);
	assert_false(is_quiet);
}

/* Any bytes: an end, no crash. */
TEST(any_bytes)
{
	uint64_t asked;
	bool is_quiet;
	unsigned good = 0;

	for (uint64_t seed = 1; seed <= 300; seed++)
		good += !try(seed % 2 ? "FT(2;2,3)" : "XGFT(3;2,2,2;1,2,2)", noise, seed * 7919, &asked, &is_quiet);
	assert_true(good < 300);
}
