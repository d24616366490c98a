/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * published.h - published schedules for tests of their readers: real plans as bytes, and bytes as files.
 */
#ifndef FORS_TESTS_PUBLISHED_H
#define FORS_TESTS_PUBLISHED_H

#include "core/schedule/schedule.h"
#include "support.h"

struct bytes {
	unsigned char *data;
	size_t size;
};

/* The plan of `method` for the bed, with this epoch; the test ends when there is none. */
struct fors_schedule *published_plan(const struct bed *bed, const char *method, uint64_t epoch);

/* Its bytes, owned by the caller; the schedule is freed. */
struct bytes published_bytes(struct fors_schedule *schedule);

/* Both in one, of a fabric on which nothing is down. */
struct bytes published_spec(const char *spec, unsigned lmc, const char *method, uint64_t epoch);

/* A withdrawn schedule. */
struct bytes published_withdrawn(const char *reason, uint64_t epoch);

/* Make all checksums right again, as far as the sections are where the header says. */
void published_restamp(struct bytes bytes);

/* Write a file, in place or by renaming a new one over it. */
void published_write(const char *path, struct bytes bytes);
void published_replace(const char *path, struct bytes bytes);

#endif
