/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* claims.c - which way down switches are committed to, where they have a choice: see claims.h. */
#include "claims.h"

#include <stdlib.h>

void fors_pods_claims_clear(struct fors_pods_claims *claims)
{
	free(claims->top);
	free(claims->mid);
	*claims = (struct fors_pods_claims){0};
}

/* The mid of a plane above a slot's leaf, FORS_NONE. */
static uint32_t mid_above(const struct fors_pods_lanes *l, uint32_t slot, uint32_t plane)
{
	return fors_pods_mid(l->pods, l->pods->leaf[l->pods->slot[slot].leaf].pod, plane);
}

/* The port that a lane comes down to a slot's leaf over; 0: none that lives. */
static uint8_t port_of_lane(const struct fors_pods_lanes *l, uint32_t slot, uint32_t lane)
{
	uint32_t leaf = l->pods->slot[slot].leaf;

	return fors_pods_lanes_live(l, leaf, lane) ? fors_pods_lanes_far(l->pods, l->pods->leaf[leaf].node,
									 l->leaf_port[(size_t)leaf * l->nlanes + lane])
						   : 0;
}

/* The port that a rung comes down to a slot's pod over; 0: none that lives. */
static uint8_t port_of_rung(const struct fors_pods_lanes *l, uint32_t slot, uint32_t plane, uint32_t rung)
{
	uint32_t mid = mid_above(l, slot, plane);

	return mid != FORS_NONE && fors_pods_lanes_rung_live(l, mid, rung)
		       ? fors_pods_lanes_far(l->pods, l->pods->mid[mid].node,
					     l->mid_port[(size_t)mid * l->nrungs + rung])
		       : 0;
}

static bool goes_down(const struct fors_pods_ways *ways, uint32_t slot, uint32_t plane)
{
	uint32_t mid = mid_above(ways->lanes, slot, plane);

	return mid != FORS_NONE && ways->mid[(size_t)mid * ways->ncolumns + slot];
}

enum fors_err fors_pods_claims_new(const struct fors_pods_ways *ways, struct fors_pods_claims *claims,
				   struct fors_error *error)
{
	const struct fors_pods_lanes *l = ways->lanes;
	bool of_tops = fors_pods_lanes_tops_choose(l), of_mids = l->nlanes > l->pods->nplanes;

	*claims = (struct fors_pods_claims){.ways = ways};
	if (of_tops)
		claims->top = calloc((size_t)l->pods->ntops * l->pods->nslots + 1, 1);
	if (of_mids)
		claims->mid = calloc((size_t)l->pods->nslots * l->pods->nplanes + 1, 1);
	if ((of_tops && !claims->top) || (of_mids && !claims->mid)) {
		fors_pods_claims_clear(claims);
		return fors_fail_memory(error);
	}
	for (uint32_t slot = 0; (of_tops || of_mids) && slot < l->pods->nslots; slot++)
		fors_pods_claims_take(claims, slot, l->home_lane[slot], l->home_rung[slot]);
	return FORS_OK;
}

bool fors_pods_claims_top(const struct fors_pods_claims *claims, uint32_t top, uint32_t slot, uint32_t plane,
			  uint8_t port)
{
	const struct fors_pods_ways *ways = claims->ways;
	uint8_t claim;

	if (!claims->top)
		return ways->top[(size_t)top * ways->ncolumns + slot] == port;
	claim = claims->top[(size_t)top * ways->lanes->pods->nslots + slot];
	return goes_down(ways, slot, plane) && (!claim || claim == port);
}

bool fors_pods_claims_lane(const struct fors_pods_claims *claims, uint32_t slot, uint32_t lane)
{
	const struct fors_pods_lanes *l = claims->ways->lanes;
	uint8_t claim;

	if (!claims->mid)
		return true;
	claim = claims->mid[(size_t)slot * l->pods->nplanes + fors_pods_lanes_plane(l, lane)];
	return !claim || claim == port_of_lane(l, slot, lane);
}

void fors_pods_claims_take(struct fors_pods_claims *claims, uint32_t slot, uint32_t lane, uint32_t rung)
{
	const struct fors_pods_lanes *l = claims->ways->lanes;
	uint32_t plane = fors_pods_lanes_plane(l, lane);
	uint8_t port;

	if (claims->mid)
		claims->mid[(size_t)slot * l->pods->nplanes + plane] = port_of_lane(l, slot, lane);
	if (!claims->top || rung == FORS_NONE || !goes_down(claims->ways, slot, plane))
		return;
	port = port_of_rung(l, slot, plane, rung);
	if (port)
		claims->top[(size_t)l->rung_top[(size_t)plane * l->nrungs + rung] * l->pods->nslots + slot] = port;
}

void fors_pods_claims_write(struct fors_pods_ways *ways, uint32_t slot, uint32_t lane, uint32_t rung)
{
	const struct fors_pods_lanes *l = ways->lanes;
	uint32_t plane = fors_pods_lanes_plane(l, lane), mid = mid_above(l, slot, plane), top;
	uint8_t port = port_of_lane(l, slot, lane);

	if (mid == FORS_NONE)
		return;
	if (port)
		ways->mid[(size_t)mid * ways->ncolumns + slot] = port;
	port = rung == FORS_NONE ? 0 : port_of_rung(l, slot, plane, rung);
	if (!port || !ways->mid[(size_t)mid * ways->ncolumns + slot])
		return;
	top = l->rung_top[(size_t)plane * l->nrungs + rung];
	ways->top[(size_t)top * ways->ncolumns + slot] = port;
}
