/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* paths.c - PathRecords: all from a server, then one by one what is still missing. */
#include "paths.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "core/base/random.h"
#include "core/schedule/schedule.h"
#include "wire.h"

#define MEAN_SINGLE 256u      /* paths that are asked for singly, on average */
#define MOST_PATHS (1u << 18) /* that are asked for by server */
#define RECORD 64	      /* bytes of a PathRecord */
#define MASK_DLID (1u << 4)   /* component mask */
#define MASK_SLID (1u << 5)
#define AT_DLID 40
#define AT_SLID 42
#define AT_SL 53

struct asking {
	struct fors_mads *mads;
	struct fors_levels *levels;
	struct fors_error *error;
	enum fors_err err;
};

static uint8_t *level_of(const struct fors_levels *levels, uint16_t src, uint16_t dst)
{
	if (src >= levels->lid_end || dst >= levels->lid_end || levels->server_of[src] == FORS_NONE ||
	    levels->server_of[dst] == FORS_NONE)
		return NULL;
	return &levels->sl[(size_t)levels->server_of[src] * levels->nlids + levels->column_of[dst]];
}

static void take(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct asking *asking = context;
	size_t step = end == FORS_MAD_ANSWERED && mad->record >= RECORD ? mad->record : RECORD;

	(void)tag;
	if (end == FORS_MAD_LOST && !asking->err) {
		asking->err = fors_fail(asking->error, FORS_EIO,
					"the subnet administration does not answer when asked for service levels");
		fors_mads_forget(asking->mads);
	}
	for (size_t at = 0; end == FORS_MAD_ANSWERED && at + RECORD <= mad->size; at += step) {
		const uint8_t *record = mad->data + at;
		uint8_t *level = level_of(asking->levels, fors_get16(record + AT_SLID), fors_get16(record + AT_DLID));

		if (level)
			*level = record[AT_SL] & 15;
	}
}

static void ask(struct asking *asking, bool is_table, uint16_t src, uint16_t dst)
{
	uint8_t record[RECORD] = {0};
	const struct fors_sa_question question = {.what = is_table ? FORS_SA_TABLE : FORS_SA_GET,
						  .attribute = FORS_ATTR_PATH_REC,
						  .mask = MASK_SLID | (is_table ? 0 : MASK_DLID),
						  .record = record,
						  .size = sizeof(record)};

	fors_put16(record + AT_DLID, dst);
	fors_put16(record + AT_SLID, src);
	if (!asking->err && fors_mads_ask(asking->mads, &question, take, asking, 0))
		asking->err = fors_fail_memory(asking->error);
}

static enum fors_err answer(struct asking *asking)
{
	enum fors_err err = asking->err ? asking->err : fors_mads_run(asking->mads, asking->error);

	return asking->err ? asking->err : err;
}

static bool is_path(const struct fors_levels *levels, uint32_t server, uint32_t column)
{
	return levels->server_of[levels->lid[column]] != server;
}

static uint64_t count_missing(const struct fors_levels *levels, uint32_t server)
{
	uint64_t missing = 0;

	for (uint32_t column = 0; column < levels->nlids; column++)
		missing += is_path(levels, server, column) &&
			   levels->sl[(size_t)server * levels->nlids + column] == FORS_NO_SL;
	return missing;
}

/* The first server shows whether its answer has all paths: a cut answer is no use for the others either. */
static enum fors_err ask_by_server(struct asking *asking)
{
	const struct fors_levels *levels = asking->levels;
	enum fors_err err;

	if (!levels->nservers || (uint64_t)levels->nservers * levels->nlids > MOST_PATHS)
		return FORS_OK;
	ask(asking, true, levels->base[0], 0);
	err = answer(asking);
	if (err || count_missing(levels, 0))
		return err;
	for (uint32_t server = 1; server < levels->nservers; server++)
		ask(asking, true, levels->base[server], 0);
	return answer(asking);
}

/* Is this path one of the few that are asked for, where no answer has told so many? */
static bool is_drawn(uint32_t server, uint32_t column, uint64_t missing)
{
	return fors_random_of((uint64_t)server << 32 | column) % missing < MEAN_SINGLE;
}

static enum fors_err ask_one_by_one(struct asking *asking)
{
	const struct fors_levels *levels = asking->levels;
	uint64_t missing = 0;

	for (uint32_t server = 0; server < levels->nservers; server++)
		missing += count_missing(levels, server);
	for (uint32_t server = 0; server < levels->nservers && missing; server++)
		for (uint32_t column = 0; column < levels->nlids; column++)
			if (is_path(levels, server, column) &&
			    levels->sl[(size_t)server * levels->nlids + column] == FORS_NO_SL &&
			    is_drawn(server, column, missing))
				ask(asking, false, levels->base[server], levels->lid[column]);
	return answer(asking);
}

static void add(const struct fors_levels *levels, uint32_t server, uint32_t column, unsigned wanted,
		struct fors_paths *paths)
{
	uint8_t level = levels->sl[(size_t)server * levels->nlids + column];

	paths->count++;
	if (level == FORS_NO_SL)
		return;
	paths->is_one &= !paths->known || level == paths->level;
	paths->level = paths->known++ ? paths->level : level;
	if (level == wanted || paths->src)
		return;
	paths->src = levels->base[server];
	paths->dst = levels->lid[column];
	paths->other = level;
}

struct fors_paths fors_paths_sum(const struct fors_levels *levels, unsigned wanted)
{
	struct fors_paths paths = {.is_one = true};

	for (uint32_t server = 0; server < levels->nservers; server++)
		for (uint32_t column = 0; column < levels->nlids; column++)
			if (is_path(levels, server, column))
				add(levels, server, column, wanted, &paths);
	paths.is_one &= paths.known > 0;
	return paths;
}

/* A server has no path to itself. */
static void forget(struct fors_levels *levels)
{
	for (uint32_t server = 0; server < levels->nservers; server++)
		for (uint32_t column = 0; column < levels->nlids; column++)
			levels->sl[(size_t)server * levels->nlids + column] =
				is_path(levels, server, column) ? FORS_NO_SL : 0;
}

enum fors_err fors_paths_ask(struct fors_mads *mads, struct fors_levels *levels, struct fors_error *error)
{
	struct asking asking = {.mads = mads, .levels = levels, .error = error};
	enum fors_err err;

	forget(levels);
	err = ask_by_server(&asking);
	return err ? err : ask_one_by_one(&asking);
}
