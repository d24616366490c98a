/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same proof as verify.c's, for plans that are right, at a fraction of the time: it knows no words. It walks every
 * flow through the same tables, hop by hop, and asks the same of it; what is left out is all that only a problem needs, and
 * where anything is wrong, or odd, verify.c goes over the plan and says what.
 *
 *	blocks		32 phases, or as many whole rounds, are looked at together, server by server, since that is how cells
 *			lie in memory. A cable, and a receiver, has a bit for each of these phases: one that is set twice is a
 *			conflict. A cable with room for k flows has k of them: what is set already carries to the next
 *	hops		a table says a port, and with the place of the switch's ports before it that is the cable's: no look at
 *			nodes
 *	units		in rounds the servers of a group send to a receiver one after another. What the tables do with a LID
 *			from a switch on is the same for all of them, so it is walked once in a block, and its cables get the
 *			bits of all phases in which one of them sends
 *	pairs		P (P - 1) flows, none to its sender, and as many different pairs: so every pair met once. In rounds all
 *			servers of a group send to all that its cells name: the cells say who met, and nobody notes it flow by
 *			flow, each a line of memory that was last seen a block ago
 *
 * Blocks do not depend on each other: they are shared among threads, each with bits of its own, and what is found is a
 * sum and a union in the end. A cell is 4 bytes and 32 of them two cache lines; the bits of the cables of 64 switches with
 * 36 ports are 9 KB.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "verify_inside.h"

#define BLOCK 32	      /* phases, no more: the bits of a uint32_t */
#define LANES 256	      /* what a lane's byte can say */
#define TO_SERVER 0x80000000u /* beside the number of a CA's port */
#define THREAD_FLOWS 16384    /* are worth a thread more */
#define WRONG FORS_ENOPLAN    /* what ends the loop */

/* Where a server is, and how it is called. */
struct server {
	uint32_t door;	/* what `next` has for the cable to it */
	uint32_t home;	/* its switch */
	uint32_t group; /* in rounds: its group */
	uint16_t lid;
	uint8_t lmc;
};

/* A switch; one without a table has no port. */
struct post {
	const uint8_t *row;
	uint32_t first; /* its port 0 as index of net->port */
	uint32_t nports;
};

/* The servers that send as one, in rounds: member m is server first + m * parts. */
struct group {
	uint32_t first, members;
};

/* The fabric in numbers of switches; cable: the port that sends, as index of net->port. */
struct map {
	const struct fors_schedule *schedule;
	uint32_t block; /* phases that are looked at together */
	uint32_t nswitches;
	size_t ncables;
	size_t *bits;	   /* cable -> its first row of bits, as many as it has room for; one more: of the receivers */
	uint32_t *number;  /* node -> switch, FORS_NONE */
	struct post *post; /* per switch */
	uint32_t *next;	   /* cable -> switch, or TO_SERVER | port of the net; FORS_NONE: nowhere */
	struct server *server; /* P */
	uint32_t *spine;       /* lane -> switch, FORS_NONE; for each value of a lane's byte */
	uint32_t *named;       /* switch of schedule->ways -> switch, FORS_NONE */
	size_t met_words;      /* in a row of met */
	struct group *group; /* leaf * parts + group of its servers; NULL: not in rounds, or more of them than turns */
};

/* What a thread has found. */
struct part {
	uint32_t *taken;		  /* per cable, and then per receiver: when in the block it carries a flow */
	uint64_t *met;			  /* P rows of met_words: s sent to d; NULL: in rounds */
	bool *is_used;			  /* per cable; NULL: nobody asks */
	uint32_t trail[FORS_WAY_MAX + 1]; /* cables of a walk */
	uint32_t deepest;		  /* flows on a cable in a phase, at most */
	uint64_t nflows;
} __attribute__((aligned(64))); /* threads do not write into each other's cache lines */

struct loop {
	struct map map;
	struct part part[FORS_MAX_THREADS];
	unsigned threads;
	uint64_t *named; /* in rounds: for each group met_words, the receivers that its cells name */
	bool (*cancelled)(void *context);
	void *context;
};

/* ---- the map ---- */

static void number_switches(const struct check *check, struct map *map)
{
	for (uint32_t node = 0; node < check->net->nnodes; node++)
		map->number[node] = check->net->node[node].type == FORS_SWITCH ? map->nswitches++ : FORS_NONE;
}

static uint32_t number_of(const struct map *map, uint32_t node)
{
	return node == FORS_NONE ? FORS_NONE : map->number[node];
}

/* The cables out of a switch; one without a table leads nowhere. */
static void map_switch(const struct check *check, uint32_t node, struct map *map)
{
	const struct fors_net *net = check->net;
	const struct fors_lfts *lfts = check->lfts;
	uint32_t number = map->number[node], row = check->row_of[node];
	uint32_t *next = map->next + net->node[node].first_port;

	map->post[number] = (struct post){.row = lfts->port + (size_t)(row == FORS_NONE ? 0 : row) * lfts->nlids,
					  .first = net->node[node].first_port,
					  .nports = row == FORS_NONE ? 0 : net->node[node].nports};
	for (unsigned p = 1; p <= map->post[number].nports; p++) {
		const struct fors_port *port = fors_net_port(net, node, p);

		if (port->peer != FORS_NONE && net->node[port->peer].type == FORS_SWITCH)
			next[p] = map->number[port->peer];
		else if (port->peer != FORS_NONE)
			next[p] = TO_SERVER | (net->node[port->peer].first_port + port->peer_port);
	}
}

/* The group of a server. */
static uint32_t group_of(const struct fors_schedule *schedule, uint32_t s)
{
	return schedule->server[s].leaf * schedule->parts + schedule->server[s].rank % schedule->parts;
}

/* False: LIDs that no table has, or two servers with one port. */
static bool map_servers(const struct check *check, struct map *map)
{
	const struct fors_schedule *schedule = check->schedule;
	uint8_t *is_taken = calloc(check->net->nports + 1, 1);
	bool is_plain = is_taken;

	for (uint32_t s = 0; is_plain && s < schedule->nservers; s++) {
		const struct fors_schedule_server *from = &schedule->server[s];
		uint32_t port = check->place[s].link;

		is_plain = !is_taken[port] && from->lid + (1u << from->lmc) <= check->lfts->nlids;
		is_taken[port] = 1;
		map->server[s] = (struct server){.door = TO_SERVER | port,
						 .home = map->number[check->place[s].leaf],
						 .group = schedule->parts ? group_of(schedule, s) : 0,
						 .lid = from->lid,
						 .lmc = from->lmc};
	}
	free(is_taken);
	return is_plain;
}

static uint32_t count_groups(const struct fors_schedule *schedule)
{
	return schedule->nleaves * schedule->parts;
}

/* False: out of memory. */
static bool map_groups(struct map *map)
{
	const struct fors_schedule *schedule = map->schedule;
	bool is_plain = true;

	if (!schedule->parts)
		return true;
	map->group = calloc(count_groups(schedule) + (size_t)1, sizeof(*map->group));
	for (uint32_t s = 0; map->group && s < schedule->nservers; s++) {
		const struct fors_schedule_server *server = &schedule->server[s];
		struct group *group = &map->group[group_of(schedule, s)];

		group->first = group->members ? group->first : s;
		is_plain &= s == group->first + group->members++ * schedule->parts;
		is_plain &= server->rank / schedule->parts + 1u == group->members &&
			    group->members <= schedule->round_length;
	}
	if (!map->group || is_plain)
		return map->group;
	free(map->group);
	map->group = NULL;
	return true;
}

static void map_names(const struct check *check, struct map *map)
{
	const struct fors_waylist *ways = check->schedule->ways;

	for (uint32_t lane = 0; lane < LANES; lane++)
		map->spine[lane] = lane < check->schedule->nlanes ? number_of(map, check->lane_node[lane]) : FORS_NONE;
	for (uint32_t sw = 0; ways && sw < ways->nswitches; sw++)
		map->named[sw] = number_of(map, fors_net_find_guid(check->net, ways->guid[sw]));
}

/* Of a few flows in a large fabric the map would be most of the work. */
static bool is_worth_it(const struct map *map)
{
	return (uint64_t)map->schedule->nservers * map->schedule->nphases >= (uint64_t)map->nswitches * 4;
}

/* What has bits. */
static size_t count_rows(const struct map *map)
{
	return map->bits[map->ncables] + map->schedule->nservers;
}

static void lay_out_bits(const struct check *check, struct map *map)
{
	map->bits[0] = 0;
	for (size_t cable = 0; cable < map->ncables; cable++)
		map->bits[cable + 1] = map->bits[cable] + fors_verify_room(check, (uint32_t)cable);
}

/* Whole rounds where a block has room for one: their cells are read once. */
static void choose_block(struct map *map)
{
	const struct fors_schedule *schedule = map->schedule;

	map->block =
		schedule->parts && schedule->round_length <= BLOCK ? BLOCK - BLOCK % schedule->round_length : BLOCK;
}

/* False: out of memory, or too odd a fabric to be sure of, or too few flows. */
static bool make_map(const struct check *check, struct map *map)
{
	const struct fors_schedule *schedule = check->schedule;
	size_t nnamed = schedule->ways ? schedule->ways->nswitches : 0, p = schedule->nservers;

	map->schedule = schedule;
	map->met_words = p / 64 + 1;
	map->number = calloc(check->net->nnodes + 1, sizeof(*map->number));
	if (!map->number || !check->lfts->nswitches)
		return false;
	number_switches(check, map);
	if (!is_worth_it(map))
		return false;
	map->ncables = check->net->nports;
	map->post = malloc((map->nswitches + (size_t)1) * sizeof(*map->post));
	map->next = malloc((map->ncables + 1) * sizeof(*map->next));
	map->bits = malloc((map->ncables + 1) * sizeof(*map->bits));
	map->server = malloc((p + 1) * sizeof(*map->server));
	map->spine = malloc(LANES * sizeof(*map->spine));
	map->named = malloc((nnamed + 1) * sizeof(*map->named));
	if (!map->post || !map->next || !map->bits || !map->server || !map->spine || !map->named)
		return false;
	memset(map->next, 0xFF, map->ncables * sizeof(*map->next));
	for (uint32_t node = 0; node < check->net->nnodes; node++)
		if (map->number[node] != FORS_NONE)
			map_switch(check, node, map);
	map_names(check, map);
	lay_out_bits(check, map);
	if (!map_servers(check, map) || !map_groups(map))
		return false;
	choose_block(map);
	return true;
}

static void free_map(struct map *map)
{
	free(map->number);
	free(map->post);
	free(map->next);
	free(map->bits);
	free(map->server);
	free(map->spine);
	free(map->named);
	free(map->group);
}

/* False: out of memory. */
static bool make_parts(struct loop *loop, bool asks_use)
{
	const struct map *map = &loop->map;
	const struct fors_schedule *schedule = map->schedule;
	bool is_good = true;

	if (schedule->parts)
		loop->named = calloc(count_groups(schedule) * map->met_words + 1, sizeof(*loop->named));
	for (unsigned i = 0; i < loop->threads; i++) {
		struct part *part = &loop->part[i];

		part->taken = malloc((count_rows(map) + 1) * sizeof(*part->taken));
		part->met = loop->named ? NULL : calloc(map->met_words * schedule->nservers, sizeof(*part->met));
		part->is_used = asks_use ? calloc(map->ncables + 1, 1) : NULL;
		is_good &= part->taken && (part->met || loop->named) && (part->is_used || !asks_use);
	}
	return is_good;
}

static void free_parts(struct loop *loop)
{
	free(loop->named);
	for (unsigned i = 0; i < loop->threads; i++) {
		free(loop->part[i].taken);
		free(loop->part[i].met);
		free(loop->part[i].is_used);
	}
}

/* ---- flows ---- */

/* One hop from a switch: its cable is noted; returns where that leads. */
static inline uint32_t hop(const struct map *map, uint32_t sw, uint32_t lid, uint32_t *cable)
{
	const struct post *post = &map->post[sw];
	uint32_t port = post->row[lid];

	*cable = post->first + port;
	return port > post->nports ? FORS_NONE : map->next[*cable];
}

/* Inside a leaf, naming no lane, or over the spine of the lane: the cables to the receiver, how many; 0: it does not arrive. */
static inline uint32_t cross_tree(const struct map *map, uint32_t home, const struct server *to, uint32_t lid,
				  uint8_t lane, uint32_t *trail)
{
	uint32_t at = hop(map, home, lid, &trail[0]);

	if (at & TO_SERVER)
		return at == to->door && lane == FORS_NO_LANE;
	if (at != map->spine[lane])
		return 0;
	at = hop(map, at, lid, &trail[1]);
	return !(at & TO_SERVER) && hop(map, at, lid, &trail[2]) == to->door ? 3 : 0;
}

/* The same over exactly the switches and ports of way `number`. */
static inline uint32_t cross_ways(const struct map *map, uint32_t at, const struct server *to, uint32_t lid,
				  uint32_t number, uint32_t *trail)
{
	const struct fors_waylist *ways = map->schedule->ways;

	for (uint32_t n = 0; number != FORS_NONE && n < FORS_WAY_MAX; n++) {
		const struct fors_waylist_way *way = &ways->way[number];
		bool is_last = way->rest == FORS_NONE;

		if (map->named[way->sw] != at || (is_last ? way->port : way->port != map->post[at].row[lid]))
			return 0;
		at = hop(map, at, lid, &trail[n]);
		if (is_last || at & TO_SERVER || way->rest >= number) /* a way's rest is below it: no endless walk */
			return is_last && at == to->door ? n + 1 : 0;
		number = way->rest;
	}
	return 0;
}

/* The cables of a flow from server s, how many, in the part's trail; 0: it does not arrive. */
static inline uint32_t find_cables(const struct map *map, struct part *part, uint32_t s, struct fors_cell cell)
{
	const struct fors_schedule *schedule = map->schedule;
	const struct server *to = &map->server[cell.dst];
	uint32_t home = map->server[s].home, lid = (uint32_t)to->lid + cell.path;

	if (cell.path >> to->lmc)
		return 0;
	return schedule->ways ? cross_ways(map, home, to, lid, fors_schedule_way(schedule, s, cell), part->trail)
			      : cross_tree(map, home, to, lid, cell.lane, part->trail);
}

/* Bits for a cable, or a receiver, whose rows begin with `row`; those that it has no room for. */
static inline uint32_t take(struct part *part, size_t row, size_t end, uint32_t bits)
{
	for (uint32_t depth = 1; bits && row < end; row++, depth++) {
		uint32_t twice = part->taken[row] & bits;

		part->taken[row] |= bits;
		bits = twice;
		part->deepest = depth > part->deepest ? depth : part->deepest;
	}
	return bits;
}

/*
 * A flow of server s in the phases of the block that have a bit, or flows of its group by the same way; false: a fault. The last cable leads to the receiver and nobody else, and needs no bits beside those.
 */
static inline bool add_flows(const struct map *map, struct part *part, uint32_t s, struct fors_cell cell, uint32_t bits)
{
	uint32_t nhops = find_cables(map, part, s, cell), twice;
	size_t receiver = map->bits[map->ncables] + cell.dst;

	twice = take(part, receiver, receiver + 1, bits);
	for (uint32_t i = 0; i + 1 < nhops; i++) {
		const size_t *row = &map->bits[part->trail[i]];

		twice |= take(part, row[0], row[1], bits);
	}
	if (nhops && part->is_used)
		part->is_used[part->trail[nhops - 1]] = true;
	return nhops && !twice;
}

/* The flows of a server in a block. */
static bool check_row(const struct map *map, struct part *part, uint32_t s, uint32_t first, uint32_t n)
{
	const struct fors_schedule *schedule = map->schedule;
	uint64_t *met = part->met ? part->met + s * map->met_words : NULL;
	struct fors_cell room[BLOCK];
	const struct fors_cell *cell = fors_schedule_flows(schedule, s, first, n, room);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = cell[i].dst;

		if (d == FORS_IDLE || d == s)
			continue;
		if (d >= schedule->nservers || !add_flows(map, part, s, cell[i], 1u << i))
			return false;
		if (met)
			met[d / 64] |= 1ull << d % 64;
		part->nflows++;
	}
	return true;
}

/* In which of n phases from turn `turn` of a round on somebody of the group sends to what the cell at `position` names: bits. */
static uint32_t phases_of(const struct map *map, const struct group *group, uint32_t dst, uint32_t position,
			  uint32_t turn, uint32_t n)
{
	const struct fors_schedule *schedule = map->schedule;
	uint32_t length = schedule->round_length, bits = 0;

	if (group->members == length && schedule->server[dst].leaf != schedule->server[group->first].leaf)
		return UINT32_MAX >> (32 - n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t member = (turn + i + position) % length;

		if (member < group->members && group->first + member * schedule->parts != dst)
			bits |= 1u << i;
	}
	return bits;
}

/* The flows of a group in n phases of a round, from bit `bit` of the block on. */
static bool check_round(const struct map *map, struct part *part, const struct group *group, uint32_t phase, uint32_t n,
			uint32_t bit)
{
	const struct fors_schedule *schedule = map->schedule;
	uint32_t turn = phase % schedule->round_length;
	const struct fors_cell *cell =
		schedule->cell + (size_t)(group - map->group) * schedule->nphases + (phase - turn);

	for (uint32_t i = 0; i < schedule->round_length; i++) {
		uint32_t bits;

		if (cell[i].dst == FORS_IDLE)
			continue;
		if (cell[i].dst >= schedule->nservers)
			return false;
		bits = phases_of(map, group, cell[i].dst, i, turn, n) << bit;
		if (bits && !add_flows(map, part, group->first, cell[i], bits))
			return false;
		part->nflows += (uint32_t)__builtin_popcount(bits);
	}
	return true;
}

/* The flows of a group in a block. */
static bool check_group(const struct map *map, struct part *part, uint32_t number, uint32_t first, uint32_t n)
{
	uint32_t length = map->schedule->round_length;

	for (uint32_t done = 0, more; map->group[number].members && done < n; done += more) {
		more = length - (first + done) % length;
		more = more < n - done ? more : n - done;
		if (!check_round(map, part, &map->group[number], first + done, more, done))
			return false;
	}
	return true;
}

static void note_used(const struct map *map, const struct part *part)
{
	for (size_t cable = 0; part->is_used && cable < map->ncables; cable++)
		part->is_used[cable] |= part->taken[map->bits[cable]] != 0;
}

/* What the server, or group, of a row does in a block. */
static bool check_any(const struct map *map, struct part *part, uint32_t row, uint32_t first, uint32_t n)
{
	return map->group ? check_group(map, part, row, first, n) : check_row(map, part, row, first, n);
}

/* A round of the loop: a block. It is the caller's thread that asks whether to go on. */
static enum fors_err check_block(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	const struct loop *loop = context;
	const struct map *map = &loop->map;
	const struct fors_schedule *schedule = map->schedule;
	struct part *part = &((struct loop *)context)->part[worker];
	uint32_t first = item * map->block, left = schedule->nphases - first, n = left < map->block ? left : map->block;
	uint32_t nrows = map->group ? count_groups(schedule) : schedule->nservers,
		 asks_every = schedule->nservers / BLOCK + 1;

	memset(part->taken, 0, count_rows(map) * sizeof(*part->taken));
	for (uint32_t row = 0; row < nrows; row++) {
		if (!worker && loop->cancelled && row % asks_every == 0 && loop->cancelled(loop->context))
			return fors_fail(error, FORS_ECANCELLED, "verify: cancelled");
		if (!check_any(map, part, row, first, n))
			return WRONG;
	}
	note_used(map, part);
	return FORS_OK;
}

/* ---- the whole ---- */

/* Different pairs that met, by what was noted flow by flow. */
static uint64_t count_pairs(const struct loop *loop)
{
	uint64_t npairs = 0;

	for (size_t word = 0; word < loop->map.met_words * loop->map.schedule->nservers; word++) {
		uint64_t all = 0;

		for (unsigned i = 0; i < loop->threads; i++)
			all |= loop->part[i].met[word];
		npairs += (uint64_t)__builtin_popcountll(all);
	}
	return npairs;
}

static void name_receivers(const struct loop *loop)
{
	const struct fors_schedule *schedule = loop->map.schedule;
	const struct fors_cell *cell = schedule->cell;

	for (size_t group = 0; group < count_groups(schedule); group++) {
		uint64_t *named = loop->named + group * loop->map.met_words;

		for (uint32_t i = 0; i < schedule->nphases; i++, cell++)
			if (cell->dst < schedule->nservers)
				named[cell->dst / 64] |= 1ull << cell->dst % 64;
	}
}

/* The same in rounds: what a server's group names, but itself. */
static uint64_t count_pairs_of_groups(const struct loop *loop)
{
	const struct fors_schedule *schedule = loop->map.schedule;
	uint64_t npairs = 0;

	name_receivers(loop);
	for (uint32_t s = 0; s < schedule->nservers; s++) {
		const uint64_t *named = loop->named + loop->map.server[s].group * loop->map.met_words;

		for (size_t word = 0; word < loop->map.met_words; word++)
			npairs += (uint64_t)__builtin_popcountll(named[word]);
		npairs -= named[s / 64] >> s % 64 & 1;
	}
	return npairs;
}

/* Has every pair met, and none twice? *nflows: all flows. */
static bool have_all_met(const struct loop *loop, uint64_t *nflows)
{
	uint64_t p = loop->map.schedule->nservers,
		 npairs = loop->named ? count_pairs_of_groups(loop) : count_pairs(loop);

	*nflows = 0;
	for (unsigned i = 0; i < loop->threads; i++)
		*nflows += loop->part[i].nflows;
	return npairs == p * (p - 1) && *nflows == npairs;
}

/* Both ends of a flow's way and what lies between; who sends, sends by the one port that it has. */
static void list_used(const struct check *check, const struct loop *loop)
{
	const struct map *map = &loop->map;

	for (size_t cable = 0; cable < map->ncables; cable++)
		for (unsigned i = 0; i < loop->threads; i++)
			if (loop->part[i].is_used[cable])
				check->is_used[cable] = true;
	for (uint32_t s = 0; s < map->schedule->nservers && map->schedule->nservers > 1; s++)
		check->is_used[check->place[s].link] = true;
}

/* All blocks; *is_right: nothing is wrong in any, and *nflows are all that there should be. */
static enum fors_err walk_blocks(struct loop *loop, bool *is_right, uint64_t *nflows, struct fors_error *error)
{
	uint32_t block = loop->map.block, nblocks = (loop->map.schedule->nphases + block - 1) / block;
	enum fors_err err = fors_parallel(loop->threads, nblocks, check_block, loop, error);

	*is_right = !err && have_all_met(loop, nflows);
	return err == WRONG ? FORS_OK : err;
}

static enum fors_err walk_all(const struct check *check, struct loop *loop, enum fors_proof *proof,
			      struct fors_error *error)
{
	uint64_t nflows = 0;
	bool is_right;
	enum fors_err err = walk_blocks(loop, &is_right, &nflows, error);

	if (err)
		return err;
	*proof = is_right ? FORS_PROOF_RIGHT : FORS_PROOF_WRONG;
	if (!is_right)
		return FORS_OK;
	check->verdict->nflows = nflows;
	check->verdict->max_load = nflows > 0;
	for (unsigned i = 0; i < loop->threads; i++)
		if (loop->part[i].deepest > check->verdict->max_load)
			check->verdict->max_load = loop->part[i].deepest;
	if (check->is_used)
		list_used(check, loop);
	return FORS_OK;
}

/* As many threads as there is work for. */
static unsigned choose_threads(const struct fors_schedule *schedule, unsigned threads)
{
	uint64_t most = 1 + (uint64_t)schedule->nservers * schedule->nphases / THREAD_FLOWS;

	if (most > FORS_MAX_THREADS)
		most = FORS_MAX_THREADS;
	return !threads ? 1 : threads > most ? (unsigned)most : threads;
}

enum fors_err fors_verify_fast(const struct check *check, unsigned threads, bool (*cancelled)(void *context),
			       void *context, enum fors_proof *proof, struct fors_error *error)
{
	struct loop loop = {
		.threads = choose_threads(check->schedule, threads), .cancelled = cancelled, .context = context};
	enum fors_err err = FORS_OK;

	*proof = FORS_PROOF_UNSURE;
	if (make_map(check, &loop.map) && make_parts(&loop, check->is_used))
		err = walk_all(check, &loop, proof, error);
	free_parts(&loop);
	free_map(&loop.map);
	return err;
}
