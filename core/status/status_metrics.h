/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_metrics.h - the status as metrics for Prometheus.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_STATUS_METRICS_H
#define FORS_CORE_STATUS_STATUS_METRICS_H

#include "status.h"

/* metrics.prom as text in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_status_prom(const struct fors_status *status, char **text, struct fors_error *error);

#endif
