/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See jobpublisher.h. Names are those of a jobs file, which has none that could lead out of the folder (core/jobs/joblist.h).
 */
#include "jobpublisher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/unknown.h"
#include "core/schedule/schedule_file.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/files/epoch.h"
#include "publisher_inside.h"

#define DAY_MS 86400000
#define SCHEDULE_MAX_BYTES (1u << 30)
#define LOOKS 64       /* files that are looked for in a tick */
#define MOST_ENDED 100 /* jobs that have ended are told of, the last ones */

/* The folder of a job, good as long as the publisher is. */
static struct fors_folder folder_of(const struct fors_jobpublishers *jobs, const struct fors_jobpublisher_item *item)
{
	struct fors_folder folder = *jobs->publisher->folder;

	snprintf(folder.job, sizeof(folder.job), "%s", item->told.name);
	return folder;
}

void fors_jobpublisher_open(struct fors_jobpublishers *jobs, struct fors_publisher *publisher)
{
	*jobs = (struct fors_jobpublishers){.publisher = publisher};
}

static void free_item(struct fors_jobpublisher_item *item)
{
	fors_schedule_free(item->schedule);
	free(item);
}

void fors_jobpublisher_close(struct fors_jobpublishers *jobs)
{
	fors_jobpublisher_sync(jobs);
	for (size_t i = 0; i < jobs->count; i++)
		free_item(jobs->item[i]);
	free(jobs->item);
	*jobs = (struct fors_jobpublishers){.publisher = NULL};
}

/* Where the name is, or belongs. */
static size_t place_of(const struct fors_jobpublishers *jobs, const char *name)
{
	size_t low = 0, high = jobs->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(jobs->item[middle]->told.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct fors_jobpublishers *jobs)
{
	struct fors_jobpublisher_item **more;

	if (jobs->count < jobs->room)
		return true;
	more = realloc(jobs->item, (2 * jobs->room + 16) * sizeof(*more));
	if (!more)
		return false;
	jobs->item = more;
	jobs->room = 2 * jobs->room + 16;
	return true;
}

struct fors_jobpublisher_item *fors_jobpublisher_find(const struct fors_jobpublishers *jobs, const char *name)
{
	size_t at = place_of(jobs, name);

	return at < jobs->count && !strcmp(jobs->item[at]->told.name, name) ? jobs->item[at] : NULL;
}

struct fors_jobpublisher_item *fors_jobpublisher_have(struct fors_jobpublishers *jobs, const char *name)
{
	struct fors_jobpublisher_item *made = fors_jobpublisher_find(jobs, name);
	size_t at = place_of(jobs, name);

	if (made)
		return made;
	made = make_room(jobs) ? calloc(1, sizeof(*made)) : NULL;
	if (!made)
		return NULL;
	memmove(&jobs->item[at + 1], &jobs->item[at], (jobs->count - at) * sizeof(*jobs->item));
	jobs->count++;
	made->shared = "";
	made->told = (struct fors_jobstat){.state = FORS_JOB_IS_WITHDRAWN,
					   .servers = FORS_UNKNOWN,
					   .missing = FORS_UNKNOWN,
					   .leaves = FORS_UNKNOWN,
					   .lanes = FORS_UNKNOWN,
					   .phases = FORS_UNKNOWN,
					   .lower_bound = FORS_UNKNOWN,
					   .alone_bound = FORS_UNKNOWN,
					   .path_index = FORS_UNKNOWN,
					   .epoch = FORS_UNKNOWN,
					   .expected_phases = FORS_UNKNOWN,
					   .demand_epoch = FORS_UNKNOWN,
					   .demand_phases = FORS_UNKNOWN,
					   .demand_over_bound = FORS_UNKNOWN};
	snprintf(made->told.name, sizeof(made->told.name), "%s", name);
	jobs->item[at] = made;
	return made;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Say it once when writing begins to fail, and once when it works again. */
static void complain(struct fors_jobpublishers *jobs, const struct fors_error *error)
{
	if (error && !jobs->has_complained)
		fors_log_error(jobs->publisher->log, FORS_F_PUBLISH, "%s (routes are not affected)", error->text);
	if (!error && jobs->has_complained)
		fors_log_info(jobs->publisher->log, "the schedules of jobs can be written again");
	jobs->has_complained = error;
}

/* Write and copy these bytes, which are those of its schedule. */
static void write_bytes(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item, const void *bytes,
			size_t size, bool is_safe)
{
	struct fors_folder folder = folder_of(jobs, item);
	struct fors_error error;
	enum fors_err err = fors_publish(&folder, "schedule", bytes, size, !is_safe, &error);

	complain(jobs, err ? &error : NULL);
	item->is_due = err;
	item->is_loose = !err;
	jobs->publisher->is_new = true;
}

/* Write and copy the schedule as it is. False: out of memory. */
static bool write_item(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item, bool is_safe)
{
	void *bytes;
	size_t size;

	if (fors_schedule_encode(item->schedule, &bytes, &size, NULL))
		return false;
	write_bytes(jobs, item, bytes, size, is_safe);
	free(bytes);
	return true;
}

/* This is its schedule from now on, under an epoch that is new: it is due until it is written. */
static void have_schedule(struct fors_jobpublisher_item *item, struct fors_schedule *schedule)
{
	if (item->schedule != schedule)
		fors_schedule_free(item->schedule);
	item->schedule = schedule;
	item->epoch = schedule->epoch;
	item->told.epoch = (int64_t)schedule->epoch;
	item->told.phases = schedule->nphases ? (int64_t)schedule->nphases : FORS_UNKNOWN;
	item->is_due = true;
	item->is_inherited = false;
}

/* Does it say what readers have, but for epochs? Then those are taken over. */
static bool is_published(const struct fors_jobpublisher_item *item, struct fors_schedule *schedule)
{
	uint64_t fabric_epoch = schedule->fabric_epoch;
	bool same;

	if (!item->schedule || item->is_inherited)
		return false;
	schedule->epoch = item->schedule->epoch;
	schedule->fabric_epoch = item->schedule->fabric_epoch;
	same = fors_publisher_is_same(schedule, item->schedule);
	schedule->fabric_epoch = fabric_epoch;
	return same;
}

/* The item stays as it is until nothing can fail any more but the disk. */
static enum fors_err publish(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
			     struct fors_schedule *schedule, struct fors_error *error)
{
	void *bytes;
	size_t size;
	bool is_safe;
	enum fors_err err;

	schedule->epoch = fors_publisher_job_epoch(jobs->publisher, item->epoch, &is_safe);
	if (!schedule->epoch)
		return fors_fail_memory(error);
	err = fors_schedule_encode(schedule, &bytes, &size, error);
	if (err)
		return err;
	have_schedule(item, schedule);
	write_bytes(jobs, item, bytes, size, is_safe);
	free(bytes);
	return FORS_OK;
}

enum fors_err fors_jobpublisher_publish(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
					struct fors_schedule *schedule, struct fors_error *error)
{
	bool is_known = is_published(item, schedule);
	enum fors_err err = is_known ? FORS_OK : publish(jobs, item, schedule, error);

	if (is_known || err)
		fors_schedule_free(schedule);
	return err;
}

bool fors_jobpublisher_withdraw(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
				enum fors_jobstate state, const char *reason)
{
	struct fors_schedule *nothing;

	item->told.state = state;
	snprintf(item->told.reason, sizeof(item->told.reason), "%s", reason);
	item->told.whose[0] = '\0';
	item->told.phases = item->told.path_index = FORS_UNKNOWN;
	if (!fors_jobpublisher_has_plan(item))
		return true;
	if (fors_schedule_withdrawn(0, reason, &nothing, NULL))
		return false;
	snprintf(nothing->name, sizeof(nothing->name), "%s", item->told.name + (jobs->kind != FORS_KIND_JOB));
	return !fors_jobpublisher_publish(jobs, item, nothing, NULL);
}

bool fors_jobpublisher_withdraw_all(struct fors_jobpublishers *jobs, enum fors_jobstate state, const char *reason)
{
	bool is_good = true;

	for (size_t i = 0; i < jobs->count; i++)
		if (fors_jobpublisher_has_plan(jobs->item[i]))
			is_good = fors_jobpublisher_withdraw(jobs, jobs->item[i], state, reason) && is_good;
	return is_good;
}

/* --- what was left -------------------------------------------------------------------------------------------- */

struct loading {
	struct fors_jobpublishers *jobs;
	bool is_short;
};

/* A schedule that readers may follow still: whether it is right is seen with the first tables. */
static enum fors_err read_schedule(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
				   struct fors_error *error)
{
	struct fors_folder folder = folder_of(jobs, item);
	char path[FORS_ERROR_TEXT];
	void *bytes = NULL;
	size_t size;
	enum fors_err err = fors_published(&folder, "schedule", SCHEDULE_MAX_BYTES, &bytes, &size, error);

	fors_folder_path(&folder, "schedule", path);
	if (!err && bytes)
		err = fors_schedule_decode(bytes, size, path, &item->schedule, error);
	free(bytes);
	item->is_inherited = item->schedule;
	if (item->schedule && item->schedule->nphases) {
		item->told.state = FORS_JOB_IS_PLANNED;
		item->told.phases = (int64_t)item->schedule->nphases;
	}
	item->whose = FORS_OVER_ALL; /* nobody knows whose the lanes were */
	return err;
}

static void take_name(void *context, const char *name)
{
	struct loading *loading = context;
	struct fors_jobpublisher_item *item = fors_jobpublisher_have(loading->jobs, name);
	struct fors_schedule_header header = {.epoch = 0};
	struct fors_error error;
	bool is_there = false;
	enum fors_err err;

	if (!item || item->epoch) {
		loading->is_short |= !item;
		return;
	}
	struct fors_folder folder = folder_of(loading->jobs, item);

	err = fors_epoch_of_schedule(&folder, &header, &is_there, &error);
	if (!err && is_there && fors_epoch_is_own(header.epoch)) {
		item->epoch = header.epoch;
		item->told.epoch = (int64_t)header.epoch;
		err = read_schedule(loading->jobs, item, &error);
	}
	loading->is_short |= err == FORS_ENOMEM;
	if (err && err != FORS_ENOMEM)
		fors_log_error(loading->jobs->publisher->log, FORS_F_OLDFILE, "%s", error.text);
}

bool fors_jobpublisher_take(struct fors_jobpublishers *jobs, const char *name)
{
	struct loading loading = {.jobs = jobs};

	take_name(&loading, name);
	return !loading.is_short;
}

bool fors_jobpublisher_load(struct fors_jobpublishers *jobs)
{
	struct loading loading = {.jobs = jobs};
	struct fors_error error;
	enum fors_err err;

	if (jobs->has_loaded)
		return true;
	err = fors_publish_list_jobs(jobs->publisher->folder, jobs->kind, take_name, &loading, &error);
	if (err == FORS_EINPUT)
		fors_log_error(jobs->publisher->log, FORS_F_OLDFILE, "%s", error.text);
	/* A folder that cannot be entered is complained about by whoever writes there; with the next job it may be. */
	jobs->has_loaded = err != FORS_EIO && !loading.is_short;
	return !loading.is_short;
}

/* --- every tick ----------------------------------------------------------------------------------------------- */

/* Publish again what readers have, above this epoch. */
static bool exceed(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item, uint64_t epoch)
{
	bool is_safe;

	if (!item->schedule || epoch < item->epoch)
		return true;
	epoch = fors_publisher_job_epoch(jobs->publisher, epoch, &is_safe);
	if (!epoch)
		return false;
	item->schedule->epoch = epoch;
	have_schedule(item, item->schedule);
	return write_item(jobs, item, is_safe);
}

static bool hear_news(struct fors_jobpublishers *jobs, bool *is_new)
{
	char name[64];
	uint64_t epoch;
	bool is_good = true;

	while (is_good && jobs->publisher->copier &&
	       fors_copier_news(jobs->publisher->copier, jobs->kind, name, &epoch)) {
		struct fors_jobpublisher_item *item = fors_jobpublisher_have(jobs, name);

		is_good = item && exceed(jobs, item, epoch);
		*is_new = true;
	}
	return is_good;
}

/* Somebody may have removed files. A few are looked for at a time. */
static void look_for_files(struct fors_jobpublishers *jobs)
{
	for (size_t i = 0; i < LOOKS && i < jobs->count; i++) {
		struct fors_jobpublisher_item *item = jobs->item[jobs->next_look++ % jobs->count];
		struct fors_folder folder = folder_of(jobs, item);

		if (item->schedule && !fors_publish_has(&folder, "schedule"))
			item->is_due = true;
	}
}

/* It is gone, and so is its folder; the copy goes when publish_dir is tidied up. */
static void remove_item(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item)
{
	struct fors_folder folder = folder_of(jobs, item);
	struct fors_error error;

	if (fors_publish_remove_job(&folder, &error))
		fors_log_error(jobs->publisher->log, FORS_F_PUBLISH, "%s (it stays)", error.text);
	free_item(item);
}

/* A day after the end. The clock may have been set back: then it takes longer. */
static void remove_old(struct fors_jobpublishers *jobs, bool *is_new)
{
	uint64_t now = fors_clock_unix_ms();
	size_t left = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_jobpublisher_item *item = jobs->item[i];
		bool has_ended = !item->is_listed && !fors_jobpublisher_has_plan(item);

		if (!has_ended)
			item->ended_ms = 0;
		else if (!item->ended_ms)
			item->ended_ms = item->is_inherited && item->epoch < now ? item->epoch : now;
		if (has_ended && now > item->ended_ms + DAY_MS) {
			remove_item(jobs, item);
			*is_new = true;
		} else {
			jobs->item[left++] = item;
		}
	}
	jobs->count = left;
}

/* Is there a schedule that the state folder has not got? */
static void note_due(struct fors_jobpublishers *jobs, bool is_due)
{
	const unsigned bit = 1u << jobs->kind;

	jobs->publisher->unwritten_jobs = (jobs->publisher->unwritten_jobs & ~bit) | (is_due ? bit : 0);
}

bool fors_jobpublisher_tend(struct fors_jobpublishers *jobs, bool is_master, bool *is_new)
{
	bool is_good = !is_master || hear_news(jobs, is_new), is_due = false;

	if (jobs->kind == FORS_KIND_JOB)
		jobs->publisher->may_tidy = is_master;
	look_for_files(jobs);
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_jobpublisher_item *item = jobs->item[i];

		if (item->schedule && item->is_due)
			is_good = write_item(jobs, item, false) && is_good;
		is_due |= item->schedule && item->is_due;
	}
	note_due(jobs, is_due);
	if (is_master)
		remove_old(jobs, is_new);
	return is_good;
}

void fors_jobpublisher_sync(struct fors_jobpublishers *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_jobpublisher_item *item = jobs->item[i];
		struct fors_folder folder = folder_of(jobs, item);
		struct fors_error error;

		if (!item->is_loose || item->is_due)
			continue;
		if (fors_publish_sync(&folder, "schedule", &error)) {
			complain(jobs, &error);
			return;
		}
		item->is_loose = false;
	}
}

/* --- the status ----------------------------------------------------------------------------------------------- */

/* Those that the file has, first; then the last of those that have ended. */
static int by_rank(const void *left, const void *right)
{
	const struct fors_jobpublisher_item *const *a = left, *const *b = right;

	if ((*a)->is_listed != (*b)->is_listed)
		return (*a)->is_listed ? -1 : 1;
	if (!(*a)->is_listed && (*a)->epoch != (*b)->epoch)
		return (*a)->epoch > (*b)->epoch ? -1 : 1;
	return strcmp((*a)->told.name, (*b)->told.name);
}

bool fors_jobpublisher_tell(const struct fors_jobpublishers *jobs, struct fors_jobstats *stats)
{
	const struct fors_jobpublisher_item **order = malloc((jobs->count + 1) * sizeof(*order));
	size_t ended = 0;

	stats->job = calloc(jobs->count + 1, sizeof(*stats->job));
	stats->count = 0;
	stats->is_known = stats->job;
	if (!order || !stats->job) {
		free(order);
		fors_jobstats_clear(stats);
		return false;
	}
	for (size_t i = 0; i < jobs->count; i++)
		order[i] = jobs->item[i];
	qsort(order, jobs->count, sizeof(*order), by_rank);
	for (size_t i = 0; i < jobs->count; i++) {
		if (!order[i]->is_listed && ended++ >= MOST_ENDED)
			break;
		stats->job[stats->count++] = order[i]->told;
	}
	free(order);
	return true;
}
