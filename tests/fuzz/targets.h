/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * targets.h - what can be fuzzed: everything in fors that reads a file.
 *
 * Three programs run the targets: fuzz (libFuzzer, needs clang), mutate (any compiler), and
 * test_corpus (make check: the seeds and all inputs that once were trouble).
 */
#ifndef FORS_TESTS_FUZZ_TARGETS_H
#define FORS_TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	/* Read these bytes, and go on with what they say as far as it is small. True when they were accepted. */
	bool (*run)(const uint8_t *data, size_t size);
	const char *folder; /* of seeds below corpus/, NULL: the one that has its name, if any */
	bool is_part;	    /* of a file; another one may be wrong */
};

/* Ends with an entry without a name. */
extern const struct fuzz_target fuzz_targets[];

/* The target of this name; the program ends with a message when there is none. */
const struct fuzz_target *fuzz_find(const char *name);

#endif
