/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* digest.c - FNV-1a, by words where there are many bytes (forwarding tables have some 100 kB). */
#include "digest.h"

#include <string.h>

#define PRIME UINT64_C(0x100000001b3)

uint64_t fors_digest(uint64_t before, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t digest = before;

	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), p += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		digest = (digest ^ word) * PRIME;
		digest ^= digest >> 29;
	}
	while (size--)
		digest = (digest ^ *p++) * PRIME;
	return digest == FORS_DIGEST_NONE ? 1 : digest;
}

uint64_t fors_digest_text(uint64_t before, const char *text)
{
	return fors_digest(before, text, strlen(text) + 1);
}

bool fors_digest_changed(uint64_t *seen, uint64_t now)
{
	bool is_changed = *seen != now;

	*seen = now;
	return is_changed;
}

bool fors_text_changed(const char *seen, const char *now)
{
	return (seen != NULL) != (now != NULL) || (seen && strcmp(seen, now));
}
