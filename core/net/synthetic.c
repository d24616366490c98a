/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * synthetic.c - fabrics from a specification.
 *
 * The net of FT(2;S,M1;servers=N;cables=C), in the order in which it is written
 * (leaves, spines, servers):
 *
 *      leaf a     port slot + 1            Node<a>-<slot>, port 1
 *                 port N + k C + c + 1     spine k, cable c of C
 *      spine k    port a C + c + 1         leaf a, cable c
 *
 * GUIDs are those that ibsim gives to such a text without GUIDs: switches are
 * numbered from 0x200000; a CA takes one number from 0x100000 on for itself and
 * one for each of its ports. So a specification, the text written from it and
 * what opensm sees under ibsim are the same fabric.
 */
#include "synthetic.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"

#define MAX_NUMBER 65535
#define MAX_PORTS 254
#define FIRST_CA_GUID 0x100000
#define FIRST_SWITCH_GUID 0x200000

/* A specification that is being read: what is left of it, and where it starts. */
struct parser {
	struct fors_span rest;
	const char *start;
	struct fors_spec spec;
	struct fors_error *error;
	bool has_servers, has_cables, has_empty;
};

/* FORS_EINPUT that shows where in the specification the reader stands. */
static enum fors_err fail(const struct parser *p, const char *what)
{
	return fors_fail(p->error, FORS_EINPUT,
			 "\"%.100s\", character %d: %s; write FT(2;SPINES,LEAVES), "
			 "optionally with ;servers=N ;cables=C ;empty=LEAF/SLOT,... before the )",
			 p->start, (int)(p->rest.at - p->start) + 1, what);
}

static bool take(struct parser *p, const char *word)
{
	fors_skip_blanks(&p->rest);
	return fors_take_word(&p->rest, word);
}

/* A number from `least` on. */
static enum fors_err parse_number(struct parser *p, unsigned least, unsigned *number)
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
	*number = (unsigned)value;
	return FORS_OK;
}

static enum fors_err add_empty(struct parser *p, struct fors_spec_place place)
{
	struct fors_spec *spec = &p->spec;

	if ((spec->nempty & (spec->nempty - 1)) == 0) { /* full at every power of two */
		size_t room = spec->nempty ? 2 * spec->nempty : 1;
		struct fors_spec_place *larger = realloc(spec->empty, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(p->error);
		spec->empty = larger;
	}
	spec->empty[spec->nempty++] = place;
	return FORS_OK;
}

/* LEAF/SLOT,... */
static enum fors_err parse_empty(struct parser *p)
{
	do {
		struct fors_spec_place place;
		enum fors_err err = parse_number(p, 0, &place.leaf);

		if (!err && !take(p, "/"))
			err = fail(p, "a / and the slot are missing");
		if (!err)
			err = parse_number(p, 0, &place.slot);
		if (!err)
			err = add_empty(p, place);
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

static enum fors_err parse_option(struct parser *p)
{
	fors_skip_blanks(&p->rest);
	if (take_key(p, "servers", &p->has_servers))
		return parse_number(p, 1, &p->spec.servers);
	if (take_key(p, "cables", &p->has_cables))
		return parse_number(p, 1, &p->spec.cables);
	if (take_key(p, "empty", &p->has_empty))
		return parse_empty(p);
	return fail(p, "here servers=, cables= or empty= is expected, each once");
}

static enum fors_err parse_all(struct parser *p)
{
	enum fors_err err;

	if (!take(p, "FT") || !take(p, "("))
		return fail(p, "this is no fat-tree");
	if (!take(p, "2") || !take(p, ";"))
		return fail(p, "only two-level trees are known, FT(2;...)");
	err = parse_number(p, 1, &p->spec.spines);
	if (!err && !take(p, ","))
		err = fail(p, "a comma and the number of leaves are missing");
	if (!err)
		err = parse_number(p, 1, &p->spec.leaves);
	while (!err && take(p, ";"))
		err = parse_option(p);
	if (!err && !take(p, ")"))
		err = fail(p, "a ; or a ) is expected");
	fors_skip_blanks(&p->rest);
	if (!err && !fors_span_is_empty(p->rest))
		err = fail(p, "something follows the )");
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct fors_spec_place *x = a, *y = b;

	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void sort_places(struct fors_spec *spec)
{
	size_t kept = 0;

	if (spec->nempty == 0)
		return;
	qsort(spec->empty, spec->nempty, sizeof(*spec->empty), compare_places);
	for (size_t i = 1; i < spec->nempty; i++)
		if (compare_places(&spec->empty[i], &spec->empty[kept]))
			spec->empty[++kept] = spec->empty[i];
	spec->nempty = kept + 1;
}

/* Does such a fabric exist? A switch has at most 254 ports, an empty slot is one of the slots. */
static enum fors_err check_spec(const struct fors_spec *spec, struct fors_error *error)
{
	uint64_t leaf_ports = spec->servers + (uint64_t)spec->spines * spec->cables;
	uint64_t spine_ports = (uint64_t)spec->leaves * spec->cables;

	if (leaf_ports > MAX_PORTS || spine_ports > MAX_PORTS)
		return fors_fail(error, FORS_ELIMIT, "a %s needs %u ports, a switch has at most %u",
				 leaf_ports > MAX_PORTS ? "leaf" : "spine",
				 (unsigned)(leaf_ports > MAX_PORTS ? leaf_ports : spine_ports), MAX_PORTS);
	for (size_t i = 0; i < spec->nempty; i++)
		if (spec->empty[i].leaf >= spec->leaves || spec->empty[i].slot >= spec->servers)
			return fors_fail(error, FORS_EINPUT,
					 "empty=%u/%u: leaves are numbered 0 to %u and slots 0 to %u",
					 spec->empty[i].leaf, spec->empty[i].slot, spec->leaves - 1, spec->servers - 1);
	return FORS_OK;
}

enum fors_err fors_spec_parse(const char *text, struct fors_spec *spec, struct fors_error *error)
{
	struct parser p = {
		.rest = {text, text + strlen(text)},
		.start = text,
		.spec = {.cables = 1},
		.error = error,
	};
	enum fors_err err = parse_all(&p);

	if (!err && !p.has_servers)
		p.spec.servers = p.spec.spines;
	if (!err)
		err = check_spec(&p.spec, error);
	if (err) {
		fors_spec_clear(&p.spec);
		return err;
	}
	sort_places(&p.spec);
	*spec = p.spec;
	return FORS_OK;
}

void fors_spec_clear(struct fors_spec *spec)
{
	free(spec->empty);
	*spec = (struct fors_spec){0};
}

enum fors_err fors_spec_format(const struct fors_spec *spec, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};

	fors_buffer_print(&buffer, "FT(2;%u,%u", spec->spines, spec->leaves);
	if (spec->servers != spec->spines)
		fors_buffer_print(&buffer, ";servers=%u", spec->servers);
	if (spec->cables != 1)
		fors_buffer_print(&buffer, ";cables=%u", spec->cables);
	for (size_t i = 0; i < spec->nempty; i++)
		fors_buffer_print(&buffer, "%s%u/%u", i ? "," : ";empty=", spec->empty[i].leaf, spec->empty[i].slot);
	fors_buffer_print(&buffer, ")");
	return fors_buffer_finish(&buffer, text, NULL, error);
}

/* `count` switches Leaf00, Leaf01, ... or Spine00, ... with consecutive GUIDs from `guid` on. */
static enum fors_err add_switches(struct fors_net *net, const char *kind, unsigned count, unsigned nports,
				  uint64_t guid, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	char name[FORS_NAME_MAX];
	uint32_t node;

	for (unsigned i = 0; i < count && !err; i++) {
		snprintf(name, sizeof(name), "%s%02u", kind, i);
		err = fors_net_add_node(net, FORS_SWITCH, nports, guid + i, name, name, &node, error);
	}
	return err;
}

static enum fors_err add_cables(struct fors_net *net, const struct fors_spec *spec, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned leaf = 0; leaf < spec->leaves; leaf++)
		for (unsigned i = 0; i < spec->spines * spec->cables && !err; i++)
			err = fors_net_connect(net, leaf, spec->servers + i + 1, spec->leaves + i / spec->cables,
					       leaf * spec->cables + i % spec->cables + 1, error);
	return err;
}

/* The server of one slot, cabled to its leaf; `number` servers are there already. */
static enum fors_err add_server(struct fors_net *net, unsigned leaf, unsigned slot, unsigned number,
				struct fors_error *error)
{
	uint64_t guid = FIRST_CA_GUID + 2 * (uint64_t)number;
	char name[FORS_NAME_MAX];
	enum fors_err err;
	uint32_t node;

	snprintf(name, sizeof(name), "Node%02u-%02u", leaf, slot);
	err = fors_net_add_node(net, FORS_CA, 1, guid, name, name, &node, error);
	if (err)
		return err;
	fors_net_port(net, node, 1)->guid = guid + 1;
	return fors_net_connect(net, leaf, slot + 1, node, 1, error);
}

static enum fors_err add_servers(struct fors_net *net, const struct fors_spec *spec, struct fors_error *error)
{
	unsigned number = 0;
	size_t next_empty = 0;
	enum fors_err err = FORS_OK;

	for (unsigned leaf = 0; leaf < spec->leaves; leaf++)
		for (unsigned slot = 0; slot < spec->servers && !err; slot++) {
			const struct fors_spec_place *empty =
				next_empty < spec->nempty ? &spec->empty[next_empty] : NULL;

			if (empty && empty->leaf == leaf && empty->slot == slot)
				next_empty++;
			else
				err = add_server(net, leaf, slot, number++, error);
		}
	return err;
}

enum fors_err fors_synthetic(const struct fors_spec *spec, struct fors_net **net, struct fors_error *error)
{
	struct fors_net *result;
	enum fors_err err = check_spec(spec, error);

	if (err)
		return err;
	result = fors_net_new();
	if (!result)
		return fors_fail_memory(error);
	err = add_switches(result, "Leaf", spec->leaves, spec->servers + spec->spines * spec->cables, FIRST_SWITCH_GUID,
			   error);
	if (!err)
		err = add_switches(result, "Spine", spec->spines, spec->leaves * spec->cables,
				   FIRST_SWITCH_GUID + spec->leaves, error);
	if (!err)
		err = add_cables(result, spec, error);
	if (!err)
		err = add_servers(result, spec, error);
	if (!err)
		err = fors_net_index(result, error);
	if (err) {
		fors_net_free(result);
		return err;
	}
	*net = result;
	return FORS_OK;
}
