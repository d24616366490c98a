/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostlist.c - one item after the other; what an item stands for is found by walking over it with a name that grows: at a []
 * once for each of its numbers, with the rest of the item behind it.
 */
#include "hostlist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 8	     /* pairs of [] in one name */
#define DIGITS_MAX 9	     /* of a number in [] */
#define NUMBER_MAX 999999999 /* what so many digits can say */

struct maker {
	struct fors_hostlist list;
	uint32_t room;
	struct fors_span text; /* all of it, for messages */
	struct fors_error *error;
	char name[FORS_HOSTNAME_ROOM]; /* so far */
};

static enum fors_err fail(const struct maker *m, enum fors_err code, const char *why)
{
	return fors_fail(m->error, code, "the list of hosts \"%.*s\": %s", fors_span_width(m->text), m->text.at, why);
}

static bool is_letter(char c)
{
	return c && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", c);
}

static enum fors_err add(struct maker *m, size_t length)
{
	if (!length)
		return fail(m, FORS_EINPUT, "a host without a name");
	if (m->list.count == FORS_HOSTLIST_MAX)
		return fail(m, FORS_ELIMIT, "more than 65,536 hosts");
	if (m->list.count == m->room) {
		uint32_t room = m->room * 2 + 16;
		void *more = realloc(m->list.name, room * sizeof(*m->list.name));

		if (!more)
			return fors_fail_memory(m->error);
		m->list.name = more;
		m->room = room;
	}
	memcpy(m->list.name[m->list.count], m->name, length);
	m->list.name[m->list.count++][length] = '\0';
	return FORS_OK;
}

static enum fors_err walk(struct maker *m, struct fors_span item, size_t length, unsigned depth);

/* "7" or "00-17" */
static bool take_range(struct fors_span *inside, uint64_t *first, uint64_t *last, int *width)
{
	const char *begin = inside->at;

	if (!fors_take_number(inside, 10, NUMBER_MAX, first) || inside->at - begin > DIGITS_MAX)
		return false;
	*width = (int)(inside->at - begin);
	*last = *first;
	return !fors_take_char(inside, '-') || fors_take_number(inside, 10, NUMBER_MAX, last);
}

/* What stands in one [], each of its numbers before the rest of the item. */
static enum fors_err walk_ranges(struct maker *m, struct fors_span inside, struct fors_span rest, size_t length,
				 unsigned depth)
{
	uint64_t first, last;
	int width;
	enum fors_err err = FORS_OK;

	do {
		if (!take_range(&inside, &first, &last, &width) || last < first)
			return fail(m, FORS_EINPUT, "numbers and ranges are expected in []");
		for (uint64_t i = first; i <= last && !err; i++) {
			int n = snprintf(m->name + length, sizeof(m->name) - length, "%0*" PRIu64, width, i);

			if ((size_t)n >= sizeof(m->name) - length)
				return fail(m, FORS_ELIMIT, "a name that is too long");
			err = walk(m, rest, length + (size_t)n, depth + 1);
		}
	} while (!err && fors_take_char(&inside, ','));
	if (!err && !fors_span_is_empty(inside))
		err = fail(m, FORS_EINPUT, "numbers and ranges are expected in []");
	return err;
}

/* The rest of an item, behind the `length` bytes of a name. */
static enum fors_err walk(struct maker *m, struct fors_span item, size_t length, unsigned depth)
{
	struct fors_span inside;

	for (; !fors_span_is_empty(item) && *item.at != '['; item.at++) {
		if (!is_letter(*item.at))
			return fail(m, FORS_EINPUT, "names are of letters, digits, '.', '_' and '-'");
		if (length + 1 >= sizeof(m->name))
			return fail(m, FORS_ELIMIT, "a name that is too long");
		m->name[length++] = *item.at;
	}
	if (fors_span_is_empty(item))
		return add(m, length);
	item.at++;
	if (depth == DEPTH_MAX || !fors_take_until(&item, ']', &inside))
		return fail(m, FORS_EINPUT, "a [ without its ], or too many of them");
	return walk_ranges(m, inside, item, length, depth);
}

/* Up to the next comma outside []. */
static struct fors_span take_item(struct fors_span *text)
{
	struct fors_span item = *text;
	bool is_inside = false;

	while (!fors_span_is_empty(*text) && (is_inside || *text->at != ',')) {
		is_inside = *text->at == '[' || (is_inside && *text->at != ']');
		text->at++;
	}
	item.end = text->at;
	fors_take_char(text, ',');
	return item;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void keep_one_of_each(struct fors_hostlist *list)
{
	uint32_t n = 0;

	if (list->count)
		qsort(list->name, list->count, sizeof(*list->name), by_name);
	for (uint32_t i = 0; i < list->count; i++)
		if (!n || strcmp(list->name[n - 1], list->name[i]))
			memmove(list->name[n++], list->name[i], sizeof(*list->name));
	list->count = n;
}

enum fors_err fors_hostlist_read(struct fors_span text, struct fors_hostlist *list, struct fors_error *error)
{
	struct maker m = {.text = text, .error = error};
	enum fors_err err = FORS_OK;

	while (!err && !fors_span_is_empty(text))
		err = walk(&m, take_item(&text), 0, 0);
	keep_one_of_each(&m.list);
	if (err)
		fors_hostlist_clear(&m.list);
	else
		*list = m.list;
	return err;
}

void fors_hostlist_clear(struct fors_hostlist *list)
{
	free(list->name);
	*list = (struct fors_hostlist){NULL, 0};
}
