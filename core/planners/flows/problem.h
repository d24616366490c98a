/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.h - single flows over fixed ways: what has to be packed into phases.
 *
 * Nothing here knows of trees. There are switches with senders, destinations below switches, links, and for each unit
 * (switch s, destination d) one way per path index, a list of links. A unit is n_s tokens: its flows, anonymous, each
 * in another phase. Which of the switch's senders sends which token is decided afterwards (senders.c), and always can
 * be. A token of d's own switch takes no link; one of those is d's to itself, an idle turn.
 *
 * Words: way = unit * npaths + path index; a token is known by its way and its phase.
 * Thread rules: plain data, read by any number of threads once it is made.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_PROBLEM_H
#define FORS_CORE_PLANNERS_FLOWS_PROBLEM_H

#include "core/planners/method.h"

#define FORS_FLOWS_MOST_PATHS 4 /* path indices that units, and plans over any tables, look at: more gain nothing */

#define FORS_FLOWS_NONE UINT32_MAX /* in an occupancy: FORS_OCCUPANCY_NOBODY */
#define FORS_FLOWS_MOST_LINKS 62   /* of a way: with receiver and switch 64 rows */

struct fors_flows_problem {
	uint32_t nswitches;
	uint32_t ndests;   /* P: destinations, and senders */
	uint32_t nlinks;   /* those that a way uses */
	uint32_t npaths;   /* ways per unit, at least 1 */
	uint32_t *senders; /* per switch: n_s, which may be 0 */
	uint32_t *first;   /* per switch: its first destination; they are ordered by switch. nswitches + 1 */
	uint32_t *home;	   /* per destination: its switch */
	uint32_t *begin;   /* per way: where its links begin in link[]; one more than there are ways */
	uint32_t *link;	   /* the links of all ways */
	uint8_t *capacity; /* per link: tokens that it carries in a phase; NULL: one each */
	uint8_t *exists;   /* per way: is there one? Every unit with senders has its way of path index 0 */
	uint32_t lump;	   /* flows that a token stands for (lumps.h), which divides all n_s; 0 means 1 */
	/*
	 * Instead of begin, link and exists, for a packing and its search: the links of the way of a path index, from
	 * switch s to destination d, in link[], and how many; FORS_FLOWS_NONE: there is no such way. NULL: ways are
	 * listed.
	 */
	uint32_t (*links_of)(const void *context, uint32_t s, uint32_t d, uint32_t path, uint32_t *link);
	const void *context; /* of links_of */
};

static inline uint32_t fors_flows_capacity(const struct fors_flows_problem *problem, uint32_t link)
{
	return problem->capacity ? problem->capacity[link] : 1;
}

/* The phases in which a link carries so many tokens. */
static inline uint32_t fors_flows_phases(const struct fors_flows_problem *problem, uint32_t link, uint32_t tokens)
{
	uint32_t capacity = fors_flows_capacity(problem, link);

	return capacity == 1 ? tokens : tokens / capacity + (tokens % capacity > 0);
}

/* How many units and ways there are, and whose they are. */
static inline uint32_t fors_flows_units(const struct fors_flows_problem *problem)
{
	return problem->nswitches * problem->ndests;
}

/* The unit of a way; mostly there is one way each, and a division takes long. */
static inline uint32_t fors_flows_unit(const struct fors_flows_problem *problem, uint32_t way)
{
	return problem->npaths == 1 ? way : way / problem->npaths;
}

static inline uint32_t fors_flows_switch(const struct fors_flows_problem *problem, uint32_t unit)
{
	return unit / problem->ndests;
}

static inline uint32_t fors_flows_dest(const struct fors_flows_problem *problem, uint32_t unit)
{
	return unit % problem->ndests;
}

/* The links of a unit's way in link[] (room for FORS_FLOWS_MOST_LINKS), and how many; the way exists if ways are listed. */
static inline uint32_t fors_flows_links(const struct fors_flows_problem *problem, uint32_t s, uint32_t d, uint32_t path,
					uint32_t *link)
{
	uint32_t n = 0, way = (s * problem->ndests + d) * problem->npaths + path;

	if (problem->links_of)
		return problem->links_of(problem->context, s, d, path, link);
	for (uint32_t i = problem->begin[way]; i < problem->begin[way + 1]; i++)
		link[n++] = problem->link[i];
	return n;
}

/* The tokens of a unit, as many as the switch's senders, or lumps of them. */
static inline uint32_t fors_flows_tokens(const struct fors_flows_problem *problem, uint32_t unit)
{
	return problem->senders[fors_flows_switch(problem, unit)] / (problem->lump ? problem->lump : 1);
}

/* A round has a place for each that a switch can send in it: so many units a destination receives, one from each group. */
uint64_t fors_flows_received_tokens(const struct fors_flows_problem *problem);

/*
 * The problem of a task on a two-level tree: ways read off the task's tables, path indices 0..npaths-1, in *problem
 * (fors_flows_problem_clear()). Errors: FORS_ENOPLAN (a base LID has no way; named), FORS_ELIMIT (more ways than fit
 * 32 bits), FORS_ENOMEM; nothing is to be cleared then.
 */
enum fors_err fors_flows_problem_read(const struct fors_task *task, uint32_t npaths, struct fors_flows_problem *problem,
				      struct fors_error *error);
void fors_flows_problem_clear(struct fors_flows_problem *problem);

/*
 * The arrays of a problem whose numbers are set, empty, with room for so many links of each way; 0: without room for
 * links, who knows their number brings it. False: out of memory; what there is then is for fors_flows_problem_clear().
 */
bool fors_flows_problem_allocate(struct fors_flows_problem *problem, size_t most_links);

/* The length of the longest way: cables between switches. */
uint32_t fors_flows_longest(const struct fors_flows_problem *problem);

/*
 * The capacities of so many links, which are the problem's from now on; where no link carries more than one it has
 * none. Takes `capacity`, which malloc() gave.
 */
void fors_flows_take_capacities(struct fors_flows_problem *problem, uint8_t *capacity);

/*
 * The link that needs most phases for what has to cross it, in *link (FORS_FLOWS_NONE: there is none), and how many tokens
 * these are, in *tokens. Of units with several ways only the links that all of them share count. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_fullest(const struct fors_flows_problem *problem, uint32_t *link, uint32_t *tokens,
				 struct fors_error *error);

/* No packing over these ways has fewer phases: max(P, phases of the fullest link). In *bound. Errors: FORS_ENOMEM. */
enum fors_err fors_flows_bound(const struct fors_flows_problem *problem, uint32_t *bound, struct fors_error *error);

#endif
