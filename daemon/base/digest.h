/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * digest.h - did what I saw change? The one answer for all of the plugin.
 *
 * A digest is one number that stands for much: whoever wants to act only on changes keeps the digest of what it saw
 * last. Equal digests mean "the same" for what is only told again or planned again; what is published is compared byte
 * for byte.
 * Thread rules: pure.
 */
#ifndef FORS_DAEMON_BASE_DIGEST_H
#define FORS_DAEMON_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To begin with; also the digest of nothing at all. */
#define FORS_DIGEST_EMPTY UINT64_C(0xcbf29ce484222325)
/* No digest is this: nothing was seen yet. */
#define FORS_DIGEST_NONE UINT64_C(0)

/* The digest of what came before and these bytes. */
uint64_t fors_digest(uint64_t before, const void *bytes, size_t size);
/* The same of a text and where it ends. */
uint64_t fors_digest_text(uint64_t before, const char *text);

/* Is it another one than was seen last? Seen is now this one. */
bool fors_digest_changed(uint64_t *seen, uint64_t now);

/* Is it another text? NULL is none. */
bool fors_text_changed(const char *seen, const char *now);

#endif
