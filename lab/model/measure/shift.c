/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.c - the linear shift over tables that differ little from others.
 *
 * A failed cable moves a few thousand of a million flows. So the loads of all links in all phases are counted once,
 * for the intact fabric, and a failure is what it takes off some links and puts on others. Ways depend on the leaf and
 * on the receiver, not on which server of the leaf sends; which of them are other ways now is found by walking one for
 * each leaf and receiver. Of a phase that has changed the largest load is wanted: a count of links by load, kept for
 * each phase, gives it without a look at the links that have not.
 *
 * A link is known by the port that sends into it, which a cut cable does not renumber.
 */
#include "shift.h"

#include <stdlib.h>
#include <string.h>

#include "lab/model/patterns/pattern.h"
#include "lab/model/routers/router.h"

#define MOST_BYTES ((size_t)256 << 20) /* for loads */
#define BROKEN UINT32_MAX

/* A way from a leaf to a receiver: ports behind that of the sender. */
struct way {
	uint32_t first;	 /* in port[] */
	uint32_t length; /* BROKEN: it does not arrive, and loads nothing */
};

struct fors_shift {
	struct fors_endpoint *server;
	uint32_t nservers, nports, nphases, nleaves;
	uint32_t first_step; /* of phase 0: server s sends to s + first_step */
	uint32_t *inject;    /* per server: the port that it sends into */
	uint32_t *member;    /* servers by leaf */
	uint32_t *begin;     /* nleaves + 1: where those of a leaf begin in member[] */
	struct way *way;     /* nleaves x nservers */
	uint32_t *port;	     /* of all ways */
	size_t used, room;
	uint16_t *load;	   /* nphases x nports */
	uint32_t *links;   /* nphases x (most + 1): how many links have this load */
	uint32_t *fullest; /* per phase */
	uint32_t most;	   /* the largest load of all */
	uint64_t nbroken;
};

void fors_shift_free(struct fors_shift *shift)
{
	if (!shift)
		return;
	free(shift->server);
	free(shift->inject);
	free(shift->member);
	free(shift->begin);
	free(shift->way);
	free(shift->port);
	free(shift->load);
	free(shift->links);
	free(shift->fullest);
	free(shift);
}

static uint32_t phase_of(const struct fors_shift *shift, uint32_t s, uint32_t d)
{
	return (d + 2 * shift->nservers - s - shift->first_step) % shift->nservers;
}

/* --- ways ------------------------------------------------------------------------------------------------------- */

/* A server of the leaf that is not the receiver; FORS_NONE: there is no flow. */
static uint32_t sender_of(const struct fors_shift *shift, uint32_t leaf, uint32_t d)
{
	for (uint32_t i = shift->begin[leaf]; i < shift->begin[leaf + 1]; i++)
		if (shift->member[i] != d)
			return shift->member[i];
	return FORS_NONE;
}

/* How many flows go from the leaf to the receiver. */
static uint32_t count_flows(const struct fors_shift *shift, uint32_t leaf, uint32_t d)
{
	uint32_t n = shift->begin[leaf + 1] - shift->begin[leaf];

	for (uint32_t i = shift->begin[leaf]; i < shift->begin[leaf + 1]; i++)
		n -= shift->member[i] == d;
	return n;
}

/* The ports of a way, behind the sender's, in port[]; their number, or BROKEN. */
static uint32_t walk(const struct fors_routes *routes, uint32_t s, uint32_t d, uint32_t *port)
{
	struct fors_router router = fors_routes_router(routes);
	uint32_t n = 0;

	if (router.route(routes, (struct fors_pair){.src = s, .dst = d}, port, &n) != FORS_WAY_GOOD)
		return BROKEN;
	for (uint32_t i = 1; i < n; i++)
		port[i - 1] = routes->port_of[port[i]];
	return n - 1;
}

/* --- the intact fabric ------------------------------------------------------------------------------------------ */

static void group_by_leaf(struct fors_shift *shift, const struct fors_routes *routes, uint32_t *leaf_of_node)
{
	uint32_t n = shift->nservers;

	memset(leaf_of_node, 0xff, routes->net->nnodes * sizeof(*leaf_of_node));
	for (uint32_t s = 0; s < n; s++)
		if (leaf_of_node[shift->server[s].leaf] == FORS_NONE)
			leaf_of_node[shift->server[s].leaf] = shift->nleaves++;
	for (uint32_t s = 0; s < n; s++)
		shift->begin[leaf_of_node[shift->server[s].leaf] + 1]++;
	for (uint32_t leaf = 0; leaf < shift->nleaves; leaf++)
		shift->begin[leaf + 1] += shift->begin[leaf];
	for (uint32_t s = n; s-- > 0;) /* where those of a leaf begin moves down to where it belongs */
		shift->member[--shift->begin[leaf_of_node[shift->server[s].leaf] + 1]] = s;
	memmove(shift->begin, shift->begin + 1, shift->nleaves * sizeof(*shift->begin));
	shift->begin[shift->nleaves] = n;
}

static bool alloc(struct fors_shift *shift, const struct fors_routes *routes)
{
	size_t n = shift->nservers;

	shift->server = malloc((n + 1) * sizeof(*shift->server));
	shift->inject = malloc((n + 1) * sizeof(*shift->inject));
	shift->member = malloc((n + 1) * sizeof(*shift->member));
	shift->begin = calloc(n + 2, sizeof(*shift->begin));
	shift->load = calloc((size_t)shift->nphases * shift->nports + 1, sizeof(*shift->load));
	shift->fullest = calloc((size_t)shift->nphases + 1, sizeof(*shift->fullest));
	if (!shift->server || !shift->inject || !shift->member || !shift->begin || !shift->load || !shift->fullest)
		return false;
	memcpy(shift->server, routes->server, n * sizeof(*shift->server));
	for (size_t s = 0; s < n; s++)
		shift->inject[s] = routes->net->node[shift->server[s].node].first_port + shift->server[s].port;
	return true;
}

static bool has_room(struct fors_shift *shift, uint32_t more)
{
	size_t room = 2 * (shift->used + more);
	uint32_t *grown;

	if (shift->used + more <= shift->room)
		return true;
	grown = realloc(shift->port, room * sizeof(*grown));
	if (!grown)
		return false;
	shift->port = grown;
	shift->room = room;
	return true;
}

static void count_loads(struct fors_shift *shift, uint32_t leaf, uint32_t d, const struct way *way)
{
	for (uint32_t i = shift->begin[leaf]; i < shift->begin[leaf + 1]; i++) {
		uint32_t s = shift->member[i];
		uint16_t *load = shift->load + (size_t)phase_of(shift, s, d) * shift->nports;

		if (s == d)
			continue;
		load[shift->inject[s]]++;
		for (uint32_t k = 0; k < way->length; k++)
			load[shift->port[way->first + k]]++;
	}
}

/* All ways, and what they put on the links. False: out of memory. */
static bool walk_all(struct fors_shift *shift, const struct fors_routes *routes)
{
	for (uint32_t leaf = 0; leaf < shift->nleaves; leaf++)
		for (uint32_t d = 0; d < shift->nservers; d++) {
			struct way *way = &shift->way[(size_t)leaf * shift->nservers + d];
			uint32_t s = sender_of(shift, leaf, d);

			if (!has_room(shift, routes->max_links + 1))
				return false;
			way->first = (uint32_t)shift->used;
			way->length = s == FORS_NONE ? BROKEN : walk(routes, s, d, shift->port + shift->used);
			if (way->length == BROKEN) {
				shift->nbroken += count_flows(shift, leaf, d);
				continue;
			}
			shift->used += way->length;
			count_loads(shift, leaf, d, way);
		}
	return true;
}

/* How many links have which load. False: out of memory. */
static bool count_links(struct fors_shift *shift)
{
	for (size_t i = 0; i < (size_t)shift->nphases * shift->nports; i++)
		shift->most = shift->load[i] > shift->most ? shift->load[i] : shift->most;
	shift->links = calloc((size_t)shift->nphases * (shift->most + 1) + 1, sizeof(*shift->links));
	for (uint32_t phase = 0; shift->links && phase < shift->nphases; phase++)
		for (uint32_t port = 0; port < shift->nports; port++) {
			uint16_t load = shift->load[(size_t)phase * shift->nports + port];

			shift->links[(size_t)phase * (shift->most + 1) + load]++;
			if (load > shift->fullest[phase])
				shift->fullest[phase] = load;
		}
	return shift->links;
}

static bool fill(struct fors_shift *shift, const struct fors_routes *routes)
{
	uint32_t *leaf_of_node = malloc((routes->net->nnodes + (size_t)1) * sizeof(*leaf_of_node));

	if (!leaf_of_node || !alloc(shift, routes)) {
		free(leaf_of_node);
		return false;
	}
	group_by_leaf(shift, routes, leaf_of_node);
	free(leaf_of_node);
	shift->way = calloc((size_t)shift->nleaves * shift->nservers + 1, sizeof(*shift->way));
	return shift->way && walk_all(shift, routes) && count_links(shift);
}

/* Which phases there are, and who sends to whom in them. False: out of memory. */
static bool ask_pattern(struct fors_shift *shift, struct fors_error *error)
{
	struct fors_pattern *pattern;

	if (fors_pattern_new("linear-shift", shift->nservers, NULL, &pattern, error))
		return false;
	shift->nphases = fors_pattern_nphases(pattern);
	shift->first_step = shift->nphases ? fors_pattern_pair(pattern, 0, 0).dst : 0;
	fors_pattern_free(pattern);
	return true;
}

/* Are there links slower than others? Then loads do not say how long a phase takes. */
static bool is_uneven(const struct fors_graph *graph)
{
	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (graph->capacity[l] != 1)
			return true;
	return false;
}

enum fors_err fors_shift_new(const struct fors_routes *routes, struct fors_shift **shift, struct fors_error *error)
{
	struct fors_shift *made;

	if (is_uneven(routes->graph)) {
		*shift = NULL;
		return FORS_OK;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return fors_fail_memory(error);
	made->nservers = routes->graph->nservers;
	made->nports = routes->net->nports;
	if (!ask_pattern(made, error)) {
		free(made);
		return fors_fail_memory(error);
	}
	if ((size_t)made->nphases * made->nports * sizeof(*made->load) > MOST_BYTES) {
		free(made);
		*shift = NULL;
		return FORS_OK;
	}
	if (!fill(made, routes)) {
		fors_shift_free(made);
		return fors_fail_memory(error);
	}
	*shift = made;
	return FORS_OK;
}

/* --- another one ------------------------------------------------------------------------------------------------ */

/* One flow more, or less, on a link. */
struct change {
	uint32_t next; /* of the same phase, FORS_NONE: the last */
	uint32_t port;
	int by;
};

struct work {
	const struct fors_shift *shift;
	struct change *change;
	size_t nchanges, room;
	uint32_t *head; /* per phase: its first change, FORS_NONE */
	uint32_t *tail;
	uint32_t *load;	 /* per port, of the phase in work */
	uint32_t *stamp; /* phase + 1 that load[] is for */
	uint32_t *links; /* by load, of the phase in work: 0 .. nservers */
	uint32_t *port;	 /* a way */
	uint64_t nbroken;
};

static bool is_same_server(const struct fors_endpoint *a, const struct fors_endpoint *b)
{
	return a->guid == b->guid && a->node == b->node && a->leaf == b->leaf && a->lid == b->lid &&
	       a->port == b->port && a->leaf_port == b->leaf_port;
}

static bool is_alike(const struct fors_shift *shift, const struct fors_routes *routes)
{
	if (routes->graph->nservers != shift->nservers || routes->net->nports != shift->nports)
		return false;
	for (uint32_t s = 0; s < shift->nservers; s++)
		if (!is_same_server(&shift->server[s], &routes->server[s]))
			return false;
	return true;
}

static void note(struct work *w, uint32_t phase, uint32_t port, int by)
{
	uint32_t number = (uint32_t)w->nchanges++;

	w->change[number] = (struct change){FORS_NONE, port, by};
	if (w->head[phase] == FORS_NONE)
		w->head[phase] = number;
	else
		w->change[w->tail[phase]].next = number;
	w->tail[phase] = number;
}

/* A flow is taken off its way, or put on one. */
static void note_flow(struct work *w, uint32_t phase, uint32_t inject, const uint32_t *port, uint32_t length, int by)
{
	if (length == BROKEN)
		return;
	note(w, phase, inject, by);
	for (uint32_t i = 0; i < length; i++)
		note(w, phase, port[i], by);
}

static bool make_room(struct work *w, size_t more)
{
	size_t room = 2 * (w->nchanges + more);
	struct change *grown;

	if (w->nchanges + more <= w->room)
		return true;
	grown = realloc(w->change, room * sizeof(*grown));
	if (!grown)
		return false;
	w->change = grown;
	w->room = room;
	return true;
}

/* The flows from a leaf to a receiver go another way. False: out of memory. */
static bool move(struct work *w, uint32_t leaf, uint32_t d, const struct way *before, uint32_t length)
{
	const struct fors_shift *shift = w->shift;
	uint32_t n = shift->begin[leaf + 1] - shift->begin[leaf];
	size_t each = 2 + (before->length == BROKEN ? 0 : before->length) + (length == BROKEN ? 0 : length);

	if (!make_room(w, n * each))
		return false;
	for (uint32_t i = shift->begin[leaf]; i < shift->begin[leaf + 1]; i++) {
		uint32_t s = shift->member[i], phase = phase_of(shift, s, d);

		if (s == d)
			continue;
		w->nbroken -= before->length == BROKEN;
		w->nbroken += length == BROKEN;
		note_flow(w, phase, shift->inject[s], shift->port + before->first, before->length, -1);
		note_flow(w, phase, shift->inject[s], w->port, length, 1);
	}
	return true;
}

/* False: out of memory. */
static bool compare(struct work *w, const struct fors_routes *routes)
{
	const struct fors_shift *shift = w->shift;

	for (uint32_t leaf = 0; leaf < shift->nleaves; leaf++)
		for (uint32_t d = 0; d < shift->nservers; d++) {
			const struct way *before = &shift->way[(size_t)leaf * shift->nservers + d];
			uint32_t s = sender_of(shift, leaf, d), length;

			if (s == FORS_NONE)
				continue;
			length = walk(routes, s, d, w->port);
			if (length == before->length &&
			    (length == BROKEN ||
			     !memcmp(w->port, shift->port + before->first, length * sizeof(*w->port))))
				continue;
			if (!move(w, leaf, d, before, length))
				return false;
		}
	return true;
}

/* The largest load of a phase, by what has changed in it. */
static uint32_t fullest(struct work *w, uint32_t phase)
{
	const struct fors_shift *shift = w->shift;
	const uint16_t *load = shift->load + (size_t)phase * shift->nports;
	uint32_t top = shift->fullest[phase];

	if (w->head[phase] == FORS_NONE)
		return top;
	memset(w->links, 0, (shift->nservers + (size_t)1) * sizeof(*w->links));
	memcpy(w->links, shift->links + (size_t)phase * (shift->most + 1), (shift->most + 1) * sizeof(*w->links));
	for (uint32_t i = w->head[phase]; i != FORS_NONE; i = w->change[i].next) {
		uint32_t port = w->change[i].port;

		if (w->stamp[port] != phase + 1) {
			w->stamp[port] = phase + 1;
			w->load[port] = load[port];
		}
		w->links[w->load[port]]--;
		w->load[port] += (uint32_t)w->change[i].by;
		w->links[w->load[port]]++;
		top = w->load[port] > top ? w->load[port] : top;
	}
	while (top && !w->links[top])
		top--;
	return top;
}

static bool work_alloc(struct work *w, const struct fors_routes *routes)
{
	const struct fors_shift *shift = w->shift;

	w->head = malloc((shift->nphases + (size_t)1) * sizeof(*w->head));
	w->tail = malloc((shift->nphases + (size_t)1) * sizeof(*w->tail));
	w->load = malloc((shift->nports + (size_t)1) * sizeof(*w->load));
	w->stamp = calloc(shift->nports + (size_t)1, sizeof(*w->stamp));
	w->links = malloc((shift->nservers + (size_t)1) * sizeof(*w->links));
	w->port = malloc((routes->max_links + (size_t)1) * sizeof(*w->port));
	if (w->head)
		memset(w->head, 0xff, shift->nphases * sizeof(*w->head));
	return w->head && w->tail && w->load && w->stamp && w->links && w->port;
}

static void work_free(struct work *w)
{
	free(w->change);
	free(w->head);
	free(w->tail);
	free(w->load);
	free(w->stamp);
	free(w->links);
	free(w->port);
}

static struct fors_shift_result add_up(struct work *w)
{
	struct fors_shift_result result = {.nbroken = w->nbroken};
	uint64_t length = 0;

	for (uint32_t phase = 0; phase < w->shift->nphases; phase++) {
		uint32_t load = fullest(w, phase);

		length += load ? load : 1;
		if (load > result.max_link_load)
			result.max_link_load = load;
	}
	result.sync_throughput = w->nbroken ? -1 : length ? w->shift->nservers / (double)length : 0;
	return result;
}

enum fors_err fors_shift_after(const struct fors_shift *shift, const struct fors_routes *routes, bool *is_like,
			       struct fors_shift_result *result, struct fors_error *error)
{
	struct work work = {.shift = shift, .nbroken = shift->nbroken};
	enum fors_err err = FORS_OK;

	*is_like = is_alike(shift, routes);
	if (!*is_like)
		return FORS_OK;
	if (!work_alloc(&work, routes) || !compare(&work, routes))
		err = fors_fail_memory(error);
	else
		*result = add_up(&work);
	work_free(&work);
	return err;
}
