/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guidlist.h - lists of GUIDs, one per line, as OpenSM's root_guid_file and cn_guid_file.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_BASE_GUIDLIST_H
#define FORS_CORE_BASE_GUIDLIST_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/*
 * The GUIDs in `text` in *guid (owned by the caller, free(); NULL when there are none) and
 * *count. One per line, as strtoull reads it with base 0; other words behind it and '#' comments are
 * ignored. Errors: FORS_EINPUT "name:line: ..." (malformed, zero, two on a line, the same GUID twice), FORS_ENOMEM.
 */
enum fors_err fors_guidlist_read(const char *text, size_t size, const char *name, uint64_t **guid, size_t *count,
				 struct fors_error *error);

/*
 * The same from a file that only fors reads: what follows a GUID and is no '#' comment was meant to say something, and nobody would hear
 * it. Errors: also FORS_EINPUT for such a word.
 */
enum fors_err fors_guidlist_read_bare(const char *text, size_t size, const char *name, uint64_t **guid, size_t *count,
				      struct fors_error *error);

#endif
