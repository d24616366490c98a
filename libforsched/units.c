/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Versions 2 and 3: units, ways and switches. A unit is what all flows from the servers of a leaf to one server over one path
 * index have in common: the way and, mostly, the service level. Each server reads the units of its own leaf, with its
 * row; ways are read when somebody asks for one. The rules and their numbers are those of schedule_format.h: what makes
 * an answer safe is checked when a part is read, the rest (that all parts fit each other, and are in the one order that
 * the writer uses) by forsched_check().
 */
#include "config.h"

#include "internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SL 15

_Static_assert(FORSCHED_NO_SL == FORS_SF_NO_SL, "marks differ");
_Static_assert(sizeof(struct forsched_hop) == 16 && sizeof(struct fors_sf_unit) == 12, "structs have holes");

/* ---- at open: switches, and where units are ---- */

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Rule 13, as far as no way is needed for it. */
static const char *fault_of_switches(const struct forsched *schedule, uint64_t *sorted)
{
	uint32_t nswitches = schedule->shape.nswitches;

	for (uint32_t i = 0; i < nswitches; i++) {
		sorted[i] = schedule->sw[i];
		if (!schedule->sw[i])
			return "a switch without a GUID";
		if (i > schedule->shape.nleaves && schedule->sw[i] < schedule->sw[i - 1])
			return "the order of the switches";
	}
	qsort(sorted, nswitches, sizeof(*sorted), compare_guids);
	for (uint32_t i = 1; i < nswitches; i++)
		if (sorted[i] == sorted[i - 1])
			return "two switches with the same GUID";
	return NULL;
}

static enum forsched_err read_guids(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	size_t size = (size_t)shape->nswitches * sizeof(uint64_t);
	enum forsched_err err = FORSCHED_OK;
	const char *fault;
	uint64_t *sorted;

	schedule->sw = forsched_i_read_section(&schedule->source, shape->switches, size, shape->switches_crc,
					       "checksum of the switches", &err, error);
	if (err)
		return err;
	for (uint32_t i = 0; i < shape->nswitches; i++)
		schedule->sw[i] = le64toh(schedule->sw[i]);
	sorted = malloc(size + 1);
	if (!sorted)
		return forsched_i_fail_memory(error);
	fault = fault_of_switches(schedule, sorted);
	free(sorted);
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}

static enum forsched_err read_leaves(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	size_t size = (size_t)shape->nleaves * sizeof(struct fors_sf_leaf);
	uint32_t before = 0;
	enum forsched_err err = FORSCHED_OK;
	struct fors_sf_leaf *from = forsched_i_read_section(&schedule->source, shape->leaves, size, shape->leaves_crc,
							    "checksum of the leaves", &err, error);

	if (err)
		return err;
	schedule->leaf = calloc((size_t)shape->nleaves + 1, sizeof(*schedule->leaf));
	schedule->units = calloc((size_t)shape->nleaves + 1, sizeof(struct leaf_units *));
	if (!schedule->leaf || !schedule->units)
		err = forsched_i_fail_memory(error);
	for (uint32_t leaf = 0; !err && leaf < shape->nleaves; leaf++) {
		struct fors_sf_leaf entry = {le32toh(from[leaf].first), le32toh(from[leaf].crc)};

		if (leaf ? entry.first < before : entry.first != 0)
			err = forsched_i_corrupt(&schedule->source, "units that belong to no leaf", error);
		schedule->leaf[leaf] = entry;
		before = entry.first;
	}
	free(from);
	if (!err && (before > shape->nunits || (!shape->nleaves && shape->nunits)))
		err = forsched_i_corrupt(&schedule->source, "units that belong to no leaf", error);
	if (!err)
		schedule->leaf[shape->nleaves].first = shape->nunits;
	return err;
}

enum forsched_err forsched_i_read_switches(struct forsched *schedule, struct forsched_error *error)
{
	enum forsched_err err = read_guids(schedule, error);

	return err ? err : read_leaves(schedule, error);
}

/* ---- rows whose cells are pairs of numbers ---- */

/* Number `i` of a row, as partner and path; nobody is FORS_SF_IDLE and 0. False: there is no such server. */
static bool get_number(const struct shape *shape, const unsigned char *from, size_t i, uint16_t *partner, uint8_t *path)
{
	uint32_t number;
	uint16_t narrow;

	if (shape->cell_size == 4) {
		memcpy(&narrow, from + i * 2, 2);
		number = le16toh(narrow) == UINT16_MAX ? UINT32_MAX : le16toh(narrow);
	} else {
		memcpy(&number, from + i * 4, 4);
		number = le32toh(number);
	}
	*partner = FORS_SF_IDLE;
	*path = 0;
	if (number == UINT32_MAX)
		return true;
	if (number / shape->npaths >= shape->nservers)
		return false;
	*partner = (uint16_t)(number / shape->npaths);
	*path = (uint8_t)(number % shape->npaths);
	return true;
}

enum forsched_err forsched_i_units_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
				       struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	unsigned char *numbers = malloc((size_t)shape->nphases * shape->cell_size);
	bool is_good = true;
	enum forsched_err err = numbers ? FORSCHED_OK : forsched_i_fail_memory(error);

	if (!err)
		err = forsched_i_read_cells(schedule, s, numbers, error);
	for (uint32_t phase = 0; !err && phase < shape->nphases; phase++) {
		struct fors_sf_cell *cell = &row[phase];

		*cell = (struct fors_sf_cell){.lane = FORS_SF_NO_SL};
		is_good &= get_number(shape, numbers, (size_t)phase * 2, &cell->dst, &cell->path);
		is_good &= get_number(shape, numbers, (size_t)phase * 2 + 1, &cell->src, &cell->in_path);
	}
	free(numbers);
	if (!err && !is_good)
		err = forsched_i_corrupt(&schedule->source, "a flow with a server that is not there", error);
	if (!err && !forsched_i_put_reverse(schedule, row))
		err = forsched_i_fail_memory(error);
	return err;
}

/* ---- units ---- */

/* Then units have no service levels. */
static bool has_sl_in_cells(const struct shape *shape)
{
	return shape->layout == FORS_SF_DENSE || shape->layout == FORS_SF_PIECES;
}

/* Rule 15, as far as neither ways nor flows are needed for it. */
static const char *fault_of_unit(const struct forsched *schedule, const struct fors_sf_unit *unit,
				 const struct fors_sf_unit *before)
{
	const struct shape *shape = &schedule->shape;

	if (unit->dst >= shape->nservers || unit->path >= shape->npaths || unit->reserved)
		return "a unit of flows that are not there";
	if (before && (before->dst > unit->dst || (before->dst == unit->dst && before->path >= unit->path)))
		return "the order of a leaf's units";
	if (unit->sl != FORS_SF_NO_SL && (unit->sl > MAX_SL || has_sl_in_cells(shape)))
		return "a service level above 15";
	if (unit->way == FORS_SF_NONE && (unit->sl == FORS_SF_NO_SL || unit->top != FORS_SF_NO_TOP))
		return "a unit that says nothing";
	if (unit->way != FORS_SF_NONE && unit->way >= shape->nways)
		return "a way that is not there";
	return unit->top != FORS_SF_NO_TOP && unit->top >= shape->nswitches ? "a switch that is not there" : NULL;
}

static const char *decode_units(const struct forsched *schedule, struct leaf_units *units)
{
	const char *fault = NULL;

	for (uint32_t i = 0; !fault && i < units->count; i++) {
		struct fors_sf_unit *unit = &units->unit[i];

		unit->dst = le16toh(unit->dst);
		unit->top = le16toh(unit->top);
		unit->way = le32toh(unit->way);
		fault = fault_of_unit(schedule, unit, i ? unit - 1 : NULL);
	}
	return fault;
}

/* The units of a leaf; under the lock. */
static enum forsched_err read_units(struct forsched *schedule, uint32_t leaf, struct forsched_error *error)
{
	uint32_t first = schedule->leaf[leaf].first, count = schedule->leaf[leaf + 1].first - first;
	size_t size = (size_t)count * sizeof(struct fors_sf_unit);
	struct leaf_units *units;
	enum forsched_err err;
	const char *fault;

	if (schedule->units[leaf])
		return FORSCHED_OK;
	units = malloc(sizeof(*units) + size);
	if (!units)
		return forsched_i_fail_memory(error);
	units->count = count;
	err = forsched_i_read_part(schedule, schedule->shape.units + (uint64_t)first * sizeof(struct fors_sf_unit),
				   size, schedule->leaf[leaf].crc, "checksum of a leaf's units", units->unit, error);
	if (!err) {
		fault = decode_units(schedule, units);
		err = fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
	}
	if (err)
		free(units);
	else
		schedule->units[leaf] = units;
	return err;
}

/* Index of the unit of flows to dst over this path. */
static uint32_t find_unit(const struct leaf_units *units, uint16_t dst, uint8_t path)
{
	uint32_t low = 0, high = units->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct fors_sf_unit *unit = &units->unit[middle];

		if (unit->dst == dst && unit->path == path)
			return middle;
		if (unit->dst < dst || (unit->dst == dst && unit->path < path))
			low = middle + 1;
		else
			high = middle;
	}
	return NO_UNIT;
}

/* Where a row keeps the units of its cells. */
static uint32_t *units_of_row(const struct forsched *schedule, const struct fors_sf_cell *row)
{
	return (uint32_t *)(row + schedule->shape.nphases);
}

enum forsched_err forsched_i_find_units(struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_error *error)
{
	uint32_t *found = units_of_row(schedule, row);
	enum forsched_err err = read_units(schedule, schedule->server[s].leaf, error);
	const struct leaf_units *units;

	if (err)
		return err;
	units = schedule->units[schedule->server[s].leaf];
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++) {
		struct fors_sf_cell *cell = &row[phase];

		found[phase] = cell->dst == FORS_SF_IDLE ? NO_UNIT : find_unit(units, cell->dst, cell->path);
		if (found[phase] != NO_UNIT && !has_sl_in_cells(&schedule->shape))
			cell->lane = units->unit[found[phase]].sl;
	}
	return FORSCHED_OK;
}

const struct fors_sf_unit *forsched_i_unit_of(const struct forsched *schedule, uint32_t s,
					      const struct fors_sf_cell *row, uint32_t phase)
{
	uint32_t unit = units_of_row(schedule, row)[phase];

	return unit == NO_UNIT ? NULL : &schedule->units[schedule->server[s].leaf]->unit[unit];
}

/* ---- ways ---- */

/* Rule 14 for each way by itself: it ends, in switches that are there. `length` has a byte for each way. */
static const char *decode_ways(const struct shape *shape, struct fors_sf_way *way, uint8_t *length)
{
	for (uint32_t i = 0; i < shape->nways; i++) {
		way[i].rest = le32toh(way[i].rest);
		way[i].sw = le16toh(way[i].sw);
		if (way[i].sw >= shape->nswitches || way[i].reserved ||
		    (way[i].rest == FORS_SF_NONE ? way[i].port != 0 : way[i].port == 0 || way[i].rest >= i))
			return "a way over switches that are not there";
		length[i] = 1;
		if (way[i].rest == FORS_SF_NONE)
			continue;
		if (length[way[i].rest] >= FORS_SF_MAX_HOPS)
			return "a way that is too long";
		length[i] = (uint8_t)(length[way[i].rest] + 1);
	}
	return NULL;
}

static enum forsched_err make_ways(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	size_t size = (size_t)shape->nways * sizeof(struct fors_sf_way);
	struct fors_sf_way *way = malloc(size + 1);
	uint8_t *length = malloc((size_t)shape->nways + 1);
	enum forsched_err err = way && length ? FORSCHED_OK : forsched_i_fail_memory(error);

	if (!err)
		err = forsched_i_read_part(schedule, shape->ways, size, shape->ways_crc, "checksum of the ways", way,
					   error);
	if (!err) {
		const char *fault = decode_ways(shape, way, length);

		err = fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
	}
	free(length);
	if (err)
		free(way);
	else
		__atomic_store_n(&schedule->way, way, __ATOMIC_RELEASE);
	return err;
}

enum forsched_err forsched_i_read_ways(const struct forsched *schedule, struct forsched_error *error)
{
	struct forsched *own = (struct forsched *)schedule; /* constant for callers: what grows is under the lock */
	enum forsched_err err = FORSCHED_OK;

	if (__atomic_load_n(&schedule->way, __ATOMIC_ACQUIRE))
		return FORSCHED_OK;
	pthread_mutex_lock(&own->lock);
	if (!own->way)
		err = make_ways(own, error);
	pthread_mutex_unlock(&own->lock);
	return err;
}

/* ---- all of it ---- */

/* What a check keeps: of each way its last switch, and what units say is its topmost; which switches are on ways. */
struct check {
	const struct forsched *schedule;
	const struct fors_sf_way *way;
	uint16_t *last;
	uint32_t *top; /* NO_UNIT: no unit had this way yet */
	bool *is_used; /* by switch */
	uint64_t *key; /* of each way: all that it says, in one number */
	uint32_t next; /* number of the next way that is met for the first time */
};

static int compare_keys(const void *a, const void *b)
{
	return compare_guids(a, b);
}

static const char *fault_of_ways(struct check *check)
{
	const struct shape *shape = &check->schedule->shape;

	for (uint32_t i = 0; i < shape->nways; i++) {
		const struct fors_sf_way *way = &check->way[i];

		check->last[i] = way->rest == FORS_SF_NONE ? way->sw : check->last[way->rest];
		check->top[i] = NO_UNIT;
		check->is_used[way->sw] = true;
		check->key[i] = (uint64_t)way->rest << 32 | (uint32_t)way->sw << 8 | way->port;
	}
	for (uint32_t sw = shape->nleaves; sw < shape->nswitches; sw++)
		if (!check->is_used[sw])
			return "a switch that is on no way";
	qsort(check->key, shape->nways, sizeof(*check->key), compare_keys);
	for (uint32_t i = 1; i < shape->nways; i++)
		if (check->key[i] == check->key[i - 1])
			return "two ways that are alike";
	return NULL;
}

/* The ways that are met for the first time have the next numbers, from the end backwards. */
static bool is_numbered(struct check *check, uint32_t way)
{
	uint32_t at = way, met = 0;

	while (at != FORS_SF_NONE && at >= check->next) {
		if (at != way - met)
			return false;
		met++;
		at = check->way[at].rest;
	}
	if (met && way != check->next + met - 1)
		return false;
	check->next += met;
	return true;
}

/* Is the switch on the way? */
static bool is_on_way(const struct check *check, uint32_t way, uint16_t sw)
{
	while (way != FORS_SF_NONE && check->way[way].sw != sw)
		way = check->way[way].rest;
	return way != FORS_SF_NONE;
}

static const char *fault_of_way(struct check *check, uint32_t leaf, const struct fors_sf_unit *unit)
{
	uint32_t *top;

	if (unit->way == FORS_SF_NONE)
		return NULL;
	if (!is_numbered(check, unit->way))
		return "the order of the ways";
	if (check->way[unit->way].sw != leaf || check->last[unit->way] != check->schedule->server[unit->dst].leaf)
		return "a way that goes elsewhere";
	top = &check->top[unit->way];
	if (*top == NO_UNIT && unit->top != FORS_SF_NO_TOP && !is_on_way(check, unit->way, unit->top))
		return "a topmost switch that is not on the way";
	if (*top != NO_UNIT && *top != unit->top)
		return "a way with two topmost switches";
	*top = unit->top;
	return NULL;
}

/* Has each unit of the leaf a flow? `has_flow` has a byte for each, all 0. */
static bool have_flows(const struct forsched *schedule, uint32_t leaf, uint8_t *has_flow)
{
	const struct leaf_units *units = schedule->units[leaf];

	for (uint32_t s = schedule->leaf_first[leaf]; s < schedule->leaf_first[leaf + 1]; s++)
		for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++) {
			uint32_t unit = units_of_row(schedule, schedule->row[s])[phase];

			if (unit != NO_UNIT)
				has_flow[unit] = 1;
		}
	for (uint32_t i = 0; i < units->count; i++)
		if (!has_flow[i])
			return false;
	return true;
}

static enum forsched_err check_leaf(struct check *check, uint32_t leaf, struct forsched_error *error)
{
	const struct forsched *schedule = check->schedule;
	uint32_t count = schedule->leaf[leaf + 1].first - schedule->leaf[leaf].first;
	const char *fault = NULL;
	uint8_t *has_flow;

	if (!count && schedule->leaf[leaf].crc)
		return forsched_i_corrupt(&schedule->source, "checksum of a leaf's units", error);
	if (!count)
		return FORSCHED_OK;
	if (!schedule->units[leaf]) /* nobody on it asked for a row: it has no servers */
		return forsched_i_corrupt(&schedule->source, "a unit of flows that are not there", error);
	has_flow = calloc(count, 1);
	if (!has_flow)
		return forsched_i_fail_memory(error);
	if (!have_flows(schedule, leaf, has_flow))
		fault = "a unit of flows that are not there";
	free(has_flow);
	for (uint32_t i = 0; !fault && i < count; i++)
		fault = fault_of_way(check, leaf, &schedule->units[leaf]->unit[i]);
	return fault ? forsched_i_corrupt(&schedule->source, fault, error) : FORSCHED_OK;
}

static enum forsched_err check_all(struct check *check, struct forsched_error *error)
{
	const struct shape *shape = &check->schedule->shape;
	enum forsched_err err = FORSCHED_OK;
	const char *fault = fault_of_ways(check);

	for (uint32_t leaf = 0; !fault && !err && leaf < shape->nleaves; leaf++)
		err = check_leaf(check, leaf, error);
	if (!err && !fault && check->next != shape->nways)
		fault = "a way that no flow takes";
	return fault ? forsched_i_corrupt(&check->schedule->source, fault, error) : err;
}

enum forsched_err forsched_i_check_units(const struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	struct check check = {.schedule = schedule};
	enum forsched_err err = forsched_i_read_ways(schedule, error);

	if (err)
		return err;
	check.way = schedule->way;
	check.last = malloc(((size_t)shape->nways + 1) * sizeof(*check.last));
	check.top = malloc(((size_t)shape->nways + 1) * sizeof(*check.top));
	check.key = malloc(((size_t)shape->nways + 1) * sizeof(*check.key));
	check.is_used = calloc((size_t)shape->nswitches + 1, sizeof(*check.is_used));
	err = check.last && check.top && check.key && check.is_used ? check_all(&check, error)
								    : forsched_i_fail_memory(error);
	free(check.last);
	free(check.top);
	free(check.key);
	free(check.is_used);
	return err;
}
