/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* setters.c - how the argument of an option becomes a setting. */
#include "setters.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void *cli_member_of(const struct cli_option *option, struct cli_settings *settings)
{
	return (char *)settings + option->member;
}

static bool names_file(const struct cli_option *option)
{
	return !strcmp(option->argument, "FILE") || !strcmp(option->argument, "DIR") ||
	       !strcmp(option->argument, "HISTORY");
}

bool cli_set_flag(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	(void)argument;
	*(bool *)cli_member_of(option, settings) = true;
	return true;
}

/* An empty name of a file is an unset variable of somebody's shell; a system's "No such file" would not say so. */
bool cli_set_text(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	if (!*argument && names_file(option)) {
		cli_usage_error("option '--%s' names no file: its value is empty", option->name);
		return false;
	}
	*(const char **)cli_member_of(option, settings) = argument;
	return true;
}

/* One of the names. */
bool cli_set_choice_text(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_choice(option->name, argument, option->values) >= 0 && cli_set_text(option, argument, settings);
}

bool cli_set_number(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_number(option->name, argument, 0, option->most, cli_member_of(option, settings));
}

/* From 1 on. */
bool cli_set_positive(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_number(option->name, argument, 1, option->most, cli_member_of(option, settings));
}

/* The index of a name. */
bool cli_set_choice(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	int choice = cli_choice(option->name, argument, option->values);

	*(int *)cli_member_of(option, settings) = choice < 0 ? 0 : choice;
	return choice >= 0;
}

bool cli_set_lmc(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->source.has_lmc = true;
	return cli_set_number(option, argument, settings);
}

bool cli_set_count(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_count = true;
	return cli_set_number(option, argument, settings);
}

bool cli_set_time(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_amount *amount = cli_member_of(option, settings);

	amount->is_given = true;
	return cli_time(option->name, argument, &amount->value);
}

/* One more of them. */
bool cli_add_text(struct cli_texts *texts, const char *argument)
{
	const char **more = realloc(texts->text, (texts->count + 1) * sizeof(*more));

	if (!more) {
		cli_error("out of memory");
		return false;
	}
	more[texts->count++] = argument;
	texts->text = more;
	return true;
}
