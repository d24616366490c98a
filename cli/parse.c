/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parse.c - the command line of a subcommand: parsed, and explained, from the table of options.
 *
 * getopt_long() wants a list of its own; the value that it returns for an option is its position in that list.
 */
#include "cli/cli.h"
#include "cli/combinations.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 80 /* of one subcommand, --help and the end included */

/* What getopt_long() returns: above all characters, and options by their position. */
enum { HELP = 256, FIRST_OPTION };

static int has_argument(const struct cli_option *option)
{
	if (!option->argument)
		return no_argument;
	return *option->argument == '[' ? optional_argument : required_argument;
}

/* The list that getopt_long() wants; --help comes last. given[]: the same, without it; how many these are. */
static int list_options(const struct cli_command *command, struct option *list, struct cli_given *given)
{
	int n = 0;

	for (const struct cli_option *o = NULL; n < MAX_OPTIONS - 2 && (o = cli_option_next(o, command->id)); n++) {
		list[n] = (struct option){o->name, has_argument(o), NULL, FIRST_OPTION + n};
		given[n] = (struct cli_given){.name = o->name};
	}
	list[n] = (struct option){"help", no_argument, NULL, HELP};
	list[n + 1] = (struct option){0};
	return n;
}

/* The option for which getopt_long() returned `id` >= FIRST_OPTION. */
static const struct cli_option *find_option(const struct cli_command *command, int id)
{
	const struct cli_option *option = NULL;

	do
		option = cli_option_next(option, command->id);
	while (option && id-- > FIRST_OPTION);
	return option;
}

/* What getopt_long() did not like. */
static int report_bad_option(const struct cli_command *command, int answer, char **argv)
{
	const struct cli_option *known = optopt < FIRST_OPTION ? NULL : find_option(command, optopt);

	if (answer == ':')
		return cli_usage_error("option '%s' needs a value", argv[optind - 1]);
	if (known || optopt == HELP)
		return cli_usage_error("option '--%s' takes no value", known ? known->name : "help");
	if (optopt)
		return cli_usage_error("unknown option '-%c'", optopt);
	return cli_usage_error("unknown or ambiguous option '%s'", argv[optind - 1]);
}

static bool takes_fabric(const struct cli_command *command)
{
	const struct cli_option *option = NULL;

	while ((option = cli_option_next(option, command->id)))
		if (!strcmp(option->name, "fabric"))
			return true;
	return false;
}

static int check_operands(const struct cli_command *command, int n, char **operand)
{
	if (n < command->min_operands)
		return cli_usage_error("an argument is missing: fors %s %s", command->name, command->usage);
	if (n > command->max_operands)
		return cli_usage_error(takes_fabric(command)
					       ? "surplus argument '%s'; a fabric is named by --fabric FILE or "
						 "--synthetic SPEC"
					       : "surplus argument '%s'",
				       operand[command->max_operands]);
	for (int i = 0; i < n; i++)
		if (!*operand[i])
			return cli_usage_error("an argument is empty: fors %s %s", command->name, command->usage);
	return CLI_GOOD;
}

/*
 * A number may follow an option as the next word, too, where it need not follow; else the next word is something else.
 */
static const char *take_next(const struct cli_option *option, int argc, char **argv)
{
	const char *next = optind < argc ? argv[optind] : "";

	if (has_argument(option) != optional_argument || !*next || next[strspn(next, "0123456789")])
		return NULL;
	optind++;
	return next;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_settings *settings, char ***operand)
{
	const struct cli_option *option;
	struct cli_given given[MAX_OPTIONS];
	struct option list[MAX_OPTIONS];
	int id, count = list_options(command, list, given);

	cli_settings_init(settings);
	settings->argc = argc;
	settings->argv = argv;
	opterr = 0;
	while ((id = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
		if (id == HELP || id == 'h') {
			cli_print_help(command, stdout);
			return -1;
		}
		if (id == '?' || id == ':')
			return report_bad_option(command, id, argv);
		option = find_option(command, id);
		given[id - FIRST_OPTION].is_given = true;
		given[id - FIRST_OPTION].argument = optarg ? optarg : take_next(option, argc, argv);
		if (!option->set(option, given[id - FIRST_OPTION].argument, settings))
			return CLI_BAD;
	}
	*operand = argv + optind;
	id = check_operands(command, argc - optind, *operand);
	return id ? id : cli_check_combinations(command->id, given, count);
}

/* How much of a text fits into a line of `width`: whole words, at least one. */
static int line_length(const char *text, int width)
{
	int length = 0;

	while (text[length]) {
		int word = length + 1 + (int)strcspn(text + length + 1, " ");

		if (word > width && length)
			break;
		length = word;
	}
	return length;
}

static void print_option(const char *name, const char *argument, const char *help, FILE *to)
{
	const int indent = 24, width = 56;
	int column = fprintf(to, "  --%s%s%s", name, argument ? " " : "", argument ? argument : "");

	while (*help) {
		int length = line_length(help, width);

		fprintf(to, "%*s%.*s\n", indent - column, "", length, help);
		help += length + (help[length] == ' ');
		column = 0;
	}
}

void cli_print_help(const struct cli_command *command, FILE *to)
{
	fprintf(to, "Usage: fors %s %s\n\n%s.\n\nOptions:\n", command->name, command->usage, command->summary);
	for (const struct cli_option *o = NULL; (o = cli_option_next(o, command->id));)
		print_option(o->name, o->argument, o->help, to);
	print_option("help", NULL, "show this help", to);
	fprintf(to, "\n%s", command->details);
	fprintf(to, "\nExit code: 0 good, 1 the answer is no, 2 bad usage or bad input. See also fors(1).\n");
}
