/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.c - units and their ways, read off a fabric and its tables.
 *
 * Links are numbered as they come up first, so that only those that are used take room in the occupancy (pack.c).
 */
#include "problem.h"

#include <stdlib.h>
#include <string.h>

#include "core/tables/lanes.h"

void fors_flows_problem_clear(struct fors_flows_problem *problem)
{
	free(problem->senders);
	free(problem->first);
	free(problem->home);
	free(problem->begin);
	free(problem->link);
	free(problem->exists);
	free(problem->capacity);
	*problem = (struct fors_flows_problem){0};
}

bool fors_flows_problem_allocate(struct fors_flows_problem *p, size_t most_links)
{
	size_t ways = (size_t)fors_flows_units(p) * p->npaths;

	p->senders = calloc(p->nswitches + (size_t)1, sizeof(*p->senders));
	p->first = calloc(p->nswitches + (size_t)1, sizeof(*p->first));
	p->home = calloc(p->ndests + (size_t)1, sizeof(*p->home));
	p->begin = calloc(ways + 1, sizeof(*p->begin));
	p->link = most_links ? malloc(most_links * ways * sizeof(*p->link) + 1) : NULL;
	p->exists = calloc(ways + 1, sizeof(*p->exists));
	return p->senders && p->first && p->home && p->begin && (p->link || !most_links) && p->exists;
}

void fors_flows_take_capacities(struct fors_flows_problem *problem, uint8_t *capacity)
{
	for (uint32_t i = 0; i < problem->nlinks; i++)
		if (capacity[i] > 1) {
			problem->capacity = capacity;
			return;
		}
	free(capacity);
}

uint32_t fors_flows_longest(const struct fors_flows_problem *problem)
{
	uint32_t longest = 0;

	for (uint32_t way = 0; way < fors_flows_units(problem) * problem->npaths; way++)
		if (problem->begin[way + 1] - problem->begin[way] > longest)
			longest = problem->begin[way + 1] - problem->begin[way];
	return longest;
}

/* What is read from, and the numbers that links got so far: up and down, leaf * nlanes + lane. */
struct reader {
	const struct fors_task *task;
	struct fors_flows_problem *problem;
	uint32_t *number[2];
	uint8_t *capacity; /* per link that got a number */
	uint32_t used;	   /* of link[] */
};

static uint32_t number_of(struct reader *r, unsigned direction, uint32_t leaf, uint8_t lane)
{
	uint32_t *number = &r->number[direction][(size_t)leaf * r->task->fabric->nlanes + lane];

	if (*number == FORS_FLOWS_NONE) {
		*number = r->problem->nlinks++;
		r->capacity[*number] = fors_cable(r->task->fabric, leaf, lane)->capacity;
	}
	return *number;
}

/* Read one way; false: the tables have none. */
static bool read_way(struct reader *r, uint32_t leaf, uint32_t d, uint32_t path)
{
	const struct fors_fabric *fabric = r->task->fabric;
	uint32_t to = fabric->server[d].leaf;
	uint8_t up, down;

	if (to == leaf)
		return true;
	up = fors_lane_to(fabric, r->task->lanes, leaf, d, path);
	if (up == FORS_NO_LANE)
		return false;
	down = fors_lane_down(fabric, r->task->lanes, up, d, path);
	if (down == FORS_NO_LANE)
		return false;
	r->problem->link[r->used++] = number_of(r, 0, leaf, up);
	r->problem->link[r->used++] = number_of(r, 1, to, down);
	return true;
}

static enum fors_err read_unit(struct reader *r, uint32_t leaf, uint32_t d, struct fors_error *error)
{
	struct fors_flows_problem *p = r->problem;
	uint32_t way = (leaf * p->ndests + d) * p->npaths;

	for (uint32_t path = 0; path < p->npaths; path++) {
		p->begin[way + path] = r->used;
		p->exists[way + path] = p->senders[leaf] && read_way(r, leaf, d, path);
	}
	if (p->exists[way] || !p->senders[leaf])
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "flows: the tables have no way from %s to LID %u",
			 r->task->fabric->leaf[leaf].name, r->task->fabric->server[d].lid);
}

static enum fors_err read_units(struct reader *r, struct fors_error *error)
{
	struct fors_flows_problem *p = r->problem;
	const struct fors_fabric *fabric = r->task->fabric;
	enum fors_err err = FORS_OK;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		p->senders[a] = fabric->leaf[a].nservers;
		p->first[a + 1] = p->first[a] + p->senders[a];
	}
	for (uint32_t d = 0; d < p->ndests; d++)
		p->home[d] = fabric->server[d].leaf;
	for (uint32_t a = 0; !err && a < fabric->nleaves; a++)
		for (uint32_t d = 0; !err && d < p->ndests; d++)
			err = read_unit(r, a, d, error);
	p->begin[fors_flows_units(p) * p->npaths] = r->used;
	return err;
}

static bool allocate_reader(struct reader *r, size_t links)
{
	for (unsigned i = 0; i < 2; i++) {
		r->number[i] = malloc((links + 1) * sizeof(*r->number[i]));
		if (!r->number[i])
			return false;
		memset(r->number[i], 0xFF, links * sizeof(*r->number[i]));
	}
	r->capacity = malloc(2 * links + 1);
	return r->capacity;
}

enum fors_err fors_flows_problem_read(const struct fors_task *task, uint32_t npaths, struct fors_flows_problem *problem,
				      struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	struct fors_flows_problem made = {.nswitches = fabric->nleaves, .ndests = fabric->nservers, .npaths = npaths};
	struct reader reader = {.task = task, .problem = &made};
	enum fors_err err;

	if ((uint64_t)fabric->nleaves * fabric->nservers * npaths > UINT32_MAX / 4)
		return fors_fail(error, FORS_ELIMIT, "flows: too many leaves, servers and path indices");
	if (!fors_flows_problem_allocate(&made, 2) ||
	    !allocate_reader(&reader, (size_t)fabric->nleaves * fabric->nlanes))
		err = fors_fail_memory(error);
	else
		err = read_units(&reader, error);
	free(reader.number[0]);
	free(reader.number[1]);
	if (err) {
		free(reader.capacity);
		fors_flows_problem_clear(&made);
		return err;
	}
	fors_flows_take_capacities(&made, reader.capacity);
	*problem = made;
	return err;
}

/* Does each way of the unit use this link? */
static bool all_use(const struct fors_flows_problem *p, uint32_t unit, uint32_t link)
{
	for (uint32_t way = unit * p->npaths; way < (unit + 1) * p->npaths; way++) {
		bool uses = !p->exists[way];

		for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
			uses |= p->link[i] == link;
		if (!uses)
			return false;
	}
	return true;
}

/* What the destinations of a switch ask of links. */
static void add_load(const struct fors_flows_problem *p, uint32_t s, uint32_t *load)
{
	uint32_t tokens = fors_flows_tokens(p, s * p->ndests);

	for (uint32_t unit = s * p->ndests; unit < (s + 1) * p->ndests; unit++)
		for (uint32_t i = p->begin[unit * p->npaths]; i < p->begin[unit * p->npaths + 1]; i++)
			if (p->npaths == 1 || all_use(p, unit, p->link[i]))
				load[p->link[i]] += tokens;
}

enum fors_err fors_flows_fullest(const struct fors_flows_problem *p, uint32_t *link, uint32_t *tokens,
				 struct fors_error *error)
{
	uint32_t *load = calloc(p->nlinks + (size_t)1, sizeof(*load)), fullest = FORS_FLOWS_NONE, most = 0;

	if (!load)
		return fors_fail_memory(error);
	for (uint32_t s = 0; p->ndests && s < p->nswitches; s++)
		add_load(p, s, load);
	for (uint32_t i = 0; i < p->nlinks; i++)
		if (fors_flows_phases(p, i, load[i]) > most) {
			most = fors_flows_phases(p, i, load[i]);
			fullest = i;
		}
	*link = fullest;
	*tokens = fullest == FORS_FLOWS_NONE ? 0 : load[fullest];
	free(load);
	return FORS_OK;
}

uint64_t fors_flows_received_tokens(const struct fors_flows_problem *p)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < p->nswitches; s++)
		n += fors_flows_tokens(p, s * p->ndests);
	return n;
}

enum fors_err fors_flows_bound(const struct fors_flows_problem *p, uint32_t *bound, struct fors_error *error)
{
	uint32_t link, tokens, received = (uint32_t)fors_flows_received_tokens(p);
	enum fors_err err = fors_flows_fullest(p, &link, &tokens, error);

	if (err)
		return err;
	tokens = link == FORS_FLOWS_NONE ? 0 : fors_flows_phases(p, link, tokens);
	*bound = tokens > received ? tokens : received;
	return FORS_OK;
}
