/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_fabric.c - `fors fabric`: write a fabric, or its tables, for other programs, or draw it.
 *
 * Each format is a text; how much has to be known of the fabric differs. A net and
 * Slurm's topology want any net, tables a fat-tree of two or three levels, status one of two. A picture is drawn of any net,
 * with loads where fors would have tables for it.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/draw.h"
#include "cli/lacking.h"
#include "cli/made.h"
#include "core/base/text.h"
#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/net/slurm.h"
#include "core/status/status_json.h"

/* The net as it was read; no LIDs are made up, nor has it to be a fat-tree. */
static int write_net_as_is(const struct cli_settings *settings, enum cli_fabric_format format)
{
	struct fors_error error = {0};
	struct fors_net *net;
	char *text;
	int code = cli_net_load(&settings->source, &net);

	if (code)
		return code;
	if (format == CLI_FABRIC_NET ? fors_netfile_write(net, &text, NULL, &error)
				     : fors_slurm_write(net, format == CLI_FABRIC_SLURM_YAML, &text, &error))
		code = cli_fail(&error);
	else
		code = cli_emit(settings, text);
	fors_net_free(net);
	return code;
}

static enum fors_err status_text(const struct cli_fabric *made, char **text, struct fors_error *error)
{
	struct fors_status status;
	enum fors_err err;

	fors_status_init(&status);
	status.tables_ms = made->tables_ms + made->check_ms;
	status.check_ms = made->check_ms;
	status.warnings = made->warnings;
	err = fors_status_tree(&status, &made->tree, error);
	if (!err)
		err = fors_status_json(&status, text, error);
	fors_status_clear(&status);
	return err;
}

static enum fors_err made_text(const struct cli_fabric *made, enum cli_fabric_format format, char **text,
			       struct fors_error *error)
{
	if (format == CLI_FABRIC_JSON)
		return status_text(made, text, error);
	if (format == CLI_FABRIC_LFTS)
		return fors_lftfile_write(made->net, made->lfts, text, NULL, error);
	return fors_netfile_write(made->net, text, NULL, error);
}

static int write_made(const struct cli_settings *settings, enum cli_fabric_format format)
{
	const struct cli_source *source = &settings->source;
	struct fors_error error = {0};
	struct cli_fabric made = {0};
	struct cli_site site;
	char *text;
	int code = cli_any_site_load(source, &site);

	if (!code && format == CLI_FABRIC_JSON && site.places)
		code = cli_fabric_make(&site, source->has_lmc, source->lmc, source->down, source->ndown, &made);
	else if (!code)
		code = cli_own_tables(&site, source, &made);
	if (!code)
		code = made_text(&made, format, &text, &error) ? cli_fail(&error) : cli_emit(settings, text);
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}

/* --- pictures ---------------------------------------------------------------------------------------------------- */

/* With tables where it is a fat-tree of two levels or three. */
static int load_now(const struct cli_source *source, const struct cli_site *site, struct cli_fabric *made)
{
	*made = (struct cli_fabric){0};
	if (site->places && !*site->neither.text)
		return cli_own_tables(site, source, made);
	return cli_site_net(site, source, &made->net);
}

static int draw(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		const struct fors_status *status, bool is_dot)
{
	char date[CLI_DATE_ROOM], *command = cli_made_command(settings), *text;
	const struct cli_drawing drawing = {.intact = site->intact,
					    .now = made->net,
					    .lfts = made->lfts,
					    .status = settings->state ? status : NULL,
					    .title = cli_made_input(settings),
					    .date = date,
					    .command = command ? command : ""};
	struct fors_error error = {0};
	enum fors_err err;

	cli_made_date(date);
	err = command ? cli_draw(&drawing, is_dot, &text, &error) : fors_fail_memory(&error);
	free(command);
	return err ? cli_fail(&error) : cli_emit(settings, text);
}

static int write_picture(const struct cli_settings *settings, bool is_dot)
{
	struct cli_fabric made = {0};
	struct fors_error error = {0};
	struct fors_status status;
	struct cli_site site;
	int code = cli_any_site_load(&settings->source, &site);

	if (!code)
		code = load_now(&settings->source, &site, &made);
	if (!code) {
		fors_status_init(&status);
		if (settings->state)
			code = cli_read_status(settings->state, &status);
		if (!code && settings->state)
			code = cli_lacking_add(&status, site.intact, made.net, &error) ? cli_fail(&error) : CLI_GOOD;
		if (!code)
			code = draw(settings, &site, &made, &status, is_dot);
		fors_status_clear(&status);
	}
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

/* What --output ends with, where that decides; NULL: nothing does. */
static const char *ending_of(const struct cli_settings *settings)
{
	return settings->output && !settings->has_format ? strrchr(settings->output, '.') : NULL;
}

/* Pictures that others can make of ours: text would be a surprise in such a file. */
static bool is_other_picture(const char *ending)
{
	static const char *const others[] = {".png", ".pdf", ".ps", ".eps", ".jpg", ".jpeg", ".gif", ".fig"};

	for (size_t i = 0; ending && i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcasecmp(ending, others[i]))
			return true;
	return false;
}

/* The format: --format, else by the ending of --output, as lstopo does it. */
static int choose_format(const struct cli_settings *settings)
{
	static const struct {
		const char *ending;
		enum cli_fabric_format format;
	} endings[] = {
		{".svg", CLI_FABRIC_SVG},	  {".dot", CLI_FABRIC_DOT},   {".gv", CLI_FABRIC_DOT},
		{".json", CLI_FABRIC_JSON},	  {".lfts", CLI_FABRIC_LFTS}, {".conf", CLI_FABRIC_SLURM},
		{".yaml", CLI_FABRIC_SLURM_YAML},
	};
	const char *dot = ending_of(settings);

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcmp(dot, endings[i].ending))
			return (int)endings[i].format;
	return settings->format;
}

static int run(const struct cli_settings *settings, char **operand)
{
	enum cli_fabric_format format = (enum cli_fabric_format)choose_format(settings);

	(void)operand;
	if (is_other_picture(ending_of(settings)))
		return cli_usage_error("no %s here, only .svg and .dot; of the latter: dot -T%s", ending_of(settings),
				       ending_of(settings) + 1);
	if (settings->state && format != CLI_FABRIC_SVG && format != CLI_FABRIC_DOT)
		return cli_usage_error("--state is for pictures: --format svg or dot");
	if (settings->routing)
		return cli_write_model(settings, (int)format);
	switch (format) {
	case CLI_FABRIC_SLURM:
	case CLI_FABRIC_SLURM_YAML:
		return write_net_as_is(settings, format);
	case CLI_FABRIC_SVG:
	case CLI_FABRIC_DOT:
		return write_picture(settings, format == CLI_FABRIC_DOT);
	case CLI_FABRIC_NET:
		if (!settings->source.has_lmc)
			return write_net_as_is(settings, format);
		break;
	case CLI_FABRIC_JSON:
	case CLI_FABRIC_LFTS:
		break;
	}
	return write_made(settings, format);
}

const struct cli_command cli_fabric_command = {
	.id = CLI_CMD_FABRIC,
	.name = "fabric",
	.summary = "Write a fabric or its forwarding tables as text, or draw it",
	.usage = "(--fabric FILE | --synthetic SPEC) [OPTION]...",
	.details = "Examples: fors fabric --synthetic 'FT(2;20,18)' > net && ibsim -s net\n"
		   "          ibnetdiscover | fors fabric --fabric - --output fabric.svg\n",
	.run = run,
};
