/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/fabric.h"
#include "bound.h"

struct maker {
	struct fors_request request; /* of the whole fabric, with its lanes read */
	const struct fors_joblist *list;
	const struct fors_owners *owners;
	const struct fors_jobkept *kept;   /* per job, or NULL */
	const struct fors_jobindex *index; /* NULL: no path index is the jobs' */
	struct fors_jobplans *plans;
	bool *is_allowed;  /* room: (leaf, lane) */
	bool *is_used;	   /* room: ports of the net that a job sends by */
	uint32_t *used_by; /* port of the net -> job that owns its lanes and sends by it, FORS_NO_JOB */
	struct fors_error *error;
};

/* ---- which lanes ---- */

/* May a job use a lane of this owner? */
static bool may_use(uint32_t owner, uint32_t job, enum fors_jobplan_lanes whose)
{
	return whose == FORS_OVER_ALL || owner == job || (whose == FORS_OVER_FREE && owner == FORS_NO_JOB);
}

static void allow(struct maker *m, uint32_t job, enum fors_jobplan_lanes whose)
{
	const struct fors_owners *owners = m->owners;

	for (size_t i = 0; i < (size_t)owners->nleaves * owners->nlanes; i++)
		m->is_allowed[i] = may_use(owners->job[i], job, whose);
}

/* Has it what it had, of the lanes of one kind at this leaf; and, if it asks for more, no more? */
static bool is_same_leaf(struct fors_jobview first, uint32_t then, struct fors_jobview second, uint32_t now,
			 uint32_t leaf, enum fors_jobplan_lanes whose, bool asks_for_more)
{
	for (uint32_t lane = 0; lane < first.owners->nlanes; lane++) {
		bool had = may_use(fors_owner(first.owners, leaf, lane), then, whose),
		     has = may_use(fors_owner(second.owners, leaf, lane), now, whose);

		if ((had && !has) || (asks_for_more && has && !had))
			return false;
	}
	return true;
}

bool fors_jobplan_may_stay(const struct fors_fabric *fabric, struct fors_jobview first, uint32_t then,
			   struct fors_jobview second, uint32_t now, enum fors_jobplan_lanes whose, bool is_best)
{
	const struct fors_jobentry *was = &first.list->job[then], *is = &second.list->job[now];
	bool asks_for_more = !is_best || (is->is_exclusive ? whose != FORS_OVER_OWN : whose == FORS_OVER_ALL);

	if (was->count != is->count || was->is_exclusive != is->is_exclusive || was->has_index != is->has_index ||
	    memcmp(was->server, is->server, is->count * sizeof(*is->server)) != 0)
		return false;
	for (uint32_t i = 0; i < is->count; i++) {
		uint32_t leaf = fabric->server[is->server[i]].leaf;

		if (i && leaf == fabric->server[is->server[i - 1]].leaf)
			continue;
		if (!is_same_leaf(first, then, second, now, leaf, FORS_OVER_OWN, asks_for_more) ||
		    (whose != FORS_OVER_OWN &&
		     !is_same_leaf(first, then, second, now, leaf, FORS_OVER_FREE, asks_for_more)))
			return false;
	}
	return true;
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
	struct fors_outcome outcome = {.lower_bound = FORS_UNKNOWN};
	enum fors_err err =
		fors_fabric_subset(m->request.task.fabric, job->server, job->count, m->is_allowed, &subset, m->error);

	if (err)
		return err;
	request.task.fabric = subset;
	request.task.lanes = NULL; /* what is not allowed is no lane to this job */
	made->error = (struct fors_error){0};
	err = fors_plan_proven(&request, &made->plan, &outcome, &made->error);
	made->lower_bound = outcome.lower_bound;
	fors_fabric_free(subset);
	return fors_jobplan_ends(made, err, m->error);
}

/* ---- over the path index of jobs ---- */

static bool has_entries(const struct maker *m, uint32_t number)
{
	return m->index->entries->bound[number] > 0;
}

/* The cables of its entries, and no others that it owns: its plan stays the same when it is given more of them. */
static void allow_entries(struct maker *m, const struct fors_jobentry *job)
{
	const struct fors_fabric *fabric = m->request.task.fabric;
	const struct fors_entries *entries = m->index->entries;

	memset(m->is_allowed, 0, (size_t)fabric->nleaves * fabric->nlanes * sizeof(*m->is_allowed));
	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t a = 0; a < fabric->nleaves; a++) {
			uint32_t d = job->server[i], up = entries->up[(size_t)a * entries->nservers + d], down;

			if (up == FORS_NO_LANE)
				continue;
			down = entries->down[(size_t)fabric->lane[up].spine * entries->nservers + d];
			m->is_allowed[(size_t)a * fabric->nlanes + up] = true;
			m->is_allowed[(size_t)fabric->server[d].leaf * fabric->nlanes + down] = true;
		}
}

/* A fabric in which the LIDs of the path index are all that there is, or back. */
static void shift_lids(const struct maker *m, struct fors_fabric *fabric)
{
	for (uint32_t s = 0; s < fabric->nservers; s++)
		fabric->server[s].lid += (uint16_t)m->index->index;
	fabric->lmc = 0;
}

/* A plan that was made there, as one of the ports that there are. */
static void shift_back(const struct maker *m, struct fors_schedule *plan, const struct fors_jobentry *job)
{
	const struct fors_fabric *fabric = m->request.task.fabric;

	for (uint32_t s = 0; s < plan->nservers; s++) {
		const struct fors_server *server = &fabric->server[job->server[s]];

		plan->server[s].lid = server->lid;
		plan->server[s].lmc = fors_slot(fabric, server->leaf, server->slot)->lmc;
	}
	for (size_t i = 0; i < fors_schedule_ncells(plan); i++)
		if (plan->cell[i].dst != FORS_IDLE)
			plan->cell[i].path = (uint8_t)m->index->index;
}

/* Plan and prove it over the subset, whose LIDs are shifted; a plan that is proven comes into the jobplan. */
static enum fors_err plan_shifted(struct maker *m, struct fors_fabric *subset, const struct fors_jobentry *job,
				  struct fors_jobplan *made)
{
	struct fors_request request = m->request;
	struct fors_outcome outcome;
	enum fors_err err;

	request.task.fabric = subset;
	request.task.lanes = NULL;
	fors_limit_method(&request.task.limits, fors_method_flows.name);
	fors_outcome_init(&outcome);
	err = fors_outcome_plan(&request, &outcome, m->error);
	if (!err && outcome.plan) {
		shift_back(m, outcome.plan, job);
		err = fors_outcome_prove(&request, &outcome, m->error);
	}
	if (!err) {
		made->lower_bound = outcome.lower_bound;
		made->plan = fors_outcome_take(&outcome);
	}
	fors_outcome_clear(&outcome);
	return err;
}

/* No plan comes of it where a server has no LID of the index, or its tables do not connect the job. */
static enum fors_err plan_on_index(struct maker *m, uint32_t number, struct fors_jobplan *made)
{
	const struct fors_jobentry *job = &m->list->job[number];
	struct fors_fabric *subset;
	enum fors_err err;

	made->whose = has_entries(m, number) || job->nleaves == 1 ? FORS_OVER_OWN : FORS_OVER_ALL;
	if (has_entries(m, number))
		allow_entries(m, job);
	else
		allow(m, number, made->whose);
	err = fors_fabric_subset(m->request.task.fabric, job->server, job->count, m->is_allowed, &subset, m->error);
	if (err)
		return err;
	if (!(m->index->index >> subset->lmc)) {
		shift_lids(m, subset);
		err = plan_shifted(m, subset, job, made);
	}
	fors_fabric_free(subset);
	made->index = made->plan ? (int64_t)m->index->index : FORS_UNKNOWN;
	return err;
}

/* ---- one job ---- */

static enum fors_err tell_empty(struct fors_jobplan *made)
{
	fors_fail(&made->error, FORS_ENOPLAN, "none of its servers is there, or takes part");
	return FORS_OK;
}

static enum fors_err plan_job(struct maker *m, uint32_t number)
{
	const struct fors_jobentry *job = &m->list->job[number];
	struct fors_jobplan *made = &m->plans->job[number];
	enum fors_err err = FORS_OK;

	made->nlanes = count_owned(m->owners, number);
	if (!job->count)
		return tell_empty(made);
	if (m->index && (job->has_index || has_entries(m, number)))
		err = plan_on_index(m, number, made);
	if (err || made->plan)
		return err;
	made->whose = job->is_exclusive ? FORS_OVER_OWN : FORS_OVER_FREE;
	for (;; made->whose++) {
		allow(m, number, made->whose);
		err = try_plan(m, job, made);
		if (err || made->plan || made->whose == FORS_OVER_ALL)
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

	if (m->plans->nmeetings++ || !m->list)
		return;
	while (node + 1 < net->nnodes && net->node[node + 1].first_port <= port)
		node++;
	snprintf(m->plans->meeting, sizeof(m->plans->meeting), "%s[%u] is used by job \"%s\" and by job \"%s\"",
		 net->node[node].desc, port - net->node[node].first_port, m->list->job[one].name,
		 m->list->job[two].name);
}

/*
 * Does anybody else that owns its lanes use the cables that are in m->is_used? *nmeetings; those cables are its own from
 * now on.
 */
static void claim_cables(struct maker *m, uint32_t number)
{
	for (uint32_t port = 0; port < m->request.net->nports; port++) {
		if (!m->is_used[port])
			continue;
		if (m->used_by[port] != FORS_NO_JOB)
			tell_meeting(m, port, m->used_by[port], number);
		else
			m->used_by[port] = number;
	}
}

/* The same for the cables of a schedule that was there before, which is read by the verifier. */
static enum fors_err claim_kept(struct maker *m, uint32_t number, const struct fors_schedule *plan,
				struct fors_verdict *verdict)
{
	const struct fors_request *request = &m->request;
	enum fors_err err;

	memset(m->is_used, 0, request->net->nports * sizeof(*m->is_used));
	err = fors_verify_used(request->net, request->lfts, plan, request->task.threads, request->task.cancelled,
			       request->task.context, verdict, m->is_used, m->error);
	if (!err)
		claim_cables(m, number);
	return err;
}

/* Of a new plan the verifier has said which cables it uses. */
static enum fors_err check_meetings(struct maker *m, uint32_t number)
{
	const struct fors_jobplan *made = &m->plans->job[number];
	struct fors_verdict verdict;

	if (made->whose != FORS_OVER_OWN)
		return FORS_OK;
	if (made->is_kept)
		return claim_kept(m, number, m->kept[number].plan, &verdict);
	if (made->plan)
		claim_cables(m, number);
	return FORS_OK;
}

/* ---- all ---- */

/* Who uses which cable. */
static bool alloc_cables(struct maker *m)
{
	size_t nports = m->request.net->nports + (size_t)1;

	m->is_used = calloc(nports, sizeof(*m->is_used));
	m->used_by = malloc(nports * sizeof(*m->used_by));
	if (!m->is_used || !m->used_by)
		return false;
	for (size_t i = 0; i < nports; i++)
		m->used_by[i] = FORS_NO_JOB;
	return true;
}

static bool alloc(struct maker *m)
{
	m->plans->job = calloc(m->list->count + (size_t)1, sizeof(*m->plans->job));
	m->is_allowed = calloc((size_t)m->owners->nleaves * m->owners->nlanes + 1, sizeof(*m->is_allowed));
	if (!m->plans->job || !m->is_allowed || !alloc_cables(m))
		return false;
	for (uint32_t j = 0; j < m->list->count; j++)
		m->plans->job[j].lower_bound = m->plans->job[j].alone_bound = m->plans->job[j].index = FORS_UNKNOWN;
	m->plans->count = m->list->count;
	return true;
}

static enum fors_err serve(struct maker *m, uint32_t number)
{
	struct fors_jobplan *made = &m->plans->job[number];
	enum fors_err err;

	if (m->kept && m->kept[number].plan) {
		made->is_kept = true;
		made->whose = m->kept[number].whose;
		made->nlanes = count_owned(m->owners, number);
		return check_meetings(m, number);
	}
	if (m->kept && m->kept[number].is_waiting) {
		made->nlanes = count_owned(m->owners, number);
		fors_fail(&made->error, FORS_ENOPLAN, "its table entries are on their way to the switches");
		return FORS_OK;
	}
	err = plan_job(m, number);
	if (!err && m->list->job[number].count)
		err = ask_alone(m, number);
	return err ? err : check_meetings(m, number);
}

static enum fors_err make_all(struct maker *m)
{
	const struct fors_task *task = &m->request.task;
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; j < m->list->count && !err; j++) {
		err = serve(m, j);
		if (task->progress)
			task->progress(task->context, (j + 1.0) / m->list->count);
	}
	return err;
}

/* Those that meet an earlier one are not right. */
static enum fors_err prove_all(struct maker *m, uint32_t count, bool *is_right)
{
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; j < count && !err; j++) {
		const struct fors_jobkept *kept = &m->kept[j];
		const struct fors_request *request = &m->request;
		uint32_t before = m->plans->nmeetings;
		struct fors_verdict verdict = {.is_good = false};

		if (kept->plan && kept->plan->nphases)
			err = kept->whose == FORS_OVER_OWN
				      ? claim_kept(m, j, kept->plan, &verdict)
				      : fors_verify(request->net, request->lfts, kept->plan, request->task.cancelled,
						    request->task.context, &verdict, m->error);
		is_right[j] = verdict.is_good && m->plans->nmeetings == before;
	}
	return err;
}

enum fors_err fors_jobplans_right(const struct fors_net *net, const struct fors_lfts *lfts,
				  const struct fors_jobkept *kept, uint32_t count, bool (*cancelled)(void *context),
				  void *context, bool *is_right, struct fors_error *error)
{
	struct fors_jobplans none = {0};
	struct maker m = {.request = {.net = net, .lfts = lfts, .task = {.cancelled = cancelled, .context = context}},
			  .kept = kept,
			  .plans = &none,
			  .error = error};
	enum fors_err err = alloc_cables(&m) ? prove_all(&m, count, is_right) : fors_fail_memory(error);

	free(m.is_used);
	free(m.used_by);
	return err;
}

enum fors_err fors_jobplans_index(const struct fors_request *request, const struct fors_joblist *list,
				  const struct fors_owners *owners, const struct fors_jobindex *index,
				  const struct fors_jobkept *kept, struct fors_jobplans *plans,
				  struct fors_error *error)
{
	struct fors_jobplans made = {0};
	struct maker m = {.request = *request,
			  .list = list,
			  .owners = owners,
			  .kept = kept,
			  .index = index,
			  .plans = &made,
			  .error = error};
	enum fors_err err = alloc(&m) ? FORS_OK : fors_fail_memory(error);

	m.request.is_used = m.is_used;
	m.request.task.has_moved |= index != NULL;
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

const char *fors_jobplan_over(enum fors_jobplan_lanes whose)
{
	static const char *const name[] = {"own", "free", "all"};

	return name[whose];
}

enum fors_err fors_jobplan_ends(const struct fors_jobplan *made, enum fors_err err, struct fors_error *error)
{
	return err == FORS_ENOMEM || err == FORS_ECANCELLED ? fors_fail(error, err, "%s", made->error.text) : FORS_OK;
}
