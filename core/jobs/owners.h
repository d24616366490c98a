/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners.h - which job owns which lane at which leaf.
 *
 * The idea: what slows a job down among others is not how evenly its routes are spread but other jobs' flows in the same cable
 * at the same moment, and jobs have no common clock. So the lanes of each leaf are shared out among the jobs that have
 * servers there: whoever owns a lane of a leaf has its cable for itself, up and down. A job sends from leaf a to leaf b over
 * the lanes that it owns at both, and is planned as if all others were dead. Then no two jobs meet in a cable,
 * whatever their clocks, and no entry of a table has moved.
 *
 * How fast a job can be follows from its lanes: between leaves a and b it has n_a n_b flows in each direction, to be
 * spread over the lanes common to both; the fullest (leaf, lane) then carries so many flows, and no fewer than P phases
 * are needed (P: servers of the job). Spreading them is filling water into connected vessels: exact for one pair, repeated
 * for all pairs until it hardly moves. That is what the search asks for each candidate, and what it makes small.
 *
 *      start    largest jobs first, each the same lanes at all its leaves as far as they are free
 *      search   swap two lanes of a leaf, give one away
 *
 * A job of one leaf owns nothing: it needs no cable. Jobs that share (joblist.h) are one more owner together. Lanes whose
 * cable is dead or drained belong to nobody.
 *
 * Thread rules: pure. Source: doc/jobs.md.
 */
#ifndef FORS_CORE_JOBS_OWNERS_H
#define FORS_CORE_JOBS_OWNERS_H

#include "joblist.h"

#define FORS_NO_JOB UINT32_MAX
#define FORS_OWNERS_WORK 160000000 /* steps of the search, of some nanoseconds each, that are worth their time */

#define FORS_EPOCH_COST 50 /* thousandths of a job's time that another epoch costs it */

struct fors_owners {
	uint32_t nleaves, nlanes;
	uint32_t *job; /* [leaf * nlanes + lane]: index in the list, or FORS_NO_JOB: shared, or dead */
};

/* How the lanes are to be shared out. */
struct fors_owners_task {
	const struct fors_fabric *fabric;
	const struct fors_joblist *list;
	const uint32_t
		*before; /* [leaf * nlanes + lane] as in struct fors_owners: whose they are now, in the new list's
				   numbers; NULL: nobody runs yet */
	/*
	 * [leaf * nservers + server]: flows that the servers of the server's job at the leaf send to it over these lanes
	 * (floors.h); NULL: each of them one
	 */
	const uint16_t *flows;
	bool may_move; /* jobs that run may lose lanes for others: the search looks as far as if nobody ran */
	uint64_t work; /* steps of the search at most */
	uint64_t seed; /* of its random numbers: another one searches elsewhere */
	/* Asked now and then; true: the best of what was found so far is taken. NULL: never. */
	bool (*cancelled)(void *context);
	void *context;
};

/*
 * Share out the lanes, in *owners, owned by the caller (fors_owners_clear()). A job keeps the lanes that it has `before`
 * unless that costs more than it is worth. Deterministic. Errors: FORS_ENOMEM.
 */
enum fors_err fors_owners_find(const struct fors_owners_task *task, struct fors_owners *owners,
			       struct fors_error *error);
void fors_owners_clear(struct fors_owners *owners);

/* Both ends of each job's own cables get its number, by the ports of the net in owner[net->nports]; all others stay. */
void fors_owners_ports(const struct fors_fabric *fabric, const struct fors_owners *owners, uint32_t *owner);

/* Whose lane it is, or FORS_NO_JOB. */
static inline uint32_t fors_owner(const struct fors_owners *owners, uint32_t leaf, uint32_t lane)
{
	return owners->job[(size_t)leaf * owners->nlanes + lane];
}

#endif
