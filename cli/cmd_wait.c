/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_wait.c - `fors wait-epoch`: what libforsched offers programs, for scripts.
 */
#include "cli/cli.h"

#include <inttypes.h>

#include "libforsched/forsched.h"

/* The epoch that the file has now; 0: there is none. */
static uint64_t epoch_now(struct forsched_watch *watch)
{
	uint64_t epoch = 0;

	return forsched_watch_newest(watch, &epoch, NULL) ? 0 : epoch;
}

static int wait_for(struct forsched_watch *watch, const struct cli_settings *settings)
{
	uint64_t after = settings->has_after ? settings->after : epoch_now(watch), epoch = 0;
	int ms = settings->has_timeout ? (int)settings->timeout * 1000 : -1;
	struct forsched_error error;
	enum forsched_err err = forsched_watch_wait(watch, after, ms, &epoch, &error);

	if (err && ms < 0) {
		cli_error("%s", error.text);
		return CLI_BAD;
	}
	if (err || epoch <= after) {
		cli_error("no epoch above %" PRIu64 " within %u seconds%s%s", after, settings->timeout, err ? ": " : "",
			  err ? error.text : "");
		return CLI_NO;
	}
	printf("%" PRIu64 "\n", epoch);
	return CLI_GOOD;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct forsched_watch *watch;
	struct forsched_error error;
	int code;

	if (forsched_watch_open(operand[0], &watch, &error)) {
		cli_error("%s", error.text);
		return CLI_BAD;
	}
	code = wait_for(watch, settings);
	forsched_watch_close(watch);
	return code;
}

const struct cli_command cli_wait_command = {
	.id = CLI_CMD_WAIT,
	.name = "wait-epoch",
	.summary = "Wait for a newer schedule",
	.usage = "FILE [--after EPOCH] [--timeout SECONDS]",
	.details =
		"FILE is a schedule, or the folder that it is in. Prints the epoch as soon as it is newer. The exit\n"
		"code is 1 when the time is over.\n",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
