/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copier_wire.h - what libfors.so and its program fors-outbox tell each other, over a socket that is the program's stdin: orders
 * one way, reports the other. Each is whole by itself and newer than all before, so one that is lost costs nothing, and
 * nobody waits for an answer. Both are of one build, so structures go as they are.
 *
 * Threads: any; nothing is kept.
 */
#ifndef FORS_DAEMON_FILES_COPIER_WIRE_H
#define FORS_DAEMON_FILES_COPIER_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#define FORS_COPIER_TROUBLE 256

/* The state folder may have something new. All zeros but for what is said, padding too. */
struct fors_copier_order {
	uint64_t epoch;	      /* the newest of the fabric's schedule */
	uint64_t publication; /* how many there were: the command runs after each */
	char status[16];      /* as in status.json */
	bool is_guest;	      /* not the master any more: only what was copied from here is written over */
	bool is_reserved;     /* a crash loses no number; else a copy is on the disk before readers see it */
	bool is_unwritten; /* a schedule could not be written into the state folder: what readers have may be wrong */
	bool may_tidy;	   /* the master, who knows which jobs and demands there are */
	uint64_t ran, copied; /* of the last report, for a program that has just started */
};

/* What the program has done. */
struct fors_copier_report {
	uint64_t seen;		   /* the largest epoch of another manager's that was later than ours; 0: none */
	uint64_t failures;	   /* ways to publish_dir that failed */
	uint64_t copied;	   /* the epoch that was copied last, 0: none */
	double copied_ms;	   /* and when, by fors_clock_exact_ms() */
	uint64_t ran, ran_epoch;   /* the publication that the command ran for last, and its epoch; 0: none */
	double ran_ms;		   /* and when that began */
	bool is_held_elsewhere;	   /* the folder is shared, and another one publishes there */
	bool has_dir, has_command; /* what is asked for now; filled in by libfors.so */
	char trouble[FORS_COPIER_TROUBLE]; /* why publish_dir cannot be written; "": it can, as far as is known */
};

/* With a report comes a line for the log, or news of a job, or neither. */
struct fors_copier_message {
	struct fors_copier_report report;
	uint32_t code;	/* enum fors_code of the line; 0: it is no error */
	char line[800]; /* or "" */
	char job[64];	/* a later schedule of it lies there; or "" (publish.h) */
	uint64_t later; /* its epoch */
};

/* The program gets this as its third word, and refuses another one. To be changed with what the structures mean. */
#define FORS_COPIER_VERSION (400000 + sizeof(struct fors_copier_order) * 4000 + sizeof(struct fors_copier_message))

#endif
