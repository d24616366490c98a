/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy.h - a problem packed: how many phases are tried, when, with how much effort. Private to this module.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_STRATEGY_H
#define FORS_CORE_PLANNERS_FLOWS_STRATEGY_H

#include "core/planners/method.h"
#include "pack.h"

/* A packing to begin with, of so many phases, in *packing, owned by the caller; what has no phase there waits. */
typedef enum fors_err fors_flows_begin(void *context, uint32_t nphases, struct fors_flows_packing **packing,
				       struct fors_error *error);

/* What is asked of a packing; all zero: any, and nobody stops it. */
struct fors_flows_asked {
	uint32_t wanted_phases;		  /* more are of no use; 0: any number is */
	struct fors_plan_limits limits;	  /* steps count; 0: a budget for the number of flows */
	bool (*cancelled)(void *context); /* asked now and then: true, give up. NULL: never */
	void *context;			  /* of cancelled */
	uint32_t known_bound;		  /* as the caller knows, no packing has fewer phases; 0: nothing is known */
	bool is_quick;			  /* a plan is wanted soon: less work, fewer orders to begin with */
	uint32_t effort;		  /* of fors_flows_improve(): so many times the usual one; 0 means 1 */
	fors_flows_begin *begin; /* where phases are known that most have at home; NULL: first fit in some orders */
	void *begin_context;	 /* of begin */
	uint64_t *steps;	 /* work of searches is added here; NULL: nobody wants to know */
};

/*
 * Pack all tokens of a problem into as few phases as can be found, in *packing, in which nothing waits, owned by the
 * caller (fors_flows_packing_free()). Errors: FORS_ENOPLAN (more than the wanted phases would be needed, or were),
 * FORS_ELIMIT (more phases than a schedule has), FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_flows_pack_problem(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				      struct fors_flows_packing **packing, struct fors_error *error);

/*
 * Look for fewer phases than *packing has, a plan of `problem` in lumps in which nothing waits, though not for fewer than
 * `aim`: in parts of lumps first, as large as divide the aim best, then in parts of those, and so on; *packing becomes
 * one of `problem`. With the effort that a plan which began with lumps is worth, each time, and more where flows have
 * ways to choose from. Errors: FORS_ECANCELLED, FORS_ENOMEM; *packing is freed and NULL then.
 */
enum fors_err fors_flows_improve(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				 uint32_t aim, struct fors_flows_packing **packing, struct fors_error *error);

/* Bytes that this takes at most where it ends with nphases phases. */
uint64_t fors_flows_pack_bytes(const struct fors_flows_problem *problem, uint32_t nphases);

#endif
