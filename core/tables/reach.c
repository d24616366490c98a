/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.c - every LID from everywhere, walked through the tables as they are.
 *
 * The tables of 1,024 servers at LMC 5 have two million entries, and OpenSM waits. So all LIDs on one switch, the
 * target, are looked at together, and what matters of a switch's entries for them is which ports occur, a set that is
 * made by one pass over the bytes:
 *
 *   straight:  all ports lead to the target itself, which then delivers. Spines nearly always.
 *   clean:     all ports lead to the target or to switches that are straight. Leaves nearly always.
 *
 * Of these everything arrives, and the dependencies are the pairs (port, target). Only what is left is walked, LID by
 * LID: a few spines that lost the target, and leaves that are apart. A spine with one cable to the target has the same
 * port for all, which a comparison of the row with itself shows, many bytes at a time.
 *
 * In trees of more levels there is a third kind:
 *
 *   sure:      all ports lead to the target, or to switches that are straight, clean or sure. Found from the target
 *              outwards, so nobody is sure for being on a circle.
 *
 * From these everything arrives, too, and nobody walks: but where the next switch has several ports for these LIDs, what
 * waits for what is read LID by LID.
 *
 * What must arrive: all LIDs from each switch where packets begin (leaves, CAs, subnet managers), if cables join the
 * two at all. What may have no way: what needs a detour, which neither neighbours nor leaves with a spine in common do;
 * and then the table has to say so (no path), for a packet that is sent into a dead port is a mistake. From spines
 * where no packet begins a LID may end at a dead port (tables.c says why), but nothing, ever, may go round or come out
 * at the wrong place.
 */
#include "reach.h"

#include <stdlib.h>
#include <string.h>

#define NPORTS 256
#define WORDS (NPORTS / 64)

/* What a hole is about. */
enum hole_kind { TO_SWITCHES, TO_HOSTS, FROM_NOBODY };

enum end { ARRIVES, NO_WAY, DROPPED, ASTRAY, ROUND };

static const char *const end_names[] = {[NO_WAY] = "has no path",
					[DROPPED] = "ends at a dead port",
					[ASTRAY] = "comes out at the wrong place",
					[ROUND] = "goes round in circles"};

struct range {
	uint16_t lid, count;
	uint8_t port; /* of the target, 0: itself */
	bool is_host; /* or a router: whom people miss */
};

struct walk {
	const struct fors_switches *s;
	struct fors_loops *loops;
	struct fors_reach *reach;
	struct range *range; /* LIDs on the target */
	unsigned nranges;
	uint64_t *seen;	    /* [switch * WORDS], a bit per port: the switch has it for one of them */
	bool *is_straight;  /* per switch */
	bool *is_sure;	    /* per switch: from there everything arrives, straight, clean or sure */
	uint32_t *unclean;  /* in trees of more levels: switches that are walked, */
	uint32_t *way;	    /* those on a way, */
	uint32_t *known;    /* per switch the LID that end[] is known for; 0: none, */
	uint8_t *end;	    /* enum end */
	bool *is_joined;    /* per switch: ways up, then down, join it to the target, */
	uint32_t joined;    /* which is the switch before this number */
	uint8_t *is_cut;    /* per switch: a bit for each kind of hole that is here */
	uint32_t cut_to[3]; /* by that kind: the last target + 1 that had such LIDs */
	uint32_t target;
	bool is_detoured;	/* of the switch that is looked at: a CA's LID takes a detour, */
	bool is_guest_detoured; /* and one of the two is no leaf */
};

/* --- the LIDs on a switch ------------------------------------------------- */

static void add_range(struct walk *w, const struct fors_port *port, unsigned at, bool is_host)
{
	if (port->lid)
		w->range[w->nranges++] = (struct range){port->lid, (uint16_t)(1u << port->lmc), (uint8_t)at, is_host};
}

static void find_ranges(struct walk *w)
{
	const struct fors_net *net = w->s->net;
	uint32_t node = w->s->all[w->target].node;

	w->nranges = 0;
	add_range(w, fors_net_port(net, node, 0), 0, false);
	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		const struct fors_port *port = fors_net_port(net, node, p);

		if (port->peer != FORS_NONE && net->node[port->peer].type != FORS_SWITCH)
			add_range(w, fors_net_port(net, port->peer, port->peer_port), p,
				  net->node[port->peer].type != FORS_OTHER);
	}
}

static enum fors_err check_delivery(const struct walk *w, struct fors_error *error)
{
	const struct fors_switch *target = &w->s->all[w->target];

	for (unsigned r = 0; r < w->nranges; r++)
		for (unsigned i = 0; i < w->range[r].count; i++)
			if (target->row[w->range[r].lid + i] != w->range[r].port)
				return fors_fail(
					error, FORS_ETABLES, "%s would not deliver LID %u, which is at its port %u",
					fors_switches_name(w->s, w->target), w->range[r].lid + i, w->range[r].port);
	return FORS_OK;
}

/* --- all of a switch's entries at once ------------------------------------ */

/* Has the switch the same port for all LIDs, and does it lead to the target? */
static bool has_one_port(const struct walk *w, uint32_t at)
{
	const uint8_t *row = w->s->all[at].row;
	uint8_t port;

	if (!w->nranges)
		return false;
	port = row[w->range[0].lid];
	if (fors_switches_next(w->s, at, port) != w->target)
		return false;
	for (unsigned r = 0; r < w->nranges; r++) {
		const uint8_t *entry = row + w->range[r].lid;

		if (*entry != port || memcmp(entry, entry + 1, w->range[r].count - 1u) != 0)
			return false;
	}
	return true;
}

static void see_ports(const struct walk *w, uint32_t at, uint64_t *seen)
{
	uint64_t low = 0; /* nearly all are in it: in a register */

	memset(seen, 0, WORDS * sizeof(*seen));
	for (unsigned r = 0; r < w->nranges; r++) {
		const uint8_t *entry = w->s->all[at].row + w->range[r].lid;

		for (unsigned i = 0; i < w->range[r].count; i++) {
			if (entry[i] < 64)
				low |= UINT64_C(1) << entry[i];
			else
				seen[entry[i] / 64] |= UINT64_C(1) << entry[i] % 64;
		}
	}
	seen[0] |= low;
}

/* Ports that occur and were not looked at so far. */
struct ports {
	const uint64_t *seen;
	uint64_t left; /* of word `at` */
	unsigned at;
};

static inline struct ports ports_of(const struct walk *w, uint32_t at)
{
	const uint64_t *seen = w->seen + (size_t)at * WORDS;

	return (struct ports){seen, seen[0], 0};
}

/* The next of them, NPORTS: there are no more. */
static inline unsigned next_port(struct ports *ports)
{
	unsigned port;

	while (!ports->left) {
		if (++ports->at == WORDS)
			return NPORTS;
		ports->left = ports->seen[ports->at];
	}
	port = ports->at * 64 + (unsigned)__builtin_ctzll(ports->left);
	ports->left &= ports->left - 1;
	return port;
}

static bool leads_only_to_target(const struct walk *w, uint32_t at)
{
	struct ports ports = ports_of(w, at);

	for (unsigned p = next_port(&ports); p < NPORTS; p = next_port(&ports))
		if (fors_switches_next(w->s, at, (uint8_t)p) != w->target)
			return false;
	return true;
}

/* The packets of switch `at` to `to`, a neighbour, go on to the neighbour number `next` of that. */
static void depend(const struct walk *w, uint32_t at, uint8_t port, uint8_t next)
{
	const struct fors_switch *here = &w->s->all[at];
	const struct fors_neighbour *to = &w->s->neighbour[here->first + here->toward[port]];

	if (next != FORS_NO_NEIGHBOUR)
		fors_loops_add(w->loops, to->at, to->back, next);
}

/* Per switch, which neighbour of it the target is, or FORS_NO_NEIGHBOUR. */
static void find_ways_back(const struct walk *w, uint8_t *back_at)
{
	const struct fors_switch *target = &w->s->all[w->target];

	memset(back_at, FORS_NO_NEIGHBOUR, w->s->count);
	for (uint8_t i = 0; i < target->nneighbours; i++) {
		const struct fors_neighbour *neighbour = &w->s->neighbour[target->first + i];

		back_at[neighbour->at] = neighbour->back;
	}
}

/* Is all sent to the target, or to straight switches? The dependencies of what is, are added. */
static bool is_clean(const struct walk *w, uint32_t at, const uint8_t *back_at)
{
	struct ports ports = ports_of(w, at);
	bool is_clean = true;

	for (unsigned p = next_port(&ports); p < NPORTS; p = next_port(&ports)) {
		uint32_t next = fors_switches_next(w->s, at, (uint8_t)p);

		if (next == FORS_NONE || (next != w->target && !w->is_straight[next]))
			is_clean = false;
		else if (next != w->target)
			depend(w, at, (uint8_t)p, back_at[next]);
	}
	return is_clean;
}

/* --- LID by LID ----------------------------------------------------------- */

/* Where a packet at switch `at`, which is not the target, goes next; FORS_NONE: it ends, in *end. */
static uint32_t next_of(const struct walk *w, uint32_t at, uint32_t lid, enum end *end)
{
	const struct fors_switch *here = &w->s->all[at];
	uint8_t port = here->row[lid];
	uint32_t next = port == FORS_NO_PATH ? FORS_NONE : fors_switches_next(w->s, at, port);

	if (port == FORS_NO_PATH)
		*end = NO_WAY;
	else if (next == FORS_NONE)
		*end = port && (port > w->s->net->node[here->node].nports ||
				fors_net_port(w->s->net, here->node, port)->peer == FORS_NONE)
			       ? DROPPED
			       : ASTRAY;
	return next;
}

/* Where a packet at switch `at` ends. *hops: links between switches that it goes over. */
static enum end follow(const struct walk *w, uint32_t at, uint32_t lid, uint32_t *hops)
{
	enum end end = ROUND;

	for (*hops = 0; *hops <= w->s->count; ++*hops) {
		if (at == w->target)
			return ARRIVES;
		at = next_of(w, at, lid, &end);
		if (at == FORS_NONE)
			return end;
	}
	return ROUND;
}

/*
 * The same for trees of more levels, where nobody counts hops: what was found for a switch holds for all who come by.
 */
static enum end follow_once(struct walk *w, uint32_t at, uint32_t lid)
{
	enum end end = ARRIVES;
	uint32_t n = 0;

	while (at != FORS_NONE && at != w->target && !w->is_straight[at] && w->known[at] != lid) {
		w->known[at] = lid;
		w->end[at] = ROUND; /* if it comes here again */
		w->way[n++] = at;
		at = next_of(w, at, lid, &end);
	}
	if (at != FORS_NONE && at != w->target && !w->is_straight[at])
		end = w->end[at];
	while (n)
		w->end[w->way[--n]] = (uint8_t)end;
	return end;
}

static bool is_neighbour(const struct fors_switches *s, uint32_t a, uint32_t b)
{
	for (uint8_t i = 0; i < s->all[a].nneighbours; i++)
		if (s->neighbour[s->all[a].first + i].at == b)
			return true;
	return false;
}

/* The neighbours of a switch, those above or those below it, that are not joined yet become so, and wait in way[]. */
static void join(struct walk *w, uint32_t at, bool up, uint32_t *n)
{
	const struct fors_switch *here = &w->s->all[at];

	for (uint8_t i = 0; i < here->nneighbours; i++) {
		uint32_t next = w->s->neighbour[here->first + i].at;
		uint8_t level = w->s->all[next].level;

		if (w->is_joined[next] || (up ? level <= here->level : level >= here->level))
			continue;
		w->is_joined[next] = true;
		w->way[(*n)++] = next;
	}
}

/*
 * Do cables lead up any number of levels, then down, level by level, to the target? Found for all switches at once, from the
 * target: who has it, or one that gets down to it, below; then who has one of them above.
 */
static bool gets_up_and_down(struct walk *w, uint32_t at)
{
	uint32_t n = 1;

	if (w->joined == w->target + 1)
		return w->is_joined[at];
	w->joined = w->target + 1;
	memset(w->is_joined, 0, w->s->count * sizeof(*w->is_joined));
	w->is_joined[w->target] = true;
	w->way[0] = w->target;
	for (uint32_t i = 0; i < n; i++)
		if (w->s->all[w->way[i]].level)
			join(w, w->way[i], true, &n);
	for (uint32_t i = 0; i < n; i++)
		join(w, w->way[i], false, &n);
	return w->is_joined[at];
}

/*
 * Neighbours, and leaves with a spine in common, need none; in trees of more levels nobody does whom ways up, then
 * down, join.
 */
static bool needs_detour(struct walk *w, uint32_t at)
{
	const struct fors_switches *s = w->s;

	if (is_neighbour(s, at, w->target))
		return false;
	if (s->all[at].level)
		return !gets_up_and_down(w, at);
	for (uint8_t i = 0; s->all[at].is_leaf && s->all[w->target].is_leaf && i < s->all[at].nneighbours; i++) {
		uint32_t spine = s->neighbour[s->all[at].first + i].at;

		if (!s->all[spine].is_leaf && is_neighbour(s, spine, w->target))
			return false;
	}
	return true;
}

/*
 * Packets of switch `at` for a LID on the target have no way. Targets come one after the other. What is no host has the ways of
 * its switch, whose own LID is counted.
 */
static void note_hole(struct walk *w, uint32_t at, const struct range *range)
{
	enum hole_kind kind = w->s->all[at].is_empty ? FROM_NOBODY : range->is_host ? TO_HOSTS : TO_SWITCHES;
	struct fors_hole *const holes[] = {[TO_SWITCHES] = &w->reach->to_switches,
					   [TO_HOSTS] = &w->reach->to_hosts,
					   [FROM_NOBODY] = &w->reach->hostless};
	struct fors_hole *hole = holes[kind];
	uint8_t bit = (uint8_t)(1u << kind);

	if (range->port && !range->is_host)
		return;
	if (!hole->entries++) {
		hole->from = at;
		hole->to = w->target;
	}
	hole->nfrom += !(w->is_cut[at] & bit);
	w->is_cut[at] |= bit;
	hole->nto += w->cut_to[kind] != w->target + 1;
	w->cut_to[kind] = w->target + 1;
}

static enum fors_err judge(struct walk *w, uint32_t at, const struct range *range, uint32_t lid, enum end end,
			   struct fors_error *error)
{
	const struct fors_switch *here = &w->s->all[at];
	bool is_wrong = end == ASTRAY || end == ROUND;

	if (end != ARRIVES && !is_wrong && here->is_asked && here->island == w->s->all[w->target].island) {
		is_wrong = end == DROPPED || !needs_detour(w, at);
		if (!is_wrong)
			note_hole(w, at, range);
	}
	if (!is_wrong)
		return FORS_OK;
	return fors_fail(error, FORS_ETABLES, "LID %u on %s, sent from %s, %s", lid,
			 fors_switches_name(w->s, w->target), fors_switches_name(w->s, at), end_names[end]);
}

/* CAs of switch `at` get to one of the target's, over so many links between switches: a detour? */
static void note_detour(struct walk *w, uint32_t at, uint32_t hops)
{
	bool are_leaves = w->s->all[at].is_leaf && w->s->all[w->target].is_leaf;

	if (hops <= 2 || !w->s->all[at].has_ends)
		return;
	w->is_detoured |= are_leaves;
	w->is_guest_detoured |= !are_leaves;
}

static enum fors_err walk_lid(struct walk *w, uint32_t at, const struct range *range, uint32_t lid,
			      struct fors_error *error)
{
	uint8_t port = w->s->all[at].row[lid];
	uint32_t next = fors_switches_next(w->s, at, port), hops;
	enum end end;

	if (next != FORS_NONE && (next == w->target || w->is_straight[next]))
		return FORS_OK;
	if (next != FORS_NONE)
		depend(w, at, port, w->s->all[next].toward[w->s->all[next].row[lid]]);
	if (w->s->all[at].level)
		return judge(w, at, range, lid, follow_once(w, at, lid), error);
	end = follow(w, at, lid, &hops);
	if (end == ARRIVES && range->is_host)
		note_detour(w, at, hops);
	return judge(w, at, range, lid, end, error);
}

/* One more pair of switches; the first is remembered. */
static void count_pair(const struct walk *w, uint32_t at, uint32_t *count, uint32_t *first)
{
	if ((*count)++)
		return;
	first[0] = at < w->target ? at : w->target;
	first[1] = at < w->target ? w->target : at;
}

static enum fors_err walk_switch(struct walk *w, uint32_t at, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	w->is_detoured = w->is_guest_detoured = false;
	for (unsigned r = 0; !err && r < w->nranges; r++)
		for (unsigned i = 0; !err && i < w->range[r].count; i++)
			err = walk_lid(w, at, &w->range[r], w->range[r].lid + i, error);
	if (w->is_detoured)
		count_pair(w, at, &w->reach->detours, w->reach->detour_first);
	if (w->is_guest_detoured)
		count_pair(w, at, &w->reach->guest_detours, w->reach->guest_first);
	return err;
}

/* Does it send everything to switches from which everything arrives? */
static bool leads_to_sure(const struct walk *w, uint32_t at)
{
	struct ports ports = ports_of(w, at);

	for (unsigned p = next_port(&ports); p < NPORTS; p = next_port(&ports)) {
		uint32_t next = fors_switches_next(w->s, at, (uint8_t)p);

		if (next == FORS_NONE || !w->is_sure[next])
			return false;
	}
	return true;
}

/* The only port that a switch has for all LIDs on the target; NPORTS: it has several. */
static unsigned only_port(const struct walk *w, uint32_t at)
{
	struct ports ports = ports_of(w, at);
	unsigned port = next_port(&ports);

	return port == NPORTS || next_port(&ports) == NPORTS ? port : NPORTS;
}

/* The dependencies of what a sure switch sends; those over straight ones are there already (is_clean()). */
static void depend_all(const struct walk *w, uint32_t at)
{
	const struct fors_switch *all = w->s->all;
	struct ports ports = ports_of(w, at);
	bool by_lid = false;

	for (unsigned p = next_port(&ports); p < NPORTS; p = next_port(&ports)) {
		uint32_t next = fors_switches_next(w->s, at, (uint8_t)p);
		unsigned port;

		if (next == w->target || w->is_straight[next])
			continue;
		port = only_port(w, next);
		if (port < NPORTS)
			depend(w, at, (uint8_t)p, all[next].toward[port]);
		by_lid |= port == NPORTS;
	}
	for (unsigned r = 0; by_lid && r < w->nranges; r++)
		for (unsigned lid = w->range[r].lid; lid < w->range[r].lid + 0u + w->range[r].count; lid++) {
			uint32_t next = fors_switches_next(w->s, at, all[at].row[lid]);

			if (next != w->target && !w->is_straight[next])
				depend(w, at, all[at].row[lid], all[next].toward[all[next].row[lid]]);
		}
}

/* Of n switches that are not clean those that are sure are done; how many are left. */
static uint32_t drop_sure(struct walk *w, uint32_t n)
{
	uint32_t before;

	do {
		before = n;
		n = 0;
		for (uint32_t i = 0; i < before; i++) {
			uint32_t at = w->unclean[i];

			w->is_sure[at] = leads_to_sure(w, at);
			if (w->is_sure[at])
				depend_all(w, at);
			else
				w->unclean[n++] = at;
		}
	} while (n && n < before);
	return n;
}

/* In trees of more levels: LID by LID, all switches that are not sure. */
static enum fors_err walk_lids(struct walk *w, const uint32_t *unclean, uint32_t n, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned r = 0; !err && r < w->nranges; r++)
		for (unsigned i = 0; !err && i < w->range[r].count; i++)
			for (uint32_t k = 0; !err && k < n; k++)
				err = walk_lid(w, unclean[k], &w->range[r], w->range[r].lid + i, error);
	return err;
}

/* --- all of them ---------------------------------------------------------- */

static enum fors_err check_target(struct walk *w, uint8_t *back_at, struct fors_error *error)
{
	enum fors_err err = check_delivery(w, error);
	uint32_t nunclean = 0;

	find_ways_back(w, back_at);
	for (uint32_t at = 0; at < w->s->count; at++) {
		uint64_t *seen = w->seen + (size_t)at * WORDS;

		w->is_straight[at] = at != w->target && has_one_port(w, at);
		w->is_sure[at] = at == w->target || w->is_straight[at];
		if (at == w->target || w->is_straight[at])
			continue;
		see_ports(w, at, seen);
		w->is_sure[at] = w->is_straight[at] = leads_only_to_target(w, at);
	}
	for (uint32_t at = 0; !err && at < w->s->count; at++) {
		w->is_sure[at] = w->is_sure[at] || is_clean(w, at, back_at);
		if (w->is_sure[at])
			continue;
		if (w->s->all[at].level)
			w->unclean[nunclean++] = at;
		else
			err = walk_switch(w, at, error);
	}
	return err ? err : walk_lids(w, w->unclean, drop_sure(w, nunclean), error);
}

enum fors_err fors_reach_check(const struct fors_switches *switches, struct fors_loops *loops, struct fors_reach *reach,
			       struct fors_error *error)
{
	struct walk w = {.s = switches, .loops = loops, .reach = reach};
	uint8_t *back_at = malloc((size_t)switches->count + 1);
	enum fors_err err = FORS_OK;

	*reach = (struct fors_reach){0};
	w.range = malloc(NPORTS * sizeof(*w.range));
	w.seen = malloc(((size_t)switches->count * WORDS + 1) * sizeof(*w.seen));
	w.is_straight = calloc((size_t)switches->count + 1, sizeof(*w.is_straight));
	w.is_sure = calloc((size_t)switches->count + 1, sizeof(*w.is_sure));
	w.unclean = malloc(((size_t)switches->count + 1) * sizeof(*w.unclean));
	w.way = malloc(((size_t)switches->count + 1) * sizeof(*w.way));
	w.known = calloc((size_t)switches->count + 1, sizeof(*w.known));
	w.end = calloc((size_t)switches->count + 1, sizeof(*w.end));
	w.is_joined = calloc((size_t)switches->count + 1, sizeof(*w.is_joined));
	w.is_cut = calloc((size_t)switches->count + 1, sizeof(*w.is_cut));
	if (!back_at || !w.range || !w.seen || !w.is_straight || !w.is_sure || !w.unclean || !w.way || !w.known ||
	    !w.end || !w.is_joined || !w.is_cut)
		err = fors_fail_memory(error);
	for (w.target = 0; !err && w.target < switches->count; w.target++) {
		find_ranges(&w);
		err = check_target(&w, back_at, error);
	}
	free(back_at);
	free(w.range);
	free(w.seen);
	free(w.is_straight);
	free(w.is_sure);
	free(w.unclean);
	free(w.way);
	free(w.known);
	free(w.end);
	free(w.is_joined);
	free(w.is_cut);
	return err;
}
