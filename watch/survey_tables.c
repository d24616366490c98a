/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey_tables.c - linear forwarding tables, block by block: a switch says how far its table goes, then is asked for that
 * much.
 */
#include "survey_inside.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "wire.h"

static void take_block(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;
	uint32_t node = (uint32_t)(tag >> 16), block = (uint16_t)tag;
	struct fors_seen_node *seen = &reader->survey->node[node];

	if (end != FORS_MAD_ANSWERED)
		fors_reader_unanswered(reader, node, "forwarding table", end);
	else
		memcpy(seen->table + (size_t)block * FORS_LFT_BLOCK, mad->data, FORS_LFT_BLOCK);
}

/* Room for a whole number of blocks. */
static bool make_room(struct fors_seen_node *seen)
{
	uint32_t room = (seen->top / FORS_LFT_BLOCK + 1) * FORS_LFT_BLOCK;
	uint8_t *table = room == seen->table_room ? seen->table : realloc(seen->table, room);

	if (!table)
		return false;
	seen->table = table;
	seen->table_room = room;
	return true;
}

static void ask_blocks(struct fors_survey_reader *reader, uint32_t node)
{
	struct fors_seen_node *seen = &reader->survey->node[node];

	reader->blocks += seen->top / FORS_LFT_BLOCK + 1;
	if (reader->blocks > FORS_SURVEY_BLOCKS) {
		fors_reader_fail(reader,
				 fors_fail(reader->error, FORS_ELIMIT,
					   "the switches have more than %u blocks of table entries: that is no fabric "
					   "of one subnet",
					   FORS_SURVEY_BLOCKS));
		return;
	}
	if (!make_room(seen)) {
		fors_reader_fail(reader, fors_fail_memory(reader->error));
		return;
	}
	for (uint32_t block = 0; block * FORS_LFT_BLOCK < seen->table_room && !reader->err; block++)
		if (fors_mads_get(reader->mads, &seen->way, FORS_ATTR_LINEAR_FT, block, take_block, reader,
				  (uint64_t)node << 16 | block))
			fors_reader_fail(reader, fors_fail_memory(reader->error));
}

/* A top beyond all LIDs, or beyond what the switch has room for, is cut. */
static void take_switch(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;
	struct fors_seen_node *seen = &reader->survey->node[tag];
	uint32_t room;

	if (end != FORS_MAD_ANSWERED) {
		fors_reader_unanswered(reader, (uint32_t)tag, "SwitchInfo", end);
		return;
	}
	room = fors_get16(mad->data);
	seen->top = fors_get16(mad->data + 6);
	seen->has_changed = mad->data[11] & 0x04;
	if (room && seen->top >= room)
		seen->top = room - 1;
	if (seen->top > FORS_LID_MAX)
		seen->top = FORS_LID_MAX;
	ask_blocks(reader, (uint32_t)tag);
}

enum fors_err fors_survey_tables(struct fors_survey *survey, struct fors_mads *mads, struct fors_error *error)
{
	struct fors_survey_reader reader = {.survey = survey, .mads = mads, .error = error};

	for (uint32_t i = 0; i < survey->nnodes && !reader.err; i++)
		if (survey->node[i].type == FORS_SWITCH &&
		    fors_mads_get(mads, &survey->node[i].way, FORS_ATTR_SWITCH_INFO, 0, take_switch, &reader, i))
			fors_reader_fail(&reader, fors_fail_memory(error));
	return fors_reader_run(&reader);
}

/* ---- as data ---- */

static int by_guid(const void *a, const void *b)
{
	const struct fors_seen_node *const *x = a, *const *y = b;

	return (*x)->guid < (*y)->guid ? -1 : (*x)->guid > (*y)->guid;
}

static void fill_rows(const struct fors_seen_node **row, struct fors_lfts *lfts)
{
	for (uint32_t i = 0; i < lfts->nswitches; i++) {
		uint32_t count = row[i]->top + 1 < lfts->nlids ? row[i]->top + 1 : lfts->nlids;

		lfts->guid[i] = row[i]->guid;
		if (row[i]->table)
			memcpy(lfts->port + (size_t)i * lfts->nlids, row[i]->table, count);
	}
}

enum fors_err fors_survey_lfts(const struct fors_survey *survey, struct fors_lfts **lfts, struct fors_error *error)
{
	const struct fors_seen_node **row = calloc(survey->nswitches + (size_t)1, sizeof(*row));
	uint32_t count = 0, top = 0;
	struct fors_lfts *made;

	for (uint32_t i = 0; row && i < survey->nnodes; i++)
		if (survey->node[i].type == FORS_SWITCH) {
			row[count++] = &survey->node[i];
			top = survey->node[i].top > top ? survey->node[i].top : top;
		}
	made = row ? fors_lfts_new(count, top + 1) : NULL;
	if (made) {
		qsort(row, count, sizeof(*row), by_guid);
		fill_rows(row, made);
		*lfts = made;
	}
	free(row);
	return made ? FORS_OK : fors_fail_memory(error);
}
