/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Without barriers a rank goes on when its own messages of a phase are done. Its next receiver has to be as far, for it
 * has to ask for a long message first. That holds ranks together: in all of doc/waiting.md's cases with equal messages
 * it is no slower than a barrier, or by a hundredth, and costs no message more. With unequal messages a
 * barrier waits for the longest one of each phase, so it is always slower.
 *
 * What is nearly always so is no promise. So for messages of one size, by the highest bit of their bytes, the first calls
 * are timed in turn with barriers and without, and the better one stays: barriers, when they are no slower. Of each
 * kind the least of two times counts, for the first call makes connections, and a machine has other things to do now and
 * then.
 */
#include "config.h"

#include "waiting.h"

static uint32_t size_of(uint64_t bytes)
{
	uint32_t size = 0;

	while (bytes >>= 1)
		size++;
	return size;
}

bool forsched_waiting_has_barrier(const struct waiting *waiting, uint64_t bytes, bool *is_trial)
{
	const struct waiting_size *size = &waiting->size[size_of(bytes)];

	*is_trial = bytes && size->calls < WAITING_TRIALS;
	if (!bytes)
		return false;
	return *is_trial ? size->calls % 2 == 0 : size->least[true] <= size->least[false];
}

void forsched_waiting_learn(struct waiting *waiting, uint64_t bytes, bool had_barrier, double seconds)
{
	struct waiting_size *size = &waiting->size[size_of(bytes)];
	double *least = &size->least[had_barrier];

	*least = *least > 0 && *least < seconds ? *least : seconds;
	size->calls++;
}
