/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sim.h - a fabric in time, packet by packet.
 *
 * The fabric is a graph with routers of lab/model/: directed links, each with a speed. A packet is the unit. It is sent
 * over a link in as long as its bytes take at the link's speed, its head arrives the wire time later, and after the
 * time of a switch it may leave over the next link of its way, also while its tail is still coming in (virtual
 * cut-through). Links lose nothing: a switch has a buffer for each link that comes in and each virtual lane (VL) of
 * it, and a packet is sent only when there is room for all of it at the other end. Who sends knows that by credits,
 * which come back, a wire time late, when a packet has left the buffer (InfiniBand); or by PAUSE, which is sent back
 * when a buffer is filled up to a high mark, and taken back at a low mark (Ethernet).
 *
 * In a buffer packets wait in virtual output queues, one for each link that goes on, or (is_fifo) in one queue, where
 * the first holds up those behind it. Queues that want the same link take turns; VLs take turns by weights. Adapters
 * send one message after the other, and take whatever arrives.
 *
 * Which way a packet goes on from a switch, the router says (tables), or a policy that chooses among all shortest ways; then
 * the router's way is that of the first and the last link only.
 *
 * What is sent when is a program (program.h), and how servers wait for one another: for all of a step (has_barrier),
 * then for the cost of the barrier; for some of the others (enum fors_wait); or not at all.
 *
 * Times in and out are picoseconds; inside they are ticks, the time of a byte at the fastest link, rounded to whole
 * ones. The same input gives the same bytes on any machine.
 *
 * Thread rules: functions are pure; a simulation runs in the thread that calls.
 */
#ifndef FORS_LAB_SIM_SIM_H
#define FORS_LAB_SIM_SIM_H

#include "histogram.h"
#include "lab/model/routers/blocks.h"
#include "lab/model/routers/router.h"
#include "lab/model/routers/hops.h"
#include "program.h"

#define FORS_MAX_VLS 8
#define FORS_SIM_BINS 256 /* of the time line */

/* Who says how a packet goes on from a switch; see policy.h. */
enum fors_policy {
	FORS_POLICY_TABLES,
	FORS_POLICY_RANDOM,
	FORS_POLICY_HASHED,
	FORS_POLICY_ADAPTIVE,
	FORS_POLICY_SWITCH_AR,
	FORS_POLICY_VLB,
	FORS_POLICY_UGAL_L,
	FORS_POLICY_UGAL_G,
	FORS_POLICY_TAGO,
	FORS_NPOLICIES
};

/* Whom a server waits for, where there is no barrier that ends a step for all at once; see waiting.c. */
enum fors_wait {
	FORS_WAIT_NONE, /* nobody */
	FORS_WAIT_OWN,	/* a rank: until what it sends and receives in a step has arrived, and the receiver is as far */
	FORS_WAIT_TOKENS, /* those who had one of its links before */
	FORS_WAIT_TREE,	  /* all, by tokens up and down a tree, `ahead` steps later */
	FORS_NWAITS
};

#define FORS_BUSY_LEVELS 3

/* Of FORS_POLICY_ADAPTIVE; all zero: an ideal. */
struct fors_adaptive {
	uint64_t
		binding; /* ps: packets to a server keep the link that a switch has chosen for them for so long; 0: free */
	uint32_t level
		[FORS_BUSY_LEVELS]; /* bytes, ascending: so many steps has what a switch knows of a queue; all 0: exact */
	uint32_t leave;		    /* bytes: below them in its queue, the table's link is taken */
	bool is_greedy;		    /* of several with as little, the first; else one by chance */
};

/* Of FORS_POLICY_SWITCH_AR: what the level of a link towards a destination is; see policy_switch.c. */
enum fors_ar_level { FORS_LEVEL_SUM, FORS_LEVEL_LAST, FORS_LEVEL_OLDEST };

struct fors_switch_ar {
	enum fors_ar_level rule;
	uint64_t forget; /* ps after the last notification */
};

/* Congestion notifications, of Switch AR and of rate limiters; see qcn.h. */
struct fors_qcn {
	bool has_limiters;    /* servers react */
	uint32_t equilibrium; /* bytes of a queue that is as long as it should be */
	uint32_t sample;      /* bytes between two looks at a queue, and of a limiter's cycle */
	uint64_t timer;	      /* ps of a limiter's cycle */
};

struct fors_sim_settings {
	const double *gbits;		/* per link of the graph: Gbit/s, > 0 */
	uint64_t message;		/* bytes of each message, > 0 */
	uint32_t mtu, header;		/* bytes of a packet: payload at most; the rest */
	uint32_t buffer;		/* bytes for each VL of each link that comes in */
	uint32_t pause_high, pause_low; /* bytes in it; 0, 0: credits */
	unsigned nvls;			/* 1..FORS_MAX_VLS */
	uint8_t weight[FORS_MAX_VLS];	/* packets in a turn, 0: 1 */
	uint64_t wire, switching;	/* ps: of a cable; of a switch, head in to head out */
	uint64_t adapter;		/* ps between the end of a message and the next one of an adapter */
	double adapter_rate;		/* part of its link that an adapter can send, (0, 1] */
	bool is_fifo, is_store_and_forward;
	bool has_barrier;
	uint64_t barrier, jitter; /* ps: cost of a barrier; afterwards each server begins by up to that later */
	uint64_t skew;		  /* ps: each server begins by up to that late */
	enum fors_wait wait;	  /* without barriers */
	uint64_t token;		  /* ps: of a token from one server to another; it takes no bandwidth */
	uint32_t ahead;		  /* of FORS_WAIT_TREE: a server sends in step n when step n - ahead is over; >= 1 */
	double message_jitter;	  /* before each message up to this part of its own time is lost, at random; 0..10 */
	uint32_t window;	  /* without barriers: messages of a rank that have not arrived, at most; 0: any */
	bool keeps_idle;	  /* without barriers: an idle step takes as long as a message over a free link */
	uint64_t seed;		  /* of skew, jitter and policies */
	uint32_t watch;		  /* server: the time line is of what arrives there; FORS_NONE: anywhere */
	enum fors_policy policy;
	struct fors_adaptive adaptive;
	struct fors_switch_ar switch_ar;
	struct fors_qcn qcn;
	bool has_lanes_by_hop; /* a packet takes lane 0 first, then one higher at each switch, up to the last; else its message's */
	const struct fors_hops
		*hops; /* of the graph; all policies but tables need them, and rate limiters; TAGO: to all switches */
	const struct fors_blocks *blocks; /* TAGO needs them; VLB and UGAL: NULL, or detours are over other blocks */
	void (*progress)(void *context, double done); /* may be NULL */
	void *context;
};

/* Do these settings need sets of next hops? */
static inline bool fors_sim_needs_hops(const struct fors_sim_settings *set)
{
	return set->policy != FORS_POLICY_TABLES || set->qcn.has_limiters;
}

/*
 * Defaults: 200 Gbit/s are the caller's; 4 KiB packets, 64 KiB buffers, 30 ns wire, 100 ns switch, barriers of no
 * cost; notifications as in paper 003, its table I.
 */
struct fors_sim_settings fors_sim_defaults(void);

/* What a step took. */
struct fors_sim_step {
	uint64_t begin, end;			 /* ps; the barrier comes afterwards */
	uint64_t bound;				 /* ps: what the fullest link needs for its packets alone */
	uint64_t stall;				 /* ps: of the link that could not send for want of room for longest */
	uint32_t link;				 /* which; FORS_NONE: none */
	uint32_t full;				 /* the fullest link; FORS_NONE: not known, as without tables */
	uint32_t full_messages;			 /* that go over it */
	uint32_t waiting_links, waiting_servers; /* that had something to send, and no room; of them servers' own */
};

/* Times of a link, ps. */
struct fors_sim_link {
	uint64_t busy;	/* packets were sent */
	uint64_t stall; /* something was there to send, and no room for it at the other end */
};

struct fors_sim_result {
	uint64_t time;	/* ps, with the last barrier */
	uint64_t bound; /* ps: sum over steps of their bounds; without barriers of the fullest link; 0 but for tables */
	uint64_t nmessages, nbroken; /* sent; without a way, left out */
	uint64_t bytes;		     /* payload of these messages */
	uint64_t sent, arrived;	     /* packets */
	uint64_t hops;		     /* links that packets went over */
	uint64_t nevents;
	uint64_t nreordered; /* packets that came after one of their message that was sent later */
	uint64_t nnotices;   /* congestion notifications */
	uint64_t noverflows; /* packets that came to a full buffer: PAUSE too late */
	uint32_t nlinks, nsteps;
	uint32_t most_in_flight;	       /* packets */
	struct fors_sim_step *step;	       /* nsteps; with barriers only, else NULL */
	struct fors_sim_link *link;	       /* nlinks */
	uint64_t bin;			       /* ps of a bin of the time line */
	uint64_t arrived_bytes[FORS_SIM_BINS]; /* payload in each of them; watch: at that server */
	uint64_t stalled_ps[FORS_SIM_BINS];    /* of all links together, noted when it ends */
	struct fors_histogram message_ps;      /* latency: from a message's turn to its last byte */
	double message_rates;		       /* sum over messages that arrived: payload by that time, Gbit/s */
	struct fors_histogram packet_ps;       /* from the first byte on the first cable to the last byte */
	uint32_t ncycle;		       /* 0: no deadlock */
	uint32_t *cycle; /* ncycle links, each waits for room behind the next, the last for the first */
};

/*
 * Run `program` over the router's graph in *result, owned by the caller (fors_sim_result_free()). A deadlock is a
 * result, not an error. Errors: FORS_EINPUT (a setting makes no sense: says which), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_simulate(const struct fors_router *router, const struct fors_program *program,
			    const struct fors_sim_settings *settings, struct fors_sim_result **result,
			    struct fors_error *error);
void fors_sim_result_free(struct fors_sim_result *result);

/*
 * The cost of a barrier, ps, with which `result` (barriers that cost nothing, no jitter) would give each of `nservers`
 * servers so many Gbit/s of payload. Errors: FORS_EINPUT (it is slower than that without any cost).
 */
enum fors_err fors_sim_fit(const struct fors_sim_result *result, uint32_t nservers, double gbits, uint64_t *barrier,
			   struct fors_error *error);

/* Payload that each of `nservers` servers sends on average, Gbit/s. */
double fors_sim_gbits(const struct fors_sim_result *result, uint32_t nservers);

#endif
