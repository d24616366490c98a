/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_file.h - the published form of a schedule: bytes.
 *
 * Little-endian, versioned, checksummed (zlib's crc32); the layout is written down
 * in schedule_format.h. A withdrawn schedule is one with 0 phases and a reason.
 * Thread rules: pure; what is read belongs to the caller.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_FILE_H
#define FORS_CORE_SCHEDULE_SCHEDULE_FILE_H

#include "schedule.h"

/*
 * The bytes of `schedule` in *bytes (*size of them), owned by the caller (free()).
 * Same schedule, same bytes. Errors: FORS_ENOMEM, FORS_ELIMIT.
 */
enum fors_err fors_schedule_encode(const struct fors_schedule *schedule, void **bytes, size_t *size,
				   struct fors_error *error);

/* What changes with the epoch lies in so many first bytes; a file may be shorter. */
#define FORS_SCHEDULE_HEAD 440

/*
 * The schedule in `bytes`, in *schedule, owned by the caller. Every byte is
 * checked before it is believed; `name` (a file name) opens error texts.
 * Errors: FORS_EINPUT (truncated, corrupted, of another byte order or a future
 * version), FORS_ENOMEM.
 */
enum fors_err fors_schedule_decode(const void *bytes, size_t size, const char *name, struct fors_schedule **schedule,
				   struct fors_error *error);

/* A withdrawn schedule: no servers, 0 phases, `reason` (cut to fit). Errors: FORS_ENOMEM. */
enum fors_err fors_schedule_withdrawn(uint64_t epoch, const char *reason, struct fors_schedule **schedule,
				      struct fors_error *error);

#endif
