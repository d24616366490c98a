/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_net.c - tori, hypercubes, Dragonflies, Flexflies and random graphs as nets.
 *
 * Each cable is plugged from one of its ends, the one with the smaller number (in a ring: upwards), by a rule that says
 * the ports of both; only the random graph takes the next free ones.
 *
 * Random regular graphs: start from a ring with chords, in which switch i has cables to i +- 1, i +- 2, ... (and the opposite
 * one when the degree is odd), then exchange the ends of two random cables, a-b and c-d to a-d and c-b, wherever
 * that gives neither a loop nor a double cable, 20 times the number of cables. Such exchanges keep all degrees and reach
 * every regular graph. When what comes out does not hang together it goes on. No library and no floating point: the same
 * seed is the same graph anywhere.
 */
#include "graph_net.h"
#include "graph_blocks.h"
#include "tree_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define EXCHANGES 20 /* per cable */

/* A net that is being made. */
struct maker {
	const struct fors_graph_spec *spec;
	struct fors_net *net;
	struct fors_error *error;
};

static enum fors_err connect(struct maker *m, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port)
{
	return fors_net_connect(m->net, a, a_port, b, b_port, m->error);
}

/* ---- torus, cube ---- */

static enum fors_err connect_torus(struct maker *m)
{
	const struct fors_graph_spec *spec = m->spec;
	enum fors_err err = FORS_OK;
	uint32_t stride = 1;
	unsigned port = spec->servers + 1;

	for (unsigned i = 0; i < spec->ndims; i++) {
		uint32_t size = spec->size[i];

		for (uint32_t x = 0; x < spec->nswitches && !err; x++) {
			uint32_t at = x / stride % size, next = x - at * stride + (at + 1) % size * stride;

			if (size > 2 || at == 0)
				err = connect(m, x, port, next, size > 2 ? port + 1 : port);
		}
		port += size > 2 ? 2 : 1;
		stride *= size;
	}
	return err;
}

static enum fors_err connect_cube(struct maker *m)
{
	enum fors_err err = FORS_OK;

	for (unsigned bit = 0; bit < m->spec->size[0]; bit++)
		for (uint32_t x = 0; x < m->spec->nswitches && !err; x++)
			if (!(x >> bit & 1))
				err = connect(m, x, m->spec->servers + 1 + bit, x | 1u << bit,
					      m->spec->servers + 1 + bit);
	return err;
}

/* ---- groups ---- */

/* The other end of cable j of group i: the cable that goes as far the other way round, of the same turn. */
static uint32_t other_end(uint32_t groups, uint32_t i, uint32_t j, uint32_t *group)
{
	uint32_t turn = j / (groups - 1), far = j % (groups - 1) + 1;

	*group = (i + far) % groups;
	return turn * (groups - 1) + groups - far - 1;
}

/* Cables between groups, `global` in each, h at a switch; the first of group i is first + i * each, its ports from `port` on. */
static enum fors_err connect_groups(struct maker *m, uint32_t groups, uint32_t global, uint32_t h, uint32_t first,
				    uint32_t each, unsigned port)
{
	uint32_t used = groups > 1 ? global / (groups - 1) * (groups - 1) : 0, to;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < groups; i++)
		for (uint32_t j = 0; j < used && !err; j++) {
			uint32_t end = other_end(groups, i, j, &to);

			if (i < to)
				err = connect(m, first + i * each + j / h, port + j % h, first + to * each + end / h,
					      port + end % h);
		}
	return err;
}

/* Groups of `a` switches, each cabled to all others of its group. */
static enum fors_err connect_cliques(struct maker *m, uint32_t a, uint32_t groups)
{
	uint32_t n = m->spec->servers;
	enum fors_err err = FORS_OK;

	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t x = 0; x < a; x++)
			for (uint32_t y = x + 1; y < a && !err; y++)
				err = connect(m, g * a + x, n + y, g * a + y, n + x + 1);
	return err;
}

static enum fors_err connect_dragonfly(struct maker *m)
{
	uint32_t a = m->spec->size[0], h = m->spec->size[1], groups = m->spec->size[2], n = m->spec->servers;
	enum fors_err err = connect_cliques(m, a, groups);

	return err ? err : connect_groups(m, groups, a * h, h, 0, a, n + a);
}

static enum fors_err connect_dfplus(struct maker *m)
{
	uint32_t leaves = m->spec->size[0], spines = m->spec->size[1], h = m->spec->size[2], groups = m->spec->size[3];
	enum fors_err err = FORS_OK;

	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t x = 0; x < leaves; x++)
			for (uint32_t y = 0; y < spines && !err; y++)
				err = connect(m, g * leaves + x, m->spec->servers + 1 + y,
					      m->spec->nleaves + g * spines + y, x + 1);
	return err ? err : connect_groups(m, groups, spines * h, h, m->spec->nleaves, spines, leaves + 1);
}

/* ---- random ---- */

/* Cables as pairs of ends, and the graph as lists of neighbours. */
struct draw {
	uint32_t n, degree, ncables;
	uint32_t *end;	     /* 2 per cable */
	uint32_t *neighbour; /* degree per switch */
	uint32_t *count;     /* per switch: neighbours so far */
	uint32_t *queue;     /* switches */
};

static bool are_neighbours(const struct draw *d, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < d->count[a]; i++)
		if (d->neighbour[(size_t)a * d->degree + i] == b)
			return true;
	return false;
}

static void add_cable(struct draw *d, uint32_t a, uint32_t b)
{
	d->neighbour[(size_t)a * d->degree + d->count[a]++] = b;
	d->neighbour[(size_t)b * d->degree + d->count[b]++] = a;
	d->end[2 * d->ncables] = a;
	d->end[2 * d->ncables++ + 1] = b;
}

static void draw_ring(struct draw *d)
{
	for (uint32_t far = 1; far <= d->degree / 2; far++)
		for (uint32_t a = 0; a < d->n; a++)
			add_cable(d, a, (a + far) % d->n);
	for (uint32_t a = 0; d->degree % 2 && a < d->n / 2; a++)
		add_cable(d, a, a + d->n / 2);
}

static void replace(struct draw *d, uint32_t a, uint32_t old, uint32_t new)
{
	uint32_t *neighbour = d->neighbour + (size_t)a * d->degree;

	while (*neighbour != old)
		neighbour++;
	*neighbour = new;
}

/* Cables a-b and c-d become a-d and c-b, if that is a graph. */
static void exchange(struct draw *d, struct fors_random *random)
{
	uint32_t *x = d->end + 2 * (size_t)fors_random_below(random, d->ncables);
	uint32_t *y = d->end + 2 * (size_t)fors_random_below(random, d->ncables);
	bool turn = fors_random_below(random, 2);
	uint32_t a = x[0], b = x[1], c = y[turn], e = y[!turn];

	if (a == c || a == e || b == c || b == e || are_neighbours(d, a, e) || are_neighbours(d, c, b))
		return;
	replace(d, a, b, e);
	replace(d, e, c, a);
	replace(d, c, e, b);
	replace(d, b, a, c);
	x[1] = e;
	y[0] = c;
	y[1] = b;
}

static bool hangs_together(struct draw *d)
{
	uint32_t seen = 1;

	memset(d->count, 0, d->n * sizeof(*d->count)); /* seen? */
	d->queue[0] = 0;
	d->count[0] = 1;
	for (uint32_t i = 0; i < seen; i++)
		for (uint32_t k = 0; k < d->degree; k++) {
			uint32_t b = d->neighbour[(size_t)d->queue[i] * d->degree + k];

			if (!d->count[b])
				d->queue[seen++] = b;
			d->count[b] = 1;
		}
	for (uint32_t a = 0; a < d->n; a++)
		d->count[a] = d->degree;
	return seen == d->n;
}

static void mix(struct draw *d, uint64_t seed)
{
	struct fors_random random = {seed};

	draw_ring(d);
	if (d->ncables > 1)
		do
			for (uint64_t i = 0; i < EXCHANGES * (uint64_t)d->ncables; i++)
				exchange(d, &random);
		while (!hangs_together(d));
}

/* Plug them, each into the next free ports; switches from `first` on. */
static enum fors_err plug(struct maker *m, struct draw *d, uint32_t first)
{
	enum fors_err err = FORS_OK;

	memset(d->count, 0, d->n * sizeof(*d->count));
	for (uint32_t i = 0; i < d->ncables && !err; i++) {
		uint32_t a = d->end[2 * i], b = d->end[2 * i + 1];

		err = connect(m, first + a, m->spec->servers + ++d->count[a], first + b,
			      m->spec->servers + ++d->count[b]);
	}
	return err;
}

/* The n switches from `first` on, by chance. */
static enum fors_err connect_by_chance(struct maker *m, uint32_t n, uint32_t degree, uint64_t seed, uint32_t first)
{
	struct draw d = {.n = n, .degree = degree};
	size_t ends = (size_t)d.n * d.degree;
	enum fors_err err;

	d.end = calloc(ends + 1, sizeof(*d.end));
	d.neighbour = calloc(ends + 1, sizeof(*d.neighbour));
	d.count = calloc(d.n + (size_t)1, sizeof(*d.count));
	d.queue = calloc(d.n + (size_t)1, sizeof(*d.queue));
	if (d.end && d.neighbour && d.count && d.queue) {
		mix(&d, seed);
		err = plug(m, &d, first);
	} else {
		err = fors_fail_memory(m->error);
	}
	free(d.end);
	free(d.neighbour);
	free(d.count);
	free(d.queue);
	return err;
}

static enum fors_err connect_random(struct maker *m)
{
	return connect_by_chance(m, m->spec->size[0], m->spec->size[1], m->spec->seed, 0);
}

/* ---- blocks whose cables follow the traffic ---- */

/*
 * Cables between blocks of `a` switches, pair by pair; a block's k-th one is at its switch k mod a, so that those of a
 * pair are spread over the switches. used: per block, all 0.
 */
static enum fors_err connect_pairs(struct maker *m, uint32_t a, uint32_t groups, unsigned port, const uint32_t *cables,
				   uint32_t *used)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < groups; i++)
		for (uint32_t j = i + 1; j < groups; j++)
			for (uint32_t k = 0; k < cables[fors_block_pair(groups, i, j)] && !err; k++) {
				uint32_t x = used[i]++, y = used[j]++;

				err = connect(m, i * a + x % a, port + x / a, j * a + y % a, port + y / a);
			}
	return err;
}

/* h cables at each switch to other blocks, on ports from `port` on. */
static enum fors_err connect_blocks(struct maker *m, uint32_t a, uint32_t h, uint32_t groups, unsigned port)
{
	uint32_t *cables = NULL, *used = calloc(groups + (size_t)1, sizeof(*used));
	enum fors_err err = used ? fors_blocks_allot(groups, a * h, &m->spec->traffic, &cables, m->error)
				 : fors_fail_memory(m->error);

	if (!err)
		err = connect_pairs(m, a, groups, port, cables, used);
	free(cables);
	free(used);
	return err;
}

static enum fors_err connect_flexfly(struct maker *m)
{
	const uint32_t *size = m->spec->size;
	enum fors_err err = connect_cliques(m, size[0], size[2]);

	return err ? err : connect_blocks(m, size[0], size[1], size[2], m->spec->servers + size[0]);
}

static enum fors_err connect_flexspander(struct maker *m)
{
	const uint32_t *size = m->spec->size;
	enum fors_err err = FORS_OK;

	for (uint32_t g = 0; g < size[3] && !err; g++)
		err = connect_by_chance(m, size[0], size[1], m->spec->seed * (uint64_t)FORS_FLEX_BLOCKS + g,
					g * size[0]);
	return err ? err : connect_blocks(m, size[0], size[2], size[3], m->spec->servers + size[1] + 1);
}

/* ---- all of them ---- */

static enum fors_err add_switches(struct maker *m)
{
	const struct fors_graph_spec *spec = m->spec;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < spec->nswitches && !err; i++) {
		unsigned ports = i < spec->nleaves ? spec->servers + spec->cables : spec->cables_above;
		char name[FORS_NAME_MAX];
		uint32_t node;

		if (spec->kind != FORS_DFPLUS)
			snprintf(name, sizeof(name), "Switch%02u", i);
		else if (i < spec->nleaves)
			snprintf(name, sizeof(name), "Leaf%02u", i);
		else
			snprintf(name, sizeof(name), "Spine%02u", i - spec->nleaves);
		err = fors_net_add_node(m->net, FORS_SWITCH, ports, FORS_MADE_SWITCHES + i, name, name, &node,
					m->error);
	}
	return err;
}

static enum fors_err fill(struct maker *m)
{
	static enum fors_err (*const connect_kind[FORS_NGRAPH_KINDS])(struct maker *) = {
		[FORS_TORUS] = connect_torus,
		[FORS_CUBE] = connect_cube,
		[FORS_DRAGONFLY] = connect_dragonfly,
		[FORS_DFPLUS] = connect_dfplus,
		[FORS_RANDOM_REGULAR] = connect_random,
		[FORS_FLEXFLY] = connect_flexfly,
		[FORS_FLEXSPANDER] = connect_flexspander};
	enum fors_err err = add_switches(m);

	if (!err)
		err = connect_kind[m->spec->kind](m);
	return err ? err : fors_made_servers(m->net, m->spec->nleaves, m->spec->servers, &m->spec->empty, m->error);
}

enum fors_err fors_graph_net(const struct fors_graph_spec *spec, struct fors_net **net, struct fors_error *error)
{
	struct maker m = {.spec = spec, .net = fors_net_new(), .error = error};
	enum fors_err err = m.net ? fill(&m) : fors_fail_memory(error);

	if (err)
		fors_net_free(m.net);
	else
		*net = m.net;
	return err;
}
