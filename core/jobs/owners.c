/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "owners_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- parties ---- */

/* The owner that the job is: itself, or the one for all that share. */
static uint32_t owner_of(const struct fors_joblist *list, uint32_t job)
{
	return list->job[job].is_exclusive ? job : list->count;
}

/* servers[leaf * nowners + owner], of jobs that need cables; and how many each owner has. */
static void count_servers(struct search *s, uint32_t *servers)
{
	const struct fors_joblist *list = s->task->list;

	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; list->job[j].nleaves > 1 && i < list->job[j].count; i++) {
			uint32_t leaf = s->task->fabric->server[list->job[j].server[i]].leaf;

			servers[(size_t)leaf * s->nowners + owner_of(list, j)]++;
			s->owner[owner_of(list, j)].nservers++;
		}
}

/* Flows from all servers of the job at a leaf to one of its servers. */
static uint32_t flows_to(const struct search *s, uint32_t leaf, uint32_t server)
{
	return s->task->flows[(size_t)leaf * s->task->fabric->nservers + server];
}

/* Flows out of each leaf, and into it, of each owner: [leaf * nowners + owner] each. */
static void count_flows(const struct search *s, uint32_t *out, uint32_t *in)
{
	const struct fors_fabric *fabric = s->task->fabric;
	const struct fors_joblist *list = s->task->list;

	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; list->job[j].nleaves > 1 && i < list->job[j].count; i++) {
			uint32_t d = list->job[j].server[i], o = owner_of(list, j);

			for (uint32_t a = 0; a < fabric->nleaves; a++) {
				out[(size_t)a * s->nowners + o] += flows_to(s, a, d);
				in[(size_t)fabric->server[d].leaf * s->nowners + o] += flows_to(s, a, d);
			}
		}
}

/* With flows given, a party's part of a leaf is the lanes that they would fill. Errors: false, out of memory. */
static bool count_lanes(const struct search *s, uint32_t *lanes)
{
	size_t grid = (size_t)s->task->fabric->nleaves * s->nowners;
	uint32_t *out = calloc(2 * grid + 1, sizeof(*out)), *in = out ? out + grid : NULL;

	if (!out)
		return false;
	count_flows(s, out, in);
	for (size_t i = 0; i < grid; i++) {
		uint32_t n = s->owner[i % s->nowners].nservers, most = out[i] > in[i] ? out[i] : in[i];

		lanes[i] = most ? (most + n - 1) / n : 0;
	}
	free(out);
	return true;
}

/* Turns the numbers of servers in party_at into parties. */
static void name_parties(struct search *s)
{
	for (uint32_t o = 0; o < s->nowners; o++) {
		struct owner *owner = &s->owner[o];

		owner->first = s->nparties;
		for (uint32_t a = 0; a < s->task->fabric->nleaves; a++) {
			uint32_t *at = &s->party_at[(size_t)a * s->nowners + o], n = *at;

			*at = n ? s->nparties : FORS_NONE;
			if (n)
				s->party[s->nparties++] = (struct party){.owner = o, .leaf = a, .n = n};
		}
		owner->count = s->nparties - owner->first;
	}
}

static void find_shared(struct search *s)
{
	for (uint32_t a = 0; a < s->task->fabric->nleaves; a++) {
		uint32_t n = 0;

		for (uint32_t o = 0; o < s->nowners; o++)
			n += s->party_at[(size_t)a * s->nowners + o] != FORS_NONE;
		if (n > 1)
			s->shared_leaf[s->nshared++] = a;
	}
}

/* ---- memory ---- */

static bool alloc(struct search *s)
{
	const struct fors_fabric *fabric = s->task->fabric;
	size_t grid = (size_t)fabric->nleaves * s->nlanes + 1;

	s->owner = calloc(s->nowners, sizeof(*s->owner));
	s->party = calloc(fabric->nservers + (size_t)1, sizeof(*s->party));
	s->party_at = calloc((size_t)fabric->nleaves * s->nowners + 1, sizeof(*s->party_at));
	s->shared_leaf = calloc(fabric->nleaves + (size_t)1, sizeof(*s->shared_leaf));
	s->at = malloc(grid * sizeof(*s->at));
	s->best = malloc(grid * sizeof(*s->best));
	s->level = calloc(s->nlanes + (size_t)1, sizeof(*s->level));
	s->lane = calloc(s->nlanes + (size_t)1, sizeof(*s->lane));
	return s->owner && s->party && s->party_at && s->shared_leaf && s->at && s->best && s->level && s->lane;
}

/* Loads and shares, once it is known who has how many parties. */
static bool alloc_water(struct search *s)
{
	size_t words = 0, pairs = 0;

	for (uint32_t o = 0; o < s->nowners; o++) {
		words += owner_words(s, &s->owner[o]);
		pairs += owner_pairs(&s->owner[o]);
	}
	s->water = calloc(words + 1, sizeof(*s->water));
	s->saved = calloc(words + 1, sizeof(*s->saved));
	s->wants = calloc(pairs + 1, sizeof(*s->wants));
	if (!s->water || !s->saved || !s->wants)
		return false;
	words = pairs = 0;
	for (uint32_t o = 0; o < s->nowners; o++) {
		struct owner *owner = &s->owner[o];

		owner->want = s->wants + pairs;
		pairs += owner_pairs(owner);
		owner->load = s->water + words;
		owner->share = owner->load + (size_t)owner->count * s->nlanes;
		words += owner_words(s, owner);
	}
	return true;
}

static void release(struct search *s)
{
	free(s->owner);
	free(s->party);
	free(s->party_at);
	free(s->shared_leaf);
	free(s->at);
	free(s->level);
	free(s->lane);
	free(s->wants);
	free(s->water);
	free(s->saved);
}

/* ---- what is to be poured ---- */

/* The flows from a party's leaf to the servers of its owner at another leaf. */
static uint32_t flows_between(const struct search *s, const struct party *from, const struct party *to)
{
	const struct fors_joblist *list = s->task->list;
	uint32_t sum = 0;

	if (!s->task->flows)
		return from->n * to->n;
	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; owner_of(list, j) == from->owner && i < list->job[j].count; i++)
			if (s->task->fabric->server[list->job[j].server[i]].leaf == to->leaf)
				sum += flows_to(s, from->leaf, list->job[j].server[i]);
	return sum;
}

static void find_wants(const struct search *s)
{
	for (uint32_t o = 0; o < s->nowners; o++) {
		const struct owner *owner = &s->owner[o];
		const struct party *party = &s->party[owner->first];

		for (uint32_t i = 0; i < owner->count; i++)
			for (uint32_t k = i + 1; k < owner->count; k++) {
				uint32_t there = flows_between(s, &party[i], &party[k]),
					 back = flows_between(s, &party[k], &party[i]);

				owner->want[owner_pair(owner, i, k)] = there > back ? there : back;
			}
	}
}

/* ---- the whole ---- */

static bool run(struct search *s)
{
	bool *is_served = calloc(s->nowners, sizeof(*is_served));

	if (!is_served || !alloc(s)) {
		free(is_served);
		return false;
	}
	count_servers(s, s->party_at);
	if (s->task->flows && !count_lanes(s, s->party_at)) {
		free(is_served);
		return false;
	}
	name_parties(s);
	find_shared(s);
	for (size_t i = 0; i < (size_t)s->task->fabric->nleaves * s->nlanes; i++)
		s->at[i] = FORS_NO_JOB;
	fors_owners_start(s, is_served);
	free(is_served);
	if (!alloc_water(s))
		return false;
	find_wants(s);
	fors_owners_improve(s);
	return true;
}

enum fors_err fors_owners_find(const struct fors_owners_task *task, struct fors_owners *owners,
			       struct fors_error *error)
{
	struct search s = {.task = task, .nowners = task->list->count + 1, .nlanes = task->fabric->nlanes};
	bool is_good;

	s.nwords = (s.nlanes + 63) / 64;
	is_good = run(&s);

	release(&s);
	if (!is_good) {
		free(s.best);
		return fors_fail_memory(error);
	}
	for (size_t i = 0; i < (size_t)task->fabric->nleaves * s.nlanes; i++)
		if (s.best[i] == task->list->count)
			s.best[i] = FORS_NO_JOB;
	*owners = (struct fors_owners){task->fabric->nleaves, s.nlanes, s.best};
	return FORS_OK;
}

/* The cable of a leaf's lane, where it lives. */
static void mark_cable(const struct fors_fabric *f, uint32_t leaf, uint32_t lane, uint32_t job, uint32_t *owner)
{
	const struct fors_node *node = &f->net->node[f->leaf[leaf].node];
	uint32_t end = node->first_port + fors_cable(f, leaf, lane)->leaf_port;
	const struct fors_port *port = &f->net->port[end];

	if (port->peer == FORS_NONE)
		return;
	owner[end] = job;
	owner[f->net->node[port->peer].first_port + port->peer_port] = job;
}

void fors_owners_ports(const struct fors_fabric *fabric, const struct fors_owners *owners, uint32_t *owner)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; fabric->leaf[a].node != FORS_NONE && k < fabric->nlanes; k++) {
			uint32_t job = fors_owner(owners, a, k);

			if (job != FORS_NO_JOB)
				mark_cable(fabric, a, k, job, owner);
		}
}

void fors_owners_clear(struct fors_owners *owners)
{
	free(owners->job);
	*owners = (struct fors_owners){0};
}
