/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program.c - finds the subcommand and runs it; what is in another program, that one does (beside.h). */
#include "config.h"

#include "cli/cli.h"
#include "cli/beside.h"
#include "cli/completion.h"
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_command *const commands[] = {
	&cli_plan_command,   &cli_schedule_command, &cli_verify_command,  &cli_analyze_command, &cli_indices_command,
	&cli_whatif_command, &cli_status_command,   &cli_forget_command,  &cli_fabric_command,	&cli_diff_command,
	&cli_jobs_command,   &cli_links_command,    &cli_exclude_command, &cli_wait_command,	&cli_simulate_command,
	&cli_watch_command,  &cli_trial_command,
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int print_overview(void)
{
	printf("Usage: fors COMMAND [OPTION]...\n\n"
	       "Conflict-free all-to-all exchange over an InfiniBand fabric, whatever cables are dead.\n\nCommands:\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		printf("  %-12s%s\n", commands[i]->name, commands[i]->summary);
	printf("  %-12s%s\n", "help", "Explain a command: fors help COMMAND");
	printf("\n  --version  show the version\n  --help     show this help; after a command, the help of that command\n"
	       "\nExit code: 0 good, 1 the answer is no, 2 bad usage or bad input. See also fors(1).\n");
	return CLI_GOOD;
}

static int unknown_command(const char *name)
{
	return cli_usage_error(*name == '-' ? "unknown option '%s'" : "unknown command '%s'", name);
}

/* The lab has commands that no daemon needs: by its own program, with the same words. */
static int ask_lab(const struct cli_command *command, char **argv)
{
	cli_set_name(command->name);
	return cli_become("fors-lab", argv);
}

/* argv: as in main(). */
static int help(int argc, char **argv)
{
	const struct cli_command *command = argc > 2 ? find_command(argv[2]) : NULL;

	if (argc > 3)
		return cli_usage_error("surplus argument '%s'", argv[3]);
	if (argc < 3)
		return print_overview();
	if (!command)
		return unknown_command(argv[2]);
	if (!command->run)
		return ask_lab(command, argv);
	cli_print_help(command, stdout);
	return CLI_GOOD;
}

static int version(int argc, char **argv)
{
	if (argc > 1)
		return cli_usage_error("surplus argument '%s'", argv[1]);
	printf("fors %s\n", PACKAGE_VERSION);
	return CLI_GOOD;
}

/* Not for people, so no help tells of it: the build makes the completion scripts with `fors completion SHELL`. argv: as in main(). */
static int completion(int argc, char **argv)
{
	if (argc != 3)
		return cli_usage_error("completion for which shell?");
	if (!cli_options[1])
		return cli_become("fors-lab", argv); /* which has the options of all commands */
	return cli_print_completion(argv[2], commands, NCOMMANDS);
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_settings *settings = calloc(1, cli_settings_kind.size);
	char **operand = NULL;
	int code;

	cli_set_name(command->name);
	if (!settings) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	code = cli_parse(command, argc, argv, settings, &operand);
	if (code == CLI_GOOD)
		code = command->run(settings, operand);
	cli_settings_clear(settings);
	free(settings);
	return code < 0 ? CLI_GOOD : code;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct cli_command *command = name ? find_command(name) : NULL;

	if (!name)
		return cli_usage_error("which command?");
	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
		return help(argc, argv);
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return version(argc - 1, argv + 1);
	if (!strcmp(name, "completion"))
		return completion(argc, argv);
	if (!command)
		return unknown_command(name);
	return command->run ? run(command, argc - 1, argv + 1) : ask_lab(command, argv);
}

int cli_main(int argc, char **argv)
{
	int code;

	cli_json_watch();
	code = dispatch(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("the output could not be written");
		return CLI_BAD;
	}
	return code;
}
