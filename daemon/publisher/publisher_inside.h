/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publisher_inside.h - what the files of the publisher share.
 * Thread rules: the worker's thread.
 */
#ifndef FORS_DAEMON_PUBLISHER_PUBLISHER_INSIDE_H
#define FORS_DAEMON_PUBLISHER_PUBLISHER_INSIDE_H

#include "publisher.h"

/* In the order of writing. */
enum { SHEET_PLACES, SHEET_SCHEDULE, SHEET_STATUS, SHEET_METRICS, SHEET_HISTORY, SHEETS };

/* Read what an earlier opensm left and has not been read yet. False: out of memory; the rest is read later. */
bool fors_publisher_load(struct fors_publisher *publisher);

/* The bytes of a schedule, in *bytes, owned by the caller: of the draft, if there is one. False: out of memory. */
bool fors_publisher_encode(struct fors_publisher *publisher, const struct fors_schedule *schedule, void **bytes,
			   size_t *size);

/* Have two schedules the same bytes? False, too: out of memory. */
bool fors_publisher_is_same(const struct fors_schedule *a, const struct fors_schedule *b);

/* Give the file that was written with the draft its name, if there is one. False: it has to be written. */
bool fors_publisher_show_draft(struct fors_publisher *publisher, const void *bytes, size_t size);

#endif
