/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trespass.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_HOPS 16 /* of a way; more than any, detours too */

struct walk {
	const struct fors_fabric *seats;
	const struct fors_lfts *lfts;
	const struct fors_joblist *list;
	const uint32_t *owner; /* per port of the net */
	uint32_t *row;	       /* per node of the net: of the tables, FORS_NONE */
	uint32_t *seen;	       /* per job: one more than the intruder that was noted last */
	struct fors_trespass *job;
};

static bool alloc(struct walk *w)
{
	const struct fors_net *net = w->seats->net;

	w->row = malloc((net->nnodes + (size_t)1) * sizeof(*w->row));
	w->seen = calloc(w->list->count + (size_t)1, sizeof(*w->seen));
	w->job = calloc(w->list->count + (size_t)1, sizeof(*w->job));
	if (!w->row || !w->seen || !w->job)
		return false;
	for (uint32_t n = 0; n < net->nnodes; n++)
		w->row[n] = net->node[n].type == FORS_SWITCH ? fors_lfts_row(w->lfts, net->node[n].guid) : FORS_NONE;
	return true;
}

void fors_trespass_add(struct fors_trespass *of, uint32_t job)
{
	if (of->count < FORS_TRESPASS_NAMED)
		of->first[of->count] = job;
	of->count++;
}

static void note(struct walk *w, uint32_t intruder, uint32_t owner)
{
	if (owner == FORS_NO_JOB || owner == intruder || w->seen[owner] == intruder + 1)
		return;
	w->seen[owner] = intruder + 1;
	fors_trespass_add(&w->job[owner], intruder);
}

/* What leaves a leaf, a node of the net, for the base LID of a server below another. */
static void walk_way(struct walk *w, uint32_t intruder, uint32_t node, const struct fors_server *to)
{
	const struct fors_net *net = w->seats->net;

	for (int hops = 0; hops < MOST_HOPS && node != FORS_NONE && w->row[node] != FORS_NONE; hops++) {
		uint8_t port = fors_lfts_port(w->lfts, w->row[node], to->lid);

		if (!port || port > net->node[node].nports) /* there, or no entry */
			return;
		note(w, intruder, w->owner[net->node[node].first_port + port]);
		node = fors_net_port(net, node, port)->peer;
	}
}

static void walk_job(struct walk *w, uint32_t number)
{
	const struct fors_jobentry *job = &w->list->job[number];
	const struct fors_server *server = w->seats->server;

	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t leaf = server[job->server[i]].leaf;

		if (i && leaf == server[job->server[i - 1]].leaf)
			continue; /* servers stand in the order of leaves */
		for (uint32_t d = 0; d < job->count; d++)
			if (server[job->server[d]].leaf != leaf)
				walk_way(w, number, w->seats->leaf[leaf].node, &server[job->server[d]]);
	}
}

enum fors_err fors_trespass_find(const struct fors_fabric *seats, const struct fors_lfts *lfts,
				 const struct fors_joblist *list, const uint32_t *owner, struct fors_trespass **jobs,
				 struct fors_error *error)
{
	struct walk w = {.seats = seats, .lfts = lfts, .list = list, .owner = owner};
	bool is_good = alloc(&w);

	for (uint32_t j = 0; is_good && j < list->count; j++)
		if (!list->job[j].is_exclusive)
			walk_job(&w, j);
	free(w.row);
	free(w.seen);
	if (!is_good) {
		free(w.job);
		return fors_fail_memory(error);
	}
	*jobs = w.job;
	return FORS_OK;
}

void fors_trespass_tell(const struct fors_joblist *list, const struct fors_trespass *job, char *text, size_t size)
{
	uint32_t named = job->count < FORS_TRESPASS_NAMED ? job->count : FORS_TRESPASS_NAMED;
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < named && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 list->job[job->first[i]].name);
	if (named < job->count && used < size)
		snprintf(text + used, size - used, " and %u more", job->count - named);
}
