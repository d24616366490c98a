/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.c - whoever can open a file can hold flock() on it, also for reading only. So the lock is nobody's but its user's: 0600, and
 * older versions' 0644 is taken back. A descriptor that somebody has had since then still holds it: when such a one is in the way, the
 * file is given up, and the next process makes a new one.
 *
 * The folder may be one that others write to. So nothing is followed, made or changed that somebody else may have put there: the lock is
 * a plain file with one name and at most one byte, of this user, root or the folder's owner; what is left to be removed is of this user
 * and begins as what we write does.
 */
#include "lock.h"

#include <dirent.h>
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
#include "cli/slurm/jobsfile.h"

#define TRIES_MAX 100	   /* somebody else makes and removes it all the time */
#define ENTRIES_MAX 100000 /* of the folder are looked at */
#define RANDOM_LETTERS 6   /* of mkstemp() */

/* --- the lock ----------------------------------------------------------------------------------------------------- */

/* The folder that a file is in; its own name in *name. */
static bool split(const char *path, char *folder, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 1;

	*name = slash ? slash + 1 : path;
	if (length >= CLI_PATH_ROOM)
		return false;
	memcpy(folder, slash ? path : ".", length);
	folder[length] = '\0';
	if (!length)
		memcpy(folder, "/", 2);
	return true;
}

/* In a folder that anybody may write to a file is believed only when it is ours, root's, or of the folder's owner. */
static bool is_trusted(const char *path, const struct stat *st)
{
	char folder[CLI_PATH_ROOM];
	const char *name;
	struct stat in;

	if (st->st_uid == geteuid() || st->st_uid == 0)
		return true;
	return split(path, folder, &name) && !stat(folder, &in) && (st->st_uid == in.st_uid || !(in.st_mode & S_IWOTH));
}

/* Others than its user can open it, but for a group that is meant to: one that may write. */
static bool is_open_to_others(const struct stat *st)
{
	return (st->st_mode & 07) || ((st->st_mode & 070) && !(st->st_mode & 020));
}

enum looked { IS_GOOD, IS_GONE, IS_BAD };

/* Is it a lock? *was_open: others could have it open. */
static enum looked look(const char *path, int fd, bool *was_open)
{
	struct stat st;

	if (fstat(fd, &st) || !st.st_nlink)
		return IS_GONE;
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1 || st.st_size > 1) {
		cli_error("%s: this is no lock of fors; remove it", path);
		return IS_BAD;
	}
	if (!is_trusted(path, &st)) {
		if (!unlink(path))
			return IS_GONE;
		cli_error("%s: it belongs to user %u, who could hold it for ever; remove it", path,
			  (unsigned)st.st_uid);
		return IS_BAD;
	}
	*was_open = is_open_to_others(&st);
	if (*was_open)
		(void)fchmod(fd, st.st_mode & (st.st_mode & 020 ? 0660 : 0600));
	return IS_GOOD;
}

/* -1 and errno. */
static int open_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd;
}

/* Does the name still stand for it? Somebody may have given it up meanwhile. */
static bool is_named(const char *path, int fd)
{
	struct stat here, there;

	return !fstat(fd, &here) && !lstat(path, &there) && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

/* 0, EAGAIN: the deadline has passed, another errno. */
static int wait_for(int fd, double deadline)
{
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return errno;
		if (cli_now_ms() >= deadline)
			return EAGAIN;
		poll(NULL, 0, 20);
	}
	return 0;
}

static void tell(const char *path, int why, bool was_open)
{
	if (why == EAGAIN && was_open && !unlink(path))
		cli_error(
			"%s: somebody else has held it too long; since others than its user could open it, it is made anew "
			"the next time",
			path);
	else if (why == EAGAIN)
		cli_error("%s: somebody else has held it too long", path);
	else
		cli_error("%s: %s", path, why == ELOOP ? "it is a symbolic link; remove it" : strerror(why));
}

/* Once; -1: the user has been told, -2: again. */
static int try_lock(const char *path, double deadline)
{
	bool was_open = false;
	int fd = open_lock(path), why;
	enum looked looked;

	if (fd < 0 && errno == EEXIST)
		return -2;
	if (fd < 0) {
		tell(path, errno, false);
		return -1;
	}
	looked = look(path, fd, &was_open);
	why = looked == IS_GOOD ? wait_for(fd, deadline) : 0;
	if (looked == IS_GOOD && !why && is_named(path, fd))
		return fd;
	close(fd);
	if (why)
		tell(path, why, was_open);
	return why || looked == IS_BAD ? -1 : -2;
}

int slurm_lock(const char *output, double deadline)
{
	char path[CLI_PATH_ROOM];
	int fd = -2;

	if ((size_t)snprintf(path, sizeof(path), "%s.lock", output) >= sizeof(path)) {
		cli_error("%.100s...: the path is too long", output);
		return -1;
	}
	for (unsigned i = 0; fd == -2 && i < TRIES_MAX; i++)
		fd = try_lock(path, deadline);
	if (fd == -2)
		cli_error("%s: somebody makes and removes it all the time", path);
	return fd < 0 ? -1 : fd;
}

/* --- what was left ------------------------------------------------------------------------------------------------ */

static unsigned count_of(const char *text, char first, char last)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text >= first && *text <= last;
	return n;
}

/* "backup", "Sample", "202611": what a person may have called a copy, and mkstemp() hardly ever. */
static bool is_a_word(const char *letters)
{
	unsigned small = count_of(letters, 'a', 'z'), large = count_of(letters, 'A', 'Z');

	return small == RANDOM_LETTERS || large == RANDOM_LETTERS || (!small && !large) ||
	       (small == RANDOM_LETTERS - 1 && letters[0] >= 'A' && letters[0] <= 'Z');
}

/* Did cli_write_file() make this name for the file `base`? */
static bool is_temporary(const char *name, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(name, base, length) && name[length] == '.' && strlen(name + length + 1) == RANDOM_LETTERS &&
	       strspn(name + length + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
		       RANDOM_LETTERS;
}

/* Our own, and its text begins as ours do, as far as it goes. Until it was complete its mode was that of mkstemp(). */
static bool is_ours(int fd, const char *letters)
{
	char text[sizeof(SLURM_HEAD)];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
	    ((st.st_mode & 07777) != 0600 && is_a_word(letters)))
		return false;
	n = read(fd, text, sizeof(text) - 1);
	return n >= 0 && !memcmp(text, SLURM_HEAD, (size_t)n);
}

void slurm_clean_up(const char *output)
{
	char folder[CLI_PATH_ROOM];
	const char *base;
	const struct dirent *entry;
	DIR *dir = split(output, folder, &base) ? opendir(folder) : NULL;

	for (unsigned i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
		int fd;

		if (!is_temporary(entry->d_name, base))
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_ours(fd, entry->d_name + strlen(base) + 1))
			unlinkat(dirfd(dir), entry->d_name, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
}
