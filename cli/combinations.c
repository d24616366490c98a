/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * combinations.c - the table of options that need or exclude one another, and who reads it.
 *
 * A row names options in words of its own, with '|' between alternatives:
 *
 *     "load"            it is given
 *     "barrier=none"    with this argument (in capitals or not); a '*' at the end stands for any end
 *     "barrier!=none"   with another one
 *     "skew>0"          with a number above 0: a skew of 0 is as good as none
 */
#include "cli/combinations.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

enum {
	PLAN = CLI_CMD_PLAN,
	ANALYZE = CLI_CMD_ANALYZE,
	SIMULATE = CLI_CMD_SIMULATE,
	WHATIF = CLI_CMD_WHATIF,
	FABRIC = CLI_CMD_FABRIC,
	JOBS = CLI_CMD_JOBS,
	LINKS = CLI_CMD_LINKS,
	WATCH = CLI_CMD_WATCH,
	STATUS = CLI_CMD_STATUS,
	WITH_PATTERN = ANALYZE | SIMULATE,
	WITH_TABLES = WITH_PATTERN | CLI_CMD_INDICES,
};

static const struct cli_rule rules[] = {
	/* whose tables, whose plan */
	{PLAN, "sl", NEEDS, "lfts", "--sl is for tables of other engines: --lfts FILE is missing"},
	{PLAN, "lmc", GOES_WITHOUT, "lfts", "--lmc and --lfts exclude each other: LIDs are those of the tables"},
	{PLAN | WITH_TABLES | LINKS, "degraded-links", GOES_WITHOUT, "lfts",
	 "--degraded-links is for the tables of fors: it goes without --lfts"},
	{WHATIF | FABRIC, "degraded-links", GOES_WITHOUT, "routing",
	 "--degraded-links is for the tables of fors: it goes without --routing"},
	{PLAN, "reference|state", NEEDS, "fabric",
	 "--reference and --state say what a text lacks: --fabric FILE is missing"},
	{PLAN, "reference|state", GOES_WITHOUT, "lfts", "--reference and --state go without --lfts"},
	{PLAN, "reference", GOES_WITHOUT, "state", "--reference and --state exclude each other"},
	{PLAN, "phase-cost", NEEDS, "demand", "--phase-cost needs --demand FILE"},
	{PLAN, "demand", GOES_WITHOUT, "participants|method|sl|reference|state",
	 "--demand goes without --participants, --method, --sl, --reference and --state"},
	{JOBS, "demand-dir", NEEDS, "jobs|slurm", "--demand-dir needs --jobs FILE or --slurm"},
	{JOBS, "demand-dir", GOES_WITHOUT, "replay", "--demand-dir goes without --replay"},
	{PLAN, "ilp-seconds", NEEDS, "method=ilp", "--ilp-seconds needs --method ilp"},
	{PLAN | CLI_CMD_JOBS, "plan-steps", GOES_WITHOUT, "method=closed-form|method=ilp",
	 "--plan-steps is for methods that count steps: it goes without --method closed-form and ilp"},

	/* status */
	{STATUS, "verbose", GOES_WITHOUT, "json|history",
	 "--verbose is for the page of fors status: it goes without --json and --history, which leave nothing out"},

	/* watch */
	{WATCH, "output-net|output-lfts|explain", NEEDS, "once",
	 "--output-net, --output-lfts and --explain need --once"},
	{WATCH, "config", GOES_WITHOUT, "once", "--config is of the service: it goes without --once"},
};

const struct cli_rules cli_product_rules = {rules, sizeof(rules) / sizeof(rules[0])};

/* --- one row ---------------------------------------------------------------------------------------------------- */

static bool is_like(const char *argument, const char *pattern, size_t length)
{
	if (length && pattern[length - 1] == '*')
		return !strncasecmp(argument, pattern, length - 1);
	return strlen(argument) == length && !strncasecmp(argument, pattern, length);
}

/* Does an option that is given have the argument that this end of an alternative, of `length`, asks for? */
static bool fits(const struct cli_given *option, const char *end, size_t length)
{
	const char *argument = option->argument ? option->argument : "";

	if (!length)
		return true;
	if (*end == '>')
		return strtod(argument, NULL) > 0;
	if (*end == '!')
		return !is_like(argument, end + 2, length - 2);
	return is_like(argument, end + 1, length - 1);
}

/* Is one of the alternatives there? */
static bool has_one(const struct cli_given *given, int count, const char *alternatives)
{
	for (const char *at = alternatives; *at; at += *at == '|') {
		size_t length = strcspn(at, "|"), name = strcspn(at, "|=!>");

		for (int i = 0; i < count; i++)
			if (given[i].is_given && strlen(given[i].name) == name && !strncmp(given[i].name, at, name) &&
			    fits(&given[i], at + name, length - name))
				return true;
		at += length;
	}
	return false;
}

int cli_check_combinations(enum cli_command_id command, const struct cli_given *given, int count)
{
	for (const struct cli_rules *const *table = cli_rules; *table; table++)
		for (const struct cli_rule *rule = (*table)->row; rule < (*table)->row + (*table)->count; rule++)
			if (rule->commands & command && has_one(given, count, rule->options) &&
			    has_one(given, count, rule->others) == (rule->how == GOES_WITHOUT))
				return cli_usage_error("%s", rule->text);
	return CLI_GOOD;
}
