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

static inline void bytes_clear(struct bytes *bytes)
{
	free(bytes->data);
}

/* The plan of `method` for the bed, with this epoch; the test ends when there is none. */
struct fors_schedule *published_plan(const struct bed *bed, const char *method, uint64_t epoch);

/* Its bytes, owned by the caller, and what they say; the test ends when there are none. */
struct bytes published_encode(const struct fors_schedule *schedule);
struct fors_schedule *published_decode(struct bytes bytes);

/* Its bytes, owned by the caller; the schedule is freed. */
struct bytes published_bytes(struct fors_schedule *schedule);

/* Both in one, of a fabric on which nothing is down. */
struct bytes published_spec(const char *spec, unsigned lmc, const char *method, uint64_t epoch);

/* What the plan of a two-level tree is given to become one of version 2. */
enum published_more {
	PUBLISHED_WAYS = 1,	 /* the ways that its lanes are */
	PUBLISHED_SLS = 2,	 /* service levels, the same for all flows of a unit */
	PUBLISHED_MIXED_SLS = 4, /* service levels, any */
	PUBLISHED_NAME = 8,	 /* a name, and an epoch of the fabric */
	PUBLISHED_DENSE = 16,	 /* a cell for each flow */
	PUBLISHED_HALF = 32,	 /* every second pair of a leaf and a server has neither way nor service level */
};

/* The same plan as a schedule of version 2, without lanes; `more` is a sum of those above. */
void published_add(const struct bed *bed, struct fors_schedule *schedule, unsigned more);

/* Both in one, as published_spec(). */
struct bytes published_spec_2(const char *spec, unsigned lmc, const char *method, uint64_t epoch, unsigned more);

/*
 * A schedule of version 3: the plan's phases, twice, with sizes that follow from a seed, multiples of `granule`; some pairs send in both, some in one, some
 * not at all. The plan's layout is dense.
 */
void published_size(struct fors_schedule *schedule, uint64_t granule, uint64_t seed);
struct bytes published_spec_3(const char *spec, unsigned lmc, uint64_t granule, uint64_t seed, unsigned more);

/* A withdrawn schedule. */
struct bytes published_withdrawn(const char *reason, uint64_t epoch);

/* Make all checksums right again, as far as the sections are where the header says. */
void published_restamp(struct bytes bytes);

/* Write a file, in place or by renaming a new one over it. */
void published_write(const char *path, struct bytes bytes);
void published_replace(const char *path, struct bytes bytes);

#endif
