/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.c - whoever can open a file can hold flock() on it, also for reading only. So the lock is nobody's but its user's: 0600, or a
 * group's that may write.
 *
 * The folder may be one that others write to. So nothing is followed or changed that somebody else may have put there: the lock is a
 * plain file with one name and at most one byte, of this user, root or the folder's owner.
 */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/clock.h"

/* In a folder that anybody may write to a file is believed only when it is ours, root's, or of the folder's owner. */
static bool is_trusted(const char *path, const struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char folder[CLI_PATH_ROOM];
	struct stat in;

	if (st->st_uid == geteuid() || st->st_uid == 0)
		return true;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return !stat(folder, &in) && (st->st_uid == in.st_uid || !(in.st_mode & S_IWOTH));
}

/* Is it a lock? Then it is closed to others, but for a group that is meant to have it: one that may write. */
static bool is_lock(const char *path, int fd)
{
	struct stat st;
	mode_t mode;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_size > 1 || !is_trusted(path, &st)) {
		cli_error("%s: this is no lock of fors, or somebody else's; remove it", path);
		return false;
	}
	mode = st.st_mode & (st.st_mode & 020 ? 0660 : 0600);
	if (mode != (st.st_mode & 07777))
		(void)fchmod(fd, mode);
	return true;
}

/* False: the user has been told. */
static bool wait_for(const char *path, int fd, double deadline)
{
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			cli_error("%s: %s", path, strerror(errno));
			return false;
		}
		if (cli_now_ms() >= deadline) {
			cli_error("%s: somebody else has held it too long", path);
			return false;
		}
		poll(NULL, 0, 20);
	}
	return true;
}

int slurm_lock(const char *output, double deadline)
{
	char path[CLI_PATH_ROOM];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s.lock", output) >= sizeof(path)) {
		cli_error("%.100s...: the path is too long", output);
		return -1;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0) {
		cli_error("%s: %s", path, errno == ELOOP ? "it is a symbolic link; remove it" : strerror(errno));
		return -1;
	}
	if (is_lock(path, fd) && wait_for(path, fd, deadline))
		return fd;
	close(fd);
	return -1;
}
