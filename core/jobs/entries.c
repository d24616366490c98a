/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries.c - who gets entries, the memory of the search, a start, and what comes of it.
 */
#include "entries_inside.h"

#include <stdlib.h>
#include <string.h>

bool fors_entries_wanted(const struct fors_entries_task *task, uint32_t job)
{
	const struct fors_jobentry *entry = &task->list->job[job];

	return (entry->has_index || (task->has_exclusive && entry->is_exclusive)) && entry->nleaves > 1;
}

static uint32_t leaf_of(const struct entry_search *s, const struct team *team, uint32_t member)
{
	return s->fabric->server[s->task->list->job[team->job].server[member]].leaf;
}

/* ---- teams and squads ---- */

static size_t team_words(const struct entry_search *s, const struct team *team)
{
	return team->nservers + 6 * (size_t)team->count * s->nlanes + (FULLEST + 1) * (size_t)team->nservers + 1;
}

static bool alloc(struct entry_search *s)
{
	const struct fors_joblist *list = s->task->list;
	size_t nsquads = 0, grid = (size_t)s->fabric->nleaves * s->nlanes + 1;

	s->team_of = malloc((list->count + (size_t)1) * sizeof(*s->team_of));
	for (uint32_t j = 0; s->team_of && j < list->count; j++) {
		s->team_of[j] = fors_entries_wanted(s->task, j) ? s->nteams++ : FORS_NONE;
		nsquads += s->team_of[j] == FORS_NONE ? 0 : list->job[j].nleaves;
	}
	s->team = calloc(s->nteams + (size_t)1, sizeof(*s->team));
	s->squad = calloc(nsquads + 1, sizeof(*s->squad));
	s->squad_at = malloc(((size_t)s->fabric->nleaves * s->nteams + 1) * sizeof(*s->squad_at));
	s->at = malloc(grid * sizeof(*s->at));
	s->best_at = malloc(grid * sizeof(*s->best_at));
	s->order = malloc((s->nlanes + (size_t)1) * sizeof(*s->order));
	return s->team_of && s->team && s->squad && s->squad_at && s->at && s->best_at && s->order;
}

static void name_squads(struct entry_search *s)
{
	const struct fors_joblist *list = s->task->list;

	for (size_t i = 0; i < (size_t)s->fabric->nleaves * s->nteams; i++)
		s->squad_at[i] = FORS_NONE;
	for (uint32_t j = 0; j < list->count; j++) {
		struct team *team = s->team_of[j] == FORS_NONE ? NULL : &s->team[s->team_of[j]];

		if (!team)
			continue;
		*team = (struct team){.job = j, .first = s->nsquads, .nservers = list->job[j].count};
		for (uint32_t m = 0; m < team->nservers; m++) {
			uint32_t leaf = leaf_of(s, team, m);

			if (!m || leaf != leaf_of(s, team, m - 1)) {
				s->squad_at[(size_t)leaf * s->nteams + s->team_of[j]] = team->count++;
				s->squad[s->nsquads++] =
					(struct squad){.team = s->team_of[j], .leaf = leaf, .first = m};
			}
			s->squad[s->nsquads - 1].n++;
		}
	}
}

static bool alloc_cells(struct entry_search *s)
{
	size_t words = 0, members = 0;

	for (uint32_t t = 0; t < s->nteams; t++) {
		s->ncells += (size_t)s->team[t].count * s->team[t].nservers;
		words += team_words(s, &s->team[t]);
		members += s->team[t].nservers;
	}
	s->cells = malloc(s->ncells + 1);
	s->best_cells = malloc(s->ncells + 1);
	s->words = calloc(words + 1, sizeof(*s->words));
	s->masks = calloc(members + 1, sizeof(*s->masks));
	return s->cells && s->best_cells && s->words && s->masks;
}

/* Each team its part of the memory; no cell has a lane. */
static void lay_out(struct entry_search *s)
{
	uint32_t *word = s->words;
	uint8_t *cell = s->cells;
	struct mask *mask = s->masks;

	memset(s->cells, FORS_NO_LANE, s->ncells);
	for (uint32_t t = 0; t < s->nteams; t++) {
		struct team *team = &s->team[t];
		size_t rows = (size_t)team->count * s->nlanes;

		team->squad_of = word;
		team->row[0] = team->squad_of + team->nservers;
		team->row[1] = team->row[0] + rows;
		team->full = team->row[1] + rows;
		team->full_at = team->full + 2 * rows;
		team->excess = team->full_at + 2 * rows;
		word += team_words(s, team);
		team->cell = cell;
		cell += (size_t)team->count * team->nservers;
		team->in = mask;
		mask += team->nservers;
		for (uint32_t i = 0; i < team->count; i++)
			for (uint32_t m = 0; m < squad_of(s, team, i)->n; m++)
				team->squad_of[squad_of(s, team, i)->first + m] = i;
		for (uint32_t i = 0; i < team->count; i++)
			for (uint32_t m = 0; m < team->nservers; m++)
				team->ncut += is_wanting(s, team, i, m);
	}
}

static void release(struct entry_search *s)
{
	free(s->team_of);
	free(s->team);
	free(s->squad);
	free(s->squad_at);
	free(s->at);
	free(s->order);
	free(s->cells);
	free(s->words);
	free(s->masks);
	free(s->best_cells);
	free(s->best_at);
	free(s->change);
}

/* ---- a start ---- */

/* The lanes of all spines, those of each together. */
static void order_lanes(struct entry_search *s)
{
	uint32_t n = 0;

	for (uint32_t spine = 0; spine < s->fabric->nspines; spine++)
		for (uint32_t k = 0; k < s->nlanes; k++)
			if (s->fabric->lane[k].spine == spine)
				s->order[n++] = k;
	for (uint32_t k = 0; k < s->nlanes; k++)
		s->has_parallel |= s->fabric->lane[k].cable > 0;
}

static void give_lanes(struct entry_search *s, const struct fors_owners *owners)
{
	for (uint32_t leaf = 0; leaf < s->fabric->nleaves; leaf++)
		for (uint32_t k = 0; k < s->nlanes; k++) {
			uint32_t job = fors_owner(owners, leaf, k),
				 team = job == FORS_NO_JOB ? FORS_NONE : s->team_of[job],
				 squad = team == FORS_NONE ? FORS_NONE : s->squad_at[(size_t)leaf * s->nteams + team];

			s->at[(size_t)leaf * s->nlanes + k] = squad == FORS_NONE ? FORS_NONE : team;
			if (squad != FORS_NONE)
				fors_entries_flip(s, &s->team[team], squad, k);
		}
}

/* The lane that the cell had before, if it may have it now. */
static uint32_t lane_before(const struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member)
{
	const struct fors_entries *before = s->task->before;
	const struct mask *from = &squad_of(s, team, squad)->mask, *in = &team->in[member];
	uint32_t lane = FORS_NO_LANE;

	if (before && before->up)
		lane = before->up[(size_t)squad_of(s, team, squad)->leaf * before->nservers +
				  s->task->list->job[team->job].server[member]];
	return lane != FORS_NO_LANE && (from->word[lane / 64] & in->word[lane / 64]) >> lane % 64 & 1 ? lane
												      : FORS_NO_LANE;
}

/* May a cell of the squad stand for so many flows? */
static bool may_have(const struct entry_search *s, const struct team *team, uint32_t squad, uint32_t n)
{
	return s->task->flows || squad_of(s, team, squad)->n == n;
}

/* Entries that were there, then the others where they fit best, those of most flows first. */
static void place_team(struct entry_search *s, struct team *team)
{
	uint32_t nnew = 0, most = 0;

	for (uint32_t i = 0; i < team->count; i++)
		for (uint32_t m = 0; m < team->nservers; m++) {
			uint32_t lane = is_wanting(s, team, i, m) ? lane_before(s, team, i, m) : FORS_NO_LANE;

			if (lane != FORS_NO_LANE)
				fors_entries_put(s, team, i, m, lane);
			nnew += lane == FORS_NO_LANE && is_wanting(s, team, i, m);
			most = cell_flows(s, team, i, m) > most ? cell_flows(s, team, i, m) : most;
		}
	team->is_kept = !nnew && !s->task->may_move;
	for (uint32_t n = most; nnew && n > 0; n--)
		for (uint32_t i = 0; i < team->count; i++)
			for (uint32_t m = 0; m < team->nservers && may_have(s, team, i, n); m++) {
				uint32_t lane = FORS_NO_LANE;

				if (cell_flows(s, team, i, m) == n && is_wanting(s, team, i, m) &&
				    team->cell[(size_t)i * team->nservers + m] == FORS_NO_LANE)
					lane = fors_entries_best_lane(s, team, i, m, FORS_NO_LANE);
				if (lane != FORS_NO_LANE)
					fors_entries_put(s, team, i, m, lane);
			}
	s->nchanges = 0;
}

/* Lanes of teams that run on as they are are nobody's to be moved. */
static void start(struct entry_search *s, const struct fors_owners *owners)
{
	order_lanes(s);
	name_squads(s);
	if (!alloc_cells(s)) {
		s->is_out_of_memory = true;
		return;
	}
	lay_out(s);
	give_lanes(s, owners);
	for (uint32_t t = 0; t < s->nteams; t++)
		place_team(s, &s->team[t]);
	for (size_t i = 0; i < (size_t)s->fabric->nleaves * s->nlanes; i++)
		if (s->at[i] != FORS_NONE && s->team[s->at[i]].is_kept)
			s->at[i] = FORS_NONE;
}

/* ---- what comes of it ---- */

static bool alloc_entries(const struct entry_search *s, struct fors_entries *made)
{
	const struct fors_fabric *f = s->fabric;
	size_t ups = (size_t)f->nleaves * f->nservers, downs = (size_t)f->nspines * f->nservers;

	*made = (struct fors_entries){.nleaves = f->nleaves,
				      .nspines = f->nspines,
				      .nservers = f->nservers,
				      .njobs = s->task->list->count,
				      .up = malloc(ups + 1),
				      .down = malloc(downs + 1),
				      .bound = calloc(s->task->list->count + (size_t)1, sizeof(*made->bound))};
	if (!made->up || !made->down || !made->bound)
		return false;
	memset(made->up, FORS_NO_LANE, ups);
	memset(made->down, FORS_NO_LANE, downs);
	return true;
}

/* The best that the search saw is how it stands. */
static void return_to_best(struct entry_search *s)
{
	for (uint32_t leaf = 0; leaf < s->fabric->nleaves; leaf++)
		for (uint32_t k = 0; k < s->nlanes; k++) {
			uint32_t *at = &s->at[(size_t)leaf * s->nlanes + k], best = s->best_at[at - s->at];

			if (*at == best)
				continue;
			fors_entries_flip(s, &s->team[*at], s->squad_at[(size_t)leaf * s->nteams + *at], k);
			fors_entries_flip(s, &s->team[best], s->squad_at[(size_t)leaf * s->nteams + best], k);
			*at = best;
		}
	for (uint32_t t = 0; t < s->nteams; t++) {
		struct team *team = &s->team[t];
		const uint8_t *cell = s->best_cells + (team->cell - s->cells);

		for (uint32_t c = 0; c < team->count * team->nservers; c++)
			if (team->cell[c] != cell[c])
				fors_entries_put(s, team, c / team->nservers, c % team->nservers, cell[c]);
		s->nchanges = 0;
	}
}

/* Has each cell the lane that it had before? */
static bool is_as_before(const struct entry_search *s, const struct team *team)
{
	for (uint32_t i = 0; i < team->count; i++)
		for (uint32_t m = 0; m < team->nservers; m++)
			if (is_wanting(s, team, i, m) &&
			    team->cell[(size_t)i * team->nservers + m] != lane_before(s, team, i, m))
				return false;
	return true;
}

static void write_team(const struct entry_search *s, const struct team *team, struct fors_entries *made)
{
	const uint32_t *server = s->task->list->job[team->job].server;

	if (team->ncut)
		return;
	made->bound[team->job] = team->nservers + team->most;
	for (uint32_t m = 0; m < team->nservers; m++) {
		for (uint32_t i = 0; i < team->count; i++)
			made->up[(size_t)squad_of(s, team, i)->leaf * made->nservers + server[m]] =
				team->cell[(size_t)i * team->nservers + m];
		for_each_common(lane, &team->in[m], &team->in[m], s->nwords)
			made->down[(size_t)s->fabric->lane[lane].spine * made->nservers + server[m]] = (uint8_t)lane;
	}
}

static void write_owners(const struct entry_search *s, struct fors_owners *owners)
{
	for (size_t i = 0; i < (size_t)s->fabric->nleaves * s->nlanes; i++)
		if (s->at[i] != FORS_NONE)
			owners->job[i] = s->team[s->at[i]].job;
}

enum fors_err fors_entries_find(const struct fors_entries_task *task, struct fors_owners *owners,
				struct fors_entries *entries, struct fors_error *error)
{
	struct entry_search s = {.task = task, .fabric = task->fabric, .nlanes = task->fabric->nlanes};
	struct fors_entries made = {0};
	bool is_good = alloc(&s) && alloc_entries(&s, &made);

	s.nwords = (s.nlanes + 63) / 64;
	if (is_good)
		start(&s, owners);
	if (is_good && !s.is_out_of_memory)
		fors_entries_search(&s);
	is_good &= !s.is_out_of_memory;
	if (is_good) {
		return_to_best(&s);
		for (uint32_t t = 0; t < s.nteams; t++) {
			if (!is_as_before(&s, &s.team[t]))
				fors_entries_level(&s, &s.team[t]);
			write_team(&s, &s.team[t], &made);
		}
		write_owners(&s, owners);
		*entries = made;
	} else {
		fors_entries_clear(&made);
	}
	release(&s);
	return is_good ? FORS_OK : fors_fail_memory(error);
}

void fors_entries_clear(struct fors_entries *entries)
{
	free(entries->up);
	free(entries->down);
	free(entries->bound);
	*entries = (struct fors_entries){0};
}
