/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sm.c - the manager's word about itself. */
#include "sm.h"

#include "bytes.h"
#include "daemon/base/clock.h"
#include "wire.h"

#define LONGEST_JUMP (1u << 24) /* packets between two questions: more is a fall, or another process */

static void take(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_sm *sm = context;

	(void)tag;
	if (end != FORS_MAD_ANSWERED)
		return;
	sm->guid = fors_get64(mad->data);
	sm->count = fors_get32(mad->data + 16);
	sm->priority = mad->data[20] >> 4;
	sm->state = mad->data[20] & 15;
	sm->is_there = sm->state == FORS_SM_MASTER;
	sm->at_ms = fors_clock_exact_ms();
}

static void take_own(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	(void)tag;
	if (end == FORS_MAD_ANSWERED)
		fors_mads_set_manager(context, fors_get16(mad->data + 16), fors_get16(mad->data + 18),
				      mad->data[36] & 15);
}

enum fors_err fors_sm_find(struct fors_mads *mads, struct fors_error *error)
{
	const struct fors_directed_route here = {.hops = 0};

	if (fors_mads_get(mads, &here, FORS_ATTR_PORT_INFO, 0, take_own, mads, 0))
		return fors_fail_memory(error);
	return fors_mads_run(mads, error);
}

enum fors_err fors_sm_queue(struct fors_mads *mads, struct fors_sm *sm, struct fors_error *error)
{
	uint16_t lid = fors_mads_port(mads)->sm_lid;

	*sm = (struct fors_sm){.at_ms = fors_clock_exact_ms()};
	if (lid && fors_mads_get_at(mads, lid, FORS_ATTR_SM_INFO, 0, take, sm, 0))
		return fors_fail_memory(error);
	return FORS_OK;
}

enum fors_err fors_sm_ask(struct fors_mads *mads, struct fors_sm *sm, struct fors_error *error)
{
	enum fors_err err = fors_sm_queue(mads, sm, error);

	return err ? err : fors_mads_run(mads, error);
}

bool fors_sm_is_same(const struct fors_sm *before, const struct fors_sm *after)
{
	return before->is_there && after->is_there && before->guid == after->guid &&
	       after->count - before->count < LONGEST_JUMP;
}

uint32_t fors_sm_rise(const struct fors_sm *before, const struct fors_sm *after, uint32_t asked)
{
	return after->count - before->count - asked;
}
