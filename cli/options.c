/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* options.c - the table of all options, and how each becomes a setting. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/jobs/replay.h"
#include "core/planners/planner.h"

/* --- setters --------------------------------------------------------------------------------------------------- */

static void *member_of(const struct cli_option *option, struct cli_settings *settings)
{
	return (char *)settings + option->member;
}

static bool set_flag(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	(void)argument;
	*(bool *)member_of(option, settings) = true;
	return true;
}

static bool names_file(const struct cli_option *option)
{
	return !strcmp(option->argument, "FILE") || !strcmp(option->argument, "DIR") ||
	       !strcmp(option->argument, "HISTORY");
}

/* An empty name of a file is an unset variable of somebody's shell; a system's "No such file" would not say so. */
static bool set_text(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	if (!*argument && names_file(option)) {
		cli_usage_error("option '--%s' names no file: its value is empty", option->name);
		return false;
	}
	*(const char **)member_of(option, settings) = argument;
	return true;
}

/* One of the names. */
static bool set_choice_text(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_choice(option->name, argument, option->values) >= 0 && set_text(option, argument, settings);
}

static bool set_number(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_number(option->name, argument, 0, option->most, member_of(option, settings));
}

/* From 1 on. */
static bool set_positive(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_number(option->name, argument, 1, option->most, member_of(option, settings));
}

static bool set_watch(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return set_number(option, argument ? argument : "2", settings);
}

/* The index of a name. */
static bool set_choice(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	int choice = cli_choice(option->name, argument, option->values);

	*(int *)member_of(option, settings) = choice < 0 ? 0 : choice;
	return choice >= 0;
}

static bool set_format(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_format = true;
	return set_choice(option, argument, settings);
}

static bool set_lmc(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->source.has_lmc = true;
	return set_number(option, argument, settings);
}

static bool set_random(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_random = true;
	return set_number(option, argument, settings);
}

static bool set_count(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_count = true;
	return set_number(option, argument, settings);
}

static bool set_size(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_amount *amount = member_of(option, settings);

	amount->is_given = true;
	return cli_size(option->name, argument, &amount->value);
}

static bool set_time(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_amount *amount = member_of(option, settings);

	amount->is_given = true;
	return cli_time(option->name, argument, &amount->value);
}

static bool set_barrier(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->simulate.has_no_barrier = !strcmp(argument, "none");
	return settings->simulate.has_no_barrier || set_time(option, argument, settings);
}

/* Above 0, at most `most`. */
static bool set_rate(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_rate_of(option->name, argument, option->most, member_of(option, settings));
}

/* Three sizes that ascend, the last one not 0. */
static bool set_levels(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	uint32_t *level = settings->simulate.adaptive_level;
	char text[64], *at = text;
	unsigned i = 0;

	snprintf(text, sizeof(text), "%s", argument);
	for (; at && i < 3; i++) {
		char *comma = strchr(at, ',');
		uint64_t value;

		if (comma)
			*comma = '\0';
		if (!cli_size(option->name, at, &value))
			return false;
		level[i] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
		at = comma ? comma + 1 : NULL;
	}
	if (i == 3 && !at && strlen(argument) < sizeof(text) && level[0] <= level[1] && level[1] <= level[2] &&
	    level[2])
		return true;
	cli_usage_error("--%s is '%s', but has to be three sizes that ascend, as in 1280,2560,5120", option->name,
			argument);
	return false;
}

/* "3,1": a number from 1 to 255 for each virtual lane. */
static bool set_weights(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_simulate *given = &settings->simulate;
	const char *at = argument;
	char *end;

	for (given->nweights = 0; given->nweights < CLI_MAX_WEIGHTS; at = end + 1) {
		unsigned long weight = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;

		if (!weight || weight > UINT8_MAX || (*end && *end != ','))
			break;
		given->weight[given->nweights++] = (uint8_t)weight;
		if (!*end)
			return true;
	}
	cli_usage_error("--%s is '%s', but has to be numbers from 1 to 255, of at most %d lanes, as in 3,1",
			option->name, argument, CLI_MAX_WEIGHTS);
	return false;
}

/* One more of them. */
static bool add_text(struct cli_texts *texts, const char *argument)
{
	const char **more = realloc(texts->text, (texts->count + 1) * sizeof(*more));

	if (!more) {
		cli_error("out of memory");
		return false;
	}
	more[texts->count++] = argument;
	texts->text = more;
	return true;
}

static bool set_texts(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return add_text(member_of(option, settings), argument);
}

static bool set_watch_server(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->simulate.has_watch = true;
	return set_number(option, argument, settings);
}

static bool set_down(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_source *source = &settings->source;
	struct cli_texts texts = {source->down, source->ndown};
	bool is_good = add_text(&texts, argument);

	(void)option;
	source->down = texts.text;
	source->ndown = texts.count;
	return is_good;
}

static bool set_not_hosts(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct fors_error error;

	(void)option;
	if (!fors_names_add(&settings->source.not_hosts, argument, &error))
		return true;
	cli_error("%s", error.text);
	return false;
}

static bool set_server(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_server = true;
	if (cli_guid(argument, &settings->server))
		return true;
	cli_usage_error("--%s is '%s', but has to be a port GUID like 0x0002c90300001234", option->name, argument);
	return false;
}

static bool set_epoch(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	char *end;

	errno = 0;
	settings->after = strtoull(argument, &end, 10);
	settings->has_after = true;
	if (*argument >= '0' && *argument <= '9' && !*end && !errno)
		return true;
	cli_usage_error("--%s is '%s', but has to be an epoch like 1700000000000", option->name, argument);
	return false;
}

static bool set_threshold(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_threshold = true;
	return set_number(option, argument, settings);
}

static bool set_mad_rate(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->reading.has_rate = true;
	return set_number(option, argument, settings);
}

static bool set_retries(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->reading.has_retries = true;
	return set_number(option, argument, settings);
}

static bool set_timeout(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_timeout = true;
	return set_number(option, argument, settings);
}

/* The methods that the planner of this build has. */
static const char *const *method_names(void)
{
	static const char *names[16] = {"auto"};
	size_t count;
	const struct fors_method *const *methods = fors_methods(&count);

	for (size_t i = 0; i < count && i < 14; i++)
		names[i + 1] = methods[i]->name;
	return names;
}

static bool set_method(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	if (cli_choice(option->name, argument, method_names()) < 0)
		return false;
	fors_limit_method(&settings->limits, argument);
	return true;
}

static bool set_limit(const struct cli_option *option, const char *argument, uint64_t unit,
		      struct cli_settings *settings)
{
	unsigned number;

	if (!cli_number(option->name, argument, 1, option->most, &number))
		return false;
	*(uint64_t *)member_of(option, settings) = number * unit;
	return true;
}

static bool set_seconds(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return set_limit(option, argument, 1, settings);
}

static bool set_millions(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return set_limit(option, argument, 1000000, settings);
}

/* --- the table -------------------------------------------------------------------------------------------------- */

static const char *const schedule_formats[] = {[CLI_SCHEDULE_TEXT] = "text",
					       [CLI_SCHEDULE_CSV] = "csv",
					       [CLI_SCHEDULE_JSON] = "json",
					       [CLI_SCHEDULE_PARTICIPANTS] = "participants",
					       NULL};
static const char *const fabric_formats[] = {
	[CLI_FABRIC_NET] = "net",   [CLI_FABRIC_SPEC] = "spec",	  [CLI_FABRIC_JSON] = "json",
	[CLI_FABRIC_LFTS] = "lfts", [CLI_FABRIC_SLURM] = "slurm", [CLI_FABRIC_SLURM_YAML] = "slurm-yaml",
	[CLI_FABRIC_SVG] = "svg",   [CLI_FABRIC_DOT] = "dot",	  NULL};
const char *const cli_policies[] = {"tables", "random", "hashed", "adaptive", "switch-ar",
				    "vlb",    "ugal-l", "ugal-g", "tago",     NULL}; /* enum fors_policy */
const char *const cli_spreads[] = {"tables", "random", "vlb", "tago", NULL};	     /* enum cli_spread */
static const char *const lane_kinds[] = {"usual", "destination", "hops", NULL};
static const char *const adaptive_choices[] = {"usual", "random", "greedy", NULL};
static const char *const levels[] = {"sum", "last", "oldest", NULL}; /* enum fors_ar_level */
static const char *const barriers[] = {"none", NULL};
static const char *const degraded[] = {"auto", "ignore", "dead", NULL}; /* enum fors_slow_how */
static const char *const idles[] = {[CLI_IDLE_KEPT] = "kept", [CLI_IDLE_SKIPPED] = "skipped", NULL};
const char *const cli_waitings[] = {
	[CLI_WAIT_BARRIER] = "barrier", [CLI_WAIT_OWN] = "own",	      [CLI_WAIT_TOKENS] = "tokens",
	[CLI_WAIT_TREE] = "tree",	[CLI_WAIT_CHUNKS] = "chunks", NULL};
static const char *const queue_kinds[] = {[CLI_QUEUES_VOQ] = "voq", [CLI_QUEUES_FIFO] = "fifo", NULL};
static const char *const slurm_marks[] = {"shared", "exclusive", "job-index", NULL}; /* enum slurm_mark */
static const char *const maps[] = {[CLI_MAP_DIRECT] = "direct", [CLI_MAP_RANDOM] = "random", NULL};
static const char *const lmcs[] = {"0", "1", "2", "3", "4", "5", "6", "7", NULL};
static const char *const routings[] = {"fors",	   "d-mod-k", "s-mod-k", "random", "hash",
				       "shortest", "up-down", "sssp",	 "dor",	   NULL};
static const char *const routings_of_jobs[] = {"fors",	  "d-mod-k", "s-mod-k", "random", "hash", "shortest",
					       "up-down", "sssp",    "dor",	"sar",	  NULL};
static const char *const models[] = {"shortest", "up-down", "sssp", "dor", NULL};
#define PATTERNS                                                                                                       \
	"linear-shift", "all-to-all", "plan", "shift", "permutation", "bisect", "2DNN", "2DNNDIAG", "3DNN",            \
		"3DNNDIAG", "bit-complement", "bit-reverse", "bit-rotation", "bit-shuffle", "bit-transpose",           \
		"tornado", "ring", "xor", "recursive-doubling", "dissemination", "broadcast", "incast", "NAS-FT",      \
		"NAS-IS", "NAS-CG", "NAS-MG", "NAS-BT", "WRF"
#define PATTERN_HELP                                                                                                              \
	"linear-shift, all-to-all, plan, plan(METHOD), shift, shift(K), permutation, bisect, 2DNN, 2DNNDIAG, 3DNN, "              \
	"3DNNDIAG, RANDN(K) or RANDOM(K); bit-complement, bit-reverse, bit-rotation, bit-shuffle, bit-transpose, tornado; ring, " \
	"xor, recursive-doubling, dissemination, broadcast; incast, incast(K), hotspot(K); NAS-FT, NAS-IS, NAS-CG, NAS-MG, "      \
	"NAS-BT, WRF"
static const char *const patterns[] = {PATTERNS, NULL};
static const char *const patterns_of_jobs[] = {PATTERNS, "per-job-shift", "per-job-plan", "per-job-all-to-all", NULL};
const char *const cli_engines[] = {"fors", "minhop", "updn", "dnup",	   "ftree", "lash",
				   "dor",  "dfsssp", "sssp", "torus-2QoS", "nue",   NULL};

enum {
	PLAN = CLI_CMD_PLAN,
	SCHEDULE = CLI_CMD_SCHEDULE,
	VERIFY = CLI_CMD_VERIFY,
	ANALYZE = CLI_CMD_ANALYZE,
	INDICES = CLI_CMD_INDICES,
	WHATIF = CLI_CMD_WHATIF,
	STATUS = CLI_CMD_STATUS,
	FORGET = CLI_CMD_FORGET,
	FABRIC = CLI_CMD_FABRIC,
	DIFF = CLI_CMD_DIFF,
	JOBS = CLI_CMD_JOBS,
	LINKS = CLI_CMD_LINKS,
	EXCLUDE = CLI_CMD_EXCLUDE,
	SIMULATE = CLI_CMD_SIMULATE,
	WATCH = CLI_CMD_WATCH,
	WITH_TABLES = ANALYZE | INDICES | SIMULATE,
	WITH_PATTERN = ANALYZE | SIMULATE,
	WITH_FABRIC = PLAN | VERIFY | WITH_TABLES | WHATIF | FABRIC | JOBS | LINKS | EXCLUDE,
};

#define MEMBER(name) offsetof(struct cli_settings, name)

/* In the order of the help of each command. */
static const struct cli_option options[] = {
	{"fabric", "FILE", WITH_FABRIC,
	 "read the fabric from FILE: ibnetdiscover text or an ibsim net file; - is stdin", set_text,
	 MEMBER(source.fabric), 0, NULL},
	{"synthetic", "SPEC", WITH_FABRIC,
	 "make up a fabric: FT(2;SPINES,LEAVES[;servers=N][;cables=C][;empty=LEAF/SLOT,...]), or a fat-tree of any height, "
	 "XGFT(h;m1,...;w1,...) or PGFT(h;m1,...;w1,...;p1,...), or another network: TORUS(4x4x4;N), CUBE(D;N), "
	 "DRAGONFLY(A,H,G;N), DFPLUS(L,S,H,G;N), RRG(SWITCHES,DEGREE,N;SEED), FLEXFLY(A,H,G;N), FLEXSPANDER(A,D,H,G;N), N servers per switch",
	 set_text, MEMBER(source.synthetic), 0, NULL},
	{"down", "NODE[PORT]", WITH_FABRIC, "take down one cable, or without [PORT] a whole node; may be repeated",
	 set_down, 0, 0, NULL},
	{"not-hosts", "PATTERN", WITH_FABRIC,
	 "adapters with such descriptions (* and ?) or GUIDs are no hosts, beside those that are known to be none; may be repeated",
	 set_not_hosts, 0, 0, NULL},
	{"reference", "FILE", PLAN, "the text of the intact fabric: what it has and --fabric has not is dead", set_text,
	 MEMBER(source.reference), 0, NULL},
	{"state", "DIR", PLAN, "the same by what opensm ever saw: DIR is its state folder", set_text,
	 MEMBER(source.state), 0, NULL},
	{"participants", "FILE", PLAN | JOBS,
	 "only the port GUIDs in FILE, one per line, take part; default: all servers", set_text,
	 MEMBER(source.participants), 0, NULL},
	{"participants", "FILE", WITH_TABLES, "only these port GUIDs send and receive, one per line", set_text,
	 MEMBER(source.participants), 0, NULL},
	{"participants", "FILE", WHATIF, "only these port GUIDs take part, one per line", set_text,
	 MEMBER(source.participants), 0, NULL},
	{"output", "FILE", FABRIC,
	 "write to FILE; without --format its ending decides: .svg, .dot, .json, .net, .lfts, .conf (slurm), .yaml",
	 set_text, MEMBER(output), 0, NULL},
	{"state", "DIR", FABRIC, "with svg or dot: also show what the status in this state folder says of cables",
	 set_text, MEMBER(state), 0, NULL},
	{"lfts", "FILE", PLAN,
	 "plan over these tables, of any engine in any topology: opensm-lfts.dump, or what dump_fts prints", set_text,
	 MEMBER(lfts), 0, NULL},
	{"sl", "FILE", PLAN, "with --lfts: the service levels of paths, lines 'SLID DLID SL', for the schedule",
	 set_text, MEMBER(levels), 0, NULL},
	{"demand", "FILE", PLAN,
	 "plan who sends how much to whom in FILE: lines 'SRC DST BYTES', or 'role HOSTS send|receive|both' and 'group NAME HOSTS'",
	 set_text, MEMBER(demand), 0, NULL},
	{"pieces", "FILE", PLAN, "with --demand: write the plan to FILE, phase by phase, as text", set_text,
	 MEMBER(pieces), 0, NULL},
	{"phase-cost", "TIME", PLAN, "with --demand: what a phase costs beside its bytes, as in 1us; 4us when missing",
	 set_time, MEMBER(phase_cost), 0, NULL},
	{"lfts", "FILE", VERIFY, "the tables: opensm-lfts.dump, or what dump_fts prints", set_text, MEMBER(lfts), 0,
	 NULL},
	{"lfts", "FILE", WITH_TABLES, "the tables, of any engine: opensm-lfts.dump, or what dump_fts prints", set_text,
	 MEMBER(lfts), 0, NULL},
	{"lfts", "FILE", LINKS, "the tables, of any engine: opensm-lfts.dump, or what dump_fts prints", set_text,
	 MEMBER(lfts), 0, NULL},
	{"lmc", "N", LINKS, "give the servers new LIDs with this LMC, under the tables of fors", set_lmc,
	 MEMBER(source.lmc), FORS_MAX_LMC, lmcs},
	{"schedule", "FILE", LINKS, "the plan is a published schedule", set_text, MEMBER(schedule), 0, NULL},
	{"suggest", NULL, EXCLUDE, "print lines exclude_links for cables with many errors, the worst first", set_flag,
	 MEMBER(suggests), 0, NULL},
	{"counters", "FILE", LINKS, "errors of cables, the worst first: what ibqueryerrors or perfquery prints",
	 set_text, MEMBER(counters), 0, NULL},
	{"counters", "FILE", EXCLUDE, "the errors: what ibqueryerrors or perfquery prints", set_text, MEMBER(counters),
	 0, NULL},
	{"threshold", "N", EXCLUDE, "cables with so many errors at both ends together; 100 when missing", set_threshold,
	 MEMBER(threshold), UINT32_MAX - 1, NULL},
	{"routing", "NAME", ANALYZE,
	 "instead of --lfts: fors (the tables that fors would write); a model of an engine for any net: shortest, "
	 "up-down, sssp, dor (TORUS, CUBE), or sar (balanced for --jobs); with --synthetic trees also d-mod-k, s-mod-k, "
	 "random, hash",
	 set_text, MEMBER(routing), 0, routings_of_jobs},
	{"routing", "NAME", SIMULATE,
	 "instead of --lfts: fors (the tables that fors would write); a model of an engine for any net: shortest, "
	 "up-down, sssp, or dor (TORUS, CUBE); with --synthetic trees also d-mod-k, s-mod-k, random, hash",
	 set_text, MEMBER(routing), 0, routings},
	{"routing", "NAME", INDICES,
	 "instead of --lfts: fors, or as for analyze: shortest, up-down, sssp, dor, d-mod-k, s-mod-k, random, hash",
	 set_text, MEMBER(routing), 0, routings},
	{"routing", "NAME", FABRIC,
	 "LIDs and tables by a model of an engine, for any net: shortest, up-down, sssp, or dor (TORUS, CUBE)",
	 set_choice_text, MEMBER(routing), 0, models},
	{"routing", "NAME", WHATIF,
	 "instead of fors, in any net: a model of an engine, shortest, up-down, sssp, or dor (TORUS, CUBE), with a plan over "
	 "its tables",
	 set_choice_text, MEMBER(routing), 0, models},
	{"lmc", "N", PLAN | FABRIC | JOBS,
	 "give the servers new LIDs with this LMC; default: the LIDs of the text, else LMC 0", set_lmc,
	 MEMBER(source.lmc), FORS_MAX_LMC, lmcs},
	{"lmc", "N", WITH_TABLES, "with --routing fors: LMC of the servers, 0 to 7", set_lmc, MEMBER(source.lmc),
	 FORS_MAX_LMC, lmcs},
	{"lmc", "N", WHATIF, "LMC of the servers, 0 to 7", set_lmc, MEMBER(source.lmc), FORS_MAX_LMC, lmcs},
	{"degraded-links", "NAME", PLAN | FABRIC | JOBS | LINKS | WITH_TABLES | WHATIF,
	 "slow cables under the tables of fors, as degraded_links of fors.conf: auto (default), ignore or dead",
	 set_choice, MEMBER(source.degraded), 0, degraded},
	{"method", "NAME", PLAN | JOBS, "auto (default), closed-form, rounds, exact, flows or ilp", set_method,
	 MEMBER(limits.method), 0, NULL},
	{"ilp-seconds", "N", PLAN, "time limit of the method ilp; 600 when missing", set_seconds,
	 MEMBER(limits.seconds), 1000000, NULL},
	{"plan-steps", "N", PLAN | JOBS,
	 "a method may work for N million steps, whether that ends its search early or late; its own budget when missing",
	 set_millions, MEMBER(limits.steps), 1000000, NULL},
	{"output", "FILE", PLAN, "write the schedule to FILE", set_text, MEMBER(output), 0, NULL},
	{"output-dir", "DIR", JOBS, "write each job's schedule to DIR/NAME/schedule", set_text, MEMBER(output), 0,
	 NULL},
	{"engines", "NAMES", WHATIF,
	 "also under these engines, separated by commas, run by opensm on ibsim: minhop,updn,ftree,dfsssp,...",
	 set_text, MEMBER(engines), 0, cli_engines + 1},
	{"random", "K", WHATIF, "also random failures of K cables at once", set_random, MEMBER(random), 65535, NULL},
	{"count", "N", WHATIF, "how many of them", set_count, MEMBER(count), 1000000, NULL},
	{"samples", "N", INDICES, "random patterns of each kind; 1 when missing", set_positive, MEMBER(samples), 10000,
	 NULL},
	{"pattern", "NAME", ANALYZE,
	 PATTERN_HELP "; or all jobs of --jobs at the same time: per-job-shift, per-job-plan, per-job-all-to-all",
	 set_text, MEMBER(pattern), 0, patterns_of_jobs},
	{"pattern", "NAME", SIMULATE, PATTERN_HELP, set_text, MEMBER(pattern), 0, patterns},
	{"phases", "N", ANALYZE,
	 "with per-job-...: so many phases of each job, at least; all of its exchange when missing", set_positive,
	 MEMBER(phases), 1000000, NULL},
	{"pattern-file", "FILE", WITH_PATTERN, "a pattern of your own: lines 'SRC DST [PATH]', 'phase' between phases",
	 set_text, MEMBER(pattern_file), 0, NULL},
	{"schedule", "FILE", VERIFY, "the schedule, as published or as 'fors plan --output' writes it", set_text,
	 MEMBER(schedule), 0, NULL},
	{"schedule", "FILE", WITH_PATTERN, "the pattern is a published schedule", set_text, MEMBER(schedule), 0, NULL},
	{"map", "HOW", WITH_PATTERN, "direct: process i on server i; random: anywhere", set_choice, MEMBER(map), 0,
	 maps},
	{"seed", "N", WITH_TABLES, "of everything random; 0 when missing", set_number, MEMBER(seed), UINT32_MAX - 1,
	 NULL},
	{"seed", "N", WHATIF, "of the random failures; 0 when missing", set_number, MEMBER(seed), UINT32_MAX - 1, NULL},
	{"jobs", "FILE", ANALYZE, "lines 'NAME: SERVER, SERVER, ...': EFI and dark fiber for these jobs", set_text,
	 MEMBER(jobs), 0, NULL},
	{"jobs", "FILE", JOBS, "the jobs: lines 'NAME [exclusive|job-index, demand=DEMAND]: SERVER, ...'", set_text,
	 MEMBER(jobs), 0, NULL},
	{"demand-dir", "DIR", JOBS,
	 "plan the demands that jobs name, too: DIR/DEMAND.demand; with --slurm comments may name them", set_text,
	 MEMBER(demand_dir), 0, NULL},
	{"job-index", NULL, JOBS | ANALYZE,
	 "the last path index belongs to jobs: those marked [job-index] send to it only, over entries of lanes of their own; LMC 1 "
	 "or more",
	 set_flag, MEMBER(job_index), 0, NULL},
	{"replay", "HISTORY", JOBS,
	 "instead of planning: files of the jobs that ran side by side, in --output-dir; HISTORY is what sacct -P prints, or "
	 "in the Standard Workload Format",
	 set_text, MEMBER(replay), 0, NULL},
	{"placement", "HOW", JOBS,
	 "with --replay: recorded (default), or without regard to the record: first-fit, tree (as Slurm's topology/tree), "
	 "random",
	 set_choice, MEMBER(placement), 0, fors_placement_names},
	{"cores", "N", JOBS, "with --replay: processors of a server, in the Standard Workload Format; 1 when missing",
	 set_positive, MEMBER(cores), 1000000, NULL},
	{"count", "N", JOBS, "with --replay: how many moments; 20 when missing", set_count, MEMBER(count), 1000000,
	 NULL},
	{"seed", "N", JOBS, "with --replay: of random placement; 0 when missing", set_number, MEMBER(seed),
	 UINT32_MAX - 1, NULL},
	{"slurm", NULL, JOBS, "instead of planning: write a file of jobs with those that Slurm runs", set_flag,
	 MEMBER(slurm.is_wanted), 0, NULL},
	{"output", "FILE", JOBS, "with --slurm: the file, replaced at once when something has changed", set_text,
	 MEMBER(slurm.output), 0, NULL},
	{"interval", "SECONDS", JOBS, "with --slurm: again every so many seconds, for ever; once when missing",
	 set_number, MEMBER(slurm.interval), 86400, NULL},
	{"exclusive", "NAMES", JOBS,
	 "with --slurm: all jobs of these partitions, separated by commas, are exclusive; others are with sbatch --comment "
	 "fors=exclusive",
	 set_text, MEMBER(slurm.exclusive), 0, NULL},
	{"mark", "MARK", JOBS,
	 "with --slurm: exclusive or job-index, of all jobs that neither --exclusive nor a comment (fors=exclusive, fors=job-index, "
	 "fors=shared) gives another; shared when missing",
	 set_choice, MEMBER(slurm.mark), 0, slurm_marks},
	{"names", "FILE", JOBS, "with --slurm: what Slurm's hosts are called in the fabric, lines 'HOST: SERVER, ...'",
	 set_text, MEMBER(slurm.names), 0, NULL},
	{"squeue", "COMMAND", JOBS, "with --slurm: this program, with arguments, instead of squeue", set_text,
	 MEMBER(slurm.squeue), 0, NULL},
	{"timeout", "SECONDS", JOBS, "with --slurm: wait for squeue no longer than this; 10 when missing", set_timeout,
	 MEMBER(timeout), 86400, NULL},
	{"publish-dir", "DIR", JOBS, "with --wait: where plans are published, as jobs/NAME/schedule", set_text,
	 MEMBER(slurm.plans), 0, NULL},
	{"wait", "SECONDS", JOBS,
	 "with --slurm: wait for the plan of the job SLURM_JOB_ID, no longer than this; for Slurm's PrologSlurmctld",
	 set_number, MEMBER(slurm.wait), 86400, NULL},
	{"optimum", NULL, ANALYZE, "also the best that any routing could give", set_flag, MEMBER(wants_optimum), 0,
	 NULL},
	{"simulate", NULL, WHATIF, "also in Gbit/s: simulate each failure packet by packet, as fors simulate does",
	 set_flag, MEMBER(simulate.is_wanted), 0, NULL},
	{"message", "SIZE", WITH_PATTERN | WHATIF, "bytes of each message, as in 1500, 64KiB, 4MiB; 64KiB when missing",
	 set_size, MEMBER(simulate.message), 0, NULL},
	{"barrier", "TIME", ANALYZE,
	 "also in Gbit/s, without packets: each phase costs so much beside its load, as in 1us", set_barrier,
	 MEMBER(simulate.barrier), 0, NULL},
	{"barrier", "TIME", SIMULATE | WHATIF,
	 "servers wait for one another after each phase, and then for so long, as in 4us; 0 when missing; none: nobody waits",
	 set_barrier, MEMBER(simulate.barrier), 0, barriers},
	{"jitter", "TIME", SIMULATE, "after a barrier each server goes on by up to that later", set_time,
	 MEMBER(simulate.jitter), 0, NULL},
	{"skew", "TIME", SIMULATE, "each server begins by up to that late", set_time, MEMBER(simulate.skew), 0, NULL},
	{"idle", "HOW", SIMULATE,
	 "with --barrier none: a server with nothing to send in a phase waits for as long as a message takes (kept), or not "
	 "(skipped)",
	 set_choice, MEMBER(simulate.idle), 0, idles},
	{"window", "N", SIMULATE,
	 "with --barrier none: messages of a server under way, at most; any number when missing", set_positive,
	 MEMBER(simulate.window), 1000000, NULL},
	{"wait", "WHOM", SIMULATE,
	 "whom a server waits for before the next phase: all, by a barrier (default); all, by tokens up and down a tree; its own "
	 "messages, sent and received; tokens of those who had its links before; or nobody, and it sends chunks to each in turn",
	 set_choice, MEMBER(simulate.waiting), 0, cli_waitings},
	{"token-time", "TIME", SIMULATE,
	 "with --wait tree, own and tokens: of a token between two servers; 1us when missing", set_time,
	 MEMBER(simulate.token), 0, NULL},
	{"ahead", "N", SIMULATE,
	 "with --wait tree: send in a phase when the phase N before it is over everywhere; 1 when missing",
	 set_positive, MEMBER(simulate.ahead), 1000000, NULL},
	{"chunk", "SIZE", SIMULATE,
	 "with --wait chunks: bytes of a chunk; half a message when missing, 8KiB at least and 1MiB at most", set_size,
	 MEMBER(simulate.chunk), 0, NULL},
	{"message-jitter", "PART", SIMULATE,
	 "before each message up to so much of its own time is lost, at random, as in 0.05", set_rate,
	 MEMBER(simulate.message_jitter), 10, NULL},
	{"straggler", "SERVER=PART", SIMULATE,
	 "a server, numbered from 0, whose cable runs at this part of its speed, as in 3=0.8; may be repeated",
	 set_texts, MEMBER(simulate.straggler), 0, NULL},
	{"ranks", "N", SIMULATE,
	 "on each server: each sends a message to each rank of the other server; 1 when missing", set_positive,
	 MEMBER(simulate.ranks), 64, NULL},
	{"sigma", "S", SIMULATE, "messages of unequal sizes: lognormal, --message on average", set_rate,
	 MEMBER(simulate.sigma), 4, NULL},
	{"load", "PART", SIMULATE,
	 "no phases: at random moments each server sends to one of those that it sends to in the pattern, on average so much of "
	 "its cable",
	 set_rate, MEMBER(simulate.load), 1, NULL},
	{"server-load", "SERVER=PART", SIMULATE,
	 "with --load: of one server instead, as in 3=0.45, or only from one time to another, 3=0.45,10ms,30ms; may be repeated",
	 set_texts, MEMBER(simulate.server_load), 0, NULL},
	{"watch-server", "N", SIMULATE, "the time line is of what arrives at this server, numbered from 0",
	 set_watch_server, MEMBER(simulate.watch), UINT32_MAX - 1, NULL},
	{"messages", "N", SIMULATE, "with --load: of each server; 1000 when missing", set_positive,
	 MEMBER(simulate.messages), 1000000, NULL},
	{"measured", "GBITS", ANALYZE, "find the cost of a phase with which each server would get so much", set_rate,
	 MEMBER(simulate.measured), 1000000, NULL},
	{"healthy", "GBITS", SIMULATE, "what a server gets from the healthy fabric: also say which part of it is left",
	 set_rate, MEMBER(simulate.healthy), 1000000, NULL},
	{"crossbar", NULL, SIMULATE, "also on one switch for all servers: which part of that is this?", set_flag,
	 MEMBER(simulate.wants_crossbar), 0, NULL},
	{"measured", "GBITS", SIMULATE | WHATIF,
	 "find the cost of a barrier with which each server would get so much, and simulate with it", set_rate,
	 MEMBER(simulate.measured), 1000000, NULL},
	{"speed", "GBITS", WITH_PATTERN | WHATIF,
	 "of all cables, whatever the fabric's text says; without, 200 where it says nothing", set_rate,
	 MEMBER(simulate.speed), 1000000, NULL},
	{"link-rate", "NODE[PORT]=PART", SIMULATE, "one cable runs at this part of its speed; may be repeated",
	 set_texts, MEMBER(simulate.link_rate), 0, NULL},
	{"mtu", "SIZE", SIMULATE, "payload of a packet; 4KiB when missing", set_size, MEMBER(simulate.mtu), 0, NULL},
	{"buffer", "SIZE", SIMULATE, "of each virtual lane of each port of a switch; 64KiB when missing", set_size,
	 MEMBER(simulate.buffer), 0, NULL},
	{"pause-high", "SIZE", SIMULATE, "PAUSE instead of credits: sent when a buffer holds so much", set_size,
	 MEMBER(simulate.pause_high), 0, NULL},
	{"pause-low", "SIZE", SIMULATE, "and taken back when it holds no more than this", set_size,
	 MEMBER(simulate.pause_low), 0, NULL},
	{"policy", "NAME", ANALYZE,
	 "also what packets get that go by chance: random (all shortest ways), vlb (detours), tago (by weighted global links)",
	 set_choice, MEMBER(spread), 0, cli_spreads},
	{"policy", "NAME", SIMULATE,
	 "who says how a packet goes on: tables (default); or among all shortest ways random (each packet), hashed (each "
	 "flow), adaptive (least queue), switch-ar (least congestion heard of); or over detours: vlb (always), ugal-l, ugal-g (when queues say so), tago (by weighted "
	 "global links)",
	 set_choice, MEMBER(simulate.policy), 0, cli_policies},
	{"blocks", "FILE", ANALYZE,
	 "switches that belong together, for vlb and tago: lines 'NAME: SWITCH, SWITCH, ...'; groups of a DRAGONFLY(..) and its like when missing",
	 set_text, MEMBER(simulate.blocks), 0, NULL},
	{"blocks", "FILE", SIMULATE,
	 "switches that belong together, for vlb, ugal and tago: lines 'NAME: SWITCH, SWITCH, ...'; groups of a DRAGONFLY(..) and its like when missing",
	 set_text, MEMBER(simulate.blocks), 0, NULL},
	{"adaptive-binding", "TIME", SIMULATE,
	 "with --policy adaptive: for so long a switch's choice holds for all packets to the same server", set_time,
	 MEMBER(simulate.adaptive_binding), 0, NULL},
	{"adaptive-levels", "A,B,C", SIMULATE,
	 "with --policy adaptive: all that a switch knows of a queue is which of these sizes it has reached, as in 1280,2560,5120",
	 set_levels, 0, 0, NULL},
	{"adaptive-leave", "SIZE", SIMULATE,
	 "with --policy adaptive: the table's port is taken while less than this waits for it", set_size,
	 MEMBER(simulate.adaptive_leave), 0, NULL},
	{"adaptive-choice", "HOW", SIMULATE,
	 "with --policy adaptive: of ports that are equal one at random (usual), or the first (greedy)", set_choice,
	 MEMBER(simulate.adaptive_choice), 0, adaptive_choices},
	{"switch-ar-level", "HOW", SIMULATE,
	 "with --policy switch-ar: what is heard of a port towards a destination counts as the sum of all notifications (default), "
	 "the last one, or when it was, so that the oldest is best",
	 set_choice, MEMBER(simulate.switch_ar_level), 0, levels},
	{"switch-ar-forget", "TIME", SIMULATE, "and for so long after the last of them; 250ms when missing", set_time,
	 MEMBER(simulate.switch_ar_forget), 0, NULL},
	{"rate-limits", NULL, SIMULATE, "servers heed congestion notifications (QCN): send less there, and recover",
	 set_flag, MEMBER(simulate.has_rate_limits), 0, NULL},
	{"qcn-queue", "SIZE", SIMULATE, "notifications begin above so much in a queue; 20KB when missing", set_size,
	 MEMBER(simulate.qcn_queue), 0, NULL},
	{"qcn-sample", "SIZE", SIMULATE, "a queue is looked at each so much, or sooner; 150KB when missing", set_size,
	 MEMBER(simulate.qcn_sample), 0, NULL},
	{"qcn-timer", "TIME", SIMULATE, "with --rate-limits: of a step of recovery; 15ms when missing", set_time,
	 MEMBER(simulate.qcn_timer), 0, NULL},
	{"lanes", "HOW", SIMULATE,
	 "virtual lanes by destination (usual), or by hops: one higher at each switch, so that no circle can lock (usual for detours)",
	 set_choice, MEMBER(simulate.lanes), 0, lane_kinds},
	{"vls", "N", SIMULATE,
	 "virtual lanes: a message takes the one of its destination's number; 1 when missing, 8 for detours and lanes by hops",
	 set_positive, MEMBER(simulate.vls), 8, NULL},
	{"vl-weights", "N,N,...", SIMULATE,
	 "of the lanes of --vls: packets that each sends in its turn, where several want one port; 1 when missing",
	 set_weights, 0, 0, NULL},
	{"queues", "KIND", SIMULATE, "of a port: voq (one for each way on), or fifo (one for all)", set_choice,
	 MEMBER(simulate.queues), 0, queue_kinds},
	{"store-and-forward", NULL, SIMULATE, "a switch begins to send a packet when it has all of it", set_flag,
	 MEMBER(simulate.is_store_and_forward), 0, NULL},
	{"wire-time", "TIME", SIMULATE, "of a cable; 30ns when missing", set_time, MEMBER(simulate.wire), 0, NULL},
	{"switch-time", "TIME", SIMULATE, "from a packet's coming to its going on; 100ns when missing", set_time,
	 MEMBER(simulate.switching), 0, NULL},
	{"adapter-time", "TIME", SIMULATE, "between two messages of a server", set_time, MEMBER(simulate.adapter), 0,
	 NULL},
	{"adapter-rate", "PART", WITH_PATTERN | WHATIF, "of its cable that an adapter can fill, as in 0.94", set_rate,
	 MEMBER(simulate.adapter_rate), 1, NULL},
	{"resume", "FILE", WHATIF, "keep results in FILE as they come, and do not find out again what is there",
	 set_text, MEMBER(resume), 0, NULL},
	{"threads", "N", INDICES, "how many to use; all processors when missing; results do not depend on it",
	 set_number, MEMBER(threads), 1024, NULL},
	{"progress", NULL, WHATIF | SIMULATE,
	 "write lines about what is done to standard error, also when that is no terminal", set_flag,
	 MEMBER(has_progress), 0, NULL},
	{"threads", "N", WHATIF, "instead of one for each processor", set_number, MEMBER(threads), 64, NULL},
	{"format", "FORMAT", SCHEDULE,
	 "text (default), csv, json, or participants: the GUIDs of its servers, a line each", set_format,
	 MEMBER(format), 0, schedule_formats},
	{"format", "FORMAT", FABRIC,
	 "net (default): ibnetdiscover text, also for ibsim; spec: the specification; json: what there is and what is "
	 "dead; lfts: the tables, for opensm -R file -U; slurm, slurm-yaml: topology.conf or topology.yaml of the scheduler Slurm; svg, dot: a picture",
	 set_format, MEMBER(format), 0, fabric_formats},
	{"server", "GUID", SCHEDULE, "only what the server with this port GUID sends (and in text, receives)",
	 set_server, 0, 0, NULL},
	{"path-index", NULL, SCHEDULE,
	 "only print the one path index of all flows, as a job has it whose plan is over the index of jobs; 0: base LIDs",
	 set_flag, MEMBER(path_index), 0, NULL},
	{"dry-run", NULL, FORGET, "only say what would happen", set_flag, MEMBER(is_dry), 0, NULL},
	{"json", NULL, PLAN, "print the keys of status.json", set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, LINKS, "print JSON", set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, JOBS, "print JSON, also which job owns which lane", set_flag, MEMBER(is_json), 0, NULL},
	{"lfts", NULL, DIFF,
	 "WAS and IS are forwarding tables: opensm-lfts.dump, or what dump_fts prints; say which entries differ",
	 set_flag, MEMBER(compares_lfts), 0, NULL},
	{"json", NULL, DIFF, "print JSON, every change", set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, WITH_TABLES, "print JSON", set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, WHATIF, "print JSON, all failures", set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, STATUS, "print status.json; of several folders a list, each with its state_dir", set_flag,
	 MEMBER(is_json), 0, NULL},
	{"watch", "[SECONDS]", STATUS, "show it again every so many seconds (default: 2), until Ctrl-C", set_watch,
	 MEMBER(watch), 86400, NULL},
	{"history", NULL, STATUS, "show the last 1,000 epochs: when, how many phases, why", set_flag,
	 MEMBER(wants_history), 0, NULL},
	{"verbose", NULL, STATUS, "also the time of each step of the last failover", set_flag, MEMBER(is_verbose), 0,
	 NULL},
	{"after", "EPOCH", CLI_CMD_WAIT, "wait for one above this; default: that of the file as it is now", set_epoch,
	 0, 0, NULL},
	{"timeout", "SECONDS", CLI_CMD_WAIT, "wait no longer than this; default: for ever", set_timeout,
	 MEMBER(timeout), 86400, NULL},
	{"html", "FILE", WITH_PATTERN, "write a page with the fabric drawn, for a browser or a printer", set_text,
	 MEMBER(html), 0, NULL},
	{"svg", "FILE", JOBS, "draw the fabric, the cables that a job owns in its colour", set_text, MEMBER(svg), 0,
	 NULL},
	{"html", "FILE", JOBS, "write a page with that picture and the jobs, for a browser or a printer", set_text,
	 MEMBER(html), 0, NULL},
	{"config", "FILE", WATCH, "settings, as in fors.conf(5); default: /etc/fors/watch.conf where it is there",
	 set_text, MEMBER(reading.config), 0, NULL},
	{"once", NULL, WATCH, "read the fabric once, and end", set_flag, MEMBER(reading.is_once), 0, NULL},
	{"explain", NULL, WATCH,
	 "say what the fabric loses over its tables, and what a schedule over them, or fors as the engine, would give",
	 set_flag, MEMBER(reading.wants_explanation), 0, NULL},
	{"output-net", "FILE", WATCH, "write nodes and cables as ibnetdiscover text, in an order that never changes",
	 set_text, MEMBER(reading.net), 0, NULL},
	{"output-lfts", "FILE", WATCH, "write the forwarding tables of the switches, as opensm-lfts.dump", set_text,
	 MEMBER(reading.lfts), 0, NULL},
	{"ca", "NAME", WATCH, "the adapter to ask from, as ibstat calls it; default: the first one with an active port",
	 set_text, MEMBER(reading.ca), 0, NULL},
	{"port", "N", WATCH, "its port; default: the first active one", set_positive, MEMBER(reading.port), 254, NULL},
	{"m-key-file", "FILE", WATCH,
	 "the M_Key of the fabric, alone or as in OpenSM's guid2mkey; where nodes do not answer without", set_text,
	 MEMBER(reading.m_key_file), 0, NULL},
	{"window", "N", WATCH, "questions that are out at a time, at most; 4 when missing", set_positive,
	 MEMBER(reading.window), 256, NULL},
	{"rate", "N", WATCH, "packets that leave in a second, at most; 20000 when missing, 0: any number", set_mad_rate,
	 MEMBER(reading.rate), 10000000, NULL},
	{"timeout", "MS", WATCH, "milliseconds to wait for an answer before asking again; 200 when missing",
	 set_positive, MEMBER(reading.timeout), 60000, NULL},
	{"retries", "N", WATCH, "how often to ask again; 3 when missing", set_retries, MEMBER(reading.retries), 100,
	 NULL},
	{"html", "FILE", WHATIF, "write a page, for a browser or a printer", set_text, MEMBER(html), 0, NULL},
};

#define NOPTIONS (sizeof(options) / sizeof(options[0]))

const struct cli_option *cli_option_next(const struct cli_option *option, enum cli_command_id command)
{
	for (option = option ? option + 1 : options; option < options + NOPTIONS; option++)
		if (option->commands & command)
			return option;
	return NULL;
}

const char *const *cli_option_values(const struct cli_option *option)
{
	return option->set == set_method ? method_names() : option->values;
}

bool cli_option_repeats(const struct cli_option *option)
{
	return option->set == set_down || option->set == set_not_hosts || option->set == set_texts;
}

void cli_settings_clear(struct cli_settings *settings)
{
	free(settings->source.down);
	settings->source.down = NULL;
	settings->source.ndown = 0;
	fors_names_clear(&settings->source.not_hosts);
	free(settings->simulate.link_rate.text);
	free(settings->simulate.server_load.text);
	free(settings->simulate.straggler.text);
	settings->simulate.link_rate = settings->simulate.server_load = settings->simulate.straggler =
		(struct cli_texts){0};
}
