/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.c - which cables are slower than their like.
 *
 * A cable is degraded when it is slower than the most common cable of its kind, the two kinds being switch to
 * switch, and the rest. "Slower than the fastest" would call a whole fabric degraded for one new switch, and
 * servers may well be slower than the fabric. Of two equally common rates the higher counts.
 */
#include "rates.h"

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

static void count_rates(const struct fors_net *net, const uint32_t *rate, struct census *census)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			uint32_t i = net->node[node].first_port + p;

			if (net->port[i].peer != FORS_NONE)
				count_rate(&census[is_switch_cable(net, node, &net->port[i])], rate[i]);
		}
}

void fors_rates_mark(struct fors_net *net, const uint32_t *rate)
{
	struct census census[2] = {{.nseen = 0}, {.nseen = 0}}; /* [1]: between switches */
	uint32_t usual[2];

	count_rates(net, rate, census);
	usual[0] = usual_rate(&census[0]);
	usual[1] = usual_rate(&census[1]);
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			struct fors_port *port = fors_net_port(net, node, p);
			uint32_t own = rate[net->node[node].first_port + p];

			if (port->peer != FORS_NONE && own)
				port->is_degraded = own < usual[is_switch_cable(net, node, port)];
		}
}
