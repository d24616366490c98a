/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE /* qsort_r() */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/options.h"
#include "core/base/hostlist.h"
#include "core/base/random.h"
#include "core/base/text.h"

#define FREE FORS_NONE

/* A job that runs. */
struct running {
	uint64_t id;
	int64_t end;
	uint32_t serial; /* what server[] says of its servers */
};

struct state {
	const struct fors_replay *replay;
	const struct fors_fabric *fabric;
	struct fors_random random;
	uint32_t *owner;     /* per server: serial of its job, FREE */
	uint32_t *leaf_free; /* per leaf */
	uint32_t nfree;
	struct running *running; /* by server count at most */
	uint32_t nrunning, next_serial;
	uint32_t *list; /* servers; room for all */
	int64_t now;
	struct fors_replayed result;
	uint32_t *by_name; /* servers by the names of their hosts */
};

/* --- hosts ------------------------------------------------------------------------------------------------------ */

/* A host is the first word of its description, as in core/net/slurm.h. */
static struct fors_span host_of(const struct fors_fabric *fabric, uint32_t server)
{
	const char *desc = fabric->net->node[fabric->server[server].node].desc;

	return (struct fors_span){desc, desc + strcspn(desc, " ")};
}

static int compare_spans(struct fors_span a, struct fors_span b)
{
	size_t m = (size_t)(a.end - a.at), n = (size_t)(b.end - b.at);
	int order = memcmp(a.at, b.at, m < n ? m : n);

	return order ? order : m < n ? -1 : m > n;
}

static int compare_hosts(const void *a, const void *b, void *context)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	int order = compare_spans(host_of(context, one), host_of(context, other));

	return order ? order : one < other ? -1 : one > other;
}

static void sort_hosts(struct state *state)
{
	uint32_t n = state->fabric->nservers;

	for (uint32_t s = 0; s < n; s++)
		state->by_name[s] = s;
	qsort_r(state->by_name, n, sizeof(*state->by_name), compare_hosts, (void *)state->fabric);
}

/* All servers of a host that are free into list[] from *count on; false: it has none, or one that is not. */
static bool find_host(const struct state *state, const char *name, uint32_t *count)
{
	struct fors_span wanted = {name, name + strlen(name)};
	uint32_t low = 0, high = state->fabric->nservers, before = *count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_spans(host_of(state->fabric, state->by_name[middle]), wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < state->fabric->nservers && !compare_spans(host_of(state->fabric, state->by_name[low]), wanted);
	     low++) {
		if (state->owner[state->by_name[low]] != FREE)
			return false;
		state->list[(*count)++] = state->by_name[low];
	}
	return *count > before;
}

/* --- placements: servers for a job in list[]; how many, 0: it is left out ------------------------------------------ */

static enum fors_err place_recorded(struct state *state, const struct fors_record *job, uint32_t *count,
				    struct fors_error *error)
{
	struct fors_hostlist hosts = {NULL, 0};
	enum fors_err err = fors_hostlist_read(job->hosts, &hosts, error);

	*count = 0;
	for (uint32_t i = 0; i < hosts.count; i++)
		if (!find_host(state, hosts.name[i], count)) {
			*count = 0;
			break;
		}
	fors_hostlist_clear(&hosts);
	return err == FORS_ENOMEM ? err : FORS_OK; /* names that are none are not there */
}

static uint32_t place_first(struct state *state, uint32_t wanted)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < state->fabric->nservers && n < wanted; s++)
		if (state->owner[s] == FREE)
			state->list[n++] = s;
	return n;
}

static uint32_t place_random(struct state *state, uint32_t wanted)
{
	uint32_t n = place_first(state, state->fabric->nservers);

	for (uint32_t i = 0; i < wanted; i++) {
		uint32_t k = i + fors_random_below(&state->random, n - i), kept = state->list[i];

		state->list[i] = state->list[k];
		state->list[k] = kept;
	}
	return wanted;
}

/* The place with least free servers that are enough, else the one with most; FORS_NONE: none has any. */
static uint32_t best_place(const uint32_t *nfree, uint32_t count, uint32_t wanted)
{
	uint32_t best = FORS_NONE;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = nfree[i], most = best == FORS_NONE ? 0 : nfree[best];

		if (n && (best == FORS_NONE || (n >= wanted ? most < wanted || n < most : n > most)))
			best = i;
	}
	return best;
}

static uint32_t pod_of(const struct state *state, uint32_t leaf)
{
	return state->replay->pod ? state->replay->pod[leaf] : 0;
}

/* Free servers of the leaves, of one pod only unless `pod` is FORS_NONE, that the job has not taken yet. */
static void list_leaves(const struct state *state, const bool *is_taken, uint32_t pod, uint32_t *nfree)
{
	for (uint32_t a = 0; a < state->fabric->nleaves; a++)
		nfree[a] = is_taken[a] || (pod != FORS_NONE && pod_of(state, a) != pod) ? 0 : state->leaf_free[a];
}

/* The leaf to go on with; *pod is where the job is, FORS_NONE: it goes to any. room: of nleaves. */
static uint32_t best_leaf(const struct state *state, const bool *is_taken, uint32_t wanted, uint32_t *pod,
			  uint32_t *room)
{
	uint32_t n = state->fabric->nleaves, leaf;

	list_leaves(state, is_taken, *pod, room);
	leaf = best_place(room, n, wanted);
	if (leaf != FORS_NONE && (*pod != FORS_NONE || room[leaf] >= wanted))
		return leaf;
	list_leaves(state, is_taken, FORS_NONE, room);
	for (uint32_t a = 0; a < n; a++) {
		uint32_t nfree = room[a];

		room[a] = 0;
		room[pod_of(state, a)] += nfree;
	}
	*pod = best_place(room, n, wanted);
	list_leaves(state, is_taken, *pod, room);
	return best_place(room, n, wanted);
}

static void take_leaf(struct state *state, uint32_t leaf, uint32_t wanted, uint32_t *count)
{
	for (uint32_t s = 0; s < state->fabric->nservers && *count < wanted; s++)
		if (state->owner[s] == FREE && state->fabric->server[s].leaf == leaf)
			state->list[(*count)++] = s;
}

static enum fors_err place_tree(struct state *state, uint32_t wanted, uint32_t *count, struct fors_error *error)
{
	size_t nleaves = state->fabric->nleaves + (size_t)1;
	bool *is_taken = calloc(nleaves, sizeof(*is_taken));
	uint32_t *room = calloc(nleaves, sizeof(*room)), pod = FORS_NONE;
	enum fors_err err = is_taken && room ? FORS_OK : fors_fail_memory(error);

	for (*count = 0; !err && *count < wanted;) {
		uint32_t leaf = best_leaf(state, is_taken, wanted - *count, &pod, room);

		is_taken[leaf] = true;
		take_leaf(state, leaf, wanted, count);
	}
	free(is_taken);
	free(room);
	return err;
}

static enum fors_err place(struct state *state, const struct fors_record *job, uint32_t *count,
			   struct fors_error *error)
{
	switch (state->replay->placement) {
	case FORS_RECORDED:
		return place_recorded(state, job, count, error);
	case FORS_TREE:
		return place_tree(state, job->nservers, count, error);
	case FORS_RANDOM:
		*count = place_random(state, job->nservers);
		return FORS_OK;
	default:
		*count = place_first(state, job->nservers);
		return FORS_OK;
	}
}

/* --- beginning and end ------------------------------------------------------------------------------------------ */

static void give_back(struct state *state, uint32_t serial)
{
	for (uint32_t s = 0; s < state->fabric->nservers; s++)
		if (state->owner[s] == serial) {
			state->owner[s] = FREE;
			state->leaf_free[state->fabric->server[s].leaf]++;
			state->nfree++;
		}
}

static void end_until(struct state *state, int64_t now)
{
	for (uint32_t i = 0; i < state->nrunning;) {
		if (state->running[i].end > now) {
			i++;
			continue;
		}
		give_back(state, state->running[i].serial);
		state->running[i] = state->running[--state->nrunning];
	}
}

static int64_t next_end(const struct state *state)
{
	int64_t end = INT64_MAX;

	for (uint32_t i = 0; i < state->nrunning; i++)
		if (state->running[i].end < end)
			end = state->running[i].end;
	return end;
}

/* In the order of the history: when it may begin. */
static void wait_for_room(struct state *state, const struct fors_record *job)
{
	if (job->start > state->now)
		state->now = job->start;
	end_until(state, state->now);
	while (state->replay->placement != FORS_RECORDED && state->nfree < job->nservers) {
		state->now = next_end(state);
		end_until(state, state->now);
	}
}

static void start(struct state *state, const struct fors_record *job, uint32_t count)
{
	int64_t length = job->end - job->start;

	for (uint32_t i = 0; i < count; i++) {
		state->owner[state->list[i]] = state->next_serial;
		state->leaf_free[state->fabric->server[state->list[i]].leaf]--;
	}
	state->nfree -= count;
	state->running[state->nrunning++] = (struct running){job->id, state->now + length, state->next_serial++};
	state->result.nstarted++;
}

/* --- snapshots -------------------------------------------------------------------------------------------------- */

static void print_running(const struct state *state, const struct running *running, struct fors_buffer *out)
{
	const char *between = ": ";

	fors_buffer_print(out, "job%" PRIu64 "-%u", running->id, running->serial); /* an ID may come twice */
	for (uint32_t s = 0; s < state->fabric->nservers; s++)
		if (state->owner[s] == running->serial) {
			fors_buffer_print(out, "%s0x%016" PRIx64, between, state->fabric->server[s].guid);
			between = ", ";
		}
	fors_buffer_print(out, "\n");
}

static enum fors_err take_snapshot(struct state *state, struct fors_error *error)
{
	const struct fors_replay *replay = state->replay;
	struct fors_buffer out = {0};
	char *text = NULL;
	size_t size = 0;
	enum fors_err err;

	fors_buffer_print(&out, "# %u %s at work, placed %s.\n", state->fabric->nservers - state->nfree,
			  fors_plural(state->fabric->nservers - state->nfree, "server", "servers"),
			  cli_placements[replay->placement]);
	for (uint32_t i = 0; i < state->nrunning; i++)
		print_running(state, &state->running[i], &out);
	err = fors_buffer_finish(&out, &text, &size, error);
	if (!err)
		err = replay->take(replay->context, state->result.nsnapshots++, text, size,
				   state->fabric->nservers - state->nfree, error);
	free(text);
	return err;
}

/* After job number `i`: is it time for another? */
static bool is_due(const struct state *state, uint32_t i)
{
	uint64_t count = state->replay->past->count, first = count / 4;

	return i >= first && state->nrunning &&
	       ((uint64_t)i - first + 1) * state->replay->nsnapshots >=
		       (state->result.nsnapshots + (uint64_t)1) * (count - first);
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static enum fors_err run(struct state *state, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < state->replay->past->count && !err; i++) {
		const struct fors_record *job = &state->replay->past->job[i];
		uint32_t count = 0;

		if (job->nservers <= state->fabric->nservers) {
			wait_for_room(state, job);
			err = place(state, job, &count, error);
		}
		if (count)
			start(state, job, count);
		else
			state->result.nleft_out++;
		if (!err && is_due(state, i))
			err = take_snapshot(state, error);
	}
	return err;
}

static bool prepare(struct state *state)
{
	size_t n = state->fabric->nservers + (size_t)1;

	state->owner = malloc(n * sizeof(*state->owner));
	state->leaf_free = calloc(state->fabric->nleaves + (size_t)1, sizeof(*state->leaf_free));
	state->running = malloc(n * sizeof(*state->running));
	state->list = malloc(n * sizeof(*state->list));
	state->by_name = malloc(n * sizeof(*state->by_name));
	if (!state->owner || !state->leaf_free || !state->running || !state->list || !state->by_name)
		return false;
	for (uint32_t s = 0; s < state->fabric->nservers; s++) {
		state->owner[s] = FREE;
		state->leaf_free[state->fabric->server[s].leaf]++;
	}
	state->nfree = state->fabric->nservers;
	sort_hosts(state);
	return true;
}

enum fors_err fors_replay(const struct fors_replay *replay, struct fors_replayed *result, struct fors_error *error)
{
	struct state state = {.replay = replay, .fabric = replay->fabric, .random = {replay->seed}, .now = INT64_MIN};
	enum fors_err err = prepare(&state) ? run(&state, error) : fors_fail_memory(error);

	if (!err && replay->placement == FORS_RECORDED && !state.result.nstarted)
		err = fors_fail(error, FORS_EINPUT, "no job of the history ran on hosts of this fabric");
	free(state.owner);
	free(state.leaf_free);
	free(state.running);
	free(state.list);
	free(state.by_name);
	if (!err)
		*result = state.result;
	return err;
}
