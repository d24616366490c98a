/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_file.c - the kept order as text.
 *
 * It is text because somebody may have to read it at 3 a.m., and small: 20 kB for 360 servers. One line for each switch,
 * in order, with its GUID, what is known of it, and its name:
 *
 *   fors-places 3                                          what this is, and its version
 *   reference 0x0123456789abcdef                           digest of the reference fabric, 0: none
 *   levels 2
 *   spine 0x0000000000200012 alive reference "Spine00"
 *   spine 0x0000000000200099 dead roots former 0x0000000000200013 "Spine01"
 *   lanes 0.0 1.0                                          spine.cable of each lane
 *   leaf 0x0000000000200000 alive reference "Leaf00"       and three lines more:
 *   slots 1.0 2.1 0 4.3n                                   leaf port.home lane of each slot, 0: used otherwise now;
 *                                                          v, n: enum fors_slot_kind, places_inside.h
 *   servers 0x0000000000100001 0x0000000000100002 - -      the port GUID seen there last, -: unknown
 *   cables 21.1 -                                          leaf port.spine port of each lane, -: no cable
 *   host 0x0000000000100001 "Node00"                       after all leaves: what those servers are called, by GUID
 *   crc 0x89abcdef                                         CRC-32 of all bytes before this line
 *
 * Of three levels all nodes are listed, each with how many ports it has, and then all cables; homes follow from that:
 *
 *   levels 3                                               "levels 3 completed": cables that were never seen count as dead
 *   top 0x0000000000200012 36 alive roots "Top00"
 *   middle 0x0000000000200013 36 dead former 0x0000000000200099 "Mid00"
 *   leaf 0x0000000000200014 36 alive reference "Leaf00"
 *   server 0x0000000000100001 1 alive "Node00"             and switches and routers that have no place
 *   cable 0.1 1.19                                         node.port of both ends, the lower node first, in order
 *
 * The reader believes nothing before the CRC is right, checks each number, and at the end writes what it
 * understood and compares: a text that passes is exactly what the writer would have written.
 *
 * Two former texts are read, too, so that an upgrade moves no table entry: "fors-places 2", of two levels, and
 * "fors-pods 1", of three. They are the same but for the title, and have no line of levels. Both are never written.
 */
#include "places_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "known.h"
#include "places.h"
#include "places_inside.h"
#include "core/base/text.h"

#define VERSION 3
#define OLDEST 2
#define MAX_PLACES 65535 /* leaves and spines are counted in 16 bits */
#define MAX_NODES 200000
#define COMPLETED " completed"

/* Which text it is. */
enum form {
	FORM_NOW,
	FORM_FORMER_TWO,   /* fors-places 2 */
	FORM_FORMER_THREE, /* fors-pods 1 */
};

/* What a node of three levels is called, and what its id begins with. */
static const struct kind {
	const char *word;
	enum fors_node_type type;
	uint8_t level;
	char prefix;
} kinds[] = {
	{"leaf", FORS_SWITCH, FORS_PODS_LEAF, 'S'}, {"middle", FORS_SWITCH, FORS_PODS_MID, 'S'},
	{"top", FORS_SWITCH, FORS_PODS_TOP, 'S'},   {"switch", FORS_SWITCH, FORS_PODS_NONE, 'S'},
	{"server", FORS_CA, FORS_PODS_NONE, 'H'},   {"router", FORS_ROUTER, FORS_PODS_NONE, 'R'},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const slot_letter[] = {
	[FORS_SLOT_RANKED] = "", [FORS_SLOT_VARIED] = "v", [FORS_SLOT_NEWCOMER] = "n"};
#define NSLOT_KINDS (sizeof(slot_letter) / sizeof(slot_letter[0]))

/* What the line of a switch says, at either height. */
struct entry {
	uint64_t guid, nports, former;
	struct fors_place_marks marks;
	char name[FORS_NAME_MAX + 1];
};

/* --- writing -------------------------------------------------------------- */

/* nports: written behind the GUID, unless negative. */
static void print_entry(struct fors_buffer *to, const char *word, uint64_t guid, int nports,
			const struct fors_place_marks *marks, uint64_t former, const char *name)
{
	fors_buffer_print(to, "%s 0x%016" PRIx64, word, guid);
	if (nports >= 0)
		fors_buffer_print(to, " %d", nports);
	fors_buffer_print(to, " %s%s%s", marks->is_alive ? "alive" : "dead", marks->in_reference ? " reference" : "",
			  marks->in_roots ? " roots" : "");
	if (former)
		fors_buffer_print(to, " former 0x%016" PRIx64, former);
	fors_buffer_print(to, " \"%s\"\n", name);
}

static void print_spines(struct fors_buffer *to, const struct fors_places *places)
{
	for (uint32_t k = 0; k < places->nspines; k++) {
		const struct fors_spine_place *spine = &places->spine[k];

		print_entry(to, "spine", spine->guid, -1, &spine->marks, spine->former, spine->name);
	}
	fors_buffer_print(to, "lanes");
	for (uint32_t k = 0; k < places->nlanes; k++)
		fors_buffer_print(to, " %u.%u", places->lane[k].spine, places->lane[k].cable);
	fors_buffer_print(to, "\n");
}

static void print_slots(struct fors_buffer *to, const struct fors_leaf_place *leaf)
{
	fors_buffer_print(to, "slots");
	for (unsigned s = 0; s < leaf->nslots; s++) {
		fors_buffer_print(to, " %u", leaf->slot_port[s]);
		if (leaf->slot_port[s])
			fors_buffer_print(to, ".%u%s", leaf->slot_home[s], slot_letter[leaf->slot_kind[s]]);
	}
	fors_buffer_print(to, "\nservers");
	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] && leaf->slot_guid[s])
			fors_buffer_print(to, " 0x%016" PRIx64, leaf->slot_guid[s]);
		else
			fors_buffer_print(to, " -");
}

static void print_leaf(struct fors_buffer *to, const struct fors_places *places, const struct fors_leaf_place *leaf)
{
	print_entry(to, "leaf", leaf->guid, -1, &leaf->marks, 0, leaf->name);
	print_slots(to, leaf);
	fors_buffer_print(to, "\ncables");
	for (uint32_t k = 0; k < places->nlanes; k++) {
		if (leaf->plug[k].leaf_port)
			fors_buffer_print(to, " %u.%u", leaf->plug[k].leaf_port, leaf->plug[k].spine_port);
		else
			fors_buffer_print(to, " -");
	}
	fors_buffer_print(to, "\n");
}

static void print_hosts(struct fors_buffer *to, const struct fors_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		fors_buffer_print(to, "host 0x%016" PRIx64 " \"%s\"\n", hosts->host[i].guid, hosts->host[i].name);
}

static const char *word_of(const struct fors_known *known, uint32_t node)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (kinds[i].type == known->net->node[node].type && kinds[i].level == known->node[node].level)
			return kinds[i].word;
	return "";
}

static void print_cables(struct fors_buffer *to, const struct fors_net *net, uint32_t node)
{
	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		const struct fors_port *end = fors_net_port(net, node, port);

		if (end->peer != FORS_NONE && (end->peer > node || (end->peer == node && end->peer_port > port)))
			fors_buffer_print(to, "cable %u.%u %u.%u\n", node, port, end->peer, end->peer_port);
	}
}

static void print_known(struct fors_buffer *to, const struct fors_known *known)
{
	for (uint32_t i = 0; i < known->net->nnodes; i++) {
		const struct fors_node *n = &known->net->node[i];

		print_entry(to, word_of(known, i), n->guid, n->nports, &known->node[i].marks, known->node[i].former,
			    n->desc);
	}
	for (uint32_t i = 0; i < known->net->nnodes; i++)
		print_cables(to, known->net, i);
}

static uint32_t crc_of(const char *text, size_t size)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)text, size);
}

static void print_title(struct fors_buffer *to, const struct fors_places *places, enum form form)
{
	if (form == FORM_FORMER_THREE)
		fors_buffer_print(to, "fors-pods 1\n");
	else
		fors_buffer_print(to, "fors-places %u\n", form == FORM_NOW ? VERSION : OLDEST);
	fors_buffer_print(to, "reference 0x%016" PRIx64 "\n", places->reference);
	if (form == FORM_NOW)
		fors_buffer_print(to, "levels %u%s\n", places->known ? 3 : 2,
				  places->known && places->known->completes ? COMPLETED : "");
}

static enum fors_err encode(const struct fors_places *places, enum form form, char **text, size_t *size,
			    struct fors_error *error)
{
	struct fors_buffer to = {0};

	print_title(&to, places, form);
	if (places->known)
		print_known(&to, places->known);
	else
		print_spines(&to, places);
	for (uint32_t a = 0; a < places->nleaves; a++)
		print_leaf(&to, places, &places->leaf[a]);
	if (!places->known && form == FORM_NOW)
		print_hosts(&to, &places->hosts);
	if (!to.is_short)
		fors_buffer_print(&to, "crc 0x%08" PRIx32 "\n", crc_of(to.text, to.size));
	return fors_buffer_finish(&to, text, size, error);
}

enum fors_err fors_places_encode(const struct fors_places *places, char **text, size_t *size, struct fors_error *error)
{
	return encode(places, FORM_NOW, text, size, error);
}

/* --- reading -------------------------------------------------------------- */

struct reader {
	enum form form;
	struct fors_lines lines;
	struct fors_span line; /* what is left of the line in hand */
	struct fors_places *places;
	struct fors_known *known; /* of three levels, with room for `room` nodes; until all is read */
	bool completes;		  /* likewise */
	uint32_t room;
	struct fors_error *error;
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

static bool next_line(struct reader *r)
{
	return fors_lines_next(&r->lines, &r->line);
}

static bool take_guid(struct reader *r, uint64_t *guid)
{
	return fors_take_word(&r->line, "0x") && fors_take_number(&r->line, 16, UINT64_MAX, guid);
}

static bool take_byte(struct reader *r, uint8_t *byte)
{
	uint64_t value;

	if (!fors_take_number(&r->line, 10, 254, &value))
		return false;
	*byte = (uint8_t)value;
	return true;
}

static bool take_name(struct reader *r, char *name)
{
	struct fors_span inside;

	if (!fors_take_word(&r->line, " \"") || !fors_take_until(&r->line, '"', &inside) ||
	    inside.end - inside.at > FORS_NAME_MAX || !fors_span_is_empty(r->line))
		return false;
	for (const char *c = inside.at; c < inside.end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	memcpy(name, inside.at, (size_t)(inside.end - inside.at));
	return true;
}

static bool take_marks(struct reader *r, struct fors_place_marks *marks)
{
	marks->is_alive = fors_take_word(&r->line, " alive");
	if (!marks->is_alive && !fors_take_word(&r->line, " dead"))
		return false;
	marks->in_reference = fors_take_word(&r->line, " reference");
	marks->in_roots = fors_take_word(&r->line, " roots");
	return true;
}

/* After the word and a blank. */
static bool take_entry(struct reader *r, bool has_ports, struct entry *entry)
{
	*entry = (struct entry){0};
	return take_guid(r, &entry->guid) && entry->guid &&
	       (!has_ports || (fors_take_char(&r->line, ' ') && fors_take_number(&r->line, 10, 254, &entry->nports))) &&
	       take_marks(r, &entry->marks) &&
	       (!fors_take_word(&r->line, " former ") || take_guid(r, &entry->former)) && take_name(r, entry->name);
}

/* After "spine ". */
static enum fors_err read_spine(struct reader *r)
{
	struct fors_spine_place *spine;
	struct entry entry;
	enum fors_err err;
	uint32_t k;

	if (!take_entry(r, false, &entry))
		return FAIL(r, "not a spine");
	if (fors_places_has(r->places, entry.guid))
		return FAIL(r, "0x%016" PRIx64 " has a place already", entry.guid);
	if (r->places->nspines == MAX_PLACES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u spines", r->lines.name, MAX_PLACES);
	err = fors_places_add_spine(r->places, &k, r->error);
	if (err)
		return err;
	spine = &r->places->spine[k];
	spine->guid = entry.guid;
	spine->former = entry.former;
	spine->marks = entry.marks;
	memcpy(spine->name, entry.name, sizeof(spine->name));
	return FORS_OK;
}

/* After "lanes". Parallel cables are numbered in the order of their lanes. */
static enum fors_err read_lanes(struct reader *r)
{
	struct fors_places *places = r->places;

	while (!fors_span_is_empty(r->line)) {
		uint64_t spine, cable;
		unsigned before = 0;

		if (!fors_take_char(&r->line, ' ') || !fors_take_number(&r->line, 10, MAX_PLACES, &spine) ||
		    !fors_take_char(&r->line, '.') || !fors_take_number(&r->line, 10, FORS_MAX_LANES, &cable))
			return FAIL(r, "not a list of lanes");
		for (uint32_t k = 0; k < places->nlanes; k++)
			before += places->lane[k].spine == spine;
		if (spine >= places->nspines || cable != before || places->nlanes == FORS_MAX_LANES)
			return FAIL(r, "there can be no lane %" PRIu64 ".%" PRIu64, spine, cable);
		places->lane[places->nlanes++] = (struct fors_lane){(uint16_t)spine, (uint16_t)cable};
	}
	return FORS_OK;
}

/* Is this port of the leaf (0: none) a slot or a cable already? */
static bool is_used(const struct reader *r, const struct fors_leaf_place *leaf, uint8_t port)
{
	for (unsigned s = 0; port && s < leaf->nslots; s++)
		if (leaf->slot_port[s] == port)
			return true;
	for (uint32_t k = 0; port && k < r->places->nlanes; k++)
		if (leaf->plug[k].leaf_port == port)
			return true;
	return false;
}

/* After the port of a slot: its home and kind. */
static bool take_home(struct reader *r, struct fors_leaf_place *leaf)
{
	uint8_t *home = &leaf->slot_home[leaf->nslots], *kind = &leaf->slot_kind[leaf->nslots];

	if (!leaf->slot_port[leaf->nslots])
		return true;
	if (!fors_take_char(&r->line, '.') || !take_byte(r, home) || (*home && *home >= r->places->nlanes))
		return false;
	for (uint8_t k = NSLOT_KINDS - 1; k > 0 && !*kind; k--)
		if (fors_take_char(&r->line, *slot_letter[k]))
			*kind = k;
	return true;
}

static enum fors_err read_slots(struct reader *r, struct fors_leaf_place *leaf)
{
	if (!next_line(r) || !fors_take_word(&r->line, "slots"))
		return FAIL(r, "the slots of a leaf are missing");
	while (!fors_span_is_empty(r->line)) {
		uint8_t port;

		if (leaf->nslots == FORS_MAX_SLOTS || !fors_take_char(&r->line, ' ') || !take_byte(r, &port) ||
		    is_used(r, leaf, port))
			return FAIL(r, "not a list of different leaf ports");
		leaf->slot_port[leaf->nslots] = port;
		if (!take_home(r, leaf))
			return FAIL(r, "a slot without a home on one of %u lanes", r->places->nlanes);
		leaf->nslots++;
	}
	return FORS_OK;
}

static enum fors_err read_servers(struct reader *r, struct fors_leaf_place *leaf)
{
	if (!next_line(r) || !fors_take_word(&r->line, "servers"))
		return FAIL(r, "the servers of a leaf are missing");
	for (unsigned s = 0; s < leaf->nslots; s++)
		if (!fors_take_char(&r->line, ' ') ||
		    (!fors_take_char(&r->line, '-') && !take_guid(r, &leaf->slot_guid[s])))
			return FAIL(r, "not a server for each of %u slots", leaf->nslots);
	return fors_span_is_empty(r->line) ? FORS_OK : FAIL(r, "more servers than slots");
}

static bool take_plug(struct reader *r, const struct fors_leaf_place *leaf, struct fors_plug *plug)
{
	if (!fors_take_char(&r->line, ' '))
		return false;
	if (fors_take_char(&r->line, '-'))
		return true;
	return take_byte(r, &plug->leaf_port) && fors_take_char(&r->line, '.') && take_byte(r, &plug->spine_port) &&
	       plug->leaf_port && plug->spine_port && !is_used(r, leaf, plug->leaf_port);
}

static enum fors_err read_plugs(struct reader *r, struct fors_leaf_place *leaf)
{
	if (!next_line(r) || !fors_take_word(&r->line, "cables"))
		return FAIL(r, "the cables of a leaf are missing");
	for (uint32_t k = 0; k < r->places->nlanes; k++) {
		struct fors_plug plug = {0, 0};

		if (!take_plug(r, leaf, &plug))
			return FAIL(r, "not a cable for each of %u lanes", r->places->nlanes);
		leaf->plug[k] = plug;
	}
	return fors_span_is_empty(r->line) ? FORS_OK : FAIL(r, "more cables than lanes");
}

/* After "leaf ". */
static enum fors_err read_leaf(struct reader *r)
{
	struct fors_leaf_place leaf = {0};
	struct entry entry;
	enum fors_err err;
	uint32_t a;

	if (!take_entry(r, false, &entry))
		return FAIL(r, "not a leaf");
	if (fors_places_has(r->places, entry.guid))
		return FAIL(r, "0x%016" PRIx64 " has a place already", entry.guid);
	if (r->places->nleaves == MAX_PLACES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u leaves", r->lines.name, MAX_PLACES);
	leaf.guid = entry.guid;
	leaf.marks = entry.marks;
	memcpy(leaf.name, entry.name, sizeof(leaf.name));
	err = read_slots(r, &leaf);
	if (!err)
		err = read_servers(r, &leaf);
	if (!err)
		err = read_plugs(r, &leaf);
	if (!err)
		err = fors_places_add_leaf(r->places, &a, r->error);
	if (!err)
		r->places->leaf[a] = leaf;
	return err;
}

/* After "host ". In the order of GUIDs. */
static enum fors_err read_host(struct reader *r)
{
	struct fors_hosts *hosts = &r->places->hosts;
	char name[FORS_NAME_MAX + 1] = "";
	enum fors_err err;
	uint64_t guid;

	if (!take_guid(r, &guid) || !take_name(r, name) || !guid || !*name ||
	    (hosts->count && hosts->host[hosts->count - 1].guid >= guid))
		return FAIL(r, "not a host behind the one before");
	err = fors_hosts_note(hosts, guid, name, r->error);
	hosts->sorted = hosts->count;
	return err;
}

static enum fors_err read_two(struct reader *r)
{
	bool has_lanes = false, has_hosts = false;
	enum fors_err err = FORS_OK;

	while (!err && next_line(r)) {
		if (!has_lanes && fors_take_word(&r->line, "spine "))
			err = read_spine(r);
		else if (!has_lanes && (has_lanes = fors_take_word(&r->line, "lanes")))
			err = read_lanes(r);
		else if (has_lanes && !has_hosts && fors_take_word(&r->line, "leaf "))
			err = read_leaf(r);
		else if (has_lanes && r->form == FORM_NOW && (has_hosts = fors_take_word(&r->line, "host ")))
			err = read_host(r);
		else
			err = FAIL(r, "no spine, lanes, leaf or host");
	}
	return err;
}

/* Nodes come before cables: their number is known only then. */
static enum fors_err make_room(struct reader *r)
{
	uint32_t n = r->known->net->nnodes;
	struct fors_known_node *more;

	if (n < r->room)
		return FORS_OK;
	if (n >= MAX_NODES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u nodes", r->lines.name, MAX_NODES);
	more = realloc(r->known->node, (2 * n + (size_t)64) * sizeof(*more));
	if (!more)
		return fors_fail_memory(r->error);
	r->known->node = more;
	r->room = 2 * n + 64;
	return FORS_OK;
}

/* After the word and a blank. */
static enum fors_err read_node(struct reader *r, const struct kind *kind)
{
	char id[FORS_NAME_MAX + 1];
	struct entry entry;
	enum fors_err err;
	uint32_t node;

	if (!take_entry(r, true, &entry))
		return FAIL(r, "not a %s", kind->word);
	err = make_room(r);
	snprintf(id, sizeof(id), "%c-%016" PRIx64, kind->prefix, entry.guid);
	if (!err)
		err = fors_net_add_node(r->known->net, kind->type, (unsigned)entry.nports, entry.guid, id, entry.name,
					&node, r->error);
	if (err)
		return err;
	r->known->node[node] =
		(struct fors_known_node){.marks = entry.marks, .former = entry.former, .level = kind->level};
	return FORS_OK;
}

static bool take_end(struct reader *r, uint64_t *node, uint64_t *port)
{
	return fors_take_char(&r->line, ' ') && fors_take_number(&r->line, 10, MAX_NODES, node) &&
	       fors_take_char(&r->line, '.') && fors_take_number(&r->line, 10, 254, port) &&
	       *node < r->known->net->nnodes;
}

/* After "cable". */
static enum fors_err read_cable(struct reader *r)
{
	uint64_t a, port_a, b, port_b;
	struct fors_error why;
	enum fors_err err;

	if (!take_end(r, &a, &port_a) || !take_end(r, &b, &port_b) || !fors_span_is_empty(r->line))
		return FAIL(r, "not a cable between two nodes");
	err = fors_net_connect(r->known->net, (uint32_t)a, (unsigned)port_a, (uint32_t)b, (unsigned)port_b, &why);
	return err ? FAIL(r, "there can be no such cable: %s", why.text) : FORS_OK;
}

static enum fors_err read_node_or_cable(struct reader *r, bool *has_cables)
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
	struct fors_net *net = r->known->net;
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_net_index(net, r->error);

	if (!err)
		err = fors_known_build(r->known, net, net, &pods, r->error);
	for (uint32_t node = 0; !err && node < net->nnodes; node++)
		if (pods->level[node] != r->known->node[node].level)
			err = fors_fail(r->error, FORS_EINPUT, "%s: the levels are not those of the cables",
					r->lines.name);
	fors_pods_free(pods);
	return err == FORS_ENOTREE ? fors_fail(r->error, FORS_EINPUT, "%s: no tree of three levels", r->lines.name)
				   : err;
}

static enum fors_err read_three(struct reader *r)
{
	bool has_cables = false;
	enum fors_err err;

	r->known = fors_known_new(0);
	if (r->known) {
		r->known->net = fors_net_new();
		r->known->completes = r->completes;
	}
	err = r->known && r->known->net ? FORS_OK : fors_fail_memory(r->error);
	while (!err && next_line(r))
		err = read_node_or_cable(r, &has_cables);
	if (!err)
		err = check_tree(r);
	if (err)
		fors_known_free(r->known);
	else
		r->places->known = r->known;
	return err;
}

/* The first line; what comes in later versions nobody knows. */
static enum fors_err read_title(struct reader *r)
{
	uint64_t version;

	if (!next_line(r))
		return FAIL(r, "not a kept order of fors");
	if (fors_take_word(&r->line, "fors-pods 1") && fors_span_is_empty(r->line)) {
		r->form = FORM_FORMER_THREE;
		return FORS_OK;
	}
	if (!fors_take_word(&r->line, "fors-places ") || !fors_take_number(&r->line, 10, UINT32_MAX, &version) ||
	    !fors_span_is_empty(r->line))
		return FAIL(r, "not a kept order of fors");
	if (version < OLDEST || version > VERSION)
		return FAIL(r, "a kept order of version %" PRIu64 "; this fors reads versions %u and %u", version,
			    OLDEST, VERSION);
	r->form = version == VERSION ? FORM_NOW : FORM_FORMER_TWO;
	return FORS_OK;
}

/* The last line against all before it; afterwards r->lines ends before it. */
static enum fors_err check_crc(struct reader *r, const char *text, size_t size)
{
	static const char word[] = "\ncrc 0x";
	const size_t length = sizeof(word) - 1 + 8 + 1;
	struct fors_span last;
	uint64_t crc;

	if (size < length)
		return fors_fail(r->error, FORS_EINPUT, "%s: the kept order is cut off", r->lines.name);
	last = (struct fors_span){text + size - length, text + size};
	if (!fors_take_word(&last, word) || !fors_take_number(&last, 16, UINT32_MAX, &crc) ||
	    !fors_take_char(&last, '\n'))
		return fors_fail(r->error, FORS_EINPUT, "%s: the kept order is cut off: its checksum is missing",
				 r->lines.name);
	r->lines.end = text + size - length + 1;
	if (crc != crc_of(text, size - length + 1))
		return fors_fail(r->error, FORS_EINPUT, "%s: the kept order was changed: its checksum is wrong",
				 r->lines.name);
	return FORS_OK;
}

static enum fors_err read_levels(struct reader *r, uint64_t *levels)
{
	if (!next_line(r) || !fors_take_word(&r->line, "levels ") || !fors_take_number(&r->line, 10, 3, levels) ||
	    *levels < 2)
		return FAIL(r, "not two levels, nor three");
	r->completes = *levels == 3 && fors_take_word(&r->line, COMPLETED);
	if (!fors_span_is_empty(r->line))
		return FAIL(r, "not two levels, nor three");
	return FORS_OK;
}

static enum fors_err read_places(struct reader *r)
{
	uint64_t levels = r->form == FORM_FORMER_THREE ? 3 : 2;
	enum fors_err err = FORS_OK;

	if (!next_line(r) || !fors_take_word(&r->line, "reference ") || !take_guid(r, &r->places->reference))
		return FAIL(r, "the reference is missing");
	if (r->form == FORM_NOW)
		err = read_levels(r, &levels);
	if (err)
		return err;
	return levels == 2 ? read_two(r) : read_three(r);
}

/* Is `text` what would be written for these places? */
static enum fors_err check_form(struct reader *r, const char *text, size_t size)
{
	char *written;
	size_t written_size;
	bool is_same;
	enum fors_err err = encode(r->places, r->form, &written, &written_size, r->error);

	if (err)
		return err;
	is_same = written_size == size && !memcmp(written, text, size);
	free(written);
	if (is_same)
		return FORS_OK;
	return fors_fail(r->error, FORS_EINPUT, "%s: not written by fors: the notation differs", r->lines.name);
}

enum fors_err fors_places_decode(const char *text, size_t size, const char *name, struct fors_places **places,
				 struct fors_error *error)
{
	struct reader r = {.error = error, .places = fors_places_new()};
	enum fors_err err = r.places ? fors_lines_start(&r.lines, text, size, name, error) : fors_fail_memory(error);

	if (!err)
		err = read_title(&r);
	if (!err)
		err = check_crc(&r, text, size);
	if (!err)
		err = read_places(&r);
	if (!err)
		err = check_form(&r, text, size);
	if (err)
		fors_places_free(r.places);
	else
		*places = r.places;
	return err;
}

bool fors_places_is_former(const char *text, size_t size)
{
	static const char title[] = "fors-places 3\n";

	return size < sizeof(title) - 1 || memcmp(text, title, sizeof(title) - 1) != 0;
}
