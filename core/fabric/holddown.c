/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holddown.c - which cables died and came back when, and which of them are held down.
 *
 * A cable that dies is dead at once. One that comes back is held: it shall carry no flow of a plan before it
 * has been up for a while, for a cable that came back may well go again, and each time would cost an
 * epoch. While it is held it may die and come back as often as it likes; each return starts the time anew.
 *
 * Letting go is rate-limited too: at most one time in hold_down seconds. When a spine is powered on its
 * cables come back over several sweeps; they then return in one epoch, or two, not in one each.
 *
 * Changes of each cable are counted, by quarters of an hour: the present quarter and the four before it are the last hour,
 * or up to a quarter more. A switch that is powered on changes its cables once or twice; what changes again and again is a
 * bad cable.
 *
 * The cable of a host is one like any other, but that held it carries the traffic of the tables: the host is reached, and takes no
 * part in the exchange. It is known by leaf, port and GUID.
 *
 * The memory is a row of cables as in the tree, each with its name (the switches and ports at its ends): when
 * the fabric grew or a switch was replaced, the names tell what is the same cable.
 */
#include "holddown.h"

#include <stdlib.h>
#include <string.h>

#include "drained.h"

#define QUARTERS 5
#define QUARTER_MS (15 * 60000ull)

struct watched {
	uint64_t low, high;	     /* GUIDs */
	uint8_t low_port, high_port; /* 0: no cable; of a host's, which is known by its port GUID, the second is */
	bool is_up, is_held;
	uint64_t up_ms;	   /* when it came back; of held ones */
	uint64_t since_ms; /* Unix time of the last change, 0: it has been so from the start */
	uint32_t quarter;  /* the present one is times[0], the one before times[1], ... */
	uint8_t times[QUARTERS];
};

struct fors_holddown {
	struct watched *
		cable; /* ncables of them, in the order of the tree; behind those between switches, the hosts' by their slots */
	size_t ncables;
	uint64_t released_ms; /* when cables were let go last, 0: never */
};

struct fors_holddown *fors_holddown_new(void)
{
	return calloc(1, sizeof(struct fors_holddown));
}

void fors_holddown_free(struct fors_holddown *watch)
{
	if (!watch)
		return;
	free(watch->cable);
	free(watch);
}

static bool is_same(const struct watched *a, const struct watched *b)
{
	return a->low == b->low && a->high == b->high && a->low_port == b->low_port && a->high_port == b->high_port;
}

/* The memory of a cable, NULL: never seen. `at`: where it was most likely. */
static const struct watched *remember(const struct fors_holddown *watch, const struct watched *cable, size_t at)
{
	if (at < watch->ncables && is_same(&watch->cable[at], cable))
		return &watch->cable[at];
	for (size_t i = 0; i < watch->ncables; i++)
		if (is_same(&watch->cable[i], cable))
			return &watch->cable[i];
	return NULL;
}

/* Let the quarters pass that have passed since. */
static void pass(struct watched *cable, uint64_t now_ms)
{
	uint32_t quarter = (uint32_t)(now_ms / QUARTER_MS), passed = quarter - cable->quarter;

	cable->quarter = quarter;
	if (passed > QUARTERS)
		passed = QUARTERS;
	memmove(cable->times + passed, cable->times, QUARTERS - passed);
	memset(cable->times, 0, passed);
}

static uint16_t count_changes(const struct watched *cable)
{
	uint16_t count = 0;

	for (unsigned i = 0; i < QUARTERS; i++)
		count = (uint16_t)(count + cable->times[i]);
	return count;
}

/* `cable` is what is seen now; take over what was before. */
static void compare(struct watched *cable, const struct watched *before, struct fors_moment now)
{
	bool is_up = cable->is_up;

	*cable = *before;
	pass(cable, now.ms);
	if (before->is_up == is_up)
		return;
	cable->is_up = is_up;
	cable->since_ms = now.unix_ms;
	cable->is_held = is_up;
	cable->times[0] += cable->times[0] < UINT8_MAX;
	cable->up_ms = is_up ? now.ms : 0;
}

/* What is seen of number `at`, in *cable; false: nothing to watch. */
static bool see(struct fors_fattree tree, uint32_t at, struct watched *cable)
{
	struct fors_fattree_cable plugged;
	struct fors_fattree_slot stand;

	if (at < tree.ncables && tree.kind->get(&tree, at, &plugged)) {
		*cable = (struct watched){.low = tree.kind->at(&tree, plugged.low).guid,
					  .high = tree.kind->at(&tree, plugged.high).guid,
					  .low_port = plugged.low_port,
					  .high_port = plugged.high_port,
					  .is_up = plugged.state == FORS_CABLE_LIVE};
		return true;
	}
	if (at < tree.ncables || !tree.kind->slot(&tree, at - tree.ncables, &stand) || !(stand.guid | stand.seen))
		return false;
	*cable = (struct watched){.low = tree.kind->at(&tree, stand.leaf).guid,
				  .high = stand.seen ? stand.seen : stand.guid,
				  .low_port = stand.port,
				  .is_up = stand.guid};
	return true;
}

/* Say of a cable what is remembered of it. */
static void tell(struct fors_fattree tree, uint32_t number, const struct watched *seen)
{
	struct fors_fattree_cable cable;

	if (number >= tree.ncables || !tree.kind->get(&tree, number, &cable))
		return;
	cable.since_ms = seen->since_ms;
	cable.changes = count_changes(seen);
	tree.kind->put(&tree, number, &cable);
}

enum fors_err fors_holddown_look(struct fors_holddown *watch, struct fors_fattree tree, struct fors_moment now,
				 struct fors_error *error)
{
	uint32_t ncables = tree.ncables + tree.nslots;
	struct watched *seen = calloc(ncables + (size_t)1, sizeof(*seen));

	if (!seen)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < ncables; i++) {
		const struct watched *before = see(tree, i, &seen[i]) ? remember(watch, &seen[i], i) : NULL;

		if (before)
			compare(&seen[i], before, now);
		tell(tree, i, &seen[i]);
	}
	free(watch->cable);
	watch->cable = seen;
	watch->ncables = ncables;
	return FORS_OK;
}

bool fors_holddown_host(const struct fors_holddown *watch, struct fors_fattree tree, uint32_t slot,
			struct fors_flap *flap)
{
	size_t at = (size_t)tree.ncables + slot;
	const struct watched *cable = &watch->cable[at];

	if (at >= watch->ncables || !cable->low_port)
		return false;
	*flap = (struct fors_flap){
		.slot = slot, .since_ms = cable->since_ms, .changes = count_changes(cable), .is_held = cable->is_held};
	return true;
}

uint64_t fors_holddown_due(const struct fors_holddown *watch, uint64_t hold_ms)
{
	uint64_t due = 0;

	for (size_t i = 0; i < watch->ncables; i++)
		if (watch->cable[i].is_held && (!due || watch->cable[i].up_ms + hold_ms < due))
			due = watch->cable[i].up_ms + hold_ms;
	if (due && watch->released_ms && watch->released_ms + hold_ms > due)
		due = watch->released_ms + hold_ms;
	return due;
}

uint32_t fors_holddown_release(struct fors_holddown *watch, uint64_t now_ms, uint64_t hold_ms)
{
	uint64_t due = fors_holddown_due(watch, hold_ms);
	uint32_t released = 0;

	if (!due || due > now_ms)
		return 0;
	for (size_t i = 0; i < watch->ncables; i++) {
		struct watched *cable = &watch->cable[i];

		if (!cable->is_held || cable->up_ms + hold_ms > now_ms)
			continue;
		cable->is_held = false;
		released++;
	}
	watch->released_ms = now_ms;
	return released;
}

uint32_t fors_holddown_mark(const struct fors_holddown *watch, struct fors_fattree tree)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < watch->ncables && i < tree.ncables; i++) {
		if (!watch->cable[i].is_held)
			continue;
		fors_drained_mark_cable(tree, i, FORS_DRAIN_HELD);
		held++;
	}
	return held;
}
