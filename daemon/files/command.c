/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "daemon/base/clock.h"

#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void say(struct fors_command *command, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct fors_command *command, bool is_error, const char *format, ...)
{
	char text[700];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	command->say(command->context, is_error ? FORS_F_COMMAND : 0, text);
	command->has_complained |= is_error;
}

bool fors_command_may(const struct fors_command *command)
{
	return !command->is_running && command->nhanging < FORS_COMMAND_HANGING;
}

bool fors_command_start(struct fors_command *command, uint64_t epoch, const char *status)
{
	char path[] = PATH, state[4200], dir[4200], number[48], text[48];
	char *const environment[] = {path, state, number, text, command->dir ? dir : NULL, NULL};
	int failed;

	snprintf(state, sizeof(state), "FORS_STATE_DIR=%s", command->state);
	snprintf(dir, sizeof(dir), "FORS_PUBLISH_DIR=%s", command->dir ? command->dir : "");
	snprintf(number, sizeof(number), "FORS_EPOCH=%" PRIu64, epoch);
	snprintf(text, sizeof(text), "FORS_STATE=%s", status);
	command->until_ms = fors_clock_ms() + command->seconds * 1000ull; /* its time begins before it does */
	failed = fors_child_start(command->line, environment, &command->child);
	if (failed)
		say(command, true, "publish_command cannot be started: %s", strerror(failed));
	command->is_running = !failed;
	command->signals = 0;
	return !failed;
}

/* Each failure, and once when it works again. */
static void say_end(struct fors_command *command, int status)
{
	if (WIFSIGNALED(status))
		say(command, true, "publish_command was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		say(command, true, "publish_command ended with exit status %d", WEXITSTATUS(status));
	else if (command->has_complained) {
		say(command, false, "publish_command works again");
		command->has_complained = false;
	}
}

static void say_killed(struct fors_command *command)
{
	if (command->is_hurried)
		say(command, true, "publish_command was killed, since opensm ends");
	else
		say(command, true, "publish_command did not end within %u s and was killed", command->seconds);
}

/* There is room: none is started while all places are taken. */
static void leave_behind(struct fors_command *command)
{
	command->hanging[command->nhanging++] = command->child;
	say(command, true,
	    "publish_command does not end though killed; it is left behind as process group %d%s: %.400s",
	    (int)command->child.pid,
	    command->nhanging < FORS_COMMAND_HANGING ? ""
						     : ", and none is started until one of those that hang has ended",
	    command->line);
}

/* Those that were left behind and have ended after all make room. */
static void drop_gone(struct fors_command *command)
{
	unsigned left = 0;

	for (unsigned i = 0; i < command->nhanging; i++) {
		struct fors_child child = command->hanging[i];

		if (fors_child_gone(&child))
			say(command, false, "publish_command's process group %d has ended after all", (int)child.pid);
		else
			command->hanging[left++] = child;
	}
	command->nhanging = left;
}

/* Its time is over: the next signal, and at last nothing more. True: it is not looked at any more. */
static bool press(struct fors_command *command)
{
	static const int signals[] = {SIGTERM, SIGKILL};

	if (command->signals == 2) {
		leave_behind(command);
		return true;
	}
	fors_child_signal(&command->child, signals[command->signals++]);
	command->until_ms = fors_clock_ms() + FORS_COMMAND_GRACE_MS;
	return false;
}

void fors_command_look(struct fors_command *command)
{
	bool is_over = !command->is_running;

	drop_gone(command);
	if (is_over)
		return;
	if (!command->signals && fors_child_ended(&command->child)) {
		say_end(command, command->child.status);
		is_over = true;
	} else if (command->signals && fors_child_gone(&command->child)) {
		say_killed(command);
		is_over = true;
	} else if (fors_clock_ms() >= command->until_ms) {
		is_over = press(command);
	}
	command->is_running = !is_over;
}

void fors_command_hurry(struct fors_command *command, uint64_t until_ms)
{
	command->is_hurried = true;
	if (!command->signals && command->until_ms > until_ms)
		command->until_ms = until_ms;
}
