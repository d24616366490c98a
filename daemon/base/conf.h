/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conf.h - the lines of fors.conf: "key = value", comments, nothing else.
 */
#ifndef FORS_DAEMON_BASE_CONF_H
#define FORS_DAEMON_BASE_CONF_H

#include "core/base/error.h"

#define FORS_CONF_LINE_MAX 4096u /* bytes of a line, without its end */

/* One key with its value, both without blanks around them, the value perhaps empty; FORS_OK: go on. */
typedef enum fors_err (*fors_conf_take)(void *context, unsigned line, const char *key, const char *value);

/*
 * Take a text apart, which is spoilt by that; `path` is its name in messages. Any thread.
 * Errors, with "path:line: ": FORS_EINPUT (a line too long, a section, a line without '='), and what `take` returns.
 */
enum fors_err fors_conf_read(char *text, const char *path, fors_conf_take take, void *context,
			     struct fors_error *error);

#endif
