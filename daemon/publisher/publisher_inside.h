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

/* Have two schedules the same bytes? False, too: out of memory. */
bool fors_publisher_is_same(const struct fors_schedule *a, const struct fors_schedule *b);

#endif
