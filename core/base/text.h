/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text.h - what the readers and writers of text files share: lines, a small
 * scanner over one line, and a buffer that grows.
 *
 * A scanner is a span: the part of a line that is not read yet. The fors_take_*()
 * functions take something off its front and return true, or leave it as it is
 * and return false. Nothing here needs a terminating zero byte. Any thread.
 */
#ifndef FORS_CORE_BASE_TEXT_H
#define FORS_CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"

#define FORS_TEXT_MAX (1u << 30) /* bytes; the tables of 6,000 servers in a tree of three levels fill 0.4 of it */

struct fors_span {
	const char *at, *end;
};

/* A text that is read line by line; set name, at, end, and 0 for the rest. */
struct fors_lines {
	const char *name;     /* of the file, for messages */
	const char *at, *end; /* what is not read yet */
	uint32_t number;      /* of the line read last, 1 is the first */
	bool is_cut;	      /* that line has no newline: the text ends in it */
};

/*
 * Start on `text`. Errors: FORS_EINPUT when it is empty or binary (has a zero byte),
 * FORS_ELIMIT when it is larger than FORS_TEXT_MAX.
 */
enum fors_err fors_lines_start(struct fors_lines *lines, const char *text, size_t size, const char *name,
			       struct fors_error *error);
/* The next line in *line, without its newline, or false at the end of the text. */
bool fors_lines_next(struct fors_lines *lines, struct fors_span *line);

/*
 * The bytes of the one character that begins at `at`, of `left` bytes, in UTF-8; 0: what stands there is none (no lead byte, cut
 * short, longer than need be, half of a surrogate pair, beyond the last one).
 */
size_t fors_utf8_length(const char *at, size_t left);

/*
 * Make a text one that may be shown on a terminal and written into a log, in place: control characters (newlines and tabs too, those of
 * Unicode, and those that turn the direction of writing) and bytes that are no UTF-8 become '?'. All texts that people read go through
 * this where they are made: fors_fail(), fors_warn(), the log of the plugin, the errors of the command.
 */
void fors_text_clean(char *text);

/* The noun behind a number: "1 flow", "2 flows", "0 flows". */
static inline const char *fors_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* FORS_EINPUT "name:line: <formatted text>"; unprintable characters in it become '?'. */
enum fors_err fors_lines_fail(const struct fors_lines *lines, uint32_t line, struct fors_error *error,
			      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same as FORS_ENOTAPPL: the text is what it should be, but not one that can be used here. */
enum fors_err fors_lines_decline(const struct fors_lines *lines, uint32_t line, struct fors_error *error,
				 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* For "%.*s" in messages: at most 60 bytes of a span. */
static inline int fors_span_width(struct fors_span span)
{
	return span.end - span.at > 60 ? 60 : (int)(span.end - span.at);
}

static inline bool fors_span_is_empty(struct fors_span span)
{
	return span.at == span.end;
}

/* Past blanks and tabs. The take functions take what they find off the front; false: it is not there, nothing is taken.
 */
static inline void fors_skip_blanks(struct fors_span *span)
{
	while (span->at < span->end && (*span->at == ' ' || *span->at == '\t'))
		span->at++;
}

static inline bool fors_take_char(struct fors_span *span, char c)
{
	if (span->at == span->end || *span->at != c)
		return false;
	span->at++;
	return true;
}

static inline bool fors_starts_with(struct fors_span span, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(span.end - span.at) >= length && !memcmp(span.at, word, length);
}

static inline bool fors_take_word(struct fors_span *span, const char *word)
{
	if (!fors_starts_with(*span, word))
		return false;
	span->at += strlen(word);
	return true;
}

/* Digits of base 10 or 16 (no sign, no prefix) up to `max`. */
bool fors_take_number(struct fors_span *span, unsigned base, uint64_t max, uint64_t *value);
/* As strtoull reads with base 0: 0x and hexadecimal digits, 0 and octal ones, or decimal ones. */
bool fors_take_any_number(struct fors_span *span, uint64_t max, uint64_t *value);
/* Everything up to the next `end`, which is taken too, in *inside. */
bool fors_take_until(struct fors_span *span, char end, struct fors_span *inside);

/* A number and the line where it stands, to find out whether one comes twice. */
struct fors_keyed {
	uint64_t key;
	uint32_t line, index;
};

/*
 * Sort `list` by key, then line. When some key comes twice, true, and the two lines
 * of the first such key (the one whose repetition stands first) in *first and *second.
 */
bool fors_keyed_sort(struct fors_keyed *list, size_t count, struct fors_keyed *first, struct fors_keyed *second);

/*
 * The index of the text in list (count of them) that is most like `text`, as somebody mistypes: letters left out,
 * doubled, exchanged with their neighbour or wrong; FORS_NO_TEXT when none is alike. Texts longer than 31 bytes are
 * like none.
 */
#define FORS_NO_TEXT SIZE_MAX
size_t fors_text_nearest(const char *text, const char *const *list, size_t count);

/* Text that grows; start with all zero. Once memory ran out, nothing more is written. */
struct fors_buffer {
	char *text; /* terminated once something was written; free() */
	size_t size, room;
	bool is_short; /* memory ran out */
};

/* Append. */
void fors_buffer_print(struct fors_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hand the text over: *text (owned by the caller) and *size (may be NULL). Errors: FORS_ENOMEM. */
enum fors_err fors_buffer_finish(struct fors_buffer *buffer, char **text, size_t *size, struct fors_error *error);

#endif
