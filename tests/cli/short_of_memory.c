/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * short_of_memory.c - a library to be preloaded into the command: the allocation number FORS_SHORT_AT fails, counted
 * from 1 and over the whole program. Then it writes "F" to the file descriptor FORS_SHORT_FD, so that a test
 * knows when there are no more.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/failing_calls.h"

static long count; /* one thread is enough for what is tested */

static bool fails(const void *caller)
{
	static long at = -1;
	const char *fd = getenv("FORS_SHORT_FD");

	(void)caller;
	if (at < 0)
		at = getenv("FORS_SHORT_AT") ? atol(getenv("FORS_SHORT_AT")) : 0;
	if (++count != at)
		return false;
	if (fd && write(atoi(fd), "F", 1) != 1)
		abort();
	errno = ENOMEM;
	return true;
}
