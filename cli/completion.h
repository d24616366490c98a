/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * completion.h - what shells complete after `fors`.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_COMPLETION_H
#define FORS_CLI_COMPLETION_H

#include <stddef.h>

#include "cli/cli.h"

/*
 * Print the completion script of a shell to stdout, for these commands; the build installs it. Returns an exit code,
 * CLI_BAD (the user has been told) for a shell that is not known; today bash, fish and zsh are.
 */
int cli_print_completion(const char *shell, const struct cli_command *const *commands, size_t ncommands);

#endif
