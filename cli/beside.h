/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* beside.h - other programs of fors: fors-watch, fors-lab. Each is in a package of its name. */
#ifndef FORS_CLI_BESIDE_H
#define FORS_CLI_BESIDE_H

#include "cli/cli.h"

/* Become the program of this name, with these words (word[0] is its name, NULL ends them): does not return, unless it cannot be. */
int cli_become(const char *name, char **word);
/* Have it run, with what it prints; its exit code. */
int cli_run_beside(const char *name, char **word);

#endif
