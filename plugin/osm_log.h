/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * osm_log.h - OpenSM's log as the daemon's.
 *
 * osm_log() formats into 4,096 bytes without looking, inside a root daemon. So nobody else in fors calls it: daemon/base/log.h
 * cuts every line first.
 */
#ifndef FORS_PLUGIN_OSM_LOG_H
#define FORS_PLUGIN_OSM_LOG_H

#include "daemon/base/log.h"

struct osm_log;

/* "fors: text" in OpenSM's log, borrowed: at level ERROR, or at level INFO, which OpenSM writes by default. */
struct fors_log fors_osm_log(struct osm_log *log);

#endif
