/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paths.h - the service levels of paths, by the subnet administration (SA).
 *
 * Tables do not tell a level: an engine such as dfsssp keeps one for each path, and without it packets may deadlock. The
 * SA says all levels from a server in one answer; it is asked so where there are 262,144 paths at most. Paths that no such
 * answer told are asked for one by one: all of 256, of more about 256, drawn at random but always the same ones. Threads: one.
 */
#ifndef FORS_WATCH_PATHS_H
#define FORS_WATCH_PATHS_H

#include "daemon/look/levels.h"
#include "mads.h"

struct fors_paths {
	uint64_t count, known; /* paths between servers; those whose level was told */
	uint8_t level;	       /* of all that were told, if they have one */
	bool is_one;	       /* they do, and there are some */
	uint16_t src, dst;     /* one that has another level than `wanted`, and that level; 0: none has */
	uint8_t other;
};

/*
 * Fill in levels->sl, made for paths: FORS_NO_SL where nothing was told. Errors: FORS_EIO (the SA does not answer),
 * FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_paths_ask(struct fors_mads *mads, struct fors_levels *levels, struct fors_error *error);

/* What was told, for who wants this level. */
struct fors_paths fors_paths_sum(const struct fors_levels *levels, unsigned wanted);

#endif
