/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * error.c - texts of error codes, and the one place that writes an error's text; error.h has the idea.
 *
 * A text that is too long is cut, never an error of its own, and a caller that wants none gives NULL. Texts quote what stands in
 * files, which may be anybody's, and end on terminals and in logs: what is unprintable is made harmless here, for all of them.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

const char *fors_strerror(enum fors_err code)
{
	static const char *const names[] = {
		[FORS_OK] = "no error",
		[FORS_ENOMEM] = "out of memory",
		[FORS_EINPUT] = "bad input",
		[FORS_EIO] = "input/output error",
		[FORS_ENOTREE] = "not a two-level fat-tree",
		[FORS_ENOPATH] = "leaves without a common spine",
		[FORS_ELMC] = "LMC too small",
		[FORS_ENOTAPPL] = "method not applicable",
		[FORS_ENOPLAN] = "no plan found",
		[FORS_ETIMEOUT] = "out of time",
		[FORS_ECANCELLED] = "cancelled",
		[FORS_ELIMIT] = "limit exceeded",
		[FORS_ETABLES] = "tables refuted",
	};

	if ((unsigned)code >= sizeof(names) / sizeof(names[0]) || !names[code])
		return "unknown error";
	return names[code];
}

enum fors_err fors_fail(struct fors_error *error, enum fors_err code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	fors_text_clean(error->text);
	return code;
}

enum fors_err fors_fail_memory(struct fors_error *error)
{
	return fors_fail(error, FORS_ENOMEM, "out of memory");
}
