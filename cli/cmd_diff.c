/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_diff.c - `fors diff`: what changed between two fabrics, in the words of whoever walks through the hall: what is
 * gone, what is new, what was replaced, which cable was plugged elsewhere, which is slow. `--lfts`, the same of tables,
 * is in diff_lfts.c.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

#include "cli/diff_lfts.h"
#include "cli/json.h"
#include "core/net/diff.h"

struct nets {
	struct fors_net *was, *is;
};

/* What each kind of change is called: in JSON, in its line, and in the sum, one of them and several. */
static const struct {
	const char *key, *label, *one, *many;
} words[FORS_NCHANGES] = {
	[FORS_NODE_GONE] = {"node-gone", "gone", "node gone", "nodes gone"},
	[FORS_NODE_NEW] = {"node-new", "new", "node new", "nodes new"},
	[FORS_NODE_REPLACED] = {"node-replaced", "replaced", "node replaced", "nodes replaced"},
	[FORS_NODE_RENAMED] = {"node-renamed", "renamed", "node renamed", "nodes renamed"},
	[FORS_CABLE_GONE] = {"cable-gone", "cable gone", "cable gone", "cables gone"},
	[FORS_CABLE_NEW] = {"cable-new", "cable new", "cable new", "cables new"},
	[FORS_CABLE_MOVED] = {"cable-moved", "moved", "cable moved", "cables moved"},
	[FORS_CABLE_SLOWER] = {"cable-slower", "slower", "cable slower", "cables slower"},
	[FORS_CABLE_FASTER] = {"cable-faster", "faster", "cable faster", "cables faster"},
	[FORS_PORT_LID] = {"lid", "LID", "port with another LID", "ports with another LID"},
	[FORS_PORT_SM] = {"manager", "manager", "subnet manager come or gone", "subnet managers come or gone"},
};

/* --- for people ------------------------------------------------------------------------------------------------- */

static bool is_alone(const struct fors_net *net, uint32_t node)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (i != node && !strcmp(net->node[i].desc, net->node[node].desc))
			return false;
	return *net->node[node].desc;
}

/* By its description where no other node has it, else by its GUID. */
static void print_node(const struct fors_net *net, uint32_t node)
{
	if (is_alone(net, node))
		printf("%s", net->node[node].desc);
	else
		printf("0x%016" PRIx64, net->node[node].guid);
}

static void print_end(const struct fors_net *net, struct fors_end end)
{
	print_node(net, end.node);
	printf("[%u]", end.port);
}

static void print_cable(const struct fors_net *net, const struct fors_change *change)
{
	print_end(net, change->near);
	printf(" - ");
	print_end(net, change->far);
}

static const char *type_name(const struct fors_node *node)
{
	return node->type == FORS_SWITCH   ? "switch"
	       : node->type == FORS_CA	   ? "host"
	       : node->type == FORS_ROUTER ? "router"
					   : "no host";
}

static void print_whole_node(const struct fors_net *net, uint32_t node, uint32_t ncables)
{
	print_node(net, node);
	printf(", %s 0x%016" PRIx64 ", with %" PRIu32 " %s", type_name(&net->node[node]), net->node[node].guid, ncables,
	       ncables == 1 ? "cable" : "cables");
}

static void print_same_node(const struct nets *nets, const struct fors_change *change)
{
	const struct fors_node *was = &nets->was->node[change->a], *is = &nets->is->node[change->b];

	if (change->kind == FORS_NODE_RENAMED)
		printf("%s is %s now", was->desc, is->desc);
	else
		printf("%s, %s: 0x%016" PRIx64 " is 0x%016" PRIx64 " now", was->desc, type_name(was), was->guid,
		       is->guid);
}

static void print_port(const struct nets *nets, const struct fors_change *change)
{
	const struct fors_port *is = fors_net_port(nets->is, change->near.node, change->near.port);

	print_end(nets->is, change->near);
	if (change->kind == FORS_PORT_SM)
		printf(is->is_sm ? ": has a subnet manager now" : ": has no subnet manager any more");
	else
		printf(": LID %u, LMC %u now", is->lid, is->lmc);
}

static void print_change(const struct nets *nets, const struct fors_change *change)
{
	printf("%-12s", words[change->kind].label);
	switch (change->kind) {
	case FORS_NODE_GONE:
		print_whole_node(nets->was, change->a, change->ncables);
		break;
	case FORS_NODE_NEW:
		print_whole_node(nets->is, change->b, change->ncables);
		break;
	case FORS_NODE_REPLACED:
	case FORS_NODE_RENAMED:
		print_same_node(nets, change);
		break;
	case FORS_CABLE_GONE:
		print_cable(nets->was, change);
		break;
	case FORS_CABLE_NEW:
		print_cable(nets->is, change);
		break;
	case FORS_CABLE_MOVED:
		print_cable(nets->was, change);
		printf(" goes to ");
		print_end(nets->is, change->now);
		printf(" now");
		break;
	case FORS_CABLE_SLOWER:
		print_cable(nets->is, change);
		printf(" is below full width or speed");
		break;
	case FORS_CABLE_FASTER:
		print_cable(nets->is, change);
		printf(" has full width and speed again");
		break;
	case FORS_PORT_LID:
	case FORS_PORT_SM:
		print_port(nets, change);
		break;
	}
	printf("\n");
}

static size_t count_kind(const struct fors_diff *diff, int kind)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->count; i++)
		count += (int)diff->change[i].kind == kind;
	return count;
}

/*
 * The sum first: whoever looks at three in the morning may need no more. LIDs, of which many change at once, are
 * counted only.
 */
static void print_text(const struct nets *nets, const struct fors_diff *diff)
{
	const char *separator = "";

	if (!diff->count)
		printf("no difference");
	for (int kind = 0; kind < FORS_NCHANGES; kind++) {
		size_t count = count_kind(diff, kind);

		if (!count)
			continue;
		printf("%s%zu %s", separator, count, count == 1 ? words[kind].one : words[kind].many);
		separator = ", ";
	}
	printf("\n");
	for (size_t i = 0; i < diff->count; i++)
		if (diff->change[i].kind != FORS_PORT_LID)
			print_change(nets, &diff->change[i]);
}

/* --- for programs ----------------------------------------------------------------------------------------------- */

/* {"guid", "name"} of a node, of an end of a cable also {"port"}. New reference, NULL: out of memory. */
static json_t *node_to_json(const struct fors_net *net, uint32_t node, int port)
{
	char guid[24];
	json_t *object;

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, net->node[node].guid);
	object = json_pack("{s:s, s:o}", "guid", guid, "name", fors_json_text(net->node[node].desc));
	if (object && port >= 0)
		json_object_set_new(object, "port", json_integer(port));
	return object;
}

static json_t *end_to_json(const struct fors_net *net, struct fors_end end)
{
	return node_to_json(net, end.node, end.port);
}

static json_t *change_to_json(const struct nets *nets, const struct fors_change *change)
{
	const struct fors_net *net =
		change->kind == FORS_CABLE_GONE || change->kind == FORS_CABLE_MOVED ? nets->was : nets->is;
	json_t *object = json_pack("{s:s}", "kind", words[change->kind].key);
	bool is_cable = change->kind >= FORS_CABLE_GONE && change->kind <= FORS_CABLE_FASTER;

	if (!object)
		return NULL;
	if (change->a != FORS_NONE)
		json_object_set_new(object, "was", node_to_json(nets->was, change->a, -1));
	if (change->b != FORS_NONE)
		json_object_set_new(object, "is", node_to_json(nets->is, change->b, -1));
	if (change->kind == FORS_NODE_GONE || change->kind == FORS_NODE_NEW)
		json_object_set_new(object, "cables", json_integer(change->ncables));
	if (is_cable || change->kind == FORS_PORT_LID || change->kind == FORS_PORT_SM)
		json_object_set_new(object, "near", end_to_json(net, change->near));
	if (is_cable)
		json_object_set_new(object, "far", end_to_json(net, change->far));
	if (change->kind == FORS_CABLE_MOVED)
		json_object_set_new(object, "now", end_to_json(nets->is, change->now));
	return object;
}

static int print_json(const struct nets *nets, const struct fors_diff *diff)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < diff->count; i++)
		if (json_array_append_new(list, change_to_json(nets, &diff->change[i]))) {
			json_decref(list);
			list = NULL;
		}
	return cli_print_json(list ? json_pack("{s:b, s:o}", "same", diff->count == 0, "changes", list) : NULL);
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int compare(const struct nets *nets, bool is_json)
{
	struct fors_error error = {0};
	struct fors_diff diff;
	int code = CLI_GOOD;

	if (fors_net_diff(nets->was, nets->is, &diff, &error))
		return cli_fail(&error);
	if (is_json)
		code = print_json(nets, &diff);
	else
		print_text(nets, &diff);
	if (!code && diff.count)
		code = CLI_NO;
	fors_diff_clear(&diff);
	return code;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct nets nets = {0};
	int code;

	if (!strcmp(operand[0], "-") && !strcmp(operand[1], "-"))
		return cli_usage_error("standard input can be one of the two only");
	if (settings->compares_lfts)
		return cli_diff_lfts(operand[0], operand[1], settings->is_json);
	code = cli_net_named(operand[0], &nets.was);
	if (!code)
		code = cli_net_named(operand[1], &nets.is);
	if (!code)
		code = compare(&nets, settings->is_json);
	fors_net_free(nets.was);
	fors_net_free(nets.is);
	return code;
}

const struct cli_command cli_diff_command = {
	.id = CLI_CMD_DIFF,
	.name = "diff",
	.summary = "Say what changed between two fabrics: nodes, cables, speeds; or between two sets of tables",
	.usage = "[--lfts] WAS IS [--json]",
	.details = "WAS and IS are files that ibnetdiscover wrote (- is stdin),\n"
		   "or specifications as --synthetic takes them.\n"
		   "Example: ibnetdiscover | fors diff /etc/opensm/intact.txt -\n"
		   "With --lfts they are forwarding tables, each from OpenSM's dump or from dump_fts.\n"
		   "Example: dump_fts | fors diff --lfts opensm-lfts.dump -\n"
		   "The exit code is 1 when something changed.\n",
	.min_operands = 2,
	.max_operands = 2,
	.run = run,
};
