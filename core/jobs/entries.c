/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries.c - the entries of each job over the lanes that it owns: see entries.h.
 *
 * A squad is what a job has at one leaf. A cell is an entry: (squad that sends, member that receives). A row is a link of the
 * job: (squad, lane), up or down; it is over-full with more flows than the job has servers. Cells are placed one by one where they
 * fit best, those of most flows first. Then they go from higher rows to lower ones, as long as the sum of the squares of all
 * rows falls: a plan is found more easily where no row is full to the brim.
 */
#include "entries.h"

#include <stdlib.h>
#include <string.h>

#include "mask.h"

#define SWEEPS 8

struct squad {
	uint32_t leaf, first, n; /* its members */
	struct mask mask;	 /* lanes that it has */
};

/* A job that gets entries: members are 0..P-1, in the order of its servers. */
struct team {
	const struct fors_entries_task *task;
	const struct fors_fabric *fabric;
	const struct fors_jobentry *job;
	uint32_t count; /* squads */
	uint32_t nlanes, nwords;
	struct squad *squad;
	uint32_t *squad_of; /* per member */
	struct mask *in;    /* per member: lanes that its LID comes down by */
	uint8_t *cell;	    /* [squad * P + member]: lane, FORS_NO_LANE: none, or its own squad */
	uint32_t *row[2];   /* [squad * nlanes + lane]: flows up, and down */
};

bool fors_entries_wanted(const struct fors_entries_task *task, uint32_t job)
{
	const struct fors_jobentry *entry = &task->list->job[job];

	return (entry->has_index || (task->has_exclusive && entry->is_exclusive)) && entry->nleaves > 1;
}

/* ---- a team ---- */

static void release(struct team *t)
{
	free(t->squad);
	free(t->squad_of);
	free(t->in);
	free(t->cell);
	free(t->row[0]);
	free(t->row[1]);
}

static bool alloc(struct team *t)
{
	size_t p = t->job->count + (size_t)1, nsquads = t->job->nleaves + (size_t)1;

	t->squad = calloc(nsquads, sizeof(*t->squad));
	t->squad_of = malloc(p * sizeof(*t->squad_of));
	t->in = calloc(p, sizeof(*t->in));
	t->cell = malloc(nsquads * p);
	for (int down = 0; down < 2; down++)
		t->row[down] = calloc(nsquads * (t->nlanes + 1), sizeof(*t->row[down]));
	return t->squad && t->squad_of && t->in && t->cell && t->row[0] && t->row[1];
}

static bool has(const struct mask *mask, uint32_t lane)
{
	return mask->word[lane / 64] >> lane % 64 & 1;
}

static void name_squads(struct team *t, const struct fors_owners *owners, uint32_t number)
{
	for (uint32_t m = 0; m < t->job->count; m++) {
		uint32_t leaf = t->fabric->server[t->job->server[m]].leaf;

		if (!m || leaf != t->squad[t->count - 1].leaf)
			t->squad[t->count++] = (struct squad){.leaf = leaf, .first = m};
		t->squad[t->count - 1].n++;
		t->squad_of[m] = t->count - 1;
	}
	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t k = 0; k < t->nlanes; k++)
			if (fors_owner(owners, t->squad[i].leaf, k) == number)
				mask_flip(&t->squad[i].mask, k);
}

/* What a member's LID comes down by: of several cables of a spine one, in turn. */
static void find_in(struct team *t, uint32_t member)
{
	const struct squad *squad = &t->squad[t->squad_of[member]];

	for (uint32_t spine = 0; spine < t->fabric->nspines; spine++) {
		uint32_t n = 0, at = 0;

		for (uint32_t k = 0; k < t->nlanes; k++)
			n += t->fabric->lane[k].spine == spine && has(&squad->mask, k);
		for (uint32_t k = 0; n && k < t->nlanes; k++)
			if (t->fabric->lane[k].spine == spine && has(&squad->mask, k) &&
			    at++ == (member - squad->first) % n)
				mask_flip(&t->in[member], k);
	}
}

/* ---- cells ---- */

/* The flows that a cell stands for: of all servers of its squad, unless others are given. */
static uint32_t flows_of(const struct team *t, uint32_t squad, uint32_t member)
{
	const struct squad *from = &t->squad[squad];

	return t->task->flows ? t->task->flows[(size_t)from->leaf * t->fabric->nservers + t->job->server[member]]
			      : from->n;
}

static uint8_t *cell_of(const struct team *t, uint32_t squad, uint32_t member)
{
	return &t->cell[(size_t)squad * t->job->count + member];
}

/* Does the cell want a lane? */
static bool is_wanting(const struct team *t, uint32_t squad, uint32_t member)
{
	return t->squad_of[member] != squad && flows_of(t, squad, member);
}

/* The rows of a cell over lane 0, up and down; the next ones are those of the other lanes. */
static uint32_t *rows_up(const struct team *t, uint32_t squad)
{
	return t->row[0] + (size_t)squad * t->nlanes;
}

static uint32_t *rows_down(const struct team *t, uint32_t member)
{
	return t->row[1] + (size_t)t->squad_of[member] * t->nlanes;
}

/* Give the cell another lane; FORS_NO_LANE: none. */
static void put(struct team *t, uint32_t squad, uint32_t member, uint32_t lane)
{
	uint8_t *cell = cell_of(t, squad, member);
	uint32_t n = flows_of(t, squad, member);

	if (*cell != FORS_NO_LANE) {
		rows_up(t, squad)[*cell] -= n;
		rows_down(t, member)[*cell] -= n;
	}
	*cell = (uint8_t)lane;
	if (lane != FORS_NO_LANE) {
		rows_up(t, squad)[lane] += n;
		rows_down(t, member)[lane] += n;
	}
}

static uint64_t above(uint32_t flows, uint32_t p)
{
	return flows > p ? flows - p : 0;
}

/* The lane that costs the cell least: first what stands above P then, and then how high. FORS_NO_LANE: there is none. */
static uint32_t best_lane(const struct team *t, uint32_t squad, uint32_t member)
{
	const uint32_t *up = rows_up(t, squad), *down = rows_down(t, member);
	uint32_t best = FORS_NO_LANE, p = t->job->count, n = flows_of(t, squad, member);
	uint64_t least = UINT64_MAX;

	for_each_common(lane, &t->squad[squad].mask, &t->in[member], t->nwords)
	{
		uint32_t high = (up[lane] > down[lane] ? up[lane] : down[lane]) + n,
			 low = (up[lane] > down[lane] ? down[lane] : up[lane]) + n;
		uint64_t cost = (above(high, p) + above(low, p)) << 32 | (high + low / 4);

		if (cost < least) {
			least = cost;
			best = (uint32_t)lane;
		}
	}
	return best;
}

/* The lane that the cell had before, if it may have it now. */
static uint32_t lane_before(const struct team *t, uint32_t squad, uint32_t member)
{
	const struct fors_entries *before = t->task->before;
	uint32_t lane = FORS_NO_LANE;

	if (before && before->up && is_wanting(t, squad, member))
		lane = before->up[(size_t)t->squad[squad].leaf * before->nservers + t->job->server[member]];
	return lane != FORS_NO_LANE && has(&t->squad[squad].mask, lane) && has(&t->in[member], lane) ? lane
												     : FORS_NO_LANE;
}

/* ---- all cells ---- */

/* The cells that were there before, at their places. Are there others? */
static bool place_old(struct team *t)
{
	bool is_all = true;

	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t m = 0; m < t->job->count; m++) {
			put(t, i, m, lane_before(t, i, m));
			is_all &= *cell_of(t, i, m) != FORS_NO_LANE || !is_wanting(t, i, m);
		}
	return is_all;
}

/* Those without a lane that stand for n flows, from one squad on that the seed says. The most flows of those that stand for fewer. */
static uint32_t place_new(struct team *t, uint32_t n)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t m = 0; m < t->job->count; m++) {
			uint32_t squad = (uint32_t)((i + t->task->seed) % t->count), flows = flows_of(t, squad, m);

			if (!is_wanting(t, squad, m) || *cell_of(t, squad, m) != FORS_NO_LANE)
				continue;
			if (flows == n)
				put(t, squad, m, best_lane(t, squad, m));
			else if (flows < n && flows > next)
				next = flows;
		}
	return next;
}

static void place_all(struct team *t)
{
	for (uint32_t n = place_new(t, UINT32_MAX); n; n = place_new(t, n))
		;
}

/* May the row take n flows more, for one that has `from`? It may not be over-full then, unless the other was even fuller. */
static bool has_room(const struct team *t, uint32_t to, uint32_t from, uint32_t n)
{
	return to + n <= t->job->count || to + n <= from;
}

/* The lane by which the sum of squares falls most, FORS_NO_LANE: by none. */
static uint32_t lower_lane(const struct team *t, uint32_t squad, uint32_t member, uint32_t lane)
{
	const uint32_t *up = rows_up(t, squad), *down = rows_down(t, member);
	uint32_t n = flows_of(t, squad, member), best = FORS_NO_LANE;
	int64_t least = 0;

	for_each_common(other, &t->squad[squad].mask, &t->in[member], t->nwords)
	{
		/* 2n times this is what the sum of squares changes by */
		int64_t change = (int64_t)up[other] + down[other] + 2 * n - up[lane] - down[lane];

		if (other == lane || change >= least || !has_room(t, up[other], up[lane], n) ||
		    !has_room(t, down[other], down[lane], n))
			continue;
		least = change;
		best = (uint32_t)other;
	}
	return best;
}

static bool sweep(struct team *t)
{
	bool is_better = false;

	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t m = 0; m < t->job->count; m++) {
			uint32_t lane = *cell_of(t, i, m),
				 other = lane == FORS_NO_LANE ? FORS_NO_LANE : lower_lane(t, i, m, lane);

			if (other == FORS_NO_LANE)
				continue;
			put(t, i, m, other);
			is_better = true;
		}
	return is_better;
}

/* P, or what the fullest row has. */
static uint32_t fullest(const struct team *t)
{
	uint32_t most = t->job->count;

	for (int down = 0; down < 2; down++)
		for (uint32_t i = 0; i < t->count * t->nlanes; i++)
			most = t->row[down][i] > most ? t->row[down][i] : most;
	return most;
}

/* A job that had all of its entries keeps them, unless it is slow and may move. */
static void fill(struct team *t)
{
	memset(t->cell, FORS_NO_LANE, (size_t)t->count * t->job->count);
	if (place_old(t) && (!t->task->may_move || fullest(t) == t->job->count))
		return;
	for (uint32_t i = 0; t->task->may_move && i < t->count; i++)
		for (uint32_t m = 0; m < t->job->count; m++)
			put(t, i, m, FORS_NO_LANE);
	place_all(t);
	for (uint32_t i = 0; i < SWEEPS && sweep(t); i++)
		;
}

/* ---- what comes of it ---- */

static bool alloc_entries(const struct fors_entries_task *task, struct fors_entries *made)
{
	const struct fors_fabric *f = task->fabric;
	size_t ups = (size_t)f->nleaves * f->nservers, downs = (size_t)f->nspines * f->nservers;

	*made = (struct fors_entries){.nleaves = f->nleaves,
				      .nspines = f->nspines,
				      .nservers = f->nservers,
				      .njobs = task->list->count,
				      .up = malloc(ups + 1),
				      .down = malloc(downs + 1),
				      .bound = calloc(task->list->count + (size_t)1, sizeof(*made->bound))};
	if (!made->up || !made->down || !made->bound)
		return false;
	memset(made->up, FORS_NO_LANE, ups);
	memset(made->down, FORS_NO_LANE, downs);
	return true;
}

static bool is_cut(const struct team *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		for (uint32_t m = 0; m < t->job->count; m++)
			if (is_wanting(t, i, m) && *cell_of(t, i, m) == FORS_NO_LANE)
				return true;
	return false;
}

static void write_team(const struct team *t, uint32_t number, struct fors_entries *made)
{
	const uint32_t *server = t->job->server;

	if (is_cut(t))
		return;
	made->bound[number] = fullest(t);
	for (uint32_t m = 0; m < t->job->count; m++) {
		for (uint32_t i = 0; i < t->count; i++)
			made->up[(size_t)t->squad[i].leaf * made->nservers + server[m]] = *cell_of(t, i, m);
		for_each_common(lane, &t->in[m], &t->in[m], t->nwords)
			made->down[(size_t)t->fabric->lane[lane].spine * made->nservers + server[m]] = (uint8_t)lane;
	}
}

/* False: out of memory. */
static bool serve(const struct fors_entries_task *task, const struct fors_owners *owners, uint32_t number,
		  struct fors_entries *made)
{
	struct team t = {.task = task,
			 .fabric = task->fabric,
			 .job = &task->list->job[number],
			 .nlanes = task->fabric->nlanes,
			 .nwords = (task->fabric->nlanes + 63) / 64};
	bool is_good = alloc(&t);

	if (is_good) {
		name_squads(&t, owners, number);
		for (uint32_t m = 0; m < t.job->count; m++)
			find_in(&t, m);
		fill(&t);
		write_team(&t, number, made);
	}
	release(&t);
	return is_good;
}

enum fors_err fors_entries_find(const struct fors_entries_task *task, const struct fors_owners *owners,
				struct fors_entries *entries, struct fors_error *error)
{
	struct fors_entries made;
	bool is_good = alloc_entries(task, &made);

	for (uint32_t j = 0; is_good && j < task->list->count; j++)
		is_good = !fors_entries_wanted(task, j) || serve(task, owners, j, &made);
	if (is_good)
		*entries = made;
	else
		fors_entries_clear(&made);
	return is_good ? FORS_OK : fors_fail_memory(error);
}

void fors_entries_clear(struct fors_entries *entries)
{
	free(entries->up);
	free(entries->down);
	free(entries->bound);
	*entries = (struct fors_entries){0};
}
