/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namebook_file.c - a book of names as text.
 *
 *   fors-names 1                                                      what this is, and its version
 *   reference 0x0123456789abcdef                                      digest of the reference whose names were taken, 0: none
 *   name 0x100000 0x100001 0x200012 7 0 "node01 HCA-1"                owner, its port, switch and port where it was last,
 *                                                                     turn (GUIDs have 16 digits)
 *   crc 0x89abcdef                                                    CRC-32 of all bytes before this line
 *
 * The reader believes nothing before the CRC is right, and at the end writes what it understood and compares.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/base/text.h"
#include "namebook_inside.h"

#define VERSION 1
#define CRC_LINE 15 /* bytes of "crc 0x89abcdef\n" */

enum fors_err fors_namebook_encode(const struct fors_namebook *book, char **text, size_t *size,
				   struct fors_error *error)
{
	struct fors_buffer to = {0};

	fors_buffer_print(&to, "fors-names %u\nreference 0x%016" PRIx64 "\n", VERSION, book->reference);
	for (uint32_t i = 0; i < book->count; i++) {
		const struct name_entry *entry = &book->entry[i];

		fors_buffer_print(
			&to, "name 0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016" PRIx64 " %u %" PRIu32 " \"%s\"\n",
			entry->guid, entry->port_guid, entry->place.sw, entry->place.port, entry->turn, entry->name);
	}
	if (!to.is_short)
		fors_buffer_print(&to, "crc 0x%08" PRIx32 "\n",
				  (uint32_t)crc32_z(0, (const unsigned char *)to.text, to.size));
	return fors_buffer_finish(&to, text, size, error);
}

static bool take_guid(struct fors_span *line, uint64_t *guid)
{
	return fors_take_word(line, " 0x") && fors_take_number(line, 16, UINT64_MAX, guid);
}

static bool take_name(struct fors_span *line, char *name)
{
	struct fors_span inside;

	if (!fors_take_word(line, " \"") || !fors_take_until(line, '"', &inside) || inside.at == inside.end ||
	    inside.end - inside.at > FORS_NAME_MAX || !fors_span_is_empty(*line))
		return false;
	for (const char *c = inside.at; c < inside.end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	memcpy(name, inside.at, (size_t)(inside.end - inside.at));
	return true;
}

static bool take_entry(struct fors_span *line, struct name_entry *entry)
{
	uint64_t port, turn;

	*entry = (struct name_entry){.guid = 0};
	if (!fors_take_word(line, "name") || !take_guid(line, &entry->guid) || !entry->guid ||
	    !take_guid(line, &entry->port_guid) || !take_guid(line, &entry->place.sw) || !fors_take_char(line, ' ') ||
	    !fors_take_number(line, 10, 254, &port) || !fors_take_char(line, ' ') ||
	    !fors_take_number(line, 10, UINT32_MAX - 1, &turn) || !take_name(line, entry->name))
		return false;
	entry->place.port = (uint8_t)port;
	entry->turn = (uint32_t)turn;
	return true;
}

static enum fors_err read_all(struct fors_lines *lines, struct fors_namebook *book, struct fors_error *error)
{
	struct fors_span line = {NULL, NULL}, reference;
	enum fors_err err = FORS_OK;

	if (!fors_lines_next(lines, &line) || !fors_take_word(&line, "fors-names 1") || !fors_span_is_empty(line))
		return fors_lines_fail(lines, 1, error, "no names of fors, or of another version");
	if (!fors_lines_next(lines, &reference) || !fors_take_word(&reference, "reference") ||
	    !take_guid(&reference, &book->reference) || !fors_span_is_empty(reference))
		return fors_lines_fail(lines, 2, error, "the reference is missing");
	while (!err && fors_lines_next(lines, &line) && !fors_starts_with(line, "crc ")) {
		struct name_entry entry;

		if (!take_entry(&line, &entry))
			return fors_lines_fail(lines, lines->number, error, "not a name and its owner");
		err = name_append(book, &entry, error);
	}
	return err;
}

/* Is it, to the last byte, what the writer would have written? */
static enum fors_err compare(const struct fors_namebook *book, const char *text, size_t size, const char *file,
			     struct fors_error *error)
{
	char *again;
	size_t again_size;
	enum fors_err err = fors_namebook_encode(book, &again, &again_size, error);

	if (err)
		return err;
	for (uint32_t i = 1; i < book->count; i++)
		if (strcmp(book->entry[i - 1].name, book->entry[i].name) >= 0)
			err = fors_fail(error, FORS_EINPUT, "%s: names out of order", file);
	if (!err && (again_size != size || memcmp(again, text, size) != 0))
		err = fors_fail(error, FORS_EINPUT, "%s: cut or changed", file);
	free(again);
	return err;
}

enum fors_err fors_namebook_decode(const char *text, size_t size, const char *file, struct fors_namebook **book,
				   struct fors_error *error)
{
	struct fors_namebook *made = fors_namebook_new();
	struct fors_lines lines = {0};
	char crc[CRC_LINE + 1];
	enum fors_err err = made ? fors_lines_start(&lines, text, size, file, error) : fors_fail_memory(error);

	if (!err && size > CRC_LINE) {
		snprintf(crc, sizeof(crc), "crc 0x%08" PRIx32 "\n",
			 (uint32_t)crc32_z(0, (const unsigned char *)text, size - CRC_LINE));
		if (memcmp(text + size - CRC_LINE, crc, CRC_LINE) != 0)
			err = fors_fail(error, FORS_EINPUT, "%s: cut or changed", file);
	}
	if (!err)
		err = read_all(&lines, made, error);
	if (!err)
		err = compare(made, text, size, file, error);
	if (err)
		fors_namebook_free(made);
	else
		*book = made;
	return err;
}
