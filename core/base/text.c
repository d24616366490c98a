/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text.c - text in and out; text.h has the idea.
 *
 * Input is one block of memory that is never changed and never copied: a line, a word, is a pair of pointers into it.
 * What is no text (a zero byte, too many bytes) is refused before the first line, so no reader has to think of it.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum fors_err fors_lines_start(struct fors_lines *lines, const char *text, size_t size, const char *name,
			       struct fors_error *error)
{
	if (size == 0)
		return fors_fail(error, FORS_EINPUT, "%s: the file is empty", name);
	if (size > FORS_TEXT_MAX)
		return fors_fail(error, FORS_ELIMIT, "%s: the file has %zu bytes, more than the %u that fors reads",
				 name, size, FORS_TEXT_MAX);
	if (memchr(text, 0, size))
		return fors_fail(error, FORS_EINPUT, "%s: the file is binary, not text", name);
	*lines = (struct fors_lines){.name = name, .at = text, .end = text + size};
	return FORS_OK;
}

bool fors_lines_next(struct fors_lines *lines, struct fors_span *line)
{
	const char *newline;

	if (lines->at == lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	lines->is_cut = !newline;
	line->at = lines->at;
	line->end = newline ? newline : lines->end;
	lines->at = newline ? newline + 1 : lines->end;
	lines->number++;
	if (line->end > line->at && line->end[-1] == '\r')
		line->end--;
	return true;
}

/* Where a lead byte may be followed by fewer bytes than 80..BF: what the others would say is said shorter, or is no character. */
static bool is_second(unsigned char lead, unsigned char c)
{
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

	return c >= low && c <= high;
}

size_t fors_utf8_length(const char *at, size_t left)
{
	const unsigned char *c = (const unsigned char *)at;
	size_t length;

	if (!left || (*c >= 0x80 && *c < 0xc2) || *c > 0xf4)
		return 0;
	length = *c < 0x80 ? 1 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
	if (length > left || (length > 1 && !is_second(*c, c[1])))
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Of a character of so many bytes: C0, DEL, C1; line ends of Unicode, and marks of direction. */
static bool is_control(const unsigned char *c, size_t length)
{
	if (length == 1)
		return *c < ' ' || *c == 0x7f;
	if (length == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	if (length != 3 || c[0] != 0xe2)
		return false;
	return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae))) ||
	       (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

void fors_text_clean(char *text)
{
	for (size_t left = strlen(text); left;) {
		size_t length = fors_utf8_length(text, left), step = length ? length : 1;

		if (!length || is_control((const unsigned char *)text, length))
			memset(text, '?', step);
		text += step;
		left -= step;
	}
}

static enum fors_err fail_at(const struct fors_lines *lines, uint32_t line, enum fors_err code,
			     struct fors_error *error, const char *format, va_list args)
{
	char text[FORS_ERROR_TEXT];

	vsnprintf(text, sizeof(text), format, args);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
			*c = '?';
	return fors_fail(error, code, "%s:%u: %s", lines->name, line, text);
}

enum fors_err fors_lines_fail(const struct fors_lines *lines, uint32_t line, struct fors_error *error,
			      const char *format, ...)
{
	enum fors_err err;
	va_list args;

	va_start(args, format);
	err = fail_at(lines, line, FORS_EINPUT, error, format, args);
	va_end(args);
	return err;
}

enum fors_err fors_lines_decline(const struct fors_lines *lines, uint32_t line, struct fors_error *error,
				 const char *format, ...)
{
	enum fors_err err;
	va_list args;

	va_start(args, format);
	err = fail_at(lines, line, FORS_ENOTAPPL, error, format, args);
	va_end(args);
	return err;
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return UINT32_MAX;
}

bool fors_take_number(struct fors_span *span, unsigned base, uint64_t max, uint64_t *value)
{
	const char *at = span->at;
	uint64_t sum = 0;

	for (; at < span->end && digit_value(*at) < base; at++) {
		unsigned digit = digit_value(*at);

		if (sum > (max - digit) / base || digit > max)
			return false;
		sum = sum * base + digit;
	}
	if (at == span->at)
		return false;
	span->at = at;
	*value = sum;
	return true;
}

bool fors_take_any_number(struct fors_span *span, uint64_t max, uint64_t *value)
{
	struct fors_span rest = *span;

	if (fors_take_word(&rest, "0x") || fors_take_word(&rest, "0X")) {
		if (!fors_take_number(&rest, 16, max, value))
			return false;
	} else if (!fors_take_number(&rest, fors_starts_with(rest, "0") ? 8 : 10, max, value)) {
		return false;
	}
	*span = rest;
	return true;
}

bool fors_take_until(struct fors_span *span, char end, struct fors_span *inside)
{
	const char *found = memchr(span->at, end, (size_t)(span->end - span->at));

	if (!found)
		return false;
	*inside = (struct fors_span){span->at, found};
	span->at = found + 1;
	return true;
}

static int compare_keyed(const void *a, const void *b)
{
	const struct fors_keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

bool fors_keyed_sort(struct fors_keyed *list, size_t count, struct fors_keyed *first, struct fors_keyed *second)
{
	bool is_twice = false;

	if (count > 0)
		qsort(list, count, sizeof(*list), compare_keyed);
	for (size_t i = 1; i < count; i++) {
		if (list[i].key != list[i - 1].key || (is_twice && list[i].line >= second->line))
			continue;
		*first = list[i - 1];
		*second = list[i];
		is_twice = true;
	}
	return is_twice;
}

static bool buffer_reserve(struct fors_buffer *buffer, size_t more)
{
	size_t room = buffer->room ? buffer->room : 4096;
	char *text;

	while (room - buffer->size < more)
		room *= 2;
	if (room == buffer->room)
		return true;
	text = realloc(buffer->text, room);
	if (!text) {
		buffer->is_short = true;
		return false;
	}
	buffer->text = text;
	buffer->room = room;
	return true;
}

#define NEAR_MAX 32

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many slips lead from one text to the other (Damerau and Levenshtein, without a slip inside a slip). */
static unsigned count_slips(const char *a, const char *b)
{
	unsigned slips[NEAR_MAX + 1][NEAR_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	for (size_t i = 0; i <= na; i++)
		for (size_t j = 0; j <= nb; j++) {
			if (!i || !j) {
				slips[i][j] = (unsigned)(i + j);
				continue;
			}
			slips[i][j] = least(slips[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
					    1 + least(slips[i - 1][j], slips[i][j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				slips[i][j] = least(slips[i][j], slips[i - 2][j - 2] + 1);
		}
	return slips[na][nb];
}

size_t fors_text_nearest(const char *text, const char *const *list, size_t count)
{
	unsigned fewest = 1 + (unsigned)strlen(text) / 3;
	size_t nearest = FORS_NO_TEXT;

	for (size_t i = 0; strlen(text) < NEAR_MAX && i < count; i++) {
		unsigned slips = strlen(list[i]) < NEAR_MAX ? count_slips(text, list[i]) : NEAR_MAX;

		if (slips < fewest || (slips == fewest && nearest == FORS_NO_TEXT)) {
			fewest = slips;
			nearest = i;
		}
	}
	return nearest;
}

void fors_buffer_print(struct fors_buffer *buffer, const char *format, ...)
{
	size_t more = 256; /* a usual line: then one pass is enough */
	va_list args;
	int length;

	do {
		if (buffer->is_short || !buffer_reserve(buffer, more))
			return;
		va_start(args, format);
		length = vsnprintf(buffer->text + buffer->size, buffer->room - buffer->size, format, args);
		va_end(args);
		more = (size_t)length + 1;
	} while (more > buffer->room - buffer->size);
	buffer->size += (size_t)length;
}

enum fors_err fors_buffer_finish(struct fors_buffer *buffer, char **text, size_t *size, struct fors_error *error)
{
	fors_buffer_print(buffer, "%s", "");
	if (buffer->is_short) {
		free(buffer->text);
		return fors_fail_memory(error);
	}
	*text = buffer->text;
	if (size)
		*size = buffer->size;
	return FORS_OK;
}
