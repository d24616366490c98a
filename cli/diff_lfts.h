/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* diff_lfts.h - `fors diff --lfts`: which entries differ between two files of forwarding tables. */
#ifndef FORS_CLI_DIFF_LFTS_H
#define FORS_CLI_DIFF_LFTS_H

#include <stdbool.h>

/* Compare the tables in two files ("-": standard input). Returns an exit code: CLI_NO when entries differ. */
int cli_diff_lfts(const char *was, const char *is, bool is_json);

#endif
