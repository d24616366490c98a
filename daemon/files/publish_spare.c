/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A withdrawal that lies ready: before readers see a schedule its own withdrawal is on the disk, under another name, with
 * the epoch after it. For a disk that is full when the fabric changes has no room for a new file, however small, and a
 * schedule that is wrong must not stay for want of a block.
 *
 * When a withdrawal cannot be written its bytes are put over those of the spare, which have their block already, and the
 * spare gets the name. A file system that writes no block twice refuses even that: then the spare gets the name as it is.
 * That is a withdrawal, too, of an epoch that nobody else has got (fors_epoch_next()), and the other one follows when
 * there is room. Only what is above the schedule that lies there goes over it. Next time there is a spare with the next schedule,
 * or that is not published.
 */
#include "config.h"

#include "publish_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_header.h"

#define WHY "withdrawn; its folder had no room for the reason: see the log of the subnet manager"

/* A handle of a file that nobody else has under another name, or -1. */
static int open_only(int at, const char *name, int flags)
{
	int fd = openat(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_nlink == 1)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Put bytes over those of a file that is as long. False: there is none, or it stays as it is. */
static bool put_over(int at, const char *name, const void *bytes, size_t size)
{
	int fd = open_only(at, name, O_WRONLY);
	struct stat info;
	bool is_put = fd >= 0 && !fstat(fd, &info) && (uint64_t)info.st_size == size &&
		      pwrite(fd, bytes, size, 0) == (ssize_t)size;

	return fd >= 0 && !close(fd) && is_put;
}

static bool is_schedule(const char *name, const void *head, size_t head_size, uint64_t size,
			struct fors_schedule_header *header)
{
	return !strcmp(name, "schedule") && !fors_schedule_header_read(head, head_size, size, name, header, NULL);
}

/* As long as any other withdrawal of that name. */
static bool make_withdrawal(const struct fors_schedule_header *of, void **bytes, size_t *size)
{
	struct fors_schedule *nothing = NULL;
	bool is_made = !fors_schedule_withdrawn(of->epoch + 1, WHY, &nothing, NULL);

	if (is_made)
		memcpy(nothing->name, of->name, sizeof(of->name));
	is_made = is_made && !fors_schedule_encode(nothing, bytes, size, NULL);
	fors_schedule_free(nothing);
	return is_made;
}

const char *fors_spare_make(int at, const char *name, const void *head, size_t head_size, uint64_t size)
{
	struct fors_schedule_header header;
	const char *failed = NULL;
	size_t length;
	void *bytes;

	if (!is_schedule(name, head, head_size, size, &header) || !header.shape.nphases)
		return NULL;
	if (!make_withdrawal(&header, &bytes, &length)) {
		errno = ENOMEM;
		return "cannot be withdrawn, should that be needed";
	}
	if (!put_over(at, FORS_SPARE, bytes, length))
		failed = fors_temporary_write(at, FORS_SPARE, bytes, length, true);
	free(bytes);
	return failed ? "has no room for its withdrawal" : NULL;
}

/* The epoch of a schedule in the folder; 0: there is none. */
static uint64_t epoch_of(int at, const char *name)
{
	struct fors_schedule_header header = {.epoch = 0};
	unsigned char head[FORS_SCHEDULE_HEAD];
	int fd = open_only(at, name, O_RDONLY);
	struct stat info;
	ssize_t size = fd >= 0 && !fstat(fd, &info) ? pread(fd, head, sizeof(head), 0) : -1;

	if (size > 0 && fors_schedule_header_read(head, (size_t)size, (uint64_t)info.st_size, name, &header, NULL))
		header.epoch = 0;
	if (fd >= 0)
		close(fd);
	return header.epoch;
}

bool fors_spare_use(int at, const char *name, const void *bytes, size_t size)
{
	struct fors_schedule_header header;
	int saved = errno;
	bool is_same;

	if (!is_schedule(name, bytes, size, size, &header) || header.shape.nphases)
		return false;
	is_same = put_over(at, FORS_SPARE, bytes, size);
	if (epoch_of(at, FORS_SPARE) <= epoch_of(at, name) || renameat(at, FORS_SPARE, at, name))
		is_same = false;
	errno = saved;
	return is_same;
}
