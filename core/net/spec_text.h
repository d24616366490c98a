/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spec_text.h - what the readers of specifications share: numbers, words, lists of empty slots, and errors that say where.
 * Private to core/net. Thread rules: pure.
 */
#ifndef FORS_CORE_NET_SPEC_TEXT_H
#define FORS_CORE_NET_SPEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/text.h"

#define FORS_SPEC_MOST 65535 /* the largest number */

/* A place of a switch, from 0. */
struct fors_tree_slot {
	uint32_t leaf, slot;
};

/* Slots without a server; sorted, no duplicates, once fors_empty_slots_sort() was called. All zero: none. */
struct fors_empty_slots {
	size_t count;
	struct fors_tree_slot *slot; /* owned */
};

/* A specification that is being read: what is left of it, where it starts, and how such a thing is written. */
struct fors_spec_text {
	struct fors_span rest;
	const char *start, *hint;
	struct fors_error *error;
};

/* The beginning of `text`. */
struct fors_spec_text fors_spec_text(const char *text, const char *hint, struct fors_error *error);
/* FORS_EINPUT that shows where in the specification the reader stands. */
enum fors_err fors_spec_fail(const struct fors_spec_text *p, const char *what);
/* This word, blanks before it allowed. */
bool fors_spec_take(struct fors_spec_text *p, const char *word);
/* The word `key` and its = sign, which may come once: *has_key says whether it came. */
bool fors_spec_take_key(struct fors_spec_text *p, const char *key, bool *has_key);
/* A number from `least` (0 or 1) on. Errors: FORS_EINPUT, FORS_ELIMIT. */
enum fors_err fors_spec_take_number(struct fors_spec_text *p, uint32_t least, uint32_t *number);
/* LEAF/SLOT,... Errors: FORS_EINPUT, FORS_ELIMIT, FORS_ENOMEM; the list is to be freed in any case. */
enum fors_err fors_spec_take_slots(struct fors_spec_text *p, struct fors_empty_slots *slots);
/* ")" and nothing after it; `missing` is what is said when there is none. */
enum fors_err fors_spec_take_end(struct fors_spec_text *p, const char *missing);

void fors_empty_slots_sort(struct fors_empty_slots *slots);
void fors_empty_slots_clear(struct fors_empty_slots *slots);
/* Each slot exists: `what` ("leaves") have `each` of them. Errors: FORS_EINPUT. */
enum fors_err fors_empty_slots_check(const struct fors_empty_slots *slots, const char *what, uint32_t count,
				     uint32_t each, struct fors_error *error);
#endif
