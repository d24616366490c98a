/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.h - cables that live and shall carry no traffic between servers, from sweep to sweep.
 *
 * Joins what fors.conf asks for (exclude_links, exclude_spines, degraded_links, hold_down) with what
 * core/fabric/drained.h, core/fabric/holddown.h and core/planners/slow.h can do, and tells the log what changed. Knows nothing of OpenSM but
 * its log.
 * Threads: OpenSM's sweeper only.
 */
#ifndef FORS_DAEMON_LOOK_DRAIN_H
#define FORS_DAEMON_LOOK_DRAIN_H

#include "core/fabric/drained.h"
#include "core/fabric/holddown.h"
#include "daemon/settings/settings.h"

struct fors_log;

struct fors_drain {
	struct fors_holddown *holddown;
	uint64_t told_links, told_warnings; /* digests of what the log has been told */
	bool is_given;	 /* the tables are what OpenSM's unicast cache brought back: auto drains nothing in them */
	bool has_slow;	 /* some cable was slow when it was last decided what to do about that */
	uint64_t due_ms; /* when the next held cable may return, monotonic; 0: none is held */
};

/* Nothing watched yet; to be cleared when it succeeded. Errors: FORS_ENOMEM. */
enum fors_err fors_drain_init(struct fors_drain *drain, struct fors_error *error);
void fors_drain_clear(struct fors_drain *drain);

/* Whether fors.conf asks for anything that tables depend on; what auto does about slow cables is not asked for. */
bool fors_drain_is_wanted(const struct fors_settings *settings);

/*
 * Look at a tree just built: what died and came back since the last one. may_release: tables will be
 * made for it, so held cables whose time is over may return. Without hold_down nothing new is held. *held_until_ms, Unix
 * time when the next one returns, is set if one is held. Errors: FORS_ENOMEM.
 */
enum fors_err fors_drain_look(struct fors_drain *drain, const struct fors_settings *settings, struct fors_fattree tree,
			      bool may_release, uint64_t *held_until_ms, struct fors_error *error);

/* Of the tree looked at last: the hosts that are held or flap, in the order of slots, count of them in *flap, which the caller frees. Errors: FORS_ENOMEM. */
enum fors_err fors_drain_flaps(const struct fors_drain *drain, struct fors_fattree tree, struct fors_flap **flap,
			       uint32_t *count, struct fors_error *error);

/* Who takes part while these of that tree are held, in *others, whose guid the caller frees; without guid: none who is held is alive. Errors: FORS_ENOMEM. */
enum fors_err fors_drain_others(struct fors_fattree tree, const struct fors_flap *flap, uint32_t count,
				struct fors_participants *others, struct fors_error *error);

/*
 * Drain in the tree, looked at before, what shall be drained; what is done about slow cables comes into *slow. The names of
 * cables that have to stay in use, and mistakes in lists, are added to warnings. Errors: FORS_ENOMEM.
 */
enum fors_err fors_drain_apply(const struct fors_drain *drain, const struct fors_settings *settings,
			       struct fors_fattree tree, struct fors_slow *slow, struct fors_warnings *warnings,
			       struct fors_error *error);

/*
 * Tell the log about degraded, excluded and held cables, what was decided about slow ones, and about warnings, when they
 * are others than last time.
 */
void fors_drain_tell(struct fors_drain *drain, struct fors_log *log, struct fors_fattree tree,
		     const struct fors_slow *slow, const struct fors_warnings *warnings);

#endif
