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

static enum fors_err read_bed(const struct bed *bed, struct fake *fake, struct fors_reading *reading,
			      struct fors_error *error)
{
	struct fors_mads *mads;
	enum fors_err err;

	fake->net = bed->net;
	fake->lfts = bed->lfts;
	mads = fake_mads(fake);
	err = fors_reading_make(mads, NULL, false, reading, error);
	fors_mads_close(mads);
	return err;
}

/* From every port the same bytes, and the fabric's own cables, LIDs and tables. */
static void honest(void **state)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;3,5;servers=4;cables=2)", "XGFT(3;2,2,2;1,2,2)"};

	(void)state;
	for (unsigned s = 0; s < 3; s++) {
		struct bed *bed = bed_new(specs[s], s);
		struct fors_reading first = {.survey = NULL};
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
		fors_reading_clear(&first);
		bed_free(bed);
	}
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
	struct bed *bed = bed_new(spec, 0);
	struct fake fake = {.lie = lie, .state = seed, .from = first_server(bed->net, 0)};
	struct fors_reading reading = {.survey = NULL};
	struct fors_error error = {0};
	enum fors_err err = read_bed(bed, &fake, &reading, &error);

	if (err)
		assert_true(strlen(error.text) > 10);
	else
		free(text_of(reading.net));
	*asked = fake.asked;
	*is_quiet = reading.is_quiet;
	fors_reading_clear(&reading);
	bed_free(bed);
	return err;
}

#define MOST ((uint64_t)FORS_SURVEY_PORTS * 3)

static void lies(void **state)
{
	uint64_t asked;
	bool is_quiet;

	(void)state;
	assert_int_equal(try("FT(2;4,4)", many_ports, 0, &asked, &is_quiet), FORS_ELIMIT);
	assert_int_equal(try("FT(2;4,4)", endless, 0, &asked, &is_quiet), FORS_ELIMIT);
	assert_true(asked < MOST);
	assert_int_equal(try("FT(2;4,4)", one_guid, 0, &asked, &is_quiet), FORS_EIO);
	assert_int_equal(try("FT(2;4,4)", far_top, 0, &asked, &is_quiet), FORS_OK);
	assert_true(asked < 8 * 800);
}

/* A node that falls silent fails the reading, whichever it is; packets of the manager are seen. */
static void silence(void **state)
{
	struct bed *bed = bed_new("FT(2;2,3)", 0);
	uint64_t asked;
	bool is_quiet;

	(void)state;
	for (uint32_t node = 0; node < bed->net->nnodes; node++)
		assert_int_equal(try("FT(2;2,3)", deaf_switch, node, &asked, &is_quiet), FORS_EIO);
	bed_free(bed);
	assert_int_equal(try("FT(2;2,3)", restless, 0, &asked, &is_quiet), FORS_OK);
	assert_false(is_quiet);
}

/* Any bytes: an end, no crash. */
static void any_bytes(void **state)
{
	uint64_t asked;
	bool is_quiet;
	unsigned good = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		good += !try(seed % 2 ? "FT(2;2,3)" : "XGFT(3;2,2,2;1,2,2)", noise, seed * 7919, &asked, &is_quiet);
	assert_true(good < 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest),
		cmocka_unit_test(lies),
		cmocka_unit_test(silence),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
