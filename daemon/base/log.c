/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/text.h"

#define LINE_MAX_BYTES 960

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fors_text_clean(text);
	log->write(log->context, false, text);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	int used = snprintf(text, sizeof(text), "ERR F0%02u: ", (unsigned)code);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - (size_t)used, format, args);
	va_end(args);
	fors_text_clean(text);
	log->write(log->context, true, text);
}
