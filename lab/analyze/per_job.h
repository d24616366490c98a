/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * per_job.h - `fors analyze --jobs FILE --pattern per-job-...`: all jobs at the same time, each with a clock of its own.
 */
#ifndef FORS_LAB_ANALYZE_PER_JOB_H
#define FORS_LAB_ANALYZE_PER_JOB_H

#include "cli/options.h"

/* Is --pattern one of them? */
bool cli_is_per_job(const struct cli_settings *settings);
/* Analyze, tell. Returns an exit code. */
int cli_analyze_per_job(const struct cli_settings *settings);

#endif
