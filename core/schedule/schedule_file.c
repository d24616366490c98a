/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_file.c - a schedule as bytes; the way back is schedule_read.c.
 *
 * The file is made for hundreds of processes that each want to know about one server: who opens it reads and checks
 * the header and the (short) list of servers, and then only the row of cells that it needs (libforsched/source.c says
 * why it reads and never maps). So the parts have checksums of their own, and a dense cell holds all that a server
 * has to know about a phase in 8 bytes, also what strictly is somebody else's business (who sends to it, which path
 * index the other direction uses).
 *
 * The layout is written down in schedule_format.h, for readers of all kinds; the header is judged in
 * schedule_header.c, for this reader and for who wants to know no more than the epoch.
 *
 * Versions 2 and 3 have the ways and the service levels of flows in units, which schedule_units.c writes and reads; what
 * version 3 has besides is in schedule_sizes.c.
 *
 * Sizes: 360 servers, 360 phases: dense 1.07 MB; rounds at LMC 0 13 kB of cells (18 leaves x 360 x 2 bytes) and 29 kB
 * of servers.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "schedule_file.h"
#include "schedule_format.h"
#include "schedule_header.h"
#include "schedule_sizes.h"
#include "schedule_units.h"

#define MAX_SL 15
#define PHASES_AT_ONCE 8 /* of the dense layout: a cache line */

_Static_assert(sizeof(struct fors_sf_server) == 80, "servers have holes");
_Static_assert(sizeof(struct fors_sf_cell) == 8, "cells have holes");
_Static_assert(sizeof(((struct fors_schedule *)0)->method) == 16 &&
		       sizeof(((struct fors_schedule *)0)->reason) == 128 &&
		       sizeof(((struct fors_schedule *)0)->name) == 64,
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

/* In version 2 what says the same in fewer bytes; units cannot give one of their flows another service level. */
static enum fors_sf_layout choose_layout(const struct fors_schedule *schedule, const struct fors_schedule_units *units)
{
	if (!schedule->nphases)
		return FORS_SF_WITHDRAWN;
	if (schedule->length)
		return FORS_SF_PIECES;
	if (fors_schedule_version(schedule) == FORS_SF_VERSION)
		return schedule->parts ? FORS_SF_ROUNDS : FORS_SF_DENSE;
	if (schedule->is_dense || !units->is_uniform)
		return FORS_SF_DENSE;
	return schedule->parts ? FORS_SF_ROUNDS : FORS_SF_UNITS;
}

static void shape_of(const struct fors_schedule *schedule, const struct fors_schedule_units *units,
		     struct fors_schedule_shape *shape)
{
	uint32_t version = fors_schedule_version(schedule);
	enum fors_sf_layout layout = choose_layout(schedule, units);

	*shape = (struct fors_schedule_shape){
		.version = version,
		.layout = layout,
		.nservers = schedule->nservers,
		.nphases = schedule->nphases,
		.nleaves = schedule->nleaves,
		.nlanes = version == FORS_SF_VERSION ? schedule->nlanes : 0,
		.npaths = units->npaths,
		.nswitches = units->nswitches,
		.nways = units->nways,
		.nunits = layout == FORS_SF_DENSE || layout == FORS_SF_PIECES ? units->nunits : units->nunits_sl,
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

/* A cell's byte for the lane, in a file of version 2. */
static uint8_t sl_of(const struct fors_schedule *schedule, uint32_t s, uint32_t d)
{
	uint8_t sl = fors_schedule_sl(schedule, s, d);

	return sl > MAX_SL ? FORS_SF_NO_SL : sl;
}

/* Who sends to a server in a phase, and on which path index. */
struct arrival {
	uint16_t src;
	uint8_t path;
};

/* All arrivals of n phases from `first` on: by[i * P + d] of server d in the i-th of them. */
static void list_arrivals(const struct fors_schedule *schedule, uint32_t first, uint32_t n, struct arrival *by)
{
	const uint32_t p = schedule->nservers;
	struct fors_cell room[PHASES_AT_ONCE];

	for (size_t i = 0; i < (size_t)n * p; i++)
		by[i] = (struct arrival){.src = FORS_SF_IDLE};
	for (uint32_t s = 0; s < p; s++) {
		const struct fors_cell *flow = fors_schedule_flows(schedule, s, first, n, room);

		for (uint32_t i = 0; i < n; i++)
			if (flow[i].dst < p && flow[i].dst != s)
				by[(size_t)i * p + flow[i].dst] = (struct arrival){(uint16_t)s, flow[i].path};
	}
}

/*
 * The cells of n phases from `first` on, row by row, each written once; paths[s * P + d] becomes the path index of flow
 * (s, d).
 */
static void put_phases(const struct fors_schedule *schedule, uint32_t first, uint32_t n, const struct arrival *by,
		       struct fors_sf_cell *cells, uint8_t *paths)
{
	const size_t p = schedule->nservers;
	const bool has_lanes = fors_schedule_version(schedule) == FORS_SF_VERSION;
	struct fors_cell room[PHASES_AT_ONCE];

	for (uint32_t s = 0; s < p; s++) {
		const struct fors_cell *flow = fors_schedule_flows(schedule, s, first, n, room);
		struct fors_sf_cell *row = cells + (size_t)s * schedule->nphases + first;

		for (uint32_t i = 0; i < n; i++) {
			const struct arrival in = by[i * p + s];
			struct fors_sf_cell cell = {.dst = FORS_SF_IDLE,
						    .src = htole16(in.src),
						    .in_path = in.path,
						    .lane = FORS_SF_NO_LANE};

			if (flow[i].dst < p && flow[i].dst != s) {
				cell.dst = htole16(flow[i].dst);
				cell.path = flow[i].path;
				cell.lane = has_lanes ? flow[i].lane : sl_of(schedule, s, flow[i].dst);
				paths[s * p + flow[i].dst] = flow[i].path;
			}
			row[i] = cell;
		}
	}
}

/* Who sends to whom, with both ends told. A few phases at a time, whose arrivals stay in the cache. */
static void put_flows(const struct fors_schedule *schedule, struct arrival *by, struct fors_sf_cell *cells,
		      uint8_t *paths)
{
	for (uint32_t first = 0; first < schedule->nphases; first += PHASES_AT_ONCE) {
		uint32_t left = schedule->nphases - first, n = left < PHASES_AT_ONCE ? left : PHASES_AT_ONCE;

		list_arrivals(schedule, first, n, by);
		put_phases(schedule, first, n, by, cells, paths);
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
	const size_t p = schedule->nservers;
	uint8_t *paths = calloc(p * p + 1, 1);
	struct arrival *by = malloc((PHASES_AT_ONCE * p + 1) * sizeof(*by));
	enum fors_err err = paths && by ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		put_flows(schedule, by, cells, paths);
		put_reverse(schedule, cells, paths);
	}
	free(paths);
	free(by);
	return err;
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

/* Half a cell of the units layout. */
static void put_half(unsigned char *to, uint32_t half, uint32_t number)
{
	uint16_t narrow = htole16((uint16_t)number);

	number = htole32(number);
	if (half == 2)
		memcpy(to, &narrow, 2);
	else
		memcpy(to, &number, 4);
}

static void put_units(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape, unsigned char *to)
{
	uint32_t half = shape->cell_size / 2;

	memset(to, 0xFF, (size_t)shape->nrows * row_size(shape));
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell flow = fors_schedule_flow(schedule, s, phase);

			if (flow.dst >= schedule->nservers)
				continue;
			put_half(to + s * row_size(shape) + (size_t)phase * shape->cell_size, half,
				 flow.dst * shape->npaths + flow.path);
			put_half(to + flow.dst * row_size(shape) + (size_t)phase * shape->cell_size + half, half,
				 s * shape->npaths + flow.path);
		}
}

static void put_row_crcs(const struct fors_schedule_shape *shape, unsigned char *bytes)
{
	for (uint32_t row = 0; row < shape->nrows; row++) {
		uint32_t crc = htole32(crc_of(bytes + shape->cells + row * row_size(shape), row_size(shape)));

		memcpy(bytes + shape->row_crc + (size_t)row * 4, &crc, 4);
	}
}

/* The second part, after the first. */
static void put_more(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
		     unsigned char *bytes)
{
	struct fors_sf_more more = {
		.fabric_epoch = htole64(schedule->fabric_epoch),
		.nswitches = htole32(shape->nswitches),
		.nways = htole32(shape->nways),
		.nunits = htole32(shape->nunits),
		.switches_offset = htole64(shape->switches),
		.ways_offset = htole64(shape->ways),
		.leaves_offset = htole64(shape->leaves),
		.units_offset = htole64(shape->units),
		.switches_crc = htole32(crc_of(bytes + shape->switches, shape->ways - shape->switches)),
		.ways_crc = htole32(crc_of(bytes + shape->ways, shape->leaves - shape->ways)),
		.leaves_crc = htole32(crc_of(bytes + shape->leaves, shape->units - shape->leaves)),
	};

	put_text(more.name, sizeof(more.name) - 1, schedule->name);
	memcpy(bytes + sizeof(struct fors_sf_header), &more, sizeof(more));
}

static void put_header(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
		       unsigned char *bytes)
{
	struct fors_sf_header header = {
		.byte_order = htole32(FORS_SF_BYTE_ORDER),
		.version = htole32(shape->version),
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
		.lanes_crc = htole32(crc_of(bytes + shape->lanes, shape->switches - shape->lanes)),
	};

	memcpy(header.magic, FORS_SF_MAGIC, sizeof(header.magic));
	put_text(header.method, sizeof(header.method) - 1, schedule->method);
	put_text(header.reason, sizeof(header.reason) - 1, schedule->reason);
	memcpy(bytes, &header, sizeof(header));
}

/* A CRC of all bytes before it. */
static void put_crc(unsigned char *bytes, size_t at)
{
	uint32_t crc = htole32(crc_of(bytes, at));

	memcpy(bytes + at, &crc, sizeof(crc));
}

/* The CRCs of the parts of the header, each of which covers those before it. */
static void seal(unsigned char *bytes, uint32_t version)
{
	size_t more = sizeof(struct fors_sf_header), sizes = more + sizeof(struct fors_sf_more);

	put_crc(bytes, offsetof(struct fors_sf_header, header_crc));
	if (fors_schedule_has_ways(version))
		put_crc(bytes, more + offsetof(struct fors_sf_more, more_crc));
	if (fors_schedule_has_sizes(version))
		put_crc(bytes, sizes + offsetof(struct fors_sf_sizes, sizes_crc));
}

static void put_cells(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape, unsigned char *to)
{
	if (shape->layout == FORS_SF_ROUNDS)
		put_rounds(schedule, shape, to);
	if (shape->layout == FORS_SF_UNITS)
		put_units(schedule, shape, to);
	if (shape->layout == FORS_SF_PIECES)
		fors_schedule_sizes_put_cells(schedule, to);
}

static enum fors_err fill(const struct fors_schedule *schedule, const struct fors_schedule_units *units,
			  const struct fors_schedule_shape *shape, unsigned char *bytes, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	put_servers(schedule, (struct fors_sf_server *)(bytes + shape->servers));
	for (uint32_t lane = 0; lane < shape->nlanes; lane++)
		((uint64_t *)(bytes + shape->lanes))[lane] = htole64(schedule->lane_spine[lane]);
	if (fors_schedule_has_ways(shape->version))
		fors_schedule_units_put(schedule, units, shape, bytes);
	if (shape->layout == FORS_SF_DENSE)
		err = put_dense(schedule, bytes + shape->cells, error);
	put_cells(schedule, shape, bytes + shape->cells);
	put_row_crcs(shape, bytes);
	put_header(schedule, shape, bytes);
	if (fors_schedule_has_ways(shape->version))
		put_more(schedule, shape, bytes);
	if (!err && fors_schedule_has_sizes(shape->version))
		err = fors_schedule_sizes_put(schedule, shape, bytes, error);
	seal(bytes, shape->version);
	return err;
}

/* Lanes and ways are two languages; a file speaks one of them. */
static enum fors_err check_no_lanes(const struct fors_schedule *schedule, struct fors_error *error)
{
	size_t ncells = fors_schedule_ncells(schedule);

	for (size_t i = 0; i < ncells; i++)
		if (schedule->cell[i].lane != FORS_NO_LANE)
			return fors_fail(error, FORS_EINPUT,
					 "schedule: a plan over lanes has neither ways nor service levels nor a name");
	return FORS_OK;
}

static enum fors_err check_size(const struct fors_schedule_shape *shape, struct fors_error *error)
{
	if (shape->version == FORS_SF_VERSION || shape->end <= FORS_SF_MAX_BYTES)
		return FORS_OK;
	return fors_fail(
		error, FORS_ELIMIT,
		"schedule: %u servers and %u phases take %llu bytes%s; a file has at most %llu: plan for fewer "
		"servers, or by a method that plans in rounds",
		shape->nservers, shape->nphases, (unsigned long long)shape->end,
		shape->layout == FORS_SF_DENSE ? ", a cell for each flow" : "", FORS_SF_MAX_BYTES);
}

static enum fors_err encode(const struct fors_schedule *schedule, const struct fors_schedule_units *units, void **bytes,
			    size_t *size, struct fors_error *error)
{
	struct fors_schedule_shape shape;
	unsigned char *made;
	enum fors_err err;

	shape_of(schedule, units, &shape);
	err = check_size(&shape, error);
	if (err)
		return err;
	made = calloc(1, shape.end);
	if (!made)
		return fors_fail_memory(error);
	err = fill(schedule, units, &shape, made, error);
	if (err) {
		free(made);
		return err;
	}
	*bytes = made;
	*size = shape.end;
	return FORS_OK;
}

/* What version 2 asks for. A plan whose cells alone are too many is refused before all of them are looked at. */
static enum fors_err find_units(const struct fors_schedule *schedule, struct fors_schedule_units *units,
				struct fors_error *error)
{
	struct fors_schedule_shape shape;
	enum fors_err err = check_no_lanes(schedule, error);

	units->is_uniform = true;
	shape_of(schedule, units, &shape);
	if (!err)
		err = check_size(&shape, error);
	return err ? err : fors_schedule_units_find(schedule, units->npaths, units, error);
}

enum fors_err fors_schedule_encode(const struct fors_schedule *schedule, void **bytes, size_t *size,
				   struct fors_error *error)
{
	struct fors_schedule_units units = {.npaths = 1};
	enum fors_err err = FORS_OK;

	if (schedule->nphases > FORS_SF_MAX_PHASES || schedule->nservers > FORS_MAX_SERVERS)
		return fors_fail(error, FORS_ELIMIT, "schedule: %u servers and %u phases are more than a file can hold",
				 schedule->nservers, schedule->nphases);
	if (schedule->nphases)
		units.npaths = count_paths(schedule);
	if (fors_schedule_has_ways(fors_schedule_version(schedule)))
		err = find_units(schedule, &units, error);
	if (!err)
		err = encode(schedule, &units, bytes, size, error);
	fors_schedule_units_free(&units);
	return err;
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
