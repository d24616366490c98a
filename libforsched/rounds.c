/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One server's row, from the rounds layout. A cell (virtual leaf v, round, position i) names a receiver d, to which the
 * members of v send one after another: member (u + i) mod length in the round's phase u. So
 *
 * - what server s sends is in its own virtual leaf's row: in phase u, at position (member - u) mod length;
 * - what it receives is in every cell that names s: each brings it the members of that v, over the same path.
 *
 * The whole plan is a few bytes per (leaf, server), so all of it is read when the first row is asked for, and the
 * cells are sorted by whom they name.
 */
#include "config.h"

#include "internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER UINT32_MAX

static void decode_numbers(const struct shape *shape, const unsigned char *from, uint32_t *to)
{
	for (uint32_t column = 0; column < shape->nphases; column++) {
		uint16_t narrow;
		uint32_t wide;

		if (shape->cell_size == 2) {
			memcpy(&narrow, from + (size_t)column * 2, 2);
			to[column] = le16toh(narrow) == UINT16_MAX ? NO_NUMBER : le16toh(narrow);
		} else {
			memcpy(&wide, from + (size_t)column * 4, 4);
			to[column] = le32toh(wide);
		}
	}
}

static uint32_t receiver_of(const struct shape *shape, uint32_t number)
{
	return number == NO_NUMBER ? NO_NUMBER : number / shape->npaths / (shape->nlanes + 1);
}

static uint8_t path_of(const struct shape *shape, uint32_t number)
{
	return (uint8_t)(number % shape->npaths);
}

/*
 * Receivers have to exist before anybody looks them up, and paths have to be theirs also where the cell stands for
 * nobody; the rest is for forsched_i_check_row(). What is wrong, or NULL: nothing; *npaths grows.
 */
static const char *fault_of_numbers(const struct forsched *schedule, const uint32_t *number, uint32_t *npaths)
{
	const struct shape *shape = &schedule->shape;

	for (uint32_t column = 0; column < shape->nphases; column++) {
		uint32_t receiver = receiver_of(shape, number[column]), path = path_of(shape, number[column]);

		if (receiver == NO_NUMBER)
			continue;
		if (receiver >= shape->nservers)
			return "a flow to a server that is not there";
		if (path >> schedule->server[receiver].lmc)
			return "a path index beyond the LMC";
		if (path >= *npaths)
			*npaths = path + 1;
	}
	return NULL;
}

/* All cells as numbers, nrows x nphases, and the paths that they use. */
static enum forsched_err read_numbers(const struct forsched *schedule, uint32_t *number, uint32_t *npaths,
				      struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	unsigned char *cells = malloc((size_t)shape->nphases * shape->cell_size);
	enum forsched_err err = cells ? FORSCHED_OK : forsched_i_fail_memory(error);

	for (uint32_t row = 0; !err && row < shape->nrows; row++, number += shape->nphases) {
		const char *fault;

		err = forsched_i_read_cells(schedule, row, cells, error);
		if (err)
			break;
		decode_numbers(shape, cells, number);
		fault = fault_of_numbers(schedule, number, npaths);
		if (fault)
			err = forsched_i_corrupt(&schedule->source, fault, error);
	}
	free(cells);
	return err;
}

/* Sort cells by receiver: those of d are cell[first[d]] .. cell[first[d + 1] - 1]. first has nservers + 2 places, all
 * 0. */
static void sort_cells(const struct shape *shape, struct forsched_cells *cells)
{
	size_t ncells = (size_t)shape->nrows * shape->nphases;

	for (size_t i = 0; i < ncells; i++)
		if (cells->number[i] != NO_NUMBER)
			cells->first[receiver_of(shape, cells->number[i]) + 2]++;
	for (uint32_t d = 0; d < shape->nservers; d++)
		cells->first[d + 2] += cells->first[d + 1];
	for (size_t i = 0; i < ncells; i++)
		if (cells->number[i] != NO_NUMBER)
			cells->cell[cells->first[receiver_of(shape, cells->number[i]) + 1]++] = (uint32_t)i;
}

void forsched_i_cells_free(struct forsched_cells *cells)
{
	free(cells->number);
	free(cells->cell);
	free(cells->first);
	*cells = (struct forsched_cells){.number = NULL};
}

static enum forsched_err read_all(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	size_t ncells = (size_t)shape->nrows * shape->nphases;
	struct forsched_cells made = {
		.number = malloc(ncells * sizeof(uint32_t) + 1),
		.cell = malloc(ncells * sizeof(uint32_t) + 1),
		.first = calloc((size_t)shape->nservers + 2, sizeof(uint32_t)),
		.npaths = 1,
	};
	enum forsched_err err = made.number && made.cell && made.first ? FORSCHED_OK : forsched_i_fail_memory(error);

	if (!err)
		err = read_numbers(schedule, made.number, &made.npaths, error);
	if (err) {
		forsched_i_cells_free(&made);
		return err;
	}
	sort_cells(shape, &made);
	schedule->cells = made;
	return FORSCHED_OK;
}

static uint8_t lane_of(const struct shape *shape, uint32_t number)
{
	uint32_t lane = number / shape->npaths % (shape->nlanes + 1);

	return lane == shape->nlanes ? FORS_SF_NO_LANE : (uint8_t)lane;
}

/* What s sends. */
static void put_sends(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row)
{
	const struct shape *shape = &schedule->shape;
	const struct forsched_server *server = &schedule->server[s];
	uint32_t length = shape->round_length, member = server->rank / shape->parts;
	const uint32_t *own = schedule->cells.number +
			      (size_t)(server->leaf * shape->parts + server->rank % shape->parts) * shape->nphases;

	for (uint32_t phase = 0; phase < shape->nphases; phase++) {
		uint32_t number = own[phase / length * length + (member + length - phase % length) % length];

		if (number == NO_NUMBER || receiver_of(shape, number) == s)
			continue;
		row[phase].dst = (uint16_t)receiver_of(shape, number);
		row[phase].path = path_of(shape, number);
		row[phase].lane = lane_of(shape, number);
	}
}

/* The cell at `column` of virtual leaf v names s: its members send to s. False: s is busy then already. */
static bool put_members(const struct forsched *schedule, uint32_t s, uint32_t v, uint32_t column,
			struct fors_sf_cell *row)
{
	const struct shape *shape = &schedule->shape;
	uint32_t length = shape->round_length, first = column / length * length, i = column % length;
	uint32_t leaf = v / shape->parts, group = v % shape->parts;
	uint32_t nservers = schedule->leaf_first[leaf + 1] - schedule->leaf_first[leaf];

	for (uint32_t rank = group, member = 0; rank < nservers; rank += shape->parts, member++) {
		struct fors_sf_cell *cell = &row[first + (member + length - i) % length];
		uint32_t from = schedule->leaf_first[leaf] + rank;

		if (from == s)
			continue;
		if (cell->src != FORS_SF_IDLE)
			return false;
		cell->src = (uint16_t)from;
		cell->in_path = path_of(shape, schedule->cells.number[(size_t)v * shape->nphases + column]);
	}
	return true;
}

static bool put_receives(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row)
{
	const struct forsched_cells *cells = &schedule->cells;
	uint32_t nphases = schedule->shape.nphases;

	for (uint32_t i = cells->first[s]; i < cells->first[s + 1]; i++)
		if (!put_members(schedule, s, cells->cell[i] / nphases, cells->cell[i] % nphases, row))
			return false;
	return true;
}

bool forsched_i_put_reverse(const struct forsched *schedule, struct fors_sf_cell *row)
{
	uint32_t nphases = schedule->shape.nphases;
	uint8_t *in_path = calloc(schedule->shape.nservers, 1);

	if (!in_path)
		return false;
	for (uint32_t phase = 0; phase < nphases; phase++)
		if (row[phase].src != FORS_SF_IDLE)
			in_path[row[phase].src] = row[phase].in_path;
	for (uint32_t phase = 0; phase < nphases; phase++)
		if (row[phase].dst != FORS_SF_IDLE)
			row[phase].reverse = in_path[row[phase].dst];
	free(in_path);
	return true;
}

enum forsched_err forsched_i_rounds_row(struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_error *error)
{
	enum forsched_err err = schedule->cells.number ? FORSCHED_OK : read_all(schedule, error);

	if (err)
		return err;
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++)
		row[phase] = (struct fors_sf_cell){.dst = FORS_SF_IDLE, .src = FORS_SF_IDLE, .lane = FORS_SF_NO_LANE};
	put_sends(schedule, s, row);
	if (!put_receives(schedule, s, row))
		return forsched_i_corrupt(&schedule->source, "two servers send to the same one at the same time",
					  error);
	return forsched_i_put_reverse(schedule, row) ? FORSCHED_OK : forsched_i_fail_memory(error);
}
