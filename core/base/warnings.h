/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * warnings.h - what an administrator should know although nothing failed.
 * Thread rules: plain data; one writer.
 */
#ifndef FORS_CORE_BASE_WARNINGS_H
#define FORS_CORE_BASE_WARNINGS_H

#define FORS_WARNINGS_MAX 8
#define FORS_WARNING_TEXT 320

/* A few sentences; all zero is none. */
struct fors_warnings {
	unsigned count; /* warnings made; those beyond FORS_WARNINGS_MAX are not kept */
	char text[FORS_WARNINGS_MAX][FORS_WARNING_TEXT];
};

/* Add a sentence, cut to the room there is. warnings may be NULL. */
void fors_warn(struct fors_warnings *warnings, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All that `from` says, said in `to` (NULL: nowhere) too. */
void fors_warnings_add(struct fors_warnings *to, const struct fors_warnings *from);

/* Warnings that are kept. */
static inline unsigned fors_warnings_kept(const struct fors_warnings *warnings)
{
	return warnings->count < FORS_WARNINGS_MAX ? warnings->count : FORS_WARNINGS_MAX;
}

#endif
