/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow.c - shadow mode in words: what switching on would change, and what it would gain.
 *
 * An administrator decides by these sentences, so each number stands beside the one that it is compared with, and what is
 * not known is said to be so.
 */
#include "shadow.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "history.h"
#include "status.h"

void fors_shadow_facts_init(struct fors_shadow_facts *facts)
{
	*facts = (struct fors_shadow_facts){.is_known = true,
					    .looked_ms = FORS_UNKNOWN,
					    .entries = FORS_UNKNOWN,
					    .compared = FORS_UNKNOWN,
					    .switches = FORS_UNKNOWN,
					    .present_phases = FORS_UNKNOWN,
					    .present_bound = FORS_UNKNOWN,
					    .present_shift = FORS_UNKNOWN,
					    .own_shift = FORS_UNKNOWN};
}

/* A text that is cut to its room. */
struct line {
	char *text;
	size_t room, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct line *line, const char *format, ...)
{
	va_list args;

	if (line->used >= line->room)
		return;
	va_start(args, format);
	line->used += (size_t)vsnprintf(line->text + line->used, line->room - line->used, format, args);
	va_end(args);
}

/* Who made the tables of now. */
static const char *engine(const struct fors_status *status)
{
	return *status->tables_by ? status->tables_by : "another engine";
}

static void say_entries(struct line *line, const struct fors_status *status)
{
	const struct fors_shadow_facts *facts = &status->shadow;

	if (facts->entries < 0 && *status->reason)
		say(line, "no entry changes, fors would not route: %.300s", status->reason);
	else if (facts->entries < 0)
		say(line, "how many entries change is not known");
	else
		say(line, "%" PRId64 " of %" PRId64 " entries change, in %" PRId64 " switch%s", facts->entries,
		    facts->compared, facts->switches, facts->switches == 1 ? "" : "es");
}

/* Phases of both plans, and how many times as fast that is. */
static void say_phases(struct line *line, const struct fors_status *status)
{
	int64_t own = status->phases, now = status->shadow.present_phases;

	if (own <= 0)
		return;
	if (now == own)
		say(line, "; a schedule takes %" PRId64 " phases, over the tables of %s as well", own, engine(status));
	else if (now > 0)
		say(line,
		    "; a schedule takes %" PRId64 " phases instead of %" PRId64
		    " over the tables of %s (%.2f times as fast)",
		    own, now, engine(status), (double)now / (double)own);
	else
		say(line, "; a schedule takes %" PRId64 " phases, none is possible over the tables of %s", own,
		    engine(status));
}

static void say_share(struct line *line, double share)
{
	if (share > 0)
		say(line, "%.1f %%", 100 * share);
	else
		say(line, "0 %% (flows are lost)");
}

static void say_shift(struct line *line, const struct fors_shadow_facts *facts)
{
	if (facts->present_shift < 0)
		return;
	say(line, "; a linear shift without a schedule gets ");
	if (facts->own_shift >= 0) {
		say_share(line, facts->own_shift);
		say(line, " instead of ");
	}
	say_share(line, facts->present_shift);
	say(line, " of full speed");
}

void fors_shadow_tell(const struct fors_status *status, char *text, size_t room)
{
	struct line line = {text, room, 0};

	text[0] = '\0';
	say_entries(&line, status);
	say_phases(&line, status);
	say_shift(&line, &status->shadow);
}

void fors_shadow_event(const struct fors_status *status, struct fors_event *event)
{
	const struct fors_shadow_facts *facts = &status->shadow;
	uint64_t unix_ms = facts->looked_ms > 0 ? (uint64_t)facts->looked_ms : 0;

	*event = (struct fors_event){
		.epoch = unix_ms, .unix_ms = unix_ms, .phases = status->phases > 0 ? (uint32_t)status->phases : 0};
	snprintf(event->method, sizeof(event->method), "%s", event->phases && *status->method ? status->method : "-");
	fors_shadow_tell(status, event->cause, sizeof(event->cause));
}
