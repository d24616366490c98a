/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last look into opensm.conf: whoever takes the plugin out of it, and restarts opensm, does not miss a heartbeat.
 *
 * A file that is not there, or cannot be read, says nothing; and what it does not say in the way that OpenSM reads it does not count.
 */
#include "config.h"

#include "daemon_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does a line "event_plugin_name NAME..." name fors? */
static bool names_fors(char *line)
{
	char *rest, *word = strtok_r(line, " \t\n", &rest);

	if (!word || strcmp(word, "event_plugin_name") != 0)
		return false;
	while ((word = strtok_r(NULL, " \t\n,", &rest)))
		if (!strcmp(word, "fors"))
			return true;
	return false;
}

void fors_daemon_note_end(struct fors_daemon *daemon, const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	bool is_named = false;
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;
	while (!is_named && getline(&line, &room, file) >= 0)
		is_named = names_fors(line);
	if (!is_named && !ferror(file) && daemon->worker)
		fors_worker_note_leaving(daemon->worker);
	free(line);
	fclose(file);
}
