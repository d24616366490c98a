/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * print.h - fingerprints: one number that is another one when any of many numbers is.
 *
 * Two of zlib's checksums over the same bytes, side by side: a single one has only 32 bits. Whoever compares fingerprints
 * takes equal ones for the same fabric, or the same ways; nothing is published on that alone. Equal on any machine.
 * Numbers are summed up some at a time, since a call of zlib for each costs three times as much.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_BASE_PRINT_H
#define FORS_CORE_BASE_PRINT_H

#include <stdint.h>

struct fors_print {
	uint32_t crc, adler; /* of the numbers that do not wait any more */
	uint32_t nwaiting;   /* bytes of those that do */
	unsigned char waiting[512];
};

/* That of nothing. */
struct fors_print fors_print_none(void);
/* One number more. */
void fors_print_add(struct fors_print *print, uint64_t number);
uint64_t fors_print_value(struct fors_print print);

#endif
