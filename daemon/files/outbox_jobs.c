/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "outbox_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "epoch.h"

#define MOST_NAMED 8 /* jobs whose copies fail, in the log */

void fors_outbox_jobs_clear(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		free(jobs->job[i].bytes);
		free(jobs->job[i].trouble);
	}
	free(jobs->job);
	*jobs = (struct fors_outbox_jobs){.job = NULL};
}

/* Where the name is, or belongs. */
static size_t place_of(const struct fors_outbox_jobs *jobs, const char *name)
{
	size_t low = 0, high = jobs->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(jobs->job[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct fors_outbox_job *find(const struct fors_outbox_jobs *jobs, const char *name)
{
	size_t at = place_of(jobs, name);

	return at < jobs->count && !strcmp(jobs->job[at].name, name) ? &jobs->job[at] : NULL;
}

static bool make_room(struct fors_outbox_jobs *jobs)
{
	struct fors_outbox_job *more;

	if (jobs->count < jobs->room)
		return true;
	more = realloc(jobs->job, (2 * jobs->room + 16) * sizeof(*more));
	if (!more)
		return false;
	jobs->job = more;
	jobs->room = 2 * jobs->room + 16;
	return true;
}

/* The job of this name, a new one if need be; NULL: out of memory. */
static struct fors_outbox_job *have(struct fors_outbox_jobs *jobs, const char *name)
{
	struct fors_outbox_job *job = find(jobs, name);
	size_t at = place_of(jobs, name);

	if (job)
		return job;
	if (!make_room(jobs))
		return NULL;
	job = &jobs->job[at];
	memmove(job + 1, job, (jobs->count++ - at) * sizeof(*job));
	*job = (struct fors_outbox_job){.bytes = NULL};
	snprintf(job->name, sizeof(job->name), "%s", name);
	return job;
}

/* A copy; NULL: out of memory. */
static void *copy_of(const void *bytes, size_t size)
{
	void *copy = malloc(size + 1);

	if (copy)
		memcpy(copy, bytes, size);
	return copy;
}

bool fors_outbox_jobs_put(struct fors_outbox_jobs *jobs, const char *name, const void *bytes, size_t size,
			  uint64_t epoch, bool is_guest)
{
	void *copy = bytes ? copy_of(bytes, size) : NULL;
	struct fors_outbox_job *job = bytes && !copy ? NULL : have(jobs, name);

	if (!job) {
		free(copy);
		return false;
	}
	free(job->bytes);
	job->bytes = copy;
	job->size = size;
	job->epoch = epoch;
	job->is_guest = is_guest;
	job->is_due = true;
	job->again_ms = 0; /* a withdrawal has room though other files have not */
	job->is_forgotten = !bytes;
	return true;
}

bool fors_outbox_jobs_know(struct fors_outbox_jobs *jobs, const char *name)
{
	return have(jobs, name);
}

bool fors_outbox_jobs_knows(const struct fors_outbox_jobs *jobs, const char *name)
{
	return find(jobs, name);
}

static bool is_due(const struct fors_outbox_job *job, uint64_t now_ms)
{
	return job->is_due && job->again_ms <= now_ms;
}

bool fors_outbox_jobs_due(const struct fors_outbox_jobs *jobs, uint64_t now_ms)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (is_due(&jobs->job[i], now_ms))
			return true;
	return false;
}

void fors_outbox_jobs_renew(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_outbox_job *job = &jobs->job[i];

		job->own = job->refused = job->again_ms = 0;
		job->is_due = job->bytes;
	}
}

bool fors_outbox_jobs_news(struct fors_outbox_jobs *jobs, enum fors_jobkind kind, char name[64], uint64_t *epoch)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_outbox_job *job = &jobs->job[i];

		if (!job->refused || fors_jobkind(job->name) != kind)
			continue;
		*epoch = job->refused;
		memcpy(name, job->name, sizeof(job->name));
		job->refused = 0;
		return true;
	}
	return false;
}

/* False: out of memory. */
static bool take(struct fors_outbox_job *from, struct fors_outbox_jobs *load)
{
	void *copy = from->bytes ? copy_of(from->bytes, from->size) : NULL;
	struct fors_outbox_job *to = from->bytes && !copy ? NULL : have(load, from->name);

	if (!to) {
		free(copy);
		return false;
	}
	*to = *from;
	to->bytes = copy;
	from->is_due = false;
	return true;
}

void fors_outbox_jobs_take(struct fors_outbox_jobs *jobs, uint64_t now_ms, struct fors_outbox_jobs *load)
{
	*load = (struct fors_outbox_jobs){.job = NULL};
	for (size_t i = 0; i < jobs->count && load->count < FORS_OUTBOX_JOBS_LOAD; i++) {
		struct fors_outbox_job *from = &jobs->job[jobs->next++ % jobs->count];

		if (is_due(from, now_ms) && !take(from, load))
			return;
	}
}

/* Jobs whose folders are gone take no room any more. */
static void forget_gone(struct fors_outbox_jobs *jobs)
{
	size_t left = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		if (jobs->job[i].is_forgotten && !jobs->job[i].is_due)
			jobs->failing -= jobs->job[i].has_failed;
		else
			jobs->job[left++] = jobs->job[i];
	}
	jobs->count = left;
}

void fors_outbox_jobs_rest(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		jobs->job[i].is_due = false;
	forget_gone(jobs);
}

/* --- carrying ------------------------------------------------------------- */

/*
 * What lies there: its epoch, 0: nothing, or what is not to be believed.
 * Errors: FORS_EIO.
 */
static enum fors_err look_there(struct fors_helper *helper, const struct fors_folder *folder,
				const struct fors_outbox_job *job, uint64_t *epoch, struct fors_error *error)
{
	struct fors_schedule_header header = {.epoch = 0};
	bool is_there = false;
	enum fors_err err = fors_helper_epoch(helper, folder, &header, &is_there, error);

	*epoch = 0;
	if (err && err != FORS_EINPUT)
		return err;
	if (!err && is_there && fors_epoch_is_near(header.epoch, job->epoch, fors_clock_unix_ms()))
		*epoch = header.epoch;
	return FORS_OK;
}

static enum fors_err carry(struct fors_helper *helper, const struct fors_folder *folder, struct fors_outbox_job *job,
			   struct fors_error *error)
{
	uint64_t there;
	enum fors_err err = look_there(helper, folder, job, &there, error);

	if (err)
		return err;
	if (job->is_guest ? there != job->own : job->bytes && there > job->epoch) {
		job->refused = job->is_guest ? 0 : there;
	} else if (!job->bytes) {
		err = fors_helper_remove_job(helper, folder, error);
	} else {
		err = fors_helper_publish(helper, folder, "schedule", job->bytes, job->size, true, error);
		if (!err)
			job->own = job->epoch;
	}
	return err;
}

enum fors_err fors_outbox_jobs_carry(struct fors_outbox_jobs *load, const struct fors_folder *folder,
				     struct fors_helper *helper, struct fors_error *error)
{
	struct fors_folder of = *folder;

	for (size_t i = 0; i < load->count; i++) {
		struct fors_outbox_job *job = &load->job[i];
		struct fors_error why = {.code = FORS_OK};
		enum fors_err err;

		memcpy(of.job, job->name, sizeof(of.job));
		err = carry(helper, &of, job, &why);
		if (err && !fors_helper_answers(helper)) {
			if (error)
				*error = why;
			return err;
		}
		job->is_due = err && job->bytes; /* what cannot be removed stays */
		job->trouble = err ? strdup(why.text) : NULL;
		job->again_ms = err;
	}
	return FORS_OK;
}

/* Said once, and once when it works again; of a few jobs, for all may have one cause. */
static void say_of(struct fors_outbox_jobs *jobs, struct fors_outbox_job *job, const struct fors_outbox_job *was,
		   fors_outbox_jobs_say *say, void *context)
{
	if (was->again_ms && !job->has_failed && jobs->failing < MOST_NAMED) {
		say(context, job->name, was->trouble ? was->trouble : "out of memory");
		job->has_failed = true;
		jobs->failing++;
	} else if (!was->again_ms && !was->is_due && job->has_failed) {
		say(context, job->name, NULL);
		job->has_failed = false;
		jobs->failing--;
	}
}

/* What became of it on the way. */
static void note(struct fors_outbox_job *job, const struct fors_outbox_job *was, uint64_t again_ms)
{
	job->own = was->own;
	job->is_due |= was->is_due;
	job->again_ms = was->again_ms ? again_ms : 0;
	if (was->refused && was->epoch == job->epoch)
		job->refused = was->refused;
}

uint64_t fors_outbox_jobs_return(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load, uint64_t again_ms,
				 fors_outbox_jobs_say *say, void *context)
{
	uint64_t failures = 0;

	for (size_t i = 0; i < load->count; i++) {
		const struct fors_outbox_job *was = &load->job[i];
		struct fors_outbox_job *job = find(jobs, was->name);

		failures += was->again_ms != 0;
		if (!job)
			continue;
		say_of(jobs, job, was, say, context);
		note(job, was, again_ms);
	}
	forget_gone(jobs);
	fors_outbox_jobs_clear(load);
	return failures;
}
