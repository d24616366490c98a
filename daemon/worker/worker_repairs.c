/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to mend first. The worker asks when it has said its last word on a fabric: there is a plan, or fors has
 * declined because leaves have no spine in common. It looks every tick whether there is an answer, and never waits for
 * one. The answer belongs to a basis: each status that is published about the same has it in it.
 */
#include "worker_inside.h"

#include "daemon/base/log.h"

/* What a question about this look is called: of a declined one there are no tables, and no plan. */
static uint64_t basis_of(const struct fors_look *look)
{
	return look->kind == FORS_LOOK_DECLINED ? fors_look_tree(look) : fors_look_basis(look);
}

/* Do readers know what there is to know of the look? */
static bool is_last_word(const struct fors_worker *worker, const struct fors_look *look, uint64_t basis)
{
	if (look->kind == FORS_LOOK_DECLINED)
		return worker->publisher.state == FORS_INACTIVE;
	return worker->publisher.state == FORS_ACTIVE && worker->decided == basis &&
	       fors_publisher_has_plan(&worker->publisher);
}

void fors_worker_seek_advice(struct fors_worker *worker, const struct fors_look *look)
{
	uint64_t basis;

	if (!worker->setup.advisor || !fors_look_tree(look) || fors_mail_shows_another(&worker->mail, look))
		return;
	basis = basis_of(look);
	if (!is_last_word(worker, look, basis) || (worker->advice.gains.is_known && worker->advice.basis == basis))
		return;
	worker->advice.gains = (struct fors_gains){.is_known = false};
	worker->advice.basis = basis;
	worker->advice.in = worker->publisher.state;
	fors_advisor_ask(worker->setup.advisor, look,
			 worker->publisher.state == FORS_ACTIVE ? worker->publisher.schedule->nphases : 0, basis);
}

void fors_worker_fill_advice(const struct fors_worker *worker, const struct fors_look *look, struct fors_status *status)
{
	if (worker->advice.gains.is_known && status->state == worker->advice.in && fors_look_tree(look) &&
	    basis_of(look) == worker->advice.basis) {
		status->repairs = worker->advice.gains;
		status->phases_alone = status->repairs.alone ? status->repairs.alone : FORS_UNKNOWN;
	}
}

void fors_worker_take_advice(struct fors_worker *worker)
{
	struct fors_gains gains;
	uint64_t basis;

	if (!worker->setup.advisor || !fors_advisor_take(worker->setup.advisor, &gains, &basis))
		return;
	if (basis != worker->advice.basis || worker->publisher.state != worker->advice.in || worker->is_standby ||
	    (worker->publisher.state == FORS_ACTIVE && basis != worker->decided))
		return;
	worker->advice.gains = gains;
	if (fors_publisher_advise(&worker->publisher, &gains))
		return;
	worker->advice.basis = 0;
	fors_log_error(
		worker->setup.log, FORS_F_MEMORY,
		"out of memory: the status does not name repairs; they are looked for again after the next sweep");
}
