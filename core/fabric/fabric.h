/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.h - a network understood as a two-level fat-tree.
 *
 * Two objects, so that failures change no table entry that they need not:
 *
 * struct fors_places is what has a place in the fabric, dead or alive, in an
 * order that never changes: leaves, their server slots, spines, their lanes and
 * which ports the cables use (the "kept order"). It only
 * learns: fors_places_learn() adds what a net shows for the first time.
 *
 * struct fors_fabric is the fabric at one moment: the places, with what is alive
 * of them in one net, and the servers that take part in the exchange with their
 * ranks. Tables depend on places and dead cables only; plans on ranks too.
 *
 *      spine k      lanes k0, k1: one per parallel cable to a leaf
 *      /  ||  \
 *   leaf leaf leaf  slots 0..N-1: ports where a server was seen; ranks: living participants
 *
 * Thread rules: both may be read by any number of threads, nobody may change
 * them meanwhile.
 */
#ifndef FORS_CORE_FABRIC_FABRIC_H
#define FORS_CORE_FABRIC_FABRIC_H

#include "core/net/net.h"
#include "hosts.h"

#define FORS_MAX_LANES 254 /* lanes fit a byte, as ports do */
#define FORS_NO_LANE 255
#define FORS_MAX_SERVERS 65534 /* servers fit 16 bits, as LIDs do */

struct fors_places; /* places.h */

enum fors_cable_state {
	FORS_CABLE_ABSENT, /* this leaf never had this lane */
	FORS_CABLE_DEAD,   /* it had, and it is down now, or drained */
	FORS_CABLE_LIVE,
};

/* Why a cable that lives shall carry no traffic between servers (drained.h). */
enum fors_drain_reason {
	FORS_DRAIN_NOT,
	FORS_DRAIN_EXCLUDED, /* by the administrator */
	FORS_DRAIN_DEGRADED, /* runs below full width or speed */
	FORS_DRAIN_HELD,     /* came back a short time ago */
};

/* The cable of one leaf and one lane. */
struct fors_cable {
	uint8_t state;	    /* enum fors_cable_state */
	uint8_t leaf_port;  /* 0 when absent */
	uint8_t spine_port; /* 0 when absent */
	bool is_degraded;   /* plugged in and up, but below full width or speed */
	uint8_t drained;    /* enum fors_drain_reason; state is LIVE when it has to carry traffic all the same */
	uint8_t capacity;   /* flows of a phase, each way: fors_rates_capacity(); 1 of a dead one */
	uint16_t changes;   /* how often it died or came back in the last hour (holddown.h) */
	uint64_t since_ms;  /* Unix time when it died or came back (holddown.h); 0: not known */
};

struct fors_leaf {
	uint64_t guid;
	uint32_t node;	       /* in the net, FORS_NONE: dead */
	uint32_t first_server; /* its servers are server[first_server .. first_server + nservers - 1] */
	uint16_t nservers;     /* n_a, living participants */
	uint16_t nslots;       /* its own slots; the grid has fabric->nslots for every leaf */
	uint16_t nlive;	       /* live uplinks */
	uint16_t capacity;     /* of these together */
	char name[FORS_NAME_MAX +
		  1]; /* node description or id, for messages; the GUID when several switches have the same */
};

struct fors_spine {
	uint64_t guid;
	uint32_t node; /* in the net, FORS_NONE: dead */
	char name[FORS_NAME_MAX + 1];
};

struct fors_lane {
	uint16_t spine;
	uint16_t cable; /* 0..: which of the parallel cables to each leaf */
};

/* One server place under a leaf. */
struct fors_slot {
	uint64_t guid;	 /* CA port GUID; 0: nothing alive here */
	uint64_t seen;	 /* CA port GUID that was seen here last; 0: not known */
	uint32_t node;	 /* the CA in the net, FORS_NONE: nothing alive here */
	uint32_t server; /* index of the server, FORS_NONE: takes no part */
	uint16_t lid;	 /* base LID, 0: none */
	uint8_t lmc;
	uint8_t ca_port;
	uint8_t leaf_port; /* 0: the leaf has no such slot */
	uint8_t home;	   /* home lane of the base LID: places_rank.c */
	uint8_t copy;	   /* slots of the leaf before it with the same home: core/tables/home.h */
	bool is_varied;	   /* entries may differ per source leaf */
	bool is_ranked;	   /* no newcomer */
	bool is_sm;	   /* a subnet manager runs here */
	bool is_missed;	   /* a server was here that would take part, and nothing alive is */
};

/* One participant of the exchange. Servers are ordered by leaf, then by slot. */
struct fors_server {
	uint16_t leaf, slot, rank; /* rank: 0..n_a-1 among the participants of its leaf */
	uint16_t lid;		   /* base LID; its path index i is LID lid + i */
	uint64_t guid;		   /* port GUID */
	uint32_t node;		   /* the CA in the net */
};

struct fors_fabric {
	const struct fors_net *net; /* borrowed, must outlive the fabric */
	uint32_t nleaves, nspines;
	uint32_t nlanes;      /* S: spine lanes, living or dead */
	uint32_t nslots;      /* N: slots per leaf, the most of any leaf; at least 1 */
	uint32_t nservers;    /* P: participants */
	uint32_t max_servers; /* the largest n_a */
	uint32_t ncopies;     /* one more than the largest copy of any slot; at least 1 */
	uint8_t lmc;	      /* the smallest LMC of all participants */
	uint32_t flow;	      /* rate of a flow, that of the fastest participant's port, in Mb/s; 0: not known */
	struct fors_leaf *leaf;
	struct fors_spine *spine;
	struct fors_lane *lane;
	struct fors_cable *cable; /* nleaves x nlanes, see fors_cable() */
	struct fors_slot *slot;	  /* nleaves x nslots, see fors_slot() */
	struct fors_server *server;
	struct fors_hosts missed;   /* names of servers in slots where nobody is now; owned */
	uint32_t reduction;	    /* f: max over leaves with servers of n_a - capacity, at least 0 */
	uint32_t affected_spines;   /* m: spines with a dead cable, or one less than other leaves have */
	uint32_t unreachable_pairs; /* unordered pairs of leaves with servers and no common live spine */
	uint32_t cut_leaf[2];	    /* the first such pair; meaningful when unreachable_pairs > 0 */
	uint64_t fingerprint;	    /* equal for equal places, liveness, participants and LIDs */
};

/*
 * The fabric that `net` (indexed, and already learnt into `places`) shows at
 * this moment, in *fabric, owned by the caller (fors_fabric_free()); it borrows
 * net, not places. participants may be NULL. GUIDs of participants that are not
 * in the net are dead servers and no error.
 * Leaves without a common spine are no error here: see unreachable_pairs.
 * Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_fabric_build(const struct fors_net *net, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_fabric **fabric,
				struct fors_error *error);
void fors_fabric_free(struct fors_fabric *fabric);
/* A copy in *copy, owned by the caller, over `net` (borrowed): its own, or a copy of it. Errors: FORS_ENOMEM. */
enum fors_err fors_fabric_copy(const struct fors_fabric *fabric, const struct fors_net *net, struct fors_fabric **copy,
			       struct fors_error *error);

/* Count anew what follows from the cables, after somebody changed their states. Errors: FORS_ENOMEM. */
enum fors_err fors_fabric_recount(struct fors_fabric *fabric, struct fors_error *error);

/* FORS_ENOPATH naming the first two leaves with no common spine, or FORS_OK. */
enum fors_err fors_fabric_connected(const struct fors_fabric *fabric, struct fors_error *error);

/* The cable of a leaf and a lane; where there never was one, its state says so. */
static inline const struct fors_cable *fors_cable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	return &fabric->cable[(size_t)leaf * fabric->nlanes + lane];
}

/*
 * The lane whose cable to a leaf is at this port of the leaf (`spine` FORS_NONE) or of that spine; dead cables have ports too.
 * FORS_NONE: there is none.
 */
static inline uint32_t fors_lane_at(const struct fors_fabric *f, uint32_t leaf, uint32_t spine, uint8_t port)
{
	uint32_t k = 0;

	while (k < f->nlanes &&
	       (spine == FORS_NONE ? fors_cable(f, leaf, k)->leaf_port != port
				   : f->lane[k].spine != spine || fors_cable(f, leaf, k)->spine_port != port))
		k++;
	return port && k < f->nlanes ? k : FORS_NONE;
}

/* Does it carry traffic between servers? */
static inline bool fors_live(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	return fors_cable(fabric, leaf, lane)->state == FORS_CABLE_LIVE;
}

/* Flows of a phase that fit over it, each way; 0: it is no live one. */
static inline uint32_t fors_capacity(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	return fors_live(fabric, leaf, lane) ? fors_cable(fabric, leaf, lane)->capacity : 0;
}

/* Does a cable that lives carry more than one flow in a phase? */
bool fors_fabric_has_capacity(const struct fors_fabric *fabric);

/* Would a packet get through? A drained cable is as good as dead for leaves and plans only. */
static inline bool fors_passable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	const struct fors_cable *cable = fors_cable(fabric, leaf, lane);

	return cable->state == FORS_CABLE_LIVE || (cable->state == FORS_CABLE_DEAD && cable->drained);
}

/* The server place (leaf, slot), occupied or not. */
static inline const struct fors_slot *fors_slot(const struct fors_fabric *fabric, uint32_t leaf, uint32_t slot)
{
	return &fabric->slot[(size_t)leaf * fabric->nslots + slot];
}

/* The LID of a path index of a server in tables of `nlids` LIDs, 0: it has no such. */
static inline uint32_t fors_server_lid(const struct fors_fabric *fabric, uint32_t server, uint32_t index,
				       uint32_t nlids)
{
	const struct fors_server *one = &fabric->server[server];
	uint32_t lid = one->lid + index;

	return index >> fors_slot(fabric, one->leaf, one->slot)->lmc || lid >= nlids ? 0 : lid;
}

/*
 * The fabric as one of several jobs has it, some of its servers, and some of its lanes: tables belong to the whole fabric and do not
 * change; what a job may not use is to its planner as if it were dead. A copy of `fabric` in which only the `count` servers in server[] (ascending, of fabric->server) take part, and in which the
 * live cables of (leaf, lane) with is_allowed[leaf * nlanes + lane] false are drained (NULL: all are allowed). In *subset,
 * owned by the caller (fors_fabric_free()); it borrows fabric->net. Errors: FORS_ENOMEM.
 */
enum fors_err fors_fabric_subset(const struct fors_fabric *fabric, const uint32_t *server, uint32_t count,
				 const bool *is_allowed, struct fors_fabric **subset, struct fors_error *error);

#endif
