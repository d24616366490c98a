/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts.h - what the cuts of a net say of an exchange of all servers with all, whatever the tables.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_CUTS_H
#define FORS_CORE_NET_CUTS_H

#include "endpoints.h"

/*
 * The least time of the exchange of these servers in *length, in phases at full speed (fors_rates_full()) and with cables as
 * fast as they are; the fewest phases of a conflict-free exchange in *phases, where a cable between switches carries
 * fors_rates_capacity() flows. `net` is indexed. Errors: FORS_ENOMEM.
 */
enum fors_err fors_cuts_bound(const struct fors_net *net, const struct fors_endpoint *server, uint32_t count,
			      double *length, uint32_t *phases, struct fors_error *error);

#endif
