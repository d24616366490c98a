/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_read.c - bytes as a schedule.
 *
 * Trust: the reader here believes no byte before its CRC is right, no number before it is within bounds, then asks
 * whether it is an exchange at all (schedule_fault.c), and at the end encodes what it understood and compares: a file
 * that passes is exactly what the writer would have written. These are the rules of schedule_format.h; libforsched
 * has them in code of its own, and tests/unit/test_schedule_rules.c holds the two against each other.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "schedule_fault.h"
#include "schedule_file.h"
#include "schedule_format.h"
#include "schedule_header.h"
#include "schedule_sizes.h"
#include "schedule_units.h"

#define MAX_SL 15

static size_t row_size(const struct fors_schedule_shape *shape)
{
	return (size_t)shape->nphases * shape->cell_size;
}

static uint32_t crc_of(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}

struct reader {
	const unsigned char *bytes;
	size_t size;
	const char *name;
	struct fors_schedule_header header;
	struct fors_error *error;
};

static enum fors_err corrupt(const struct reader *reader, const char *what)
{
	return fors_fail(reader->error, FORS_EINPUT, "%s: corrupted schedule: %s", reader->name, what);
}

static enum fors_err check_sums(const struct reader *reader)
{
	const struct fors_schedule_shape *shape = &reader->header.shape;
	const unsigned char *bytes = reader->bytes;

	if (crc_of(bytes + shape->servers, shape->lanes - shape->servers) != reader->header.servers_crc)
		return corrupt(reader, "checksum of the servers");
	if (crc_of(bytes + shape->lanes, shape->switches - shape->lanes) != reader->header.lanes_crc)
		return corrupt(reader, "checksum of the lanes");
	for (uint32_t row = 0; row < shape->nrows; row++) {
		uint32_t crc;

		memcpy(&crc, bytes + shape->row_crc + (size_t)row * 4, 4);
		if (crc_of(bytes + shape->cells + row * row_size(shape), row_size(shape)) != le32toh(crc))
			return corrupt(reader, "checksum of a row of cells");
	}
	return FORS_OK;
}

static enum fors_err get_servers(const struct reader *reader, struct fors_schedule *schedule)
{
	for (uint32_t s = 0; s < schedule->nservers; s++) {
		struct fors_schedule_server *server = &schedule->server[s];
		struct fors_sf_server from;

		memcpy(&from, reader->bytes + reader->header.shape.servers + s * sizeof(from), sizeof(from));
		server->guid = le64toh(from.guid);
		server->lid = le16toh(from.lid);
		server->leaf = le16toh(from.leaf);
		server->rank = le16toh(from.rank);
		server->lmc = from.lmc;
		memcpy(server->desc, from.desc, sizeof(from.desc));
		if (server->lmc > FORS_MAX_LMC || server->lid == 0 ||
		    server->lid + (1u << server->lmc) - 1 > FORS_LID_MAX)
			return corrupt(reader, "a server's LID or LMC");
		if (server->leaf >= schedule->nleaves || (s && server[-1].leaf > server->leaf) ||
		    server->rank != (s && server[-1].leaf == server->leaf ? server[-1].rank + 1 : 0))
			return corrupt(reader, "the order of the servers");
		if (schedule->parts && server->rank / schedule->parts >= schedule->round_length)
			return corrupt(reader, "a leaf with more servers than its rounds have phases");
	}
	return FORS_OK;
}

static struct fors_cell cell_of_number(const struct fors_schedule_shape *shape, uint32_t number)
{
	uint32_t lane = number / shape->npaths % (shape->nlanes + 1),
		 dst = number / shape->npaths / (shape->nlanes + 1);

	return (struct fors_cell){
		.dst = (uint16_t)(dst < shape->nservers ? dst : FORS_MAX_SERVERS), /* too large: refused later */
		.path = (uint8_t)(number % shape->npaths),
		.lane = (uint8_t)(lane == shape->nlanes ? FORS_NO_LANE : lane),
	};
}

/* A cell of the layout whose cells are numbers; `at` has `size` bytes. */
static struct fors_cell get_number(const struct fors_schedule_shape *shape, const unsigned char *at, uint32_t size)
{
	const struct fors_cell idle = {.dst = FORS_IDLE, .lane = FORS_NO_LANE};
	uint16_t narrow;
	uint32_t wide;

	if (size == 2) {
		memcpy(&narrow, at, sizeof(narrow));
		return le16toh(narrow) == UINT16_MAX ? idle : cell_of_number(shape, le16toh(narrow));
	}
	memcpy(&wide, at, sizeof(wide));
	return le32toh(wide) == UINT32_MAX ? idle : cell_of_number(shape, le32toh(wide));
}

/* Cell i of the file; dense, version 2: with the service level in place of the lane. */
static struct fors_cell get_cell(const struct reader *reader, size_t i)
{
	const struct fors_schedule_shape *shape = &reader->header.shape;
	const unsigned char *at = reader->bytes + shape->cells + i * shape->cell_size;
	struct fors_sf_cell dense;

	if (shape->layout == FORS_SF_ROUNDS)
		return get_number(shape, at, shape->cell_size);
	if (shape->layout == FORS_SF_UNITS)
		return get_number(shape, at, shape->cell_size / 2); /* its other half is the receiver's business */
	/* A piece begins with a cell. */
	memcpy(&dense, at, sizeof(dense));
	return (struct fors_cell){.dst = le16toh(dense.dst), .path = dense.path, .lane = dense.lane};
}

/* Dense, version 2: the service level leaves the cell. */
static enum fors_err take_sl(const struct reader *reader, size_t i, struct fors_schedule *schedule)
{
	struct fors_cell *cell = &schedule->cell[i];
	uint8_t sl = cell->lane;

	cell->lane = FORS_NO_LANE;
	if (sl == FORS_SF_NO_SL)
		return FORS_OK;
	if (sl > MAX_SL)
		return corrupt(reader, "a service level above 15");
	if (!fors_schedule_make_sl(schedule))
		return fors_fail_memory(reader->error);
	schedule->sl[i / schedule->nphases * schedule->nservers + cell->dst] = sl;
	return FORS_OK;
}

static enum fors_err get_cells(const struct reader *reader, struct fors_schedule *schedule)
{
	const struct fors_schedule_shape *shape = &reader->header.shape;
	size_t ncells = (size_t)shape->nrows * shape->nphases;
	bool has_sl = fors_schedule_has_sl_in_cells(shape);
	enum fors_err err = FORS_OK;

	for (size_t i = 0; !err && i < ncells; i++) {
		struct fors_cell cell = get_cell(reader, i);

		schedule->cell[i] = cell;
		if (cell.dst == FORS_IDLE) {
			schedule->cell[i].lane = FORS_NO_LANE;
			continue;
		}
		if (cell.dst >= schedule->nservers)
			return corrupt(reader, "a flow to a server that is not there");
		if (cell.path >> schedule->server[cell.dst].lmc)
			return corrupt(reader, "a path index beyond the LMC");
		if (has_sl)
			err = take_sl(reader, i, schedule);
		else if (cell.lane != FORS_NO_LANE && cell.lane >= schedule->nlanes)
			return corrupt(reader, "a flow over a lane that is not there");
	}
	return err;
}

/* Lengths and what pieces have. */
static enum fors_err get_sizes(const struct reader *reader, struct fors_schedule *schedule)
{
	const char *fault = NULL;
	enum fors_err err = FORS_OK;

	if (fors_schedule_has_sizes(reader->header.shape.version))
		err = fors_schedule_sizes_get(reader->bytes, &reader->header, schedule, &fault, reader->error);
	return fault ? corrupt(reader, fault) : err;
}

/* Is it an exchange between servers that can be told apart? */
static enum fors_err check_exchange(const struct reader *reader, const struct fors_schedule *schedule)
{
	const char *fault = NULL;
	enum fors_err err = fors_schedule_find_fault(schedule, &fault, reader->error);

	return fault ? corrupt(reader, fault) : err;
}

/* Switches, ways and units. */
static enum fors_err get_units(const struct reader *reader, struct fors_schedule *schedule)
{
	const char *fault = NULL;
	enum fors_err err = fors_schedule_units_get(reader->bytes, &reader->header, schedule, &fault, reader->error);

	return fault ? corrupt(reader, fault) : err;
}

/* What was understood has to give the same bytes again. */
static enum fors_err check_same(const struct reader *reader, const struct fors_schedule *schedule)
{
	void *bytes;
	size_t size;
	bool is_same;
	enum fors_err err = fors_schedule_encode(schedule, &bytes, &size, reader->error);

	if (err)
		return err;
	is_same = size == reader->size && memcmp(bytes, reader->bytes, size) == 0;
	free(bytes);
	return is_same ? FORS_OK : corrupt(reader, "parts that contradict each other");
}

static struct fors_schedule *new_schedule(const struct reader *reader)
{
	const struct fors_schedule_shape *shape = &reader->header.shape;
	struct fors_schedule *schedule = calloc(1, sizeof(*schedule));

	if (!schedule)
		return NULL;
	schedule->epoch = reader->header.epoch;
	schedule->fingerprint = reader->header.fingerprint;
	schedule->nservers = shape->nservers;
	schedule->nphases = shape->nphases;
	schedule->nleaves = shape->nleaves;
	schedule->nlanes = shape->nlanes;
	schedule->parts = shape->parts;
	schedule->round_length = shape->round_length;
	memcpy(schedule->method, reader->header.method, sizeof(schedule->method) - 1);
	memcpy(schedule->reason, reader->header.reason, sizeof(schedule->reason) - 1);
	schedule->fabric_epoch = reader->header.fabric_epoch;
	schedule->is_dense = shape->version == FORS_SF_VERSION_WAYS && shape->layout == FORS_SF_DENSE;
	memcpy(schedule->name, reader->header.name, sizeof(schedule->name) - 1);
	schedule->server = calloc((size_t)shape->nservers + 1, sizeof(*schedule->server));
	schedule->lane_spine = calloc((size_t)shape->nlanes + 1, sizeof(*schedule->lane_spine));
	schedule->cell = calloc((size_t)shape->nrows * shape->nphases + 1, sizeof(*schedule->cell));
	if (schedule->server && schedule->lane_spine && schedule->cell)
		return schedule;
	fors_schedule_free(schedule);
	return NULL;
}

static enum fors_err get_schedule(const struct reader *reader, struct fors_schedule *schedule)
{
	enum fors_err err = get_servers(reader, schedule);

	for (uint32_t lane = 0; lane < schedule->nlanes; lane++) {
		uint64_t guid;

		memcpy(&guid, reader->bytes + reader->header.shape.lanes + lane * sizeof(guid), sizeof(guid));
		schedule->lane_spine[lane] = le64toh(guid);
	}
	if (!err)
		err = get_cells(reader, schedule);
	if (!err)
		err = get_sizes(reader, schedule);
	if (!err)
		err = check_exchange(reader, schedule);
	if (!err && fors_schedule_has_ways(reader->header.shape.version))
		err = get_units(reader, schedule);
	if (!err)
		err = check_same(reader, schedule);
	return err;
}

enum fors_err fors_schedule_decode(const void *bytes, size_t size, const char *name, struct fors_schedule **schedule,
				   struct fors_error *error)
{
	struct reader reader = {.bytes = bytes, .size = size, .name = name, .error = error};
	struct fors_schedule *made;
	enum fors_err err = fors_schedule_header_read(bytes, size, size, name, &reader.header, error);

	if (!err)
		err = check_sums(&reader);
	if (err)
		return err;
	made = new_schedule(&reader);
	if (!made)
		return fors_fail_memory(error);
	err = get_schedule(&reader, made);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	*schedule = made;
	return FORS_OK;
}
