/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.h - how long a linear shift takes over given tables: the exchange of a program that has no schedule.
 * Thread rules: pure; cancelled() is called by the caller's own thread.
 */
#ifndef FORS_CORE_SCHEDULE_SHIFT_H
#define FORS_CORE_SCHEDULE_SHIFT_H

#include "core/net/lfts.h"
#include "core/net/net.h"

struct fors_shift_length {
	uint32_t nservers;
	double length;	/* in phases at full speed: nservers where no link ever has more flows than it carries */
	uint64_t nlost; /* flows that do not arrive; they load the links up to where they are lost */
};

/*
 * In phase t of nservers, server s sends to server s + t (modulo nservers), on its base LID; a phase takes as long as the
 * flows of its fullest link do over it, one after another, and no less than one at full speed. lid[nservers]: base LIDs of CA ports of `net` (indexed), in the order
 * of the exchange. Errors: FORS_EINPUT (a LID of no CA port with a cable to a switch), FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_shift_length(const struct fors_net *net, const struct fors_lfts *lfts, const uint16_t *lid,
				uint32_t nservers, bool (*cancelled)(void *context), void *context,
				struct fors_shift_length *result, struct fors_error *error);

/* What is left of full speed, 0..1; 0 where flows are lost. */
double fors_shift_share(const struct fors_shift_length *result);

#endif
