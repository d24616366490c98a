/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* out.c - what the user sees: errors, colours, the progress bar. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *command_name; /* of the subcommand that runs, for error texts */
static int bar_percent = -1;     /* what the progress bar shows, -1: there is none */

#define BAR_WIDTH 40
#define LISTED_LINKS 10 /* dead links that are listed for people; --json lists all */

void cli_set_name(const char *command)
{
	command_name = command;
}

static void say(const char *format, va_list args)
{
	cli_progress_end();
	fflush(stdout); /* keeps the order when both streams are one terminal */
	fprintf(stderr, "fors%s%s: ", command_name ? " " : "", command_name ? command_name : "");
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
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
		[CLI_PLAIN] = "\033[0m",
		[CLI_BOLD] = "\033[1m",
		[CLI_RED] = "\033[1;31m",
		[CLI_GREEN] = "\033[1;32m",
		[CLI_YELLOW] = "\033[1;33m",
	};

	return has_colours() ? codes[colour] : "";
}

void cli_print_dead_links(const struct fors_status *status)
{
	if (!status->ndead_links) {
		printf("dead        nothing\n");
		return;
	}
	printf("dead        %zu cable%s, on %lld spine%s\n", status->ndead_links, status->ndead_links == 1 ? "" : "s",
	       (long long)status->affected_spines, status->affected_spines == 1 ? "" : "s");
	for (size_t i = 0; i < status->ndead_links && i < LISTED_LINKS; i++) {
		const struct fors_dead_link *link = &status->dead_link[i];

		printf("              %s[%u] - %s[%u]\n", link->a, link->a_port, link->b, link->b_port);
	}
	if (status->ndead_links > LISTED_LINKS)
		printf("              and %zu more (--json lists all)\n", status->ndead_links - LISTED_LINKS);
}

int cli_print_status_json(const struct fors_status *status)
{
	struct fors_error error = {0};
	char *text;

	if (fors_status_json(status, &text, &error))
		return cli_fail(&error);
	fputs(text, stdout);
	free(text);
	return CLI_GOOD;
}

void cli_progress(void *context, double done)
{
	int percent = done < 0 ? 0 : done > 1 ? 100 : (int)(done * 100);

	if (percent == bar_percent || !isatty(STDERR_FILENO))
		return;
	bar_percent = percent;
	fprintf(stderr, "\rplanning [");
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < percent * BAR_WIDTH / 100 ? '#' : '.', stderr);
	fprintf(stderr, "] %3d %%", percent);
	fflush(stderr);
}

void cli_progress_end(void)
{
	if (bar_percent >= 0)
		fprintf(stderr, "\r%*s\r", BAR_WIDTH + 20, "");
	bar_percent = -1;
}

double cli_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
