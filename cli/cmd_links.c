/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_links.c - `fors links`: every cable between switches, with its state, width and speed, what tables and plan put
 * on it, and its errors; and `fors exclude --suggest`: the lines of fors.conf that take the worst of them out of
 * service.
 */
#include "cli/cables.h"
#include "cli/json.h"

#include <inttypes.h>

#define NAME_ROOM (FORS_NAME_MAX + 8)

/* --- links ------------------------------------------------------------------------------------------------------ */

static const char *state_of(const struct cli_cable *cable)
{
	return cable->is_dead ? "dead" : cable->is_degraded ? "degraded" : "live";
}

/* "12 / 34" for both ends; a line where nothing is known. */
static void print_both(bool is_known, uint64_t a, uint64_t b, bool is_last)
{
	char text[48] = "-";

	if (is_known)
		snprintf(text, sizeof(text), "%" PRIu64 " / %" PRIu64, a, b);
	printf("  %-*s", is_last ? 0 : 11, text);
}

static void print_errors(const struct cli_cable *cable)
{
	uint64_t sum = cli_cable_errors(cable);

	if (sum == FORS_COUNTER_UNKNOWN)
		printf("  -");
	else
		printf("  %s%" PRIu64 "%s", cli_colour(sum ? CLI_YELLOW : CLI_PLAIN), sum, cli_colour(CLI_PLAIN));
}

static void print_cables(const struct cli_cables *cables)
{
	char a[NAME_ROOM], b[NAME_ROOM], both[2 * NAME_ROOM + 4];

	printf("%-34s  %-8s  %-8s  %-11s  %s\n", "link", "state", "rate", "LIDs",
	       cables->counters ? "flows        errors" : "flows");
	for (size_t i = 0; i < cables->count; i++) {
		const struct cli_cable *cable = &cables->cable[i];

		cli_cable_end(cables, cable, 0, a, sizeof(a));
		cli_cable_end(cables, cable, 1, b, sizeof(b));
		snprintf(both, sizeof(both), "%s - %s", a, b);
		printf("%-34s  %-8s  %-8s", both, state_of(cable), cable->rate[0] ? cable->rate : "-");
		print_both(cables->has_tables, cable->lids[0], cable->lids[1], false);
		print_both(cables->has_plan, cable->flows[0], cable->flows[1], !cables->counters);
		if (cables->counters)
			print_errors(cable);
		printf("\n");
	}
}

static json_t *both_json(bool is_known, uint64_t a, uint64_t b)
{
	return is_known ? json_pack("[I, I]", (json_int_t)a, (json_int_t)b) : json_null();
}

static json_t *errors_json(uint64_t errors)
{
	return errors == FORS_COUNTER_UNKNOWN ? json_null() : json_integer((json_int_t)errors);
}

static json_t *cable_json(const struct cli_cables *cables, const struct cli_cable *cable)
{
	const struct fors_net *net = cables->site.intact;

	return json_pack("{s:o, s:i, s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:[o, o]}", "a",
			 fors_json_text(fors_node_name(net, cable->node[0])), "a_port", cable->port[0], "b",
			 fors_json_text(fors_node_name(net, cable->node[1])), "b_port", cable->port[1], "state",
			 state_of(cable), "rate", cable->rate[0] ? json_string(cable->rate) : json_null(), "lids",
			 both_json(cables->has_tables, cable->lids[0], cable->lids[1]), "flows",
			 both_json(cables->has_plan, cable->flows[0], cable->flows[1]), "errors",
			 errors_json(cli_cable_errors(cable)), "errors_at", errors_json(cable->errors[0]),
			 errors_json(cable->errors[1]));
}

static json_t *cables_json(const struct cli_cables *cables)
{
	json_t *data = json_object(), *links = json_array();

	for (size_t i = 0; i < cables->count; i++)
		json_array_append_new(links, cable_json(cables, &cables->cable[i]));
	json_object_set_new(data, "links", links);
	return data;
}

static int run_links(const struct cli_settings *settings, char **operand)
{
	struct cli_cables cables;
	int code = cli_cables_load(settings, &cables);

	(void)operand;
	if (!code && settings->is_json)
		code = cli_print_json(cables_json(&cables));
	else if (!code)
		print_cables(&cables);
	cli_cables_free(&cables);
	return code;
}

/* --- exclude ---------------------------------------------------------------------------------------------------- */

/* What fors.conf can name is a living cable between switches of the tree. */
static bool can_exclude(const struct cli_cables *cables, const struct cli_cable *cable)
{
	const struct fors_fattree *tree = &cables->made.tree;
	struct fors_fattree_cable plugged;

	for (uint32_t i = 0; i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &plugged) && plugged.state == FORS_CABLE_LIVE &&
		    plugged.low_port == cable->port[0] && tree->kind->at(tree, plugged.low).node == cable->node[0])
			return true;
	return false;
}

static void suggest(const struct cli_cables *cables, uint64_t threshold)
{
	size_t found = 0;

	for (size_t i = 0; i < cables->count; i++) {
		const struct cli_cable *cable = &cables->cable[i];
		uint64_t errors = cli_cable_errors(cable);
		char name[NAME_ROOM], other[NAME_ROOM];

		if (errors == FORS_COUNTER_UNKNOWN || errors < threshold || !can_exclude(cables, cable))
			continue;
		cli_cable_end(cables, cable, 0, name, sizeof(name));
		cli_cable_end(cables, cable, 1, other, sizeof(other));
		printf("# %" PRIu64 " errors on the cable to %s\nexclude_links = %s\n", errors, other, name);
		found++;
	}
	if (!found)
		printf("# no living %s has %" PRIu64 " errors or more\n", cables->made.tree.kind->cable, threshold);
}

static int run_exclude(const struct cli_settings *settings, char **operand)
{
	struct cli_cables cables;
	int code;

	(void)operand;
	if (!settings->suggests)
		return cli_usage_error("links are excluded by exclude_links in fors.conf; which ones, says --suggest");
	if (!settings->counters)
		return cli_usage_error("--suggest goes by errors: --counters FILE is missing");
	code = cli_cables_load(settings, &cables);
	if (!code && !cables.made.tree.kind) {
		cli_error("links are excluded in fat-trees of two or three levels only; this is none");
		code = CLI_NO;
	}
	if (!code)
		suggest(&cables, settings->threshold);
	cli_cables_free(&cables);
	return code;
}

const struct cli_command cli_links_command = {
	.id = CLI_CMD_LINKS,
	.name = "links",
	.summary = "List the cables between switches: state, speed, load, errors",
	.usage = "(--fabric FILE | --synthetic SPEC) [OPTION]...",
	.details =
		"LIDs and flows: out of the first end, and of the second. Tables are those of --lfts, else of fors.\n"
		"Example: ibqueryerrors > errors; ibnetdiscover | fors links --fabric - --counters errors\n",
	.run = run_links,
};

const struct cli_command cli_exclude_command = {
	.id = CLI_CMD_EXCLUDE,
	.name = "exclude",
	.summary = "Suggest lines of fors.conf that drain the cables with many errors",
	.usage = "--suggest --counters FILE (--fabric FILE | --synthetic SPEC) [OPTION]...",
	.details = "Nothing is changed: append the lines to fors.conf, then SIGHUP opensm.\n",
	.run = run_exclude,
};
