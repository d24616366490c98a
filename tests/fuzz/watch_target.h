/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watch_target.h - what a fabric answers `fors watch`, as bytes of the wire. */
#ifndef FORS_TESTS_FUZZ_WATCH_TARGET_H
#define FORS_TESTS_FUZZ_WATCH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool fuzz_watch(const uint8_t *data, size_t size);

#endif
