/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/base/print.h"

#include <endian.h>
#include <string.h>
#include <zlib.h>

struct fors_print fors_print_none(void)
{
	return (struct fors_print){.crc = (uint32_t)crc32(0, Z_NULL, 0), .adler = (uint32_t)adler32(0, Z_NULL, 0)};
}

/* The numbers that wait, into both sums. */
static void sum_up(struct fors_print *print)
{
	print->crc = (uint32_t)crc32(print->crc, print->waiting, print->nwaiting);
	print->adler = (uint32_t)adler32(print->adler, print->waiting, print->nwaiting);
	print->nwaiting = 0;
}

void fors_print_add(struct fors_print *print, uint64_t number)
{
	uint64_t bytes = htole64(number);

	if (print->nwaiting == sizeof(print->waiting))
		sum_up(print);
	memcpy(print->waiting + print->nwaiting, &bytes, sizeof(bytes));
	print->nwaiting += (uint32_t)sizeof(bytes);
}

uint64_t fors_print_value(struct fors_print print)
{
	sum_up(&print);
	return (uint64_t)print.crc << 32 | print.adler;
}
