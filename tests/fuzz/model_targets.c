/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the performance model reads: tables over a small fabric, pattern, job and block files. All
 * that is accepted is evaluated, too.
 */
#include "model_targets.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/net/tree_net.h"
#include "core/planners/outcome.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/jobs.h"
#include "lab/model/patterns/pattern.h"
#include "lab/model/routers/blocks.h"
#include "core/net/dump_lids.h"
#include "lab/model/routers/dump.h"
#include "lab/model/routers/router.h"
#include "lab/model/routers/routes.h"

/* FT(2;3,3) without LIDs, so that the dump has to name them. */
static const struct fors_net *ground(void)
{
	static struct fors_net *net;
	struct fors_tree_spec spec = {0};

	if (!net && (fors_tree_spec_parse("FT(2;3,3)", &spec, NULL) || fors_tree_net(&spec, &net, NULL)))
		abort();
	fors_tree_spec_clear(&spec);
	return net;
}

static void evaluate(const struct fors_routes *routes)
{
	struct fors_router router = fors_routes_router(routes);
	struct fors_pattern *pattern = NULL;
	struct fors_evaluation *result = NULL;
	struct fors_efi_jobs jobs = {0};
	struct fors_efi *efi = NULL;

	if (!fors_pattern_new("linear-shift", routes->graph->nservers, NULL, &pattern, NULL) &&
	    !fors_evaluate(&router, pattern, true, 1, &result, NULL) &&
	    !fors_efi_jobs_all(routes->graph->nservers, &jobs, NULL) && !fors_efi_count(&router, &jobs, &efi, NULL) &&
	    result->rates.min > 1 + 1e-9)
		abort();
	fors_efi_free(efi);
	fors_efi_jobs_clear(&jobs);
	fors_evaluation_free(result);
	fors_pattern_free(pattern);
}

static void walk(const struct fors_net *net, const struct fors_lfts *lfts)
{
	struct fors_endpoint *server = NULL;
	struct fors_routes *routes = NULL;
	struct fors_mismatch mismatch;
	struct fors_error error;
	uint32_t count = 0;

	if (!fors_mismatch_find(net, lfts, &mismatch, &error) && !fors_endpoints(net, NULL, &server, &count, &error) &&
	    !fors_routes_new(net, lfts, server, count, &routes, &error))
		evaluate(routes);
	fors_routes_free(routes);
	free(server);
}

/* Tables that connect all servers have a plan that is right; others have a reason. */
static void plan(const struct fors_net *net, const struct fors_lfts *lfts)
{
	const struct fors_request request = {.net = net, .lfts = lfts};
	struct fors_schedule *schedule = NULL;
	struct fors_outcome outcome;
	struct fors_error error = {.text = ""};
	enum fors_err err = fors_plan_proven(&request, &schedule, &outcome, &error);

	if (err ? err == FORS_ENOPLAN || !error.text[0] || schedule
		: !outcome.is_proven || schedule->nphases < outcome.tables_bound)
		abort();
	fors_schedule_free(schedule);
}

bool fuzz_tables(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct fors_lfts *lfts = NULL;
	struct fors_net *net = NULL;
	struct fors_error error;
	bool is_good;

	if (fors_lftfile_read(text, size, "fuzz", &lfts, &error))
		return false;
	if (fors_net_copy(ground(), &net, &error))
		abort();
	is_good = !fors_lids_from_dump(net, text, size, "fuzz", &error);
	if (is_good) {
		walk(net, lfts);
		plan(net, lfts);
	}
	fors_net_free(net);
	fors_lfts_free(lfts);
	return is_good;
}

bool fuzz_pattern(const uint8_t *data, size_t size)
{
	struct fors_pattern *pattern = NULL;
	struct fors_error error;

	if (fors_pattern_read((const char *)data, size, "fuzz", 9, NULL, &pattern, &error))
		return false;
	for (uint32_t phase = 0; phase < fors_pattern_nphases(pattern); phase++)
		for (size_t i = 0; i < fors_pattern_npairs(pattern, phase); i++)
			if (fors_pattern_pair(pattern, phase, i).dst > 8)
				abort();
	fors_pattern_free(pattern);
	return true;
}

bool fuzz_jobs(const uint8_t *data, size_t size)
{
	struct fors_efi_jobs jobs = {0};
	struct fors_error error;

	if (fors_efi_jobs_read((const char *)data, size, "fuzz", 9, NULL, &jobs, &error))
		return false;
	for (uint32_t j = 0; j < jobs.count; j++)
		for (uint32_t i = 0; i < jobs.job[j].count; i++)
			if (jobs.job[j].server[i] > 8)
				abort();
	fors_efi_jobs_clear(&jobs);
	return true;
}

/* Each block has a line of its own, and a switch. */
static void check_blocks(const struct fors_net *net, const uint32_t *block_of, const uint32_t *line_of,
			 uint32_t nblocks)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (block_of[i] != FORS_NONE && (block_of[i] >= nblocks || net->node[i].type != FORS_SWITCH))
			abort();
	for (uint32_t block = 0; block < nblocks; block++) {
		uint32_t node = 0;

		while (node < net->nnodes && block_of[node] != block)
			node++;
		if (node == net->nnodes || !line_of[block] || (block && line_of[block] <= line_of[block - 1]))
			abort();
	}
}

bool fuzz_blocks(const uint8_t *data, size_t size)
{
	const struct fors_net *net = ground();
	uint32_t *block_of = malloc(net->nnodes * sizeof(*block_of)), nblocks = 0;
	uint32_t *line_of = malloc(net->nnodes * sizeof(*line_of));
	struct fors_error error;
	bool is_good = block_of && line_of &&
		       !fors_blocks_read((const char *)data, size, "fuzz", net, block_of, line_of, &nblocks, &error);

	if (is_good)
		check_blocks(net, block_of, line_of, nblocks);
	free(block_of);
	free(line_of);
	return is_good;
}
