/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epoch.h - which epochs in files are believed, and which one comes next.
 *
 * Epochs only grow: the next one is larger than all that are believed, and at least the Unix time in milliseconds. So
 * one absurd number that is believed is in the way for ever. Below FORS_EPOCH_LIMIT, the milliseconds of 142,808 years, there
 * is room for all that ever will be published, and JSON and every language have these numbers. Which file says it decides
 * how far an epoch is believed:
 *
 *	state folder	only opensm writes there, so whatever is intact and below the limit, be the clock what it may
 *	publish_dir	others may write there, so not more than a day past the clock and what this opensm published itself
 *
 * Threads: any; nothing is kept.
 */
#ifndef FORS_DAEMON_FILES_EPOCH_H
#define FORS_DAEMON_FILES_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/schedule/schedule_header.h"
#include "core/status/status.h"
#include "publish.h"

#define FORS_EPOCH_LIMIT ((uint64_t)1 << 52)

/*
 * The epoch after `last` (0: none) when the clock shows `now`, in ms; a clock past the limit is not believed. Never 0. The
 * one just after `last` is left to the withdrawal that lies ready (publish_spare.c).
 */
uint64_t fors_epoch_next(uint64_t last, uint64_t now);

/*
 * Up to which epoch numbers shall be reserved in the state folder, when the last one was `last` and the clock shows `now`. A
 * reader may see an epoch only when a crash of the machine cannot make it be given again, be the clock behind after it; so
 * a number above is on the disk before. Two minutes of the clock's, which a machine needs to come up again; or a thousand
 * epochs when the clock is behind them. A machine that crashes again and again gets no farther ahead of its clock.
 */
uint64_t fors_epoch_reserve(uint64_t last, uint64_t now);

/* Is less than half of that left? Then it is time, while nobody waits for an epoch. */
bool fors_epoch_is_scarce(uint64_t reserved, uint64_t last, uint64_t now);

/* Is an epoch in the state folder believed? */
bool fors_epoch_is_own(uint64_t epoch);

/* Is an epoch in publish_dir, `highest` being the highest that was published here? */
bool fors_epoch_is_near(uint64_t epoch, uint64_t highest, uint64_t now);

/*
 * The header of the schedule in a folder; *is_there false: there is no file. Reads 440 bytes.
 * Errors: FORS_EINPUT (it is damaged, or no schedule; the text has its path), FORS_EIO (cannot be read now).
 */
enum fors_err fors_epoch_of_schedule(const struct fors_folder *folder, struct fors_schedule_header *header,
				     bool *is_there, struct fors_error *error);

/* The same for a head of it that has been read. Errors: FORS_EINPUT. */
enum fors_err fors_epoch_of_head(const struct fors_folder *folder, const struct fors_head *head,
				 struct fors_schedule_header *header, bool *is_there, struct fors_error *error);

/* status.json there, in *status, to be cleared; one that knows nothing: there is no such file. Errors: FORS_EINPUT, FORS_EIO, FORS_ENOMEM. */
enum fors_err fors_epoch_read_status(const struct fors_folder *folder, struct fors_status *status,
				     struct fors_error *error);

#define FORS_RESERVE_LENGTH 60 /* of the file `epoch`, at most */

/* The file `epoch`: up to which number epochs are reserved, and in which boot of the machine (clock.h). Its length. */
size_t fors_epoch_reserve_text(uint64_t epoch, char text[FORS_RESERVE_LENGTH + 1]);

/*
 * The number up to which epochs are reserved there, 0: none are; *is_this_boot: the machine has not crashed since.
 * Errors: FORS_EINPUT, FORS_EIO.
 */
enum fors_err fors_epoch_of_reserve(const struct fors_folder *folder, uint64_t *epoch, bool *is_this_boot,
				    struct fors_error *error);

/* The epoch of the heartbeat there, 0: it has none. Errors: FORS_EINPUT, FORS_EIO. */
enum fors_err fors_epoch_of_heartbeat(const struct fors_folder *folder, uint64_t *epoch, struct fors_error *error);

#endif
