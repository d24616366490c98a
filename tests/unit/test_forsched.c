/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libforsched against the writer: the same flows from both layouts, and no wrong answer from a file that is not right.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"
#include "data.h"
#include "libforsched/forsched.h"
#include "published.h"
#include "seal.h"

FREES(forsched_close, struct forsched *)
FREES(forsched_watch_close, struct forsched_watch *)

#define DIRECTORY "forsched-test.XXXXXX"

struct place {
	char directory[64], file[96], heartbeat[96];
};

static struct place make_place(void)
{
	struct place place = {.directory = DIRECTORY};

	assert_non_null(mkdtemp(place.directory));
	snprintf(place.file, sizeof(place.file), "%s/schedule", place.directory);
	snprintf(place.heartbeat, sizeof(place.heartbeat), "%s/heartbeat", place.directory);
	return place;
}

static void remove_place(const struct place *place)
{
	unlink(place->file);
	unlink(place->heartbeat);
	assert_int_equal(rmdir(place->directory), 0);
}

static struct forsched *open_good(struct bytes bytes)
{
	struct forsched *schedule;
	struct forsched_error error;

	if (forsched_open_memory(bytes.data, bytes.size, "memory", &schedule, &error))
		fail_msg("%s", error.text);
	return schedule;
}

static struct forsched *open_file(const char *path)
{
	struct forsched *schedule;
	struct forsched_error error;

	if (forsched_open(path, &schedule, &error))
		fail_msg("%s", error.text);
	return schedule;
}

/* ---- the same as what was written ---- */

static void assert_same_servers(const struct fors_schedule *plan, const struct forsched *schedule)
{
	struct forsched_server server;
	uint32_t number;

	assert_int_equal(forsched_nservers(schedule), plan->nservers);
	for (uint32_t s = 0; s < plan->nservers; s++) {
		const struct fors_schedule_server *from = &plan->server[s];

		assert_int_equal(forsched_server(schedule, s, &server), FORSCHED_OK);
		assert_int_equal(server.guid, from->guid);
		assert_int_equal(server.lid, from->lid);
		assert_int_equal(server.lmc, from->lmc);
		assert_int_equal(server.leaf, from->leaf);
		assert_int_equal(server.rank, from->rank);
		assert_string_equal(server.desc, from->desc);
		assert_int_equal(forsched_find_guid(schedule, from->guid, &number, NULL), FORSCHED_OK);
		assert_int_equal(number, s);
		for (unsigned i = 0; i < 1u << from->lmc; i++) {
			assert_int_equal(forsched_find_lid(schedule, (uint16_t)(from->lid + i), &number, NULL),
					 FORSCHED_OK);
			assert_int_equal(number, s);
		}
	}
	assert_int_equal(forsched_server(schedule, plan->nservers, &server), FORSCHED_ERANGE);
}

/* The path index of flow (s, d), by looking through the whole plan. */
static uint8_t path_between(const struct fors_schedule *plan, uint32_t s, uint32_t d)
{
	for (uint32_t phase = 0; phase < plan->nphases; phase++) {
		struct fors_cell cell = fors_schedule_flow(plan, s, phase);

		if (cell.dst == d)
			return cell.path;
	}
	fail_msg("no flow %u -> %u", s, d);
	return 0;
}

static void assert_sends(const struct fors_schedule *plan, const struct forsched_flow *flow, uint32_t s, uint32_t phase)
{
	struct fors_cell cell = fors_schedule_flow(plan, s, phase);

	if (cell.dst == FORS_IDLE) {
		assert_int_equal(flow->to, FORSCHED_NOBODY);
		assert_int_equal(flow->dlid | flow->path | flow->src_path_bits, 0);
		assert_int_equal(flow->spine, 0);
		return;
	}
	assert_int_equal(flow->to, cell.dst);
	assert_int_equal(flow->path, cell.path);
	assert_int_equal(flow->dlid, plan->server[cell.dst].lid + cell.path);
	assert_int_equal(flow->spine, cell.lane == FORS_NO_LANE ? 0 : plan->lane_spine[cell.lane]);
	assert_int_equal(flow->src_path_bits, path_between(plan, cell.dst, s));
}

static void assert_receives(const struct fors_schedule *plan, const struct forsched_flow *flow, uint32_t s,
			    uint32_t phase)
{
	uint32_t from = FORSCHED_NOBODY;
	uint8_t path = 0;

	for (uint32_t other = 0; other < plan->nservers; other++)
		if (fors_schedule_flow(plan, other, phase).dst == s) {
			from = other;
			path = fors_schedule_flow(plan, other, phase).path;
		}
	assert_int_equal(flow->from, from);
	assert_int_equal(flow->in_path, path);
	assert_int_equal(flow->in_dlid, from == FORSCHED_NOBODY ? 0 : plan->server[s].lid + path);
}

/* Each link by the cable that it is: leaf and lane of the sender upwards, of the receiver downwards. */
static void assert_links(const struct fors_schedule *plan, const struct forsched *schedule, uint32_t s, uint32_t phase)
{
	struct fors_cell cell = fors_schedule_flow(plan, s, phase);
	bool has_links = cell.dst != FORS_IDLE && plan->server[cell.dst].leaf != plan->server[s].leaf;
	uint32_t link[3] = {1, 2, 3}, n = 9, up = 0, down = 0;

	assert_int_equal(forsched_links(schedule, s, phase, link, 3, &n, NULL), FORSCHED_OK);
	assert_int_equal(n, has_links ? 2 : 0);
	for (uint32_t other = 0; has_links && other < plan->nservers; other++) {
		struct fors_cell beside = fors_schedule_flow(plan, other, phase);
		uint32_t theirs[2] = {0, 0};

		assert_int_equal(forsched_links(schedule, other, phase, theirs, 2, &n, NULL), FORSCHED_OK);
		if (!n)
			continue;
		up += theirs[0] == link[0];
		down += theirs[1] == link[1];
		assert_true(theirs[0] != link[1] && theirs[1] != link[0]);
		assert_int_equal(theirs[0] == link[0],
				 beside.lane == cell.lane && plan->server[other].leaf == plan->server[s].leaf);
		assert_int_equal(theirs[1] == link[1], beside.lane == cell.lane && plan->server[beside.dst].leaf ==
											   plan->server[cell.dst].leaf);
	}
	assert_true(!has_links || (up == 1 && down == 1));
}

static void assert_same_plan(const struct fors_schedule *plan, const struct forsched *schedule)
{
	struct forsched_error error;
	struct forsched_flow flow;

	assert_same_servers(plan, schedule);
	assert_int_equal(forsched_nphases(schedule), plan->nphases);
	for (uint32_t s = 0; s < plan->nservers; s++)
		for (uint32_t phase = 0; phase < plan->nphases; phase++) {
			if (forsched_flow(schedule, s, phase, &flow))
				fail_msg("%s", (forsched_prepare(schedule, s, &error), error.text));
			assert_sends(plan, &flow, s, phase);
			assert_receives(plan, &flow, s, phase);
			assert_links(plan, schedule, s, phase);
		}
	if (forsched_check(schedule, &error))
		fail_msg("%s", error.text);
}

static void compare(const char *spec, unsigned lmc, const char *down, const char *participants, const char *method)
{
	struct bed *bed FREED(bed_free) = bed_new(spec, lmc);
	struct fors_schedule *plan, *read;
	struct forsched *schedule FREED(forsched_close) = NULL;
	struct bytes bytes;

	if (participants)
		bed_participants(bed, participants);
	if (down)
		bed_down(bed, down);
	bytes = published_bytes(published_plan(bed, method, 77));
	assert_int_equal(fors_schedule_decode(bytes.data, bytes.size, spec, &read, NULL), FORS_OK);
	plan = read;
	schedule = open_good(bytes);
	assert_same_plan(plan, schedule);
	fors_schedule_free(plan);
	free(bytes.data);
}

TEST(reads_what_was_written)
{
	static const char *const specs[] = {"FT(2;4,4)",	   "FT(2;1,1)",
					    "FT(2;4,1)",	   "FT(2;1,5)",
					    "FT(2;6,3;servers=4)", "FT(2;4,3;servers=6)",
					    "FT(2;3,4;cables=2)",  "FT(2;5,4;servers=4;empty=1/2,3/0)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned lmc = 0; lmc <= 3; lmc++) {
			compare(specs[i], lmc, NULL, NULL, "auto");
			compare(specs[i], lmc, NULL, NULL, "rounds");
			if (lmc == 3)
				compare(specs[i], lmc, NULL, NULL, "exact");
		}
}

TEST(reads_plans_after_failures)
{
	compare("FT(2;6,5)", 3, "Leaf00[7]", NULL, "closed-form");
	compare("FT(2;6,5)", 3, "Leaf00[7] Leaf01[8] Spine04", NULL, "exact");
	compare("FT(2;6,5)", 0, "Leaf00[7] Leaf01[8] Spine04", NULL, "rounds");
	compare("FT(2;6,5)", 1, "Leaf00[7] Leaf01[8] Spine04", NULL, "rounds");
	compare("FT(2;6,5)", 2, "Leaf02[7] Leaf02[8]", "0/0 0/1 0/5 1/2 2/0 2/1 2/2 2/3 4/4", "auto");
	compare("FT(2;6,5)", 3, NULL, "3/3", "auto");
}

TEST(wide_cells_are_read)
{
	/* 4000 servers x 21 lanes do not fit 16 bits. */
	struct bytes bytes CLEARED(bytes_clear) = published_spec("FT(2;20,200)", 0, "rounds", 5);
	struct fors_schedule *plan FREED(fors_schedule_free) = published_decode(bytes);
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct fors_sf_header header;

	memcpy(&header, bytes.data, sizeof(header));
	assert_int_equal(header.cell_size, 4);
	for (uint32_t s = 0; s < plan->nservers; s += 517)
		for (uint32_t phase = 0; phase < plan->nphases; phase += 3) {
			struct forsched_flow flow;

			assert_int_equal(forsched_flow(schedule, s, phase, &flow), FORSCHED_OK);
			assert_sends(plan, &flow, s, phase);
		}
}

TEST(tells_about_itself)
{
	struct bytes bytes = published_spec("FT(2;4,3)", 2, "exact", 1234567890123), copy;
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_info info;
	void *data;

	forsched_info(schedule, &info);
	assert_int_equal(info.epoch, 1234567890123);
	assert_int_equal(forsched_epoch(schedule), info.epoch);
	assert_int_equal(info.nservers, 12);
	assert_int_equal(info.nphases, forsched_nphases(schedule));
	assert_int_equal(info.nleaves, 3);
	assert_int_equal(info.nlanes, 4);
	assert_string_equal(info.method, "exact");
	assert_string_equal(info.reason, "");
	assert_string_equal(info.name, "memory");
	assert_int_equal(forsched_copy(schedule, &data, &copy.size, NULL), FORSCHED_OK);
	assert_int_equal(copy.size, bytes.size);
	assert_memory_equal(data, bytes.data, copy.size);
	free(data);
	free(bytes.data);
}

TEST(what_is_not_there)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 0, "auto", 1);
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_error error;
	struct forsched_flow flow = {.to = 99};
	uint32_t number = 99;

	assert_int_equal(forsched_find_guid(schedule, 0xdead, &number, &error), FORSCHED_ENOTFOUND);
	data_contains(error.text, "0x000000000000dead");
	assert_int_equal(forsched_find_lid(schedule, 40000, &number, &error), FORSCHED_ENOTFOUND);
	data_contains(error.text, "40000");
	assert_int_equal(forsched_find_lid(schedule, 0, &number, &error), FORSCHED_ENOTFOUND);
	assert_int_equal(number, 99);
	assert_int_equal(forsched_flow(schedule, 0, forsched_nphases(schedule), &flow), FORSCHED_ERANGE);
	assert_int_equal(forsched_flow(schedule, 12, 0, &flow), FORSCHED_ERANGE);
	assert_int_equal(forsched_flow(schedule, FORSCHED_NOBODY, 0, &flow), FORSCHED_ERANGE);
	assert_int_equal(forsched_flow(schedule, 0, UINT32_MAX, &flow), FORSCHED_ERANGE);
	assert_int_equal(flow.to, 99);
	assert_int_equal(forsched_prepare(schedule, 12, &error), FORSCHED_ERANGE);
	data_contains(error.text, "no server 12");
	forsched_close(NULL);
}

TEST(withdrawn_is_an_answer)
{
	struct bytes bytes CLEARED(bytes_clear) = published_withdrawn("the fabric is not a tree", 9);
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_error error;
	struct forsched_info info;
	struct forsched_flow flow;
	uint32_t number;

	forsched_info(schedule, &info);
	assert_int_equal(info.epoch, 9);
	assert_int_equal(info.nphases, 0);
	assert_string_equal(info.reason, "the fabric is not a tree");
	assert_int_equal(forsched_flow(schedule, 0, 0, &flow), FORSCHED_EWITHDRAWN);
	assert_int_equal(forsched_find_lid(schedule, 1, &number, NULL), FORSCHED_EWITHDRAWN);
	assert_int_equal(forsched_prepare(schedule, 0, NULL), FORSCHED_EWITHDRAWN);
	assert_int_equal(forsched_find_guid(schedule, 1, &number, &error), FORSCHED_EWITHDRAWN);
	data_contains(error.text, "the fabric is not a tree");
	assert_int_equal(forsched_check(schedule, &error), FORSCHED_OK);
}

/* ---- bad files ---- */

static void assert_refused(struct bytes bytes, const char *why)
{
	struct forsched *schedule = NULL;
	struct forsched_error error;

	assert_int_equal(forsched_open_memory(bytes.data, bytes.size, "the file", &schedule, &error), FORSCHED_EFORMAT);
	assert_null(schedule);
	data_contains(error.text, "the file: ");
	data_contains(error.text, why);
}

static void put32(struct bytes bytes, size_t offset, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes.data + offset, &value, 4);
}

TEST(other_kinds_are_refused)
{
	struct bytes good = published_spec("FT(2;4,3)", 0, "auto", 1),
		     bad = {.data = malloc(good.size), .size = good.size};

	assert_refused((struct bytes){NULL, 0}, "empty");
	assert_refused((struct bytes){(unsigned char *)"FORSschd", 8}, "truncated");
	assert_refused((struct bytes){(unsigned char *)"FORS", 4}, "not a schedule");
	assert_refused((struct bytes){(unsigned char *)"{\"epoch\": 1234567890}", 21}, "not a schedule");
	memcpy(bad.data, good.data, good.size);
	put32(bad, offsetof(struct fors_sf_header, byte_order), 0x04030201);
	assert_refused(bad, "other byte order");
	memcpy(bad.data, good.data, good.size);
	put32(bad, offsetof(struct fors_sf_header, version), FORS_SF_NEWEST + 1);
	published_restamp(bad);
	assert_refused(bad, "version 4 of the format; this libforsched");
	put32(bad, offsetof(struct fors_sf_header, version), 0);
	published_restamp(bad);
	assert_refused(bad, "version");
	free(bad.data);
	free(good.data);
}

/* One field of the header is another number, and the header's checksum right. */
static void assert_size_refused(struct bytes good, size_t offset, uint32_t value)
{
	struct bytes bad CLEARED(bytes_clear) = {.data = malloc(good.size), .size = good.size};
	size_t size = offsetof(struct fors_sf_header, header_crc);

	memcpy(bad.data, good.data, good.size);
	put32(bad, offset, value);
	put32(bad, size, (uint32_t)crc32_z(0, bad.data, size));
	assert_refused(bad, "impossible sizes in the header");
}

/* Each size follows from the others and from the length of the file: none can be wrong alone. */
TEST(impossible_sizes_are_refused)
{
#define FIELD(name) offsetof(struct fors_sf_header, name)
	static const size_t fields[] = {FIELD(layout),
					FIELD(nservers),
					FIELD(nphases),
					FIELD(nlanes),
					FIELD(nrows),
					FIELD(cell_size),
					FIELD(servers_offset),
					FIELD(lanes_offset),
					FIELD(row_crc_offset),
					FIELD(cells_offset),
					/* of rounds only: */ FIELD(nleaves),
					FIELD(parts),
					FIELD(round_length)};
	const size_t nfields = sizeof(fields) / sizeof(fields[0]);

	for (int has_rounds = 0; has_rounds < 2; has_rounds++) {
		struct bytes good CLEARED(bytes_clear) =
			published_spec("FT(2;4,3)", 2, has_rounds ? "rounds" : "exact", 1);

		for (size_t i = 0; i < (has_rounds ? nfields : nfields - 3); i++) {
			uint32_t now;

			memcpy(&now, good.data + fields[i], sizeof(now));
			assert_size_refused(good, fields[i], le32toh(now) + 5);
			assert_size_refused(good, fields[i], UINT32_MAX);
			if (fields[i] != FIELD(layout))
				assert_size_refused(good, fields[i], 0);
		}
		assert_size_refused(good, FIELD(npaths), 0);
		assert_size_refused(good, FIELD(npaths), 129);
	}
#undef FIELD
}

static void every_cut_is_seen(struct bytes good)
{
	for (size_t size = 8; size < good.size; size++) {
		unsigned char *data FREED(free) = malloc(size);

		assert_non_null(data);
		memcpy(data, good.data, size);
		assert_refused((struct bytes){data, size}, "truncated");
	}
}

static void assert_seen(struct bytes bytes, size_t at)
{
	struct forsched *schedule FREED(forsched_close) = NULL;
	struct forsched_error error = {.text = ""};
	enum forsched_err err = forsched_open_memory(bytes.data, bytes.size, "changed", &schedule, &error);

	if (!err)
		err = forsched_check(schedule, &error);
	if (!err)
		fail_msg("a change of byte %zu was not seen", at);
	else
		data_contains(error.text, "changed: ");
}

static void every_change_is_seen(struct bytes good)
{
	for (size_t at = 0; at < good.size; at++) {
		unsigned char old = good.data[at];

		good.data[at] ^= (unsigned char)(1 << at % 8);
		assert_seen(good, at);
		good.data[at] = old;
	}
}

TEST(damage_is_seen)
{
	static const char *const methods[] = {"closed-form", "rounds"};

	for (size_t i = 0; i < 2; i++) {
		struct bytes good CLEARED(bytes_clear) =
			published_spec("FT(2;4,3;servers=3)", 2, i ? methods[1] : "exact", 1);

		every_cut_is_seen(good);
		every_change_is_seen(good);
	}
}

/* A change of cell number `at` (of this many bytes), with right checksums or without: by which check is it found? */
static void assert_change_refused(struct bytes good, size_t at, const void *change, size_t size, bool has_checksum,
				  const char *why)
{
	struct bytes bad CLEARED(bytes_clear) = {.data = malloc(good.size), .size = good.size};
	struct forsched_error error = {.text = ""};
	struct fors_sf_header header;
	struct forsched *schedule FREED(forsched_close) = NULL;

	memcpy(bad.data, good.data, good.size);
	memcpy(&header, good.data, sizeof(header));
	memcpy(bad.data + le64toh(header.cells_offset) + at * size, change, size);
	if (has_checksum)
		published_restamp(bad);
	schedule = open_good(bad);
	assert_int_equal(forsched_check(schedule, &error), FORSCHED_EFORMAT);
	data_contains(error.text, why);
}

/* A change of one cell of row 0. */
static void assert_cell_refused(struct bytes good, uint32_t phase, struct fors_sf_cell change, const char *why)
{
	assert_change_refused(good, phase, &change, sizeof(change), true, why);
	assert_change_refused(good, phase, &change, sizeof(change), false, "checksum of a row of cells");
}

TEST(contradictions_are_seen)
{
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 2, "exact", 1);
	struct forsched *schedule FREED(forsched_close) = open_good(good);
	struct fors_sf_header header;
	struct fors_sf_cell cell;
	struct forsched_flow flow;
	uint32_t phase = 0;

	do {
		assert_int_equal(forsched_flow(schedule, 0, phase++, &flow), FORSCHED_OK);
	} while (flow.to == FORSCHED_NOBODY || flow.from == FORSCHED_NOBODY || !flow.spine || flow.to == flow.from);
	memcpy(&header, good.data, sizeof(header));
	memcpy(&cell, good.data + header.cells_offset + --phase * sizeof(cell), sizeof(cell));
#define CHANGED(field, value)                                                                                          \
	({                                                                                                             \
		struct fors_sf_cell c = cell;                                                                          \
		c.field = (value);                                                                                     \
		c;                                                                                                     \
	})
	assert_cell_refused(good, phase, CHANGED(dst, 12), "a flow to a server that is not there");
	assert_cell_refused(good, phase, CHANGED(dst, 0), "a flow to a server that is not there");
	assert_cell_refused(good, phase, CHANGED(dst, cell.dst % 11 + 1), "twice");
	assert_cell_refused(good, phase, CHANGED(src, 12), "a flow from a server that is not there");
	assert_cell_refused(good, phase, CHANGED(src, cell.src % 11 + 1), "twice");
	assert_cell_refused(good, phase, CHANGED(path, 4), "beyond the LMC");
	assert_cell_refused(good, phase, CHANGED(in_path, 9), "beyond the LMC");
	assert_cell_refused(good, phase, CHANGED(path, cell.path ^ 1), "contradict");
	assert_cell_refused(good, phase, CHANGED(in_path, cell.in_path ^ 1), "contradict");
	assert_cell_refused(good, phase, CHANGED(reverse, cell.reverse ^ 1), "contradict");
	assert_cell_refused(good, phase, CHANGED(lane, 4), "a lane that is not there");
	assert_cell_refused(good, phase, CHANGED(dst, FORS_SF_IDLE), "to nobody that has a path");
	assert_cell_refused(good, phase, ((struct fors_sf_cell){FORS_SF_IDLE, cell.src, 1, 0, 255, cell.in_path}),
			    "to nobody that has a path");
	assert_cell_refused(good, phase, ((struct fors_sf_cell){FORS_SF_IDLE, cell.src, 0, 0, 255, cell.in_path}),
			    "missing");
	assert_cell_refused(good, phase,
			    ((struct fors_sf_cell){cell.dst, FORS_SF_IDLE, cell.path, cell.reverse, cell.lane, 0}),
			    "missing");
#undef CHANGED
}

/* The same in the rounds layout: 12 servers, a row of 2-byte numbers (receiver x 5 + lane) for each of 3 leaves. */
TEST(contradictions_in_rounds_are_seen)
{
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 0, "rounds", 1);
	struct fors_sf_header header;
	uint16_t *number, nobody = htole16(12 * 5), far_away = htole16(0xFFF0), last = htole16(12 * 5 - 1), row[12];

	memcpy(&header, good.data, sizeof(header));
	number = (uint16_t *)(good.data + le64toh(header.cells_offset));
	assert_int_equal(le32toh(header.nrows), 3);
	assert_int_equal(le32toh(header.nphases), 12);
	assert_change_refused(good, 0, &nobody, 2, true, "a flow to a server that is not there");
	assert_change_refused(good, 0, &far_away, 2, true, "a flow to a server that is not there");
	assert_change_refused(good, 0, &number[1], 2, true, "twice");
	memcpy(row, number, sizeof(row)); /* receivers of two rounds change places */
	row[0] = number[4];
	row[4] = number[0];
	assert_change_refused(good, 0, row, sizeof(row), true, "two servers send to the same one at the same time");
	assert_change_refused(good, 0, &last, 2, false, "checksum of a row of cells");
}

TEST(twins_are_refused)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 2, "auto", 1);
	struct fors_sf_server *server = (struct fors_sf_server *)(bytes.data + sizeof(struct fors_sf_header));
	struct fors_sf_server old = server[3];

	server[3].lid = htole16(le16toh(server[2].lid) + 2);
	published_restamp(bytes);
	assert_refused(bytes, "same LID");
	server[3] = old;
	server[3].guid = server[7].guid;
	published_restamp(bytes);
	assert_refused(bytes, "same GUID");
	server[3] = old;
	server[3].rank = 0;
	published_restamp(bytes);
	assert_refused(bytes, "order of the servers");
	server[3] = old;
	server[3].lid = 0;
	published_restamp(bytes);
	assert_refused(bytes, "LID or LMC");
}

/* ---- units and switches of version 2 ---- */

static struct fors_sf_more more_of(struct bytes bytes)
{
	struct fors_sf_more more;

	memcpy(&more, bytes.data + 272, sizeof(more));
	return more;
}

/* Readers find a unit by halving, so two that changed places would not be found. */
TEST(units_in_another_order_are_refused)
{
	struct bytes bad CLEARED(bytes_clear) =
		published_spec_2("FT(2;4,3)", 2, "exact", 1, PUBLISHED_WAYS | PUBLISHED_SLS);
	unsigned char *unit = bad.data + le64toh(more_of(bad).units_offset);
	struct fors_sf_unit first;
	struct forsched_error error = {.text = ""};
	struct forsched *schedule FREED(forsched_close) = NULL;

	memcpy(&first, unit, sizeof(first));
	memmove(unit, unit + sizeof(first), sizeof(first));
	memcpy(unit + sizeof(first), &first, sizeof(first));
	seal(bad.data, bad.size);
	schedule = open_good(bad);
	assert_int_equal(forsched_check(schedule, &error), FORSCHED_EFORMAT);
	data_contains(error.text, "the order of a leaf's units");
}

/* There are 16 service levels. */
TEST(a_unit_of_level_16_is_refused)
{
	struct bytes bad CLEARED(bytes_clear) =
		published_spec_2("FT(2;4,3)", 2, "exact", 1, PUBLISHED_WAYS | PUBLISHED_SLS);
	struct forsched_error error = {.text = ""};
	struct forsched *schedule FREED(forsched_close) = NULL;

	bad.data[le64toh(more_of(bad).units_offset) + offsetof(struct fors_sf_unit, sl)] = 16;
	seal(bad.data, bad.size);
	schedule = open_good(bad);
	assert_int_equal(forsched_check(schedule, &error), FORSCHED_EFORMAT);
	data_contains(error.text, "a service level above 15");
}

/* The first switch is the first leaf, and has a GUID as all have. */
TEST(a_leaf_without_a_guid_is_refused)
{
	struct bytes bad CLEARED(bytes_clear) = published_spec_2("FT(2;4,3)", 2, "exact", 1, PUBLISHED_WAYS);

	memset(bad.data + le64toh(more_of(bad).switches_offset), 0, 8);
	seal(bad.data, bad.size);
	assert_refused(bad, "a switch without a GUID");
}

/* Leaves have the order of servers; only the switches behind them are ordered among each other. */
TEST(a_spine_may_have_the_smallest_guid)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec_2("FT(2;4,3)", 2, "exact", 1, PUBLISHED_WAYS);
	uint64_t smallest = htole64(1);
	struct forsched_error error;
	struct forsched *schedule FREED(forsched_close) = NULL;

	memcpy(bytes.data + le64toh(more_of(bytes).switches_offset) + 3 * sizeof(smallest), &smallest,
	       sizeof(smallest));
	seal(bytes.data, bytes.size);
	schedule = open_good(bytes);
	if (forsched_check(schedule, &error))
		fail_msg("%s", error.text);
}

/* ---- files that change ---- */

static void assert_no_file(const char *path, const char *why)
{
	struct forsched *schedule = NULL;
	struct forsched_error error;

	assert_int_equal(forsched_open(path, &schedule, &error), FORSCHED_EFILE);
	assert_null(schedule);
	data_contains(error.text, why);
}

TEST(what_is_no_file)
{
	struct place place CLEARED(remove_place) = make_place();
	struct forsched *schedule = NULL;
	struct forsched_error error;

	assert_no_file(place.file, "No such file");
	assert_no_file(place.directory, "/schedule: No such file");
	assert_int_equal(mkfifo(place.file, 0600), 0);
	assert_no_file(place.file, "not a regular file");
	assert_no_file("/dev/null", "not a regular file");
	assert_int_equal(forsched_open(NULL, &schedule, NULL), FORSCHED_ERANGE);
	assert_int_equal(forsched_open("", &schedule, &error), FORSCHED_ERANGE);
	data_contains(error.text, "no path");
	unlink(place.file);
	published_write(place.file, (struct bytes){(unsigned char *)"", 0});
	assert_int_equal(forsched_open(place.file, &schedule, NULL), FORSCHED_EFORMAT);
}

static unsigned open_files(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1000; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A program may open a schedule for each exchange of a year. */
TEST(closing_leaves_no_file_open)
{
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 0, "auto", 1);
	unsigned before = open_files();
	struct forsched_watch *watch;
	struct forsched *schedule;

	published_write(place.file, good);
	schedule = open_file(place.file);
	assert_int_equal(forsched_watch_open(place.file, &watch, NULL), FORSCHED_OK);
	assert_true(open_files() > before);
	forsched_watch_close(watch);
	forsched_close(schedule);
	assert_int_equal(open_files(), before);
	put32(good, 0, 0);
	published_write(place.file, good);
	assert_int_equal(forsched_open(place.file, &schedule, NULL), FORSCHED_EFORMAT);
	assert_int_equal(open_files(), before);
}

TEST(cut_while_open)
{
	static const char *const methods[] = {"exact", "rounds"};
	struct place place CLEARED(remove_place) = make_place();

	for (size_t i = 0; i < 2; i++) {
		struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,4)", 2, methods[i], 1);
		struct forsched_error error;
		struct forsched_flow flow;
		struct forsched *schedule, *unread;
		struct forsched_server first;
		uint32_t number;

		published_write(place.file, good);
		schedule = open_file(place.directory); /* the file in it */
		unread = open_file(place.file);
		assert_int_equal(forsched_prepare(schedule, 3, &error), FORSCHED_OK);
		assert_int_equal(truncate(place.file, 100), 0);
		assert_int_equal(forsched_server(unread, 0, &first), FORSCHED_OK);
		for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++)
			assert_int_equal(forsched_flow(schedule, 3, phase, &flow), FORSCHED_OK);
		assert_int_equal(forsched_find_lid(unread, first.lid, &number, NULL), FORSCHED_OK);
		assert_int_equal(number, 0);
		assert_int_equal(forsched_flow(unread, 4, 0, &flow), FORSCHED_ECHANGED);
		assert_int_equal(forsched_prepare(unread, 4, &error), FORSCHED_ECHANGED);
		data_contains(error.text, "truncated while it was open");
		forsched_close(schedule);
		forsched_close(unread);
	}
}

/* Somebody copies a new file over the old one instead of renaming it: rows of two plans must never mix. */
TEST(written_over_while_open)
{
	static const char *const methods[] = {"exact", "rounds"};
	struct place place CLEARED(remove_place) = make_place();

	for (size_t i = 0; i < 2; i++) {
		struct bytes old CLEARED(bytes_clear) = published_spec("FT(2;4,4)", 2, methods[i], 1);
		struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 2);
		struct forsched_error error;
		struct forsched_flow flow;
		struct forsched *schedule FREED(forsched_close) = NULL;
		struct bytes new;

		bed_down(bed, "Leaf00[6] Leaf01[5]");
		new = published_bytes(published_plan(bed, methods[i], 2));
		published_write(place.file, old);
		schedule = open_file(place.file);
		published_write(place.file, new);
		assert_int_equal(forsched_flow(schedule, 0, 0, &flow), FORSCHED_ECHANGED);
		assert_int_equal(forsched_prepare(schedule, 0, &error), FORSCHED_ECHANGED);
		data_contains(error.text, "open it again");
		assert_int_equal(forsched_refresh(&schedule, &error), FORSCHED_OK);
		assert_int_equal(forsched_epoch(schedule), 2);
		assert_int_equal(forsched_flow(schedule, 0, 0, &flow), FORSCHED_OK);
		free(new.data);
	}
}

TEST(replaced_while_open)
{
	struct place place CLEARED(remove_place) = make_place();
	struct bytes first = published_spec("FT(2;4,4)", 2, "exact", 10),
		     second = published_spec("FT(2;4,3)", 2, "exact", 11);
	struct forsched *schedule, *newer = NULL, *same;
	struct forsched_error error;
	struct forsched_flow flow;
	uint64_t epoch = 0;

	published_replace(place.file, first);
	same = schedule = open_file(place.file);
	assert_int_equal(forsched_newest(schedule, &epoch, NULL), FORSCHED_OK);
	assert_int_equal(epoch, 10);
	assert_int_equal(forsched_refresh(&schedule, NULL), FORSCHED_OK);
	assert_ptr_equal(schedule, same);
	published_replace(place.file, second);
	assert_int_equal(forsched_flow(schedule, 15, 15, &flow), FORSCHED_OK); /* not read before: still the old file */
	assert_int_equal(forsched_newest(schedule, &epoch, NULL), FORSCHED_OK);
	assert_int_equal(epoch, 11);
	assert_int_equal(forsched_open_newer(schedule, &newer, NULL), FORSCHED_OK);
	assert_int_equal(forsched_nservers(newer), 12);
	assert_int_equal(forsched_nservers(schedule), 16);
	forsched_close(newer);
	published_replace(place.file, (struct bytes){second.data, 300}); /* damaged: the old one stays */
	assert_int_equal(forsched_refresh(&schedule, &error), FORSCHED_EFORMAT);
	data_contains(error.text, "truncated");
	assert_int_equal(forsched_epoch(schedule), 10);
	unlink(place.file);
	assert_int_equal(forsched_refresh(&schedule, &error), FORSCHED_EFILE);
	assert_int_equal(forsched_flow(schedule, 7, 0, &flow), FORSCHED_OK);
	published_replace(place.file, second);
	assert_int_equal(forsched_refresh(&schedule, &error), FORSCHED_OK);
	assert_int_equal(forsched_epoch(schedule), 11);
	published_replace(place.file, first); /* an older epoch is never gone back to */
	newer = NULL;
	assert_int_equal(forsched_open_newer(schedule, &newer, NULL), FORSCHED_OK);
	assert_null(newer);
	forsched_close(schedule);
	free(first.data);
	free(second.data);
}

static void put_text(const char *path, const char *text)
{
	published_write(path, (struct bytes){(unsigned char *)text, strlen(text)});
}

/* ---- waiting for the next epoch ---- */

struct waiter {
	struct forsched_watch *watch;
	uint64_t epoch;
	enum forsched_err err;
};

static void *wait_above_ten(void *context)
{
	struct waiter *waiter = context;

	waiter->err = forsched_watch_wait(waiter->watch, 10, 60000, &waiter->epoch, NULL);
	return NULL;
}

static bool is_readable(const struct forsched_watch *watch, int timeout_ms)
{
	struct pollfd look = {.fd = forsched_watch_fd(watch), .events = POLLIN};

	return poll(&look, 1, timeout_ms) > 0;
}

/* Many wait for a file in a folder that comes later: all hear of the first newer epoch, and none of what is not newer. */
TEST(waiting_for_the_next_epoch)
{
	struct place place CLEARED(remove_place) = make_place();
	struct bytes old = published_spec("FT(2;4,4)", 2, "exact", 10),
		     next = published_spec("FT(2;4,4)", 2, "exact", 11);
	struct waiter waiter[8];
	pthread_t thread[8];
	uint64_t epoch = 0;

	assert_int_equal(rmdir(place.directory), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(forsched_watch_open(place.file, &waiter[i].watch, NULL), FORSCHED_OK);
		assert_int_equal(forsched_watch_newest(waiter[i].watch, &epoch, NULL), FORSCHED_EFILE);
		assert_int_equal(forsched_watch_wait(waiter[i].watch, 0, 0, &epoch, NULL), FORSCHED_EFILE);
		assert_int_equal(pthread_create(&thread[i], NULL, wait_above_ten, &waiter[i]), 0);
	}
	assert_int_equal(mkdir(place.directory, 0755), 0);
	published_replace(place.file, old);
	put_text(place.heartbeat, "1 10\n");
	published_replace(place.file, next);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_int_equal(waiter[i].err, FORSCHED_OK);
		assert_int_equal(waiter[i].epoch, 11);
		assert_int_equal(forsched_watch_wait(waiter[i].watch, 11, 0, &epoch, NULL), FORSCHED_OK);
		assert_int_equal(epoch, 11);
		forsched_watch_close(waiter[i].watch);
	}
	forsched_watch_close(NULL);
	free(old.data);
	free(next.data);
}

/* The descriptor is readable after a change, and quiet after a look; a damaged file is no epoch. */
TEST(watching_with_poll)
{
	struct place place CLEARED(remove_place) = make_place();
	struct bytes old = published_spec("FT(2;4,4)", 2, "exact", 10),
		     next = published_spec("FT(2;4,4)", 2, "exact", 11);
	struct forsched_watch *watch FREED(forsched_watch_close) = NULL;
	uint64_t epoch = 0;

	published_replace(place.file, old);
	assert_int_equal(forsched_watch_open(place.file, &watch, NULL), FORSCHED_OK);
	assert_int_equal(forsched_watch_newest(watch, &epoch, NULL), FORSCHED_OK);
	assert_int_equal(epoch, 10);
	published_replace(place.file, next);
	assert_true(is_readable(watch, 60000));
	assert_int_equal(forsched_watch_newest(watch, &epoch, NULL), FORSCHED_OK);
	assert_int_equal(epoch, 11);
	published_replace(place.file, (struct bytes){next.data, 300});
	assert_true(is_readable(watch, 60000));
	assert_int_equal(forsched_watch_newest(watch, &epoch, NULL), FORSCHED_EFORMAT);
	assert_int_equal(forsched_watch_wait(watch, 5, 1, &epoch, NULL), FORSCHED_EFORMAT);
	published_replace(place.file, old);
	assert_int_equal(forsched_watch_wait(watch, 10, 1, &epoch, NULL), FORSCHED_OK);
	assert_int_equal(epoch, 10); /* not above: the time was over */
	assert_int_equal(forsched_watch_wait(watch, 9, -1, &epoch, NULL), FORSCHED_OK);
	free(old.data);
	free(next.data);
}

/* Something else happens in the folder. */
static void *beat_later(void *context)
{
	usleep(500000);
	put_text(context, "1000 10\n");
	return NULL;
}

/* Whoever waits for so long does, whatever wakes it: the clock's seconds and their parts add up. */
TEST(waiting_lasts_as_long_as_it_should)
{
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,3)", 0, "auto", 10);
	struct timespec began, ended;
	struct forsched_watch *watch FREED(forsched_watch_close) = NULL;
	pthread_t thread;
	uint64_t epoch;

	published_write(place.file, good);
	assert_int_equal(forsched_watch_open(place.file, &watch, NULL), FORSCHED_OK);
	do {
		usleep(10000);
		clock_gettime(CLOCK_MONOTONIC, &began);
	} while (began.tv_nsec < 700000000); /* a second begins meanwhile */
	assert_int_equal(pthread_create(&thread, NULL, beat_later, place.heartbeat), 0);
	assert_int_equal(forsched_watch_wait(watch, 10, 1100, &epoch, NULL), FORSCHED_OK);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(epoch, 10);
	assert_true((ended.tv_sec - began.tv_sec) * 1000 + (ended.tv_nsec - began.tv_nsec) / 1000000 >= 1099);
}

/* Where a process has no file descriptor left, it is told so, and has no watch. */
TEST(no_watch_without_descriptors)
{
	struct rlimit before, none = {.rlim_cur = 0};
	struct forsched_watch *watch = NULL;
	struct forsched_error error;
	enum forsched_err err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = forsched_watch_open("/nowhere/schedule", &watch, &error);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(err, FORSCHED_EFILE);
	data_contains(error.text, "/nowhere/schedule: cannot be watched");
	assert_null(watch);
}

TEST(heartbeats)
{
	static const char *const bad[] = {
		"",	  "soon\n", "12\n",   "12 34",	"12 34 56\n", "-\n",	 "1 99999999999999999999999\n",
		"-5 1\n", "+5 1\n", " 5 1\n", "5 -1\n", "5  1\n",     "5 1\n\n", "18446744073709551616 1\n"};
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,4)", 0, "auto", 10);
	struct forsched_heartbeat beat;
	struct forsched_error error;
	struct forsched *schedule, *in_memory = open_good(good);
	char text[64];

	published_write(place.file, good);
	schedule = open_file(place.file);
	assert_int_equal(forsched_heartbeat(schedule, &beat, &error), FORSCHED_EFILE);
	data_contains(error.text, place.heartbeat);
	snprintf(text, sizeof(text), "%lld 10\n", (long long)time(NULL) * 1000 - 5000);
	put_text(place.heartbeat, text);
	assert_int_equal(forsched_heartbeat(schedule, &beat, &error), FORSCHED_OK);
	assert_int_equal(beat.epoch, 10);
	assert_true(beat.age_ms >= 4000 && beat.age_ms < FORSCHED_STALE_MS);
	assert_int_equal(forsched_heartbeat_is_stale(&beat), 0);
	put_text(place.heartbeat, "1000 10\n");
	assert_int_equal(forsched_heartbeat(schedule, &beat, &error), FORSCHED_OK);
	assert_true(beat.age_ms > FORSCHED_STALE_MS);
	assert_int_equal(forsched_heartbeat_is_stale(&beat), 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text(place.heartbeat, bad[i]);
		assert_int_equal(forsched_heartbeat(schedule, &beat, &error), FORSCHED_EFORMAT);
	}
	assert_int_equal(forsched_heartbeat(in_memory, &beat, &error), FORSCHED_ERANGE);
	assert_int_equal(forsched_newest(in_memory, &beat.epoch, &error), FORSCHED_ERANGE);
	data_contains(error.text, "opened from memory");
	forsched_close(schedule);
	forsched_close(in_memory);
}

/* A clock a year ahead, killed, and corrected: that is no sign of life. Clocks of two hosts differ a little. */
static void assert_path(const char *path, const char *job, const char *wanted)
{
	char *found FREED(free) = NULL;

	assert_int_equal(forsched_job_path(path, job, &found, NULL), FORSCHED_OK);
	assert_string_equal(found, wanted);
}

static void assert_heartbeat(const char *path, uint64_t unix_ms)
{
	struct forsched_heartbeat beat;
	struct forsched *schedule FREED(forsched_close) = open_file(path);

	assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
	assert_int_equal(beat.unix_ms, unix_ms);
}

/* The heartbeat is that of the folder, for the demand of a job too; a folder of any name further up is none of a job. */
TEST(heartbeats_of_demands)
{
	static const char *const folders[] = {
		"jobs",	  "jobs/4711",	   "jobs/4711/demand",	   "jobs/4711/demand/4711",
		"demand", "demand/events", "demand/events/demand", "demand/events/demand/x"};
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good = published_spec("FT(2;4,4)", 0, "auto", 10);
	char path[160], before[4096];

	put_text(place.heartbeat, "1000 10\n");
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", place.directory, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	for (size_t i = 3; i < sizeof(folders) / sizeof(folders[0]); i += 2) {
		snprintf(path, sizeof(path), "%s/%s/schedule", place.directory, folders[i]);
		published_write(path, good);
		assert_heartbeat(path, 1000);
	}
	assert_true(getcwd(before, sizeof(before)) && !chdir(place.directory));
	assert_heartbeat("jobs/4711/demand/4711/schedule", 1000);
	assert_int_equal(chdir("jobs"), 0); /* by a path that does not tell */
	put_text("heartbeat", "2000 10\n");
	put_text("4711/heartbeat", "3000 10\n");
	assert_heartbeat("4711/demand/4711/schedule", 3000);
	assert_int_equal(chdir(before), 0);
	free(good.data);
	snprintf(path, sizeof(path), "rm -rf %s/jobs %s/demand", place.directory, place.directory);
	assert_int_equal(system(path), 0);
}

/* A job's own schedule is found by its name, the fabric's where it has none; no name leads out of the folder. */
TEST(schedules_of_jobs)
{
	static const char *const bad[] = {
		"../4711", ".",	   "..", "a/b",
		".hidden", "/etc", "",	 "0123456789012345678901234567890123456789012345678901234567890123"};
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good = published_spec("FT(2;4,4)", 0, "auto", 10);
	struct forsched_heartbeat beat;
	struct forsched *schedule;
	char jobs[128], mine[128], file[160], before[4096], *found = NULL;
	unsigned nopen;

	snprintf(jobs, sizeof(jobs), "%s/jobs", place.directory);
	snprintf(mine, sizeof(mine), "%s/jobs/4711", place.directory);
	snprintf(file, sizeof(file), "%s/schedule", mine);
	unsetenv("FORSCHED_JOB");
	setenv("SLURM_JOB_ID", "4711", true);
	assert_path(place.directory, NULL, place.directory);
	assert_int_equal(mkdir(jobs, 0755) || mkdir(mine, 0755), 0);
	assert_path(place.directory, NULL, place.directory); /* no schedule yet */
	published_write(file, good);
	assert_path(place.directory, NULL, mine);
	assert_path(place.file, NULL, mine);
	assert_path(place.directory, "4712", place.directory);
	setenv("FORSCHED_JOB", "another", true);
	assert_path(place.directory, NULL, place.directory);
	assert_path(place.directory, "4711", mine);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(forsched_job_path(place.directory, bad[i], &found, NULL), FORSCHED_ERANGE);
	assert_int_equal(forsched_job_path("", NULL, &found, NULL), FORSCHED_ERANGE);
	setenv("FORSCHED_JOB", "", true); /* is as if it were not set */
	assert_path(place.directory, NULL, mine);
	unsetenv("FORSCHED_JOB");
	unsetenv("SLURM_JOB_ID");
	assert_path(place.directory, NULL, place.directory);

	put_text(place.heartbeat, "1000 10\n"); /* one for all */
	schedule = open_file(mine);
	assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
	assert_int_equal(beat.unix_ms, 1000);
	forsched_close(schedule);
	assert_true(getcwd(before, sizeof(before)) &&
		    !chdir(place.directory)); /* and by a path that begins with jobs */
	schedule = open_file("jobs/4711/schedule");
	assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
	assert_int_equal(beat.unix_ms, 1000);
	nopen = open_files();
	assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
	assert_int_equal(open_files(), nopen);
	assert_int_equal(chdir(before), 0);
	forsched_close(schedule);
	free(good.data);
	unlink(file);
	rmdir(mine);
	rmdir(jobs);
}

/* All flows of a plan over one path index, but for `nothers` of them. */
static struct bytes over_one_path(const char *method, unsigned lmc, uint8_t path, unsigned more, uint32_t nothers)
{
	struct bytes bytes CLEARED(bytes_clear) = more ? published_spec_2("FT(2;4,4)", lmc, method, 10, more)
						       : published_spec("FT(2;4,4)", lmc, method, 10);
	struct fors_schedule *plan = published_decode(bytes);

	for (size_t i = 0; i < fors_schedule_ncells(plan); i++)
		if (plan->cell[i].dst != FORS_IDLE)
			plan->cell[i].path = nothers && nothers-- ? 0 : path;
	return published_bytes(plan);
}

/* Rows that were read before, or not, or all of them: the answer is the same. */
static void assert_index(struct bytes bytes, enum forsched_err wanted, uint8_t value)
{
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_error error;
	uint8_t index = 77;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(forsched_path_index(schedule, &index, &error), wanted);
		assert_int_equal(index, wanted ? 77 : value);
		assert_int_equal(forsched_prepare(schedule, 3, NULL), FORSCHED_OK);
		if (i)
			assert_int_equal(forsched_check(schedule, NULL), FORSCHED_OK);
	}
	if (wanted)
		data_contains(error.text, "several path indices");
	free(bytes.data);
}

/* The number that UCX adds to the LIDs of all peers; a plan over several has none. */
TEST(the_path_index_of_all)
{
	struct bytes bytes = over_one_path("rounds", 1, 1, 0, 0);
	struct forsched_error error;
	struct forsched *schedule;
	uint8_t index = 77;

	assert_index(published_spec("FT(2;4,4)", 0, "auto", 10), FORSCHED_OK, 0);
	assert_index(over_one_path("exact", 2, 1, 0, 1), FORSCHED_ENOTFOUND, 0);
	assert_index(over_one_path("exact", 2, 3, PUBLISHED_NAME, 239), FORSCHED_ENOTFOUND, 0);
	assert_index(over_one_path("rounds", 1, 1, 0, 0), FORSCHED_OK, 1);
	assert_index(over_one_path("closed-form", 3, 7, 0, 0), FORSCHED_OK, 7);
	assert_index(over_one_path("rounds", 1, 1, PUBLISHED_NAME | PUBLISHED_DENSE, 0), FORSCHED_OK, 1);
	assert_index(over_one_path("exact", 2, 2, PUBLISHED_NAME, 0), FORSCHED_OK, 2);

	bytes.data[bytes.size - 1] ^= 1; /* the last row, and nobody has asked for it before */
	schedule = open_good(bytes);
	assert_int_equal(forsched_path_index(schedule, &index, &error), FORSCHED_EFORMAT);
	forsched_close(schedule);
	free(bytes.data);
	bytes = published_withdrawn("gone", 10);
	schedule = open_good(bytes);
	assert_int_equal(forsched_path_index(schedule, &index, &error), FORSCHED_EWITHDRAWN);
	assert_int_equal(index, 77);
	forsched_close(schedule);
	free(bytes.data);
}

TEST(heartbeats_of_the_future)
{
	static const char *const far[] = {"18446744073709551615 10\n", "9223372036854775807 10\n",
					  "9223372036854775808 10\n", "11000000000000000000 10\n"};
	static const int64_t stale[] = {FORSCHED_STALE_MS + 1, INT64_MAX, -FORSCHED_SKEW_MS - 1, INT64_MIN};
	static const int64_t fresh[] = {FORSCHED_STALE_MS, 0, -FORSCHED_SKEW_MS};
	struct place place CLEARED(remove_place) = make_place();
	struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;4,4)", 0, "auto", 10);
	struct forsched_heartbeat beat;
	struct forsched *schedule FREED(forsched_close) = NULL;
	char text[64];

	published_write(place.file, good);
	schedule = open_file(place.file);
	snprintf(text, sizeof(text), "%lld 10\n", (long long)time(NULL) * 1000 + 365 * 86400000ll);
	put_text(place.heartbeat, text);
	assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
	assert_true(beat.age_ms < -364 * 86400000ll);
	assert_int_equal(forsched_heartbeat_is_stale(&beat), 1);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		put_text(place.heartbeat, far[i]);
		assert_int_equal(forsched_heartbeat(schedule, &beat, NULL), FORSCHED_OK);
		assert_true(beat.age_ms < -FORSCHED_SKEW_MS);
	}
	for (size_t i = 0; i < sizeof(stale) / sizeof(stale[0]); i++)
		assert_int_equal(forsched_heartbeat_is_stale(&(struct forsched_heartbeat){.age_ms = stale[i]}), 1);
	for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++)
		assert_int_equal(forsched_heartbeat_is_stale(&(struct forsched_heartbeat){.age_ms = fresh[i]}), 0);
}

/* ---- threads ---- */

struct job {
	const struct forsched *schedule;
	uint64_t sum;
};

/* All flows of all servers, which nobody has asked for before. */
static void *look_at_all(void *argument)
{
	struct job *job = argument;
	struct forsched_flow flow;

	for (uint32_t s = 0; s < forsched_nservers(job->schedule); s++)
		for (uint32_t phase = 0; phase < forsched_nphases(job->schedule); phase++)
			if (!forsched_flow(job->schedule, s, phase, &flow) && flow.to != FORSCHED_NOBODY)
				job->sum = job->sum * 31 + flow.dlid + flow.from;
	return NULL;
}

TEST(many_threads_at_once)
{
	static const char *const methods[] = {"exact", "rounds"};

	for (size_t i = 0; i < 2; i++) {
		struct bytes good CLEARED(bytes_clear) = published_spec("FT(2;8,8)", 3, methods[i], 10);
		struct forsched *schedule FREED(forsched_close) = open_good(good);
		struct job job[6];
		pthread_t thread[6];

		for (int t = 0; t < 6; t++) {
			job[t] = (struct job){.schedule = schedule};
			assert_int_equal(pthread_create(&thread[t], NULL, look_at_all, &job[t]), 0);
		}
		for (int t = 0; t < 6; t++) {
			assert_int_equal(pthread_join(thread[t], NULL), 0);
			assert_int_not_equal(job[t].sum, 0);
			assert_int_equal(job[t].sum, job[0].sum);
		}
	}
}

TEST(every_code_has_words)
{
	for (int code = FORSCHED_OK; code <= FORSCHED_ENOMEM; code++) {
		assert_string_not_equal(forsched_strerror((enum forsched_err)code), "");
		assert_string_not_equal(forsched_strerror((enum forsched_err)code), "unknown error");
	}
	assert_string_equal(forsched_strerror((enum forsched_err)99), "unknown error");
	assert_true(strlen(forsched_version()) >= 5);
}

/* What the library says of a server's pieces is what the schedule says, with sums of before and in all. */
static void assert_pieces(const struct fors_schedule *plan, const struct forsched *schedule, uint32_t s, uint64_t *sent,
			  uint64_t *received)
{
	for (uint32_t phase = 0; phase < plan->nphases; phase++) {
		struct forsched_piece piece;
		struct forsched_flow flow;

		assert_int_equal(forsched_flow(schedule, s, phase, &flow), FORSCHED_OK);
		assert_int_equal(forsched_piece(schedule, s, phase, &piece), FORSCHED_OK);
		assert_int_equal(piece.bytes, plan->bytes[(size_t)s * plan->nphases + phase]);
		assert_int_equal(flow.to == FORSCHED_NOBODY, piece.bytes == 0);
		assert_int_equal(flow.from == FORSCHED_NOBODY, piece.in_bytes == 0);
		if (piece.bytes) {
			assert_int_equal(piece.offset, sent[flow.to]);
			assert_int_equal(flow.src_path_bits, flow.path % (1u << plan->server[s].lmc));
			sent[flow.to] += piece.bytes;
			assert_true(sent[flow.to] <= piece.total);
		}
		if (piece.in_bytes) {
			assert_int_equal(piece.in_bytes, plan->bytes[(size_t)flow.from * plan->nphases + phase]);
			assert_int_equal(piece.in_offset, received[flow.from]);
			received[flow.from] += piece.in_bytes;
			assert_true(received[flow.from] <= piece.in_total);
		}
	}
}

TEST(pieces_of_a_demand)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec_3("FT(2;3,3)", 2, 24, 5, PUBLISHED_WAYS);
	struct fors_schedule *plan FREED(fors_schedule_free) = published_decode(bytes);
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_sizes sizes;
	uint64_t length = 0, one;
	uint32_t role;

	forsched_sizes(schedule, &sizes);
	assert_int_equal(sizes.has_demand, 1);
	assert_int_equal(sizes.is_unit, 0);
	assert_int_equal(sizes.granule, 24);
	for (uint32_t phase = 0; phase < plan->nphases; phase++) {
		assert_int_equal(forsched_phase_bytes(schedule, phase, &one), FORSCHED_OK);
		assert_int_equal(one, plan->length[phase]);
		length += one;
	}
	assert_int_equal(length, sizes.length);
	assert_int_equal(forsched_phase_bytes(schedule, plan->nphases, &one), FORSCHED_ERANGE);
	for (uint32_t s = 0; s < plan->nservers; s++) {
		uint64_t sent[9] = {0}, received[9] = {0};

		assert_pieces(plan, schedule, s, sent, received);
		assert_int_equal(forsched_role(schedule, s, &role), FORSCHED_OK);
		assert_int_equal(role, FORSCHED_SENDS | FORSCHED_RECEIVES);
	}
}

/* One sends to another, and nobody else does anything. */
TEST(roles_of_a_demand)
{
	struct bytes bytes = published_spec_3("FT(2;3,3)", 2, 1, 6, PUBLISHED_WAYS);
	struct fors_schedule *plan FREED(fors_schedule_free) = published_decode(bytes);
	uint32_t ncells = (uint32_t)fors_schedule_ncells(plan), role, first = ncells, receiver;
	struct forsched *schedule FREED(forsched_close) = NULL;

	for (uint32_t i = 0; i < ncells; i++)
		if (first == ncells && i % plan->nphases == 0 && plan->bytes[i])
			first = i;
		else
			plan->bytes[i] = 0, plan->cell[i] = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
	assert_true(first < ncells);
	receiver = plan->cell[first].dst;
	free(bytes.data);
	for (uint32_t s = 0; s < plan->nservers; s++) {
		plan->cell[s] = plan->cell[(size_t)s * plan->nphases];
		plan->bytes[s] = plan->bytes[(size_t)s * plan->nphases];
	}
	plan->nphases = 1;
	plan->length[0] = plan->bytes[first / (ncells / plan->nservers)];
	bytes = published_encode(plan);
	schedule = open_good(bytes);
	for (uint32_t s = 0; s < plan->nservers; s++) {
		assert_int_equal(forsched_role(schedule, s, &role), FORSCHED_OK);
		assert_int_equal(role, s == first / (ncells / plan->nservers) ? FORSCHED_SENDS
				       : s == receiver			      ? FORSCHED_RECEIVES
									      : 0);
	}
	free(bytes.data);
}

/* Without a demand everybody sends one message of size 1 to everybody. */
TEST(sizes_without_a_demand)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec("FT(2;3,2)", 0, "rounds", 1);
	struct forsched *schedule FREED(forsched_close) = open_good(bytes);
	struct forsched_sizes sizes;
	struct forsched_piece piece;
	struct forsched_flow flow;
	uint64_t length;
	uint32_t role;

	forsched_sizes(schedule, &sizes);
	assert_int_equal(sizes.has_demand, 0);
	assert_int_equal(sizes.is_unit, 1);
	assert_int_equal(sizes.length, forsched_nphases(schedule));
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		assert_int_equal(forsched_flow(schedule, 0, phase, &flow), FORSCHED_OK);
		assert_int_equal(forsched_piece(schedule, 0, phase, &piece), FORSCHED_OK);
		assert_int_equal(piece.bytes, flow.to != FORSCHED_NOBODY);
		assert_int_equal(piece.total, piece.bytes);
		assert_int_equal(piece.in_total, flow.from != FORSCHED_NOBODY);
		assert_int_equal(forsched_phase_bytes(schedule, phase, &length), FORSCHED_OK);
		assert_int_equal(length, 1);
	}
	assert_int_equal(forsched_role(schedule, 0, &role), FORSCHED_OK);
	assert_int_equal(role, FORSCHED_SENDS | FORSCHED_RECEIVES);
}
