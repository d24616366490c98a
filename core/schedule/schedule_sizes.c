/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_sizes.c - the parts of a file of version 3 that say how much is sent.
 *
 * A piece has its size at both ends: who reads one row knows what it sends and what it receives. Lengths have a part of
 * their own, right after the header, so the time of a plan is known before any row is read. Sums cannot overflow: a piece
 * is no longer than its phase, and all phases together have at most FORS_SF_MAX_TIME.
 */
#include "schedule_sizes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "schedule_format.h"

#define MAX_SL 15

_Static_assert(sizeof(struct fors_sf_piece) == 24, "pieces have holes");

/* ---- writing ---- */

static uint8_t sl_of(const struct fors_schedule *schedule, uint32_t s, uint32_t d)
{
	uint8_t sl = fors_schedule_sl(schedule, s, d);

	return sl > MAX_SL ? FORS_SF_NO_SL : sl;
}

/* A piece at both of its ends. */
static void put_piece(const struct fors_schedule *schedule, uint32_t s, uint32_t phase, struct fors_cell flow,
		      struct fors_sf_piece *to)
{
	size_t t = schedule->nphases, at = s * t + phase, there = flow.dst * t + phase;

	to[at].cell.dst = htole16(flow.dst);
	to[at].cell.path = flow.path;
	to[at].cell.reverse = (uint8_t)(flow.path & ((1u << schedule->server[s].lmc) - 1));
	to[at].cell.lane = sl_of(schedule, s, flow.dst);
	to[at].bytes = htole64(schedule->bytes[at]);
	to[there].cell.src = htole16((uint16_t)s);
	to[there].cell.in_path = flow.path;
	to[there].in_bytes = to[at].bytes;
}

void fors_schedule_sizes_put_cells(const struct fors_schedule *schedule, unsigned char *cells)
{
	struct fors_sf_piece *to = (struct fors_sf_piece *)cells;
	const struct fors_sf_cell idle = {.dst = FORS_SF_IDLE, .src = FORS_SF_IDLE, .lane = FORS_SF_NO_LANE};
	size_t ncells = fors_schedule_ncells(schedule);

	for (size_t i = 0; i < ncells; i++)
		to[i] = (struct fors_sf_piece){.cell = idle};
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell flow = fors_schedule_flow(schedule, s, phase);

			if (flow.dst < schedule->nservers)
				put_piece(schedule, s, phase, flow, to);
		}
}

/* The sums of what a server sends, by receiver. */
static void add_up(const struct fors_schedule *schedule, uint32_t s, uint64_t *sum)
{
	memset(sum, 0, schedule->nservers * sizeof(*sum));
	for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
		struct fors_cell flow = fors_schedule_flow(schedule, s, phase);

		if (flow.dst < schedule->nservers)
			sum[flow.dst] += schedule->bytes[(size_t)s * schedule->nphases + phase];
	}
}

/* The checksum of the demand (rule 18). `sum` has room for a number of each server. */
static uint32_t crc_of_demand(const struct fors_schedule *schedule, uint64_t *sum)
{
	const struct fors_schedule_server *server = schedule->server;
	uint32_t crc = 0;

	for (uint32_t s = 0; s < schedule->nservers; s++) {
		add_up(schedule, s, sum);
		for (uint32_t d = 0; d < schedule->nservers; d++) {
			uint64_t pair[3] = {htole64(server[s].guid), htole64(server[d].guid), htole64(sum[d])};

			if (sum[d])
				crc = (uint32_t)crc32_z(crc, (const void *)pair, sizeof(pair));
		}
	}
	return crc;
}

enum fors_err fors_schedule_sizes_put(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
				      unsigned char *bytes, struct fors_error *error)
{
	uint64_t *sum = malloc(((size_t)schedule->nservers + 1) * sizeof(*sum));
	size_t size = (size_t)shape->nphases * sizeof(uint64_t);
	struct fors_sf_sizes sizes;

	if (!sum)
		return fors_fail_memory(error);
	for (uint32_t phase = 0; phase < shape->nphases; phase++) {
		uint64_t length = htole64(schedule->length[phase]);

		memcpy(bytes + shape->lengths + phase * sizeof(length), &length, sizeof(length));
	}
	sizes = (struct fors_sf_sizes){
		.lengths_offset = htole64(shape->lengths),
		.granule = htole64(schedule->granule),
		.is_unit = htole32(schedule->is_unit),
		.lengths_crc = htole32((uint32_t)crc32_z(0, bytes + shape->lengths, size)),
		.demand_crc = htole32(crc_of_demand(schedule, sum)),
	};
	memcpy(bytes + sizeof(struct fors_sf_header) + sizeof(struct fors_sf_more), &sizes, sizeof(sizes));
	free(sum);
	return FORS_OK;
}

/* ---- reading ---- */

enum fors_err fors_schedule_sizes_get(const unsigned char *bytes, const struct fors_schedule_header *header,
				      struct fors_schedule *schedule, const char **fault, struct fors_error *error)
{
	const struct fors_schedule_shape *shape = &header->shape;
	const unsigned char *lengths = bytes + shape->lengths, *cells = bytes + shape->cells;
	size_t ncells = fors_schedule_ncells(schedule);
	enum fors_err err = fors_schedule_make_sizes(schedule, error);

	if (err)
		return err;
	if ((uint32_t)crc32_z(0, lengths, shape->servers - shape->lengths) != header->lengths_crc)
		*fault = "checksum of the lengths";
	schedule->granule = header->granule;
	schedule->is_unit = header->is_unit;
	for (uint32_t phase = 0; phase < shape->nphases; phase++) {
		memcpy(&schedule->length[phase], lengths + phase * sizeof(uint64_t), sizeof(uint64_t));
		schedule->length[phase] = le64toh(schedule->length[phase]);
	}
	for (size_t i = 0; i < ncells; i++) {
		struct fors_sf_piece piece;

		memcpy(&piece, cells + i * sizeof(piece), sizeof(piece));
		schedule->bytes[i] = le64toh(piece.bytes);
	}
	return FORS_OK;
}

/* ---- what is wrong ---- */

static const char *fault_of_lengths(const struct fors_schedule *schedule)
{
	uint64_t sum = 0;

	for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
		uint64_t length = schedule->length[phase];

		if (!length || length > FORS_SF_MAX_LENGTH || length % schedule->granule)
			return "the length of a phase";
		sum += length;
		if (sum > FORS_SF_MAX_TIME)
			return "phases that are too long together";
	}
	return NULL;
}

/* Pieces fit into their phase, and one fills it. */
static const char *fault_of_phase(const struct fors_schedule *schedule, uint32_t phase)
{
	uint64_t most = 0;

	for (uint32_t s = 0; s < schedule->nservers; s++) {
		uint64_t bytes = schedule->bytes[(size_t)s * schedule->nphases + phase];

		if ((fors_schedule_flow(schedule, s, phase).dst == FORS_IDLE) != (bytes == 0))
			return "a piece without bytes, or bytes for nobody";
		if (bytes > schedule->length[phase] || bytes % schedule->granule)
			return "the size of a piece";
		most = bytes > most ? bytes : most;
	}
	return most == schedule->length[phase] ? NULL : "a phase that is longer than its pieces";
}

const char *fors_schedule_sizes_fault(const struct fors_schedule *schedule)
{
	const char *fault = schedule->granule ? fault_of_lengths(schedule) : "a granule of 0";

	for (uint32_t phase = 0; !fault && phase < schedule->nphases; phase++)
		fault = fault_of_phase(schedule, phase);
	return fault;
}
