/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.c - width and speed of cables, and which are slower than their like.
 *
 * A cable is degraded when it is slower than the most common cable of its kind, the two kinds being switch to
 * switch, and the rest. "Slower than the fastest" would call a whole fabric degraded for one new switch, and
 * servers may well be slower than the fabric. Of two equally common rates the higher counts.
 *
 * What that costs is another question (doc/planners.md, "Full speed"). A flow of the exchange is as fast as the fastest
 * port that takes part, and a cable between switches that is k times as fast carries k of them in a phase: its capacity,
 * rounded down. So nobody on a flow's way makes it slower but a cable that is slower than the flow, or a server that is.
 * Full speed is the rate of a flow, where the usual cable between switches lets it through. A cable between switches that
 * is slower than its like but as fast as the servers are holds up nobody.
 *
 * Speeds are compared as iblinkinfo shows them, in signals; times are those of data, of which the three oldest speeds
 * carry eight bits in ten signals, the others 64 in 66.
 */
#include "rates.h"

#include <stdio.h>

/* Of one lane, in Mb/s. */
static const struct {
	const char *name;
	uint32_t signal, data;
} speeds[FORS_NSPEEDS] = {
	[FORS_SPEED_UNKNOWN] = {"", 0, 0},	[FORS_SDR] = {"SDR", 2500, 2000},
	[FORS_DDR] = {"DDR", 5000, 4000},	[FORS_QDR] = {"QDR", 10000, 8000},
	[FORS_FDR10] = {"FDR10", 10312, 10000}, [FORS_FDR] = {"FDR", 14062, 13636},
	[FORS_EDR] = {"EDR", 25781, 25000},	[FORS_HDR] = {"HDR", 53125, 50000},
	[FORS_NDR] = {"NDR", 106250, 100000},	[FORS_XDR] = {"XDR", 212500, 200000},
};

const char *fors_speed_name(enum fors_speed speed)
{
	return (unsigned)speed < FORS_NSPEEDS ? speeds[speed].name : "";
}

static uint32_t signal_of(const struct fors_port *port)
{
	return port->speed < FORS_NSPEEDS ? port->width * speeds[port->speed].signal : 0;
}

uint32_t fors_port_rate(const struct fors_port *port)
{
	return port->speed < FORS_NSPEEDS ? port->width * speeds[port->speed].data : 0;
}

void fors_port_slower(struct fors_port *port, unsigned width, enum fors_speed speed)
{
	const struct fors_port other = {.width = (uint8_t)width, .speed = (uint8_t)speed};

	if (!signal_of(&other) || (signal_of(port) && signal_of(port) <= signal_of(&other)))
		return;
	port->width = other.width;
	port->speed = other.speed;
}

void fors_rate_text(unsigned width, enum fors_speed speed, char text[FORS_RATE_TEXT])
{
	text[0] = '\0';
	if (width && speed)
		snprintf(text, FORS_RATE_TEXT, "%ux%s", width % 100, fors_speed_name(speed));
}

static bool is_switch_cable(const struct fors_net *net, uint32_t node, const struct fors_port *port)
{
	return net->node[node].type == FORS_SWITCH && net->node[port->peer].type == FORS_SWITCH;
}

#define MAX_RATES 64 /* more than there are kinds of InfiniBand links */

/* How often each rate comes, for one kind of cables. */
struct census {
	struct {
		uint32_t rate, count;
	} seen[MAX_RATES];
	unsigned nseen;
};

static void count_rate(struct census *census, uint32_t rate)
{
	unsigned k = 0;

	while (k < census->nseen && census->seen[k].rate != rate)
		k++;
	if (rate == 0 || k == MAX_RATES)
		return;
	census->seen[k].rate = rate;
	census->seen[k].count++;
	census->nseen += k == census->nseen;
}

/* The most common rate, the higher of two equally common ones; 0: none known. */
static uint32_t usual_rate(const struct census *census)
{
	unsigned best = 0;

	for (unsigned k = 1; k < census->nseen; k++)
		if (census->seen[k].count > census->seen[best].count ||
		    (census->seen[k].count == census->seen[best].count &&
		     census->seen[k].rate > census->seen[best].rate))
			best = k;
	return census->seen[best].rate;
}

/* A cable of a host, or between switches: others are no standard for these. */
static bool is_counted(const struct fors_net *net, uint32_t node, const struct fors_port *port)
{
	return port->peer != FORS_NONE && net->node[node].type != FORS_OTHER &&
	       net->node[port->peer].type != FORS_OTHER;
}

/* [0]: cables of servers and the like, [1]: between switches. */
static void count_rates(const struct fors_net *net, uint32_t (*rate_of)(const struct fors_port *port),
			struct census *census)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);

			if (is_counted(net, node, port))
				count_rate(&census[is_switch_cable(net, node, port)], rate_of(port));
		}
}

void fors_rates_mark(struct fors_net *net)
{
	struct census census[2] = {{.nseen = 0}, {.nseen = 0}};
	uint32_t usual[2];

	count_rates(net, signal_of, census);
	usual[0] = usual_rate(&census[0]);
	usual[1] = usual_rate(&census[1]);
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			struct fors_port *port = fors_net_port(net, node, p);
			uint32_t own = signal_of(port);

			if (is_counted(net, node, port) && own)
				port->is_degraded = own < usual[is_switch_cable(net, node, port)];
		}
}

void fors_rates_mend(struct fors_net *net, struct fors_port *port)
{
	struct census census[2] = {{.nseen = 0}, {.nseen = 0}};
	struct fors_port *end[2] = {port, fors_net_port(net, port->peer, port->peer_port)};
	uint32_t usual;

	count_rates(net, signal_of, census);
	usual = usual_rate(&census[1]);
	for (uint32_t node = 0; usual && node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			const struct fors_port *like = fors_net_port(net, node, p);

			if (like->peer == FORS_NONE || signal_of(like) != usual || !is_switch_cable(net, node, like))
				continue;
			for (unsigned e = 0; e < 2; e++) {
				end[e]->width = like->width;
				end[e]->speed = like->speed;
			}
			return;
		}
}

uint32_t fors_rates_cable(const struct fors_net *net, const struct fors_port *port)
{
	uint32_t here = fors_port_rate(port), there;

	if (port->peer == FORS_NONE)
		return 0;
	there = fors_port_rate(fors_net_port(net, port->peer, port->peer_port));
	return here < there ? here : there;
}

void fors_rates_takes_part(const struct fors_net *net, const struct fors_port *port, uint32_t *flow)
{
	uint32_t rate = fors_rates_cable(net, port);

	*flow = rate > *flow ? rate : *flow;
}

uint32_t fors_rates_flow(const struct fors_net *net)
{
	uint32_t flow = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; fors_is_host(net, node) && p <= net->node[node].nports; p++)
			fors_rates_takes_part(net, fors_net_port(net, node, p), &flow);
	return flow;
}

uint32_t fors_rates_full(const struct fors_net *net, uint32_t flow)
{
	struct census census[2] = {{.nseen = 0}, {.nseen = 0}};
	uint32_t switches;

	count_rates(net, fors_port_rate, census);
	switches = usual_rate(&census[1]);
	return flow && (!switches || flow < switches) ? flow : switches;
}

uint8_t fors_rates_capacity(const struct fors_net *net, const struct fors_port *port, uint32_t flow)
{
	uint32_t times = flow ? fors_rates_cable(net, port) / flow : 0;

	return (uint8_t)(times > FORS_MOST_CAPACITY ? FORS_MOST_CAPACITY : times ? times : 1);
}

double fors_port_slowness(const struct fors_port *port, uint32_t full)
{
	uint32_t rate = fors_port_rate(port);

	return rate && rate < full ? (double)full / rate : 1;
}
