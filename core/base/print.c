/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/base/print.h"

#include <zlib.h>

struct fors_print fors_print_none(void)
{
	return (struct fors_print){(uint32_t)crc32(0, Z_NULL, 0), (uint32_t)adler32(0, Z_NULL, 0)};
}

void fors_print_add(struct fors_print *print, uint64_t number)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
	print->crc = (uint32_t)crc32(print->crc, bytes, sizeof(bytes));
	print->adler = (uint32_t)adler32(print->adler, bytes, sizeof(bytes));
}

uint64_t fors_print_value(struct fors_print print)
{
	return (uint64_t)print.crc << 32 | print.adler;
}
