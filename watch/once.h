/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* once.h - read the fabric once, into files. Threads: one. */
#ifndef FORS_WATCH_ONCE_H
#define FORS_WATCH_ONCE_H

#include <stdbool.h>

#include "mads.h"

struct fors_once {
	struct fors_mads_setup mads;
	const char *net, *lfts; /* files to be written; NULL: not wanted */
};

/*
 * Read until a reading counts, write the files (each replaced at once), and tell on standard output what was read. Errors:
 * those of fors_reading_wait(), FORS_EIO (a file).
 */
enum fors_err fors_once_run(const struct fors_once *once, struct fors_error *error);

#endif
