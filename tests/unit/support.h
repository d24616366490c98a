/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * support.h - what unit tests of planners, tables and the verifier share.
 *
 * A bed is a fabric to try things on: the net of a specification, LIDs, what is
 * down, and the fabric, tables and lanes that follow from it. Functions here end the
 * running cmocka test when something goes wrong that should not.
 */
#ifndef FORS_TESTS_SUPPORT_H
#define FORS_TESTS_SUPPORT_H

#include "core/fabric/account.h"
#include "core/fabric/drained.h"
#include "core/fabric/fattree.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "core/status/status.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"
#include "unit.h"

/* fors_status_tree() and fors_account_take() of a fabric. */
static inline enum fors_err status_of_fabric(struct fors_status *status, const struct fors_fabric *fabric,
					     struct fors_error *error)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(fabric);

	return fors_status_tree(status, &tree, error);
}
static inline enum fors_err account_of_fabric(const struct fors_fabric *fabric, struct fors_account *account,
					      struct fors_error *error)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(fabric);

	return fors_account_take(&tree, account, error);
}

/* A pseudo-random generator (splitmix64): the same numbers everywhere. */
struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *rng);
/* 0 .. n-1; n > 0. */
uint32_t rng_below(struct rng *rng, uint32_t n);

struct bed {
	struct fors_net *intact;	       /* with LIDs, nothing down */
	struct fors_net *net;		       /* now; change it, then call bed_rebuild() */
	struct fors_places *places;	       /* learnt from intact */
	struct fors_participants participants; /* guid == NULL: all */
	struct fors_fabric *fabric;	       /* the rest is made by bed_rebuild() */
	struct fors_lfts *lfts;
	struct fors_lanes *lanes;
};

/* A bed of "FT(...)" with LIDs of this LMC, built, nothing down. The test ends when spec or LMC are not possible. */
struct bed *bed_new(const char *spec, unsigned lmc);
void bed_free(struct bed *bed);

FREES(bed_free, struct bed *)
FREES(fors_fabric_free, struct fors_fabric *)
FREES(fors_lanes_free, struct fors_lanes *)
FREES(fors_lfts_free, struct fors_lfts *)
FREES(fors_net_free, struct fors_net *)
FREES(fors_places_free, struct fors_places *)
FREES(fors_schedule_free, struct fors_schedule *)

/* fabric, lfts and lanes of net as it is now, in place of what was there. */
void bed_rebuild(struct bed *bed);

/* Take down each of `what`, separated by blanks ("Leaf00[21] Spine03"), and rebuild. */
void bed_down(struct bed *bed, const char *what);

/* Everything up again, and rebuild. */
void bed_restore(struct bed *bed);

/* Only these servers take part (slots as "LEAF/SLOT LEAF/SLOT ..."; NULL: all), and rebuild. */
void bed_participants(struct bed *bed, const char *places);

/* `count` random servers take part, and rebuild. */
void bed_random_participants(struct bed *bed, struct rng *rng, uint32_t count);

/*
 * Take down up to `count` random leaf-spine cables that are up, none that would leave two leaves with servers
 * without a common spine, and rebuild. The number taken down: less than count when no more are allowed.
 */
uint32_t bed_random_failures(struct bed *bed, struct rng *rng, uint32_t count);

/* The same net with its nodes in another order, everything up, places learnt anew from it; and rebuild. */
void bed_shuffle(struct bed *bed, struct rng *rng);

/* A task for the bed, one thread, no callbacks. */
struct fors_task bed_task(const struct bed *bed);

/*
 * A plan checked flow by flow, by code that fors_verify() does not share: over lanes instead of hops.
 * 0 and an empty text, or the number of faults and the first one in words.
 */
uint64_t check_plan(const struct bed *bed, const struct fors_schedule *schedule, char *text, size_t room);

/*
 * Plan with a method, and stop it when it asks for the first time, for the second, and so on, until it is through: each
 * time it has to stop and leave nothing behind (the sanitizers and valgrind look). How often it asks.
 */
int stop_anywhere(const struct bed *bed, const char *method);

/* check_plan() and fors_verify(): the test fails, naming `what`, when one of them finds a fault. */
void assert_plan(const struct bed *bed, const struct fors_schedule *schedule, const char *what);

/*
 * The text of a kept order as the version before wrote it: under that title, without a line of levels, sealed; in *size bytes,
 * owned by the caller.
 */
char *former_places(const char *text, const char *title, size_t *size);

/* Mark the cable of a leaf's lane as drained, if it lives and has no mark yet. */
static inline void mark_drained(struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, enum fors_drain_reason reason)
{
	fors_drained_mark_cable(fors_fattree_of_fabric(fabric), leaf * fabric->nlanes + lane, reason);
}

#endif
