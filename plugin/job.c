/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "digest.h"

struct fors_job *fors_job_new(enum fors_job_kind kind)
{
	struct fors_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->kind = kind;
		job->tables_ms = job->check_ms = -1;
	}
	return job;
}

void fors_job_free(struct fors_job *job)
{
	if (!job)
		return;
	fors_lfts_free(job->lfts);
	fors_fabric_free(job->fabric);
	fors_net_free(job->net);
	free(job);
}

uint64_t fors_job_basis(const struct fors_job *job)
{
	const struct fors_lfts *lfts = job->lfts;
	uint64_t basis = fors_digest(FORS_DIGEST_EMPTY, &job->fabric->fingerprint, sizeof(job->fabric->fingerprint));

	basis = fors_digest(basis, lfts->guid, lfts->nswitches * sizeof(*lfts->guid));
	basis = fors_digest(basis, lfts->port, (size_t)lfts->nswitches * lfts->nlids);
	basis = fors_digest_text(basis, job->method);
	return fors_digest(basis, &job->ilp_seconds, sizeof(job->ilp_seconds));
}

uint64_t fors_job_view(const struct fors_job *job)
{
	const struct fors_fabric *fabric = job->fabric;
	uint64_t view = fors_digest(FORS_DIGEST_EMPTY, &fabric->held_until_ms, sizeof(fabric->held_until_ms));

	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++) {
		const struct fors_cable *cable = &fabric->cable[i];
		const uint64_t shown[] = {cable->state | cable->drained << 8 | cable->is_degraded << 16,
					  cable->since_ms};

		view = fors_digest(view, shown, sizeof(shown));
	}
	for (unsigned i = 0; i < fors_warnings_kept(&job->warnings); i++)
		view = fors_digest_text(view, job->warnings.text[i]);
	return view;
}

bool fors_job_overtakes(const struct fors_job *newer, const struct fors_job *current)
{
	return !newer->fabric || newer->kind == FORS_JOB_DECLINED ||
	       newer->fabric->fingerprint != current->fabric->fingerprint;
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
