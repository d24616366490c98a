/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * warnings.c - see remarks.h. The room is fixed: a list of a thousand misspelt names must not fill a log.
 */
#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>

void fors_remark(struct fors_remarks *remarks, const char *format, ...)
{
	va_list args;

	if (!remarks)
		return;
	if (remarks->count < FORS_REMARKS_MAX) {
		va_start(args, format);
		vsnprintf(remarks->text[remarks->count], FORS_REMARK_TEXT, format, args);
		va_end(args);
	}
	remarks->count++;
}
