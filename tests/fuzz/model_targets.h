/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model_targets.h - the targets of lab/model/, for the list in targets.c. Each as struct fuzz_target's run. */
#ifndef FORS_TESTS_FUZZ_MODEL_TARGETS_H
#define FORS_TESTS_FUZZ_MODEL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool fuzz_tables(const uint8_t *data, size_t size);
bool fuzz_pattern(const uint8_t *data, size_t size);
bool fuzz_jobs(const uint8_t *data, size_t size);
bool fuzz_blocks(const uint8_t *data, size_t size);

#endif
