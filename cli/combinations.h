/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * combinations.h - which options make sense together.
 *
 * An option that another one makes meaningless would be ignored without a word, and the answer would be that of another
 * question. So each such pair is a row of a table (combinations.c, lab/options.c), and the command line is held against it before
 * anything is read. What only the input can tell (a method that three levels do not have) is checked where it is known.
 */
#ifndef FORS_CLI_COMBINATIONS_H
#define FORS_CLI_COMBINATIONS_H

#include "cli/options.h"

/* An option of a command; given more than once, the last argument counts. */
struct cli_given {
	const char *name;
	bool is_given;
	const char *argument; /* NULL: none */
};

/* A rule of its table; combinations.c says how its options are written. */
struct cli_rule {
	unsigned commands; /* sum of enum cli_command_id */
	const char *options;
	enum { NEEDS, GOES_WITHOUT } how;
	const char *others; /* needs: one of them; goes without: all of them */
	const char *text;   /* what the user is told */
};

struct cli_rules {
	const struct cli_rule *row;
	size_t count;
};

/* Those of the product; those of a program, as cli_options[]. */
extern const struct cli_rules cli_product_rules;
extern const struct cli_rules *const cli_rules[];

/* Are these `count` options of a command good together? Returns an exit code. */
int cli_check_combinations(enum cli_command_id command, const struct cli_given *given, int count);

#endif
