/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "copies.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "daemon/base/clock.h"
#include "daemon/base/errors.h"
#include "epoch.h"
#include "publish_inside.h"

#define MOST_BYTES (UINT64_C(1) << 31) /* of a file */

static const char *const names[FORS_COPIES_FILES] = {"schedule", "status.json", "metrics.prom", "heartbeat"};

static int64_t ns_of(struct timespec at)
{
	return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* All of an open file. */
static enum fors_err read_open(int fd, const char *path, struct fors_copy_stamp *stamp, void **bytes, size_t *size,
			       struct fors_error *error)
{
	struct fors_copy_stamp now = {.size = 0};
	struct stat info;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode) || (uint64_t)info.st_size > MOST_BYTES)
		return fors_fail(error, FORS_EIO, "%.300s: no regular file that can be copied", path);
	now.dev = info.st_dev;
	now.ino = info.st_ino;
	now.size = (uint64_t)info.st_size;
	now.changed_ns = ns_of(info.st_ctim);
	now.written_ns = ns_of(info.st_mtim);
	if (!memcmp(&now, stamp, sizeof(now)))
		return FORS_OK;
	*bytes = fors_read_bytes(fd, (size_t)now.size);
	if (!*bytes)
		return fors_fail(error, FORS_EIO, "%.300s: cannot be read: %s", path, strerror(errno));
	*size = (size_t)now.size;
	*stamp = now;
	return FORS_OK;
}

enum fors_err fors_copies_read(const struct fors_folder *folder, const char *name, struct fors_copy_stamp *stamp,
			       void **bytes, size_t *size, struct fors_error *error)
{
	int at = fors_folder_enter(folder, false);
	int fd = at < 0 ? -1 : openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char path[FORS_ERROR_TEXT];
	enum fors_err err;

	fors_folder_leave(at);
	*bytes = NULL;
	if (fd < 0)
		return FORS_OK;
	fors_folder_path(folder, name, path);
	err = read_open(fd, path, stamp, bytes, size, error);
	close(fd);
	return err;
}

uint64_t fors_copies_epoch(const void *bytes, size_t size)
{
	struct fors_schedule_header header = {.epoch = 0};

	return fors_schedule_header_read(bytes, size, size, "schedule", &header, NULL) ? 0 : header.epoch;
}

enum fors_err fors_copies_withdraw(const struct fors_folder *folder, uint64_t epoch, const char *why,
				   struct fors_error *error)
{
	struct fors_schedule *nothing;
	void *bytes = NULL;
	size_t size;
	enum fors_err err = fors_schedule_withdrawn(epoch, why, &nothing, error);

	if (err)
		return err;
	snprintf(nothing->name, sizeof(nothing->name), "%s",
		 folder->job + (fors_jobkind(folder->job) != FORS_KIND_JOB));
	err = fors_schedule_encode(nothing, &bytes, &size, error);
	if (!err)
		err = fors_publish(folder, "schedule", bytes, size, true, error);
	free(bytes);
	fors_schedule_free(nothing);
	return err;
}

/* --- the fabric's files ------------------------------------------------------ */

/*
 * The schedule that lies in the folder, epoch 0: there is none. Errors: FORS_EINPUT (not to be believed), FORS_EIO.
 */
static enum fors_err look_there(const struct fors_copies *copies, uint64_t highest, struct fors_schedule_header *there,
				struct fors_error *error)
{
	bool is_there;
	enum fors_err err;

	there->epoch = 0;
	err = fors_epoch_of_schedule(&copies->dir, there, &is_there, error);
	if (!err && highest && !fors_epoch_is_near(there->epoch, highest, fors_clock_unix_ms()))
		return fors_fail(error, FORS_EINPUT,
				 "%s/schedule: epoch %" PRIu64 " is more than a day past the clock and epoch %" PRIu64
				 " of this subnet manager",
				 copies->dir.parent, there->epoch, highest);
	return err;
}

/* What lies there is not believed (error, or NULL): said once, and ours is written over it. */
static void doubt(struct fors_copies *copies, const struct fors_error *error)
{
	char line[FORS_ERROR_TEXT + 40];

	snprintf(line, sizeof(line), "%s (not believed, and replaced)", error ? error->text : "");
	if (error && !copies->has_doubted)
		copies->say(copies->context, FORS_F_STRANGE, line);
	copies->has_doubted = error;
}

/* What lies there is not what was copied: all is new again. */
static void forget_copies(struct fors_copies *copies)
{
	memset(copies->file, 0, sizeof(copies->file));
	for (size_t i = 0; i < copies->count; i++)
		copies->job[i].stamp = (struct fors_copy_stamp){.size = 0};
}

/* A file that is new in the state folder, as it is to be copied. */
struct sheet {
	void *bytes; /* owned; NULL: it is not new */
	size_t size;
	struct fors_copy_stamp stamp;
};

static enum fors_err copy_file(struct fors_copies *copies, unsigned which, const struct sheet *sheet, bool is_durable,
			       struct fors_error *error)
{
	enum fors_err err = fors_publish(&copies->dir, names[which], sheet->bytes, sheet->size, is_durable, error);

	if (err)
		return err;
	copies->file[which] = sheet->stamp;
	copies->is_loose[which] = which == FORS_COPIES_SCHEDULE || which == FORS_COPIES_STATUS;
	if (which == FORS_COPIES_SCHEDULE) {
		copies->copied = fors_copies_epoch(sheet->bytes, sheet->size);
		copies->copied_ms = fors_clock_exact_ms();
	}
	return FORS_OK;
}

/* The other files, each read when it is its turn: none is older than those before it. */
static enum fors_err copy_others(struct fors_copies *copies, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned i = FORS_COPIES_STATUS; i < FORS_COPIES_FILES && !err; i++) {
		struct sheet sheet = {.bytes = NULL, .stamp = copies->file[i]};

		err = fors_copies_read(&copies->state, names[i], &sheet.stamp, &sheet.bytes, &sheet.size, error);
		if (!err && sheet.bytes)
			err = copy_file(copies, i, &sheet, false, error);
		free(sheet.bytes);
	}
	return err;
}

/*
 * May the files be written? Not over a later schedule of another subnet manager's, and what a guest finds strange is left
 * to the master.
 */
static bool may_write(struct fors_copies *copies, const struct fors_copier_order *order, const struct sheet *schedule,
		      bool is_strange, uint64_t there)
{
	uint64_t epoch = schedule->bytes ? fors_copies_epoch(schedule->bytes, schedule->size) : 0;
	bool may;

	if (order->is_guest)
		return !is_strange && there == copies->copied;
	may = is_strange || !schedule->bytes || there < epoch ||
	      (there == epoch && (there == copies->copied || !copies->is_shared));
	if (!may && there > copies->seen)
		copies->seen = there;
	return may;
}

/*
 * The schedule is missing in the state folder: what readers have is withdrawn, by the epoch that nobody else gets, if it is ours,
 * or older than what is missing. That would have been written over it, also where it is of an opensm before this one.
 */
static enum fors_err retract(struct fors_copies *copies, const struct fors_copier_order *order,
			     const struct fors_schedule_header *there, bool is_strange, struct fors_error *error)
{
	const bool is_older = !order->is_guest && there->epoch < order->epoch;
	enum fors_err err;

	if (is_strange || !there->shape.nphases || !(is_older || there->epoch == copies->copied))
		return FORS_OK;
	err = fors_copies_withdraw(&copies->dir, there->epoch + 1, FORS_COPIES_UNWRITTEN, error);
	if (!err)
		copies->copied = there->epoch + 1;
	return err;
}

/* `there` is what lies there; is_strange: not to be believed. */
static enum fors_err copy_files(struct fors_copies *copies, const struct fors_copier_order *order,
				const struct fors_schedule_header *there, bool is_strange, struct fors_error *error)
{
	struct sheet schedule = {.bytes = NULL};
	enum fors_err err;

	if (!order->is_guest && (is_strange || there->epoch < copies->copied))
		forget_copies(copies); /* somebody removed them, or put what was there before */
	schedule.stamp = copies->file[FORS_COPIES_SCHEDULE];
	if (order->is_unwritten)
		err = retract(copies, order, there, is_strange, error);
	else
		err = fors_copies_read(&copies->state, names[FORS_COPIES_SCHEDULE], &schedule.stamp, &schedule.bytes,
				       &schedule.size, error);
	if (!err && may_write(copies, order, &schedule, is_strange, there->epoch)) {
		if (schedule.bytes)
			err = copy_file(copies, FORS_COPIES_SCHEDULE, &schedule, !order->is_reserved, error);
		err = err ? err : copy_others(copies, error);
	}
	free(schedule.bytes);
	return err;
}

/* Whose is a shared folder? What others wrote there meanwhile is not ours, and all of ours is new again. */
static enum fors_err hold(struct fors_copies *copies, struct fors_error *error)
{
	bool is_ours = true;

	if (copies->is_shared && fors_hold(&copies->holder, &copies->dir, &is_ours, error))
		return FORS_EIO;
	copies->is_held_elsewhere = !is_ours;
	if (is_ours)
		return FORS_OK;
	memset(copies->file, 0, sizeof(copies->file));
	memset(copies->is_loose, 0, sizeof(copies->is_loose));
	fors_copies_clear(copies);
	return FORS_OK;
}

/* Is the folder there? It may be where a file system is to be mounted, and is never made. Another one has no copies. */
static enum fors_err find_folder(struct fors_copies *copies, struct fors_error *error)
{
	struct fors_error why;
	struct stat info;
	int at = fors_folder_open(&copies->dir, false, &why);

	if (at < 0 || fstat(at, &info)) {
		fors_fail(error, FORS_EIO, "publish_dir %.300s: cannot be opened: %s", copies->dir.parent,
			  strerror(errno));
		if (at >= 0)
			close(at);
		return FORS_EIO;
	}
	close(at);
	if (info.st_dev != copies->dir_dev || info.st_ino != copies->dir_ino)
		forget_copies(copies);
	copies->dir_dev = info.st_dev;
	copies->dir_ino = info.st_ino;
	return FORS_OK;
}

enum fors_err fors_copies_pass(struct fors_copies *copies, const struct fors_copier_order *order,
			       struct fors_error *error)
{
	struct fors_schedule_header there = {.epoch = 0};
	bool is_strange = false;
	enum fors_err err = find_folder(copies, error);

	copies->is_cut = false;
	err = err ? err : hold(copies, error);
	if (!err && copies->is_held_elsewhere)
		return FORS_OK;
	err = err ? err : look_there(copies, order->epoch, &there, error);
	is_strange = err == FORS_EINPUT;
	if (!err || is_strange) {
		if (!order->is_guest)
			doubt(copies, is_strange ? error : NULL);
		err = copy_files(copies, order, &there, is_strange, error);
		fors_copies_pass_jobs(copies, order); /* whose withdrawals have room though these files have not */
	}
	copies->failures += err != FORS_OK;
	return err;
}

enum fors_err fors_copies_sync(struct fors_copies *copies, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned i = 0; i < FORS_COPIES_FILES && !err; i++) {
		if (!copies->is_loose[i])
			continue;
		copies->is_loose[i] = false;
		err = fors_publish_sync(&copies->dir, names[i], error);
		if (err)
			copies->file[i] = (struct fors_copy_stamp){.size = 0};
	}
	copies->failures += err != FORS_OK;
	return err;
}
