/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sims.c - see sims.h. */
#include "sims.h"

#include <stdlib.h>
#include <string.h>

static struct fors_error error;

/* ---- a graph with ways by hand ---- */

static enum fors_way hand_route(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks)
{
	const struct hand *hand = context;
	uint32_t i = pair.src * hand->n + pair.dst;

	*nlinks = hand->length[i];
	memcpy(link, hand->link[i], *nlinks * sizeof(*link));
	return *nlinks ? FORS_WAY_GOOD : FORS_WAY_HOLE;
}

struct fors_router hand_router(const struct hand *hand)
{
	return (struct fors_router){
		.graph = hand->graph, .context = hand, .max_links = HAND_MOST_LINKS, .route = hand_route};
}

void hand_ring(struct hand *hand, uint32_t n, uint32_t hops)
{
	*hand = (struct hand){.n = n};
	assert_int_equal(fors_graph_new(2 * n, 3 * n, n, &hand->graph, &error), FORS_OK);
	for (uint32_t s = 0; s < n; s++) {
		struct fors_graph *g = hand->graph;

		g->server[s] = s;
		g->is_terminal[s] = true;
		g->from[s] = g->to[n + s] = s;
		g->to[s] = g->from[n + s] = g->from[2 * n + s] = n + s;
		g->to[2 * n + s] = n + (s + 1) % n;
		for (uint32_t hop = 1; hop <= hops; hop++) {
			uint32_t d = (s + hop) % n, *way = hand->link[s * n + d], k = 0;

			way[k++] = s;
			for (uint32_t i = 0; i < hop; i++)
				way[k++] = 2 * n + (s + i) % n;
			way[k++] = n + d;
			hand->length[s * n + d] = k;
		}
	}
}

void hand_star(struct hand *hand, uint32_t n)
{
	*hand = (struct hand){.n = n};
	assert_int_equal(fors_graph_new(n + 1, 2 * n, n, &hand->graph, &error), FORS_OK);
	for (uint32_t s = 0; s < n; s++) {
		struct fors_graph *g = hand->graph;

		g->server[s] = s;
		g->is_terminal[s] = true;
		g->from[s] = g->to[n + s] = s;
		g->to[s] = g->from[n + s] = n;
		for (uint32_t d = 0; d < n && n <= 8; d++) {
			hand->length[s * n + d] = 2;
			hand->link[s * n + d][0] = s;
			hand->link[s * n + d][1] = n + d;
		}
	}
}

/* ---- running ---- */

double *sims_speeds(const struct fors_graph *graph, double gbits)
{
	double *list = malloc((graph->nlinks + (size_t)1) * sizeof(*list));

	assert_non_null(list);
	for (uint32_t l = 0; l < graph->nlinks; l++)
		list[l] = gbits;
	return list;
}

/* The time line has all that arrived, and all stalls of links. */
static void assert_line(const struct fors_sim_result *r, const struct fors_sim_settings *set)
{
	uint64_t arrived = 0, line = 0, links = 0;

	for (uint32_t i = 0; i < FORS_SIM_BINS; i++) {
		arrived += r->arrived_bytes[i];
		line += r->stalled_ps[i];
	}
	for (uint32_t l = 0; l < r->nlinks; l++)
		links += r->link[l].stall;
	assert_true(line == links);
	if (!r->ncycle && set->watch == FORS_NONE)
		assert_true(arrived == r->bytes);
}

/* Nothing is lost, nothing is out of order, and nothing is faster than its links. */
static void assert_sane(const struct fors_sim_result *r, const struct fors_program *program)
{
	assert_int_equal(r->nbroken, 0);
	assert_int_equal(r->nmessages, fors_program_nmessages(program));
	assert_int_equal(r->noverflows, 0);
	assert_int_equal(r->nreordered, 0);
	if (r->ncycle)
		return;
	assert_true(r->sent == r->arrived && r->packet_ps.count == r->sent && r->message_ps.count == r->nmessages);
	assert_true(r->time >= r->bound);
	for (uint32_t i = 0; r->step && i < r->nsteps; i++)
		assert_true(r->step[i].end - r->step[i].begin >= r->step[i].bound);
	for (uint32_t l = 0; l < r->nlinks; l++)
		assert_true(r->link[l].busy <= r->time && r->link[l].stall <= r->time);
}

struct fors_sim_result *sims_run(const struct fors_router *router, const struct fors_program *program,
				 const struct fors_sim_settings *set)
{
	struct fors_sim_result *r = NULL;
	double *all = set->gbits ? NULL : sims_speeds(router->graph, 200);
	struct fors_sim_settings mine = *set;

	mine.gbits = set->gbits ? set->gbits : all;
	if (fors_simulate(router, program, &mine, &r, &error))
		fail_msg("%s", error.text);
	assert_sane(r, program);
	assert_line(r, set);
	free(all);
	return r;
}

struct fors_program *sims_program(const char *name, uint32_t nservers, uint64_t seed)
{
	struct fors_pattern_options options = {.seed = seed};
	struct fors_pattern *pattern = NULL;
	struct fors_program *program = NULL;

	assert_int_equal(fors_pattern_new(name, nservers, &options, &pattern, &error), FORS_OK);
	assert_int_equal(fors_program_of(pattern, nservers, &program, &error), FORS_OK);
	fors_pattern_free(pattern);
	return program;
}

struct fors_program *sims_text(const char *text, uint32_t nservers)
{
	struct fors_pattern_options options = {.seed = 0};
	struct fors_pattern *pattern = NULL;
	struct fors_program *program = NULL;

	assert_int_equal(fors_pattern_read(text, strlen(text), "text", nservers, &options, &pattern, &error), FORS_OK);
	assert_int_equal(fors_program_of(pattern, nservers, &program, &error), FORS_OK);
	fors_pattern_free(pattern);
	return program;
}

struct fors_sim_settings sims_plain(void)
{
	static const double gbits[8] = {8, 8, 8, 8, 8, 8, 8, 8};
	struct fors_sim_settings set = fors_sim_defaults();

	set.gbits = gbits;
	set.mtu = set.message = 1000;
	set.header = 0;
	set.buffer = 8000;
	set.wire = 20000;
	set.switching = 50000;
	return set;
}

uint64_t sims_star_time_of(const struct fors_program *program, const struct fors_sim_settings *set)
{
	struct hand star;
	struct fors_router router;
	struct fors_sim_result *r;
	uint64_t time;

	hand_star(&star, 4);
	router = hand_router(&star);
	r = sims_run(&router, program, set);
	time = r->time;
	fors_sim_result_free(r);
	fors_graph_free(star.graph);
	return time;
}

uint64_t sims_star_time(const char *text, const struct fors_sim_settings *set)
{
	struct fors_program *program = sims_text(text, 4);
	uint64_t time = sims_star_time_of(program, set);

	fors_program_free(program);
	return time;
}
