/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fattree.h - a fat-tree at one moment, of two levels or three.
 *
 * Whoever makes tables or plans works on what a tree of two levels is made of (fabric.h: leaves, spines, lanes), or one of
 * three (pods.h: leaves, middle switches, tops). All others look at what both have in common: switches by number, leaves
 * first, then level by level; cables by number, each with a lower and a higher end, those of which a switch is the lower
 * end neighbours in the numbering; and slots by number, the ports of leaves where a server was ever seen, leaf by leaf.
 *
 * A tree is a handful of pointers, passed by value. Who has built or copied one frees it, once.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_FABRIC_FATTREE_H
#define FORS_CORE_FABRIC_FATTREE_H

#include "fabric.h"
#include "pods.h"

/* A cable. */
struct fors_fattree_cable {
	uint32_t low, high; /* switches */
	uint8_t low_port, high_port;
	uint8_t state;	  /* enum fors_cable_state */
	uint8_t drained;  /* enum fors_drain_reason */
	uint8_t capacity; /* flows of a phase, each way */
	bool is_degraded; /* the next three: as in struct fors_cable */
	uint16_t changes;
	uint64_t since_ms;
};

/* A switch. */
struct fors_fattree_switch {
	uint64_t guid;
	uint32_t node;	  /* in the net, FORS_NONE: dead */
	const char *name; /* the tree's */
};

/* A place of a server. */
struct fors_fattree_slot {
	uint32_t leaf; /* a switch */
	uint8_t port;  /* of the leaf */
	uint8_t ca_port, lmc;
	uint16_t lid;	  /* base LID of who is there now, 0: none */
	uint32_t node;	  /* who is there, in the net; FORS_NONE: nobody */
	uint64_t guid;	  /* its port GUID */
	uint64_t seen;	  /* GUID of who was there last, 0: not known */
	const char *name; /* its description, where the tree knows it; else empty. The tree's */
	bool plays;	  /* takes part in the exchange */
	bool is_missed;	  /* a server was there that would take part (of three levels: any), and nobody is */
};

/* What there is, and what follows from the cables. */
struct fors_fattree_sum {
	uint32_t servers;	      /* that take part */
	uint32_t spines;	      /* of two levels */
	uint32_t npods, nmids, ntops; /* of three */
	uint32_t reduction;	    /* f: flows of its servers that the worst leaf's uplinks do not carry in a phase */
	uint32_t affected;	    /* m: switches above leaves with a dead cable below */
	uint32_t unreachable_pairs; /* of leaves with servers that take part and no way up, then down */
	int64_t capacity;	    /* B of two levels, where all leaves have as many servers; else negative */
	int lmc;		    /* the smallest of who takes part; negative: nobody does */
	uint32_t full;		    /* full speed in Mb/s; 0: not known */
	uint32_t least_flows, most_flows; /* capacities of cables that live; 0: none does */
};

struct fors_fattree {
	const struct fors_fattree_kind *kind; /* NULL: there is no tree */
	struct fors_fabric *fabric;	      /* of two levels; else NULL */
	struct fors_pods *pods;		      /* of three; else NULL */
	const struct fors_net *net;	      /* what is there now; borrowed */
	uint32_t nleaves, nswitches;
	uint32_t ncables, nslots; /* numbers of cables, of slots; some may be unused */
	uint64_t held_until_ms; /* Unix time when the next held cable returns, 0: none is held; filled in by daemon/ */
};

/* What differs between heights. */
struct fors_fattree_kind {
	const char *cable, *spine; /* "cable between a leaf and a spine", "spine": for texts */
	const char *spines;	   /* "spines" */
	bool (*get)(const struct fors_fattree *c, uint32_t cable,
		    struct fors_fattree_cable *plugged); /* false: unused */
	void (*put)(const struct fors_fattree *c, uint32_t cable, const struct fors_fattree_cable *plugged);
	struct fors_fattree_switch (*at)(const struct fors_fattree *c, uint32_t number);
	uint32_t (*above)(const struct fors_fattree *c, uint32_t number, uint32_t *count); /* cables, from which on */
	bool (*slot)(const struct fors_fattree *c, uint32_t slot, struct fors_fattree_slot *stand); /* false: unused */
	uint32_t (*slots)(const struct fors_fattree *c, uint32_t leaf, uint32_t *count); /* of a leaf, from which on */
	void (*sum)(const struct fors_fattree *c, struct fors_fattree_sum *sum);	 /* of all zero, lmc negative */
	enum fors_err (*recount)(const struct fors_fattree *c, struct fors_error *error); /* after cables were put */
	void (*revive)(const struct fors_fattree *c, uint32_t number, uint32_t node);
};

/*
 * The tree that `net` (indexed, and already learnt into `places`) shows at this moment, in *tree, owned by the caller;
 * it borrows net, not places. participants may be NULL: all servers. Leaves without a way between them are no error.
 * Errors: FORS_ELIMIT, FORS_ENOMEM; FORS_ENOTREE of places that have not just learnt.
 */
enum fors_err fors_fattree_build(const struct fors_net *net, const struct fors_places *places,
				 const struct fors_participants *participants, struct fors_fattree *tree,
				 struct fors_error *error);
/* Free what the tree is made of; it is none afterwards. */
void fors_fattree_free(struct fors_fattree *tree);
/*
 * A copy in *copy, owned by the caller, over `net` (its own, or a copy of it); what was ever seen stays the tree's.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_fattree_copy(const struct fors_fattree *tree, const struct fors_net *net, struct fors_fattree *copy,
				struct fors_error *error);

/* The tree that is made of this. Who has a constant one does not let anything write to it. */
struct fors_fattree fors_fattree_of_fabric(const struct fors_fabric *fabric);
struct fors_fattree fors_fattree_of_pods(const struct fors_pods *pods);

struct fors_fattree_sum fors_fattree_sum(const struct fors_fattree *tree);
/* "18 spine lanes", or "three levels (36 leaves, 36 middle switches, 18 tops)"; in text[room]. */
void fors_fattree_shape(const struct fors_fattree *tree, char *text, size_t room);
/* The servers that take part, by port GUID in the order of slots, as a list that the caller frees. Errors: FORS_ENOMEM. */
enum fors_err fors_fattree_players(const struct fors_fattree *tree, struct fors_participants *list,
				   struct fors_error *error);
/* FORS_ENOPATH naming the first two leaves whose servers no way up, then down joins, or FORS_OK. */
enum fors_err fors_fattree_connected(const struct fors_fattree *tree, struct fors_error *error);
/* Is a server of the exchange missed here, and nowhere else? A host that was moved is not lost. */
bool fors_fattree_is_lost(const struct fors_fattree *tree, const struct fors_fattree_slot *stand);
/* Is anything plugged into a leaf to be reached? */
bool fors_fattree_has_ends(const struct fors_fattree *tree, uint32_t leaf);
/* How many flows of a phase the cables up of a switch lack for what is below it; negative: they have some to spare. */
int fors_fattree_lacking(const struct fors_fattree *tree, uint32_t number);
/* Equal for equal places, liveness, participants; never of use across heights. */
uint64_t fors_fattree_print(const struct fors_fattree *tree);

/* Would a packet get through? */
static inline bool fors_fattree_passes(const struct fors_fattree_cable *cable)
{
	return cable->state == FORS_CABLE_LIVE || (cable->state == FORS_CABLE_DEAD && cable->drained);
}

/* Full speed, in Mb/s: fors_rates_full() of who takes part. */
uint32_t fors_fattree_full(const struct fors_fattree *tree);
/* Does it take part over a cable that is slower than `full`? */
bool fors_fattree_is_slow(const struct fors_fattree *tree, const struct fors_fattree_slot *stand, uint32_t full);

/*
 * How many times as long as at full speed a flow takes over a cable between switches, drained or not; 1 where it is dead, or
 * not known. `full` is fors_fattree_full() of the same tree, which looks at all cables: ask once.
 */
double fors_speeds_plugged(const struct fors_fattree *tree, const struct fors_fattree_cable *cable, uint32_t full);

#endif
