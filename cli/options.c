/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* options.c - the table of the options of the product, and how each becomes a setting; those of the lab are in lab/options.c. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/setters.h"
#include "core/planners/planner.h"

/* --- setters --------------------------------------------------------------------------------------------------- */

static bool set_watch(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_set_number(option, argument ? argument : "2", settings);
}

static bool set_format(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_format = true;
	return cli_set_choice(option, argument, settings);
}

static bool set_down(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_source *source = &settings->source;
	struct cli_texts texts = {source->down, source->ndown};
	bool is_good = cli_add_text(&texts, argument);

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

static bool set_timeout(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	settings->has_timeout = true;
	return cli_set_number(option, argument, settings);
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
	*(uint64_t *)cli_member_of(option, settings) = number * unit;
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
static const char *const fabric_formats[] = {[CLI_FABRIC_NET] = "net",
					     [CLI_FABRIC_JSON] = "json",
					     [CLI_FABRIC_LFTS] = "lfts",
					     [CLI_FABRIC_SLURM] = "slurm",
					     [CLI_FABRIC_SLURM_YAML] = "slurm-yaml",
					     [CLI_FABRIC_SVG] = "svg",
					     [CLI_FABRIC_DOT] = "dot",
					     NULL};
const char *const cli_placements[] = {"recorded", "first-fit", "tree", "random", NULL}; /* enum fors_placement */
static const char *const degraded[] = {"auto", "ignore", "dead", NULL};			/* enum fors_slow_how */
static const char *const slurm_marks[] = {"shared", "exclusive", "job-index", NULL};	/* enum slurm_mark */
const char *const cli_lmcs[] = {"0", "1", "2", "3", "4", "5", "6", "7", NULL};
const char *const cli_models[] = {"shortest", "up-down", "sssp", "dor", NULL};

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
	WITH_FABRIC = PLAN | VERIFY | WITH_TABLES | WHATIF | FABRIC | JOBS | LINKS | EXCLUDE,
};

#define MEMBER(name) offsetof(struct cli_settings, name)

/* In the order of the help of each command. */
static const struct cli_option options[] = {
	{"fabric", "FILE", WITH_FABRIC,
	 "read the fabric from FILE: ibnetdiscover text or an ibsim net file; - is stdin", cli_set_text,
	 MEMBER(source.fabric), 0, NULL},
	{"synthetic", "SPEC", WITH_FABRIC,
	 "make up a fabric: FT(2;SPINES,LEAVES[;servers=N][;cables=C][;empty=LEAF/SLOT,...]), or a fat-tree of any height, "
	 "XGFT(h;m1,...;w1,...) or PGFT(h;m1,...;w1,...;p1,...), or another network: TORUS(4x4x4;N), CUBE(D;N), "
	 "DRAGONFLY(A,H,G;N), DFPLUS(L,S,H,G;N), RRG(SWITCHES,DEGREE,N;SEED), FLEXFLY(A,H,G;N), FLEXSPANDER(A,D,H,G;N), N servers per switch",
	 cli_set_text, MEMBER(source.synthetic), 0, NULL},
	{"down", "NODE[PORT]", WITH_FABRIC, "take down one cable, or without [PORT] a whole node; may be repeated",
	 set_down, 0, 0, NULL},
	{"not-hosts", "PATTERN", WITH_FABRIC,
	 "adapters with such descriptions (* and ?) or GUIDs are no hosts, beside those that are known to be none; may be repeated",
	 set_not_hosts, 0, 0, NULL},
	{"reference", "FILE", PLAN, "the text of the intact fabric: what it has and --fabric has not is dead",
	 cli_set_text, MEMBER(source.reference), 0, NULL},
	{"state", "DIR", PLAN, "the same by what opensm ever saw: DIR is its state folder", cli_set_text,
	 MEMBER(source.state), 0, NULL},
	{"participants", "FILE", PLAN | JOBS,
	 "only the port GUIDs in FILE, one per line, take part; default: all servers", cli_set_text,
	 MEMBER(source.participants), 0, NULL},
	{"output", "FILE", FABRIC,
	 "write to FILE; without --format its ending decides: .svg, .dot, .json, .net, .lfts, .conf (slurm), .yaml",
	 cli_set_text, MEMBER(output), 0, NULL},
	{"state", "DIR", FABRIC, "with svg or dot: also show what the status in this state folder says of cables",
	 cli_set_text, MEMBER(state), 0, NULL},
	{"lfts", "FILE", PLAN,
	 "plan over these tables, of any engine in any topology: opensm-lfts.dump, or what dump_fts prints",
	 cli_set_text, MEMBER(lfts), 0, NULL},
	{"sl", "FILE", PLAN, "with --lfts: the service levels of paths, lines 'SLID DLID SL', for the schedule",
	 cli_set_text, MEMBER(levels), 0, NULL},
	{"demand", "FILE", PLAN,
	 "plan who sends how much to whom in FILE: lines 'SRC DST BYTES', or 'role HOSTS send|receive|both' and 'group NAME HOSTS'",
	 cli_set_text, MEMBER(demand), 0, NULL},
	{"phase-cost", "TIME", PLAN, "with --demand: what a phase costs beside its bytes, as in 1us; 4us when missing",
	 cli_set_time, MEMBER(phase_cost), 0, NULL},
	{"lfts", "FILE", VERIFY, "the tables: opensm-lfts.dump, or what dump_fts prints", cli_set_text, MEMBER(lfts), 0,
	 NULL},
	{"lfts", "FILE", LINKS, "the tables, of any engine: opensm-lfts.dump, or what dump_fts prints", cli_set_text,
	 MEMBER(lfts), 0, NULL},
	{"lmc", "N", LINKS, "give the servers new LIDs with this LMC, under the tables of fors", cli_set_lmc,
	 MEMBER(source.lmc), FORS_MAX_LMC, cli_lmcs},
	{"schedule", "FILE", LINKS, "the plan is a published schedule", cli_set_text, MEMBER(schedule), 0, NULL},
	{"suggest", NULL, EXCLUDE, "print lines exclude_links for cables with many errors, the worst first",
	 cli_set_flag, MEMBER(suggests), 0, NULL},
	{"counters", "FILE", LINKS, "errors of cables, the worst first: what ibqueryerrors or perfquery prints",
	 cli_set_text, MEMBER(counters), 0, NULL},
	{"counters", "FILE", EXCLUDE, "the errors: what ibqueryerrors or perfquery prints", cli_set_text,
	 MEMBER(counters), 0, NULL},
	{"threshold", "N", EXCLUDE, "cables with so many errors at both ends together; 100 when missing",
	 cli_set_number, MEMBER(threshold), UINT32_MAX - 1, NULL},
	{"routing", "NAME", FABRIC,
	 "LIDs and tables by a model of an engine, for any net: shortest, up-down, sssp, or dor (TORUS, CUBE)",
	 cli_set_choice_text, MEMBER(routing), 0, cli_models},
	{"lmc", "N", PLAN | FABRIC | JOBS,
	 "give the servers new LIDs with this LMC; default: the LIDs of the text, else LMC 0", cli_set_lmc,
	 MEMBER(source.lmc), FORS_MAX_LMC, cli_lmcs},
	{"degraded-links", "NAME", PLAN | FABRIC | JOBS | LINKS | WITH_TABLES | WHATIF,
	 "slow cables under the tables of fors, as degraded_links of fors.conf: auto (default), ignore or dead",
	 cli_set_choice, MEMBER(source.degraded), 0, degraded},
	{"method", "NAME", PLAN | JOBS, "auto (default), closed-form, rounds, exact, flows or ilp", set_method,
	 MEMBER(limits.method), 0, NULL},
	{"ilp-seconds", "N", PLAN, "time limit of the method ilp; 600 when missing", set_seconds,
	 MEMBER(limits.seconds), 1000000, NULL},
	{"plan-steps", "N", PLAN | JOBS,
	 "a method may work for N million steps, whether that ends its search early or late; its own budget when missing",
	 set_millions, MEMBER(limits.steps), 1000000, NULL},
	{"output", "FILE", PLAN, "write the schedule to FILE", cli_set_text, MEMBER(output), 0, NULL},
	{"output-dir", "DIR", JOBS, "write each job's schedule to DIR/NAME/schedule", cli_set_text, MEMBER(output), 0,
	 NULL},
	{"schedule", "FILE", VERIFY, "the schedule, as published or as 'fors plan --output' writes it", cli_set_text,
	 MEMBER(schedule), 0, NULL},
	{"jobs", "FILE", JOBS, "the jobs: lines 'NAME [exclusive|job-index, demand=DEMAND]: SERVER, ...'", cli_set_text,
	 MEMBER(jobs), 0, NULL},
	{"demand-dir", "DIR", JOBS,
	 "plan the demands that jobs name, too: DIR/DEMAND.demand; with --slurm comments may name them", cli_set_text,
	 MEMBER(demand_dir), 0, NULL},
	{"job-index", NULL, JOBS | ANALYZE,
	 "the last path index belongs to jobs: those marked [job-index] send to it only, over entries of lanes of their own; LMC 1 "
	 "or more",
	 cli_set_flag, MEMBER(job_index), 0, NULL},
	{"replay", "HISTORY", JOBS,
	 "instead of planning: files of the jobs that ran side by side, in --output-dir; HISTORY is what sacct -P prints, or "
	 "in the Standard Workload Format",
	 cli_set_text, MEMBER(replay), 0, NULL},
	{"placement", "HOW", JOBS,
	 "with --replay: recorded (default), or without regard to the record: first-fit, tree (as Slurm's topology/tree), "
	 "random",
	 cli_set_choice, MEMBER(placement), 0, cli_placements},
	{"cores", "N", JOBS, "with --replay: processors of a server, in the Standard Workload Format; 1 when missing",
	 cli_set_positive, MEMBER(cores), 1000000, NULL},
	{"count", "N", JOBS, "with --replay: how many moments; 20 when missing", cli_set_count, MEMBER(count), 1000000,
	 NULL},
	{"seed", "N", JOBS, "with --replay: of random placement; 0 when missing", cli_set_number, MEMBER(seed),
	 UINT32_MAX - 1, NULL},
	{"slurm", NULL, JOBS, "instead of planning: write a file of jobs with those that Slurm runs", cli_set_flag,
	 MEMBER(slurm.is_wanted), 0, NULL},
	{"output", "FILE", JOBS, "with --slurm: the file, replaced at once when something has changed", cli_set_text,
	 MEMBER(slurm.output), 0, NULL},
	{"interval", "SECONDS", JOBS, "with --slurm: again every so many seconds, for ever; once when missing",
	 cli_set_number, MEMBER(slurm.interval), 86400, NULL},
	{"exclusive", "NAMES", JOBS,
	 "with --slurm: all jobs of these partitions, separated by commas, are exclusive; others are with sbatch --comment "
	 "fors=exclusive",
	 cli_set_text, MEMBER(slurm.exclusive), 0, NULL},
	{"mark", "MARK", JOBS,
	 "with --slurm: exclusive or job-index, of all jobs that neither --exclusive nor a comment (fors=exclusive, fors=job-index, "
	 "fors=shared) gives another; shared when missing",
	 cli_set_choice, MEMBER(slurm.mark), 0, slurm_marks},
	{"names", "FILE", JOBS, "with --slurm: what Slurm's hosts are called in the fabric, lines 'HOST: SERVER, ...'",
	 cli_set_text, MEMBER(slurm.names), 0, NULL},
	{"squeue", "COMMAND", JOBS, "with --slurm: this program, with arguments, instead of squeue", cli_set_text,
	 MEMBER(slurm.squeue), 0, NULL},
	{"timeout", "SECONDS", JOBS, "with --slurm: wait for squeue no longer than this; 10 when missing", set_timeout,
	 MEMBER(timeout), 86400, NULL},
	{"publish-dir", "DIR", JOBS, "with --wait: where plans are published, as jobs/NAME/schedule", cli_set_text,
	 MEMBER(slurm.plans), 0, NULL},
	{"wait", "SECONDS", JOBS,
	 "with --slurm: wait for the plan of the job SLURM_JOB_ID, no longer than this; for Slurm's PrologSlurmctld",
	 cli_set_number, MEMBER(slurm.wait), 86400, NULL},
	{"format", "FORMAT", SCHEDULE,
	 "text (default), csv, json, or participants: the GUIDs of its servers, a line each", set_format,
	 MEMBER(format), 0, schedule_formats},
	{"format", "FORMAT", FABRIC,
	 "net (default): ibnetdiscover text, also for ibsim; json: what there is and what is "
	 "dead; lfts: the tables, for opensm -R file -U; slurm, slurm-yaml: topology.conf or topology.yaml of the scheduler Slurm; svg, dot: a picture",
	 set_format, MEMBER(format), 0, fabric_formats},
	{"server", "GUID", SCHEDULE, "only what the server with this port GUID sends (and in text, receives)",
	 set_server, 0, 0, NULL},
	{"path-index", NULL, SCHEDULE,
	 "only print the one path index of all flows, as a job has it whose plan is over the index of jobs; 0: base LIDs",
	 cli_set_flag, MEMBER(path_index), 0, NULL},
	{"dry-run", NULL, FORGET, "only say what would happen", cli_set_flag, MEMBER(is_dry), 0, NULL},
	{"json", NULL, PLAN, "print the keys of status.json", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, LINKS, "print JSON", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, JOBS, "print JSON, also which job owns which lane", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"lfts", NULL, DIFF,
	 "WAS and IS are forwarding tables: opensm-lfts.dump, or what dump_fts prints; say which entries differ",
	 cli_set_flag, MEMBER(compares_lfts), 0, NULL},
	{"json", NULL, DIFF, "print JSON, every change", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, STATUS, "print status.json; of several folders a list, each with its state_dir", cli_set_flag,
	 MEMBER(is_json), 0, NULL},
	{"watch", "[SECONDS]", STATUS, "show it again every so many seconds (default: 2), until Ctrl-C", set_watch,
	 MEMBER(watch), 86400, NULL},
	{"history", NULL, STATUS, "show the last 1,000 epochs: when, how many phases, why", cli_set_flag,
	 MEMBER(wants_history), 0, NULL},
	{"verbose", NULL, STATUS, "also the time of each step of the last failover", cli_set_flag, MEMBER(is_verbose),
	 0, NULL},
	{"after", "EPOCH", CLI_CMD_WAIT, "wait for one above this; default: that of the file as it is now", set_epoch,
	 0, 0, NULL},
	{"timeout", "SECONDS", CLI_CMD_WAIT, "wait no longer than this; default: for ever", set_timeout,
	 MEMBER(timeout), 86400, NULL},
	{"svg", "FILE", JOBS, "draw the fabric, the cables that a job owns in its colour", cli_set_text, MEMBER(svg), 0,
	 NULL},
	{"config", "FILE", WATCH, "settings, as in fors.conf(5); default: /etc/fors/watch.conf where it is there",
	 cli_set_text, MEMBER(reading.config), 0, NULL},
	{"once", NULL, WATCH, "read the fabric once, and end", cli_set_flag, MEMBER(reading.is_once), 0, NULL},
	{"explain", NULL, WATCH,
	 "say what the fabric loses over its tables, and what a schedule over them, or fors as the engine, would give",
	 cli_set_flag, MEMBER(reading.wants_explanation), 0, NULL},
	{"output-net", "FILE", WATCH, "write nodes and cables as ibnetdiscover text, in an order that never changes",
	 cli_set_text, MEMBER(reading.net), 0, NULL},
	{"output-lfts", "FILE", WATCH, "write the forwarding tables of the switches, as opensm-lfts.dump", cli_set_text,
	 MEMBER(reading.lfts), 0, NULL},
	{"ca", "NAME", WATCH, "the adapter to ask from, as ibstat calls it; default: the first one with an active port",
	 cli_set_text, MEMBER(reading.ca), 0, NULL},
	{"port", "N", WATCH, "its port; default: the first active one", cli_set_positive, MEMBER(reading.port), 254,
	 NULL},
	{"m-key-file", "FILE", WATCH,
	 "the M_Key of the fabric, alone or as in OpenSM's guid2mkey; where nodes do not answer without", cli_set_text,
	 MEMBER(reading.m_key_file), 0, NULL},
	{"window", "N", WATCH, "questions that are out at a time, at most; 4 when missing", cli_set_positive,
	 MEMBER(reading.window), 256, NULL},
	{"rate", "N", WATCH, "packets that leave in a second, at most; 20000 when missing, 0: any number",
	 cli_set_number, MEMBER(reading.rate), 10000000, NULL},
	{"timeout", "MS", WATCH, "milliseconds to wait for an answer before asking again; 200 when missing",
	 cli_set_positive, MEMBER(reading.timeout), 60000, NULL},
	{"retries", "N", WATCH, "how often to ask again; 3 when missing", cli_set_number, MEMBER(reading.retries), 100,
	 NULL},
};

const struct cli_options cli_product_options = {options, sizeof(options) / sizeof(options[0])};

/* The table that has this row. */
static const struct cli_options *const *table_of(const struct cli_option *option)
{
	const struct cli_options *const *table = cli_options;

	while (option < (*table)->row || option >= (*table)->row + (*table)->count)
		table++;
	return table;
}

const struct cli_option *cli_option_next(const struct cli_option *option, enum cli_command_id command)
{
	const struct cli_options *const *table = option ? table_of(option) : cli_options;

	for (option = option ? option + 1 : (*table)->row; *table; option = *++table ? (*table)->row : NULL)
		for (; option < (*table)->row + (*table)->count; option++)
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
	return strstr(option->help, "may be repeated");
}

void cli_settings_init(struct cli_settings *settings)
{
	settings->threshold = 100;
	settings->reading.rate = 20000;
	settings->reading.retries = 3;
}

void cli_settings_clear(struct cli_settings *settings)
{
	free(settings->source.down);
	settings->source.down = NULL;
	settings->source.ndown = 0;
	fors_names_clear(&settings->source.not_hosts);
	if (cli_settings_kind.clear)
		cli_settings_kind.clear(settings);
}
