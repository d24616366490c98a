/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* schedule.c - the schedule type; schedule.h explains its two layouts. */
#include "schedule.h"
#include "schedule_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_AT_ONCE 1024 /* cells: what is copied from stays in the first cache */

uint32_t fors_schedule_version(const struct fors_schedule *schedule)
{
	bool has_more = schedule->ways || schedule->sl || schedule->name[0];

	if (schedule->length)
		return FORS_SF_VERSION_SIZES;
	return has_more ? FORS_SF_VERSION_WAYS : FORS_SF_VERSION;
}

size_t fors_schedule_ncells(const struct fors_schedule *schedule)
{
	size_t rows = schedule->parts ? (size_t)schedule->nleaves * schedule->parts : schedule->nservers;

	return rows * schedule->nphases;
}

static void copy_servers(const struct fors_fabric *fabric, struct fors_schedule *schedule)
{
	for (uint32_t s = 0; s < fabric->nservers; s++) {
		const struct fors_server *from = &fabric->server[s];
		struct fors_schedule_server *to = &schedule->server[s];

		*to = (struct fors_schedule_server){.guid = from->guid,
						    .lid = from->lid,
						    .leaf = from->leaf,
						    .rank = from->rank,
						    .lmc = fabric->lmc};
		memcpy(to->desc, fabric->net->node[from->node].desc, sizeof(to->desc));
	}
	for (uint32_t k = 0; k < fabric->nlanes; k++)
		schedule->lane_spine[k] = fabric->spine[fabric->lane[k].spine].guid;
}

/* At least one cell, and all of them idle: as many more each time as there are. */
static void make_idle(struct fors_cell *cell, size_t ncells)
{
	cell[0] = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
	for (size_t done = 1, more; done < ncells; done += more) {
		more = done < IDLE_AT_ONCE ? done : IDLE_AT_ONCE;
		more = more < ncells - done ? more : ncells - done;
		memcpy(cell + done, cell, more * sizeof(*cell));
	}
}

/* Arrays of the sizes that `sizes` says, cells idle, in *schedule. */
static enum fors_err make(const struct fors_schedule *sizes, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *made;
	size_t ncells = fors_schedule_ncells(sizes);

	if (sizes->nphases > FORS_SF_MAX_PHASES)
		return fors_fail(error, FORS_ELIMIT, "the plan has %u phases; fors can represent %u", sizes->nphases,
				 FORS_SF_MAX_PHASES);
	made = malloc(sizeof(*made));
	if (!made)
		return fors_fail_memory(error);
	*made = *sizes;
	made->server = calloc((size_t)made->nservers + 1, sizeof(*made->server));
	made->lane_spine = calloc((size_t)made->nlanes + 1, sizeof(*made->lane_spine));
	made->cell = malloc((ncells + 1) * sizeof(*made->cell));
	if (!made->server || !made->lane_spine || !made->cell) {
		fors_schedule_free(made);
		return fors_fail_memory(error);
	}
	make_idle(made->cell, ncells + 1);
	*schedule = made;
	return FORS_OK;
}

enum fors_err fors_schedule_new(const struct fors_fabric *fabric, uint32_t nphases, uint32_t parts,
				uint32_t round_length, const char *method, struct fors_schedule **schedule,
				struct fors_error *error)
{
	struct fors_schedule sizes = {
		.fingerprint = fabric->fingerprint,
		.nservers = fabric->nservers,
		.nphases = nphases,
		.nleaves = fabric->nleaves,
		.nlanes = fabric->nlanes,
		.parts = parts,
		.round_length = parts ? round_length : 0,
	};
	enum fors_err err;

	snprintf(sizes.method, sizeof(sizes.method), "%s", method);
	err = make(&sizes, schedule, error);
	if (!err)
		copy_servers(fabric, *schedule);
	return err;
}

enum fors_err fors_schedule_new_of(const struct fors_schedule_server *server, uint32_t nservers, uint32_t nleaves,
				   uint32_t nphases, uint32_t parts, uint32_t round_length, const char *method,
				   struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule sizes = {
		.nservers = nservers,
		.nphases = nphases,
		.nleaves = nleaves,
		.parts = parts,
		.round_length = parts ? round_length : 0,
	};
	enum fors_err err;

	snprintf(sizes.method, sizeof(sizes.method), "%s", method);
	err = make(&sizes, schedule, error);
	if (!err && nservers)
		memcpy((*schedule)->server, server, nservers * sizeof(*server));
	return err;
}

enum fors_err fors_schedule_make_sizes(struct fors_schedule *schedule, struct fors_error *error)
{
	uint64_t *length = calloc((size_t)schedule->nphases + 1, sizeof(*length));
	uint64_t *bytes = calloc(fors_schedule_ncells(schedule) + 1, sizeof(*bytes));

	if (!length || !bytes) {
		free(length);
		free(bytes);
		return fors_fail_memory(error);
	}
	schedule->length = length;
	schedule->bytes = bytes;
	schedule->granule = 1;
	return FORS_OK;
}

void fors_schedule_free(struct fors_schedule *schedule)
{
	if (!schedule)
		return;
	fors_waylist_free(schedule->ways);
	free(schedule->sl);
	free(schedule->length);
	free(schedule->bytes);
	free(schedule->server);
	free(schedule->lane_spine);
	free(schedule->cell);
	free(schedule);
}

struct fors_cell fors_schedule_flow(const struct fors_schedule *schedule, uint32_t s, uint32_t phase)
{
	static const struct fors_cell idle = {FORS_IDLE, 0, FORS_NO_LANE};
	const struct fors_schedule_server *server = &schedule->server[s];
	uint32_t length = schedule->round_length, virtual_leaf = server->leaf, member = server->rank, turn, position;
	struct fors_cell cell;

	if (!schedule->parts) {
		cell = schedule->cell[(size_t)s * schedule->nphases + phase];
		return cell.dst == s ? idle : cell;
	}
	if (schedule->parts > 1) { /* divisions are most of the work here, and verifiers ask a million times */
		virtual_leaf = server->leaf * schedule->parts + server->rank % schedule->parts;
		member = server->rank / schedule->parts;
	}
	turn = phase % length;
	position = member >= turn ? member - turn : member + length - turn;
	if (position >= length)
		position %= length;
	cell = schedule->cell[(size_t)virtual_leaf * schedule->nphases + (phase - turn) + position];
	return cell.dst == s ? idle : cell;
}

static bool is_busy(const struct fors_schedule *schedule, uint32_t phase)
{
	for (uint32_t s = 0; s < schedule->nservers; s++)
		if (fors_schedule_flow(schedule, s, phase).dst != FORS_IDLE)
			return true;
	return false;
}

uint32_t fors_schedule_nbusy(const struct fors_schedule *schedule)
{
	uint32_t busy = 0;

	for (uint32_t phase = 0; phase < schedule->nphases; phase++)
		busy += is_busy(schedule, phase);
	return busy;
}

/* One division for all of them. */
static void read_rounds(const struct fors_schedule *schedule, uint32_t s, uint32_t first, uint32_t n,
			struct fors_cell *to)
{
	const struct fors_schedule_server *server = &schedule->server[s];
	uint32_t length = schedule->round_length, parts = schedule->parts, turn = first % length;
	uint32_t v = server->leaf * parts + server->rank % parts, member = server->rank / parts % length;
	const struct fors_cell *round = &schedule->cell[(size_t)v * schedule->nphases + (first - turn)];

	for (uint32_t i = 0; i < n; i++) {
		to[i] = round[member >= turn ? member - turn : member + length - turn];
		if (++turn == length) {
			turn = 0;
			round += length;
		}
	}
}

const struct fors_cell *fors_schedule_flows(const struct fors_schedule *schedule, uint32_t s, uint32_t first,
					    uint32_t n, struct fors_cell *room)
{
	if (!schedule->parts)
		return &schedule->cell[(size_t)s * schedule->nphases + first];
	read_rounds(schedule, s, first, n, room);
	return room;
}

uint32_t fors_schedule_way(const struct fors_schedule *schedule, uint32_t s, struct fors_cell cell)
{
	if (!schedule->ways || cell.dst == FORS_IDLE)
		return FORS_NONE;
	return fors_waylist_find(schedule->ways, schedule->server[s].leaf, cell.dst, cell.path);
}

uint8_t fors_schedule_sl(const struct fors_schedule *schedule, uint32_t s, uint32_t d)
{
	return schedule->sl ? schedule->sl[(size_t)s * schedule->nservers + d] : FORS_NO_SL;
}

uint32_t fors_schedule_find(const struct fors_schedule *schedule, uint64_t guid)
{
	for (uint32_t s = 0; s < schedule->nservers; s++)
		if (schedule->server[s].guid == guid)
			return s;
	return FORS_NONE;
}
