/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aside.h - switches without hosts that fit no tree.
 *
 * A switch for management, or a spare one, may be plugged in anywhere: into a leaf and a spine, into leaves of two pods. It
 * has no hosts, so it shall neither decide what the tree is nor refuse it. Where a net is no tree, each such switch is
 * tried in turn, then all of them: only its cables to one neighbour count, and hanging there it fits any tree.
 *
 * Which can it be? One of a few with few cables, at most half of what switches without hosts have in the middle; a spine or a top with a
 * cable in the wrong port is none, and stays an error that is named.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_ASIDE_H
#define FORS_CORE_FABRIC_ASIDE_H

#include "core/base/warnings.h"
#include "fattree.h"

#define FORS_MOST_ASIDE 8 /* so many are tried */

/* Who may be put aside, those with fewest cables first, in node[FORS_MOST_ASIDE]; how many. Errors: FORS_ENOMEM. */
enum fors_err fors_aside_find(const struct fors_net *net, uint32_t *node, uint32_t *count, struct fors_error *error);

/*
 * The net (indexed) with no cables of these switches but those to their first neighbours, and to others without hosts that hang
 * below one alone; in *rest, indexed, the caller's. Errors: FORS_ENOMEM.
 */
enum fors_err fors_aside_put(const struct fors_net *net, const uint32_t *node, uint32_t count, struct fors_net **rest,
			     struct fors_error *error);

/*
 * Take cables of switches without hosts that the tree has no use for out of its net, which is `net`: nothing is led over
 * them. A warning says how many, and names the first. Errors: FORS_ENOMEM.
 */
enum fors_err fors_aside_cut(const struct fors_fattree *tree, struct fors_net *net, struct fors_warnings *warnings,
			     struct fors_error *error);

#endif
