/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json.h - what commands that print JSON share.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_JSON_H
#define FORS_CLI_JSON_H

#include <jansson.h>

#include "core/status/status_json.h"

/* To be called first of all: from now on it is noted when there is no memory for JSON. */
void cli_json_watch(void);
/*
 * JSON as text, owned by the caller (free()); data is released. NULL when any of it, this or other, ever found no
 * memory: the user has been told.
 */
char *cli_json_dump(json_t *data, size_t flags);
/* Print data to stdout, indented, with a newline, and release it. NULL: out of memory. Returns an exit code. */
int cli_print_json(json_t *data);
/* Print the keys of a status, with as many digits as status.json has, and others set beside them; else as cli_print_json(). */
int cli_print_status_keys(json_t *data);
/* Print one value where the rest is printed by hand, and release it; "null" when it is NULL or memory runs out. */
void cli_print_json_value(json_t *value);

#endif
