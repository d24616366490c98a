/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aside.h - switches without hosts that fit no tree.
 *
 * A switch for management, or a spare one, may be plugged in anywhere. It
 * has no hosts, so it shall neither decide what the tree is nor refuse it. Where a net is no tree, each such switch is
 * tried in turn, then all of them: only its cables to one neighbour count, and hanging there it fits any tree.
 *
 * Which can it be? One of a few with few cables, at most half of what switches without hosts have in the middle; one of many that are alike, with a
 * cable in the wrong port, is none, and stays an error that is named.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_ASIDE_H
#define FORS_CORE_NET_ASIDE_H

#include "net.h"

#define FORS_MOST_ASIDE 8 /* so many are tried */

/* Who may be put aside, those with fewest cables first, in node[FORS_MOST_ASIDE]; how many. Errors: FORS_ENOMEM. */
enum fors_err fors_aside_find(const struct fors_net *net, uint32_t *node, uint32_t *count, struct fors_error *error);

/*
 * The net (indexed) with no cables of these switches but those to their first neighbours, and to others without hosts that hang
 * below one alone; in *rest, indexed, the caller's. Errors: FORS_ENOMEM.
 */
enum fors_err fors_aside_put(const struct fors_net *net, const uint32_t *node, uint32_t count, struct fors_net **rest,
			     struct fors_error *error);

#endif
