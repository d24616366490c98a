/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "published.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/divisor.h"
#include "core/planners/flows/routed_schedule.h"
#include "core/planners/flows/routed_ways.h"
#include "core/schedule/schedule_format.h"

static void put_pieces(const struct fors_demand_plan *plan, struct fors_schedule *schedule)
{
	for (uint32_t k = 0; k < plan->nphases; k++) {
		schedule->length[k] = plan->length[k];
		for (uint32_t i = plan->begin[k]; i < plan->begin[k + 1]; i++) {
			const struct fors_demand_piece *piece = &plan->piece[i];
			size_t at = (size_t)piece->src * plan->nphases + k;

			schedule->cell[at] =
				(struct fors_cell){(uint16_t)piece->dst, (uint8_t)piece->path, FORS_NO_LANE};
			schedule->bytes[at] = piece->bytes;
		}
	}
}

/* Several levels of a pair: none. is_known[pair]: was it asked for before? */
static void put_level(struct fors_schedule *schedule, size_t pair, uint8_t level, bool *is_known)
{
	if (is_known[pair] && schedule->sl[pair] != level)
		level = FORS_NO_SL;
	is_known[pair] = true;
	schedule->sl[pair] = level;
}

static enum fors_err ask_levels(const struct fors_demand_plan *plan, const struct fors_demand_levels *levels,
				struct fors_schedule *schedule, struct fors_error *error)
{
	size_t n = schedule->nservers;
	bool *is_known = calloc(n * n + 1, sizeof(*is_known));

	schedule->sl = malloc(n * n + 1);
	if (!schedule->sl || !is_known) {
		free(is_known);
		return fors_fail_memory(error);
	}
	memset(schedule->sl, FORS_NO_SL, n * n + 1);
	for (uint32_t i = 0; i < plan->npieces; i++) {
		const struct fors_demand_piece *piece = &plan->piece[i];

		put_level(schedule, piece->src * n + piece->dst,
			  levels->sl(levels->context, schedule->server[piece->src].lid,
				     schedule->server[piece->dst].lid + piece->path),
			  is_known);
	}
	free(is_known);
	return FORS_OK;
}

static enum fors_err fill(const struct fors_flows_routed *routed, const struct fors_demand_plan *plan,
			  const struct fors_demand_levels *levels, struct fors_schedule *schedule,
			  struct fors_error *error)
{
	enum fors_err err = fors_schedule_make_sizes(schedule, error);

	if (!err)
		err = fors_flows_waylist(routed, &schedule->ways, error);
	if (!err && levels && levels->sl)
		err = ask_levels(plan, levels, schedule, error);
	if (!err)
		put_pieces(plan, schedule);
	return err;
}

/* The largest number that divides all pieces. */
static uint64_t granule_of(const struct fors_demand_plan *plan)
{
	uint64_t granule = 0;

	for (uint32_t i = 0; i < plan->npieces && granule != 1; i++)
		granule = fors_divisor64(granule, plan->piece[i].bytes);
	return granule ? granule : 1;
}

/* A file has no place for more pieces: no room is made for them either. What ways take is seen when it is written. */
static enum fors_err check_size(uint32_t nservers, uint32_t nphases, struct fors_error *error)
{
	uint64_t bytes = (uint64_t)nservers * nphases * sizeof(struct fors_sf_piece);

	if (bytes <= FORS_SF_MAX_BYTES)
		return FORS_OK;
	return fors_fail(error, FORS_ELIMIT,
			 "schedule: %u servers and %u phases take %llu bytes; a file has at most %llu", nservers,
			 nphases, (unsigned long long)bytes, FORS_SF_MAX_BYTES);
}

enum fors_err fors_demand_schedule(const struct fors_flows_routed *routed, const struct fors_demand *demand,
				   const struct fors_demand_plan *plan, const struct fors_demand_levels *levels,
				   struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *made;
	enum fors_err err = check_size(routed->nservers, plan->nphases, error);

	if (!err)
		err = fors_flows_schedule(routed, plan->nphases, 0, plan->method, &made, error);
	if (err)
		return err;
	err = fill(routed, plan, levels, made, error);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	made->granule = granule_of(plan);
	made->is_unit = demand->is_unit;
	made->fingerprint = fors_flows_fingerprint(routed);
	*schedule = made;
	return FORS_OK;
}
