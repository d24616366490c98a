/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/owned.h"

#include <stdlib.h>
#include <string.h>

#include "cli/draw.h"
#include "cli/made.h"

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

int cli_draw_owned(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		   const struct cli_jobs *jobs)
{
	char *svg = draw(settings, site, made, jobs);
	int code = svg ? cli_write_file(settings->svg, svg, strlen(svg)) : CLI_BAD;

	free(svg);
	return code;
}
