/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.h - what fors knows about itself, to be told to people and programs: status_json.h, status_metrics.h,
 * advice.h. Thread rules: a status is plain data of one owner.
 */
#ifndef FORS_CORE_STATUS_STATUS_H
#define FORS_CORE_STATUS_STATUS_H

#include "core/base/unknown.h"
#include "core/base/warnings.h"
#include "core/fabric/drained.h"
#include "core/fabric/holddown.h"
#include "core/fabric/repairs.h"
#include "core/net/others.h"
#include "core/net/rates.h"
#include "core/schedule/pace.h"
#include "core/schedule/schedule.h"
#include "core/status/failover.h"
#include "jobstat.h"
#include "shadow.h"

/* FORS_SHADOW: fors looks on while another engine routes, and publishes no schedule. */
enum fors_state { FORS_INACTIVE, FORS_PLANNING, FORS_ACTIVE, FORS_FAILED, FORS_SHADOW };
#define FORS_NSTATES 5

/* The first remark when a folder of published files cannot be written; why follows. */
#define FORS_REMARK_UNWRITTEN "what readers have may be old: "

/* Reasons of an inactive state whose cure is known (advice.h); of the first, what follows a program's name. */
#define FORS_REASON_ENDED " has ended; failures are not repaired"
#define FORS_REASON_BLIND "nobody looks at the fabric: " /* why follows */
#define FORS_REASON_LEFT "opensm has ended, and is set up to do without fors from now on"
#define FORS_REASON_STANDBY "this subnet manager is not the master"

struct fors_link {
	char a[FORS_NAME_MAX + 1]; /* leaf */
	char b[FORS_NAME_MAX + 1]; /* spine */
	uint8_t a_port, b_port;
	bool is_used;		      /* tables lead servers' traffic over it; not of dead ones */
	int64_t since_ms;	      /* Unix time when it died or came back, FORS_UNKNOWN: before fors looked */
	bool is_planned;	      /* so does the schedule */
	char rate[FORS_RATE_TEXT];    /* width and speed, "4xQDR"; empty: not known */
	uint16_t changes;	      /* how often it died or came back in the last hour */
	char host[FORS_NAME_MAX + 1]; /* of a lost server: its name, empty: not known */
	bool is_degraded;	      /* of a slow server: its cable is slower than those of most */
};

/* In the order of leaves and lanes; owned by the status. */
struct fors_links {
	struct fors_link *link;
	size_t count;
};

#define FORS_FLAPPING 6 /* changes in an hour: as many make a cable a flapping one */

/* A switch that is gone, with all its cables. */
struct fors_dead_switch {
	char name[FORS_NAME_MAX + 1];
	char level[8];	  /* "leaf", "spine", "middle", "top" */
	uint32_t cables;  /* to other switches */
	uint32_t servers; /* that are lost with it */
};

/* By their numbers in the tree; owned by the status. */
struct fors_dead_switches {
	struct fors_dead_switch *one;
	size_t count;
};

#define FORS_GAINS_MAX 20

/* A repair, and what it would lead to. */
struct fors_gain {
	struct fors_link link; /* a is empty: the whole spine b */
	int64_t phases;	       /* with this mended and nothing else */
};

/* The repairs that alone give something back, the best first. Plain data. */
struct fors_gains {
	bool is_known;	  /* false: nobody has looked, and what follows is zero */
	int64_t alone;	  /* phases without ports that take no part; 0: not known */
	uint32_t untried; /* repairs for which the time did not suffice */
	uint32_t count;
	struct fors_gain gain[FORS_GAINS_MAX];
};

/* What a level of struct fors_dead_switch is called in a sentence: "leaf", "spine", "middle switch", "top". */
const char *fors_level_name(const char *level);
/* "inactive", "planning", "active", "failed" or "shadow"; never NULL. */
const char *fors_state_name(enum fors_state state);

struct fors_status {
	enum fors_state state;
	char reason[FORS_ERROR_TEXT]; /* why it is not active, or a warning; may be empty */
	int64_t epoch;		      /* of the published schedule */
	int64_t servers, leaves, spines;
	int64_t pods, mids, tops; /* of a tree of three levels, which has no spines */
	int64_t f;		  /* bandwidth reduction */
	int64_t affected_spines;  /* m; of three levels middle switches and tops */
	int64_t capacity;	  /* B, when all leaves have as many servers */
	int64_t phases, lower_bound;
	double length;	       /* time of all phases, in phases at full speed; negative: not known */
	double ignored_length; /* what it would be about, were all slow links used; negative: there are none */
	double drained_length; /* the same, were all of them drained; negative too where they cannot be spared */
	char degraded_choice
		[24]; /* what is done about them, and by whom: "auto: drained", "ignore"; empty: there are none */
	int64_t slow_phases;		       /* that slow links hold up */
	int64_t full_speed_mbits;	       /* what that is, in Mb/s */
	int64_t cable_flows, cable_flows_most; /* that a cable between switches carries in a phase: at least, at most */
	int64_t fast_bound; /* phases that the others need at least, were slow servers left out; unknown: none is slow */
	int64_t lump_bound, tables_bound; /* of phases, at LMC 0: with any tables, with these */
	char method[16];		  /* empty: none */
	char tables_by[48];		  /* routing engine whose tables the switches hold; empty: not known */
	double plan_ms, tables_ms;	  /* negative: unknown */
	double check_ms;		  /* of tables_ms, for looking at what was filled in (core/tables/check.h) */
	int64_t unreachable_pairs;
	int64_t ca_ports; /* with a cable: the servers, and those that follow (core/fabric/account.h) */
	int64_t not_participants, guests, left_out;
	int64_t phases_alone;	   /* if those that are no participants were not there */
	int64_t partitioned_pairs; /* of servers, that partitions keep from talking; unknown: nobody told of partitions */
	char not_hosts[FORS_OTHERS_TEXT]; /* how many adapters are no hosts, and what; empty: none */
	int64_t lmc;			  /* of the servers */
	int64_t lmc_needed;		  /* that would allow fewer phases (or any plan); unknown: none would */
	int64_t state_since_ms;		  /* Unix time when it became so */
	int64_t known_until_ms; /* of a manager that has ended, or does not look: Unix time when the fabric was as said here; unknown: it is so */
	int64_t held_until_ms;		  /* Unix time when the next held link returns */
	struct fors_links dead_links;	  /* unplugged or down */
	struct fors_links degraded_links; /* below full width or speed */
	struct fors_links excluded_links, held_links;
	struct fors_links
		flapping_links; /* that died or came back FORS_FLAPPING times in the last hour, or more often, and are not excluded */
	struct fors_dead_switches dead_switches;
	struct fors_links slow_servers;	 /* whose own cable is slow: b is the server */
	struct fors_links lost_servers;	 /* places of servers with nothing alive: b is the server that was, or empty */
	struct fors_gains repairs;	 /* what to mend first */
	struct fors_failover failover;	 /* the last one since opensm started */
	struct fors_shadow_facts shadow; /* in state FORS_SHADOW; else not known */
	char demand[64];		 /* name of the demand of fors.conf; empty: there is none */
	char demand_reason[FORS_ERROR_TEXT / 2]; /* why it has no schedule; empty: it has one */
	int64_t demand_epoch, demand_phases;	 /* of its schedule */
	double demand_over_bound;		 /* T / LB of that, without the cost of phases; negative: not known */
	struct fors_jobstats jobs;		 /* each job, where there is a jobs file; else not known */
	struct fors_warnings warnings;
};

#define FORS_REDUCTION 96
/* "1 uplink missing, 1 spine affected": f and m, in `text`, which is returned. */
const char *fors_status_reduction(const struct fors_status *status, char *text, size_t room);
/* Is this lost server's leaf alive? */
bool fors_status_is_alone(const struct fors_status *status, const struct fors_link *lost);

/* All unknown, FORS_INACTIVE. */
void fors_status_init(struct fors_status *status);
/* Free what the status owns; the status itself is the caller's. */
void fors_status_clear(struct fors_status *status);

/*
 * Fill what the tree says (servers .. capacity, unreachable_pairs, CA ports, the lists of links, held_until_ms, lmc) into
 * an initialised status; what a height has not stays unknown. Of links `a` is the lower end. Errors: FORS_ENOMEM; the
 * status is unchanged then.
 */
enum fors_err fors_status_tree(struct fors_status *status, const struct fors_fattree *tree, struct fors_error *error);
/*
 * The cables of these hosts of the tree go into flapping_links and held_links, with the host as `b` and its name as `host`. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_status_flaps(struct fors_status *status, const struct fors_fattree *tree,
				const struct fors_flap *flap, uint32_t count, struct fors_error *error);
/* Is it an end of the link that is gone? The switch, or NULL; the higher end first. */
const struct fors_dead_switch *fors_dead_end(const struct fors_status *status, const struct fors_link *link);
/*
 * Both are dead cables, `before` of an earlier status. Where `links` has no time it gets that of the cable with the same
 * ends, by names and ports; names that are not unique say nothing. A cable that is no longer dead goes from `before`.
 */
void fors_links_inherit(struct fors_links *links, struct fors_links *before);
/* One more; links->link grows. Errors: FORS_ENOMEM. */
enum fors_err fors_links_add(struct fors_links *links, const struct fors_link *link, struct fors_error *error);

/* Is what is told of another engine's tables? Not in shadow mode. Then there are no leaves and spines; lower_bound is the bound of these tables. */
bool fors_status_is_foreign(const struct fors_status *status);

/* Fill what a pace says: length, slow_phases, full_speed_mbits. */
void fors_status_pace(struct fors_status *status, const struct fors_pace *pace);

/* Fill what was found of slow links: degraded_choice, ignored_length, drained_length; nothing where there are none. */
void fors_status_slow(struct fors_status *status, const struct fors_slow *slow);

/*
 * What is left of full speed, where the exchange would take one phase for each server: 0..1; negative: not known.
 * Servers that are lost are not in it: see lost_servers.
 */
double fors_status_share(const struct fors_status *status);

/* Fill what a schedule says: epoch, phases, method (its reason, when withdrawn). */
void fors_status_schedule(struct fors_status *status, const struct fors_schedule *schedule);

/* The manager ends at this Unix time: inactive, and what it knew of the fabric is known up to then. The reason is the caller's. */
void fors_status_end(struct fors_status *status, int64_t unix_ms);

/* What a repair of the tree is called; phases is left to the caller. */
void fors_gain_name(struct fors_fattree tree, const struct fors_repair *repair, struct fors_gain *gain);

#endif
