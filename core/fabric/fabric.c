/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.c - the fabric at one moment: the places, and what is alive of them.
 *
 * Nothing is decided here that the order of things depends on; that is places_learn.c.
 * For every place this file looks into the net whether its switch is there, its
 * cables are plugged in where they belong, and who sits in its slots; then it
 * counts: servers and their ranks, the reduction f, the spines that are affected.
 */
#include "fabric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/copy.h"
#include "core/base/print.h"
#include "core/net/rates.h"
#include "places_inside.h"
#include "sides.h"

void fors_fabric_free(struct fors_fabric *fabric)
{
	if (!fabric)
		return;
	free(fabric->leaf);
	free(fabric->spine);
	free(fabric->lane);
	free(fabric->cable);
	free(fabric->slot);
	free(fabric->server);
	fors_hosts_clear(&fabric->missed);
	free(fabric);
}

enum fors_err fors_fabric_copy(const struct fors_fabric *fabric, const struct fors_net *net, struct fors_fabric **copy,
			       struct fors_error *error)
{
	size_t nslots = (size_t)fabric->nleaves * fabric->nslots, ncables = (size_t)fabric->nleaves * fabric->nlanes;
	struct fors_fabric *f = malloc(sizeof(*f));
	enum fors_err err;

	if (!f)
		return fors_fail_memory(error);
	*f = *fabric;
	err = fors_hosts_copy(&fabric->missed, &f->missed, error);
	f->net = net;
	f->leaf = fors_copy_array(fabric->leaf, fabric->nleaves, sizeof(*f->leaf));
	f->spine = fors_copy_array(fabric->spine, fabric->nspines, sizeof(*f->spine));
	f->lane = fors_copy_array(fabric->lane, fabric->nlanes, sizeof(*f->lane));
	f->cable = fors_copy_array(fabric->cable, ncables, sizeof(*f->cable));
	f->slot = fors_copy_array(fabric->slot, nslots, sizeof(*f->slot));
	f->server = fors_copy_array(fabric->server, fabric->nservers, sizeof(*f->server));
	if (err || !f->leaf || !f->spine || !f->lane || !f->cable || !f->slot || !f->server) {
		fors_fabric_free(f);
		return fors_fail_memory(error);
	}
	*copy = f;
	return FORS_OK;
}

static uint32_t most_slots(const struct fors_places *places)
{
	uint32_t most = 1;

	for (uint32_t a = 0; a < places->nleaves; a++)
		if (places->leaf[a].nslots > most)
			most = places->leaf[a].nslots;
	return most;
}

static struct fors_fabric *new_fabric(const struct fors_net *net, const struct fors_places *places)
{
	struct fors_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->net = net;
	f->nleaves = places->nleaves;
	f->nspines = places->nspines;
	f->nlanes = places->nlanes;
	f->nslots = most_slots(places);
	f->leaf = calloc((size_t)f->nleaves + 1, sizeof(*f->leaf));
	f->spine = calloc((size_t)f->nspines + 1, sizeof(*f->spine));
	f->lane = calloc((size_t)f->nlanes + 1, sizeof(*f->lane));
	f->cable = calloc((size_t)f->nleaves * f->nlanes + 1, sizeof(*f->cable));
	f->slot = calloc((size_t)f->nleaves * f->nslots + 1, sizeof(*f->slot));
	f->server = calloc((size_t)f->nleaves * f->nslots + 1, sizeof(*f->server));
	if (!f->leaf || !f->spine || !f->lane || !f->cable || !f->slot || !f->server) {
		fors_fabric_free(f);
		return NULL;
	}
	return f;
}

static void look_for_switches(struct fors_fabric *f, const struct fors_places *places)
{
	for (uint32_t k = 0; k < f->nspines; k++) {
		f->spine[k].guid = places->spine[k].guid;
		f->spine[k].node = fors_net_find_guid(f->net, places->spine[k].guid);
		memcpy(f->spine[k].name, places->spine[k].name, sizeof(f->spine[k].name));
	}
	for (uint32_t a = 0; a < f->nleaves; a++) {
		f->leaf[a].guid = places->leaf[a].guid;
		f->leaf[a].node = fors_net_find_guid(f->net, places->leaf[a].guid);
		f->leaf[a].nslots = places->leaf[a].nslots;
		memcpy(f->leaf[a].name, places->leaf[a].name, sizeof(f->leaf[a].name));
	}
	for (uint32_t k = 0; k < f->nlanes; k++)
		f->lane[k] = places->lane[k];
}

struct named {
	uint64_t guid;
	char *name;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* The switches, sorted by name; owned by the caller. NULL: no memory. */
static struct named *sorted_names(struct fors_fabric *f)
{
	struct named *all = malloc(((size_t)f->nleaves + f->nspines + 1) * sizeof(*all));

	if (!all)
		return NULL;
	for (uint32_t a = 0; a < f->nleaves; a++)
		all[a] = (struct named){f->leaf[a].guid, f->leaf[a].name};
	for (uint32_t k = 0; k < f->nspines; k++)
		all[f->nleaves + k] = (struct named){f->spine[k].guid, f->spine[k].name};
	qsort(all, (size_t)f->nleaves + f->nspines, sizeof(*all), by_name);
	return all;
}

/* Names are read by people, who give them back in fors.conf: switches that have the same go by their GUIDs. */
static enum fors_err tell_apart(struct fors_fabric *f, struct fors_error *error)
{
	uint32_t count = f->nleaves + f->nspines;
	struct named *all = sorted_names(f);
	bool is_twin = false;

	if (!all)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		bool has_twin = i + 1 < count && !strcmp(all[i].name, all[i + 1].name);

		if (is_twin || has_twin)
			snprintf(all[i].name, FORS_NAME_MAX + 1, "0x%016" PRIx64, all[i].guid);
		is_twin = has_twin;
	}
	free(all);
	return FORS_OK;
}

static bool is_live(const struct fors_fabric *f, uint32_t a, uint32_t lane, const struct fors_plug *plug)
{
	uint32_t leaf = f->leaf[a].node, spine = f->spine[f->lane[lane].spine].node;

	return leaf != FORS_NONE && spine != FORS_NONE && plug->leaf_port <= f->net->node[leaf].nports &&
	       fors_peer_switch(f->net, leaf, plug->leaf_port) == spine &&
	       fors_net_port(f->net, leaf, plug->leaf_port)->peer_port == plug->spine_port;
}

static void look_for_cables(struct fors_fabric *f, const struct fors_places *places)
{
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t k = 0; k < f->nlanes; k++) {
			const struct fors_plug *plug = &places->leaf[a].plug[k];
			struct fors_cable *cable = &f->cable[(size_t)a * f->nlanes + k];

			if (!plug->leaf_port)
				continue;
			*cable = (struct fors_cable){.state = FORS_CABLE_DEAD,
						     .leaf_port = plug->leaf_port,
						     .spine_port = plug->spine_port,
						     .capacity = 1};
			if (!is_live(f, a, k, plug))
				continue;
			cable->state = FORS_CABLE_LIVE;
			cable->is_degraded = fors_net_port(f->net, f->leaf[a].node, plug->leaf_port)->is_degraded;
		}
}

static void look_into_slot(struct fors_fabric *f, uint32_t a, uint32_t s, uint8_t leaf_port)
{
	struct fors_slot *slot = &f->slot[(size_t)a * f->nslots + s];
	const struct fors_port *port;
	uint32_t leaf = f->leaf[a].node, peer;

	*slot = (struct fors_slot){.node = FORS_NONE, .server = FORS_NONE, .leaf_port = leaf_port};
	if (leaf == FORS_NONE || !leaf_port || leaf_port > f->net->node[leaf].nports)
		return;
	peer = fors_net_port(f->net, leaf, leaf_port)->peer;
	if (peer == FORS_NONE || f->net->node[peer].type == FORS_SWITCH)
		return;
	slot->node = peer;
	slot->ca_port = fors_net_port(f->net, leaf, leaf_port)->peer_port;
	port = fors_net_port(f->net, peer, slot->ca_port);
	slot->guid = port->guid;
	slot->lid = port->lid;
	slot->lmc = port->lmc;
	slot->is_sm = port->is_sm;
}

static void count_copies(struct fors_fabric *f, uint32_t a, bool of_ranked, uint8_t *count)
{
	for (uint32_t s = 0; s < f->nslots; s++) {
		struct fors_slot *slot = &f->slot[(size_t)a * f->nslots + s];

		if (!slot->leaf_port || slot->is_ranked != of_ranked)
			continue;
		slot->copy = count[slot->home]++;
		if (slot->copy >= f->ncopies)
			f->ncopies = slot->copy + 1u;
	}
}

/* The homes of a leaf's slots. Newcomers count behind all others, so that they change no class but their own. */
static void look_for_homes(struct fors_fabric *f, const struct fors_places *places, uint32_t a)
{
	const struct fors_leaf_place *leaf = &places->leaf[a];
	uint8_t count[FORS_MAX_LANES + 1] = {0};

	for (uint32_t s = 0; s < leaf->nslots; s++) {
		struct fors_slot *slot = &f->slot[(size_t)a * f->nslots + s];

		if (!slot->leaf_port)
			continue;
		slot->seen = leaf->slot_guid[s];
		slot->is_missed = slot->node == FORS_NONE;
		slot->home = leaf->slot_home[s];
		slot->is_varied = leaf->slot_kind[s] == FORS_SLOT_VARIED;
		slot->is_ranked = slot->is_varied || leaf->slot_kind[s] == FORS_SLOT_RANKED;
	}
	count_copies(f, a, true, count);
	count_copies(f, a, false, count);
}

static void look_into_slots(struct fors_fabric *f, const struct fors_places *places)
{
	f->ncopies = 1;
	for (uint32_t a = 0; a < f->nleaves; a++) {
		for (uint32_t s = 0; s < f->nslots; s++)
			look_into_slot(f, a, s,
				       fors_places_is_slot(&places->leaf[a], s) ? places->leaf[a].slot_port[s] : 0);
		look_for_homes(f, places, a);
	}
}

/* What those are called that were in slots where nobody is now. Errors: FORS_ENOMEM. */
static enum fors_err note_missed(struct fors_fabric *f, const struct fors_places *places, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (size_t i = 0; !err && i < (size_t)f->nleaves * f->nslots; i++)
		if (f->slot[i].is_missed)
			err = fors_hosts_note(&f->missed, f->slot[i].seen,
					      fors_hosts_name(&places->hosts, f->slot[i].seen), error);
	fors_hosts_sort(&f->missed);
	return err;
}

/* `sorted`: who shall. */
static bool takes_part(const struct fors_fabric *f, const struct fors_slot *slot,
		       const struct fors_participants *sorted)
{
	return slot->node != FORS_NONE && slot->lid && f->net->node[slot->node].type == FORS_CA &&
	       fors_participants_have(sorted, slot->guid);
}

/* The next server; its rank follows from those that have a seat. */
static void seat_server(struct fors_fabric *f, struct fors_server server)
{
	struct fors_slot *slot = &f->slot[(size_t)server.leaf * f->nslots + server.slot];

	server.rank = f->leaf[server.leaf].nservers++;
	slot->server = f->nservers;
	f->server[f->nservers++] = server;
	if (f->nservers == 1 || slot->lmc < f->lmc)
		f->lmc = slot->lmc;
	if (f->leaf[server.leaf].nservers > f->max_servers)
		f->max_servers = f->leaf[server.leaf].nservers;
}

static enum fors_err seat_servers(struct fors_fabric *f, const struct fors_participants *participants,
				  struct fors_error *error)
{
	struct fors_participants sorted = {NULL, 0};
	enum fors_err err = fors_participants_sort(participants, &sorted, error);

	for (uint32_t a = 0; !err && a < f->nleaves; a++) {
		f->leaf[a].first_server = f->nservers;
		for (uint32_t s = 0; s < f->nslots; s++) {
			struct fors_slot *slot = &f->slot[(size_t)a * f->nslots + s];

			/* Nobody misses a server that would take no part. */
			slot->is_missed = slot->is_missed && fors_participants_have(&sorted, slot->seen);
			if (takes_part(f, slot, &sorted))
				seat_server(f, (struct fors_server){.leaf = (uint16_t)a,
								    .slot = (uint16_t)s,
								    .lid = slot->lid,
								    .guid = slot->guid,
								    .node = slot->node});
		}
	}
	free(sorted.guid);
	if (!err && f->nservers > FORS_MAX_SERVERS)
		err = fors_fail(error, FORS_ELIMIT, "%u servers; fors can represent %u", f->nservers, FORS_MAX_SERVERS);
	return err;
}

/* What cables carry follows from who takes part. */
static void find_capacities(struct fors_fabric *f)
{
	for (uint32_t s = 0; s < f->nservers; s++) {
		const struct fors_slot *slot = fors_slot(f, f->server[s].leaf, f->server[s].slot);

		fors_rates_takes_part(f->net, fors_net_port(f->net, slot->node, slot->ca_port), &f->flow);
	}
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t k = 0; k < f->nlanes; k++) {
			struct fors_cable *cable = &f->cable[(size_t)a * f->nlanes + k];

			if (cable->state == FORS_CABLE_LIVE)
				cable->capacity = fors_rates_capacity(
					f->net, fors_net_port(f->net, f->leaf[a].node, cable->leaf_port), f->flow);
		}
}

bool fors_fabric_has_capacity(const struct fors_fabric *fabric)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		if (fabric->leaf[a].capacity > fabric->leaf[a].nlive)
			return true;
	return false;
}

/* --- what follows --------------------------------------------------------- */

static void count_live(struct fors_fabric *f)
{
	for (uint32_t a = 0; a < f->nleaves; a++) {
		f->leaf[a].nlive = f->leaf[a].capacity = 0;
		for (uint32_t k = 0; k < f->nlanes; k++) {
			f->leaf[a].nlive += fors_live(f, a, k);
			f->leaf[a].capacity += (uint16_t)fors_capacity(f, a, k);
		}
	}
}

static uint32_t count_affected(const struct fors_fabric *f)
{
	uint32_t count = 0;

	for (uint32_t spine = 0; spine < f->nspines; spine++) {
		bool is_affected = false;

		for (uint32_t k = 0; k < f->nlanes; k++)
			for (uint32_t a = 0; f->lane[k].spine == spine && a < f->nleaves; a++) {
				uint8_t state = fors_cable(f, a, k)->state;

				is_affected |= state == FORS_CABLE_DEAD ||
					       (state == FORS_CABLE_ABSENT && f->leaf[a].nservers > 0);
			}
		count += is_affected;
	}
	return count;
}

static uint32_t reduction_of(const struct fors_fabric *f)
{
	uint32_t most = 0;

	for (uint32_t a = 0; a < f->nleaves; a++)
		if (f->leaf[a].nservers > f->leaf[a].capacity + most)
			most = (uint32_t)f->leaf[a].nservers - f->leaf[a].capacity;
	return most;
}

/* reach[spine]: has leaf a a live cable to it? */
static void mark_reach(const struct fors_fabric *f, uint32_t a, bool *reach)
{
	memset(reach, 0, f->nspines * sizeof(*reach));
	for (uint32_t k = 0; k < f->nlanes; k++)
		reach[f->lane[k].spine] |= fors_live(f, a, k);
}

static bool reaches_any(const struct fors_fabric *f, uint32_t b, const bool *reach)
{
	for (uint32_t k = 0; k < f->nlanes; k++)
		if (reach[f->lane[k].spine] && fors_live(f, b, k))
			return true;
	return false;
}

static enum fors_err count_unreachable(struct fors_fabric *f, struct fors_error *error)
{
	bool *reach = calloc((size_t)f->nspines + 1, sizeof(*reach));

	if (!reach)
		return fors_fail_memory(error);
	f->unreachable_pairs = 0;
	for (uint32_t a = 0; a < f->nleaves; a++) {
		mark_reach(f, a, reach);
		for (uint32_t b = a + 1; f->leaf[a].nservers && b < f->nleaves; b++) {
			if (!f->leaf[b].nservers || reaches_any(f, b, reach))
				continue;
			if (!f->unreachable_pairs++) {
				f->cut_leaf[0] = a;
				f->cut_leaf[1] = b;
			}
		}
	}
	free(reach);
	return FORS_OK;
}

static uint64_t fingerprint_of(const struct fors_fabric *f)
{
	struct fors_print print = fors_print_none();

	fors_print_add(&print, f->nleaves * 65536ULL + f->nlanes * 256 + f->nslots);
	for (uint32_t a = 0; a < f->nleaves; a++)
		fors_print_add(&print, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nlanes; k++)
		fors_print_add(&print, f->spine[f->lane[k].spine].guid);
	for (size_t i = 0; i < (size_t)f->nleaves * f->nlanes; i++)
		fors_print_add(&print, f->cable[i].state | f->cable[i].leaf_port << 8 | f->cable[i].spine_port << 16);
	for (size_t i = 0; i < (size_t)f->nleaves * f->nslots; i++) {
		const struct fors_slot *slot = &f->slot[i];

		bool plays = slot->server != FORS_NONE;

		/* Who takes no part may come and go: no plan becomes another by that. */
		fors_print_add(&print, plays ? slot->guid : 0);
		fors_print_add(&print, (plays ? slot->lid | (uint64_t)slot->lmc << 16 : 0) |
					       (uint64_t)slot->leaf_port << 24 | (uint64_t)slot->is_sm << 32 |
					       (uint64_t)(slot->server != FORS_NONE) << 33 |
					       (uint64_t)slot->home << 40 | (uint64_t)slot->is_varied << 48 |
					       (uint64_t)slot->is_ranked << 49);
	}
	return fors_print_value(print);
}

enum fors_err fors_fabric_recount(struct fors_fabric *f, struct fors_error *error)
{
	enum fors_err err;

	count_live(f);
	err = count_unreachable(f, error);
	if (err)
		return err;
	f->reduction = reduction_of(f);
	f->affected_spines = count_affected(f);
	f->fingerprint = fingerprint_of(f);
	return FORS_OK;
}

enum fors_err fors_fabric_build(const struct fors_net *net, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_fabric **fabric,
				struct fors_error *error)
{
	struct fors_fabric *f = new_fabric(net, places);
	enum fors_err err;

	if (!f)
		return fors_fail_memory(error);
	look_for_switches(f, places);
	look_for_cables(f, places);
	look_into_slots(f, places);
	err = note_missed(f, places, error);
	if (!err)
		err = tell_apart(f, error);
	if (!err)
		err = seat_servers(f, participants, error);
	if (!err) {
		find_capacities(f);
		err = fors_fabric_recount(f, error);
	}
	if (err)
		fors_fabric_free(f);
	else
		*fabric = f;
	return err;
}

static bool has_dead_cable(const struct fors_fabric *f)
{
	for (size_t i = 0; i < (size_t)f->nleaves * f->nlanes; i++) {
		if (f->cable[i].state == FORS_CABLE_DEAD)
			return true;
	}
	return false;
}

enum fors_err fors_fabric_connected(const struct fors_fabric *fabric, struct fors_error *error)
{
	static const char hint[] = "; no cable is missed, so this may be a tree of more than two levels, or two trees";

	if (!fabric->unreachable_pairs)
		return FORS_OK;
	return fors_fail(
		error, FORS_ENOPATH,
		"%s and %s have no common live spine (%u such %s of leaves): no up-down path joins their servers%s",
		fabric->leaf[fabric->cut_leaf[0]].name, fabric->leaf[fabric->cut_leaf[1]].name,
		fabric->unreachable_pairs, fabric->unreachable_pairs == 1 ? "pair" : "pairs",
		has_dead_cable(fabric) ? "" : hint);
}

/* --- the fabric as one of several jobs has it ------------------------------------------------------------------ */

/* All servers out, then those in that are meant. */
static void seat(struct fors_fabric *f, const struct fors_fabric *whole, const uint32_t *server, uint32_t count)
{
	for (size_t i = 0; i < (size_t)f->nleaves * f->nslots; i++)
		f->slot[i].server = FORS_NONE;
	for (uint32_t a = 0; a < f->nleaves; a++)
		f->leaf[a].nservers = 0;
	f->nservers = f->max_servers = 0;
	for (uint32_t i = 0; i < count; i++)
		seat_server(f, whole->server[server[i]]);
	for (uint32_t a = 0, first = 0; a < f->nleaves; first += f->leaf[a++].nservers)
		f->leaf[a].first_server = first;
}

static void forbid(struct fors_fabric *f, const bool *is_allowed)
{
	for (size_t i = 0; i < (size_t)f->nleaves * f->nlanes; i++)
		if (f->cable[i].state == FORS_CABLE_LIVE && !is_allowed[i]) {
			f->cable[i].state = FORS_CABLE_DEAD;
			f->cable[i].drained = FORS_DRAIN_EXCLUDED;
		}
}

enum fors_err fors_fabric_subset(const struct fors_fabric *fabric, const uint32_t *server, uint32_t count,
				 const bool *is_allowed, struct fors_fabric **subset, struct fors_error *error)
{
	struct fors_fabric *f = NULL;
	enum fors_err err = fors_fabric_copy(fabric, fabric->net, &f, error);

	if (err)
		return err;
	seat(f, fabric, server, count);
	if (is_allowed)
		forbid(f, is_allowed);
	err = fors_fabric_recount(f, error);
	if (err)
		fors_fabric_free(f);
	else
		*subset = f;
	return err;
}
