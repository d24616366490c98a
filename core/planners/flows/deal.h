/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deal.h - which switch of a group sends which of its tokens (stages.h). Private to this room.
 * Thread rules: pure; a deal belongs to one thread.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_DEAL_H
#define FORS_CORE_PLANNERS_FLOWS_DEAL_H

#include "problem.h"

struct fors_flows_token {
	uint16_t t, d; /* phase, receiver */
	uint16_t lane; /* below nlanes of the deal */
	uint16_t by;   /* the member that sends it; FORS_FLOWS_UNDEALT */
};

#define FORS_FLOWS_UNDEALT UINT16_MAX

/* A group's tokens that cross links, and who is to send how many. All borrowed. */
struct fors_flows_deal {
	uint32_t nphases, ndests, nlanes, nmembers, ntokens;
	struct fors_flows_token *token; /* by receiver */
	const uint16_t *wanted;		/* [member * ndests + d]: tokens to a receiver */
	const uint16_t *seats;		/* [member * nphases + t]: tokens in a phase, at most */
	const uint16_t *order;		/* members, larger ones first */
	const uint32_t *size;		/* per member: how large it is */
	uint32_t most_left;		/* with more than that left after two tries there are no more */
};

/*
 * Deal out: token[].by. No member gets more than it wants, nor two tokens of a lane in a phase. *left: how many
 * they lack, all together; some tens at most where lanes are level. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_deal(const struct fors_flows_deal *deal, uint32_t *left, struct fors_error *error);

#endif
