/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_mail.c - the mailbox: what any thread hands in, and what the worker takes out.
 *
 * Each thing has room for the newest of it, for an older one is superfluous; what counts something adds up. Whoever
 * hands in waits for nothing but the mutex.
 */
#include "config.h"

#include "worker_inside.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

void fors_mail_open(struct fors_mailbox *box)
{
	pthread_mutex_init(&box->mutex, NULL);
	fors_clock_cond(&box->wake);
	box->sweeps.ended_ms = fors_clock_ms();
}

void fors_mail_close(struct fors_mailbox *box)
{
	fors_look_free(box->look);
	free(box->places);
	fors_namebook_free(box->names.reference);
	free(box->names.forget);
	fors_claim_drop(box->claim);
	pthread_cond_destroy(&box->wake);
	pthread_mutex_destroy(&box->mutex);
}

/* ---- handing in ---- */

/*
 * fors has declined, which is told with all that is known of the fabric; when the sweep is over another look says who
 * routes in its place, and nothing else. Should the first one still wait, it takes that over.
 */
static bool says_who_routes(const struct fors_look *look, const struct fors_look *waiting)
{
	return waiting && waiting->kind == FORS_LOOK_DECLINED && waiting->tree.kind &&
	       look->kind == FORS_LOOK_DECLINED && !look->net && !strcmp(look->reason, waiting->reason);
}

/* A sweep that comes as far as a look has not failed; and where fors declines OpenSM may end it without another word. */
static void note_look(struct fors_mail_sweeps *sweeps, enum fors_look_kind kind)
{
	sweeps->has_failed = false;
	if (kind != FORS_LOOK_DECLINED)
		return;
	sweeps->is_open = false;
	sweeps->ended_ms = fors_clock_ms();
}

void fors_worker_submit(struct fors_worker *worker, struct fors_look *look)
{
	double now = fors_clock_exact_ms();
	struct fors_mailbox *box = &worker->mail;
	struct fors_look *old;

	if (worker->setup.advisor)
		fors_advisor_look(worker->setup.advisor, look);
	pthread_mutex_lock(&box->mutex);
	old = box->look;
	if (says_who_routes(look, old)) {
		memcpy(old->tables_by, look->tables_by, sizeof(old->tables_by));
		old = look;
	} else {
		fors_look_inherit(look, old);
		box->look = look;
	}
	box->sweeps.declines += look->kind == FORS_LOOK_DECLINED;
	note_look(&box->sweeps, look->kind);
	if (look->kind == FORS_LOOK_ROUTED)
		fors_steps_note_filled(&box->steps, look->number, now, look->tables_ms);
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	fors_look_free(old);
}

void fors_worker_note_tables(struct fors_worker *worker, uint64_t number)
{
	struct fors_mailbox *box = &worker->mail;

	pthread_mutex_lock(&box->mutex);
	box->confirmed = number;
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
}

void fors_worker_note_step(struct fors_worker *worker, enum fors_step step, double at)
{
	struct fors_mailbox *box = &worker->mail;

	pthread_mutex_lock(&box->mutex);
	fors_steps_note(&box->steps, step, at);
	pthread_mutex_unlock(&box->mutex);
}

void fors_worker_keep(struct fors_worker *worker, char *text, size_t size)
{
	struct fors_mailbox *box = &worker->mail;
	char *old;

	pthread_mutex_lock(&box->mutex);
	old = box->places;
	box->places = text;
	box->places_size = size;
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
	free(old);
}

void fors_worker_refer(struct fors_worker *worker, struct fors_namebook *names)
{
	struct fors_mailbox *box = &worker->mail;
	struct fors_namebook *old;

	pthread_mutex_lock(&box->mutex);
	old = box->names.reference;
	box->names.reference = names;
	pthread_mutex_unlock(&box->mutex);
	fors_namebook_free(old);
}

void fors_worker_forget_names(struct fors_worker *worker, const uint64_t *guid, size_t count)
{
	struct fors_mailbox *box = &worker->mail;
	uint64_t *more;

	pthread_mutex_lock(&box->mutex);
	more = realloc(box->names.forget, (box->names.nforget + count) * sizeof(*more));
	if (more) {
		memcpy(more + box->names.nforget, guid, count * sizeof(*more));
		box->names.forget = more;
		box->names.nforget += count;
	}
	pthread_mutex_unlock(&box->mutex);
	if (!more)
		fors_log_error(worker->setup.log, FORS_F_MEMORY, "out of memory: nothing is forgotten; ask again");
}

void fors_worker_note_change(struct fors_worker *worker, const char *how)
{
	struct fors_mailbox *box = &worker->mail;

	pthread_mutex_lock(&box->mutex);
	box->changes.count++;
	if (!box->changes.noted_ms) {
		box->changes.noted_ms = fors_clock_exact_ms();
		box->changes.how = how;
	}
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
}

uint64_t fors_worker_changes(struct fors_worker *worker)
{
	struct fors_mailbox *box = &worker->mail;
	uint64_t changes;

	pthread_mutex_lock(&box->mutex);
	changes = box->changes.count;
	pthread_mutex_unlock(&box->mutex);
	return changes;
}

void fors_worker_note_sweep(struct fors_worker *worker, enum fors_sweep sweep)
{
	struct fors_mailbox *box = &worker->mail;
	struct fors_mail_sweeps *sweeps = &box->sweeps;
	bool begins = sweep == FORS_SWEEP_BEGINS, ends = sweep == FORS_SWEEP_ENDS;
	uint64_t now = fors_clock_ms();

	pthread_mutex_lock(&box->mutex);
	sweeps->ended += ends;
	if (ends && sweeps->since)
		sweeps->last_ms = now - sweeps->since;
	sweeps->ended_ms = ends ? now : sweeps->ended_ms;
	sweeps->has_failed = !ends && (sweeps->has_failed || (begins && sweeps->is_open));
	sweeps->is_open = !ends && (sweeps->is_open || begins);
	sweeps->since = begins ? now : 0;
	pthread_mutex_unlock(&box->mutex);
}

void fors_mail_stop(struct fors_mailbox *box)
{
	pthread_mutex_lock(&box->mutex);
	box->stop = true;
	pthread_cond_signal(&box->wake);
	pthread_mutex_unlock(&box->mutex);
}

/* ---- taking out ---- */

static bool has_news(const struct fors_mailbox *box)
{
	return box->look || box->places || box->confirmed || box->changes.noted_ms;
}

bool fors_mail_wait(struct fors_mailbox *box, unsigned tick_ms, struct fors_look **look, bool *is_idle)
{
	uint64_t until = fors_clock_ms() + tick_ms;
	bool go_on;

	pthread_mutex_lock(&box->mutex);
	while (!has_news(box) && !box->stop && fors_clock_ms() < until)
		fors_clock_wait(&box->wake, &box->mutex, until);
	*look = box->look;
	*is_idle = !has_news(box);
	box->look = NULL;
	go_on = !box->stop;
	pthread_mutex_unlock(&box->mutex);
	return go_on;
}

bool fors_mail_overtakes(struct fors_mailbox *box, const struct fors_look *look)
{
	bool is_superfluous;

	pthread_mutex_lock(&box->mutex);
	is_superfluous = box->stop || (box->look && fors_look_overtakes(box->look, look));
	pthread_mutex_unlock(&box->mutex);
	return is_superfluous;
}

bool fors_mail_shows_another(struct fors_mailbox *box, const struct fors_look *look)
{
	const struct fors_look *newest;
	bool is_another;

	pthread_mutex_lock(&box->mutex);
	newest = box->look;
	is_another = box->stop || (newest && fors_look_has_tables(newest) &&
				   fors_look_fingerprint(newest) != fors_look_fingerprint(look));
	pthread_mutex_unlock(&box->mutex);
	return is_another;
}

bool fors_mail_waits(struct fors_mailbox *box)
{
	bool is_so;

	pthread_mutex_lock(&box->mutex);
	is_so = box->confirmed || box->look;
	pthread_mutex_unlock(&box->mutex);
	return is_so;
}

bool fors_mail_confirms(struct fors_mailbox *box, const struct fors_look *look)
{
	bool is_so;

	pthread_mutex_lock(&box->mutex);
	is_so = look && box->confirmed && box->confirmed == look->number && !box->look && !box->stop;
	if (!box->look)
		box->confirmed = 0; /* else the word may be of the look that waits there */
	pthread_mutex_unlock(&box->mutex);
	return is_so;
}

char *fors_mail_take_places(struct fors_mailbox *box, size_t *size)
{
	char *text;

	pthread_mutex_lock(&box->mutex);
	text = box->places;
	*size = box->places_size;
	box->places = NULL;
	pthread_mutex_unlock(&box->mutex);
	return text;
}

struct fors_mail_names fors_mail_take_names(struct fors_mailbox *box)
{
	struct fors_mail_names names;

	pthread_mutex_lock(&box->mutex);
	names = box->names;
	box->names = (struct fors_mail_names){NULL, NULL, 0};
	pthread_mutex_unlock(&box->mutex);
	return names;
}

struct fors_mail_changes fors_mail_take_changes(struct fors_mailbox *box)
{
	struct fors_mail_changes changes;

	pthread_mutex_lock(&box->mutex);
	changes = box->changes;
	box->changes.noted_ms = 0;
	pthread_mutex_unlock(&box->mutex);
	return changes;
}

struct fors_mail_sweeps fors_mail_sweeps(struct fors_mailbox *box)
{
	struct fors_mail_sweeps sweeps;

	pthread_mutex_lock(&box->mutex);
	sweeps = box->sweeps;
	pthread_mutex_unlock(&box->mutex);
	return sweeps;
}

bool fors_mail_steps(struct fors_mailbox *box, uint64_t number, struct fors_steps_of *copy)
{
	const struct fors_steps_of *found;

	pthread_mutex_lock(&box->mutex);
	found = fors_steps_find(&box->steps, number);
	if (found)
		*copy = *found;
	pthread_mutex_unlock(&box->mutex);
	return found;
}

void fors_mail_put_claim(struct fors_mailbox *box, struct fors_claim *claim)
{
	struct fors_claim *old;

	pthread_mutex_lock(&box->mutex);
	old = box->claim;
	box->claim = fors_claim_hold(claim);
	pthread_mutex_unlock(&box->mutex);
	fors_claim_drop(old);
}

struct fors_claim *fors_mail_claim(struct fors_mailbox *box)
{
	struct fors_claim *claim;

	pthread_mutex_lock(&box->mutex);
	claim = fors_claim_hold(box->claim);
	pthread_mutex_unlock(&box->mutex);
	return claim;
}
