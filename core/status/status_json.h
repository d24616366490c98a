/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_json.h - the status as JSON, written and read back.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_STATUS_JSON_H
#define FORS_CORE_STATUS_STATUS_JSON_H

#include "status.h"

/* status.json as text in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_status_json(const struct fors_status *status, char **text, struct fors_error *error);
/*
 * Read status.json back (for `fors status`) into *status, which need not be initialised; afterwards it is to
 * be cleared. Unknown keys are ignored. Errors: FORS_EINPUT, FORS_ENOMEM (*status is unchanged then).
 */
enum fors_err fors_status_parse(const char *text, const char *name, struct fors_status *status,
				struct fors_error *error);

#endif
