/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_wait.c - `fors wait-epoch`: what libforsched offers programs, for scripts.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "libforsched/forsched.h"
#include "core/base/text.h"

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
		cli_error("no epoch above %" PRIu64 " within %u %s%s%s", after, settings->timeout,
			  fors_plural(settings->timeout, "second", "seconds"), err ? ": " : "", err ? error.text : "");
		return CLI_NO;
	}
	printf("%" PRIu64 "\n", epoch);
	return CLI_GOOD;
}

/* What waits for a misspelt name would wait for ever, so it is told what it waits for. */
static void tell_what_is_missing(struct forsched_watch *watch, const struct cli_settings *settings)
{
	struct forsched_error error;
	uint64_t epoch;

	if (!settings->has_timeout && forsched_watch_newest(watch, &epoch, &error))
		cli_error("waiting for a schedule; now %s", error.text);
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct forsched_watch *watch;
	struct forsched_error error;
	struct stat st;
	int code;

	if (!stat(operand[0], &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		cli_error("%s: neither a file nor a folder, so no schedule will come there", operand[0]);
		return CLI_BAD;
	}
	if (forsched_watch_open(operand[0], &watch, &error)) {
		cli_error("%s", error.text);
		return CLI_BAD;
	}
	tell_what_is_missing(watch, settings);
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
		"FILE is a schedule, or the folder that it is in; it need not be there yet. Prints the epoch as soon\n"
		"as it is newer. The exit code is 1 when the time is over.\n",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
