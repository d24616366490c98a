/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff.h - what changed between two nets: nodes, cables, speeds, LIDs.
 * Thread rules: pure; a difference borrows both nets and is read by any number of threads.
 */
#ifndef FORS_CORE_NET_DIFF_H
#define FORS_CORE_NET_DIFF_H

#include "net.h"

enum fors_change_kind {
	FORS_NODE_GONE,	    /* a */
	FORS_NODE_NEW,	    /* b */
	FORS_NODE_REPLACED, /* a was, b has its description and another GUID */
	FORS_NODE_RENAMED,  /* a and b have one GUID and two descriptions */
	FORS_CABLE_GONE,    /* near - far of a */
	FORS_CABLE_NEW,	    /* near - far of b */
	FORS_CABLE_MOVED,   /* near stays (it is of a); the other end was far, and is now */
	FORS_CABLE_SLOWER,  /* near - far of b: below full width or speed now */
	FORS_CABLE_FASTER,  /* near - far of b: it was, and is no more */
	FORS_PORT_LID,	    /* near of b: another base LID or LMC */
	FORS_PORT_SM,	    /* near of b: a subnet manager has come, or gone */
};
#define FORS_NCHANGES 11

struct fors_end {
	uint32_t node;
	uint8_t port;
};

struct fors_change {
	enum fors_change_kind kind;
	uint32_t a, b;		   /* nodes of net a and net b, FORS_NONE: not said */
	uint32_t ncables;	   /* of nodes that are gone or new: how many cables they had or have */
	struct fors_end near, far; /* of cables; near alone of ports */
	struct fors_end now;	   /* of moved cables: of net b */
};

struct fors_diff {
	struct fors_change *change; /* count of them, by kind, then by GUID and port of the near end */
	size_t count;
};

/*
 * What is in net b otherwise than in net a, both indexed. Nodes are the same when their GUIDs are; and a node that is gone was
 * replaced by a new one of its type when both have a description that nothing else of those has. Cables of nodes that are
 * gone or new are counted with them, not listed. *diff is owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_net_diff(const struct fors_net *a, const struct fors_net *b, struct fors_diff *diff,
			    struct fors_error *error);
void fors_diff_clear(struct fors_diff *diff);

#endif
