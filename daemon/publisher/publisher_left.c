/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publisher_left.c - what an earlier opensm left in the state folder.
 *
 * The highest epoch that is believed counts, whichever file has it: one may be damaged, and the clock behind. Which is
 * why the schedule comes after the others that readers saw.
 */
#include "publisher_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/status/history.h"
#include "daemon/files/epoch.h"
#include "daemon/base/log.h"

#define SCHEDULE_MAX_BYTES (1u << 30)

/* An epoch was found in a file, or there is something wrong with the file. True when it is believed. */
static bool believe(struct fors_publisher *publisher, const char *name, enum fors_err err, uint64_t epoch,
		    const struct fors_error *error)
{
	char path[FORS_ERROR_TEXT];

	fors_folder_path(publisher->folder, name, path);
	if (err)
		fors_log_error(publisher->log, FORS_F_OLDFILE, "%s", error->text);
	else if (!fors_epoch_is_own(epoch))
		fors_log_error(publisher->log, FORS_F_OLDFILE, "%s: epoch %" PRIu64 " cannot be right", path, epoch);
	if (err || !fors_epoch_is_own(epoch))
		return false;
	if (epoch > publisher->last_epoch)
		publisher->last_epoch = epoch;
	return true;
}

static bool load_status(struct fors_publisher *publisher)
{
	struct fors_status *left = malloc(sizeof(*left));
	struct fors_error error;
	enum fors_err err = left ? fors_epoch_read_status(publisher->folder, left, &error) : FORS_ENOMEM;

	if (!err)
		publisher->left = left;
	else
		free(left);
	if (err != FORS_ENOMEM)
		believe(publisher, "status.json", err, !err && left->epoch > 0 ? (uint64_t)left->epoch : 0, &error);
	return err != FORS_ENOMEM;
}

/*
 * What an opensm has reserved that could not say how far it had come. If only the process was killed it could: a file has what
 * was written to it, whether or not a disk has it. Then nothing is skipped, since other subnet managers go by their
 * clocks: one that takes over from this one next shall not be behind it.
 */
static bool load_reserve(struct fors_publisher *publisher)
{
	uint64_t last = publisher->last_epoch, epoch = 0;
	bool is_this_boot = false;
	struct fors_error error;
	enum fors_err err = fors_epoch_of_reserve(publisher->folder, &epoch, &is_this_boot, &error);

	if (believe(publisher, "epoch", err, epoch, &error) && !(is_this_boot && publisher->schedule))
		publisher->floor = epoch;
	publisher->last_epoch = last; /* no reader has seen it */
	return true;
}

static bool load_heartbeat(struct fors_publisher *publisher)
{
	struct fors_error error;
	uint64_t epoch = 0;
	enum fors_err err = fors_epoch_of_heartbeat(publisher->folder, &epoch, &error);

	believe(publisher, "heartbeat", err, epoch, &error);
	return true;
}

/* All of the schedule, when its header is one. */
static bool load_cells(struct fors_publisher *publisher, const struct fors_schedule_header *header)
{
	size_t size = header->shape.end < SCHEDULE_MAX_BYTES ? header->shape.end : SCHEDULE_MAX_BYTES;
	struct fors_error error;
	void *bytes = NULL;
	enum fors_err err = fors_published(publisher->folder, "schedule", size, &bytes, &size, &error);
	char path[FORS_ERROR_TEXT];

	fors_folder_path(publisher->folder, "schedule", path);
	if (!err && bytes)
		err = fors_schedule_decode(bytes, size, path, &publisher->schedule, &error);
	free(bytes);
	if (err && err != FORS_ENOMEM)
		fors_log_error(publisher->log, FORS_F_OLDFILE, "%s", error.text);
	publisher->is_inherited = publisher->schedule;
	return err != FORS_ENOMEM;
}

/*
 * The header first: it says whether the rest is worth reading, and its epoch counts even if the rest is damaged. A
 * schedule that is not the newest that readers have seen is as none: the first sweep replaces it.
 */
static bool load_schedule(struct fors_publisher *publisher)
{
	struct fors_schedule_header header = {.epoch = 0};
	struct fors_error error;
	bool is_there = false;
	enum fors_err err = fors_epoch_of_schedule(publisher->folder, &header, &is_there, &error);

	if (!believe(publisher, "schedule", err, header.epoch, &error) || !is_there ||
	    header.epoch < publisher->last_epoch)
		return true;
	return load_cells(publisher, &header);
}

/* Since when there was a schedule at each epoch; 0: the last one was a withdrawal. */
static uint64_t planned_since(const struct fors_event *list, size_t count)
{
	uint64_t since = 0;

	while (count && list[count - 1].phases)
		since = list[--count].unix_ms;
	return since;
}

/* A damaged one begins anew. False: out of memory. */
static bool load_history(struct fors_publisher *publisher)
{
	struct fors_sheet *sheet = &publisher->sheet[SHEET_HISTORY];
	struct fors_event *list = NULL;
	struct fors_error error;
	void *bytes = NULL;
	char path[FORS_ERROR_TEXT];
	size_t size, count;
	enum fors_err err = fors_published(publisher->folder, "history", FORS_HISTORY_BYTES, &bytes, &size, &error);

	fors_folder_path(publisher->folder, "history", path);
	if (!err && bytes)
		err = strlen(bytes) == size ? fors_history_parse(bytes, path, &list, &count, &error)
					    : fors_fail(&error, FORS_EINPUT, "%s: not a text: a zero byte", path);
	if (!err && bytes) {
		publisher->left_since = planned_since(list, count);
		free(list);
		sheet->bytes = bytes;
		sheet->size = size;
		return true;
	}
	free(bytes);
	if (err && err != FORS_ENOMEM)
		fors_log_error(publisher->log, FORS_F_OLDFILE, "%s; it begins anew", error.text);
	return err != FORS_ENOMEM;
}

bool fors_publisher_load(struct fors_publisher *publisher)
{
	static bool (*const load[])(struct fors_publisher *) = {load_status, load_heartbeat, load_schedule,
								load_reserve, load_history};

	for (; publisher->unread > 0; publisher->unread--)
		if (!load[FORS_PUBLISHER_LEFT - publisher->unread](publisher))
			return false;
	return true;
}
