/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rehome.h"

void fors_rehome_note(struct fors_rehome *rehome, uint32_t nslots, uint64_t now_ms)
{
	if (rehome->nslots != nslots || !rehome->quiet_ms)
		rehome->quiet_ms = now_ms;
	rehome->nslots = nslots;
}

bool fors_rehome_is_healthy(const struct fors_fattree *tree)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &cable) &&
		    (cable.state == FORS_CABLE_DEAD || cable.is_degraded || cable.drained))
			return false;
	return true;
}

static uint64_t earliest(const struct fors_rehome *rehome)
{
	uint64_t quiet = rehome->quiet_ms + FORS_REHOME_QUIET_MS;
	uint64_t again = rehome->ranked_ms ? rehome->ranked_ms + FORS_REHOME_AGAIN_MS : 0;

	return quiet > again ? quiet : again;
}

void fors_rehome_want(struct fors_rehome *rehome, bool is_wanted, uint64_t now_ms)
{
	uint64_t due = earliest(rehome);

	if (!is_wanted || now_ms < due) {
		rehome->armed = 0;
		rehome->is_free = false;
	}
	if (!is_wanted)
		rehome->due_ms = 0;
	else if (!rehome->armed && !rehome->is_free)
		rehome->due_ms = due;
}

bool fors_rehome_is_due(const struct fors_rehome *rehome, uint64_t now_ms)
{
	return rehome->due_ms && now_ms >= earliest(rehome);
}

void fors_rehome_arm(struct fors_rehome *rehome, uint64_t nmoved, uint64_t now_ms)
{
	if (!nmoved)
		rehome->armed = 0;
	else if (!rehome->armed)
		rehome->armed = ++rehome->last;
	rehome->is_free = !nmoved;
	rehome->due_ms = now_ms + (nmoved ? FORS_REHOME_GRACE_MS : 1);
}

bool fors_rehome_may_rank(const struct fors_rehome *rehome, uint64_t withdrawn)
{
	return rehome->is_free || (rehome->armed && withdrawn == rehome->armed);
}

void fors_rehome_done(struct fors_rehome *rehome, uint64_t now_ms)
{
	rehome->ranked_ms = now_ms;
	rehome->armed = 0;
	rehome->is_free = false;
	rehome->due_ms = 0;
}
