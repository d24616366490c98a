/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * others.h - which channel adapters are no hosts.
 *
 * To a subnet manager all that is neither switch nor router is a channel adapter, and not all of them belong to a host.
 * Switches that reduce data on its way show one more below them for each, the aggregation node, with a LID of its own;
 * some show a port for their own management; gateways have ports like those of hosts. None of them takes part in an
 * exchange: taken for servers they make a leaf of every spine, and the exchange longer.
 *
 * So this is the one place that says what an adapter is: it becomes FORS_OTHER, by the number of its device, by what
 * its vendor has it call itself, or because the administrator says so. All code that asks for FORS_CA then sees hosts
 * only. Its LIDs are led to all the same, as those of switches are (core/tables/extra.c, core/planners/pods/extra.c).
 * Thread rules: as net.h.
 */
#ifndef FORS_CORE_NET_OTHERS_H
#define FORS_CORE_NET_OTHERS_H

#include "core/base/names.h"
#include "net.h"

/*
 * Say of each adapter of the net what it is. `named` (NULL: nothing): what people say is no host, patterns with * and ?
 * of node descriptions in any case, or GUIDs of nodes or ports. What was found by an earlier call is found again.
 */
void fors_others_mark(struct fors_net *net, const struct fors_names *named);

#define FORS_OTHERS_TEXT 192

/* How many there are of which, as in "16 aggregation nodes and 2 gateways", in text[FORS_OTHERS_TEXT]; the sum, 0: "". */
uint32_t fors_others_text(const struct fors_net *net, char *text);

#endif
