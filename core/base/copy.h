/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* copy.h - a copy of an array. Thread rules: pure. */
#ifndef FORS_CORE_BASE_COPY_H
#define FORS_CORE_BASE_COPY_H

#include <stdlib.h>
#include <string.h>

/* `count` elements of `size` bytes, owned by the caller, never an array of none; NULL: out of memory. */
static inline void *fors_copy_array(const void *from, size_t count, size_t size)
{
	void *to = malloc((count + 1) * size);

	if (to && count)
		memcpy(to, from, count * size);
	return to;
}

#endif
