/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_fabric.c - `fors fabric`: write a fabric, or its tables, for other programs. */
#include "cli/cli.h"

#include <stdlib.h>

#include "core/net/lftfile.h"
#include "core/net/netfile.h"
#include "core/net/slurm.h"
#include "core/net/tree_spec.h"

/* The canonical spelling. */
static int print_spec(const struct cli_source *source)
{
	struct fors_error error = {0};
	struct fors_tree_spec spec = {0};
	enum fors_err err;
	char *text;

	if (!source->synthetic || source->fabric || source->ndown)
		return cli_usage_error("--format spec needs --synthetic, and can say nothing of --down");
	err = fors_tree_spec_parse(source->synthetic, &spec, &error);
	if (err)
		return cli_fail(&error);
	err = fors_tree_spec_format(&spec, &text, &error);
	fors_tree_spec_clear(&spec);
	if (err)
		return cli_fail(&error);
	printf("%s\n", text);
	free(text);
	return CLI_GOOD;
}

static int print_json(const struct cli_fabric *made)
{
	struct fors_error error = {0};
	struct fors_status status;
	int code;

	fors_status_init(&status);
	status.tables_ms = made->tables_ms;
	if (fors_status_fabric(&status, made->fabric, &error))
		return cli_fail(&error);
	code = cli_print_status_json(&status);
	fors_status_clear(&status);
	return code;
}

static int print_net(const struct fors_net *net)
{
	struct fors_error error = {0};
	char *text;
	size_t size;

	if (fors_netfile_write(net, &text, &size, &error))
		return cli_fail(&error);
	fputs(text, stdout);
	free(text);
	return CLI_GOOD;
}

static int print_lfts(const struct cli_fabric *made)
{
	struct fors_error error = {0};
	char *text;
	size_t size;

	if (fors_lftfile_write(made->net, made->lfts, &text, &size, &error))
		return cli_fail(&error);
	fputs(text, stdout);
	free(text);
	return CLI_GOOD;
}

static int print_slurm(const struct fors_net *net, bool is_yaml)
{
	struct fors_error error = {0};
	char *text;

	if (fors_slurm_write(net, is_yaml, &text, &error))
		return cli_fail(&error);
	fputs(text, stdout);
	free(text);
	return CLI_GOOD;
}

/* The net as it was read; no LIDs are made up, nor has it to be a fat-tree. */
static int write_net_as_is(const struct cli_source *source, enum cli_fabric_format format)
{
	struct fors_net *net;
	int code = cli_net_load(source, &net);

	if (code)
		return code;
	code = format == CLI_FABRIC_NET ? print_net(net) : print_slurm(net, format == CLI_FABRIC_SLURM_YAML);
	fors_net_free(net);
	return code;
}

static int write_made(const struct cli_source *source, enum cli_fabric_format format)
{
	struct cli_fabric made = {0};
	struct cli_site site;
	int code = cli_site_load(source, &site);

	if (!code)
		code = cli_fabric_make(&site, source->has_lmc, source->lmc, source->down, source->ndown, &made);
	if (!code)
		code = format == CLI_FABRIC_JSON   ? print_json(&made)
		       : format == CLI_FABRIC_LFTS ? print_lfts(&made)
						   : print_net(made.net);
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}

/* Needs the answer neither LIDs nor a fat-tree? */
static bool is_of_any_net(const struct cli_settings *settings)
{
	return (settings->format == CLI_FABRIC_NET && !settings->source.has_lmc) ||
	       settings->format == CLI_FABRIC_SLURM || settings->format == CLI_FABRIC_SLURM_YAML;
}

static int run(const struct cli_settings *settings, char **operand)
{
	if (settings->format == CLI_FABRIC_SPEC)
		return print_spec(&settings->source);
	if (is_of_any_net(settings))
		return write_net_as_is(&settings->source, (enum cli_fabric_format)settings->format);
	return write_made(&settings->source, (enum cli_fabric_format)settings->format);
}

const struct cli_command cli_fabric_command = {
	.id = CLI_CMD_FABRIC,
	.name = "fabric",
	.summary = "Write a fabric or its forwarding tables as text",
	.usage = "(--fabric FILE | --synthetic SPEC) [OPTION]...",
	.details = "Example: fors fabric --synthetic 'FT(2;20,18)' > net && ibsim -s net\n",
	.run = run,
};
