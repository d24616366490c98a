/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.c - the rounds of `fors watch`. Ten times a second the subnet manager is asked for its count, and each switch once in
 * ten seconds whether ports of it have changed. If either says that something goes on the fabric is read (service_read.c).
 *
 *	the count has risen	the manager has answered somebody else, or sent a setting: read, if something is published;
 *				else wait until it rests
 *	no answer for 0.2 s	all switches are asked, and so each time from now on before the manager is: it would not tell of a
 *				change; nothing is read as long as they all say that nothing has changed
 *	no answer for 3 s	the heartbeat stops, since nobody repairs failures
 *	another manager, a	all may be another: read
 *	restart
 */
#include "service_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "notify.h"
#include "wire.h"
#include "bytes.h"

#define ROUND_MS 100.0
#define DOZE_MS 500.0	 /* a round when Reports tell of changes */
#define RESTLESS_MS 20.0 /* a round while a reading waits for the manager's rest */
#define MOST_MOVING_MS 5000.0
#define LOST_MS 3000.0
#define ANSWER_MS 200.0	    /* for the manager to answer, before switches are asked; and for them */
#define PATIENCE_MS 400.0   /* for it after that */
#define EXPIRY_MS 10.0	    /* before a question would be sent again */
#define STANDBY_MS 10000.0  /* between polls while another one publishes */
#define HELD_MS 500.0	    /* between looks whether it still does */
#define MEANWHILE_MS 1000.0 /* between polls while the fabric is read */
#define TURN_MS 10000.0	    /* all switches are asked once */
#define TURN_WARY_MS 1000.0
#define BLIND_MS 2000.0 /* between readings beside a manager that does not count */

/* ---- for the daemon ---- */

static void write_line(void *context, bool is_error, const char *line)
{
	(void)context;
	(void)is_error;
	fprintf(stderr, "fors watch: %s\n", line);
}

static void feed_watchdog(struct fors_service *service)
{
	double now = service->watchdog_ms ? fors_clock_exact_ms() : 0;

	if (!service->watchdog_ms || now - service->fed_ms < service->watchdog_ms / 4.0)
		return;
	fors_notify("WATCHDOG=1");
	service->fed_ms = now;
}

static void tell_attended(struct fors_service *service)
{
	bool is_lost = service->lost_ms && fors_clock_exact_ms() - service->lost_ms >= LOST_MS;

	if (is_lost == service->is_unattended)
		return;
	service->is_unattended = is_lost;
	fors_daemon_note_attended(service->daemon, !is_lost);
	fors_log_info(&service->log,
		      is_lost ? "no subnet manager answers: failures are not repaired, the heartbeat stops"
			      : "a subnet manager answers; the heartbeat goes on");
}

/* An answer to a poll within a reading says no more than that the manager is there. */
static void take_poll(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_service *service = context;

	(void)tag;
	if (end == FORS_MAD_ANSWERED && (mad->data[20] & 15) == FORS_SM_MASTER)
		service->lost_ms = 0;
	else if (!service->lost_ms)
		service->lost_ms = service->polled_ms;
}

/* A reading may take seconds, where nodes do not answer or the fabric is large. */
static void poll_meanwhile(struct fors_service *service)
{
	uint16_t lid = fors_mads_port(service->mads)->sm_lid;
	double now = fors_clock_exact_ms();

	if (!service->is_reading || !lid || now - service->polled_ms < MEANWHILE_MS)
		return;
	service->polled_ms = now;
	tell_attended(service);
	fors_mads_get_soon(service->mads, lid, FORS_ATTR_SM_INFO, 0, take_poll, service, 0);
}

/*
 * Asked by the port's window: is it to stop, or is what is asked just now too late? A reading of many neighbours that do not
 * answer takes longer than the watchdog's span, so it is told here, and the manager is asked.
 */
static bool is_stopped(void *context)
{
	struct fors_service *service = context;
	const struct fors_mads_setup *setup = &service->setup->mads;

	feed_watchdog(service);
	poll_meanwhile(service);
	return setup->is_stopped(setup->context) ||
	       (service->deadline_ms > 0 && fors_clock_exact_ms() >= service->deadline_ms);
}

static enum fors_mastership mastership(void *context)
{
	(void)context;
	return FORS_MASTER_YES;
}

static void sweep(void *context)
{
	struct fors_service *service = context;

	__atomic_store_n(&service->wants_look, true, __ATOMIC_RELEASE);
}

/* ---- the subnet manager ---- */

static void tell_manager(struct fors_service *service, const struct fors_sm *now)
{
	if (!service->sm.is_there)
		fors_log_info(&service->log, "subnet manager 0x%016" PRIx64 ", LID %u", now->guid,
			      fors_mads_port(service->mads)->sm_lid);
	else if (service->sm.guid != now->guid)
		fors_log_info(&service->log, "another subnet manager: 0x%016" PRIx64 ", LID %u", now->guid,
			      fors_mads_port(service->mads)->sm_lid);
	else
		fors_log_info(&service->log, "the subnet manager has started again");
}

/* The manager rests: whoever waited for that need not wait any longer. */
static void note_rest(struct fors_service *service, double now)
{
	service->rested_ms = now;
	if (service->failures)
		return;
	service->gap_ms = 0;
	service->not_before_ms = 0;
}

static void note_answer(struct fors_service *service, const struct fors_sm *now)
{
	uint32_t rise = fors_sm_rise(&service->sm, now, 1);
	bool is_same = fors_sm_is_same(&service->sm, now), is_blind = is_same && rise == UINT32_MAX;

	if (!is_same) {
		tell_manager(service, now);
		fors_service_forget_levels(service);
		service->subscribe_ms = 0;
		service->is_all_due = true;
		service->is_confirmed = false; /* perhaps the same tables, but not the same service levels */
	}
	service->is_moving = !is_same || (rise && !is_blind);
	if (service->is_moving)
		service->moved_ms = now->at_ms;
	else if (!is_blind)
		note_rest(service, now->at_ms);
	if (service->is_moving || (is_blind && now->at_ms - service->moved_ms >= BLIND_MS))
		service->is_due = true;
	if (is_blind && service->is_due)
		service->moved_ms = now->at_ms;
	service->sm = *now;
	service->lost_ms = 0;
}

/* Ask what is queued, for so long: what is not answered by then is no error, and not out any more when something else is asked. */
static enum fors_err run_for(struct fors_service *service, double most_ms, struct fors_error *error)
{
	const struct fors_mads_setup *setup = &service->setup->mads;
	double until = fors_clock_exact_ms() + most_ms;
	enum fors_err err;

	service->deadline_ms = until - EXPIRY_MS;
	err = fors_mads_run(service->mads, error);
	service->deadline_ms = 0;
	if (err != FORS_ECANCELLED || setup->is_stopped(setup->context))
		return err;
	return fors_mads_wait(service->mads, until, error);
}

static enum fors_err ask_manager(struct fors_service *service, double most_ms, struct fors_sm *now,
				 struct fors_error *error)
{
	enum fors_err err = fors_sm_queue(service->mads, now, error);

	return err ? err : run_for(service, most_ms, error);
}

/* What the switches say while the manager says nothing. */
struct silence {
	struct fors_service *service;
	uint32_t answers;
};

static void take_silent(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct silence *silence = context;
	struct fors_service *service = silence->service;

	silence->answers += end == FORS_MAD_ANSWERED;
	if (end != FORS_MAD_ANSWERED || !(mad->data[11] & 0x04))
		return;
	if (service->nreported < MOST_REPORTED)
		service->reported[service->nreported++] = (uint32_t)tag;
	else
		service->is_due = service->is_all_due = true;
}

/* How long it takes to ask so many, at the rate that is allowed. */
static double time_for(const struct fors_service *service, uint32_t count)
{
	return ANSWER_MS + (service->mads_setup.rate ? 2e3 * count / service->mads_setup.rate : 0);
}

/*
 * Nobody says that a cable of the schedule is down, so all switches are asked whether ports of theirs have changed, all at a time: one that
 * is dead keeps no other one waiting. The ports of those who say so are looked at as after a Report.
 */
static enum fors_err ask_switches(struct fors_service *service, struct fors_error *error)
{
	struct silence silence = {.service = service};
	const struct fors_survey *survey = service->shown.survey;
	enum fors_err err = FORS_OK;

	if (!service->holds || !service->is_holder)
		return FORS_OK;
	for (uint32_t i = 0; !err && i < survey->nnodes; i++)
		if (survey->node[i].type == FORS_SWITCH)
			err = fors_mads_get(service->mads, &survey->node[i].way, FORS_ATTR_SWITCH_INFO, 0, take_silent,
					    &silence, i);
	if (err)
		return fors_fail_memory(error);
	err = run_for(service, time_for(service, survey->nswitches), error);
	if (silence.answers < survey->nswitches)
		service->is_due = service->is_all_due = true;
	service->is_silent = true;
	err = err ? err : fors_service_heed(service, error);
	service->is_silent = false;
	return err;
}

static enum fors_err watch_manager(struct fors_service *service, struct fors_error *error)
{
	double asked_ms = fors_clock_exact_ms();
	struct fors_sm now = {.is_there = false};
	enum fors_err err = service->lost_ms ? FORS_OK : ask_manager(service, ANSWER_MS, &now, error);

	if (!err && !now.is_there)
		err = ask_switches(service, error);
	if (!err && !now.is_there)
		err = ask_manager(service, PATIENCE_MS, &now, error);
	service->polled_ms = asked_ms;
	if (err)
		return err;
	if (now.is_there)
		note_answer(service, &now);
	else if (!service->lost_ms)
		service->lost_ms = asked_ms;
	tell_attended(service);
	return now.is_there ? FORS_OK : fors_sm_find(service->mads, error);
}

/* ---- switches in turn ---- */

struct turn {
	struct fors_service *service;
	struct fors_survey *survey;
};

static void take_switch(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct turn *turn = context;
	struct fors_seen_node *seen = &turn->survey->node[tag];
	bool has_changed = end == FORS_MAD_ANSWERED && mad->data[11] & 0x04;

	if (end != FORS_MAD_ANSWERED)
		turn->service->is_all_due = true;
	if (end != FORS_MAD_ANSWERED || (has_changed && !seen->has_changed))
		turn->service->is_due = true;
	seen->has_changed = has_changed;
}

/* Has a switch whose ports have changed, and whose manager does not mind, changed again? */
static enum fors_err look_at_ports(struct fors_service *service, struct fors_survey *survey, uint32_t node,
				   struct fors_error *error)
{
	const struct fors_seen_node *seen = &survey->node[node];
	uint8_t before[256];
	enum fors_err err;

	for (unsigned p = 1; p <= seen->nports; p++)
		before[p] = seen->port[p].state;
	err = fors_survey_ports(survey, node, service->mads, error);
	for (unsigned p = 1; !err && p <= seen->nports; p++)
		service->is_due |= before[p] != seen->port[p].state;
	service->is_due |= err != FORS_OK;
	return err == FORS_ECANCELLED ? err : FORS_OK;
}

static enum fors_err ask_switch(struct fors_service *service, struct fors_survey *survey, uint32_t node,
				struct fors_error *error)
{
	struct turn turn = {service, survey};
	struct fors_seen_node *seen = &survey->node[node];
	bool was_changed = seen->has_changed;
	enum fors_err err;

	if (fors_mads_get(service->mads, &seen->way, FORS_ATTR_SWITCH_INFO, 0, take_switch, &turn, node))
		return fors_fail_memory(error);
	err = fors_mads_run(service->mads, error);
	return err || !was_changed || !seen->has_changed ? err : look_at_ports(service, survey, node, error);
}

/* As many switches as their time has come; but those that do not answer do not keep the manager's poll waiting. */
static enum fors_err take_turns(struct fors_service *service, struct fors_error *error)
{
	struct fors_survey *survey = service->last.survey ? service->last.survey : service->shown.survey;
	double now = fors_clock_exact_ms(), all = now < service->wary_ms ? TURN_WARY_MS : TURN_MS;
	enum fors_err err = FORS_OK;

	if (fors_service_may_doze(service) || service->lost_ms)
		service->turns_ms = now; /* they will say so, or have been asked */
	if (now - service->turns_ms > all)
		service->turns_ms = now - all; /* what was missed is not asked twice */
	while (!err && survey && survey->nswitches && service->turns_ms + all / survey->nswitches <= now &&
	       fors_clock_exact_ms() - now < ROUND_MS) {
		do
			service->turn = service->turn + 1 < survey->nnodes ? service->turn + 1 : 0;
		while (survey->node[service->turn].type != FORS_SWITCH);
		service->turns_ms += all / survey->nswitches;
		err = ask_switch(service, survey, service->turn, error);
	}
	return err;
}

/* ---- rounds ---- */

/* A reading is due; but while nothing is published that could be wrong, and the manager is at work, there is time. */
static bool is_time_to_read(struct fors_service *service)
{
	double now = fors_clock_exact_ms();

	if (now < service->not_before_ms)
		return false;
	if (service->shown.net && service->holds && !service->is_confirmed &&
	    now - service->shown.ended_ms > FORS_QUIET_MS)
		return true;
	if (!service->is_due || (service->lost_ms && service->holds && !service->is_all_due))
		return false;
	return service->holds || !service->is_moving || now - service->moved_ms >= FORS_QUIET_MS;
}

static enum fors_err reload(struct fors_service *service, struct fors_error *error)
{
	bool is_asked = service->setup->is_reload && service->setup->is_reload(service->setup->context);

	is_asked |= __atomic_exchange_n(&service->wants_look, false, __ATOMIC_ACQ_REL);
	if (is_asked && !service->is_holder)
		fors_daemon_reload(service->daemon, &service->sources); /* perhaps for another publish_dir */
	is_asked |= !fors_daemon_is_holder(service->daemon) && service->is_holder;
	if (!is_asked || !service->holds || !service->is_holder)
		return FORS_OK;
	return fors_service_hand_in(service, error);
}

/* Publish_dir is ours again: nothing was read meanwhile, so read everything. */
static void take_over(struct fors_service *service)
{
	if (service->is_holder || !fors_daemon_is_holder(service->daemon))
		return;
	service->is_holder = true;
	service->holds = false;
	service->is_due = service->is_all_due = true;
	fors_log_info(&service->log, "publish_dir is ours now");
}

/*
 * While another fors watch publishes nothing is read, and the manager is asked so rarely that the other one sees it at
 * rest.
 */
static enum fors_err stand_by(struct fors_service *service, struct fors_error *error)
{
	if (fors_clock_exact_ms() - service->polled_ms < STANDBY_MS)
		return FORS_OK;
	return watch_manager(service, error);
}

static enum fors_err round_of(struct fors_service *service, struct fors_error *error)
{
	enum fors_err err;

	take_over(service);
	service->is_reading = true;
	err = reload(service, error);
	service->is_reading = false;
	if (!err && !service->is_holder)
		return stand_by(service, error);
	if (!err)
		err = watch_manager(service, error);
	if (!err)
		err = fors_service_subscribe(service, error);
	if (!err)
		err = take_turns(service, error);
	if (!err)
		err = fors_service_heed(service, error);
	service->is_reading = true;
	if (!err && is_time_to_read(service))
		err = fors_service_read(service, error);
	service->is_reading = false;
	return err ? err : fors_service_check(service, error);
}

/* Is the manager at work, and its rest awaited? Not where others ask it all the time. */
static bool is_rest_near(const struct fors_service *service)
{
	return service->is_moving ? service->moved_ms - service->rested_ms < MOST_MOVING_MS : service->is_due;
}

/* Until the next round. A Report is heeded at once, and then there is no rest. */
static enum fors_err rest(struct fors_service *service, double began_ms, struct fors_error *error)
{
	double until = began_ms + (!service->is_holder		    ? HELD_MS
				   : is_rest_near(service)	    ? RESTLESS_MS
				   : fors_service_may_doze(service) ? DOZE_MS
								    : ROUND_MS);
	bool was_due = service->is_due;
	enum fors_err err;

	do
		err = fors_mads_wait(service->mads, until, error);
	while (!err && fors_clock_exact_ms() < until && service->is_due == was_due && !service->nreported &&
	       !__atomic_load_n(&service->wants_look, __ATOMIC_ACQUIRE));
	return err ? err : fors_service_heed(service, error);
}

/* Errors that pass: memory, a file system, an administration that does not answer. */
static bool is_passing(const struct fors_service *service, enum fors_err err)
{
	return err != FORS_ECANCELLED && !fors_mads_is_broken(service->mads);
}

static enum fors_err serve(struct fors_service *service, struct fors_error *error)
{
	service->watchdog_ms = fors_notify_watchdog_ms();
	fors_notify("READY=1");
	for (;;) {
		double began = fors_clock_exact_ms();
		enum fors_err err = round_of(service, error);

		if (err && is_passing(service, err))
			fors_service_lose(service, "the fabric cannot be asked");
		else if (err)
			return err == FORS_ECANCELLED ? FORS_OK : err;
		err = rest(service, began, error);
		if (err)
			return err == FORS_ECANCELLED ? FORS_OK : err;
	}
}

/* ---- the beginning ---- */

static enum fors_err start_daemon(struct fors_service *service, struct fors_error *error)
{
	const struct fors_daemon_setup setup = {
		.log = service->log,
		.sources = service->sources,
		.guid = fors_mads_port(service->mads)->guid,
		.source = {.program = "fors watch", .mastership = mastership, .sweep = sweep, .context = service},
		.is_shared = true};
	enum fors_err err = fors_daemon_start(&setup, &service->daemon, error);

	if (err)
		return err;
	if (fors_daemon_is_shadow(service->daemon))
		return fors_fail(error, FORS_EINPUT,
				 "fors_mode = shadow is for the plugin: fors watch changes nothing anyway");
	return FORS_OK;
}

static void tell_port(struct fors_service *service)
{
	const struct fors_mads_port *port = fors_mads_port(service->mads);

	fors_log_info(&service->log, "port %u of %s, 0x%016" PRIx64, port->number, port->ca, port->guid);
}

enum fors_err fors_service_run(const struct fors_service_setup *setup, struct fors_error *error)
{
	struct fors_service service = {.setup = setup, .log = {.write = write_line}, .is_due = true, .is_holder = true};
	enum fors_err err;

	if (setup->config && strpbrk(setup->config, " \t,;"))
		return fors_fail(error, FORS_EINPUT, "%s: the path has a blank, a comma or a semicolon", setup->config);
	if (setup->config)
		snprintf(service.options, sizeof(service.options), "fors_config=%s", setup->config);
	service.sources.options = service.options;
	service.mads_setup = setup->mads;
	service.mads_setup.wants_reports = true;
	service.mads_setup.is_stopped = is_stopped;
	service.mads_setup.context = &service;
	err = fors_mads_open(&service.mads_setup, &service.mads, error);
	if (!err) {
		fors_service_hear(&service);
		tell_port(&service);
		err = start_daemon(&service, error);
	}
	if (!err)
		err = serve(&service, error);
	fors_notify("STOPPING=1");
	fors_daemon_free(service.daemon);
	fors_service_forget(&service);
	fors_mads_close(service.mads);
	return err;
}
