/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - the page that --html writes.
 * Thread rules: one thread.
 */
#ifndef FORS_LAB_PAGE_PAGE_H
#define FORS_LAB_PAGE_PAGE_H

#include <jansson.h>

#include "cli/options.h"

/*
 * Write the self-contained page for `data` (which is released; NULL: out of memory) to the file that --html names,
 * with when and by which command it was made. Returns an exit code.
 */
int cli_write_page(const struct cli_settings *settings, json_t *data);

#endif
