/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * floors_tables.c - what jobs have on the floors of a tree of three levels, in its tables and by its cables.
 *
 * For one LID a leaf has the port of its lane; a middle switch of another pod the port to a top, for all leaves of the pod;
 * a top the port to the middle switch of its plane in the server's pod; and that one the port to the server's leaf. All
 * other entries stay, so a leaf without servers of the job sends where it always did, and from the middle switch on goes the
 * job's way: up, then down.
 */
#include "holdings.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

struct writer {
	const struct fors_floors *floors;
	const struct fors_holdings *holdings;
	uint32_t index;
	struct fors_lfts *lfts;
};

static void put(const struct writer *w, uint64_t guid, uint32_t lid, uint8_t port)
{
	uint32_t row = fors_lfts_row(w->lfts, guid);

	if (row != FORS_NONE && port)
		w->lfts->port[(size_t)row * w->lfts->nlids + lid] = port;
}

/* Ways up to a server from all leaves of a floor, and down from its spines; on floor 0 a spine is a switch in each pod. */
static void write_floor(const struct writer *w, uint32_t number, uint32_t d, uint32_t lid)
{
	const struct fors_fabric *f = w->floors->floor[number];
	const struct fors_entries *entries = &w->holdings->entries[number];
	uint32_t home = f->server[d].leaf;

	for (uint32_t a = 0; a < f->nleaves; a++) {
		uint8_t lane = entries->up[(size_t)a * f->nservers + d];

		if (lane != FORS_NO_LANE)
			put(w, f->leaf[a].guid, lid, fors_cable(f, a, lane)->leaf_port);
	}
	for (uint32_t k = 0; k < f->nspines; k++) {
		uint8_t lane = entries->down[(size_t)k * f->nservers + d];
		const struct fors_pods_switch *mid =
			number ? NULL : fors_floors_mid(w->floors, fors_floors_pod(w->floors, home), k);

		if (lane != FORS_NO_LANE)
			put(w, mid ? w->floors->pods->known->node[mid->node].guid : f->spine[k].guid, lid,
			    fors_cable(f, home, lane)->spine_port);
	}
}

void fors_holdings_apply(const struct fors_floors *floors, const struct fors_holdings *holdings, uint32_t index,
			 struct fors_lfts *lfts)
{
	const struct writer w = {floors, holdings, index, lfts};

	for (uint32_t d = 0; d < floors->floor[0]->nservers; d++) {
		uint32_t lid = fors_server_lid(w.floors->floor[0], d, w.index, w.lfts->nlids);

		for (uint32_t number = 0; lid && number < floors->count; number++)
			write_floor(&w, number, d, lid);
	}
}

/* ---- cables ---- */

void fors_holdings_ports(const struct fors_floors *floors, const struct fors_holdings *holdings, uint32_t *owner)
{
	const struct fors_net *net = floors->floor[0]->net;

	for (uint32_t port = 0; port < net->nports; port++)
		owner[port] = FORS_NO_JOB;
	for (uint32_t number = 0; number < floors->count; number++)
		fors_owners_ports(floors->floor[number], &holdings->owners[number], owner);
}
