/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file in two steps: the bytes, as soon as they are known, under the temporary name that fors_publish() would write
 * them to; then, when readers may see it, its first bytes once more (what was not known before: the epoch) and the name.
 *
 * Between the two the folder may have been moved or remade, and fors_publish() may have written another file of this name,
 * by way of the same temporary one. Then there is no temporary file, or one of another size, and the second step says so:
 * who called does all at once. It never gives the name to bytes that the first step did not write: both are one thread's.
 */
#include "config.h"

#include "publish_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool fors_publish_ahead(const struct fors_folder *folder, const char *name, const void *bytes, size_t size)
{
	struct fors_temporary temporary = fors_temporary_of(name, folder->tag);
	int at = fors_folder_enter(folder, true);
	bool is_written = at >= 0 && !fors_temporary_write(at, temporary.name, bytes, size, false);

	fors_folder_leave(at);
	return is_written;
}

/* The first bytes of a file that has `size`. */
static bool put_head(int at, const char *name, const void *head, size_t head_size, size_t size)
{
	int fd = openat(at, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	bool is_put;

	if (fd < 0)
		return false;
	is_put = !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_nlink == 1 && (uint64_t)info.st_size == size &&
		 pwrite(fd, head, head_size, 0) == (ssize_t)head_size;
	return !close(fd) && is_put;
}

bool fors_publish_ready(const struct fors_folder *folder, const char *name, const void *head, size_t head_size,
			size_t size)
{
	struct fors_temporary temporary = fors_temporary_of(name, folder->tag);
	int at = fors_folder_enter(folder, false);
	bool is_there = at >= 0 && put_head(at, temporary.name, head, head_size, size) &&
			!fors_spare_make(at, name, head, head_size, size) && !renameat(at, temporary.name, at, name);

	fors_folder_leave(at);
	return is_there;
}

void fors_publish_drop(const struct fors_folder *folder, const char *name)
{
	struct fors_temporary temporary = fors_temporary_of(name, folder->tag);
	int at = fors_folder_enter(folder, false);

	if (at >= 0)
		unlinkat(at, temporary.name, 0);
	fors_folder_leave(at);
}
