/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - lines in the log of whoever gives looks: an interface, for the daemon does not know which log that is.
 *
 * A source of looks fills in struct fors_log, and nobody else in fors writes to its log. Lines are cut to less than 1,000
 * bytes first, for a log may be one that does not look how long they are.
 * Any thread, with or without a lock of the source's held: so must write() be.
 */
#ifndef FORS_DAEMON_BASE_LOG_H
#define FORS_DAEMON_BASE_LOG_H

#include <stdbool.h>

#include "errors.h"

struct fors_log {
	/* One line, without its end: is_error as its first words say too ("ERR F0nn: "). */
	void (*write)(void *context, bool is_error, const char *line);
	void *context; /* of write() */
};

/* "text" for whom wants to know. */
void fors_log_info(struct fors_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "ERR F0nn: text" for whom has to act. */
void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
