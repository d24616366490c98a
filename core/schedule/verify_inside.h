/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify_inside.h - what the files of the verifier share.
 * Thread rules: a check belongs to one thread.
 */
#ifndef FORS_CORE_SCHEDULE_VERIFY_INSIDE_H
#define FORS_CORE_SCHEDULE_VERIFY_INSIDE_H

#include "verify.h"

/* A directed cable in a phase; indexed as net->port by the port that sends. */
struct link {
	uint32_t stamp; /* phase + 1 that load is of */
	uint32_t load;	/* flows */
	uint32_t first; /* the server whose flow was counted first */
};

/* A server's place in the net. */
struct place {
	uint32_t node; /* CA */
	uint32_t link; /* its port, as index into net->port */
	uint32_t leaf; /* switch that it hangs on */
	uint8_t port;
};

#define TREE_SWITCHES 3 /* on the way of a flow in a two-level tree */

struct flow {
	uint32_t phase, src;
	struct fors_cell cell;
};

struct way {
	uint32_t *link; /* the server's own cable, then one per switch */
	uint32_t *node; /* the switches */
	uint32_t nswitches;
};

struct check {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	const struct fors_schedule *schedule;
	uint32_t *row_of;	    /* node -> row of its table, FORS_NONE */
	struct place *place;	    /* per server */
	uint32_t fastest;	    /* rate of data of the fastest server's cable, in Mb/s; 0: not known */
	uint32_t *lane_node;	    /* lane -> its spine, FORS_NONE: not in the net */
	struct link *link;	    /* per port of the net */
	uint32_t *received;	    /* per server: phase + 1 of the last flow to it */
	uint32_t *sender;	    /* per server: who sent that */
	uint64_t *met;		    /* P x P bits: s sent to d */
	uint64_t npairs;	    /* bits set */
	uint32_t room;		    /* switches that a flow may cross */
	struct way way;		    /* of the flow in hand */
	struct fors_way_hop *named; /* room of them: the way that the schedule names, when it names ways */
	struct fors_verdict *verdict;
	bool *is_used; /* per port of the net: some flow is sent by it; NULL: nobody asks */
	bool is_brief; /* one problem is enough */
};

/* Flows of a phase that a directed cable has room for, by the port that sends, an index of net->port. */
uint32_t fors_verify_room(const struct check *check, uint32_t link);

enum fors_proof {
	FORS_PROOF_RIGHT,
	FORS_PROOF_WRONG,
	FORS_PROOF_UNSURE, /* not looked at: out of memory, too odd a fabric, too few flows */
};

/*
 * Are all flows of the schedule right? Its servers are found (place, row_of, lane_node) and nothing is wrong with them.
 * When it is RIGHT the verdict has its numbers and is_used its ports, else they are as they were. On `threads` threads
 * (0: 1); cancelled() is asked by the caller's. Errors: FORS_ECANCELLED.
 */
enum fors_err fors_verify_fast(const struct check *check, unsigned threads, bool (*cancelled)(void *context),
			       void *context, enum fors_proof *proof, struct fors_error *error);

/* A text that is put together. */
#define FLOW_ROOM 320

struct text {
	char text[FLOW_ROOM];
};

/* Write the first problem into the verdict. */
void fors_verify_tell(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "Node00-3 (LID 17)" */
struct text fors_verify_server_text(const struct check *check, uint32_t s);
/* "Node00-3 (LID 17) -> Node05-0 (LID 130) on LID 131" */
struct text fors_verify_flow_text(const struct check *check, uint32_t src, struct fors_cell cell);
/* "Leaf00[21] -> Spine00[1]" */
struct text fors_verify_link_text(const struct check *check, uint32_t link);

/* Count a problem. Only the first one is worth the time that it takes to put it into words, so the others' arguments
 * are not evaluated. */
#define problem(check, ...) ((check)->verdict->nproblems++ ? (void)0 : fors_verify_tell(check, __VA_ARGS__))

static inline bool is_told(const struct check *check)
{
	return check->verdict->nproblems > 0;
}

#endif
