/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pgft.c - reading the specification of a fat-tree, and what follows from its numbers.
 */
#include "pgft.h"

#include <string.h>

#include "core/base/text.h"

#define MAX_NUMBER 65535
#define MAX_COUNT (1u << 30)

struct parser {
	struct fors_span rest;
	const char *start;
	struct fors_error *error;
};

static enum fors_err fail(const struct parser *parser, const char *what)
{
	return fors_fail(parser->error, FORS_EINPUT,
			 "\"%.100s\", character %d: %s; write XGFT(h;m0,..;w0,..), or "
			 "PGFT(h;m0,..;w0,..;p0,..), with h numbers in each list, from the servers up",
			 parser->start, (int)(parser->rest.at - parser->start) + 1, what);
}

static bool take(struct parser *parser, char c)
{
	fors_skip_blanks(&parser->rest);
	return fors_take_char(&parser->rest, c);
}

static enum fors_err take_number(struct parser *parser, uint32_t most, uint32_t *number)
{
	struct fors_span at;
	uint64_t value;

	fors_skip_blanks(&parser->rest);
	at = parser->rest;
	if (!fors_take_number(&parser->rest, 10, most, &value) || value == 0) {
		parser->rest = at;
		return fail(parser, most == FORS_PGFT_LEVELS ? "a height from 1 to 8 is expected"
							     : "a number from 1 to 65535 is expected");
	}
	*number = (uint32_t)value;
	return FORS_OK;
}

/* ;a,b,... with `count` numbers. */
static enum fors_err take_list(struct parser *parser, unsigned count, uint32_t *list)
{
	enum fors_err err = FORS_OK;

	if (!take(parser, ';'))
		return fail(parser, "a ; and a list are missing");
	for (unsigned i = 0; i < count && !err; i++) {
		if (i && !take(parser, ','))
			return fail(parser, "the list is shorter than the height");
		err = take_number(parser, MAX_NUMBER, &list[i]);
	}
	return err;
}

static enum fors_err parse(struct parser *parser, struct fors_pgft *tree)
{
	bool has_parallel = fors_take_word(&parser->rest, "PGFT");
	enum fors_err err;

	if ((!has_parallel && !fors_take_word(&parser->rest, "XGFT")) || !take(parser, '('))
		return fail(parser, "this is no fat-tree");
	err = take_number(parser, FORS_PGFT_LEVELS, &tree->height);
	if (!err)
		err = take_list(parser, tree->height, tree->m);
	if (!err)
		err = take_list(parser, tree->height, tree->w);
	for (unsigned i = 0; i < tree->height; i++)
		tree->p[i] = 1;
	if (!err && has_parallel)
		err = take_list(parser, tree->height, tree->p);
	if (!err && !take(parser, ')'))
		err = fail(parser, "a ) is expected, the lists have as many numbers as the height says");
	fors_skip_blanks(&parser->rest);
	if (!err && !fors_span_is_empty(parser->rest))
		err = fail(parser, "something follows the )");
	return err;
}

/* What follows from the numbers: how many servers, roots and cables. */
static enum fors_err derive(struct fors_pgft *tree, struct fors_error *error)
{
	uint64_t below = 1, roots = 1, cables = 0;
	bool is_large = false;

	tree->below[0] = tree->roots[0] = 1;
	for (unsigned i = 0; i < tree->height && !is_large; i++) {
		below *= tree->m[i];
		roots *= tree->w[i];
		is_large = below > MAX_COUNT || roots > MAX_COUNT;
		tree->below[i + 1] = (uint32_t)below;
		tree->roots[i + 1] = (uint32_t)roots;
	}
	for (unsigned i = 0; i < tree->height && !is_large; i++) {
		tree->first[i] = (uint32_t)cables;
		cables += below / tree->below[i] * tree->roots[i + 1] * tree->p[i];
		is_large = cables > MAX_COUNT;
	}
	if (is_large)
		return fors_fail(error, FORS_ELIMIT, "the tree has more than %u servers or cables", MAX_COUNT);
	tree->first[tree->height] = tree->cables = (uint32_t)cables;
	tree->servers = (uint32_t)below;
	return FORS_OK;
}

bool fors_pgft_is_spec(const char *text)
{
	struct fors_span span = {text, text + strlen(text)};

	fors_skip_blanks(&span);
	return fors_starts_with(span, "XGFT") || fors_starts_with(span, "PGFT");
}

enum fors_err fors_pgft_parse(const char *text, struct fors_pgft *tree, struct fors_error *error)
{
	struct parser parser = {.rest = {text, text + strlen(text)}, .start = text, .error = error};
	struct fors_pgft result = {0};
	enum fors_err err;

	fors_skip_blanks(&parser.rest);
	err = parse(&parser, &result);
	if (!err)
		err = derive(&result, error);
	if (!err)
		*tree = result;
	return err;
}

static void print_list(struct fors_buffer *buffer, const uint32_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fors_buffer_print(buffer, "%c%u", i ? ',' : ';', list[i]);
}

enum fors_err fors_pgft_format(const struct fors_pgft *tree, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};
	bool has_parallel = false;

	for (unsigned i = 0; i < tree->height; i++)
		has_parallel |= tree->p[i] > 1;
	fors_buffer_print(&buffer, "%s(%u", has_parallel ? "PGFT" : "XGFT", tree->height);
	print_list(&buffer, tree->m, tree->height);
	print_list(&buffer, tree->w, tree->height);
	if (has_parallel)
		print_list(&buffer, tree->p, tree->height);
	fors_buffer_print(&buffer, ")");
	return fors_buffer_finish(&buffer, text, NULL, error);
}
