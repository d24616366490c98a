/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed.c - any net and any deterministic tables as a problem of single flows.
 *
 * First who takes part, then which number each switch gets, then every way is walked and its links written. A walk
 * takes from each switch the port of the receiver's LID until the receiver itself is reached; the cable to it
 * is not counted, since a receiver takes one flow in a phase anyway. A walk that passes more switches than there are has been
 * somewhere twice. Nearly all ways arrive: they are walked without a word, and only those that do not once more, by what
 * can say why. What the tables do with a LID from the second switch on is the same for all who come by there, so the
 * last walk to a server is remembered: in a tree the leaves of a pod take the same one, one leaf after the other.
 *
 * Numbers of switches matter: first fit goes by how far two switches are apart (first_fit.c), which means something only
 * when neighbours have numbers that are near. Breadth first from some leaf of a tree gives its pod, then the next pods. And
 * servers of a switch are ordered by class, the uplinks that far switches take to them: in a tree with D-mod-K tables the
 * servers of one rank then share their tops, one of each switch.
 */
#include "routed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/rates.h"

/* What a walk asks of a node. */
struct stop {
	const uint8_t *row; /* its table; NULL: it has none */
	uint32_t first_port;
	uint32_t nports;
};

#define TAIL_LINKS 3 /* of a way behind its second switch in a tree of three levels */

/* The end of a way, from its second switch on. */
struct tail {
	uint32_t from, lid; /* from: that switch, FORS_NONE: nothing is remembered */
	uint32_t nlinks, link[TAIL_LINKS];
};

struct reader {
	const struct fors_flows_tables *tables;
	const struct fors_net *net;
	struct fors_flows_routed *made;
	struct fors_participants wanted; /* sorted */
	uint32_t *order;		 /* per node: in which order switches are visited, FORS_NONE: not */
	uint32_t *row_of;		 /* per node: of its table, FORS_NONE */
	struct stop *stop;		 /* per node */
	uint32_t *next;			 /* per port of the net: the switch behind its cable, FORS_NONE */
	uint32_t *number_of; /* per port of the net: of the link that it sends over, FORS_NONE: not used so far */
	struct tail *tail;   /* per destination: of the way that was walked there last */
	uint32_t most_hops;  /* switches of the net */
};

/* ---- who takes part ---- */

/* Note the server behind a port of an adapter, if there is one. */
static enum fors_err add_server(struct reader *r, uint32_t node, unsigned number, struct fors_error *error)
{
	const struct fors_port *port = fors_net_port(r->net, node, number);

	if (port->peer == FORS_NONE || r->net->node[port->peer].type != FORS_SWITCH ||
	    !fors_participants_have(&r->wanted, port->guid))
		return FORS_OK;
	if (!port->lid && r->tables->participants)
		return fors_fail(error, FORS_ENOTAPPL, "participant %s has no LID, so nobody can send to it",
				 fors_node_name(r->net, node));
	if (!port->lid) {
		r->made->nnameless++;
		return FORS_OK;
	}
	r->made->server[r->made->nservers++] = (struct fors_flows_server){.guid = port->guid,
									  .node = node,
									  .home = port->peer,
									  .lid = port->lid,
									  .lmc = port->lmc,
									  .port = (uint8_t)number,
									  .home_port = port->peer_port};
	return FORS_OK;
}

static enum fors_err add_servers(struct reader *r, struct fors_error *error)
{
	const struct fors_net *net = r->net;
	enum fors_err err = FORS_OK;

	for (uint32_t node = 0; !err && node < net->nnodes; node++)
		for (unsigned port = 1; !err && net->node[node].type == FORS_CA && port <= net->node[node].nports;
		     port++)
			err = add_server(r, node, port, error);
	if (err)
		return err;
	if (!r->made->nservers)
		return fors_fail(error, FORS_ENOTAPPL, "no server with a LID and a cable to a switch takes part");
	if (r->made->nservers > FORS_MAX_SERVERS)
		return fors_fail(error, FORS_ELIMIT, "%u servers are more than the %u that a schedule can name",
				 r->made->nservers, FORS_MAX_SERVERS);
	return FORS_OK;
}

/* ---- numbers of switches ---- */

/* Visit what can be reached from a switch; *next is the order that the next one gets. */
static void visit(struct reader *r, uint32_t from, uint32_t *queue, uint32_t *next)
{
	uint32_t done = *next;

	r->order[from] = *next;
	queue[(*next)++] = from;
	for (; done < *next; done++)
		for (unsigned port = 1; port <= r->net->node[queue[done]].nports; port++) {
			uint32_t peer = fors_peer_switch(r->net, queue[done], port);

			if (peer == FORS_NONE || r->order[peer] != FORS_NONE)
				continue;
			r->order[peer] = *next;
			queue[(*next)++] = peer;
		}
}

static enum fors_err order_switches(struct reader *r, struct fors_error *error)
{
	const struct fors_net *net = r->net;
	uint32_t *queue = malloc((net->nnodes + (size_t)1) * sizeof(*queue)), next = 0;
	bool *has_servers = calloc(net->nnodes + (size_t)1, sizeof(*has_servers));
	enum fors_err err = queue && has_servers ? FORS_OK : fors_fail_memory(error);

	for (uint32_t i = 0; !err && i < r->made->nservers; i++)
		has_servers[r->made->server[i].home] = true;
	for (uint32_t i = 0; !err && i < net->nnodes; i++)
		if (has_servers[net->by_guid[i]] && r->order[net->by_guid[i]] == FORS_NONE)
			visit(r, net->by_guid[i], queue, &next);
	free(queue);
	free(has_servers);
	return err;
}

static int by_place(const void *a, const void *b)
{
	const struct fors_flows_server *x = a, *y = b;

	if (x->home != y->home)
		return x->home < y->home ? -1 : 1;
	return (x->home_port > y->home_port) - (x->home_port < y->home_port);
}

/* Sort the servers, and give those switches numbers that have some. */
static enum fors_err number_switches(struct reader *r, struct fors_error *error)
{
	struct fors_flows_routed *made = r->made;
	enum fors_err err = order_switches(r, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < made->nservers; i++)
		made->server[i].home = r->order[made->server[i].home];
	qsort(made->server, made->nservers, sizeof(*made->server), by_place);
	made->node = malloc(made->nservers * sizeof(*made->node));
	if (!made->node)
		return fors_fail_memory(error);
	for (uint32_t i = 0, before = FORS_NONE; i < made->nservers; i++) {
		struct fors_flows_server *server = &made->server[i];

		if (server->home != before)
			made->node[made->nswitches++] = fors_net_port(r->net, server->node, server->port)->peer;
		before = server->home;
		server->home = made->nswitches - 1;
	}
	return FORS_OK;
}

/* The ports that the tables take to a server from a switch far away, the first one foremost: equal for servers of a class. */
static uint64_t class_of(const struct reader *r, const struct fors_flows_server *server)
{
	uint32_t far = (server->home + r->made->nswitches / 2) % r->made->nswitches, node = r->made->node[far];
	uint64_t class = 0;

	for (unsigned shift = 64; shift && node != r->made->node[server->home];) {
		uint32_t row = r->row_of[node], peer;
		uint8_t port = row == FORS_NONE ? 0 : fors_lfts_port(r->tables->lfts, row, server->lid);

		if (port == 0 || port > r->net->node[node].nports)
			break;
		peer = fors_net_port(r->net, node, port)->peer;
		if (peer == FORS_NONE || r->net->node[peer].type != FORS_SWITCH)
			break;
		class |= (uint64_t)port << (shift -= 8);
		node = peer;
	}
	return class;
}

static int by_class(const void *a, const void *b)
{
	const struct fors_flows_server *x = a, *y = b;

	if (x->home != y->home)
		return x->home < y->home ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->home_port > y->home_port) - (x->home_port < y->home_port);
}

/* Servers of a switch in the order of their classes. */
static void order_classes(struct reader *r)
{
	struct fors_flows_routed *made = r->made;

	for (uint32_t i = 0; i < made->nservers; i++)
		made->server[i].class = class_of(r, &made->server[i]);
	qsort(made->server, made->nservers, sizeof(*made->server), by_class);
}

/* ---- ways ---- */

#define MOST_LINKS (UINT32_MAX / 4) /* of all ways */

/* A way that is being walked. */
struct walk {
	uint32_t s, d, path; /* switch, destination and path index */
	uint32_t lid;
	uint32_t link[FORS_FLOWS_MOST_LINKS]; /* indices of net->port */
	uint32_t nlinks, hops;
	uint32_t node; /* the switch that it has come to */
	uint32_t door; /* the port that leads to the receiver, index of net->port, FORS_NONE */
};

#define PAIR_ROOM (3 * FORS_NAME_MAX)

/* "from Node00-0 (at Leaf00) to Node05-1 (LID 23)" in text. */
static const char *pair(const struct reader *r, const struct walk *walk, char text[PAIR_ROOM])
{
	const struct fors_flows_routed *made = r->made;
	uint32_t src = made->problem.first[walk->s];

	if (src == walk->d && made->problem.senders[walk->s] > 1)
		src++;
	snprintf(text, PAIR_ROOM, "from %s to %s (LID %u)", fors_node_name(r->net, made->server[src].node),
		 fors_node_name(r->net, made->server[walk->d].node), walk->lid);
	return text;
}

static enum fors_err lost(const struct reader *r, const struct walk *walk, uint8_t port, struct fors_error *error)
{
	const char *here = fors_node_name(r->net, walk->node);
	char text[PAIR_ROOM];

	pair(r, walk, text);
	if (r->row_of[walk->node] == FORS_NONE)
		return fors_fail(error, FORS_ENOPATH, "no way %s: switch %s has no table", text, here);
	if (port == FORS_NO_PATH)
		return fors_fail(error, FORS_ENOPATH, "no way %s: switch %s has no entry for this LID", text, here);
	if (port == 0)
		return fors_fail(error, FORS_ENOPATH, "no way %s: switch %s takes this LID for its own", text, here);
	if (port > r->net->node[walk->node].nports)
		return fors_fail(
			error, FORS_ENOTAPPL,
			"no plan over these tables: %s, switch %s with its %u ports names port %u, which may be a "
			"group of adaptive routing; a plan needs one port for each LID",
			text, here, r->net->node[walk->node].nports, port);
	return fors_fail(error, FORS_ENOPATH, "no way %s: switch %s sends it to port %u, where no live cable is", text,
			 here, port);
}

static enum fors_err astray(const struct reader *r, const struct walk *walk, uint32_t peer, struct fors_error *error)
{
	char text[PAIR_ROOM];

	return fors_fail(error, FORS_ENOPATH, "no way %s: behind switch %s it comes out at %s", pair(r, walk, text),
			 fors_node_name(r->net, walk->node), fors_node_name(r->net, peer));
}

/* One switch on; *arrived: at the receiver. */
static enum fors_err hop(const struct reader *r, struct walk *walk, bool *arrived, struct fors_error *error)
{
	const struct fors_flows_server *to = &r->made->server[walk->d];
	uint32_t row = r->row_of[walk->node];
	uint8_t number = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(r->tables->lfts, row, walk->lid);
	const struct fors_port *port;
	char text[PAIR_ROOM];

	if (number == 0 || number > r->net->node[walk->node].nports)
		return lost(r, walk, number, error);
	port = fors_net_port(r->net, walk->node, number);
	if (port->peer == FORS_NONE)
		return lost(r, walk, number, error);
	*arrived = port->peer == to->node && port->peer_port == to->port;
	if (*arrived)
		return FORS_OK;
	if (r->net->node[port->peer].type != FORS_SWITCH)
		return astray(r, walk, port->peer, error);
	if (++walk->hops >= r->most_hops)
		return fors_fail(error, FORS_ENOTAPPL, "the tables loop %s: past switch %s again and again",
				 pair(r, walk, text), fors_node_name(r->net, walk->node));
	if (walk->nlinks < FORS_FLOWS_MOST_LINKS)
		walk->link[walk->nlinks] = r->net->node[walk->node].first_port + number;
	walk->nlinks++;
	walk->node = port->peer;
	return FORS_OK;
}

/* The port of a switch that leads to a server, index of net->port; FORS_NONE: its cable has two stories. */
static uint32_t door_of(const struct reader *r, const struct fors_flows_server *server)
{
	uint32_t node = fors_net_port(r->net, server->node, server->port)->peer;
	const struct fors_port *port = fors_net_port(r->net, node, server->home_port);

	return port->peer == server->node && port->peer_port == server->port
		       ? r->net->node[node].first_port + server->home_port
		       : FORS_NONE;
}

/* The end of a way from switch `from` on, if it is remembered. */
static bool recall(const struct reader *r, struct walk *walk, uint32_t from)
{
	const struct tail *tail = &r->tail[walk->d];

	if (tail->from != from || tail->lid != walk->lid)
		return false;
	for (uint32_t i = 0; i < tail->nlinks; i++)
		walk->link[i + 1] = tail->link[i];
	walk->nlinks = tail->nlinks + 1;
	return true;
}

static void remember(const struct reader *r, const struct walk *walk)
{
	struct tail *tail = &r->tail[walk->d];

	if (!walk->nlinks || walk->nlinks > TAIL_LINKS + 1)
		return;
	*tail = (struct tail){.from = r->next[walk->link[0]], .lid = walk->lid, .nlinks = walk->nlinks - 1};
	for (uint32_t i = 0; i < tail->nlinks; i++)
		tail->link[i] = walk->link[i + 1];
}

/* Walk a way that arrives; false: it does not, or is too long. */
static bool arrives(const struct reader *r, struct walk *walk)
{
	const struct stop *at = &r->stop[walk->node];
	uint32_t out, n = 0;

	if (walk->lid >= r->tables->lfts->nlids)
		return false;
	for (;;) {
		uint32_t number = at->row ? at->row[walk->lid] : 0;

		if (!number || number > at->nports)
			return false;
		out = at->first_port + number;
		if (out == walk->door)
			break;
		if (r->next[out] == FORS_NONE || n == FORS_FLOWS_MOST_LINKS)
			return false;
		walk->link[n++] = out;
		if (n == 1 && recall(r, walk, r->next[out]))
			return true;
		at = &r->stop[r->next[out]];
	}
	walk->nlinks = n;
	remember(r, walk);
	return true;
}

/* Walk a way; its links are noted in *walk. */
static enum fors_err follow(const struct reader *r, struct walk *walk, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	bool arrived = false;
	char text[PAIR_ROOM];

	walk->lid = r->made->server[walk->d].lid + walk->path;
	walk->node = r->made->node[walk->s];
	walk->nlinks = walk->hops = 0;
	if (arrives(r, walk))
		return FORS_OK;
	while (!err && !arrived)
		err = hop(r, walk, &arrived, error);
	if (err || walk->nlinks <= FORS_FLOWS_MOST_LINKS)
		return err;
	return fors_fail(error, FORS_ENOTAPPL, "the way %s has %u cables between switches, fors plans up to %u",
			 pair(r, walk, text), walk->nlinks, FORS_FLOWS_MOST_LINKS);
}

static uint32_t number_of(struct reader *r, uint32_t port)
{
	if (r->number_of[port] == FORS_NONE) {
		r->made->link_port[r->made->problem.nlinks] = port;
		r->number_of[port] = r->made->problem.nlinks++;
	}
	return r->number_of[port];
}

/* The links of ways, one after another. */
struct list {
	size_t used, room;
};

/* Write the links of a way behind the others. What is more than can be told is only counted. */
static enum fors_err add_links(struct reader *r, const struct walk *walk, struct list *list, struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	uint32_t n = list->used + walk->nlinks > MOST_LINKS ? 0 : walk->nlinks;

	if (list->used + n > list->room) {
		size_t room = list->room + list->room / 2 + FORS_FLOWS_MOST_LINKS;
		uint32_t *larger = realloc(p->link, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		p->link = larger;
		list->room = room;
	}
	for (uint32_t i = 0; i < n; i++)
		p->link[list->used + i] = number_of(r, walk->link[i]);
	list->used += walk->nlinks;
	return FORS_OK;
}

/* Walk all ways of a unit. A path index above 0 may have no way. */
static enum fors_err read_unit(struct reader *r, uint32_t s, struct walk *walk, struct list *list,
			       struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	uint32_t way = (s * p->ndests + walk->d) * p->npaths;

	for (walk->path = 0; walk->path < p->npaths; walk->path++, way++) {
		struct fors_error ignored;
		enum fors_err err = follow(r, walk, walk->path ? &ignored : error);

		if (err && !walk->path)
			return err;
		p->exists[way] = !err;
		p->begin[way] = (uint32_t)list->used;
		err = err ? FORS_OK : add_links(r, walk, list, error);
		if (err)
			return err;
	}
	return FORS_OK;
}

/* Do two ways of a unit cross the same links? */
static bool is_same(const struct fors_flows_problem *p, uint32_t one, uint32_t two)
{
	uint32_t n = p->begin[one + 1] - p->begin[one];

	if (n != p->begin[two + 1] - p->begin[two])
		return false;
	return !n ||
	       !memcmp(&p->link[p->begin[one]], &p->link[p->begin[two]], n * sizeof(*p->link)); /* none: no array */
}

static bool is_barred(const struct reader *r, const struct walk *walk)
{
	for (uint32_t i = 0; r->tables->is_barred && i < walk->nlinks; i++)
		if (r->tables->is_barred[walk->link[i]])
			return true;
	return false;
}

/* One more way of a unit, unless it has it already; *n ways are there. */
static enum fors_err choose_way(struct reader *r, const struct walk *walk, uint32_t first, uint32_t *n,
				struct list *list, struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	uint32_t way = first + *n;
	size_t before = list->used;
	enum fors_err err;

	p->begin[way] = (uint32_t)list->used;
	err = add_links(r, walk, list, error);
	p->begin[way + 1] = (uint32_t)list->used;
	for (uint32_t other = first; !err && other < way; other++)
		if (is_same(p, other, way)) {
			list->used = before;
			return FORS_OK;
		}
	p->exists[way] = true;
	r->made->path_of[way] = (uint8_t)walk->path;
	++*n;
	return err;
}

/* The ways of a unit that may be taken, one after the other, from its first number on. */
static enum fors_err choose_ways(struct reader *r, uint32_t s, struct walk *walk, struct list *list,
				 struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	uint32_t first = (s * p->ndests + walk->d) * p->npaths, n = 0;
	struct fors_error ignored;
	enum fors_err err = FORS_OK;
	char text[PAIR_ROOM];

	for (walk->path = r->tables->first_path; !err && walk->path < r->made->nindices; walk->path++)
		if (!follow(r, walk, &ignored) && !is_barred(r, walk))
			err = choose_way(r, walk, first, &n, list, error);
	for (uint32_t way = first + n; way < first + p->npaths; way++) {
		p->exists[way] = false;
		p->begin[way] = (uint32_t)list->used;
	}
	walk->lid = r->made->server[walk->d].lid;
	return err || n ? err : fors_fail(error, FORS_ENOPATH, "no way over these cables %s", pair(r, walk, text));
}

static enum fors_err read_units(struct reader *r, const uint32_t *door, struct list *list, struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < p->nswitches; s++) {
		struct walk walk = {.s = s};

		if (r->tables->cancelled && r->tables->cancelled(r->tables->context))
			return fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
		for (walk.d = 0; !err && walk.d < p->ndests; walk.d++) {
			walk.door = door[walk.d];
			err = r->made->path_of ? choose_ways(r, s, &walk, list, error)
					       : read_unit(r, s, &walk, list, error);
		}
	}
	p->begin[fors_flows_units(p) * p->npaths] = (uint32_t)list->used;
	return err;
}

static enum fors_err read_ways(struct reader *r, struct fors_error *error)
{
	struct fors_flows_problem *p = &r->made->problem;
	uint32_t *door = malloc((p->ndests + (size_t)1) * sizeof(*door)), *fitting;
	struct list list = {0};
	enum fors_err err = FORS_OK;

	r->tail = malloc((p->ndests + (size_t)1) * sizeof(*r->tail));
	if (!door || !r->tail)
		err = fors_fail_memory(error);
	for (uint32_t d = 0; !err && d < p->ndests; d++) {
		door[d] = door_of(r, &r->made->server[d]);
		r->tail[d].from = FORS_NONE;
	}
	if (!err)
		err = read_units(r, door, &list, error);
	free(door);
	if (err)
		return err;
	if (list.used > MOST_LINKS)
		return fors_fail(error, FORS_ELIMIT, "the ways of %u servers are too long to be listed", p->ndests);
	fitting = realloc(p->link, (list.used + 1) * sizeof(*fitting));
	if (!fitting)
		return fors_fail_memory(error);
	p->link = fitting;
	return FORS_OK;
}

/* ---- the whole ---- */

/* What links carry: as many flows as they are times as fast as the fastest of who takes part. */
static enum fors_err find_capacities(struct reader *r, struct fors_error *error)
{
	struct fors_flows_routed *made = r->made;
	uint8_t *capacity = malloc(made->problem.nlinks + (size_t)1);
	uint32_t flow = 0;

	if (!capacity)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < made->nservers; i++)
		fors_rates_takes_part(r->net, fors_net_port(r->net, made->server[i].node, made->server[i].port), &flow);
	for (uint32_t link = 0; link < made->problem.nlinks; link++)
		capacity[link] = fors_rates_capacity(r->net, &r->net->port[made->link_port[link]], flow);
	fors_flows_take_capacities(&made->problem, capacity);
	made->flow = flow;
	return FORS_OK;
}

/* The end of the path indices that every server has and that are looked at. */
static uint32_t paths_of(const struct reader *r)
{
	uint32_t lmc = FORS_MAX_LMC, end = r->tables->first_path + r->tables->most_paths;

	for (uint32_t i = 0; i < r->made->nservers; i++)
		lmc = r->made->server[i].lmc < lmc ? r->made->server[i].lmc : lmc;
	return 1u << lmc < end ? 1u << lmc : end;
}

/* Room for who chooses among path indices. */
static enum fors_err choose_paths(struct reader *r, size_t ways, struct fors_error *error)
{
	if (!r->tables->first_path && !r->tables->is_barred)
		return FORS_OK;
	r->made->path_of = calloc(ways + 1, sizeof(*r->made->path_of));
	return r->made->path_of ? FORS_OK : fors_fail_memory(error);
}

/* All of the problem but its ways. */
static enum fors_err shape_problem(struct reader *r, struct fors_error *error)
{
	struct fors_flows_routed *made = r->made;
	struct fors_flows_problem *p = &made->problem;
	size_t ways;

	p->nswitches = made->nswitches;
	p->ndests = made->nservers;
	made->nindices = paths_of(r);
	if (made->nindices <= r->tables->first_path)
		return fors_fail(error, FORS_ENOPATH, "the servers have no path index %u", r->tables->first_path);
	p->npaths = made->nindices - r->tables->first_path;
	ways = (size_t)made->nswitches * made->nservers * p->npaths;
	if (ways > UINT32_MAX / 4)
		return fors_fail(error, FORS_ELIMIT, "%u switches with %u servers and %u path indices are too many",
				 made->nswitches, made->nservers, p->npaths);
	if (choose_paths(r, ways, error) || !fors_flows_problem_allocate(p, 0))
		return fors_fail_memory(error);
	for (uint32_t d = 0; d < p->ndests; d++) {
		p->home[d] = made->server[d].home;
		p->senders[p->home[d]]++;
	}
	for (uint32_t s = 0; s < p->nswitches; s++)
		p->first[s + 1] = p->first[s] + p->senders[s];
	return FORS_OK;
}

static bool allocate(struct reader *r)
{
	const struct fors_net *net = r->net;

	r->order = malloc((net->nnodes + (size_t)1) * sizeof(*r->order));
	r->row_of = malloc((net->nnodes + (size_t)1) * sizeof(*r->row_of));
	r->stop = malloc((net->nnodes + (size_t)1) * sizeof(*r->stop));
	r->next = malloc((net->nports + (size_t)1) * sizeof(*r->next));
	r->number_of = malloc((net->nports + (size_t)1) * sizeof(*r->number_of));
	r->made = calloc(1, sizeof(*r->made));
	if (!r->order || !r->row_of || !r->stop || !r->next || !r->number_of || !r->made)
		return false;
	r->made->server = calloc(net->nports + (size_t)1, sizeof(*r->made->server));
	r->made->link_port = malloc((net->nports + (size_t)1) * sizeof(*r->made->link_port));
	return r->made->server && r->made->link_port;
}

static void prepare_stops(struct reader *r)
{
	const struct fors_lfts *lfts = r->tables->lfts;
	const struct fors_net *net = r->net;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		uint32_t first = net->node[node].first_port, row = r->row_of[node];

		r->stop[node] = (struct stop){.row = row == FORS_NONE ? NULL : lfts->port + (size_t)row * lfts->nlids,
					      .first_port = first,
					      .nports = net->node[node].nports};
		for (unsigned port = 0; port <= net->node[node].nports; port++)
			r->next[first + port] = port ? fors_peer_switch(net, node, port) : FORS_NONE;
	}
}

/* What is asked often. */
static void prepare(struct reader *r)
{
	const struct fors_net *net = r->net;

	memset(r->order, 0xFF, net->nnodes * sizeof(*r->order));
	memset(r->number_of, 0xFF, net->nports * sizeof(*r->number_of));
	for (uint32_t node = 0; node < net->nnodes; node++) {
		bool is_switch = net->node[node].type == FORS_SWITCH;

		r->row_of[node] = is_switch ? fors_lfts_row(r->tables->lfts, net->node[node].guid) : FORS_NONE;
		r->most_hops += is_switch;
	}
	prepare_stops(r);
	r->made->net = net;
}

static enum fors_err read_all(struct reader *r, struct fors_error *error)
{
	enum fors_err err = fors_flows_tables_check(r->tables, error);

	if (!err)
		err = fors_participants_sort(r->tables->participants, &r->wanted, error);
	if (!err)
		err = add_servers(r, error);
	if (!err)
		err = number_switches(r, error);
	if (!err)
		order_classes(r);
	if (!err)
		err = shape_problem(r, error);
	if (!err)
		err = read_ways(r, error);
	return err ? err : find_capacities(r, error);
}

enum fors_err fors_flows_routed_read(const struct fors_flows_tables *tables, struct fors_flows_routed **routed,
				     struct fors_error *error)
{
	struct reader r = {.tables = tables, .net = tables->net};
	enum fors_err err = FORS_ENOMEM;

	if (allocate(&r)) {
		prepare(&r);
		err = read_all(&r, error);
	} else {
		fors_fail_memory(error);
	}
	free(r.wanted.guid);
	free(r.order);
	free(r.row_of);
	free(r.stop);
	free(r.next);
	free(r.number_of);
	free(r.tail);
	if (err)
		fors_flows_routed_free(r.made);
	else
		*routed = r.made;
	return err;
}

void fors_flows_routed_free(struct fors_flows_routed *routed)
{
	if (!routed)
		return;
	free(routed->node);
	free(routed->server);
	free(routed->link_port);
	free(routed->path_of);
	fors_flows_problem_clear(&routed->problem);
	free(routed);
}
