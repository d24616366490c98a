/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_analyze.c - `fors analyze`: what a fabric gives a pattern with the tables of any routing engine.
 */
#include "lab/model/routers/router.h"
#include "analysis.h"
#include "lab/page/page.h"
#include "per_job.h"

#include <stdlib.h>
#include <string.h>
#include "core/base/text.h"

#define LISTED_JOBS 10 /* for people; --json lists all */
#define LISTED_LINKS 5

/* --- for people ------------------------------------------------------------------------------------------------ */

/* Of cables that were never seen the ports are not known. */
static void print_dead(const struct cli_dead_cable *cable)
{
	if (cable->a_port)
		printf("              %s[%u] - %s[%u]\n", cable->a, cable->a_port, cable->b, cable->b_port);
	else
		printf("              %s - %s (other leaves have one)\n", cable->a, cable->b);
}

static void print_fabric(const struct cli_analysis *a)
{
	const struct fors_graph *graph = a->router.graph;

	printf("fabric      %s: %u %s, %u %s\n", a->title, graph->nservers,
	       fors_plural(graph->nservers, "server", "servers"), graph->nlinks,
	       fors_plural(graph->nlinks, "directed link", "directed links"));
	if (a->nspectators)
		printf("left out    %u adapter%s on spines\n", a->nspectators, a->nspectators == 1 ? "" : "s");
	printf("routing     %s\n", a->routing);
	if (!a->routes)
		return;
	printf("dead        %zu cable%s%s\n", a->ndead, a->ndead == 1 ? "" : "s", a->ndead ? ":" : "");
	for (size_t i = 0; i < a->ndead && i < LISTED_LINKS; i++)
		print_dead(&a->dead[i]);
	if (a->ndead > LISTED_LINKS)
		printf("              and %zu more (--json lists all)\n", a->ndead - LISTED_LINKS);
	if (a->nslow)
		printf("slow        %u %s below the speed of the others, and count so\n", a->nslow,
		       fors_plural(a->nslow, "directed link runs", "directed links run"));
}

static void print_exchange(const struct fors_evaluation *r)
{
	printf("loads       %u %s on the most loaded link; %llu over all %u phases\n", r->max_link_load,
	       fors_plural(r->max_link_load, "flow", "flows"), (unsigned long long)r->length, r->nphases);
	if (r->nbroken)
		printf("throughput  %snone%s: flows are lost\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN));
	else if (r->nphases > 1)
		printf("throughput  %s%.3f%s of full speed, when phases wait for one another\n",
		       cli_colour(r->sync_throughput > 0.9 ? CLI_GREEN : CLI_RED), r->sync_throughput,
		       cli_colour(CLI_PLAIN));
}

static int by_load(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* The links with the largest load, then flows; packed with their numbers to sort. */
static void print_worst_links(const struct cli_analysis *a)
{
	const struct fors_evaluation *r = a->result;
	uint64_t *key = a->routes ? malloc((r->nlinks + (size_t)1) * sizeof(*key)) : NULL;
	char name[2 * FORS_NAME_MAX + 32];
	uint32_t n = 0;

	if (!key)
		return;
	for (uint32_t l = 0; l < r->nlinks; l++)
		if (r->link_load[l] > 1)
			key[n++] = (uint64_t)r->link_load[l] << 32 | (UINT32_MAX - l);
	qsort(key, n, sizeof(*key), by_load);
	for (uint32_t i = 0; i < n && i < LISTED_LINKS; i++) {
		uint32_t link = UINT32_MAX - (uint32_t)key[i];

		fors_link_name(a->routes, link, name, sizeof(name));
		printf("              %s: %u %s in its worst phase, %llu in all\n", name, r->link_load[link],
		       fors_plural(r->link_load[link], "flow", "flows"), (unsigned long long)r->link_flows[link]);
	}
	if (n > LISTED_LINKS)
		printf("              and %u more with 2 flows or more in a phase\n", n - LISTED_LINKS);
	free(key);
}

static void print_rates(const struct cli_analysis *a)
{
	const struct fors_rates *rates = &a->result->rates;

	printf("fair rates  %.4f at least, %.4f on average, of a cable; %.2f together%s\n", rates->min, rates->mean,
	       rates->aggregate, a->result->nphases > 1 ? " in a phase" : "");
	if (a->optimum >= 0)
		printf("optimum     %.2f together, with the best of all routings%s: this one reaches %.1f %%\n",
		       a->optimum, a->is_optimum_exact ? "" : " (a bound)",
		       a->optimum > 0 ? 100 * rates->aggregate / a->optimum : 100.);
}

static void print_jobs(const struct cli_analysis *a)
{
	const struct fors_efi *efi = a->efi;

	if (!efi)
		return;
	printf("routes      EFI %llu at most (routes over one link between switches), dark fiber %.1f %% (%u of %u "
	       "links)\n",
	       (unsigned long long)efi->max, 100 * efi->dark_fiber, efi->dark_links, efi->switch_links);
	if (efi->broken)
		printf("%sbroken%s      %llu %s between servers%s %s not arrive\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN), (unsigned long long)efi->broken,
		       fors_plural(efi->broken, "route", "routes"), a->jobs.count > 1 ? " of one job" : "",
		       fors_plural(efi->broken, "does", "do"));
	for (uint32_t i = 0; a->jobs.count > 1 && i < a->jobs.count && i < LISTED_JOBS; i++)
		printf("              job %s: %u %s, EFI %u at most, %u %s\n", a->jobs.job[i].name,
		       a->jobs.job[i].count, fors_plural(a->jobs.job[i].count, "server", "servers"), efi->job_max[i],
		       efi->job_links[i], fors_plural(efi->job_links[i], "link", "links"));
	if (a->jobs.count > LISTED_JOBS)
		printf("              and %u %s (--json lists all)\n", a->jobs.count - LISTED_JOBS,
		       fors_plural(a->jobs.count - LISTED_JOBS, "more job", "more jobs"));
}

static void print_problems(const struct cli_analysis *a)
{
	const struct fors_evaluation *r = a->result;

	if (a->mismatch.text[0])
		printf("%smismatch%s    fabric and tables do not belong together: %s\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN), a->mismatch.text);
	if (r->ndetours)
		printf("detours     %llu %s; first %s\n", (unsigned long long)r->ndetours,
		       fors_plural(r->ndetours, "flow does not take a shortest way",
				   "flows do not take a shortest way"),
		       r->detour);
	if (!r->nbroken) {
		printf("arrived     all %llu flows\n", (unsigned long long)r->nflows);
		return;
	}
	printf("%sbroken%s      %llu of %llu flows do not arrive:", cli_colour(CLI_RED), cli_colour(CLI_PLAIN),
	       (unsigned long long)r->nbroken, (unsigned long long)r->nflows);
	for (int way = FORS_WAY_GOOD + 1; way < FORS_NWAYS; way++)
		if (r->ways[way])
			printf(" %llu %s", (unsigned long long)r->ways[way], fors_way_name((enum fors_way)way));
	printf("\n              first %s\n", r->problem);
}

static void print_analysis(const struct cli_analysis *a)
{
	print_fabric(a);
	printf("pattern     %s: %u phase%s, %llu %s\n", a->pattern_name, a->result->nphases,
	       a->result->nphases == 1 ? "" : "s", (unsigned long long)a->result->nflows,
	       fors_plural(a->result->nflows, "flow", "flows"));
	print_problems(a);
	print_exchange(a->result);
	print_worst_links(a);
	cli_analysis_print_costs(a);
	cli_analysis_print_spread(a);
	print_rates(a);
	print_jobs(a);
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int tell(const struct cli_settings *settings, const struct cli_analysis *a)
{
	int code = CLI_GOOD;

	if (cli_lab(settings)->html)
		code = cli_write_page(settings, cli_analysis_page(a, settings));
	if (!code && settings->is_json)
		code = cli_print_json(cli_analysis_json(a, settings));
	else if (!code)
		print_analysis(a);
	if (code)
		return code;
	if (cli_analysis_is_sound(a))
		return CLI_GOOD;
	if (a->result->nbroken)
		cli_error("%llu %s", (unsigned long long)a->result->nbroken,
			  fors_plural(a->result->nbroken, "flow does not arrive", "flows do not arrive"));
	else if (a->mismatch.text[0])
		cli_error("fabric and tables do not belong together");
	else
		cli_error("all flows arrive, but %llu %s", (unsigned long long)a->efi->broken,
			  fors_plural(a->efi->broken, "other route between servers does not",
				      "other routes between servers do not"));
	return CLI_NO;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct cli_analysis analysis;
	int code;

	if (cli_is_per_job(settings))
		return cli_analyze_per_job(settings);
	code = cli_analyze(settings, &analysis);
	if (!code)
		code = tell(settings, &analysis);
	cli_analysis_free(&analysis);
	return code;
}

const struct cli_command cli_analyze_command = {
	.id = CLI_CMD_ANALYZE,
	.name = "analyze",
	.summary = CLI_ANALYZE_SUMMARY,
	.usage = "(--fabric FILE --lfts FILE | --synthetic SPEC --routing NAME) --pattern NAME ...",
	.details =
		"Works for any topology. Exit code 1 when flows do not arrive or the tables are of another fabric.\n"
		"Examples: fors analyze --fabric net --lfts opensm-lfts.dump --pattern linear-shift\n"
		"          fors analyze --synthetic 'FT(2;20,18)' --down 'Leaf00[21]' --routing fors --pattern plan\n"
		"          fors analyze --synthetic 'XGFT(3;4,4,8;1,4,4)' --routing d-mod-k --pattern 2DNN --optimum\n",
	.run = run,
};
