/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.h - a list of names as an administrator writes it.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_BASE_NAMES_H
#define FORS_CORE_BASE_NAMES_H

#include <stddef.h>

#include "error.h"

/* Names as an administrator writes them: NODE, NODE[PORT], GUIDs or descriptions. */
struct fors_names {
	char **name; /* count of them, owned */
	size_t count;
};

/* Append the names of a list separated by commas. Errors: FORS_ENOMEM; the names are unchanged then. */
enum fors_err fors_names_add(struct fors_names *names, const char *list, struct fors_error *error);
void fors_names_clear(struct fors_names *names);

#endif
