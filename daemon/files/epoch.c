/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "epoch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status/status_json.h"
#include "daemon/base/clock.h"

#define DAY_MS 86400000
#define AHEAD_MS 120000
#define AHEAD_EPOCHS 1000
#define STATUS_MAX_BYTES (1u << 26) /* every link of the largest fabric is dead, twice over */

_Static_assert(sizeof(((struct fors_head *)0)->bytes) == FORS_SCHEDULE_HEADER_BYTES, "a head is not a header");

/* A clock that cannot be right says nothing. */
static uint64_t believed_clock(uint64_t now)
{
	return now < FORS_EPOCH_LIMIT ? now : 0;
}

uint64_t fors_epoch_next(uint64_t last, uint64_t now)
{
	now = believed_clock(now);
	return now > last + 1 ? now : last + 1 + (last > 0);
}

static uint64_t ahead(uint64_t last, uint64_t now, unsigned part)
{
	uint64_t by_clock = believed_clock(now) + AHEAD_MS / part, by_count = last + AHEAD_EPOCHS / part;
	uint64_t most = by_clock > by_count ? by_clock : by_count;

	return most < FORS_EPOCH_LIMIT ? most : FORS_EPOCH_LIMIT - 1;
}

uint64_t fors_epoch_reserve(uint64_t last, uint64_t now)
{
	return ahead(last, now, 1);
}

bool fors_epoch_is_scarce(uint64_t reserved, uint64_t last, uint64_t now)
{
	return reserved < ahead(last, now, 2);
}

bool fors_epoch_is_own(uint64_t epoch)
{
	return epoch < FORS_EPOCH_LIMIT;
}

bool fors_epoch_is_near(uint64_t epoch, uint64_t highest, uint64_t now)
{
	now = believed_clock(now);
	return epoch <= highest || (epoch < FORS_EPOCH_LIMIT && epoch <= (now > highest ? now : highest) + DAY_MS);
}

enum fors_err fors_epoch_of_head(const struct fors_folder *folder, const struct fors_head *head,
				 struct fors_schedule_header *header, bool *is_there, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	char path[FORS_ERROR_TEXT];

	fors_folder_path(folder, "schedule", path);
	if (head->is_there)
		err = fors_schedule_header_read(head->bytes, head->size, head->file_size, path, header, error);
	if (!err)
		*is_there = head->is_there;
	return err;
}

enum fors_err fors_epoch_of_schedule(const struct fors_folder *folder, struct fors_schedule_header *header,
				     bool *is_there, struct fors_error *error)
{
	struct fors_head head;
	enum fors_err err = fors_published_head(folder, "schedule", &head, error);

	return err ? err : fors_epoch_of_head(folder, &head, header, is_there, error);
}

enum fors_err fors_epoch_read_status(const struct fors_folder *folder, struct fors_status *status,
				     struct fors_error *error)
{
	char path[FORS_ERROR_TEXT];
	void *bytes = NULL;
	size_t size;
	enum fors_err err = fors_published(folder, "status.json", STATUS_MAX_BYTES, &bytes, &size, error);

	fors_folder_path(folder, "status.json", path);
	if (!err && bytes)
		err = fors_status_parse(bytes, path, status, error);
	else if (!err)
		fors_status_init(status);
	free(bytes);
	return err;
}

/* Digits only, no sign, nothing that wraps; `end` has to follow. */
static bool read_number(const char **text, const char *past, char end, uint64_t *number)
{
	const char *begin = *text, *at = begin;

	for (*number = 0; at < past && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return false;
	*text = at + 1;
	return at > begin && at < past && *at == end;
}

size_t fors_epoch_reserve_text(uint64_t epoch, char text[FORS_RESERVE_LENGTH + 1])
{
	char boot[FORS_BOOT_LENGTH + 1];

	fors_clock_boot(boot);
	return (size_t)snprintf(text, FORS_RESERVE_LENGTH + 1, *boot ? "%" PRIu64 " %s\n" : "%" PRIu64 "\n", epoch,
				boot);
}

/* "NUMBER BOOT", or "NUMBER" where boots are not known; a line, and nothing else. `boot`: what is behind the number. */
static bool read_reserve(const char *text, size_t size, uint64_t *epoch, const char **boot)
{
	const char *past = text + size, *at = text;

	*boot = "";
	if (read_number(&at, past, '\n', epoch))
		return at == past;
	at = text;
	if (!read_number(&at, past, ' ', epoch))
		return false;
	*boot = at;
	return past - at == FORS_BOOT_LENGTH + 1 && past[-1] == '\n';
}

enum fors_err fors_epoch_of_reserve(const struct fors_folder *folder, uint64_t *epoch, bool *is_this_boot,
				    struct fors_error *error)
{
	struct fors_head head;
	enum fors_err err = fors_published_head(folder, "epoch", &head, error);
	char path[FORS_ERROR_TEXT], now[FORS_BOOT_LENGTH + 1];
	const char *boot = "";
	uint64_t found = 0;

	fors_folder_path(folder, "epoch", path);
	if (!err && head.is_there &&
	    (head.file_size != head.size || !read_reserve((const char *)head.bytes, head.size, &found, &boot)))
		err = fors_fail(error, FORS_EINPUT, "%s: not an epoch", path);
	if (err)
		return err;
	fors_clock_boot(now);
	*epoch = found;
	*is_this_boot = *boot && *now && !strncmp(boot, now, FORS_BOOT_LENGTH);
	return FORS_OK;
}

enum fors_err fors_epoch_of_heartbeat(const struct fors_folder *folder, uint64_t *epoch, struct fors_error *error)
{
	struct fors_head head;
	const char *text = (const char *)head.bytes;
	enum fors_err err = fors_published_head(folder, "heartbeat", &head, error);
	char path[FORS_ERROR_TEXT];
	uint64_t time, found = 0;

	if (!err && head.is_there) {
		const char *past = text + head.size;

		fors_folder_path(folder, "heartbeat", path);
		if (!read_number(&text, past, ' ', &time) || !read_number(&text, past, '\n', &found) || text != past ||
		    head.file_size != head.size)
			err = fors_fail(error, FORS_EINPUT, "%s: not a time and an epoch", path);
	}
	if (!err)
		*epoch = found;
	return err;
}
