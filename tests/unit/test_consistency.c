/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_consistency.c - what happens while tables change.
 *
 * OpenSM sends the changed blocks (64 entries) of all switches, and they take effect in no particular order. So for a
 * failure and for a recovery the changed blocks are applied one by one in random order, and in between:
 *
 *  - nothing goes round in circles, from whatever switch, to whatever LID;
 *  - entries that are home-healthy before and after keep their path, link for link;
 *  - what arrived by the old tables over cables that live still arrives. So the plan of the old epoch can be
 *    delivered until the new one is out, but for its flows on dead cables.
 *
 * The cables are those after the change. A switch that comes back has its new table at once: no packet comes to it
 * before, because OpenSM activates its ports when all tables are set.
 *
 * Two kinds of LIDs may loop for the moment in which the block of one switch is in and that of another is not, and
 * must be whole at the end: see may_loop().
 */
#include "core/net/lfts.h"
#include "support.h"

#include "core/fabric/places.h"
#include "core/fabric/places_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64
#define MAX_HOPS 12
#define LOST FORS_NONE
#define LOOP (FORS_NONE - 1)

/* A LID that somebody has. */
struct target {
	uint32_t lid, node;
	uint32_t leaf, home; /* of a server: its leaf, and its home lane there; else FORS_NONE */
	bool is_sm;
	bool is_varied; /* its home is not one lane for all leaves; what then holds is tested in test_level.c */
};

/* An update from one fabric to another. */
struct update {
	struct fors_net *net[2]; /* before, after */
	struct fors_fabric *fabric[2];
	struct fors_lfts *lfts[2];
	struct fors_lfts *mixed; /* what the switches hold now */
	uint32_t *row;		 /* [node]: of its table, FORS_NONE: no switch */
	struct target *target;
	uint32_t ntargets;
	uint32_t *block, nblocks;      /* row * blocks per row + number: those that differ */
	uint64_t loops, waits, checks; /* those that may_loop() and waits_for_stand_in() allow; walks */
	const char *what;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (err)
		fail_msg("%s", error->text);
}

/* --- walking -------------------------------------------------------------- */

struct path {
	uint32_t end; /* node, LOST or LOOP */
	uint32_t nlinks;
	uint32_t link[MAX_HOPS]; /* port of the net that it leaves by */
};

static struct path walk(const struct update *u, const struct fors_net *net, const struct fors_lfts *lfts, uint32_t node,
			uint32_t lid)
{
	struct path path = {.end = LOOP};

	while (path.nlinks < MAX_HOPS) {
		uint8_t port = u->row[node] == FORS_NONE ? 0 : fors_lfts_port(lfts, u->row[node], lid);

		if (port == 0) {
			path.end = node;
			return path;
		}
		path.link[path.nlinks] = net->node[node].first_port + port;
		if (port == FORS_NO_PATH || port > net->node[node].nports ||
		    net->port[path.link[path.nlinks]].peer == FORS_NONE) {
			path.end = LOST;
			return path;
		}
		node = net->port[path.link[path.nlinks++]].peer;
	}
	return path;
}

static bool lives(const struct fors_net *net, const struct path *path)
{
	for (uint32_t i = 0; i < path->nlinks; i++)
		if (net->port[path->link[i]].peer == FORS_NONE)
			return false;
	return true;
}

static bool is_same(const struct path *a, const struct path *b)
{
	return a->end == b->end && a->nlinks == b->nlinks && !memcmp(a->link, b->link, a->nlinks * sizeof(a->link[0]));
}

/* --- what is demanded of a mixed state ------------------------------------ */

static bool have_common_spine(const struct fors_fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t j = 0; j < f->nlanes; j++)
		for (uint32_t k = 0; k < f->nlanes; k++)
			if (f->lane[j].spine == f->lane[k].spine && fors_live(f, a, j) && fors_live(f, b, k))
				return true;
	return false;
}

/* Has another living leaf no spine in common with it? Then a plan is impossible, and its LIDs take detours. */
static bool is_apart(const struct fors_fabric *f, uint32_t b)
{
	for (uint32_t a = 0; a < f->nleaves; a++)
		if (a != b && f->leaf[a].nlive && !have_common_spine(f, a, b))
			return true;
	return false;
}

/*
 * A spine k that loses its cable to leaf b needs a way down and up again for LIDs that it must always reach: those of
 * subnet managers, of switches, and any if CAs are plugged in at the spine. All leaves that it can ask have sent
 * such LIDs with home k up to k before: any way that k takes is a loop until that leaf has its new block. No
 * table for k avoids it, except the one without a way.
 */
static bool may_loop(const struct update *u, const struct target *target)
{
	if (target->leaf == FORS_NONE || target->is_sm || is_apart(u->fabric[0], target->leaf) ||
	    is_apart(u->fabric[1], target->leaf))
		return true;
	for (uint32_t k = 0; k < u->fabric[1]->nspines; k++) {
		uint32_t node = u->fabric[1]->spine[k].node;

		for (unsigned p = 1; node != FORS_NONE && p <= u->net[1]->node[node].nports; p++) {
			uint32_t peer = fors_net_port(u->net[1], node, p)->peer;

			if (peer != FORS_NONE && u->net[1]->node[peer].type != FORS_SWITCH)
				return true;
		}
	}
	return false;
}

static bool is_home_healthy(const struct update *u, uint32_t a, const struct target *target)
{
	if (target->is_varied)
		return false;
	for (int when = 0; when < 2; when++)
		if (!fors_live(u->fabric[when], a, target->home) ||
		    !fors_live(u->fabric[when], target->leaf, target->home))
			return false;
	return true;
}

/*
 * Parallel cables: an entry that has just come to a spine (for the levelling) may find there the old port of a cable
 * that is dead, where another cable of that spine to the leaf stands in as soon as the spine has its new block.
 * Keeping entries away from such spines for ever would cost more than the moment.
 */
static bool waits_for_stand_in(const struct update *u, const struct path *path, const struct target *target)
{
	const struct fors_fabric *is = u->fabric[1];
	uint32_t spine, port;

	if (path->end != LOST || !path->nlinks)
		return false;
	spine = u->net[1]->port[path->link[path->nlinks - 1]].peer;
	port = spine == FORS_NONE || u->row[spine] == FORS_NONE ? 0
								: fors_lfts_port(u->mixed, u->row[spine], target->lid);
	for (uint32_t k = 0; k < is->nlanes; k++)
		if (is->spine[is->lane[k].spine].node == spine && fors_cable(is, target->leaf, k)->spine_port == port)
			return !fors_live(is, target->leaf, k);
	return false;
}

static void check_from_leaf(struct update *u, uint32_t a, const struct target *target, const struct path *now)
{
	uint32_t node = u->fabric[0]->leaf[a].node;
	struct path before = walk(u, u->net[0], u->lfts[0], node, target->lid);

	if (before.end != target->node || !lives(u->net[1], &before))
		return;
	if (now->end != target->node && waits_for_stand_in(u, now, target))
		u->waits++;
	else if (now->end != target->node)
		fail_msg("%s: LID %u from %s ends at %d, although its old way lives", u->what, target->lid,
			 u->fabric[0]->leaf[a].name, (int)now->end);
	if (target->leaf != a && is_home_healthy(u, a, target) && !is_same(&before, now))
		fail_msg("%s: LID %u from %s is home-healthy and goes another way", u->what, target->lid,
			 u->fabric[0]->leaf[a].name);
}

static uint32_t leaf_of(const struct fors_fabric *fabric, uint32_t node)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		if (fabric->leaf[a].node == node)
			return a;
	return FORS_NONE;
}

static void check_target(struct update *u, const struct target *target, bool loops_allowed)
{
	for (uint32_t node = 0; node < u->net[1]->nnodes; node++) {
		struct path now;
		uint32_t a;

		if (u->row[node] == FORS_NONE)
			continue;
		now = walk(u, u->net[1], u->mixed, node, target->lid);
		u->checks++;
		if (now.end == LOOP && !loops_allowed)
			fail_msg("%s: LID %u goes round in circles from %s", u->what, target->lid,
				 u->net[1]->node[node].id);
		u->loops += now.end == LOOP;
		a = leaf_of(u->fabric[0], node);
		if (a != FORS_NONE && target->leaf != FORS_NONE && !loops_allowed)
			check_from_leaf(u, a, target, &now);
	}
}

static void check_state(struct update *u, bool is_mixed)
{
	for (uint32_t i = 0; i < u->ntargets; i++)
		check_target(u, &u->target[i], is_mixed && may_loop(u, &u->target[i]));
}

/* --- making an update ----------------------------------------------------- */

static void add_targets(struct update *u, uint32_t node, unsigned port, struct target like)
{
	const struct fors_port *at = fors_net_port(u->net[0], node, port);
	uint32_t nlanes = u->fabric[0]->nlanes;

	for (uint32_t i = 0; at->lid && i < 1u << at->lmc; i++) {
		u->target = realloc(u->target, (u->ntargets + 1) * sizeof(*u->target));
		assert_non_null(u->target);
		u->target[u->ntargets] = like;
		u->target[u->ntargets].lid = at->lid + i;
		u->target[u->ntargets].node = node;
		u->target[u->ntargets].is_sm = at->is_sm;
		if (like.leaf != FORS_NONE && nlanes)
			u->target[u->ntargets].home = (like.home + i) % nlanes;
		u->ntargets++;
	}
}

/* All LIDs of the net; servers as the intact fabric has them. */
static void find_targets(struct update *u, const struct fors_fabric *intact)
{
	const struct target odd = {.leaf = FORS_NONE, .home = FORS_NONE};

	for (uint32_t s = 0; s < intact->nservers; s++) {
		const struct fors_server *d = &intact->server[s];

		add_targets(u, d->node, 1,
			    (struct target){.leaf = d->leaf,
					    .home = fors_slot(intact, d->leaf, d->slot)->home,
					    .is_varied = fors_slot(intact, d->leaf, d->slot)->is_varied});
	}
	for (uint32_t node = 0; node < u->net[0]->nnodes; node++)
		if (u->net[0]->node[node].type == FORS_SWITCH)
			add_targets(u, node, 0, odd);
		else if (strncmp(u->net[0]->node[node].id, "Extra", 5) == 0)
			add_targets(u, node, 1, odd);
}

static bool has_cable(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->peer != FORS_NONE)
			return true;
	return false;
}

/* Rows of nodes; the changed blocks; the tables before, but for switches that come back. */
static void find_blocks(struct update *u)
{
	uint32_t nlids = u->lfts[0]->nlids, per_row = (nlids + BLOCK - 1) / BLOCK;

	u->row = calloc(u->net[0]->nnodes, sizeof(*u->row));
	u->block = calloc((size_t)u->lfts[0]->nswitches * per_row, sizeof(*u->block));
	u->mixed = fors_lfts_new(u->lfts[0]->nswitches, nlids);
	assert_true(u->row && u->block && u->mixed);
	memcpy(u->mixed->port, u->lfts[0]->port, (size_t)u->lfts[0]->nswitches * nlids);
	for (uint32_t node = 0; node < u->net[0]->nnodes; node++) {
		uint32_t row = fors_lfts_row(u->lfts[0], u->net[0]->node[node].guid);
		const uint8_t *old, *new;

		u->row[node] = row;
		if (row == FORS_NONE)
			continue;
		old = u->lfts[0]->port + (size_t)row * nlids;
		new = u->lfts[1]->port + (size_t)row *nlids;
		if (!has_cable(u->net[0], node))
			memcpy(u->mixed->port + (size_t)row * nlids, new, nlids);
		for (uint32_t b = 0; b < per_row && has_cable(u->net[0], node); b++)
			if (memcmp(old + b * BLOCK, new + b *BLOCK,
				   nlids - b * BLOCK < BLOCK ? nlids - b * BLOCK : BLOCK))
				u->block[u->nblocks++] = row * per_row + b;
	}
}

static void apply_block(struct update *u, uint32_t block)
{
	uint32_t nlids = u->mixed->nlids, per_row = (nlids + BLOCK - 1) / BLOCK, first = block % per_row * BLOCK;
	size_t at = (size_t)(block / per_row) * nlids + first;

	memcpy(u->mixed->port + at, u->lfts[1]->port + at, nlids - first < BLOCK ? nlids - first : BLOCK);
}

/* Apply all changed blocks in a random order, look at every `stride`th state and at the last. */
static void apply_all(struct update *u, struct rng *rng, uint32_t stride)
{
	check_state(u, true);
	for (uint32_t left = u->nblocks; left; left--) {
		uint32_t pick = rng_below(rng, left), block = u->block[pick];

		u->block[pick] = u->block[left - 1];
		u->block[left - 1] = block;
		apply_block(u, block);
		if (left % stride == 1 || stride == 1)
			check_state(u, true);
	}
	assert_memory_equal(u->mixed->port, u->lfts[1]->port, (size_t)u->mixed->nswitches * u->mixed->nlids);
	check_state(u, false);
}

static void build(const struct bed *bed, struct update *u, int when)
{
	struct fors_error error;

	must(fors_fabric_build(u->net[when], bed->places, NULL, &u->fabric[when], &error), &error);
	must(fors_tables_build(u->fabric[when], &u->lfts[when], &error), &error);
}

/* What was seen of one kind of update. */
struct tally {
	uint64_t updates, blocks, loops, waits, checks;
};

/* From one net to another, in a random order; the nets stay the caller's. */
static void run_update(const struct bed *bed, struct fors_net *from, struct fors_net *to, const char *what,
		       struct rng *rng, struct tally *tally)
{
	struct update u = {.net = {from, to}, .what = what};

	build(bed, &u, 0);
	build(bed, &u, 1);
	find_targets(&u, bed->fabric);
	find_blocks(&u);
	apply_all(&u, rng, 1 + u.nblocks / 6);
	tally->updates++;
	tally->blocks += u.nblocks;
	tally->loops += u.loops;
	tally->waits += u.waits;
	tally->checks += u.checks;
	for (int when = 0; when < 2; when++) {
		fors_lfts_free(u.lfts[when]);
		fors_fabric_free(u.fabric[when]);
	}
	fors_lfts_free(u.mixed);
	free(u.row);
	free(u.block);
	free(u.target);
}

/* --- what changes --------------------------------------------------------- */

static struct fors_net *copy_of(const struct fors_net *net)
{
	struct fors_net *copy;
	struct fors_error error;

	must(fors_net_copy(net, &copy, &error), &error);
	return copy;
}

/* Kill a random cable between switches, or (now and then) a whole node. */
static void kill_something(struct fors_net *net, struct rng *rng)
{
	bool is_node = rng_below(rng, 5) == 0;

	for (unsigned tries = 0; tries < 1000; tries++) {
		uint32_t node = rng_below(rng, net->nnodes);
		unsigned port = 1 + rng_below(rng, net->node[node].nports);
		uint32_t peer = fors_net_port(net, node, port)->peer;

		if (peer == FORS_NONE)
			continue;
		if (!is_node && (net->node[node].type != FORS_SWITCH || net->node[peer].type != FORS_SWITCH))
			continue;
		fors_net_disconnect(net, node, port);
		for (unsigned p = 1; is_node && p <= net->node[node].nports; p++)
			fors_net_disconnect(net, node, p);
		return;
	}
}

/* A failure on top of others, and the way back. */
static void try_failure(const struct bed *bed, const char *spec, struct rng *rng, struct tally *tally)
{
	struct fors_net *light = copy_of(bed->intact), *heavy;
	char what[120];

	for (uint32_t n = rng_below(rng, 1 + bed->fabric->nleaves * bed->fabric->nlanes / 4); n; n--)
		kill_something(light, rng);
	heavy = copy_of(light);
	for (uint32_t n = 1 + rng_below(rng, 3); n; n--)
		kill_something(heavy, rng);
	snprintf(what, sizeof(what), "%s, LMC %u, failure", spec, bed->fabric->lmc);
	run_update(bed, light, heavy, what, rng, tally);
	snprintf(what, sizeof(what), "%s, LMC %u, recovery", spec, bed->fabric->lmc);
	run_update(bed, heavy, light, what, rng, tally);
	fors_net_free(light);
	fors_net_free(heavy);
}

static void try_fabric(const char *spec, unsigned lmc, uint32_t rounds, struct rng *rng, struct tally *tally)
{
	struct bed *bed FREED(bed_free) = bed_new(spec, lmc);

	if (rng_below(rng, 2))
		fors_net_port(bed->intact, bed->fabric->server[rng_below(rng, bed->fabric->nservers)].node, 1)->is_sm =
			true;
	bed_restore(bed);
	for (uint32_t round = 0; round < rounds; round++)
		try_failure(bed, spec, rng, tally);
}

static void report(const char *what, const struct tally *tally)
{
	print_message(
		"%s: %llu updates of %llu blocks, %llu walks, of which %llu loop for a moment to LIDs that may, and "
		"%llu wait for a stand-in\n",
		what, (unsigned long long)tally->updates, (unsigned long long)tally->blocks,
		(unsigned long long)tally->checks, (unsigned long long)tally->loops, (unsigned long long)tally->waits);
}

/* --- homes ranked afresh ---------------------------------------------------- */

/* Every leaf reaches every server over one spine, and nothing goes round in circles. */
static void check_strictly(const struct update *u)
{
	for (uint32_t t = 0; t < u->ntargets; t++)
		for (uint32_t node = 0; node < u->net[1]->nnodes; node++) {
			const struct target *target = &u->target[t];
			bool is_between = target->leaf != FORS_NONE && leaf_of(u->fabric[0], node) != FORS_NONE;
			struct path now;

			if (u->row[node] == FORS_NONE)
				continue;
			now = walk(u, u->net[1], u->mixed, node, target->lid);
			if (now.end == LOOP || (is_between && (now.end != target->node || now.nlinks > 3)))
				fail_msg("%s: LID %u from %s ends at %d after %u links", u->what, target->lid,
					 u->net[1]->node[node].id, (int)now.end, now.nlinks);
		}
}

/* From homes as arrivals left them to ranked ones, in a random order, looking at some of the states. */
static void run_ranking(struct bed *bed, struct fors_places *places, const char *what, struct rng *rng)
{
	struct update u = {.net = {bed->net, bed->net}, .what = what};
	struct fors_error error;

	must(fors_fabric_build(bed->net, places, NULL, &u.fabric[0], &error), &error);
	must(fors_tables_build(u.fabric[0], &u.lfts[0], &error), &error);
	must(fors_places_rank(places, NULL, &error), &error);
	must(fors_fabric_build(bed->net, places, NULL, &u.fabric[1], &error), &error);
	must(fors_tables_build(u.fabric[1], &u.lfts[1], &error), &error);
	find_targets(&u, u.fabric[0]);
	find_blocks(&u);
	check_strictly(&u);
	for (uint32_t left = u.nblocks; left; left--) {
		uint32_t pick = rng_below(rng, left), block = u.block[pick];

		u.block[pick] = u.block[left - 1];
		apply_block(&u, block);
		if (left % (1 + u.nblocks / 12) == 0 || left == 1)
			check_strictly(&u);
	}
	for (int when = 0; when < 2; when++) {
		fors_lfts_free(u.lfts[when]);
		fors_fabric_free(u.fabric[when]);
	}
	fors_lfts_free(u.mixed);
	free(u.row);
	free(u.block);
	free(u.target);
}

/* What a subnet manager knows that started with half of the servers, and one spine less. */
static struct fors_places *places_of_latecomers(struct bed *bed, struct rng *rng)
{
	struct fors_places *places = fors_places_new();
	struct fors_net *net FREED(fors_net_free) = copy_of(bed->intact);
	struct fors_error error;

	for (uint32_t s = 0; s < bed->fabric->nservers; s++)
		if (s && rng_below(rng, 2))
			fors_net_disconnect(net, bed->fabric->server[s].node, 1);
	for (unsigned p = 1; p <= net->node[bed->fabric->spine[0].node].nports && rng_below(rng, 2); p++)
		fors_net_disconnect(net, bed->fabric->spine[0].node, p);
	must(fors_places_learn(places, net, NULL, 0, &error), &error);
	must(fors_places_learn(places, bed->intact, NULL, 0, &error), &error);
	return places;
}

TEST(a_ranking_loses_nothing)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;4,5;servers=7)", "FT(2;3,6;cables=2;servers=9)",
					    "FT(2;6,5;servers=4;empty=1/1,3/0)", "FT(2;5,7;servers=11;empty=0/3,6/8)"};
	struct rng rng = {11};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned lmc = 0; lmc < 3; lmc++) {
			struct bed *bed FREED(bed_free) = bed_new(specs[i], lmc);

			for (int again = 0; again < 6; again++) {
				struct fors_places *places FREED(fors_places_free) = places_of_latecomers(bed, &rng);

				run_ranking(bed, places, specs[i], &rng);
			}
		}
}

TEST(any_order_is_safe)
{
	static const char *const specs[] = {
		"FT(2;4,5)",
		"FT(2;3,4;servers=6;cables=2)",
		"FT(2;2,5;servers=3;cables=3)",
		"FT(2;6,4;servers=3)",
		"FT(2;3,6;servers=8)",
		"FT(2;8,6;empty=0/0,0/1,3/4,5/7)",
		"FT(2;5,3;servers=1)",
		"FT(2;1,4)",
	};
	struct rng rng = {.state = 33};
	struct tally tally = {0};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned lmc = 0; lmc <= 5; lmc++)
			try_fabric(specs[i], lmc, 12, &rng, &tally);
	report("two-level trees", &tally);
	assert_true(tally.updates == 2 * 12 * 6 * sizeof(specs) / sizeof(specs[0]) && tally.blocks > tally.updates);
}

/* The model case, as few times as time allows. */
TEST(model_case)
{
	struct rng rng = {.state = 34};
	struct tally tally = {0};

	try_fabric("FT(2;20,18)", 5, 1, &rng, &tally);
	report("FT(2;20,18)", &tally);
}
