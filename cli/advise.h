/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* advise.h - `fors jobs --advise`: which free hosts to give to a job. */
#ifndef FORS_CLI_ADVISE_H
#define FORS_CLI_ADVISE_H

#include "cli/cli.h"

/* Print the hosts. Returns an exit code; CLI_NO: fewer are free, or somebody would be slower. */
int cli_advise(const struct cli_settings *settings, const struct cli_fabric *made);

#endif
