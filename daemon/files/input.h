/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - files that the administrator wrote: read whole, and told apart from what they were.
 *
 * Threads: any; file systems are gone out to by fors_io_begin().
 */
#ifndef FORS_DAEMON_FILES_INPUT_H
#define FORS_DAEMON_FILES_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/error.h"

#define FORS_STAMPS_MAX 4u

/* Which files were read, and what they were then. All zero: none. */
struct fors_stamps {
	struct fors_stamp {
		char *path; /* owned */
		uint64_t dev, ino, size;
		int64_t changed_ns, written_ns; /* ctime, mtime */
	} file[FORS_STAMPS_MAX];
	unsigned count;
	bool is_vague; /* one of them was written just then: another change might leave no trace */
};

void fors_stamps_clear(struct fors_stamps *stamps);

/* Are all these files what they were? False also when that cannot be said. */
bool fors_stamps_hold(const struct fors_stamps *stamps);

/*
 * The text of a regular file of at most max_mb MB in *text, owned by the caller, with a NUL behind it; *info is the
 * file's. Its stamp is added to `stamps` (NULL: not wanted). Errors, with the path: FORS_EIO, FORS_ENOMEM.
 */
enum fors_err fors_input_read(const char *path, unsigned max_mb, struct stat *info, char **text,
			      struct fors_stamps *stamps, struct fors_error *error);

#endif
