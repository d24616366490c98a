/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.h - which cables are slower than their like.
 * Thread rules: as net.h: it changes the net.
 */
#ifndef FORS_CORE_NET_RATES_H
#define FORS_CORE_NET_RATES_H

#include "net.h"

/*
 * Set is_degraded of every cabled port whose rate is known: true when its cable is slower than the most
 * common one of its kind (switch to switch, or the rest). rate: per port of the net (net->nports of them),
 * in any unit, the same at both ends of a cable; 0: not known, and is_degraded stays as it is.
 */
void fors_rates_mark(struct fors_net *net, const uint32_t *rate);

#endif
