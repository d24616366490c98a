/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qcn.c - congestion points, and notifications on their way; see qcn.h.
 *
 * Each link of a switch has a queue, which is looked at when so many bytes have joined it: the feedback is -Fb =
 * (len - equilibrium) + 2 (len - len then), in 63 steps of 5 equilibria; above 0 it goes to the server that sent the packet
 * that has just joined. The fuller, the sooner the next look.
 *
 * On its way back a notification takes any shortest way, by chance at each switch, as the paper has it, so that in time all
 * switches that could send that way hear of it.
 */
#include "qcn.h"

#include <stdlib.h>

#include "policy.h"

#define WEIGHT 2
#define FULL_EQUILIBRIA (1 + 2 * WEIGHT)
#define MOST_PAIRS ((size_t)1 << 25)

/* ---- memory ---- */

/* The k-th link from a to b and the k-th from b to a are one cable. Lists of links by the lower and the higher end, in one order. */
struct end_pair {
	uint32_t low, high, link;
	bool is_up;
};

static int by_ends(const void *left, const void *right)
{
	const struct end_pair *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->is_up != b->is_up)
		return a->is_up ? 1 : -1;
	return a->link < b->link ? -1 : a->link > b->link;
}

/* Of links i .. between two nodes: those one way come first, then those the other way. */
static size_t pair_up(const struct end_pair *list, size_t i, size_t n, uint32_t *back)
{
	size_t down = i, end;

	while (down < n && list[down].low == list[i].low && list[down].high == list[i].high && !list[down].is_up)
		down++;
	end = down;
	while (end < n && list[end].low == list[i].low && list[end].high == list[i].high)
		end++;
	for (size_t k = 0; i + k < down && down + k < end; k++) {
		back[list[i + k].link] = list[down + k].link;
		back[list[down + k].link] = list[i + k].link;
	}
	return end;
}

static bool find_back(const struct fors_graph *graph, uint32_t *back)
{
	struct end_pair *list = malloc((graph->nlinks + (size_t)1) * sizeof(*list));

	if (!list)
		return false;
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		uint32_t from = graph->from[l], to = graph->to[l];

		list[l] = (struct end_pair){from < to ? from : to, from < to ? to : from, l, from < to};
		back[l] = FORS_NONE;
	}
	qsort(list, graph->nlinks, sizeof(*list), by_ends);
	for (size_t i = 0; i < graph->nlinks;)
		i = pair_up(list, i, graph->nlinks, back);
	free(list);
	return true;
}

/* What servers or switches remember, if they do. */
static bool alloc_memory(struct sim *sim, size_t npairs, size_t nlevels)
{
	struct sim_qcn *qcn = sim->qcn;

	if (npairs) {
		qcn->limiter = calloc(npairs + 1, sizeof(*qcn->limiter));
		if (!qcn->limiter)
			return false;
	}
	if (nlevels)
		qcn->level = calloc(nlevels + 1, sizeof(*qcn->level));
	return !nlevels || qcn->level;
}

enum fors_err fors_qcn_new(struct sim *sim, struct fors_error *error)
{
	const struct fors_sim_settings *set = sim->settings;
	size_t n = sim->program->nservers, npairs = set->qcn.has_limiters ? n * n : 0;
	size_t nlevels = set->policy == FORS_POLICY_SWITCH_AR ? n * sim->nlinks : 0;

	if (!npairs && !nlevels)
		return FORS_OK;
	if (npairs > MOST_PAIRS || nlevels > MOST_PAIRS)
		return fors_fail(error, FORS_ELIMIT, "the fabric is too large for congestion notifications");
	sim->qcn = calloc(1, sizeof(*sim->qcn));
	if (!sim->qcn)
		return fors_fail_memory(error);
	sim->qcn->notice_spare = FORS_NONE;
	sim->qcn->timer = (uint64_t)((double)set->qcn.timer / sim->ps + 0.5);
	sim->qcn->forget = (uint64_t)((double)set->switch_ar.forget / sim->ps + 0.5);
	sim->qcn->point = calloc(sim->nlinks + (size_t)1, sizeof(*sim->qcn->point));
	sim->qcn->back = malloc((sim->nlinks + (size_t)1) * sizeof(*sim->qcn->back));
	if (!sim->qcn->point || !sim->qcn->back || !find_back(sim->router->graph, sim->qcn->back) ||
	    !alloc_memory(sim, npairs, nlevels))
		return fors_fail_memory(error);
	for (uint32_t l = 0; l < sim->nlinks; l++)
		sim->qcn->point[l].left = set->qcn.sample;
	return FORS_OK;
}

void fors_qcn_free(struct sim_qcn *qcn)
{
	if (!qcn)
		return;
	free(qcn->point);
	free(qcn->back);
	free(qcn->limiter);
	free(qcn->level);
	free(qcn->notice);
	free(qcn);
}

static uint32_t notice_new(struct sim *sim)
{
	struct sim_qcn *qcn = sim->qcn;
	uint32_t i = qcn->notice_spare, room = qcn->notice_room ? 2 * qcn->notice_room : 64;
	struct sim_notice *larger;

	if (i != FORS_NONE) {
		qcn->notice_spare = qcn->notice[i].next;
		return i;
	}
	if (qcn->notice_used == qcn->notice_room) {
		larger = realloc(qcn->notice, room * sizeof(*larger));
		sim->is_out_of_memory |= !larger;
		if (!larger)
			return FORS_NONE;
		qcn->notice = larger;
		qcn->notice_room = room;
	}
	return qcn->notice_used++;
}

/* ---- on its way ---- */

static void notice_free(struct sim_qcn *qcn, uint32_t i)
{
	qcn->notice[i].next = qcn->notice_spare;
	qcn->notice_spare = i;
}

/* From a switch: on to the next one; or, from the last one, to the server, if that takes notice. */
static void pass_on(struct sim *sim, uint32_t i, uint32_t node)
{
	struct sim_notice *notice = &sim->qcn->notice[i];
	uint64_t time = sim->calendar->now + sim->wire;

	notice->link = FORS_NONE;
	if (sim->settings->hops->goal_of[node] != notice->goal) {
		notice->link = fors_sim_any_link(sim, notice->goal, node);
		time += sim->switching;
	}
	if (notice->link == FORS_NONE && (!sim->qcn->limiter || sim->settings->hops->goal_of[node] != notice->goal))
		notice_free(sim->qcn, i);
	else
		fors_calendar_put(sim->calendar, time, SIM_NOTICE, i);
}

/* A switch hears that one of its links, or what is behind it, is congested. */
static void listen(struct sim *sim, uint32_t link, const struct sim_notice *notice)
{
	if (link != FORS_NONE && sim->policy && sim->policy->listen)
		sim->policy->listen(sim, link, notice->dst, notice->feedback);
}

static void notice_arrived(struct sim *sim, uint32_t i)
{
	struct sim_notice *notice = &sim->qcn->notice[i];

	if (notice->link == FORS_NONE) {
		fors_rate_cut(sim, notice);
		notice_free(sim->qcn, i);
		return;
	}
	listen(sim, sim->qcn->back[notice->link], notice);
	pass_on(sim, i, sim->router->graph->to[notice->link]);
}

/* ---- congestion points ---- */

static void notify(struct sim *sim, uint32_t p, uint32_t feedback)
{
	uint32_t i = notice_new(sim), m = sim->packet[p].message, l = sim->packet[p].onto >> sim->vl_bits;
	const struct sim_message *message = &sim->message[m];
	uint32_t first = sim->way[(size_t)m * sim->router->max_links];
	struct sim_notice *notice;

	if (i == FORS_NONE)
		return;
	notice = &sim->qcn->notice[i];
	*notice = (struct sim_notice){.src = message->src,
				      .dst = message->dst,
				      .feedback = (uint8_t)feedback,
				      .goal = sim->settings->hops->goal_of[sim->router->graph->to[first]]};
	sim->result->nnotices++;
	listen(sim, l, notice);
	pass_on(sim, i, sim->router->graph->from[l]);
}

/* Bytes until the next look: a tenth when the feedback is full; 15 % more or less. */
static int64_t interval(struct sim *sim, uint32_t feedback)
{
	uint64_t bytes = sim->settings->qcn.sample;

	bytes -= bytes * 9 * feedback / (10 * QCN_FULL);
	return (int64_t)(bytes * (85 + fors_random_below(&sim->random, 31)) / 100);
}

void fors_qcn_look(struct sim *sim, uint32_t p)
{
	uint32_t l = sim->packet[p].onto >> sim->vl_bits, length = sim->link[l].queued;
	struct sim_point *point = &sim->qcn->point[l];
	int64_t equilibrium = sim->settings->qcn.equilibrium, full = FULL_EQUILIBRIA * equilibrium, excess;

	point->left -= sim->packet[p].bytes;
	if (point->left > 0)
		return;
	excess = (int64_t)length - equilibrium + WEIGHT * ((int64_t)length - (int64_t)point->then);
	excess = excess < 0 ? 0 : excess > full ? full : excess;
	point->then = length;
	point->left = interval(sim, (uint32_t)(excess * QCN_FULL / full));
	if (excess * QCN_FULL / full)
		notify(sim, p, (uint32_t)(excess * QCN_FULL / full));
}

void fors_qcn_event(struct sim *sim, const struct fors_calendar_event *event)
{
	if (event->what == SIM_NOTICE)
		notice_arrived(sim, event->which);
	else
		fors_rate_cycle(sim, event->which);
}
