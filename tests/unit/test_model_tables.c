/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_model_tables.c - lab/model/routers/model_tables.c on tori, where the length of each way is known by arithmetic. */
#include <stdio.h>

#include "core/net/graph_net.h"
#include "lab/model/routers/model_tables.h"
#include "unit.h"

#define FARTHEST 64

struct torus {
	struct fors_graph_spec spec;
	struct fors_net *net;
	uint32_t nswitches;
	uint32_t sw[FARTHEST], server[FARTHEST]; /* nodes: switch s, and the server that hangs there */
};

static struct torus make_torus(const char *text)
{
	struct torus torus = {.nswitches = 0};
	struct fors_error error;

	if (fors_graph_spec_parse(text, &torus.spec, &error) || fors_graph_net(&torus.spec, &torus.net, &error) ||
	    fors_model_lids(torus.net, &error))
		fail_msg("%s", error.text);
	for (uint32_t n = 0; n < torus.net->nnodes; n++)
		if (torus.net->node[n].type == FORS_SWITCH)
			torus.sw[torus.nswitches++] = n;
	for (uint32_t s = 0; s < torus.nswitches; s++)
		torus.server[s] = fors_net_port(torus.net, torus.sw[s], 1)->peer;
	return torus;
}

static void free_torus(struct torus *torus)
{
	fors_net_free(torus->net);
	fors_graph_spec_clear(&torus->spec);
}

static uint32_t number_of(const struct torus *torus, uint32_t node)
{
	uint32_t s = 0;

	while (s < torus->nswitches && torus->sw[s] != node)
		s++;
	assert_true(s < torus->nswitches);
	return s;
}

/* The dimension in which two switches differ first, and the sum of the shorter ways round. */
static uint32_t distance(const struct torus *torus, uint32_t s, uint32_t t, unsigned *first)
{
	uint32_t sum = 0;

	*first = torus->spec.ndims;
	for (unsigned i = 0; i < torus->spec.ndims; i++) {
		uint32_t size = torus->spec.size[i], far = (t % size + size - s % size) % size;

		if (far && *first == torus->spec.ndims)
			*first = i;
		sum += far < size - far ? far : size - far;
		s /= size;
		t /= size;
	}
	return sum;
}

/* Follow the tables from a switch to a server; how many switches on. *is_ordered: always in the first dimension left. */
static uint32_t walk(const struct torus *torus, const struct fors_lfts *lfts, uint32_t s, uint32_t t, bool *is_ordered)
{
	const struct fors_net *net = torus->net;
	uint32_t lid = fors_net_port(net, torus->server[t], 1)->lid, steps = 0;
	unsigned was, is;

	for (*is_ordered = true;; steps++) {
		uint32_t row = fors_lfts_row(lfts, net->node[torus->sw[s]].guid), next;
		uint8_t port = fors_lfts_port(lfts, row, lid);

		assert_true(port >= 1 && port <= net->node[torus->sw[s]].nports && steps < FARTHEST);
		next = fors_net_port(net, torus->sw[s], port)->peer;
		if (next == torus->server[t])
			return steps;
		distance(torus, s, t, &was);
		distance(torus, s, number_of(torus, next), &is);
		*is_ordered &= was == is;
		s = number_of(torus, next);
	}
}

static void check(const char *text, enum fors_model model)
{
	struct torus torus = make_torus(text);
	struct fors_lfts *lfts = NULL;
	struct fors_error error;
	bool is_ordered;
	unsigned first;

	if (fors_model_tables(torus.net, &torus.spec, model, &lfts, &error))
		fail_msg("%s", error.text);
	for (uint32_t s = 0; s < torus.nswitches; s++)
		for (uint32_t t = 0; t < torus.nswitches; t++) {
			uint32_t steps = walk(&torus, lfts, s, t, &is_ordered);

			if (model == FORS_MODEL_UP_DOWN) /* over the middle at the most */
				assert_true(steps >= distance(&torus, s, t, &first));
			else
				assert_int_equal(steps, distance(&torus, s, t, &first));
			assert_true(is_ordered || model != FORS_MODEL_DOR);
		}
	fors_lfts_free(lfts);
	free_torus(&torus);
}

TEST(every_model_arrives)
{
	static const char *const tori[] = {"TORUS(5;1)", "TORUS(4x3;1)", "TORUS(2x5;1)", "TORUS(3x2x4;1)"};

	for (size_t i = 0; i < sizeof(tori) / sizeof(tori[0]); i++)
		for (unsigned model = 0; model < FORS_NMODELS; model++)
			check(tori[i], (enum fors_model)model);
}
