/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * completion.c - completion scripts for shells, made of the table of options.
 *
 * A script has a part that never changes (how the shell asks and answers) and three lists: the options of each
 * command, the values of options that have names, and the options that take an argument. Only the lists are of fors,
 * so another shell is one more function here: its own frame around the same walks over the table.
 */
#include "completion.h"

#include <stdio.h>
#include <string.h>

struct commands {
	const struct cli_command *const *list;
	size_t count;
};

static void print_words(const char *const *word)
{
	for (size_t i = 0; word[i]; i++)
		printf(" %s", word[i]);
}

/* --- bash ------------------------------------------------------------------------------------------------------ */

/* After a name of a command: its options. */
static void bash_options(const struct commands *commands)
{
	printf("_fors_options() { # command\n\tcase \"$1\" in\n");
	for (size_t i = 0; i < commands->count; i++) {
		printf("\t%s) echo", commands->list[i]->name);
		for (const struct cli_option *o = NULL; (o = cli_option_next(o, commands->list[i]->id));)
			printf(" --%s", o->name);
		printf(" --help ;;\n");
	}
	printf("\tesac\n}\n\n");
}

/* Names of values; what is neither a name nor a file prints nothing, so nothing is offered for it. */
static void bash_values(const struct commands *commands)
{
	printf("_fors_values() { # command, option\n\tcase \"$1 $2\" in\n");
	for (size_t i = 0; i < commands->count; i++)
		for (const struct cli_option *o = NULL; (o = cli_option_next(o, commands->list[i]->id));)
			if (cli_option_values(o)) {
				printf("\t\"%s --%s\") echo", commands->list[i]->name, o->name);
				print_words(cli_option_values(o));
				printf(" ;;\n");
			}
	printf("\tesac\n}\n\n");
}

/* What an option of a command takes: "file", "value" or nothing. */
static void bash_arguments(const struct commands *commands)
{
	printf("_fors_argument() { # command, option\n\tcase \"$1 $2\" in\n");
	for (size_t i = 0; i < commands->count; i++)
		for (const struct cli_option *o = NULL; (o = cli_option_next(o, commands->list[i]->id));)
			if (o->argument)
				printf("\t\"%s --%s\") echo %s ;;\n", commands->list[i]->name, o->name,
				       strcmp(o->argument, "FILE") ? "value" : "file");
	printf("\tesac\n}\n\n");
}

static const char bash_frame[] =
	"_fors() {\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tCOMPREPLY=($(compgen -W \"$_fors_commands help --help --version\" -- \"$current\"))\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ $command == help ]]; then\n"
	"\t\tCOMPREPLY=($(compgen -W \"$_fors_commands\" -- \"$current\"))\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase \"$(_fors_argument \"$command\" \"$previous\")\" in\n"
	"\tfile) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
	"\tvalue) COMPREPLY=($(compgen -W \"$(_fors_values \"$command\" \"$previous\")\" -- \"$current\")) ;;\n"
	"\t*)\n"
	"\t\tif [[ $current == -* ]]; then\n"
	"\t\t\tCOMPREPLY=($(compgen -W \"$(_fors_options \"$command\")\" -- \"$current\"))\n"
	"\t\telse\n"
	"\t\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"complete -o filenames -F _fors fors\n";

static void print_bash(const struct commands *commands)
{
	printf("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	       "# Bash completion of the command fors(1); made by `fors completion bash`.\n\n_fors_commands=\"");
	for (size_t i = 0; i < commands->count; i++)
		printf("%s%s", i ? " " : "", commands->list[i]->name);
	printf("\"\n\n");
	bash_options(commands);
	bash_values(commands);
	bash_arguments(commands);
	fputs(bash_frame, stdout);
}

/* --- any shell ------------------------------------------------------------------------------------------------- */

static const struct shell {
	const char *name;
	void (*print)(const struct commands *commands);
} shells[] = {
	{"bash", print_bash},
};

int cli_print_completion(const char *shell, const struct cli_command *const *commands, size_t ncommands)
{
	const struct commands all = {commands, ncommands};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shell, shells[i].name)) {
			shells[i].print(&all);
			return CLI_GOOD;
		}
	return cli_usage_error("no completion for the shell '%s'; there is one for bash", shell);
}
