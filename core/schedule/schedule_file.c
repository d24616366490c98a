/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_file.c - a schedule as bytes, and back.
 *
 * The file is made for hundreds of processes that each want to know about one server: who opens it reads and checks the
 * header and the (short) list of servers, and then only the row of cells that it needs (libforsched/source.c says why it
 * reads and never maps). So the parts have checksums of their own, and a dense cell holds all that a server has to know
 * about a phase in 8 bytes, also what strictly is somebody else's business (who sends to it, which path index the
 * other direction uses).
 *
 * The layout is written down in schedule_format.h, for readers of all kinds; the header is judged in schedule_header.c,
 * for this reader and for who wants to know no more than the epoch.
 *
 * Sizes: 360 servers, 360 phases: dense 1.07 MB; rounds at LMC 0 13 kB of cells (18 leaves x 360 x 2 bytes) and 29
 * kB of servers.
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

_Static_assert(sizeof(struct fors_sf_server) == 80, "servers have holes");
_Static_assert(sizeof(struct fors_sf_cell) == 8, "cells have holes");
_Static_assert(sizeof(((struct fors_schedule *)0)->method) == 16 && sizeof(((struct fors_schedule *)0)->reason) == 128,
	       "texts differ in size");

/* ---- where things are ---- */

static size_t row_size(const struct fors_schedule_shape *shape)
{
	return (size_t)shape->nphases * shape->cell_size;
}

static uint32_t crc_of(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}

/* ---- writing ---- */

static uint32_t count_paths(const struct fors_schedule *schedule)
{
	size_t ncells = fors_schedule_ncells(schedule);
	uint32_t npaths = 1;

	for (size_t i = 0; i < ncells; i++)
		if (schedule->cell[i].dst != FORS_IDLE && schedule->cell[i].path >= npaths)
			npaths = schedule->cell[i].path + 1u;
	return npaths;
}

static void shape_of(const struct fors_schedule *schedule, struct fors_schedule_shape *shape)
{
	*shape = (struct fors_schedule_shape){
		.layout = !schedule->nphases ? FORS_SF_WITHDRAWN
			  : schedule->parts  ? FORS_SF_ROUNDS
					     : FORS_SF_DENSE,
		.nservers = schedule->nservers,
		.nphases = schedule->nphases,
		.nleaves = schedule->nleaves,
		.nlanes = schedule->nlanes,
		.npaths = schedule->nphases ? count_paths(schedule) : 1,
	};
	if (shape->layout == FORS_SF_ROUNDS) {
		shape->parts = schedule->parts;
		shape->round_length = schedule->round_length;
	}
	fors_schedule_find_offsets(shape);
}

/* Copy a text into a zero-padded field of `room` bytes, of which `used` may be used; never control characters. */
static void put_text(char *to, size_t used, const char *text)
{
	for (size_t i = 0; i < used && text[i]; i++)
		to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
}

static void put_servers(const struct fors_schedule *schedule, struct fors_sf_server *to)
{
	for (uint32_t s = 0; s < schedule->nservers; s++) {
		const struct fors_schedule_server *server = &schedule->server[s];

		to[s].guid = htole64(server->guid);
		to[s].lid = htole16(server->lid);
		to[s].leaf = htole16(server->leaf);
		to[s].rank = htole16(server->rank);
		to[s].lmc = server->lmc;
		put_text(to[s].desc, sizeof(to[s].desc), server->desc);
	}
}

/* Who sends to whom, with both ends told; paths[s * P + d] becomes the path index of flow (s, d). */
static void put_flows(const struct fors_schedule *schedule, struct fors_sf_cell *cells, uint8_t *paths)
{
	size_t p = schedule->nservers, t = schedule->nphases;

	for (size_t i = 0; i < p * t; i++)
		cells[i] = (struct fors_sf_cell){.dst = FORS_SF_IDLE, .src = FORS_SF_IDLE, .lane = FORS_SF_NO_LANE};
	for (uint32_t s = 0; s < p; s++)
		for (uint32_t phase = 0; phase < t; phase++) {
			struct fors_cell flow = fors_schedule_flow(schedule, s, phase);
			struct fors_sf_cell *cell = &cells[s * t + phase], *there;

			if (flow.dst >= p)
				continue;
			there = &cells[flow.dst * t + phase];
			cell->dst = htole16(flow.dst);
			cell->path = flow.path;
			cell->lane = flow.lane;
			there->src = htole16((uint16_t)s);
			there->in_path = flow.path;
			paths[s * p + flow.dst] = flow.path;
		}
}

/* One queue pair serves both directions, so each flow needs the path index of the opposite one. */
static void put_reverse(const struct fors_schedule *schedule, struct fors_sf_cell *cells, const uint8_t *paths)
{
	size_t p = schedule->nservers, t = schedule->nphases;

	for (size_t s = 0; s < p; s++)
		for (size_t phase = 0; phase < t; phase++) {
			uint16_t dst = le16toh(cells[s * t + phase].dst);

			if (dst != FORS_SF_IDLE)
				cells[s * t + phase].reverse = paths[dst * p + s];
		}
}

static enum fors_err put_dense(const struct fors_schedule *schedule, void *cells, struct fors_error *error)
{
	uint8_t *paths = calloc((size_t)schedule->nservers * schedule->nservers + 1, 1);

	if (!paths)
		return fors_fail_memory(error);
	put_flows(schedule, cells, paths);
	put_reverse(schedule, cells, paths);
	free(paths);
	return FORS_OK;
}

/* The number that stands for a rounds cell. */
static uint32_t number_of(const struct fors_schedule_shape *shape, const struct fors_cell *cell)
{
	uint32_t lane = cell->lane == FORS_NO_LANE ? shape->nlanes : cell->lane;

	if (cell->dst == FORS_IDLE)
		return UINT32_MAX;
	return (cell->dst * (shape->nlanes + 1) + lane) * shape->npaths + cell->path;
}

static void put_rounds(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape, unsigned char *to)
{
	size_t ncells = fors_schedule_ncells(schedule);

	for (size_t i = 0; i < ncells; i++) {
		uint32_t number = number_of(shape, &schedule->cell[i]);
		uint16_t narrow = htole16((uint16_t)number);

		number = htole32(number);
		if (shape->cell_size == 2)
			memcpy(to + i * 2, &narrow, 2);
		else
			memcpy(to + i * 4, &number, 4);
	}
}

static void put_row_crcs(const struct fors_schedule_shape *shape, unsigned char *bytes)
{
	for (uint32_t row = 0; row < shape->nrows; row++) {
		uint32_t crc = htole32(crc_of(bytes + shape->cells + row * row_size(shape), row_size(shape)));

		memcpy(bytes + shape->row_crc + (size_t)row * 4, &crc, 4);
	}
}

static void put_header(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
		       unsigned char *bytes)
{
	struct fors_sf_header header = {
		.byte_order = htole32(FORS_SF_BYTE_ORDER),
		.version = htole32(FORS_SF_VERSION),
		.epoch = htole64(schedule->epoch),
		.file_size = htole64(shape->end),
		.fingerprint = htole64(schedule->fingerprint),
		.layout = htole32(shape->layout),
		.nservers = htole32(shape->nservers),
		.nphases = htole32(shape->nphases),
		.nleaves = htole32(shape->nleaves),
		.nlanes = htole32(shape->nlanes),
		.parts = htole32(shape->parts),
		.round_length = htole32(shape->round_length),
		.nrows = htole32(shape->nrows),
		.cell_size = htole32(shape->cell_size),
		.npaths = htole32(shape->npaths),
		.servers_offset = htole64(shape->servers),
		.lanes_offset = htole64(shape->lanes),
		.row_crc_offset = htole64(shape->row_crc),
		.cells_offset = htole64(shape->cells),
		.servers_crc = htole32(crc_of(bytes + shape->servers, shape->lanes - shape->servers)),
		.lanes_crc = htole32(crc_of(bytes + shape->lanes, shape->row_crc - shape->lanes)),
	};

	memcpy(header.magic, FORS_SF_MAGIC, sizeof(header.magic));
	put_text(header.method, sizeof(header.method) - 1, schedule->method);
	put_text(header.reason, sizeof(header.reason) - 1, schedule->reason);
	header.header_crc = htole32(crc_of(&header, offsetof(struct fors_sf_header, header_crc)));
	memcpy(bytes, &header, sizeof(header));
}

static enum fors_err fill(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
			  unsigned char *bytes, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	put_servers(schedule, (struct fors_sf_server *)(bytes + shape->servers));
	for (uint32_t lane = 0; lane < shape->nlanes; lane++)
		((uint64_t *)(bytes + shape->lanes))[lane] = htole64(schedule->lane_spine[lane]);
	if (shape->layout == FORS_SF_DENSE)
		err = put_dense(schedule, bytes + shape->cells, error);
	if (shape->layout == FORS_SF_ROUNDS)
		put_rounds(schedule, shape, bytes + shape->cells);
	put_row_crcs(shape, bytes);
	put_header(schedule, shape, bytes);
	return err;
}

enum fors_err fors_schedule_encode(const struct fors_schedule *schedule, void **bytes, size_t *size,
				   struct fors_error *error)
{
	struct fors_schedule_shape shape;
	unsigned char *made;
	enum fors_err err;

	if (schedule->nphases > FORS_SF_MAX_PHASES || schedule->nservers > FORS_MAX_SERVERS)
		return fors_fail(error, FORS_ELIMIT, "schedule: %u servers and %u phases are more than a file can hold",
				 schedule->nservers, schedule->nphases);
	shape_of(schedule, &shape);
	made = calloc(1, shape.end);
	if (!made)
		return fors_fail_memory(error);
	err = fill(schedule, &shape, made, error);
	if (err) {
		free(made);
		return err;
	}
	*bytes = made;
	*size = shape.end;
	return FORS_OK;
}

/* ---- reading ---- */

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
	if (crc_of(bytes + shape->lanes, shape->row_crc - shape->lanes) != reader->header.lanes_crc)
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

/* Cell i of the file. */
static struct fors_cell get_cell(const struct reader *reader, size_t i)
{
	const struct fors_schedule_shape *shape = &reader->header.shape;
	const unsigned char *at = reader->bytes + shape->cells + i * shape->cell_size;
	const struct fors_cell idle = {.dst = FORS_IDLE, .lane = FORS_NO_LANE};
	struct fors_sf_cell dense;
	uint16_t narrow;
	uint32_t wide;

	switch (shape->cell_size) {
	case 2:
		memcpy(&narrow, at, sizeof(narrow));
		return le16toh(narrow) == UINT16_MAX ? idle : cell_of_number(shape, le16toh(narrow));
	case 4:
		memcpy(&wide, at, sizeof(wide));
		return le32toh(wide) == UINT32_MAX ? idle : cell_of_number(shape, le32toh(wide));
	default:
		memcpy(&dense, at, sizeof(dense));
		return (struct fors_cell){.dst = le16toh(dense.dst), .path = dense.path, .lane = dense.lane};
	}
}

static enum fors_err get_cells(const struct reader *reader, struct fors_schedule *schedule)
{
	size_t ncells = (size_t)reader->header.shape.nrows * reader->header.shape.nphases;

	for (size_t i = 0; i < ncells; i++) {
		struct fors_cell cell = get_cell(reader, i);

		schedule->cell[i] = cell;
		if (cell.dst == FORS_IDLE)
			continue;
		if (cell.dst >= schedule->nservers)
			return corrupt(reader, "a flow to a server that is not there");
		if (cell.path >> schedule->server[cell.dst].lmc)
			return corrupt(reader, "a path index beyond the LMC");
		if (cell.lane != FORS_NO_LANE && cell.lane >= schedule->nlanes)
			return corrupt(reader, "a flow over a lane that is not there");
	}
	return FORS_OK;
}

/* Is it an exchange between servers that can be told apart? */
static enum fors_err check_exchange(const struct reader *reader, const struct fors_schedule *schedule)
{
	const char *fault = NULL;
	enum fors_err err = fors_schedule_find_fault(schedule, &fault, reader->error);

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
		err = check_exchange(reader, schedule);
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

enum fors_err fors_schedule_withdrawn(uint64_t epoch, const char *reason, struct fors_schedule **schedule,
				      struct fors_error *error)
{
	struct fors_schedule *made = calloc(1, sizeof(*made));

	if (!made)
		return fors_fail_memory(error);
	made->epoch = epoch;
	strncpy(made->reason, reason, sizeof(made->reason) - 1);
	*schedule = made;
	return FORS_OK;
}
