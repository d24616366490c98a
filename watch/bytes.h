/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bytes.h - numbers as the wire has them, the most significant byte first. Pure. */
#ifndef FORS_WATCH_BYTES_H
#define FORS_WATCH_BYTES_H

#include <stdint.h>

static inline uint16_t fors_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t fors_get32(const uint8_t *at)
{
	return (uint32_t)fors_get16(at) << 16 | fors_get16(at + 2);
}

static inline uint64_t fors_get64(const uint8_t *at)
{
	return (uint64_t)fors_get32(at) << 32 | fors_get32(at + 4);
}

static inline void fors_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void fors_put32(uint8_t *at, uint32_t value)
{
	fors_put16(at, (uint16_t)(value >> 16));
	fors_put16(at + 2, (uint16_t)value);
}

static inline void fors_put64(uint8_t *at, uint64_t value)
{
	fors_put32(at, (uint32_t)(value >> 32));
	fors_put32(at + 4, (uint32_t)value);
}

#endif
