/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_sizes.h - what a schedule of version 3 has for its demand, as bytes: lengths of phases, sizes of pieces.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_SIZES_H
#define FORS_CORE_SCHEDULE_SCHEDULE_SIZES_H

#include "schedule.h"
#include "schedule_header.h"

/* Write the cells to their place. `to` is aligned to 8 bytes. */
void fors_schedule_sizes_put_cells(const struct fors_schedule *schedule, unsigned char *to);

/* Write the third part of the header and the lengths to their places in `bytes`, but no CRC of the header. Errors: FORS_ENOMEM. */
enum fors_err fors_schedule_sizes_put(const struct fors_schedule *schedule, const struct fors_schedule_shape *shape,
				      unsigned char *bytes, struct fors_error *error);

/*
 * Read lengths and sizes from the `bytes` of a file, whose header was found good, into a schedule that has its cells.
 * *fault becomes a constant text when something is wrong. Errors: FORS_ENOMEM.
 */
enum fors_err fors_schedule_sizes_get(const unsigned char *bytes, const struct fors_schedule_header *header,
				      struct fors_schedule *schedule, const char **fault, struct fors_error *error);

/* What is wrong with lengths and sizes (rules 16 and 17 of schedule_format.h), a constant text; NULL: nothing. */
const char *fors_schedule_sizes_fault(const struct fors_schedule *schedule);

#endif
