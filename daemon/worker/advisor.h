/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advisor.h - what to mend first, worked out beside everything else.
 *
 * A thread of its own, as nice as can be: it plans for the fabric as it would be with this cable mended, or that one,
 * while worker and OpenSM go on as if it were not there. It has copies of all that it reads; it holds no lock while it
 * plans, and touches no file. Nobody ever waits for it. One question at a time: a newer one, or a look at another
 * fabric, breaks it off within milliseconds.
 * Threads: any, for all functions but fors_advisor_start() and fors_advisor_stop().
 */
#ifndef FORS_DAEMON_WORKER_ADVISOR_H
#define FORS_DAEMON_WORKER_ADVISOR_H

#include "core/status/status.h"
#include "daemon/look/look.h"

#define FORS_ADVISOR_MS 10000u /* processor time for a question; what is left then is "untried" */
#define FORS_ADVISOR_SERVERS                                                                                           \
	4096u /* larger fabrics are not looked at: a plan takes memory, and opensm shall not need twice as much */

struct fors_advisor;

struct fors_log;

/* Start the thread. The log, which has to live as long, gets a line when memory is short. Errors: FORS_ENOMEM. */
enum fors_err fors_advisor_start(struct fors_log *log, struct fors_advisor **advisor, struct fors_error *error);

/*
 * What to mend first in the look's fabric (copied), where the plan has so many phases? `basis` comes back with the
 * answer. In place of what was asked before, unless that was the same basis and its answer is still to be taken. When
 * memory is short there is no answer, the log says so, and whoever asks once more gets one.
 */
void fors_advisor_ask(struct fors_advisor *advisor, const struct fors_look *look, uint32_t phases, uint64_t basis);

/*
 * This is how the fabric looks now: unless it is the one that was asked about, the question is dropped. A look without
 * a fabric says nothing.
 */
void fors_advisor_look(struct fors_advisor *advisor, const struct fors_look *look);

/* Take the answer, once: the best repairs in *gains, and the basis. False: there is none. */
bool fors_advisor_take(struct fors_advisor *advisor, struct fors_gains *gains, uint64_t *basis);

/* Break off, and end the thread. NULL is allowed. */
void fors_advisor_stop(struct fors_advisor *advisor);

#endif
