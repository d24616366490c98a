/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.h - what will happen next, or what somebody has to do.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_ADVICE_H
#define FORS_CORE_STATUS_ADVICE_H

#include "status.h"

/*
 * What will happen next, or what somebody has to do, in one sentence in `text` (`room` bytes, cut to them).
 * unix_ms: now.
 */
void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room);

#endif
