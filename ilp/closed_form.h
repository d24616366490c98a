/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form.h - the schedule of the FORS paper, for methods that choose its lanes themselves.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_CLOSED_FORM_H
#define FORS_CORE_PLANNERS_CLOSED_FORM_H

#include "core/planners/method.h"

/*
 * The closed form's schedule without lanes (path 0, FORS_NO_LANE between leaves too), for whoever chooses
 * them himself: it needs no good lanes and no LMC. Errors: as struct fors_method, FORS_ELMC excepted.
 */
enum fors_err fors_closed_form_schedule(const struct fors_task *task, struct fors_schedule **schedule,
					struct fors_error *error);

#endif
