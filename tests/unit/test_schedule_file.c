/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The schedule file: there and back, what a mapped reader finds, and that no damage goes unseen. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"
#include "published.h"
#include "seal.h"
#include "support.h"

static struct fors_schedule *dense_plan(struct bed *bed)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_method_closed_form.plan(&task, &schedule, &error))
		fail_msg("%s", error.text);
	schedule->epoch = 1234567890123;
	return schedule;
}

/* A leaf's groups and their rounds: `length` members each, and a round for each block of receivers and each group. */
static uint32_t count_rounds(const struct fors_fabric *fabric, uint32_t parts, uint32_t length)
{
	uint32_t groups = fabric->nleaves * parts, blocks = (fabric->nservers + length - 1) / length;

	return groups > blocks ? groups : blocks;
}

/*
 * An exchange in rounds with paths and lanes at random: receivers come in blocks of `length`, and in round r the
 * virtual leaf v sends to block v + r, so that no two send to the same.
 */
static struct fors_schedule *rounds_exchange(struct bed *bed, uint32_t parts, unsigned paths)
{
	const struct fors_fabric *fabric = bed->fabric;
	uint32_t length = (fabric->max_servers + parts - 1) / parts, rounds = count_rounds(fabric, parts, length);
	struct fors_schedule *schedule;
	struct fors_error error;
	struct rng rng = {3};

	assert_int_equal(fors_schedule_new(fabric, length * rounds, parts, length, "rounds", &schedule, &error),
			 FORS_OK);
	for (uint32_t i = 0; i < fors_schedule_ncells(schedule); i++) {
		uint32_t v = i / schedule->nphases, round = i % schedule->nphases / length;
		uint32_t dst = (v + round) % rounds * length + i % length;
		uint32_t lane = rng_below(&rng, fabric->nlanes + 1);

		if (dst < fabric->nservers)
			schedule->cell[i] =
				(struct fors_cell){.dst = (uint16_t)dst,
						   .path = (uint8_t)rng_below(&rng, paths),
						   .lane = lane == fabric->nlanes ? FORS_NO_LANE : (uint8_t)lane};
	}
	return schedule;
}

static void assert_same(const struct fors_schedule *a, const struct fors_schedule *b)
{
	assert_int_equal(a->epoch, b->epoch);
	assert_int_equal(a->fingerprint, b->fingerprint);
	assert_int_equal(a->nservers, b->nservers);
	assert_int_equal(a->nphases, b->nphases);
	assert_int_equal(a->nleaves, b->nleaves);
	assert_int_equal(a->nlanes, b->nlanes);
	assert_int_equal(a->parts, b->parts);
	assert_int_equal(a->round_length, b->round_length);
	assert_string_equal(a->method, b->method);
	assert_string_equal(a->reason, b->reason);
	assert_memory_equal(a->lane_spine, b->lane_spine, a->nlanes * sizeof(*a->lane_spine));
	for (uint32_t s = 0; s < a->nservers; s++) {
		assert_int_equal(a->server[s].guid, b->server[s].guid);
		assert_int_equal(a->server[s].lid, b->server[s].lid);
		assert_int_equal(a->server[s].leaf, b->server[s].leaf);
		assert_int_equal(a->server[s].rank, b->server[s].rank);
		assert_int_equal(a->server[s].lmc, b->server[s].lmc);
		assert_string_equal(a->server[s].desc, b->server[s].desc);
		for (uint32_t phase = 0; phase < a->nphases; phase++) {
			struct fors_cell x = fors_schedule_flow(a, s, phase), y = fors_schedule_flow(b, s, phase);

			assert_int_equal(x.dst, y.dst);
			assert_true(x.dst == FORS_IDLE || (x.path == y.path && x.lane == y.lane));
		}
	}
}

/* There and back: the same schedule, and from it the same bytes. */
static size_t there_and_back(struct fors_schedule *schedule)
{
	struct bytes bytes = published_encode(schedule), again;
	struct fors_schedule *read FREED(fors_schedule_free) = published_decode(bytes);

	assert_same(schedule, read);
	again = published_encode(read);
	assert_int_equal(again.size, bytes.size);
	assert_memory_equal(again.data, bytes.data, bytes.size);
	free(again.data);
	free(bytes.data);
	fors_schedule_free(schedule);
	return bytes.size;
}

TEST(dense_round_trip)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;20,18)", "FT(2;1,1)", "FT(2;4,1)", "FT(2;1,5)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i], 2);

		there_and_back(dense_plan(bed));
	}
}

TEST(rounds_round_trip)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;5,4;servers=4;empty=1/2)", 3);

	for (uint32_t parts = 1; parts <= 4; parts++)
		for (unsigned paths = 1; paths <= 8; paths++)
			there_and_back(rounds_exchange(bed, parts, paths));
}

TEST(rounds_are_small)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;20,18)", 0);
	struct fors_schedule *schedule = rounds_exchange(bed, 1, 1);

	assert_int_equal(schedule->nphases, 360);
	assert_int_equal(there_and_back(schedule), 272 + 360 * 80 + 20 * 8 + 18 * 4 + 18 * 360 * 2);
}

/* Where numbers need more than 16 bits. */
TEST(wide_rounds)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;32,32)", 5);
	struct fors_schedule *schedule = rounds_exchange(bed, 1, 32);

	assert_int_equal(there_and_back(schedule), 272 + 1024 * 80 + 32 * 8 + 32 * 4 + 32 * 32 * 32 * 4);
}

TEST(withdrawn)
{
	struct fors_schedule *schedule;
	struct fors_error error;
	char reason[300];

	assert_int_equal(fors_schedule_withdrawn(99, "no common spine", &schedule, &error), FORS_OK);
	assert_int_equal(schedule->epoch, 99);
	assert_int_equal(schedule->nphases, 0);
	assert_int_equal(there_and_back(schedule), 272);
	memset(reason, 'x', sizeof(reason));
	reason[299] = 0;
	assert_int_equal(fors_schedule_withdrawn(99, reason, &schedule, &error), FORS_OK);
	assert_int_equal(strlen(schedule->reason), 127);
	there_and_back(schedule);
}

/* A node description that fills its field, and one with control characters. */
TEST(odd_descriptions)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 1);
	struct fors_schedule *schedule = dense_plan(bed), *read;
	struct bytes bytes;

	memset(schedule->server[0].desc, 'd', 64);
	strcpy(schedule->server[1].desc, "a\tb\x7f");
	schedule->server[2].desc[0] = 0;
	bytes = published_encode(schedule);
	read = published_decode(bytes);
	assert_int_equal(strlen(read->server[0].desc), 64);
	assert_string_equal(read->server[1].desc, "a?b?");
	assert_string_equal(read->server[2].desc, "");
	free(bytes.data);
	fors_schedule_free(read);
	fors_schedule_free(schedule);
}

/* What a reader of the mapped file finds for one server and phase without looking elsewhere. */
TEST(mapped_cells)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 2);
	struct fors_schedule *schedule FREED(fors_schedule_free) = dense_plan(bed);
	struct bytes bytes CLEARED(bytes_clear) = published_encode(schedule);
	struct fors_sf_header header;
	const struct fors_sf_cell *cells;
	uint8_t path[16][16] = {{0}};

	memcpy(&header, bytes.data, sizeof(header));
	cells = (const struct fors_sf_cell *)(bytes.data + le64toh(header.cells_offset));
	for (uint32_t s = 0; s < 16; s++)
		for (uint32_t t = 0; t < 16; t++)
			if (fors_schedule_flow(schedule, s, t).dst != FORS_IDLE)
				path[s][fors_schedule_flow(schedule, s, t).dst] =
					fors_schedule_flow(schedule, s, t).path;
	for (uint32_t s = 0; s < 16; s++)
		for (uint32_t t = 0; t < 16; t++) {
			struct fors_cell flow = fors_schedule_flow(schedule, s, t);
			const struct fors_sf_cell *cell = &cells[s * 16 + t];
			uint16_t src = le16toh(cell->src);

			assert_int_equal(le16toh(cell->dst), flow.dst);
			if (flow.dst != FORS_IDLE) {
				assert_int_equal(cell->path, flow.path);
				assert_int_equal(cell->lane, flow.lane);
				assert_int_equal(cell->reverse, path[flow.dst][s]);
				assert_int_equal(le16toh(cells[flow.dst * 16u + t].src), s);
			}
			if (src != FORS_SF_IDLE)
				assert_int_equal(cell->in_path, path[src][s]);
		}
}

/* ---- damage ---- */

static void assert_refused(struct bytes bytes, const char *words)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_schedule_decode(bytes.data, bytes.size, "the-file", &schedule, &error), FORS_EINPUT);
	assert_null(schedule);
	if (!strstr(error.text, words) || !strstr(error.text, "the-file: "))
		fail_msg("\"%s\" is not in \"%s\"", words, error.text);
}

static struct bytes small_file(bool is_rounds)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,2)", 2);
	struct fors_schedule *schedule FREED(fors_schedule_free) =
		is_rounds ? rounds_exchange(bed, 1, 1) : dense_plan(bed);
	struct bytes bytes = published_encode(schedule);

	return bytes;
}

TEST(every_bit_counts)
{
	for (int is_rounds = 0; is_rounds < 2; is_rounds++) {
		struct bytes bytes CLEARED(bytes_clear) = small_file(is_rounds);

		for (size_t bit = 0; bit < bytes.size * 8; bit++) {
			bytes.data[bit / 8] ^= 1 << bit % 8;
			assert_refused(bytes, "");
			bytes.data[bit / 8] ^= 1 << bit % 8;
		}
		fors_schedule_free(published_decode(bytes));
	}
}

TEST(every_length_counts)
{
	struct bytes bytes = small_file(false), longer = {calloc(1, bytes.size + 8), bytes.size + 8};

	for (struct bytes part = bytes; part.size-- > 0;)
		assert_refused(part, part.size < 8 ? "not a schedule" : "truncated");
	assert_non_null(longer.data);
	memcpy(longer.data, bytes.data, bytes.size);
	assert_refused(longer, "bytes after its end");
	free(longer.data);
	free(bytes.data);
}

TEST(foreign_files)
{
	struct bytes bytes CLEARED(bytes_clear) = small_file(false);
	struct fors_sf_header *header = (struct fors_sf_header *)bytes.data;
	struct bytes text = {(unsigned char *)"this is text and no schedule at all", 35}, none = {NULL, 0};

	assert_refused(text, "not a schedule of fors");
	assert_refused(none, "not a schedule of fors");
	header->version = htole32(FORS_SF_NEWEST + 1);
	assert_refused(bytes, "version 4 of the format, newer than this program, which knows version 3");
	header->byte_order = htobe32(FORS_SF_BYTE_ORDER);
	assert_refused(bytes, "other byte order");
}

TEST(sealed_nonsense)
{
	struct bytes bytes CLEARED(bytes_clear) = small_file(false);
	struct fors_sf_header *header = (struct fors_sf_header *)bytes.data;
	struct fors_sf_server *server = (struct fors_sf_server *)(bytes.data + sizeof(*header));
	struct fors_sf_cell *cell = (struct fors_sf_cell *)(bytes.data + le64toh(header->cells_offset));

	while (le16toh(cell->dst) == FORS_SF_IDLE)
		cell++;
#define TRY(field, value, words)                                                                                       \
	do {                                                                                                           \
		__typeof__(field) keep_ = (field);                                                                     \
		(field) = (value);                                                                                     \
		seal(bytes.data, bytes.size);                                                                          \
		assert_refused(bytes, words);                                                                          \
		(field) = keep_;                                                                                       \
		seal(bytes.data, bytes.size);                                                                          \
	} while (0)
	TRY(header->layout, htole32(7), "impossible sizes");
	TRY(header->nphases, 0, "impossible sizes");
	TRY(header->nlanes, htole32(255), "impossible sizes");
	TRY(header->nservers, htole32(65535), "impossible sizes");
	TRY(header->npaths, 0, "impossible sizes");
	TRY(header->parts, htole32(1), "impossible sizes");
	TRY(header->nrows, htole32(5), "disagree");
	TRY(header->nservers, htole32(5), "disagree");
	TRY(header->reserved, 1, "contradict");
	TRY(header->method[15], 'x', "contradict");
	TRY(server[1].rank, htole16(2), "order of the servers");
	TRY(server[3].leaf, htole16(9), "order of the servers");
	TRY(server[0].lmc, 8, "LID or LMC");
	TRY(server[0].lid, htole16(0xC000), "LID or LMC");
	TRY(server[0].lid, 0, "LID or LMC");
	TRY(server[1].lid, server[0].lid, "the same LID");
	TRY(server[4].guid, server[1].guid, "the same GUID");
	TRY(server[0].reserved, 1, "contradict");
	TRY(server[0].desc[63], 'x', "contradict");
	TRY(cell->dst, htole16(6), "server that is not there");
	TRY(cell->path, 4, "path index beyond");
	TRY(cell->lane, 3, "lane that is not there");
	TRY(cell->reverse, 3, "contradict");
	TRY(cell->src, htole16(77), "contradict");
	TRY(*cell, ((struct fors_sf_cell){FORS_SF_IDLE, cell->src, 0, 0, FORS_SF_NO_LANE, cell->in_path}), "missing");
	TRY(cell->dst, cell->dst == htole16(1) ? htole16(2) : htole16(1), "twice");
#undef TRY
	fors_schedule_free(published_decode(bytes));
}

/* Random damage with right checksums: refused or understood, never worse. */
TEST(sealed_noise)
{
	struct bytes whole[2] = {small_file(false), small_file(true)}, bytes, copy;
	struct rng rng = {11};

	for (int i = 0; i < 6000; i++) {
		struct fors_schedule *schedule = NULL;
		struct fors_error error;

		bytes = (struct bytes){malloc(whole[i & 1].size), whole[i & 1].size};
		assert_non_null(bytes.data);
		memcpy(bytes.data, whole[i & 1].data, bytes.size);
		for (uint32_t n = 1 + rng_below(&rng, 3); n-- > 0;)
			bytes.data[rng_below(&rng, n & 1 ? 272 : (uint32_t)bytes.size)] = (unsigned char)rng_next(&rng);
		seal(bytes.data, bytes.size);
		if (fors_schedule_decode(bytes.data, bytes.size, "noise", &schedule, &error) == FORS_OK) {
			copy = published_encode(schedule);
			assert_int_equal(copy.size, bytes.size);
			assert_memory_equal(copy.data, bytes.data, bytes.size);
			free(copy.data);
			fors_schedule_free(schedule);
		}
		free(bytes.data);
	}
	free(whole[0].data);
	free(whole[1].data);
}
