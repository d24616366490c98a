/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known.h - all that was ever seen of a tree of three levels: what places keep of it.
 *
 * It is a net whose nodes keep their numbers: orders and homes follow from that. At first the numbers are those of the
 * GUIDs, so that two who begin with the same fabric know the same; what comes later is added behind. For places*.c only.
 * Thread rules: as fabric.h.
 */
#ifndef FORS_CORE_FABRIC_KNOWN_H
#define FORS_CORE_FABRIC_KNOWN_H

#include "places_inside.h"
#include "pods.h"

/* What is known of a node besides its cables. */
struct fors_known_node {
	struct fors_place_marks marks;
	uint64_t former; /* the switch whose place this one took, 0: none; a root list may still name it */
	uint8_t level;	 /* enum fors_pods_level */
	bool is_other;	 /* it is no host, but has a place from before */
};

struct fors_known {
	struct fors_net *net;	      /* owned, as all here */
	struct fors_known_node *node; /* by node of net */
	bool completes; /* what was never seen, and is missing by comparison, counts as dead (missing.h) */
};

/* Room for what is known of `nnodes` nodes, all zero, without a net; NULL: out of memory. */
struct fors_known *fors_known_new(uint32_t nnodes);
/* NULL is allowed. */
void fors_known_free(struct fors_known *known);
/* A deep copy, or NULL when out of memory. */
struct fors_known *fors_known_copy(const struct fors_known *from);

/* The node of the switch on one of the levels with this GUID, FORS_NONE: none. */
uint32_t fors_known_switch(const struct fors_known *known, uint64_t guid);
struct fors_places_size fors_known_size(const struct fors_known *known);
/* Has an adapter a place that is no host? And: forget all such. Errors: FORS_ENOMEM; nothing has changed then. */
bool fors_known_has_others(const struct fors_known *known);
enum fors_err fors_known_clean(struct fors_known **known, struct fors_error *error);

/* Has each middle switch a cable to a top? */
bool fors_known_has_tops(const struct fors_known *known);

/*
 * The tree of `net`, whose nodes are those of `from`, with what of it lives in `now`, nothing completed. Which switches are tops say
 * those that are marked as roots, if there are any, else the tree. As fors_places_pods().
 */
enum fors_err fors_known_build(const struct fors_known *from, const struct fors_net *net, const struct fors_net *now,
			       struct fors_pods **pods, struct fors_error *error);
/* The same of a copy of from->net, which is completed first if `from` is so. */
enum fors_err fors_known_pods(const struct fors_known *from, struct fors_net *net, const struct fors_net *now,
			      struct fors_pods **pods, struct fors_error *error);
/* Is there anything to complete? Errors: FORS_ENOMEM. */
enum fors_err fors_known_lacks(const struct fors_known *known, bool *lacks, struct fors_error *error);
/* From now on what is known is completed, if there is anything to complete. Errors: FORS_ENOMEM. */
enum fors_err fors_known_complete(struct fors_known *known, struct fors_error *error);
/*
 * What is known with `now`, in *made, owned by the caller; before may be NULL: then it is completed, if there is anything to complete.
 * Errors: FORS_ENOTREE, FORS_ENOMEM.
 */
enum fors_err fors_known_learn(const struct fors_known *before, const struct fors_net *now, const uint64_t *root,
			       size_t nroots, struct fors_known **made, struct fors_error *error);

/* All switches with a place are in the reference (or none is). */
void fors_known_mark(struct fors_known *known, bool in_reference);
/* Forget names, marks, and who the servers are. */
void fors_known_bare(struct fors_known *known);
/* Drop a switch, and dead adapters that hang on nothing else. Errors: FORS_ENOMEM; nothing has changed then. */
enum fors_err fors_known_drop(struct fors_known **known, uint32_t node, struct fors_error *error);

#endif
