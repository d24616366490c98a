/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_reports.c - being told: the subnet administration forwards what switches say of themselves (traps), to whoever has
 * subscribed (InformInfo).
 *
 * A subscription dies with its manager, so it is renewed each minute and after each change of the manager. Renewing it with the
 * same words does nothing twice. A Report of a changed port names the switch only: its ports are read, at once, for
 * 20 ms at most. If one that is used does not carry traffic, or the switch does not say so in time, what is published is
 * withdrawn. A link that comes up withdraws nothing.
 *
 * Reports may fail to come: none is sent to a host that shares no partition with the switch, and OpenSM drops the
 * eleventh identical trap in five seconds. So the manager's count is asked for all the same, and as often as without Reports
 * when many come, or when a cable died of which none told.
 */
#include "service_inside.h"

#include <string.h>

#include "bytes.h"
#include "daemon/base/clock.h"
#include "wire.h"

#define RENEW_MS 60000.0
#define AGAIN_MS 10000.0 /* after a refusal */
#define READ_MS 20.0
#define MANY 8u
#define SPAN_MS 5000.0
#define DEAF_MS 2000.0
#define INFORM_SIZE 36
#define TRAP_PORTS 128

/* ---- subscribing ---- */

static void take_subscribed(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	(void)tag;
	(void)mad;
	*(bool *)context = end == FORS_MAD_ANSWERED;
}

/* All traps, of all kinds, from all LIDs; by their component masks. */
static void fill_inform(uint8_t record[INFORM_SIZE])
{
	memset(record, 0, INFORM_SIZE);
	fors_put16(record + 16, 0xFFFF); /* LIDRangeBegin: all */
	record[22] = 1;			 /* IsGeneric */
	record[23] = 1;			 /* Subscribe */
	fors_put16(record + 24, 0xFFFF); /* Type */
	fors_put16(record + 26, 0xFFFF); /* TrapNumber */
	record[31] = 0x12;		 /* RespTimeValue: a second */
	fors_put32(record + 32, 0xFFFFFF);
}

static void tell_subscribed(struct fors_service *service, bool is_subscribed)
{
	if (service->is_told_subscribed && is_subscribed == service->has_reports)
		return;
	service->is_told_subscribed = true;
	fors_log_info(&service->log, "%s",
		      is_subscribed
			      ? "subscribed to the Reports of the subnet administration"
			      : "no Reports: the subnet administration refuses the subscription, or another program "
				"of this host has them; polls only");
}

enum fors_err fors_service_subscribe(struct fors_service *service, struct fors_error *error)
{
	uint8_t record[INFORM_SIZE];
	const struct fors_sa_question question = {.what = FORS_SA_SUBSCRIBE,
						  .mask = 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 12,
						  .record = record,
						  .size = sizeof(record)};
	double now = fors_clock_exact_ms();
	bool is_subscribed = false;
	enum fors_err err = FORS_OK;

	if (!service->sm.is_there || service->lost_ms || now < service->subscribe_ms)
		return FORS_OK;
	fill_inform(record);
	if (fors_mads_get_reports(service->mads)) {
		if (fors_mads_ask(service->mads, &question, take_subscribed, &is_subscribed, 0))
			return fors_fail_memory(error);
		err = fors_mads_run(service->mads, error);
	}
	if (err)
		return err;
	service->subscribe_ms = now + (is_subscribed ? RENEW_MS : AGAIN_MS);
	tell_subscribed(service, is_subscribed);
	service->is_all_due |= !service->has_reports; /* what came before this subscription was not told */
	service->has_reports = is_subscribed;
	return FORS_OK;
}

/* ---- Reports ---- */

static uint32_t switch_of(const struct fors_survey *survey, uint16_t lid)
{
	for (uint32_t node = 0; survey && node < survey->nnodes; node++)
		if (survey->node[node].type == FORS_SWITCH && survey->node[node].port[0].lid == lid)
			return node;
	return FORS_NONE;
}

/* The ports of this switch may be others by now. */
static void doubt(struct fors_service *service, uint16_t lid)
{
	bool is_known = service->shown.survey && fors_survey_mark(service->shown.survey, lid);

	if (service->last.survey)
		is_known |= fors_survey_mark(service->last.survey, lid);
	service->is_all_due |= !is_known;
}

bool fors_service_hears(const struct fors_service *service)
{
	return service->has_reports && !service->is_deaf && !service->lost_ms &&
	       fors_clock_exact_ms() >= service->wary_ms;
}

static void count_report(struct fors_service *service, double now)
{
	if (now - service->counted_ms > SPAN_MS) {
		service->counted_ms = now;
		service->nreports = 0;
	}
	if (++service->nreports == MANY)
		service->wary_ms = now + 2 * SPAN_MS;
	service->heard_ms = now;
}

/* The survey that is made just now may have been there before. */
static void note_told(struct fors_service *service, uint16_t lid)
{
	if (!service->is_reading)
		return;
	service->is_told = true;
	if (service->ntold < MOST_REPORTED)
		service->told[service->ntold++] = lid;
	else
		service->is_all_due = true;
}

/* Its ports are to be looked at; unless there is no time, or too many say so. */
static void note_switch(struct fors_service *service, uint16_t lid)
{
	uint32_t node = switch_of(service->shown.survey, lid);

	doubt(service, lid);
	note_told(service, lid);
	if (service->is_reading)
		fors_service_lose(service, "a switch reported a change while the fabric was read");
	else if (service->nreported == MOST_REPORTED)
		fors_service_lose(service, "many switches report changes");
	else if (node != FORS_NONE)
		service->reported[service->nreported++] = node;
}

/* Multicast groups that come and go, error counters, keys that do not fit: they come in plenty, and change no way. */
static bool is_no_change(const uint8_t *notice)
{
	uint16_t trap = fors_get16(notice + 4);

	return notice[0] & 0x80 &&
	       (trap == 66 || trap == 67 || (trap >= 129 && trap <= 131) || (trap >= 256 && trap <= 259));
}

/* Called while anything is sent or received: only notes are taken. */
static void take_report(void *context, const uint8_t *notice)
{
	struct fors_service *service = context;

	if (is_no_change(notice))
		return;
	count_report(service, fors_clock_exact_ms());
	service->is_due = true;
	service->not_before_ms = 0;
	if (service->is_checking)
		fors_mads_forget(service->mads);
	service->is_checking = false;
	if (notice[0] & 0x80 && fors_get16(notice + 4) == TRAP_PORTS)
		note_switch(service, fors_get16(notice + 10));
	else
		service->is_all_due = true;
}

void fors_service_hear(struct fors_service *service)
{
	fors_mads_on_report(service->mads, take_report, service);
}

/* Is a port of it down that is used? */
static bool has_lost(const struct fors_service *service, const struct fors_seen_node *seen)
{
	for (unsigned p = 1; p <= seen->nports; p++)
		if (seen->port[p].state != FORS_PORT_ACTIVE && fors_used_has_port(service->used, seen->guid, p))
			return true;
	return false;
}

/* The ports of this switch, within the time that a Report leaves; from now on where the switch was asked. */
static void look_at(struct fors_service *service, uint32_t node)
{
	struct fors_seen_node *seen = &service->shown.survey->node[node];
	double heard_ms = service->is_silent ? fors_clock_exact_ms() : service->heard_ms;
	struct fors_error error;
	enum fors_err err;

	service->deadline_ms = heard_ms + READ_MS;
	err = fors_survey_ports(service->shown.survey, node, service->mads, &error);
	service->deadline_ms = 0;
	if (err)
		fors_service_lose(service, "a switch reported a change, and does not say in time what it was");
	else if (has_lost(service, seen))
		fors_service_lose(service, "a switch reported a change: a cable that is used is down");
	if (!service->holds && service->is_silent)
		fors_log_info(&service->log, "ports of LID %u have changed: withdrawn, while no subnet manager answers",
			      seen->port[0].lid);
	else if (!service->holds)
		fors_log_info(&service->log, "trap %u of LID %u: withdrawn %.1f ms after its Report", TRAP_PORTS,
			      seen->port[0].lid, fors_clock_exact_ms() - heard_ms);
}

enum fors_err fors_service_heed(struct fors_service *service, struct fors_error *error)
{
	const struct fors_mads_setup *setup = &service->setup->mads;

	while (service->nreported && service->holds)
		look_at(service, service->reported[--service->nreported]);
	service->nreported = 0;
	return setup->is_stopped(setup->context) ? fors_fail(error, FORS_ECANCELLED, "stopped") : FORS_OK;
}

void fors_service_miss(struct fors_service *service)
{
	if (!service->has_reports || service->is_deaf || fors_clock_exact_ms() - service->heard_ms < DEAF_MS)
		return;
	service->is_deaf = true;
	fors_log_info(&service->log,
		      "a cable died, and no Report told of it: does this host share a partition with the switches? "
		      "Polls as without Reports");
}

bool fors_service_may_doze(const struct fors_service *service)
{
	return fors_service_hears(service) && !service->is_due && service->is_confirmed;
}
