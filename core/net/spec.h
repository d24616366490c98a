/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spec.h - a made-up fabric as people write it: a fat-tree (tree_spec.h) or another network (graph_spec.h), one language.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_CORE_NET_SPEC_H
#define FORS_CORE_NET_SPEC_H

#include "graph_spec.h"
#include "net.h"
#include "tree_spec.h"

/* All zero: nothing to clear. */
struct fors_spec {
	bool is_graph;
	struct fors_tree_spec tree;   /* unless is_graph */
	struct fors_graph_spec graph; /* if is_graph */
};

/* Parse `text` into *spec (fors_spec_clear() frees it). Errors: those of both languages. */
enum fors_err fors_spec_parse(const char *text, struct fors_spec *spec, struct fors_error *error);
void fors_spec_clear(struct fors_spec *spec);

/* Its net, see tree_net.h and graph_net.h, in *net, owned by the caller. Errors: those of both. */
enum fors_err fors_spec_net(const struct fors_spec *spec, struct fors_net **net, struct fors_error *error);

#endif
