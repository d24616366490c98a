/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* values.c - what an option's argument says: numbers, sizes, times, GUIDs, one word of a few. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_number(const char *option, const char *text, unsigned least, unsigned most, unsigned *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
		cli_usage_error("--%s is '%s', but has to be a number from %u to %u", option, text, least, most);
		return false;
	}
	*number = (unsigned)value;
	return true;
}

struct unit {
	const char *name;
	double value;
};

/* A decimal number with a unit, whole and below 2^62 in the smallest; false: it is none. */
static bool read_amount(const char *text, const struct unit *units, uint64_t *amount)
{
	char *end;
	double value;

	if (*text < '0' || *text > '9' || strpbrk(text, "xX"))
		return false;
	value = strtod(text, &end);
	while (units->name && strcmp(units->name, end))
		units++;
	value *= units->value;
	if (!units->name || !(value < 4e18) || (*end == '\0' && strchr(text, '.')))
		return false;
	*amount = (uint64_t)(value + 0.5);
	return true;
}

bool cli_size(const char *option, const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {{"", 1},	 {"B", 1},	{"KB", 1e3},	  {"MB", 1e6},
					    {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824},
					    {NULL, 0}};

	if (read_amount(text, units, bytes))
		return true;
	cli_usage_error("--%s is '%s', but has to be a size like 1500, 64KiB or 4MiB", option, text);
	return false;
}

bool cli_time(const char *option, const char *text, uint64_t *ps)
{
	static const struct unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {NULL, 0}};

	*ps = 0;
	if (!strcmp(text, "0") || read_amount(text, units, ps))
		return true;
	cli_usage_error("--%s is '%s', but has to be a time like 100ns, 1.5us or 2ms", option, text);
	return false;
}

bool cli_rate_of(const char *option, const char *text, double most, double *rate)
{
	char *end;

	*rate = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && !strpbrk(text, "xX") && *rate > 0 && *rate <= most)
		return true;
	cli_usage_error("--%s is '%s', but has to be a number above 0, at most %.10g", option, text, most);
	return false;
}

bool cli_guid(const char *text, uint64_t *guid)
{
	char *end;

	errno = 0;
	*guid = strtoull(text, &end, 16);
	return !errno && end != text && !*end && *text != '-' && *guid;
}

int cli_choice(const char *option, const char *text, const char *const *names)
{
	char list[256] = "";

	for (int i = 0; names[i]; i++) {
		size_t used = strlen(list);

		if (!strcmp(text, names[i]))
			return i;
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
	}
	cli_usage_error("--%s is '%s', but has to be one of: %s", option, text, list);
	return -1;
}

unsigned cli_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned)n;
}
