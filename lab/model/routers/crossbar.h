/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crossbar.h - one switch for all servers, to compare networks with: what is slow there is no fault of a network.
 *
 * Link s leads from server s to the switch, link nservers + s back.
 * Thread rules: the router may be asked by any number of threads.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_CROSSBAR_H
#define FORS_LAB_MODEL_ROUTERS_CROSSBAR_H

#include "lab/model/routers/router.h"

#define FORS_CROSSBAR_SERVERS 4096 /* at most */

/* Its graph in *graph, owned by the caller. Errors: FORS_ELIMIT (too many servers), FORS_ENOMEM. */
enum fors_err fors_crossbar_graph(uint32_t nservers, struct fors_graph **graph, struct fors_error *error);
/* Its router; borrows the graph. */
struct fors_router fors_crossbar_router(const struct fors_graph *graph);

#endif
