/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* out.c - what the user sees: errors, colours, the progress bar. */
#define _GNU_SOURCE /* vasprintf() */
#include "cli/cli.h"
#include "cli/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"

static const char *command_name; /* of the subcommand that runs, for error texts */
static int bar_percent = -1;	 /* what the progress bar shows, -1: there is none */
static const char *bar_name = "planning";
static unsigned bar_total; /* of what there are so many, 0: it has no number */
static double bar_start;   /* when it was first shown, by cli_now_ms() */
static double bar_first;   /* and what was done by then */
static bool has_lines;	   /* it is asked for where there is no terminal: lines */
static double line_at;	   /* when the last line was written */

#define BAR_WIDTH 40
#define LINE_MS 1000 /* between two lines */

void cli_set_name(const char *command)
{
	command_name = command;
}

/* What is quoted may be anybody's: names in files, words of a command line, what other programs print. */
static void say(const char *format, va_list args)
{
	char *text = NULL;

	cli_progress_end();
	fflush(stdout); /* keeps the order when both streams are one terminal */
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (text)
		fors_text_clean(text);
	fprintf(stderr, "fors%s%s: %s\n", command_name ? " " : "", command_name ? command_name : "",
		text ? text : "out of memory");
	free(text);
}

void cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int cli_usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "Try 'fors %s%s--help'.\n", command_name ? command_name : "", command_name ? " " : "");
	return CLI_BAD;
}

int cli_fail(const struct fors_error *error)
{
	cli_error("%s", error->text);
	switch (error->code) {
	case FORS_ENOPATH:
	case FORS_ELMC:
	case FORS_ENOTAPPL:
	case FORS_ENOPLAN:
	case FORS_ETIMEOUT:
	case FORS_ECANCELLED:
		return CLI_NO;
	default:
		return CLI_BAD;
	}
}

static bool has_colours(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") && !(no_color && *no_color);
}

const char *cli_colour(enum cli_colour colour)
{
	static const char *const codes[] = {
		[CLI_PLAIN] = "\033[0m",    [CLI_BOLD] = "\033[1m",	 [CLI_RED] = "\033[1;31m",
		[CLI_GREEN] = "\033[1;32m", [CLI_YELLOW] = "\033[1;33m",
	};

	return has_colours() ? codes[colour] : "";
}

void cli_print_age(double seconds)
{
	if (seconds < 120)
		printf("%.0f s", seconds);
	else if (seconds < 7200)
		printf("%.0f min", seconds / 60);
	else if (seconds < 172800)
		printf("%.0f h", seconds / 3600);
	else
		printf("%.0f days", seconds / 86400);
}

/* As it went so far; not in the first moments, of which nothing follows. */
static void print_time_left(double done, double now)
{
	double left = done > bar_first ? (now - bar_start) / 1000 * (1 - done) / (done - bar_first) : 0;

	if (now - bar_start < 2000 || left < 1)
		fprintf(stderr, "%*s", has_lines ? 0 : 12, "");
	else if (left < 3600)
		fprintf(stderr, ", %u:%02u left%s", (unsigned)left / 60, (unsigned)left % 60, has_lines ? "" : " ");
	else
		fprintf(stderr, ", %.1f h left%s", left / 3600, has_lines ? "" : " ");
}

static void print_done(double done, int percent)
{
	if (bar_total)
		fprintf(stderr, "%u/%u", (unsigned)(done * bar_total + 0.5), bar_total);
	else
		fprintf(stderr, "%3d %%", percent);
}

/* "failures 35/361, 1:20 left": for logs, not more often than a person reads, and always the last one. */
static void print_line(double done, int percent, double now)
{
	if (percent < 100 && now - line_at < LINE_MS)
		return;
	line_at = now;
	fprintf(stderr, "%s ", bar_name);
	print_done(done, percent);
	print_time_left(done, now);
	fputc('\n', stderr);
}

static void print_bar(double done, int percent, double now)
{
	fprintf(stderr, "\r%s [", bar_name);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < percent * BAR_WIDTH / 100 ? '#' : '.', stderr);
	fprintf(stderr, "] ");
	print_done(done, percent);
	print_time_left(done, now);
	fflush(stderr);
}

void cli_progress(void *context, double done)
{
	int percent = done < 0 ? 0 : done > 1 ? 100 : (int)(done * 100);
	double now = cli_now_ms();

	(void)context;
	if (bar_percent < 0) {
		bar_start = now;
		bar_first = done;
	}
	if (percent == bar_percent || (!has_lines && !isatty(STDERR_FILENO)))
		return;
	bar_percent = percent;
	if (has_lines)
		print_line(done, percent, now);
	else
		print_bar(done, percent, now);
}

void cli_progress_wanted(void)
{
	has_lines = !isatty(STDERR_FILENO);
}

void cli_progress_name(const char *name, unsigned total)
{
	bar_name = name;
	bar_total = total;
}

void cli_progress_end(void)
{
	if (bar_percent >= 0 && !has_lines)
		fprintf(stderr, "\r%*s\r", BAR_WIDTH + 50, "");
	bar_percent = -1;
}

void cli_print_bounds(const struct fors_status *status)
{
	if (status->tables_bound < 0 || status->lump_bound < 0 || status->phases <= status->lower_bound)
		return;
	printf("one LID     servers with one LID each need %lld %s at least with the best tables%s, %lld with these\n",
	       (long long)status->lump_bound, fors_plural(status->lump_bound, "phase", "phases"),
	       status->tops >= 0 && status->phases > status->lump_bound ? " (an estimate: perhaps none reach it)" : "",
	       (long long)status->tables_bound);
}
