/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * completion.c - completion scripts for shells, made of the table of options.
 *
 * A script has a part that never changes (how the shell asks and answers) and three lists: the options of each
 * command, the values of options that have names, and the options that take an argument. Only the lists are of fors,
 * so another shell is one more function here: its own frame around the same walks over the table. bash wants the lists
 * as words and finds out itself what is asked for; zsh and fish have a language for them and do the rest.
 *
 * An option takes its argument as the next word or behind a `=`, and where the argument is a list, each of its names is
 * completed: bash breaks words at `=`, so its frame looks one word further back.
 */
#include "completion.h"

#include <stdio.h>
#include <string.h>

/* What nobody edits says who made it. */
#define HEAD                                                                                                           \
	"# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n# Completion of the command fors(1) in %s; made by `fors completion %s`.\n\n"

struct commands {
	const struct cli_command *const *list;
	size_t count;
};

static void print_words(const char *const *word)
{
	for (size_t i = 0; word[i]; i++)
		printf("%s%s", i ? " " : "", word[i]);
}

static bool is_file(const struct cli_option *option)
{
	return option->argument && !strcmp(option->argument, "FILE");
}

/* What may be left out is offered as what it is without. */
static bool wants_argument(const struct cli_option *option)
{
	return option->argument && *option->argument != '[';
}

/* Several names, separated by commas. */
static bool is_list(const struct cli_option *option)
{
	return option->argument && !strcmp(option->argument, "NAMES");
}

/* In single quotes of a shell, where `quote` stands for one of them; characters of `escaped` get a backslash. */
static void print_quoted(const char *text, const char *quote, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else
			printf("%s%c", strchr(escaped, *text) ? "\\" : "", *text);
	}
}

static void print_names(const struct commands *commands)
{
	for (size_t i = 0; i < commands->count; i++)
		printf("%s%s", i ? " " : "", commands->list[i]->name);
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
				printf("\t\"%s --%s\") echo ", commands->list[i]->name, o->name);
				print_words(cli_option_values(o));
				printf(" ;;\n");
			}
	printf("\tesac\n}\n\n");
}

/* What an option of a command takes: "file", "list", "value" or nothing. */
static void bash_arguments(const struct commands *commands)
{
	printf("_fors_argument() { # command, option\n\tcase \"$1 $2\" in\n");
	for (size_t i = 0; i < commands->count; i++)
		for (const struct cli_option *o = NULL; (o = cli_option_next(o, commands->list[i]->id));)
			if (wants_argument(o))
				printf("\t\"%s --%s\") echo %s ;;\n", commands->list[i]->name, o->name,
				       is_file(o)   ? "file"
				       : is_list(o) ? "list"
						    : "value");
	printf("\tesac\n}\n\n");
}

static const char bash_frame[] =
	"_fors() {\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
	"\tlocal done=\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $current == = ]]; then # --option= and nothing behind it yet\n"
	"\t\tcurrent=\n"
	"\telif [[ $previous == = ]]; then\n"
	"\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
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
	"\tlist)\n"
	"\t\t[[ $current != *,* ]] || done=${current%,*},\n"
	"\t\tCOMPREPLY=($(compgen -P \"$done\" -W \"$(_fors_values \"$command\" \"$previous\")\" -- \"${current##*,}\"))\n"
	"\t\t;;\n"
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
	printf(HEAD "_fors_commands=\"", "bash", "bash");
	print_names(commands);
	printf("\"\n\n");
	bash_options(commands);
	bash_values(commands);
	bash_arguments(commands);
	fputs(bash_frame, stdout);
}

/* --- zsh ------------------------------------------------------------------------------------------------------- */

/* What _arguments calls an action: how to complete the argument. */
static void zsh_action(const struct cli_option *option)
{
	const char *const *values = cli_option_values(option);

	if (is_file(option)) {
		printf("_files");
	} else if (values) {
		printf(is_list(option) ? "_sequence compadd - " : "(");
		print_words(values);
		printf(is_list(option) ? "" : ")");
	}
}

/* '--name=[help]:ARGUMENT:action'; a star in front: any number of times. */
static void zsh_option(const struct cli_option *option)
{
	printf(" \\\n\t\t\t'%s--%s%s[", cli_option_repeats(option) ? "*" : "", option->name,
	       wants_argument(option) ? "=" : "");
	print_quoted(option->help, "'\\''", "[]:\\");
	printf("]");
	if (wants_argument(option)) {
		printf(":");
		print_quoted(option->argument, "'\\''", ":\\");
		printf(":");
		zsh_action(option);
	}
	printf("'");
}

static void zsh_command(const struct cli_command *command)
{
	printf("\t\t%s)\n\t\t_arguments -S", command->name);
	for (const struct cli_option *o = NULL; (o = cli_option_next(o, command->id));)
		zsh_option(o);
	printf(" \\\n\t\t\t'(- *)--help[show this help]'");
	if (command->max_operands)
		printf(" \\\n\t\t\t'*:file:_files'");
	printf("\n\t\t;;\n");
}

static void zsh_descriptions(const struct commands *commands)
{
	for (size_t i = 0; i < commands->count; i++) {
		printf("\t\t'%s:", commands->list[i]->name);
		print_quoted(commands->list[i]->summary, "'\\''", "");
		printf("'\n");
	}
}

static void print_zsh(const struct commands *commands)
{
	printf("#compdef fors\n" HEAD
	       "_fors() {\n\tlocal curcontext=\"$curcontext\" line state state_descr\n\tlocal -A opt_args\n\tlocal -a commands\n\n\tcommands=(\n",
	       "zsh", "zsh");
	zsh_descriptions(commands);
	printf("\t\t'help:what a command does'\n\t)\n"
	       "\t_arguments -C '(- *)--help[what fors does]' '(- *)--version[its version]' \\\n"
	       "\t\t'1:command:->command' '*::argument:->argument'\n"
	       "\tcase $state in\n"
	       "\tcommand) _describe command commands ;;\n"
	       "\targument)\n"
	       "\t\tcase $words[1] in\n"
	       "\t\thelp) compadd - ");
	print_names(commands);
	printf(" ;;\n");
	for (size_t i = 0; i < commands->count; i++)
		zsh_command(commands->list[i]);
	printf("\t\tesac\n\t\t;;\n\tesac\n}\n\n_fors \"$@\"\n");
}

/* --- fish ------------------------------------------------------------------------------------------------------ */

/* Files, names, or nothing that could be offered: in each case no option. */
static void fish_argument(const struct cli_option *option)
{
	const char *const *values = cli_option_values(option);

	printf(is_file(option) ? " -r -F" : " -x");
	if (!values)
		return;
	printf(is_list(option) ? " -a '(__fish_complete_list , \"printf %%s\\\\n " : " -a '");
	print_words(values);
	printf(is_list(option) ? "\")'" : "'");
}

static void fish_command(const struct cli_command *command)
{
	for (const struct cli_option *o = NULL; (o = cli_option_next(o, command->id));) {
		printf("complete -c fors -n '__fors_is %s' -l %s", command->name, o->name);
		if (wants_argument(o))
			fish_argument(o);
		printf(" -d '");
		print_quoted(o->help, "\\'", "\\");
		printf("'\n");
	}
	printf("complete -c fors -n '__fors_is %s' -l help -d 'show this help'\n", command->name);
	if (command->max_operands)
		printf("complete -c fors -n '__fors_is %s' -F\n", command->name);
}

static void print_fish(const struct commands *commands)
{
	printf(HEAD "function __fors_is # COMMAND: is it the one of this line? Without COMMAND: is there none yet?\n"
		    "\tset -l words (commandline -opc)\n"
		    "\ttest \"$words[2]\" = \"$argv[1]\"\n"
		    "end\n\n"
		    "complete -c fors -f\n"
		    "complete -c fors -n '__fors_is' -l help -d 'what fors does'\n"
		    "complete -c fors -n '__fors_is' -l version -d 'its version'\n"
		    "complete -c fors -n '__fors_is' -a help -d 'what a command does'\n"
		    "complete -c fors -n '__fors_is help' -a '",
	       "fish", "fish");
	print_names(commands);
	printf("'\n");
	for (size_t i = 0; i < commands->count; i++) {
		printf("complete -c fors -n '__fors_is' -a %s -d '", commands->list[i]->name);
		print_quoted(commands->list[i]->summary, "\\'", "\\");
		printf("'\n");
		fish_command(commands->list[i]);
	}
}

/* --- any shell ------------------------------------------------------------------------------------------------- */

static const struct shell {
	const char *name;
	void (*print)(const struct commands *commands);
} shells[] = {
	{"bash", print_bash},
	{"fish", print_fish},
	{"zsh", print_zsh},
};

int cli_print_completion(const char *shell, const struct cli_command *const *commands, size_t ncommands)
{
	const struct commands all = {commands, ncommands};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shell, shells[i].name)) {
			shells[i].print(&all);
			return CLI_GOOD;
		}
	return cli_usage_error("no completion for the shell '%s'; there are some for bash, fish and zsh", shell);
}
