/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stamp_schedule FILE EPOCH [REASON]: give a schedule file an epoch; with a reason, replace it by a withdrawn one.
 * stamp_schedule FILE EPOCH --more LETTERS: make it one of version 2, with a name (n), the ways that its lanes are (w; GUIDs
 * of leaves are 0x1eaf0000 and up), service levels of units (s) or of flows (m), and a cell for each flow (d).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"

static int save(const char *path, const struct fors_schedule *schedule)
{
	void *bytes;
	size_t size;
	FILE *file;

	if (fors_schedule_encode(schedule, &bytes, &size, NULL))
		return 1;
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		return 1;
	free(bytes);
	return 0;
}

static enum fors_err load(const char *path, struct fors_schedule **schedule)
{
	static char bytes[1 << 22];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return FORS_EIO;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return fors_schedule_decode(bytes, size, path, schedule, NULL);
}

static uint64_t leaf_guid(uint32_t leaf)
{
	return 0x1eaf0000 + leaf;
}

static enum fors_err add_way(struct fors_schedule *schedule, uint32_t s, struct fors_cell cell)
{
	uint32_t from = schedule->server[s].leaf, to = schedule->server[cell.dst].leaf;
	struct fors_way_hop hop[3] = {
		{leaf_guid(from), (uint8_t)(cell.lane + 1)}, {0, (uint8_t)(to + 1)}, {leaf_guid(to), 0}};

	if (cell.lane != FORS_NO_LANE)
		hop[1].guid = schedule->lane_spine[cell.lane];
	return fors_waylist_put(schedule->ways, from, cell.dst, cell.path, hop, cell.lane == FORS_NO_LANE ? 1 : 3, 1,
				NULL);
}

static enum fors_err add_ways(struct fors_schedule *schedule)
{
	uint64_t guid[256];
	enum fors_err err;

	for (uint32_t leaf = 0; leaf < schedule->nleaves && leaf < 256; leaf++)
		guid[leaf] = leaf_guid(leaf);
	err = fors_waylist_new(schedule->nleaves, guid, schedule->nservers, 128, &schedule->ways, NULL);
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; !err && phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);

			if (cell.dst != FORS_IDLE)
				err = add_way(schedule, s, cell);
		}
	return err;
}

static enum fors_err add_sls(struct fors_schedule *schedule, bool is_mixed)
{
	size_t n = schedule->nservers;

	schedule->sl = malloc(n * n + 1);
	if (!schedule->sl)
		return FORS_ENOMEM;
	for (size_t s = 0; s < n; s++)
		for (size_t d = 0; d < n; d++)
			schedule->sl[s * n + d] =
				(uint8_t)((schedule->server[s].leaf + d + (is_mixed ? schedule->server[s].rank : 0)) %
					  16);
	return FORS_OK;
}

static enum fors_err add_more(struct fors_schedule *schedule, const char *letters)
{
	enum fors_err err = strchr(letters, 'w') ? add_ways(schedule) : FORS_OK;

	if (!err && strpbrk(letters, "sm"))
		err = add_sls(schedule, strchr(letters, 'm'));
	if (strchr(letters, 'n')) {
		strcpy(schedule->name, "4711");
		schedule->fabric_epoch = 3;
	}
	schedule->is_dense = strchr(letters, 'd');
	schedule->nlanes = 0;
	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++)
		schedule->cell[i].lane = FORS_NO_LANE;
	return err;
}

int main(int argc, char **argv)
{
	bool has_more = argc > 4 && !strcmp(argv[3], "--more");
	struct fors_schedule *schedule = NULL;
	uint64_t epoch;
	int code;

	if (argc < 3)
		return 2;
	epoch = strtoull(argv[2], NULL, 10);
	if (argc > 3 && !has_more ? fors_schedule_withdrawn(epoch, argv[3], &schedule, NULL) : load(argv[1], &schedule))
		return 1;
	schedule->epoch = epoch;
	if (has_more && add_more(schedule, argv[4]))
		return 1;
	code = save(argv[1], schedule);
	fors_schedule_free(schedule);
	return code;
}
