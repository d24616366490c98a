/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owned.h - pictures of several jobs: the fabric, with the cables that each job owns in a colour of its own.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_OWNED_H
#define FORS_CLI_OWNED_H

#include "cli/jobs_made.h"

/* Write what --svg names. Returns an exit code. */
int cli_draw_owned(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		   const struct cli_jobs *jobs);

#endif
