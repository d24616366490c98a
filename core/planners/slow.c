/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow.c - what draining slow cables would give.
 *
 * A cable that is drained costs phases, one that is slow costs time in each phase that has a flow over it. Which is
 * worse is a question of numbers: a leaf with an uplink to spare loses nothing by draining one at a quarter of its
 * speed, while with it nearly every phase takes four times as long. The answer here is a bound, not a plan: it takes no
 * tables and no search, so it may be asked for after every sweep.
 */
#include "slow.h"

#include "bound.h"
#include "core/fabric/drained.h"
#include "core/fabric/speeds.h"

/* Is this cable in use, and slower than a flow of the exchange could be? */
static bool is_slow(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t full)
{
	return fors_live(fabric, leaf, lane) && fors_speeds_cable(fabric, leaf, lane, full) > 1;
}

static uint32_t mark(struct fors_fabric *fabric, uint32_t full)
{
	uint32_t marked = 0;

	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (is_slow(fabric, a, k, full)) {
				fors_drained_mark(fabric, a, k, FORS_DRAIN_DEGRADED);
				marked++;
			}
	return marked;
}

/* Are any still in use, because leaves could not do without? */
static bool any_left(const struct fors_fabric *fabric, uint32_t full)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (is_slow(fabric, a, k, full))
				return true;
	return false;
}

/* The slowest cable of a server: all flows of that server take so many times as long. */
static double slowest_server(const struct fors_fabric *fabric, uint32_t full)
{
	double slowest = 1;

	for (uint32_t s = 0; s < fabric->nservers; s++) {
		const struct fors_server *server = &fabric->server[s];
		const struct fors_slot *slot = fors_slot(fabric, server->leaf, server->slot);
		double own = fors_speeds_server(fabric, slot, full);

		slowest = own > slowest ? own : slowest;
	}
	return slowest;
}

static enum fors_err bound(const struct fors_fabric *fabric, double *length, struct fors_error *error)
{
	double slowest = slowest_server(fabric, fors_speeds_full(fabric));
	uint32_t phases, lump;
	enum fors_err err = fors_lower_bound(fabric, &phases, error);

	if (err)
		return err;
	lump = fabric->lmc ? 0 : (uint32_t)fors_lump_bound(fabric);
	*length = (lump > phases ? lump : phases) + (slowest - 1) * (fabric->nservers - 1);
	return FORS_OK;
}

enum fors_err fors_slow_drained(const struct fors_fabric *fabric, double *length, struct fors_error *error)
{
	uint32_t full = fors_speeds_full(fabric);
	struct fors_warnings ignored = {0};
	struct fors_fabric *copy = NULL;
	double made = -1;
	enum fors_err err = FORS_OK;

	if (any_left(fabric, full) && fabric->nservers && !fabric->unreachable_pairs) {
		err = fors_fabric_copy(fabric, fabric->net, &copy, error);
		if (!err && mark(copy, full))
			err = fors_drained_apply(copy, &ignored, error);
		if (!err && !any_left(copy, full) && !copy->unreachable_pairs)
			err = bound(copy, &made, error);
	}
	fors_fabric_free(copy);
	if (!err)
		*length = made;
	return err;
}
