/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify.c - the proof that a schedule is free of conflicts over given tables.
 *
 * The verifier does what the network will do. It knows the cables of a net, the tables of its switches and, for
 * each phase, who sends to which LID; nothing about leaves, lanes, homes or planners. A flow starts at its
 * server's port, each switch looks the LID up and passes it on, and it must come out at its receiver. In a two-level
 * tree that is over one switch (inside a leaf) or three (leaf, spine, leaf), because that is what conflict-free plans
 * are about and because then every path goes up and then down. A schedule that names ways (schedule.h) is of any
 * fabric: its flows cross any number of switches, each once, and exactly those, by those ports, that the schedule
 * names. On its way a flow is counted on each directed cable that it uses; a cable is known by the port that sends
 * into it. Counters carry the phase that they belong to, so that nothing has to be cleared between phases.
 *
 * A cable between switches that is k times as fast as the fastest of the schedule's servers has room for k flows in a
 * phase, rounded down; all others, and those of which a rate is not known, for one. That is counted here, from the widths
 * and speeds of the net, and taken from nobody.
 *
 * Before that it makes sure that the schedule and the net speak of the same servers: port GUIDs, LIDs and LMC, and
 * that servers of one leaf hang on one switch. Only if they do flows are walked, else the report would drown in
 * their consequences.
 *
 * Most plans are right, and verify_fast.c says so in a fraction of the time. What it does not find right is walked here,
 * flow by flow, for the words.
 *
 * Work: one pass over (phase, server), a table look-up and a counter for each hop, three in a two-level tree. Memory: 12
 * bytes per port, 1 bit per pair of servers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule_sizes.h"
#include "verify_inside.h"
#include "core/base/text.h"
#include "core/net/rates.h"

/* A CA port of the net, to find servers by GUID. */
struct ca_port {
	uint64_t guid;
	uint32_t node;
	uint8_t port;
};

/* ---- are these the servers of the net? ---- */

static int by_guid(const void *a, const void *b)
{
	const struct ca_port *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* The CA ports of the net, sorted by GUID, in *list (owned by the caller). */
static enum fors_err list_ca_ports(const struct fors_net *net, struct ca_port **list, size_t *count,
				   struct fors_error *error)
{
	size_t n = 0;

	*list = calloc(net->nports + 1, sizeof(**list));
	if (!*list)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < net->nnodes; node++) {
		if (net->node[node].type != FORS_CA)
			continue;
		for (unsigned port = 1; port <= net->node[node].nports; port++)
			(*list)[n++] = (struct ca_port){fors_net_port(net, node, port)->guid, node, (uint8_t)port};
	}
	qsort(*list, n, sizeof(**list), by_guid);
	*count = n;
	return FORS_OK;
}

/* LID and LMC as the net has them; a net without LIDs (a plain topology file) has nothing to say. */
static void check_lids(struct check *check, uint32_t s, const struct fors_port *port)
{
	const struct fors_schedule_server *server = &check->schedule->server[s];

	if (!server->lid || server->lmc > FORS_MAX_LMC || server->lid + (1u << server->lmc) - 1 > FORS_LID_MAX)
		problem(check, "server %s: LID %u with LMC %u is not possible", fors_verify_server_text(check, s).text,
			server->lid, server->lmc);
	else if (port->lid && port->lid != server->lid)
		problem(check, "server %s has LID %u in the fabric", fors_verify_server_text(check, s).text, port->lid);
	else if (port->lid && port->lmc < server->lmc)
		problem(check, "server %s: LMC %u in the schedule, %u in the fabric",
			fors_verify_server_text(check, s).text, server->lmc, port->lmc);
}

/* Find server s in the net. */
static void locate(struct check *check, uint32_t s, const struct ca_port *list, size_t count)
{
	const struct fors_schedule_server *server = &check->schedule->server[s];
	const struct ca_port key = {.guid = server->guid};
	const struct ca_port *found = bsearch(&key, list, count, sizeof(*list), by_guid);
	const struct fors_port *port;

	if (!found) {
		problem(check, "server %s with port GUID 0x%016" PRIx64 " is not in the fabric",
			fors_verify_server_text(check, s).text, server->guid);
		return;
	}
	port = fors_net_port(check->net, found->node, found->port);
	if (port->peer == FORS_NONE || check->net->node[port->peer].type != FORS_SWITCH)
		problem(check, "server %s has no live cable to a switch", fors_verify_server_text(check, s).text);
	check->place[s] = (struct place){.node = found->node,
					 .link = check->net->node[found->node].first_port + found->port,
					 .leaf = port->peer,
					 .port = found->port};
	check_lids(check, s, port);
}

/* Leaf numbers and ranks: ordered, from 0, one switch for each leaf. */
static void check_order(struct check *check, uint32_t s)
{
	const struct fors_schedule_server *server = &check->schedule->server[s], *before = server - 1;
	bool is_same_leaf = s && before->leaf == server->leaf;

	if (server->leaf >= check->schedule->nleaves || (s && before->leaf > server->leaf) ||
	    server->rank != (is_same_leaf ? before->rank + 1 : 0))
		problem(check, "server %s: leaf %u, rank %u is out of order", fors_verify_server_text(check, s).text,
			server->leaf, server->rank);
	if (s && is_same_leaf != (check->place[s].leaf == check->place[s - 1].leaf))
		problem(check, "servers %s and %s: leaf %u and %u in the schedule, but switches %s and %s",
			fors_verify_server_text(check, s - 1).text, fors_verify_server_text(check, s).text,
			before->leaf, server->leaf, fors_node_name(check->net, check->place[s - 1].leaf),
			fors_node_name(check->net, check->place[s].leaf));
}

/* No server twice, no LID twice. */
static enum fors_err check_overlap(struct check *check, struct fors_error *error)
{
	uint32_t *owner = calloc(FORS_LID_MAX + 1, sizeof(*owner)); /* server + 1 */

	if (!owner)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < check->schedule->nservers; s++) {
		const struct fors_schedule_server *server = &check->schedule->server[s];

		for (uint32_t lid = server->lid; lid < server->lid + (1u << server->lmc); lid++) {
			if (owner[lid])
				problem(check, "servers %s and %s share LID %u",
					fors_verify_server_text(check, owner[lid] - 1).text,
					fors_verify_server_text(check, s).text, lid);
			owner[lid] = s + 1;
		}
	}
	free(owner);
	return FORS_OK;
}

static enum fors_err check_servers(struct check *check, struct fors_error *error)
{
	struct ca_port *list;
	size_t count = 0;
	enum fors_err err = list_ca_ports(check->net, &list, &count, error);

	if (err)
		return err;
	for (uint32_t s = 0; s < check->schedule->nservers; s++)
		locate(check, s, list, count);
	free(list);
	if (is_told(check))
		return FORS_OK;
	for (uint32_t s = 0; s < check->schedule->nservers; s++)
		check_order(check, s);
	return check_overlap(check, error);
}

/* ---- what cables have room for ---- */

/* Of data over the cable of a port, as its slower end has it; 0: not known. */
static uint32_t rate_of(const struct check *check, const struct fors_port *port)
{
	uint32_t rate = fors_port_rate(port),
		 there = fors_port_rate(fors_net_port(check->net, port->peer, port->peer_port));

	return rate < there ? rate : there;
}

static uint32_t fastest_server(const struct check *check)
{
	uint32_t fastest = 0;

	for (uint32_t s = 0; s < check->schedule->nservers; s++) {
		uint32_t rate = rate_of(check, &check->net->port[check->place[s].link]);

		fastest = rate > fastest ? rate : fastest;
	}
	return fastest;
}

uint32_t fors_verify_room(const struct check *check, uint32_t link)
{
	const struct fors_port *port = &check->net->port[link];
	uint32_t room;

	if (!check->fastest || port->peer == FORS_NONE || check->net->node[port->peer].type != FORS_SWITCH)
		return 1;
	room = rate_of(check, port) / check->fastest;
	return room > 1 ? room : 1;
}

/* ---- the way of a flow ---- */

/* Take the next hop from switch *node on; false, and told, when the flow is lost there. */
static bool hop(struct check *check, const struct flow *flow, uint32_t *node, struct way *way)
{
	const struct fors_net *net = check->net;
	uint32_t row = check->row_of[*node];
	uint32_t lid = check->schedule->server[flow->cell.dst].lid + flow->cell.path;
	uint8_t port = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(check->lfts, row, lid);

	if (port == 0 || port > net->node[*node].nports) {
		problem(check, "phase %u: %s ends at switch %s: %s (port %u)", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text, fors_node_name(check->net, *node),
			row == FORS_NONE ? "it has no table" : "its table has no way to that LID", port);
		return false;
	}
	way->node[way->nswitches++] = *node;
	way->link[way->nswitches] = net->node[*node].first_port + port;
	if (fors_net_port(net, *node, port)->peer == FORS_NONE) {
		problem(check, "phase %u: %s is sent to %s[%u], where no live cable is", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text, fors_node_name(check->net, *node),
			port);
		return false;
	}
	*node = fors_net_port(net, *node, port)->peer;
	return true;
}

/* A flow that crosses more switches than it may. */
static void tell_detour(struct check *check, const struct flow *flow, const struct way *way, uint32_t node)
{
	if (check->schedule->ways)
		problem(check, "phase %u: %s goes in a loop: from switch %s over %u %s, then to %s", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[0]), way->nswitches,
			fors_plural(way->nswitches, "switch", "switches"), fors_node_name(check->net, node));
	else
		problem(check, "phase %u: %s loops or takes a detour: %s, %s, %s, then %s", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[0]), fors_node_name(check->net, way->node[1]),
			fors_node_name(check->net, way->node[2]), fors_node_name(check->net, node));
}

/*
 * Follow the tables from the server's switch to a CA; *way is what was seen. True when it came
 * out at the receiver, else the problem is told.
 */
static bool walk(struct check *check, const struct flow *flow, struct way *way)
{
	const struct place *to = &check->place[flow->cell.dst];
	uint32_t node = check->place[flow->src].leaf;
	uint8_t port;

	way->link[0] = check->place[flow->src].link;
	for (way->nswitches = 0; check->net->node[node].type == FORS_SWITCH && way->nswitches < check->room;)
		if (!hop(check, flow, &node, way))
			return false;
	port = check->net->port[way->link[way->nswitches]].peer_port;
	if (node == to->node && port == to->port)
		return true;
	if (check->net->node[node].type != FORS_SWITCH)
		problem(check, "phase %u: %s arrives at %s[%u] instead (last hop %s)", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text, fors_node_name(check->net, node),
			port, fors_verify_link_text(check, way->link[way->nswitches]).text);
	else
		tell_detour(check, flow, way, node);
	return false;
}

/* The schedule names the spine, or none inside a leaf: is it the one that was taken? */
static void check_spine(struct check *check, const struct flow *flow, const struct way *way)
{
	uint8_t lane = flow->cell.lane;

	if (way->nswitches == 1) {
		if (lane != FORS_NO_LANE)
			problem(check, "phase %u: %s stays inside leaf %s, but the schedule names lane %u", flow->phase,
				fors_verify_flow_text(check, flow->src, flow->cell).text,
				fors_node_name(check->net, way->node[0]), lane);
		return;
	}
	if (way->nswitches == 2)
		problem(check, "phase %u: %s goes from switch %s to %s directly, without a spine", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[0]), fors_node_name(check->net, way->node[1]));
	else if (lane >= check->schedule->nlanes)
		problem(check, "phase %u: %s goes over %s, but the schedule names lane %u of %u", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[1]), lane, check->schedule->nlanes);
	else if (check->lane_node[lane] != way->node[1])
		problem(check,
			"phase %u: %s goes over %s (0x%016" PRIx64 "), but the schedule names spine 0x%016" PRIx64,
			flow->phase, fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[1]), check->net->node[way->node[1]].guid,
			check->schedule->lane_spine[lane]);
}

/* Is a hop of the way that the schedule names the one that was walked? At the last switch it names no port. */
static bool is_hop(const struct check *check, const struct way *way, uint32_t i)
{
	const struct fors_node *node = &check->net->node[way->node[i]];
	uint32_t port = i + 1 < way->nswitches ? way->link[i + 1] - node->first_port : 0;

	return check->named[i].guid == node->guid && check->named[i].port == port;
}

/* The schedule names the whole way: is it the one that was taken? */
static void check_named(struct check *check, const struct flow *flow, const struct way *way)
{
	uint32_t number = fors_schedule_way(check->schedule, flow->src, flow->cell), i = 0;
	uint32_t n = fors_waylist_get(check->schedule->ways, number, check->named, check->room);

	while (i < n && i < way->nswitches && is_hop(check, way, i))
		i++;
	if (!n)
		problem(check, "phase %u: the schedule names no way for %s", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text);
	else if (i < way->nswitches)
		problem(check, "phase %u: %s leaves switch %s by port %u, but the schedule names another way",
			flow->phase, fors_verify_flow_text(check, flow->src, flow->cell).text,
			fors_node_name(check->net, way->node[i]),
			way->link[i + 1] - check->net->node[way->node[i]].first_port);
	else if (n != way->nswitches)
		problem(check, "phase %u: %s crosses %u %s, but the way that the schedule names has %u", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text, way->nswitches,
			fors_plural(way->nswitches, "switch", "switches"), n);
}

static void conflict(struct check *check, const struct flow *flow, uint32_t index)
{
	const struct link *link = &check->link[index];
	struct fors_cell other = fors_schedule_flow(check->schedule, link->first, flow->phase);

	if (fors_verify_room(check, index) > 1)
		problem(check, "phase %u: link %s, which has room for %u, carries one flow more: %s, %s, and others",
			flow->phase, fors_verify_link_text(check, index).text, fors_verify_room(check, index),
			fors_verify_flow_text(check, link->first, other).text,
			fors_verify_flow_text(check, flow->src, flow->cell).text);
	else
		problem(check, "phase %u: link %s carries two flows: %s, and %s", flow->phase,
			fors_verify_link_text(check, index).text, fors_verify_flow_text(check, link->first, other).text,
			fors_verify_flow_text(check, flow->src, flow->cell).text);
}

static void count_links(struct check *check, const struct flow *flow, const struct way *way)
{
	for (uint32_t i = 0; i <= way->nswitches; i++) {
		struct link *link = &check->link[way->link[i]];

		if (link->stamp != flow->phase + 1)
			*link = (struct link){.stamp = flow->phase + 1, .first = flow->src};
		if (++link->load > fors_verify_room(check, way->link[i]))
			conflict(check, flow, way->link[i]);
		if (link->load > check->verdict->max_load)
			check->verdict->max_load = link->load;
	}
}

/* ---- who meets whom ---- */

static void check_pair(struct check *check, const struct flow *flow)
{
	uint32_t d = flow->cell.dst;
	size_t bit = (size_t)flow->src * check->schedule->nservers + d;

	if (check->met[bit / 64] >> bit % 64 & 1) {
		if (!check->schedule->length) /* of a demand these are pieces of a message */
			problem(check, "phase %u: %s for the second time", flow->phase,
				fors_verify_flow_text(check, flow->src, flow->cell).text);
	} else {
		check->npairs++;
	}
	check->met[bit / 64] |= 1ull << bit % 64;
	if (check->received[d] == flow->phase + 1)
		problem(check, "phase %u: %s receives from %s and from %s", flow->phase,
			fors_verify_server_text(check, d).text, fors_verify_server_text(check, check->sender[d]).text,
			fors_verify_server_text(check, flow->src).text);
	check->received[d] = flow->phase + 1;
	check->sender[d] = flow->src;
}

static void check_flow(struct check *check, const struct flow *flow)
{
	const struct fors_schedule *schedule = check->schedule;

	check->verdict->nflows++;
	if (flow->cell.dst >= schedule->nservers || flow->cell.dst == flow->src) {
		problem(check, "phase %u: %s sends to server number %u of %u", flow->phase,
			fors_verify_server_text(check, flow->src).text, flow->cell.dst, schedule->nservers);
		return;
	}
	check_pair(check, flow);
	if (flow->cell.path >> schedule->server[flow->cell.dst].lmc) {
		problem(check, "phase %u: %s, path index %u, but LMC %u", flow->phase,
			fors_verify_flow_text(check, flow->src, flow->cell).text, flow->cell.path,
			schedule->server[flow->cell.dst].lmc);
		return;
	}
	if (!walk(check, flow, &check->way))
		return;
	if (schedule->ways)
		check_named(check, flow, &check->way);
	else
		check_spine(check, flow, &check->way);
	count_links(check, flow, &check->way);
}

static void check_missing(struct check *check)
{
	uint32_t p = check->schedule->nservers;
	uint64_t missing = (uint64_t)p * (p - 1) - check->npairs;

	for (uint32_t s = 0; missing && !is_told(check) && s < p; s++)
		for (uint32_t d = 0; d < p && !is_told(check); d++) {
			size_t bit = (size_t)s * p + d;

			if (s != d && !(check->met[bit / 64] >> bit % 64 & 1)) {
				problem(check, "%s never sends to %s (%" PRIu64 " %s)",
					fors_verify_server_text(check, s).text, fors_verify_server_text(check, d).text,
					missing, fors_plural(missing, "pair is missing", "pairs are missing"));
				missing--;
			}
		}
	check->verdict->nproblems += missing;
}

static enum fors_err check_phases(struct check *check, bool (*cancelled)(void *context), void *context,
				  struct fors_error *error)
{
	const struct fors_schedule *schedule = check->schedule;

	for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
		if (cancelled && cancelled(context))
			return fors_fail(error, FORS_ECANCELLED, "verify: cancelled");
		for (uint32_t s = 0; s < schedule->nservers; s++) {
			struct flow flow = {phase, s, fors_schedule_flow(schedule, s, phase)};

			if (flow.cell.dst != FORS_IDLE)
				check_flow(check, &flow);
		}
		if (check->is_brief && is_told(check))
			return FORS_OK;
	}
	if (!schedule->length)
		check_missing(check);
	return FORS_OK;
}

/* ---- the whole ---- */

/* A schedule that can be read at all: sizes that its layout can have. */
static bool has_plan(struct check *check)
{
	const struct fors_schedule *schedule = check->schedule;

	if (!schedule->nservers || !schedule->nphases)
		problem(check, "the schedule has no plan%s%.*s", schedule->reason[0] ? ": " : "",
			(int)sizeof(schedule->reason), schedule->reason);
	else if (schedule->nservers > FORS_MAX_SERVERS || schedule->nlanes > FORS_MAX_LANES)
		problem(check, "the schedule has %u %s and %u %s, more than possible", schedule->nservers,
			fors_plural(schedule->nservers, "server", "servers"), schedule->nlanes,
			fors_plural(schedule->nlanes, "lane", "lanes"));
	else if (schedule->ways &&
		 (schedule->ways->nleaves != schedule->nleaves || schedule->ways->nservers != schedule->nservers))
		problem(check, "the schedule has %u %s with %u %s, but its ways are of %u and %u", schedule->nleaves,
			fors_plural(schedule->nleaves, "switch", "switches"), schedule->nservers,
			fors_plural(schedule->nservers, "server", "servers"), schedule->ways->nleaves,
			schedule->ways->nservers);
	else if (schedule->parts && (!schedule->round_length || schedule->nphases % schedule->round_length))
		problem(check, "the schedule has %u %s in rounds of %u", schedule->nphases,
			fors_plural(schedule->nphases, "phase", "phases"), schedule->round_length);
	return !is_told(check);
}

/* Of a demand: sizes that its phases have room for. */
static bool has_sizes(struct check *check)
{
	const char *fault = check->schedule->length ? fors_schedule_sizes_fault(check->schedule) : NULL;

	if (fault)
		problem(check, "the schedule has %s that cannot be", fault);
	return !fault;
}

static void find_tables(struct check *check)
{
	const struct fors_net *net = check->net;

	for (uint32_t node = 0; node < net->nnodes; node++)
		check->row_of[node] = net->node[node].type == FORS_SWITCH
					      ? fors_lfts_row(check->lfts, net->node[node].guid)
					      : FORS_NONE;
	for (uint32_t lane = 0; lane < check->schedule->nlanes; lane++)
		check->lane_node[lane] = fors_net_find_guid(net, check->schedule->lane_spine[lane]);
}

/* All switches of a net, for flows that may cross any number of them. */
static uint32_t count_switches(const struct fors_net *net)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		n += net->node[node].type == FORS_SWITCH;
	return n;
}

/* What servers are looked at with, and what flows are walked with, one by one. */
static bool alloc(struct check *check)
{
	check->row_of = calloc(check->net->nnodes + 1, sizeof(*check->row_of));
	check->place = calloc(check->schedule->nservers, sizeof(*check->place));
	check->lane_node = calloc(check->schedule->nlanes + 1, sizeof(*check->lane_node));
	return check->row_of && check->place && check->lane_node;
}

static bool alloc_walks(struct check *check)
{
	size_t p = check->schedule->nservers;

	check->room = check->schedule->ways ? count_switches(check->net) : TREE_SWITCHES;
	check->way.link = calloc((size_t)check->room + 1, sizeof(*check->way.link));
	check->way.node = calloc((size_t)check->room + 1, sizeof(*check->way.node));
	check->named = calloc((size_t)check->room + 1, sizeof(*check->named));
	check->link = calloc(check->net->nports + 1, sizeof(*check->link));
	check->received = calloc(p, sizeof(*check->received));
	check->sender = calloc(p, sizeof(*check->sender));
	check->met = calloc(p * p / 64 + 1, sizeof(*check->met));
	return check->way.link && check->way.node && check->named && check->link && check->received && check->sender &&
	       check->met;
}

static void release(struct check *check)
{
	free(check->way.link);
	free(check->way.node);
	free(check->named);
	free(check->row_of);
	free(check->place);
	free(check->lane_node);
	free(check->link);
	free(check->received);
	free(check->sender);
	free(check->met);
}

static enum fors_err walk_flows(struct check *check, unsigned threads, bool (*cancelled)(void *context), void *context,
				struct fors_error *error)
{
	enum fors_proof proof = FORS_PROOF_UNSURE;
	enum fors_err err = FORS_OK;

	if (!check->schedule->length)
		err = fors_verify_fast(check, threads, cancelled, context, &proof, error);
	if (err || proof == FORS_PROOF_RIGHT)
		return err;
	if (proof == FORS_PROOF_WRONG && check->is_brief) {
		check->verdict->nproblems++;
		return FORS_OK;
	}
	if (!alloc_walks(check))
		return fors_fail_memory(error);
	return check_phases(check, cancelled, context, error);
}

static enum fors_err run(struct check *check, unsigned threads, bool (*cancelled)(void *context), void *context,
			 struct fors_error *error)
{
	enum fors_err err;

	if (!has_plan(check) || !has_sizes(check))
		return FORS_OK;
	if (!alloc(check))
		return fors_fail_memory(error);
	find_tables(check);
	err = check_servers(check, error);
	if (err || is_told(check))
		return err;
	check->fastest = fastest_server(check);
	return walk_flows(check, threads, cancelled, context, error);
}

/* A port carries a flow when it was counted in some phase. */
static void list_used(const struct check *check)
{
	for (uint32_t port = 0; check->is_used && check->link && port < check->net->nports; port++)
		check->is_used[port] = check->is_used[port] || check->link[port].stamp;
}

enum fors_err fors_verify_holds(const struct fors_net *net, const struct fors_lfts *lfts,
				const struct fors_schedule *schedule, unsigned threads,
				bool (*cancelled)(void *context), void *context, bool *is_right,
				struct fors_error *error)
{
	struct fors_verdict found = {.text = "ok"};
	struct check check = {.net = net, .lfts = lfts, .schedule = schedule, .verdict = &found, .is_brief = true};
	enum fors_err err = run(&check, threads, cancelled, context, error);

	release(&check);
	if (!err)
		*is_right = found.nproblems == 0;
	return err;
}

enum fors_err fors_verify_used(const struct fors_net *net, const struct fors_lfts *lfts,
			       const struct fors_schedule *schedule, unsigned threads, bool (*cancelled)(void *context),
			       void *context, struct fors_verdict *verdict, bool *is_used, struct fors_error *error)
{
	struct fors_verdict found = {.text = "ok"};
	struct check check = {.net = net, .lfts = lfts, .schedule = schedule, .verdict = &found, .is_used = is_used};
	enum fors_err err = run(&check, threads, cancelled, context, error);

	if (!err)
		list_used(&check);
	release(&check);
	if (err)
		return err;
	found.is_good = found.nproblems == 0;
	*verdict = found;
	return FORS_OK;
}

enum fors_err fors_verify(const struct fors_net *net, const struct fors_lfts *lfts,
			  const struct fors_schedule *schedule, bool (*cancelled)(void *context), void *context,
			  struct fors_verdict *verdict, struct fors_error *error)
{
	return fors_verify_used(net, lfts, schedule, 1, cancelled, context, verdict, NULL, error);
}
