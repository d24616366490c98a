/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay.h - `fors jobs --replay`: files of jobs from a history of jobs. */
#ifndef FORS_CLI_REPLAY_H
#define FORS_CLI_REPLAY_H

#include "cli/cli.h"

/* Write --count snapshots into --output-dir. Returns an exit code. */
int cli_replay(const struct cli_settings *settings, const struct fors_fattree *tree);

#endif
