/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * warnings.h - what an administrator should know although nothing failed.
 * Thread rules: plain data; one writer.
 */
#ifndef FORS_CORE_BASE_WARNINGS_H
#define FORS_CORE_BASE_WARNINGS_H

#define FORS_REMARKS_MAX 8
#define FORS_REMARK_TEXT 320

/* A few sentences; all zero is none. */
struct fors_remarks {
	unsigned count; /* remarks made; those beyond FORS_REMARKS_MAX are not kept */
	char text[FORS_REMARKS_MAX][FORS_REMARK_TEXT];
};

/* Add a sentence, cut to the room there is. remarks may be NULL. */
void fors_remark(struct fors_remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remarks that are kept. */
static inline unsigned fors_remarks_kept(const struct fors_remarks *remarks)
{
	return remarks->count < FORS_REMARKS_MAX ? remarks->count : FORS_REMARKS_MAX;
}

#endif
