/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mend.c - one walk over the bytes. In JSON all depends on what is inside quotes and what is not: only there do users' texts stand, and
 * Slurm escapes the quotes in them, so they cannot end their string.
 */
#include "mend.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define DIGITS_MAX 18 /* of a whole number that 64 bits can say */

void slurm_mend_text(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = '?';
}

/* The value of the four digits of "\\uXXXX", UINT32_MAX: there are none. */
static uint32_t escaped(const char *at, size_t left)
{
	char digits[5] = "";

	if (left < 6 || at[0] != '\\' || at[1] != 'u')
		return UINT32_MAX;
	for (unsigned i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)at[2 + i]))
			return UINT32_MAX;
		digits[i] = at[2 + i];
	}
	return (uint32_t)strtoul(digits, NULL, 16);
}

/* An escape in a string, and how many bytes it has. */
static size_t mend_escape(char *at, size_t left)
{
	uint32_t code = escaped(at, left), second;

	if (left > 1 && strchr("\"\\/bfnrt", at[1]) && at[1])
		return 2;
	if (code == UINT32_MAX) {
		*at = '?';
		return 1;
	}
	second = escaped(at + 6, left - 6);
	if (code >= 0xd800 && code < 0xdc00 && second >= 0xdc00 && second < 0xe000)
		return 12;
	if (!code || (code >= 0xd800 && code < 0xe000))
		memcpy(at, "\\u003f", 6);
	return 6;
}

/* What stands behind an opening quote, up to the closing one; how many bytes that is. */
static size_t mend_string(char *text, size_t size)
{
	size_t i = 0;

	while (i < size && text[i] != '"') {
		size_t length = fors_utf8_length(text + i, size - i);

		if (text[i] == '\\') {
			i += mend_escape(text + i, size - i);
			continue;
		}
		if (!length || (unsigned char)text[i] < ' ')
			text[i] = length && text[i] ? ' ' : '?';
		i += length ? length : 1;
	}
	return i;
}

static size_t length_of(const char *text, size_t size, int (*is_of)(int c))
{
	size_t n = 0;

	while (n < size && is_of((unsigned char)text[n]))
		n++;
	return n;
}

static size_t mend_word(char *text, size_t size)
{
	size_t n = length_of(text, size, isalpha);

	if ((n == 4 && (!memcmp(text, "true", 4) || !memcmp(text, "null", 4))) || (n == 5 && !memcmp(text, "false", 5)))
		return n;
	memset(text, ' ', n);
	*text = '0';
	return n;
}

static int is_of_number(int c)
{
	return isdigit(c) || (c && strchr("+-.eE", c));
}

static size_t mend_number(char *text, size_t size)
{
	size_t n = length_of(text, size, is_of_number);

	if (length_of(text, n, isdigit) == n && n > DIGITS_MAX)
		memset(text + DIGITS_MAX, ' ', n - DIGITS_MAX);
	return n;
}

void slurm_mend_json(char *text, size_t size)
{
	size_t i = 0;

	while (i < size) {
		if (text[i] == '"')
			i += 1 + mend_string(text + i + 1, size - i - 1) + 1;
		else if (isdigit((unsigned char)text[i]))
			i += mend_number(text + i, size - i);
		else if (isalpha((unsigned char)text[i]))
			i += mend_word(text + i, size - i);
		else
			i++;
	}
}
