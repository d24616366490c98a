/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobstat.h - what is told of each of several jobs: a part of the status (key "jobs" of status.json).
 * Thread rules: plain data of one owner.
 */
#ifndef FORS_CORE_STATUS_JOBSTAT_H
#define FORS_CORE_STATUS_JOBSTAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum fors_jobstate {
	FORS_JOB_IS_PLANNED,   /* "active": readers have a schedule */
	FORS_JOB_IS_WITHDRAWN, /* "withdrawn": it ran, or its schedule is not right any more (reason) */
	FORS_JOB_HAS_NONE,     /* "failed": there is none for it (reason) */
};

struct fors_jobstat {
	char name[64];
	enum fors_jobstate state;
	bool is_exclusive;     /* it asked for lanes of its own */
	bool has_index;	       /* and sends to the path index of jobs only */
	int64_t servers;       /* that take part; all these numbers: negative when not known */
	int64_t missing;       /* that the jobs file names, and that are not there */
	int64_t leaves, lanes; /* lanes: (leaf, lane) that it owns */
	int64_t phases;
	int64_t lower_bound;		     /* of phases, over the lanes that it may use */
	int64_t alone_bound;		     /* of phases, if it had the fabric for itself */
	int64_t path_index;		     /* of those that belong to jobs, if its plan goes over that only */
	int64_t epoch;			     /* of its schedule, also of a withdrawn one */
	int64_t expected_phases;	     /* while it waits for its table entries: no plan over these is shorter */
	char demand[64];		     /* the name of its demand; empty: it has none */
	int64_t demand_epoch, demand_phases; /* of its schedule; unknown: there is none */
	double demand_over_bound;	     /* likewise: its time over the bound of any, without the cost of phases */
	char whose[8];			     /* which lanes it goes over: "own", "free", "all"; empty: no schedule */
	char reason[FORS_ERROR_TEXT / 2];
	char demand_reason[FORS_ERROR_TEXT /
			   2]; /* why its demand has no schedule, or a remark about it; empty: neither */
};

/* In the order of the jobs file, those that have ended last; owned. */
struct fors_jobstats {
	bool is_known; /* false: there is no jobs file, and the fabric has one schedule */
	struct fors_jobstat *job;
	size_t count;
};

void fors_jobstats_clear(struct fors_jobstats *jobs);

/* "active", "withdrawn" or "failed"; never NULL. */
const char *fors_jobstate_name(enum fors_jobstate state);

/* How many are in this state. */
size_t fors_jobstats_in(const struct fors_jobstats *jobs, enum fors_jobstate state);

/*
 * What is left of the speed that it would have alone: the bound of phases alone over its phases, 0 to 1; negative: not
 * known.
 */
double fors_jobstat_ratio(const struct fors_jobstat *job);

/* As JSON, null when they are not known; a new reference, NULL: out of memory. */
json_t *fors_jobstats_to_json(const struct fors_jobstats *jobs);

/*
 * Read them back into *jobs, which has none. Errors: FORS_EINPUT, FORS_ENOMEM; what was read so far is to be cleared.
 */
enum fors_err fors_jobstats_parse(const json_t *value, struct fors_jobstats *jobs);

#endif
