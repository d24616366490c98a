/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_spec.h - fat-trees as people write them (man fors), in one of three spellings:
 *
 *      FT(2;S,M1[;servers=N][;cables=C][;empty=LEAF/SLOT,...])   two levels: S spines, M1 leaves
 *      XGFT(h;m0,...,mh-1;w0,...,wh-1)                           extended generalised fat-tree
 *      PGFT(h;m0,...,mh-1;w0,...,wh-1;p0,...,ph-1)               the same with parallel cables
 *
 * All of them are a struct fors_tree (tree.h says what its numbers mean); only FT can have empty slots, and has the
 * limits of a net already in its text.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_TREE_SPEC_H
#define FORS_CORE_NET_TREE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "spec_text.h"
#include "tree.h"

/* All zero: nothing to clear. */
struct fors_tree_spec {
	struct fors_tree tree;
	bool is_ft;		       /* the spelling */
	struct fors_empty_slots empty; /* without a server */
};

/*
 * Parse `text` into *spec (fors_tree_spec_clear() frees it). Errors: FORS_EINPUT (says what and where), FORS_ELIMIT (a
 * number or a tree that is too large; an FT whose switches need too many ports), FORS_ENOMEM.
 */
enum fors_err fors_tree_spec_parse(const char *text, struct fors_tree_spec *spec, struct fors_error *error);
void fors_tree_spec_clear(struct fors_tree_spec *spec);

#endif
