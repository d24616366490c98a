/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * judge.h - the two invariants of tables (core/tables/check.h), judged by code that shares nothing with core/tables:
 * every packet walked port by port, every dependency between single cables written down.
 */
#ifndef FORS_TESTS_JUDGE_H
#define FORS_TESTS_JUDGE_H

#include "support.h"

struct judgement {
	uint32_t nowhere;  /* (switch where packets begin, LID) with no way, though cables join the two */
	uint32_t needless; /* of these: neighbours, or leaves with a spine in common */
	uint32_t dropped;  /* the same that end at a dead port instead */
	uint32_t wrong;	   /* from any switch: round in circles, or at the wrong place */
	bool has_loop;	   /* cables wait for each other in a circle */
	char text[240];	   /* the first fault in words */
};

struct judgement judge_tables(const struct fors_fabric *fabric, const struct fors_lfts *lfts);

#endif
