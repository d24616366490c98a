/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * floors.c - the floors of a tree of three levels, each as a tree of two: see floors.h.
 *
 * Lanes are numbered cable by cable, and among the first, second, ... cables spine by spine, as everywhere. A middle
 * switch that has lost all its tops is no lane of its leaves: what goes there is in its pod only, and cables are few then.
 */
#include "floors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/copy.h"
#include "core/base/print.h"

struct builder {
	struct fors_floors *made;
	const struct fors_pods *pods;
	struct fors_error *error;
};

/* ---- a floor's memory ---- */

static struct fors_fabric *new_floor(const struct fors_pods *pods, uint32_t nleaves, uint32_t nspines, uint32_t nlanes,
				     uint32_t nslots)
{
	struct fors_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct fors_fabric){.net = pods->now,
				  .nleaves = nleaves,
				  .nspines = nspines,
				  .nlanes = nlanes,
				  .nslots = nslots,
				  .ncopies = 1,
				  .leaf = calloc(nleaves + (size_t)1, sizeof(*f->leaf)),
				  .spine = calloc(nspines + (size_t)1, sizeof(*f->spine)),
				  .lane = calloc(nlanes + (size_t)1, sizeof(*f->lane)),
				  .cable = calloc((size_t)nleaves * nlanes + 1, sizeof(*f->cable)),
				  .slot = calloc((size_t)nleaves * nslots + 1, sizeof(*f->slot)),
				  .server = calloc(pods->nslots + (size_t)1, sizeof(*f->server))};
	if (f->leaf && f->spine && f->lane && f->cable && f->slot && f->server)
		return f;
	fors_fabric_free(f);
	return NULL;
}

static void add_leaf(const struct builder *b, struct fors_fabric *f, uint32_t leaf, const struct fors_pods_switch *sw)
{
	if (!sw)
		return;
	f->leaf[leaf].guid = b->pods->known->node[sw->node].guid;
	f->leaf[leaf].node = sw->now;
	snprintf(f->leaf[leaf].name, sizeof(f->leaf[leaf].name), "%s", fors_node_name(b->pods->known, sw->node));
}

/* ---- cables ---- */

/* How many known cables lead from a switch to another. */
static uint32_t count_cables(const struct fors_pods *pods, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (unsigned p = 1; p <= pods->known->node[from].nports; p++)
		n += fors_pods_peer(pods, from, p) == to;
	return n;
}

/* The port of the known cable number `cable` from a switch to another, 0: there is none. */
static uint8_t port_to(const struct fors_pods *pods, uint32_t from, uint32_t to, uint32_t cable)
{
	for (unsigned p = 1; p <= pods->known->node[from].nports; p++)
		if (fors_pods_peer(pods, from, p) == to && !cable--)
			return (uint8_t)p;
	return 0;
}

static void add_cable(const struct builder *b, struct fors_fabric *f, uint32_t leaf, uint32_t lane, uint32_t low,
		      uint32_t high)
{
	struct fors_cable *cable = &f->cable[(size_t)leaf * f->nlanes + lane];
	uint8_t port = port_to(b->pods, low, high, f->lane[lane].cable);
	uint32_t number = b->pods->known->node[low].first_port + port;

	if (!port)
		return;
	cable->leaf_port = port;
	cable->spine_port = fors_net_port(b->pods->known, low, port)->peer_port;
	cable->state = fors_pods_live(b->pods, low, port) ? FORS_CABLE_LIVE : FORS_CABLE_DEAD;
	cable->drained = b->pods->drained[number];
	f->leaf[leaf].nlive += cable->state == FORS_CABLE_LIVE;
}

/* The lanes of a floor, from the most cables that any leaf has to each spine. */
static void name_lanes(struct fors_fabric *f, const uint32_t *most)
{
	uint32_t lane = 0;

	for (uint32_t cable = 0; lane < f->nlanes; cable++)
		for (uint32_t spine = 0; spine < f->nspines; spine++)
			if (cable < most[spine])
				f->lane[lane++] = (struct fors_lane){(uint16_t)spine, (uint16_t)cable};
}

/* ---- servers ---- */

static void add_server(const struct builder *b, struct fors_fabric *f, uint32_t leaf, const struct fors_pods_slot *slot)
{
	const struct fors_port *port = fors_net_port(b->pods->now, b->pods->leaf[slot->leaf].now, slot->port);
	struct fors_server *server = &f->server[f->nservers];

	*server = (struct fors_server){.leaf = (uint16_t)leaf,
				       .slot = slot->rank,
				       .rank = f->leaf[leaf].nservers,
				       .lid = slot->lid,
				       .guid = slot->guid,
				       .node = port->peer};
	f->slot[(size_t)leaf * f->nslots + slot->rank] = (struct fors_slot){.guid = slot->guid,
									    .seen = slot->guid,
									    .node = port->peer,
									    .server = f->nservers,
									    .lid = slot->lid,
									    .lmc = slot->lmc,
									    .ca_port = port->peer_port,
									    .leaf_port = slot->port};
	f->lmc = !f->nservers || slot->lmc < f->lmc ? slot->lmc : f->lmc;
	f->leaf[leaf].nservers++;
	f->nservers++;
}

static void add_servers(const struct builder *b, struct fors_fabric *f)
{
	for (uint32_t a = 0; a < f->nleaves; a++) {
		const struct fors_pods_switch *leaf = &b->pods->leaf[b->made->leaf[a]];

		f->leaf[a].first_server = f->nservers;
		for (uint32_t s = leaf->first; s < leaf->first + leaf->nslots; s++)
			if (b->pods->plays[s] && leaf->now != FORS_NONE)
				add_server(b, f, a, &b->pods->slot[s]);
		f->max_servers = f->leaf[a].nservers > f->max_servers ? f->leaf[a].nservers : f->max_servers;
	}
}

/* How many leaves of floor 0, which is ordered by pod, come before this one in its pod. */
static uint32_t leaves_before(const struct builder *b, uint32_t leaf)
{
	uint32_t n = 0;

	while (n < leaf && fors_floors_pod(b->made, leaf - n - 1) == fors_floors_pod(b->made, leaf))
		n++;
	return n;
}

/* Slots of a pod, when each of its leaves has as many as the one that has most. */
static uint32_t most_slots(const struct builder *b)
{
	const struct fors_fabric *first = b->made->floor[0];
	uint32_t most = 0;

	for (uint32_t a = 0; a < first->nleaves; a++)
		most = leaves_before(b, a) > most ? leaves_before(b, a) : most;
	return (most + 1) * first->nslots;
}

/*
 * The servers of floor 0, in its order, below their pods. Slots tell them apart there, for who compares two floors
 * (fors_entries_again()); slot[] says nothing of them.
 */
static void repeat_servers(const struct builder *b, struct fors_fabric *f)
{
	const struct fors_fabric *first = b->made->floor[0];

	for (uint32_t s = 0; s < first->nservers; s++) {
		struct fors_server *server = &f->server[s];

		*server = first->server[s];
		server->leaf = (uint16_t)fors_floors_pod(b->made, first->server[s].leaf);
		server->slot = (uint16_t)(leaves_before(b, first->server[s].leaf) * first->nslots + server->slot);
		server->rank = f->leaf[server->leaf].nservers;
		if (!f->leaf[server->leaf].nservers++)
			f->leaf[server->leaf].first_server = s;
	}
	f->nservers = first->nservers;
	f->lmc = first->lmc;
}

/* ---- floor 0 ---- */

static void order_leaves(const struct builder *b)
{
	uint32_t n = 0;

	for (uint32_t pod = 0; pod < b->pods->npods; pod++)
		for (uint32_t a = 0; a < b->pods->nleaves; a++)
			if (b->pods->leaf[a].pod == pod) {
				b->made->leaf[n] = a;
				b->made->pod[n++] = pod;
			}
}

/* Into most[planes]; how many lanes. */
static uint32_t count_lanes(const struct fors_pods *pods, uint32_t *most)
{
	uint32_t sum = 0;

	for (uint32_t j = 0; j < pods->nplanes; j++) {
		for (uint32_t a = 0; a < pods->nleaves; a++) {
			uint32_t mid = fors_pods_mid(pods, pods->leaf[a].pod, j),
				 n = mid == FORS_NONE ? 0 : count_cables(pods, pods->leaf[a].node, pods->mid[mid].node);

			most[j] = n > most[j] ? n : most[j];
		}
		sum += most[j];
	}
	return sum;
}

/* Does any cable of a middle switch to a top live? */
static bool has_tops(const struct fors_pods *pods, uint32_t mid)
{
	uint32_t node = pods->mid[mid].node;

	for (unsigned p = 1; p <= pods->known->node[node].nports; p++) {
		uint32_t peer = fors_pods_peer(pods, node, p);

		if (peer != FORS_NONE && pods->level[peer] == FORS_PODS_TOP && fors_pods_live(pods, node, p))
			return true;
	}
	return false;
}

static void add_lanes(const struct builder *b, struct fors_fabric *f)
{
	for (uint32_t a = 0; a < f->nleaves; a++) {
		const struct fors_pods_switch *leaf = &b->pods->leaf[b->made->leaf[a]];

		add_leaf(b, f, a, leaf);
		for (uint32_t lane = 0; lane < f->nlanes; lane++) {
			uint32_t mid = fors_pods_mid(b->pods, leaf->pod, f->lane[lane].spine);

			if (mid != FORS_NONE && (b->pods->npods == 1 || has_tops(b->pods, mid)))
				add_cable(b, f, a, lane, leaf->node, b->pods->mid[mid].node);
		}
	}
}

static enum fors_err build_first(const struct builder *b)
{
	const struct fors_pods *pods = b->pods;
	uint32_t *most = calloc(pods->nplanes + (size_t)1, sizeof(*most)), nlanes = 0, nslots = 1;
	struct fors_fabric *f = NULL;
	enum fors_err err = FORS_OK;

	if (most)
		nlanes = count_lanes(pods, most);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		nslots = pods->leaf[a].nslots > nslots ? pods->leaf[a].nslots : nslots;
	if (nlanes > FORS_MAX_LANES)
		err = fors_fail(b->error, FORS_ELIMIT, "leaves with %u lanes", nlanes);
	else if (most)
		f = new_floor(pods, pods->nleaves, pods->nplanes, nlanes, nslots);
	if (f) {
		b->made->floor[0] = f;
		b->made->count = 1;
		name_lanes(f, most);
		order_leaves(b);
		add_lanes(b, f);
		add_servers(b, f);
		for (uint32_t j = 0; j < f->nspines; j++)
			snprintf(f->spine[j].name, sizeof(f->spine[j].name), "plane %u", j);
	}
	free(most);
	return f || err ? err : fors_fail_memory(b->error);
}

/* ---- a plane ---- */

/* The tops of a plane, those that any of its middle switches is cabled to, into top[]; how many. */
static uint32_t list_tops(const struct builder *b, uint32_t plane, uint32_t *top)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < b->pods->ntops; t++)
		for (uint32_t pod = 0; pod < b->pods->npods; pod++) {
			const struct fors_pods_switch *mid = fors_floors_mid(b->made, pod, plane);

			if (mid && count_cables(b->pods, mid->node, b->pods->top[t].node)) {
				top[n++] = t;
				break;
			}
		}
	return n;
}

static uint32_t count_rungs(const struct builder *b, uint32_t plane, const uint32_t *top, uint32_t ntops,
			    uint32_t *most)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < ntops; k++) {
		most[k] = 0;
		for (uint32_t pod = 0; pod < b->pods->npods; pod++) {
			const struct fors_pods_switch *mid = fors_floors_mid(b->made, pod, plane);
			uint32_t n = mid ? count_cables(b->pods, mid->node, b->pods->top[top[k]].node) : 0;

			most[k] = n > most[k] ? n : most[k];
		}
		sum += most[k];
	}
	return sum;
}

static void fill_plane(const struct builder *b, struct fors_fabric *f, uint32_t plane, const uint32_t *top)
{
	for (uint32_t k = 0; k < f->nspines; k++) {
		const struct fors_pods_switch *sw = &b->pods->top[top[k]];

		f->spine[k] = (struct fors_spine){.guid = b->pods->known->node[sw->node].guid, .node = sw->now};
		snprintf(f->spine[k].name, sizeof(f->spine[k].name), "%s", fors_node_name(b->pods->known, sw->node));
	}
	for (uint32_t pod = 0; pod < f->nleaves; pod++) {
		const struct fors_pods_switch *mid = fors_floors_mid(b->made, pod, plane);

		add_leaf(b, f, pod, mid);
		for (uint32_t lane = 0; mid && lane < f->nlanes; lane++)
			add_cable(b, f, pod, lane, mid->node, b->pods->top[top[f->lane[lane].spine]].node);
	}
	repeat_servers(b, f);
}

static enum fors_err build_plane(const struct builder *b, uint32_t plane, const uint32_t *top, uint32_t ntops,
				 uint32_t *most)
{
	uint32_t nlanes = count_rungs(b, plane, top, ntops, most);
	struct fors_fabric *f;

	if (nlanes > FORS_MAX_LANES)
		return fors_fail(b->error, FORS_ELIMIT, "middle switches with %u cables to tops", nlanes);
	f = new_floor(b->pods, b->pods->npods, ntops, nlanes, most_slots(b));
	if (!f)
		return fors_fail_memory(b->error);
	name_lanes(f, most);
	fill_plane(b, f, plane, top);
	b->made->floor[b->made->count++] = f;
	return FORS_OK;
}

/* ---- fingerprints ---- */

/* All that owners and entries of a floor depend on. */
static uint64_t print_floor(const struct fors_fabric *f)
{
	struct fors_print print = fors_print_none();

	for (uint32_t a = 0; a < f->nleaves; a++)
		fors_print_add(&print, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nspines; k++)
		fors_print_add(&print, f->spine[k].guid);
	for (uint32_t lane = 0; lane < f->nlanes; lane++)
		fors_print_add(&print, (uint64_t)f->lane[lane].spine << 16 | f->lane[lane].cable);
	for (size_t i = 0; i < (size_t)f->nleaves * f->nlanes; i++)
		fors_print_add(&print, (uint64_t)f->cable[i].leaf_port << 24 | f->cable[i].spine_port << 16 |
					       f->cable[i].drained << 8 | f->cable[i].state);
	for (uint32_t s = 0; s < f->nservers; s++) {
		fors_print_add(&print, f->server[s].guid);
		fors_print_add(&print, (uint64_t)f->server[s].leaf << 32 | (uint64_t)f->server[s].slot << 16 |
					       f->server[s].lid);
	}
	fors_print_add(&print, f->lmc);
	return fors_print_value(print);
}

bool fors_floors_same(const struct fors_floors *one, const struct fors_floors *other)
{
	bool is_same = one->count == other->count;

	for (uint32_t f = 0; is_same && f < one->count; f++)
		is_same = one->floor[f]->fingerprint == other->floor[f]->fingerprint;
	return is_same;
}

/* ---- all ---- */

/* These tops are one plane's; false: one of them is another's already. */
static bool take_tops(const uint32_t *top, uint32_t ntops, bool *is_taken)
{
	for (uint32_t k = 0; k < ntops; k++) {
		if (is_taken[top[k]])
			return false;
		is_taken[top[k]] = true;
	}
	return true;
}

static enum fors_err build_planes(const struct builder *b)
{
	size_t room = b->pods->ntops + (size_t)1;
	uint32_t *top = malloc(room * sizeof(*top)), *most = malloc(room * sizeof(*most));
	bool *is_taken = calloc(room, sizeof(*is_taken));
	enum fors_err err = top && most && is_taken ? FORS_OK : fors_fail_memory(b->error);

	for (uint32_t j = 0; !err && j < b->pods->nplanes; j++) {
		uint32_t ntops = list_tops(b, j, top);

		if (take_tops(top, ntops, is_taken))
			err = build_plane(b, j, top, ntops, most);
		else
			err = fors_fail(b->error, FORS_ENOTAPPL,
					"planes of the tree share tops, so their cables belong to no plane alone");
	}
	free(top);
	free(most);
	free(is_taken);
	return err;
}

enum fors_err fors_floors_make(const struct fors_fattree *tree, struct fors_floors *floors, struct fors_error *error)
{
	uint32_t nfloors = tree->pods ? tree->pods->nplanes + 1 : 1;
	struct fors_floors made = {.pods = tree->pods, .is_own = tree->pods};
	const struct builder b = {&made, tree->pods, error};
	enum fors_err err = FORS_OK;

	if (!tree->fabric && !tree->pods)
		return fors_fail(error, FORS_ENOTAPPL, "this is no fat-tree, so there are no lanes to share out");
	made.floor = calloc(nfloors, sizeof(*made.floor));
	made.leaf = tree->pods ? malloc((tree->pods->nleaves + (size_t)1) * sizeof(*made.leaf)) : NULL;
	made.pod = tree->pods ? malloc((tree->pods->nleaves + (size_t)1) * sizeof(*made.pod)) : NULL;
	if (!made.floor || (tree->pods && (!made.leaf || !made.pod))) {
		err = fors_fail_memory(error);
	} else if (!tree->pods) {
		made.floor[0] = tree->fabric;
		made.count = 1;
	} else {
		err = build_first(&b);
		if (!err)
			err = build_planes(&b);
		for (uint32_t i = 0; !err && i < made.count; i++)
			((struct fors_fabric *)made.floor[i])->fingerprint = print_floor(made.floor[i]);
	}
	if (err)
		fors_floors_clear(&made);
	else
		*floors = made;
	return err;
}

enum fors_err fors_floors_copy(const struct fors_floors *floors, struct fors_floors *copy, struct fors_error *error)
{
	struct fors_floors made = {.is_own = true, .floor = calloc(floors->count + (size_t)1, sizeof(*made.floor))};
	enum fors_err err = made.floor ? FORS_OK : fors_fail_memory(error);
	uint32_t nleaves = floors->leaf ? floors->floor[0]->nleaves : 0;

	for (uint32_t i = 0; !err && i < floors->count; i++) {
		struct fors_fabric *f = NULL;

		err = fors_fabric_copy(floors->floor[i], NULL, &f, error);
		made.floor[i] = f;
		made.count += !err;
	}
	if (!err && floors->leaf) {
		made.leaf = fors_copy_array(floors->leaf, nleaves, sizeof(*made.leaf));
		made.pod = fors_copy_array(floors->pod, nleaves, sizeof(*made.pod));
		err = made.leaf && made.pod ? FORS_OK : fors_fail_memory(error);
	}
	if (err)
		fors_floors_clear(&made);
	else
		*copy = made;
	return err;
}

void fors_floors_clear(struct fors_floors *floors)
{
	for (uint32_t i = 0; floors->is_own && i < floors->count; i++)
		fors_fabric_free((struct fors_fabric *)floors->floor[i]);
	free(floors->floor);
	free(floors->leaf);
	free(floors->pod);
	*floors = (struct fors_floors){0};
}
