/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.h - who sends to whom: communication patterns in phases.
 *
 * A pattern speaks of server numbers 0..nservers-1 and of phases that follow one another; most patterns have a
 * single phase. Pairs are not stored where a formula gives them, so the linear shift of 20,000 servers costs nothing.
 *
 *   linear-shift    nservers phases: in phase p server i sends to i + p (mod nservers); phase 0 is idle
 *   all-to-all      one phase: everybody to everybody else
 *   shift           one phase of the linear shift, by a random distance; shift(K): by K
 *   permutation     one phase: everybody sends to one and receives from one other than himself, at random
 *   bisect          random halves, each server of one half sends to its own partner in the other, and back
 *   2DNN, 3DNN      the 4 or 6 nearest neighbours on a torus of all servers, its sides chosen at random (at least 3
 *                   where the number of servers has such divisors); 2DNNDIAG, 3DNNDIAG: with diagonals, 8 or 26
 *   RANDN(k)        everybody sends to k different random others
 *   RANDOM(k)       nservers x k random pairs of distinct servers; a pair may come twice
 *   bit-reverse, incast, NAS-CG, ...   by formula, see formula.h
 *   a pattern file  see fors_pattern_read()
 *
 * (Table 3 of Mollah et al., "Rapid Calculation of Max-Min Fair Rates for Multi-Commodity Flows in Fat-Tree Networks".)
 * Random choices and random mapping depend on the seed alone. Thread rules: any number of readers.
 */
#ifndef FORS_LAB_MODEL_PATTERNS_PATTERN_H
#define FORS_LAB_MODEL_PATTERNS_PATTERN_H

#include "core/schedule/schedule.h"
#include "lab/model/graph/graph.h"

struct fors_pattern;

/* One message. */
struct fors_pair {
	uint32_t src, dst; /* servers; dst FORS_NONE: src is idle */
	uint32_t path;	   /* path index (offset to the base LID of dst); 0 but for plans */
};

struct fors_pattern_options {
	uint64_t seed;
	bool is_random_map; /* process i runs on a random server (a permutation); else on server i */
};

/*
 * The pattern called `name` (upper and lower case, '-' and '_' do not matter) for this many servers (at least 1) in
 * *pattern, owned by the caller. Errors: FORS_EINPUT (unknown name: lists the known ones; a parameter that is
 * missing, surplus or too large), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_pattern_new(const char *name, uint32_t nservers, const struct fors_pattern_options *options,
			       struct fors_pattern **pattern, struct fors_error *error);

/*
 * The pattern in the text of a file: a line "SRC DST [PATH]" per message (decimal server numbers, path index 0 when
 * missing), "phase" alone on a line starts the next phase, '#' starts a comment.
 * Errors: FORS_EINPUT "name:line: ...", FORS_ENOMEM.
 */
enum fors_err fors_pattern_read(const char *text, size_t size, const char *name, uint32_t nservers,
				const struct fors_pattern_options *options, struct fors_pattern **pattern,
				struct fors_error *error);

/* A plan as pattern: server numbers and phases are the schedule's. Borrows the schedule. Errors: FORS_ENOMEM. */
enum fors_err fors_pattern_plan(const struct fors_schedule *schedule, struct fors_pattern **pattern,
				struct fors_error *error);
void fors_pattern_free(struct fors_pattern *pattern);

uint32_t fors_pattern_nphases(const struct fors_pattern *pattern);
/* Pairs of a phase (< nphases), idle ones counted. */
size_t fors_pattern_npairs(const struct fors_pattern *pattern, uint32_t phase);
/* Pair i (< npairs) of a phase. O(1). */
struct fors_pair fors_pattern_pair(const struct fors_pattern *pattern, uint32_t phase, size_t i);

/*
 * How much pair i of a phase sends: bytes, or, where fors_pattern_is_unit(), messages of one size. 0: it is idle, or nobody said, which is so of all patterns
 * but schedules with sizes (fors_pattern_has_sizes()).
 */
uint64_t fors_pattern_bytes(const struct fors_pattern *pattern, uint32_t phase, size_t i);
bool fors_pattern_has_sizes(const struct fors_pattern *pattern);
bool fors_pattern_is_unit(const struct fors_pattern *pattern);

/* The length of a phase, in phases of average length: 1 without sizes. */
double fors_pattern_weight(const struct fors_pattern *pattern, uint32_t phase);
/* The same of all that the busiest server sends, or receives; 0 without sizes. */
double fors_pattern_busiest(const struct fors_pattern *pattern);

#endif
