/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Version 3: the schedule of a demand. Phases have lengths, read at open, and a cell says how much of a message goes. A row
 * is believed when each piece fits its phase; which pairs exchange, and how much, is the demand's business. The rules and
 * their numbers are those of schedule_format.h.
 *
 * Lengths are bounded, and so is their sum. A server sends at most one piece in a phase, and none is longer than the phase:
 * so no sum here overflows.
 */
#include "config.h"

#include "internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/* ---- at open: lengths ---- */

/* Rule 16. */
static const char *fault_of_lengths(const struct forsched *schedule)
{
	uint64_t left = FORS_SF_MAX_TIME;

	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++) {
		uint64_t length = schedule->length[phase];

		if (length < 1 || length > FORS_SF_MAX_LENGTH || length % schedule->shape.granule)
			return "the length of a phase";
		if (length > left)
			return "phases that are too long together";
		left -= length;
	}
	return NULL;
}

enum forsched_err forsched_i_read_lengths(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	enum forsched_err err = FORSCHED_OK;
	const char *fault;

	schedule->length =
		forsched_i_read_section(&schedule->source, shape->lengths, (size_t)shape->nphases * sizeof(uint64_t),
					shape->lengths_crc, "checksum of the lengths", &err, error);
	if (err)
		return err;
	for (uint32_t phase = 0; phase < shape->nphases; phase++)
		schedule->length[phase] = le64toh(schedule->length[phase]);
	fault = fault_of_lengths(schedule);
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}

/* ---- a row ---- */

enum forsched_err forsched_i_pieces_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_piece *piece, struct forsched_error *error)
{
	uint32_t nphases = schedule->shape.nphases;
	struct fors_sf_piece *from = malloc((size_t)nphases * sizeof(*from));
	enum forsched_err err = from ? forsched_i_read_cells(schedule, s, from, error) : forsched_i_fail_memory(error);

	for (uint32_t phase = 0; !err && phase < nphases; phase++) {
		row[phase] = from[phase].cell;
		row[phase].dst = le16toh(row[phase].dst);
		row[phase].src = le16toh(row[phase].src);
		piece[phase] = (struct forsched_piece){.bytes = le64toh(from[phase].bytes),
						       .in_bytes = le64toh(from[phase].in_bytes)};
	}
	free(from);
	return err;
}

/* What a row tells of a partner. */
struct partner {
	uint64_t sent, received;
	bool is_receiver;
	uint8_t sl; /* of the first piece to it */
};

/* Is a size one that a piece in this phase may have, where somebody is at its other end or nobody? */
static bool is_size(const struct forsched *schedule, uint32_t phase, uint16_t partner, uint64_t bytes)
{
	if (partner == FORS_SF_IDLE)
		return bytes == 0;
	return bytes > 0 && bytes <= schedule->length[phase] && bytes % schedule->shape.granule == 0;
}

/* Rules 11 and 17, as far as one row shows them. */
static const char *fault_of_piece(const struct forsched *schedule, uint32_t s, uint32_t phase,
				  const struct fors_sf_cell *cell, const struct forsched_piece *piece)
{
	const char *fault = forsched_i_fault_of_cell(schedule, s, cell);

	if (fault)
		return fault;
	if (cell->dst != FORS_SF_IDLE && cell->reverse != (cell->path & ((1u << schedule->server[s].lmc) - 1)))
		return "source path bits that do not belong to the path index";
	if (!is_size(schedule, phase, cell->dst, piece->bytes) || !is_size(schedule, phase, cell->src, piece->in_bytes))
		return "the size of a piece";
	return NULL;
}

/* How much went before; the totals are those so far. */
static const char *note_piece(const struct fors_sf_cell *cell, struct forsched_piece *piece, struct partner *partner)
{
	if (cell->dst != FORS_SF_IDLE) {
		struct partner *to = &partner[cell->dst];

		if (to->is_receiver && to->sl != cell->lane)
			return "a pair with two service levels";
		to->is_receiver = true;
		to->sl = cell->lane;
		piece->offset = to->sent;
		to->sent += piece->bytes;
	}
	if (cell->src != FORS_SF_IDLE) {
		piece->in_offset = partner[cell->src].received;
		partner[cell->src].received += piece->in_bytes;
	}
	return NULL;
}

static void fill_totals(const struct forsched *schedule, const struct fors_sf_cell *row, const struct partner *partner,
			struct forsched_piece *piece)
{
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++) {
		if (row[phase].dst != FORS_SF_IDLE)
			piece[phase].total = partner[row[phase].dst].sent;
		if (row[phase].src != FORS_SF_IDLE)
			piece[phase].in_total = partner[row[phase].src].received;
	}
}

enum forsched_err forsched_i_check_pieces(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
					  struct forsched_piece *piece, struct forsched_error *error)
{
	struct partner *partner = calloc(schedule->shape.nservers, sizeof(*partner));
	const char *fault = NULL;

	if (!partner)
		return forsched_i_fail_memory(error);
	for (uint32_t phase = 0; !fault && phase < schedule->shape.nphases; phase++) {
		fault = fault_of_piece(schedule, s, phase, &row[phase], &piece[phase]);
		if (!fault)
			fault = note_piece(&row[phase], &piece[phase], partner);
	}
	if (!fault)
		fill_totals(schedule, row, partner, piece);
	free(partner);
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}

/* ---- all of it ---- */

/* Does the sender of what a server receives say the same? (That each receiver does is known.) */
static bool is_sent(const struct forsched *schedule, uint32_t s, uint32_t phase)
{
	uint16_t from = schedule->row[s][phase].src;

	if (from == FORS_SF_IDLE)
		return true;
	return schedule->row[from][phase].dst == s &&
	       schedule->piece[from][phase].bytes == schedule->piece[s][phase].in_bytes;
}

static const char *fault_of_phase(const struct forsched *schedule, uint32_t phase)
{
	bool is_filled = false;

	for (uint32_t s = 0; s < schedule->shape.nservers; s++) {
		if (!is_sent(schedule, s, phase))
			return "sender and receiver contradict each other";
		is_filled |= schedule->piece[s][phase].bytes == schedule->length[phase];
	}
	return is_filled ? NULL : "a phase that is longer than its pieces";
}

/* Rule 18, a sender after another: what it has for each receiver is told by the first piece to it. */
static uint32_t add_sender(const struct forsched *schedule, uint32_t s, uint64_t *total, uint32_t crc)
{
	memset(total, 0, schedule->shape.nservers * sizeof(*total));
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++)
		if (schedule->row[s][phase].dst != FORS_SF_IDLE)
			total[schedule->row[s][phase].dst] = schedule->piece[s][phase].total;
	for (uint32_t d = 0; d < schedule->shape.nservers; d++) {
		uint64_t numbers[3] = {htole64(schedule->server[s].guid), htole64(schedule->server[d].guid),
				       htole64(total[d])};

		if (total[d])
			crc = (uint32_t)crc32_z(crc, (const void *)numbers, sizeof(numbers));
	}
	return crc;
}

enum forsched_err forsched_i_check_demand(const struct forsched *schedule, struct forsched_error *error)
{
	uint64_t *total = malloc(schedule->shape.nservers * sizeof(*total));
	const char *fault = NULL;
	uint32_t crc = 0;

	if (!total)
		return forsched_i_fail_memory(error);
	for (uint32_t phase = 0; !fault && phase < schedule->shape.nphases; phase++)
		fault = fault_of_phase(schedule, phase);
	for (uint32_t s = 0; s < schedule->shape.nservers; s++)
		crc = add_sender(schedule, s, total, crc);
	free(total);
	if (!fault && crc != schedule->shape.demand_crc)
		fault = "checksum of the demand";
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}
