/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reading.h - a reading of ports and tables that belongs together.
 *
 * Reading takes a while, and a subnet manager may write meanwhile. A reading counts when the manager's count (sm.h) rose by our
 * own questions only, over the reading and the second before it; or when two readings at least a second apart are equal.
 * Threads: one.
 */
#ifndef FORS_WATCH_READING_H
#define FORS_WATCH_READING_H

#include "sm.h"
#include "survey.h"

#define FORS_QUIET_MS 1000 /* a setting that was lost is sent again by the kernel for less than that */

struct fors_reading {
	struct fors_survey *survey;
	struct fors_net *net; /* indexed, owned, as all that follows */
	struct fors_lfts *lfts;
	struct fors_sm sm;	   /* after it */
	bool is_quiet;		   /* the manager sent nothing while it was made */
	bool is_all;		   /* no port was taken over from the reading before */
	bool is_doubtful;	   /* ports have changed that were not asked for: read again */
	double began_ms, ended_ms; /* by fors_clock_exact_ms() */
	uint64_t asked;		   /* packets that left for it */
};

/*
 * Read once, with the manager asked before and after. *before (NULL: none) lends what need not be asked again:
 * descriptions; if it is trusted, the ports of nodes that are not in doubt. only_active: as fors_survey_net(). Errors: those
 * of fors_survey_make(); *reading is empty then.
 */
enum fors_err fors_reading_make(struct fors_mads *mads, const struct fors_reading *before, bool is_trusted,
				bool only_active, struct fors_reading *reading, struct fors_error *error);
/* Free what it owns; an empty one is allowed. It is empty then. */
void fors_reading_clear(struct fors_reading *reading);

/* Do both show the same nodes, cables, LIDs, states and tables? */
bool fors_reading_is_equal(const struct fors_reading *a, const struct fors_reading *b);

/*
 * Read until a reading counts, for at most so long; how it was proven in *how, a constant. Errors: the same, and
 * FORS_ETIMEOUT: the fabric did not come to rest.
 */
enum fors_err fors_reading_wait(struct fors_mads *mads, double most_ms, struct fors_reading *reading, const char **how,
				struct fors_error *error);

#endif
