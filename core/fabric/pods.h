/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods.h - a network understood as a three-level fat-tree.
 *
 *      top (j,k)     plane j: the tops, and the middle switch (p,j) of each pod p that is cabled to them
 *         |  \
 *      mid (p,j)     pod p: its leaves, and the middle switches that they are cabled to
 *         |  \
 *      leaf (p,y)    servers at its ports
 *
 * Every cable between switches joins neighbouring levels. Pods are what hangs together without the tops, planes what
 * hangs together without the leaves; a top that several planes share (a director switch: line cards and fabric boards)
 * is a top of each.
 *
 * As at two levels there is what was ever seen and what lives now: `known` is a net with all that has a place, and the
 * roles, orders and homes follow from it alone; `now` is a net that shows what lives. Switches and cables of `now`
 * that are not in `known` are nothing here.
 *
 * Thread rules: plain data once it is made; any number of readers.
 */
#ifndef FORS_CORE_FABRIC_PODS_H
#define FORS_CORE_FABRIC_PODS_H

#include "core/net/net.h"

enum fors_pods_level { FORS_PODS_NONE, FORS_PODS_LEAF, FORS_PODS_MID, FORS_PODS_TOP };

/* A switch. Which fields mean something, the level says. */
struct fors_pods_switch {
	uint32_t node;	 /* in known */
	uint32_t now;	 /* in now, FORS_NONE: dead */
	uint32_t pod;	 /* of a leaf, a mid; FORS_NONE: a mid that no leaf is cabled to */
	uint32_t plane;	 /* of a mid; of a top the first one */
	uint32_t number; /* of a leaf: y, from 0 in its pod; its slots are slot[first ..] */
	uint32_t first, nslots;
};

/* A port of a leaf where a server was ever seen. */
struct fors_pods_slot {
	uint32_t leaf;
	uint16_t rank; /* among the slots of its leaf, in the order of ports */
	uint8_t port;  /* of the leaf */
	uint8_t lmc;   /* of who is there now */
	uint16_t lid;  /* base LID of who is there now, 0: nobody, or without a LID */
	uint64_t guid; /* port GUID, 0: nobody */
	bool is_host;  /* who is there now; an old order has slots of others, until it is ranked */
};

struct fors_pods {
	const struct fors_net *known, *now; /* borrowed */
	uint32_t nleaves, nmids, ntops, npods, nplanes, nslots;
	uint32_t napart; /* planes as people count them: those that share tops are one */
	struct fors_pods_switch *leaf, *mid, *top;
	struct fors_pods_slot *slot; /* by leaf, then port */
	uint8_t *level;		     /* per node of known: enum fors_pods_level */
	uint32_t *number;	     /* per node of known: which leaf, mid or top it is; FORS_NONE: none */
	uint32_t *mid_of;	     /* [pod * nplanes + plane]: the mid, FORS_NONE */
	uint32_t *peer;		     /* per port of known: the switch at the other end of its cable, FORS_NONE */
	bool *live;		     /* per port of known: its cable to another switch lives now, and is not drained */
	bool *unseen;	    /* per port of known: its cable was never seen, and completes the tree (missing.h) */
	uint8_t *drained;   /* per port of known: enum fors_drain_reason of its cable, as in struct fors_cable */
	uint64_t *since_ms; /* per port of known: Unix time when its cable died or came back; 0: not known */
	uint16_t *changes;  /* per port of known: as in struct fors_cable */
	bool *plays;	    /* per slot: takes part in the exchange; all with a LID, until fors_pods_seat() */
	uint32_t nplayers;
	uint32_t flow;	   /* rate of a flow, that of the fastest player's port, in Mb/s; 0: not known */
	uint8_t *capacity; /* per port of known: of its cable, flows of a phase each way (fors_rates_capacity()) */
	uint32_t unreachable_pairs, cut_leaf[2]; /* as in struct fors_fabric; filled in by fattree.c */
	struct fors_net *own;			 /* known, where the tree owns it; else NULL */
};

/*
 * The three-level tree that `known` (indexed) shows, with what of it lives in `now` (indexed), in *pods, owned by the
 * caller (fors_pods_free()). root_guids (nroots node GUIDs; NULL, 0: none) says which switches are tops; else the tree
 * itself does.
 * Errors: FORS_ENOTREE (another number of levels; a cable that joins two switches of one level, two pods or two planes,
 * or planes that do not line up: with the switch that does not fit), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_pods_build(const struct fors_net *known, const struct fors_net *now, const uint64_t *root_guids,
			      size_t nroots, struct fors_pods **pods, struct fors_error *error);
void fors_pods_free(struct fors_pods *pods);
/* A copy in *copy, owned by the caller, over copies of both nets (borrowed). Errors: FORS_ENOMEM. */
enum fors_err fors_pods_copy(const struct fors_pods *pods, const struct fors_net *known, const struct fors_net *now,
			     struct fors_pods **copy, struct fors_error *error);

/* Only these servers take part, as far as they have a LID (NULL: all). Errors: FORS_ENOMEM. */
enum fors_err fors_pods_seat(struct fors_pods *pods, const struct fors_participants *participants,
			     struct fors_error *error);

/* The node of now that stands for a node of known, FORS_NONE: dead, or on no level. */
uint32_t fors_pods_now(const struct fors_pods *pods, uint32_t node);

/* The level of each node of now, 0 for what has no place; owned by the caller, NULL: out of memory. */
uint8_t *fors_pods_levels_now(const struct fors_pods *pods);

/* The switch at the other end of a known cable, FORS_NONE: none. */
static inline uint32_t fors_pods_peer(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	return pods->peer[pods->known->node[node].first_port + port];
}

static inline bool fors_pods_live(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	return pods->live[pods->known->node[node].first_port + port];
}

/* Would a packet get through? A drained cable is as good as dead for traffic between servers only. */
static inline bool fors_pods_passes(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	return fors_pods_live(pods, node, port) || pods->drained[pods->known->node[node].first_port + port];
}

/* Do cables that live differ in what they carry? */
bool fors_pods_is_uneven(const struct fors_pods *pods);

/* A switch's number among all: leaves, then mids, then tops; FORS_NONE: the node has no place. */
static inline uint32_t fors_pods_row(const struct fors_pods *pods, uint32_t node)
{
	uint32_t before[] = {0, 0, pods->nleaves, pods->nleaves + pods->nmids};

	return pods->number[node] == FORS_NONE ? FORS_NONE : before[pods->level[node]] + pods->number[node];
}

static inline uint32_t fors_pods_mid(const struct fors_pods *pods, uint32_t pod, uint32_t plane)
{
	return pods->mid_of[(size_t)pod * pods->nplanes + plane];
}

#endif
