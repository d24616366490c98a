/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries.h - table entries for jobs: one LID for each server, over the lanes that its job owns.
 *
 * The idea: with a path index for each lane a job chooses its lanes by the LID that it sends to (owners.h). Most fabrics have
 * fewer path indices, and a program over MPI follows one only: UCX adds one number to the base LIDs of all its peers. So
 * one path index is the jobs'. For (leaf a of a job, server d of it) the entry of d's LID of that index goes up a lane
 * that the job owns at a, to a spine from where the job owns the cable down to d's leaf. Then two jobs meet in no cable,
 * whoever their programs are, and no entry that another job uses has moved.
 *
 * What an entry weighs: all n_a servers of the job at a send to d over it, so it is a lump of n_a flows on the uplink and on
 * the downlink, and a plan has at least as many phases as the fullest link has flows, or as the job has servers. To
 * place the lumps is packing: each goes where it fits best, the largest first, and then from higher links to lower ones.
 *
 * With parallel cables a spine has several to a leaf, and for one LID takes one of them, whoever sends: which one,
 * of those that the job owns there, goes by the server's number, so its LIDs are spread over them.
 *
 * Thread rules: pure. Source: doc/jobs.md.
 */
#ifndef FORS_CORE_JOBS_ENTRIES_H
#define FORS_CORE_JOBS_ENTRIES_H

#include "core/net/lfts.h"
#include "owners.h"

/* The entries of all jobs. */
struct fors_entries {
	uint32_t nleaves, nspines, nservers, njobs;
	uint8_t *up;	 /* [leaf * nservers + server]: lane up from the leaf, FORS_NO_LANE: as it is anyway */
	uint8_t *down;	 /* [spine * nservers + server]: lane down from the spine, FORS_NO_LANE: as it is anyway */
	uint32_t *bound; /* [job]: no plan over them is shorter; 0: the job has none */
};

/* The path index that belongs to jobs, and the entries of it. */
struct fors_jobindex {
	uint32_t index;
	const struct fors_entries *entries; /* borrowed */
};

struct fors_entries_task {
	const struct fors_fabric *fabric;
	const struct fors_joblist *list;
	bool has_exclusive;		   /* exclusive jobs get entries too, not only those with the mark */
	const struct fors_entries *before; /* of running jobs, in the numbers of this fabric; NULL: there are none */
	const uint16_t *flows;		   /* as in struct fors_owners_task: an entry without flows is none */
	bool may_move;			   /* these are a start only: a job that is slow over them gives them up */
	uint64_t seed;			   /* another one packs in another order */
};

/* Does the job get entries: has it the index, and more leaves than one? */
bool fors_entries_wanted(const struct fors_entries_task *task, uint32_t job);

/*
 * Entries for the jobs that get some, in *entries, owned by the caller (fors_entries_clear()), over the lanes that
 * *owners says. A job with the entries `before` that are all possible over its lanes keeps them, unless it may move. A job that
 * cannot have all of its entries (two leaves without a lane in common) has none. Deterministic. Errors: FORS_ENOMEM.
 */
enum fors_err fors_entries_find(const struct fors_entries_task *task, const struct fors_owners *owners,
				struct fors_entries *entries, struct fors_error *error);
void fors_entries_clear(struct fors_entries *entries);

/*
 * Write them into the tables of the fabric, for path index `index`: 0 .. 2^LMC - 1 of every server that has any. Spines
 * that have lost a server's leaf, and are not on the way of any packet, get no detour for it, which could be a loop while
 * tables change. Detours that go over a leaf whose entry has moved are for who may know of them: fors_jobtables_write()
 * (core/planners/jobplan_index.h) is all in one.
 */
void fors_entries_apply(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t index,
			struct fors_lfts *lfts);

/* Has the server an entry, at any leaf or spine? */
bool fors_entries_lead(const struct fors_entries *entries, uint32_t server);

/*
 * The entries that were made for the fabric `then`, in the numbers of the fabric `now`, for struct
 * fors_entries_task: in *again, owned by the caller; empty (up is NULL) when the fabric has other leaves or spines.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_entries_again(const struct fors_fabric *then, const struct fors_entries *entries,
				 const struct fors_fabric *now, struct fors_entries *again, struct fors_error *error);
/* Have leaves, spines and lanes the same numbers in both? */
bool fors_entries_same_lanes(const struct fors_fabric *then, const struct fors_fabric *now);

/*
 * Drop the entries over cables that carry no traffic between servers now, in the numbers of this fabric
 * (entries_live.c): the tables keep what they have there.
 */
void fors_entries_prune(const struct fors_fabric *fabric, struct fors_entries *entries);

/*
 * Do both say the same for each leaf and spine? Those of no fabric (up is NULL) say nothing, as those without any
 * entry.
 */
bool fors_entries_alike(const struct fors_entries *a, const struct fors_entries *b);
bool fors_entries_are_none(const struct fors_entries *entries);

/*
 * Which jobs have all their entries in these tables, over cables that carry traffic? In is_held[list->count]; false for
 * those that want none. Errors: FORS_ENOMEM.
 */
enum fors_err fors_entries_held(const struct fors_fabric *fabric, const struct fors_joblist *list,
				const struct fors_jobindex *index, const struct fors_lfts *lfts, bool *is_held,
				struct fors_error *error);

#endif
