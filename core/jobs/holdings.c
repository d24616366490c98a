/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings.c - floor after floor: owners, entries, and the flows that these give the next floors.
 */
#include "holdings.h"

#include <stdlib.h>
#include <string.h>

#define MOST_AGAIN 8 /* times that all floors are shared out again */
#define AGAIN_PART 8 /* of the work that the first time may take */

struct sharer {
	const struct fors_holdings_task *task;
	struct fors_holdings made;
	struct fors_joblist list; /* of the floors above: the jobs by pods; servers borrowed */
	uint16_t *flows;	  /* room: [pod * nservers + server] */
	uint32_t again;		  /* how often all was shared out before */
	struct fors_error *error;
};

/* ---- one floor ---- */

/* Floor 0 has half of the work, and all others have as much together; a further time there is less of it. */
static uint64_t part_of(const struct sharer *s, uint64_t work)
{
	uint32_t n = s->task->floors->count;

	work /= s->again ? AGAIN_PART : 1;
	return n == 1 ? work : work / 2;
}

static uint64_t floor_work(const struct sharer *s, uint32_t floor, uint64_t work)
{
	return floor ? part_of(s, work) / (s->task->floors->count - 1) : part_of(s, work);
}

static enum fors_err share_floor(struct sharer *s, uint32_t floor, const struct fors_joblist *list,
				 const uint16_t *flows)
{
	const struct fors_holdings_task *task = s->task;
	const struct fors_holdings *before = task->before;
	const struct fors_owners_task lanes = {.fabric = task->floors->floor[floor],
					       .list = list,
					       .before = before ? before->owners[floor].job : NULL,
					       .flows = flows,
					       .work = floor_work(s, floor, task->owners_work),
					       .may_move = task->may_move,
					       .seed = s->again,
					       .cancelled = task->cancelled,
					       .context = task->context};
	const struct fors_entries_task ways = {.fabric = lanes.fabric,
					       .list = list,
					       .has_exclusive = task->has_exclusive,
					       .before = before ? &before->entries[floor] : NULL,
					       .flows = flows,
					       .may_move = task->may_move,
					       .seed = s->again};
	enum fors_err err = fors_owners_find(&lanes, &s->made.owners[floor], s->error);

	if (err || (task->is_owners_only && task->floors->count == 1))
		return err;
	return fors_entries_find(&ways, &s->made.owners[floor], &s->made.entries[floor], s->error);
}

/* ---- from floor 0 to the others ---- */

/* How many servers of the job the pod has. */
static uint32_t servers_in(const struct sharer *s, const struct fors_jobentry *job, uint32_t pod)
{
	const struct fors_fabric *first = s->task->floors->floor[0];
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->count; i++)
		n += fors_floors_pod(s->task->floors, first->server[job->server[i]].leaf) == pod;
	return n;
}

/* The list as the floors of planes see it: a job has leaves there, which are its pods. */
static bool make_list(struct sharer *s)
{
	const struct fors_joblist *list = s->task->list;

	s->list.job = malloc((list->count + (size_t)1) * sizeof(*s->list.job));
	if (!s->list.job)
		return false;
	s->list.count = list->count;
	for (uint32_t j = 0; j < list->count; j++) {
		struct fors_jobentry *job = &s->list.job[j];

		*job = list->job[j];
		job->nleaves = 0;
		for (uint32_t pod = 0; pod < s->task->floors->pods->npods; pod++)
			job->nleaves += servers_in(s, job, pod) > 0;
	}
	return true;
}

/* What the servers of a job at a leaf of floor 0 send to a server through the plane. */
static void add_flows(struct sharer *s, uint32_t plane, uint32_t leaf, uint32_t n, const struct fors_jobentry *job)
{
	const struct fors_fabric *first = s->task->floors->floor[0];
	uint32_t pod = fors_floors_pod(s->task->floors, leaf);

	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t d = job->server[i];
		uint8_t up = s->made.entries[0].up[(size_t)leaf * first->nservers + d];

		if (up != FORS_NO_LANE && first->lane[up].spine == plane &&
		    fors_floors_pod(s->task->floors, first->server[d].leaf) != pod)
			s->flows[(size_t)pod * first->nservers + d] += (uint16_t)n;
	}
}

/* Of jobs without entries nobody knows the planes: they send as much through each. */
static void spread_flows(struct sharer *s, const struct fors_jobentry *job)
{
	const struct fors_fabric *first = s->task->floors->floor[0];
	uint32_t nplanes = s->task->floors->pods->nplanes;

	for (uint32_t pod = 0; pod < s->task->floors->pods->npods; pod++) {
		uint32_t n = servers_in(s, job, pod);

		for (uint32_t i = 0; n && i < job->count; i++)
			if (fors_floors_pod(s->task->floors, first->server[job->server[i]].leaf) != pod)
				s->flows[(size_t)pod * first->nservers + job->server[i]] +=
					(uint16_t)((n + nplanes - 1) / nplanes);
	}
}

static void find_flows(struct sharer *s, uint32_t plane)
{
	const struct fors_floors *floors = s->task->floors;
	const struct fors_fabric *first = floors->floor[0];

	memset(s->flows, 0, (size_t)floors->pods->npods * first->nservers * sizeof(*s->flows));
	for (uint32_t j = 0; j < s->list.count; j++) {
		const struct fors_jobentry *job = &s->list.job[j];

		if (!s->made.entries[0].bound[j])
			spread_flows(s, job);
		for (uint32_t i = 0, n = 1; s->made.entries[0].bound[j] && i < job->count; i++, n++) {
			uint32_t leaf = first->server[job->server[i]].leaf;

			if (i + 1 < job->count && first->server[job->server[i + 1]].leaf == leaf)
				continue;
			add_flows(s, plane, leaf, n, job);
			n = 0;
		}
	}
}

/* ---- bounds ---- */

/* Does the job want entries on the floor? In one pod it needs none above. */
static bool is_wanted(const struct sharer *s, uint32_t floor, uint32_t job)
{
	const struct fors_joblist *list = floor ? &s->list : s->task->list;
	const struct fors_entries_task task = {.list = list, .has_exclusive = s->task->has_exclusive};

	return fors_entries_wanted(&task, job);
}

/* No entries of a job on any floor. */
static void drop_job(struct sharer *s, uint32_t job)
{
	const struct fors_jobentry *entry = &s->task->list->job[job];

	for (uint32_t f = 0; f < s->made.nfloors; f++) {
		struct fors_entries *entries = &s->made.entries[f];

		for (uint32_t i = 0; i < entry->count; i++) {
			for (uint32_t a = 0; a < entries->nleaves; a++)
				entries->up[(size_t)a * entries->nservers + entry->server[i]] = FORS_NO_LANE;
			for (uint32_t k = 0; k < entries->nspines; k++)
				entries->down[(size_t)k * entries->nservers + entry->server[i]] = FORS_NO_LANE;
		}
		entries->bound[job] = 0;
	}
}

static void find_bounds(struct sharer *s)
{
	for (uint32_t j = 0; j < s->task->list->count; j++) {
		uint32_t bound = 0;
		bool has_all = true;

		for (uint32_t f = 0; f < s->made.nfloors; f++) {
			uint32_t one = s->made.entries[f].bound ? s->made.entries[f].bound[j] : 0;

			has_all &= one || !is_wanted(s, f, j) || !s->made.entries[f].bound;
			bound = one > bound ? one : bound;
		}
		s->made.bound[j] = has_all ? bound : 0;
		if (!has_all)
			drop_job(s, j);
	}
}

static enum fors_err alloc_holdings(struct sharer *s)
{
	uint32_t count = s->task->floors->count;

	s->made = (struct fors_holdings){.nfloors = count,
					 .owners = calloc(count, sizeof(*s->made.owners)),
					 .entries = calloc(count, sizeof(*s->made.entries)),
					 .bound = calloc(s->task->list->count + (size_t)1, sizeof(*s->made.bound))};
	return s->made.owners && s->made.entries && s->made.bound ? FORS_OK : fors_fail_memory(s->error);
}

/* ---- again ---- */

/* How much slower all jobs are than at full speed. */
static uint64_t lost(const struct sharer *s)
{
	return fors_holdings_lost(s->task->list, s->task->has_exclusive, &s->made);
}

static enum fors_err share_all(struct sharer *s)
{
	enum fors_err err = share_floor(s, 0, s->task->list, NULL);

	for (uint32_t f = 1; !err && f < s->task->floors->count; f++) {
		find_flows(s, f - 1);
		err = share_floor(s, f, &s->list, s->flows);
	}
	if (!err)
		find_bounds(s);
	return err;
}

/* The better one of what was found and what is found now. */
static enum fors_err share_again(struct sharer *s)
{
	struct fors_holdings best = s->made;
	uint64_t before = lost(s);
	enum fors_err err = alloc_holdings(s);

	s->again++;
	if (!err)
		err = share_all(s);
	if (err || lost(s) >= before) {
		struct fors_holdings worse = s->made;

		s->made = best;
		best = worse;
	}
	fors_holdings_clear(&best);
	return err;
}

/* Is all of three levels to be shared out once more? Not beside jobs that run and keep what they have: who begins is waiting. */
static bool goes_on(const struct sharer *s)
{
	const struct fors_holdings_task *task = s->task;

	return (!task->before || task->may_move) && s->again < MOST_AGAIN && task->floors->count > 1 && lost(s) > 0 &&
	       !(task->cancelled && task->cancelled(task->context));
}

/* ---- all of it ---- */

static bool alloc(struct sharer *s)
{
	const struct fors_floors *floors = s->task->floors;
	size_t npods = floors->pods ? floors->pods->npods : 0;

	s->flows = malloc((npods * floors->floor[0]->nservers + 1) * sizeof(*s->flows));
	return s->flows && (!floors->pods || make_list(s));
}

enum fors_err fors_holdings_find(const struct fors_holdings_task *task, struct fors_holdings *holdings,
				 struct fors_error *error)
{
	struct sharer s = {.task = task, .error = error};
	enum fors_err err = alloc(&s) ? alloc_holdings(&s) : fors_fail_memory(error);

	if (!err)
		err = share_all(&s);
	while (!err && goes_on(&s))
		err = share_again(&s);
	free(s.flows);
	free(s.list.job);
	if (err)
		fors_holdings_clear(&s.made);
	else
		*holdings = s.made;
	return err;
}

void fors_holdings_clear(struct fors_holdings *holdings)
{
	for (uint32_t f = 0; f < holdings->nfloors; f++) {
		if (holdings->owners)
			fors_owners_clear(&holdings->owners[f]);
		if (holdings->entries)
			fors_entries_clear(&holdings->entries[f]);
	}
	free(holdings->owners);
	free(holdings->entries);
	free(holdings->bound);
	*holdings = (struct fors_holdings){0};
}
