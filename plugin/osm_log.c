/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "osm_log.h"

#include "opensm.h"

static void write_line(void *context, bool is_error, const char *line)
{
	osm_log(context, is_error ? OSM_LOG_ERROR : OSM_LOG_INFO, "fors: %s\n", line);
}

struct fors_log fors_osm_log(struct osm_log *log)
{
	return (struct fors_log){.write = write_line, .context = log};
}
