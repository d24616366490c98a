/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify.h - the verifier: is this schedule right over these tables?
 *
 * It trusts nobody: it walks every flow of the schedule through the tables hop
 * by hop over the cables of the net and shares no code with planners or tables
 * beyond the types.
 * Thread rules: pure; several may verify the same schedule.
 */
#ifndef FORS_CORE_SCHEDULE_VERIFY_H
#define FORS_CORE_SCHEDULE_VERIFY_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "schedule.h"

struct fors_verdict {
	bool is_good;
	uint64_t nflows;    /* flows walked */
	uint64_t nproblems; /* all that were found */
	uint32_t max_load;  /* flows on the most loaded directed link in any phase */
	char text[1024];    /* the first problem: phase, link, flows; or "ok" */
};

/*
 * Prove over `net` (indexed) and `lfts`: every ordered pair of distinct servers
 * of the schedule meets exactly once (of a demand: any number of times, and pieces fit
 * their phases; whether they add up to the demand is not known here); every server sends at most once and
 * receives at most once per phase; every flow arrives at its receiver, leaf to
 * leaf over at most one spine, the one that the schedule names, or, when the
 * schedule names ways (schedule.h), over exactly those switches and ports, in a net
 * of any topology; no directed link (from or to a server, or between switches) carries
 * two flows in a phase, or more than it is times as fast as the fastest server's. *verdict is filled whenever FORS_OK is returned.
 * Errors (could not check): FORS_ENOMEM, FORS_ECANCELLED.
 * cancelled(context) may be NULL.
 */
enum fors_err fors_verify(const struct fors_net *net, const struct fors_lfts *lfts,
			  const struct fors_schedule *schedule, bool (*cancelled)(void *context), void *context,
			  struct fors_verdict *verdict, struct fors_error *error);

/*
 * The same proof, but the first phases with a problem end it: for a schedule that has to be withdrawn when it is not
 * right, the sooner the better. *is_right is filled whenever FORS_OK is returned. On `threads` threads (0: 1); what is
 * found does not depend on their number, and cancelled() is asked by the caller's only.
 */
enum fors_err fors_verify_holds(const struct fors_net *net, const struct fors_lfts *lfts,
				const struct fors_schedule *schedule, unsigned threads,
				bool (*cancelled)(void *context), void *context, bool *is_right,
				struct fors_error *error);

/*
 * The same as fors_verify(), on `threads` threads as fors_verify_holds(); and unless is_used is NULL, in
 * is_used[net->nports] each port that some flow is sent by becomes true (others stay as they are), to see whether
 * schedules of several jobs, which have no common clock, meet in a cable. Of a schedule that is not good they may be
 * incomplete.
 */
enum fors_err fors_verify_used(const struct fors_net *net, const struct fors_lfts *lfts,
			       const struct fors_schedule *schedule, unsigned threads, bool (*cancelled)(void *context),
			       void *context, struct fors_verdict *verdict, bool *is_used, struct fors_error *error);

#endif
