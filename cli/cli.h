/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cli.h - what the subcommands of the command `fors` share.
 *
 * A subcommand is one constant struct cli_command in a file of its own, cmd_<name>.c: what it is called and how it is
 * used, and a function that does the work. Its options are the rows of the table in options.c that are for it.
 * program.c has the command line parsed with them, so that every subcommand treats bad usage alike and --help cannot
 * differ from what is parsed.
 *
 * Everything runs in one thread.
 */
#ifndef FORS_CLI_CLI_H
#define FORS_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "core/fabric/account.h"
#include "core/fabric/fattree.h"
#include "core/net/lfts.h"
#include "core/schedule/schedule.h"
#include "core/status/status.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"

/* Exit codes; functions that return "an exit code" have told the user when it is not CLI_GOOD. */
enum cli_exit {
	CLI_GOOD = 0,
	CLI_NO = 1,  /* the question was fine, the answer is no */
	CLI_BAD = 2, /* bad usage or bad input */
};

struct cli_command {
	enum cli_command_id id;
	const char *name;
	const char *summary; /* one line */
	const char *usage;   /* what follows the name in the usage line */
	const char *details; /* the end of the help */
	int min_operands, max_operands;
	/* Do the work; returns an exit code. operand: min_operands..max_operands of them, then NULL. NULL: fors-lab does it. */
	int (*run)(const struct cli_settings *settings, char **operand);
};

extern const struct cli_command cli_analyze_command;
extern const struct cli_command cli_indices_command;
extern const struct cli_command cli_diff_command;
extern const struct cli_command cli_fabric_command;
extern const struct cli_command cli_exclude_command;
extern const struct cli_command cli_forget_command;
extern const struct cli_command cli_jobs_command;
extern const struct cli_command cli_links_command;
extern const struct cli_command cli_plan_command;
extern const struct cli_command cli_schedule_command;
extern const struct cli_command cli_simulate_command;
extern const struct cli_command cli_status_command;
extern const struct cli_command cli_trial_command;
extern const struct cli_command cli_verify_command;
extern const struct cli_command cli_wait_command;
extern const struct cli_command cli_watch_command;
extern const struct cli_command cli_whatif_command;

/* --- program.c ------------------------------------------------------------------------------------------------ */

/* The command line of `fors`, and of `fors-lab`, which has all commands. Returns an exit code. */
int cli_main(int argc, char **argv);

/* What the commands of the lab say of themselves, in both programs. */
#define CLI_ANALYZE_SUMMARY "Loads, throughput and fair rates of a pattern, with the tables of any engine"
#define CLI_INDICES_SUMMARY "What typical patterns get from given tables and from the best routing (LFTI)"
#define CLI_SIMULATE_SUMMARY "A pattern over a fabric in time, packet by packet: Gbit/s, with the tables of any engine"
#define CLI_TRIAL_SUMMARY "What fors promises, measured: hosts send, prediction beside measurement, a report"
#define CLI_WHATIF_SUMMARY "What would each failed cable and switch cost? Worst first"

/*
 * For these fors becomes fors-lab; return an exit code: the tables of a model of a routing engine (--routing of `fors fabric`), files
 * of jobs from a history (--replay of `fors jobs`).
 */
int cli_write_model(const struct cli_settings *settings, int format);
int cli_replay(const struct cli_settings *settings);

/* --- parse.c -------------------------------------------------------------------------------------------------- */

/*
 * Parse the command line of `command` (argv[0] is its name) into `settings`; *operand is where the operands begin.
 * Returns an exit code, or -1 when help was asked for (and printed).
 */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_settings *settings, char ***operand);
void cli_print_help(const struct cli_command *command, FILE *to);

/* --- values.c ------------------------------------------------------------------------------------------------- */

/* A whole number least..most in *number, or false (the user has been told that --`option` is wrong). */
bool cli_number(const char *option, const char *text, unsigned least, unsigned most, unsigned *number);
/* The index of `text` in names (NULL ends them), or -1 (the user has been told that --`option` is wrong). */
int cli_choice(const char *option, const char *text, const char *const *names);

/* "64KiB", "1500" in bytes, or "1.5us", "0" in picoseconds; or false (the user has been told that --`option` is wrong). */
bool cli_size(const char *option, const char *text, uint64_t *bytes);
bool cli_time(const char *option, const char *text, uint64_t *ps);
/* A decimal number above 0, at most `most`, or false (the user has been told). */
bool cli_rate_of(const char *option, const char *text, double most, double *rate);

/* A GUID in hexadecimal, with 0x or without, not 0. */
bool cli_guid(const char *text, uint64_t *guid);
/* The processors of this machine, at least 1: the threads of what has no --threads. */
unsigned cli_processors(void);

/* --- folders.c ------------------------------------------------------------------------------------------------ */

#define CLI_PATH_ROOM 4096

/* "folder/file" in path[CLI_PATH_ROOM], or false (the user has been told that it is too long). */
bool cli_make_path(const char *folder, const char *file, char *path);

struct cli_folders {
	char **path;
	size_t count;
	bool is_list; /* false: one state folder was named */
};

/*
 * The state folders that DIR stands for: itself, those in it, or (NULL) all in the default place. Returns an exit
 * code; to be cleared in any case.
 */
int cli_folders_find(const char *dir, struct cli_folders *folders);
void cli_folders_clear(struct cli_folders *folders);

/* --- load.c --------------------------------------------------------------------------------------------------- */

/* What does not change with failures and LIDs. */
struct cli_site {
	struct fors_net *intact;    /* as read, before anything is taken down */
	struct fors_net *reference; /* of --reference; else NULL */
	struct fors_places *places; /* learnt from it; NULL: it is no fat-tree, see cli_any_site_load() */
	struct fors_error
		neither; /* why it is no tree fors could route, or no text; with places it is one that is cut */
	struct fors_participants participants;
	bool has_participants;	     /* else all servers take part */
	enum fors_slow_how degraded; /* what is done about slow cables under the tables of fors */
};

/* The site at one moment: with what is down, LIDs and tables. */
struct cli_fabric {
	struct fors_net *net;
	struct fors_fattree tree;   /* kind NULL: it is none */
	struct fors_fabric *fabric; /* the tree's, of two levels; else NULL */
	struct fors_lfts *lfts;
	struct fors_pods_route *rounds; /* what the tables were made with; NULL: nothing, or nobody knows */
	struct fors_lanes *lanes;	/* of two levels */
	struct fors_account account;	/* of all CA ports */
	double tables_ms, check_ms;	/* filling, without checking; checking */
	struct fors_slow slow;		/* what was done about slow cables */
	struct fors_warnings
		warnings; /* what the tables leave out, and the schedule; and slow cables in use all the same */
};

/* The net in a file, or that of a specification as --synthetic takes it, where there is no such file. An exit code. */
int cli_net_named(const char *name, struct fors_net **net);
/* The net that is meant, with --down done, and nothing else. Returns an exit code; *net is to be freed on CLI_GOOD. */
int cli_net_load(const struct cli_source *source, struct fors_net **net);
/*
 * Read the intact net, learn its places, read the participants: a fat-tree of two levels or three. Returns an exit code;
 * to be freed in any case.
 */
int cli_site_load(const struct cli_source *source, struct cli_site *site);
/* The same for any net: one that is no fat-tree has no places. */
int cli_any_site_load(const struct cli_source *source, struct cli_site *site);
/* cli_net_load() of a site that has been loaded: standard input can be read only once. */
int cli_site_net(const struct cli_site *site, const struct cli_source *source, struct fors_net **net);
void cli_site_free(struct cli_site *site);

/*
 * The site with LIDs (those of the text unless has_lmc), with `ndown` things down, and the tables for it.
 * Returns an exit code; to be freed in any case.
 */
int cli_fabric_make(const struct cli_site *site, bool has_lmc, unsigned lmc, const char *const *down, size_t ndown,
		    struct cli_fabric *made);
/*
 * The middle of it: what fors makes of made->net, with the places of the site; the tables are not checked. Any thread. To
 * be freed in any case. Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err cli_fabric_route(const struct cli_site *site, struct cli_fabric *made, struct fors_error *error);
/*
 * cli_fabric_make() of a site of cli_any_site_load(): anything but a fat-tree of two levels or three is bad input, and
 * what it is not, is told.
 */
int cli_own_tables(const struct cli_site *site, const struct cli_source *source, struct cli_fabric *made);
/* Is the site a two-level fat-tree in which all leaves have a spine in common when nothing is down? */
bool cli_site_is_two_level(const struct cli_site *site);
/*
 * In a tree of three levels the participants of the site become those that take part in *made: guests do not. Returns an
 * exit code.
 */
int cli_site_narrow(struct cli_site *site, const struct cli_fabric *made);
void cli_fabric_free(struct cli_fabric *made);

/*
 * Tables of any engine, from a file, in *lfts, to be freed on CLI_GOOD; ports of `net` (indexed) that have no LID get
 * the one that the file says. Returns an exit code.
 */
int cli_read_tables(const char *path, struct fors_net *net, struct fors_lfts **lfts);
/*
 * Where the net in *made is a two-level fat-tree of the site, its tree, and its lanes by the tables in *made; else
 * there is none. Returns an exit code.
 */
int cli_fabric_understand(const struct cli_site *site, struct cli_fabric *made);

/* --- history.c ------------------------------------------------------------------------------------------------ */

/* What `fors status --history` says of the folders that DIR stands for. Returns an exit code. */
int cli_show_history(const char *dir, bool is_json);

/* --- file.c --------------------------------------------------------------------------------------------------- */

/*
 * Is there a file of this name? One that cannot be looked at (no permission) is there: whoever opens it says what is
 * wrong with it.
 */
bool cli_is_there(const char *path);
/* Parses `size` bytes of text, behind which there is a zero byte, into `context`. `path` opens error texts. */
typedef enum fors_err (*cli_reader)(const char *text, size_t size, const char *path, void *context,
				    struct fors_error *error);
/*
 * Read a file ("-": stdin; 1 GiB at most) and give all of it to a reader. Every file that a command parses comes
 * in here. Returns an exit code.
 */
int cli_use_file(const char *path, cli_reader use, void *context);
/* The same with a file of a folder; nothing is given where it need not be there, and is not. */
int cli_use_in(const char *folder, const char *file, bool has_to_be_there, cli_reader use, void *context);
/* Readers of the core: context is where the pointer to what is in the file goes, owned by the caller. */
enum fors_err cli_places_reader(const char *text, size_t size, const char *path, void *places,
				struct fors_error *error);
enum fors_err cli_schedule_reader(const char *bytes, size_t size, const char *path, void *schedule,
				  struct fors_error *error);
/* What the status of a state folder says, in *status, to be cleared. Returns an exit code. */
int cli_read_status(const char *folder, struct fors_status *status);
/* The same with a reader of the core: what is in the file, owned by the caller. Return exit codes. */
int cli_read_net(const char *path, struct fors_net **net);
int cli_read_lfts(const char *path, struct fors_lfts **lfts);
int cli_read_schedule(const char *path, struct fors_schedule **schedule);
/* Replace a file at once (temporary name, rename); what is no regular file is written to. Returns an exit code. */
int cli_write_file(const char *path, const void *bytes, size_t size);
/* The same for who alone writes the file now: the temporary name is PATH.new, so what a killed process left there goes. */
int cli_write_locked(const char *path, const void *bytes, size_t size);
/* A text into --output, or on standard output; it is freed. Returns an exit code. */
int cli_emit(const struct cli_settings *settings, char *text);

/* --- out.c ---------------------------------------------------------------------------------------------------- */

/* The name that opens error texts: "fors plan". Lent. */
void cli_set_name(const char *command);
/* Tell the user on stderr what is wrong. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with an error of the core; returns the exit code for it. */
int cli_fail(const struct fors_error *error);
/* CLI_BAD after telling the user on stderr, with a hint at the help. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_GREEN, CLI_YELLOW };
/* The bytes that switch to a colour; empty unless stdout is a terminal that has colours. */
const char *cli_colour(enum cli_colour colour);
/* What one LID for each server costs, where the plan is above the lower bound; nothing at a larger LMC. */
void cli_print_bounds(const struct fors_status *status);
/* An age as "5 min". */
void cli_print_age(double seconds);

/* A progress bar on stderr, when that is a terminal. For struct fors_task; context is unused. */
void cli_progress(void *context, double done);
/* From now on also where stderr is no terminal, as lines: what --progress asks for. */
void cli_progress_wanted(void);
/* What the bar says that is done, "planning" at first (lent), and of how many; 0: it counts in percent. */
void cli_progress_name(const char *name, unsigned total);
/* Take the bar away. */
void cli_progress_end(void);

/* --- links.c -------------------------------------------------------------------------------------------------- */

#define CLI_LABEL 12 /* columns of a row's label */
#define CLI_BELOW 14 /* where a line begins that belongs to the row above */

/* The dead cables of a status, the first few by name, for people. Their row is called "dead". */
void cli_print_dead_links(const struct fors_status *status);
/* What to mend first, where that is known and anything is lost. */
void cli_print_repairs(const struct fors_status *status);
/*
 * The links of a list of a status under a label, the first few of them, a switch of which all are in the list as one
 * line; says_used: also whether each carries traffic. NULL for the label: they belong to the row above.
 */
void cli_print_links(const char *label, const struct fors_status *status, const struct fors_links *links,
		     bool says_used);
void cli_print_warnings(const struct fors_warnings *warnings);
/* Where the ports are that are not in the schedule, if there are any. */
void cli_print_ca_ports(const struct fors_status *status);
/* How many adapters are no hosts, if any. */
void cli_print_not_hosts(const struct fors_status *status);
/* What ports that take no part cost, where that is known. */
void cli_print_alone(const struct fors_status *status);
/* The servers that are lost, the first few by name; intact: of how many, FORS_UNKNOWN: not known. */
void cli_print_lost(const struct fors_status *status, int64_t intact);
/* Cables that come and go, the first few. */
void cli_print_flapping(const struct fors_status *status);
/* Servers whose own cable is slow, the first few. */
void cli_print_slow_servers(const struct fors_status *status);
/* What full speed is, and what cables carry, where some carry more than one flow. */
void cli_print_speeds(int64_t mbits, int64_t least, int64_t most);
/* What the proof says of links: "no link carries two in a phase", or what holds where some carry more. */
const char *cli_no_conflict(uint32_t max_load);
/* What slow links cost the schedule, and what draining them would give; nothing where nothing is slow. */
void cli_print_slow(const struct fors_status *status);
/*
 * What print(context) prints, a page of rows with labels, its long lines broken at blanks where the terminal, or COLUMNS, is
 * narrower; at 45 at least.
 */
void cli_print_page(void (*print)(const void *context), const void *context);

#endif
