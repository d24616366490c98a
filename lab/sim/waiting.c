/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting.c - whom a server waits for before it sends, where no clock says when a step is over.
 *
 * Three disciplines. Each keeps a cell for each step of each unit (a unit is a rank or a server): what is left to happen
 * there. Tokens are messages without data: they take settings->token from one server to another, and no bandwidth.
 *
 *	own	a rank goes on to the next step when all that it sends and receives in this one has arrived. Its receiver
 *		has to be as far, for it has to have asked for the message (rendezvous): a token of the receiver says so.
 *		Slots without a message take no time. That is an exchange of MPI calls without barriers. By induction over
 *		steps nobody waits for ever.
 *	tokens	what a server sends in a step waits for all who sent in the last step before over one of its links, up to
 *		the receiver: their messages have arrived, and a token has come. The step before is that in which the link
 *		was used last, so a token goes to whom has the cable next. Edges go from earlier steps to later ones: no
 *		circle.
 *	tree	a server sends in step n when step n - ahead is over everywhere. It knows by a tree over the servers: the parent of
 *		number n is n without its lowest bit; tokens go up when all below are done with a step, then down. With ahead = 1
 *		it is the barrier of libforsched-mpi; with more, the tokens travel while messages do.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CELLS ((size_t)1 << 25)
#define MOST_EDGES ((size_t)1 << 26)

struct edge {
	uint32_t to;   /* cell */
	uint32_t next; /* of the same one; 0: none */
};

struct sim_waiting {
	uint32_t nunits, nsteps;
	uint32_t *left; /* by cell, unit * nsteps + step: messages that have not arrived */

	/* own: */
	uint32_t *at;	   /* by unit: the step that it is in; nsteps: it is done */
	uint64_t *entered; /* by unit: tick at which it came there */
	size_t *in_first;  /* by unit, and one more: where those that send to it begin in in[] */
	uint32_t *in;	   /* servers, in the order of steps */
	uint32_t *in_step;
	size_t *in_next; /* by unit: the first of those that are not in an earlier step than it is */

	/* tokens: */
	uint32_t *missing; /* by cell: tokens that have not come; of tree: of those below, and of itself */
	uint32_t *first;   /* by cell: its first edge, 0: none */
	struct edge *edge; /* [0] is nobody's */
	size_t nedges, room;

	/* tree: */
	uint32_t *open;	      /* by unit: it may send in steps below */
	uint8_t *is_released; /* by cell: the step is over, as this unit knows */
};

static size_t cell(const struct sim_waiting *w, uint32_t unit, uint32_t step)
{
	return (size_t)unit * w->nsteps + step;
}

static const struct fors_send *next_send(const struct sim *sim, uint32_t rank)
{
	return &sim->program->send[sim->rank[rank].next];
}

/* ---- own send and receive ---- */

static uint32_t receiver(const struct sim *sim, const struct fors_send *send)
{
	return send->dst * sim->program->nranks + send->local;
}

static bool own_allows(const struct sim *sim, uint32_t rank)
{
	const struct sim_waiting *w = sim->waiting;
	const struct fors_send *send = next_send(sim, rank);
	uint32_t to = receiver(sim, send);

	return w->at[rank] == send->step && w->at[to] == send->step &&
	       sim->calendar->now >= w->entered[to] + sim->token;
}

/* Go on to the first step in which something is left, at once; those who send to this unit there hear of it later. */
static void own_advance(struct sim *sim, uint32_t unit)
{
	struct sim_waiting *w = sim->waiting;

	while (w->at[unit] < w->nsteps && !w->left[cell(w, unit, w->at[unit])])
		w->at[unit]++;
	if (w->at[unit] == w->nsteps)
		return;
	w->entered[unit] = sim->calendar->now;
	fors_calendar_put(sim->calendar, sim->calendar->now, SIM_TOKEN_DOWN, unit);
	fors_calendar_put(sim->calendar, sim->calendar->now + sim->token, SIM_TOKEN, unit);
}

static void own_token(struct sim *sim, uint32_t unit)
{
	struct sim_waiting *w = sim->waiting;
	size_t i = w->in_next[unit];

	while (i < w->in_first[unit + 1] && w->in_step[i] < w->at[unit])
		i++;
	w->in_next[unit] = i;
	for (; i < w->in_first[unit + 1] && w->in_step[i] == w->at[unit]; i++)
		fors_sim_go_on(sim, w->in[i]);
}

static void own_count(struct sim *sim, uint32_t unit, uint32_t step)
{
	if (!--sim->waiting->left[cell(sim->waiting, unit, step)] && sim->waiting->at[unit] == step)
		own_advance(sim, unit);
}

static void own_done(struct sim *sim, uint32_t rank, const struct fors_send *send)
{
	own_count(sim, rank, send->step);
	own_count(sim, receiver(sim, send), send->step);
}

/* ---- tokens from who had the link before ---- */

static void token_done(struct sim *sim, uint32_t server, uint32_t step)
{
	struct sim_waiting *w = sim->waiting;
	size_t c = cell(w, server, step);

	if (--w->left[c])
		return;
	for (uint32_t e = w->first[c]; e; e = w->edge[e].next) {
		bool is_own = w->edge[e].to / w->nsteps == server;

		fors_calendar_put(sim->calendar, sim->calendar->now + (is_own ? 0 : sim->token), SIM_TOKEN,
				  w->edge[e].to);
	}
}

static void token_comes(struct sim *sim, uint32_t to)
{
	struct sim_waiting *w = sim->waiting;

	if (!--w->missing[to])
		fors_sim_go_on(sim, to / w->nsteps);
}

/* ---- the tree ---- */

/* A step is over, as far as unit and those below it are concerned, when this is the last that was missing. */
static void tree_hears(struct sim *sim, uint32_t unit, uint32_t step)
{
	struct sim_waiting *w = sim->waiting;

	if (--w->missing[cell(w, unit, step)])
		return;
	if (unit)
		fors_calendar_put(sim->calendar, sim->calendar->now + sim->token, SIM_TOKEN,
				  (uint32_t)cell(w, unit & (unit - 1), step));
	else
		fors_calendar_put(sim->calendar, sim->calendar->now, SIM_TOKEN_DOWN, (uint32_t)cell(w, 0, step));
}

/* The step may begin here; who has nothing to do in it is done. */
static void tree_open(struct sim *sim, uint32_t unit, uint32_t step)
{
	struct sim_waiting *w = sim->waiting;

	w->open[unit] = step + 1;
	if (step < w->nsteps && !w->left[cell(w, unit, step)])
		tree_hears(sim, unit, step);
}

/* Tokens to all below. */
static void tree_pass_on(struct sim *sim, uint32_t unit, uint32_t step)
{
	const struct sim_waiting *w = sim->waiting;
	uint32_t end = unit ? unit & (~unit + 1) : w->nunits;

	for (uint32_t bit = 1; bit < end && unit + bit < w->nunits; bit *= 2)
		fors_calendar_put(sim->calendar, sim->calendar->now + sim->token, SIM_TOKEN_DOWN,
				  (uint32_t)cell(w, unit + bit, step));
}

static void tree_release(struct sim *sim, uint32_t unit, uint32_t step)
{
	struct sim_waiting *w = sim->waiting;
	uint32_t ahead = sim->settings->ahead;

	w->is_released[cell(w, unit, step)] = 1;
	tree_pass_on(sim, unit, step);
	while (w->open[unit] >= ahead && w->open[unit] - ahead < w->nsteps &&
	       w->is_released[cell(w, unit, w->open[unit] - ahead)])
		tree_open(sim, unit, w->open[unit]);
	fors_sim_go_on(sim, unit);
}

static void tree_done(struct sim *sim, uint32_t unit, uint32_t step)
{
	if (!--sim->waiting->left[cell(sim->waiting, unit, step)] && step < sim->waiting->open[unit])
		tree_hears(sim, unit, step);
}

/* The first steps are open. */
static void tree_begin(struct sim *sim)
{
	const struct sim_waiting *w = sim->waiting;
	uint32_t n = sim->settings->ahead < w->nsteps ? sim->settings->ahead : w->nsteps;

	for (uint32_t step = 0; step < n; step++)
		for (uint32_t unit = 0; unit < w->nunits; unit++)
			tree_open(sim, unit, step);
	for (uint32_t unit = 0; unit < w->nunits; unit++)
		sim->waiting->open[unit] = sim->settings->ahead;
}

/* ---- what all have ---- */

bool fors_waiting_allows(const struct sim *sim, uint32_t rank)
{
	const struct sim_waiting *w = sim->waiting;
	uint32_t server = rank / sim->program->nranks, step = next_send(sim, rank)->step;

	if (sim->settings->wait == FORS_WAIT_OWN)
		return own_allows(sim, rank);
	if (sim->settings->wait == FORS_WAIT_TOKENS)
		return !w->missing[cell(w, server, step)];
	return step < w->open[server];
}

void fors_waiting_done(struct sim *sim, uint32_t rank, size_t number)
{
	const struct fors_send *send = &sim->program->send[number];
	uint32_t server = rank / sim->program->nranks;

	if (sim->settings->wait == FORS_WAIT_OWN) {
		own_done(sim, rank, send);
	} else if (sim->settings->wait == FORS_WAIT_TOKENS) {
		token_done(sim, server, send->step);
	} else {
		tree_done(sim, server, send->step);
		tree_done(sim, send->dst, send->step);
	}
}

void fors_waiting_event(struct sim *sim, const struct fors_calendar_event *event)
{
	uint32_t nsteps = sim->waiting->nsteps;

	if (sim->settings->wait == FORS_WAIT_OWN && event->what == SIM_TOKEN)
		own_token(sim, event->which);
	else if (sim->settings->wait == FORS_WAIT_OWN)
		fors_sim_go_on(sim, event->which / sim->program->nranks);
	else if (sim->settings->wait == FORS_WAIT_TOKENS)
		token_comes(sim, event->which);
	else if (event->what == SIM_TOKEN)
		tree_hears(sim, event->which / nsteps, event->which % nsteps);
	else
		tree_release(sim, event->which / nsteps, event->which % nsteps);
}

void fors_waiting_begin(struct sim *sim)
{
	if (sim->settings->wait == FORS_WAIT_TREE)
		tree_begin(sim);
	for (uint32_t unit = 0; sim->settings->wait == FORS_WAIT_OWN && unit < sim->waiting->nunits; unit++)
		own_advance(sim, unit);
}

/* ---- to make it ---- */

/* What is left in each cell: of senders, and but for tokens of receivers. */
static void count_left(struct sim *sim)
{
	const struct fors_program *program = sim->program;
	struct sim_waiting *w = sim->waiting;
	uint32_t each = sim->settings->wait == FORS_WAIT_OWN ? 1 : program->nranks;

	for (uint32_t r = 0; r < program->nservers * program->nranks; r++)
		for (size_t i = program->first[r]; i < program->first[r + 1]; i++) {
			const struct fors_send *send = &program->send[i];

			w->left[cell(w, r / each, send->step)]++;
			if (sim->settings->wait != FORS_WAIT_TOKENS)
				w->left[cell(w, receiver(sim, send) / each, send->step)]++;
		}
}

/* The messages of each step: order[first[step]] .. are their numbers, and whose they are, rank[]. To be freed. */
struct by_step {
	size_t *first;
	uint32_t *send, *rank;
};

static void by_step_free(struct by_step *by)
{
	free(by->first);
	free(by->send);
	free(by->rank);
}

static bool sort_by_step(const struct fors_program *program, struct by_step *by)
{
	size_t n = fors_program_nmessages(program);

	by->first = calloc(program->nsteps + (size_t)2, sizeof(*by->first));
	by->send = malloc((n + 1) * sizeof(*by->send));
	by->rank = malloc((n + 1) * sizeof(*by->rank));
	if (!by->first || !by->send || !by->rank)
		return false;
	for (size_t i = 0; i < n; i++)
		by->first[program->send[i].step + 2]++;
	for (uint32_t step = 1; step < program->nsteps; step++)
		by->first[step + 1] += by->first[step];
	for (uint32_t r = 0; r < program->nservers * program->nranks; r++)
		for (size_t i = program->first[r]; i < program->first[r + 1]; i++) {
			size_t place = by->first[program->send[i].step + 1]++;

			by->send[place] = (uint32_t)i;
			by->rank[place] = r;
		}
	return true;
}

static bool make_room_for_senders(struct sim_waiting *w, size_t n)
{
	w->at = calloc(w->nunits + (size_t)1, sizeof(*w->at));
	w->entered = calloc(w->nunits + (size_t)1, sizeof(*w->entered));
	w->in_first = calloc(w->nunits + (size_t)2, sizeof(*w->in_first));
	w->in_next = calloc(w->nunits + (size_t)1, sizeof(*w->in_next));
	w->in = malloc((n + 1) * sizeof(*w->in));
	w->in_step = malloc((n + 1) * sizeof(*w->in_step));
	return w->at && w->entered && w->in_first && w->in_next && w->in && w->in_step;
}

/* own: who sends to each unit, in the order of steps. */
static bool fill_senders(const struct sim *sim, const struct by_step *by)
{
	const struct fors_program *program = sim->program;
	struct sim_waiting *w = sim->waiting;
	size_t n = fors_program_nmessages(program);

	if (!make_room_for_senders(w, n))
		return false;
	for (size_t i = 0; i < n; i++)
		w->in_first[receiver(sim, &program->send[i]) + 1]++;
	for (uint32_t unit = 0; unit < w->nunits; unit++)
		w->in_first[unit + 1] += w->in_first[unit];
	memcpy(w->in_next, w->in_first, w->nunits * sizeof(*w->in_next));
	for (size_t i = 0; i < n; i++) {
		const struct fors_send *send = &program->send[by->send[i]];
		size_t place = w->in_next[receiver(sim, send)]++;

		w->in[place] = by->rank[i] / program->nranks;
		w->in_step[place] = send->step;
	}
	memcpy(w->in_next, w->in_first, w->nunits * sizeof(*w->in_next));
	return true;
}

/* ---- edges of tokens ---- */

/* Those who send over a link in a step, and in the last one before in which somebody did. */
struct user {
	uint32_t cell, next; /* next: 0: none */
};

struct link_users {
	uint32_t step, now, before; /* indices of users, 0: none */
};

struct links {
	struct link_users *link;
	struct user *user; /* [0] is nobody */
	size_t nusers, room;
	uint32_t *way;
};

/* Room for one more behind n of them; *room: as many there is room for. */
static bool grow(void **array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 1024;
	void *larger = n < *room ? *array : realloc(*array, more * size);

	if (!larger)
		return false;
	*room = n < *room ? *room : more;
	*array = larger;
	return true;
}

static bool add_edge(struct sim_waiting *w, uint32_t from, uint32_t to)
{
	if (w->nedges >= MOST_EDGES || !grow((void **)&w->edge, w->nedges, &w->room, sizeof(*w->edge)))
		return false;
	w->edge[w->nedges] = (struct edge){to, w->first[from]};
	w->first[from] = (uint32_t)w->nedges++;
	w->missing[to]++;
	return true;
}

/* A message of this cell goes over a link: its cell waits for all who had the link before. */
static bool use_link(struct sim_waiting *w, struct links *links, uint32_t l, uint32_t step, uint32_t c)
{
	struct link_users *link = &links->link[l];

	if (link->step != step + 1)
		*link = (struct link_users){step + 1, 0, link->now};
	if (link->now && links->user[link->now].cell == c)
		return true;
	for (uint32_t u = link->before; u; u = links->user[u].next)
		if (!add_edge(w, links->user[u].cell, c))
			return false;
	if (!grow((void **)&links->user, links->nusers, &links->room, sizeof(*links->user)))
		return false;
	links->user[links->nusers] = (struct user){c, link->now};
	link->now = (uint32_t)links->nusers++;
	return true;
}

static bool use_links(const struct sim *sim, struct links *links, uint32_t server, const struct fors_send *send)
{
	struct sim_waiting *w = sim->waiting;
	uint32_t n = 0;

	if (!fors_sim_route(sim, server, send, links->way, &n))
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (!use_link(w, links, links->way[i], send->step, (uint32_t)cell(w, server, send->step)))
			return false;
	return true;
}

static bool fill_edges(const struct sim *sim, const struct by_step *by)
{
	struct sim_waiting *w = sim->waiting;
	struct links links = {.nusers = 1};
	size_t n = fors_program_nmessages(sim->program);
	bool is_good;

	w->nedges = 1;
	links.link = calloc(sim->nlinks + (size_t)1, sizeof(*links.link));
	links.way = calloc(sim->router->max_links + (size_t)1, sizeof(*links.way));
	w->missing = calloc((size_t)w->nunits * w->nsteps + 1, sizeof(*w->missing));
	w->first = calloc((size_t)w->nunits * w->nsteps + 1, sizeof(*w->first));
	is_good = links.link && links.way && w->missing && w->first;
	for (size_t i = 0; is_good && i < n; i++)
		is_good = use_links(sim, &links, by->rank[i] / sim->program->nranks, &sim->program->send[by->send[i]]);
	free(links.link);
	free(links.user);
	free(links.way);
	return is_good;
}

/* ---- the tree: how many tokens each waits for ---- */

static bool fill_tree(struct sim_waiting *w)
{
	w->missing = calloc((size_t)w->nunits * w->nsteps + 1, sizeof(*w->missing));
	w->is_released = calloc((size_t)w->nunits * w->nsteps + 1, 1);
	w->open = calloc(w->nunits + (size_t)1, sizeof(*w->open));
	if (!w->missing || !w->is_released || !w->open)
		return false;
	for (uint32_t unit = 0; unit < w->nunits; unit++)
		for (uint32_t step = 0; step < w->nsteps; step++) {
			w->missing[cell(w, unit, step)]++;
			if (unit)
				w->missing[cell(w, unit & (unit - 1), step)]++;
		}
	return true;
}

static bool fill(struct sim *sim)
{
	struct by_step by = {0};
	bool is_good = true;

	count_left(sim);
	if (sim->settings->wait == FORS_WAIT_TREE)
		return fill_tree(sim->waiting);
	is_good = sort_by_step(sim->program, &by);
	if (is_good)
		is_good = sim->settings->wait == FORS_WAIT_OWN ? fill_senders(sim, &by) : fill_edges(sim, &by);
	by_step_free(&by);
	return is_good;
}

enum fors_err fors_waiting_new(struct sim *sim, struct fors_error *error)
{
	const struct fors_program *program = sim->program;
	uint32_t nunits = program->nservers * (sim->settings->wait == FORS_WAIT_OWN ? program->nranks : 1);
	size_t ncells = (size_t)nunits * program->nsteps;

	if (sim->settings->has_barrier || sim->settings->wait == FORS_WAIT_NONE)
		return FORS_OK;
	if (ncells > MOST_CELLS)
		return fors_fail(error, FORS_ELIMIT,
				 "%zu slots of all servers are more than can wait for one another, %zu", ncells,
				 MOST_CELLS);
	sim->waiting = calloc(1, sizeof(*sim->waiting));
	if (!sim->waiting)
		return fors_fail_memory(error);
	sim->waiting->nunits = nunits;
	sim->waiting->nsteps = program->nsteps;
	sim->waiting->left = calloc(ncells + 1, sizeof(*sim->waiting->left));
	if (sim->waiting->left && fill(sim))
		return FORS_OK;
	if (sim->waiting->nedges >= MOST_EDGES)
		return fors_fail(error, FORS_ELIMIT, "the links are passed on by more than %zu tokens", MOST_EDGES);
	return fors_fail_memory(error);
}

void fors_waiting_free(struct sim_waiting *w)
{
	if (!w)
		return;
	free(w->left);
	free(w->at);
	free(w->entered);
	free(w->in_first);
	free(w->in);
	free(w->in_step);
	free(w->in_next);
	free(w->missing);
	free(w->first);
	free(w->edge);
	free(w->open);
	free(w->is_released);
	free(w);
}
