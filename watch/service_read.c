/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_read.c - what a reading means for what is published.
 *
 *	not whole		nobody knows what holds: withdraw, read again
 *	a way has changed	withdraw at once, whether or not the manager is still at work
 *	as shown		what is published holds; a second after the first reading it is confirmed
 *	at rest, and new	hand it in: the manager sent nothing while it was read, or two readings a second apart are equal
 *	not at rest		read again
 *
 * While Reports come only what is in doubt is read again, and the tables (survey_again.c); everything after what no Report has
 * told of, and once a minute. What is handed in may be planned over for a while, so the ports that it uses are
 * asked for once more meanwhile.
 *
 * A setting that was lost may be sent again for less than a second. So what is new is published after its first quiet
 * reading, and unconfirmed until a reading a second later shows the same.
 */
#include "service_inside.h"

#include <string.h>

#include "daemon/base/clock.h"
#include "core/base/text.h"

#define FIRST_GAP_MS 100.0
#define MOST_GAP_MS 1000.0
#define ALL_MS 60000.0 /* everything is read so often, though nothing seems to have changed */
#define TOLD_MS 5000.0 /* a Report has told of a change that is so young */
#define NO_MANAGER "no subnet manager answers: nobody tends these tables, and nothing is planned over them"

void fors_service_lose(struct fors_service *service, const char *why)
{
	service->is_due = true;
	if (!service->holds)
		return;
	service->holds = false;
	fors_daemon_note_change(service->daemon, why);
}

void fors_service_forget(struct fors_service *service)
{
	fors_used_free(service->used);
	service->used = NULL;
	fors_reading_clear(&service->shown);
	fors_reading_clear(&service->last);
	fors_service_forget_levels(service);
	service->holds = false;
}

/* Not more often than doubles each time, while the manager goes on and nothing comes of it. */
static void wait_longer(struct fors_service *service)
{
	service->gap_ms = service->gap_ms ? 2 * service->gap_ms : FIRST_GAP_MS;
	if (service->gap_ms > MOST_GAP_MS)
		service->gap_ms = MOST_GAP_MS;
	service->not_before_ms = fors_clock_exact_ms() + service->gap_ms;
}

/* The reading is not whole. */
static void fail(struct fors_service *service, const struct fors_error *error)
{
	fors_service_lose(service, "the fabric cannot be read whole");
	service->is_all_due = true;
	if (!service->failures++)
		fors_log_info(&service->log, "not read: %s", error->text);
	if (service->failures == 2)
		fors_service_decline(service, error->text);
	wait_longer(service);
}

/* Is this the fabric at rest? */
static bool is_at_rest(const struct fors_service *service, const struct fors_reading *made)
{
	const struct fors_reading *last = service->last.net ? &service->last : &service->shown;

	if (service->is_told || made->is_doubtful)
		return false;
	return made->is_quiet ||
	       (last->net && made->began_ms - last->ended_ms >= FORS_QUIET_MS && fors_reading_is_equal(last, made));
}

/* An equal reading has come: what it says is newer, when `reading` was made remains. */
static void renew(struct fors_reading *reading, struct fors_reading *made)
{
	struct fors_survey *old = reading->survey;

	reading->survey = made->survey;
	made->survey = old;
}

/* Of equal ones the older: the next one is to be a second away from it, however often is read meanwhile. */
static void keep_last(struct fors_service *service, struct fors_reading *made)
{
	if (service->last.net && fors_reading_is_equal(&service->last, made)) {
		renew(&service->last, made);
		return;
	}
	fors_reading_clear(&service->last);
	service->last = *made;
	*made = (struct fors_reading){.survey = NULL};
}

/* What is known already: at most it is confirmed now. */
static enum fors_err take_same(struct fors_service *service, struct fors_reading *made, struct fors_error *error)
{
	service->is_due = false;
	fors_reading_clear(&service->last); /* it was none to compare with: this one lies between */
	renew(&service->shown, made);
	if (service->is_moving)
		wait_longer(service);
	if (service->is_confirmed || made->began_ms - service->shown.ended_ms < FORS_QUIET_MS)
		return FORS_OK;
	service->is_confirmed = true;
	return fors_service_hand_in(service, error);
}

/* Something new that counts: it is the daemon's now. */
static enum fors_err show(struct fors_service *service, struct fors_reading *made, struct fors_error *error)
{
	enum fors_err err;

	fors_service_forget(service);
	service->shown = *made;
	*made = (struct fors_reading){.survey = NULL};
	err = fors_used_find(service->shown.net, service->shown.lfts, &service->used, error);
	if (err)
		return err;
	service->holds = service->is_check_due = true;
	service->is_due = false;
	service->gap_ms = 0;
	service->is_confirmed =
		!service->shown.is_quiet || service->shown.began_ms - service->moved_ms >= FORS_QUIET_MS;
	fors_log_info(&service->log, "%u %s read, %llu %s in %.0f ms: %s", service->shown.net->nnodes,
		      fors_plural(service->shown.net->nnodes, "node", "nodes"),
		      (unsigned long long)service->shown.asked, fors_plural(service->shown.asked, "packet", "packets"),
		      service->shown.ended_ms - service->shown.began_ms,
		      service->shown.is_quiet ? "the subnet manager sent nothing meanwhile" : "as a second before");
	return fors_service_hand_in(service, error);
}

/* A change of which no Report told: what was taken over may be wrong, and others may be missed as well. */
static void note_untold(struct fors_service *service, struct fors_reading *made)
{
	double now = fors_clock_exact_ms();

	if (made->is_all || now - service->heard_ms <= TOLD_MS)
		return;
	made->is_doubtful = service->is_all_due = true;
	service->wary_ms = now + ALL_MS;
}

static enum fors_err judge(struct fors_service *service, struct fors_reading *made, struct fors_error *error)
{
	const char *change = service->used ? fors_used_change(service->used, made->net, made->lfts) : NULL;

	if (change && service->holds && !strcmp(change, FORS_CABLE_DOWN))
		fors_service_miss(service);
	if (change) {
		fors_service_lose(service, change);
		note_untold(service, made);
	}
	if (service->holds && !made->is_doubtful && fors_reading_is_equal(&service->shown, made))
		return take_same(service, made, error);
	if (!made->sm.is_there && !service->holds)
		fors_service_decline(service, NO_MANAGER);
	if (!made->sm.is_there || !is_at_rest(service, made)) {
		service->is_due = made->sm.is_there;
		keep_last(service, made);
		wait_longer(service);
		return FORS_OK;
	}
	return show(service, made, error);
}

/* May the reading before lend its ports? Once in a while not, unless a schedule is waited for. */
static bool is_trusted(const struct fors_service *service)
{
	return fors_service_hears(service) && !service->is_all_due &&
	       (!service->holds || fors_clock_exact_ms() - service->all_ms < ALL_MS);
}

static enum fors_err make(struct fors_service *service, struct fors_reading *made, struct fors_error *error)
{
	const struct fors_reading *before = service->last.net ? &service->last : &service->shown;
	bool is_all = !is_trusted(service) || !before->survey;
	enum fors_err err;

	service->is_told = false;
	service->ntold = 0;
	if (is_all)
		service->is_all_due = false;
	err = fors_reading_make(service->mads, before->survey ? before : NULL, !is_all, true, made, error);
	if (!err && is_all)
		service->all_ms = made->began_ms;
	for (unsigned i = 0; !err && i < service->ntold; i++)
		fors_survey_mark(made->survey, service->told[i]);
	return err;
}

enum fors_err fors_service_read(struct fors_service *service, struct fors_error *error)
{
	struct fors_reading made = {.survey = NULL};
	enum fors_err err = make(service, &made, error);

	if (!err && made.sm.is_there) {
		if (!made.is_quiet)
			service->moved_ms = made.ended_ms;
		if (fors_sm_is_same(&service->sm, &made.sm))
			service->sm = made.sm; /* another one is for the next poll to find */
	}
	if (!err)
		err = judge(service, &made, error);
	if (!err)
		service->failures = 0;
	else if (err != FORS_ECANCELLED)
		fail(service, error);
	fors_reading_clear(&made);
	return err == FORS_ECANCELLED ? err : FORS_OK;
}

/* ---- the ports that are used, once more ---- */

static bool is_used(void *context, uint64_t guid, unsigned port)
{
	return fors_used_has_port(context, guid, port);
}

enum fors_err fors_service_check(struct fors_service *service, struct fors_error *error)
{
	enum fors_err err;

	if (!service->is_check_due || !service->holds)
		return FORS_OK;
	service->is_checking = true;
	err = fors_survey_check(service->shown.survey, is_used, service->used, service->mads, error);
	service->is_check_due = !service->is_checking && !err; /* it was broken off */
	service->is_checking = false;
	if (err == FORS_ECANCELLED)
		return err;
	if (!err)
		return FORS_OK;
	fors_service_lose(service, "a port that is used is down, or its server has another LID, at publication");
	fors_log_info(&service->log, "withdrawn: %s", error->text);
	return FORS_OK;
}
