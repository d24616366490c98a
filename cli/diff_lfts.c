/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff_lfts.c - `fors diff --lfts`: which entries differ between two files of forwarding tables.
 *
 * Entries stand by switch GUID, then by LID. Two dumps of one state give the same output whatever order their
 * programs wrote the switches in, so outputs can be compared as texts.
 */
#include "cli/diff_lfts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "core/net/lftfile.h"
#include "core/net/lfts_diff.h"

typedef char name_text[FORS_NAME_MAX + 1];

/* The tables of one file, and what it calls their switches. */
struct named_lfts {
	struct fors_lfts *lfts;
	name_text *name; /* by row */
};

static enum fors_err read_named(const char *text, size_t size, const char *path, void *context,
				struct fors_error *error)
{
	struct named_lfts *named = context;
	enum fors_err err = fors_lftfile_read(text, size, path, &named->lfts, error);

	if (err)
		return err;
	named->name = calloc(named->lfts->nswitches + (size_t)1, sizeof(*named->name));
	if (!named->name)
		return fors_fail_memory(error);
	fors_lftfile_names(text, size, named->lfts, named->name);
	return FORS_OK;
}

static void clear(struct named_lfts *named)
{
	fors_lfts_free(named->lfts);
	free(named->name);
}

static const char *name_in(const struct named_lfts *named, uint64_t guid)
{
	uint32_t row = fors_lfts_row(named->lfts, guid);

	return row == FORS_NONE ? "" : named->name[row];
}

/* As the later of the two files calls it. */
static const char *name_of(const struct named_lfts *was, const struct named_lfts *is, uint64_t guid)
{
	const char *name = name_in(is, guid);

	return *name ? name : name_in(was, guid);
}

/* --- for people ------------------------------------------------------------------------------------------------- */

struct pair {
	const struct named_lfts *was, *is;
};

static const char *name_of_pair(void *context, uint64_t guid)
{
	const struct pair *pair = context;

	return name_of(pair->was, pair->is, guid);
}

static int print_text(const struct named_lfts *was, const struct named_lfts *is, const struct fors_lfts_diff *diff)
{
	struct pair pair = {was, is};
	struct fors_error error = {0};
	char *text;

	if (fors_lfts_diff_text(diff, name_of_pair, &pair, &text, NULL, &error))
		return cli_fail(&error);
	printf("%s", text);
	free(text);
	return CLI_GOOD;
}

/* --- for programs ----------------------------------------------------------------------------------------------- */

static json_t *port_to_json(uint8_t port)
{
	return port == FORS_NO_PATH ? json_null() : json_integer(port);
}

static json_t *entries_to_json(const struct fors_lfts_diff *diff, const struct fors_table_change *table)
{
	json_t *list = json_array();

	for (size_t i = table->first; list && i < table->first + table->count; i++)
		json_array_append_new(list, json_pack("{s:i, s:o, s:o}", "lid", (int)diff->entry[i].lid, "was",
						      port_to_json(diff->entry[i].was), "is",
						      port_to_json(diff->entry[i].is)));
	return list;
}

static json_t *table_to_json(const struct fors_lfts_diff *diff, const struct fors_table_change *table, const char *name)
{
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, table->guid);
	return json_pack("{s:s, s:o, s:s, s:o}", "guid", guid, "name", fors_json_text(name), "table",
			 table->was && table->is ? "both"
			 : table->was		 ? "gone"
						 : "new",
			 "entries", entries_to_json(diff, table));
}

static int print_json(const struct named_lfts *was, const struct named_lfts *is, const struct fors_lfts_diff *diff)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < diff->ntables; i++)
		json_array_append_new(list,
				      table_to_json(diff, &diff->table[i], name_of(was, is, diff->table[i].guid)));
	return cli_print_json(json_pack("{s:b, s:I, s:I, s:i, s:o}", "same", diff->ntables == 0, "entries",
					(json_int_t)diff->nentries, "compared", (json_int_t)diff->compared, "switches",
					(int)diff->nswitches, "tables", list));
}

/* --- the comparison --------------------------------------------------------------------------------------------- */

static int compare(const struct named_lfts *was, const struct named_lfts *is, bool is_json)
{
	struct fors_error error = {0};
	struct fors_lfts_diff diff;
	int code;

	if (fors_lfts_diff(was->lfts, is->lfts, &diff, &error))
		return cli_fail(&error);
	code = is_json ? print_json(was, is, &diff) : print_text(was, is, &diff);
	if (!code && diff.ntables)
		code = CLI_NO;
	fors_lfts_diff_clear(&diff);
	return code;
}

int cli_diff_lfts(const char *was, const char *is, bool is_json)
{
	struct named_lfts before = {0}, now = {0};
	int code = cli_use_file(was, read_named, &before);

	if (!code)
		code = cli_use_file(is, read_named, &now);
	if (!code)
		code = compare(&before, &now, is_json);
	clear(&before);
	clear(&now);
	return code;
}
