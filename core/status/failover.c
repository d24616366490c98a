/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failover.c - how long a failover took, step by step.
 *
 * Steps are told from the begin, not from the step before: what people wait for is the whole, and which step took long is
 * a difference that they see. Buckets count what is at most their bound, each what the ones before count too, as
 * Prometheus wants it.
 */
#include "failover.h"

#include "status_keys.h"

static const char *const names[FORS_NSTEPS] = {
	[FORS_STEP_TRAP] = "trap",
	[FORS_STEP_SWEEP] = "sweep",
	[FORS_STEP_DISCOVERED] = "discovered",
	[FORS_STEP_ASKED] = "asked",
	[FORS_STEP_FILLED] = "filled",
	[FORS_STEP_FIRST_BLOCK] = "first_block",
	[FORS_STEP_LAST_BLOCK] = "last_block",
	[FORS_STEP_CONFIRMED] = "confirmed",
	[FORS_STEP_PLANNED] = "planned",
	[FORS_STEP_PUBLISHED] = "published",
	[FORS_STEP_COPIED] = "copied",
	[FORS_STEP_COMMAND] = "command",
	[FORS_STEP_UP] = "up",
};

static const double bounds[FORS_FAILOVER_BUCKETS] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10};

const char *fors_step_name(enum fors_step step)
{
	return names[step];
}

void fors_failover_init(struct fors_failover *failover)
{
	fors_object_init(&fors_failover_object, failover);
}

double fors_failover_bound(unsigned bucket)
{
	return bounds[bucket];
}

void fors_failovers_add(struct fors_failovers *failovers, const struct fors_failover *failover)
{
	for (unsigned i = 0; i < FORS_NSTEPS; i++) {
		double ms = failover->ms[i];

		if (ms < 0)
			continue;
		failovers->step[i].count++;
		failovers->step[i].sum_ms += ms;
		for (unsigned b = 0; b < FORS_FAILOVER_BUCKETS; b++)
			failovers->step[i].bucket[b] += ms <= 1000 * bounds[b];
	}
}
