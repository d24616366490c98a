/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings_inside.h - what the files of the search on all floors share.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_JOBS_HOLDINGS_INSIDE_H
#define FORS_CORE_JOBS_HOLDINGS_INSIDE_H

#include "holdings.h"

/* fors_holdings_find() without borrowers. */
enum fors_err fors_holdings_share(const struct fors_holdings_task *task, struct fors_holdings *holdings,
				  struct fors_error *error);

/* Do jobs run that keep what they have, while another one waits? */
static inline bool fors_holdings_is_short(const struct fors_holdings_task *task)
{
	return task->before && !task->may_move;
}

#endif
