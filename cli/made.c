/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* made.c - when and by what a picture or page was made. */
#include "made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/clock.h"
#include "core/base/text.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%"

/* SOURCE_DATE_EPOCH, or the clock. */
static time_t seconds(void)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	char *end = NULL;
	long long wanted;

	errno = 0;
	wanted = text ? strtoll(text, &end, 10) : 0;
	return text && *text && !*end && !errno ? (time_t)wanted : (time_t)(cli_unix_ms() / 1000);
}

void cli_made_date(char *date)
{
	time_t now = seconds();
	struct tm tm;

	*date = '\0';
	if (gmtime_r(&now, &tm))
		strftime(date, CLI_DATE_ROOM, "%Y-%m-%d %H:%M UTC", &tm);
}

static void print_word(struct fors_buffer *out, const char *word)
{
	if (*word && !word[strspn(word, PLAIN)]) {
		fors_buffer_print(out, " %s", word);
		return;
	}
	fors_buffer_print(out, " '");
	for (; *word; word++)
		if (*word == '\'')
			fors_buffer_print(out, "'\\''");
		else
			fors_buffer_print(out, "%c", *word);
	fors_buffer_print(out, "'");
}

char *cli_made_command(const struct cli_settings *settings)
{
	struct fors_buffer out = {0};
	char *text = NULL;

	fors_buffer_print(&out, "fors");
	for (int i = 0; i < settings->argc; i++)
		print_word(&out, settings->argv[i]);
	return fors_buffer_finish(&out, &text, NULL, NULL) ? NULL : text;
}

const char *cli_made_input(const struct cli_settings *settings)
{
	const struct cli_source *source = &settings->source;
	const char *what = source->fabric ? source->fabric : source->synthetic;

	return what && !strcmp(what, "-") ? "standard input" : what ? what : "";
}
