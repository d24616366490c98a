/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A schedule is published early, when the switches have confirmed its tables and OpenSM is still busy with multicast and
 * ports. After a loss nothing of that matters to the exchange: what is left of the fabric was set up before, and carries
 * traffic. That this is so is not supposed, it is looked for:
 *
 *	proven		the plan was made and proven over these very tables, while they were on their way
 *	confirmed	each switch holds them byte for byte, and no Set() of this sweep has been lost (engine_early.c)
 *	only losses	each node, cable and LID of this fabric was there when a sweep of ours ended last, without errors; so
 *			OpenSM has nothing to set up that it did not set up then
 *	active		each port that a flow may pass was active in the discovery of this sweep: none has bounced
 *	no trouble	the sweep before met no errors. While they last each sweep would publish early and withdraw at its end
 *
 * In all other cases the end of the sweep is waited for. When the sweep does end, and it shows errors after all, what was
 * published early is withdrawn, right or not: OpenSM says itself then that it does not know the fabric's state.
 */
#include "worker_inside.h"

#include "core/net/diff.h"
#include "log.h"

void fors_worker_note_up(struct fors_worker *worker, const struct fors_job *job)
{
	fors_net_free(worker->up);
	worker->up = NULL;
	if (job && fors_net_copy(job->net, &worker->up, NULL))
		worker->up = NULL; /* memory is short: the next loss waits for the end of its sweep */
}

/* What is less, slower or called otherwise than before has been set up; what is new or elsewhere may not be. */
static bool is_loss(enum fors_change_kind kind)
{
	return kind == FORS_NODE_GONE || kind == FORS_NODE_RENAMED || kind == FORS_CABLE_GONE ||
	       kind == FORS_CABLE_SLOWER || kind == FORS_CABLE_FASTER || kind == FORS_PORT_SM;
}

static bool are_losses_only(const struct fors_net *before, const struct fors_net *now)
{
	struct fors_diff diff;
	bool are = true;

	if (fors_net_diff(before, now, &diff, NULL))
		return false;
	for (size_t i = 0; i < diff.count; i++)
		are &= is_loss(diff.change[i].kind);
	fors_diff_clear(&diff);
	return are;
}

void fors_worker_judge_haste(struct fors_worker *worker)
{
	struct fors_worker_plan *plan = &worker->plan;

	plan->is_safe = plan->ahead && plan->ahead->is_active && worker->up && !worker->incomplete &&
			are_losses_only(worker->up, plan->ahead->net);
}

/* Was it said that the tables of the plan in hand are in, and has nothing come in since? */
static bool is_confirmed(struct fors_worker *worker)
{
	const struct fors_job *ahead = worker->plan.ahead;
	bool is_so;

	pthread_mutex_lock(&worker->mutex);
	is_so = ahead && worker->confirmed && worker->confirmed == ahead->number && !worker->mail && !worker->stop;
	if (!worker->mail)
		worker->confirmed = 0; /* else the word may be of the job that waits there */
	pthread_mutex_unlock(&worker->mutex);
	return is_so;
}

void fors_worker_publish_early(struct fors_worker *worker)
{
	struct fors_worker_plan *plan = &worker->plan;
	uint64_t basis = plan->basis;

	if (!is_confirmed(worker) || !plan->is_safe || !plan->outcome.is_proven ||
	    worker->setup.mastership(worker->setup.context) != FORS_MASTER_YES)
		return;
	worker->is_short = false;
	fors_worker_publish_plan(worker, plan->ahead); /* which frees that job */
	if (worker->is_short)
		return; /* the end of the sweep brings it again */
	worker->decided = basis;
	worker->is_early = true;
	fors_log_info(worker->setup.log, "published when the switches had confirmed their tables; the sweep goes on");
}
