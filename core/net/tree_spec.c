/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_spec.c - reading fat-trees.
 *
 * The first word chooses how the rest is read; what comes out are the numbers of a PGFT. FT(2;S,M1) counts from the spines down, and has as many servers per leaf as
 * spines unless it says otherwise; XGFT and PGFT are lists from the servers up.
 */
#include "tree_spec.h"

#include <stdlib.h>

#define HINT_FT "write FT(2;SPINES,LEAVES), optionally with ;servers=N ;cables=C ;empty=LEAF/SLOT,... before the )"
#define HINT_LISTS                                                                                                     \
	"write XGFT(h;m1,..;w1,..), or PGFT(h;m1,..;w1,..;p1,..), with h numbers in each list, from the servers up"
#define HINT_ANY                                                                                                       \
	"write FT(2;SPINES,LEAVES), XGFT(h;m1,..;w1,..) or PGFT(h;m1,..;w1,..;p1,..), or one of TORUS(..), CUBE(..), " \
	"DRAGONFLY(..), DFPLUS(..), RRG(..), FLEXFLY(..), FLEXSPANDER(..) where no tree is needed"

/* A tree that is being read. */
struct parser {
	struct fors_spec_text text;
	struct fors_tree_spec spec;
	bool has_servers, has_cables, has_empty; /* FT's options, each once */
};

/* ---- FT ---- */

static enum fors_err take_option(struct parser *p)
{
	fors_skip_blanks(&p->text.rest);
	if (fors_spec_take_key(&p->text, "servers", &p->has_servers))
		return fors_spec_take_number(&p->text, 1, &p->spec.tree.m[0]);
	if (fors_spec_take_key(&p->text, "cables", &p->has_cables))
		return fors_spec_take_number(&p->text, 1, &p->spec.tree.p[1]);
	if (fors_spec_take_key(&p->text, "empty", &p->has_empty))
		return fors_spec_take_slots(&p->text, &p->spec.empty);
	return fors_spec_fail(&p->text, "here servers=, cables= or empty= is expected, each once");
}

/* 2;S,M1 and options; servers and cables are M0 = S and 1 without them. */
static enum fors_err take_ft(struct parser *p)
{
	struct fors_tree *tree = &p->spec.tree;
	enum fors_err err;

	*tree = (struct fors_tree){.height = 2, .w = {1, 0}, .p = {1, 1}};
	if (!fors_spec_take(&p->text, "2") || !fors_spec_take(&p->text, ";"))
		return fors_spec_fail(&p->text,
				      "only two-level trees are spelled so, FT(2;...), taller ones XGFT or PGFT");
	err = fors_spec_take_number(&p->text, 1, &tree->w[1]);
	if (!err && !fors_spec_take(&p->text, ","))
		err = fors_spec_fail(&p->text, "a comma and the number of leaves are missing");
	if (!err)
		err = fors_spec_take_number(&p->text, 1, &tree->m[1]);
	while (!err && fors_spec_take(&p->text, ";"))
		err = take_option(p);
	if (!err && !p->has_servers)
		tree->m[0] = tree->w[1];
	return err;
}

/* Does such a fabric exist? Its switches have ports enough, and an empty slot is one of the slots. */
static enum fors_err check_ft(const struct fors_tree_spec *spec, struct fors_error *error)
{
	uint32_t leaves = spec->tree.m[1], servers = spec->tree.m[0];
	enum fors_err err = fors_tree_check_ports(&spec->tree, error);

	return err ? err : fors_empty_slots_check(&spec->empty, "leaves", leaves, servers, error);
}

/* ---- XGFT and PGFT ---- */

/* ;a,b,... with `count` numbers. */
static enum fors_err take_list(struct parser *p, unsigned count, uint32_t *list)
{
	enum fors_err err = FORS_OK;

	if (!fors_spec_take(&p->text, ";"))
		return fors_spec_fail(&p->text, "a ; and a list are missing");
	for (unsigned i = 0; i < count && !err; i++) {
		if (i && !fors_spec_take(&p->text, ","))
			return fors_spec_fail(&p->text, "the list is shorter than the height");
		err = fors_spec_take_number(&p->text, 1, &list[i]);
	}
	return err;
}

static enum fors_err take_height(struct parser *p, unsigned *height)
{
	const char *start;
	uint64_t value;

	fors_skip_blanks(&p->text.rest);
	start = p->text.rest.at;
	if (!fors_take_number(&p->text.rest, 10, FORS_TREE_LEVELS, &value) || value == 0) {
		p->text.rest.at = start;
		return fors_spec_fail(&p->text, "a height from 1 to 8 is expected");
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
	bool is_ft = fors_spec_take(&p->text, "FT"), is_pgft = !is_ft && fors_spec_take(&p->text, "PGFT");
	enum fors_err err;

	if (!is_ft && !is_pgft && !fors_spec_take(&p->text, "XGFT"))
		return fors_spec_fail(&p->text, "this is no fat-tree, nor another network that is known");
	p->spec.is_ft = is_ft;
	p->text.hint = is_ft ? HINT_FT : HINT_LISTS;
	if (!fors_spec_take(&p->text, "("))
		return fors_spec_fail(&p->text, "a ( is missing");
	err = is_ft ? take_ft(p) : take_lists(p, is_pgft);
	if (err)
		return err;
	return fors_spec_take_end(&p->text,
				  is_ft ? "a ; or a ) is expected"
					: "a ) is expected, the lists have as many numbers as the height says");
}

enum fors_err fors_tree_spec_parse(const char *text, struct fors_tree_spec *spec, struct fors_error *error)
{
	struct parser p = {.text = fors_spec_text(text, HINT_ANY, error)};
	enum fors_err err = parse(&p);

	if (!err && p.spec.is_ft)
		err = check_ft(&p.spec, error);
	if (!err)
		err = fors_tree_count(&p.spec.tree, error);
	if (err) {
		fors_tree_spec_clear(&p.spec);
		return err;
	}
	fors_empty_slots_sort(&p.spec.empty);
	*spec = p.spec;
	return FORS_OK;
}

void fors_tree_spec_clear(struct fors_tree_spec *spec)
{
	fors_empty_slots_clear(&spec->empty);
	*spec = (struct fors_tree_spec){0};
}
