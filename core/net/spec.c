/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spec.c - the first word says which language the rest is in. */
#include "spec.h"

#include "graph_net.h"
#include "tree_net.h"

enum fors_err fors_spec_parse(const char *text, struct fors_spec *spec, struct fors_error *error)
{
	struct fors_spec made = {.is_graph = fors_graph_spec_begins(text)};
	enum fors_err err = made.is_graph ? fors_graph_spec_parse(text, &made.graph, error)
					  : fors_tree_spec_parse(text, &made.tree, error);

	if (!err)
		*spec = made;
	return err;
}

void fors_spec_clear(struct fors_spec *spec)
{
	fors_tree_spec_clear(&spec->tree);
	fors_graph_spec_clear(&spec->graph);
	spec->is_graph = false;
}

enum fors_err fors_spec_net(const struct fors_spec *spec, struct fors_net **net, struct fors_error *error)
{
	return spec->is_graph ? fors_graph_net(&spec->graph, net, error) : fors_tree_net(&spec->tree, net, error);
}
