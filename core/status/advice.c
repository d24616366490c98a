/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.c - one sentence for the operator on shift: what comes next.
 *
 * What happens by itself comes first: a plan that is being made, a link that returns. Then what somebody has to do, the
 * worst first: mend, reseat, take the link out of fors.conf again. A reason for everything else is in the status.
 */
#include "advice.h"

#include <stdio.h>

#define LONG_MS 60000

/* What to do about a link, or about several. */
static void say_links(const struct fors_links *links, const char *what, const char *then, char *text, size_t room)
{
	const struct fors_link *link = &links->link[0];

	if (links->count > 1)
		snprintf(text, room, "%s %zu links%s", what, links->count, then);
	else
		snprintf(text, room, "%s %s[%u] - %s[%u]%s", what, link->a, link->a_port, link->b, link->b_port, then);
}

static void say_return(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	const struct fors_links *held = &status->held_links;
	long long seconds = (long long)(status->held_until_ms - unix_ms + 999) / 1000;
	char when[64] = "with the next sweep";

	if (seconds > 0)
		snprintf(when, sizeof(when), "in %lld s", seconds);
	if (held->count > 1)
		snprintf(text, room, "%zu links return, the first %s", held->count, when);
	else
		snprintf(text, room, "link %s[%u] - %s[%u] returns %s", held->link[0].a, held->link[0].a_port,
			 held->link[0].b, held->link[0].b_port, when);
}

/* A plan takes seconds at most, but for method ilp; what lasts longer is waiting for OpenSM. */
static bool lasts_long(const struct fors_status *status, int64_t unix_ms)
{
	return status->state_since_ms >= 0 && unix_ms - status->state_since_ms > LONG_MS;
}

void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	if (status->state == FORS_PLANNING && lasts_long(status, unix_ms))
		snprintf(text, room, "this lasts longer than it should: see the reason, and ERR in opensm's log");
	else if (status->state == FORS_PLANNING)
		snprintf(text, room, "fors is planning; the schedule follows by itself");
	else if (status->state == FORS_INACTIVE)
		snprintf(text, room, "nothing by itself: see the reason");
	else if (status->held_links.count && status->held_until_ms >= 0)
		say_return(status, unix_ms, text, room);
	else if (status->dead_links.count)
		say_links(&status->dead_links, "nothing to do but mend", "", text, room);
	else if (status->state == FORS_FAILED)
		snprintf(text, room, "nothing by itself: see the reason");
	else if (status->degraded_links.count)
		say_links(&status->degraded_links, "reseat or replace", ": below full width or speed", text, room);
	else if (status->slow_servers.count)
		say_links(&status->slow_servers, "reseat or replace", ": a server's own cable is slow", text, room);
	else if (status->excluded_links.count)
		say_links(&status->excluded_links, "after the maintenance take",
			  " out of fors.conf, then SIGHUP opensm", text, room);
	else
		snprintf(text, room, "nothing to do");
}
