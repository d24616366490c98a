/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together.c - from event to event.
 *
 * All messages under way have their max-min fair rates, whichever job they are of, until one of them arrives or somebody
 * begins: then rates are made anew. Messages of a job begin together, when its phase does; phases of different jobs begin
 * whenever they do, since jobs have no common clock: each job begins at a random moment, at a random phase. So this is
 * what a schedule cannot help: others' messages in the same cable at the same moment.
 *
 * (The fluid model, as for one exchange in evaluate.h; packets and barriers that cost something are lab/sim/'s.)
 */
#include "together.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/random.h"
#include "lab/model/graph/maxmin.h"

#define NOTHING 1e-9 /* of a message that is left by rounding */

/* A message under way. */
struct message {
	uint32_t job, from; /* number of the server in the job */
	uint32_t path;	    /* which piece of state.path is its own */
	uint32_t nlinks;
	double left; /* of 1 */
};

/* How far a job is. */
struct progress {
	uint32_t phase;	    /* that it is in; with a window: at which it began */
	uint32_t under_way; /* messages */
	uint64_t done;	    /* phases, with a window messages */
	uint64_t wanted;
	double begin, last; /* when it began, when something was done last */
	double alarm;	    /* when it begins, or an idle phase ends; INFINITY: neither */
	bool has_begun, is_broken;
	uint32_t *sent;	     /* with a window, per server: phases gone through */
	uint32_t *in_flight; /* with a window, per server */
};

struct state {
	const struct fors_router *router;
	const struct fors_running *job;
	struct progress *progress;
	uint32_t njobs;
	struct message *message; /* under way */
	uint32_t nmessages, room;
	uint32_t *path;	     /* room pieces of max_links */
	uint32_t *free_path; /* pieces that nobody has, room - nmessages of them */
	double *rate;	     /* per message */
	struct fors_flows flows;
	double now;
	bool has_changed; /* rates are of before */
	uint64_t nbroken, nevents;
};

/* --- messages --------------------------------------------------------------------------------------------------- */

/* Server i sends to itself in phase 0 of a shift: it has nothing to do. */
static bool is_idle(struct fors_pair pair)
{
	return pair.dst == FORS_NONE || pair.dst == pair.src;
}

/* A message of the pair; how many came under way: 0 when it does not arrive. */
static uint32_t send(struct state *state, uint32_t j, struct fors_pair pair)
{
	const struct fors_running *job = &state->job[j];
	uint32_t piece = state->free_path[state->room - state->nmessages - 1];
	struct message *message = &state->message[state->nmessages];
	struct fors_pair way = {job->server[pair.src], job->server[pair.dst], pair.path};

	*message = (struct message){.job = j, .from = pair.src, .path = piece, .left = 1};
	if (state->router->route(state->router->context, way, state->path + (size_t)piece * state->router->max_links,
				 &message->nlinks) != FORS_WAY_GOOD) {
		state->nbroken++;
		state->progress[j].is_broken = true;
		return 0;
	}
	state->nmessages++;
	state->progress[j].under_way++;
	state->has_changed = true;
	return 1;
}

static enum fors_err make_rates(struct state *state, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	fors_flows_empty(&state->flows);
	for (uint32_t i = 0; i < state->nmessages && !err; i++) {
		const struct message *message = &state->message[i];

		err = fors_flows_add(&state->flows, message->job, message->from,
				     state->path + (size_t)message->path * state->router->max_links, message->nlinks,
				     error);
	}
	if (!err)
		err = fors_maxmin(state->router->graph, &state->flows, state->rate, error);
	state->has_changed = false;
	state->nevents++;
	return err;
}

/* --- with barriers ---------------------------------------------------------------------------------------------- */

static void begin_phase(struct state *state, uint32_t j)
{
	const struct fors_running *job = &state->job[j];
	struct progress *p = &state->progress[j];
	size_t npairs = fors_pattern_npairs(job->pattern, p->phase);

	for (size_t i = 0; i < npairs; i++) {
		struct fors_pair pair = fors_pattern_pair(job->pattern, p->phase, i);

		if (!is_idle(pair))
			send(state, j, pair);
	}
	p->alarm = p->under_way ? INFINITY : state->now + 1;
}

static void end_phase(struct state *state, uint32_t j)
{
	struct progress *p = &state->progress[j];

	p->done++;
	p->last = state->now;
	p->phase = (p->phase + 1) % fors_pattern_nphases(state->job[j].pattern);
	begin_phase(state, j);
}

/* --- with a window ---------------------------------------------------------------------------------------------- */

/* As many more messages of a server as may be under way. What does not arrive is as good as sent; a server with nobody to send to stops. */
static void fill_window(struct state *state, uint32_t j, uint32_t s)
{
	const struct fors_running *job = &state->job[j];
	struct progress *p = &state->progress[j];
	uint32_t nphases = fors_pattern_nphases(job->pattern), tries = 0;

	while (p->in_flight[s] < job->window && tries++ < 2 * nphases + job->window) {
		uint32_t phase = (p->phase + p->sent[s]++) % nphases;
		struct fors_pair pair = fors_pattern_pair(job->pattern, phase, s);

		if (!is_idle(pair))
			p->in_flight[s] += send(state, j, pair);
	}
}

/* --- a job ------------------------------------------------------------------------------------------------------ */

static void begin(struct state *state, uint32_t j)
{
	struct progress *p = &state->progress[j];

	p->has_begun = true;
	p->begin = p->last = state->now;
	if (!state->job[j].window) {
		begin_phase(state, j);
		return;
	}
	p->alarm = INFINITY;
	for (uint32_t s = 0; s < state->job[j].count; s++)
		fill_window(state, j, s);
	if (!p->under_way)
		p->done = p->wanted; /* nobody has anything to send */
}

static void arrived(struct state *state, const struct message *message)
{
	struct progress *p = &state->progress[message->job];

	p->under_way--;
	state->has_changed = true;
	if (!state->job[message->job].window)
		return;
	p->done++;
	p->last = state->now;
	p->in_flight[message->from]--;
	fill_window(state, message->job, message->from);
}

/* --- time ------------------------------------------------------------------------------------------------------- */

/* Until something happens. */
static double next_step(const struct state *state)
{
	double step = INFINITY;

	for (uint32_t i = 0; i < state->nmessages; i++)
		if (state->message[i].left < step * state->rate[i])
			step = state->message[i].left / state->rate[i];
	for (uint32_t j = 0; j < state->njobs; j++)
		if (state->progress[j].alarm - state->now < step)
			step = state->progress[j].alarm - state->now;
	return step > 0 ? step : 0;
}

/* Those that have arrived go, before anything new comes under way; the last takes the place of one that goes. */
static void take_arrived(struct state *state, struct message *gone, uint32_t *ngone)
{
	*ngone = 0;
	for (uint32_t i = 0; i < state->nmessages;) {
		if (state->message[i].left > NOTHING) {
			i++;
			continue;
		}
		gone[(*ngone)++] = state->message[i];
		state->free_path[state->room - state->nmessages] = state->message[i].path;
		state->message[i] = state->message[--state->nmessages];
	}
}

static void advance(struct state *state, double step, struct message *gone)
{
	uint32_t ngone;

	state->now += step;
	for (uint32_t i = 0; i < state->nmessages; i++)
		state->message[i].left -= step * state->rate[i];
	take_arrived(state, gone, &ngone);
	for (uint32_t i = 0; i < ngone; i++)
		arrived(state, &gone[i]);
	for (uint32_t j = 0; j < state->njobs; j++) {
		struct progress *p = &state->progress[j];
		bool rings = p->alarm <= state->now + NOTHING;

		if (!p->has_begun && rings)
			begin(state, j);
		else if (p->has_begun && !state->job[j].window && (rings || (!p->under_way && p->alarm == INFINITY)))
			end_phase(state, j);
	}
}

static bool is_over(const struct state *state)
{
	for (uint32_t j = 0; j < state->njobs; j++)
		if (state->progress[j].done < state->progress[j].wanted)
			return false;
	return true;
}

static enum fors_err run(struct state *state, struct message *gone, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && !is_over(state)) {
		if (state->has_changed)
			err = make_rates(state, error);
		if (!err)
			advance(state, next_step(state), gone);
	}
	return err;
}

/* --- beginning and end ------------------------------------------------------------------------------------------ */

static bool prepare_job(struct state *state, uint32_t j, const struct fors_together_options *options,
			struct fors_random *random)
{
	const struct fors_running *job = &state->job[j];
	struct progress *p = &state->progress[j];
	uint32_t nphases = job->pattern ? fors_pattern_nphases(job->pattern) : 0;

	p->alarm = (double)(fors_random_next(random) >> 11) * 0x1p-53;
	p->phase = nphases ? fors_random_below(random, nphases) : 0;
	p->wanted = options->phases && options->phases < nphases ? options->phases : nphases;
	if (!nphases)
		p->alarm = INFINITY;
	if (!nphases || !job->window)
		return true;
	p->wanted *= job->count;
	p->sent = calloc(job->count + (size_t)1, sizeof(*p->sent));
	p->in_flight = calloc(job->count + (size_t)1, sizeof(*p->in_flight));
	return p->sent && p->in_flight;
}

/* Messages that may be under way at the same time. */
static uint32_t most_messages(const struct fors_running *job)
{
	size_t most = (size_t)job->count * job->window;

	for (uint32_t p = 0; job->pattern && !job->window && p < fors_pattern_nphases(job->pattern); p++)
		if (fors_pattern_npairs(job->pattern, p) > most)
			most = fors_pattern_npairs(job->pattern, p);
	return (uint32_t)most;
}

static bool prepare(struct state *state, const struct fors_together_options *options)
{
	struct fors_random random = {options->seed};

	state->progress = calloc(state->njobs + (size_t)1, sizeof(*state->progress));
	for (uint32_t j = 0; state->progress && j < state->njobs; j++) {
		state->room += most_messages(&state->job[j]);
		if (!prepare_job(state, j, options, &random))
			return false;
	}
	state->room++; /* where one that does not arrive is looked at */
	state->message = calloc(state->room, sizeof(*state->message));
	state->path = malloc((size_t)state->room * (state->router->max_links + (size_t)1) * sizeof(*state->path));
	state->free_path = malloc(state->room * sizeof(*state->free_path));
	state->rate = malloc(state->room * sizeof(*state->rate));
	for (uint32_t i = 0; state->free_path && i < state->room; i++)
		state->free_path[i] = i;
	return state->progress && state->message && state->path && state->free_path && state->rate;
}

static void release(struct state *state)
{
	for (uint32_t j = 0; state->progress && j < state->njobs; j++) {
		free(state->progress[j].sent);
		free(state->progress[j].in_flight);
	}
	free(state->progress);
	free(state->message);
	free(state->path);
	free(state->free_path);
	free(state->rate);
	fors_flows_clear(&state->flows);
}

static double speed_of(const struct fors_running *job, const struct progress *p)
{
	double time = p->last - p->begin;

	if (!job->pattern || p->is_broken)
		return 0;
	if (!(time > 0))
		return 1; /* nobody had to send anything */
	if (job->window)
		return (double)p->done / (job->count * time);
	return (double)p->done * job->count / (fors_pattern_nphases(job->pattern) * time);
}

enum fors_err fors_run_together(const struct fors_router *router, const struct fors_running *job, uint32_t njobs,
				const struct fors_together_options *options, struct fors_together *result,
				struct fors_error *error)
{
	struct state state = {.router = router, .job = job, .njobs = njobs};
	double *speed = malloc((njobs + (size_t)1) * sizeof(*speed));
	struct message *gone = NULL;
	enum fors_err err = FORS_OK;

	if (!speed || !prepare(&state, options) || !(gone = calloc(state.room, sizeof(*gone))))
		err = fors_fail_memory(error);
	if (!err)
		err = run(&state, gone, error);
	for (uint32_t j = 0; j < njobs && !err; j++)
		speed[j] = speed_of(&job[j], &state.progress[j]);
	if (err)
		free(speed);
	else
		*result = (struct fors_together){speed, state.now, state.nevents, state.nbroken, njobs};
	free(gone);
	release(&state);
	return err;
}

void fors_together_clear(struct fors_together *result)
{
	free(result->speed);
	*result = (struct fors_together){0};
}
