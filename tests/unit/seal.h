/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seal.h - a schedule file whose bytes were changed gets right checksums again, so that tests reach what is behind
 * them.
 */
#ifndef FORS_TESTS_SEAL_H
#define FORS_TESTS_SEAL_H

#include <stddef.h>

/* `data` is aligned for struct fors_sf_header and may hold anything; too short for a header, it is left alone. */
void seal(unsigned char *data, size_t size);

/* The checksum of the demand of a file of version 3, before seal(). */
void seal_demand(unsigned char *data, size_t size);

#endif
