/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace.c - how long the phases of a schedule take where some cables are slow.
 *
 * In a phase every flow has its part of the links on its way to itself, a whole one or, where a link carries several, as much
 * as full speed is; so it runs at the rate of the slowest of them. Phases wait
 * for one another: a phase takes as long as its slowest flow. With times in phases at full speed a schedule of T phases
 * takes T where nothing is slow, and (T - n) + 4 n where n of its phases have a flow over a 1X cable among 4X.
 *
 * The ways are walked as the verifier walks them, whose proof comes first: what a table says here has an end.
 */
#include "pace.h"

#include <stdlib.h>

#include "core/net/rates.h"

struct walk {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	const struct fors_schedule *schedule;
	double *slowness;  /* per port that sends: how many times as long a flow takes over its cable */
	uint32_t *row_of;  /* per node: row of its table, FORS_NONE */
	uint32_t *port_of; /* per LID: the CA port that has it as base LID, index of net->port; FORS_NONE */
	uint32_t *flows;   /* the caller's; NULL: not wanted */
	struct fors_pace pace;
};

static bool walk_alloc(struct walk *w)
{
	w->slowness = malloc((w->net->nports + (size_t)1) * sizeof(*w->slowness));
	w->row_of = malloc((w->net->nnodes + (size_t)1) * sizeof(*w->row_of));
	w->port_of = malloc((FORS_LID_MAX + (size_t)1) * sizeof(*w->port_of));
	return w->slowness && w->row_of && w->port_of;
}

static void walk_free(struct walk *w)
{
	free(w->slowness);
	free(w->row_of);
	free(w->port_of);
}

/* Of a cable both ends count, should they differ. True: some are slow. */
static bool find_slow(struct walk *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->net->nports; i++) {
		const struct fors_port *port = &w->net->port[i];
		double there = 1;

		w->slowness[i] = 1;
		if (port->peer == FORS_NONE)
			continue;
		there = fors_port_slowness(fors_net_port(w->net, port->peer, port->peer_port), w->pace.full);
		w->slowness[i] = fors_port_slowness(port, w->pace.full);
		if (there > w->slowness[i])
			w->slowness[i] = there;
		any |= w->slowness[i] > 1;
	}
	return any;
}

static void find_ends(struct walk *w)
{
	for (uint32_t lid = 0; lid <= FORS_LID_MAX; lid++)
		w->port_of[lid] = FORS_NONE;
	for (uint32_t node = 0; node < w->net->nnodes; node++) {
		const struct fors_node *n = &w->net->node[node];

		w->row_of[node] = n->type == FORS_SWITCH ? fors_lfts_row(w->lfts, n->guid) : FORS_NONE;
		for (uint32_t i = n->first_port + 1; n->type != FORS_SWITCH && i <= n->first_port + n->nports; i++)
			if (w->net->port[i].lid && w->net->port[i].lid <= FORS_LID_MAX)
				w->port_of[w->net->port[i].lid] = i;
	}
}

/* As fast as the fastest of who sends. */
static uint32_t rate_of_flows(const struct walk *w)
{
	uint32_t flow = 0;

	for (uint32_t s = 0; s < w->schedule->nservers; s++) {
		uint32_t port = w->port_of[w->schedule->server[s].lid];

		if (port != FORS_NONE)
			fors_rates_takes_part(w->net, &w->net->port[port], &flow);
	}
	return flow;
}

/*
 * The port by which a packet to `lid` that came in at the other end of port `at` goes on; FORS_NONE: it has arrived,
 * or is lost.
 */
static uint32_t next_port(const struct walk *w, uint32_t at, uint32_t lid)
{
	uint32_t node = w->net->port[at].peer;
	uint8_t port;

	if (node == FORS_NONE || w->row_of[node] == FORS_NONE)
		return FORS_NONE;
	port = fors_lfts_port(w->lfts, w->row_of[node], lid);
	return port && port <= w->net->node[node].nports ? w->net->node[node].first_port + port : FORS_NONE;
}

/* How many times as long as at full speed the flow takes. */
static double walk_flow(struct walk *w, uint32_t src, struct fors_cell cell)
{
	const struct fors_schedule_server *server = w->schedule->server;
	uint32_t lid = (uint32_t)server[cell.dst].lid + cell.path, at = w->port_of[server[src].lid];
	double slowest = 1;

	for (uint32_t hops = 0; at != FORS_NONE && hops <= w->net->nnodes; hops++) {
		if (w->slowness[at] > slowest)
			slowest = w->slowness[at];
		if (w->flows)
			w->flows[at]++;
		at = next_port(w, at, lid);
	}
	return slowest;
}

static void walk_all(struct walk *w)
{
	w->pace.length = 0;
	for (uint32_t phase = 0; phase < w->schedule->nphases; phase++) {
		double slowest = 1;

		for (uint32_t s = 0; s < w->schedule->nservers; s++) {
			struct fors_cell cell = fors_schedule_flow(w->schedule, s, phase);
			double one = cell.dst < w->schedule->nservers ? walk_flow(w, s, cell) : 1;

			slowest = one > slowest ? one : slowest;
		}
		w->pace.length += slowest;
		w->pace.slow_phases += slowest > 1;
	}
}

enum fors_err fors_pace_of(const struct fors_net *net, const struct fors_lfts *lfts,
			   const struct fors_schedule *schedule, uint32_t *flows, struct fors_pace *pace,
			   struct fors_error *error)
{
	struct walk w = {.net = net, .lfts = lfts, .schedule = schedule, .flows = flows};
	enum fors_err err = FORS_OK;

	w.pace.length = schedule->nphases;
	if (!walk_alloc(&w)) {
		err = fors_fail_memory(error);
	} else {
		find_ends(&w);
		w.pace.full = fors_rates_full(net, rate_of_flows(&w));
		if (find_slow(&w) || flows)
			walk_all(&w);
	}
	walk_free(&w);
	if (!err)
		*pace = w.pace;
	return err;
}
