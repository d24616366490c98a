/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * combinations.h - which options make sense together.
 *
 * An option that another one makes meaningless would be ignored without a word, and the answer would be that of another
 * question. So each such pair is a row of one table (combinations.c), and the command line is held against it before
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

/* Are these `count` options of a command good together? Returns an exit code. */
int cli_check_combinations(enum cli_command_id command, const struct cli_given *given, int count);

#endif
