/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * build_time.c - preloaded into opensm: what its routing engines take, in processor time of the thread that builds.
 *
 * On a machine with other work the stamps of a log tell more of that work than of an engine. But opensm logs the
 * moments that matter through functions of a library, osm_log_v2() and osm_log(): so here are others, which note the
 * thread's clock when a routing engine is called, when fors has filled the tables, and when all entries are made and on
 * their way, then log as ever. OpenSM's lock is held from the first of these to the last. A line for each time goes to
 * the file that FORS_BUILD_TIMES names: milliseconds from the call to the end, and to the tables of fors (0: of another
 * engine).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void osm_log_v2(void *log, int level, int file, const char *format, ...) __attribute__((format(printf, 4, 5)));
void osm_log(void *log, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Of the thread that routes; there is one. */
static __thread double called_ms, filled_ms;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void write_line(double whole_ms, double callback_ms)
{
	const char *path = getenv("FORS_BUILD_TIMES");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%.4f %.4f\n", whole_ms, callback_ms);
	fclose(file);
}

static void note(const char *text)
{
	if (strstr(text, "building routing with") && called_ms == 0)
		called_ms = now_ms(); /* of several engines the first, should it fail */
	else if (strstr(text, " filled in "))
		filled_ms = now_ms();
	else if (strstr(text, "tables configured on all switches") && called_ms > 0) {
		write_line(now_ms() - called_ms, filled_ms > called_ms ? filled_ms - called_ms : 0);
		called_ms = filled_ms = 0;
	}
}

void osm_log_v2(void *log, int level, int file, const char *format, ...)
{
	static void (*next)(void *, int, int, const char *, ...);
	char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	note(text);
	if (!next)
		next = (void (*)(void *, int, int, const char *, ...))dlsym(RTLD_NEXT, "osm_log_v2");
	next(log, level, file, "%s", text);
}

void osm_log(void *log, int level, const char *format, ...)
{
	static void (*next)(void *, int, const char *, ...);
	char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	note(text);
	if (!next)
		next = (void (*)(void *, int, const char *, ...))dlsym(RTLD_NEXT, "osm_log");
	next(log, level, "%s", text);
}
