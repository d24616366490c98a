/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "job_pods.h"

struct fors_job *fors_job_new(enum fors_job_kind kind)
{
	struct fors_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->kind = kind;
		job->tables_ms = job->check_ms = -1;
	}
	return job;
}

static void free_over(struct fors_job_over *over)
{
	if (!over)
		return;
	free(over->participants.guid);
	fors_levels_free(over->levels);
	free(over);
}

void fors_job_free(struct fors_job *job)
{
	if (!job)
		return;
	free_over(job->over);
	fors_job_pods_free(job->pods);
	fors_lfts_free(job->lfts);
	fors_fabric_free(job->fabric);
	fors_net_free(job->net);
	fors_claim_drop(job->claim);
	free(job);
}

enum fors_err fors_job_be_over(struct fors_job *job, const struct fors_participants *participants,
			       struct fors_error *error)
{
	struct fors_job_over *over = calloc(1, sizeof(*over));

	if (!over)
		return fors_fail_memory(error);
	if (participants) {
		over->has_participants = true;
		over->participants.count = participants->count;
		over->participants.guid = malloc(participants->count * sizeof(*participants->guid) + 1);
		if (!over->participants.guid) {
			free(over);
			return fors_fail_memory(error);
		}
		if (participants->count)
			memcpy(over->participants.guid, participants->guid,
			       participants->count * sizeof(*participants->guid));
	}
	free_over(job->over);
	job->over = over;
	return FORS_OK;
}

/* Nodes, cables and LIDs; what else a port says (a manager, a slow cable) is nothing to a plan over given tables. */
static uint64_t digest_net(uint64_t before, const struct fors_net *net)
{
	for (uint32_t n = 0; n < net->nnodes; n++)
		before = fors_digest(before, &net->node[n].guid, sizeof(net->node[n].guid));
	for (uint32_t i = 0; i < net->nports; i++) {
		const struct fors_port *port = &net->port[i];
		const uint64_t seen[] = {port->guid, (uint64_t)port->peer << 32 | (uint64_t)port->peer_port << 24 |
							     (uint64_t)port->lmc << 16 | port->lid};

		before = fors_digest(before, seen, sizeof(seen));
	}
	return before;
}

static uint64_t digest_lfts(uint64_t before, const struct fors_lfts *lfts)
{
	before = fors_digest(before, lfts->guid, lfts->nswitches * sizeof(*lfts->guid));
	return fors_digest(before, lfts->port, (size_t)lfts->nswitches * lfts->nlids);
}

void fors_job_seal(struct fors_job *job)
{
	struct fors_job_over *over = job->over;
	uint64_t basis = digest_lfts(digest_net(FORS_DIGEST_EMPTY, job->net), job->lfts);

	basis = fors_digest(basis, &over->has_participants, sizeof(over->has_participants));
	basis = fors_digest(basis, over->participants.guid, over->participants.count * sizeof(uint64_t));
	basis = fors_digest_text(basis, job->tables_by);
	if (job->pods)
		basis = fors_digest_text(basis, job->method);
	basis = fors_digest(basis, &job->most_bytes, sizeof(job->most_bytes));
	over->basis = fors_levels_digest(basis, over->levels);
}

uint64_t fors_job_basis(const struct fors_job *job)
{
	uint64_t basis;

	if (job->over)
		return job->over->basis;
	basis = fors_digest(FORS_DIGEST_EMPTY, &job->fabric->fingerprint, sizeof(job->fabric->fingerprint));
	basis = fors_digest_text(digest_lfts(basis, job->lfts), job->method);
	basis = fors_digest(basis, &job->most_bytes, sizeof(job->most_bytes));
	return fors_digest(basis, &job->ilp_seconds, sizeof(job->ilp_seconds));
}

uint64_t fors_job_fingerprint(const struct fors_job *job)
{
	return job->over ? job->over->basis : job->fabric->fingerprint;
}

/* Width and speed of all cables: how long phases take. */
static uint64_t digest_rates(uint64_t before, const struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++) {
		const uint8_t rate[] = {net->port[i].width, net->port[i].speed};

		if (net->port[i].peer != FORS_NONE)
			before = fors_digest(before, rate, sizeof(rate));
	}
	return before;
}

static uint64_t digest_missed(uint64_t before, const struct fors_fabric *fabric)
{
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nslots; i++)
		if (fabric->slot[i].is_missed)
			before = fors_digest(before, &i, sizeof(i));
	return before;
}

static uint64_t view_of_fabric(const struct fors_fabric *fabric)
{
	uint64_t view = fors_digest(FORS_DIGEST_EMPTY, &fabric->held_until_ms, sizeof(fabric->held_until_ms));

	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++) {
		const struct fors_cable *cable = &fabric->cable[i];
		const uint64_t shown[] = {cable->state | cable->drained << 8 | cable->is_degraded << 16 |
						  cable->is_routed << 17,
					  cable->since_ms};

		view = fors_digest(view, shown, sizeof(shown));
	}
	return digest_missed(view, fabric);
}

/* What is known, dead, drained or alive. */
static uint64_t view_of_pods(uint64_t view, const struct fors_pods *pods)
{
	for (uint32_t n = 0; n < pods->known->nnodes; n++)
		view = fors_digest(view, &pods->known->node[n].guid, sizeof(pods->known->node[n].guid));
	view = fors_digest(view, pods->level, pods->known->nnodes);
	view = fors_digest(view, pods->live, pods->known->nports * sizeof(*pods->live));
	return fors_digest(view, pods->drained, pods->known->nports * sizeof(*pods->drained));
}

static uint64_t view_of_times(uint64_t view, const struct fors_pods *pods)
{
	view = fors_digest(view, &pods->held_until_ms, sizeof(pods->held_until_ms));
	return fors_digest(view, pods->since_ms, pods->known->nports * sizeof(*pods->since_ms));
}

uint64_t fors_job_tree(const struct fors_job *job)
{
	if (job->fabric)
		return job->fabric->fingerprint;
	return job->pods ? view_of_pods(FORS_DIGEST_EMPTY, job->pods->pods) : 0;
}

/* What was decided about slow cables. */
static uint64_t digest_slow(uint64_t before, const struct fors_slow *slow)
{
	const uint32_t choice[] = {slow->how, slow->ncables, slow->ndrained};
	const double length[] = {slow->ignored, slow->drained};

	return fors_digest(fors_digest(before, choice, sizeof(choice)), length, sizeof(length));
}

uint64_t fors_job_view(const struct fors_job *job)
{
	uint64_t view = job->over ? fors_digest_text(FORS_DIGEST_EMPTY, job->tables_by) : view_of_fabric(job->fabric);

	if (job->pods)
		view = view_of_times(view_of_pods(view, job->pods->pods), job->pods->pods);
	view = digest_slow(digest_rates(view, job->net), &job->slow);
	for (unsigned i = 0; i < fors_warnings_kept(&job->warnings); i++)
		view = fors_digest_text(view, job->warnings.text[i]);
	return view;
}

bool fors_job_overtakes(const struct fors_job *newer, const struct fors_job *current)
{
	return !fors_job_has_tables(newer) || newer->kind == FORS_JOB_DECLINED || newer->claim != current->claim ||
	       fors_job_fingerprint(newer) != fors_job_fingerprint(current);
}

bool fors_job_same_tables(const struct fors_job *a, const struct fors_job *b)
{
	if (a->net->nnodes != b->net->nnodes || a->net->nports != b->net->nports ||
	    a->lfts->nswitches != b->lfts->nswitches || a->lfts->nlids != b->lfts->nlids)
		return false;
	for (uint32_t n = 0; n < a->net->nnodes; n++) {
		if (a->net->node[n].guid != b->net->node[n].guid)
			return false;
	}
	return !memcmp(a->net->port, b->net->port, a->net->nports * sizeof(*a->net->port)) &&
	       !memcmp(a->lfts->guid, b->lfts->guid, a->lfts->nswitches * sizeof(*a->lfts->guid)) &&
	       !memcmp(a->lfts->port, b->lfts->port, (size_t)a->lfts->nswitches * a->lfts->nlids);
}
