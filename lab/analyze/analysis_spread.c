/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analysis_spread.c - what `fors analyze --policy` says: the same pattern, spread by chance (lab/model/measure/spread.h). */
#include "analysis.h"
#include "lab/options.h"

static const enum fors_spread_kind kinds[] = {[CLI_SPREAD_RANDOM] = FORS_SPREAD_ANY,
					      [CLI_SPREAD_VLB] = FORS_SPREAD_VLB,
					      [CLI_SPREAD_TAGO] = FORS_SPREAD_TAGO};

int cli_analysis_spread(const struct cli_settings *settings, struct cli_analysis *a)
{
	bool is_tago = cli_lab(settings)->spread == CLI_SPREAD_TAGO;
	struct fors_blocks *blocks = NULL;
	struct fors_hops *hops = NULL;
	struct fors_error error = {0};
	int code = CLI_GOOD;

	if (cli_lab(settings)->spread == CLI_SPREAD_NONE)
		return CLI_GOOD;
	if (cli_lab(settings)->spread != CLI_SPREAD_RANDOM)
		code = cli_analysis_blocks(settings, is_tago, a, &blocks);
	if (!code && (fors_hops_new(a->router.graph, is_tago, &hops, &error) ||
		      fors_spread_loads(&a->router, hops, blocks, kinds[cli_lab(settings)->spread], a->pattern,
					&a->spread, &error)))
		code = cli_fail(&error);
	a->spread_name = cli_spreads[cli_lab(settings)->spread];
	fors_hops_free(hops);
	fors_blocks_free(blocks);
	return code;
}

/* What is left of full speed; negative: flows are lost. */
static double throughput(const struct cli_analysis *a)
{
	if (a->spread->nbroken)
		return -1;
	return a->spread->time > 0 ? a->result->least_time / a->spread->time : 0;
}

void cli_analysis_print_spread(const struct cli_analysis *a)
{
	const struct fors_spread *s = a->spread;

	if (!s || s->nbroken)
		return;
	printf("policy      %s: %.2f flows on the most loaded link on average; %s%.3f%s of full speed%s\n",
	       a->spread_name, s->max_load, cli_colour(CLI_BOLD), throughput(a), cli_colour(CLI_PLAIN),
	       s->nphases > 1 ? ", when phases wait for one another" : "");
}

json_t *cli_analysis_spread_json(const struct cli_analysis *a)
{
	json_t *load = a->spread ? json_array() : NULL;

	if (!a->spread)
		return json_null();
	for (uint32_t p = 0; p < a->spread->nphases; p++)
		json_array_append_new(load, json_real(a->spread->phase_load[p]));
	return json_pack("{s:s, s:f, s:o, s:o}", "policy", a->spread_name, "max_load", a->spread->max_load,
			 "throughput", a->spread->nbroken ? json_null() : json_real(throughput(a)), "phase_load", load);
}
