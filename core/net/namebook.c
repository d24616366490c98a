/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namebook.c - one list, by name. Learning goes over it and over the directory once each, n log n, and works on a copy, so that
 * nothing is half learnt.
 */
#include "namebook.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/base/copy.h"
#include "namebook_inside.h"

struct fors_namebook *fors_namebook_new(void)
{
	return calloc(1, sizeof(struct fors_namebook));
}

void fors_namebook_free(struct fors_namebook *book)
{
	if (!book)
		return;
	free(book->entry);
	free(book);
}

uint32_t fors_namebook_count(const struct fors_namebook *book)
{
	return book->count;
}

enum fors_err name_append(struct fors_namebook *book, const struct name_entry *entry, struct fors_error *error)
{
	struct name_entry *more;
	uint32_t room = book->room * 2 + 16;

	if (book->count == FORS_NAMEBOOK_MAX)
		return fors_fail(error, FORS_ELIMIT, "more than %u names", FORS_NAMEBOOK_MAX);
	if (book->count == book->room) {
		more = realloc(book->entry, room * sizeof(*more));
		if (!more)
			return fors_fail_memory(error);
		book->entry = more;
		book->room = room;
	}
	book->entry[book->count++] = *entry;
	return FORS_OK;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct name_entry *)left)->name, ((const struct name_entry *)right)->name);
}

void name_sort(struct fors_namebook *book)
{
	if (book->count)
		qsort(book->entry, book->count, sizeof(*book->entry), by_name);
}

/* Among the first `count`, which are in order. */
static struct name_entry *find(const struct fors_namebook *book, uint32_t count, const char *name)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(book->entry[middle].name, name);

		if (!order)
			return &book->entry[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static enum fors_err copy_book(const struct fors_namebook *book, struct fors_namebook *copy, struct fors_error *error)
{
	*copy = *book;
	copy->entry = fors_copy_array(book->entry, book->count, sizeof(*book->entry));
	copy->room = book->count;
	return copy->entry ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_namebook_copy(const struct fors_namebook *book, struct fors_namebook **copy,
				 struct fors_error *error)
{
	struct fors_namebook *made = fors_namebook_new();
	enum fors_err err = made ? copy_book(book, made, error) : fors_fail_memory(error);

	if (err)
		free(made);
	else
		*copy = made;
	return err;
}

/* The copy was changed: it replaces the book, or is dropped. */
static enum fors_err end_copy(struct fors_namebook *book, struct fors_namebook *copy, enum fors_err err)
{
	free(err ? copy->entry : book->entry);
	if (!err)
		*book = *copy;
	return err;
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* The owner is this node, and was seen at the first switch port that it is plugged in at. */
static void see_place(struct name_entry *entry, const struct fors_net *net, uint32_t node)
{
	entry->guid = net->node[node].guid;
	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		const struct fors_port *port = fors_net_port(net, node, p);

		if (port->peer == FORS_NONE || net->node[port->peer].type != FORS_SWITCH)
			continue;
		entry->port_guid = port->guid;
		entry->place = (struct name_place){net->node[port->peer].guid, port->peer_port};
		return;
	}
}

/* Is it plugged in there, by any of its ports? */
static bool is_at(const struct fors_net *net, uint32_t node, struct name_place place)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		const struct fors_port *port = fors_net_port(net, node, p);

		if (place.sw && port->peer != FORS_NONE && net->node[port->peer].guid == place.sw &&
		    port->peer_port == place.port)
			return true;
	}
	return false;
}

/* The only node that has a name; FORS_NONE: none, or several. */
static uint32_t only_one(const struct fors_directory *now, const char *name)
{
	uint32_t first;

	return fors_directory_desc(now, name, &first) == 1 ? now->by_desc[first] : FORS_NONE;
}

/* What has become of the owner of a name. */
static void see_owner(struct name_entry *entry, const struct fors_directory *now, uint32_t *nreplaced)
{
	uint32_t node = fors_directory_guid(now, entry->guid);

	if (node == FORS_NONE) {
		node = only_one(now, entry->name);
		if (node == FORS_NONE || !is_at(now->net, node, entry->place))
			return;
		++*nreplaced;
	}
	see_place(entry, now->net, node);
}

/* Names that nobody owns, and one node has. */
static enum fors_err add_new(struct fors_namebook *book, const struct fors_directory *now, struct fors_error *error)
{
	uint32_t count = book->count;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < now->ndescs && !err; i++) {
		uint32_t node = now->by_desc[i];
		const struct fors_node *named = &now->net->node[node];
		struct name_entry entry = {.guid = 0};

		if (!named->guid || only_one(now, named->desc) == FORS_NONE || find(book, count, named->desc))
			continue;
		memcpy(entry.name, named->desc, sizeof(entry.name));
		see_place(&entry, now->net, node);
		err = name_append(book, &entry, error);
	}
	return err == FORS_ELIMIT ? FORS_OK : err;
}

/* Is the owner called so now? */
static bool is_called(const struct name_entry *entry, const struct fors_directory *now)
{
	uint32_t node = fors_directory_guid(now, entry->guid);

	return node != FORS_NONE && !strcmp(now->net->node[node].desc, entry->name);
}

static int by_owner(const void *left, const void *right)
{
	const struct name_entry *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->turn != b->turn)
		return a->turn > b->turn ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The name that the owner of list[count] has now is its latest; those beyond the last few go. What stays, at the front. */
static uint32_t keep_last(struct name_entry *list, uint32_t count, const struct fors_directory *now)
{
	for (uint32_t i = 0; i < count; i++)
		if (count > 1 && is_called(&list[i], now) && list[i].turn <= list[i == 0].turn)
			list[i].turn = list[0].turn + 1;
	qsort(list, count, sizeof(*list), by_owner);
	return count < FORS_NAMES_OF_NODE ? count : FORS_NAMES_OF_NODE;
}

static void limit_names(struct fors_namebook *book, const struct fors_directory *now)
{
	uint32_t kept = 0, end;

	if (book->count)
		qsort(book->entry, book->count, sizeof(*book->entry), by_owner);
	for (uint32_t i = 0; i < book->count; i = end) {
		uint32_t n;

		for (end = i + 1; end < book->count && book->entry[end].guid == book->entry[i].guid;)
			end++;
		n = keep_last(&book->entry[i], end - i, now);
		memmove(&book->entry[kept], &book->entry[i], n * sizeof(*book->entry));
		kept += n;
	}
	book->count = kept;
}

enum fors_err fors_namebook_learn(struct fors_namebook *book, const struct fors_directory *now, uint32_t *nreplaced,
				  struct fors_error *error)
{
	struct fors_namebook copy;
	uint32_t replaced = 0;
	enum fors_err err = copy_book(book, &copy, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < copy.count; i++)
		see_owner(&copy.entry[i], now, &replaced);
	err = add_new(&copy, now, error);
	if (!err) {
		limit_names(&copy, now);
		name_sort(&copy);
		*nreplaced = replaced;
	}
	return end_copy(book, &copy, err);
}

/* --- what others know --------------------------------------------------------------------------------------------- */

static uint64_t digest(const char *text, size_t size)
{
	return UINT64_C(1) << 32 | (uint32_t)crc32_z(0, (const unsigned char *)text, size);
}

static enum fors_err take_all(struct fors_namebook *book, const struct fors_namebook *reference,
			      struct fors_error *error)
{
	uint32_t count = book->count;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < reference->count && !err; i++) {
		struct name_entry *known = find(book, count, reference->entry[i].name);

		if (known)
			*known = reference->entry[i];
		else
			err = name_append(book, &reference->entry[i], error);
	}
	name_sort(book);
	return err == FORS_ELIMIT ? FORS_OK : err;
}

enum fors_err fors_namebook_refer(struct fors_namebook *book, const struct fors_namebook *reference,
				  struct fors_error *error)
{
	struct fors_namebook copy;
	uint64_t wanted;
	char *text;
	size_t size;
	enum fors_err err = fors_namebook_encode(reference, &text, &size, error);

	if (err)
		return err;
	wanted = digest(text, size);
	free(text);
	if (wanted == book->reference)
		return FORS_OK;
	err = copy_book(book, &copy, error);
	if (err)
		return err;
	copy.reference = wanted;
	return end_copy(book, &copy, take_all(&copy, reference, error));
}

enum fors_err fors_namebook_recall(struct fors_namebook *book, const char *name, uint64_t guid,
				   struct fors_error *error)
{
	struct name_entry entry = {.guid = guid};
	enum fors_err err;

	if (!*name || !guid || find(book, book->count, name))
		return FORS_OK;
	snprintf(entry.name, sizeof(entry.name), "%s", name);
	err = name_append(book, &entry, error);
	name_sort(book);
	return err == FORS_ELIMIT ? FORS_OK : err;
}

static bool is_of(const struct name_entry *entry, uint64_t guid)
{
	return entry->guid == guid || entry->port_guid == guid;
}

uint32_t fors_namebook_forget(struct fors_namebook *book, uint64_t guid)
{
	uint32_t kept = 0, before = book->count;

	for (uint32_t i = 0; i < before; i++)
		if (!is_of(&book->entry[i], guid))
			book->entry[kept++] = book->entry[i];
	book->count = kept;
	return before - kept;
}

uint32_t fors_namebook_names(const struct fors_namebook *book, uint64_t guid, char *text, size_t room)
{
	uint32_t found = 0;
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < book->count; i++) {
		int more;

		if (!is_of(&book->entry[i], guid))
			continue;
		more = snprintf(text + used, room - used, "%s\"%s\"", found++ ? ", " : "", book->entry[i].name);
		used = more > 0 && used + (size_t)more < room ? used + (size_t)more : room - 1;
	}
	return found;
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

/* Another node than `node` that has the name, of those that are by_desc[first] and following; 0: none. */
static uint64_t find_other(const struct fors_directory *now, uint32_t first, uint32_t count, uint32_t node)
{
	for (uint32_t i = first; i < first + count; i++)
		if (now->by_desc[i] != node)
			return now->net->node[now->by_desc[i]].guid;
	return 0;
}

/* A name without an owner. */
static struct fors_naming find_free(const struct fors_directory *now, uint32_t first, uint32_t count)
{
	struct fors_naming naming = {.what = FORS_NAMED_NOBODY, .node = FORS_NONE};

	if (!count)
		return naming;
	naming.owner = now->net->node[now->by_desc[first]].guid;
	naming.other = find_other(now, first, count, now->by_desc[first]);
	naming.what = count > 1 ? FORS_NAMED_TWINS : FORS_NAMED_ONE;
	if (count == 1)
		naming.node = now->by_desc[first];
	return naming;
}

struct fors_naming fors_namebook_find(const struct fors_namebook *book, const struct fors_directory *now,
				      const char *name)
{
	const struct name_entry *entry = book ? find(book, book->count, name) : NULL;
	uint32_t first, count = fors_directory_desc(now, name, &first);
	struct fors_naming naming = {.what = FORS_NAMED_NOBODY};

	if (!entry)
		return find_free(now, first, count);
	naming.node = fors_directory_guid(now, entry->guid);
	naming.owner = naming.node == FORS_NONE ? entry->guid : now->net->node[naming.node].guid;
	naming.other = find_other(now, first, count, naming.node);
	if (naming.node == FORS_NONE)
		naming.what = naming.other ? FORS_NAMED_TAKEN : FORS_NAMED_NOBODY;
	else if (!naming.other)
		naming.what = FORS_NAMED_ONE;
	else
		naming.what = strcmp(now->net->node[naming.node].desc, name) ? FORS_NAMED_MOVED : FORS_NAMED_SHARED;
	return naming;
}
