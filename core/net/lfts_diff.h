/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts_diff.h - which entries differ between two sets of forwarding tables.
 * Thread rules: pure; a difference owns all it says, and is read by any number of threads.
 */
#ifndef FORS_CORE_NET_LFTS_DIFF_H
#define FORS_CORE_NET_LFTS_DIFF_H

#include "lfts.h"

/* An entry that differs: the ports that both tables have for a LID, FORS_NO_PATH: none. */
struct fors_entry_change {
	uint32_t lid;
	uint8_t was, is;
};

/* A switch with entries that differ, or that only one of both has a table of. */
struct fors_table_change {
	uint64_t guid;
	size_t first, count; /* of struct fors_lfts_diff's entries */
	bool was, is;	     /* is there a table of it? */
};

struct fors_lfts_diff {
	struct fors_table_change *table; /* ntables, by GUID */
	size_t ntables;
	struct fors_entry_change *entry; /* nentries, by switch, then by LID */
	size_t nentries;
	uint64_t compared;  /* entries with a port in at least one of both */
	uint32_t nswitches; /* in at least one of both */
};

/*
 * What is in `b` otherwise than in `a`. A LID beyond the end of a table, and any of a switch without a table, has no
 * port. Equal sets give the same *diff whatever order their texts had. *diff is to be cleared. Errors: FORS_ENOMEM.
 */
enum fors_err fors_lfts_diff(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff,
			     struct fors_error *error);
void fors_lfts_diff_clear(struct fors_lfts_diff *diff);

/*
 * The difference as text for people in *text, owned by the caller (free()): how many entries differ, then each switch with
 * such entries and its entries. name(context, guid) is what a switch is called, "" where it has no name. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_lfts_diff_text(const struct fors_lfts_diff *diff, const char *(*name)(void *context, uint64_t guid),
				  void *context, char **text, size_t *size, struct fors_error *error);

#endif
