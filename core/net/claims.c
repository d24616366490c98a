/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claims.c - from what the lines of a net file claim to cables.
 *
 * A port line claims "my port p goes to port q of node X", and X may stand further
 * down. So the lines are collected first, as claims, and resolved when all nodes
 * are known:
 *
 *   1. Node ids are hashed; each claim finds its node X.
 *   2. The first claim about a cable plugs it in, the claim of the other end must
 *      agree. That finds every port that is used twice.
 *   3. ibnetdiscover lists each cable at both ends, and ibsim insists on it. A text
 *      that lists every cable at one end only, and says nothing of rates, is taken too
 *      (somebody wrote it by hand). Any other text where an end is missing was cut
 *      short: for what it lost, other nodes still claim cables.
 *   4. GUIDs and LIDs must be unique.
 *   5. Rates say which cables are degraded (rates.c).
 */
#include "claims.h"

#include <inttypes.h>
#include <stdlib.h>

#include "rates.h"

/* While claims are resolved. Claims are referred to by index + 1, 0 is none. */
struct resolving {
	const struct fors_claims *claims;
	const struct fors_lines *lines;
	struct fors_net *net;
	struct fors_error *error;
	uint32_t *by_id;   /* hash table of node indices, FORS_NONE: free */
	uint32_t id_mask;  /* its size, a power of two, less one */
	uint32_t *listed;  /* per net port: the claim of this end */
	uint32_t *plugged; /* per net port: the claim that plugged in its cable */
};

enum fors_err fors_claims_add(struct fors_claims *claims, const struct fors_port_claim *claim, struct fors_error *error)
{
	if (claims->count == claims->room) {
		size_t room = claims->room ? 2 * claims->room : 1024;
		struct fors_port_claim *larger = realloc(claims->claim, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		claims->claim = larger;
		claims->room = room;
	}
	claims->claim[claims->count++] = *claim;
	return FORS_OK;
}

enum fors_err fors_claims_add_node(struct fors_claims *claims, struct fors_span id, uint32_t line,
				   struct fors_error *error)
{
	if (claims->nnodes == claims->node_room) {
		uint32_t room = claims->node_room ? 2 * claims->node_room : 256;
		struct fors_claimant *larger = realloc(claims->node, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		claims->node = larger;
		claims->node_room = room;
	}
	claims->node[claims->nnodes++] = (struct fors_claimant){id, line};
	return FORS_OK;
}

void fors_claims_clear(struct fors_claims *claims)
{
	free(claims->claim);
	free(claims->node);
	*claims = (struct fors_claims){0};
}

/* Fowler-Noll-Vo, 64 bits. */
static uint64_t hash_span(struct fors_span span)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const char *c = span.at; c < span.end; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return hash ^ hash >> 32;
}

static bool is_same(struct fors_span a, struct fors_span b)
{
	return a.end - a.at == b.end - b.at && !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

/* Where `id` stands in the hash table, or the free place where it belongs. */
static uint32_t *find_id(const struct resolving *s, struct fors_span id)
{
	uint32_t place = (uint32_t)hash_span(id) & s->id_mask;

	while (s->by_id[place] != FORS_NONE && !is_same(s->claims->node[s->by_id[place]].id, id))
		place = (place + 1) & s->id_mask;
	return &s->by_id[place];
}

static enum fors_err hash_ids(struct resolving *s)
{
	const struct fors_claims *claims = s->claims;

	for (uint32_t place = 0; place <= s->id_mask; place++)
		s->by_id[place] = FORS_NONE;
	for (uint32_t i = 0; i < claims->nnodes; i++) {
		struct fors_span id = claims->node[i].id;
		uint32_t *place = find_id(s, id);

		if (*place != FORS_NONE)
			return fors_lines_fail(s->lines, claims->node[i].line, s->error,
					       "node id \"%.*s\" stands in line %u already", fors_span_width(id), id.at,
					       claims->node[*place].line);
		*place = i;
	}
	return FORS_OK;
}

static uint32_t port_index(const struct fors_net *net, uint32_t node, unsigned port)
{
	return net->node[node].first_port + port;
}

static const char *node_id(const struct resolving *s, uint32_t node)
{
	return s->net->node[node].id;
}

/* The line of the claim that plugged in the cable of this port. */
static uint32_t line_of(const struct resolving *s, uint32_t port)
{
	return s->claims->claim[s->plugged[port] - 1].line;
}

/* The node that the claim names; its port must exist. */
static enum fors_err find_peer(const struct resolving *s, const struct fors_port_claim *claim, uint32_t *peer)
{
	uint32_t node = *find_id(s, claim->peer);

	if (node == FORS_NONE)
		return fors_lines_fail(s->lines, claim->line, s->error,
				       "port %u of \"%s\" goes to \"%.*s\", which is not in the file (cut short?)",
				       claim->port, node_id(s, claim->node), fors_span_width(claim->peer),
				       claim->peer.at);
	if (claim->peer_port == 0 || claim->peer_port > s->net->node[node].nports)
		return fors_lines_fail(s->lines, claim->line, s->error,
				       "port %u of \"%s\" goes to port %u of \"%s\", which has ports 1 to %u",
				       claim->port, node_id(s, claim->node), claim->peer_port, node_id(s, node),
				       s->net->node[node].nports);
	*peer = node;
	return FORS_OK;
}

/* Port `port` of `node` has a cable, but this claim says that it is another one. */
static enum fors_err fail_disagree(const struct resolving *s, const struct fors_port_claim *claim, uint32_t node,
				   unsigned port)
{
	const struct fors_port *used = fors_net_port(s->net, node, port);

	return fors_lines_fail(s->lines, claim->line, s->error,
			       "port %u of \"%s\" is used twice: by line %u it goes to port %u of \"%s\"", port,
			       node_id(s, node), line_of(s, port_index(s->net, node, port)), used->peer_port,
			       node_id(s, used->peer));
}

static enum fors_err plug_in(struct resolving *s, const struct fors_port_claim *claim, uint32_t peer)
{
	uint32_t mine = port_index(s->net, claim->node, claim->port);
	uint32_t other = port_index(s->net, peer, claim->peer_port);

	if (mine == other)
		return fors_lines_fail(s->lines, claim->line, s->error, "port %u of \"%s\" goes to itself", claim->port,
				       node_id(s, peer));
	if (s->net->port[other].peer != FORS_NONE)
		return fail_disagree(s, claim, peer, claim->peer_port);
	s->plugged[mine] = s->plugged[other] = (uint32_t)(claim - s->claims->claim) + 1;
	return fors_net_connect(s->net, claim->node, claim->port, peer, claim->peer_port, s->error);
}

static enum fors_err resolve_claim(struct resolving *s, const struct fors_port_claim *claim)
{
	uint32_t mine = port_index(s->net, claim->node, claim->port);
	const struct fors_port *port = &s->net->port[mine];
	uint32_t peer = FORS_NONE;
	enum fors_err err = find_peer(s, claim, &peer);

	if (err)
		return err;
	if (s->listed[mine])
		return fors_lines_fail(s->lines, claim->line, s->error,
				       "port %u of \"%s\" is used twice: it stands in line %u already", claim->port,
				       node_id(s, claim->node), s->claims->claim[s->listed[mine] - 1].line);
	s->listed[mine] = (uint32_t)(claim - s->claims->claim) + 1;
	if (port->peer == FORS_NONE)
		err = plug_in(s, claim, peer);
	else if (port->peer != peer || port->peer_port != claim->peer_port)
		err = fail_disagree(s, claim, claim->node, claim->port);
	if (err)
		return err;
	fors_port_slower(&s->net->port[mine], claim->width, (enum fors_speed)claim->speed);
	fors_port_slower(fors_net_port(s->net, peer, claim->peer_port), claim->width, (enum fors_speed)claim->speed);
	return FORS_OK;
}

/* Believe what a claim says about the CA port at its other end, or compare it with what that says itself. */
static enum fors_err resolve_peer(const struct resolving *s, const struct fors_port_claim *claim, bool is_listed)
{
	const struct fors_port *mine = fors_net_port(s->net, claim->node, claim->port);
	struct fors_port *other = fors_net_port(s->net, mine->peer, mine->peer_port);

	if (s->net->node[mine->peer].type == FORS_SWITCH)
		return FORS_OK;
	if (is_listed && claim->peer_guid && claim->peer_guid != other->guid)
		return fors_lines_fail(s->lines, claim->line, s->error,
				       "port %u of \"%s\" has port GUID 0x%" PRIx64 " here, but 0x%" PRIx64
				       " at its own node",
				       mine->peer_port, node_id(s, mine->peer), claim->peer_guid, other->guid);
	if (!is_listed && claim->peer_guid)
		other->guid = claim->peer_guid;
	if (!is_listed && claim->peer_lid)
		other->lid = claim->peer_lid;
	return FORS_OK;
}

/* Every cable at both ends, or, without rates, every cable at one. */
static enum fors_err resolve_ends(const struct resolving *s)
{
	const struct fors_port_claim *lonely = NULL;
	size_t nlonely = 0;
	bool has_rates = false;

	for (size_t i = 0; i < s->claims->count; i++) {
		const struct fors_port_claim *claim = &s->claims->claim[i];
		const struct fors_port *mine = fors_net_port(s->net, claim->node, claim->port);
		bool is_listed = s->listed[port_index(s->net, mine->peer, mine->peer_port)];
		enum fors_err err = resolve_peer(s, claim, is_listed);

		if (err)
			return err;
		nlonely += !is_listed;
		has_rates = has_rates || claim->width;
		if (!is_listed && !lonely)
			lonely = claim;
	}
	if (nlonely == 0 || (nlonely == s->claims->count && !has_rates))
		return FORS_OK;
	return fors_lines_fail(s->lines, lonely->line, s->error,
			       "port %u of \"%s\" goes to port %u of \"%.*s\", which does not list it; a cable must "
			       "stand at both ends (cut short?)",
			       lonely->port, node_id(s, lonely->node), lonely->peer_port, fors_span_width(lonely->peer),
			       lonely->peer.at);
}

/* The line that speaks of a port: its own, else that of the other end, else that of its node. */
static uint32_t port_line(const struct resolving *s, uint32_t node, unsigned port)
{
	uint32_t index = port_index(s->net, node, port);

	if (s->listed[index])
		return s->claims->claim[s->listed[index] - 1].line;
	return s->plugged[index] ? line_of(s, index) : s->claims->node[node].line;
}

static enum fors_err check_keys(const struct resolving *s, struct fors_keyed *list, size_t count, const char *what)
{
	struct fors_keyed first, second;

	if (!fors_keyed_sort(list, count, &first, &second))
		return FORS_OK;
	return fors_lines_fail(s->lines, second.line, s->error,
			       "\"%s\" has %s GUID 0x%" PRIx64 ", but so has \"%s\" in line %u",
			       node_id(s, second.index), what, second.key, node_id(s, first.index), first.line);
}

/*
 * A text tells port GUIDs only of ports with a cable. What we counted for the others may be
 * anybody's: a card may well use its node's GUID for its first port, and the next for another card.
 */
static void forget_guids(struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned port = 1; net->node[i].type != FORS_SWITCH && port <= net->node[i].nports; port++)
			if (fors_net_port(net, i, port)->peer == FORS_NONE)
				fors_net_port(net, i, port)->guid = 0;
}

/* No node GUID twice, no CA port GUID twice. */
static enum fors_err check_guids(const struct resolving *s)
{
	const struct fors_net *net = s->net;
	struct fors_keyed *list = malloc((net->nports + (size_t)1) * sizeof(*list));
	size_t count = 0;
	enum fors_err err;

	if (!list)
		return fors_fail_memory(s->error);
	for (uint32_t node = 0; node < net->nnodes; node++)
		list[count++] = (struct fors_keyed){net->node[node].guid, s->claims->node[node].line, node};
	err = check_keys(s, list, count, "node");
	count = 0;
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; net->node[node].type != FORS_SWITCH && port <= net->node[node].nports; port++)
			if (fors_net_port(net, node, port)->guid)
				list[count++] = (struct fors_keyed){fors_net_port(net, node, port)->guid,
								    port_line(s, node, port), node};
	if (!err)
		err = check_keys(s, list, count, "port");
	free(list);
	return err;
}

/* Mark the LIDs of one port as its own; `owner` is by LID, net port + 1. */
static enum fors_err claim_lids(const struct resolving *s, uint32_t *owner, uint32_t node, unsigned port)
{
	const struct fors_port *p = fors_net_port(s->net, node, port);
	unsigned last = p->lid + (1u << p->lmc) - 1;

	for (unsigned lid = p->lid; lid && lid <= last && lid <= FORS_LID_MAX; lid++) {
		if (owner[lid] != FORS_NONE)
			return fors_lines_fail(s->lines, port_line(s, node, port), s->error,
					       "\"%s\" has LID %u, but so has \"%s\"", node_id(s, node), lid,
					       node_id(s, owner[lid]));
		owner[lid] = node;
	}
	return FORS_OK;
}

static enum fors_err check_lids(const struct resolving *s)
{
	uint32_t *owner = malloc((FORS_LID_MAX + 1) * sizeof(*owner));
	enum fors_err err = FORS_OK;

	if (!owner)
		return fors_fail_memory(s->error);
	for (unsigned lid = 0; lid <= FORS_LID_MAX; lid++)
		owner[lid] = FORS_NONE;
	for (uint32_t node = 0; node < s->net->nnodes && !err; node++)
		for (unsigned port = 0; port <= s->net->node[node].nports && !err; port++)
			err = claim_lids(s, owner, node, port);
	free(owner);
	return err;
}

static enum fors_err resolve_all(struct resolving *s)
{
	enum fors_err err = hash_ids(s);

	for (size_t i = 0; i < s->claims->count && !err; i++)
		err = resolve_claim(s, &s->claims->claim[i]);
	if (!err)
		err = resolve_ends(s);
	forget_guids(s->net);
	if (!err)
		err = check_guids(s);
	if (!err)
		err = check_lids(s);
	if (err)
		return err;
	fors_rates_mark(s->net);
	return fors_net_index(s->net, s->error);
}

enum fors_err fors_claims_resolve(const struct fors_claims *claims, const struct fors_lines *lines,
				  struct fors_net *net, struct fors_error *error)
{
	struct resolving s = {.claims = claims, .lines = lines, .net = net, .error = error, .id_mask = 15};
	enum fors_err err;

	while (s.id_mask / 2 < claims->nnodes)
		s.id_mask = 2 * s.id_mask + 1;
	s.by_id = malloc((s.id_mask + (size_t)1) * sizeof(*s.by_id));
	s.listed = calloc(net->nports + (size_t)1, sizeof(*s.listed));
	s.plugged = calloc(net->nports + (size_t)1, sizeof(*s.plugged));
	err = s.by_id && s.listed && s.plugged ? resolve_all(&s) : fors_fail_memory(error);
	free(s.by_id);
	free(s.listed);
	free(s.plugged);
	return err;
}
