/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for a newer epoch. The file is replaced by renaming, which inotify tells of the folder that it is in: at once, on a
 * file system of this machine. Of a network file system it tells only what this machine does itself, so a timer looks there;
 * and a slow one everywhere, for what inotify does not tell: the folder came later, was moved, is a mount point by now.
 *
 * Both are behind one descriptor for poll(2), an epoll: readable means "look", no more, and looking makes it quiet again. What
 * there is to see is asked of the file itself, as forsched_newest() does.
 */
#include "config.h"

#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 1000  /* where inotify tells */
#define REMOTE_MS 100 /* where it does not */
#define CHANGES (IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct forsched_watch {
	char *path;   /* of the file, or of the folder that it is in */
	char *folder; /* where renames happen */
	int epoll, inotify, timer;
	int number; /* of the folder in inotify, -1: not watched, it may not be there */
	bool is_remote;
};

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* The folder of the file: the path itself when it is one, else what comes before the last slash. NULL: no memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat info;

	if (!stat(path, &info) && S_ISDIR(info.st_mode))
		return strdup(path);
	return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* File systems of this machine. What is not known counts as one that others write to. */
static bool is_local(const char *folder)
{
	static const long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,	      BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
				     RAMFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC};
	struct statfs info;

	if (statfs(folder, &info))
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if ((long)info.f_type == local[i])
			return true;
	return false;
}

/* What was no folder may be one by now. Without memory it stays what it was. */
static void name_folder(struct forsched_watch *watch)
{
	char *folder = folder_of(watch->path);

	if (!folder)
		return;
	free(watch->folder);
	watch->folder = folder;
}

/* Watch the folder that has this name now, if there is one; how often to look depends on it. */
static void watch_folder(struct forsched_watch *watch)
{
	int number = inotify_add_watch(watch->inotify, watch->folder, CHANGES);
	unsigned ms;
	struct itimerspec every;

	if (watch->number >= 0 && watch->number != number)
		inotify_rm_watch(watch->inotify, watch->number);
	watch->number = number;
	watch->is_remote = watch->number < 0 || !is_local(watch->folder);
	ms = watch->is_remote ? REMOTE_MS : LOOK_MS;
	every.it_interval.tv_sec = ms / 1000;
	every.it_interval.tv_nsec = (long)(ms % 1000) * 1000000;
	every.it_value = every.it_interval;
	timerfd_settime(watch->timer, 0, &every, NULL);
}

static bool join(struct forsched_watch *watch, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return fd >= 0 && !epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event);
}

void forsched_watch_close(struct forsched_watch *watch)
{
	const int fd[] = {watch ? watch->epoll : -1, watch ? watch->inotify : -1, watch ? watch->timer : -1};

	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (watch) {
		free(watch->folder);
		free(watch->path);
	}
	free(watch);
}

enum forsched_err forsched_watch_open(const char *path, struct forsched_watch **watch, struct forsched_error *error)
{
	struct forsched_watch *made = calloc(1, sizeof(*made));
	enum forsched_err err;

	if (!made)
		return forsched_i_fail_memory(error);
	made->number = -1;
	made->path = strdup(path);
	made->folder = folder_of(path);
	made->epoll = epoll_create1(EPOLL_CLOEXEC);
	made->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	made->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!made->path || !made->folder)
		err = forsched_i_fail_memory(error);
	else if (made->epoll < 0 || !join(made, made->timer))
		err = forsched_i_fail(error, FORSCHED_EFILE, "%s: cannot be watched: %s", path, strerror(errno));
	else
		err = FORSCHED_OK;
	if (err) {
		forsched_watch_close(made);
		return err;
	}
	join(made, made->inotify); /* there may be too many watches on this machine: the timer does, then */
	watch_folder(made);
	*watch = made;
	return FORSCHED_OK;
}

int forsched_watch_fd(const struct forsched_watch *watch)
{
	return watch->epoll;
}

/* Take what has been told; from time to time look whether the folder is still that of this name. */
static void drain(struct forsched_watch *watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	uint64_t ticks;

	while (watch->inotify >= 0 && read(watch->inotify, events, sizeof(events)) > 0)
		; /* what it was is seen by looking */
	if (read(watch->timer, &ticks, sizeof(ticks)) > 0) {
		name_folder(watch);
		watch_folder(watch);
	}
}

enum forsched_err forsched_watch_newest(struct forsched_watch *watch, uint64_t *epoch, struct forsched_error *error)
{
	drain(watch); /* first: what comes while the file is read is told again */
	return forsched_i_newest(watch->path, epoch, error);
}

enum forsched_err forsched_watch_wait(struct forsched_watch *watch, uint64_t after, int timeout_ms, uint64_t *epoch,
				      struct forsched_error *error)
{
	int64_t until = now_ms() + timeout_ms;

	for (;;) {
		struct pollfd look = {.fd = watch->epoll, .events = POLLIN};
		int64_t left = until - now_ms();
		uint64_t found = 0;
		enum forsched_err err = forsched_watch_newest(watch, &found, error);

		if (!err && found > after) {
			*epoch = found;
			return FORSCHED_OK;
		}
		if (timeout_ms >= 0 && left <= 0) {
			if (!err)
				*epoch = found;
			return err;
		}
		if (poll(&look, 1, timeout_ms < 0 ? -1 : left > INT_MAX ? INT_MAX : (int)left) < 0 && errno != EINTR)
			return forsched_i_fail(error, FORSCHED_EFILE, "%s: cannot be waited for: %s", watch->path,
					       strerror(errno));
	}
}
