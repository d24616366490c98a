/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* out.c - what the user sees: errors, colours, the progress bar. */
#include "cli/cli.h"
#include "cli/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/status/status_json.h"

static const char *command_name; /* of the subcommand that runs, for error texts */
static int bar_percent = -1;	 /* what the progress bar shows, -1: there is none */
static const char *bar_name = "planning";

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
		[CLI_PLAIN] = "\033[0m",    [CLI_BOLD] = "\033[1m",	 [CLI_RED] = "\033[1;31m",
		[CLI_GREEN] = "\033[1;32m", [CLI_YELLOW] = "\033[1;33m",
	};

	return has_colours() ? codes[colour] : "";
}

/* How long ago a Unix time was, as " since 5 min"; nothing when it is not known. */
static void print_since(int64_t since_ms)
{
	if (since_ms < 0)
		return;
	printf(", for ");
	cli_print_age(cli_age((uint64_t)since_ms));
}

void cli_print_links(const char *label, const struct fors_links *links, bool says_used)
{
	for (size_t i = 0; i < links->count && i < LISTED_LINKS; i++) {
		const struct fors_link *link = &links->link[i];

		printf("%-12s%s[%u] - %s[%u]", i ? "" : label, link->a, link->a_port, link->b, link->b_port);
		print_since(link->since_ms);
		printf("%s\n", !says_used ? "" : link->is_used ? "; in use" : "; carries no servers' traffic");
	}
	if (links->count > LISTED_LINKS)
		printf("            and %zu more (--json lists all)\n", links->count - LISTED_LINKS);
}

void cli_print_dead_links(const struct fors_status *status)
{
	size_t dead = status->dead_links.count;

	if (!dead) {
		printf("dead        nothing\n");
		return;
	}
	printf("dead        %zu cable%s; %lld spine%s affected\n", dead, dead == 1 ? "" : "s",
	       (long long)status->affected_spines, status->affected_spines == 1 ? "" : "s");
	cli_print_links("", &status->dead_links, false);
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
	fprintf(stderr, "\r%s [", bar_name);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < percent * BAR_WIDTH / 100 ? '#' : '.', stderr);
	fprintf(stderr, "] %3d %%", percent);
	fflush(stderr);
}

void cli_progress_name(const char *name)
{
	bar_name = name;
}

void cli_progress_end(void)
{
	if (bar_percent >= 0)
		fprintf(stderr, "\r%*s\r", BAR_WIDTH + 20, "");
	bar_percent = -1;
}

void cli_print_bounds(const struct fors_status *status)
{
	if (status->tables_bound < 0 || status->lump_bound < 0 || status->phases <= status->lower_bound)
		return;
	printf("one LID     any tables %lld phases or more, these %lld or more\n", (long long)status->lump_bound,
	       (long long)status->tables_bound);
}
