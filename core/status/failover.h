/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failover.h - how long a failover took, step by step, and how long such steps take.
 *
 * A failover is a sweep that found something lost and led to a new schedule. Its times count from the first that was heard
 * of it: the trap of a switch, or the begin of the sweep, where that came first (no trap was seen, or OpenSM handed it on
 * when the sweep had begun).
 * Thread rules: plain data of one owner; the functions are pure.
 */
#ifndef FORS_CORE_STATUS_FAILOVER_H
#define FORS_CORE_STATUS_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

/* In the order in which they mostly come. */
enum fors_step {
	FORS_STEP_TRAP,	       /* OpenSM has handed on the trap that made it sweep */
	FORS_STEP_SWEEP,       /* the sweep begins */
	FORS_STEP_DISCOVERED,  /* the fabric is discovered */
	FORS_STEP_ASKED,       /* fors is asked for tables */
	FORS_STEP_FILLED,      /* has filled and checked them; OpenSM sends them from now on */
	FORS_STEP_FIRST_BLOCK, /* a switch has confirmed the first block */
	FORS_STEP_LAST_BLOCK,  /* and the last one */
	FORS_STEP_CONFIRMED,   /* OpenSM says that nothing it sent is without an answer */
	FORS_STEP_PLANNED,     /* the plan is made and proven */
	FORS_STEP_PUBLISHED,   /* the schedule has its name in the state folder: readers see it */
	FORS_STEP_COPIED,      /* and in publish_dir */
	FORS_STEP_COMMAND,     /* publish_command begins */
	FORS_STEP_UP,	       /* the sweep has ended */
	FORS_NSTEPS
};

struct fors_failover {
	int64_t epoch;		/* of the schedule; negative: no failover is known, and the rest says nothing */
	int64_t began_ms;	/* Unix time */
	double ms[FORS_NSTEPS]; /* since then; negative: the step was not seen */
};

#define FORS_FAILOVER_BUCKETS 12

/* How long such steps take: counted, as a histogram of Prometheus is. */
struct fors_failovers {
	struct {
		uint64_t count;
		double sum_ms;
		uint64_t bucket[FORS_FAILOVER_BUCKETS]; /* at most so many seconds, see fors_failover_bound() */
	} step[FORS_NSTEPS];
};

/* "trap", "sweep", "discovered", ...; never NULL. */
const char *fors_step_name(enum fors_step step);

/* None is known. */
void fors_failover_init(struct fors_failover *failover);

/* The bound of a bucket, in seconds. */
double fors_failover_bound(unsigned bucket);

/* Count one more. */
void fors_failovers_add(struct fors_failovers *failovers, const struct fors_failover *failover);

#endif
