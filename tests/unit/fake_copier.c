/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_copier.c - in place of daemon/files/copier.c: no program, but its pass over both folders, at once, by whoever tells. No
 * command runs.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/files/copier.h"
#include "daemon/files/copies.h"

/* Without faults.c nothing is spared. */
void faults_spare_me(void) __attribute__((weak));

#define MOST 8
#define TIDY_MS 3600000

struct fors_copier {
	pthread_mutex_t mutex; /* guards all */
	struct fors_copies copies;
	struct fors_copier_order order;
	bool has_order;
	char job[MOST][64];
	uint64_t epoch[MOST], tidy_ms;
	unsigned count;
};

static void say(void *context, unsigned code, const char *line)
{
	(void)context;
	(void)code;
	(void)line;
}

static void note(void *context, const char *job, uint64_t epoch)
{
	struct fors_copier *copier = context;

	if (copier->count == MOST)
		return;
	memcpy(copier->job[copier->count], job, 64);
	copier->epoch[copier->count++] = epoch;
}

enum fors_err fors_copier_start(struct fors_log *log, const struct fors_folder *state, struct fors_copier **copier,
				struct fors_error *error)
{
	struct fors_copier *made = calloc(1, sizeof(*made));

	(void)log;
	if (!made)
		return fors_fail_memory(error);
	made->copies = (struct fors_copies){.state = *state, .say = say, .news = note, .context = made};
	memcpy(made->copies.dir.tag, state->name, sizeof(state->name));
	pthread_mutex_init(&made->mutex, NULL);
	*copier = made;
	return FORS_OK;
}

enum fors_err fors_copier_set(struct fors_copier *copier, const struct fors_copier_request *request,
			      struct fors_error *error)
{
	(void)error;
	pthread_mutex_lock(&copier->mutex);
	free(copier->copies.dir.parent);
	copier->copies.dir.parent = request->dir ? strdup(request->dir) : NULL;
	pthread_mutex_unlock(&copier->mutex);
	return FORS_OK;
}

static bool go_on(void *context)
{
	(void)context;
	return true;
}

void fors_copier_tend(struct fors_copier *copier)
{
	struct fors_error error;

	pthread_mutex_lock(&copier->mutex);
	if (copier->copies.dir.parent && copier->has_order)
		fors_copies_pass(&copier->copies, &copier->order, &error);
	if (copier->copies.dir.parent && copier->order.may_tidy && fors_clock_ms() >= copier->tidy_ms) {
		fors_copies_tidy(&copier->copies, go_on, NULL);
		copier->tidy_ms = fors_clock_ms() + TIDY_MS;
	}
	pthread_mutex_unlock(&copier->mutex);
}

void fors_copier_tell(struct fors_copier *copier, const struct fors_copier_order *order)
{
	pthread_mutex_lock(&copier->mutex);
	copier->order = *order;
	copier->has_order = true;
	pthread_mutex_unlock(&copier->mutex);
	fors_copier_tend(copier);
}

void fors_copier_read(struct fors_copier *copier, struct fors_copier_report *report)
{
	const struct fors_copies *copies = &copier->copies;

	pthread_mutex_lock(&copier->mutex);
	*report = (struct fors_copier_report){.seen = copies->seen,
					      .failures = copies->failures,
					      .copied = copies->copied,
					      .copied_ms = copies->copied_ms,
					      .has_dir = copies->dir.parent};
	pthread_mutex_unlock(&copier->mutex);
}

bool fors_copier_news(struct fors_copier *copier, enum fors_jobkind kind, char name[64], uint64_t *epoch)
{
	bool is_there = false;

	pthread_mutex_lock(&copier->mutex);
	for (unsigned i = 0; i < copier->count && !is_there; i++) {
		is_there = fors_jobkind(copier->job[i]) == kind;
		if (!is_there)
			continue;
		memcpy(name, copier->job[i], 64);
		*epoch = copier->epoch[i];
		copier->count--;
		memmove(&copier->job[i], &copier->job[copier->count], 64);
		copier->epoch[i] = copier->epoch[copier->count];
	}
	pthread_mutex_unlock(&copier->mutex);
	return is_there;
}

void fors_copier_stop(struct fors_copier *copier)
{
	if (!copier)
		return;
	fors_copies_clear(&copier->copies);
	free(copier->copies.dir.parent);
	pthread_mutex_destroy(&copier->mutex);
	free(copier);
}
