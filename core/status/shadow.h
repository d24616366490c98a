/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow.h - what a status says in shadow mode: what the tables of another engine and those of fors would give, side by
 * side. Thread rules: plain data of one owner.
 */
#ifndef FORS_CORE_STATUS_SHADOW_H
#define FORS_CORE_STATUS_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/unknown.h"

struct fors_event;
struct fors_status;

/* The rest of the status is of the tables of fors; who made the others, tables_by says. */
struct fors_shadow_facts {
	bool is_known;	   /* false: no shadow, and what follows is nothing */
	int64_t sweeps;	   /* looked at since opensm started */
	int64_t skipped;   /* that came too fast after the one before */
	int64_t looked_ms; /* Unix time of the last one */
	int64_t entries;   /* of the switches' tables that switching on would change; unknown: fors would decline */
	int64_t compared;  /* entries with a port in at least one of both */
	int64_t switches;  /* with such entries */
	int64_t present_phases; /* of a plan over the present tables; unknown: there is none */
	int64_t present_bound;	/* of these tables, for any plan */
	double present_shift,
		own_shift; /* a linear shift over both: what is left of full speed, 0..1; negative: unknown */
	char trouble[FORS_ERROR_TEXT]; /* why there is no plan over the present tables; or empty */
};

/* Nothing known, but that there is a shadow. */
void fors_shadow_facts_init(struct fors_shadow_facts *facts);

/* What switching on would change, and what it would gain: sentences in `text` (`room` bytes, cut to them). */
void fors_shadow_tell(const struct fors_status *status, char *text, size_t room);

/* One sweep as a line of the history, in *event. */
void fors_shadow_event(const struct fors_status *status, struct fors_event *event);

#endif
