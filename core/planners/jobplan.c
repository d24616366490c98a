/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/subset.h"
#include "bound.h"

struct maker {
	struct fors_request request; /* of the whole fabric, with its lanes read */
	const struct fors_joblist *list;
	const struct fors_owners *owners;
	struct fors_jobplans *plans;
	bool *is_allowed;  /* room: (leaf, lane) */
	bool *is_used;	   /* room: ports of the net that a job sends by */
	uint32_t *used_by; /* port of the net -> job that owns its lanes and sends by it, FORS_NO_JOB */
	struct fors_error *error;
};

/* ---- which lanes ---- */

static void allow(struct maker *m, uint32_t job, enum fors_jobplan_lanes over)
{
	const struct fors_owners *owners = m->owners;

	for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
		m->is_allowed[i] = over == FORS_OVER_ALL || owners->job[i] == job ||
				   (over == FORS_OVER_FREE && owners->job[i] == FORS_NO_JOB);
}

static uint32_t count_owned(const struct fors_owners *owners, uint32_t job)
{
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
		n += owners->job[i] == job;
	return n;
}

/* ---- a plan ---- */

/* Plan and prove the job over the lanes that are allowed; a plan that is proven comes into the jobplan. */
static enum fors_err try_plan(struct maker *m, const struct fors_jobentry *job, struct fors_jobplan *made)
{
	struct fors_request request = m->request;
	struct fors_fabric *subset;
	struct fors_outcome outcome;
	enum fors_err err =
		fors_fabric_subset(m->request.task.fabric, job->server, job->count, m->is_allowed, &subset, m->error);

	if (err)
		return err;
	request.task.fabric = subset;
	request.task.lanes = NULL; /* what is not allowed is no lane to this job */
	fors_outcome_init(&outcome);
	err = fors_outcome_make(&request, &outcome, m->error);
	if (!err) {
		made->error = outcome.error;
		made->lower_bound = outcome.lower_bound;
		if (outcome.plan && !outcome.is_proven)
			fors_fail(&made->error, FORS_ENOPLAN, "%.400s", outcome.verdict.text);
		made->plan = fors_outcome_take(&outcome);
	}
	fors_outcome_clear(&outcome);
	fors_fabric_free(subset);
	return err;
}

static enum fors_err plan_job(struct maker *m, uint32_t number)
{
	const struct fors_jobentry *job = &m->list->job[number];
	struct fors_jobplan *made = &m->plans->job[number];
	enum fors_err err = FORS_OK;

	made->nlanes = count_owned(m->owners, number);
	made->over = job->is_exclusive ? FORS_OVER_OWN : FORS_OVER_FREE;
	for (;; made->over++) {
		allow(m, number, made->over);
		err = try_plan(m, job, made);
		if (err || made->plan || made->over == FORS_OVER_ALL)
			return err;
	}
}

/* LB of the job as if it were alone. */
static enum fors_err ask_alone(struct maker *m, uint32_t number)
{
	const struct fors_jobentry *job = &m->list->job[number];
	struct fors_fabric *alone;
	uint32_t bound;
	enum fors_err err = fors_fabric_subset(m->request.task.fabric, job->server, job->count, NULL, &alone, m->error);

	if (err)
		return err;
	if (!alone->unreachable_pairs) {
		err = fors_lower_bound(alone, &bound, m->error);
		if (!err)
			m->plans->job[number].alone_bound = bound;
	}
	fors_fabric_free(alone);
	return err;
}

/* ---- do they meet? ---- */

static void tell_meeting(struct maker *m, uint32_t port, uint32_t one, uint32_t two)
{
	const struct fors_net *net = m->request.net;
	uint32_t node = 0;

	if (m->plans->nmeetings++)
		return;
	while (node + 1 < net->nnodes && net->node[node + 1].first_port <= port)
		node++;
	snprintf(m->plans->meeting, sizeof(m->plans->meeting), "%s[%u] is used by job \"%s\" and by job \"%s\"",
		 net->node[node].desc, port - net->node[node].first_port, m->list->job[one].name,
		 m->list->job[two].name);
}

static enum fors_err check_meetings(struct maker *m, uint32_t number)
{
	const struct fors_request *request = &m->request;
	struct fors_jobplan *made = &m->plans->job[number];
	struct fors_verdict verdict;
	enum fors_err err;

	if (!made->plan || made->over != FORS_OVER_OWN)
		return FORS_OK;
	memset(m->is_used, 0, request->net->nports * sizeof(*m->is_used));
	err = fors_verify_used(request->net, request->lfts, made->plan, request->task.cancelled, request->task.context,
			       &verdict, m->is_used, m->error);
	for (uint32_t port = 0; !err && port < request->net->nports; port++) {
		if (!m->is_used[port])
			continue;
		if (m->used_by[port] != FORS_NO_JOB)
			tell_meeting(m, port, m->used_by[port], number);
		m->used_by[port] = number;
	}
	return err;
}

/* ---- all ---- */

static bool alloc(struct maker *m)
{
	size_t nports = m->request.net->nports + (size_t)1;

	m->plans->job = calloc(m->list->count + (size_t)1, sizeof(*m->plans->job));
	m->is_allowed = calloc((size_t)m->owners->nleaves * m->owners->nlanes + 1, sizeof(*m->is_allowed));
	m->is_used = calloc(nports, sizeof(*m->is_used));
	m->used_by = malloc(nports * sizeof(*m->used_by));
	if (!m->plans->job || !m->is_allowed || !m->is_used || !m->used_by)
		return false;
	for (size_t i = 0; i < nports; i++)
		m->used_by[i] = FORS_NO_JOB;
	for (uint32_t j = 0; j < m->list->count; j++)
		m->plans->job[j].lower_bound = m->plans->job[j].alone_bound = FORS_UNKNOWN;
	m->plans->count = m->list->count;
	return true;
}

static enum fors_err make_all(struct maker *m)
{
	const struct fors_task *task = &m->request.task;
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; j < m->list->count && !err; j++) {
		err = plan_job(m, j);
		if (!err)
			err = ask_alone(m, j);
		if (!err)
			err = check_meetings(m, j);
		if (task->progress)
			task->progress(task->context, (j + 1.0) / m->list->count);
	}
	return err;
}

enum fors_err fors_jobplans_make(const struct fors_request *request, const struct fors_joblist *list,
				 const struct fors_owners *owners, struct fors_jobplans *plans,
				 struct fors_error *error)
{
	struct fors_jobplans made = {0};
	struct maker m = {.request = *request, .list = list, .owners = owners, .plans = &made, .error = error};
	enum fors_err err = alloc(&m) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = make_all(&m);
	free(m.is_allowed);
	free(m.is_used);
	free(m.used_by);
	if (err)
		fors_jobplans_clear(&made);
	else
		*plans = made;
	return err;
}

void fors_jobplans_clear(struct fors_jobplans *plans)
{
	for (uint32_t j = 0; j < plans->count; j++)
		fors_schedule_free(plans->job[j].plan);
	free(plans->job);
	*plans = (struct fors_jobplans){0};
}

const char *fors_jobplan_over(enum fors_jobplan_lanes over)
{
	static const char *const name[] = {"own", "free", "all"};

	return name[over];
}
