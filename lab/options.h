/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* options.h - settings of the commands of the lab, and names of arguments. */
#ifndef FORS_LAB_OPTIONS_H
#define FORS_LAB_OPTIONS_H

#include "cli/options.h"

/* Arguments of --map, in the order of their names. */
enum cli_map { CLI_MAP_DIRECT, CLI_MAP_RANDOM };

/* Arguments of --queues and --idle, in the order of their names. */
enum cli_queues { CLI_QUEUES_VOQ, CLI_QUEUES_FIFO };
enum cli_idle { CLI_IDLE_KEPT, CLI_IDLE_SKIPPED };
enum cli_waiting { CLI_WAIT_BARRIER, CLI_WAIT_OWN, CLI_WAIT_TOKENS, CLI_WAIT_TREE, CLI_WAIT_CHUNKS };
/* --policy of analyze */
enum cli_spread { CLI_SPREAD_NONE, CLI_SPREAD_RANDOM, CLI_SPREAD_VLB, CLI_SPREAD_TAGO };
/* Arguments of --lanes and --adaptive-choice; the first one stands for what is usual. */
enum cli_lanes { CLI_LANES_USUAL, CLI_LANES_DESTINATION, CLI_LANES_HOPS };
enum cli_adaptive_choice { CLI_ADAPTIVE_USUAL, CLI_ADAPTIVE_RANDOM, CLI_ADAPTIVE_GREEDY };

/* A rate, or a part of one; 0: not given. */
typedef double cli_rate;

/* How a simulation runs. */
#define CLI_MAX_WEIGHTS 8 /* virtual lanes of a simulation */

struct cli_simulate {
	struct cli_amount message, mtu, buffer;		    /* --message, --mtu, --buffer: bytes */
	struct cli_amount wire, switching, adapter;	    /* --wire-time, --switch-time, --adapter-time */
	struct cli_amount barrier, jitter, skew;	    /* --barrier, --jitter, --skew */
	struct cli_amount pause_high, pause_low;	    /* --pause-high, --pause-low: bytes */
	cli_rate speed, adapter_rate, measured;		    /* --speed, --adapter-rate, --measured */
	struct cli_amount adaptive_binding, adaptive_leave; /* --adaptive-binding, --adaptive-leave */
	uint32_t adaptive_level[3];			    /* --adaptive-levels: bytes; all 0: none */
	int adaptive_choice, lanes;			    /* --adaptive-choice, --lanes */
	int switch_ar_level;				    /* --switch-ar-level: enum fors_ar_level */
	struct cli_amount switch_ar_forget;		    /* --switch-ar-forget */
	bool has_rate_limits;				    /* --rate-limits */
	struct cli_amount qcn_queue, qcn_sample, qcn_timer; /* --qcn-queue, --qcn-sample, --qcn-timer */
	struct cli_texts server_load;			    /* --server-load */
	bool has_watch;					    /* --watch-server */
	unsigned watch;
	const char *blocks;			   /* --blocks */
	cli_rate healthy;			   /* --healthy */
	bool wants_crossbar;			   /* --crossbar */
	cli_rate load;				   /* --load; 0: none */
	unsigned messages;			   /* --messages; 0: as usual */
	bool is_wanted;				   /* --simulate, of whatif */
	bool has_no_barrier, is_store_and_forward; /* --barrier none, --store-and-forward */
	int policy;				   /* --policy: enum fors_policy */
	int queues, idle;			   /* --queues, --idle: enum cli_queues, enum cli_idle */
	unsigned window, vls;			   /* --window, --vls; 0: not given */
	int waiting;				   /* --wait: enum cli_waiting */
	struct cli_amount token, chunk;		   /* --token-time, --chunk */
	unsigned ahead, ranks;			   /* --ahead, --ranks; 0: not given */
	cli_rate message_jitter, sigma;		   /* --message-jitter, --sigma; 0: none */
	struct cli_texts straggler;		   /* --straggler */
	unsigned nweights;			   /* --vl-weights; 0: not given */
	uint8_t weight[CLI_MAX_WEIGHTS];
	struct cli_texts link_rate; /* --link-rate */
};

/* What the options of a command line of this program say. */
struct cli_lab_settings {
	struct cli_settings base;
	struct cli_simulate simulate;
	const char *pattern, *pattern_file;  /* --pattern, --pattern-file */
	const char *engines, *resume, *html; /* --engines, --resume, --html */
	unsigned samples, threads, random;   /* --samples, --threads, --random */
	unsigned phases;		     /* --phases; 0: all */
	int map;			     /* --map: enum cli_map */
	int spread;			     /* --policy of analyze: enum cli_spread */
	bool wants_optimum;		     /* --optimum */
};

/* Of settings of this program: all of them. */
static inline const struct cli_lab_settings *cli_lab(const struct cli_settings *settings)
{
	return (const struct cli_lab_settings *)settings;
}

/* The routing engines that --engines knows: fors, then those that opensm has without it; NULL ends them. */
extern const char *const cli_engines[];

/* The names of --policy, in the order of enum fors_policy; NULL ends them. */
extern const char *const cli_policies[];
extern const char *const cli_spreads[];
/* Of --wait, in the order of enum cli_waiting. */
extern const char *const cli_waitings[];

#endif
