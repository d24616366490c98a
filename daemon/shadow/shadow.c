/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow.c - the shadow's thread and its mailbox.
 *
 * Each sweep is to leave one line of the history, and to look at one may take longer than the next one takes to come: so
 * a few sights wait in a ring, and only when there are more the oldest is left out, and counted. A sight of what was seen
 * before costs no plan. Where there is no memory for one, the sight is tried again at the next tick, as a file that cannot
 * be written is.
 */
#include "config.h"

#include "shadow_inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/io_thread.h"

#define NICE 19
#define WAITING 8
#define TICK_MS 1000
#define LAST_MS 3000 /* for the end to be written */

struct fors_shadow {
	struct fors_log *log;
	struct fors_folder folder;     /* its own parent */
	struct fors_io_thread *thread; /* may be left alone when the folder hangs */
	struct fors_found found;       /* the thread's, as what follows */
	struct fors_shadow_files files;
	int64_t sweeps;
	bool is_short;	       /* of memory, and the log knows */
	pthread_mutex_t mutex; /* guards all below; held for moments */
	pthread_cond_t wake;
	struct fors_sight *sight[WAITING]; /* the oldest first; owned */
	unsigned nsights;
	int64_t skipped;
	char *places; /* to be written, owned; NULL: nothing new */
	size_t places_size;
	bool stop;
};

void fors_sight_free(struct fors_sight *sight)
{
	if (!sight)
		return;
	fors_look_free(sight->look);
	fors_lfts_free(sight->present);
	free(sight->participants.guid);
	free(sight);
}

/* --- the thread ------------------------------------------------------------ */

static bool is_stopped(void *context)
{
	return __atomic_load_n(&((struct fors_shadow *)context)->stop, __ATOMIC_RELAXED);
}

/*
 * The oldest sight that waits, or, a tick later, the one for which there was no memory; and new places into the files. NULL:
 * none waits.
 */
static struct fors_sight *take(struct fors_shadow *shadow, struct fors_sight *again)
{
	struct fors_sight *sight = again;

	pthread_mutex_lock(&shadow->mutex);
	if ((again || !shadow->nsights) && !shadow->places && !shadow->stop)
		fors_clock_wait(&shadow->wake, &shadow->mutex, fors_clock_ms() + TICK_MS);
	if (shadow->places) {
		fors_shadow_put(&shadow->files, FORS_SHADOW_PLACES, shadow->places, shadow->places_size);
		shadow->places = NULL;
	}
	if (!sight && shadow->nsights && !shadow->stop) {
		sight = shadow->sight[0];
		memmove(&shadow->sight[0], &shadow->sight[1], --shadow->nsights * sizeof(shadow->sight[0]));
	}
	pthread_mutex_unlock(&shadow->mutex);
	return sight;
}

static void fill_counts(struct fors_shadow *shadow)
{
	struct fors_shadow_facts *facts = &shadow->found.status.shadow;

	pthread_mutex_lock(&shadow->mutex);
	facts->skipped = shadow->skipped;
	pthread_mutex_unlock(&shadow->mutex);
	facts->sweeps = shadow->sweeps + 1;
	facts->looked_ms = (int64_t)fors_clock_unix_ms();
}

static void tell(struct fors_shadow *shadow)
{
	char text[FORS_ERROR_TEXT];

	fors_shadow_tell(&shadow->found.status, text, sizeof(text));
	fors_log_info(shadow->log, "shadow: switched on, %s", text);
}

/* One sweep. False: there is no memory for it now. */
static bool look_at(struct fors_shadow *shadow, const struct fors_sight *sight)
{
	uint64_t before = shadow->found.basis;
	struct fors_error error;
	enum fors_err err = fors_shadow_find(sight, is_stopped, shadow, &shadow->found, &error);

	if (err == FORS_ECANCELLED)
		return true;
	if (!err) {
		fill_counts(shadow);
		err = fors_shadow_tell_all(&shadow->files, &shadow->found, true, &error);
	}
	if (err) {
		if (!shadow->is_short)
			fors_log_error(shadow->log, FORS_F_MEMORY, "shadow: %s; it tries again every second",
				       error.text);
		shadow->is_short = true;
		return false;
	}
	shadow->is_short = false;
	shadow->sweeps++;
	if (shadow->found.basis != before)
		tell(shadow);
	return true;
}

/* Nobody looks on any more; what was found last stays. */
static void say_end(struct fors_shadow *shadow)
{
	struct fors_status *status = &shadow->found.status;
	size_t used = strlen(status->reason);
	struct fors_error error;

	if (!status->shadow.is_known)
		return;
	snprintf(status->reason + used, sizeof(status->reason) - used, "%sopensm has ended", used ? "; " : "");
	(void)fors_shadow_tell_all(&shadow->files, &shadow->found, false, &error);
	fors_shadow_write(&shadow->files);
}

static void run(void *context)
{
	struct fors_shadow *shadow = context;
	struct fors_sight *sight = NULL;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* which on Linux is for the thread alone */
	while (!is_stopped(shadow)) {
		sight = take(shadow, sight);
		if (sight && look_at(shadow, sight)) {
			fors_sight_free(sight);
			sight = NULL;
		}
		fors_shadow_write(&shadow->files);
	}
	fors_sight_free(sight);
	say_end(shadow);
}

/* --- its beginning and its end ---------------------------------------------- */

static void free_shadow(struct fors_shadow *shadow)
{
	for (unsigned i = 0; i < shadow->nsights; i++)
		fors_sight_free(shadow->sight[i]);
	free(shadow->places);
	fors_found_clear(&shadow->found);
	fors_shadow_files_clear(&shadow->files);
	fors_folder_clear(&shadow->folder);
	pthread_cond_destroy(&shadow->wake);
	pthread_mutex_destroy(&shadow->mutex);
	free(shadow);
}

enum fors_err fors_shadow_start(const struct fors_shadow_setup *setup, struct fors_shadow **shadow,
				struct fors_error *error)
{
	struct fors_shadow *made = calloc(1, sizeof(*made));

	if (!made)
		return fors_fail_memory(error);
	made->log = setup->log;
	made->folder = *setup->folder;
	made->folder.parent = strdup(setup->folder->parent);
	made->files = (struct fors_shadow_files){.log = made->log,
						 .folder = &made->folder,
						 .counts = {.version = PACKAGE_VERSION, .opensm = setup->version}};
	fors_status_init(&made->found.status);
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	if (!made->folder.parent || fors_io_thread_start(&made->thread, run, made)) {
		free_shadow(made);
		return fors_fail_memory(error);
	}
	*shadow = made;
	return FORS_OK;
}

void fors_shadow_submit(struct fors_shadow *shadow, struct fors_sight *sight)
{
	struct fors_sight *oldest = NULL;

	pthread_mutex_lock(&shadow->mutex);
	if (shadow->nsights == WAITING) {
		oldest = shadow->sight[0];
		memmove(&shadow->sight[0], &shadow->sight[1], --shadow->nsights * sizeof(shadow->sight[0]));
		shadow->skipped++;
	}
	shadow->sight[shadow->nsights++] = sight;
	pthread_cond_signal(&shadow->wake);
	pthread_mutex_unlock(&shadow->mutex);
	fors_sight_free(oldest);
}

void fors_shadow_keep(struct fors_shadow *shadow, char *text, size_t size)
{
	char *old;

	pthread_mutex_lock(&shadow->mutex);
	old = shadow->places;
	shadow->places = text;
	shadow->places_size = size;
	pthread_cond_signal(&shadow->wake);
	pthread_mutex_unlock(&shadow->mutex);
	free(old);
}

void fors_shadow_stop(struct fors_shadow *shadow)
{
	struct fors_log *log;

	if (!shadow)
		return;
	log = shadow->log;
	pthread_mutex_lock(&shadow->mutex);
	__atomic_store_n(&shadow->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&shadow->wake);
	pthread_mutex_unlock(&shadow->mutex);
	if (fors_io_thread_end(shadow->thread, LAST_MS))
		free_shadow(shadow);
	else
		fors_log_error(log, FORS_F_HANGS,
			       "the state folder does not answer; opensm ends without having said so there");
}
