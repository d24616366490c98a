/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_net.h - the nets of networks that are no trees (graph_spec.h).
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_CORE_NET_GRAPH_NET_H
#define FORS_CORE_NET_GRAPH_NET_H

#include "graph_spec.h"
#include "net.h"

/*
 * The net of a specification, indexed, without LIDs, in *net, owned by the caller. Switches are called Switch00, those of
 * a Dragonfly+ Leaf00 (all leaves first, group by group) and Spine00; servers Node<switch>-<slot>, on the ports from 1 on;
 * GUIDs are as ibsim would number them. Behind the servers' ports, N of them:
 *
 *      torus       the switch at (x0, x1, ...) is number x0 + size0 (x1 + size1 (...)); for each dimension in turn the port
 *                  up (to x + 1, round the ring), then the port down; in a dimension of size 2 one port
 *      cube        the port to the switch whose number differs in bit i is N + 1 + i
 *      Dragonfly   ports to the other switches of the group in their order, then H to other groups
 *      Dragonfly+  a leaf: the spines of its group; a spine: leaves from port 1 on, then H to other groups
 *      random      in the order in which the graph was drawn
 *      Flexfly, Flexspander  those inside the block, as of a Dragonfly or a random graph, then H to other blocks, pair by pair, round the
 *                  switches of the block
 *
 * Group i's cable number j to other groups, which is at its switch (spine) j / H, leads to group i + 1 + j mod (G - 1),
 * round the ring of groups: every pair of groups has as many. Errors: FORS_ENOMEM.
 */
enum fors_err fors_graph_net(const struct fors_graph_spec *spec, struct fors_net **net, struct fors_error *error);

#endif
