/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"

#include "board_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/status/history.h"
#include "core/status/status_json.h"
#include "keeper/base/clock.h"
#include "keeper/files/epoch.h"
#include "keeper/base/log.h"

#define BEAT_MS 4000

void fors_board_open(struct fors_board *board, struct fors_log *log, const struct fors_folder *folder,
		     struct fors_outbox *outbox)
{
	*board = (struct fors_board){
		.log = log, .folder = folder, .outbox = outbox, .state = FORS_INACTIVE, .unread = FORS_BOARD_LEFT};
	board->sheet[SHEET_PLACES].name = "places";
	board->sheet[SHEET_SCHEDULE].name = "schedule";
	board->sheet[SHEET_STATUS].name = "status.json";
	board->sheet[SHEET_METRICS].name = "metrics.prom";
	board->sheet[SHEET_HISTORY].name = "history";
	board->counts.version = PACKAGE_VERSION;
	fors_board_load(board);
}

/* Have epochs up to a number on the disk. False: it cannot be written. */
static bool reserve(struct fors_board *board, uint64_t epoch)
{
	char text[FORS_RESERVE_LENGTH + 1];
	size_t length = fors_epoch_reserve_text(epoch, text);

	if (fors_publish(board->folder, "epoch", text, length, true, NULL))
		return false;
	board->reserved = epoch;
	return true;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t fors_board_job_epoch(struct fors_board *board, uint64_t last, bool *is_safe)
{
	uint64_t now = fors_clock_unix_ms(), epoch;

	if (!fors_board_load(board)) /* what was reserved before */
		return 0;
	epoch = fors_epoch_next(largest(board->floor, last ? last : board->jobs_epoch), now);
	*is_safe = epoch <= board->reserved || reserve(board, fors_epoch_reserve(epoch, now));
	board->jobs_epoch = largest(board->jobs_epoch, epoch);
	board->counts.epochs++;
	return epoch;
}

/* Whoever comes next goes on with the epoch after the last one, not after all that was reserved. */
static void give_back_epochs(struct fors_board *board)
{
	uint64_t last = largest(board->last_epoch, board->jobs_epoch);

	if (board->reserved > last)
		reserve(board, largest(last, board->floor));
}

void fors_board_close(struct fors_board *board)
{
	fors_board_sync(board);
	give_back_epochs(board);
	for (size_t i = 0; i < sizeof(board->sheet) / sizeof(board->sheet[0]); i++)
		free(board->sheet[i].bytes);
	free(board->json);
	free(board->told);
	free(board->facts);
	if (board->left)
		fors_status_clear(board->left);
	free(board->left);
	fors_schedule_free(board->schedule);
}

bool fors_board_has_plan(const struct fors_board *board)
{
	return board->schedule && board->schedule->nphases > 0;
}

/*
 * A copy for publish_dir; the kept order is of no use to anybody else, and every subnet manager has a history of its
 * own. Where memory is too short for one, nobody may take what is there for the newest: it is tried again, and there is no
 * heartbeat until then.
 */
static void send_copy(struct fors_board *board, int which)
{
	static const enum fors_outbox_file file[] = {[SHEET_SCHEDULE] = FORS_OUT_SCHEDULE,
						     [SHEET_STATUS] = FORS_OUT_STATUS,
						     [SHEET_METRICS] = FORS_OUT_METRICS};
	struct fors_sheet *sheet = &board->sheet[which];
	unsigned how = board->is_guest ? FORS_OUT_GUEST : 0;

	if (!board->outbox || !sheet->bytes || which == SHEET_PLACES || which == SHEET_HISTORY)
		return;
	if (which == SHEET_SCHEDULE && board->last_epoch > board->reserved)
		how |= FORS_OUT_DURABLE;
	sheet->is_uncopied = !fors_outbox_put(board->outbox, file[which], sheet->bytes, sheet->size, how);
	if (sheet->is_uncopied)
		fors_log_error(board->log, FORS_F_MEMORY, "out of memory: %s is copied to publish_dir later",
			       sheet->name);
}

/* Replace what is to be written to a file; takes the bytes. */
static void set_sheet(struct fors_board *board, int which, void *bytes, size_t size)
{
	free(board->sheet[which].bytes);
	board->sheet[which].bytes = bytes;
	board->sheet[which].size = size;
	board->sheet[which].is_due = true;
	send_copy(board, which);
}

/* What is written is kept, should somebody remove the file; but the schedule, which is large, can be made anew. */
static void finish_sheet(struct fors_board *board, int which)
{
	if (board->sheet[which].is_due)
		board->sheet[which].is_loose = which != SHEET_PLACES && which != SHEET_METRICS;
	board->sheet[which].is_due = false;
	if (which != SHEET_SCHEDULE || board->sheet[which].is_uncopied)
		return;
	free(board->sheet[which].bytes);
	board->sheet[which].bytes = NULL;
}

/* Say it once when writing begins to fail, and once when it works again. */
static void complain(struct fors_board *board, const struct fors_error *error)
{
	if (error && !board->has_complained)
		fors_log_error(board->log, error->code == FORS_EINPUT ? FORS_F_FOLDER : FORS_F_PUBLISH,
			       "%s (routes are not affected)", error->text);
	if (!error && board->has_complained)
		fors_log_info(board->log, "the state folder can be written again");
	if (error && !board->has_complained)
		snprintf(board->trouble, sizeof(board->trouble), "%.255s", error->text);
	if (!error)
		board->trouble[0] = '\0';
	board->has_complained = error;
}

/* What memory was too short for. */
static void copy_again(struct fors_board *board)
{
	bool is_left = false;

	for (int i = 0; i < SHEETS; i++) {
		if (!board->sheet[i].is_uncopied)
			continue;
		send_copy(board, i);
		is_left = is_left || board->sheet[i].is_uncopied;
		if (!board->sheet[i].is_due)
			finish_sheet(board, i);
	}
	if (is_left || !board->is_unannounced)
		return;
	board->is_unannounced = false;
	fors_outbox_announce(board->outbox, board->last_epoch, fors_state_name(board->state));
}

static void write_due(struct fors_board *board)
{
	bool wrote = false, has_failed = false;
	struct fors_error error;

	for (size_t i = 0; i < sizeof(board->sheet) / sizeof(board->sheet[0]); i++) {
		struct fors_sheet *sheet = &board->sheet[i];

		if (!sheet->is_due)
			continue;
		if (fors_publish(board->folder, sheet->name, sheet->bytes, sheet->size, i == SHEET_PLACES, &error)) {
			board->counts.unwritten++;
			complain(board, &error);
			has_failed = true;
			if (i == SHEET_PLACES)
				continue; /* a schedule to be withdrawn does not wait for them */
			return;
		}
		finish_sheet(board, (int)i);
		wrote = true;
	}
	if (wrote && !has_failed)
		complain(board, NULL);
}

void fors_board_sync(struct fors_board *board)
{
	struct fors_error error;

	for (size_t i = 0; i < sizeof(board->sheet) / sizeof(board->sheet[0]); i++) {
		struct fors_sheet *sheet = &board->sheet[i];

		if (!sheet->is_loose || sheet->is_due)
			continue;
		if (fors_publish_sync(board->folder, sheet->name, &error)) {
			complain(board, &error);
			return;
		}
		sheet->is_loose = false;
	}
}

void fors_board_retry(struct fors_board *board)
{
	write_due(board);
	copy_again(board);
}

bool fors_board_is_seen(const struct fors_board *board)
{
	return !board->sheet[SHEET_SCHEDULE].is_due;
}

/* Is `schedule`, but for its epoch, what is published already? */
static bool is_published(const struct fors_board *board, struct fors_schedule *schedule)
{
	void *mine = NULL, *theirs = NULL;
	size_t my_size, their_size;
	bool same;

	/* Another SM may have published a later epoch while we were away: what we inherited gets one later still. */
	if (!board->schedule || board->is_inherited || board->schedule->nphases != schedule->nphases ||
	    board->schedule->fingerprint != schedule->fingerprint)
		return false;
	schedule->epoch = board->schedule->epoch;
	same = !fors_schedule_encode(schedule, &mine, &my_size, NULL) &&
	       !fors_schedule_encode(board->schedule, &theirs, &their_size, NULL) && my_size == their_size &&
	       !memcmp(mine, theirs, my_size);
	free(mine);
	free(theirs);
	return same;
}

/*
 * Readers see the schedule before anything else is done. Its epoch is reserved; should that have failed, the disk has the
 * schedule itself before readers have. What fails here is tried again with the other files, and logged then.
 */
static void show_schedule(struct fors_board *board)
{
	const struct fors_sheet *sheet = &board->sheet[SHEET_SCHEDULE];
	bool is_reserved = board->last_epoch <= board->reserved;

	board->seen_ms = 0;
	if (!(is_reserved && fors_board_show_draft(board, sheet->bytes, sheet->size)) &&
	    fors_publish(board->folder, sheet->name, sheet->bytes, sheet->size, !is_reserved, NULL))
		return;
	board->seen_ms = fors_clock_exact_ms();
	finish_sheet(board, SHEET_SCHEDULE);
}

/* The next epoch is this one: it is reserved before anybody can see it, here or in publish_dir. */
static void take_epoch(struct fors_board *board, uint64_t epoch)
{
	if (epoch > board->reserved)
		reserve(board, fors_epoch_reserve(epoch, fors_clock_unix_ms()));
	board->last_epoch = epoch;
}

/* Give a schedule the next epoch and put it on its sheet. False: out of memory. */
static bool number_schedule(struct fors_board *board, struct fors_schedule *schedule)
{
	uint64_t last = largest(board->last_epoch, board->floor);
	void *bytes;
	size_t size;

	schedule->epoch = fors_epoch_next(last, fors_clock_unix_ms());
	if (!fors_board_encode(board, schedule, &bytes, &size))
		return false;
	take_epoch(board, schedule->epoch);
	set_sheet(board, SHEET_SCHEDULE, bytes, size);
	show_schedule(board);
	board->is_inherited = false;
	board->is_numbered = true;
	board->counts.epochs++;
	board->last_beat = 0; /* which names the epoch */
	return true;
}

/* False: out of memory. */
static bool take_schedule(struct fors_board *board, struct fors_schedule *schedule)
{
	if (is_published(board, schedule)) {
		fors_schedule_free(schedule);
		return true;
	}
	if (!number_schedule(board, schedule)) {
		fors_schedule_free(schedule);
		return false;
	}
	fors_schedule_free(board->schedule);
	board->schedule = schedule;
	return true;
}

static const char *fabric_name(const struct fors_board *board)
{
	return *board->fabric_name ? board->fabric_name : board->folder->name;
}

/* metrics.prom: what is counted, behind the facts (NULL: those of before, if any). False: out of memory. */
static bool write_metrics(struct fors_board *board, const char *facts)
{
	char *counted, *whole;
	int length;

	facts = facts ? facts : board->facts;
	if (board->outbox)
		board->counts.uncopied = fors_outbox_failures(board->outbox);
	if (!facts || fors_counts_prom(&board->counts, fabric_name(board), &counted, NULL))
		return !facts;
	length = asprintf(&whole, "%s%s", facts, counted);
	free(counted);
	if (length < 0)
		return false;
	set_sheet(board, SHEET_METRICS, whole, (size_t)length);
	return true;
}

/* What becomes of a status: texts, owned. */
struct texts {
	char *json, *copy, *facts;
};

/* False: out of memory. */
static bool make_texts(const struct fors_board *board, const struct fors_status *status, struct texts *texts)
{
	return !fors_status_json(status, &texts->json, NULL) && (texts->copy = strdup(texts->json)) &&
	       !fors_status_prom(status, fabric_name(board), &texts->facts, NULL);
}

/*
 * The opensm before this one may have been killed when readers here had its last schedule, and those of publish_dir had
 * not: they are given it before a status that names its epoch. False: out of memory.
 */
static bool copy_inherited(struct fors_board *board)
{
	struct fors_sheet *sheet = &board->sheet[SHEET_SCHEDULE];

	if (!board->is_inherited || board->is_carried || board->is_guest || !board->outbox || sheet->bytes)
		return true;
	if (fors_schedule_encode(board->schedule, &sheet->bytes, &sheet->size, NULL))
		return false;
	send_copy(board, SHEET_SCHEDULE);
	finish_sheet(board, SHEET_SCHEDULE);
	board->is_carried = true;
	return true;
}

/* False: out of memory. */
static bool take_status(struct fors_board *board, const struct fors_status *status)
{
	struct texts texts = {0};

	if (!copy_inherited(board) || !make_texts(board, status, &texts) || !write_metrics(board, texts.facts)) {
		free(texts.json);
		free(texts.copy);
		free(texts.facts);
		return false;
	}
	free(board->json);
	free(board->facts);
	board->json = texts.copy;
	board->facts = texts.facts;
	set_sheet(board, SHEET_STATUS, texts.json, strlen(texts.json));
	board->has_status = true;
	board->state = status->state;
	memcpy(board->reason, status->reason, sizeof(board->reason));
	return true;
}

/* The same for people who read OpenSM's log, which also is there when the folder is not. */
static void log_status(const struct fors_board *board, const struct fors_status *status)
{
	char reduction[FORS_REDUCTION];

	if (status->state == FORS_ACTIVE && fors_status_is_foreign(status))
		fors_log_info(board->log,
			      "active: epoch %" PRId64 ", %" PRId64 " phases (bound of these tables %" PRId64
			      ") by method %s, over the tables of '%s'; planned in %.2f ms",
			      status->epoch, status->phases, status->lower_bound, status->method, status->tables_by,
			      status->plan_ms);
	else if (status->jobs.is_known)
		fors_log_info(board->log, "%s: %s (%zu with a schedule, %zu withdrawn, %zu without one)",
			      fors_state_name(status->state), status->reason,
			      fors_jobstats_in(&status->jobs, FORS_JOB_IS_PLANNED),
			      fors_jobstats_in(&status->jobs, FORS_JOB_IS_WITHDRAWN),
			      fors_jobstats_in(&status->jobs, FORS_JOB_HAS_NONE));
	else if (status->state == FORS_ACTIVE)
		fors_log_info(board->log,
			      "active: epoch %" PRId64 ", %" PRId64 " phases (lower bound %" PRId64
			      ") by method %s, %s; planned in %.2f ms",
			      status->epoch, status->phases, status->lower_bound, status->method,
			      fors_status_reduction(status, reduction, sizeof(reduction)), status->plan_ms);
	else
		fors_log_info(board->log, "%s: %s", fors_state_name(status->state), status->reason);
}

/* The status comes with a new epoch: one more in the history. When memory is short the next one tells of both. */
static void note_epoch(struct fors_board *board, const struct fors_status *status)
{
	struct fors_status before;
	struct fors_event event;
	enum fors_err err = board->told ? fors_status_parse(board->told, "status.json", &before, NULL) : FORS_EINPUT;
	char *told = strdup(board->json), *text;

	fors_event_tell(!err ? &before : NULL, status, &event);
	event.unix_ms = fors_clock_unix_ms();
	if (!err)
		fors_status_clear(&before);
	if (!told || err == FORS_ENOMEM || fors_history_add(board->sheet[SHEET_HISTORY].bytes, &event, &text, NULL)) {
		fors_log_error(board->log, FORS_F_MEMORY,
			       "out of memory: the history tells of this epoch with the next one");
		free(told);
		return;
	}
	set_sheet(board, SHEET_HISTORY, text, strlen(text));
	free(board->told);
	board->told = told;
	board->is_numbered = false;
}

/* The schedule that ends a failover has its epoch; whether readers see it yet is known, too. */
static void tell_failover(const struct fors_board *board, struct fors_status *status)
{
	if (board->seen_ms <= 0)
		return; /* it could not be written */
	status->failover.epoch = (int64_t)board->last_epoch;
	status->failover.ms[FORS_STEP_PUBLISHED] = board->seen_ms - board->failover_ms;
}

/* Since when the state is what it is. An opensm that started again and is active as the one before has not made it so. */
static void date_state(struct fors_board *board, enum fors_state state)
{
	if (!board->since || board->state != state)
		board->since = fors_clock_unix_ms();
	if (board->left_since && state == FORS_ACTIVE && board->left_since < board->since)
		board->since = board->left_since;
	if (state != FORS_PLANNING)
		board->left_since = 0;
}

/*
 * What was dead when an opensm ended, and is dead for the one after it, has been so all the time. What is alive now is no
 * longer `left` as dead.
 */
static void date_dead(struct fors_board *board, struct fors_status *status)
{
	if (board->left && status->leaves >= 0)
		fors_links_inherit(&status->dead_links, &board->left->dead_links);
}

static void find_trouble(const struct fors_board *board, char text[FORS_OUTBOX_TROUBLE])
{
	memcpy(text, board->trouble, sizeof(board->trouble));
	if (!*text && board->outbox)
		fors_outbox_trouble(board->outbox, text);
}

/* The first remark says which folder cannot be written, if any; what the status said of that before is gone. */
static void tell_trouble(struct fors_board *board, struct fors_status *status)
{
	const struct fors_warnings before = status->warnings;
	unsigned kept = fors_warnings_kept(&before);

	find_trouble(board, board->told_trouble);
	status->warnings = (struct fors_warnings){.count = 0};
	if (*board->told_trouble)
		fors_warn(&status->warnings, FORS_REMARK_UNWRITTEN "%s", board->told_trouble);
	for (unsigned i = 0; i < kept; i++)
		if (strncmp(before.text[i], FORS_REMARK_UNWRITTEN, strlen(FORS_REMARK_UNWRITTEN)))
			fors_warn(&status->warnings, "%s", before.text[i]);
	status->warnings.count += before.count - kept;
}

bool fors_board_publish(struct fors_board *board, struct fors_schedule *schedule, struct fors_status *status)
{
	char reason[sizeof(status->reason)];
	uint64_t last = board->last_epoch;

	memcpy(reason, status->reason, sizeof(reason));
	if (!fors_board_load(board)) { /* whose epochs the next one has to exceed */
		fors_schedule_free(schedule);
		return false;
	}
	if (schedule && !take_schedule(board, schedule))
		return false;
	if (board->failover_ms > 0 && last != board->last_epoch)
		tell_failover(board, status);
	if (board->schedule)
		fors_status_schedule(status, board->schedule);
	memcpy(status->reason, reason, sizeof(reason));
	date_state(board, status->state);
	date_dead(board, status);
	status->state_since_ms = (int64_t)board->since;
	tell_trouble(board, status);
	if (!take_status(board, status))
		return false;
	log_status(board, status);
	if (board->is_numbered)
		note_epoch(board, status);
	board->is_unannounced = board->outbox;
	if (!board->is_hasty)
		fors_board_retry(board); /* the command finds it in the state folder */
	return true;
}

/* The status as it was published last. False: there is none, or no memory. */
static bool recall(const struct fors_board *board, struct fors_status *status)
{
	return board->json && !fors_status_parse(board->json, "status.json", status, NULL);
}

bool fors_board_recall(const struct fors_board *board, struct fors_status *status)
{
	char *text;
	enum fors_err err;

	if (board->json)
		return recall(board, status);
	if (!board->left || board->left->known_until_ms < 0 || fors_status_json(board->left, &text, NULL))
		return false;
	err = fors_status_parse(text, "status.json", status, NULL);
	free(text);
	return !err;
}

/* Write the status, which says a little more than before. False: out of memory. */
static bool amend(struct fors_board *board, struct fors_status *status)
{
	bool is_done;

	tell_trouble(board, status);
	is_done = take_status(board, status);

	fors_status_clear(status);
	fors_board_retry(board);
	return is_done;
}

bool fors_board_advise(struct fors_board *board, const struct fors_gains *gains)
{
	struct fors_status status;

	if (!recall(board, &status))
		return false;
	status.repairs = *gains;
	status.phases_alone = gains->alone ? gains->alone : FORS_UNKNOWN;
	return amend(board, &status);
}

bool fors_board_route(struct fors_board *board, const char *tables_by)
{
	struct fors_status status;

	if (!recall(board, &status))
		return false;
	snprintf(status.tables_by, sizeof(status.tables_by), "%s", tables_by);
	return amend(board, &status);
}

bool fors_board_measure(struct fors_board *board, const struct fors_failover *failover)
{
	struct fors_status status;

	if (!recall(board, &status))
		return false;
	status.failover = *failover;
	return amend(board, &status);
}

/* Renumber what is published above this epoch, unless it is. False: out of memory, and all is as it was. */
static bool renumber(struct fors_board *board, uint64_t epoch)
{
	uint64_t before = board->schedule->epoch, last = board->last_epoch;

	if (epoch <= last)
		return true;
	board->last_epoch = epoch;
	if (number_schedule(board, board->schedule))
		return true;
	board->schedule->epoch = before;
	board->last_epoch = last;
	return false;
}

bool fors_board_exceed(struct fors_board *board, uint64_t epoch)
{
	struct fors_status status;

	if (epoch <= board->last_epoch && !board->is_untold)
		return true;
	if (!board->schedule || !board->json || fors_status_parse(board->json, "status.json", &status, NULL))
		return false;
	board->is_untold = !renumber(board, epoch) || !fors_board_publish(board, NULL, &status);
	fors_status_clear(&status);
	return !board->is_untold;
}

bool fors_board_withdraw(struct fors_board *board, struct fors_status *status)
{
	struct fors_schedule *nothing = NULL;

	return !fors_schedule_withdrawn(0, status->reason, &nothing, NULL) &&
	       fors_board_publish(board, nothing, status);
}

void fors_board_keep(struct fors_board *board, char *text, size_t size)
{
	set_sheet(board, SHEET_PLACES, text, size);
	fors_board_retry(board);
}

/* A folder cannot be written, or can again: the other one says so. */
static void watch_trouble(struct fors_board *board)
{
	char text[FORS_OUTBOX_TROUBLE];
	struct fors_status status;

	find_trouble(board, text);
	if (strcmp(text, board->told_trouble) && recall(board, &status))
		amend(board, &status);
}

/* Somebody may have removed files, or all of the folder: what is missing is due again. */
static void look_for_files(struct fors_board *board)
{
	for (int i = 0; i < SHEETS; i++) {
		struct fors_sheet *sheet = &board->sheet[i];

		if (sheet->is_due || fors_publish_has(board->folder, sheet->name))
			continue;
		if (i == SHEET_SCHEDULE && board->schedule &&
		    fors_schedule_encode(board->schedule, &sheet->bytes, &sheet->size, NULL))
			continue; /* memory is short: later */
		sheet->is_due = sheet->bytes != NULL;
	}
	fors_board_retry(board);
}

/*
 * Text "<Unix time in ms> <epoch>"; its loss in a crash is what it is for, so it is not synced. Nobody stands behind
 * what lies in a folder that the newest schedule or status cannot be written to: there the heartbeat stops, too.
 */
void fors_board_beat(struct fors_board *board)
{
	uint64_t now = fors_clock_unix_ms(), last = largest(board->last_epoch, board->jobs_epoch);
	bool is_behind;
	struct fors_error error;
	char text[64];
	int length;

	if (!board->has_status || (now >= board->last_beat && now - board->last_beat < BEAT_MS))
		return;
	board->last_beat = now;
	watch_trouble(board);
	is_behind = board->sheet[SHEET_SCHEDULE].is_due || board->sheet[SHEET_STATUS].is_due;
	if (!is_behind)
		board->counts.beat_ms = (int64_t)now;
	if (fors_epoch_is_scarce(board->reserved, last, now) || !fors_publish_has(board->folder, "epoch"))
		reserve(board, fors_epoch_reserve(last, now));
	if (!write_metrics(board, NULL))
		fors_log_error(board->log, FORS_F_MEMORY, "out of memory: the metrics of before stay");
	look_for_files(board);
	is_behind = board->sheet[SHEET_SCHEDULE].is_due || board->sheet[SHEET_STATUS].is_due;
	length = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 "\n", now, board->last_epoch);
	if (is_behind)
		board->last_beat = 0;
	else if (fors_publish(board->folder, "heartbeat", text, (size_t)length, false, &error)) {
		board->counts.unwritten++;
		complain(board, &error);
	}
	if (board->outbox && !board->sheet[SHEET_SCHEDULE].is_uncopied)
		fors_outbox_put(board->outbox, FORS_OUT_HEARTBEAT, text, (size_t)length, 0);
}
