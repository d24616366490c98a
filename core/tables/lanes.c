/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lanes.c - the tables read back as lanes, which is how planners see them.
 *
 * Planners take nothing from how tables were made: what a plan may use is what stands in the LFTs, port by port,
 * whoever wrote them. An entry over a dead or a drained cable has no lane.
 */
#include "lanes.h"
#include "core/net/lfts.h"
#include "home.h"

#include <stdlib.h>
#include <string.h>

/* Translate what one LFT says of the servers: lane[lid] = of_port[port]. The LIDs of others are nobody's question. */
static void translate(const struct fors_fabric *f, const struct fors_lfts *lfts, uint64_t guid, const uint8_t *of_port,
		      uint8_t *lane)
{
	const uint32_t row = fors_lfts_row(lfts, guid), nlids = row == FORS_NONE ? 0 : lfts->nlids;
	const uint32_t count = fors_home_nindices(f->lmc);
	const uint8_t *const port = lfts->port + (size_t)(row == FORS_NONE ? 0 : row) * lfts->nlids;

	/* Stores of bytes could be to anything but locals, so these are locals. */
	for (uint32_t s = 0; s < f->nservers; s++) {
		const uint32_t first = f->server[s].lid, end = first + count < nlids ? first + count : nlids;

		for (uint32_t lid = first; lid < end; lid++)
			lane[lid] = of_port[port[lid]];
	}
}

static void read_leaf(const struct fors_fabric *f, const struct fors_lfts *lfts, uint32_t a, uint8_t *up)
{
	uint8_t of_port[256];

	memset(of_port, FORS_NO_LANE, sizeof(of_port));
	for (uint32_t k = 0; k < f->nlanes; k++)
		if (fors_live(f, a, k))
			of_port[fors_cable(f, a, k)->leaf_port] = (uint8_t)k;
	translate(f, lfts, f->leaf[a].guid, of_port, up);
}

/* A spine's port of a lane differs from leaf to leaf, but each port has one lane. */
static void read_spine(const struct fors_fabric *f, const struct fors_lfts *lfts, uint32_t spine, uint8_t *down)
{
	uint8_t of_port[256];

	memset(of_port, FORS_NO_LANE, sizeof(of_port));
	for (uint32_t k = 0; k < f->nlanes; k++)
		for (uint32_t b = 0; f->lane[k].spine == spine && b < f->nleaves; b++)
			if (fors_live(f, b, k))
				of_port[fors_cable(f, b, k)->spine_port] = (uint8_t)k;
	translate(f, lfts, f->spine[spine].guid, of_port, down);
}

void fors_lanes_free(struct fors_lanes *lanes)
{
	if (!lanes)
		return;
	free(lanes->up);
	free(lanes->down);
	free(lanes);
}

/* Servers may have LIDs behind the end of short tables; those have no lane. */
static uint32_t lid_end(const struct fors_fabric *f, const struct fors_lfts *lfts)
{
	uint32_t end = lfts->nlids;

	for (uint32_t s = 0; s < f->nservers; s++)
		if (f->server[s].lid + (1u << FORS_MAX_LMC) > end)
			end = f->server[s].lid + (1u << FORS_MAX_LMC);
	return end;
}

enum fors_err fors_lanes_read(const struct fors_fabric *fabric, const struct fors_lfts *lfts, struct fors_lanes **lanes,
			      struct fors_error *error)
{
	struct fors_lanes *l = calloc(1, sizeof(*l));

	if (!l)
		return fors_fail_memory(error);
	l->nlids = lid_end(fabric, lfts);
	l->up = malloc((size_t)fabric->nleaves * l->nlids + 1);
	l->down = malloc((size_t)fabric->nspines * l->nlids + 1);
	if (!l->up || !l->down) {
		fors_lanes_free(l);
		return fors_fail_memory(error);
	}
	memset(l->up, FORS_NO_LANE, (size_t)fabric->nleaves * l->nlids);
	memset(l->down, FORS_NO_LANE, (size_t)fabric->nspines * l->nlids);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		read_leaf(fabric, lfts, a, l->up + (size_t)a * l->nlids);
	for (uint32_t k = 0; k < fabric->nspines; k++)
		read_spine(fabric, lfts, k, l->down + (size_t)k * l->nlids);
	*lanes = l;
	return FORS_OK;
}

static bool matches(const struct fors_fabric *f, const struct fors_lanes *lanes, uint32_t leaf, uint32_t d,
		    uint32_t index, uint32_t up, uint32_t down)
{
	return fors_lane_to(f, lanes, leaf, d, index) == up && fors_lane_down(f, lanes, up, d, index) == down;
}

uint8_t fors_path_index(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint32_t leaf, uint32_t d,
			uint32_t up, uint32_t down)
{
	const struct fors_server *server = &fabric->server[d];
	uint32_t count = fors_home_nindices(fabric->lmc);
	uint32_t base = fors_home_lane(fabric, server->leaf, server->slot, 0);
	uint32_t home = fors_home_index(fabric->nlanes, base, up);

	if (home < count && matches(fabric, lanes, leaf, d, home, up, down))
		return (uint8_t)home;
	for (uint32_t i = 0; i < count; i++)
		if (matches(fabric, lanes, leaf, d, i, up, down))
			return (uint8_t)i;
	return FORS_NO_INDEX;
}

/* Count the flows from a leaf to server d. */
static void load_way(const struct fors_fabric *f, const struct fors_lanes *lanes, uint32_t a, uint32_t d, uint64_t *up,
		     uint64_t *down)
{
	uint32_t b = f->server[d].leaf, own = f->leaf[a].nservers;
	uint8_t lane = a == b ? FORS_NO_LANE : fors_lane_to(f, lanes, a, d, 0);

	if (lane == FORS_NO_LANE)
		return;
	up[(size_t)a * f->nlanes + lane] += own;
	lane = fors_lane_down(f, lanes, lane, d, 0);
	if (lane != FORS_NO_LANE)
		down[(size_t)b * f->nlanes + lane] += own;
}

#define NO_LINK SIZE_MAX

/* The fullest link, up ones first, and its phases; NO_LINK: none needs more than there are servers. */
static enum fors_err find_fullest(const struct fors_fabric *fabric, const struct fors_lanes *lanes, size_t *fullest,
				  uint64_t *phases, struct fors_error *error)
{
	size_t nlinks = (size_t)fabric->nleaves * fabric->nlanes;
	uint64_t *load = calloc(2 * nlinks + 1, sizeof(*load));

	if (!load)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t d = 0; d < fabric->nservers; d++)
			load_way(fabric, lanes, a, d, load, load + nlinks);
	*fullest = NO_LINK;
	*phases = fabric->nservers;
	for (size_t i = 0; i < 2 * nlinks; i++) {
		uint64_t capacity = fabric->cable[i % nlinks].capacity;

		if (load[i] <= *phases * capacity)
			continue;
		*fullest = i;
		*phases = (load[i] + capacity - 1) / capacity;
	}
	free(load);
	return FORS_OK;
}

/* The cable of a leaf and a lane, up or down. */
static enum fors_err add_link(const struct fors_fabric *fabric, size_t cable, bool is_up, struct fors_witness *witness,
			      struct fors_error *error)
{
	size_t leaf = cable / fabric->nlanes, lane = cable % fabric->nlanes;

	if (is_up)
		return fors_witness_add(witness, fabric->leaf[leaf].guid, fabric->cable[cable].leaf_port, 1, error);
	return fors_witness_add(witness, fabric->spine[fabric->lane[lane].spine].guid, fabric->cable[cable].spine_port,
				1, error);
}

enum fors_err fors_lanes_bound(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint64_t *bound,
			       struct fors_error *error)
{
	size_t fullest;

	return find_fullest(fabric, lanes, &fullest, bound, error);
}

enum fors_err fors_lanes_witness(const struct fors_fabric *fabric, const struct fors_lanes *lanes,
				 struct fors_witness *witness, struct fors_error *error)
{
	size_t nlinks = (size_t)fabric->nleaves * fabric->nlanes, fullest;
	enum fors_err err = find_fullest(fabric, lanes, &fullest, &witness->bound, error);

	if (!err)
		witness->by = fullest == NO_LINK ? FORS_BY_PORT : FORS_BY_LINK;
	if (!err && fullest != NO_LINK)
		err = add_link(fabric, fullest % nlinks, fullest < nlinks, witness, error);
	return err;
}
