/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * groups.h - switches whose flows meet on the second links of their ways. Private to this room.
 * Thread rules: plain data once it is made.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_GROUPS_H
#define FORS_CORE_PLANNERS_FLOWS_GROUPS_H

#include "problem.h"

/*
 * The first link of a way is its switch's own. The second one of a way of more than two may be shared with other switches. What
 * hangs together by such ways is a lane, and switches hang together by lanes in groups. (In a tree of three levels: a middle switch, a
 * pod.)
 */
struct fors_flows_groups {
	uint32_t ngroups, nlanes; /* nlanes: of all groups */
	uint32_t *group;	  /* per switch */
	uint32_t *begin;	  /* per group: its switches in member[]; ngroups + 1 */
	uint32_t *member;	  /* switches by group */
	uint32_t *senders;	  /* per group */
	uint32_t *lane;		  /* [group * ndests + d]: by which most of the group send; FORS_FLOWS_NONE: by none */
	uint32_t *shared;	  /* [group * ndests + d]: the second link of these; FORS_FLOWS_NONE: there is none */
};

/* Of the first ways, in *groups (fors_flows_groups_clear()). Errors: FORS_ENOMEM; nothing is to be cleared then. */
enum fors_err fors_flows_groups_read(const struct fors_flows_problem *problem, struct fors_flows_groups *groups,
				     struct fors_error *error);
void fors_flows_groups_clear(struct fors_flows_groups *groups);

#endif
