/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_inside.h - what the files of the search for entries share.
 *
 * A team is a job that gets entries, a squad its servers at one leaf. A cell is an entry: (squad that sends, member that
 * receives). A row is a link of the team: (squad, lane), up or down; it is over-full with more flows than the
 * team has servers.
 * Thread rules: a search belongs to one thread.
 */
#ifndef FORS_CORE_JOBS_ENTRIES_INSIDE_H
#define FORS_CORE_JOBS_ENTRIES_INSIDE_H

#include "entries.h"
#include "mask.h"

#define SPEED_ONE 1000		 /* energy of a team at full speed */
#define CUT_OFF (3 * SPEED_ONE)	 /* of one that lacks an entry: it has no table */
#define CUT_CELL (SPEED_ONE / 8) /* and for each that it lacks */
#define OVER_PART 20		 /* all that stands above P costs a twentieth of what the fullest row does */
#define MOST_LANES_MOVED 512	 /* in one move */
#define FULLEST 3		 /* times P: rows with more are not told apart */

struct squad {
	uint32_t team, leaf;
	uint32_t first, n; /* its members */
	uint32_t nlanes;   /* that it has */
	struct mask mask;  /* these */
};

struct team {
	uint32_t job;
	uint32_t first, count; /* squads */
	uint32_t nservers;     /* P: members are 0..P-1, in the order of the job's servers */
	uint32_t *squad_of;    /* per member: number of its squad within the team */
	struct mask *in;       /* per member: lanes that its LID comes down by */
	uint8_t *cell;	       /* [squad * P + member]: lane, FORS_NO_LANE: none, or its own squad */
	uint32_t *row[2];      /* [squad * nlanes + lane]: flows up, and down */
	uint32_t *excess;      /* [n]: rows with n flows more than P, n > 0 */
	uint32_t *full;	       /* the over-full rows, direction * count * nlanes + row, in any order */
	uint32_t *full_at;     /* per such row: where it is in full[] */
	uint32_t nfull;
	uint32_t most;	 /* the largest n with such rows; 0 */
	uint64_t beyond; /* all flows above P */
	uint32_t ncut;	 /* cells without a lane that want one */
	bool is_kept;	 /* it runs, and nothing of it is changed */
	int64_t energy;
};

/* A cell as it was before a move. */
struct change {
	uint32_t team, cell;
	uint8_t was;
};

struct entry_search {
	const struct fors_entries_task *task;
	const struct fors_fabric *fabric;
	uint32_t nlanes, nwords, nteams, nsquads;
	uint32_t *order;   /* all lanes, those of a spine one after the other */
	bool has_parallel; /* a spine has several cables to a leaf */
	struct team *team;
	struct squad *squad;
	uint32_t *team_of;  /* per job: team, FORS_NONE */
	uint32_t *squad_at; /* [leaf * nteams + team]: squad within the team, FORS_NONE */
	uint32_t *at;	    /* [leaf * nlanes + lane]: team, FORS_NONE: nobody's, or not to be moved */
	uint8_t *cells;	    /* those of all teams, one after the other */
	size_t ncells;
	uint32_t *words; /* memory of all teams: squad_of, rows, excess */
	struct mask *masks;
	uint8_t *best_cells; /* the best that they were */
	uint32_t *best_at;
	struct change *change; /* of the move that is being tried */
	size_t nchanges, room;
	bool is_out_of_memory;
	uint64_t work;
};

static inline struct squad *squad_of(const struct entry_search *s, const struct team *team, uint32_t number)
{
	return &s->squad[team->first + number];
}

/* The flows that a cell stands for: of all servers of its squad, unless others are given (fors_entries_task.flows). */
static inline uint32_t cell_flows(const struct entry_search *s, const struct team *team, uint32_t squad,
				  uint32_t member)
{
	const struct squad *from = squad_of(s, team, squad);

	return s->task->flows ? s->task->flows[(size_t)from->leaf * s->fabric->nservers +
					       s->task->list->job[team->job].server[member]]
			      : from->n;
}

/* Does the cell want a lane? */
static inline bool is_wanting(const struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member)
{
	return team->squad_of[member] != squad && (!s->task->flows || cell_flows(s, team, squad, member));
}

/* ---- entries_place.c ---- */

/* Give the cell (squad within the team, member) this lane, which it may have, or FORS_NO_LANE; the change is noted. */
void fors_entries_put(struct entry_search *s, struct team *team, uint32_t squad, uint32_t member, uint32_t lane);
/* The lane that costs the cell least, other than `not`, FORS_NO_LANE: there is none. The cell is empty. */
uint32_t fors_entries_best_lane(struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member,
				uint32_t not_this);
/* Lane `lane` of the leaf is the team's from now on (FORS_NONE: nobody's); all cells that this concerns are placed again. */
void fors_entries_hand_over(struct entry_search *s, uint32_t leaf, uint32_t lane, uint32_t team);
/* Cells of the squad's over-full rows go elsewhere as far as that helps. */
void fors_entries_relieve(struct entry_search *s, struct team *team, uint32_t squad);
/* Undo the changes of cells but for the first `keep` of them. */
void fors_entries_undo(struct entry_search *s, size_t keep);
/* What member's LID comes down by, of the lanes of its squad. */
void fors_entries_find_in(struct entry_search *s, struct team *team, uint32_t member);
/* Lane `lane` becomes or ceases to be one of the squad's; cells stay. */
void fors_entries_flip(struct entry_search *s, struct team *team, uint32_t squad, uint32_t lane);
/* How badly off the team is; into its energy, too. */
int64_t fors_entries_weigh(struct team *team);

/* ---- entries_level.c ---- */

/* Level the rows of a team, unless it runs; none becomes fuller than the fullest is. */
void fors_entries_level(struct entry_search *s, struct team *team);

/* ---- entries_search.c ---- */

/* Make it better, as long as there is work left; best_cells and best_at are the result. */
void fors_entries_search(struct entry_search *s);

#endif
