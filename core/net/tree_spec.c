/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_spec.c - reading and writing fat-trees.
 *
 * The first word chooses how the rest is read; what comes out are the numbers of a PGFT, whose canonical text is that
 * of the same spelling. FT(2;S,M1) counts from the spines down, and has as many servers per leaf as
 * spines unless it says otherwise; XGFT and PGFT are lists from the servers up.
 */
#include "tree_spec.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define MAX_NUMBER 65535

#define HINT_FT "write FT(2;SPINES,LEAVES), optionally with ;servers=N ;cables=C ;empty=LEAF/SLOT,... before the )"
#define HINT_LISTS                                                                                                     \
	"write XGFT(h;m0,..;w0,..), or PGFT(h;m0,..;w0,..;p0,..), with h numbers in each list, from the servers up"
#define HINT_ANY "write FT(2;SPINES,LEAVES), XGFT(h;m0,..;w0,..) or PGFT(h;m0,..;w0,..;p0,..)"

/* A specification that is being read: what is left of it, and where it starts. */
struct parser {
	struct fors_span rest;
	const char *start, *hint;
	struct fors_tree_spec spec;
	struct fors_error *error;
	bool has_servers, has_cables, has_empty; /* FT's options, each once */
};

/* FORS_EINPUT that shows where in the specification the reader stands. */
static enum fors_err fail(const struct parser *p, const char *what)
{
	return fors_fail(p->error, FORS_EINPUT, "\"%.100s\", character %d: %s; %s", p->start,
			 (int)(p->rest.at - p->start) + 1, what, p->hint);
}

static bool take(struct parser *p, const char *word)
{
	fors_skip_blanks(&p->rest);
	return fors_take_word(&p->rest, word);
}

/* A number from `least` on. */
static enum fors_err take_number(struct parser *p, uint32_t least, uint32_t *number)
{
	const char *start;
	uint64_t value;

	fors_skip_blanks(&p->rest);
	start = p->rest.at;
	if (!fors_take_number(&p->rest, 10, UINT64_MAX, &value)) {
		if (fors_span_is_empty(p->rest) || *start < '0' || *start > '9')
			return fail(p, "a number is missing");
		value = UINT64_MAX;
	}
	if (value > MAX_NUMBER)
		return fors_fail(p->error, FORS_ELIMIT, "\"%.100s\", character %d: the number is larger than %u",
				 p->start, (int)(start - p->start) + 1, MAX_NUMBER);
	if (value < least) {
		p->rest.at = start;
		return fail(p, "the number must be at least 1");
	}
	*number = (uint32_t)value;
	return FORS_OK;
}

/* ---- FT ---- */

static enum fors_err add_empty(struct parser *p, struct fors_tree_slot slot)
{
	struct fors_tree_spec *spec = &p->spec;

	if ((spec->nempty & (spec->nempty - 1)) == 0) { /* full at every power of two */
		size_t room = spec->nempty ? 2 * spec->nempty : 1;
		struct fors_tree_slot *larger = realloc(spec->empty, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(p->error);
		spec->empty = larger;
	}
	spec->empty[spec->nempty++] = slot;
	return FORS_OK;
}

/* LEAF/SLOT,... */
static enum fors_err take_empty(struct parser *p)
{
	do {
		struct fors_tree_slot slot;
		enum fors_err err = take_number(p, 0, &slot.leaf);

		if (!err && !take(p, "/"))
			err = fail(p, "a / and the slot are missing");
		if (!err)
			err = take_number(p, 0, &slot.slot);
		if (!err)
			err = add_empty(p, slot);
		if (err)
			return err;
	} while (take(p, ","));
	return FORS_OK;
}

/* The word `key` and its = sign, which may come once. */
static bool take_key(struct parser *p, const char *key, bool *has_key)
{
	const char *start = p->rest.at;

	if (*has_key || !take(p, key))
		return false;
	*has_key = take(p, "=");
	if (!*has_key)
		p->rest.at = start;
	return *has_key;
}

static enum fors_err take_option(struct parser *p)
{
	fors_skip_blanks(&p->rest);
	if (take_key(p, "servers", &p->has_servers))
		return take_number(p, 1, &p->spec.tree.m[0]);
	if (take_key(p, "cables", &p->has_cables))
		return take_number(p, 1, &p->spec.tree.p[1]);
	if (take_key(p, "empty", &p->has_empty))
		return take_empty(p);
	return fail(p, "here servers=, cables= or empty= is expected, each once");
}

/* 2;S,M1 and options; servers and cables are M0 = S and 1 without them. */
static enum fors_err take_ft(struct parser *p)
{
	struct fors_tree *tree = &p->spec.tree;
	enum fors_err err;

	*tree = (struct fors_tree){.height = 2, .w = {1, 0}, .p = {1, 1}};
	if (!take(p, "2") || !take(p, ";"))
		return fail(p, "only two-level trees are spelled so, FT(2;...), taller ones XGFT or PGFT");
	err = take_number(p, 1, &tree->w[1]);
	if (!err && !take(p, ","))
		err = fail(p, "a comma and the number of leaves are missing");
	if (!err)
		err = take_number(p, 1, &tree->m[1]);
	while (!err && take(p, ";"))
		err = take_option(p);
	if (!err && !p->has_servers)
		tree->m[0] = tree->w[1];
	return err;
}

static int compare_slots(const void *a, const void *b)
{
	const struct fors_tree_slot *x = a, *y = b;

	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void sort_empty(struct fors_tree_spec *spec)
{
	size_t kept = 0;

	if (spec->nempty == 0)
		return;
	qsort(spec->empty, spec->nempty, sizeof(*spec->empty), compare_slots);
	for (size_t i = 1; i < spec->nempty; i++)
		if (compare_slots(&spec->empty[i], &spec->empty[kept]))
			spec->empty[++kept] = spec->empty[i];
	spec->nempty = kept + 1;
}

/* Does such a fabric exist? Its switches have ports enough, and an empty slot is one of the slots. */
static enum fors_err check_ft(const struct fors_tree_spec *spec, struct fors_error *error)
{
	uint32_t leaves = spec->tree.m[1], servers = spec->tree.m[0];
	enum fors_err err = fors_tree_check_ports(&spec->tree, error);

	for (size_t i = 0; i < spec->nempty && !err; i++)
		if (spec->empty[i].leaf >= leaves || spec->empty[i].slot >= servers)
			err = fors_fail(error, FORS_EINPUT,
					"empty=%u/%u: leaves are numbered 0 to %u and slots 0 to %u",
					spec->empty[i].leaf, spec->empty[i].slot, leaves - 1, servers - 1);
	return err;
}

/* ---- XGFT and PGFT ---- */

/* ;a,b,... with `count` numbers. */
static enum fors_err take_list(struct parser *p, unsigned count, uint32_t *list)
{
	enum fors_err err = FORS_OK;

	if (!take(p, ";"))
		return fail(p, "a ; and a list are missing");
	for (unsigned i = 0; i < count && !err; i++) {
		if (i && !take(p, ","))
			return fail(p, "the list is shorter than the height");
		err = take_number(p, 1, &list[i]);
	}
	return err;
}

static enum fors_err take_height(struct parser *p, unsigned *height)
{
	const char *start;
	uint64_t value;

	fors_skip_blanks(&p->rest);
	start = p->rest.at;
	if (!fors_take_number(&p->rest, 10, FORS_TREE_LEVELS, &value) || value == 0) {
		p->rest.at = start;
		return fail(p, "a height from 1 to 8 is expected");
	}
	*height = (unsigned)value;
	return FORS_OK;
}

static enum fors_err take_lists(struct parser *p, bool has_parallel)
{
	struct fors_tree *tree = &p->spec.tree;
	enum fors_err err = take_height(p, &tree->height);

	if (!err)
		err = take_list(p, tree->height, tree->m);
	if (!err)
		err = take_list(p, tree->height, tree->w);
	for (unsigned i = 0; i < tree->height; i++)
		tree->p[i] = 1;
	return err || !has_parallel ? err : take_list(p, tree->height, tree->p);
}

/* ---- all of them ---- */

static enum fors_err parse(struct parser *p)
{
	bool is_ft = take(p, "FT"), is_pgft = !is_ft && take(p, "PGFT");
	enum fors_err err;

	if (!is_ft && !is_pgft && !take(p, "XGFT"))
		return fail(p, "this is no fat-tree");
	p->spec.is_ft = is_ft;
	p->hint = is_ft ? HINT_FT : HINT_LISTS;
	if (!take(p, "("))
		return fail(p, "a ( is missing");
	err = is_ft ? take_ft(p) : take_lists(p, is_pgft);
	if (!err && !take(p, ")"))
		err = fail(p, is_ft ? "a ; or a ) is expected"
				    : "a ) is expected, the lists have as many numbers as the height says");
	fors_skip_blanks(&p->rest);
	if (!err && !fors_span_is_empty(p->rest))
		err = fail(p, "something follows the )");
	return err;
}

enum fors_err fors_tree_spec_parse(const char *text, struct fors_tree_spec *spec, struct fors_error *error)
{
	struct parser p = {
		.rest = {text, text + strlen(text)},
		.start = text,
		.hint = HINT_ANY,
		.error = error,
	};
	enum fors_err err = parse(&p);

	if (!err && p.spec.is_ft)
		err = check_ft(&p.spec, error);
	if (!err)
		err = fors_tree_count(&p.spec.tree, error);
	if (err) {
		fors_tree_spec_clear(&p.spec);
		return err;
	}
	sort_empty(&p.spec);
	*spec = p.spec;
	return FORS_OK;
}

void fors_tree_spec_clear(struct fors_tree_spec *spec)
{
	free(spec->empty);
	*spec = (struct fors_tree_spec){0};
}

static void print_ft(struct fors_buffer *buffer, const struct fors_tree_spec *spec)
{
	const struct fors_tree *tree = &spec->tree;

	fors_buffer_print(buffer, "FT(2;%u,%u", tree->w[1], tree->m[1]);
	if (tree->m[0] != tree->w[1])
		fors_buffer_print(buffer, ";servers=%u", tree->m[0]);
	if (tree->p[1] != 1)
		fors_buffer_print(buffer, ";cables=%u", tree->p[1]);
	for (size_t i = 0; i < spec->nempty; i++)
		fors_buffer_print(buffer, "%s%u/%u", i ? "," : ";empty=", spec->empty[i].leaf, spec->empty[i].slot);
}

static void print_list(struct fors_buffer *buffer, const uint32_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fors_buffer_print(buffer, "%c%u", i ? ',' : ';', list[i]);
}

static void print_lists(struct fors_buffer *buffer, const struct fors_tree *tree)
{
	bool has_parallel = false;

	for (unsigned i = 0; i < tree->height; i++)
		has_parallel |= tree->p[i] > 1;
	fors_buffer_print(buffer, "%s(%u", has_parallel ? "PGFT" : "XGFT", tree->height);
	print_list(buffer, tree->m, tree->height);
	print_list(buffer, tree->w, tree->height);
	if (has_parallel)
		print_list(buffer, tree->p, tree->height);
}

enum fors_err fors_tree_spec_format(const struct fors_tree_spec *spec, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};

	if (spec->is_ft)
		print_ft(&buffer, spec);
	else
		print_lists(&buffer, &spec->tree);
	fors_buffer_print(&buffer, ")");
	return fors_buffer_finish(&buffer, text, NULL, error);
}
