/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_place.c - cells on lanes: what a row carries, where a cell goes best, and all of it taken back.
 */
#include "entries_inside.h"

#include <stdlib.h>

/* ---- rows ---- */

static uint32_t excess_of(const struct team *team, uint32_t flows)
{
	uint32_t excess = flows > team->nservers ? flows - team->nservers : 0;

	return excess < FULLEST * team->nservers ? excess : FULLEST * team->nservers;
}

/* A row becomes over-full. Both directions follow each other in memory, so where it is says which it is. */
static void list_full(struct team *team, const uint32_t *row)
{
	uint32_t number = (uint32_t)(row - team->row[0]);

	team->full_at[number] = team->nfull;
	team->full[team->nfull++] = number;
}

static void unlist_full(struct team *team, const uint32_t *row)
{
	uint32_t place = team->full_at[row - team->row[0]], last = team->full[--team->nfull];

	team->full[place] = last;
	team->full_at[last] = place;
}

static void add(struct team *team, uint32_t *row, uint32_t n)
{
	uint32_t was = excess_of(team, *row), is = excess_of(team, *row + n);

	*row += n;
	if (was == is)
		return;
	if (!was)
		list_full(team, row);
	team->beyond += is - was;
	team->excess[was] -= was > 0;
	team->excess[is]++;
	if (is > team->most)
		team->most = is;
}

static void drop(struct team *team, uint32_t *row, uint32_t n)
{
	uint32_t was = excess_of(team, *row), is = excess_of(team, *row - n);

	*row -= n;
	if (was == is)
		return;
	if (!is)
		unlist_full(team, row);
	team->beyond -= was - is;
	team->excess[was]--;
	team->excess[is] += is > 0;
	while (team->most && !team->excess[team->most])
		team->most--;
}

int64_t fors_entries_weigh(struct team *team)
{
	uint64_t p = team->nservers;

	team->energy = (int64_t)((p + team->most) * SPEED_ONE / p + team->beyond * SPEED_ONE / OVER_PART / p);
	if (team->ncut)
		team->energy += CUT_OFF + (int64_t)team->ncut * CUT_CELL;
	return team->energy;
}

/* ---- cells ---- */

/* The rows that a cell is on. */
static void rows_of(const struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member,
		    uint32_t lane, uint32_t **up, uint32_t **down)
{
	*up = &team->row[0][(size_t)squad * s->nlanes + lane];
	*down = &team->row[1][(size_t)team->squad_of[member] * s->nlanes + lane];
}

static void set(struct entry_search *s, struct team *team, uint32_t squad, uint32_t member, uint32_t lane)
{
	uint8_t *cell = &team->cell[(size_t)squad * team->nservers + member];
	uint32_t n = cell_flows(s, team, squad, member), *up, *down;

	s->work += 4;
	team->ncut -= *cell == FORS_NO_LANE;
	team->ncut += lane == FORS_NO_LANE;
	if (*cell != FORS_NO_LANE) {
		rows_of(s, team, squad, member, *cell, &up, &down);
		drop(team, up, n);
		drop(team, down, n);
	}
	*cell = (uint8_t)lane;
	if (lane != FORS_NO_LANE) {
		rows_of(s, team, squad, member, lane, &up, &down);
		add(team, up, n);
		add(team, down, n);
	}
}

static void note(struct entry_search *s, const struct team *team, uint32_t cell, uint32_t was)
{
	if (s->nchanges == s->room) {
		size_t room = 2 * s->room + 1024;
		struct change *more = realloc(s->change, room * sizeof(*more));

		if (!more) {
			s->is_out_of_memory = true;
			return;
		}
		s->change = more;
		s->room = room;
	}
	s->change[s->nchanges++] = (struct change){(uint32_t)(team - s->team), cell, (uint8_t)was};
}

void fors_entries_put(struct entry_search *s, struct team *team, uint32_t squad, uint32_t member, uint32_t lane)
{
	uint32_t cell = squad * team->nservers + member;

	note(s, team, cell, team->cell[cell]);
	set(s, team, squad, member, lane);
}

void fors_entries_undo(struct entry_search *s, size_t keep)
{
	while (s->nchanges > keep) {
		const struct change *change = &s->change[--s->nchanges];
		struct team *team = &s->team[change->team];

		set(s, team, change->cell / team->nservers, change->cell % team->nservers, change->was);
	}
}

uint32_t fors_entries_best_lane(struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member,
				uint32_t not_this)
{
	const struct squad *from = squad_of(s, team, squad);
	uint64_t least = UINT64_MAX;
	uint32_t best = FORS_NO_LANE, p = team->nservers, n = cell_flows(s, team, squad, member);

	for_each_common(lane, &from->mask, &team->in[member], s->nwords)
	{
		uint32_t *up, *down, high, low;
		uint64_t cost;

		rows_of(s, team, squad, member, (uint32_t)lane, &up, &down);
		high = (*up > *down ? *up : *down) + n;
		low = (*up > *down ? *down : *up) + n;
		cost = (uint64_t)((high > p ? high - p : 0) + (low > p ? low - p : 0)) << 32 | (high + low / 4);
		s->work += 2;
		if (cost < least && lane != not_this) {
			least = cost;
			best = (uint32_t)lane;
		}
	}
	return best;
}

/* ---- lanes that change hands ---- */

static bool has(const struct mask *mask, uint32_t lane)
{
	return lane != FORS_NO_LANE && (mask->word[lane / 64] >> lane % 64 & 1);
}

void fors_entries_find_in(struct entry_search *s, struct team *team, uint32_t member)
{
	const struct squad *squad = squad_of(s, team, team->squad_of[member]);
	uint32_t turn = member - squad->first;

	team->in[member] = squad->mask;
	if (!s->has_parallel)
		return;
	team->in[member] = (struct mask){{0}};
	for (uint32_t at = 0, end; at < s->nlanes; at = end) {
		uint32_t spine = s->fabric->lane[s->order[at]].spine, n = 0;

		for (end = at; end < s->nlanes && s->fabric->lane[s->order[end]].spine == spine; end++)
			n += has(&squad->mask, s->order[end]);
		n = n ? turn % n + 1 : 0;
		for (; n; at++)
			if (has(&squad->mask, s->order[at]) && !--n)
				mask_flip(&team->in[member], s->order[at]);
	}
	s->work += s->nlanes;
}

void fors_entries_flip(struct entry_search *s, struct team *team, uint32_t number, uint32_t lane)
{
	const bool *is_barred = s->task->is_barred;
	struct squad *squad = squad_of(s, team, number);

	if (is_barred && is_barred[(size_t)team->job * s->fabric->nspines + s->fabric->lane[lane].spine])
		return;
	mask_flip(&squad->mask, lane);
	squad->nlanes += has(&squad->mask, lane) ? 1 : -1;
	for (uint32_t m = squad->first; m < squad->first + squad->n; m++)
		fors_entries_find_in(s, team, m);
}

/* The cell goes where it is best; with `if_wrong` only when it has no lane, or one that it may not have. */
static void place(struct entry_search *s, struct team *team, uint32_t squad, uint32_t member, bool if_wrong)
{
	uint32_t cell = squad * team->nservers + member, was = team->cell[cell], lane;

	s->work++;
	if (!is_wanting(s, team, squad, member) ||
	    (if_wrong && has(&squad_of(s, team, squad)->mask, was) && has(&team->in[member], was)))
		return;
	set(s, team, squad, member, FORS_NO_LANE);
	lane = fors_entries_best_lane(s, team, squad, member, FORS_NO_LANE);
	set(s, team, squad, member, lane);
	if (lane != was)
		note(s, team, cell, was);
}

/* All cells from and to a squad whose lanes have changed. */
static void place_around(struct entry_search *s, struct team *team, uint32_t number)
{
	const struct squad *squad = squad_of(s, team, number);

	for (uint32_t m = 0; m < team->nservers; m++)
		place(s, team, number, m, true);
	for (uint32_t i = 0; i < team->count; i++)
		for (uint32_t m = squad->first; m < squad->first + squad->n; m++)
			place(s, team, i, m, true);
}

void fors_entries_hand_over(struct entry_search *s, uint32_t leaf, uint32_t lane, uint32_t to)
{
	uint32_t *at = &s->at[(size_t)leaf * s->nlanes + lane], from = *at;

	*at = to;
	for (int side = 0; side < 2; side++) {
		uint32_t who = side ? to : from, number;

		if (who == FORS_NONE)
			continue;
		number = s->squad_at[(size_t)leaf * s->nteams + who];
		fors_entries_flip(s, &s->team[who], number, lane);
		place_around(s, &s->team[who], number);
	}
}

/* ---- over-full rows ---- */

/* Try to find the cell a better lane. */
static void ease(struct entry_search *s, struct team *team, uint32_t squad, uint32_t member, uint32_t lane)
{
	if (team->cell[(size_t)squad * team->nservers + member] == lane)
		place(s, team, squad, member, false);
}

void fors_entries_relieve(struct entry_search *s, struct team *team, uint32_t number)
{
	const struct squad *squad = squad_of(s, team, number);
	const uint32_t *up = &team->row[0][(size_t)number * s->nlanes],
		       *down = &team->row[1][(size_t)number * s->nlanes];

	for_each_common(lane, &squad->mask, &squad->mask, s->nwords)
	{
		for (uint32_t m = 0; m < team->nservers && up[lane] > team->nservers; m++, s->work++)
			ease(s, team, number, m, (uint32_t)lane);
		for (uint32_t i = 0; i < team->count && down[lane] > team->nservers; i++)
			for (uint32_t m = squad->first; m < squad->first + squad->n; m++, s->work++)
				ease(s, team, i, m, (uint32_t)lane);
	}
}
