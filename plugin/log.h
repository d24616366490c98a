/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - lines in OpenSM's log.
 *
 * osm_log() formats into 4,096 bytes without looking, inside a root daemon. So nobody
 * else in fors calls it: these functions cut every line to less than 1,000 bytes first.
 * Any thread, with or without OpenSM's lock.
 */
#ifndef FORS_PLUGIN_LOG_H
#define FORS_PLUGIN_LOG_H

#include "keeper/base/errors.h"

struct osm_log;

/* "fors: text" at level INFO, which OpenSM writes by default. */
void fors_log_info(struct osm_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "fors: ERR F0nn: text" at level ERROR. */
void fors_log_error(struct osm_log *log, enum fors_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
