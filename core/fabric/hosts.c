/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts.c - names by GUID: see hosts.h.
 *
 * Each sweep tells all names again, and nearly always they are known: so each is looked for by bisection, and those that are new
 * wait unsorted until all are told.
 */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
	const struct fors_host *a = left, *b = right;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

static struct fors_host *find(const struct fors_hosts *hosts, uint64_t guid)
{
	const struct fors_host wanted = {.guid = guid};

	return hosts->sorted ? bsearch(&wanted, hosts->host, hosts->sorted, sizeof(wanted), compare) : NULL;
}

const char *fors_hosts_name(const struct fors_hosts *hosts, uint64_t guid)
{
	const struct fors_host *host = find(hosts, guid);

	return host ? host->name : "";
}

static enum fors_err append(struct fors_hosts *hosts, uint64_t guid, const char *name, struct fors_error *error)
{
	if (hosts->count == hosts->room) {
		size_t room = hosts->room ? 2 * hosts->room : 64;
		struct fors_host *more = realloc(hosts->host, room * sizeof(*more));

		if (!more)
			return fors_fail_memory(error);
		hosts->host = more;
		hosts->room = room;
	}
	hosts->host[hosts->count] = (struct fors_host){.guid = guid};
	snprintf(hosts->host[hosts->count++].name, sizeof(hosts->host->name), "%s", name);
	return FORS_OK;
}

enum fors_err fors_hosts_note(struct fors_hosts *hosts, uint64_t guid, const char *name, struct fors_error *error)
{
	struct fors_host *known;

	if (!guid || !*name)
		return FORS_OK;
	known = find(hosts, guid);
	if (!known)
		return append(hosts, guid, name, error);
	if (strcmp(known->name, name) != 0)
		snprintf(known->name, sizeof(known->name), "%s", name);
	return FORS_OK;
}

/* Of those that were noted twice one stays; which of two names does not depend on their order. */
static void drop_doubles(struct fors_hosts *hosts)
{
	size_t kept = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		struct fors_host *last = kept ? &hosts->host[kept - 1] : NULL;

		if (!last || last->guid != hosts->host[i].guid)
			hosts->host[kept++] = hosts->host[i];
		else if (strcmp(hosts->host[i].name, last->name) < 0)
			*last = hosts->host[i];
	}
	hosts->count = kept;
}

void fors_hosts_sort(struct fors_hosts *hosts)
{
	if (hosts->sorted == hosts->count)
		return;
	qsort(hosts->host, hosts->count, sizeof(*hosts->host), compare);
	drop_doubles(hosts);
	hosts->sorted = hosts->count;
}

void fors_hosts_keep(struct fors_hosts *hosts, const uint64_t *guid, size_t count)
{
	size_t kept = 0, next = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		while (next < count && guid[next] < hosts->host[i].guid)
			next++;
		if (next < count && guid[next] == hosts->host[i].guid)
			hosts->host[kept++] = hosts->host[i];
	}
	hosts->count = hosts->sorted = kept;
}

enum fors_err fors_hosts_copy(const struct fors_hosts *from, struct fors_hosts *to, struct fors_error *error)
{
	*to = (struct fors_hosts){0};
	if (!from->count)
		return FORS_OK;
	to->host = malloc(from->count * sizeof(*to->host));
	if (!to->host)
		return fors_fail_memory(error);
	memcpy(to->host, from->host, from->count * sizeof(*to->host));
	to->count = to->room = from->count;
	to->sorted = from->sorted;
	return FORS_OK;
}

void fors_hosts_clear(struct fors_hosts *hosts)
{
	free(hosts->host);
	*hosts = (struct fors_hosts){0};
}
