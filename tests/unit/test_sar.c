/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scheduling-aware routing against Algorithm 1 written down for a two-level tree: weights of cables, and nothing else. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/model/routers/sar.h"

#define SPINES 3
#define LEAVES 5
#define SERVERS 4 /* of a leaf */
#define ALL (LEAVES * SERVERS)
#define JOBS 4

/* Server s is number s % SERVERS of leaf s / SERVERS. */
struct reference {
	bool in[JOBS][ALL];
	bool is_alive[LEAVES][SPINES];
	uint32_t up[LEAVES][SPINES], down[SPINES][LEAVES];
	uint32_t taken[LEAVES][ALL]; /* spine, SPINES: none */
};

static bool shares(const struct reference *r, uint32_t x, uint32_t d)
{
	for (unsigned j = 0; j < JOBS; j++)
		if (r->in[j][x] && r->in[j][d])
			return true;
	return false;
}

static bool has_job(const struct reference *r, uint32_t s)
{
	return shares(r, s, s);
}

/* Lines 7 to 10, or 15 and 16 for a server without a job. */
static void route_to(struct reference *r, uint32_t d)
{
	uint32_t b = d / SERVERS;

	for (uint32_t a = 0; a < LEAVES; a++) {
		r->taken[a][d] = SPINES;
		for (uint32_t k = 0; a != b && k < SPINES; k++)
			if (r->is_alive[a][k] && r->is_alive[b][k] &&
			    (r->taken[a][d] == SPINES ||
			     r->up[a][k] + r->down[k][b] < r->up[a][r->taken[a][d]] + r->down[r->taken[a][d]][b]))
				r->taken[a][d] = k;
	}
	for (uint32_t x = 0; x < ALL; x++) {
		uint32_t k = r->taken[x / SERVERS][d];

		if (k == SPINES || (has_job(r, d) && !shares(r, x, d)))
			continue;
		r->up[x / SERVERS][k]++;
		r->down[k][b]++;
	}
}

static void route_all(struct reference *r)
{
	bool is_done[ALL] = {false}, is_taken[JOBS] = {false};

	for (unsigned turn = 0; turn < JOBS; turn++) {
		unsigned best = JOBS, most = 0;

		for (unsigned j = 0; j < JOBS; j++) {
			unsigned size = 0;

			for (uint32_t s = 0; s < ALL; s++)
				size += r->in[j][s];
			if (!is_taken[j] && (best == JOBS || size > most)) {
				best = j;
				most = size;
			}
		}
		is_taken[best] = true;
		for (uint32_t s = 0; s < ALL; s++)
			if (r->in[best][s] && !is_done[s]) {
				is_done[s] = true;
				route_to(r, s);
			}
	}
	for (uint32_t s = 0; s < ALL; s++)
		if (!is_done[s])
			route_to(r, s);
}

/* The port that leads from a node to another, 0: no cable. */
static unsigned port_to(const struct fors_net *net, uint32_t node, uint32_t peer)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->peer == peer)
			return p;
	return 0;
}

static uint32_t node_of(const struct fors_net *net, const char *format, unsigned a, unsigned b)
{
	char name[32];
	uint32_t node = 0;
	unsigned port = 0;

	snprintf(name, sizeof(name), format, a, b);
	assert_int_equal(fors_net_find(net, name, &node, &port, NULL), FORS_OK);
	return node;
}

static void look_at_cables(struct reference *r, const struct fors_net *net)
{
	for (unsigned a = 0; a < LEAVES; a++)
		for (unsigned k = 0; k < SPINES; k++)
			r->is_alive[a][k] =
				port_to(net, node_of(net, "Leaf%02u", a, 0), node_of(net, "Spine%02u", k, 0)) != 0;
}

/* Random jobs, servers in none, one or two of them. */
static size_t place(struct reference *r, const struct fors_net *net, struct rng *rng, struct fors_placed *placed)
{
	size_t n = 0;

	for (unsigned j = JOBS; j-- > 0;)
		for (uint32_t s = 0; s < ALL; s++) {
			r->in[j][s] = !rng_below(rng, 2 + j);
			if (!r->in[j][s])
				continue;
			placed[n] = (struct fors_placed){node_of(net, "Node%02u-%02u", s / SERVERS, s % SERVERS), j, 1};
			n++;
			if (!rng_below(rng, 4)) {
				placed[n] = placed[n - 1]; /* twice in the list */
				n++;
			}
		}
	placed[n++] = (struct fors_placed){node_of(net, "Leaf%02u", 0, 0), 0, 1}; /* no server */
	return n;
}

static void compare(const struct reference *r, const struct fors_net *net, const struct fors_lfts *lfts)
{
	for (uint32_t a = 0; a < LEAVES; a++)
		for (uint32_t d = 0; d < ALL; d++) {
			uint32_t leaf = node_of(net, "Leaf%02u", a, 0);
			uint32_t server = node_of(net, "Node%02u-%02u", d / SERVERS, d % SERVERS);
			uint8_t port = fors_lfts_port(lfts, fors_lfts_row(lfts, net->node[leaf].guid),
						      fors_net_port(net, server, 1)->lid);

			if (a == d / SERVERS)
				assert_int_equal(port, port_to(net, leaf, server));
			else if (r->taken[a][d] < SPINES)
				assert_int_equal(port,
						 port_to(net, leaf, node_of(net, "Spine%02u", r->taken[a][d], 0)));
		}
}

TEST(as_algorithm_1)
{
	struct rng rng = {7};

	for (unsigned round = 0; round < 40; round++) {
		struct bed *bed FREED(bed_free) = bed_new("FT(2;3,5;servers=4)", 0);
		struct fors_placed placed[2 * JOBS * ALL + 1];
		struct reference r = {0};
		struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
		size_t count = place(&r, bed->net, &rng, placed);

		if (round % 2)
			fors_net_disconnect(bed->net, node_of(bed->net, "Leaf%02u", rng_below(&rng, LEAVES), 0),
					    SERVERS + 1 + rng_below(&rng, SPINES));
		look_at_cables(&r, bed->net);
		route_all(&r);
		assert_int_equal(fors_sar_tables(bed->net, placed, count, &lfts, NULL), FORS_OK);
		compare(&r, bed->net, lfts);
	}
}

/* Without jobs all ways count: a model like sssp, that reaches everybody. */
TEST(without_jobs)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,5;servers=4)", 0);
	struct reference r = {0};
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;

	look_at_cables(&r, bed->net);
	route_all(&r);
	assert_int_equal(fors_sar_tables(bed->net, NULL, 0, &lfts, NULL), FORS_OK);
	compare(&r, bed->net, lfts);
}
