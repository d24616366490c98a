/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * used.h - what packets between servers pass: the table entries and cables on all ways of a reading.
 *
 * A schedule over a reading holds as long as these are what they were, whatever else changes in the fabric. Threads: one.
 */
#ifndef FORS_WATCH_USED_H
#define FORS_WATCH_USED_H

#include "core/net/lfts.h"
#include "core/net/net.h"

struct fors_used;

#define FORS_CABLE_DOWN "a cable that is used is down"

/* Walk all ways between servers; net (indexed) and lfts are borrowed until fors_used_free(). Errors: FORS_ENOMEM. */
enum fors_err fors_used_find(const struct fors_net *net, const struct fors_lfts *lfts, struct fors_used **used,
			     struct fors_error *error);
/* NULL is allowed. */
void fors_used_free(struct fors_used *used);

/* What of it another reading shows as changed, a constant; NULL: nothing, all ways are as they were. */
const char *fors_used_change(const struct fors_used *used, const struct fors_net *net, const struct fors_lfts *lfts);

/* Does any way pass this port of a switch, or a server's cable end there? Ports by the GUID of the node. */
bool fors_used_has_port(const struct fors_used *used, uint64_t guid, unsigned port);

#endif
