/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * maxmin.c - max-min fair rates over single paths, by progressive filling.
 *
 * All rates rise together from 0. A link is full when the rates over it reach its capacity; then the flows over
 * it stop, and the others rise on. With u flows still rising over a link and r of its capacity not taken by
 * flows that have stopped, the link will be full when the common rate is r / u: that is its limit. The smallest limit
 * of all links comes next. When a flow stops at rate x, x <= r / u for every link on its path, so (r - x) / (u - 1) is
 * not smaller than r / u: limits only grow. So a queue of limits needs no search: a link that comes to its front with
 * an outdated limit goes back with the true one; else its flows stop. Every flow stops once, and every link is
 * full once, where the textbook looks at all flows in every round.
 *
 * Work: one pass over all paths to turn them round (flows of each link), one when flows stop; a link goes back into
 * the queue at most once per stop of a flow over it, in practice a few times. (Mollah et al., section 2, MMF-SRP, gives
 * the textbook's form.)
 */
#include "maxmin.h"

#include <stdlib.h>

/* The flows of each link, and how far it is filled. */
struct fill {
	const struct fors_flows *flows;
	size_t *first; /* nlinks + 1: flow[first[l]] .. flow[first[l + 1] - 1] use link l */
	uint32_t *flow;
	double *left;	  /* capacity that no stopped flow takes */
	uint32_t *rising; /* flows that have not stopped */
	bool *is_stopped; /* per flow */
	double *rate;	  /* per flow; the caller's */
	double level;	  /* the common rate of all that rise */
	/* a heap of links, smallest limit first */
	struct limit {
		double rate;
		uint32_t link;
	} * heap;
	uint32_t nheap;
};

static void fill_free(struct fill *fill)
{
	free(fill->first);
	free(fill->flow);
	free(fill->left);
	free(fill->rising);
	free(fill->is_stopped);
	free(fill->heap);
}

static size_t path_links(const struct fors_flows *flows)
{
	return flows->nflows ? flows->first[flows->nflows] : 0;
}

static bool fill_alloc(struct fill *fill, uint32_t nlinks)
{
	fill->first = calloc(nlinks + (size_t)2, sizeof(*fill->first));
	fill->flow = malloc((path_links(fill->flows) + 1) * sizeof(*fill->flow));
	fill->left = malloc((nlinks + (size_t)1) * sizeof(*fill->left));
	fill->rising = calloc(nlinks + (size_t)1, sizeof(*fill->rising));
	fill->is_stopped = calloc(fill->flows->nflows + (size_t)1, sizeof(*fill->is_stopped));
	fill->heap = malloc((nlinks + (size_t)1) * sizeof(*fill->heap));
	return fill->first && fill->flow && fill->left && fill->rising && fill->is_stopped && fill->heap;
}

/* From "links of each flow" to "flows of each link". */
static void turn_round(struct fill *fill, uint32_t nlinks)
{
	const struct fors_flows *flows = fill->flows;
	size_t *next = fill->first + 1; /* where the next flow of link l goes is next[l]; in the end first[l + 1] */

	for (size_t i = 0; i < path_links(flows); i++)
		fill->rising[flows->link[i]]++;
	for (uint32_t l = 0; l + 1 < nlinks; l++)
		next[l + 1] = next[l] + fill->rising[l];
	for (uint32_t f = 0; f < flows->nflows; f++)
		for (size_t i = flows->first[f]; i < flows->first[f + 1]; i++)
			fill->flow[next[flows->link[i]]++] = f;
}

static double limit_of(const struct fill *fill, uint32_t link)
{
	double limit = fill->left[link] / fill->rising[link];

	return limit > fill->level ? limit : fill->level; /* below it only by rounding */
}

static void sift_down(struct fill *fill, uint32_t at)
{
	struct limit moving = fill->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < fill->nheap && fill->heap[child + 1].rate < fill->heap[child].rate)
			child++;
		if (child >= fill->nheap || fill->heap[child].rate >= moving.rate)
			break;
		fill->heap[at] = fill->heap[child];
		at = child;
	}
	fill->heap[at] = moving;
}

static void make_heap(struct fill *fill, uint32_t nlinks)
{
	for (uint32_t l = 0; l < nlinks; l++)
		if (fill->rising[l])
			fill->heap[fill->nheap++] = (struct limit){limit_of(fill, l), l};
	for (uint32_t i = fill->nheap / 2; i-- > 0;)
		sift_down(fill, i);
}

static void stop_flow(struct fill *fill, uint32_t f)
{
	const struct fors_flows *flows = fill->flows;

	fill->is_stopped[f] = true;
	fill->rate[f] = fill->level;
	for (size_t i = flows->first[f]; i < flows->first[f + 1]; i++) {
		fill->left[flows->link[i]] -= fill->level;
		fill->rising[flows->link[i]]--;
	}
}

static void link_is_full(struct fill *fill, uint32_t link)
{
	for (size_t i = fill->first[link]; i < fill->first[link + 1]; i++)
		if (!fill->is_stopped[fill->flow[i]])
			stop_flow(fill, fill->flow[i]);
}

static void remove_front(struct fill *fill)
{
	fill->heap[0] = fill->heap[--fill->nheap];
	if (fill->nheap)
		sift_down(fill, 0);
}

static void run(struct fill *fill)
{
	while (fill->nheap) {
		struct limit *front = &fill->heap[0];
		double now;

		if (!fill->rising[front->link]) {
			remove_front(fill);
			continue;
		}
		now = limit_of(fill, front->link);
		if (now > front->rate) {
			front->rate = now;
			sift_down(fill, 0);
			continue;
		}
		fill->level = now;
		link_is_full(fill, front->link);
		remove_front(fill);
	}
}

enum fors_err fors_maxmin(const struct fors_graph *graph, const struct fors_flows *flows, double *rate,
			  struct fors_error *error)
{
	struct fill fill = {.flows = flows, .rate = rate};

	if (!fill_alloc(&fill, graph->nlinks)) {
		fill_free(&fill);
		return fors_fail_memory(error);
	}
	turn_round(&fill, graph->nlinks);
	for (uint32_t l = 0; l < graph->nlinks; l++)
		fill.left[l] = graph->capacity[l];
	for (uint32_t f = 0; f < flows->nflows; f++)
		rate[f] = 0;
	make_heap(&fill, graph->nlinks);
	run(&fill);
	fill_free(&fill);
	return FORS_OK;
}
