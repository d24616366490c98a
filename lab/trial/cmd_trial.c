/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_trial.c - `fors trial`: becomes the program fors-trial, which orchestrates hosts; what is said here is its usage. */
#include "cli/beside.h"
#include "cli/cli.h"

/* settings->argv begins with the command. */
static int run(const struct cli_settings *settings, char **operand)
{
	(void)operand;
	return cli_become("fors-trial", settings->argv);
}

const struct cli_command cli_trial_command = {
	.id = CLI_CMD_TRIAL,
	.name = "trial",
	.summary = CLI_TRIAL_SUMMARY,
	.usage = "STEP [OPTION]...",
	.details = "STEP is one of: look (what there is, and what stands in the way), static (do switches route\n"
		   "adaptively?), exchange (hosts send; prediction beside measurement), failure (the same while a\n"
		   "cable is disabled), report (a page and a file, and both without names), heal (enable what a\n"
		   "trial left disabled), all (look, static, exchange, report). Only failure changes anything,\n"
		   "and only the cable of --disable. See lab/doc/trial.md.\n",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
