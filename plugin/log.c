/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/text.h"
#include "opensm.h"

#define LINE_MAX_BYTES 960

void fors_log_info(struct osm_log *log, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fors_text_clean(text);
	osm_log(log, OSM_LOG_INFO, "fors: %s\n", text);
}

void fors_log_error(struct osm_log *log, enum fors_code code, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fors_text_clean(text);
	osm_log(log, OSM_LOG_ERROR, "fors: ERR F0%02u: %s\n", (unsigned)code, text);
}
