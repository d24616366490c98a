/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The row of one server: what it does in each phase, in the cells of the dense layout, which say everything that
 * a server has to know. A dense file has the row as it is; in a rounds file it is put together (rounds.c). Either
 * way it is believed only when it is an exchange: each other server once as receiver, once as sender. (Of a demand it is
 * another kind of exchange: pieces.c.)
 */
#include "config.h"

#include "internal.h"

#include <endian.h>
#include <stdlib.h>

/* A part that does not fit its checksum: is that still the file that was opened? */
static enum forsched_err fail_crc(const struct forsched *schedule, const char *what, struct forsched_error *error)
{
	struct shape now;

	if (!forsched_i_read_shape(&schedule->source, &now, NULL) && now.header_crc == schedule->shape.header_crc &&
	    now.more_crc == schedule->shape.more_crc && now.sizes_crc == schedule->shape.sizes_crc)
		return forsched_i_corrupt(&schedule->source, what, error);
	return forsched_i_fail(error, FORSCHED_ECHANGED, "%s: was written over while it was open; open it again",
			       schedule->source.name);
}

enum forsched_err forsched_i_read_part(const struct forsched *schedule, uint64_t offset, size_t size, uint32_t crc,
				       const char *what, void *to, struct forsched_error *error)
{
	enum forsched_err err = forsched_i_read(&schedule->source, offset, to, size, error);

	if (err || forsched_i_crc(to, size) == crc)
		return err;
	return fail_crc(schedule, what, error);
}

enum forsched_err forsched_i_read_cells(const struct forsched *schedule, uint32_t row, void *to,
					struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	size_t size = (size_t)shape->nphases * shape->cell_size;

	return forsched_i_read_part(schedule, shape->cells + (uint64_t)row * size, size, schedule->row_crc[row],
				    "checksum of a row of cells", to, error);
}

enum forsched_err forsched_i_dense_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
				       struct forsched_error *error)
{
	enum forsched_err err = forsched_i_read_cells(schedule, s, row, error);

	for (uint32_t phase = 0; !err && phase < schedule->shape.nphases; phase++) {
		row[phase].dst = le16toh(row[phase].dst);
		row[phase].src = le16toh(row[phase].src);
	}
	return err;
}

const char *forsched_i_fault_of_cell(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *cell)
{
	const struct shape *shape = &schedule->shape;
	const struct forsched_server *server = schedule->server;

	if (cell->dst == FORS_SF_IDLE) {
		if (cell->path || cell->reverse || cell->lane != FORS_SF_NO_LANE)
			return "a flow to nobody that has a path";
	} else if (cell->dst >= shape->nservers || cell->dst == s) {
		return "a flow to a server that is not there";
	} else if (cell->path >> server[cell->dst].lmc || cell->reverse >> server[s].lmc) {
		return "a path index beyond the LMC";
	} else if (forsched_i_has_ways(shape)) {
		if (cell->lane != FORS_SF_NO_SL && cell->lane > 15)
			return "a service level above 15";
	} else if (cell->lane != FORS_SF_NO_LANE && cell->lane >= shape->nlanes) {
		return "a flow over a lane that is not there";
	}
	if (cell->src == FORS_SF_IDLE)
		return cell->in_path ? "a flow from nobody that has a path" : NULL;
	if (cell->src >= shape->nservers || cell->src == s)
		return "a flow from a server that is not there";
	return cell->in_path >> server[s].lmc ? "a path index beyond the LMC" : NULL;
}

/* What the row tells of a partner. */
struct seen {
	bool is_receiver, is_sender;
	uint8_t reverse, in_path; /* of the flow from it: as the cell that sends to it says, and as it arrives */
};

static const char *note_cell(const struct fors_sf_cell *cell, struct seen *seen)
{
	if (cell->dst != FORS_SF_IDLE) {
		if (seen[cell->dst].is_receiver)
			return "a server sends to the same server twice";
		seen[cell->dst].is_receiver = true;
		seen[cell->dst].reverse = cell->reverse;
	}
	if (cell->src != FORS_SF_IDLE) {
		if (seen[cell->src].is_sender)
			return "a server receives from the same server twice";
		seen[cell->src].is_sender = true;
		seen[cell->src].in_path = cell->in_path;
	}
	return NULL;
}

static const char *fault_of_row(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
				struct seen *seen)
{
	const char *fault = NULL;

	for (uint32_t phase = 0; !fault && phase < schedule->shape.nphases; phase++) {
		fault = forsched_i_fault_of_cell(schedule, s, &row[phase]);
		if (!fault)
			fault = note_cell(&row[phase], seen);
	}
	for (uint32_t other = 0; !fault && other < schedule->shape.nservers; other++) {
		if (other != s && (!seen[other].is_receiver || !seen[other].is_sender))
			fault = "a pair of servers is missing";
		else if (seen[other].reverse != seen[other].in_path)
			fault = "the two directions of a pair contradict each other";
	}
	return fault;
}

enum forsched_err forsched_i_check_row(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
				       struct forsched_error *error)
{
	struct seen *seen = calloc(schedule->shape.nservers, sizeof(*seen));
	const char *fault;

	if (!seen)
		return forsched_i_fail_memory(error);
	fault = fault_of_row(schedule, s, row, seen);
	free(seen);
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}
