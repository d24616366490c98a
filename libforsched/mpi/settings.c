/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"

#include "follow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *forsched_mpi_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

void forsched_mpi_say(bool chat, const char *format, ...)
{
	const char *verbose = forsched_mpi_setting("FORSCHED_VERBOSE");
	char line[FORSCHED_ERROR_TEXT * 2];
	va_list args;

	if (atoi(verbose ? verbose : "1") < (chat ? 2 : 1))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "libforsched-mpi: %s\n", line); /* in one piece: other ranks write too */
}
