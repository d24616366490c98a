/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz.c - the targets under libFuzzer: FORS_FUZZ_TARGET=NAME fuzz [OPTION]... CORPUS...
 *
 * Linked by clang with -fsanitize=fuzzer, in a build configured with --enable-sanitizers=fuzzer.
 */
#include <stdlib.h>

#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_target *target;

	if (!target)
		target = fuzz_find(getenv("FORS_FUZZ_TARGET"));
	target->run(data, size);
	return 0;
}
