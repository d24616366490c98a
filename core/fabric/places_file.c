/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_file.c - the kept order as text.
 *
 * It is text because somebody may have to read it at 3 a.m., and small: 10 kB for 360 servers.
 *
 *   fors-places 2                                          what this is, and its version
 *   reference 0x0123456789abcdef                           digest of the reference fabric, 0: none
 *   spine 0x0000000000200012 alive reference "Spine00"     one line per spine place, in order
 *   spine 0x0000000000200099 dead roots former 0x0000000000200013 "Spine01"
 *   lanes 0.0 1.0                                          spine.cable of each lane
 *   leaf 0x0000000000200000 alive reference "Leaf00"       four lines per leaf place, in order:
 *   slots 1.0 2.1 0 4.3n                                   leaf port.home lane of each slot, 0: used otherwise now;
 *                                                          v, n, u: enum fors_slot_kind, places_inside.h
 *   servers 0x0000000000100001 0x0000000000100002 - -      the port GUID seen there last, -: unknown
 *   cables 21.1 -                                          leaf port.spine port of each lane, -: no cable
 *   crc 0x89abcdef                                         CRC-32 of all bytes before this line
 *
 * The reader believes nothing before the CRC is right, checks each number, and at the end writes what it
 * understood and compares: a text that passes is exactly what the writer would have written.
 *
 * A tree of three levels has a text of its own, "fors-pods 1", and versions of its own: see places_pods_file.c.
 *
 * Version 1 had no homes: the line of slots held leaf ports only, of free ports too, and that of servers was missing.
 * Slot s of leaf a was at home on lane (N a + s) mod L, N the most slots of any leaf, and there it stays until homes
 * are ranked, so that whoever takes over from that version moves nothing.
 */
#include "places_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "places.h"
#include "places_inside.h"
#include "places_lines.h"
#include "places_pods_inside.h"
#include "core/base/text.h"

#define VERSION 2
#define OLDEST 1
#define THREE_LEVELS 0 /* PODS_TITLE */
#define PODS_TITLE "fors-pods "
#define PODS_VERSION 1
#define MAX_PLACES 65535 /* leaves and spines are counted in 16 bits */

/* --- writing -------------------------------------------------------------- */

void fors_places_print_marks(struct fors_buffer *to, const struct fors_place_marks *marks)
{
	fors_buffer_print(to, " %s%s%s", marks->is_alive ? "alive" : "dead", marks->in_reference ? " reference" : "",
			  marks->in_roots ? " roots" : "");
}

static void print_spines(struct fors_buffer *to, const struct fors_places *places)
{
	for (uint32_t k = 0; k < places->nspines; k++) {
		const struct fors_spine_place *spine = &places->spine[k];

		fors_buffer_print(to, "spine 0x%016" PRIx64, spine->guid);
		fors_places_print_marks(to, &spine->marks);
		if (spine->former)
			fors_buffer_print(to, " former 0x%016" PRIx64, spine->former);
		fors_buffer_print(to, " \"%s\"\n", spine->name);
	}
	fors_buffer_print(to, "lanes");
	for (uint32_t k = 0; k < places->nlanes; k++)
		fors_buffer_print(to, " %u.%u", places->lane[k].spine, places->lane[k].cable);
	fors_buffer_print(to, "\n");
}

static const char *const kind_letter[] = {
	[FORS_SLOT_RANKED] = "", [FORS_SLOT_VARIED] = "v", [FORS_SLOT_NEWCOMER] = "n", [FORS_SLOT_UNSEEN] = "u"};
#define NKINDS (sizeof(kind_letter) / sizeof(kind_letter[0]))

static void print_slots(struct fors_buffer *to, const struct fors_leaf_place *leaf)
{
	for (unsigned s = 0; s < leaf->nslots; s++) {
		fors_buffer_print(to, " %u", leaf->slot_port[s]);
		if (leaf->slot_port[s])
			fors_buffer_print(to, ".%u%s", leaf->slot_home[s], kind_letter[leaf->slot_kind[s]]);
	}
	fors_buffer_print(to, "\nservers");
	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] && leaf->slot_guid[s])
			fors_buffer_print(to, " 0x%016" PRIx64, leaf->slot_guid[s]);
		else
			fors_buffer_print(to, " -");
}

static void print_leaf(struct fors_buffer *to, const struct fors_places *places, const struct fors_leaf_place *leaf,
		       unsigned version)
{
	fors_buffer_print(to, "leaf 0x%016" PRIx64, leaf->guid);
	fors_places_print_marks(to, &leaf->marks);
	fors_buffer_print(to, " \"%s\"\nslots", leaf->name);
	if (version > 1)
		print_slots(to, leaf);
	for (unsigned s = 0; version == 1 && s < leaf->nslots; s++)
		fors_buffer_print(to, " %u", leaf->slot_port[s]);
	fors_buffer_print(to, "\ncables");
	for (uint32_t k = 0; k < places->nlanes; k++) {
		if (leaf->plug[k].leaf_port)
			fors_buffer_print(to, " %u.%u", leaf->plug[k].leaf_port, leaf->plug[k].spine_port);
		else
			fors_buffer_print(to, " -");
	}
	fors_buffer_print(to, "\n");
}

static uint32_t crc_of(const char *text, size_t size)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)text, size);
}

static enum fors_err encode(const struct fors_places *places, unsigned version, char **text, size_t *size,
			    struct fors_error *error)
{
	struct fors_buffer to = {0};

	if (version == THREE_LEVELS)
		fors_buffer_print(&to, PODS_TITLE "%u\n", PODS_VERSION);
	else
		fors_buffer_print(&to, "fors-places %u\n", version);
	fors_buffer_print(&to, "reference 0x%016" PRIx64 "\n", places->reference);
	if (places->pods)
		fors_pod_places_print(&to, places->pods);
	else
		print_spines(&to, places);
	for (uint32_t a = 0; a < places->nleaves; a++)
		print_leaf(&to, places, &places->leaf[a], version);
	if (!to.is_short)
		fors_buffer_print(&to, "crc 0x%08" PRIx32 "\n", crc_of(to.text, to.size));
	return fors_buffer_finish(&to, text, size, error);
}

enum fors_err fors_places_encode(const struct fors_places *places, char **text, size_t *size, struct fors_error *error)
{
	return encode(places, places->pods ? THREE_LEVELS : VERSION, text, size, error);
}

/* --- reading -------------------------------------------------------------- */

struct reader {
	unsigned version;
	struct fors_lines lines;
	struct fors_span line; /* what is left of the line in hand */
	struct fors_places *places;
	struct fors_error *error;
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

static bool next_line(struct reader *r)
{
	return fors_lines_next(&r->lines, &r->line);
}

bool fors_places_take_guid(struct fors_span *line, uint64_t *guid)
{
	return fors_take_word(line, "0x") && fors_take_number(line, 16, UINT64_MAX, guid);
}

static bool take_guid(struct reader *r, uint64_t *guid)
{
	return fors_places_take_guid(&r->line, guid);
}

static bool take_byte(struct reader *r, uint8_t *byte)
{
	uint64_t value;

	if (!fors_take_number(&r->line, 10, 254, &value))
		return false;
	*byte = (uint8_t)value;
	return true;
}

bool fors_places_take_name(struct fors_span *line, char *name)
{
	struct fors_span inside;

	if (!fors_take_word(line, " \"") || !fors_take_until(line, '"', &inside) ||
	    inside.end - inside.at > FORS_NAME_MAX || !fors_span_is_empty(*line))
		return false;
	for (const char *c = inside.at; c < inside.end; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	memcpy(name, inside.at, (size_t)(inside.end - inside.at));
	return true;
}

bool fors_places_take_marks(struct fors_span *line, struct fors_place_marks *marks)
{
	marks->is_alive = fors_take_word(line, " alive");
	if (!marks->is_alive && !fors_take_word(line, " dead"))
		return false;
	marks->in_reference = fors_take_word(line, " reference");
	marks->in_roots = fors_take_word(line, " roots");
	return true;
}

/* After "spine ". */
static enum fors_err read_spine(struct reader *r)
{
	struct fors_spine_place spine = {0};
	enum fors_err err;
	uint32_t k;

	if (!take_guid(r, &spine.guid) || !spine.guid || !fors_places_take_marks(&r->line, &spine.marks) ||
	    (fors_take_word(&r->line, " former ") && !take_guid(r, &spine.former)) ||
	    !fors_places_take_name(&r->line, spine.name))
		return FAIL(r, "not a spine");
	if (fors_places_has(r->places, spine.guid))
		return FAIL(r, "0x%016" PRIx64 " has a place already", spine.guid);
	if (r->places->nspines == MAX_PLACES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u spines", r->lines.name, MAX_PLACES);
	err = fors_places_add_spine(r->places, &k, r->error);
	if (!err)
		r->places->spine[k] = spine;
	return err;
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

	if (r->version == 1)
		*kind = FORS_SLOT_UNSEEN;
	if (r->version == 1 || !leaf->slot_port[leaf->nslots])
		return true;
	if (!fors_take_char(&r->line, '.') || !take_byte(r, home) || (*home && *home >= r->places->nlanes))
		return false;
	for (uint8_t k = NKINDS - 1; k > 0 && !*kind; k--)
		if (fors_take_char(&r->line, *kind_letter[k]))
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
	if (r->version == 1)
		return FORS_OK;
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

static enum fors_err read_cables(struct reader *r, struct fors_leaf_place *leaf)
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
	enum fors_err err;
	uint32_t a;

	if (!take_guid(r, &leaf.guid) || !leaf.guid || !fors_places_take_marks(&r->line, &leaf.marks) ||
	    !fors_places_take_name(&r->line, leaf.name))
		return FAIL(r, "not a leaf");
	if (fors_places_has(r->places, leaf.guid))
		return FAIL(r, "0x%016" PRIx64 " has a place already", leaf.guid);
	if (r->places->nleaves == MAX_PLACES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u leaves", r->lines.name, MAX_PLACES);
	err = read_slots(r, &leaf);
	if (!err)
		err = read_servers(r, &leaf);
	if (!err)
		err = read_cables(r, &leaf);
	if (!err)
		err = fors_places_add_leaf(r->places, &a, r->error);
	if (!err)
		r->places->leaf[a] = leaf;
	return err;
}

/* The first line; what comes in later versions nobody knows. */
static enum fors_err read_title(struct reader *r)
{
	uint64_t version;
	bool is_pods;

	if (!next_line(r))
		return FAIL(r, "not a kept order of fors");
	is_pods = fors_take_word(&r->line, PODS_TITLE);
	if ((!is_pods && !fors_take_word(&r->line, "fors-places ")) ||
	    !fors_take_number(&r->line, 10, UINT32_MAX, &version) || !fors_span_is_empty(r->line))
		return FAIL(r, "not a kept order of fors");
	if (is_pods && version != PODS_VERSION)
		return FAIL(r, "a kept order of three levels, version %" PRIu64 "; this fors reads version %u", version,
			    PODS_VERSION);
	if (!is_pods && (version < OLDEST || version > VERSION))
		return FAIL(r, "a kept order of version %" PRIu64 "; this fors reads versions %u to %u", version,
			    OLDEST, VERSION);
	r->version = is_pods ? THREE_LEVELS : (unsigned)version;
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

static enum fors_err read_reference(struct reader *r)
{
	if (!next_line(r) || !fors_take_word(&r->line, "reference ") || !take_guid(r, &r->places->reference))
		return FAIL(r, "the reference is missing");
	return FORS_OK;
}

static enum fors_err read_places(struct reader *r)
{
	enum fors_err err = read_reference(r);
	bool has_lanes = false;

	if (!err && r->version == THREE_LEVELS)
		return fors_pod_places_read(&r->lines, &r->places->pods, r->error);
	while (!err && next_line(r)) {
		if (!has_lanes && fors_take_word(&r->line, "spine "))
			err = read_spine(r);
		else if (!has_lanes && (has_lanes = fors_take_word(&r->line, "lanes")))
			err = read_lanes(r);
		else if (has_lanes && fors_take_word(&r->line, "leaf "))
			err = read_leaf(r);
		else
			err = FAIL(r, "no spine, lanes or leaf");
	}
	return err;
}

/* Is `text` what would be written for these places? */
static enum fors_err check_form(struct reader *r, const char *text, size_t size)
{
	char *again;
	size_t again_size;
	bool is_same;
	enum fors_err err = encode(r->places, r->version, &again, &again_size, r->error);

	if (err)
		return err;
	is_same = again_size == size && !memcmp(again, text, size);
	free(again);
	if (is_same)
		return FORS_OK;
	return fors_fail(r->error, FORS_EINPUT, "%s: not written by fors: the notation differs", r->lines.name);
}

/* The homes of version 1. */
static void set_old_homes(struct fors_places *places)
{
	uint32_t nslots = 0;

	for (uint32_t a = 0; a < places->nleaves; a++)
		nslots = places->leaf[a].nslots > nslots ? places->leaf[a].nslots : nslots;
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (uint32_t s = 0; places->nlanes && s < places->leaf[a].nslots; s++)
			places->leaf[a].slot_home[s] = (uint8_t)((nslots * a + s) % places->nlanes);
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
	if (!err && r.version == 1)
		set_old_homes(r.places);
	if (err)
		fors_places_free(r.places);
	else
		*places = r.places;
	return err;
}
