/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claims.h - which way down switches are committed to, where they have a choice (private to this module).
 *
 * A top that planes share, or that has several cables to a mid, sends to a server over one port, whoever it comes
 * from; so does a mid with several cables to a leaf. The port is free until the first item comes down over it, and is
 * claimed from then on. Items at home claim theirs first.
 *
 * Thread rules: one thread writes.
 */
#ifndef FORS_CORE_PLANNERS_PODS_CLAIMS_H
#define FORS_CORE_PLANNERS_PODS_CLAIMS_H

#include "ways.h"

struct fors_pods_claims {
	const struct fors_pods_ways *ways; /* borrowed; at home */
	uint8_t *top;			   /* [top * nslots + slot]: the port, 0: free; NULL: tops have no choice */
	uint8_t *mid; /* [slot * nplanes + plane], of the mid above the slot's leaf: likewise; NULL: mids have none */
};

/* What is at home is claimed. Path index 0 only. The caller clears it (fors_pods_claims_clear()). Errors: FORS_ENOMEM. */
enum fors_err fors_pods_claims_new(const struct fors_pods_ways *ways, struct fors_pods_claims *claims,
				   struct fors_error *error);
void fors_pods_claims_clear(struct fors_pods_claims *claims);

/* Does, or may, an item come down to a slot from this top over that port, to the mid of that plane? */
bool fors_pods_claims_top(const struct fors_pods_claims *claims, uint32_t top, uint32_t slot, uint32_t plane,
			  uint8_t port);
/* Does, or may, an item come down to a slot over this lane of its leaf? */
bool fors_pods_claims_lane(const struct fors_pods_claims *claims, uint32_t slot, uint32_t lane);
/* An item comes down over a lane and, unless it stays in its pod (rung: FORS_NONE), over a rung of its plane. */
void fors_pods_claims_take(struct fors_pods_claims *claims, uint32_t slot, uint32_t lane, uint32_t rung);

/* Write the ways down of such an item. */
void fors_pods_claims_write(struct fors_pods_ways *ways, uint32_t slot, uint32_t lane, uint32_t rung);

#endif
