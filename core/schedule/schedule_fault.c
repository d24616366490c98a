/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_fault.c - what no exchange may be, rules 9 to 12, 16 and 17 of schedule_format.h.
 *
 * Servers are told apart by GUID and by LID, so none may have what another has. The exchange is whole when each server
 * sends to each other exactly once, and possible when nobody receives twice in a phase. That each receives from each
 * other exactly once follows: it is the same set of pairs. So one walk by sender and one by phase are enough, each with
 * a mark per server that says for which sender, or phase, it was last seen. A demand may have any pairs; its lengths and
 * sizes have to fit each other instead.
 */
#include "schedule_fault.h"
#include "schedule_sizes.h"

#include <stdlib.h>

#include "core/base/numbers.h"

static enum fors_err find_same_guid(const struct fors_schedule *schedule, const char **fault, struct fors_error *error)
{
	uint64_t *guid = malloc(((size_t)schedule->nservers + 1) * sizeof(*guid));

	if (!guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < schedule->nservers; s++)
		guid[s] = schedule->server[s].guid;
	qsort(guid, schedule->nservers, sizeof(*guid), fors_by_number);
	for (uint32_t s = 1; s < schedule->nservers; s++)
		if (guid[s] == guid[s - 1])
			*fault = "two servers with the same GUID";
	free(guid);
	return FORS_OK;
}

static const char *find_same_lid(const struct fors_schedule *schedule)
{
	uint64_t taken[FORS_LID_MAX / 64 + 1] = {0}; /* a bit for each LID */

	for (uint32_t s = 0; s < schedule->nservers; s++) {
		const struct fors_schedule_server *server = &schedule->server[s];

		for (uint32_t lid = server->lid; lid < server->lid + (1u << server->lmc); lid++) {
			if (taken[lid / 64] >> lid % 64 & 1)
				return "two servers with the same LID";
			taken[lid / 64] |= 1ull << lid % 64;
		}
	}
	return NULL;
}

/* Each sender's receivers. mark[d] == s + 1: s was seen sending to d; all 0 at first. */
static const char *find_missing_pair(const struct fors_schedule *schedule, uint32_t *mark)
{
	for (uint32_t s = 0; s < schedule->nservers; s++) {
		uint32_t left = schedule->nservers - 1;

		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			uint32_t dst = fors_schedule_flow(schedule, s, phase).dst;

			if (dst == FORS_IDLE)
				continue;
			if (mark[dst] == s + 1)
				return "a server sends to the same server twice";
			mark[dst] = s + 1;
			left--;
		}
		if (left)
			return "a pair of servers is missing";
	}
	return NULL;
}

/* Each phase's receivers, marked with the phase; all 0 at first. */
static const char *find_collision(const struct fors_schedule *schedule, uint32_t *mark)
{
	for (uint32_t phase = 0; phase < schedule->nphases; phase++)
		for (uint32_t s = 0; s < schedule->nservers; s++) {
			uint32_t dst = fors_schedule_flow(schedule, s, phase).dst;

			if (dst == FORS_IDLE)
				continue;
			if (mark[dst] == phase + 1)
				return "two servers send to the same one at the same time";
			mark[dst] = phase + 1;
		}
	return NULL;
}

enum fors_err fors_schedule_find_fault(const struct fors_schedule *schedule, const char **fault,
				       struct fors_error *error)
{
	uint32_t *mark = calloc(2 * (size_t)schedule->nservers + 1, sizeof(*mark));
	const char *found = NULL;
	enum fors_err err = mark ? find_same_guid(schedule, &found, error) : fors_fail_memory(error);

	if (!err && !found)
		found = find_same_lid(schedule);
	if (!err && !found && schedule->nphases)
		found = schedule->length ? fors_schedule_sizes_fault(schedule) : find_missing_pair(schedule, mark);
	if (!err && !found)
		found = find_collision(schedule, mark + schedule->nservers);
	free(mark);
	if (!err)
		*fault = found;
	return err;
}
