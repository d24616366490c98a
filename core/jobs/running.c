/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "running.h"

#include <stdlib.h>
#include <string.h>

/* --- by name -------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
	const struct fors_jobentry *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

enum fors_err fors_jobs_match(const struct fors_joblist *was, const struct fors_joblist *is, uint32_t *was_of,
			      struct fors_error *error)
{
	const struct fors_jobentry **sorted = malloc((was->count + (size_t)1) * sizeof(*sorted));

	if (!sorted)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < was->count; i++)
		sorted[i] = &was->job[i];
	qsort(sorted, was->count, sizeof(*sorted), by_name);
	for (uint32_t i = 0; i < is->count; i++) {
		const struct fors_jobentry *wanted = &is->job[i], **found;

		found = bsearch(&wanted, sorted, was->count, sizeof(*sorted), by_name);
		was_of[i] = found ? (uint32_t)(*found - was->job) : FORS_NO_JOB;
	}
	free(sorted);
	return FORS_OK;
}

/* --- lanes ------------------------------------------------------------------ */

static bool is_same_lane(const struct fors_fabric *a, const struct fors_fabric *b, uint32_t lane)
{
	return a->lane[lane].cable == b->lane[lane].cable &&
	       a->spine[a->lane[lane].spine].guid == b->spine[b->lane[lane].spine].guid;
}

/* Are leaf and lane numbers the same? */
static bool is_same_grid(const struct fors_fabric *a, const struct fors_fabric *b)
{
	bool is_same = a->nleaves == b->nleaves && a->nlanes == b->nlanes;

	for (uint32_t leaf = 0; is_same && leaf < a->nleaves; leaf++)
		is_same = a->leaf[leaf].guid == b->leaf[leaf].guid;
	for (uint32_t lane = 0; is_same && lane < a->nlanes; lane++)
		is_same = is_same_lane(a, b, lane);
	return is_same;
}

/* The most that a job of the old list was called. */
static uint32_t count_old(const struct fors_owners *owners)
{
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
		if (owners->job[i] != FORS_NO_JOB && owners->job[i] >= n)
			n = owners->job[i] + 1;
	return n;
}

enum fors_err fors_owners_carried(const struct fors_fabric *then, const struct fors_owners *owners,
				  const struct fors_fabric *now, const uint32_t *was_of, uint32_t count,
				  uint32_t **before, struct fors_error *error)
{
	size_t size = (size_t)owners->nleaves * owners->nlanes;
	uint32_t nold = count_old(owners), *is_of, *made;

	*before = NULL;
	if (owners->nleaves != now->nleaves || owners->nlanes != now->nlanes || !is_same_grid(then, now))
		return FORS_OK;
	is_of = malloc((nold + (size_t)1) * sizeof(*is_of));
	made = malloc((size + 1) * sizeof(*made));
	if (!is_of || !made) {
		free(is_of);
		free(made);
		return fors_fail_memory(error);
	}
	memset(is_of, 0xFF, (nold + (size_t)1) * sizeof(*is_of)); /* FORS_NO_JOB */
	for (uint32_t i = 0; i < count; i++)
		if (was_of[i] < nold)
			is_of[was_of[i]] = i;
	for (size_t i = 0; i < size; i++)
		made[i] = owners->job[i] == FORS_NO_JOB ? FORS_NO_JOB : is_of[owners->job[i]];
	free(is_of);
	*before = made;
	return FORS_OK;
}

/* --- any topology ------------------------------------------------------------- */

/* A port of a switch: the server that it leads to, if any. */
static bool seat_at(const struct fors_net *net, uint32_t node, unsigned port, struct fors_server *server)
{
	const struct fors_port *here = fors_net_port(net, node, port), *there;

	if (!fors_is_host(net, here->peer))
		return false;
	there = fors_net_port(net, here->peer, here->peer_port);
	*server = (struct fors_server){.node = here->peer, .guid = there->guid, .lid = there->lid};
	return there->lid;
}

/* All servers, switch by switch; with server NULL they are only counted. */
static uint32_t seat_all(const struct fors_net *net, const struct fors_participants *sorted, struct fors_server *server)
{
	struct fors_server one;
	uint32_t n = 0, leaf = 0;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		uint32_t before = n;

		for (unsigned port = 1; net->node[node].type == FORS_SWITCH && port <= net->node[node].nports; port++) {
			if (!seat_at(net, node, port, &one) || !fors_participants_have(sorted, one.guid))
				continue;
			one.leaf = (uint16_t)leaf;
			if (server)
				server[n] = one;
			n++;
		}
		leaf += n > before;
	}
	return n;
}

enum fors_err fors_jobs_seats(const struct fors_net *net, const struct fors_participants *participants,
			      struct fors_fabric **seats, struct fors_error *error)
{
	struct fors_fabric *made = calloc(1, sizeof(*made));
	struct fors_participants sorted = {NULL, 0};
	enum fors_err err = made ? fors_participants_sort(participants, &sorted, error) : fors_fail_memory(error);

	if (!err && seat_all(net, &sorted, NULL) > FORS_MAX_SERVERS)
		err = fors_fail(error, FORS_ELIMIT, "more than %u servers", FORS_MAX_SERVERS);
	if (!err) {
		made->net = net;
		made->nservers = seat_all(net, &sorted, NULL);
		made->server = calloc(made->nservers + (size_t)1, sizeof(*made->server));
		if (!made->server)
			err = fors_fail_memory(error);
		else
			seat_all(net, &sorted, made->server);
	}
	free(sorted.guid);
	if (err)
		fors_fabric_free(made);
	else
		*seats = made;
	return err;
}
