/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * targets.h - what can be fuzzed.
 */
#ifndef FORS_TESTS_FUZZ_TARGETS_H
#define FORS_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
};

/* Ends with an entry without a name. */
extern const struct fuzz_target fuzz_targets[];

#endif
