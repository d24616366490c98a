/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spec_text.c - the words, numbers and lists of which specifications are made. */
#include "spec_text.h"

#include <stdlib.h>
#include <string.h>

struct fors_spec_text fors_spec_text(const char *text, const char *hint, struct fors_error *error)
{
	return (struct fors_spec_text){
		.rest = {text, text + strlen(text)}, .start = text, .hint = hint, .error = error};
}

enum fors_err fors_spec_fail(const struct fors_spec_text *p, const char *what)
{
	return fors_fail(p->error, FORS_EINPUT, "\"%.100s\", character %d: %s; %s", p->start,
			 (int)(p->rest.at - p->start) + 1, what, p->hint);
}

bool fors_spec_take(struct fors_spec_text *p, const char *word)
{
	fors_skip_blanks(&p->rest);
	return fors_take_word(&p->rest, word);
}

bool fors_spec_take_key(struct fors_spec_text *p, const char *key, bool *has_key)
{
	const char *start = p->rest.at;

	if (*has_key || !fors_spec_take(p, key))
		return false;
	*has_key = fors_spec_take(p, "=");
	if (!*has_key)
		p->rest.at = start;
	return *has_key;
}

enum fors_err fors_spec_take_number(struct fors_spec_text *p, uint32_t least, uint32_t *number)
{
	const char *start;
	uint64_t value;

	fors_skip_blanks(&p->rest);
	start = p->rest.at;
	if (!fors_take_number(&p->rest, 10, UINT64_MAX, &value)) {
		if (fors_span_is_empty(p->rest) || *start < '0' || *start > '9')
			return fors_spec_fail(p, "a number is missing");
		value = UINT64_MAX;
	}
	if (value > FORS_SPEC_MOST)
		return fors_fail(p->error, FORS_ELIMIT, "\"%.100s\", character %d: the number is larger than %u",
				 p->start, (int)(start - p->start) + 1, FORS_SPEC_MOST);
	if (value < least) {
		p->rest.at = start;
		return fors_spec_fail(p, "the number must be at least 1");
	}
	*number = (uint32_t)value;
	return FORS_OK;
}

static enum fors_err add_slot(struct fors_spec_text *p, struct fors_empty_slots *slots, struct fors_tree_slot slot)
{
	if ((slots->count & (slots->count - 1)) == 0) { /* full at every power of two */
		size_t room = slots->count ? 2 * slots->count : 1;
		struct fors_tree_slot *larger = realloc(slots->slot, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(p->error);
		slots->slot = larger;
	}
	slots->slot[slots->count++] = slot;
	return FORS_OK;
}

enum fors_err fors_spec_take_slots(struct fors_spec_text *p, struct fors_empty_slots *slots)
{
	do {
		struct fors_tree_slot slot;
		enum fors_err err = fors_spec_take_number(p, 0, &slot.leaf);

		if (!err && !fors_spec_take(p, "/"))
			err = fors_spec_fail(p, "a / and the slot are missing");
		if (!err)
			err = fors_spec_take_number(p, 0, &slot.slot);
		if (!err)
			err = add_slot(p, slots, slot);
		if (err)
			return err;
	} while (fors_spec_take(p, ","));
	return FORS_OK;
}

enum fors_err fors_spec_take_end(struct fors_spec_text *p, const char *missing)
{
	if (!fors_spec_take(p, ")"))
		return fors_spec_fail(p, missing);
	fors_skip_blanks(&p->rest);
	return fors_span_is_empty(p->rest) ? FORS_OK : fors_spec_fail(p, "something follows the )");
}

/* ---- empty slots ---- */

static int compare_slots(const void *a, const void *b)
{
	const struct fors_tree_slot *x = a, *y = b;

	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

void fors_empty_slots_sort(struct fors_empty_slots *slots)
{
	size_t kept = 0;

	if (slots->count == 0)
		return;
	qsort(slots->slot, slots->count, sizeof(*slots->slot), compare_slots);
	for (size_t i = 1; i < slots->count; i++)
		if (compare_slots(&slots->slot[i], &slots->slot[kept]))
			slots->slot[++kept] = slots->slot[i];
	slots->count = kept + 1;
}

void fors_empty_slots_clear(struct fors_empty_slots *slots)
{
	free(slots->slot);
	*slots = (struct fors_empty_slots){0};
}

enum fors_err fors_empty_slots_check(const struct fors_empty_slots *slots, const char *what, uint32_t count,
				     uint32_t each, struct fors_error *error)
{
	for (size_t i = 0; i < slots->count; i++)
		if (slots->slot[i].leaf >= count || slots->slot[i].slot >= each)
			return fors_fail(error, FORS_EINPUT, "empty=%u/%u: %s are numbered 0 to %u and slots 0 to %u",
					 slots->slot[i].leaf, slots->slot[i].slot, what, count - 1, each - 1);
	return FORS_OK;
}
