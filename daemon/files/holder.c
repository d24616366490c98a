/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder.c - terms in a shared folder. Over NFS the answer to a link() may be lost, so what counts is how many names the file
 * has then.
 */
#include "config.h"

#include "holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/digest.h"
#include "publish_inside.h"

#define PREFIX "holder."
#define MOST_TERM UINT64_C(999999999999)

struct name {
	char text[32];
};

static struct name name_of(uint64_t term)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), PREFIX "%" PRIu64, term);
	return name;
}

/* The term of a file name; 0: it is none. */
static uint64_t term_of(const char *name)
{
	uint64_t term = 0;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || name[strlen(PREFIX)] == '0')
		return 0;
	for (name += strlen(PREFIX); *name >= '0' && *name <= '9' && term <= MOST_TERM; name++)
		term = 10 * term + (uint64_t)(*name - '0');
	return *name || term > MOST_TERM ? 0 : term;
}

static enum fors_err fail(const struct fors_folder *folder, const char *what, struct fors_error *error)
{
	return fors_fail(error, FORS_EIO, "%s: %s: %s", folder->parent, what, strerror(errno));
}

/* The newest term there, 0: none. With a limit, older ones than it are removed. */
static enum fors_err look(const struct fors_folder *folder, int at, uint64_t limit, uint64_t *newest,
			  struct fors_error *error)
{
	int again = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	if (!names) {
		fail(folder, "cannot be listed", error);
		if (again >= 0)
			close(again);
		return FORS_EIO;
	}
	*newest = 0;
	while ((entry = readdir(names))) {
		uint64_t term = term_of(entry->d_name);

		if (term > *newest)
			*newest = term;
		if (term && term < limit)
			unlinkat(at, entry->d_name, 0);
	}
	closedir(names);
	return FORS_OK;
}

/* Is it ours, by its content? */
static enum fors_err read_term(const struct fors_folder *folder, uint64_t term, bool *is_ours, struct fors_error *error)
{
	struct fors_head head;
	enum fors_err err = fors_published_head(folder, name_of(term).text, &head, error);

	if (!err)
		*is_ours = head.is_there && head.size == strlen(folder->tag) &&
			   !memcmp(head.bytes, folder->tag, head.size);
	return err;
}

/* Try to get a term. */
static enum fors_err claim(const struct fors_folder *folder, int at, uint64_t term, bool *is_ours,
			   struct fors_error *error)
{
	struct fors_temporary temporary = fors_temporary_of("holder", folder->tag);
	const char *step = fors_temporary_write(at, temporary.name, folder->tag, strlen(folder->tag), true);
	struct stat info = {.st_nlink = 0};
	bool is_linked;
	int failed;

	if (step)
		return fail(folder, step, error);
	is_linked = !linkat(at, temporary.name, at, name_of(term).text, 0);
	failed = errno;
	if (!is_linked && !fstatat(at, temporary.name, &info, AT_SYMLINK_NOFOLLOW))
		is_linked = info.st_nlink == 2;
	unlinkat(at, temporary.name, 0);
	errno = failed;
	if (!is_linked && failed != EEXIST)
		return fail(folder, "a file there cannot get a second name (link)", error);
	*is_ours = is_linked;
	return FORS_OK;
}

/* Has the holder of this term been silent for long? */
static bool is_silent(struct fors_holder *holder, const struct fors_folder *folder, uint64_t term)
{
	struct fors_head head = {.is_there = false};
	uint64_t beat, now = fors_clock_ms();

	if (fors_published_head(folder, "heartbeat", &head, NULL))
		head.size = 0; /* damaged: it does not change either */
	beat = fors_digest(FORS_DIGEST_EMPTY, head.bytes, head.size);
	if (term != holder->term || beat != holder->beat || !holder->since_ms) {
		*holder = (struct fors_holder){.term = term, .beat = beat, .since_ms = now};
		return false;
	}
	return now - holder->since_ms >= FORS_HOLDER_MS;
}

static enum fors_err hold(struct fors_holder *holder, const struct fors_folder *folder, int at, bool *is_ours,
			  struct fors_error *error)
{
	uint64_t term, newest;
	bool is_it = false;
	enum fors_err err = look(folder, at, 0, &term, error);

	if (!err && term)
		err = read_term(folder, term, &is_it, error);
	if (!err && !is_it && (!term || is_silent(holder, folder, term))) {
		err = claim(folder, at, term + 1, &is_it, error);
		if (!err && is_it)
			err = look(folder, at, term + 1, &newest, error); /* older ones say nothing any more */
		is_it = !err && is_it && newest == term + 1; /* link() may have hung while two others held it in turn */
	}
	if (!err)
		*is_ours = is_it;
	return err;
}

enum fors_err fors_hold(struct fors_holder *holder, const struct fors_folder *folder, bool *is_ours,
			struct fors_error *error)
{
	int at = fors_folder_open(folder, false, error);
	enum fors_err err;

	if (at < 0)
		return fail(folder, "cannot be opened", error);
	err = hold(holder, folder, at, is_ours, error);
	close(at);
	return err;
}
