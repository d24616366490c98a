/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The header of a schedule, read by itself: it is judged as the reader of the whole file judges it, from 272 bytes, 408 in version 2, 440 in version 3. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_header.h"
#include "published.h"
#include "seal.h"
#include "support.h"

#define HEAD FORS_SCHEDULE_HEADER_BYTES

/* Read the header from no more than its own bytes, so that a sanitizer sees one read too far. */
static enum fors_err read_alone(struct bytes bytes, struct fors_schedule_header *header, struct fors_error *error)
{
	size_t size = bytes.size < HEAD ? bytes.size : HEAD;
	void *alone FREED(free) = malloc(size ? size : 1);
	enum fors_err err;

	assert_non_null(alone);
	memcpy(alone, bytes.data, size);
	err = fors_schedule_header_read(alone, size, bytes.size, "the-file", header, error);
	return err;
}

static void assert_refused(struct bytes bytes, const char *words)
{
	struct fors_schedule_header header = {.epoch = 77};
	struct fors_error error;

	assert_int_equal(read_alone(bytes, &header, &error), FORS_EINPUT);
	assert_int_equal(header.epoch, 77);
	if (!strstr(error.text, words) || !strstr(error.text, "the-file: "))
		fail_msg("\"%s\" is not in \"%s\"", words, error.text);
}

TEST(all_kinds_are_read)
{
	struct bytes bytes[] = {published_spec("FT(2;3,2)", 2, "closed-form", UINT64_MAX),
				published_spec("FT(2;3,3)", 0, "rounds", 5), published_withdrawn("no spine", 1),
				published_spec_2("FT(2;3,3)", 0, "rounds", 6, PUBLISHED_WAYS | PUBLISHED_NAME)};
	static const struct {
		uint64_t epoch;
		uint32_t nservers;
		const char *method, *reason;
	} expected[] = {
		{UINT64_MAX, 6, "closed-form", ""}, {5, 9, "rounds", ""}, {1, 0, "", "no spine"}, {6, 9, "rounds", ""}};
	struct fors_schedule_header header;
	struct fors_error error;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		assert_int_equal(read_alone(bytes[i], &header, &error), FORS_OK);
		assert_true(header.epoch == expected[i].epoch);
		assert_int_equal(header.shape.nservers, expected[i].nservers);
		assert_int_equal(header.shape.end, bytes[i].size);
		assert_string_equal(header.method, expected[i].method);
		assert_string_equal(header.reason, expected[i].reason);
		assert_string_equal(header.name, i < 3 ? "" : "4711_some-job");
		assert_int_equal(header.fabric_epoch, i < 3 ? 0 : 41);
		free(bytes[i].data);
	}
}

static void assert_all_count(struct bytes bytes, size_t head)
{
	for (size_t bit = 0; bit < head * 8; bit++) {
		bytes.data[bit / 8] ^= 1 << bit % 8;
		assert_refused(bytes, "");
		bytes.data[bit / 8] ^= 1 << bit % 8;
	}
	for (struct bytes part = bytes; part.size-- > 0;)
		assert_refused(part, part.size < 8 ? "not a schedule" : "truncated");
	free(bytes.data);
}

TEST(every_bit_and_length_counts)
{
	assert_all_count(published_spec("FT(2;3,2)", 2, "closed-form", 1234567890123), 272);
	assert_all_count(published_spec_2("FT(2;3,2)", 0, "closed-form", 7, PUBLISHED_WAYS | PUBLISHED_NAME), 408);
	assert_all_count(published_spec_3("FT(2;3,3)", 2, 7, 8, PUBLISHED_WAYS | PUBLISHED_NAME), 440);
}

/* A file may say that it has any size: what counts is that it has it. */
TEST(size_of_the_file_counts)
{
	struct bytes bytes CLEARED(bytes_clear) = published_withdrawn("test", 5);
	struct fors_schedule_header header;
	struct fors_error error;

	assert_int_equal(fors_schedule_header_read(bytes.data, HEAD, (uint64_t)1 << 30, "f", &header, &error),
			 FORS_EINPUT);
	assert_non_null(strstr(error.text, "bytes after its end"));
	((struct fors_sf_header *)bytes.data)->file_size = htole64((uint64_t)1 << 30);
	seal(bytes.data, bytes.size);
	assert_int_equal(fors_schedule_header_read(bytes.data, HEAD, (uint64_t)1 << 30, "f", &header, &error),
			 FORS_EINPUT);
	assert_non_null(strstr(error.text, "sizes and offsets in the header disagree"));
}

TEST(foreign_headers)
{
	struct bytes bytes CLEARED(bytes_clear) = published_withdrawn("test", 5);
	struct fors_sf_header *header = (struct fors_sf_header *)bytes.data;

	header->version = htole32(FORS_SF_NEWEST + 1);
	seal(bytes.data, bytes.size);
	assert_refused(bytes, "version 4 of the format, newer than this program, which knows version 3");
	header->version = 0;
	seal(bytes.data, bytes.size);
	assert_refused(bytes, "byte order or version");
	header->byte_order = htobe32(FORS_SF_BYTE_ORDER);
	seal(bytes.data, bytes.size);
	assert_refused(bytes, "other byte order");
	header->byte_order = htole32(7);
	seal(bytes.data, bytes.size);
	assert_refused(bytes, "byte order or version");
}

/* One of many damaged files: what one reader says of the header the other says, too. True when the header is right. */
static bool compare(struct bytes bytes)
{
	struct fors_schedule *schedule FREED(fors_schedule_free) = NULL;
	struct fors_schedule_header header;
	struct fors_error mine, theirs;
	enum fors_err err = read_alone(bytes, &header, &mine);
	bool is_whole = fors_schedule_decode(bytes.data, bytes.size, "the-file", &schedule, &theirs) == FORS_OK;

	if (err) {
		assert_false(is_whole);
		assert_string_equal(mine.text, theirs.text);
	}
	if (is_whole)
		assert_true(schedule->epoch == header.epoch && schedule->nphases == header.shape.nphases);
	return !err;
}

TEST(both_readers_agree)
{
	struct bytes whole[4] = {published_spec("FT(2;3,2)", 2, "closed-form", 9),
				 published_spec("FT(2;3,3)", 0, "rounds", 9),
				 published_spec_2("FT(2;3,2)", 2, "closed-form", 9, PUBLISHED_WAYS | PUBLISHED_NAME),
				 published_spec_2("FT(2;3,3)", 0, "rounds", 9, PUBLISHED_SLS)};
	struct rng rng = {12};
	int right = 0;

	for (int i = 0; i < 20000; i++) {
		struct bytes bytes CLEARED(bytes_clear) = {malloc(whole[i % 4].size), whole[i % 4].size};

		assert_non_null(bytes.data);
		memcpy(bytes.data, whole[i % 4].data, bytes.size);
		for (uint32_t n = 1 + rng_below(&rng, 3); n-- > 0;)
			bytes.data[rng_below(&rng, HEAD)] = (unsigned char)rng_next(&rng);
		if (i % 8)
			seal(bytes.data, bytes.size);
		right += compare(bytes);
	}
	assert_in_range(right, 1000, 19000);
	for (int i = 0; i < 4; i++)
		free(whole[i].data);
}
