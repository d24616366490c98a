/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.h - which switches and cables the flows of a schedule cross, in a fabric of any kind.
 *
 * A leaf is a switch with servers, whatever the topology. Tables are destination-based, so the way of a flow follows
 * from the leaf of its sender, its receiver and the path index: `of` has a number for each of them. A way is its first
 * switch, the port out of it, and the number of the way from the next switch on: ways to the same place share their
 * ends, so all of them take about as many bytes as the tables that they are walked in. At the last switch the port is
 * 0, "to the server": ways to servers of one switch can be the same way. Two cables in parallel make two ways.
 *
 * Thread rules: plain data; what changes a struct fors_waylist wants to be alone with it, any number of readers.
 */
#ifndef FORS_CORE_SCHEDULE_WAYS_H
#define FORS_CORE_SCHEDULE_WAYS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_WAY_MAX 254    /* switches on a way */
#define FORS_WAY_NO_TOP 255 /* the way has no topmost switch: not a tree, or nobody said */

/* A switch on a way, for who puts or reads a whole way. */
struct fors_way_hop {
	uint64_t guid; /* node GUID of the switch */
	uint8_t port;  /* out of it; at the last switch 0: to the server */
};

/* A way as it is kept. */
struct fors_waylist_way {
	uint32_t
		rest; /* number of the way from the next switch on, below its own; FORS_NONE: this is the last switch */
	uint16_t sw;  /* index of the first switch */
	uint8_t port; /* out of the first switch; 0 at the last */
	uint8_t top;  /* which of its switches is the topmost of a tree, counted from 0; FORS_WAY_NO_TOP: none */
};

struct fors_waylist {
	uint32_t nleaves, nservers, npaths; /* shape of `of` */
	uint32_t nswitches, nways;
	uint64_t *guid;		      /* nswitches: node GUIDs, those of the leaves first, in their order */
	struct fors_waylist_way *way; /* nways */
	uint32_t *of; /* [(leaf * nservers + dst) * npaths + path]: number of the way, FORS_NONE: none or not known */
	struct fors_waylist_index *index; /* for fors_waylist_put(), NULL when it has not been used */
};

/*
 * No ways yet, in *ways, owned by the caller (fors_waylist_free()), between nleaves switches with the node GUIDs
 * `leaf_guid`, all different, and nservers servers, each over path indices below npaths (1 to 128).
 * Errors: FORS_ELIMIT (more than 2^28 numbers), FORS_ENOMEM.
 */
enum fors_err fors_waylist_new(uint32_t nleaves, const uint64_t *leaf_guid, uint32_t nservers, uint32_t npaths,
			       struct fors_waylist **ways, struct fors_error *error);
void fors_waylist_free(struct fors_waylist *ways);

/*
 * The flows from servers of `leaf` to server `dst` over path index `path` cross these nhops switches, from the leaf
 * to dst's; the port of the last one is not looked at. `top` is the index of the topmost switch of a tree, or
 * FORS_WAY_NO_TOP; a way of one switch never has one. It belongs to the way: the last one that says so is believed.
 * Amortized O(nhops); any order of calls makes the same file.
 * Errors: FORS_EINPUT (no switch, more than FORS_WAY_MAX, another first switch than the leaf's, a port 0 before the
 * last), FORS_ELIMIT (more than 65,535 switches), FORS_ENOMEM.
 */
enum fors_err fors_waylist_put(struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path,
			       const struct fors_way_hop *hop, uint32_t nhops, uint8_t top, struct fors_error *error);

/*
 * The same in steps, for who knows that it is a way, and puts many: the number that a switch has here, in *sw, a new one
 * when it has none; then from the last switch (rest FORS_NONE, port 0) backwards, one after another, the number of the way
 * out of `sw` by `port` and on as way `rest`, in *number; last, that (leaf, dst, path) goes there, which sets the topmost
 * switch too unless it is FORS_WAY_NO_TOP. Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_waylist_switch(struct fors_waylist *ways, uint64_t guid, uint16_t *sw, struct fors_error *error);
enum fors_err fors_waylist_step(struct fors_waylist *ways, uint16_t sw, uint8_t port, uint32_t rest, uint32_t *number,
				struct fors_error *error);
/* So many ways out of a switch are to come, or more: room to find them. Errors: FORS_ENOMEM. */
enum fors_err fors_waylist_expect(struct fors_waylist *ways, uint16_t sw, uint32_t count, struct fors_error *error);
void fors_waylist_set(struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path, uint32_t number,
		      uint8_t top);

/* Give back the memory that only these need; it may be called again all the same. */
void fors_waylist_trim(struct fors_waylist *ways);

/*
 * Are two ways alike, or have two switches the same GUID? *fault becomes a constant text then. fors_waylist_put() makes
 * neither; for who fills in the arrays. The GUIDs are not looked at when there are no ways. Errors: FORS_ENOMEM.
 */
enum fors_err fors_waylist_find_twins(struct fors_waylist *ways, const char **fault, struct fors_error *error);

/* Number of the way of the flows (leaf, dst, path); FORS_NONE: none, not known, or a path that is not there. */
uint32_t fors_waylist_find(const struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path);

/* The switches of way `number` in hop[], at most `room` of them; returns how many it has, 0 for FORS_NONE. */
uint32_t fors_waylist_get(const struct fors_waylist *ways, uint32_t number, struct fors_way_hop *hop, uint32_t room);

/* Node GUID of the topmost switch of way `number`; 0: it has none. */
uint64_t fors_waylist_top(const struct fors_waylist *ways, uint32_t number);

#endif
