/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"

#include "publisher_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/status/history.h"
#include "core/status/status_json.h"
#include "daemon/base/clock.h"
#include "daemon/files/epoch.h"
#include "daemon/base/log.h"

#define BEAT_MS 4000

void fors_publisher_open(struct fors_publisher *publisher, struct fors_log *log, const struct fors_folder *folder,
			 struct fors_copier *copier)
{
	*publisher = (struct fors_publisher){
		.log = log, .folder = folder, .copier = copier, .state = FORS_INACTIVE, .unread = FORS_PUBLISHER_LEFT};
	publisher->sheet[SHEET_PLACES].name = "places";
	publisher->sheet[SHEET_SCHEDULE].name = "schedule";
	publisher->sheet[SHEET_STATUS].name = "status.json";
	publisher->sheet[SHEET_METRICS].name = "metrics.prom";
	publisher->sheet[SHEET_HISTORY].name = "history";
	publisher->counts.version = PACKAGE_VERSION;
	fors_publisher_load(publisher);
}

/* Have epochs up to a number on the disk. False: it cannot be written. */
static bool reserve(struct fors_publisher *publisher, uint64_t epoch)
{
	char text[FORS_RESERVE_LENGTH + 1];
	size_t length = fors_epoch_reserve_text(epoch, text);

	if (fors_publish(publisher->folder, "epoch", text, length, true, NULL))
		return false;
	publisher->reserved = epoch;
	return true;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t fors_publisher_job_epoch(struct fors_publisher *publisher, uint64_t last, bool *is_safe)
{
	uint64_t now = fors_clock_unix_ms(), epoch;

	if (!fors_publisher_load(publisher)) /* what was reserved before */
		return 0;
	epoch = fors_epoch_next(largest(publisher->floor, last ? last : publisher->jobs_epoch), now);
	*is_safe = epoch <= publisher->reserved || reserve(publisher, fors_epoch_reserve(epoch, now));
	publisher->jobs_epoch = largest(publisher->jobs_epoch, epoch);
	publisher->counts.epochs++;
	return epoch;
}

/* Whoever comes next goes on with the epoch after the last one, not after all that was reserved. */
static void give_back_epochs(struct fors_publisher *publisher)
{
	uint64_t last = largest(publisher->last_epoch, publisher->jobs_epoch);

	if (publisher->reserved > last)
		reserve(publisher, largest(last, publisher->floor));
}

void fors_publisher_close(struct fors_publisher *publisher)
{
	fors_publisher_sync(publisher);
	give_back_epochs(publisher);
	for (size_t i = 0; i < sizeof(publisher->sheet) / sizeof(publisher->sheet[0]); i++)
		free(publisher->sheet[i].bytes);
	free(publisher->json);
	free(publisher->told);
	free(publisher->facts);
	if (publisher->left)
		fors_status_clear(publisher->left);
	free(publisher->left);
	fors_schedule_free(publisher->schedule);
}

bool fors_publisher_has_plan(const struct fors_publisher *publisher)
{
	return publisher->schedule && publisher->schedule->nphases > 0;
}

/* The copier hears of what is new: files, or who may be copied over. Who has published nothing yet has nothing to say. */
static void tell_copier(struct fors_publisher *publisher)
{
	struct fors_copier_order order;

	if (!publisher->copier || !publisher->has_status)
		return;
	memset(&order, 0, sizeof(order)); /* padding, too: it is compared */
	order.epoch = publisher->last_epoch;
	order.publication = publisher->publications;
	snprintf(order.status, sizeof(order.status), "%s", fors_state_name(publisher->state));
	order.is_guest = publisher->is_guest;
	order.is_reserved = publisher->last_epoch <= publisher->reserved;
	order.is_unwritten = publisher->sheet[SHEET_SCHEDULE].is_due || publisher->unwritten_jobs;
	order.may_tidy = publisher->may_tidy;
	if (publisher->is_new || memcmp(&order, &publisher->order, sizeof(order)) != 0)
		fors_copier_tell(publisher->copier, &order);
	else
		fors_copier_tend(publisher->copier);
	publisher->order = order;
	publisher->is_new = false;
}

/* Replace what is to be written to a file; takes the bytes. */
static void set_sheet(struct fors_publisher *publisher, int which, void *bytes, size_t size)
{
	free(publisher->sheet[which].bytes);
	publisher->sheet[which].bytes = bytes;
	publisher->sheet[which].size = size;
	publisher->sheet[which].is_due = true;
}

/* What is written is kept, should somebody remove the file; but the schedule, which is large, can be made anew. */
static void finish_sheet(struct fors_publisher *publisher, int which)
{
	if (publisher->sheet[which].is_due)
		publisher->sheet[which].is_loose = which != SHEET_PLACES && which != SHEET_METRICS;
	publisher->sheet[which].is_due = false;
	publisher->is_new = true;
	if (which != SHEET_SCHEDULE)
		return;
	free(publisher->sheet[which].bytes);
	publisher->sheet[which].bytes = NULL;
}

/* Say it once when writing begins to fail, and once when it works again. */
static void complain(struct fors_publisher *publisher, const struct fors_error *error)
{
	if (error && !publisher->has_complained)
		fors_log_error(publisher->log, error->code == FORS_EINPUT ? FORS_F_FOLDER : FORS_F_PUBLISH,
			       "%s (routes are not affected)", error->text);
	if (!error && publisher->has_complained)
		fors_log_info(publisher->log, "the state folder can be written again");
	if (error && !publisher->has_complained)
		snprintf(publisher->trouble, sizeof(publisher->trouble), "%.255s", error->text);
	if (!error)
		publisher->trouble[0] = '\0';
	publisher->has_complained = error;
}

static void write_due(struct fors_publisher *publisher)
{
	bool wrote = false, has_failed = false;
	struct fors_error error;

	for (size_t i = 0; i < sizeof(publisher->sheet) / sizeof(publisher->sheet[0]); i++) {
		struct fors_sheet *sheet = &publisher->sheet[i];

		if (!sheet->is_due)
			continue;
		if (fors_publish(publisher->folder, sheet->name, sheet->bytes, sheet->size, i == SHEET_PLACES,
				 &error)) {
			publisher->counts.unwritten++;
			complain(publisher, &error);
			has_failed = true;
			if (i == SHEET_PLACES)
				continue; /* a schedule to be withdrawn does not wait for them */
			return;
		}
		finish_sheet(publisher, (int)i);
		wrote = true;
	}
	if (wrote && !has_failed)
		complain(publisher, NULL);
}

void fors_publisher_sync(struct fors_publisher *publisher)
{
	struct fors_error error;

	for (size_t i = 0; i < sizeof(publisher->sheet) / sizeof(publisher->sheet[0]); i++) {
		struct fors_sheet *sheet = &publisher->sheet[i];

		if (!sheet->is_loose || sheet->is_due)
			continue;
		if (fors_publish_sync(publisher->folder, sheet->name, &error)) {
			complain(publisher, &error);
			return;
		}
		sheet->is_loose = false;
	}
}

void fors_publisher_retry(struct fors_publisher *publisher)
{
	write_due(publisher);
	publisher->publications += publisher->is_unannounced;
	publisher->is_unannounced = false;
	tell_copier(publisher);
}

bool fors_publisher_is_seen(const struct fors_publisher *publisher)
{
	return !publisher->sheet[SHEET_SCHEDULE].is_due;
}

bool fors_publisher_is_same(const struct fors_schedule *a, const struct fors_schedule *b)
{
	void *bytes = NULL, *others = NULL;
	size_t size, other_size;
	bool same;

	if (a->nphases != b->nphases || a->fingerprint != b->fingerprint)
		return false;
	same = !fors_schedule_encode(a, &bytes, &size, NULL) && !fors_schedule_encode(b, &others, &other_size, NULL) &&
	       size == other_size && !memcmp(bytes, others, size);
	free(bytes);
	free(others);
	return same;
}

/* Is `schedule`, but for its epoch, what is published already? */
static bool is_published(const struct fors_publisher *publisher, struct fors_schedule *schedule)
{
	/* Another SM may have published a later epoch while we were away: what we inherited gets one later still. */
	if (!publisher->schedule || publisher->is_inherited)
		return false;
	schedule->epoch = publisher->schedule->epoch;
	return fors_publisher_is_same(schedule, publisher->schedule);
}

/*
 * Readers see the schedule before anything else is done. Its epoch is reserved; should that have failed, the disk has the
 * schedule itself before readers have. What fails here is tried again with the other files, and logged then.
 */
static void show_schedule(struct fors_publisher *publisher)
{
	const struct fors_sheet *sheet = &publisher->sheet[SHEET_SCHEDULE];
	bool is_reserved = publisher->last_epoch <= publisher->reserved;

	publisher->seen_ms = 0;
	if (fors_publish(publisher->folder, sheet->name, sheet->bytes, sheet->size, !is_reserved, NULL))
		return;
	publisher->seen_ms = fors_clock_exact_ms();
	finish_sheet(publisher, SHEET_SCHEDULE);
	tell_copier(publisher);
}

/* The next epoch is this one: it is reserved before anybody can see it, here or in publish_dir. */
static void take_epoch(struct fors_publisher *publisher, uint64_t epoch)
{
	if (epoch > publisher->reserved)
		reserve(publisher, fors_epoch_reserve(epoch, fors_clock_unix_ms()));
	publisher->last_epoch = epoch;
}

/* Give a schedule the next epoch and put it on its sheet. False: out of memory. */
static bool number_schedule(struct fors_publisher *publisher, struct fors_schedule *schedule)
{
	uint64_t last = largest(publisher->last_epoch, publisher->floor);
	void *bytes;
	size_t size;

	schedule->epoch = fors_epoch_next(last, fors_clock_unix_ms());
	if (fors_schedule_encode(schedule, &bytes, &size, NULL))
		return false;
	take_epoch(publisher, schedule->epoch);
	set_sheet(publisher, SHEET_SCHEDULE, bytes, size);
	show_schedule(publisher);
	publisher->is_inherited = false;
	publisher->is_numbered = true;
	publisher->counts.epochs++;
	publisher->last_beat = 0; /* which names the epoch */
	return true;
}

/* False: out of memory. */
static bool take_schedule(struct fors_publisher *publisher, struct fors_schedule *schedule)
{
	if (is_published(publisher, schedule)) {
		fors_schedule_free(schedule);
		return true;
	}
	if (!number_schedule(publisher, schedule)) {
		fors_schedule_free(schedule);
		return false;
	}
	fors_schedule_free(publisher->schedule);
	publisher->schedule = schedule;
	return true;
}

static const char *fabric_name(const struct fors_publisher *publisher)
{
	return *publisher->fabric_name ? publisher->fabric_name : publisher->folder->name;
}

/* metrics.prom: what is counted, behind the facts (NULL: those of before, if any). False: out of memory. */
static bool write_metrics(struct fors_publisher *publisher, const char *facts)
{
	char *counted, *whole;
	int length;

	facts = facts ? facts : publisher->facts;
	if (publisher->copier) {
		struct fors_copier_report report;

		fors_copier_read(publisher->copier, &report);
		publisher->counts.uncopied = report.failures;
	}
	if (!facts || fors_counts_prom(&publisher->counts, fabric_name(publisher), &counted, NULL))
		return !facts;
	length = asprintf(&whole, "%s%s", facts, counted);
	free(counted);
	if (length < 0)
		return false;
	set_sheet(publisher, SHEET_METRICS, whole, (size_t)length);
	return true;
}

/* What becomes of a status: texts, owned. */
struct texts {
	char *json, *copy, *facts;
};

/* False: out of memory. */
static bool make_texts(const struct fors_publisher *publisher, const struct fors_status *status, struct texts *texts)
{
	return !fors_status_json(status, &texts->json, NULL) && (texts->copy = strdup(texts->json)) &&
	       !fors_status_prom(status, fabric_name(publisher), &texts->facts, NULL);
}

/* False: out of memory. */
static bool take_status(struct fors_publisher *publisher, const struct fors_status *status)
{
	struct texts texts = {0};

	if (!make_texts(publisher, status, &texts) || !write_metrics(publisher, texts.facts)) {
		free(texts.json);
		free(texts.copy);
		free(texts.facts);
		return false;
	}
	free(publisher->json);
	free(publisher->facts);
	publisher->json = texts.copy;
	publisher->facts = texts.facts;
	set_sheet(publisher, SHEET_STATUS, texts.json, strlen(texts.json));
	publisher->has_status = true;
	publisher->state = status->state;
	memcpy(publisher->reason, status->reason, sizeof(publisher->reason));
	return true;
}

/* The same for people who read OpenSM's log, which also is there when the folder is not. */
static void log_status(const struct fors_publisher *publisher, const struct fors_status *status)
{
	char reduction[FORS_REDUCTION];

	if (status->state == FORS_ACTIVE && fors_status_is_foreign(status))
		fors_log_info(publisher->log,
			      "active: epoch %" PRId64 ", %" PRId64 " phases (bound of these tables %" PRId64
			      ") by method %s, over the tables of '%s'; planned in %.2f ms",
			      status->epoch, status->phases, status->lower_bound, status->method, status->tables_by,
			      status->plan_ms);
	else if (status->jobs.is_known)
		fors_log_info(publisher->log, "%s: %s (%zu with a schedule, %zu withdrawn, %zu without one)",
			      fors_state_name(status->state), status->reason,
			      fors_jobstats_in(&status->jobs, FORS_JOB_IS_PLANNED),
			      fors_jobstats_in(&status->jobs, FORS_JOB_IS_WITHDRAWN),
			      fors_jobstats_in(&status->jobs, FORS_JOB_HAS_NONE));
	else if (status->state == FORS_ACTIVE)
		fors_log_info(publisher->log,
			      "active: epoch %" PRId64 ", %" PRId64 " phases (lower bound %" PRId64
			      ") by method %s, %s; planned in %.2f ms",
			      status->epoch, status->phases, status->lower_bound, status->method,
			      fors_status_reduction(status, reduction, sizeof(reduction)), status->plan_ms);
	else
		fors_log_info(publisher->log, "%s: %s", fors_state_name(status->state), status->reason);
}

/* The status comes with a new epoch: one more in the history. When memory is short the next one tells of both. */
static void note_epoch(struct fors_publisher *publisher, const struct fors_status *status)
{
	struct fors_status before;
	struct fors_event event;
	enum fors_err err =
		publisher->told ? fors_status_parse(publisher->told, "status.json", &before, NULL) : FORS_EINPUT;
	char *told = strdup(publisher->json), *text;

	fors_event_tell(!err ? &before : NULL, status, &event);
	event.unix_ms = fors_clock_unix_ms();
	if (!err)
		fors_status_clear(&before);
	if (!told || err == FORS_ENOMEM ||
	    fors_history_add(publisher->sheet[SHEET_HISTORY].bytes, &event, &text, NULL)) {
		fors_log_error(publisher->log, FORS_F_MEMORY,
			       "out of memory: the history tells of this epoch with the next one");
		free(told);
		return;
	}
	set_sheet(publisher, SHEET_HISTORY, text, strlen(text));
	free(publisher->told);
	publisher->told = told;
	publisher->is_numbered = false;
}

/* The schedule that ends a failover has its epoch; whether readers see it yet is known, too. */
static void tell_failover(const struct fors_publisher *publisher, struct fors_status *status)
{
	if (publisher->seen_ms <= 0)
		return; /* it could not be written */
	status->failover.epoch = (int64_t)publisher->last_epoch;
	status->failover.ms[FORS_STEP_PUBLISHED] = publisher->seen_ms - publisher->failover_ms;
}

/* Since when the state is what it is. An opensm that started again and is active as the one before has not made it so. */
static void date_state(struct fors_publisher *publisher, enum fors_state state)
{
	if (!publisher->since || publisher->state != state)
		publisher->since = fors_clock_unix_ms();
	if (publisher->left_since && state == FORS_ACTIVE && publisher->left_since < publisher->since)
		publisher->since = publisher->left_since;
	if (state != FORS_PLANNING)
		publisher->left_since = 0;
}

/*
 * What was dead when an opensm ended, and is dead for the one after it, has been so all the time. What is alive now is no
 * longer `left` as dead.
 */
static void date_dead(struct fors_publisher *publisher, struct fors_status *status)
{
	if (publisher->left && status->leaves >= 0)
		fors_links_inherit(&status->dead_links, &publisher->left->dead_links);
}

static void find_trouble(const struct fors_publisher *publisher, char text[FORS_COPIER_TROUBLE])
{
	struct fors_copier_report report = {.seen = 0};

	if (!*publisher->trouble && publisher->copier)
		fors_copier_read(publisher->copier, &report);
	memcpy(text, *publisher->trouble ? publisher->trouble : report.trouble, FORS_COPIER_TROUBLE);
}

/* The first remark says which folder cannot be written, if any; what the status said of that before is gone. */
static void tell_trouble(struct fors_publisher *publisher, struct fors_status *status)
{
	const struct fors_warnings before = status->warnings;
	unsigned kept = fors_warnings_kept(&before);

	find_trouble(publisher, publisher->told_trouble);
	status->warnings = (struct fors_warnings){.count = 0};
	if (*publisher->told_trouble)
		fors_warn(&status->warnings, FORS_REMARK_UNWRITTEN "%s", publisher->told_trouble);
	for (unsigned i = 0; i < kept; i++)
		if (strncmp(before.text[i], FORS_REMARK_UNWRITTEN, strlen(FORS_REMARK_UNWRITTEN)))
			fors_warn(&status->warnings, "%s", before.text[i]);
	status->warnings.count += before.count - kept;
}

bool fors_publisher_publish(struct fors_publisher *publisher, struct fors_schedule *schedule,
			    struct fors_status *status)
{
	char reason[sizeof(status->reason)];
	uint64_t last = publisher->last_epoch;

	memcpy(reason, status->reason, sizeof(reason));
	if (!fors_publisher_load(publisher)) { /* whose epochs the next one has to exceed */
		fors_schedule_free(schedule);
		return false;
	}
	if (schedule && !take_schedule(publisher, schedule))
		return false;
	if (publisher->failover_ms > 0 && last != publisher->last_epoch)
		tell_failover(publisher, status);
	if (publisher->schedule)
		fors_status_schedule(status, publisher->schedule);
	memcpy(status->reason, reason, sizeof(reason));
	date_state(publisher, status->state);
	date_dead(publisher, status);
	status->state_since_ms = (int64_t)publisher->since;
	tell_trouble(publisher, status);
	if (!take_status(publisher, status))
		return false;
	log_status(publisher, status);
	if (publisher->is_numbered)
		note_epoch(publisher, status);
	publisher->is_unannounced = publisher->copier;
	if (!publisher->is_hasty)
		fors_publisher_retry(publisher); /* the command finds it in the state folder */
	return true;
}

/* The status as it was published last. False: there is none, or no memory. */
static bool recall(const struct fors_publisher *publisher, struct fors_status *status)
{
	return publisher->json && !fors_status_parse(publisher->json, "status.json", status, NULL);
}

bool fors_publisher_recall(const struct fors_publisher *publisher, struct fors_status *status)
{
	char *text;
	enum fors_err err;

	if (publisher->json)
		return recall(publisher, status);
	if (!publisher->left || publisher->left->known_until_ms < 0 || fors_status_json(publisher->left, &text, NULL))
		return false;
	err = fors_status_parse(text, "status.json", status, NULL);
	free(text);
	return !err;
}

/* Write the status, which says a little more than before. False: out of memory. */
static bool amend(struct fors_publisher *publisher, struct fors_status *status)
{
	bool is_done;

	tell_trouble(publisher, status);
	is_done = take_status(publisher, status);

	fors_status_clear(status);
	fors_publisher_retry(publisher);
	return is_done;
}

bool fors_publisher_advise(struct fors_publisher *publisher, const struct fors_gains *gains)
{
	struct fors_status status;

	if (!recall(publisher, &status))
		return false;
	status.repairs = *gains;
	status.phases_alone = gains->alone ? gains->alone : FORS_UNKNOWN;
	return amend(publisher, &status);
}

bool fors_publisher_route(struct fors_publisher *publisher, const char *tables_by)
{
	struct fors_status status;

	if (!recall(publisher, &status))
		return false;
	snprintf(status.tables_by, sizeof(status.tables_by), "%s", tables_by);
	return amend(publisher, &status);
}

bool fors_publisher_measure(struct fors_publisher *publisher, const struct fors_failover *failover)
{
	struct fors_status status;

	if (!recall(publisher, &status))
		return false;
	status.failover = *failover;
	return amend(publisher, &status);
}

/* Renumber what is published above this epoch, unless it is. False: out of memory, and all is as it was. */
static bool renumber(struct fors_publisher *publisher, uint64_t epoch)
{
	uint64_t before = publisher->schedule->epoch, last = publisher->last_epoch;

	if (epoch <= last)
		return true;
	publisher->last_epoch = epoch;
	if (number_schedule(publisher, publisher->schedule))
		return true;
	publisher->schedule->epoch = before;
	publisher->last_epoch = last;
	return false;
}

bool fors_publisher_exceed(struct fors_publisher *publisher, uint64_t epoch)
{
	struct fors_status status;

	if (epoch <= publisher->last_epoch && !publisher->is_untold)
		return true;
	if (!publisher->schedule || !publisher->json ||
	    fors_status_parse(publisher->json, "status.json", &status, NULL))
		return false;
	publisher->is_untold = !renumber(publisher, epoch) || !fors_publisher_publish(publisher, NULL, &status);
	fors_status_clear(&status);
	return !publisher->is_untold;
}

bool fors_publisher_withdraw(struct fors_publisher *publisher, struct fors_status *status)
{
	struct fors_schedule *nothing = NULL;

	return !fors_schedule_withdrawn(0, status->reason, &nothing, NULL) &&
	       fors_publisher_publish(publisher, nothing, status);
}

void fors_publisher_keep(struct fors_publisher *publisher, char *text, size_t size)
{
	set_sheet(publisher, SHEET_PLACES, text, size);
	fors_publisher_retry(publisher);
}

/* A folder cannot be written, or can again: the other one says so. */
static void watch_trouble(struct fors_publisher *publisher)
{
	char text[FORS_COPIER_TROUBLE];
	struct fors_status status;

	find_trouble(publisher, text);
	if (strcmp(text, publisher->told_trouble) && recall(publisher, &status))
		amend(publisher, &status);
}

/* Somebody may have removed files, or all of the folder: what is missing is due again. */
static void look_for_files(struct fors_publisher *publisher)
{
	for (int i = 0; i < SHEETS; i++) {
		struct fors_sheet *sheet = &publisher->sheet[i];

		if (sheet->is_due || fors_publish_has(publisher->folder, sheet->name))
			continue;
		if (i == SHEET_SCHEDULE && publisher->schedule &&
		    fors_schedule_encode(publisher->schedule, &sheet->bytes, &sheet->size, NULL))
			continue; /* memory is short: later */
		sheet->is_due = sheet->bytes != NULL;
	}
	fors_publisher_retry(publisher);
}

/*
 * Text "<Unix time in ms> <epoch>"; its loss in a crash is what it is for, so it is not synced. Nobody stands behind
 * what lies in a folder that the newest schedule or status cannot be written to: there the heartbeat stops, too.
 */
void fors_publisher_beat(struct fors_publisher *publisher)
{
	uint64_t now = fors_clock_unix_ms(), last = largest(publisher->last_epoch, publisher->jobs_epoch);
	bool is_behind;
	struct fors_error error;
	char text[64];
	int length;

	if (!publisher->has_status || (now >= publisher->last_beat && now - publisher->last_beat < BEAT_MS))
		return;
	publisher->last_beat = now;
	watch_trouble(publisher);
	is_behind = publisher->sheet[SHEET_SCHEDULE].is_due || publisher->sheet[SHEET_STATUS].is_due;
	if (!is_behind)
		publisher->counts.beat_ms = (int64_t)now;
	if (fors_epoch_is_scarce(publisher->reserved, last, now) || !fors_publish_has(publisher->folder, "epoch"))
		reserve(publisher, fors_epoch_reserve(last, now));
	if (!write_metrics(publisher, NULL))
		fors_log_error(publisher->log, FORS_F_MEMORY, "out of memory: the metrics of before stay");
	look_for_files(publisher);
	is_behind = publisher->sheet[SHEET_SCHEDULE].is_due || publisher->sheet[SHEET_STATUS].is_due;
	length = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 "\n", now, publisher->last_epoch);
	if (is_behind)
		publisher->last_beat = 0;
	else if (fors_publish(publisher->folder, "heartbeat", text, (size_t)length, false, &error)) {
		publisher->counts.unwritten++;
		complain(publisher, &error);
	}
	publisher->is_new = true;
	tell_copier(publisher);
}
