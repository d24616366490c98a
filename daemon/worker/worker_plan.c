/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plans and proofs. A plan is made and proven while OpenSM still sends tables to the switches (ahead); when the
 * switches have them, and they are byte for byte what it was proven over, that proof holds, else it is done again.
 */
#include "worker_inside.h"

#include "daemon/base/clock.h"

/* Whoever made the tables: a look over given ones has no fabric, and says who takes part. */
struct fors_request fors_worker_request(struct fors_worker *worker, const struct fors_look *look)
{
	const struct fors_look_given *given = look->given;
	struct fors_request request = {
		.task = {.fabric = look->fabric,
			 .cancelled = fors_worker_cancelled,
			 .context = worker,
			 .threads = worker->setup.threads,
			 .limits = look->limits},
		.net = look->net,
		.lfts = look->lfts,
		.clock_ms = fors_clock_exact_ms,
		.participants = given && given->has_participants ? &given->participants : NULL,
		.rounds = look->rounds,
		.sl = given && given->levels ? fors_levels_find : NULL,
		.levels = given ? given->levels : NULL,
	};

	if (fors_look_is_foreign(look)) /* another engine's tables leave no choice of a method */
		fors_limit_method(&request.task.limits, "auto");
	return request;
}

void fors_worker_forget_plan(struct fors_worker *worker)
{
	struct fors_worker_plan *plan = &worker->plan;

	fors_outcome_clear(&plan->outcome);
	fors_look_free(plan->ahead);
	plan->ahead = NULL;
	plan->is_safe = false;
	plan->basis = 0;
}

bool fors_worker_make_plan(struct fors_worker *worker, const struct fors_look *look, uint64_t basis)
{
	struct fors_worker_plan *plan = &worker->plan;
	const struct fors_request request = fors_worker_request(worker, look);
	enum fors_err err;

	if (plan->basis == basis)
		return true;
	fors_worker_forget_plan(worker);
	err = fors_outcome_plan(&request, &plan->outcome, NULL);
	if (!err && fors_look_is_foreign(look)) { /* nobody asks what other tables would allow: these are the bound */
		plan->outcome.lower_bound = plan->outcome.tables_bound;
		plan->outcome.tables_bound = FORS_UNKNOWN;
	} else if (!err) {
		fors_outcome_lump(&look->tree, &plan->outcome);
	}
	if (err == FORS_ENOMEM)
		fors_worker_run_short(worker);
	if (!err)
		plan->basis = basis;
	return !err;
}

static enum fors_err prove(struct fors_worker *worker, const struct fors_look *look)
{
	const struct fors_request request = fors_worker_request(worker, look);
	enum fors_err err = fors_outcome_prove(&request, &worker->plan.outcome, NULL);

	if (err && err != FORS_ECANCELLED)
		fors_worker_run_short(worker);
	return err;
}

void fors_worker_prove_ahead(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_plan *plan = &worker->plan;

	if (!plan->outcome.plan)
		return;
	if (plan->ahead ? !fors_look_same_tables(plan->ahead, look) : prove(worker, look) || !plan->outcome.is_proven)
		return;
	fors_look_free(plan->ahead);
	plan->ahead = look;
}

enum fors_err fors_worker_prove_installed(struct fors_worker *worker, const struct fors_look *look)
{
	const struct fors_worker_plan *plan = &worker->plan;

	if (plan->outcome.is_proven && plan->ahead && fors_look_same_tables(plan->ahead, look))
		return FORS_OK;
	return prove(worker, look);
}

enum fors_err fors_worker_prove_published(struct fors_worker *worker, const struct fors_look *look, bool *is_right)
{
	enum fors_err err;
	bool is_good;

	/* What is being read must not be withdrawn: that waits for the end, which comes at once. */
	worker->is_proving = true;
	err = fors_verify_holds(look->net, look->lfts, worker->publisher.schedule, worker->setup.threads,
				fors_worker_cancelled, worker, &is_good, NULL);
	worker->is_proving = false;
	fors_worker_heed_tables(worker);
	if (err && err != FORS_ECANCELLED)
		fors_worker_run_short(worker);
	if (!err)
		*is_right = is_good && fors_publisher_has_plan(&worker->publisher);
	return err;
}
