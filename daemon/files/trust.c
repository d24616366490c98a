/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: whoever may write a folder, or one above it, decides what fors finds there. So the way is gone step by step
 * from the root, each step relative to a handle whose owner and mode have been looked at: who moves a folder meanwhile
 * moves nothing that was checked. A link counts as a folder does: its owner decides where it leads.
 *
 * In a folder with the sticky bit (/tmp) others may add names, but not take away or rename those of root or ours; and what
 * they add is not ours, which the next step sees.
 */
#include "config.h"

#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40u /* as the kernel */

static void close_kept(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

static bool is_strange(const struct stat *info)
{
	return info->st_uid && info->st_uid != geteuid();
}

/* The path of what was found, as the kernel knows it; else its name. */
static void say_path(int fd, const char *name, char *path, size_t size)
{
	char link[40];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, size - 1);
	if (length < 0)
		snprintf(path, size, "%s", name);
	else
		path[length] = '\0';
}

/* -1 with errno and error set: somebody else could change it. */
static int check(int fd, const char *name, bool may_be_sticky, struct fors_error *error)
{
	char path[300];
	struct stat info;

	if (fstat(fd, &info))
		return -1;
	say_path(fd, name, path, sizeof(path));
	if (is_strange(&info))
		fors_fail(
			error, FORS_EINPUT,
			"%s belongs to user %u, who could change what is kept there; chown it to root, or to the user of opensm",
			path, (unsigned)info.st_uid);
	else if ((info.st_mode & 022) && !(may_be_sticky && (info.st_mode & S_ISVTX)))
		fors_fail(error, FORS_EINPUT,
			  "others may write %s (mode %04o), and change what is kept there; chmod go-w it", path,
			  (unsigned)info.st_mode & 07777);
	else
		return 0;
	errno = EPERM;
	return -1;
}

/* Open a folder and look whose it is. */
static int enter(int at, const char *name, int flags, struct fors_error *error)
{
	int fd = openat(at, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && check(fd, name, flags & O_PATH, error)) {
		close_kept(fd);
		return -1;
	}
	return fd;
}

static int walk(int at, const char *path, bool make, unsigned nlinks, struct fors_error *error);

/* Where a link leads. It was looked at before it is read: in a folder that was checked nobody else can replace it. */
static int follow(int at, const char *name, const struct stat *info, unsigned nlinks, struct fors_error *error)
{
	char target[PATH_MAX];
	ssize_t length;

	if (is_strange(info)) {
		fors_fail(error, FORS_EINPUT, "the symbolic link %s belongs to user %u; chown -h it to root", name,
			  (unsigned)info->st_uid);
		errno = EPERM;
		return -1;
	}
	length = readlinkat(at, name, target, sizeof(target) - 1);
	if (length < 0)
		return -1;
	target[length] = '\0';
	if (nlinks < MAX_LINKS)
		return walk(at, target, false, nlinks + 1, error);
	errno = ELOOP;
	return -1;
}

/* One step; the last one of what the caller named leads through no link. */
static int step(int at, const char *name, bool is_last, bool make, unsigned nlinks, struct fors_error *error)
{
	struct stat info;

	if (make && is_last && mkdirat(at, name, 0755) && errno != EEXIST)
		return -1;
	if (!fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISLNK(info.st_mode) && (!is_last || nlinks))
		return follow(at, name, &info, nlinks, error);
	return enter(at, name, O_PATH, error);
}

static int walk(int at, const char *path, bool make, unsigned nlinks, struct fors_error *error)
{
	int fd = enter(*path == '/' ? AT_FDCWD : at, *path == '/' ? "/" : ".", O_PATH, error);
	char name[NAME_MAX + 1];

	while (fd >= 0 && *(path += strspn(path, "/"))) {
		size_t length = strcspn(path, "/");
		int next = -1;

		if (length < sizeof(name)) {
			memcpy(name, path, length);
			name[length] = '\0';
			path += length;
			next = step(fd, name, !path[strspn(path, "/")], make, nlinks, error);
		} else {
			errno = ENAMETOOLONG;
		}
		close_kept(fd);
		fd = next;
	}
	return fd;
}

int fors_trust_open(const char *path, bool make, struct fors_error *error)
{
	return walk(AT_FDCWD, path, make, 0, error);
}

int fors_trust_enter(int at, const char *name, bool make, struct fors_error *error)
{
	if (make && mkdirat(at, name, 0755) && errno != EEXIST)
		return -1;
	return enter(at, name, O_RDONLY, error);
}
