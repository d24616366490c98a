/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_search.c - better entries, and better owners for them: annealing that ends cold when the work is done.
 *
 * Most moves are of a team that is badly off: a cell leaves a full row for another lane, and when its new row is too full
 * then, a cell of that one goes on, a few times. Some give the team another lane: at the leaf of a full row, for one of
 * its own or for nothing, or one at all its leaves for another. A move is taken back when it made things worse by more
 * than the temperature allows.
 */
#include "entries_inside.h"

#include <string.h>

#include "core/base/random.h"

#define HOT (SPEED_ONE / 50) /* what a move may cost at the beginning */
#define LONGEST 4	     /* cells that push one another on in a move */
#define LANES_PART 64	     /* one move in so many is of lanes, while rows are full and no cell lacks a lane */
#define POLISH 32	     /* moves of cells that follow one of lanes */
#define MOST_TEAMS (2 * MOST_LANES_MOVED)

struct anneal {
	struct entry_search *s;
	struct fors_random random;
	struct {
		uint32_t index, was; /* of search->at */
	} moved[MOST_LANES_MOVED];
	uint32_t nmoved;
	uint32_t touched[MOST_TEAMS]; /* teams */
	int64_t energy[MOST_TEAMS];   /* that they had */
	uint32_t ntouched;
	int64_t sum, best, least; /* energies of all: now, the best so far, with all at full speed */
};

static uint32_t draw(struct anneal *a, uint32_t n)
{
	return (uint32_t)((fors_random_next(&a->random) >> 32) * n >> 32);
}

/* ---- what a move touches ---- */

static void touch(struct anneal *a, uint32_t team)
{
	if (team == FORS_NONE)
		return;
	for (uint32_t i = 0; i < a->ntouched; i++)
		if (a->touched[i] == team)
			return;
	a->energy[a->ntouched] = a->s->team[team].energy;
	a->touched[a->ntouched++] = team;
}

static void hand_over(struct anneal *a, uint32_t leaf, uint32_t lane, uint32_t to)
{
	uint32_t index = leaf * a->s->nlanes + lane, from = a->s->at[index];

	touch(a, from);
	touch(a, to);
	a->moved[a->nmoved].index = index;
	a->moved[a->nmoved++].was = from;
	fors_entries_hand_over(a->s, leaf, lane, to);
}

static void begin(struct anneal *a)
{
	a->nmoved = a->ntouched = 0;
	a->s->nchanges = 0;
}

/* The lanes go back, after the cells. */
static void take_back(struct anneal *a)
{
	struct entry_search *s = a->s;

	fors_entries_undo(s, 0);
	while (a->nmoved) {
		uint32_t index = a->moved[--a->nmoved].index, was = a->moved[a->nmoved].was, leaf = index / s->nlanes,
			 is = s->at[index];

		s->at[index] = was;
		for (int side = 0; side < 2; side++) {
			uint32_t who = side ? was : is;

			if (who != FORS_NONE)
				fors_entries_flip(s, &s->team[who], s->squad_at[(size_t)leaf * s->nteams + who],
						  index % s->nlanes);
		}
	}
	for (uint32_t i = 0; i < a->ntouched; i++)
		s->team[a->touched[i]].energy = a->energy[i];
}

/* ---- whom it is for ---- */

static bool is_slow(const struct team *team)
{
	return team->energy > SPEED_ONE && !team->is_kept;
}

/* A team that is not at full speed: the first one from a random one on; NULL: none is. */
static struct team *any_slow(struct anneal *a)
{
	uint32_t t = draw(a, a->s->nteams);

	for (uint32_t i = 0; i < a->s->nteams; i++, t = t + 1 < a->s->nteams ? t + 1 : 0)
		if (is_slow(&a->s->team[t]))
			return &a->s->team[t];
	return NULL;
}

/* An over-full row of the team: direction * rows + row; FORS_NONE: none is. */
static uint32_t any_full(struct anneal *a, const struct team *team)
{
	return team->nfull ? team->full[draw(a, team->nfull)] : FORS_NONE;
}

/* ---- moves of cells ---- */

/* A cell of an uplink's row: a member, the first from a random one on; FORS_NONE. */
static uint32_t any_up(struct anneal *a, const struct team *team, uint32_t squad, uint32_t lane)
{
	const uint8_t *cell = team->cell + (size_t)squad * team->nservers;
	uint32_t m = draw(a, team->nservers);

	for (uint32_t i = 0; i < team->nservers; i++, a->s->work++, m = m + 1 < team->nservers ? m + 1 : 0)
		if (cell[m] == lane)
			return squad * team->nservers + m;
	return FORS_NONE;
}

/* The same of a downlink's row: among the members of the squad, from all others. */
static uint32_t any_down(struct anneal *a, const struct team *team, uint32_t number, uint32_t lane)
{
	const struct squad *squad = squad_of(a->s, team, number);
	uint32_t n = squad->n * team->count, at = draw(a, n);

	for (uint32_t i = 0; i < n; i++, a->s->work++, at = at + 1 < n ? at + 1 : 0) {
		uint32_t cell = at / squad->n * team->nservers + squad->first + at % squad->n;

		if (team->cell[cell] == lane)
			return cell;
	}
	return FORS_NONE;
}

/* Another lane for the cell: mostly the best one, now and then any. */
static uint32_t other_lane(struct anneal *a, const struct team *team, uint32_t squad, uint32_t member, uint32_t lane)
{
	const struct mask *from = &squad_of(a->s, team, squad)->mask;
	uint32_t n = 0;

	if (draw(a, 16))
		return fors_entries_best_lane(a->s, team, squad, member, lane);
	for_each_common(one, from, &team->in[member], a->s->nwords) n += one != lane;
	n = n ? draw(a, n) + 1 : 0;
	for_each_common(one, from, &team->in[member], a->s->nwords) if (one != lane && n && !--n) return (uint32_t)one;
	return FORS_NO_LANE;
}

/* Of the rows of the cell, one that is over-full, as any_full() says it. */
static uint32_t full_row(const struct anneal *a, const struct team *team, uint32_t squad, uint32_t member,
			 uint32_t lane)
{
	uint32_t nlanes = a->s->nlanes, up = squad * nlanes + lane, down = team->squad_of[member] * nlanes + lane;

	if (team->row[1][down] > team->nservers)
		return team->count * nlanes + down;
	return team->row[0][up] > team->nservers ? up : FORS_NONE;
}

static void move_cells(struct anneal *a, struct team *team, uint32_t row)
{
	uint32_t n = team->count * a->s->nlanes;

	for (int i = 0; i < LONGEST && row != FORS_NONE; i++) {
		uint32_t lane = row % a->s->nlanes, squad = row % n / a->s->nlanes, member, other,
			 cell = row < n ? any_up(a, team, squad, lane) : any_down(a, team, squad, lane);

		if (cell == FORS_NONE)
			return;
		squad = cell / team->nservers;
		member = cell % team->nservers;
		other = other_lane(a, team, squad, member, lane);
		if (other == FORS_NO_LANE)
			return;
		fors_entries_put(a->s, team, squad, member, other);
		row = full_row(a, team, squad, member, other);
	}
}

/* ---- moves of lanes ---- */

/* May the lane of the leaf change hands, and is it not the team's? */
static bool may_take(const struct anneal *a, const struct team *team, uint32_t leaf, uint32_t lane)
{
	uint32_t who = a->s->at[(size_t)leaf * a->s->nlanes + lane];

	return who != FORS_NONE && &a->s->team[who] != team;
}

static struct squad *squad_at(const struct anneal *a, uint32_t leaf, uint32_t team)
{
	return squad_of(a->s, &a->s->team[team], a->s->squad_at[(size_t)leaf * a->s->nteams + team]);
}

/* The team gets `lane` at its squad's leaf, and gives `own` for it, unless that is FORS_NO_LANE. */
static void take_lane(struct anneal *a, struct team *team, const struct squad *squad, uint32_t lane, uint32_t own)
{
	uint32_t me = (uint32_t)(team - a->s->team), who = a->s->at[(size_t)squad->leaf * a->s->nlanes + lane];

	if (own == FORS_NO_LANE && squad_at(a, squad->leaf, who)->nlanes < 2)
		return;
	hand_over(a, squad->leaf, lane, me);
	if (own != FORS_NO_LANE)
		hand_over(a, squad->leaf, own, who);
}

/* A lane of the squad's: the first one from a random one on. */
static uint32_t any_own(struct anneal *a, const struct squad *squad)
{
	uint32_t lane = draw(a, a->s->nlanes);

	for (uint32_t i = 0; i < a->s->nlanes; i++, lane = lane + 1 < a->s->nlanes ? lane + 1 : 0)
		if (squad->mask.word[lane / 64] >> lane % 64 & 1)
			return lane;
	return FORS_NO_LANE;
}

/* Lane `two` for lane `one` at all leaves where the team has only `one`. */
static void change_column(struct anneal *a, struct team *team, uint32_t one, uint32_t two)
{
	for (uint32_t i = 0; i < team->count && a->nmoved + 2 <= MOST_LANES_MOVED; i++) {
		const struct squad *squad = squad_of(a->s, team, i);

		if (squad->mask.word[one / 64] >> one % 64 & 1 && may_take(a, team, squad->leaf, two))
			take_lane(a, team, squad, two, one);
	}
}

/* A cell of the team that has no lane; FORS_NONE: none is. */
static uint32_t any_cut(struct anneal *a, const struct team *team)
{
	uint32_t n = team->count * team->nservers, cell = draw(a, n);

	for (uint32_t i = 0; team->ncut && i < n; i++, cell = cell + 1 < n ? cell + 1 : 0)
		if (team->cell[cell] == FORS_NO_LANE &&
		    is_wanting(a->s, team, cell / team->nservers, cell % team->nservers))
			return cell;
	return FORS_NONE;
}

/* The team gets the lane at this leaf, if it has not got it: for one of its own, or for nothing. */
static void get_lane(struct anneal *a, struct team *team, uint32_t number, uint32_t lane)
{
	const struct squad *squad = squad_of(a->s, team, number);
	uint32_t own = draw(a, 2) ? any_own(a, squad) : FORS_NO_LANE;

	if (lane != FORS_NO_LANE && own != lane && may_take(a, team, squad->leaf, lane))
		take_lane(a, team, squad, lane, own);
}

/* Two leaves that are cut off from each other get any lane in common. */
static void join(struct anneal *a, struct team *team, uint32_t cell)
{
	uint32_t lane = draw(a, a->s->nlanes);

	get_lane(a, team, cell / team->nservers, lane);
	get_lane(a, team, team->squad_of[cell % team->nservers], lane);
}

static void relieve_touched(struct anneal *a)
{
	for (uint32_t i = 0; i < a->nmoved; i++)
		for (uint32_t t = 0; t < a->ntouched; t++) {
			uint32_t leaf = a->moved[i].index / a->s->nlanes,
				 squad = a->s->squad_at[(size_t)leaf * a->s->nteams + a->touched[t]];

			if (squad != FORS_NONE && (!i || leaf != a->moved[i - 1].index / a->s->nlanes))
				fors_entries_relieve(a->s, &a->s->team[a->touched[t]], squad);
		}
}

/* After lanes have moved: some cells of full rows, each only if that helps. */
static void polish(struct anneal *a)
{
	for (uint32_t t = 0; t < a->ntouched; t++) {
		struct team *team = &a->s->team[a->touched[t]];
		int64_t energy = fors_entries_weigh(team);

		for (uint32_t i = 0; i < POLISH && team->nfull; i++) {
			size_t before = a->s->nchanges;

			move_cells(a, team, any_full(a, team));
			if (fors_entries_weigh(team) > energy)
				fors_entries_undo(a->s, before);
			energy = fors_entries_weigh(team);
		}
	}
}

/* A lane more, or another one, at the leaf of a full row: one that the team has at another leaf. */
static void move_lanes(struct anneal *a, struct team *team, uint32_t row)
{
	uint32_t cell = any_cut(a, team),
		 number = row == FORS_NONE ? draw(a, team->count) : row % (team->count * a->s->nlanes) / a->s->nlanes,
		 other = (number + 1 + draw(a, team->count - 1)) % team->count,
		 lane = any_own(a, squad_of(a->s, team, other)), own = any_own(a, squad_of(a->s, team, number));

	if (cell != FORS_NONE)
		join(a, team, cell);
	else if (draw(a, 8) || own == FORS_NO_LANE || lane == FORS_NO_LANE || own == lane)
		get_lane(a, team, number, lane);
	else
		change_column(a, team, own, lane);
	if (!a->nmoved)
		return;
	relieve_touched(a);
	polish(a);
}

/* ---- the search ---- */

static void remember(struct anneal *a)
{
	struct entry_search *s = a->s;

	a->best = a->sum;
	memcpy(s->best_cells, s->cells, s->ncells);
	memcpy(s->best_at, s->at, (size_t)s->fabric->nleaves * s->nlanes * sizeof(*s->at));
	s->work += s->ncells / 64;
}

/* The allowance: HOT at first, nothing at the end, any part of it with the same chance. */
static int64_t allowance(struct anneal *a)
{
	uint64_t all = a->s->task->work, left = a->s->work < all ? (all - a->s->work) * HOT / all : 0;

	return (int64_t)((fors_random_next(&a->random) >> 32) * left >> 32);
}

/* How much worse those are that the move touched. */
static int64_t ask(struct anneal *a)
{
	int64_t worse = 0;

	for (uint32_t i = 0; i < a->ntouched; i++)
		worse += fors_entries_weigh(&a->s->team[a->touched[i]]) - a->energy[i];
	return worse;
}

/* One move, kept or not; false: nobody is slow. */
static bool step(struct anneal *a)
{
	struct team *team = any_slow(a);
	int64_t worse;
	uint32_t row;

	if (!team)
		return false;
	begin(a);
	row = any_full(a, team);
	if (row != FORS_NONE && draw(a, team->ncut ? 2 : LANES_PART)) {
		touch(a, (uint32_t)(team - a->s->team));
		move_cells(a, team, row);
	} else {
		move_lanes(a, team, row);
	}
	a->s->work += 32;
	worse = ask(a);
	if (worse > 0 && worse > allowance(a))
		take_back(a);
	else
		a->sum += worse;
	if (a->sum < a->best)
		remember(a);
	return true;
}

void fors_entries_search(struct entry_search *s)
{
	const struct fors_entries_task *task = s->task;
	struct anneal a = {.s = s, .random = {0x656e74}};

	for (uint32_t t = 0; t < s->nteams; t++)
		a.sum += fors_entries_weigh(&s->team[t]);
	remember(&a);
	/* Without any lane there is nothing to move. */
	for (uint32_t i = 1; s->nlanes && s->work < task->work && !s->is_out_of_memory && step(&a); i++)
		if (i % 256 == 0 && task->cancelled && task->cancelled(task->context))
			break;
}
