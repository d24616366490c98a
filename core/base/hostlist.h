/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostlist.h - lists of hosts as the scheduler Slurm writes them: "a[00-02,7],b,r[1-2]n[1-2]".
 *
 * What stands in [] is a list of numbers and ranges; with leading zeros they keep their width. Several pairs of [] in one
 * name are all combinations, the first changes slowest. Thread rules: any thread.
 */
#ifndef FORS_CORE_BASE_HOSTLIST_H
#define FORS_CORE_BASE_HOSTLIST_H

#include "text.h"

#define FORS_HOSTLIST_MAX 65536 /* hosts in one list */
#define FORS_HOSTNAME_ROOM 256	/* of one of them, with its zero byte */

struct fors_hostlist {
	char (*name)[FORS_HOSTNAME_ROOM]; /* ascending, each once; owned */
	uint32_t count;
};

/*
 * The hosts of `text` in *list, owned by the caller (fors_hostlist_clear()); a text without any is an empty list. Names are of
 * letters, digits, '.', '_' and '-'. Errors: FORS_EINPUT, FORS_ELIMIT (too many, or a name that is too long), FORS_ENOMEM.
 */
enum fors_err fors_hostlist_read(struct fors_span text, struct fors_hostlist *list, struct fors_error *error);
void fors_hostlist_clear(struct fors_hostlist *list);

#endif
