/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - what a plan would take, before anybody plans.
 *
 * A daemon that runs as root and plans for five thousand servers is not to find out by failing. Plans of single flows
 * have a cell for each server and phase, and what made them as much again, or three times as much; plans in units have
 * a cell for each leaf and phase. Bytes per cell are measured and rounded up (tests/unit/test_memory.c).
 */
#include "memory.h"

#include <inttypes.h>

#define BYTES_DENSE 20	/* of a server and phase: the closed form 12, exact 11 to 17, the proof's included */
#define BYTES_WAY 24	/* exact: of two leaves and a lane, which counts where leaves have few servers */
#define BYTES_FLOWS 60	/* 45 to 50 */
#define BYTES_ROUNDS 64 /* of a leaf and receiver, for each part of a unit */
#define MOST_PARTS 4

uint64_t fors_plan_bytes(const struct fors_fabric *fabric, const struct fors_method *method, uint32_t phases)
{
	uint64_t parts = 1u << fabric->lmc < MOST_PARTS ? 1u << fabric->lmc : MOST_PARTS;
	uint64_t ways = method == &fors_method_exact ? (uint64_t)fabric->nleaves * fabric->nleaves * fabric->nlanes : 0;

	if (method == &fors_method_rounds)
		return BYTES_ROUNDS * parts * fabric->nleaves * fabric->nservers;
	return (method == &fors_method_flows ? BYTES_FLOWS : BYTES_DENSE) * (uint64_t)fabric->nservers * phases +
	       BYTES_WAY * ways;
}

enum fors_err fors_plan_fits(const struct fors_task *task, const struct fors_method *method, uint32_t phases,
			     uint64_t *wanted, struct fors_error *error)
{
	uint64_t bytes = fors_plan_bytes(task->fabric, method, phases);

	if (!task->limits.bytes || bytes <= task->limits.bytes)
		return FORS_OK;
	if (wanted && bytes > *wanted)
		*wanted = bytes;
	return fors_fail(error, FORS_ELIMIT,
			 "a plan of method %s for %u servers would take some %" PRIu64 " MiB of memory, and the limit "
			 "is %" PRIu64,
			 method->name, task->fabric->nservers, (bytes >> 20) + 1, task->limits.bytes >> 20);
}
