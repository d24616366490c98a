/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a file is what it was when device, inode, size and both times are. A time has a grain (of 4 ms, or of a second
 * on old file systems): a file that was read just after it was written could be written once more within the
 * same grain, so what is that fresh is called vague, and read again.
 */
#include "config.h"

#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/io_thread.h"
#include "publish.h"

#define GRAIN_NS 2000000000

static int64_t ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool is_same(const struct fors_stamp *stamp, const struct stat *info)
{
	return stamp->dev == info->st_dev && stamp->ino == info->st_ino && stamp->size == (uint64_t)info->st_size &&
	       stamp->changed_ns == ns(info->st_ctim) && stamp->written_ns == ns(info->st_mtim);
}

static void add_stamp(struct fors_stamps *stamps, const char *path, const struct stat *info)
{
	char *copy = stamps->count < FORS_STAMPS_MAX ? strdup(path) : NULL;
	int64_t fine_ns = (int64_t)fors_clock_unix_ms() * 1000000 - GRAIN_NS;

	if (!copy || ns(info->st_ctim) > fine_ns || ns(info->st_mtim) > fine_ns)
		stamps->is_vague = true;
	if (copy)
		stamps->file[stamps->count++] = (struct fors_stamp){.path = copy,
								    .dev = info->st_dev,
								    .ino = info->st_ino,
								    .size = (uint64_t)info->st_size,
								    .changed_ns = ns(info->st_ctim),
								    .written_ns = ns(info->st_mtim)};
}

void fors_stamps_clear(struct fors_stamps *stamps)
{
	for (unsigned i = 0; i < stamps->count; i++)
		free(stamps->file[i].path);
	*stamps = (struct fors_stamps){.count = 0};
}

bool fors_stamps_hold(const struct fors_stamps *stamps)
{
	for (unsigned i = 0; i < stamps->count && !stamps->is_vague; i++) {
		const struct fors_stamp *stamp = &stamps->file[i];
		struct stat info;
		bool is_there;

		fors_io_begin(stamp->path);
		is_there = !stat(stamp->path, &info);
		fors_io_end();
		if (!is_there || !is_same(stamp, &info))
			return false;
	}
	return !stamps->is_vague;
}

/* Is it one that we read? */
static bool is_fit(const char *path, unsigned max_mb, const struct stat *info, struct fors_error *error)
{
	if (!S_ISREG(info->st_mode))
		fors_fail(error, FORS_EIO, "%s: not a regular file", path);
	else if ((uint64_t)info->st_size > (uint64_t)max_mb << 20)
		fors_fail(error, FORS_EIO, "%s: has %lld bytes; more than %u MB are not read", path,
			  (long long)info->st_size, max_mb);
	else
		return true;
	return false;
}

/*
 * A regular file; < 0: the error says why not. Opened without waiting: a pipe must not hold us up, nor a
 * device that never ends.
 */
static int open_regular(const char *path, unsigned max_mb, struct stat *info, struct fors_error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, info)) {
		fors_fail(error, FORS_EIO, "%s: cannot be opened: %s", path, strerror(errno));
	} else if (is_fit(path, max_mb, info, error)) {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static enum fors_err read_whole(const char *path, unsigned max_mb, struct stat *info, char **text,
				struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	int fd = open_regular(path, max_mb, info, error);
	char *bytes;

	if (fd < 0)
		return FORS_EIO;
	bytes = fors_read_bytes(fd, (size_t)info->st_size);
	if (!bytes)
		err = errno == ENOMEM ? fors_fail_memory(error)
				      : fors_fail(error, FORS_EIO, "%s: cannot be read: %s", path, strerror(errno));
	close(fd);
	if (!err)
		*text = bytes;
	return err;
}

enum fors_err fors_input_read(const char *path, unsigned max_mb, struct stat *info, char **text,
			      struct fors_stamps *stamps, struct fors_error *error)
{
	enum fors_err err;

	fors_io_begin(path);
	err = read_whole(path, max_mb, info, text, error);
	fors_io_end();
	if (!err && stamps)
		add_stamp(stamps, path, info);
	return err;
}
