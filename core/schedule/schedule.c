/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* schedule.c - the schedule type; schedule.h explains its two layouts. */
#include "schedule.h"
#include "schedule_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum fors_err fors_schedule_new(const struct fors_fabric *fabric, uint32_t nphases, uint32_t parts,
				uint32_t round_length, const char *method, struct fors_schedule **schedule,
				struct fors_error *error)
{
	struct fors_schedule *made;
	size_t ncells;

	if (nphases > FORS_SF_MAX_PHASES)
		return fors_fail(error, FORS_ELIMIT, "the plan has %u phases; fors can represent %u", nphases,
				 FORS_SF_MAX_PHASES);
	made = calloc(1, sizeof(*made));
	if (!made)
		return fors_fail_memory(error);
	made->fingerprint = fabric->fingerprint;
	made->nservers = fabric->nservers;
	made->nphases = nphases;
	made->nleaves = fabric->nleaves;
	made->nlanes = fabric->nlanes;
	made->parts = parts;
	made->round_length = parts ? round_length : 0;
	snprintf(made->method, sizeof(made->method), "%s", method);
	ncells = fors_schedule_ncells(made);
	made->server = calloc((size_t)made->nservers + 1, sizeof(*made->server));
	made->lane_spine = calloc((size_t)made->nlanes + 1, sizeof(*made->lane_spine));
	made->cell = malloc((ncells + 1) * sizeof(*made->cell));
	if (!made->server || !made->lane_spine || !made->cell) {
		fors_schedule_free(made);
		return fors_fail_memory(error);
	}
	for (size_t i = 0; i < ncells; i++)
		made->cell[i] = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
	copy_servers(fabric, made);
	*schedule = made;
	return FORS_OK;
}

void fors_schedule_free(struct fors_schedule *schedule)
{
	if (!schedule)
		return;
	free(schedule->server);
	free(schedule->lane_spine);
	free(schedule->cell);
	free(schedule);
}

struct fors_cell fors_schedule_flow(const struct fors_schedule *schedule, uint32_t s, uint32_t phase)
{
	static const struct fors_cell idle = {FORS_IDLE, 0, FORS_NO_LANE};
	const struct fors_schedule_server *server = &schedule->server[s];
	uint32_t length = schedule->round_length, virtual_leaf, member, first, position;
	struct fors_cell cell;

	if (!schedule->parts) {
		cell = schedule->cell[(size_t)s * schedule->nphases + phase];
		return cell.dst == s ? idle : cell;
	}
	virtual_leaf = server->leaf * schedule->parts + server->rank % schedule->parts;
	member = server->rank / schedule->parts;
	first = phase / length * length;
	position = (member + length - phase % length) % length;
	cell = schedule->cell[(size_t)virtual_leaf * schedule->nphases + first + position];
	return cell.dst == s ? idle : cell;
}

uint32_t fors_schedule_find(const struct fors_schedule *schedule, uint64_t guid)
{
	for (uint32_t s = 0; s < schedule->nservers; s++)
		if (schedule->server[s].guid == guid)
			return s;
	return FORS_NONE;
}
