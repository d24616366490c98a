/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_fabric.c - `fors fabric`: write a fabric, or its tables, for other programs. */
#include "cli/cli.h"

#include <stdlib.h>

#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/net/spec.h"

/* The canonical spelling. */
static int print_spec(const struct cli_source *source)
{
	struct fors_error error = {0};
	struct fors_spec spec = {0};
	enum fors_err err;
	char *text;

	if (!source->synthetic || source->fabric || source->ndown)
		return cli_usage_error("--format spec needs --synthetic, and can say nothing of --down");
	err = fors_spec_parse(source->synthetic, &spec, &error);
	if (err)
		return cli_fail(&error);
	err = fors_spec_format(&spec, &text, &error);
	fors_spec_clear(&spec);
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

static int print_lfts(const struct fors_net *net, const struct fors_lfts *lfts)
{
	struct fors_error error = {0};
	char *text;
	size_t size;

	if (fors_lftfile_write(net, lfts, &text, &size, &error))
		return cli_fail(&error);
	fputs(text, stdout);
	free(text);
	return CLI_GOOD;
}

/* The net as it was read; no LIDs are made up, nor has it to be a fat-tree. */
static int write_net_as_is(const struct cli_source *source)
{
	struct fors_net *net;
	int code = cli_net_load(source, &net);

	if (code)
		return code;
	code = print_net(net);
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
		       : format == CLI_FABRIC_LFTS ? print_lfts(made.net, made.lfts)
						   : print_net(made.net);
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}

/* With the tables of a model, and the LIDs that they are for. */
static int write_model(const struct cli_settings *settings)
{
	const struct cli_source *source = &settings->source;
	struct fors_net *net = NULL;
	struct fors_lfts *lfts = NULL;
	int code;

	if (settings->format != CLI_FABRIC_NET && settings->format != CLI_FABRIC_LFTS)
		return cli_usage_error("--routing goes with --format net and --format lfts");
	if (source->has_lmc)
		return cli_usage_error("--routing and --lmc exclude each other: models give one LID");
	code = cli_net_load(source, &net);
	if (!code)
		code = cli_model_tables(source, settings->routing, net, &lfts);
	if (!code)
		code = settings->format == CLI_FABRIC_LFTS ? print_lfts(net, lfts) : print_net(net);
	fors_lfts_free(lfts);
	fors_net_free(net);
	return code;
}

static int run(const struct cli_settings *settings, char **operand)
{
	if (settings->routing)
		return write_model(settings);
	if (settings->format == CLI_FABRIC_SPEC)
		return print_spec(&settings->source);
	if (settings->format == CLI_FABRIC_NET && !settings->source.has_lmc)
		return write_net_as_is(&settings->source);
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
