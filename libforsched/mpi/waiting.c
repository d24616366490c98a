/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Without barriers a rank goes on when its own messages of a phase are done. Its next receiver has to be as far, for it
 * has to ask for a long message first. That saves the time of the barriers, and it holds ranks together where each of
 * them has a message in nearly each phase. In other plans ranks that idle run ahead, and flows of two phases meet: in
 * lab/doc/waiting.md's cases with several dead cables calls then take up to 1.7 times as long.
 *
 * So it depends on how long barriers take beside messages. Where that is little, there is nothing to gain. Where it is
 * much, none were quicker in all cases. Between that calls have barriers, as without FORSCHED_BARRIER=auto, until there is
 * time for a trial: what it may cost has to be a small part of all calls of its size. The least of each kind's times
 * counts, for a machine has other things to do now and then.
 *
 * Messages of unequal sizes have no barriers: these wait for the longest one of each phase, and that takes longer in all
 * cases.
 */
#include "config.h"

#include "waiting.h"

#define RISK 0.75    /* that a call may take longer without barriers than with short ones; less with longer ones */
#define BUDGET 0.015 /* of the time of the calls that had barriers: what trials may lose */
#define HUNDREDTH 0.01

static uint32_t size_of(uint64_t bytes)
{
	uint32_t size = 0;

	while (bytes >>= 1)
		size++;
	return size;
}

/* Seconds that a call without barriers may take longer, as far as is known: what barriers take is saved. */
static double risk(const struct waiting_size *size, double share)
{
	if (!size->trials)
		return RISK * (1 - share) * size->least[true];
	return size->least[false] > size->least[true] ? size->least[false] - size->least[true] : 0;
}

static bool is_time_for_a_trial(const struct waiting_size *size, double share)
{
	return size->least[true] > 0 && size->lost + risk(size, share) <= BUDGET * size->spent;
}

bool forsched_waiting_has_barrier(const struct waiting *waiting, uint64_t bytes, double share)
{
	const struct waiting_size *size = &waiting->size[size_of(bytes)];

	if (!bytes || share >= WAITING_NONE_FROM * HUNDREDTH)
		return false;
	if (share < WAITING_BARRIERS_BELOW * HUNDREDTH)
		return true;
	return size->trials < WAITING_TRIALS ? !is_time_for_a_trial(size, share)
					     : size->least[true] <= size->least[false];
}

void forsched_waiting_learn(struct waiting *waiting, uint64_t bytes, bool had_barrier, double seconds)
{
	struct waiting_size *size = &waiting->size[size_of(bytes)];
	double *least = &size->least[had_barrier];

	*least = *least > 0 && *least < seconds ? *least : seconds;
	if (had_barrier) {
		size->spent += seconds;
	} else if (size->trials < WAITING_TRIALS) {
		size->trials++;
		size->lost += size->least[true] > 0 && seconds > size->least[true] ? seconds - size->least[true] : 0;
	}
}
