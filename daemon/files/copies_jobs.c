/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "daemon/base/clock.h"
#include "daemon/base/errors.h"
#include "epoch.h"

#define MOST_NAMED 8 /* jobs whose copies fail, in the log */
#define DAY_MS 86400000
#define ORPHANED "this job has ended, or another subnet manager had planned it"

void fors_copies_clear(struct fors_copies *copies)
{
	free(copies->job);
	copies->job = NULL;
	copies->count = copies->room = 0;
	copies->failing = 0;
}

/* Where the name is, or belongs. */
static size_t place_of(const struct fors_copies *copies, const char *name)
{
	size_t low = 0, high = copies->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(copies->job[middle].job, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The job of this name, a new one if need be; NULL: out of memory. */
static struct fors_copy *have(struct fors_copies *copies, const char *name)
{
	size_t at = place_of(copies, name);
	struct fors_copy *more;

	if (at < copies->count && !strcmp(copies->job[at].job, name))
		return &copies->job[at];
	if (copies->count == copies->room) {
		more = realloc(copies->job, (2 * copies->room + 16) * sizeof(*more));
		if (!more)
			return NULL;
		copies->job = more;
		copies->room = 2 * copies->room + 16;
	}
	more = &copies->job[at];
	memmove(more + 1, more, (copies->count++ - at) * sizeof(*more));
	*more = (struct fors_copy){.own = 0};
	snprintf(more->job, sizeof(more->job), "%s", name);
	return more;
}

static struct fors_folder folder_of(const struct fors_folder *outer, const char *job)
{
	struct fors_folder folder = *outer;

	snprintf(folder.job, sizeof(folder.job), "%s", job);
	return folder;
}

/* --- the pass ---------------------------------------------------------------- */

/* What lies there; of an epoch that is not believed it is nothing. Errors: FORS_EIO. */
static enum fors_err look_there(const struct fors_folder *to, uint64_t highest, struct fors_schedule_header *there,
				struct fors_error *error)
{
	bool is_there = false;
	enum fors_err err;

	*there = (struct fors_schedule_header){.epoch = 0};
	err = fors_epoch_of_schedule(to, there, &is_there, error);
	if (err == FORS_EINPUT || (!err && !fors_epoch_is_near(there->epoch, highest, fors_clock_unix_ms())))
		*there = (struct fors_schedule_header){.epoch = 0};
	return err == FORS_EINPUT ? FORS_OK : err;
}

/* The epoch of the copy that was made from here; that of the state folder's where a program before this one made it. */
static uint64_t own_of(const struct fors_copy *copy, const struct fors_folder *from)
{
	struct fors_schedule_header header = {.epoch = 0};
	bool is_there;

	if (copy->own || fors_epoch_of_schedule(from, &header, &is_there, NULL))
		return copy->own;
	return header.epoch;
}

/* The state folder lacks a schedule, perhaps this one. */
static enum fors_err retract(struct fors_copy *copy, const struct fors_folder *from, const struct fors_folder *to,
			     struct fors_error *error)
{
	const uint64_t own = own_of(copy, from);
	struct fors_schedule_header there;
	enum fors_err err = own ? look_there(to, own, &there, error) : FORS_OK;

	if (err || !own || there.epoch != own || !there.shape.nphases)
		return err;
	err = fors_copies_withdraw(to, there.epoch + 1, FORS_COPIES_UNWRITTEN, error);
	if (!err) {
		copy->own = there.epoch + 1;
		copy->stamp = (struct fors_copy_stamp){.size = 0};
	}
	return err;
}

/* Bytes that are new here, to `to`. *is_done: they are there now. */
static enum fors_err carry(const struct fors_copies *copies, const struct fors_copier_order *order,
			   struct fors_copy *copy, const struct fors_folder *to, const void *bytes, size_t size,
			   bool *is_done, struct fors_error *error)
{
	const uint64_t epoch = fors_copies_epoch(bytes, size);
	struct fors_schedule_header there;
	enum fors_err err = look_there(to, epoch, &there, error);

	if (err)
		return err;
	if (!order->is_guest && there.epoch > epoch)
		copies->news(copies->context, copy->job, there.epoch);
	if (order->is_guest ? there.epoch != copy->own : there.epoch > epoch)
		return FORS_OK;
	err = fors_publish(to, "schedule", bytes, size, true, error);
	if (!err)
		copy->own = epoch;
	*is_done = !err;
	return err;
}

static enum fors_err copy_job(const struct fors_copies *copies, const struct fors_copier_order *order,
			      struct fors_copy *copy, struct fors_error *error)
{
	const struct fors_folder from = folder_of(&copies->state, copy->job), to = folder_of(&copies->dir, copy->job);
	struct fors_copy_stamp stamp = copy->stamp;
	bool is_done = false;
	void *bytes;
	size_t size;
	enum fors_err err;

	if (order->is_unwritten)
		return retract(copy, &from, &to, error);
	err = fors_copies_read(&from, "schedule", &stamp, &bytes, &size, error);
	if (!err && bytes)
		err = carry(copies, order, copy, &to, bytes, size, &is_done, error);
	if (is_done)
		copy->stamp = stamp;
	free(bytes);
	return err;
}

/* Said once, and once when it works again; of a few jobs, for all may have one cause. */
static void say_of(struct fors_copies *copies, struct fors_copy *copy, bool has_failed, const char *trouble)
{
	char line[FORS_ERROR_TEXT + 200];

	if (has_failed == copy->has_failed || (has_failed && copies->failing >= MOST_NAMED))
		return;
	if (has_failed)
		snprintf(line, sizeof(line), "%s (job %s; the state folder and other jobs are not affected)", trouble,
			 copy->job);
	else
		snprintf(line, sizeof(line), "publish_dir: the copies of job %s can be written again", copy->job);
	copies->say(copies->context, has_failed ? FORS_F_COPY : 0, line);
	copies->failing += has_failed ? 1u : -1u;
	copy->has_failed = has_failed;
}

static void take_name(void *context, const char *name)
{
	struct fors_copies *copies = context;
	struct fors_copy *copy = have(copies, name);

	if (copy)
		copy->is_there = true;
	else
		copies->failures++; /* it comes with the next pass */
}

/* What the state folder has no more takes no room; its copy is found when the folder is tidied up. */
static void forget_gone(struct fors_copies *copies)
{
	size_t left = 0;

	for (size_t i = 0; i < copies->count; i++) {
		if (copies->job[i].is_there)
			copies->job[left++] = copies->job[i];
		else
			copies->failing -= copies->job[i].has_failed;
	}
	copies->count = left;
}

void fors_copies_pass_jobs(struct fors_copies *copies, const struct fors_copier_order *order)
{
	struct fors_error error = {.code = FORS_OK};

	for (size_t i = 0; i < copies->count; i++)
		copies->job[i].is_there = order->is_unwritten;
	for (enum fors_jobkind kind = FORS_KIND_JOB; kind <= FORS_KIND_JOBDEMAND; kind++)
		fors_publish_list_jobs(&copies->state, kind, take_name, copies, &error);
	forget_gone(copies);
	for (size_t left = copies->count; left && !copies->is_cut; left--) {
		struct fors_copy *copy = &copies->job[copies->next++ % copies->count];
		bool has_failed = copy_job(copies, order, copy, &error) != FORS_OK;

		copies->failures += has_failed;
		say_of(copies, copy, has_failed, error.text);
		copies->is_cut = left > 1 && copies->is_overtaken && copies->is_overtaken(copies->context);
	}
}

/* --- what others left -------------------------------------------------------- */

struct tidying {
	const struct fors_copies *copies;
	bool (*may_go_on)(void *context);
	void *context;
	bool is_over;
};

/* Has the state folder this job? True also when that folder cannot be looked into. */
static bool is_known(const struct fors_copies *copies, const char *job)
{
	const struct fors_folder from = folder_of(&copies->state, job);

	return fors_publish_has(&from, "schedule") || !fors_publish_has(&copies->state, "schedule");
}

static void tidy_job(void *context, const char *name)
{
	struct tidying *tidying = context;
	const struct fors_folder to = folder_of(&tidying->copies->dir, name);
	struct fors_schedule_header there = {.epoch = 0};
	const uint64_t now = fors_clock_unix_ms();
	bool is_there = false;

	tidying->is_over = tidying->is_over || !tidying->may_go_on(tidying->context);
	if (tidying->is_over || is_known(tidying->copies, name) || fors_epoch_of_schedule(&to, &there, &is_there, NULL))
		return;
	if (!is_there || !*there.name || !fors_epoch_is_near(there.epoch, 0, now))
		return;
	if (there.shape.nphases)
		fors_copies_withdraw(&to, fors_epoch_next(there.epoch, now), ORPHANED, NULL);
	else if (now > there.epoch + DAY_MS)
		fors_publish_remove_job(&to, NULL);
}

void fors_copies_tidy(struct fors_copies *copies, bool (*may_go_on)(void *context), void *context)
{
	struct tidying tidying = {copies, may_go_on, context, false};
	struct fors_error error;

	for (enum fors_jobkind kind = FORS_KIND_JOB; kind <= FORS_KIND_JOBDEMAND && !tidying.is_over; kind++)
		fors_publish_list_jobs(&copies->dir, kind, tidy_job, &tidying, &error);
}
