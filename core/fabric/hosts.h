/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts.h - what servers are called, by port GUID: a server that is gone has a name for people.
 * Thread rules: plain data; one writer.
 */
#ifndef FORS_CORE_FABRIC_HOSTS_H
#define FORS_CORE_FABRIC_HOSTS_H

#include "core/net/net.h"

struct fors_host {
	uint64_t guid; /* of the port */
	char name[FORS_NAME_MAX + 1];
};

/* In the order of GUIDs, but for those noted since fors_hosts_sort(); all zero is none. */
struct fors_hosts {
	struct fors_host *host; /* owned */
	size_t count, sorted, room;
};

/* What a server is called, owned by `hosts`, good until that changes; "": not known. Finds those that are sorted. */
const char *fors_hosts_name(const struct fors_hosts *hosts, uint64_t guid);
/*
 * A server is called so; what was known before no longer holds. An empty name, or GUID 0, says nothing. Errors: FORS_ENOMEM;
 * nothing is noted then.
 */
enum fors_err fors_hosts_note(struct fors_hosts *hosts, uint64_t guid, const char *name, struct fors_error *error);
/* What was noted can be found from now on. */
void fors_hosts_sort(struct fors_hosts *hosts);
/* Forget all but these GUIDs, which are in order. Both are sorted. */
void fors_hosts_keep(struct fors_hosts *hosts, const uint64_t *guid, size_t count);
/* A copy in *to, owned by the caller. Errors: FORS_ENOMEM; *to is none then. */
enum fors_err fors_hosts_copy(const struct fors_hosts *from, struct fors_hosts *to, struct fors_error *error);
void fors_hosts_clear(struct fors_hosts *hosts);

#endif
