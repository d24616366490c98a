/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.c - the linear shift over tables, walked flow by flow.
 *
 * Nobody needs a plan for this exchange, so it is what programs do without one, and what an engine's tables are judged
 * by. Each flow is walked from switch to switch as the tables lead it; each port that it leaves by counts one. A phase is
 * as slow as its fullest port. Counts are cleared by the number of the phase, not one by one: ports are many, and a phase
 * uses few of them. A walk ends after as many steps as there are switches, so a loop in the tables is a lost flow.
 */
#include "shift.h"

#include <stdlib.h>

#include "core/net/rates.h"

#define ASK 64 /* phases between two looks at cancelled() */

struct count {
	uint32_t phase, flows;
};

struct walk {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	const uint16_t *lid;
	uint32_t nservers;
	uint32_t *row;	     /* by node: of the tables; FORS_NONE: it has none */
	uint32_t *home;	     /* by server: its CA port */
	struct count *count; /* by port that is left by */
	double *time;	     /* of a flow over its cable, beside one at full speed */
};

/* By LID: the port of a CA, or FORS_NONE; NULL: out of memory. */
static uint32_t *find_homes(const struct fors_net *net)
{
	uint32_t *port = malloc((FORS_LID_MAX + (size_t)1) * sizeof(*port));

	if (!port)
		return NULL;
	for (uint32_t lid = 0; lid <= FORS_LID_MAX; lid++)
		port[lid] = FORS_NONE;
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type != FORS_SWITCH && p <= net->node[node].nports; p++)
			if (fors_peer_switch(net, node, p) != FORS_NONE)
				port[fors_net_port(net, node, p)->lid] = net->node[node].first_port + p;
	return port;
}

static enum fors_err find_servers(struct walk *walk, struct fors_error *error)
{
	uint32_t *home = find_homes(walk->net);
	enum fors_err err = home ? FORS_OK : fors_fail_memory(error);

	for (uint32_t s = 0; !err && s < walk->nservers; s++) {
		uint16_t lid = walk->lid[s];

		walk->home[s] = lid && lid <= FORS_LID_MAX ? home[lid] : FORS_NONE;
		if (walk->home[s] == FORS_NONE)
			err = fors_fail(error, FORS_EINPUT, "LID %u is of no channel adapter with a cable to a switch",
					lid);
	}
	free(home);
	return err;
}

/* How long flows take; over a cable of a server no less than at full speed. */
static void find_times(struct walk *walk)
{
	const struct fors_net *net = walk->net;
	uint32_t flow = 0, full;

	for (uint32_t s = 0; s < walk->nservers; s++)
		fors_rates_takes_part(net, &net->port[walk->home[s]], &flow);
	full = fors_rates_full(net, flow);
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 0; p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);
			uint32_t rate = fors_rates_cable(net, port);
			double *time = &walk->time[net->node[node].first_port + p];

			*time = rate && full ? (double)full / rate : 1;
			if (*time < 1 &&
			    (net->node[node].type != FORS_SWITCH || fors_peer_switch(net, node, p) == FORS_NONE))
				*time = 1;
		}
}

static enum fors_err begin(struct walk *walk, struct fors_error *error)
{
	const struct fors_net *net = walk->net;
	enum fors_err err;

	walk->row = malloc((net->nnodes + (size_t)1) * sizeof(*walk->row));
	walk->home = malloc((walk->nservers + (size_t)1) * sizeof(*walk->home));
	walk->count = calloc(net->nports + (size_t)1, sizeof(*walk->count));
	walk->time = malloc((net->nports + (size_t)1) * sizeof(*walk->time));
	if (!walk->row || !walk->home || !walk->count || !walk->time)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < net->nnodes; node++)
		walk->row[node] = net->node[node].type == FORS_SWITCH ? fors_lfts_row(walk->lfts, net->node[node].guid)
								      : FORS_NONE;
	err = find_servers(walk, error);
	if (!err)
		find_times(walk);
	return err;
}

static void end(struct walk *walk)
{
	free(walk->row);
	free(walk->home);
	free(walk->count);
	free(walk->time);
}

/* One more flow leaves by this port; how long those of this phase take. */
static double load(struct walk *walk, uint32_t port, uint32_t phase)
{
	struct count *count = &walk->count[port];

	if (count->phase != phase)
		*count = (struct count){phase, 0};
	return ++count->flows * walk->time[port];
}

/* Walk a flow from its first switch on. False: it is lost. *most: the time of the fullest port so far. */
static bool walk_flow(struct walk *walk, uint32_t from, uint32_t to, uint32_t phase, double *most)
{
	const struct fors_net *net = walk->net;
	uint32_t node = net->port[walk->home[from]].peer;

	for (uint32_t steps = 0; steps <= net->nnodes && walk->row[node] != FORS_NONE; steps++) {
		uint8_t port = fors_lfts_port(walk->lfts, walk->row[node], walk->lid[to]);
		uint32_t at = net->node[node].first_port + port;
		double time;

		if (!port || port > net->node[node].nports || net->port[at].peer == FORS_NONE)
			return false;
		time = load(walk, at, phase);
		*most = time > *most ? time : *most;
		node = net->port[at].peer;
		if (net->node[node].type != FORS_SWITCH)
			return net->node[node].first_port + net->port[at].peer_port == walk->home[to];
	}
	return false;
}

static double walk_phase(struct walk *walk, uint32_t phase, uint64_t *nlost)
{
	double most = 1;

	for (uint32_t s = 0; s < walk->nservers; s++) {
		most = walk->time[walk->home[s]] > most ? walk->time[walk->home[s]] : most;
		*nlost += !walk_flow(walk, s, (s + phase) % walk->nservers, phase, &most);
	}
	return most;
}

enum fors_err fors_shift_length(const struct fors_net *net, const struct fors_lfts *lfts, const uint16_t *lid,
				uint32_t nservers, bool (*cancelled)(void *context), void *context,
				struct fors_shift_length *result, struct fors_error *error)
{
	struct walk walk = {.net = net, .lfts = lfts, .lid = lid, .nservers = nservers};
	struct fors_shift_length made = {.nservers = nservers, .length = nservers ? 1 : 0}; /* phase 0: nobody sends */
	enum fors_err err = begin(&walk, error);

	for (uint32_t phase = 1; !err && phase < nservers; phase++) {
		if (cancelled && phase % ASK == 0 && cancelled(context))
			err = fors_fail(error, FORS_ECANCELLED, "cancelled");
		else
			made.length += walk_phase(&walk, phase, &made.nlost);
	}
	end(&walk);
	if (!err)
		*result = made;
	return err;
}

double fors_shift_share(const struct fors_shift_length *result)
{
	return result->nlost || result->length <= 0 ? 0 : result->nservers / result->length;
}
