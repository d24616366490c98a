/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A schedule is published early, when the switches have confirmed its tables and OpenSM is still busy with multicast and
 * ports. After a loss nothing of that matters to the exchange: what is left of the fabric was set up before, and carries
 * traffic. That this is so is not supposed, it is looked for:
 *
 *	proven		the plan (with a jobs file: those of all jobs) was made and proven over these very tables, while they
 *			were on their way
 *	confirmed	each switch holds them byte for byte, and no Set() of this sweep has been lost (engine_early.c)
 *	only losses	each node, cable and LID of this fabric was there when a sweep of ours ended last, without errors; so
 *			OpenSM has nothing to set up that it did not set up then
 *	active		each port that a flow may pass was active in the discovery of this sweep: none has bounced
 *	no trouble	the sweep before met no errors. While they last each sweep would publish early and withdraw at its end
 *
 * The word that the switches have confirmed them counts for the look that was worked on last. It may be read later than what
 * came after it: when that was a sweep with errors, or one that fors declined, the tables are others by now.
 *
 * In all other cases the end of the sweep is waited for. When the sweep does end, and it shows errors after all, what was
 * published early is withdrawn, right or not: OpenSM says itself then that it does not know the fabric's state.
 */
#include "worker_inside.h"

#include "core/net/diff.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"

void fors_worker_note_up(struct fors_worker *worker, const struct fors_look *look)
{
	fors_net_free(worker->up);
	worker->up = NULL;
	if (look && fors_net_copy(look->net, &worker->up, NULL))
		worker->up = NULL; /* memory is short: the next loss waits for the end of its sweep */
}

/* What is less, slower or called otherwise than before has been set up; what is new or elsewhere may not be. */
static bool is_loss(enum fors_change_kind kind)
{
	return kind == FORS_NODE_GONE || kind == FORS_NODE_RENAMED || kind == FORS_CABLE_GONE ||
	       kind == FORS_CABLE_SLOWER || kind == FORS_CABLE_FASTER || kind == FORS_PORT_SM;
}

/* What was lost between two sweeps: anything, and nothing but that. False: no memory. */
static bool find_losses(const struct fors_net *before, const struct fors_net *now, bool *are_any, bool *are_all)
{
	struct fors_diff diff;

	if (fors_net_diff(before, now, &diff, NULL))
		return false;
	*are_any = false;
	*are_all = true;
	for (size_t i = 0; i < diff.count; i++) {
		*are_any |= diff.change[i].kind == FORS_NODE_GONE || diff.change[i].kind == FORS_CABLE_GONE;
		*are_all &= is_loss(diff.change[i].kind);
	}
	fors_diff_clear(&diff);
	return true;
}

bool fors_worker_is_safe(struct fors_worker *worker, const struct fors_look *ahead, bool *are_any)
{
	bool has_losses, are_all;

	if (!worker->up || !find_losses(worker->up, ahead->net, &has_losses, &are_all))
		return false;
	if (are_any)
		*are_any = has_losses;
	return are_all && ahead->is_active && !worker->incomplete;
}

bool fors_worker_has_lost(struct fors_worker *worker, const struct fors_look *look)
{
	bool has_losses, are_all;

	return worker->up && find_losses(worker->up, look->net, &has_losses, &are_all) && has_losses;
}

void fors_worker_judge_haste(struct fors_worker *worker)
{
	struct fors_worker_plan *plan = &worker->plan;
	bool are_any = false;

	plan->proven_ms = fors_clock_exact_ms();
	plan->is_safe = plan->ahead && fors_worker_is_safe(worker, plan->ahead, &are_any);
	if (are_any)
		fors_worker_note_loss(worker, plan->ahead->number);
}

/* What is in hand frees its look. False: out of memory, and the end of the sweep brings it again. */
static bool publish(struct fors_worker *worker)
{
	uint64_t basis = worker->plan.basis;

	worker->is_short = false;
	if (fors_worker_jobs_ahead(worker))
		return fors_worker_publish_jobs_early(worker);
	fors_worker_publish_plan(worker, worker->plan.ahead);
	if (!worker->is_short)
		worker->decided = basis;
	return !worker->is_short;
}

void fors_worker_publish_early(struct fors_worker *worker)
{
	const struct fors_worker_plan *plan = &worker->plan;
	const struct fors_look *jobs = fors_worker_jobs_ahead(worker);
	bool is_safe = jobs ? worker->jobs.is_safe : plan->is_safe && plan->outcome.is_proven;

	if (!fors_mail_confirms(&worker->mail, jobs ? jobs : plan->ahead) || !is_safe ||
	    worker->setup.source.mastership(worker->setup.source.context) != FORS_MASTER_YES || !publish(worker))
		return;
	worker->is_early = true;
	fors_log_info(worker->setup.log, "published when the switches had confirmed their tables; the sweep goes on");
}
