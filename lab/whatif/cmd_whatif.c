/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_whatif.c - `fors whatif`: what would each failure cost, under fors and under other engines?
 */
#include "whatif.h"
#include "lab/options.h"
#include "cli/made.h"
#include "lab/page/page.h"

#include <stdlib.h>
#include <string.h>
#include "core/base/text.h"

#define LISTED 20 /* failures, for people; --json lists all */
#define NAME_WIDTH 120

/* --- engines ---------------------------------------------------------------------------------------------------- */

static bool is_known_already(const struct whatif *whatif, const char *name)
{
	for (uint32_t i = 0; i < whatif->nengines; i++)
		if (!strcmp(whatif->engine[i], name))
			return true;
	return false;
}

/* "minhop,updn": fors, and those. `text` is cut up, and has to stay. */
static int list_engines(char *text, struct whatif *whatif)
{
	char *at = NULL;

	whatif->engine[whatif->nengines++] = whatif->model ? whatif->model : cli_engines[0];
	for (char *name = text ? strtok_r(text, ",", &at) : NULL; name; name = strtok_r(NULL, ",", &at)) {
		if (cli_choice("engines", name, cli_engines) < 0)
			return CLI_BAD;
		if (is_known_already(whatif, name))
			continue;
		if (whatif->nengines == WHATIF_MAX_ENGINES)
			return cli_usage_error("--engines: more than %d", WHATIF_MAX_ENGINES - 1);
		whatif->engine[whatif->nengines++] = name;
	}
	return whatif->nengines > 1 ? whatif_engine_check() : CLI_GOOD;
}

/* --- for people ------------------------------------------------------------------------------------------------- */

static enum cli_colour colour_of(double throughput)
{
	return throughput >= 0.94 ? CLI_GREEN : throughput >= 0.7 ? CLI_YELLOW : CLI_RED;
}

static void print_number(double throughput)
{
	printf("%s%8.3f%s ", cli_colour(colour_of(throughput)), throughput, cli_colour(CLI_PLAIN));
}

static void print_row(const struct whatif *whatif, uint32_t number)
{
	const struct whatif_result *fors = whatif_at(whatif, number, 0);
	const char *name = whatif->cases[number].name;

	if (whatif->simulate.is_wanted && !whatif->model)
		printf("%8.1f ", fors->gbits);
	for (uint32_t e = 0; whatif->simulate.is_wanted && e < whatif->nengines; e++)
		printf("%8.1f ", whatif_at(whatif, number, e)->shift_gbits);
	for (uint32_t e = 0; e < whatif->nengines; e++) {
		const struct whatif_result *result = whatif_at(whatif, number, e);

		print_number(result->throughput);
		if (e)
			print_number(result->planned);
	}
	printf("%7u %8.3f %8llu  %.*s%s\n", fors->phases, fors->shift, (unsigned long long)fors->changed, NAME_WIDTH,
	       name, strlen(name) > NAME_WIDTH ? "..." : "");
}

/* Columns of Gbit/s: fors with its plan, and each engine without. */
static void print_simulated_heads(const struct whatif *whatif)
{
	char name[16];

	if (!whatif->simulate.is_wanted)
		return;
	if (!whatif->model)
		printf("%8s ", "Gbit/s");
	for (uint32_t e = 0; e < whatif->nengines; e++) {
		snprintf(name, sizeof(name), e ? "%.6s/s" : "shift/s", whatif->engine[e]);
		printf("%8s ", name);
	}
}

static void print_table(const struct whatif *whatif, const uint32_t *order)
{
	printf("fabric %s, %u %s, LMC %u. Throughput of the whole exchange, 1 is full speed, worst first;\n%sthen, for %s: phases, throughput without a plan, table entries that change.\n\n",
	       whatif->fabric_name, whatif->nservers, fors_plural(whatif->nservers, "server", "servers"), whatif->lmc,
	       whatif->nengines > 1 ? "under another engine without a plan, and with fors's plan over its tables; "
				    : "",
	       whatif->engine[0]);
	if (whatif->simulate.is_wanted)
		printf("Before it Gbit/s per server, simulated (barrier %.0f ns): %sby the linear shift under each engine.\n\n",
		       (double)whatif->simulate.barrier.value / 1000, whatif->model ? "" : "fors with its plan, and ");
	print_simulated_heads(whatif);
	for (uint32_t e = 0; e < whatif->nengines; e++) {
		printf("%8s ", whatif->engine[e]);
		if (e)
			printf("%8s ", "planned");
	}
	printf("%7s %8s %8s  %s\n", "phases", "unplanned", "changed", "failure");
	print_row(whatif, 0);
	for (uint32_t i = 0; i + 1 < whatif->ncases && i < LISTED; i++)
		print_row(whatif, order[i]);
	if (whatif->ncases - 1 > LISTED)
		printf("\n%u more; --json and --html list all.\n", whatif->ncases - 1 - LISTED);
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int tell(const struct cli_settings *settings, const struct whatif *whatif)
{
	uint32_t *order = malloc((whatif->ncases + (size_t)1) * sizeof(*order));
	int code = CLI_GOOD;

	if (!order) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	whatif_sort(whatif, order);
	if (cli_lab(settings)->html)
		code = cli_write_page(settings, whatif_page(whatif, order));
	if (!code && settings->is_json)
		code = cli_print_json(whatif_json(whatif, order));
	else if (!code)
		print_table(whatif, order);
	free(order);
	return code;
}

/* Any net under a model of an engine. */
static int load_model(const struct cli_settings *settings, struct whatif *whatif)
{
	const struct cli_source *source = &settings->source;
	struct fors_endpoint *server = NULL;
	struct fors_error error = {0};
	int code = cli_any_site_load(source, &whatif->site);

	if (!code)
		code = cli_site_net(&whatif->site, source, &whatif->intact.net);
	if (!code)
		code = cli_model_tables(source, whatif->model, whatif->intact.net, &whatif->intact.lfts);
	if (!code && whatif_servers(whatif, whatif->intact.net, &server, &whatif->nservers, &error))
		code = cli_fail(&error);
	free(server);
	return code;
}

/* A fat-tree under fors; who is a guest takes no part. */
static int load_own(const struct cli_source *source, struct whatif *whatif)
{
	struct fors_fattree_sum sum;
	int code = cli_any_site_load(source, &whatif->site);

	if (!code)
		code = whatif->site.places ? cli_fabric_make(&whatif->site, source->has_lmc, source->lmc, source->down,
							     source->ndown, &whatif->intact)
					   : cli_own_tables(&whatif->site, source, &whatif->intact);
	if (!code)
		code = cli_site_narrow(&whatif->site, &whatif->intact);
	if (code)
		return code;
	sum = fors_fattree_sum(&whatif->intact.tree);
	whatif->lmc = sum.lmc < 0 ? 0 : (unsigned)sum.lmc;
	whatif->nservers = sum.servers;
	return CLI_GOOD;
}

static int load(const struct cli_settings *settings, struct whatif *whatif)
{
	const struct cli_source *source = &settings->source;
	int code = whatif->model ? load_model(settings, whatif) : load_own(source, whatif);

	whatif->source = source;
	whatif->fabric_name = cli_made_input(settings);
	if (!code && !whatif->nservers) {
		cli_error("there is no server in the fabric");
		code = CLI_NO;
	}
	return code;
}

static int work(const struct cli_settings *settings, struct whatif *whatif)
{
	int code = whatif_list(whatif, cli_lab(settings)->random, settings->count, settings->seed);

	whatif->simulate = cli_lab(settings)->simulate;
	whatif->threads = cli_lab(settings)->threads ? cli_lab(settings)->threads : cli_processors();
	if (!code && cli_lab(settings)->simulate.measured > 0)
		code = whatif_fit(whatif, cli_lab(settings)->simulate.measured);
	if (!code && cli_lab(settings)->resume)
		code = whatif_store_open(whatif, cli_lab(settings)->resume);
	if (!code)
		code = whatif_run(whatif);
	if (!code)
		code = tell(settings, whatif);
	return code ? code : whatif_store_close(whatif, cli_lab(settings)->resume);
}

static void clear(struct whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->ncases; i++) {
		free(whatif->cases[i].cut);
		free(whatif->cases[i].name);
	}
	free(whatif->cases);
	free(whatif->name);
	free(whatif->result);
	fors_shift_free(whatif->shift);
	if (whatif->store)
		fclose(whatif->store);
	cli_fabric_free(&whatif->intact);
	cli_site_free(&whatif->site);
}

static int run(const struct cli_settings *settings, char **operand)
{
	char *engines = cli_lab(settings)->engines ? strdup(cli_lab(settings)->engines) : NULL;
	struct whatif whatif = {0};
	int code;

	whatif.model = settings->routing;
	code = list_engines(engines, &whatif);
	if (!code)
		code = load(settings, &whatif);
	if (!code)
		code = work(settings, &whatif);
	clear(&whatif);
	free(engines);
	whatif_stop_now();
	return code;
}

const struct cli_command cli_whatif_command = {
	.id = CLI_CMD_WHATIF,
	.name = "whatif",
	.summary = CLI_WHATIF_SUMMARY,
	.usage = "(--fabric FILE | --synthetic SPEC) [OPTION]...",
	.details = "Each cable between switches, each spine (of three levels each middle switch\n"
		   "and top), and random failures on request.\n"
		   "Example: fors whatif --synthetic 'FT(2;20,18)' --random 5 --count 100 --html whatif.html\n",
	.run = run,
};
