/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qcn.h - congestion notifications of Ethernet (IEEE 802.1Qau, QCN); private to the room.
 *
 * Three things that know little of one another:
 *
 *      qcn.c             congestion points: a queue that is too long, or grows, sends notifications to who filled it; they
 *                        travel back hop by hop, and switches on their way may listen
 *      qcn_rate.c        reaction points: a server that gets one sends less to that destination, then recovers
 *      policy_switch.c   Switch AR: a switch that hears one prefers other links to that destination
 *
 * A queue here is all that waits in a switch for one link. Read: paper 003 (Crisan, Gusat, Minkenberg), section II-B2 and
 * its table I; what it leaves out is from the standard: sampling jittered by 15 % and ten times as often when the feedback
 * is full, the steps of the hyper-active phase, cycles half as long from active increase on. A notification takes no
 * bandwidth and waits for nobody: a wire and a switch time a hop. Rates of the paper, of 10 Gbit/s, are parts of a
 * server's cable here.
 */
#ifndef FORS_LAB_SIM_QCN_H
#define FORS_LAB_SIM_QCN_H

#include "state.h"

#define QCN_FULL 63		     /* feedback has 6 bits */
#define QCN_LINE ((uint64_t)1 << 32) /* a rate that is no limit */

/* A link's queue. */
struct sim_point {
	int64_t left;  /* bytes until it is looked at */
	uint32_t then; /* bytes in it when it was */
};

/* A notification on its way, to the server that sent. */
struct sim_notice {
	uint32_t src, dst; /* servers of the packet that was sampled */
	uint32_t goal;	   /* number of the switch of src (hops.h) */
	uint32_t link;	   /* that it comes over; FORS_NONE: it comes to its server */
	uint32_t next;	   /* spare one */
	uint8_t feedback;  /* 1 .. QCN_FULL */
};

/* A reaction point: what a server may send to another; parts of its cable times QCN_LINE. */
struct sim_limiter {
	uint64_t rate, target;		/* rate 0: there is no limit */
	uint64_t not_before;		/* tick at which the next packet may leave */
	uint64_t timer;			/* tick at which its cycle by time ends */
	uint64_t bytes;			/* left of its cycle by bytes */
	uint32_t bytes_done, time_done; /* cycles since the last cut */
	bool is_ticking;		/* a SIM_CYCLE is on its way */
};

/* What a switch has heard of a link to a server. */
struct sim_level {
	uint64_t heard; /* tick, and 1; 0: never */
	uint64_t level;
};

struct sim_qcn {
	struct sim_point *point;     /* nlinks */
	uint32_t *back;		     /* nlinks: the other direction of its cable; FORS_NONE: there is none */
	struct sim_limiter *limiter; /* source * nservers + destination; NULL: servers take no notice */
	struct sim_level *level;     /* link * nservers + destination; NULL: nobody listens */
	struct sim_notice *notice;
	uint32_t notice_used, notice_room, notice_spare;
	uint64_t timer, forget; /* ticks */
};

/* ---- qcn.c ---- */

/* sim->qcn, where the settings ask for it. Errors: FORS_ELIMIT (too large for it), FORS_ENOMEM; fors_qcn_free() in any case. */
enum fors_err fors_qcn_new(struct sim *sim, struct fors_error *error);
void fors_qcn_free(struct sim_qcn *qcn);
/* A packet has joined a switch's queue: is it time to look at it? */
void fors_qcn_look(struct sim *sim, uint32_t packet);
/* An event of this file or of qcn_rate.c. */
void fors_qcn_event(struct sim *sim, const struct fors_calendar_event *event);

/* ---- qcn_rate.c ---- */

/* A notification has come to its server. */
void fors_rate_cut(struct sim *sim, const struct sim_notice *notice);
/* May the message's next packet leave now? If not, SIM_SEND comes when it may. */
bool fors_rate_holds(struct sim *sim, uint32_t message);
/* A packet has left its server. */
void fors_rate_sent(struct sim *sim, const struct sim_packet *packet);
/* The cycle by time of a limiter may be over. */
void fors_rate_cycle(struct sim *sim, uint32_t limiter);

#endif
