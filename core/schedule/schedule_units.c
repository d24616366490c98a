/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_units.c - the parts of a file of version 2 that say over which cables and on which service level.
 *
 * A unit is what all flows from the servers of a leaf to one server over one path index have in common:
 * destination-based tables send them the same way, and almost always on the same service level. So both are said once
 * per unit and not once per flow. Only what occurs is written: units that have flows, the ways of these units, the
 * switches on these ways. What is written has one order, so the same schedule has the same bytes however it came to
 * be: units by leaf, receiver and path; ways as one meets them there, each after its rest; switches of leaves in
 * their order, then others by GUID.
 *
 * A reader puts all of it back into a struct fors_waylist, asks for what makes that safe to walk (numbers within
 * bounds, no two alike), and leaves the order to the comparison at the end of fors_schedule_decode().
 */
#include "schedule_units.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "schedule_format.h"

_Static_assert(sizeof(struct fors_sf_way) == 8 && sizeof(struct fors_sf_leaf) == 8 && sizeof(struct fors_sf_unit) == 12,
	       "ways, leaves or units have holes");
_Static_assert(FORS_SF_NO_SL == FORS_NO_SL && FORS_SF_NONE == FORS_NONE && FORS_SF_MAX_HOPS == FORS_WAY_MAX,
	       "marks differ");

#define NO_FLOW 254 /* in the place of a unit's service level */
#define MAX_SL 15

static uint32_t crc_of(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}

/* ---- what is to be written ---- */

static uint32_t way_of(const struct fors_schedule *schedule, uint32_t leaf, uint32_t dst, uint32_t path)
{
	return schedule->ways ? fors_waylist_find(schedule->ways, leaf, dst, path) : FORS_NONE;
}

/* Do two servers before this one send all that it sends, but perhaps to itself? */
static bool is_third(const struct fors_schedule *schedule, uint32_t s)
{
	const struct fors_schedule_server *server = schedule->server;
	uint32_t parts = schedule->parts;

	for (uint32_t back = parts; back <= 2 * parts; back += parts)
		if (s < back || server[s - back].leaf != server[s].leaf ||
		    server[s - back].rank % parts != server[s].rank % parts)
			return false;
	return true;
}

/*
 * In rounds, where nobody speaks of service levels: what a cell names all servers of its group send to, one after another,
 * but that one itself. So two of them have all units.
 */
static void mark_rounds(const struct fors_schedule *schedule, struct fors_schedule_units *units)
{
	for (uint32_t s = 0; s < schedule->nservers; s++) {
		const struct fors_schedule_server *server = &schedule->server[s];
		size_t group = (size_t)server->leaf * schedule->parts + server->rank % schedule->parts;
		const struct fors_cell *cell = schedule->cell + group * schedule->nphases;
		uint8_t *row = units->sl + (size_t)server->leaf * schedule->nservers * units->npaths;

		if (is_third(schedule, s))
			continue;
		for (uint32_t i = 0; i < schedule->nphases; i++)
			if (cell[i].dst < schedule->nservers && cell[i].dst != s)
				row[(size_t)cell[i].dst * units->npaths + cell[i].path] = FORS_NO_SL;
	}
}

/* Which units have flows, and on which service level. */
static void mark_units(const struct fors_schedule *schedule, struct fors_schedule_units *units)
{
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
			size_t row = (size_t)schedule->server[s].leaf * schedule->nservers;
			uint8_t level, *unit;

			if (cell.dst >= schedule->nservers)
				continue;
			level = fors_schedule_sl(schedule, s, cell.dst);
			level = level > MAX_SL ? FORS_NO_SL : level;
			unit = &units->sl[(row + cell.dst) * units->npaths + cell.path];
			if (*unit != NO_FLOW && *unit != level)
				units->is_uniform = false;
			*unit = level;
		}
}

/* Give numbers to the ways from `way` to its end that have none, from the end backwards. */
static void number_way(const struct fors_waylist *ways, uint32_t way, struct fors_schedule_units *units)
{
	uint32_t met[FORS_WAY_MAX], n = 0;

	for (; way != FORS_NONE && n < FORS_WAY_MAX && units->way_number[way] == FORS_NONE; way = ways->way[way].rest)
		met[n++] = way;
	while (n-- > 0) {
		units->way_number[met[n]] = units->nways;
		units->way_order[units->nways++] = met[n];
	}
}

static void number_ways(const struct fors_schedule *schedule, struct fors_schedule_units *units)
{
	const uint8_t *sl = units->sl;

	for (uint32_t leaf = 0; leaf < schedule->nleaves; leaf++)
		for (uint32_t dst = 0; dst < schedule->nservers; dst++)
			for (uint32_t path = 0; path < units->npaths; path++, sl++) {
				uint32_t way = way_of(schedule, leaf, dst, path);

				if (*sl == NO_FLOW)
					continue;
				units->nunits += way != FORS_NONE;
				units->nunits_sl += way != FORS_NONE || *sl != FORS_NO_SL;
				if (way != FORS_NONE)
					number_way(schedule->ways, way, units);
			}
}

struct by_guid {
	uint64_t guid;
	uint32_t sw;
};

static int compare_guids(const void *a, const void *b)
{
	const struct by_guid *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* Switches of leaves, then those on ways by GUID. */
static enum fors_err number_switches(const struct fors_waylist *ways, struct fors_schedule_units *units,
				     struct fors_error *error)
{
	struct by_guid *others = malloc(((size_t)ways->nswitches + 1) * sizeof(*others));
	uint32_t n = 0;

	if (!others)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < units->nways; i++) {
		uint16_t sw = ways->way[units->way_order[i]].sw;

		if (sw >= ways->nleaves && units->switch_number[sw] == FORS_NONE) {
			units->switch_number[sw] = 0;
			others[n++] = (struct by_guid){ways->guid[sw], sw};
		}
	}
	qsort(others, n, sizeof(*others), compare_guids);
	for (uint32_t sw = 0; sw < ways->nleaves; sw++)
		units->switch_order[units->switch_number[sw] = sw] = sw;
	for (uint32_t i = 0; i < n; i++)
		units->switch_order[units->switch_number[others[i].sw] = ways->nleaves + i] = others[i].sw;
	units->nswitches = units->nways ? ways->nleaves + n : 0;
	free(others);
	return FORS_OK;
}

static uint32_t *new_numbers(uint32_t n)
{
	uint32_t *number = malloc(((size_t)n + 1) * sizeof(*number));

	if (number)
		memset(number, 0xFF, ((size_t)n + 1) * sizeof(*number));
	return number;
}

static bool allocate(const struct fors_waylist *ways, size_t nunits, struct fors_schedule_units *units)
{
	uint32_t nways = ways ? ways->nways : 0, nswitches = ways ? ways->nswitches : 0;

	units->sl = malloc(nunits + 1);
	units->way_number = new_numbers(nways);
	units->way_order = new_numbers(nways);
	units->switch_number = new_numbers(nswitches);
	units->switch_order = new_numbers(nswitches);
	if (!units->sl || !units->way_number || !units->way_order || !units->switch_number || !units->switch_order)
		return false;
	memset(units->sl, NO_FLOW, nunits);
	return true;
}

void fors_schedule_units_free(struct fors_schedule_units *units)
{
	free(units->sl);
	free(units->way_number);
	free(units->way_order);
	free(units->switch_number);
	free(units->switch_order);
}

enum fors_err fors_schedule_units_find(const struct fors_schedule *schedule, uint32_t npaths,
				       struct fors_schedule_units *units, struct fors_error *error)
{
	const struct fors_waylist *ways = schedule->ways;
	uint64_t nunits = (uint64_t)schedule->nleaves * schedule->nservers * npaths;

	*units = (struct fors_schedule_units){.npaths = npaths, .is_uniform = true};
	if (nunits > FORS_SF_MAX_UNITS || schedule->nservers > FORS_SF_MAX_SERVERS)
		return fors_fail(error, FORS_ELIMIT,
				 "schedule: %u servers on %u switches over %u path indices are more than a file of "
				 "version 2 can hold (%u servers, %u for each of switch, server and index)",
				 schedule->nservers, schedule->nleaves, npaths, FORS_SF_MAX_SERVERS, FORS_SF_MAX_UNITS);
	if (ways && schedule->nphases && (ways->nleaves != schedule->nleaves || ways->nservers != schedule->nservers))
		return fors_fail(error, FORS_EINPUT, "schedule: its ways are those of %u switches and %u servers",
				 ways->nleaves, ways->nservers);
	if (!allocate(ways, nunits, units))
		return fors_fail_memory(error);
	if (schedule->parts && !schedule->sl)
		mark_rounds(schedule, units);
	else
		mark_units(schedule, units);
	number_ways(schedule, units);
	return ways ? number_switches(ways, units, error) : FORS_OK;
}

/* ---- writing ---- */

static void put_switches(const struct fors_waylist *ways, const struct fors_schedule_units *units, unsigned char *to)
{
	for (uint32_t i = 0; i < units->nswitches; i++) {
		uint64_t guid = htole64(ways->guid[units->switch_order[i]]);

		memcpy(to + (size_t)i * 8, &guid, 8);
	}
}

static void put_ways(const struct fors_waylist *ways, const struct fors_schedule_units *units, unsigned char *to)
{
	for (uint32_t i = 0; i < units->nways; i++) {
		const struct fors_waylist_way *from = &ways->way[units->way_order[i]];
		struct fors_sf_way way = {
			.rest = htole32(from->rest == FORS_NONE ? FORS_SF_NONE : units->way_number[from->rest]),
			.sw = htole16((uint16_t)units->switch_number[from->sw]),
			.port = from->port,
		};

		memcpy(to + (size_t)i * sizeof(way), &way, sizeof(way));
	}
}

/* The switch in the file that is the topmost of a way. */
static uint16_t top_of(const struct fors_waylist *ways, const struct fors_schedule_units *units, uint32_t way)
{
	uint32_t steps = ways->way[way].top;

	if (steps == FORS_WAY_NO_TOP)
		return FORS_SF_NO_TOP;
	while (steps-- && way != FORS_NONE)
		way = ways->way[way].rest;
	return way == FORS_NONE ? FORS_SF_NO_TOP : (uint16_t)units->switch_number[ways->way[way].sw];
}

/* The units of a leaf, from `to` on; returns how many. */
static uint32_t put_leaf(const struct fors_schedule *schedule, const struct fors_schedule_units *units, bool is_dense,
			 uint32_t leaf, unsigned char *to)
{
	const uint8_t *sl = units->sl + (size_t)leaf * schedule->nservers * units->npaths;
	uint32_t n = 0;

	for (uint32_t dst = 0; dst < schedule->nservers; dst++)
		for (uint32_t path = 0; path < units->npaths; path++, sl++) {
			uint32_t way = way_of(schedule, leaf, dst, path);
			struct fors_sf_unit unit = {.dst = htole16((uint16_t)dst),
						    .top = htole16(FORS_SF_NO_TOP),
						    .way = htole32(FORS_SF_NONE),
						    .path = (uint8_t)path,
						    .sl = is_dense ? FORS_SF_NO_SL : *sl};

			if (*sl == NO_FLOW || (way == FORS_NONE && unit.sl == FORS_SF_NO_SL))
				continue;
			if (way != FORS_NONE) {
				unit.top = htole16(top_of(schedule->ways, units, way));
				unit.way = htole32(units->way_number[way]);
			}
			memcpy(to + (size_t)n++ * sizeof(unit), &unit, sizeof(unit));
		}
	return n;
}

void fors_schedule_units_put(const struct fors_schedule *schedule, const struct fors_schedule_units *units,
			     const struct fors_schedule_shape *shape, unsigned char *bytes)
{
	uint32_t first = 0;

	put_switches(schedule->ways, units, bytes + shape->switches);
	put_ways(schedule->ways, units, bytes + shape->ways);
	for (uint32_t leaf = 0; leaf < shape->nleaves; leaf++) {
		unsigned char *at = bytes + shape->units + (size_t)first * sizeof(struct fors_sf_unit);
		uint32_t n = put_leaf(schedule, units, fors_schedule_has_sl_in_cells(shape), leaf, at);
		struct fors_sf_leaf entry = {htole32(first), htole32(crc_of(at, n * sizeof(struct fors_sf_unit)))};

		memcpy(bytes + shape->leaves + (size_t)leaf * sizeof(entry), &entry, sizeof(entry));
		first += n;
	}
}

/* ---- reading ---- */

struct reader {
	const unsigned char *bytes;
	const struct fors_schedule_header *header;
	const struct fors_schedule_shape *shape;
	struct fors_schedule *schedule;
	struct fors_waylist *ways;
	uint16_t *last;	 /* of each way: its last switch */
	uint8_t *length; /* of each way: switches */
	uint8_t *sl;	 /* of each unit, as in struct fors_schedule_units */
	bool has_sl;	 /* is any known? */
	const char *fault;
};

static struct fors_sf_leaf get_leaf(const struct reader *reader, uint32_t leaf)
{
	struct fors_sf_leaf entry = {htole32(reader->shape->nunits), 0}; /* behind the last one */

	if (leaf < reader->shape->nleaves)
		memcpy(&entry, reader->bytes + reader->shape->leaves + (size_t)leaf * sizeof(entry), sizeof(entry));
	return (struct fors_sf_leaf){le32toh(entry.first), le32toh(entry.crc)};
}

static struct fors_sf_unit get_unit(const struct reader *reader, uint32_t i)
{
	struct fors_sf_unit unit;

	memcpy(&unit, reader->bytes + reader->shape->units + (size_t)i * sizeof(unit), sizeof(unit));
	unit.dst = le16toh(unit.dst);
	unit.top = le16toh(unit.top);
	unit.way = le32toh(unit.way);
	return unit;
}

static const char *check_leaf_sums(const struct reader *reader)
{
	const unsigned char *units = reader->bytes + reader->shape->units;

	if (reader->shape->nleaves ? get_leaf(reader, 0).first != 0 : reader->shape->nunits != 0)
		return "units that belong to no leaf";
	for (uint32_t leaf = 0; leaf < reader->shape->nleaves; leaf++) {
		struct fors_sf_leaf entry = get_leaf(reader, leaf);
		uint32_t next = get_leaf(reader, leaf + 1).first;

		if (entry.first > next || next > reader->shape->nunits)
			return "units that belong to no leaf";
		if (crc_of(units + (size_t)entry.first * sizeof(struct fors_sf_unit),
			   (size_t)(next - entry.first) * sizeof(struct fors_sf_unit)) != entry.crc)
			return "checksum of a leaf's units";
	}
	return NULL;
}

static const char *check_sums(const struct reader *reader)
{
	const struct fors_schedule_shape *shape = reader->shape;

	if (crc_of(reader->bytes + shape->switches, shape->ways - shape->switches) != reader->header->switches_crc)
		return "checksum of the switches";
	if (crc_of(reader->bytes + shape->ways, shape->leaves - shape->ways) != reader->header->ways_crc)
		return "checksum of the ways";
	if (crc_of(reader->bytes + shape->leaves, shape->units - shape->leaves) != reader->header->leaves_crc)
		return "checksum of the leaves";
	if (shape->nswitches > FORS_LID_MAX || (shape->nways ? shape->nswitches < shape->nleaves : shape->nswitches))
		return "the number of switches";
	return check_leaf_sums(reader);
}

static const char *get_switches(struct reader *reader)
{
	for (uint32_t sw = 0; sw < reader->shape->nswitches; sw++) {
		uint64_t guid;

		memcpy(&guid, reader->bytes + reader->shape->switches + (size_t)sw * 8, 8);
		reader->ways->guid[sw] = le64toh(guid);
		if (!guid)
			return "a switch without a GUID";
	}
	return NULL;
}

static const char *get_ways(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->shape->nways; i++) {
		struct fors_sf_way from;
		uint32_t rest;

		memcpy(&from, reader->bytes + reader->shape->ways + (size_t)i * sizeof(from), sizeof(from));
		rest = le32toh(from.rest);
		if (le16toh(from.sw) >= reader->shape->nswitches || (rest != FORS_SF_NONE && rest >= i) ||
		    (rest == FORS_SF_NONE) != (from.port == 0) || from.reserved)
			return "a way over switches that are not there";
		if (rest != FORS_SF_NONE && reader->length[rest] >= FORS_SF_MAX_HOPS)
			return "a way that is too long";
		reader->ways->way[i] = (struct fors_waylist_way){
			.rest = rest, .sw = le16toh(from.sw), .port = from.port, .top = FORS_WAY_NO_TOP};
		reader->length[i] = rest == FORS_SF_NONE ? 1 : (uint8_t)(reader->length[rest] + 1);
		reader->last[i] = rest == FORS_SF_NONE ? le16toh(from.sw) : reader->last[rest];
	}
	return NULL;
}

/* The topmost switch of a unit has to be on its way. */
static const char *get_top(struct reader *reader, const struct fors_sf_unit *unit)
{
	struct fors_waylist_way *way = &reader->ways->way[unit->way];
	uint32_t at = unit->way, steps = 0;

	if (unit->top == FORS_SF_NO_TOP)
		return NULL;
	while (at != FORS_NONE && reader->ways->way[at].sw != unit->top) {
		at = reader->ways->way[at].rest;
		steps++;
	}
	if (at == FORS_NONE)
		return "a topmost switch that is not on the way";
	way->top = (uint8_t)steps;
	return NULL;
}

static const char *get_way_of_unit(struct reader *reader, uint32_t leaf, const struct fors_sf_unit *unit, size_t at)
{
	if (unit->way == FORS_SF_NONE)
		return unit->top == FORS_SF_NO_TOP ? NULL : "a topmost switch that is not on the way";
	if (unit->way >= reader->shape->nways)
		return "a way that is not there";
	if (reader->ways->way[unit->way].sw != leaf ||
	    reader->last[unit->way] != reader->schedule->server[unit->dst].leaf)
		return "a way that goes elsewhere";
	reader->ways->of[at] = unit->way;
	return get_top(reader, unit);
}

static const char *get_units(struct reader *reader)
{
	const struct fors_schedule_shape *shape = reader->shape;

	for (uint32_t leaf = 0; leaf < shape->nleaves; leaf++)
		for (uint32_t i = get_leaf(reader, leaf).first; i < get_leaf(reader, leaf + 1).first; i++) {
			struct fors_sf_unit unit = get_unit(reader, i);
			size_t at = ((size_t)leaf * shape->nservers + unit.dst) * shape->npaths + unit.path;
			const char *fault;

			if (unit.dst >= shape->nservers || unit.path >= shape->npaths || unit.reserved)
				return "a unit of flows that are not there";
			if (unit.sl != FORS_SF_NO_SL && (unit.sl > MAX_SL || fors_schedule_has_sl_in_cells(shape)))
				return "a service level above 15";
			fault = get_way_of_unit(reader, leaf, &unit, at);
			if (fault)
				return fault;
			reader->sl[at] = unit.sl;
			reader->has_sl |= unit.sl != FORS_SF_NO_SL;
		}
	return NULL;
}

uint8_t *fors_schedule_make_sl(struct fors_schedule *schedule)
{
	size_t size = (size_t)schedule->nservers * schedule->nservers;

	if (schedule->sl)
		return schedule->sl;
	schedule->sl = malloc(size + 1);
	if (schedule->sl)
		memset(schedule->sl, FORS_NO_SL, size);
	return schedule->sl;
}

/* Each flow gets the service level of its unit. */
static enum fors_err spread_sl(const struct reader *reader, struct fors_error *error)
{
	struct fors_schedule *schedule = reader->schedule;

	if (!reader->has_sl)
		return FORS_OK;
	if (!fors_schedule_make_sl(schedule))
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
			size_t row = (size_t)schedule->server[s].leaf * schedule->nservers;

			if (cell.dst != FORS_IDLE)
				schedule->sl[(size_t)s * schedule->nservers + cell.dst] =
					reader->sl[(row + cell.dst) * reader->shape->npaths + cell.path];
		}
	return FORS_OK;
}

static enum fors_err make_ways(struct reader *reader, struct fors_error *error)
{
	const struct fors_schedule_shape *shape = reader->shape;
	uint64_t *guid = calloc((size_t)shape->nleaves + shape->nswitches + 1, sizeof(*guid));
	enum fors_err err = guid ? fors_waylist_new(shape->nleaves, guid, shape->nservers, shape->npaths,
						    &reader->schedule->ways, error)
				 : fors_fail_memory(error);

	if (err) {
		free(guid);
		return err;
	}
	reader->ways = reader->schedule->ways;
	free(reader->ways->guid);
	reader->ways->guid = guid;
	free(reader->ways->way);
	reader->ways->way = calloc((size_t)shape->nways + 1, sizeof(*reader->ways->way));
	reader->last = calloc((size_t)shape->nways + 1, sizeof(*reader->last));
	reader->length = calloc((size_t)shape->nways + 1, sizeof(*reader->length));
	reader->sl = malloc((size_t)shape->nleaves * shape->nservers * shape->npaths + 1);
	if (!reader->ways->way || !reader->last || !reader->length || !reader->sl)
		return fors_fail_memory(error);
	memset(reader->sl, FORS_NO_SL, (size_t)shape->nleaves * shape->nservers * shape->npaths);
	return FORS_OK;
}

static enum fors_err get_all(struct reader *reader, struct fors_error *error)
{
	enum fors_err err;

	reader->fault = check_sums(reader);
	if (reader->fault)
		return FORS_OK;
	err = make_ways(reader, error);
	if (err)
		return err;
	reader->fault = get_switches(reader);
	if (!reader->fault)
		reader->fault = get_ways(reader);
	if (!reader->fault) {
		reader->ways->nways = reader->shape->nways;
		if (reader->shape->nways)
			reader->ways->nswitches = reader->shape->nswitches;
		err = fors_waylist_find_twins(reader->ways, &reader->fault, error);
	}
	if (!err && !reader->fault)
		reader->fault = get_units(reader);
	return err || reader->fault ? err : spread_sl(reader, error);
}

enum fors_err fors_schedule_units_get(const unsigned char *bytes, const struct fors_schedule_header *header,
				      struct fors_schedule *schedule, const char **fault, struct fors_error *error)
{
	struct reader reader = {.bytes = bytes, .header = header, .shape = &header->shape, .schedule = schedule};
	enum fors_err err = get_all(&reader, error);

	if (!err && reader.fault)
		*fault = reader.fault;
	free(reader.last);
	free(reader.length);
	free(reader.sl);
	return err;
}
