/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.c - one sentence for the operator on shift: what comes next.
 *
 * What happens by itself comes first: a plan that is being made, a link that returns. Then what somebody has to do, the
 * worst first: a cable that comes and goes; a switch that is gone, before its cables, which come back with it; other dead
 * cables; reseat, take the link out of fors.conf again. A reason for everything else is in the status.
 */
#include "advice.h"

#include <stdio.h>
#include <string.h>

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

#define NAMED 3

static void add(char *text, size_t room, size_t *named, const char *name)
{
	size_t used = strlen(text);

	if (++*named <= NAMED)
		snprintf(text + used, room - used, "%s%s", *named == 1 ? "" : ", ", name);
}

/* "mend: Spine05, Leaf03[21] - Spine01[4]": switches that are gone, and dead cables of the others. */
static void say_dead(const struct fors_status *status, char *text, size_t room)
{
	const struct fors_dead_switches *gone = &status->dead_switches;
	const struct fors_links *dead = &status->dead_links;
	char name[2 * FORS_NAME_MAX + 32];
	size_t named = 0;

	snprintf(text, room, "mend: ");
	for (size_t i = 0; i < gone->count; i++)
		add(text, room, &named, gone->one[i].name);
	for (size_t i = 0; i < dead->count; i++) {
		const struct fors_link *link = &dead->link[i];

		if (fors_dead_end(status, link))
			continue;
		snprintf(name, sizeof(name), "%s[%u] - %s[%u]", link->a, link->a_port, link->b, link->b_port);
		add(text, room, &named, name);
	}
	if (named > NAMED)
		snprintf(text + strlen(text), room - strlen(text), " and %zu more", named - NAMED);
}

/* A server that is gone, with its leaf alive. */
static void say_lost(const struct fors_links *lost, char *text, size_t room)
{
	const struct fors_link *one = &lost->link[0];

	if (lost->count > 1)
		snprintf(text, room, "see to %zu servers that are lost", lost->count);
	else
		snprintf(text, room, "see to %s at %s[%u]: it is lost",
			 *one->host ? one->host
			 : *one->b  ? one->b
				    : "the server",
			 one->a, one->a_port);
}

/* A plan takes seconds at most, but for method ilp; what lasts longer is waiting for OpenSM. */
static bool lasts_long(const struct fors_status *status, int64_t unix_ms)
{
	return status->state_since_ms >= 0 && unix_ms - status->state_since_ms > LONG_MS;
}

static void say_inactive(const struct fors_status *status, char *text, size_t room)
{
	const char *reason = status->reason;
	const char *ended = strstr(reason, FORS_REASON_ENDED);
	int length = ended ? (int)(ended - reason) : 0;

	if (ended)
		snprintf(text, room, "start %.*s%s again", length, reason,
			 strncmp(reason, "opensm ", 7) ? "" : " with fors");
	else if (!strncmp(reason, FORS_REASON_STANDBY, strlen(FORS_REASON_STANDBY)))
		snprintf(text, room, "nothing to do here: see fors status on the master");
	else if (!strncmp(reason, FORS_REASON_BLIND, strlen(FORS_REASON_BLIND)))
		snprintf(text, room, "see the reason: until opensm sweeps again nothing is repaired");
	else if (status->repairs.count)
		snprintf(text, room, "mend what stands under mend first: then fors routes again");
	else
		snprintf(text, room, "nothing happens by itself: see the reason");
}

/* The servers whose cables are slower than those of most, from the first one on; of many that are slow by nature none is. */
static bool find_degraded(const struct fors_links *servers, struct fors_links *slow)
{
	*slow = (struct fors_links){0};
	for (size_t i = 0; i < servers->count; i++) {
		slow->link = servers->link[i].is_degraded && !slow->count ? &servers->link[i] : slow->link;
		slow->count += servers->link[i].is_degraded;
	}
	return slow->count;
}

void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	struct fors_links slow;

	if (status->state == FORS_PLANNING && lasts_long(status, unix_ms))
		snprintf(text, room, "this lasts longer than it should: see the reason, and ERR in opensm's log");
	else if (status->state == FORS_PLANNING)
		snprintf(text, room, "fors is planning; the schedule follows by itself");
	else if (status->state == FORS_INACTIVE)
		say_inactive(status, text, room);
	else if (status->held_links.count && status->held_until_ms >= 0)
		say_return(status, unix_ms, text, room);
	else if (status->flapping_links.count)
		say_links(&status->flapping_links, "exclude", ", then mend: it comes and goes", text, room);
	else if (status->dead_links.count || status->dead_switches.count)
		say_dead(status, text, room);
	else if (status->state == FORS_FAILED)
		snprintf(text, room, "nothing happens by itself: see the reason");
	else if (status->degraded_links.count)
		say_links(&status->degraded_links, "reseat or replace", ": below full width or speed", text, room);
	else if (status->lost_servers.count)
		say_lost(&status->lost_servers, text, room);
	else if (find_degraded(&status->slow_servers, &slow))
		say_links(&slow, "reseat or replace", ": a server's own cable is slow", text, room);
	else if (status->excluded_links.count)
		say_links(&status->excluded_links, "after the maintenance take",
			  " out of fors.conf, then SIGHUP opensm", text, room);
	else
		snprintf(text, room, "nothing to do");
}
