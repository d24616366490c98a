/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failing_calls.h - malloc() and its like in place of those of libc. They return NULL when fails() says so, which whoever includes this has: static
 * bool fails(const void *caller), with the address that called, and which sets errno. To be built with -fno-builtin.
 */
#ifndef FORS_TESTS_UNIT_FAILING_CALLS_H
#define FORS_TESTS_UNIT_FAILING_CALLS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool fails(const void *caller);

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

#endif
