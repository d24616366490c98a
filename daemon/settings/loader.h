/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader.h - the settings, loaded in the background: only when a file has changed, and never longer than a file system takes to show
 * that it hangs.
 *
 * Threads: OpenSM's sweeper only.
 */
#ifndef FORS_DAEMON_SETTINGS_LOADER_H
#define FORS_DAEMON_SETTINGS_LOADER_H

#include "settings.h"

struct fors_loader;

enum fors_load {
	FORS_LOAD_SAME, /* nothing has changed since what was handed out last */
	FORS_LOAD_NEW,	/* *settings is new, and the caller's */
	FORS_LOAD_BAD,	/* *error says why */
	FORS_LOAD_LATE, /* a file does not answer; *error says which, as fors_loader_trouble() */
};

/*
 * `news` (NULL: none) is called by another thread when files that did not answer do: load again. patience_ms: see
 * background.h. Errors: FORS_ENOMEM.
 */
enum fors_err fors_loader_start(void (*news)(void *context), void *context, unsigned patience_ms,
				struct fors_loader **loader, struct fors_error *error);

/* Load what has changed. sources->stamps is not looked at. */
enum fors_load fors_loader_load(struct fors_loader *loader, const struct fors_sources *sources,
				struct fors_settings **settings, struct fors_error *error);

/* Which file does not answer, and since when, the same words as long as it lasts; NULL: all answer. */
const char *fors_loader_trouble(const struct fors_loader *loader);

/* NULL is allowed. A thread that hangs is left alone. */
void fors_loader_stop(struct fors_loader *loader);

#endif
