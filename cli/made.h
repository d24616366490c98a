/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * made.h - when and by what a picture or page was made, for whoever finds it a year later.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_MADE_H
#define FORS_CLI_MADE_H

#include "cli/options.h"

#define CLI_DATE_ROOM 32

/*
 * "2026-11-22 02:00 UTC" in date[CLI_DATE_ROOM]. SOURCE_DATE_EPOCH in the environment, in seconds, replaces the
 * clock, so that the same command writes the same bytes; what is no such number is ignored.
 */
void cli_made_date(char *date);
/*
 * The command line, `fors` first, as a shell would take it: words with other than plain characters are in single
 * quotes. Owned by the caller (free()); NULL: out of memory.
 */
char *cli_made_command(const struct cli_settings *settings);
/* The fabric that it was made of: a file, "standard input", or a specification. Lent. */
const char *cli_made_input(const struct cli_settings *settings);

#endif
