/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* data.c - see data.h. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/net/netfile.h"
#include "core/net/tree_net.h"

#define MAX_SIZE ((size_t)1 << 20)

char *data_read(const char *name, size_t *size)
{
	const char *top = getenv("srcdir");
	char path[512];
	char *text = malloc(MAX_SIZE + 1);
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	file = fopen(path, "r");
	if (!file || !text)
		fail_msg("cannot read %s", path);
	*size = fread(text, 1, MAX_SIZE, file);
	text[*size] = '\0';
	fclose(file);
	return text;
}

struct fors_net *data_net(const char *text, size_t size)
{
	struct fors_net *net = NULL;
	struct fors_error error;

	if (fors_netfile_read(text, size, "text", &net, NULL, &error) != FORS_OK)
		fail_msg("%s", error.text);
	return net;
}

struct fors_net *data_net_file(const char *name)
{
	size_t size;
	char *text = data_read(name, &size);
	struct fors_net *net = data_net(text, size);

	free(text);
	return net;
}

struct fors_net *data_net_spec(const char *text)
{
	struct fors_net *net = NULL;
	struct fors_tree_spec spec;
	struct fors_error error;

	if (fors_tree_spec_parse(text, &spec, &error) != FORS_OK || fors_tree_net(&spec, &net, &error) != FORS_OK)
		fail_msg("%s", error.text);
	fors_tree_spec_clear(&spec);
	return net;
}

static void same_node(const struct fors_net *a, const struct fors_net *b, uint32_t node)
{
	const struct fors_node *x = &a->node[node], *y = &b->node[node];

	assert_string_equal(x->id, y->id);
	assert_string_equal(x->desc, y->desc);
	assert_int_equal(x->type, y->type);
	assert_true(x->guid == y->guid);
	assert_int_equal(x->nports, y->nports);
}

static void same_port(const struct fors_port *x, const struct fors_port *y)
{
	assert_true(x->guid == y->guid);
	assert_int_equal(x->peer, y->peer);
	assert_int_equal(x->lid, y->lid);
	assert_int_equal(x->lmc, y->lmc);
	if (x->peer == FORS_NONE)
		return;
	assert_int_equal(x->peer_port, y->peer_port);
	assert_int_equal(x->is_degraded, y->is_degraded);
}

void data_same_net(const struct fors_net *a, const struct fors_net *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	for (uint32_t node = 0; node < a->nnodes; node++) {
		same_node(a, b, node);
		for (unsigned port = 0; port <= a->node[node].nports; port++)
			same_port(fors_net_port(a, node, port), fors_net_port(b, node, port));
	}
}

void data_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not contain \"%s\"", text, part);
}
