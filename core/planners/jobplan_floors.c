/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_floors.c - plans of jobs that own lanes in a tree.
 *
 * Ownership is of cables, and the planner over any tables asks for nothing else: cables that a job may not use are barred,
 * and of the path indices of a pair those remain whose ways avoid them. In a tree of two levels a job that chooses its lanes is
 * planned on a fabric that has no others (fors_fabric_subset()), by the methods that know lanes: they are much quicker.
 */
#include "jobplan_over.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/fabric.h"
#include "core/schedule/verify.h"
#include "bound.h"

struct planner {
	const struct fors_request *request;
	const struct fors_jobfloors *lanes;
	const struct fors_joblist *list;
	const struct fors_jobkept *kept;
	struct fors_jobplans *plans;
	uint32_t *owner;   /* per port of the net: whose its cable is */
	uint32_t *used_by; /* per port of the net: the job that sends by it and owns its lanes, FORS_NO_JOB */
	bool *is_barred;   /* room: per port of the net */
	bool *is_used;	   /* per port of the net: the last plan that was proven sends by it */
	bool *is_allowed;  /* room: (leaf, lane) of floor 0 */
	struct fors_error *error;
};

static const struct fors_fabric *first_floor(const struct planner *p)
{
	return p->lanes->floors->floor[0];
}

/* ---- one plan ---- */

/* Cables that the job may not use; false: there are none. */
static bool bar(const struct planner *p, uint32_t job, enum fors_jobplan_lanes whose)
{
	for (uint32_t port = 0; port < p->request->net->nports; port++)
		p->is_barred[port] = !fors_jobplan_may_use(p->owner[port], job, whose);
	return whose != FORS_OVER_ALL;
}

static enum fors_err plan_for(const struct planner *p, const struct fors_request *request,
			      const struct fors_participants *servers, struct fors_jobplan *made)
{
	struct fors_request one = *request;
	struct fors_outcome outcome;
	enum fors_err err;

	one.task.fabric = NULL;
	one.participants = servers;
	one.rounds = NULL; /* they are of another exchange, and know nothing of barred cables */
	fors_limit_method(&one.task.limits, "auto");
	made->error = (struct fors_error){0};
	err = fors_plan_proven(&one, &made->plan, &outcome, &made->error);
	if (!err) {
		made->lower_bound = outcome.tables_bound;
		made->alone_bound = outcome.lower_bound;
	}
	return fors_jobplan_ends(made, err, p->error);
}

/* Over the path index of jobs, by the entries of the job, or as the tables are. */
static enum fors_err plan_on_index(const struct planner *p, uint32_t job, const struct fors_participants *servers)
{
	struct fors_jobplan *made = &p->plans->job[job];
	struct fors_request request = *p->request;
	enum fors_err err;

	request.path = (uint32_t)p->lanes->index;
	made->whose = p->lanes->holdings->bound[job] || p->list->job[job].nleaves < 2 ? FORS_OVER_OWN : FORS_OVER_ALL;
	err = plan_for(p, &request, servers, made);
	made->index = made->plan ? p->lanes->index : FORS_UNKNOWN;
	return err;
}

/* ---- of two levels ---- */

/* LB of the job as if it were alone. */
static enum fors_err ask_alone(const struct planner *p, uint32_t job)
{
	const struct fors_jobentry *entry = &p->list->job[job];
	struct fors_fabric *alone;
	uint32_t bound;
	enum fors_err err = fors_fabric_subset(first_floor(p), entry->server, entry->count, NULL, &alone, p->error);

	if (err)
		return err;
	if (!alone->unreachable_pairs) {
		err = fors_lower_bound(alone, &bound, p->error);
		if (!err)
			p->plans->job[job].alone_bound = bound;
	}
	fors_fabric_free(alone);
	return err;
}

static enum fors_err plan_with_lanes(const struct planner *p, uint32_t job, enum fors_jobplan_lanes whose)
{
	const struct fors_jobentry *entry = &p->list->job[job];
	const struct fors_owners *owners = p->lanes->holdings->owners;
	struct fors_jobplan *made = &p->plans->job[job];
	struct fors_request request = *p->request;
	struct fors_outcome outcome = {.lower_bound = FORS_UNKNOWN};
	struct fors_fabric *subset;
	enum fors_err err;

	for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
		p->is_allowed[i] = fors_jobplan_may_use(owners->job[i], job, whose);
	err = fors_fabric_subset(first_floor(p), entry->server, entry->count, p->is_allowed, &subset, p->error);
	if (err)
		return err;
	request.task.fabric = subset;
	request.task.lanes = NULL; /* what is not allowed is no lane to this job */
	request.task.has_moved |= p->lanes->index >= 0;
	made->error = (struct fors_error){0};
	err = fors_plan_proven(&request, &made->plan, &outcome, &made->error);
	made->lower_bound = outcome.lower_bound;
	fors_fabric_free(subset);
	return fors_jobplan_ends(made, err, p->error);
}

/* ---- any height ---- */

static enum fors_err plan_on_lanes(const struct planner *p, uint32_t job, const struct fors_participants *servers)
{
	struct fors_jobplan *made = &p->plans->job[job];
	struct fors_request request = *p->request;
	enum fors_err err = FORS_OK;

	made->whose = p->list->job[job].is_exclusive ? FORS_OVER_OWN : FORS_OVER_FREE;
	for (; !err && !made->plan; made->whose++) {
		request.is_barred = bar(p, job, made->whose) ? p->is_barred : NULL;
		err = p->lanes->floors->count == 1 ? plan_with_lanes(p, job, made->whose)
						   : plan_for(p, &request, servers, made);
		if (made->plan || made->whose == FORS_OVER_ALL)
			break;
	}
	return err || p->lanes->floors->count > 1 ? err : ask_alone(p, job);
}

static enum fors_err plan_job(const struct planner *p, uint32_t job)
{
	const struct fors_jobentry *entry = &p->list->job[job];
	struct fors_participants servers = {.count = entry->count};
	bool has_index = p->lanes->index >= 0 && (entry->has_index || p->lanes->holdings->bound[job]);
	enum fors_err err = FORS_OK;

	if (!entry->count) {
		fors_fail(&p->plans->job[job].error, FORS_ENOPLAN, "none of its servers is there, or takes part");
		return FORS_OK;
	}
	servers.guid = malloc(entry->count * sizeof(*servers.guid));
	if (!servers.guid)
		return fors_fail_memory(p->error);
	for (uint32_t i = 0; i < entry->count; i++)
		servers.guid[i] = first_floor(p)->server[entry->server[i]].guid;
	if (has_index)
		err = plan_on_index(p, job, &servers);
	if (!err && !p->plans->job[job].plan)
		err = plan_on_lanes(p, job, &servers);
	free(servers.guid);
	return err;
}

/* ---- do they meet? ---- */

static void tell_meeting(const struct planner *p, uint32_t port, uint32_t one, uint32_t two)
{
	const struct fors_net *net = p->request->net;
	uint32_t node = 0;

	if (p->plans->nmeetings++)
		return;
	while (node + 1 < net->nnodes && net->node[node + 1].first_port <= port)
		node++;
	snprintf(p->plans->meeting, sizeof(p->plans->meeting), "%s[%u] is used by job \"%s\" and by job \"%s\"",
		 net->node[node].desc, port - net->node[node].first_port, p->list->job[one].name,
		 p->list->job[two].name);
}

/* The plan of the job was the last to be proven: whom does it meet? */
static void check_meetings(const struct planner *p, uint32_t job)
{
	const struct fors_jobplan *made = &p->plans->job[job];

	if ((!made->plan && !made->is_kept) || made->whose != FORS_OVER_OWN)
		return;
	for (uint32_t port = 0; port < p->request->net->nports; port++) {
		if (!p->is_used[port])
			continue;
		if (p->used_by[port] != FORS_NO_JOB)
			tell_meeting(p, port, p->used_by[port], job);
		else
			p->used_by[port] = job;
	}
}

/* *is_right: the plan is not over own lanes, or the verifier finds nothing wrong with it. */
static enum fors_err prove_kept(const struct planner *p, uint32_t job, bool *is_right)
{
	const struct fors_request *request = p->request;
	struct fors_verdict verdict;
	enum fors_err err;

	*is_right = true;
	if (p->kept[job].whose != FORS_OVER_OWN)
		return FORS_OK;
	memset(p->is_used, 0, request->net->nports * sizeof(*p->is_used));
	err = fors_verify_used(request->net, request->lfts, p->kept[job].plan, request->task.threads,
			       request->task.cancelled, request->task.context, &verdict, p->is_used, p->error);
	*is_right = !err && verdict.is_good;
	return err;
}

/* ---- all ---- */

static uint32_t count_owned(const struct planner *p, uint32_t job)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < p->lanes->holdings->nfloors; f++) {
		const struct fors_owners *owners = &p->lanes->holdings->owners[f];

		for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
			n += owners->job[i] == job;
	}
	return n;
}

/* A plan that stays is proven once more; what is not right over these tables is planned anew. */
static enum fors_err serve(const struct planner *p, uint32_t job)
{
	struct fors_jobplan *made = &p->plans->job[job];
	enum fors_err err = FORS_OK;
	bool is_right = false;

	*made = (struct fors_jobplan){.nlanes = count_owned(p, job),
				      .lower_bound = FORS_UNKNOWN,
				      .alone_bound = FORS_UNKNOWN,
				      .index = FORS_UNKNOWN,
				      .is_kept = p->kept && p->kept[job].plan};
	if (!made->is_kept && p->kept && p->kept[job].is_waiting) {
		fors_fail(&made->error, FORS_ENOPLAN, "its table entries are on their way to the switches");
		return FORS_OK;
	}
	if (made->is_kept) {
		made->whose = p->kept[job].whose;
		err = prove_kept(p, job, &is_right);
		made->is_kept = is_right;
	}
	if (!err && !made->is_kept)
		err = plan_job(p, job);
	if (!err)
		check_meetings(p, job);
	return err;
}

static bool alloc(struct planner *p)
{
	size_t nports = p->request->net->nports + (size_t)1;

	p->plans->job = calloc(p->list->count + (size_t)1, sizeof(*p->plans->job));
	p->owner = malloc(nports * sizeof(*p->owner));
	p->used_by = malloc(nports * sizeof(*p->used_by));
	p->is_barred = malloc(nports * sizeof(*p->is_barred));
	p->is_used = malloc(nports * sizeof(*p->is_used));
	p->is_allowed = calloc((size_t)first_floor(p)->nleaves * first_floor(p)->nlanes + 1, sizeof(*p->is_allowed));
	if (!p->plans->job || !p->owner || !p->used_by || !p->is_barred || !p->is_used || !p->is_allowed)
		return false;
	p->plans->count = p->list->count;
	return true;
}

enum fors_err fors_jobplans_floors(const struct fors_request *request, const struct fors_jobfloors *lanes,
				   const struct fors_joblist *list, const struct fors_jobkept *kept,
				   struct fors_jobplans *plans, struct fors_error *error)
{
	struct fors_jobplans made = {0};
	struct fors_request each = *request;
	struct planner p = {
		.request = &each, .lanes = lanes, .list = list, .kept = kept, .plans = &made, .error = error};
	enum fors_err err = alloc(&p) ? FORS_OK : fors_fail_memory(error);

	each.is_used = p.is_used;
	if (!err) {
		fors_holdings_ports(lanes->floors, lanes->holdings, p.owner);
		for (uint32_t port = 0; port < request->net->nports; port++)
			p.used_by[port] = FORS_NO_JOB;
	}
	for (uint32_t j = 0; !err && j < list->count; j++) {
		err = serve(&p, j);
		if (request->task.progress)
			request->task.progress(request->task.context, (j + 1.0) / list->count);
	}
	free(p.owner);
	free(p.used_by);
	free(p.is_barred);
	free(p.is_used);
	free(p.is_allowed);
	if (err)
		fors_jobplans_clear(&made);
	else
		*plans = made;
	return err;
}
