/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - ways as a forest: every way points to the way from its next switch on.
 *
 * Ways are put from their ends backwards: the last switch first, then the one before it with that rest. A way that is
 * there already is found by (port, rest) in the hash table of its switch, so no two are alike, and a rest always has the
 * lower number: no circles can be put. The tables are open addressing with steps of one, at most half full; they hold
 * numbers, and what the numbers stand for is looked up.
 *
 * A table for each switch, and not one for all, since who lists ways lists those of a switch one after another: its table
 * stays in the cache, where millions of ways in one table would each be a line of memory that nobody has asked for before.
 */
#include "ways.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/net/net.h"

#define MAX_NUMBERS (1u << 28) /* of `of`: 1 GiB */
#define MAX_SWITCHES 65535

/* A hash table of numbers; `size` is a power of two, empty places hold FORS_NONE. */
struct table {
	uint32_t *bucket;
	uint32_t size, used;
};

struct fors_waylist_index {
	struct table switches;
	struct table *ways;			    /* per switch: those that begin there */
	uint32_t switch_room, way_room, table_room; /* places allocated in guid[], way[] and ways[] */
};

/* ---- hash tables ---- */

static uint64_t hash_switch(const struct fors_waylist *ways, uint32_t number)
{
	return fors_random_of(ways->guid[number]);
}

static uint64_t hash_way(const struct fors_waylist *ways, uint32_t number)
{
	const struct fors_waylist_way *way = &ways->way[number];

	return fors_random_of((uint64_t)way->rest << 8 | way->port);
}

/* The place of what has this hash, or where it would go. */
static uint32_t *find_bucket(const struct table *table, uint64_t hash, const struct fors_waylist *ways,
			     const void *wanted,
			     bool (*is_same)(const struct fors_waylist *ways, uint32_t number, const void *wanted))
{
	uint32_t at = (uint32_t)hash & (table->size - 1);

	while (table->bucket[at] != FORS_NONE && (!wanted || !is_same(ways, table->bucket[at], wanted)))
		at = (at + 1) & (table->size - 1);
	return &table->bucket[at];
}

/* Room for `more` more; numbers are hashed anew when the table grows. */
static bool make_room(struct table *table, const struct fors_waylist *ways, uint32_t more,
		      uint64_t (*hash)(const struct fors_waylist *ways, uint32_t number))
{
	struct table larger = {.size = table->size ? table->size : 16, .used = table->used};

	if (table->size && table->used + more <= table->size / 2)
		return true;
	while (table->used + (uint64_t)more > larger.size / 2)
		larger.size *= 2;
	larger.bucket = malloc((size_t)larger.size * sizeof(*larger.bucket));
	if (!larger.bucket)
		return false;
	memset(larger.bucket, 0xFF, (size_t)larger.size * sizeof(*larger.bucket));
	for (uint32_t i = 0; i < table->size; i++)
		if (table->bucket[i] != FORS_NONE)
			*find_bucket(&larger, hash(ways, table->bucket[i]), ways, NULL, NULL) = table->bucket[i];
	free(table->bucket);
	*table = larger;
	return true;
}

static bool grow_table(struct table *table, const struct fors_waylist *ways,
		       uint64_t (*hash)(const struct fors_waylist *ways, uint32_t number))
{
	return make_room(table, ways, 1, hash);
}

static bool is_switch(const struct fors_waylist *ways, uint32_t number, const void *wanted)
{
	return ways->guid[number] == *(const uint64_t *)wanted;
}

static bool is_way(const struct fors_waylist *ways, uint32_t number, const void *wanted)
{
	const struct fors_waylist_way *way = &ways->way[number], *other = wanted;

	return way->rest == other->rest && way->port == other->port;
}

/* ---- new, copy, free ---- */

static size_t count_numbers(const struct fors_waylist *ways)
{
	return (size_t)ways->nleaves * ways->nservers * ways->npaths;
}

enum fors_err fors_waylist_new(uint32_t nleaves, const uint64_t *leaf_guid, uint32_t nservers, uint32_t npaths,
			       struct fors_waylist **ways, struct fors_error *error)
{
	struct fors_waylist *made;

	if (nleaves > FORS_LID_MAX || nservers > FORS_LID_MAX || npaths > 1u << FORS_MAX_LMC ||
	    (uint64_t)nleaves * nservers * npaths > MAX_NUMBERS)
		return fors_fail(error, FORS_ELIMIT,
				 "ways of %u switches to %u servers over %u path indices are more than the 268,435,456 "
				 "that fors can keep",
				 nleaves, nservers, npaths);
	made = calloc(1, sizeof(*made));
	if (!made)
		return fors_fail_memory(error);
	*made = (struct fors_waylist){.nleaves = nleaves, .nservers = nservers, .npaths = npaths, .nswitches = nleaves};
	made->guid = malloc((nleaves + 1) * sizeof(*made->guid));
	made->way = malloc(sizeof(*made->way));
	made->of = malloc((count_numbers(made) + 1) * sizeof(*made->of));
	if (!made->guid || !made->way || !made->of) {
		fors_waylist_free(made);
		return fors_fail_memory(error);
	}
	if (nleaves)
		memcpy(made->guid, leaf_guid, nleaves * sizeof(*made->guid));
	memset(made->of, 0xFF, count_numbers(made) * sizeof(*made->of));
	*ways = made;
	return FORS_OK;
}

void fors_waylist_free(struct fors_waylist *ways)
{
	if (!ways)
		return;
	fors_waylist_trim(ways);
	free(ways->guid);
	free(ways->way);
	free(ways->of);
	free(ways);
}

void fors_waylist_trim(struct fors_waylist *ways)
{
	if (!ways->index)
		return;
	for (uint32_t sw = 0; ways->index->ways && sw < ways->nswitches; sw++)
		free(ways->index->ways[sw].bucket);
	free(ways->index->switches.bucket);
	free(ways->index->ways);
	free(ways->index);
	ways->index = NULL;
}

/* ---- putting ---- */

/* Put a number into its table; is_twin: the same is there already. */
static bool index_switch(struct fors_waylist *ways, uint32_t sw, bool *is_twin)
{
	struct table *table = &ways->index->switches;
	uint32_t *bucket;

	if (!grow_table(table, ways, hash_switch))
		return false;
	bucket = find_bucket(table, hash_switch(ways, sw), ways, &ways->guid[sw], is_switch);
	*is_twin |= *bucket != FORS_NONE;
	table->used += *bucket == FORS_NONE;
	*bucket = sw;
	return true;
}

static bool index_way(struct fors_waylist *ways, uint32_t way, bool *is_twin)
{
	struct table *table = &ways->index->ways[ways->way[way].sw];
	uint32_t *bucket;

	if (!grow_table(table, ways, hash_way))
		return false;
	bucket = find_bucket(table, hash_way(ways, way), ways, &ways->way[way], is_way);
	*is_twin |= *bucket != FORS_NONE;
	table->used += *bucket == FORS_NONE;
	*bucket = way;
	return true;
}

/* The index of what is there already: after fors_waylist_new(), fors_waylist_trim(). */
static enum fors_err make_index(struct fors_waylist *ways, const char **fault, struct fors_error *error)
{
	bool is_good, same_switch = false, same_way = false;

	if (ways->index)
		return FORS_OK;
	ways->index = calloc(1, sizeof(*ways->index));
	if (!ways->index)
		return fors_fail_memory(error);
	ways->index->switch_room = ways->index->table_room = ways->nswitches;
	ways->index->way_room = ways->nways;
	ways->index->ways = calloc(ways->nswitches + (size_t)1, sizeof(*ways->index->ways));
	is_good = ways->index->ways;
	for (uint32_t sw = 0; is_good && sw < ways->nswitches; sw++)
		is_good = index_switch(ways, sw, &same_switch);
	for (uint32_t way = 0; is_good && way < ways->nways; way++)
		is_good = index_way(ways, way, &same_way);
	if (!is_good) {
		fors_waylist_trim(ways);
		return fors_fail_memory(error);
	}
	if (fault && same_way)
		*fault = "two ways that are alike";
	if (fault && same_switch)
		*fault = "two switches with the same GUID";
	return FORS_OK;
}

enum fors_err fors_waylist_find_twins(struct fors_waylist *ways, const char **fault, struct fors_error *error)
{
	enum fors_err err;

	if (!ways->nways)
		return FORS_OK;
	fors_waylist_trim(ways);
	err = make_index(ways, fault, error);
	fors_waylist_trim(ways);
	return err;
}

/* Room for one more element in *array. */
static bool grow_array(void **array, uint32_t used, uint32_t *room, size_t size)
{
	uint32_t more = *room + *room / 2 + 16;
	void *larger;

	if (used < *room)
		return true;
	larger = realloc(*array, more * size);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

/* Room for one more switch. */
static bool grow_switches(struct fors_waylist *ways)
{
	struct fors_waylist_index *index = ways->index;
	void *guids = ways->guid, *tables = index->ways;
	bool is_good = grow_table(&index->switches, ways, hash_switch) &&
		       grow_array(&guids, ways->nswitches, &index->switch_room, sizeof(*ways->guid)) &&
		       grow_array(&tables, ways->nswitches, &index->table_room, sizeof(*index->ways));

	ways->guid = guids;
	index->ways = tables;
	return is_good;
}

enum fors_err fors_waylist_switch(struct fors_waylist *ways, uint64_t guid, uint16_t *sw, struct fors_error *error)
{
	enum fors_err err = make_index(ways, NULL, error);
	uint32_t *bucket;

	if (err)
		return err;
	if (!grow_switches(ways))
		return fors_fail_memory(error);
	bucket = find_bucket(&ways->index->switches, fors_random_of(guid), ways, &guid, is_switch);
	if (*bucket == FORS_NONE) {
		if (ways->nswitches >= MAX_SWITCHES)
			return fors_fail(error, FORS_ELIMIT, "more than %u switches on ways", MAX_SWITCHES);
		ways->guid[ways->nswitches] = guid;
		ways->index->ways[ways->nswitches] = (struct table){0};
		*bucket = ways->nswitches++;
		ways->index->switches.used++;
	}
	*sw = (uint16_t)*bucket;
	return FORS_OK;
}

enum fors_err fors_waylist_step(struct fors_waylist *ways, uint16_t sw, uint8_t port, uint32_t rest, uint32_t *number,
				struct fors_error *error)
{
	const struct fors_waylist_way way = {.rest = rest, .sw = sw, .port = port, .top = FORS_WAY_NO_TOP};
	struct fors_waylist_index *index = ways->index;
	struct table *table = &index->ways[sw];
	void *array = ways->way;
	uint32_t *bucket;

	if (!grow_table(table, ways, hash_way) ||
	    !grow_array(&array, ways->nways + 1, &index->way_room, sizeof(*ways->way)))
		return fors_fail_memory(error);
	ways->way = array;
	ways->way[ways->nways] = way; /* where hash_way() finds it */
	bucket = find_bucket(table, hash_way(ways, ways->nways), ways, &way, is_way);
	if (*bucket == FORS_NONE) {
		*bucket = ways->nways++;
		table->used++;
	}
	*number = *bucket;
	return FORS_OK;
}

enum fors_err fors_waylist_expect(struct fors_waylist *ways, uint16_t sw, uint32_t count, struct fors_error *error)
{
	enum fors_err err = make_index(ways, NULL, error);

	if (!err && !make_room(&ways->index->ways[sw], ways, count, hash_way))
		err = fors_fail_memory(error);
	return err;
}

void fors_waylist_set(struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path, uint32_t number,
		      uint8_t top)
{
	ways->of[((size_t)leaf * ways->nservers + dst) * ways->npaths + path] = number;
	if (top != FORS_WAY_NO_TOP)
		ways->way[number].top = top;
}

static enum fors_err check_way(const struct fors_waylist *ways, uint32_t leaf, const struct fors_way_hop *hop,
			       uint32_t nhops, struct fors_error *error)
{
	if (nhops < 1 || nhops > FORS_WAY_MAX)
		return fors_fail(error, FORS_EINPUT, "a way over %u switches; 1 to %u can be said", nhops,
				 FORS_WAY_MAX);
	if (hop[0].guid != ways->guid[leaf])
		return fors_fail(error, FORS_EINPUT, "a way that begins elsewhere than at its leaf");
	for (uint32_t i = 0; i + 1 < nhops; i++)
		if (!hop[i].port)
			return fors_fail(error, FORS_EINPUT, "a way over port 0 of switch 0x%016llx",
					 (unsigned long long)hop[i].guid);
	return FORS_OK;
}

enum fors_err fors_waylist_put(struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path,
			       const struct fors_way_hop *hop, uint32_t nhops, uint8_t top, struct fors_error *error)
{
	enum fors_err err = check_way(ways, leaf, hop, nhops, error);
	uint32_t number = FORS_NONE;

	for (uint32_t i = nhops; !err && i-- > 0;) {
		uint16_t sw;

		err = fors_waylist_switch(ways, hop[i].guid, &sw, error);
		if (!err)
			err = fors_waylist_step(ways, sw, i + 1 < nhops ? hop[i].port : 0, number, &number, error);
	}
	if (!err)
		fors_waylist_set(ways, leaf, dst, path, number, top < nhops && nhops > 1 ? top : FORS_WAY_NO_TOP);
	return err;
}

/* ---- reading ---- */

uint32_t fors_waylist_find(const struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path)
{
	if (path >= ways->npaths)
		return FORS_NONE;
	return ways->of[((size_t)leaf * ways->nservers + dst) * ways->npaths + path];
}

uint32_t fors_waylist_get(const struct fors_waylist *ways, uint32_t number, struct fors_way_hop *hop, uint32_t room)
{
	uint32_t n = 0;

	for (; number != FORS_NONE; number = ways->way[number].rest, n++)
		if (n < room)
			hop[n] = (struct fors_way_hop){ways->guid[ways->way[number].sw], ways->way[number].port};
	return n;
}

uint64_t fors_waylist_top(const struct fors_waylist *ways, uint32_t number)
{
	uint32_t steps = number == FORS_NONE ? FORS_WAY_NO_TOP : ways->way[number].top;

	if (steps == FORS_WAY_NO_TOP)
		return 0;
	while (steps-- && number != FORS_NONE)
		number = ways->way[number].rest;
	return number == FORS_NONE ? 0 : ways->guid[ways->way[number].sw];
}
