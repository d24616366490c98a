/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/owned.h"

#include <stdlib.h>
#include <string.h>

#include "cli/draw.h"
#include "cli/made.h"
#include "core/base/text.h"
#include "core/base/unknown.h"

/* The cables of one floor, by the ports of their lower ends. */
static void list_floor(const struct fors_net *intact, const struct fors_fabric *floor, const struct fors_owners *owners,
		       uint32_t *who)
{
	for (uint32_t a = 0; a < floor->nleaves; a++)
		for (uint32_t k = 0; k < floor->nlanes; k++) {
			uint32_t node = floor->leaf[a].node, port = fors_cable(floor, a, k)->leaf_port;

			if (node != FORS_NONE && port && fors_owner(owners, a, k) != FORS_NO_JOB)
				who[intact->node[node].first_port + port] = fors_owner(owners, a, k);
		}
}

/* Whose each cable is, by the port of its lower end in the net as it was read. NULL: out of memory. */
static uint32_t *list_cables(const struct fors_net *intact, const struct cli_jobs *jobs)
{
	uint32_t *who = malloc((intact->nports + (size_t)1) * sizeof(*who));

	for (uint32_t i = 0; who && i < intact->nports; i++)
		who[i] = FORS_NONE;
	for (uint32_t f = 0; who && f < jobs->floors.count; f++)
		list_floor(intact, jobs->floors.floor[f], &jobs->tables.holdings.owners[f], who);
	return who;
}

/* The picture as text; NULL: the user has been told. */
static char *draw(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		  const struct cli_jobs *jobs)
{
	char date[CLI_DATE_ROOM], *command = cli_made_command(settings), *text = NULL;
	const char **name = calloc(jobs->list.count + (size_t)1, sizeof(*name));
	const struct fors_joblist *list = &jobs->list;
	uint32_t *who = list_cables(site->intact, jobs);
	const struct cli_colours colours = {who, name, list->count};
	const struct cli_drawing drawing = {.intact = site->intact,
					    .now = made->net,
					    .colours = &colours,
					    .title = cli_made_input(settings),
					    .date = date,
					    .command = command ? command : ""};
	struct fors_error error = {0};
	enum fors_err err = command && name && who ? FORS_OK : fors_fail_memory(&error);

	for (uint32_t j = 0; name && j < list->count; j++)
		name[j] = list->job[j].name;
	cli_made_date(date);
	if (!err)
		err = cli_draw(&drawing, false, &text, &error);
	free(command);
	free(name);
	free(who);
	if (err)
		cli_fail(&error);
	return err ? NULL : text;
}

/* --- the page --------------------------------------------------------------------------------------------------- */

static void put_text(struct fors_buffer *out, const char *text)
{
	for (; *text; text++)
		if (strchr("<>&\"", *text))
			fors_buffer_print(out, "&#%d;", *text);
		else
			fors_buffer_print(out, "%c", *text);
}

static void put_row(struct fors_buffer *out, const struct fors_jobentry *job, uint32_t number,
		    const struct cli_owned_row *row)
{
	char colour[CLI_COLOUR_ROOM];

	cli_colour_of(number, colour);
	fors_buffer_print(out, "<tr><td><i style=\"background:%s\"></i>", row->nlanes ? colour : "none");
	put_text(out, job->name);
	fors_buffer_print(out, "</td><td>%u</td><td>%u</td><td>%u</td>", job->count, job->nleaves, row->nlanes);
	if (row->phases < 0)
		fors_buffer_print(out, "<td>none</td><td></td><td></td></tr>\n");
	else
		fors_buffer_print(out, "<td>%lld</td><td>%.3f</td><td>%s</td></tr>\n", (long long)row->phases,
				  row->speed, row->whose);
}

static enum fors_err make_page(const char *title, const struct fors_joblist *list, const struct cli_owned_row *row,
			       const char *svg, char **text, size_t *size, struct fors_error *error)
{
	struct fors_buffer out = {0};

	fors_buffer_print(&out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
				"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
	put_text(&out, title);
	fors_buffer_print(
		&out,
		"</title>\n<style>body{font-family:sans-serif;color:#222;margin:1.5em}table{border-collapse:collapse;margin-bottom:1em}"
		"td,th{padding:.15em .8em;text-align:right}td:first-child,th:first-child{text-align:left;white-space:nowrap}tr{border-bottom:1px solid #ddd}"
		"i{display:inline-block;width:1.6em;height:.7em;margin-right:.5em}svg{max-width:100%%;height:auto}"
		"h1{font-size:1.35rem}.rows{overflow-x:auto}"
		"@media(max-width:520px){body{margin:.8em}table{font-size:.75rem}td,th{padding:.15em .3em}}</style></head><body><main>\n"
		"<h1>Several jobs at once</h1>\n<div class=\"rows\"><table><tr><th>job</th><th>servers</th><th>leaves</th><th>lanes of its own</th>"
		"<th>phases</th><th>speed</th><th>over</th></tr>\n");
	for (uint32_t j = 0; j < list->count; j++)
		put_row(&out, &list->job[j], j, &row[j]);
	fors_buffer_print(&out, "</table></div>\n%s</main></body></html>\n", svg);
	return fors_buffer_finish(&out, text, size, error);
}

static int write_page(const struct cli_settings *settings, const struct fors_joblist *list,
		      const struct cli_owned_row *row, const char *svg)
{
	struct fors_error error = {0};
	char *text = NULL;
	size_t size = 0;
	int code = make_page(cli_made_input(settings), list, row, svg, &text, &size, &error)
			   ? cli_fail(&error)
			   : cli_write_file(settings->html, text, size);

	free(text);
	return code;
}

int cli_draw_owned(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		   const struct cli_jobs *jobs, const struct cli_owned_row *row)
{
	char *svg = draw(settings, site, made, jobs);
	int code = svg ? CLI_GOOD : CLI_BAD;

	if (!code && settings->svg)
		code = cli_write_file(settings->svg, svg, strlen(svg));
	if (!code && settings->html)
		code = write_page(settings, &jobs->list, row, svg);
	free(svg);
	return code;
}
