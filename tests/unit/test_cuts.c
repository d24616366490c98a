/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of core/net/cuts.c, against the cuts that lab/model finds by itself, and by hand. */
#include <math.h>
#include <stdlib.h>

#include "support.h"

#include "core/net/cuts.h"
#include "core/net/rates.h"
#include "core/net/spec.h"
#include "lab/model/optimum/cuts_find.h"
#include "lab/model/optimum/optimum.h"

static struct fors_net *net_of(const char *text)
{
	struct fors_spec spec = {0};
	struct fors_net *net;

	assert_int_equal(fors_spec_parse(text, &spec, NULL), FORS_OK);
	assert_int_equal(fors_spec_net(&spec, &net, NULL), FORS_OK);
	fors_spec_clear(&spec);
	return net;
}

static struct fors_endpoint *servers_of(struct fors_net *net, uint32_t *count)
{
	struct fors_endpoint *server;

	assert_int_equal(fors_endpoints(net, NULL, &server, count, NULL), FORS_OK);
	for (uint32_t i = 0; i < *count; i++)
		server[i].lid = (uint16_t)(i + 1);
	return server;
}

/* n (P - n) / capacity over all sets of the graph. */
static double wanted_of(const struct fors_net *net, const struct fors_endpoint *server, uint32_t count, bool is_whole)
{
	const struct fors_lfts none = {0};
	struct fors_routes *routes;
	struct fors_graph *graph;
	struct fors_cuts *cuts;
	double most = count;

	assert_int_equal(fors_routes_new(net, &none, server, count, &routes, NULL), FORS_OK);
	assert_int_equal(fors_graph_of_servers(routes, &graph, NULL), FORS_OK);
	for (uint32_t l = 0; is_whole && l < graph->nlinks; l++)
		graph->capacity[l] = graph->capacity[l] < 1 ? 1 : floor(graph->capacity[l]);
	assert_int_equal(fors_cuts_of_graph(graph, &cuts, NULL), FORS_OK);
	for (uint32_t c = 0; c < cuts->graph->nlinks; c++) {
		double n = 0;

		for (unsigned k = 0; k < cuts->nlevels; k++)
			for (uint32_t s = 0; s < count; s++)
				n += cuts->subtree[k][s] == c / 2;
		if (cuts->graph->capacity[c] > 0)
			most = fmax(most, n * (count - n) / cuts->graph->capacity[c]);
	}
	fors_cuts_free(cuts);
	fors_graph_free(graph);
	fors_routes_free(routes);
	return most;
}

static void check(struct fors_net *net, const char *what)
{
	uint32_t count, phases;
	struct fors_endpoint *server = servers_of(net, &count);
	double length;

	assert_int_equal(fors_cuts_bound(net, server, count, &length, &phases, NULL), FORS_OK);
	if (phases != (uint32_t)ceil(wanted_of(net, server, count, true) - 1e-9))
		fail_msg("%s: %u phases, not %f", what, phases, wanted_of(net, server, count, true));
	if (fabs(length - wanted_of(net, server, count, false)) > 1e-6)
		fail_msg("%s: %f, not %f", what, length, wanted_of(net, server, count, false));
	free(server);
}

static bool is_between_switches(const struct fors_net *net, uint32_t node, unsigned port)
{
	return net->node[node].type == FORS_SWITCH && fors_peer_switch(net, node, port) != FORS_NONE;
}

/* One of seven cables between switches is dead, and those left are of HDR or of twice that, those of some servers of half. */
static void spoil(struct fors_net *net, struct rng *rng, bool has_speeds)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			struct fors_port *port = fors_net_port(net, node, p);
			struct fors_port *peer =
				port->peer == FORS_NONE ? NULL : fors_net_port(net, port->peer, port->peer_port);

			if (!peer)
				continue;
			if (is_between_switches(net, node, p) && !rng_below(rng, 7)) {
				port->peer = peer->peer = FORS_NONE;
			} else if (has_speeds) {
				port->width = peer->width =
					is_between_switches(net, node, p) && !rng_below(rng, 2) ? 8 : 4;
				port->speed = peer->speed =
					is_between_switches(net, node, p) || rng_below(rng, 9) ? FORS_HDR : FORS_EDR;
			}
		}
}

static void as_the_model_finds_them(void **state)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,2)",
					    "XGFT(3;4,4,4;1,2,1)",
					    "XGFT(4;2,3,2,3;1,2,2,1)",
					    "PGFT(3;8,4,6;1,4,4;1,2,1)",
					    "FT(2;4,6;servers=5)",
					    "TORUS(4x4;2)",
					    "CUBE(4;1)",
					    "DRAGONFLY(4,2,9;2)",
					    "XGFT(2;7,3;1,1)"};
	struct rng rng = {3};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned k = 0; k < 12; k++) {
			struct fors_net *net = net_of(specs[i]);

			if (k)
				spoil(net, &rng, k % 2);
			assert_int_equal(fors_net_index(net, NULL), FORS_OK);
			check(net, specs[i]);
			fors_net_free(net);
		}
}

/* Pods of 16 servers with 8 cables to the tops: 16 x 48 / 8. */
static void a_pod_is_narrower_than_its_leaves(void **state)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,2)");
	uint32_t count, phases;
	struct fors_endpoint *server = servers_of(net, &count);
	double length;

	assert_int_equal(fors_cuts_bound(net, server, count, &length, &phases, NULL), FORS_OK);
	assert_int_equal(phases, 96);
	assert_true(fabs(length - 96) < 1e-9);
	free(server);
	fors_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_model_finds_them),
		cmocka_unit_test(a_pod_is_narrower_than_its_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
