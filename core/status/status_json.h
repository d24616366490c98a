/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_json.h - the status as JSON, written and read back.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_STATUS_JSON_H
#define FORS_CORE_STATUS_STATUS_JSON_H

#include <jansson.h>

#include "status.h"

/* A text as JSON, which is UTF-8: names are bytes, and where one is none all that is not ASCII is '?'. New reference, NULL: out of memory. */
json_t *fors_json_text(const char *text);
/* The warnings that are kept, as a list. Likewise. */
json_t *fors_warnings_to_json(const struct fors_warnings *warnings);

/* As an object, a new reference in *object, for who adds keys to it; FORS_STATUS_JSON are the flags to dump it with. Errors: FORS_ENOMEM. */
enum fors_err fors_status_to_json(const struct fors_status *status, json_t **object, struct fors_error *error);
#define FORS_STATUS_JSON (JSON_INDENT(2) | JSON_REAL_PRECISION(12))
/* status.json as text in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_status_json(const struct fors_status *status, char **text, struct fors_error *error);
/*
 * Read status.json back (for `fors status`) into *status, which need not be initialised; afterwards it is to
 * be cleared. Unknown keys are ignored. Errors: FORS_EINPUT, FORS_ENOMEM (*status is unchanged then).
 */
enum fors_err fors_status_parse(const char *text, const char *name, struct fors_status *status,
				struct fors_error *error);

#endif
