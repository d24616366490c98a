/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_indices.c - `fors indices`: what typical patterns get from given tables, and from the best of all routings, as
 * parts of what a crossbar gives them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis.h"
#include "lab/model/optimum/lfti.h"
#include "lab/model/optimum/cuts_reached.h"
#include "lab/options.h"
#include "core/base/text.h"

/* Does the best routing reach the optimum that is printed, for every pattern? */
static enum fors_err is_reached(const struct fors_graph *graph, bool *reached, struct fors_error *error)
{
	*reached = true;
	return graph ? fors_cuts_reached(graph, reached, error) : FORS_OK;
}

static int measure(const struct cli_settings *settings, const struct cli_analysis *a, struct fors_lfti_row *row,
		   bool *reached)
{
	struct fors_lfti_options options = {.samples = cli_lab(settings)->samples ? cli_lab(settings)->samples : 1,
					    .seed = settings->seed,
					    .threads = cli_lab(settings)->threads ? cli_lab(settings)->threads
										  : cli_processors()};
	struct fors_cuts *cuts = NULL;
	struct fors_graph *graph = NULL;
	struct fors_error error = {0};
	enum fors_err err = cli_analysis_cuts(a, &cuts, &graph, &error);

	if (!err)
		err = is_reached(graph, reached, &error);
	if (!err)
		err = fors_lfti(&a->router, cuts, &options, row, &error);
	fors_cuts_free(cuts);
	fors_graph_free(graph);
	return err ? cli_fail(&error) : CLI_GOOD;
}

/* Mean of routed / optimum over the patterns of one map; NaN when there are none. */
static double mean_part(const struct fors_lfti_row *row, bool is_random_map)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++)
		if (row[i].is_random_map == is_random_map && row[i].optimum > 0) {
			sum += row[i].routed / row[i].optimum;
			count++;
		}
	return count ? sum / count : NAN;
}

static void print_table(const struct cli_analysis *a, const struct fors_lfti_row *row, bool reached)
{
	printf("fabric      %s, %u %s\nrouting     %s\n\n", a->title, a->router.graph->nservers,
	       fors_plural(a->router.graph->nservers, "server", "servers"), a->routing);
	printf("pattern      map         flows  these paths  best routing  part\n");
	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++) {
		printf("%-12s %-6s", row[i].pattern, row[i].is_random_map ? "random" : "direct");
		if (row[i].nflows)
			printf(" %10llu %12.3f %13.3f %5.3f\n", (unsigned long long)row[i].nflows, row[i].routed,
			       row[i].optimum, row[i].optimum > 0 ? row[i].routed / row[i].optimum : 1.);
		else
			printf("   there is no such pattern for so many servers\n");
	}
	printf("\n1 is what a crossbar gives. Mean part of the best routing: %.3f mapped directly, %.3f at random.\n",
	       mean_part(row, false), mean_part(row, true));
	if (!reached)
		printf("The best routing is a bound here, not known to be reached: the fabric is degraded, or is no regular fat-tree.\n");
}

static json_t *row_json(const struct fors_lfti_row *row)
{
	bool is_there = row->nflows > 0;

	return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o}", "pattern", row->pattern, "map",
			 row->is_random_map ? "random" : "direct", "flows", (json_int_t)row->nflows, "broken",
			 (json_int_t)row->nbroken, "routed", is_there ? json_real(row->routed) : json_null(), "optimum",
			 is_there ? json_real(row->optimum) : json_null());
}

static json_t *table_json(const struct cli_settings *settings, const struct cli_analysis *a,
			  const struct fors_lfti_row *row, bool reached)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++)
		json_array_append_new(list, row_json(&row[i]));
	return json_pack("{s:o, s:o, s:i, s:i, s:I, s:b, s:o}", "fabric", fors_json_text(a->title), "routing",
			 fors_json_text(a->routing), "servers", (int)a->router.graph->nservers, "samples",
			 (int)(cli_lab(settings)->samples ? cli_lab(settings)->samples : 1), "seed",
			 (json_int_t)settings->seed, "optimum_is_exact", reached, "indices", list);
}

/* What is wrong with the tables; the exit code. */
static int judge(const struct cli_analysis *a, const struct fors_lfti_row *row)
{
	uint64_t flows = 0, broken = 0;

	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++) {
		flows += row[i].nflows;
		broken += row[i].nbroken;
	}
	if (a->mismatch.text[0])
		cli_error("fabric and tables do not belong together: %s", a->mismatch.text);
	if (broken)
		cli_error("%llu of %llu flows do not arrive; 'fors analyze' says which", (unsigned long long)broken,
			  (unsigned long long)flows);
	return broken || a->mismatch.text[0] ? CLI_NO : CLI_GOOD;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct fors_lfti_row row[FORS_LFTI_ROWS];
	struct cli_analysis analysis;
	bool reached = false;
	int code = cli_analysis_load(settings, &analysis);

	if (!code)
		code = measure(settings, &analysis, row, &reached);
	if (!code && settings->is_json)
		code = cli_print_json(table_json(settings, &analysis, row, reached));
	else if (!code)
		print_table(&analysis, row, reached);
	if (!code)
		code = judge(&analysis, row);
	cli_analysis_free(&analysis);
	return code;
}

const struct cli_command cli_indices_command = {
	.id = CLI_CMD_INDICES,
	.name = "indices",
	.summary = CLI_INDICES_SUMMARY,
	.usage = "(--fabric FILE --lfts FILE | --synthetic SPEC --routing NAME) [OPTION]...",
	.details = "For nine kinds of patterns, mapped directly and at random: the mean sum of max-min fair rates,\n"
		   "as a part of what a crossbar gives.\n"
		   "Example: fors indices --synthetic 'XGFT(3;24,24,36;1,12,12)' --routing d-mod-k --samples 3\n",
	.run = run,
};
