/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speeds.h - how fast the cables of a fabric are, beside what a flow of the exchange could be.
 * Thread rules: pure. `full` is fors_rates_full() of the same net, which looks at all cables: ask once.
 */
#ifndef FORS_CORE_FABRIC_SPEEDS_H
#define FORS_CORE_FABRIC_SPEEDS_H

#include "core/net/rates.h"
#include "fattree.h"
#include "fabric.h"

/*
 * How many times as long as at full speed a flow takes over the cable of a leaf and a lane; 1 where it is dead, or
 * not known.
 */
double fors_speeds_cable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t full);

/* The same of a cable of any tree, drained or not. */
double fors_speeds_plugged(const struct fors_fattree *tree, const struct fors_fattree_cable *cable, uint32_t full);

/* The same of a server's own cable; `slot` has a living one. */
double fors_speeds_server(const struct fors_fabric *fabric, const struct fors_slot *slot, uint32_t full);

#endif
