/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif_stop.c - Ctrl-C in the middle of many failures.
 *
 * The handler only notes the signal. Whoever begins with a failure, or waits for a simulator or for opensm, looks
 * at the note; simulations are ended and their files removed; then the signal is raised again, so that a shell or a
 * script sees what it expects to see. A second Ctrl-C is not waited for.
 */
#include "whatif.h"

#include <signal.h>

static volatile sig_atomic_t signal_seen;

static void note(int number)
{
	signal_seen = number;
}

void whatif_stop_watch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | SA_RESETHAND}, before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN) /* nohup */
			sigaction(numbers[i], &action, NULL);
}

bool whatif_is_stopped(void)
{
	return signal_seen;
}

void whatif_stop_now(void)
{
	if (!signal_seen)
		return;
	signal(signal_seen, SIG_DFL);
	raise(signal_seen);
}
