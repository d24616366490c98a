/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REMEMBERED 32

const char *forsched_mpi_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/*
 * Was this line said before, on whichever communicator? A program may make thousands of them, and call each for hours.
 * Of many different lines the last ones are known.
 */
static bool is_known(const char *line)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char *known[REMEMBERED];
	static unsigned next;
	bool is_found = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < REMEMBERED && !is_found; i++)
		is_found = known[i] && strcmp(known[i], line) == 0;
	if (!is_found) {
		free(known[next]);
		known[next] = strdup(line);
		next = (next + 1) % REMEMBERED;
	}
	pthread_mutex_unlock(&lock);
	return is_found;
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
	if (chat || !is_known(line))
		fprintf(stderr, "libforsched-mpi: %s\n", line); /* in one piece: other ranks write too */
}

uint64_t forsched_mpi_number(const char *name, uint64_t usual)
{
	const char *value = forsched_mpi_setting(name);
	char *end;
	unsigned long long number;

	if (!value)
		return usual;
	number = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end)
		return number;
	forsched_mpi_say(false, "%s=%.100s is not a number; taking %llu", name, value, (unsigned long long)usual);
	return usual;
}

bool forsched_mpi_has_barrier(void)
{
	const char *value = forsched_mpi_setting("FORSCHED_BARRIER");

	if (value && strcmp(value, "tree") != 0 && strcmp(value, "none") != 0)
		forsched_mpi_say(false, "FORSCHED_BARRIER=%.100s is none of tree, none; taking none", value);
	return value && strcmp(value, "tree") == 0;
}

double forsched_mpi_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
