/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a desk with one place per file, and a thread that has a helper program carry away what lies there (helper.h). The
 * mutex is never held while it waits for the helper, so a folder that hangs costs nobody anything:
 * the newest bytes of each file lie on the desk until it comes back, and the command is run
 * without it after a while. Nobody waits for its disk either: a copy gets its name first, and is synced when none has come
 * for a second. A crash of the machine may cost it the newest copies, or leave one that the decoder refuses; it costs no
 * number, since epochs are reserved in the state folder before readers anywhere see them (epoch.h).
 *
 * What hangs is the helper, a process of its own: when opensm ends it is killed, and where even that waits for the file
 * system it is left. Only starting it can hang the thread, where the folder of the program does: then
 * the thread is left to itself: it owns the outbox then, says nothing any more, and ends with the process (the library stays
 * loaded for its sake, see local.mk).
 *
 * Behind everything else the thread looks what others left in the folder's `jobs` and `demand`; see tidy_job().
 */
#include "config.h"

#include "outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_header.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"
#include "epoch.h"
#include "helper.h"
#include "daemon/base/log.h"
#include "outbox_jobs.h"
#include "runner.h"
#include "daemon/base/thread.h"

#define AGAIN_MS 5000	  /* after a failure */
#define SHORT_MS 1000	  /* after memory was too short */
#define PATIENCE_MS 10000 /* how long the command waits for the copies */
#define QUIET_MS 1000	  /* without a copy, before those that were made are synced */
#define LAST_MS 2000	  /* for the folder to answer, when opensm ends or another folder is asked for */
#define END_MS 1000	  /* for the helper to end then */
#define HOLD_MS 1000	  /* between two looks whose a shared folder is */
#define TIDY_MS 50	  /* between two slices of names */
#define TIDY_AGAIN_MS 3600000
#define DAY_MS 86400000
#define ORPHANED "this job has ended, or another subnet manager had planned it"

static const char *const names[FORS_OUT_FILES] = {"schedule", "status.json", "metrics.prom", "heartbeat"};

struct sheet {
	void *bytes; /* owned, or NULL */
	size_t size;
	unsigned how;
	bool is_due; /* to be copied */
};

/* Looking through the folders `jobs` and `demand`, the thread's own but for `may` and next_ms. */
struct tidying {
	bool may;	  /* this subnet manager is the master, and knows which jobs and demands there are */
	uint64_t next_ms; /* when to go on, or to begin anew */
	bool is_on;
	struct fors_helper_names names;
	uint32_t at; /* of these */
};

struct fors_outbox {
	struct fors_log *log;
	const struct fors_folder *state;
	char *state_path; /* owned */
	int bell;	  /* an eventfd, rung for a thread that waits for the helper; -1: there is none */
	struct fors_runner *runner;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows, but the thread's own; never held during input or output */
	pthread_cond_t wake, done;
	char *dir, *command; /* or NULL */
	unsigned seconds;
	bool is_shared, is_held_elsewhere;  /* others may write to the folder; one of them does */
	uint64_t hold_ms;		    /* when to look again which of them */
	struct sheet sheet[FORS_OUT_FILES]; /* the newest of each */
	struct fors_outbox_jobs jobs;	    /* likewise */
	bool is_urgent;			    /* a schedule is among them that nobody has tried to copy */
	bool is_announced;		    /* the command is to be run */
	uint64_t announced_ms, epoch;
	char status[16];
	uint64_t highest; /* epoch of all schedules that were put here */
	uint64_t seen, failures;
	uint64_t copied_epoch; /* of the schedule that was copied last, 0: none was */
	double copied_ms;      /* and when */
	uint64_t stop_ms;      /* when opensm began to end; 0: it does not */
	uint64_t changed_ms;   /* when another folder was asked for, that the thread does not serve yet; 0: none */
	struct tidying tidy;
	bool stop, has_ended, is_orphan;
	char trouble[FORS_OUTBOX_TROUBLE]; /* what was complained of, and lasts */
	/* the thread's own */
	struct fors_helper helper;
	uint64_t own;		       /* epoch of the schedule that it wrote into the folder */
	bool is_loose[FORS_OUT_FILES]; /* it has its name there, and is not on the disk for sure */
	uint64_t copied_at;	       /* when it was there last */
	bool has_complained;	       /* about a folder that cannot be written, or hangs */
	bool has_doubted;	       /* about the schedule that lies there */
};

static bool is_due(const struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		if (box->sheet[i].is_due)
			return true;
	return fors_outbox_jobs_due(&box->jobs, fors_clock_ms());
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

/* Say it once when writing begins to fail, and once when it works again; with the mutex held. */
static void complain(struct fors_outbox *box, const struct fors_error *error)
{
	if (!box->is_orphan && error && !box->has_complained)
		fors_log_error(box->log, FORS_F_COPY, "%s (the state folder is not affected)", error->text);
	if (!box->is_orphan && !error && box->has_complained)
		fors_log_info(box->log, "publish_dir can be written again");
	if (error && !box->has_complained)
		snprintf(box->trouble, sizeof(box->trouble), "%.255s", error->text);
	if (!error)
		box->trouble[0] = '\0';
	box->has_complained = error;
}

/* --- waiting for the helper ------------------------------------------------ */

/* It takes too long: said once, with the mutex held. */
static void complain_of_hanging(struct fors_outbox *box)
{
	struct fors_error error;

	if (box->has_complained)
		return;
	fors_fail(&error, FORS_EIO, "publish_dir %s: has not answered for %d s; process %d hangs there",
		  box->helper.dir, PATIENCE_MS / 1000, (int)box->helper.child.pid);
	box->failures++;
	complain(box, &error);
}

/* As fors_helper's: for ever, but at the end, and when another folder is wanted, for what is left of two seconds. */
static uint64_t wait_until(void *context, uint64_t since)
{
	struct fors_outbox *box = context;
	uint64_t now = fors_clock_ms(), until = now + 1000, end;

	pthread_mutex_lock(&box->mutex);
	end = box->stop_ms ? box->stop_ms : box->changed_ms;
	if (end)
		until = since + LAST_MS <= end ? end : end + LAST_MS;
	else if (now >= since + PATIENCE_MS)
		complain_of_hanging(box);
	if (box->is_announced && now - box->announced_ms > PATIENCE_MS)
		run_command(box);
	pthread_mutex_unlock(&box->mutex);
	return until;
}

/* --- carrying ------------------------------------------------------------- */

/* What the thread takes along: copies of its own. */
struct load {
	struct fors_folder folder;
	uint64_t highest; /* epoch that was put here */
	bool is_shared;	  /* an epoch that lies there may be another one's */
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
	load->is_shared = box->is_shared;
	if (box->dir && (!load->folder.parent || !copy_sheets(box, load))) {
		drop_load(load);
		return false;
	}
	for (int i = 0; i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due = false;
	if (box->dir)
		fors_outbox_jobs_take(&box->jobs, fors_clock_ms(), &load->jobs);
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
static enum fors_err look_there(struct fors_outbox *box, const struct load *load, uint64_t *epoch,
				struct fors_error *error)
{
	struct fors_schedule_header header = {.epoch = 0};
	bool is_there;
	enum fors_err err = fors_helper_epoch(&box->helper, &load->folder, &header, &is_there, error);

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

/* What readers find there is not from here: all is due, with the mutex held. */
static void renew(struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due = box->sheet[i].bytes != NULL;
	fors_outbox_jobs_renew(&box->jobs);
}

/* Whose is a shared folder? *is_ours also where it is not shared. Without the mutex. Errors: FORS_EIO. */
static enum fors_err hold(struct fors_outbox *box, const struct fors_folder *folder, bool *is_ours,
			  struct fors_error *error)
{
	bool is_shared;
	enum fors_err err;

	pthread_mutex_lock(&box->mutex);
	is_shared = box->is_shared;
	box->hold_ms = fors_clock_ms() + HOLD_MS;
	pthread_mutex_unlock(&box->mutex);
	*is_ours = true;
	err = is_shared ? fors_helper_hold(&box->helper, folder, is_ours, error) : FORS_OK;
	if (err)
		return FORS_EIO;
	pthread_mutex_lock(&box->mutex);
	if (*is_ours && box->is_held_elsewhere)
		renew(box);
	box->is_held_elsewhere = !*is_ours;
	pthread_mutex_unlock(&box->mutex);
	return FORS_OK;
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
	enum fors_err err = look_there(box, load, &there, error);

	if (err && err != FORS_EINPUT)
		return err;
	if (is_guest(load)) {
		*may = !err && there == box->own;
		return FORS_OK;
	}
	doubt(box, load, err ? error : NULL);
	*may = err || !schedule->bytes || there < epoch || (there == epoch && (there == box->own || !load->is_shared));
	if (!*may)
		note_seen(box, there);
	return FORS_OK;
}

static enum fors_err copy_files(struct fors_outbox *box, const struct load *load, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (int i = 0; i < FORS_OUT_FILES && !err; i++) {
		const struct sheet *sheet = &load->sheet[i];

		if (!sheet->bytes)
			continue;
		err = fors_helper_publish(&box->helper, &load->folder, names[i], sheet->bytes, sheet->size,
					  sheet->how & FORS_OUT_DURABLE, error);
		if (!err)
			box->is_loose[i] = i != FORS_OUT_HEARTBEAT && i != FORS_OUT_METRICS;
		if (err || i != FORS_OUT_SCHEDULE)
			continue;
		box->own = epoch_of(sheet->bytes, sheet->size);
		note_copied(box, fors_clock_exact_ms());
	}
	return err;
}

/* A folder that is full has room for withdrawals, of the fabric and of jobs: these do not wait for other files. */
static enum fors_err carry(struct fors_outbox *box, struct load *load, struct fors_error *error)
{
	bool may = false;
	bool is_ours = false;
	struct fors_error why;
	enum fors_err err = hold(box, &load->folder, &is_ours, error), later;

	if (!err && !is_ours)
		fors_outbox_jobs_rest(&load->jobs);
	if (err || !is_ours)
		return err;
	err = may_write(box, load, &may, error);
	if (err)
		return err;
	err = may ? copy_files(box, load, error) : FORS_OK;
	later = fors_outbox_jobs_carry(&load->jobs, &load->folder, &box->helper, err ? &why : error);
	return err ? err : later;
}

/* A failed load is due again, unless something newer lies there; with the mutex held. */
static void put_back(struct fors_outbox *box, const struct load *load)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		box->sheet[i].is_due |= load->sheet[i].bytes != NULL;
}

/* One job's copies fail, or work again; with the mutex held. */
static void say_of_job(void *context, const char *name, const char *trouble)
{
	const struct fors_outbox *box = context;

	if (!box->is_orphan && trouble)
		fors_log_error(box->log, FORS_F_COPY, "%s (job %s; the state folder and other jobs are not affected)",
			       trouble, name);
	if (!box->is_orphan && !trouble)
		fors_log_info(box->log, "publish_dir: the copies of job %s can be written again", name);
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
	box->failures += fors_outbox_jobs_return(&box->jobs, &load->jobs, fors_clock_ms() + AGAIN_MS, say_of_job, box);
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
 * synced is copied once more. Without memory they are tried again later, and the mutex is let go meanwhile.
 */
static void sync_copies(struct fors_outbox *box)
{
	struct fors_folder folder = {.parent = box->dir ? strdup(box->dir) : NULL};
	struct fors_error error = {.code = FORS_OK};

	box->copied_at = fors_clock_ms();
	for (int i = 0; folder.parent && i < FORS_OUT_FILES && !error.code; i++) {
		if (!box->is_loose[i])
			continue;
		pthread_mutex_unlock(&box->mutex);
		fors_helper_sync(&box->helper, &folder, names[i], &error);
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

/* --- what others left there ------------------------------------------------- */

/* Write over a schedule that nobody stands behind. Errors: as fors_helper_publish(), FORS_ENOMEM. */
static enum fors_err withdraw(struct fors_outbox *box, const struct fors_folder *folder,
			      const struct fors_schedule_header *there)
{
	struct fors_schedule *nothing;
	void *bytes = NULL;
	size_t size;
	enum fors_err err =
		fors_schedule_withdrawn(fors_epoch_next(there->epoch, fors_clock_unix_ms()), ORPHANED, &nothing, NULL);

	if (err)
		return err;
	snprintf(nothing->name, sizeof(nothing->name), "%s",
		 folder->job + (fors_jobkind(folder->job) != FORS_KIND_JOB));
	err = fors_schedule_encode(nothing, &bytes, &size, NULL);
	if (!err)
		err = fors_helper_publish(&box->helper, folder, "schedule", bytes, size, true, NULL);
	free(bytes);
	fors_schedule_free(nothing);
	return err;
}

static bool is_known(struct fors_outbox *box, const char *name)
{
	bool is_it;

	pthread_mutex_lock(&box->mutex);
	is_it = fors_outbox_jobs_knows(&box->jobs, name) || !box->tidy.may || box->is_held_elsewhere || box->changed_ms;
	pthread_mutex_unlock(&box->mutex);
	return is_it;
}

/*
 * A folder of no job or demand that is known here, without the mutex. What is no schedule of one, whole, of an epoch that is believed, is
 * somebody else's. A schedule with phases was left by another opensm: readers, who see a heartbeat again, would take it
 * for good, so it is withdrawn; a day after that the folder is removed, as all folders of jobs that have ended.
 */
static void tidy_job(struct fors_outbox *box, const struct fors_folder *folder)
{
	struct fors_schedule_header there = {.epoch = 0};
	const uint64_t now = fors_clock_unix_ms();
	bool is_there = false;

	if (is_known(box, folder->job) || fors_helper_epoch(&box->helper, folder, &there, &is_there, NULL))
		return;
	if (!is_there || !*there.name || !fors_epoch_is_near(there.epoch, 0, now))
		return;
	if (is_known(box, folder->job)) /* by now */
		return;
	if (there.shape.nphases)
		withdraw(box, folder, &there);
	else if (now > there.epoch + DAY_MS)
		fors_helper_remove_job(&box->helper, folder, NULL);
}

/* The next names; false: there are no more, or none can be had. */
static bool list_more(struct fors_outbox *box, const struct fors_folder *folder)
{
	struct tidying *tidy = &box->tidy;
	bool from_begin = !tidy->is_on;

	if (!from_begin && !tidy->names.has_more)
		return false;
	tidy->at = 0;
	tidy->names.count = 0;
	return !fors_helper_list(&box->helper, folder, from_begin, &tidy->names, NULL);
}

/* One folder, or the next names of folders, the mutex held before and after: what is due does not wait for more. */
static void go_on_tidying(struct fors_outbox *box)
{
	struct tidying *tidy = &box->tidy;
	struct fors_folder folder = {.parent = strdup(box->dir)};
	bool is_on = folder.parent;

	snprintf(folder.tag, sizeof(folder.tag), "%s", box->state->name);
	pthread_mutex_unlock(&box->mutex);
	if (is_on && tidy->is_on && tidy->at < tidy->names.count) {
		memcpy(folder.job, tidy->names.name[tidy->at++], sizeof(folder.job));
		tidy_job(box, &folder);
		is_on = fors_helper_answers(&box->helper);
	} else if (is_on) {
		is_on = list_more(box, &folder);
	}
	pthread_mutex_lock(&box->mutex);
	tidy->is_on = is_on;
	if (!is_on)
		tidy->next_ms = fors_clock_ms() + TIDY_AGAIN_MS;
	else if (tidy->at >= tidy->names.count)
		tidy->next_ms = fors_clock_ms() + TIDY_MS;
	free(folder.parent);
}

static bool may_tidy(const struct fors_outbox *box, uint64_t now)
{
	return box->tidy.may && box->dir && !box->is_held_elsewhere && !box->stop && now >= box->tidy.next_ms;
}

/* --- the thread --------------------------------------------------------------- */

/* Another folder is asked for: the helper for the one of before is told to end. */
static void turn_to_folder(struct fors_outbox *box)
{
	box->changed_ms = 0;
	box->tidy.is_on = false;
	box->tidy.next_ms = 0;
	pthread_mutex_unlock(&box->mutex);
	fors_helper_end(&box->helper);
	pthread_mutex_lock(&box->mutex);
}

/* Look whose the folder is, though nothing is to be copied; with the mutex held. */
static void hold_on(struct fors_outbox *box)
{
	struct fors_folder folder = {.parent = strdup(box->dir)};
	struct fors_error error;
	bool is_ours;

	snprintf(folder.tag, sizeof(folder.tag), "%s", box->state->name);
	box->hold_ms = fors_clock_ms() + HOLD_MS;
	pthread_mutex_unlock(&box->mutex);
	if (folder.parent)
		hold(box, &folder, &is_ours, &error); /* what is wrong is said when something is copied */
	free(folder.parent);
	pthread_mutex_lock(&box->mutex);
}

static void wait_for_work(struct fors_outbox *box, uint64_t now)
{
	uint64_t until = now + 1000;

	if (box->tidy.is_on && box->tidy.may && box->tidy.next_ms < until)
		until = box->tidy.next_ms;
	fors_clock_wait(&box->wake, &box->mutex, until);
}

static void work(struct fors_outbox *box)
{
	uint64_t not_before = 0, pause;

	while (!box->is_orphan && (!box->stop || (is_due(box) && !not_before))) {
		uint64_t now = fors_clock_ms();

		if (box->changed_ms) {
			turn_to_folder(box);
			not_before = 0;
		}
		if (is_due(box) && (now >= not_before || box->is_urgent || box->stop)) {
			box->is_urgent = false;
			pause = go(box);
			not_before = pause ? fors_clock_ms() + pause : 0;
			box->copied_at = fors_clock_ms();
		} else if (!box->stop && !is_due(box) && is_loose(box) && now >= box->copied_at + QUIET_MS) {
			sync_copies(box);
		} else if (!box->stop && !is_due(box) && box->is_shared && box->dir && now >= box->hold_ms) {
			hold_on(box);
		} else if (!is_due(box) && may_tidy(box, now)) {
			go_on_tidying(box);
		} else if (!box->stop) {
			wait_for_work(box, now);
		}
		if (!box->is_orphan && box->is_announced && (!is_due(box) || not_before))
			run_command(box);
	}
	if (!box->is_orphan && is_loose(box) && fors_helper_answers(&box->helper))
		sync_copies(box);
}

/* With the mutex held before and after. */
static void end_helper(struct fors_outbox *box)
{
	pid_t left;

	pthread_mutex_unlock(&box->mutex);
	left = fors_helper_end(&box->helper);
	pthread_mutex_lock(&box->mutex);
	if (left && !box->is_orphan)
		fors_log_error(box->log, FORS_F_COPY,
			       "publish_dir %s: process %d hangs there, and is left behind at the end", box->helper.dir,
			       (int)left);
}

static void free_box(struct fors_outbox *box)
{
	for (int i = 0; i < FORS_OUT_FILES; i++)
		free(box->sheet[i].bytes);
	fors_outbox_jobs_clear(&box->jobs);
	fors_helper_clear(&box->helper);
	if (box->bell >= 0)
		close(box->bell);
	pthread_cond_destroy(&box->wake);
	pthread_cond_destroy(&box->done);
	pthread_mutex_destroy(&box->mutex);
	free(box->state_path);
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
	end_helper(box);
	box->has_ended = true;
	is_orphan = box->is_orphan;
	pthread_cond_signal(&box->done);
	pthread_mutex_unlock(&box->mutex);
	if (is_orphan)
		free_box(box);
	return NULL;
}

/* --- the desk ------------------------------------------------------------- */

enum fors_err fors_outbox_start(struct fors_log *log, const struct fors_folder *state, struct fors_outbox **outbox,
				struct fors_error *error)
{
	struct fors_outbox *box = calloc(1, sizeof(*box));
	enum fors_err err;
	int failed;

	if (!box || asprintf(&box->state_path, "%s/%s", state->parent, state->name) < 0) {
		free(box);
		return fors_fail_memory(error);
	}
	box->log = log;
	box->state = state;
	box->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	box->helper =
		(struct fors_helper){.state = box->state_path, .until = wait_until, .context = box, .bell = box->bell};
	fors_helper_init(&box->helper);
	pthread_mutex_init(&box->mutex, NULL);
	fors_clock_cond(&box->wake);
	fors_clock_cond(&box->done);
	err = fors_runner_start(log, &box->runner, error);
	failed = err ? 0 : fors_thread_start(&box->thread, run, box);
	if (failed) {
		err = fors_fail(error, FORS_ENOMEM, "no thread for publish_dir: %s", strerror(failed));
		fors_runner_stop(box->runner, 0);
	}
	if (err)
		free_box(box);
	else
		*outbox = box;
	return err;
}

/* The thread may wait for the helper. */
static void ring(struct fors_outbox *box)
{
	if (box->bell >= 0)
		eventfd_write(box->bell, 1);
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
	box->is_shared = request->is_shared;
	box->is_held_elsewhere &= box->is_shared && dir && !is_new;
	if (is_new) {
		renew(box); /* what was in the old one is let be */
		box->changed_ms = fors_clock_ms();
		ring(box);
	}
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
	box->is_urgent |= file == FORS_OUT_SCHEDULE;
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
	box->is_urgent = true;
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	return is_put;
}

bool fors_outbox_job_news(struct fors_outbox *box, enum fors_jobkind kind, char name[64], uint64_t *epoch)
{
	bool is_there;

	pthread_mutex_lock(&box->mutex);
	is_there = fors_outbox_jobs_news(&box->jobs, kind, name, epoch);
	pthread_mutex_unlock(&box->mutex);
	return is_there;
}

bool fors_outbox_know_job(struct fors_outbox *box, const char *name)
{
	bool is_known;

	pthread_mutex_lock(&box->mutex);
	is_known = fors_outbox_jobs_know(&box->jobs, name);
	pthread_mutex_unlock(&box->mutex);
	return is_known;
}

void fors_outbox_tend_jobs(struct fors_outbox *box, bool is_master)
{
	pthread_mutex_lock(&box->mutex);
	box->tidy.may = is_master;
	pthread_mutex_unlock(&box->mutex);
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

bool fors_outbox_is_holder(struct fors_outbox *box)
{
	bool is_holder;

	pthread_mutex_lock(&box->mutex);
	is_holder = !box->is_held_elsewhere;
	pthread_mutex_unlock(&box->mutex);
	return is_holder;
}

uint64_t fors_outbox_failures(struct fors_outbox *box)
{
	uint64_t failures;

	pthread_mutex_lock(&box->mutex);
	failures = box->failures;
	pthread_mutex_unlock(&box->mutex);
	return failures;
}

void fors_outbox_trouble(struct fors_outbox *box, char text[FORS_OUTBOX_TROUBLE])
{
	pthread_mutex_lock(&box->mutex);
	memcpy(text, box->trouble, sizeof(box->trouble));
	pthread_mutex_unlock(&box->mutex);
}

void fors_outbox_stop(struct fors_outbox *box)
{
	uint64_t now = fors_clock_ms(), until = now + LAST_MS + END_MS;
	struct fors_runner *runner;
	pthread_t thread;
	bool has_ended;

	if (!box)
		return;
	pthread_mutex_lock(&box->mutex);
	box->stop = true;
	box->stop_ms = now;
	ring(box);
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
	fors_runner_stop(runner, (unsigned)(fors_clock_ms() - now));
	if (!has_ended) {
		pthread_detach(thread); /* it may be gone already, with the box */
		return;
	}
	pthread_join(thread, NULL);
	free_box(box);
}
