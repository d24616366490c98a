/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trust.h - whose folder is it? Folders that nobody but root and the user of this process can change.
 */
#ifndef FORS_DAEMON_FILES_TRUST_H
#define FORS_DAEMON_FILES_TRUST_H

#include <stdbool.h>

#include "core/base/error.h"

/*
 * A handle of the folder `path`, made when it is missing and `make` is set, for openat() and its like; -1 and errno when
 * it cannot be had. Each folder from the root down to it, and each symbolic link on the way, belongs to root or to the
 * user of this process; others may write none of these folders but those with the sticky bit. The last component is no
 * symbolic link. What is not so makes errno EPERM, and *error (code FORS_EINPUT) says what to change; else *error is left
 * alone. Any thread.
 */
int fors_trust_open(const char *path, bool make, struct fors_error *error);

/* The same for the folder `name` in a folder that was opened so; no sticky bit helps it. To be read, synced, written. */
int fors_trust_enter(int at, const char *name, bool make, struct fors_error *error);

#endif
