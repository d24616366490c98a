/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulate_target.h - the target of the options of `fors simulate`, for the list in targets.c. As struct fuzz_target's run. */
#ifndef FORS_TESTS_FUZZ_SIMULATE_TARGET_H
#define FORS_TESTS_FUZZ_SIMULATE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool fuzz_simulate(const uint8_t *data, size_t size);

#endif
