/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * job.h - one look at the fabric, which the engine hands to the worker. It owns copies of all that it speaks of.
 * Thread rules: plain data of whoever has it.
 */
#ifndef FORS_PLUGIN_JOB_H
#define FORS_PLUGIN_JOB_H

#include "core/base/warnings.h"
#include "core/fabric/fabric.h"
#include "core/net/lfts.h"
#include "core/tables/tables.h"

enum fors_job_kind {
	FORS_JOB_ROUTED,     /* fors made these tables; the switches will hold them soon: plan, do not publish */
	FORS_JOB_INSTALLED,  /* the switches hold these tables: publish */
	FORS_JOB_INCOMPLETE, /* they hold these, but the sweep met errors (reason): publish nothing new */
	FORS_JOB_DECLINED,   /* fors does not route this fabric (reason): withdraw */
};

struct fors_job {
	enum fors_job_kind kind;
	struct fors_net *net; /* owned, as all that follows; of a declined job as far as it was understood, or NULL */
	struct fors_fabric *fabric; /* borrows net */
	struct fors_lfts *lfts;
	double tables_ms; /* time to fill the tables, negative: unknown */
	char method[16];  /* of fors.conf */
	unsigned ilp_seconds;
	char reason[FORS_ERROR_TEXT];
	struct fors_warnings warnings; /* about drained cables, and absent participants */
	uint64_t
		due_ms; /* when a sweep is due: a held cable may return, or homes be ranked; by fors_clock_ms(), 0: none */
	uint64_t withdrawal; /* installed: homes shall be ranked, withdraw and say that this number is done; 0: no */
};

/* An empty job, or NULL when out of memory. */
struct fors_job *fors_job_new(enum fors_job_kind kind);
/* Free the job and what it owns; NULL is allowed. */
void fors_job_free(struct fors_job *job);

/* The digest of all that a plan for the job depends on: fabric, tables, method. The job has a fabric and tables. */
uint64_t fors_job_basis(const struct fors_job *job);

/* The digest of what the status shows of cables, and of the warnings. The job has a fabric. */
uint64_t fors_job_view(const struct fors_job *job);

/* Does `newer` make it pointless to go on with `current`? */
bool fors_job_overtakes(const struct fors_job *newer, const struct fors_job *current);

/* Do both show the same cables and tables, byte for byte? */
bool fors_job_same_tables(const struct fors_job *a, const struct fors_job *b);

#endif
