/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_metrics.h - the status as metrics for Prometheus: metrics.prom, for node_exporter's textfile collector.
 *
 * Names and units are those that `promtool check metrics` accepts: seconds, counters that end in _total. Every sample has
 * the label `fabric`, so that several subnet managers, and several fabrics, can be told apart or taken together; and those
 * of shadow mode have the label mode="shadow".
 *
 * The text has two parts, because they change at different times: the facts with each status, what is counted with each
 * heartbeat. The file is both, one behind the other, and is written anew with each heartbeat; so whoever reads it sees
 * that somebody stands behind the facts, or since when nobody does.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_STATUS_METRICS_H
#define FORS_CORE_STATUS_STATUS_METRICS_H

#include "status.h"

#define FORS_METRICS_JOBS 100	/* so many jobs have samples of their own, the others one for all of them */
#define FORS_METRICS_LINKS 1000 /* of each kind, so many links have a sample of their own; the number is always right */

/* What happens while the status stays; counted since opensm started. Texts are borrowed. */
struct fors_counts {
	bool is_shadow;			 /* of a fors that only looks on */
	bool has_left;			 /* of one that will not be loaded again */
	const char *version;		 /* of fors */
	const char *opensm;		 /* version of OpenSM; NULL: not known */
	int64_t beat_ms;		 /* Unix time of the heartbeat; 0: there is none */
	uint64_t sweeps;		 /* heavy sweeps that came to their end */
	uint64_t epochs;		 /* schedules that got an epoch, withdrawn ones too */
	uint64_t declines;		 /* sweeps in which fors did not route */
	uint64_t unwritten;		 /* writes into the state folder that failed */
	uint64_t uncopied;		 /* and into publish_dir */
	struct fors_failovers failovers; /* how long they took */
};

/* The facts, as text in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_status_prom(const struct fors_status *status, const char *fabric, char **text,
			       struct fors_error *error);

/* What is counted; as fors_status_prom(). */
enum fors_err fors_counts_prom(const struct fors_counts *counts, const char *fabric, char **text,
			       struct fors_error *error);

#endif
