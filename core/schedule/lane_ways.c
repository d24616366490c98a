/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See lane_ways.h. What no flow uses has no way: its numbers stay "not known".
 *
 * A lane says which cable a flow goes up by, and so over which spine. Which one it comes down by only the spine's table says: with
 * parallel cables the receiver's leaf need not have one of that lane's number, or it is dead, and the entry is over another.
 */
#include "lane_ways.h"

#include <stdio.h>
#include <stdlib.h>

struct writer {
	const struct fors_schedule *schedule;
	const struct fors_fabric *fabric;
	const struct fors_lfts *lfts;
	struct fors_waylist *ways;
};

static uint32_t count_paths(const struct fors_schedule *schedule)
{
	uint32_t most = 0;

	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++)
		if (schedule->cell[i].dst != FORS_IDLE && schedule->cell[i].path > most)
			most = schedule->cell[i].path;
	return most + 1;
}

static enum fors_err start(struct writer *w, struct fors_error *error)
{
	const struct fors_fabric *fabric = w->fabric;
	uint64_t *guid = malloc((fabric->nleaves + (size_t)1) * sizeof(*guid));
	enum fors_err err;

	if (!guid)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		guid[a] = fabric->leaf[a].guid;
	err = fors_waylist_new(fabric->nleaves, guid, w->schedule->nservers, count_paths(w->schedule), &w->ways, error);
	free(guid);
	return err;
}

/* The port of a switch's entry. Errors: it has none. */
static enum fors_err find_port(const struct writer *w, uint64_t guid, uint32_t lid, uint8_t *port,
			       struct fors_error *error)
{
	uint32_t row = fors_lfts_row(w->lfts, guid);

	*port = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(w->lfts, row, lid);
	if (*port && *port != FORS_NO_PATH)
		return FORS_OK;
	return fors_fail(error, FORS_EINPUT,
			 "the table of switch 0x%016llx has no way to LID %u, which the plan sends to",
			 (unsigned long long)guid, lid);
}

/* Up by the cable of the lane at the first leaf, down by what the tables have. */
static enum fors_err put(struct writer *w, uint32_t s, struct fors_cell cell, struct fors_error *error)
{
	const struct fors_fabric *fabric = w->fabric;
	uint32_t a = w->schedule->server[s].leaf, b = w->schedule->server[cell.dst].leaf;
	uint32_t lid = w->schedule->server[cell.dst].lid + 0u + cell.path;
	struct fors_way_hop hop[3] = {{.guid = fabric->leaf[a].guid}, {.guid = 0}, {.guid = fabric->leaf[b].guid}};
	enum fors_err err;

	if (fors_waylist_find(w->ways, a, cell.dst, cell.path) != FORS_NONE)
		return FORS_OK;
	if (cell.lane == FORS_NO_LANE)
		return fors_waylist_put(w->ways, a, cell.dst, cell.path, hop, 1, FORS_WAY_NO_TOP, error);
	hop[1].guid = fabric->spine[fabric->lane[cell.lane].spine].guid;
	err = find_port(w, hop[0].guid, lid, &hop[0].port, error);
	if (!err)
		err = find_port(w, hop[1].guid, lid, &hop[1].port, error);
	return err ? err : fors_waylist_put(w->ways, a, cell.dst, cell.path, hop, 3, 1, error);
}

static enum fors_err put_all(struct writer *w, struct fors_error *error)
{
	const struct fors_schedule *schedule = w->schedule;
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; s < schedule->nservers && !err; s++)
		for (uint32_t phase = 0; phase < schedule->nphases && !err; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);

			if (cell.dst != FORS_IDLE)
				err = put(w, s, cell, error);
		}
	return err;
}

static void drop_lanes(struct fors_schedule *schedule)
{
	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++)
		schedule->cell[i].lane = FORS_NO_LANE;
	free(schedule->lane_spine);
	schedule->lane_spine = NULL;
	schedule->nlanes = 0;
}

enum fors_err fors_schedule_name(struct fors_schedule *schedule, const struct fors_fabric *fabric,
				 const struct fors_lfts *lfts, const char *name, struct fors_error *error)
{
	struct writer w = {.schedule = schedule, .fabric = fabric, .lfts = lfts};
	enum fors_err err = FORS_OK;

	if (!schedule->ways && fabric) {
		err = start(&w, error);
		if (!err)
			err = put_all(&w, error);
		if (err) {
			fors_waylist_free(w.ways);
			return err;
		}
		fors_waylist_trim(w.ways);
		schedule->ways = w.ways;
		drop_lanes(schedule);
	}
	snprintf(schedule->name, sizeof(schedule->name), "%s", name);
	return FORS_OK;
}
