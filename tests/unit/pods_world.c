/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pods_world.c - see pods_world.h. */
#include "pods_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/lids.h"
#include "core/net/tree_net.h"
#include "core/planners/outcome.h"
#include "core/tables/check.h"

void must(enum fors_err err, const struct fors_error *error)
{
	if (err)
		fail_msg("%s", error->text);
}

struct fors_net *net_of(const char *text, unsigned lmc)
{
	struct fors_tree_spec spec = {0};
	struct fors_error error = {0};
	struct fors_net *net;

	must(fors_tree_spec_parse(text, &spec, &error), &error);
	must(fors_tree_net(&spec, &net, &error), &error);
	fors_tree_spec_clear(&spec);
	must(fors_assign_lids(net, NULL, lmc, false, &error), &error);
	return net;
}

void world_new(struct world *w, const char *text)
{
	struct fors_error error = {0};

	*w = (struct world){.known = net_of(text, 0)};
	must(fors_net_copy(w->known, &w->now, &error), &error);
}

void take_down(struct world *w, const char *what)
{
	struct fors_error error = {0};

	must(fors_net_down(w->known, w->now, what, &error), &error);
}

void look(struct world *w)
{
	struct fors_error error = {0};

	fors_pods_free(w->pods);
	must(fors_pods_build(w->known, w->now, NULL, 0, &w->pods, &error), &error);
}

void make_tables(struct world *w, uint32_t effort)
{
	struct fors_error error = {0};

	fors_pods_route_free(w->route);
	must(fors_pods_route_make(w->pods, effort, &w->route, &error), &error);
}

void route_with(struct world *w, uint32_t effort)
{
	look(w);
	make_tables(w, effort);
}

void route(struct world *w)
{
	route_with(w, FORS_PODS_ROUTE_EFFORT);
}

void mend(struct world *w)
{
	struct fors_error error = {0};

	fors_net_free(w->now);
	must(fors_net_copy(w->known, &w->now, &error), &error);
}

void world_free(struct world *w)
{
	fors_pods_route_free(w->route);
	fors_pods_free(w->pods);
	fors_net_free(w->now);
	fors_net_free(w->known);
}

void judge(const struct world *w)
{
	const struct fors_net *net = w->now;

	for (uint32_t a = 0; a < net->nnodes; a++)
		for (uint32_t b = 0; b < net->nnodes; b++) {
			const struct fors_port *to = fors_net_port(net, b, 1);
			uint32_t at = net->node[a].type == FORS_CA ? fors_net_port(net, a, 1)->peer : FORS_NONE;
			bool is_down = false;

			if (net->node[b].type != FORS_CA || to->peer == FORS_NONE || at == FORS_NONE)
				continue;
			for (unsigned hops = 0; at != b; hops++) {
				uint8_t port = fors_lfts_port(
					w->route->lfts, fors_lfts_row(w->route->lfts, net->node[at].guid), to->lid);
				uint32_t next;

				assert_in_range(port, 1, net->node[at].nports);
				next = fors_net_port(net, at, port)->peer;
				assert_int_not_equal(next, FORS_NONE);
				assert_true(hops < 5);
				if (w->route->level[next] < w->route->level[at])
					is_down = true;
				else
					assert_false(is_down);
				at = next;
			}
		}
}

uint32_t plan_over(struct world *w)
{
	struct fors_request task = {.net = w->now};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error = {0};
	uint32_t phases;

	must(fors_tables_check_levels(w->now, w->route->level, w->route->lfts, NULL, &error), &error);
	judge(w);
	task.lfts = w->route->lfts;
	task.rounds = w->route;
	must(fors_plan_proven(&task, &schedule, &report, &error), &error);
	assert_true(report.verdict.is_good);
	phases = schedule->nphases;
	fors_schedule_free(schedule);
	assert_true(phases >= w->route->bound_servers);
	return phases;
}

/* The links from a leaf to a slot over the tables, as ports of now; how many. */
static uint32_t walk(const struct world *w, uint32_t node, uint16_t lid, uint32_t *link)
{
	const struct fors_net *net = w->now;

	for (uint32_t n = 0;; n++) {
		uint8_t port = fors_lfts_port(w->route->lfts, fors_lfts_row(w->route->lfts, net->node[node].guid), lid);
		uint32_t next;

		assert_in_range(port, 1, net->node[node].nports);
		next = fors_net_port(net, node, port)->peer;
		assert_int_not_equal(next, FORS_NONE);
		if (net->node[next].type == FORS_CA)
			return n;
		assert_true(n < 4);
		link[n] = net->node[node].first_port + port;
		node = next;
	}
}

void judge_rounds(const struct world *w)
{
	const struct fors_pods_route *route = w->route;
	size_t rows = w->now->nports + (size_t)w->pods->nslots;
	uint8_t *taken = calloc(rows * route->nrounds, 1);
	uint32_t *senders = calloc((size_t)w->pods->nleaves * route->nrounds, sizeof(*senders));

	assert_non_null(taken);
	assert_non_null(senders);
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		for (uint32_t s = 0; s < w->pods->nslots; s++) {
			uint32_t round = route->round[(size_t)a * w->pods->nslots + s], link[4],
				 n = walk(w, w->pods->leaf[a].now, w->pods->slot[s].lid, link);

			if (round == FORS_PODS_ROUTE_NONE)
				continue;
			assert_true(round < route->nrounds);
			assert_true(++senders[(size_t)a * route->nrounds + round] <= route->length);
			assert_false(taken[(w->now->nports + s) * route->nrounds + round]++);
			for (uint32_t i = 0; i < n; i++)
				assert_false(taken[(size_t)link[i] * route->nrounds + round]++);
		}
	free(taken);
	free(senders);
}

void cut_top_cables(struct world *w, struct fors_random *random, unsigned n)
{
	while (n) {
		uint32_t m = fors_random_below(random, w->pods->nmids), node = w->pods->mid[m].node;
		unsigned port = 1 + fors_random_below(random, w->known->node[node].nports);
		uint32_t peer = fors_pods_peer(w->pods, node, port);

		if (peer == FORS_NONE || w->pods->level[peer] != FORS_PODS_TOP)
			continue;
		fors_net_disconnect(w->now, node, port);
		n--;
	}
}

void make_director(struct fors_net *net, uint32_t mids, unsigned leaves, uint32_t boards)
{
	struct fors_error error = {0};
	uint32_t board, mid;
	unsigned none;
	char name[16];

	for (uint32_t i = 0; i < boards; i++) {
		snprintf(name, sizeof(name), "Board%u", i);
		must(fors_net_add_node(net, FORS_SWITCH, mids, 0xB000 + i, name, "", &board, &error), &error);
		for (uint32_t m = 0; m < mids; m++) {
			snprintf(name, sizeof(name), "Mid2-%02u", m);
			must(fors_net_find(net, name, &mid, &none, &error), &error);
			fors_net_disconnect(net, mid, leaves + 1 + i);
			must(fors_net_connect(net, mid, leaves + 1 + i, board, m + 1, &error), &error);
		}
	}
}

struct world world_of(struct fors_net *net)
{
	struct world w = {.known = net};
	struct fors_error error = {0};

	must(fors_net_index(net, &error), &error);
	must(fors_assign_lids(net, NULL, 0, false, &error), &error);
	for (uint32_t node = 0; node < net->nnodes; node++)
		if (!strncmp(net->node[node].desc, "Spine", 5))
			net->port[net->node[node].first_port].lid = 0;
	must(fors_net_copy(net, &w.now, &error), &error);
	return w;
}

struct world director_new(const char *text, uint32_t mids, unsigned leaves, uint32_t boards)
{
	struct fors_net *net = net_of(text, 0);

	make_director(net, mids, leaves, boards);
	return world_of(net);
}

void add_gateway(struct fors_net *net, const char *at, unsigned port)
{
	struct fors_error error = {0};
	uint32_t gateway, node;
	unsigned none;

	must(fors_net_find(net, at, &node, &none, &error), &error);
	fors_net_disconnect(net, node, port);
	must(fors_net_add_node(net, FORS_CA, 1, 0xABC0, "gw", "gw", &gateway, &error), &error);
	must(fors_net_connect(net, node, port, gateway, 1, &error), &error);
}
