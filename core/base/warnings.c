/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * warnings.c - see warnings.h. The room is fixed: a list of a thousand misspelt names must not fill a log.
 */
#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

void fors_warn(struct fors_warnings *warnings, const char *format, ...)
{
	va_list args;

	if (!warnings)
		return;
	if (warnings->count < FORS_WARNINGS_MAX) {
		va_start(args, format);
		vsnprintf(warnings->text[warnings->count], FORS_WARNING_TEXT, format, args);
		va_end(args);
		fors_text_clean(warnings->text[warnings->count]);
	}
	warnings->count++;
}

void fors_warnings_add(struct fors_warnings *to, const struct fors_warnings *from)
{
	for (unsigned i = 0; i < fors_warnings_kept(from); i++)
		fors_warn(to, "%s", from->text[i]);
	if (to)
		to->count += from->count - fors_warnings_kept(from);
}
