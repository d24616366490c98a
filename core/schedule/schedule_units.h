/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_units.h - what a schedule of version 2 has beside its cells, as bytes: switches, ways, units.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_UNITS_H
#define FORS_CORE_SCHEDULE_SCHEDULE_UNITS_H

#include "schedule.h"
#include "schedule_header.h"

/* What of the ways and service levels of a schedule goes into its file, and under which numbers. */
struct fors_schedule_units {
	uint32_t npaths;    /* 1 + the largest path index of all cells */
	uint32_t nunits;    /* to be written in the dense layout, in which units have no service levels */
	uint32_t nunits_sl; /* to be written in any other layout */
	uint32_t nways, nswitches;
	bool is_uniform;      /* flows of one unit always have one service level */
	uint8_t *sl;	      /* [(leaf * nservers + dst) * npaths + path]: of the unit's flows, or a mark: no flow */
	uint32_t *way_number; /* of a way in memory: its number in the file, FORS_NONE: it is not written */
	uint32_t *way_order;  /* of a way in the file: its number in memory */
	uint32_t *switch_number; /* likewise */
	uint32_t *switch_order;
};

/*
 * Fill in *units, owned by the caller (fors_schedule_units_free(), also after an error), for a schedule of version 2
 * whose cells have path indices below npaths. O(P T).
 * Errors: FORS_ELIMIT (too many servers, leaves and paths, see schedule_format.h), FORS_ENOMEM.
 */
enum fors_err fors_schedule_units_find(const struct fors_schedule *schedule, uint32_t npaths,
				       struct fors_schedule_units *units, struct fors_error *error);
void fors_schedule_units_free(struct fors_schedule_units *units);

/* Write switches, ways, leaves and units to their places in `bytes`, all zeros there before. */
void fors_schedule_units_put(const struct fors_schedule *schedule, const struct fors_schedule_units *units,
			     const struct fors_schedule_shape *shape, unsigned char *bytes);

/*
 * Read them from the `bytes` of a file, whose header was found good and whose servers and flows are in *schedule, into
 * schedule->ways and, service levels of units, schedule->sl (made when there is any). CRCs are checked here. Whether
 * units belong to flows and ways have the right numbers is not: that shows when the schedule is written again.
 * *fault becomes a constant text when something is wrong. Errors: FORS_ENOMEM.
 */
enum fors_err fors_schedule_units_get(const unsigned char *bytes, const struct fors_schedule_header *header,
				      struct fors_schedule *schedule, const char **fault, struct fors_error *error);

/* schedule->sl, made when it is not there: nothing known. NULL: no memory. */
uint8_t *fors_schedule_make_sl(struct fors_schedule *schedule);

#endif
