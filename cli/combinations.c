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

enum how { NEEDS, GOES_WITHOUT };

struct rule {
	unsigned commands; /* sum of enum cli_command_id */
	const char *options;
	enum how how;
	const char *others; /* needs: one of them; goes without: all of them */
	const char *text;   /* what the user is told */
};

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

#define PER_JOB "pattern=per-job-*"
#define IN_TIME "message|barrier|speed|adapter-rate|measured"

static const struct rule rules[] = {
	/* whose tables, whose plan */
	{WITH_TABLES, "lfts", GOES_WITHOUT, "routing", "--lfts and --routing exclude each other"},
	{WITH_TABLES, "lmc", NEEDS, "routing=fors",
	 "--lmc is for --routing fors: LIDs are those of the tables, and models and rules give each server one"},
	{WITH_PATTERN, "routing=sar", NEEDS, "jobs", "--routing sar is made for jobs: fors analyze with --jobs FILE"},
	{WITH_PATTERN, "map=random", GOES_WITHOUT, "schedule|pattern=plan|pattern=plan(*",
	 "--map random places processes of a pattern: a plan says itself which server sends to which, and goes without"},
	{PLAN, "sl", NEEDS, "lfts", "--sl is for tables of other engines: --lfts FILE is missing"},
	{PLAN, "lmc", GOES_WITHOUT, "lfts", "--lmc and --lfts exclude each other: LIDs are those of the tables"},
	{PLAN | WITH_TABLES | LINKS, "degraded-links", GOES_WITHOUT, "lfts",
	 "--degraded-links is for the tables of fors: it goes without --lfts"},
	{WITH_TABLES, "degraded-links", NEEDS, "routing=fors",
	 "--degraded-links is for the tables of fors: --routing fors is missing"},
	{WHATIF | FABRIC, "degraded-links", GOES_WITHOUT, "routing",
	 "--degraded-links is for the tables of fors: it goes without --routing"},
	{PLAN, "reference|state", NEEDS, "fabric",
	 "--reference and --state say what a text lacks: --fabric FILE is missing"},
	{PLAN, "reference|state", GOES_WITHOUT, "lfts", "--reference and --state go without --lfts"},
	{PLAN, "reference", GOES_WITHOUT, "state", "--reference and --state exclude each other"},
	{PLAN, "phase-cost|pieces", NEEDS, "demand", "--phase-cost and --pieces need --demand FILE"},
	{PLAN, "demand", GOES_WITHOUT, "participants|method|sl|reference|state",
	 "--demand goes without --participants, --method, --sl, --reference and --state"},
	{JOBS, "demand-dir", NEEDS, "jobs|slurm", "--demand-dir needs --jobs FILE or --slurm"},
	{JOBS, "demand-dir", GOES_WITHOUT, "replay", "--demand-dir goes without --replay"},
	{PLAN, "ilp-seconds", NEEDS, "method=ilp", "--ilp-seconds needs --method ilp"},
	{PLAN | CLI_CMD_JOBS, "plan-steps", GOES_WITHOUT, "method=closed-form|method=ilp",
	 "--plan-steps is for methods that count steps: it goes without --method closed-form and ilp"},

	/* analyze: jobs, and what there is without packets */
	{ANALYZE, "phases", NEEDS, PER_JOB, "--phases goes with --pattern per-job-..."},
	{ANALYZE, "job-index", NEEDS, "pattern=per-job-plan", "--job-index goes with --pattern per-job-plan"},
	{ANALYZE, PER_JOB, NEEDS, "jobs", "--pattern per-job-... needs --jobs FILE"},
	{ANALYZE, PER_JOB, GOES_WITHOUT, "pattern-file|schedule|html|optimum|map=random|policy!=tables|blocks|" IN_TIME,
	 "--pattern per-job-... goes without --pattern-file, --schedule, --map, --optimum, --html, --policy, --message, "
	 "--barrier, --measured, --speed and --adapter-rate"},
	{ANALYZE, "barrier=none", GOES_WITHOUT, "barrier",
	 "--barrier none: loads are of phases that wait for one another; fors simulate knows what happens when they do "
	 "not"},
	{ANALYZE, "measured", GOES_WITHOUT, "barrier",
	 "--measured finds the cost of a phase itself: it goes without --barrier"},
	{ANALYZE, "blocks", NEEDS, "policy=vlb|policy=tago", "--blocks is for --policy vlb and tago"},

	/* simulate: who waits for whom */
	{SIMULATE | WHATIF, "measured", GOES_WITHOUT, "barrier",
	 "--measured finds the cost of a barrier itself: it goes without --barrier"},
	{SIMULATE, "measured", GOES_WITHOUT, "jitter>0|skew>0", "--measured goes without --jitter and --skew"},
	{SIMULATE, "load", GOES_WITHOUT, "barrier!=none|measured|jitter>0|skew>0|idle",
	 "--load has no phases: it goes without --barrier, --measured, --jitter, --skew and --idle"},
	{SIMULATE, "messages", NEEDS, "load", "--messages needs --load"},
	{SIMULATE, "server-load", NEEDS, "load", "--server-load needs --load"},
	{SIMULATE, "wait=own|wait=tokens|wait=tree|wait=chunks", GOES_WITHOUT, "barrier|measured|jitter>0|load|idle",
	 "--wait own, tokens, tree and chunks have no barrier that ends a phase for all at once: they go without --barrier, "
	 "--measured, --jitter, --load and --idle"},
	{SIMULATE, "token-time", NEEDS, "wait=own|wait=tokens|wait=tree",
	 "--token-time needs --wait own, tokens or tree"},
	{SIMULATE, "ahead", NEEDS, "wait=tree", "--ahead needs --wait tree"},
	{SIMULATE, "chunk", NEEDS, "wait=chunks", "--chunk needs --wait chunks"},
	{SIMULATE, "load", GOES_WITHOUT, "ranks|sigma|message-jitter",
	 "--load has messages of one size, and one rank for each server: it goes without --ranks, --sigma and "
	 "--message-jitter"},
	{SIMULATE, "measured", GOES_WITHOUT, "message-jitter", "--measured goes without --message-jitter"},
	{SIMULATE, "window", NEEDS, "barrier=none|load|wait=chunks|wait=tree|wait=tokens",
	 "--window needs --barrier none, or --wait chunks, tree or tokens"},
	{SIMULATE, "idle", NEEDS, "barrier=none",
	 "--idle needs --barrier none: with barriers all wait for the last of each phase, whether they have something to "
	 "send or not"},
	{SIMULATE, "barrier=none", GOES_WITHOUT, "jitter>0",
	 "--jitter comes after barriers: it goes without --barrier none"},
	{SIMULATE, "pause-high", NEEDS, "pause-low", "--pause-high and --pause-low need each other"},
	{SIMULATE, "pause-low", NEEDS, "pause-high", "--pause-high and --pause-low need each other"},

	/* simulate: policies */
	{SIMULATE, "adaptive-binding|adaptive-levels|adaptive-leave|adaptive-choice", NEEDS, "policy=adaptive",
	 "--adaptive-binding, --adaptive-levels, --adaptive-leave and --adaptive-choice need --policy adaptive"},
	{SIMULATE, "switch-ar-level|switch-ar-forget", NEEDS, "policy=switch-ar",
	 "--switch-ar-level and --switch-ar-forget need --policy switch-ar"},
	{SIMULATE, "qcn-queue|qcn-sample", NEEDS, "rate-limits|policy=switch-ar",
	 "--qcn-queue and --qcn-sample need --rate-limits or --policy switch-ar"},
	{SIMULATE, "qcn-timer", NEEDS, "rate-limits", "--qcn-timer needs --rate-limits"},
	{SIMULATE, "blocks", NEEDS, "policy=vlb|policy=ugal-l|policy=ugal-g|policy=tago",
	 "--blocks is for --policy vlb, ugal-l, ugal-g and tago"},

	/* status */
	{STATUS, "verbose", GOES_WITHOUT, "json|history",
	 "--verbose is for the page of fors status: it goes without --json and --history, which leave nothing out"},

	/* watch */
	{WATCH, "output-net|output-lfts|explain", NEEDS, "once",
	 "--output-net, --output-lfts and --explain need --once"},
	{WATCH, "config", GOES_WITHOUT, "once", "--config is of the service: it goes without --once"},

	/* whatif */
	{WHATIF, IN_TIME, NEEDS, "simulate", "how to simulate is said, but not --simulate"},
	{WHATIF, "random", NEEDS, "count", "--random K and --count N belong together"},
	{WHATIF, "count", NEEDS, "random", "--random K and --count N belong together"},
	{WHATIF, "seed", NEEDS, "random", "--seed is of random failures: it needs --random K and --count N"},
	{WHATIF, "lmc", GOES_WITHOUT, "routing", "--lmc is for fors: a model of an engine gives each server one LID"},
};

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
	for (const struct rule *rule = rules; rule < rules + sizeof(rules) / sizeof(rules[0]); rule++)
		if (rule->commands & command && has_one(given, count, rule->options) &&
		    has_one(given, count, rule->others) == (rule->how == GOES_WITHOUT))
			return cli_usage_error("%s", rule->text);
	return CLI_GOOD;
}
