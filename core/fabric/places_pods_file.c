/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_pods_file.c - the kept order of a tree of three levels, as the lines of a text.
 *
 *   fors-pods 1                                            what this is, and its version
 *   reference 0x0123456789abcdef                           digest of the reference fabric, 0: none
 *   top 0x0000000000200012 36 alive roots "Top00"          one line per node, in order: GUID, ports, marks, name
 *   middle 0x0000000000200013 36 dead former 0x0000000000200099 "Mid00"
 *   leaf 0x0000000000200014 36 alive reference "Leaf00"
 *   server 0x0000000000100001 1 alive "Node00"             and switches and routers that have no place
 *   cable 0.1 1.19                                         node.port of both ends, the lower node first, in order
 *   crc 0x89abcdef
 */
#include "places_pods_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places_lines.h"

#define MAX_NODES 200000

static const struct kind {
	const char *word;
	enum fors_node_type type;
	uint8_t level;
	char prefix; /* of the node's id */
} kinds[] = {
	{"leaf", FORS_SWITCH, FORS_PODS_LEAF, 'S'}, {"middle", FORS_SWITCH, FORS_PODS_MID, 'S'},
	{"top", FORS_SWITCH, FORS_PODS_TOP, 'S'},   {"switch", FORS_SWITCH, FORS_PODS_NONE, 'S'},
	{"server", FORS_CA, FORS_PODS_NONE, 'H'},   {"router", FORS_ROUTER, FORS_PODS_NONE, 'R'},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- writing -------------------------------------------------------------- */

static const char *word_of(const struct fors_pod_places *pods, uint32_t node)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (kinds[i].type == pods->known->node[node].type && kinds[i].level == pods->level[node])
			return kinds[i].word;
	return "";
}

static void print_node(struct fors_buffer *to, const struct fors_pod_places *pods, uint32_t node)
{
	const struct fors_node *n = &pods->known->node[node];

	fors_buffer_print(to, "%s 0x%016" PRIx64 " %u", word_of(pods, node), n->guid, n->nports);
	fors_places_print_marks(to, &pods->mark[node]);
	if (pods->former[node])
		fors_buffer_print(to, " former 0x%016" PRIx64, pods->former[node]);
	fors_buffer_print(to, " \"%s\"\n", n->desc);
}

static void print_cables(struct fors_buffer *to, const struct fors_net *known, uint32_t node)
{
	for (unsigned port = 1; port <= known->node[node].nports; port++) {
		const struct fors_port *end = fors_net_port(known, node, port);

		if (end->peer != FORS_NONE && (end->peer > node || (end->peer == node && end->peer_port > port)))
			fors_buffer_print(to, "cable %u.%u %u.%u\n", node, port, end->peer, end->peer_port);
	}
}

void fors_pod_places_print(struct fors_buffer *to, const struct fors_pod_places *pods)
{
	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		print_node(to, pods, node);
	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		print_cables(to, pods->known, node);
}

/* --- reading -------------------------------------------------------------- */

/* Nodes come before cables, so their number is known when the lists are made: each node is kept aside until then. */
struct reader {
	struct fors_lines *lines;
	struct fors_span line;
	struct fors_net *known;
	struct fors_pod_places *lists; /* with room for `room` nodes */
	uint32_t room;
	struct fors_error *error;
};

#define FAIL(r, ...) fors_lines_fail((r)->lines, (r)->lines->number, (r)->error, __VA_ARGS__)

static enum fors_err make_room(struct reader *r)
{
	struct fors_pod_places *more;
	uint32_t n = r->known->nnodes;

	if (n < r->room)
		return FORS_OK;
	if (n >= MAX_NODES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u nodes", r->lines->name, MAX_NODES);
	r->room = 2 * n + 64;
	more = fors_pod_places_new(r->room);
	if (!more)
		return fors_fail_memory(r->error);
	if (r->lists) {
		memcpy(more->mark, r->lists->mark, n * sizeof(*more->mark));
		memcpy(more->former, r->lists->former, n * sizeof(*more->former));
		memcpy(more->level, r->lists->level, n * sizeof(*more->level));
	}
	fors_pod_places_free(r->lists);
	r->lists = more;
	return FORS_OK;
}

/* After the word and a blank. */
static enum fors_err read_node(struct reader *r, const struct kind *kind)
{
	char name[FORS_NAME_MAX + 1] = "", id[FORS_NAME_MAX + 1];
	struct fors_place_marks marks = {0};
	uint64_t guid, nports, former = 0;
	uint32_t node;
	enum fors_err err;

	if (!fors_places_take_guid(&r->line, &guid) || !guid || !fors_take_char(&r->line, ' ') ||
	    !fors_take_number(&r->line, 10, 254, &nports) || !fors_places_take_marks(&r->line, &marks) ||
	    (fors_take_word(&r->line, " former ") && !fors_places_take_guid(&r->line, &former)) ||
	    !fors_places_take_name(&r->line, name))
		return FAIL(r, "not a %s", kind->word);
	err = make_room(r);
	snprintf(id, sizeof(id), "%c-%016" PRIx64, kind->prefix, guid);
	if (!err)
		err = fors_net_add_node(r->known, kind->type, (unsigned)nports, guid, id, name, &node, r->error);
	if (err)
		return err;
	r->lists->mark[node] = marks;
	r->lists->former[node] = former;
	r->lists->level[node] = kind->level;
	return FORS_OK;
}

static bool take_end(struct reader *r, uint64_t *node, uint64_t *port)
{
	return fors_take_char(&r->line, ' ') && fors_take_number(&r->line, 10, MAX_NODES, node) &&
	       fors_take_char(&r->line, '.') && fors_take_number(&r->line, 10, 254, port) && *node < r->known->nnodes;
}

/* After "cable". */
static enum fors_err read_cable(struct reader *r)
{
	uint64_t a, port_a, b, port_b;
	struct fors_error why;
	enum fors_err err;

	if (!take_end(r, &a, &port_a) || !take_end(r, &b, &port_b) || !fors_span_is_empty(r->line))
		return FAIL(r, "not a cable between two nodes");
	err = fors_net_connect(r->known, (uint32_t)a, (unsigned)port_a, (uint32_t)b, (unsigned)port_b, &why);
	return err ? FAIL(r, "there can be no such cable: %s", why.text) : FORS_OK;
}

static enum fors_err read_line(struct reader *r, bool *has_cables)
{
	for (size_t i = 0; i < NKINDS && !*has_cables; i++) {
		size_t length = strlen(kinds[i].word);

		if (fors_starts_with(r->line, kinds[i].word) && (size_t)(r->line.end - r->line.at) > length &&
		    r->line.at[length] == ' ') {
			r->line.at += length + 1;
			return read_node(r, &kinds[i]);
		}
	}
	*has_cables = true;
	return fors_take_word(&r->line, "cable") ? read_cable(r) : FAIL(r, "no node, or no cable behind the nodes");
}

/* What was read has to be a tree, else whoever believed it would fail later, and not know why. */
static enum fors_err check_tree(struct reader *r)
{
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_net_index(r->known, r->error);

	if (!err)
		err = fors_pod_places_build(r->lists, r->known, r->known, &pods, r->error);
	if (!err && memcmp(pods->level, r->lists->level, r->known->nnodes))
		err = fors_fail(r->error, FORS_EINPUT, "%s: the levels are not those of the cables", r->lines->name);
	fors_pods_free(pods);
	return err == FORS_ENOTREE ? fors_fail(r->error, FORS_EINPUT, "%s: no tree of three levels", r->lines->name)
				   : err;
}

enum fors_err fors_pod_places_read(struct fors_lines *lines, struct fors_pod_places **pods, struct fors_error *error)
{
	struct reader r = {.lines = lines, .known = fors_net_new(), .error = error};
	enum fors_err err = r.known ? make_room(&r) : fors_fail_memory(error);
	bool has_cables = false;

	while (!err && fors_lines_next(lines, &r.line))
		err = read_line(&r, &has_cables);
	if (!err)
		err = check_tree(&r);
	if (err) {
		fors_net_free(r.known);
		fors_pod_places_free(r.lists);
		return err;
	}
	r.lists->known = r.known;
	*pods = r.lists;
	return FORS_OK;
}
