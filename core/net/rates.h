/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.h - width and speed of cables: which are slower than their like, what full speed is, and how many flows a cable
 * carries at full speed.
 * Thread rules: as net.h.
 */
#ifndef FORS_CORE_NET_RATES_H
#define FORS_CORE_NET_RATES_H

#include "net.h"

/* InfiniBand's speeds, the slowest first. */
enum fors_speed {
	FORS_SPEED_UNKNOWN,
	FORS_SDR,
	FORS_DDR,
	FORS_QDR,
	FORS_FDR10,
	FORS_FDR,
	FORS_EDR,
	FORS_HDR,
	FORS_NDR,
	FORS_XDR,
};
#define FORS_NSPEEDS 10

/* "SDR" .. "XDR", "" when it is not known; never NULL. */
const char *fors_speed_name(enum fors_speed speed);

/* Let both ends of the cable of a port between switches be as wide and fast as the most common such cable, if that is known. */
void fors_rates_mend(struct fors_net *net, struct fors_port *port);

/* The rate of data over the cable of a port, in Mb/s; 0: not known. 4xSDR is 8,000. */
uint32_t fors_port_rate(const struct fors_port *port);

/*
 * Let *port have this width and speed, if it has none or they are slower: a cable is as fast as its slower end.
 * Unknown ones count for nothing.
 */
void fors_port_slower(struct fors_port *port, unsigned width, enum fors_speed speed);

#define FORS_RATE_TEXT 12 /* room for "12xFDR10" */

/* Width and speed as ibnetdiscover writes them, "4xQDR"; empty when they are not known. */
void fors_rate_text(unsigned width, enum fors_speed speed, char text[FORS_RATE_TEXT]);

/*
 * Set is_degraded of every cabled port whose width and speed are known: true when its cable is slower than the most
 * common one of its kind (switch to switch, or the rest). Where they are not known it stays as it is.
 */
void fors_rates_mark(struct fors_net *net);

/* The rate of data over the cable of a port, that of its slower end, in Mb/s; 0: it has none, or it is not known. */
uint32_t fors_rates_cable(const struct fors_net *net, const struct fors_port *port);

/*
 * The rate of a flow of the exchange is that of the fastest port that takes part; 0: not known. Who knows who takes part
 * begins with 0 and asks this for each port.
 */
void fors_rates_takes_part(const struct fors_net *net, const struct fors_port *port, uint32_t *flow);
/* The same where that is not known: of all ports of hosts. */
uint32_t fors_rates_flow(const struct fors_net *net);

/*
 * Full speed, in Mb/s: the rate of a flow, or that of the most common cable between switches where that is less; 0: not
 * known.
 */
uint32_t fors_rates_full(const struct fors_net *net, uint32_t flow);

#define FORS_MOST_CAPACITY 255

/*
 * The capacity of a cable between switches, for each direction: so many flows it carries in a phase. How many times as fast
 * as a flow it is, rounded down; at least 1, which is what it is for all others, too, and where a rate is not known.
 */
uint8_t fors_rates_capacity(const struct fors_net *net, const struct fors_port *port, uint32_t flow);

/*
 * How many times as long a flow takes over the cable of this port as at `full` (fors_rates_full()); 1 where the cable
 * is no slower, or a rate is not known.
 */
double fors_port_slowness(const struct fors_port *port, uint32_t full);

#endif
