/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The next epoch. The file is replaced by renaming, so its name always stands for a whole schedule; what is open
 * already stays the old one. To see whether there is a newer one the name is opened again: on NFS that is the moment at
 * which a client asks its server
 * ("close-to-open consistency"), where stat() may be answered from what it remembers.
 */
#include "config.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum forsched_err check_has_path(const struct forsched *schedule, struct forsched_error *error)
{
	if (!schedule->source.data)
		return FORSCHED_OK;
	return forsched_i_fail(error, FORSCHED_ERANGE, "%s: was opened from memory; there is no file to look at",
			       schedule->source.name);
}

enum forsched_err forsched_newest(const struct forsched *schedule, uint64_t *epoch, struct forsched_error *error)
{
	enum forsched_err err = check_has_path(schedule, error);

	return err ? err : forsched_i_newest(schedule->source.name, epoch, error);
}

enum forsched_err forsched_open_newer(const struct forsched *schedule, struct forsched **newer,
				      struct forsched_error *error)
{
	struct forsched *opened = NULL;
	uint64_t epoch = 0;
	enum forsched_err err = forsched_newest(schedule, &epoch, error);

	if (!err && epoch > schedule->shape.epoch)
		err = forsched_open(schedule->source.name, &opened, error);
	if (err)
		return err;
	if (opened && opened->shape.epoch <= schedule->shape.epoch) { /* replaced in between, by an older one */
		forsched_close(opened);
		opened = NULL;
	}
	*newer = opened;
	return FORSCHED_OK;
}

enum forsched_err forsched_refresh(struct forsched **schedule, struct forsched_error *error)
{
	struct forsched *newer = NULL;
	enum forsched_err err = forsched_open_newer(*schedule, &newer, error);

	if (err || !newer)
		return err;
	forsched_close(*schedule);
	*schedule = newer;
	return FORSCHED_OK;
}

/* ---- heartbeat ---- */

/* Does this folder (with its slash) end right before `at`? */
static bool is_below(const char *name, const char *at, const char *folder)
{
	size_t n = strlen(folder);

	return (size_t)(at - name) >= n && !strncmp(at - n, folder, n) &&
	       ((size_t)(at - name) == n || at[-1 - (ptrdiff_t)n] == '/');
}

/* Is it jobs/NAME/ or demand/NAME/ that the name of a schedule begins with, up to this slash? Then where that begins, else NULL. */
static const char *before_job(const char *name, const char *slash)
{
	const char *at = slash;

	while (at > name && at[-1] != '/')
		at--; /* NAME */
	if (at < slash && is_below(name, at, "jobs/"))
		return at - strlen("jobs/");
	return at < slash && is_below(name, at, "demand/") ? at - strlen("demand/") : NULL;
}

/* From the folder of a schedule to that of all jobs and demands: jobs/NAME/demand/NAME is two steps further down. */
static const char *way_up(const char *name, const char *slash)
{
	const char *outer = slash ? before_job(name, slash) : NULL;

	if (!outer)
		return "";
	return outer > name && !strncmp(outer, "demand/", strlen("demand/")) && before_job(name, outer - 1)
		       ? "../../../../"
		       : "../../";
}

/* The path of `heartbeat` beside the schedule, or beside `jobs` and `demand`; NULL: no memory. */
static char *heartbeat_path(const struct forsched *schedule)
{
	const char *name = schedule->source.name, *slash = strrchr(name, '/');
	char *path;

	if (asprintf(&path, "%.*s%sheartbeat", slash ? (int)(slash - name + 1) : 0, name, way_up(name, slash)) < 0)
		return NULL;
	return path;
}

/* At most room - 1 bytes of the file, terminated. */
static enum forsched_err read_text(const char *path, char *text, size_t room, struct forsched_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return forsched_i_fail(error, FORSCHED_EFILE, "%s: %s", path, strerror(errno));
	n = read(fd, text, room - 1);
	if (n < 0)
		forsched_i_fail(error, FORSCHED_EFILE, "%s: cannot be read: %s", path, strerror(errno));
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? FORSCHED_EFILE : FORSCHED_OK;
}

/* From `unix_ms` to now; what is further off than 64 bits tell is as far as they do. */
static int64_t age_of(uint64_t unix_ms)
{
	struct timespec time;
	uint64_t now, distance;

	clock_gettime(CLOCK_REALTIME, &time);
	now = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
	distance = now >= unix_ms ? now - unix_ms : unix_ms - now;
	if (distance > INT64_MAX)
		distance = INT64_MAX;
	return now >= unix_ms ? (int64_t)distance : -(int64_t)distance;
}

/* Digits that are a number of 64 bits, nothing before them; *text moves behind them. */
static bool take_number(const char **text, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

static bool parse_heartbeat(const char *text, uint64_t *unix_ms, uint64_t *epoch)
{
	return take_number(&text, unix_ms) && *text++ == ' ' && take_number(&text, epoch) && strcmp(text, "\n") == 0;
}

static enum forsched_err read_heartbeat(const char *path, struct forsched_heartbeat *heartbeat,
					struct forsched_error *error)
{
	uint64_t beat, epoch;
	char text[64];
	enum forsched_err err = read_text(path, text, sizeof(text), error);

	if (err)
		return err;
	if (!parse_heartbeat(text, &beat, &epoch))
		return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: not a heartbeat of fors", path);
	*heartbeat = (struct forsched_heartbeat){
		.unix_ms = beat,
		.epoch = epoch,
		.age_ms = age_of(beat),
	};
	return FORSCHED_OK;
}

enum forsched_err forsched_heartbeat(const struct forsched *schedule, struct forsched_heartbeat *heartbeat,
				     struct forsched_error *error)
{
	enum forsched_err err = check_has_path(schedule, error);
	char *path;

	if (err)
		return err;
	path = heartbeat_path(schedule);
	if (!path)
		return forsched_i_fail_memory(error);
	err = read_heartbeat(path, heartbeat, error);
	free(path);
	return err;
}

int forsched_heartbeat_is_stale(const struct forsched_heartbeat *heartbeat)
{
	_Static_assert(FORSCHED_STALE_MS == FORS_SF_STALE_MS && FORSCHED_SKEW_MS == FORS_SF_SKEW_MS,
		       "`fors status` thinks otherwise");

	return heartbeat->age_ms > FORSCHED_STALE_MS || heartbeat->age_ms < -FORSCHED_SKEW_MS;
}
