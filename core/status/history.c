/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * history.c - the epochs that were published.
 *
 * A text, one line for each epoch, the newest last:
 *
 *     Unix time in ms TAB epoch TAB phases TAB method TAB cause
 *
 * behind a first line that says what this is. The cause is made here, from two statuses, and not by those who publish:
 * an operator asks "what was that at three o'clock", and what he wants to know is which cable it was. The file is
 * replaced as a whole, like all that fors publishes, so a line that cannot be read is damage, and is said.
 */
#include "history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define HEADING "fors history 1\n"
#define NAMED 2 /* links of a kind that are named */

/* --- causes ----------------------------------------------------------------------------------------------------- */

static bool has_link(const struct fors_links *links, const struct fors_link *link)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->link[i].a_port == link->a_port && !strcmp(links->link[i].a, link->a) &&
		    !strcmp(links->link[i].b, link->b))
			return true;
	return false;
}

__attribute__((format(printf, 2, 3))) static void append(char *cause, const char *format, ...)
{
	size_t room = sizeof(((struct fors_event *)0)->cause), used = strlen(cause);
	va_list args;

	if (used)
		used += (size_t)snprintf(cause + used, room - used, "; ");
	if (used >= room)
		return;
	va_start(args, format);
	vsnprintf(cause + used, room - used, format, args);
	va_end(args);
}

static bool has_switch(const struct fors_dead_switches *switches, const char *name)
{
	for (size_t i = 0; i < switches->count; i++)
		if (!strcmp(switches->one[i].name, name))
			return true;
	return false;
}

/* Which switches of `there` are not among `others`: "Leaf03 died (leaf, 20 cables, 20 servers)". */
static void tell_switches(const struct fors_dead_switches *there, const struct fors_dead_switches *others,
			  const char *what, char *cause)
{
	for (size_t i = 0; i < there->count; i++) {
		const struct fors_dead_switch *one = &there->one[i];
		char servers[32];

		if (has_switch(others, one->name))
			continue;
		if (one->servers)
			snprintf(servers, sizeof(servers), ", %" PRIu32 " server%s", one->servers,
				 one->servers == 1 ? "" : "s");
		append(cause, "%s %s (%s, %" PRIu32 " cable%s%s)", one->name, what, one->level, one->cables,
		       one->cables == 1 ? "" : "s", one->servers ? servers : "");
	}
}

/*
 * Which links of `there` are not among `others`: "3 cables died: A[1] - B[2], C[3] - D[4], ...". Those of switches that are
 * gone in the status `with` (NULL: none) are told with the switch.
 */
static void tell_links(const struct fors_links *there, const struct fors_links *others, const struct fors_status *with,
		       const char *what, char *cause)
{
	char names[2 * NAMED * (FORS_NAME_MAX + 8)] = "";
	size_t count = 0, used = 0;

	for (size_t i = 0; i < there->count; i++) {
		const struct fors_link *link = &there->link[i];

		if (has_link(others, link) || (with && fors_dead_end(with, link)) || ++count > NAMED)
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s[%u] - %s[%u]", used ? ", " : "",
					 link->a, link->a_port, link->b, link->b_port);
	}
	if (count)
		append(cause, "%zu cable%s %s: %s%s", count, count == 1 ? "" : "s", what, names,
		       count > NAMED ? ", ..." : "");
}

static void tell_changes(const struct fors_status *before, const struct fors_status *now, char *cause)
{
	tell_switches(&now->dead_switches, &before->dead_switches, "died", cause);
	tell_switches(&before->dead_switches, &now->dead_switches, "came back", cause);
	tell_links(&now->dead_links, &before->dead_links, now, "died", cause);
	tell_links(&before->dead_links, &now->dead_links, before, "came back", cause);
	tell_links(&now->excluded_links, &before->excluded_links, NULL, "excluded", cause);
	tell_links(&before->excluded_links, &now->excluded_links, NULL, "no longer excluded", cause);
	tell_links(&now->held_links, &before->held_links, NULL, "held", cause);
	tell_links(&before->held_links, &now->held_links, NULL, "no longer held", cause);
	if (now->servers >= 0 && before->servers >= 0 && now->servers != before->servers)
		append(cause, "%" PRId64 " servers, there were %" PRId64, now->servers, before->servers);
	if (*now->tables_by && *before->tables_by && strcmp(now->tables_by, before->tables_by) != 0)
		append(cause, "tables by %s, they were by %s", now->tables_by, before->tables_by);
}

void fors_event_tell(const struct fors_status *before, const struct fors_status *now, struct fors_event *event)
{
	*event = (struct fors_event){.epoch = now->epoch > 0 ? (uint64_t)now->epoch : 0,
				     .phases = now->phases > 0 ? (uint32_t)now->phases : 0};
	snprintf(event->method, sizeof(event->method), "%s", event->phases && *now->method ? now->method : "-");
	if (!event->phases && *now->reason)
		append(event->cause, "%.200s", now->reason);
	if (before)
		tell_changes(before, now, event->cause);
	if (!*event->cause)
		append(event->cause, before && before->phases > 0 ? "published again" : "planned");
	if (now->failover.epoch >= 0 && now->failover.epoch == now->epoch)
		append(event->cause, "readers had the schedule after %.0f ms", now->failover.ms[FORS_STEP_PUBLISHED]);
}

/* --- the text --------------------------------------------------------------------------------------------------- */

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : at + strlen(at);
}

/* Where the last epochs begin, of which there shall be `most`. */
static const char *skip_oldest(const char *lines, size_t most)
{
	size_t count = 0;

	for (const char *at = lines; *at; at = next_line(at))
		count++;
	for (; count > most; count--)
		lines = next_line(lines);
	return lines;
}

enum fors_err fors_history_add(const char *text, const struct fors_event *event, char **longer,
			       struct fors_error *error)
{
	struct fors_buffer buffer = {0};
	char cause[sizeof(event->cause)];

	snprintf(cause, sizeof(cause), "%s", event->cause);
	for (char *c = cause; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	fors_buffer_print(&buffer, HEADING);
	if (text && *text)
		fors_buffer_print(&buffer, "%s", skip_oldest(next_line(text), FORS_HISTORY_MAX - 1));
	fors_buffer_print(&buffer, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%s\t%s\n", event->unix_ms, event->epoch,
			  event->phases, event->method, cause);
	return fors_buffer_finish(&buffer, longer, NULL, error);
}

/* A number of digits, and the tab behind it; *at moves there. */
static bool take_number(const char **at, uint64_t most, uint64_t *number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 10);
	*at = end + 1;
	return !errno && *end == '\t' && *number <= most;
}

/* What comes before `end`; it has to fit, and has no control characters. */
static bool take_text(const char **at, char end, char *to, size_t room)
{
	size_t length = 0;

	for (; (*at)[length] != end; length++)
		if ((unsigned char)(*at)[length] < 0x20 || (*at)[length] == 0x7f || length + 1 == room)
			return false;
	memcpy(to, *at, length);
	to[length] = '\0';
	*at += length + 1;
	return length > 0;
}

static bool parse_line(const char *at, struct fors_event *event)
{
	uint64_t phases;

	if (!take_number(&at, INT64_MAX, &event->unix_ms) || !take_number(&at, INT64_MAX, &event->epoch) ||
	    !take_number(&at, UINT32_MAX, &phases))
		return false;
	event->phases = (uint32_t)phases;
	return take_text(&at, '\t', event->method, sizeof(event->method)) &&
	       take_text(&at, '\n', event->cause, sizeof(event->cause));
}

enum fors_err fors_history_parse(const char *text, const char *path, struct fors_event **list, size_t *count,
				 struct fors_error *error)
{
	struct fors_event *found;
	size_t n = 0;

	if (strncmp(text, HEADING, strlen(HEADING)) != 0)
		return fors_fail(error, FORS_EINPUT, "%s: this is no history of fors", path);
	found = calloc(FORS_HISTORY_MAX + 1, sizeof(*found));
	if (!found)
		return fors_fail_memory(error);
	for (const char *at = next_line(text); *at; at = next_line(at)) {
		if (n < FORS_HISTORY_MAX && parse_line(at, &found[n])) {
			n++;
			continue;
		}
		free(found);
		return fors_fail(error, FORS_EINPUT, "%s:%zu: the history is damaged: this line is no epoch", path,
				 n + 2);
	}
	*list = found;
	*count = n;
	return FORS_OK;
}
