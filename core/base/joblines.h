/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * joblines.h - a file of jobs, line by line: who works together, whatever the members are.
 *
 *      NAME: MEMBER, MEMBER, ...
 *      NAME [MARK]: MEMBER, ...        # a comment; MARK may be a list of words, with commas too
 *
 * NAME and MARK have no ':'; a member has no ','. Blanks around all of them are left out, empty lines and members too.
 * Thread rules: plain data; nothing is copied, spans point into the text.
 */
#ifndef FORS_CORE_BASE_JOBLINES_H
#define FORS_CORE_BASE_JOBLINES_H

#include "text.h"

struct fors_jobline {
	struct fors_span name, mark; /* mark: what stands in [], empty: there is none */
	struct fors_span members;    /* what is not taken yet */
};

/*
 * The next job in *job, or *is_there false at the end of the text. Errors: FORS_EINPUT "name:line: ..." when a line is none.
 */
enum fors_err fors_jobline_next(struct fors_lines *lines, struct fors_jobline *job, bool *is_there,
				struct fors_error *error);
/* The next member, or false: there are no more. */
bool fors_jobline_member(struct fors_jobline *job, struct fors_span *member);

#endif
