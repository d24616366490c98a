/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.h - which free servers to give to a job, so that it and its neighbours are at full speed.
 *
 * A scheduler that fills leaf after leaf does not know how lanes can be shared out afterwards. Here some placements are made,
 * those first that cut the fewest leaves and pods, and of each it is asked what lanes and entries the jobs would have
 * (holdings.h). The first one that slows nobody is the answer, else the one that slows least.
 *
 *      one leaf     the one with least free servers that are enough
 *      one pod      the pods that have enough, the one with least first: leaves that nobody is on, then those with most; or as
 *                   many on each of some leaves
 *      any pods     pods with most free servers first, the same; or all leaves with most; or the first free servers
 *
 * A scheduler gives hosts away, and a host may have servers (ports) at several leaves. It counts where its first one is, and
 * comes with all of them.
 *
 * Thread rules: pure; the same on any machine.
 */
#ifndef FORS_CORE_JOBS_ADVICE_H
#define FORS_CORE_JOBS_ADVICE_H

#include "holdings.h"

#define FORS_ADVICE_WORK 8000000 /* steps of each search for owners; half as many for entries */

struct fors_advice_task {
	const struct fors_floors *floors;
	const struct fors_joblist *list; /* who runs, on floor 0; servers of no job are free */
	const uint32_t *host;		 /* per server: the first server of its host; FORS_NONE: not to be given away */
	uint32_t wanted;		 /* hosts, at least 1 */
	uint64_t work;			 /* FORS_ADVICE_WORK */
	bool (*cancelled)(void *context);
	void *context;
};

struct fors_advice {
	uint32_t *server; /* of floor 0, ascending: all of as many hosts as wanted */
	uint32_t count;
	uint32_t nleaves, npods; /* that they are on; npods is 1 of two levels */
	uint32_t bound;		 /* phases of the job at least, over lanes of its own; 0: it would have to share */
	/* Phases that each job of the list has at least, without and with this one; 0: it has no lanes of its own. */
	uint32_t *before, *with;
	uint32_t nslowed; /* jobs that would need more */
};

/*
 * The answer in *advice, owned by the caller (fors_advice_clear()). Jobs that share have no lanes that could be kept, and
 * are not asked for. Errors: FORS_ENOPLAN (fewer hosts are free), FORS_ENOMEM.
 */
enum fors_err fors_advice_find(const struct fors_advice_task *task, struct fors_advice *advice,
			       struct fors_error *error);
void fors_advice_clear(struct fors_advice *advice);

#endif
