/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfti.c - throughput indices. Rows times samples are independent problems, so they go to threads.
 */
#include "lfti.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/parallel.h"
#include "lab/model/routers/router.h"
#include "optimum.h"
#include "lab/model/patterns/pattern.h"

static const char *const kinds[2][FORS_LFTI_ROWS / 2] = {
	{"2DNN", "2DNNDIAG", "3DNN", "3DNNDIAG", "permutation", "bisect", "shift", "RANDN(20)", "RANDOM(20)"},
	{"2DNN", "2DNNDIAG", "3DNN", "3DNNDIAG", "permutation", "bisect", "shift", "RANDN(3)", "RANDOM(3)"},
};

/* What one sample of one row gave. */
struct sample {
	uint64_t nflows, nbroken;
	double routed, optimum, crossbar;
	double routed_s, optimum_s;
};

struct job {
	const struct fors_router *router;
	const struct fors_cuts *cuts;
	struct fors_cuts *crossbar;
	const struct fors_lfti_options *options;
	struct sample *sample;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum fors_err aggregate(const struct fors_cuts *cuts, const struct fors_pattern *pattern, double *sum,
			       struct fors_error *error)
{
	struct fors_optimum *optimum = NULL;
	enum fors_err err = fors_optimum_of(cuts, NULL, pattern, 1, &optimum, error);

	if (!err)
		*sum = optimum->rates.aggregate;
	fors_optimum_free(optimum);
	return err;
}

static enum fors_err measure(const struct job *job, const struct fors_pattern *pattern, struct sample *sample,
			     struct fors_error *error)
{
	struct fors_evaluation *routed = NULL;
	double start = seconds();
	enum fors_err err = fors_evaluate(job->router, pattern, true, 1, &routed, error);

	if (err)
		return err;
	sample->routed = routed->rates.aggregate;
	sample->nflows = routed->nflows;
	sample->nbroken = routed->nbroken;
	sample->routed_s = seconds() - start;
	fors_evaluation_free(routed);
	start = seconds();
	err = aggregate(job->cuts, pattern, &sample->optimum, error);
	sample->optimum_s = seconds() - start;
	return err ? err : aggregate(job->crossbar, pattern, &sample->crossbar, error);
}

static enum fors_err do_sample(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct job *job = context;
	uint32_t row = item / job->options->samples;
	struct fors_pattern_options options = {.seed = job->options->seed * 1000003 + item, .is_random_map = row % 2};
	struct fors_pattern *pattern;
	enum fors_err err = fors_pattern_new(kinds[job->options->is_quick][row / 2], job->cuts->nservers, &options,
					     &pattern, error);

	if (err == FORS_EINPUT) /* RANDN(20) among 8 servers, a grid of 7: the row stays empty */
		return FORS_OK;
	if (err)
		return err;
	err = measure(job, pattern, &job->sample[item], error);
	fors_pattern_free(pattern);
	return err;
}

static void add_up(const struct job *job, struct fors_lfti_row *row)
{
	unsigned samples = job->options->samples;

	for (uint32_t r = 0; r < FORS_LFTI_ROWS; r++) {
		struct sample sum = {0};

		for (uint32_t i = 0; i < samples; i++) {
			const struct sample *s = &job->sample[r * samples + i];

			sum.nflows += s->nflows;
			sum.nbroken += s->nbroken;
			sum.routed += s->routed;
			sum.optimum += s->optimum;
			sum.crossbar += s->crossbar;
			sum.routed_s += s->routed_s;
			sum.optimum_s += s->optimum_s;
		}
		row[r] = (struct fors_lfti_row){.pattern = kinds[job->options->is_quick][r / 2],
						.is_random_map = r % 2,
						.nflows = sum.nflows,
						.nbroken = sum.nbroken,
						.routed_s = sum.routed_s,
						.optimum_s = sum.optimum_s};
		row[r].routed = sum.crossbar > 0 ? sum.routed / sum.crossbar : 0;
		row[r].optimum = sum.crossbar > 0 ? sum.optimum / sum.crossbar : 0;
	}
}

enum fors_err fors_lfti(const struct fors_router *router, const struct fors_cuts *cuts,
			const struct fors_lfti_options *options, struct fors_lfti_row row[FORS_LFTI_ROWS],
			struct fors_error *error)
{
	struct job job = {.router = router, .cuts = cuts, .options = options};
	enum fors_err err = fors_cuts_of_crossbar(cuts->nservers, &job.crossbar, error);

	if (err)
		return err;
	job.sample = calloc((size_t)FORS_LFTI_ROWS * options->samples + 1, sizeof(*job.sample));
	err = job.sample ? fors_parallel(options->threads, FORS_LFTI_ROWS * options->samples, do_sample, &job, error)
			 : fors_fail_memory(error);
	if (!err)
		add_up(&job, row);
	free(job.sample);
	fors_cuts_free(job.crossbar);
	return err;
}
