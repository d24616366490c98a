/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts_diff_text.c - which entries of tables differ, for people.
 *
 * The sum comes first. Of a table that only one side has, all entries differ: their number is enough.
 */
#include "lfts_diff.h"

#include <inttypes.h>

#include "core/base/text.h"

static void print_tables(struct fors_buffer *out, size_t count, const char *what)
{
	if (count)
		fors_buffer_print(out, ", %zu %s %s", count, fors_plural(count, "table", "tables"), what);
}

static void print_sum(struct fors_buffer *out, const struct fors_lfts_diff *diff)
{
	size_t gone = 0, new = 0;

	for (size_t i = 0; i < diff->ntables; i++) {
		gone += !diff->table[i].is;
		new += !diff->table[i].was;
	}
	if (!diff->ntables) {
		fors_buffer_print(out, "no difference in %" PRIu64 " %s of %" PRIu32 " %s\n", diff->compared,
				  fors_plural(diff->compared, "entry", "entries"), diff->nswitches,
				  fors_plural(diff->nswitches, "switch", "switches"));
		return;
	}
	fors_buffer_print(out, "%zu of %" PRIu64 " %s, in %zu of %" PRIu32 " %s", diff->nentries, diff->compared,
			  fors_plural(diff->compared, "entry differs", "entries differ"), diff->ntables,
			  diff->nswitches, fors_plural(diff->nswitches, "switch", "switches"));
	print_tables(out, gone, "gone");
	print_tables(out, new, "new");
	fors_buffer_print(out, "\n");
}

static void print_port(struct fors_buffer *out, const char *before, uint8_t port)
{
	if (port == FORS_NO_PATH)
		fors_buffer_print(out, "%snone", before);
	else
		fors_buffer_print(out, "%s%u", before, port);
}

static void print_table(struct fors_buffer *out, const struct fors_lfts_diff *diff,
			const struct fors_table_change *table, const char *name)
{
	bool is_both = table->was && table->is;
	const char *kind = is_both ? "" : table->was ? "table gone, with " : "table new, with ";

	fors_buffer_print(out, "%s%s0x%016" PRIx64 ": %s%zu %s\n", name, *name ? " " : "", table->guid, kind,
			  table->count, fors_plural(table->count, "entry", "entries"));
	for (size_t i = table->first; is_both && i < table->first + table->count; i++) {
		fors_buffer_print(out, "  LID %" PRIu32 ": ", diff->entry[i].lid);
		print_port(out, "port ", diff->entry[i].was);
		print_port(out, " -> ", diff->entry[i].is);
		fors_buffer_print(out, "\n");
	}
}

enum fors_err fors_lfts_diff_text(const struct fors_lfts_diff *diff, const char *(*name)(void *context, uint64_t guid),
				  void *context, char **text, size_t *size, struct fors_error *error)
{
	struct fors_buffer out = {0};

	print_sum(&out, diff);
	for (size_t i = 0; i < diff->ntables; i++)
		print_table(&out, diff, &diff->table[i], name(context, diff->table[i].guid));
	return fors_buffer_finish(&out, text, size, error);
}
