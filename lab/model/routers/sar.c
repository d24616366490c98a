/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sar.c - Domke and Hoefler's Algorithm 1 is DFSSSP (FORS_MODEL_SSSP) with another order of destinations and another
 * count: servers of the largest jobs come first, and only ways between servers of one job weigh. Where the algorithm
 * slips it is read so:
 *
 *   - Its line 6 goes over all nodes, which would leave nothing for the loops behind it. So the first loop is for servers with
 *     jobs, and a last one for all others, in which every way counts: idle servers would else get no balance at all. Nobody
 *     says here which nodes are storage, so they are among the others.
 *   - A pair that shares two jobs weighs 1 (line 10), though definition 7 counts it twice.
 *   - A way weighs 1 whatever the size of its job, so large jobs, whose servers send in turns, weigh most. That stays.
 *   - Jobs of one size are taken in their order, servers of a job in that of the net; of equally good cables the first is
 *     taken, as OpenSM's DFSSSP does.
 *   - With several LIDs each is routed, and weighs, by itself; the paper has LMC 0.
 *   - Lines 17 and 18, virtual layers, are left out: fat-trees need none, elsewhere these tables may lock.
 */
#include "sar.h"

#include <stdlib.h>
#include <string.h>

#include "model_tables_inside.h"

/* A job and how many servers it has. */
struct size {
	size_t count;
	uint32_t job;
};

struct sar {
	struct fors_model_maker m;
	struct fors_placed *by_job, *by_port; /* sorted so, each server once in a job */
	size_t count;
	struct size *size; /* the largest first */
	size_t njobs;
	bool *is_done;	   /* per port of the net */
	bool *is_sender;   /* per port of the net: it shares a job with the destination, or is it */
	uint64_t *senders; /* per switch */
};

/* --- sorted lists ----------------------------------------------------------------------------------------------- */

static int compare_ports(const struct fors_placed *a, const struct fors_placed *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

static int compare_jobs(const struct fors_placed *a, const struct fors_placed *b)
{
	return a->job < b->job ? -1 : a->job > b->job;
}

static int by_job(const void *a, const void *b)
{
	int order = compare_jobs(a, b);

	return order ? order : compare_ports(a, b);
}

static int by_port(const void *a, const void *b)
{
	int order = compare_ports(a, b);

	return order ? order : compare_jobs(a, b);
}

static int by_size(const void *left, const void *right)
{
	const struct size *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

/* The first in a sorted list that is not before `key`. */
static size_t find(const struct fors_placed *list, size_t count, const struct fors_placed *key,
		   int (*compare)(const void *, const void *))
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&list[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sort_placed(struct sar *sar, const struct fors_placed *placed, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (fors_model_port(&sar->m, placed[i].node, placed[i].port))
			sar->by_job[n++] = placed[i];
	if (n)
		qsort(sar->by_job, n, sizeof(*sar->by_job), by_job);
	for (size_t i = 0; i < n; i++)
		if (!sar->count || by_job(&sar->by_job[sar->count - 1], &sar->by_job[i]))
			sar->by_job[sar->count++] = sar->by_job[i];
	if (!sar->count)
		return;
	memcpy(sar->by_port, sar->by_job, sar->count * sizeof(*sar->by_port));
	qsort(sar->by_port, sar->count, sizeof(*sar->by_port), by_port);
	for (size_t i = 0; i < sar->count; i++) {
		if (!i || sar->by_job[i].job != sar->by_job[i - 1].job)
			sar->size[sar->njobs++] = (struct size){0, sar->by_job[i].job};
		sar->size[sar->njobs - 1].count++;
	}
	qsort(sar->size, sar->njobs, sizeof(*sar->size), by_size);
}

static size_t port_index(const struct sar *sar, const struct fors_placed *who)
{
	return (size_t)(fors_net_port(sar->m.net, who->node, who->port) - sar->m.net->port);
}

/* --- which ways weigh ------------------------------------------------------------------------------------------- */

static void add_sender(struct sar *sar, const struct fors_placed *who)
{
	size_t at = port_index(sar, who);

	if (!sar->is_sender[at])
		sar->senders[sar->m.row[sar->m.net->port[at].peer]]++;
	sar->is_sender[at] = true;
}

/* Those from servers that share a job with `who`. */
static void count_senders(struct sar *sar, const struct fors_placed *who)
{
	struct fors_placed key = {who->node, 0, who->port};
	size_t i = find(sar->by_port, sar->count, &key, by_port);

	memset(sar->senders, 0, (sar->m.n + (size_t)1) * sizeof(*sar->senders));
	memset(sar->is_sender, 0, (sar->m.net->nports + (size_t)1) * sizeof(*sar->is_sender));
	sar->is_sender[port_index(sar, who)] = true; /* to itself it sends nothing */
	for (; i < sar->count && !compare_ports(&sar->by_port[i], who); i++) {
		uint32_t job = sar->by_port[i].job;
		size_t k = find(sar->by_job, sar->count, &(struct fors_placed){0, job, 0}, by_job);

		for (; k < sar->count && sar->by_job[k].job == job; k++)
			add_sender(sar, &sar->by_job[k]);
	}
}

/* --- the two loops ---------------------------------------------------------------------------------------------- */

static void route_job(struct sar *sar, uint32_t job)
{
	size_t i = find(sar->by_job, sar->count, &(struct fors_placed){0, job, 0}, by_job);

	for (; i < sar->count && sar->by_job[i].job == job; i++) {
		const struct fors_placed *who = &sar->by_job[i];

		if (sar->is_done[port_index(sar, who)])
			continue; /* with a larger job of its */
		sar->is_done[port_index(sar, who)] = true;
		count_senders(sar, who);
		fors_model_route(&sar->m, fors_net_port(sar->m.net, who->node, who->port));
	}
}

static void route_others(struct sar *sar)
{
	const struct fors_net *net = sar->m.net;

	sar->m.senders = sar->m.servers;
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_model_port(&sar->m, node, p);

			if (port && !sar->is_done[port - net->port])
				fors_model_route(&sar->m, port);
		}
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static bool allocate(struct sar *sar, size_t count)
{
	size_t nports = sar->m.net->nports + (size_t)1;

	sar->by_job = calloc(count + 1, sizeof(*sar->by_job));
	sar->by_port = calloc(count + 1, sizeof(*sar->by_port));
	sar->size = calloc(count + 1, sizeof(*sar->size));
	sar->is_done = calloc(nports, sizeof(*sar->is_done));
	sar->is_sender = calloc(nports, sizeof(*sar->is_sender));
	sar->senders = calloc(sar->m.n + (size_t)1, sizeof(*sar->senders));
	return sar->by_job && sar->by_port && sar->size && sar->is_done && sar->is_sender && sar->senders;
}

static void clear(struct sar *sar)
{
	fors_model_clear(&sar->m);
	free(sar->by_job);
	free(sar->by_port);
	free(sar->size);
	free(sar->is_done);
	free(sar->is_sender);
	free(sar->senders);
}

enum fors_err fors_sar_tables(const struct fors_net *net, const struct fors_placed *placed, size_t count,
			      struct fors_lfts **lfts, struct fors_error *error)
{
	struct sar sar = {.m = {.net = net, .model = FORS_MODEL_SSSP, .takes_first = true}};
	bool is_good = fors_model_start(&sar.m) && allocate(&sar, count);

	if (is_good) {
		sort_placed(&sar, placed, count);
		sar.m.senders = sar.senders;
		for (size_t i = 0; i < sar.njobs; i++)
			route_job(&sar, sar.size[i].job);
		route_others(&sar);
		*lfts = sar.m.lfts;
	} else {
		fors_lfts_free(sar.m.lfts);
	}
	clear(&sar);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
