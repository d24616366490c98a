/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.h - every option of the command, once.
 *
 * An option is one row of one table (options.c): its name, what its argument is called, which commands have it, what
 * the help says of it, and how its argument becomes a setting. Parsing and help (parse.c) and the completion of shells
 * (completion.c) walk this table and know no option by name; the tests hold the man page against it. So a new option
 * is one new row, one new member of struct cli_settings, and one entry in fors(1).
 *
 * A name may have several rows, for different commands: `--format` is not the same for a schedule and for a fabric.
 */
#ifndef FORS_CLI_OPTIONS_H
#define FORS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/names.h"
#include "core/planners/method.h"

/* The commands that have options; sets of them are sums. */
enum cli_command_id {
	CLI_CMD_PLAN = 1 << 0,
	CLI_CMD_SCHEDULE = 1 << 1,
	CLI_CMD_VERIFY = 1 << 2,
	CLI_CMD_ANALYZE = 1 << 3,
	CLI_CMD_INDICES = 1 << 4,
	CLI_CMD_WHATIF = 1 << 5,
	CLI_CMD_STATUS = 1 << 6,
	CLI_CMD_FORGET = 1 << 7,
	CLI_CMD_FABRIC = 1 << 8,
	CLI_CMD_DIFF = 1 << 9,
	CLI_CMD_JOBS = 1 << 10,
	CLI_CMD_LINKS = 1 << 11,
	CLI_CMD_EXCLUDE = 1 << 12,
	CLI_CMD_WAIT = 1 << 13,
	CLI_CMD_SIMULATE = 1 << 14,
	CLI_CMD_WATCH = 1 << 15,
	CLI_CMD_TRIAL = 1 << 16,
};

/* Arguments of --format, in the order of their names. */
enum cli_schedule_format { CLI_SCHEDULE_TEXT, CLI_SCHEDULE_CSV, CLI_SCHEDULE_JSON, CLI_SCHEDULE_PARTICIPANTS };
enum cli_fabric_format {
	CLI_FABRIC_NET,
	CLI_FABRIC_JSON,
	CLI_FABRIC_LFTS,
	CLI_FABRIC_SLURM,
	CLI_FABRIC_SLURM_YAML,
	CLI_FABRIC_SVG,
	CLI_FABRIC_DOT
};
/* A size in bytes, or a time in picoseconds. */
struct cli_amount {
	bool is_given;
	uint64_t value;
};

/* Texts that an option was given, one for each time. */
struct cli_texts {
	const char **text; /* count; owned */
	size_t count;
};

/* What follows Slurm's jobs: `fors jobs --slurm`. */
struct cli_slurm {
	bool is_wanted;			     /* --slurm */
	const char *output, *squeue, *names; /* --output, --squeue, --names */
	const char *exclusive, *plans;	     /* --exclusive, --publish-dir */
	unsigned interval, wait;	     /* --interval, --wait: seconds; 0: not given */
	int mark;			     /* --mark: enum slurm_mark */
};

/* How a fabric is read from a port of this host: `fors watch`. */
struct cli_watch {
	bool wants_explanation;		      /* --explain */
	bool is_once;			      /* --once */
	const char *ca, *net, *lfts, *config; /* --ca, --output-net, --output-lfts, --config */
	const char *m_key_file;		      /* --m-key-file */
	unsigned port, window, timeout;	      /* --port, --window, --timeout; 0: not given */
	unsigned rate, retries;		      /* --rate, --retries */
};

/* Which fabric is meant. */
struct cli_source {
	const char *fabric;	  /* --fabric */
	const char *synthetic;	  /* --synthetic */
	const char *participants; /* --participants */
	const char *reference;	  /* --reference */
	const char *state;	  /* --state of plan */
	const char **down;	  /* --down, ndown times; owned */
	size_t ndown;
	struct fors_names not_hosts; /* --not-hosts; owned */
	bool has_lmc;		     /* --lmc */
	unsigned lmc;
	int degraded; /* --degraded-links: enum fors_slow_how */
};

/*
 * What the options of a command line say. All zero at first, but for what cli_settings_init() sets: NULL, 0 and false stand for
 * options that are missing. Texts are lent.
 */
struct cli_settings {
	int argc;
	char **argv; /* what was parsed, the name of the command first; lent */
	struct cli_source source;
	const char *lfts, *routing, *schedule; /* --lfts, --routing, --schedule */
	bool compares_lfts;		       /* --lfts of diff */
	const char *levels;		       /* --sl */
	const char *demand;		       /* --demand */
	struct cli_amount phase_cost;	       /* --phase-cost: picoseconds */
	const char *jobs;		       /* --jobs */
	struct fors_plan_limits limits;	       /* --method, --ilp-seconds, --plan-steps */
	const char *output, *state;	       /* --output, --state */
	unsigned seed;			       /* --seed */
	bool job_index;			       /* --job-index */
	const char *demand_dir;		       /* --demand-dir */
	const char *replay;		       /* --replay */
	int placement;			       /* --placement: enum fors_placement */
	unsigned cores;			       /* --cores; 0: not given */
	bool has_count;			       /* --count */
	unsigned count;
	bool has_server;      /* --server */
	uint64_t server;      /* port GUID */
	bool has_format;      /* --format */
	int format;	      /* enum cli_schedule_format or enum cli_fabric_format */
	unsigned watch;	      /* --watch; 0: once */
	const char *counters; /* --counters */
	bool suggests;	      /* --suggest */
	unsigned threshold;   /* --threshold */
	bool wants_history;   /* --history */
	bool is_verbose;      /* --verbose */
	bool has_after, has_timeout;
	uint64_t after;	      /* --after */
	unsigned timeout;     /* --timeout */
	bool is_dry, is_json; /* --dry-run, --json */
	struct cli_slurm slurm;
	bool path_index; /* --path-index */
	const char *svg; /* --svg */
	struct cli_watch reading;
};

struct cli_option {
	const char *name; /* without the dashes */
	const char *
		argument; /* what its argument is called in the help; "FILE" names a file, "[N]" may be left out; NULL: it takes none */
	unsigned commands; /* sum of enum cli_command_id */
	const char *help;
	/* Take it, with its argument or NULL; false: the argument is bad (the user has been told). */
	bool (*set)(const struct cli_option *option, const char *argument, struct cli_settings *settings);
	size_t member; /* offset in struct cli_settings of what set() fills, where several options share one */
	unsigned most; /* of numbers: the largest */
	const char *const *values; /* see cli_option_values() */
};

struct cli_options {
	const struct cli_option *row;
	size_t count;
};

/* Those of the product; those of a program, which itself lists them, NULL ends them. */
extern const struct cli_options cli_product_options;
extern const struct cli_options *const cli_options[];

/*
 * The next option of `command` in the order of the help, the first one after NULL; NULL at the end:
 *     for (const struct cli_option *o = NULL; (o = cli_option_next(o, command));)
 * --help, which every command has, is none of them.
 */
const struct cli_option *cli_option_next(const struct cli_option *option, enum cli_command_id command);

/* Arguments of an option that have names, NULL ends them; NULL: it has none. What else it may be, its help says. */
const char *const *cli_option_values(const struct cli_option *option);

/* May the option be given more than once? Its help says so. */
bool cli_option_repeats(const struct cli_option *option);

/* Of --placement, in the order of enum fors_placement (lab/replay/replay.h); NULL ends them. */
extern const char *const cli_placements[];
/* LMCs, and models of routing engines for any net: names of arguments in both tables; NULL ends them. */
extern const char *const cli_lmcs[];
extern const char *const cli_models[];

/* What the settings of a program begin with is struct cli_settings; which itself says how large they are, and what of the rest is to be freed. */
struct cli_settings_kind {
	size_t size;
	void (*clear)(struct cli_settings *settings); /* NULL: nothing */
};
extern const struct cli_settings_kind cli_settings_kind;

/* What options that are missing are, where that is not 0. */
void cli_settings_init(struct cli_settings *settings);
/* Free what the settings own. */
void cli_settings_clear(struct cli_settings *settings);

#endif
