/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_verify.c - `fors verify`: is this schedule conflict-free over these tables and cables? */
#include "cli/cli.h"

#include <stdlib.h>

#include "core/base/text.h"
#include "core/net/lfts.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"

static int judge(const struct fors_net *net, const struct fors_lfts *lfts, const struct fors_schedule *schedule)
{
	struct fors_error error = {0};
	struct fors_verdict verdict;

	if (!schedule->nphases) {
		printf("withdrawn: %s\n", schedule->reason);
		return CLI_NO;
	}
	if (fors_verify_used(net, lfts, schedule, cli_processors(), NULL, NULL, &verdict, NULL, &error))
		return cli_fail(&error);
	if (!verdict.is_good) {
		printf("%swrong%s: %s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN), verdict.text);
		printf("%llu %s, up to %u flows on a link in a phase\n", (unsigned long long)verdict.nproblems,
		       fors_plural(verdict.nproblems, "problem", "problems"), verdict.max_load);
		return CLI_NO;
	}
	printf("%sgood%s: %u %s, %llu %s, each arrives, %s\n", cli_colour(CLI_GREEN), cli_colour(CLI_PLAIN),
	       schedule->nphases, fors_plural(schedule->nphases, "phase", "phases"), (unsigned long long)verdict.nflows,
	       schedule->length ? fors_plural(verdict.nflows, "piece of a demand", "pieces of a demand")
				: fors_plural(verdict.nflows, "flow", "flows"),
	       cli_no_conflict(verdict.max_load));
	return CLI_GOOD;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct fors_schedule *schedule = NULL;
	struct fors_lfts *lfts = NULL;
	struct fors_net *net = NULL;
	int code;

	if (!settings->lfts || !settings->schedule)
		return cli_usage_error("--%s FILE is missing", settings->lfts ? "schedule" : "lfts");
	code = cli_net_load(&settings->source, &net);
	if (!code)
		code = cli_read_lfts(settings->lfts, &lfts);
	if (!code)
		code = cli_read_schedule(settings->schedule, &schedule);
	if (!code)
		code = judge(net, lfts, schedule);
	fors_schedule_free(schedule);
	fors_lfts_free(lfts);
	fors_net_free(net);
	return code;
}

const struct cli_command cli_verify_command = {
	.id = CLI_CMD_VERIFY,
	.name = "verify",
	.summary = "Walk every flow of a schedule through the tables, hop by hop",
	.usage = "(--fabric FILE | --synthetic SPEC) --lfts FILE --schedule FILE [OPTION]...",
	.details = "Shares no code with the planners. Names phase, link and flows of the first problem.\n"
		   "Example: fors verify --fabric net --lfts opensm-lfts.dump --schedule schedule\n",
	.run = run,
};
