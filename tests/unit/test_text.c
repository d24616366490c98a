/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_text.c - what readers and writers of text are built of: spans, keys that come twice, text that grows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "unit.h"

static struct fors_span span_of(const char *text)
{
	return (struct fors_span){text, text + strlen(text)};
}

/* Of every length around the room that there is: nothing is lost, and the room that just suffices does. */
TEST(a_buffer_takes_any_length)
{
	char *text;
	size_t size;

	for (unsigned first = 1; first < 4095; first += first < 3800 ? 100 : 1) {
		struct fors_buffer buffer = {0};
		unsigned second = 4096 - first - 1;

		fors_buffer_print(&buffer, "%*s", (int)first, "x");
		fors_buffer_print(&buffer, "%*s", (int)second, "y");
		fors_buffer_print(&buffer, "%*s", 5000, "z");
		assert_int_equal(fors_buffer_finish(&buffer, &text, &size, NULL), FORS_OK);
		assert_int_equal(size, first + second + 5000);
		assert_int_equal(strlen(text), size);
		assert_int_equal(text[first - 1], 'x');
		assert_int_equal(text[first + second - 1], 'y');
		assert_int_equal(text[size - 1], 'z');
		free(text);
	}
}

TEST(nothing_printed_is_an_empty_text)
{
	struct fors_buffer buffer = {0};
	char *text;

	assert_int_equal(fors_buffer_finish(&buffer, &text, NULL, NULL), FORS_OK);
	assert_string_equal(text, "");
	free(text);
}

TEST(lines_have_numbers)
{
	static const char text[] = "one\n\nthree";
	struct fors_lines lines;
	struct fors_span line;

	assert_int_equal(fors_lines_start(&lines, text, strlen(text), "t", NULL), FORS_OK);
	for (uint32_t n = 1; n <= 3; n++) {
		assert_true(fors_lines_next(&lines, &line));
		assert_int_equal(lines.number, n);
		assert_int_equal(line.end - line.at, n == 1 ? 3 : n == 2 ? 0 : 5);
		assert_int_equal(lines.is_cut, n == 3);
	}
	assert_false(fors_lines_next(&lines, &line));
	assert_int_equal(fors_lines_start(&lines, "a\0b", 3, "t", NULL), FORS_EINPUT);
	assert_int_equal(fors_lines_start(&lines, "", 0, "t", NULL), FORS_EINPUT);
}

/* The search for a zero byte ends at the first one, so nobody needs a text of that size. */
TEST(the_largest_text)
{
	static const char zero[] = "\0";
	struct fors_error error;
	struct fors_lines lines;

	assert_int_equal(fors_lines_start(&lines, zero, FORS_TEXT_MAX, "t", &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "binary"));
	assert_int_equal(fors_lines_start(&lines, zero, FORS_TEXT_MAX + 1, "t", &error), FORS_ELIMIT);
}

/* What is not there is not taken. */
TEST(takes)
{
	struct fors_span span = span_of("007f)x"), inside;
	uint64_t value;

	assert_false(fors_take_char(&span, '7'));
	assert_false(fors_take_word(&span, "007f)xy"));
	assert_false(fors_take_until(&span, '(', &inside));
	assert_false(fors_take_number(&span, 16, 0x7e, &value));
	assert_string_equal(span.at, "007f)x");
	assert_true(fors_take_number(&span, 16, 0x7f, &value));
	assert_int_equal(value, 0x7f);
	assert_true(fors_take_until(&span, ')', &inside));
	assert_true(fors_span_is_empty(inside));
	assert_true(fors_take_char(&span, 'x'));
	assert_true(fors_span_is_empty(span));
	assert_false(fors_take_char(&span, '\0'));
}

TEST(keys_that_come_twice)
{
	struct fors_keyed first, second;
	struct fors_keyed list[] = {{7, 4, 0}, {5, 6, 1}, {7, 9, 2}, {5, 7, 3}, {1, 1, 4}, {7, 2, 5}};

	assert_true(fors_keyed_sort(list, 6, &first, &second));
	assert_int_equal(first.line, 2); /* 7 comes again in line 4, before 5 does in line 7 */
	assert_int_equal(second.line, 4);
	assert_int_equal(list[0].key, 1);
	assert_int_equal(list[5].line, 9);
	assert_false(fors_keyed_sort(list, 2, &first, &second));
	assert_false(fors_keyed_sort(NULL, 0, &first, &second));
}

/* Of every character of Unicode, of every byte alone, and of characters that are cut or said too long. */
TEST(utf8_is_what_it_says)
{
	static const char *const bad[] = {"\xc0\x80",
					  "\xc1\xbf",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xed\xbf\xbf",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xe2\x28\xa1",
					  "\xe2\x82\x28",
					  "\xf0\x28\x8c\xbc",
					  "\xf0\x90\x80\x28",
					  "\xff",
					  "\x80",
					  "\xbf"};

	for (uint32_t code = 1; code < 0x110000; code++) {
		size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
		char text[4];

		for (size_t i = length; i-- > 0;)
			text[i] = (char)(0x80 | (code >> 6 * (length - 1 - i) & 0x3f));
		text[0] = (char)(length == 1 ? code : lead[length] | code >> 6 * (length - 1));
		assert_int_equal(fors_utf8_length(text, 4), code >= 0xd800 && code < 0xe000 ? 0 : length);
		for (size_t left = 0; left < length; left++)
			assert_int_equal(fors_utf8_length(text, left), 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fors_utf8_length(bad[i], strlen(bad[i])), 0);
}

TEST(a_clean_text_controls_no_terminal)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"plain ~", "plain ~"},
		{"\x1b[2J\x7f\r\n\t\b", "?[2J?????"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc2\x9b\xc2\x80\xc2\xa0", "????\xc2\xa0"},
		{"\x9b\xff"
		 "a\xc3",
		 "??a?"},
		{"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "?????????"},
		{"\xe2\x80\xa6\xe2\x81\xaa", "\xe2\x80\xa6\xe2\x81\xaa"},
		{"\xed\xa0\x80", "???"}};
	struct fors_error error;
	char text[32];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(text, texts[i][0]);
		fors_text_clean(text);
		assert_string_equal(text, texts[i][1]);
		fors_fail(&error, FORS_EINPUT, "%s", texts[i][0]);
		assert_string_equal(error.text, texts[i][1]);
	}
	fors_fail(&error, FORS_EINPUT, "%*s\xc3\xa9", FORS_ERROR_TEXT - 2, ""); /* cut in the middle of a character */
	assert_int_equal(error.text[FORS_ERROR_TEXT - 2], '?');
}
