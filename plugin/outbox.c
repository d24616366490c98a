/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a desk with one place per file, and a thread that carries away what lies there. The mutex is never held
 * while the thread does anything with the file system, so a folder that hangs costs nobody anything:
 * the newest bytes of each file lie on the desk until it comes back, and the command is run
 * without it after a while. Nobody waits for its disk either: a copy gets its name first, and is synced when none has come
 * for a second. A crash of the machine may cost it the newest copies, or leave one that the decoder refuses; it costs no
 * number, since epochs are reserved in the state folder before readers anywhere see them (epoch.h).
 *
 * A thread that hangs in the kernel cannot be ended. When opensm ends it is left to itself: it owns the outbox then,
 * says nothing any more, and ends with the process or when the folder answers (the library stays
 * loaded for its sake, see local.mk).
 */
#include "outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule_header.h"
#include "clock.h"
#include "digest.h"
#include "epoch.h"
#include "log.h"
#include "outbox_jobs.h"
#include "runner.h"
#include "thread.h"

#define AGAIN_MS 5000	  /* after a failure */
#define SHORT_MS 1000	  /* after memory was too short */
#define PATIENCE_MS 10000 /* how long the command waits for the copies */
#define QUIET_MS 1000	  /* without a copy, before those that were made are synced */
#define LAST_MS 2000

static const char *const names[FORS_OUT_FILES] = {"schedule", "status.json", "metrics.prom", "metrics-old.prom",
						  "heartbeat"};

struct sheet {
	void *bytes; /* owned, or NULL */
	size_t size;
	unsigned how;
	bool is_due; /* to be copied */
};

struct fors_outbox {
	struct osm_log *log;
	const struct fors_folder *state;
	struct fors_runner *runner;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards all that follows up to `own`; never held during input or output */
	pthread_cond_t wake, done;
	char *dir, *command; /* or NULL */
	unsigned seconds;
	struct sheet sheet[FORS_OUT_FILES]; /* the newest of each */
	struct fors_outbox_jobs jobs;	    /* likewise */
	bool is_announced;		    /* the command is to be run */
	uint64_t announced_ms, epoch;
	char status[16];
	uint64_t highest; /* epoch of all schedules that were put here */
	uint64_t seen, failures;
	uint64_t copied_epoch; /* of the schedule that was copied last, 0: none was */
	double copied_ms;      /* and when */
	bool stop, has_ended, is_orphan;
	/* the thread's own */
	uint64_t own;		       /* epoch of the schedule that it wrote into the folder */
	bool is_loose[FORS_OUT_FILES]; /* it has its name there, and is not on the disk for sure */
	uint64_t copied_at;	       /* when it was there last */
	bool has_complained;	       /* about a folder that cannot be written */
	bool has_doubted;	       /* about the schedule that lies there */
};

static bool is_due(const struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		if (box->sheet[i].is_due)
			return true;
	return fors_outbox_jobs_due(&box->jobs);
}

/* Run the command, with the mutex held. */
static void run_command(struct fors_outbox *box)
{
	char state_dir[1100], dir[1100], epoch[48], status[48];
	struct fors_errand errand = {.command = box->command,
				     .seconds = box->seconds,
				     .epoch = box->epoch,
				     .variable = {state_dir, epoch, status, box->dir ? dir : NULL}};
	struct fors_error error;

	box->is_announced = false;
	if (!box->command)
		return;
	snprintf(state_dir, sizeof(state_dir), "FORS_STATE_DIR=%s/%s", box->state->parent, box->state->name);
	snprintf(dir, sizeof(dir), "FORS_PUBLISH_DIR=%s", box->dir ? box->dir : "");
	snprintf(epoch, sizeof(epoch), "FORS_EPOCH=%" PRIu64, box->epoch);
	snprintf(status, sizeof(status), "FORS_STATE=%s", box->status);
	if (fors_runner_run(box->runner, &errand, &error) && !box->is_orphan)
		fors_log_error(box->log, FORS_F_MEMORY, "publish_command is not run: %s", error.text);
}

/* --- carrying ------------------------------------------------------------- */

/* What the thread takes along: copies of its own. */
struct load {
	struct fors_folder folder;
	uint64_t highest; /* epoch that was put here */
	struct sheet sheet[FORS_OUT_FILES];
	struct fors_outbox_jobs jobs;
};

static void drop_load(struct load *load)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		free(load->sheet[i].bytes);
	free(load->folder.parent);
}

/* What is due as it is now; false: memory is too short. */
static bool copy_sheets(const struct fors_outbox *box, struct load *load)
{
	for (int i = 0; i < FORS_OUT_FILES; i++) {
		const struct sheet *from = &box->sheet[i];
		struct sheet *to = &load->sheet[i];

		if (!from->is_due)
			continue;
		to->bytes = malloc(from->size + 1);
		if (!to->bytes)
			return false;
		memcpy(to->bytes, from->bytes, from->size);
		to->size = from->size;
		to->how = from->how;
	}
	return true;
}

/* Take what is due, with the mutex held; false: memory is too short, and all stays due, for the files belong together. */
static bool take_load(struct fors_outbox *box, struct load *load)
{
	memset(load, 0, sizeof(*load));
	load->folder.parent = box->dir ? strdup(box->dir) : NULL;
	snprintf(load->folder.tag, sizeof(load->folder.tag), "%s", box->state->name);
	load->highest = box->highest;
	if (box->dir && (!load->folder.parent || !copy_sheets(box, load))) {
		drop_load(load);
		return false;
	}
	for (int i = 0; i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due = false;
	if (box->dir)
		fors_outbox_jobs_take(&box->jobs, &load->jobs);
	else
		fors_outbox_jobs_rest(&box->jobs);
	return true;
}

static uint64_t epoch_of(const void *bytes, size_t size)
{
	struct fors_schedule_header header = {.epoch = 0};

	return fors_schedule_header_read(bytes, size, size, "schedule", &header, NULL) ? 0 : header.epoch;
}

static bool is_guest(const struct load *load)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		if (load->sheet[i].how & FORS_OUT_GUEST)
			return true;
	return false;
}

/*
 * The epoch of the schedule that lies in the folder, 0: there is none. As long as nothing was published here nobody knows
 * which epochs are near: the clock may be that of a machine without a battery.
 * Errors: FORS_EINPUT (not to be believed), FORS_EIO.
 */
static enum fors_err look_there(const struct load *load, uint64_t *epoch, struct fors_error *error)
{
	struct fors_schedule_header header = {.epoch = 0};
	bool is_there;
	enum fors_err err = fors_epoch_of_schedule(&load->folder, &header, &is_there, error);

	if (!err && load->highest && !fors_epoch_is_near(header.epoch, load->highest, fors_clock_unix_ms()))
		return fors_fail(error, FORS_EINPUT,
				 "%s/schedule: epoch %" PRIu64 " is more than a day past the clock and epoch %" PRIu64
				 " of this subnet manager",
				 load->folder.parent, header.epoch, load->highest);
	if (!err)
		*epoch = header.epoch;
	return err;
}

/* What lies there is not believed (error, or NULL): said once, and ours is written over it, by the next load at last. */
static void doubt(struct fors_outbox *box, const struct load *load, const struct fors_error *error)
{
	struct sheet *ours = &box->sheet[FORS_OUT_SCHEDULE];

	pthread_mutex_lock(&box->mutex);
	if (error && !box->is_orphan && !box->has_doubted)
		fors_log_error(box->log, FORS_F_STRANGE, "%s (not believed, and replaced)", error->text);
	if (error && !load->sheet[FORS_OUT_SCHEDULE].bytes)
		ours->is_due |= ours->bytes != NULL;
	pthread_mutex_unlock(&box->mutex);
	box->has_doubted = error;
}

static void note_copied(struct fors_outbox *box, double at)
{
	pthread_mutex_lock(&box->mutex);
	box->copied_epoch = box->own;
	box->copied_ms = at;
	pthread_mutex_unlock(&box->mutex);
}

/* Another subnet manager's schedule is later than the one to be written. */
static void note_seen(struct fors_outbox *box, uint64_t epoch)
{
	pthread_mutex_lock(&box->mutex);
	if (epoch > box->seen)
		box->seen = epoch;
	pthread_mutex_unlock(&box->mutex);
}

/*
 * May the files be written? Not over a later schedule of another subnet manager's, and what a guest finds strange is left
 * to the master. Errors: FORS_EIO.
 */
static enum fors_err may_write(struct fors_outbox *box, const struct load *load, bool *may, struct fors_error *error)
{
	const struct sheet *schedule = &load->sheet[FORS_OUT_SCHEDULE];
	uint64_t there = 0, epoch = schedule->bytes ? epoch_of(schedule->bytes, schedule->size) : 0;
	enum fors_err err = look_there(load, &there, error);

	if (err && err != FORS_EINPUT)
		return err;
	if (is_guest(load)) {
		*may = !err && there == box->own;
		return FORS_OK;
	}
	doubt(box, load, err ? error : NULL);
	*may = err || !schedule->bytes || there <= epoch;
	if (!*may)
		note_seen(box, there);
	return FORS_OK;
}

static enum fors_err carry(struct fors_outbox *box, struct load *load, struct fors_error *error)
{
	bool may = false;
	enum fors_err err = may_write(box, load, &may, error);

	for (int i = 0; i < FORS_OUT_FILES && !err && may; i++) {
		struct sheet *sheet = &load->sheet[i];

		if (!sheet->bytes)
			continue;
		err = fors_publish(&load->folder, names[i], sheet->bytes, sheet->size, sheet->how & FORS_OUT_DURABLE,
				   error);
		if (!err)
			box->is_loose[i] = i != FORS_OUT_HEARTBEAT && i != FORS_OUT_METRICS;
		if (err || i != FORS_OUT_SCHEDULE)
			continue;
		box->own = epoch_of(sheet->bytes, sheet->size);
		note_copied(box, fors_clock_exact_ms());
	}
	return err ? err : fors_outbox_jobs_carry(&load->jobs, &load->folder, error);
}

/* Say it once when writing begins to fail, and once when it works again; with the mutex held. */
static void complain(struct fors_outbox *box, const struct fors_error *error)
{
	if (!box->is_orphan && error && !box->has_complained)
		fors_log_error(box->log, FORS_F_COPY, "%s (the state folder is not affected)", error->text);
	if (!box->is_orphan && !error && box->has_complained)
		fors_log_info(box->log, "publish_dir can be written again");
	box->has_complained = error;
}

/* A failed load is due again, unless something newer lies there; with the mutex held. */
static void put_back(struct fors_outbox *box, const struct load *load)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due |= load->sheet[i].bytes != NULL;
}

/* One way to the folder and back, the mutex held before and after; false: it failed. */
static bool carry_load(struct fors_outbox *box, struct load *load)
{
	struct fors_error error;
	enum fors_err err;

	pthread_mutex_unlock(&box->mutex);
	err = carry(box, load, &error);
	pthread_mutex_lock(&box->mutex);
	box->failures += err != FORS_OK;
	if (err)
		put_back(box, load);
	if (!fors_outbox_jobs_return(&box->jobs, &load->jobs))
		return false; /* memory is short */
	complain(box, err ? &error : NULL);
	return !err;
}

/* Copy what is due; how many milliseconds to wait before it is tried again, 0: it need not be. */
static uint64_t go(struct fors_outbox *box)
{
	struct load load;
	struct fors_error error;
	bool is_done;

	if (!take_load(box, &load)) {
		fors_fail(&error, FORS_ENOMEM, "out of memory for the copies in %s", box->dir);
		box->failures++;
		complain(box, &error);
		return SHORT_MS;
	}
	is_done = !load.folder.parent || carry_load(box, &load);
	drop_load(&load);
	return is_done ? 0 : AGAIN_MS;
}

static bool is_loose(const struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		if (box->is_loose[i])
			return true;
	return false;
}

/*
 * Wait for the disk to have what was copied, the mutex held before and after: nobody waits for anything now. What cannot be
 * synced is copied once more.
 */
static void settle(struct fors_outbox *box)
{
	struct fors_folder folder = {.parent = box->dir ? strdup(box->dir) : NULL};
	struct fors_error error = {.code = FORS_OK};

	for (int i = 0; folder.parent && i < FORS_OUT_FILES && !error.code; i++) {
		if (!box->is_loose[i])
			continue;
		pthread_mutex_unlock(&box->mutex);
		fors_publish_sync(&folder, names[i], &error);
		pthread_mutex_lock(&box->mutex);
		box->is_loose[i] = false;
		box->sheet[i].is_due |= error.code && box->sheet[i].bytes;
	}
	if (error.code) {
		box->failures++;
		complain(box, &error);
	}
	if (!box->dir)
		memset(box->is_loose, 0, sizeof(box->is_loose));
	free(folder.parent);
}

static void work(struct fors_outbox *box)
{
	uint64_t not_before = 0, pause;

	while (!box->is_orphan && (!box->stop || (is_due(box) && !not_before))) {
		uint64_t now = fors_clock_ms();

		if (is_due(box) && (now >= not_before || box->stop)) {
			pause = go(box);
			not_before = pause ? fors_clock_ms() + pause : 0;
			box->copied_at = fors_clock_ms();
		} else if (!box->stop && !is_due(box) && is_loose(box) && now >= box->copied_at + QUIET_MS) {
			settle(box);
		} else if (!box->stop) {
			fors_clock_wait(&box->wake, &box->mutex, now + 1000);
		}
		if (!box->is_orphan && box->is_announced && (!is_due(box) || not_before))
			run_command(box);
	}
	if (!box->is_orphan && is_loose(box))
		settle(box);
}

static void free_box(struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		free(box->sheet[i].bytes);
	fors_outbox_jobs_clear(&box->jobs);
	pthread_cond_destroy(&box->wake);
	pthread_cond_destroy(&box->done);
	pthread_mutex_destroy(&box->mutex);
	free(box->dir);
	free(box->command);
	free(box);
}

static void *run(void *context)
{
	struct fors_outbox *box = context;
	bool is_orphan;

	pthread_mutex_lock(&box->mutex);
	work(box);
	box->has_ended = true;
	is_orphan = box->is_orphan;
	pthread_cond_signal(&box->done);
	pthread_mutex_unlock(&box->mutex);
	if (is_orphan)
		free_box(box);
	return NULL;
}

/* --- the desk ------------------------------------------------------------- */

enum fors_err fors_outbox_start(struct osm_log *log, const struct fors_folder *state, struct fors_outbox **outbox,
				struct fors_error *error)
{
	struct fors_outbox *box = calloc(1, sizeof(*box));
	enum fors_err err;
	int failed;

	if (!box)
		return fors_fail_memory(error);
	box->log = log;
	box->state = state;
	pthread_mutex_init(&box->mutex, NULL);
	fors_clock_cond(&box->wake);
	fors_clock_cond(&box->done);
	err = fors_runner_start(log, &box->runner, error);
	failed = err ? 0 : fors_thread_start(&box->thread, run, box);
	if (failed) {
		err = fors_fail(error, FORS_ENOMEM, "no thread for publish_dir: %s", strerror(failed));
		fors_runner_stop(box->runner);
	}
	if (err)
		free_box(box);
	else
		*outbox = box;
	return err;
}

enum fors_err fors_outbox_set(struct fors_outbox *box, const struct fors_outbox_request *request,
			      struct fors_error *error)
{
	char *dir = request->dir ? strdup(request->dir) : NULL,
	     *command = request->command ? strdup(request->command) : NULL;
	bool is_new;

	if ((request->dir && !dir) || (request->command && !command)) {
		free(dir);
		free(command);
		return fors_fail_memory(error);
	}
	pthread_mutex_lock(&box->mutex);
	is_new = fors_text_changed(box->dir, dir);
	free(box->dir);
	free(box->command);
	box->dir = dir;
	box->command = command;
	box->seconds = request->seconds;
	for (int i = 0; is_new && i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due = box->sheet[i].bytes != NULL; /* what was in the old one is let be */
	if (is_new)
		fors_outbox_jobs_renew(&box->jobs);
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	return FORS_OK;
}

bool fors_outbox_put(struct fors_outbox *box, enum fors_outbox_file file, const void *bytes, size_t size, unsigned how)
{
	struct sheet *sheet = &box->sheet[file];
	void *copy = malloc(size + 1), *old;
	uint64_t epoch;

	if (!copy)
		return false;
	memcpy(copy, bytes, size);
	epoch = file == FORS_OUT_SCHEDULE ? epoch_of(bytes, size) : 0;
	pthread_mutex_lock(&box->mutex);
	box->highest = epoch > box->highest ? epoch : box->highest;
	old = sheet->bytes;
	*sheet = (struct sheet){copy, size, how, true};
	if (box->is_announced && fors_clock_ms() - box->announced_ms > PATIENCE_MS)
		run_command(box); /* the folder hangs */
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	free(old);
	return true;
}

bool fors_outbox_put_job(struct fors_outbox *box, const char *name, const void *bytes, size_t size, uint64_t epoch,
			 bool is_guest)
{
	bool is_put;

	pthread_mutex_lock(&box->mutex);
	is_put = fors_outbox_jobs_put(&box->jobs, name, bytes, size, epoch, is_guest);
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	return is_put;
}

bool fors_outbox_job_news(struct fors_outbox *box, char name[64], uint64_t *epoch)
{
	bool is_there;

	pthread_mutex_lock(&box->mutex);
	is_there = fors_outbox_jobs_news(&box->jobs, name, epoch);
	pthread_mutex_unlock(&box->mutex);
	return is_there;
}

void fors_outbox_announce(struct fors_outbox *box, uint64_t epoch, const char *state)
{
	pthread_mutex_lock(&box->mutex);
	if (!box->is_announced)
		box->announced_ms = fors_clock_ms();
	box->is_announced = true;
	box->epoch = epoch;
	snprintf(box->status, sizeof(box->status), "%s", state);
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
}

uint64_t fors_outbox_seen(struct fors_outbox *box)
{
	uint64_t seen;

	pthread_mutex_lock(&box->mutex);
	seen = box->seen;
	pthread_mutex_unlock(&box->mutex);
	return seen;
}

struct fors_outbox_times fors_outbox_times(struct fors_outbox *box, uint64_t epoch)
{
	struct fors_outbox_times times;

	pthread_mutex_lock(&box->mutex);
	times = (struct fors_outbox_times){.has_dir = box->dir,
					   .has_command = box->command,
					   .copied_ms = box->copied_epoch >= epoch ? box->copied_ms : 0};
	pthread_mutex_unlock(&box->mutex);
	times.command_ms = fors_runner_began(box->runner, epoch);
	return times;
}

uint64_t fors_outbox_failures(struct fors_outbox *box)
{
	uint64_t failures;

	pthread_mutex_lock(&box->mutex);
	failures = box->failures;
	pthread_mutex_unlock(&box->mutex);
	return failures;
}

void fors_outbox_stop(struct fors_outbox *box)
{
	uint64_t until = fors_clock_ms() + LAST_MS;
	struct fors_runner *runner;
	pthread_t thread;
	bool has_ended;

	if (!box)
		return;
	pthread_mutex_lock(&box->mutex);
	box->stop = true;
	pthread_cond_signal(&box->wake);
	while (!box->has_ended && fors_clock_ms() < until)
		fors_clock_wait(&box->done, &box->mutex, until);
	if (box->is_announced)
		run_command(box);
	has_ended = box->has_ended;
	runner = box->runner;
	thread = box->thread;
	if (!has_ended) {
		box->is_orphan = true;
		free(box->command); /* its runner ends now */
		box->command = NULL;
	}
	pthread_mutex_unlock(&box->mutex);
	fors_runner_stop(runner);
	if (!has_ended) {
		pthread_detach(thread); /* it may be gone already, with the box */
		return;
	}
	pthread_join(thread, NULL);
	free_box(box);
}
