/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * opensm.h - the only place that includes OpenSM's headers, because their order matters.
 *
 * osm_subnet.h and osm_stats.h leave out fields of their structures when osm_config.h was not
 * included before them, and do not include it themselves: a plugin that
 * gets this wrong compiles, loads, and reads all later fields at the wrong place.
 */
#ifndef FORS_PLUGIN_OPENSM_H
#define FORS_PLUGIN_OPENSM_H

#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_port.h>
#include <opensm/osm_subnet.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_ucast_cache.h>
#include <opensm/osm_version.h>

#endif
