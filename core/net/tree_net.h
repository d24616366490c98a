/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_net.h - the net of a fat-tree.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_CORE_NET_TREE_NET_H
#define FORS_CORE_NET_TREE_NET_H

#include "net.h"
#include "tree_spec.h"

/*
 * The net of a specification, indexed, without LIDs, in *net, owned by the caller. Nodes stand in the order of tree.h
 * (switches level by level, then the servers that are there), and are called Leaf00 (level 1), Spine00 (level h),
 * Mid2-00 (between), Node<leaf>-<slot>; GUIDs are as ibsim would number them. Two spellings of one tree give the same
 * net. Errors: FORS_ENOMEM, and those of fors_tree_check_ports().
 */
enum fors_err fors_tree_net(const struct fors_tree_spec *spec, struct fors_net **net, struct fors_error *error);

/* --- what nets of all specifications share --- */

#define FORS_MADE_SWITCHES 0x200000 /* GUID of the first switch */

/*
 * The end of a net that is made: servers below the first `nleaves` switches, on their ports from 1 on, but for the slots that are
 * empty, and its index. Errors: FORS_ENOMEM.
 */
enum fors_err fors_made_servers(struct fors_net *net, uint32_t nleaves, uint32_t servers,
				const struct fors_empty_slots *empty, struct fors_error *error);

#endif
