/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "outbox_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "epoch.h"

void fors_outbox_jobs_clear(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		free(jobs->job[i].bytes);
	free(jobs->job);
	*jobs = (struct fors_outbox_jobs){.job = NULL};
}

static struct fors_outbox_job *find(struct fors_outbox_jobs *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (!strcmp(jobs->job[i].name, name))
			return &jobs->job[i];
	return NULL;
}

/* The job of this name, a new one if need be; NULL: out of memory. */
static struct fors_outbox_job *have(struct fors_outbox_jobs *jobs, const char *name)
{
	struct fors_outbox_job *job = find(jobs, name), *more;

	if (job)
		return job;
	if (jobs->count == jobs->room) {
		more = realloc(jobs->job, (2 * jobs->room + 16) * sizeof(*more));
		if (!more)
			return NULL;
		jobs->job = more;
		jobs->room = 2 * jobs->room + 16;
	}
	job = &jobs->job[jobs->count++];
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
	job->is_found = false;
	job->is_forgotten = !bytes;
	return true;
}

bool fors_outbox_jobs_due(const struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->job[i].is_due)
			return true;
	return false; /* the list is made on the way */
}

void fors_outbox_jobs_renew(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_outbox_job *job = &jobs->job[i];

		job->own = job->refused = 0;
		job->is_found = false;
		job->is_due = job->bytes;
	}
	jobs->wants_list = true;
}

bool fors_outbox_jobs_news(struct fors_outbox_jobs *jobs, char name[64], uint64_t *epoch)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_outbox_job *job = &jobs->job[i];

		if (!job->refused && !job->is_found)
			continue;
		*epoch = job->refused;
		memcpy(name, job->name, sizeof(job->name));
		job->refused = 0;
		job->is_found = false;
		return true;
	}
	return false;
}

void fors_outbox_jobs_take(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load)
{
	*load = (struct fors_outbox_jobs){.wants_list = jobs->wants_list};
	for (size_t i = 0; i < jobs->count; i++) {
		struct fors_outbox_job *from = &jobs->job[i], *to;
		void *copy;

		if (!from->is_due)
			continue;
		copy = from->bytes ? copy_of(from->bytes, from->size) : NULL;
		to = from->bytes && !copy ? NULL : have(load, from->name);
		if (!to) {
			free(copy);
			return;
		}
		*to = *from;
		to->bytes = copy;
		from->is_due = false;
	}
	jobs->wants_list = false;
}

/* Jobs whose folders are gone take no room any more. */
static void forget_gone(struct fors_outbox_jobs *jobs)
{
	size_t left = 0;

	for (size_t i = 0; i < jobs->count; i++)
		if (!jobs->job[i].is_forgotten || jobs->job[i].is_due)
			jobs->job[left++] = jobs->job[i];
	jobs->count = left;
}

void fors_outbox_jobs_rest(struct fors_outbox_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		jobs->job[i].is_due = false;
	jobs->wants_list = false;
	forget_gone(jobs);
}

/* --- carrying ------------------------------------------------------------- */

/*
 * What lies there: its epoch, 0: nothing, or what is not to be believed.
 * Errors: FORS_EIO.
 */
static enum fors_err look_there(const struct fors_folder *folder, const struct fors_outbox_job *job, uint64_t *epoch,
				struct fors_error *error)
{
	struct fors_schedule_header header = {.epoch = 0};
	bool is_there = false;
	enum fors_err err = fors_epoch_of_schedule(folder, &header, &is_there, error);

	*epoch = 0;
	if (err && err != FORS_EINPUT)
		return err;
	if (!err && is_there && fors_epoch_is_near(header.epoch, job->epoch, fors_clock_unix_ms()))
		*epoch = header.epoch;
	return FORS_OK;
}

static enum fors_err carry(const struct fors_folder *folder, struct fors_outbox_job *job, struct fors_error *error)
{
	uint64_t there;
	enum fors_err err = look_there(folder, job, &there, error);

	if (err)
		return err;
	if (job->is_guest ? there != job->own : job->bytes && there > job->epoch) {
		job->refused = job->is_guest ? 0 : there;
	} else if (!job->bytes) {
		err = fors_publish_remove_job(folder, error);
	} else {
		err = fors_publish(folder, "schedule", job->bytes, job->size, true, error);
		if (!err)
			job->own = job->epoch;
	}
	job->is_due = err;
	return err;
}

static void take_name(void *context, const char *name)
{
	struct fors_outbox_jobs *load = context;
	struct fors_outbox_job *job = find(load, name) ? NULL : have(load, name);

	if (job)
		job->is_found = true;
}

enum fors_err fors_outbox_jobs_carry(struct fors_outbox_jobs *load, const struct fors_folder *folder,
				     struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	struct fors_folder of = *folder;

	for (size_t i = 0; i < load->count && !err; i++) {
		memcpy(of.job, load->job[i].name, sizeof(of.job));
		err = carry(&of, &load->job[i], error);
	}
	if (!err && load->wants_list)
		err = fors_publish_list_jobs(folder, take_name, load, error);
	load->wants_list = load->wants_list && err;
	return err;
}

/* What became of it on the way. */
static void note(struct fors_outbox_job *job, const struct fors_outbox_job *was)
{
	job->own = was->own;
	job->is_due |= was->is_due;
	if (was->refused && was->epoch == job->epoch)
		job->refused = was->refused;
}

bool fors_outbox_jobs_return(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load)
{
	bool is_good = true;

	for (size_t i = 0; i < load->count; i++) {
		const struct fors_outbox_job *was = &load->job[i];
		struct fors_outbox_job *job = find(jobs, was->name);

		if (was->is_found) {
			struct fors_outbox_job *made = job ? NULL : have(jobs, was->name);

			is_good = is_good && (job || made);
			if (made)
				made->is_found = true;
		} else if (job) {
			note(job, was);
		}
	}
	jobs->wants_list |= load->wants_list || !is_good;
	forget_gone(jobs);
	fors_outbox_jobs_clear(load);
	return is_good;
}
