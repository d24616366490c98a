/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.c - one sentence for the operator on shift: what comes next.
 *
 * A plan that is being made comes first, then servers that are lost: the exchange goes on without them, and nobody else would say so.
 * Then a link that returns by itself, and what somebody has to do, the worst first: a server whose slow cable holds up
 * nearly all phases; a cable that comes and goes; what gives most back, as under "mend first"; a switch that is gone, before its cables, which come back with it; other dead cables;
 * reseat, take the link out of fors.conf again. A reason for everything else is in the status.
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

/* Names with commas between them, the first three. */
struct names {
	char *text;
	size_t room, count;
};

static void add(struct names *names, const char *name)
{
	size_t used = strlen(names->text);

	if (++names->count <= NAMED)
		snprintf(names->text + used, names->room - used, "%s%s", names->count == 1 ? "" : ", ", name);
}

static void end_names(const struct names *names)
{
	size_t used = strlen(names->text);

	if (names->count > NAMED)
		snprintf(names->text + used, names->room - used, " and %zu more", names->count - NAMED);
}

static void add_cable(struct names *names, const struct fors_link *link)
{
	char name[2 * FORS_NAME_MAX + 32];

	snprintf(name, sizeof(name), "%s[%u] - %s[%u]", link->a, link->a_port, link->b, link->b_port);
	add(names, name);
}

static bool holds(const struct fors_links *links, const struct fors_link *one)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->link[i].a_port == one->a_port && !strcmp(links->link[i].a, one->a))
			return true;
	return false;
}

/* Is the repair of this cable, or of this whole switch, under "mend first"? */
static bool is_gain(const struct fors_status *status, const char *a, unsigned a_port, const char *b)
{
	for (uint32_t i = 0; i < status->repairs.count; i++) {
		const struct fors_link *link = &status->repairs.gain[i].link;

		if (!strcmp(link->a, a) && link->a_port == a_port && (*a || !strcmp(link->b, b)))
			return true;
	}
	return false;
}

/*
 * "mend: Spine05, Leaf03[21] - Spine01[4]": what gives most back, as under "mend first"; then switches that are gone, and dead
 * cables of the others. Leaves with servers are told before.
 */
static void say_dead(const struct fors_status *status, char *text, size_t room)
{
	const struct fors_dead_switches *gone = &status->dead_switches;
	const struct fors_links *dead = &status->dead_links;
	struct names names = {text, room, 0};

	snprintf(text, room, "mend: ");
	for (uint32_t i = 0; i < status->repairs.count; i++) {
		const struct fors_link *link = &status->repairs.gain[i].link;

		if (!*link->a)
			add(&names, link->b);
		else if (!holds(&status->degraded_links, link))
			add_cable(&names, link);
	}
	for (size_t i = 0; i < gone->count; i++)
		if (!gone->one[i].servers && !is_gain(status, "", 0, gone->one[i].name))
			add(&names, gone->one[i].name);
	for (size_t i = 0; i < dead->count; i++)
		if (!fors_dead_end(status, &dead->link[i]) &&
		    !is_gain(status, dead->link[i].a, dead->link[i].a_port, dead->link[i].b))
			add_cable(&names, &dead->link[i]);
	end_names(&names);
	if (!names.count)
		text[0] = '\0';
}

bool fors_status_is_alone(const struct fors_status *status, const struct fors_link *lost)
{
	for (size_t i = 0; i < status->dead_switches.count; i++)
		if (!strcmp(status->dead_switches.one[i].name, lost->a))
			return false;
	return true;
}

/* Servers that are gone, with their leaf alive. */
static void say_alone(const struct fors_status *status, char *text, size_t room)
{
	const struct fors_links *lost = &status->lost_servers;
	const struct fors_link *one = NULL;
	size_t count = 0;

	for (size_t i = lost->count; i-- > 0;)
		if (fors_status_is_alone(status, &lost->link[i])) {
			one = &lost->link[i];
			count++;
		}
	if (count > 1)
		snprintf(text, room, "see to %zu servers that are lost", count);
	else if (one)
		snprintf(text, room, "see to %s at %s[%u]: it is lost",
			 *one->host ? one->host
			 : *one->b  ? one->b
				    : "the server",
			 one->a, one->a_port);
}

/* "mend: Leaf01, and see to Node03-05 at Leaf03[6]: it is lost"; empty where no server is. */
static void say_lost(const struct fors_status *status, char *text, size_t room)
{
	const struct fors_dead_switches *gone = &status->dead_switches;
	struct names names = {text, room, 0};
	char alone[2 * FORS_NAME_MAX + 64] = "";

	snprintf(text, room, "mend: ");
	for (size_t i = 0; i < gone->count; i++)
		if (gone->one[i].servers)
			add(&names, gone->one[i].name);
	end_names(&names);
	if (!names.count)
		text[0] = '\0';
	say_alone(status, alone, sizeof(alone));
	snprintf(text + strlen(text), room - strlen(text), "%s%s", *text && *alone ? ", and " : "", alone);
}

/* Nothing is dead. */
static void say_living(const struct fors_status *status, char *text, size_t room)
{
	if (status->state == FORS_FAILED)
		snprintf(text, room, "nothing happens by itself: see the reason");
	else if (status->degraded_links.count)
		say_links(&status->degraded_links, "reseat or replace", ": below full width or speed", text, room);
	else if (status->excluded_links.count)
		say_links(&status->excluded_links, "after the maintenance take",
			  " out of fors.conf, then SIGHUP opensm", text, room);
	else
		snprintf(text, room, "nothing to do");
}

/* A slow cable that stands above all dead ones under "mend first". */
static bool say_slow_first(const struct fors_status *status, char *text, size_t room)
{
	struct fors_link first;

	if (!status->repairs.count || !holds(&status->degraded_links, &status->repairs.gain[0].link))
		return false;
	first = status->repairs.gain[0].link;
	say_links(&(struct fors_links){&first, 1}, "reseat or replace", ": below full width or speed", text, room);
	return true;
}

/* What would relieve at once: the exchange without the server, for which nothing is routed anew. */
static void say_slow_server(const struct fors_links *slow, char *text, size_t room)
{
	say_links(slow, "reseat or replace", ": a server's own cable is slow", text, room);
	snprintf(
		text + strlen(text), room - strlen(text),
		"; until then participants_file = FILE in fors.conf leaves %s out, FILE being `fors schedule ... --format participants` "
		"without %s; then SIGHUP opensm",
		slow->count > 1 ? "them" : "it", slow->count > 1 ? "their lines" : slow->link[0].b);
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

/* What comes after servers that are lost and before all that lives; empty: nothing. */
static void say_rest(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	struct fors_links slow;

	text[0] = '\0';
	if (status->held_links.count && status->held_until_ms >= 0)
		say_return(status, unix_ms, text, room);
	else if (status->state != FORS_FAILED && find_degraded(&status->slow_servers, &slow))
		say_slow_server(&slow, text, room);
	else if (status->flapping_links.count)
		say_links(&status->flapping_links, "exclude", ", then mend: it comes and goes", text, room);
	else if (!say_slow_first(status, text, room))
		say_dead(status, text, room);
}

/* A plan takes seconds at most, but for method ilp; what lasts longer is waiting for OpenSM. */
static bool lasts_long(const struct fors_status *status, int64_t unix_ms)
{
	return status->state_since_ms >= 0 && unix_ms - status->state_since_ms > LONG_MS;
}

/* What is to be done stands behind a colon, or it is the port's cable. Nothing is repaired before. */
static void say_blind(const char *why, char *text, size_t room)
{
	const char *todo = strstr(why, ": ");

	snprintf(text, room, "%s%s; until opensm sweeps again nothing is repaired", todo ? "opensm: " : "",
		 todo ? todo + 2 : "see to opensm's port and its cable");
}

static void say_inactive(const struct fors_status *status, char *text, size_t room)
{
	const char *reason = status->reason;
	const char *ended = strstr(reason, FORS_REASON_ENDED);
	int length = ended ? (int)(ended - reason) : 0;

	if (!strcmp(reason, FORS_REASON_LEFT))
		snprintf(text, room,
			 "nothing to do: remove this folder, and that of publish_dir, when nobody reads them any more");
	else if (ended)
		snprintf(text, room, "start %.*s%s again", length, reason,
			 strncmp(reason, "opensm ", 7) ? "" : " with fors");
	else if (!strncmp(reason, FORS_REASON_STANDBY, strlen(FORS_REASON_STANDBY)))
		snprintf(text, room, "nothing to do here: see fors status on the master");
	else if (!strncmp(reason, FORS_REASON_BLIND, strlen(FORS_REASON_BLIND)))
		say_blind(reason + strlen(FORS_REASON_BLIND), text, room);
	else if (status->repairs.count)
		snprintf(text, room, "mend what stands under mend first: then fors routes again");
	else
		snprintf(text, room, "nothing happens by itself: see the reason");
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void say_active(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	char rest[512];
	bool is_more;

	say_lost(status, text, room);
	say_rest(status, unix_ms, rest, sizeof(rest));
	is_more = starts(text, "mend: ") && starts(rest, "mend: ") && !strstr(text, "see to ");
	if (!*text && !*rest)
		say_living(status, text, room);
	else if (is_more)
		snprintf(text + strlen(text), room - strlen(text), ", %s", rest + strlen("mend: "));
	else if (*rest)
		snprintf(text + strlen(text), room - strlen(text), "%s%s", *text ? "; then " : "", rest);
}

void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	if (status->state == FORS_PLANNING && lasts_long(status, unix_ms))
		snprintf(text, room, "this lasts longer than it should: see the reason, and ERR in opensm's log");
	else if (status->state == FORS_PLANNING)
		snprintf(text, room, "fors is planning; the schedule follows by itself");
	else if (status->state == FORS_INACTIVE)
		say_inactive(status, text, room);
	else
		say_active(status, unix_ms, text, room);
}

const char *fors_status_reduction(const struct fors_status *status, char *text, size_t room)
{
	if (status->f <= 0 && status->affected_spines <= 0)
		snprintf(text, room, "no uplink missing");
	else
		snprintf(text, room, "%lld %s missing, %lld %s affected", (long long)status->f,
			 status->f == 1 ? "uplink" : "uplinks", (long long)status->affected_spines,
			 status->tops >= 0		? status->affected_spines == 1 ? "switch" : "switches"
			 : status->affected_spines == 1 ? "spine"
							: "spines");
	return text;
}
