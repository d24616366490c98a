/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * state.h - a simulation while it runs; private to the room.
 *
 * Three levels, each calls the one below, and is told by what happens:
 *
 *      traffic.c    what servers do: messages begin, arrive, wait for barriers
 *      switch.c     packets on their way: queues, turns, credits
 *      calendar.h   time
 *
 * Everything is an index into an array. A lane is a virtual lane of a link, link << vl_bits | vl; the buffer at the
 * end of the link belongs to it. A queue is in the buffer of the lane that its packets came over (or at a server, for
 * the packet that it sends next). The queues that want to go on over a lane stand in a ring, and take turns.
 */
#ifndef FORS_LAB_SIM_STATE_H
#define FORS_LAB_SIM_STATE_H

#include "calendar.h"
#include "core/base/random.h"
#include "sim.h"

/* Of switches first, then of servers, then of qcn.c. */
enum fors_sim_what {
	SIM_READY,	  /* packet: its head may leave the switch */
	SIM_ARRIVE,	  /* packet: its tail is at the server */
	SIM_ENTER,	  /* packet: its head is at the buffer (PAUSE only) */
	SIM_FREE,	  /* link: it can send again, or may be able to */
	SIM_CREDIT,	  /* lane: room behind it */
	SIM_LEAVE,	  /* lane: a packet has left the buffer (PAUSE only) */
	SIM_PAUSE,	  /* lane */
	SIM_RESUME,	  /* lane */
	SIM_TURN,	  /* rank: it may begin its next message */
	SIM_BARRIER,	  /* the next step begins */
	SIM_SEND,	  /* message: the next packet may leave its server */
	SIM_TOKEN,	  /* a token that waiting.c knows comes to a server or rank */
	SIM_TOKEN_DOWN,	  /* and one down a tree; where ranks wait for themselves: this one may go on */
	SIM_NOTICE,	  /* notification: it comes to a switch, or its server */
	SIM_CYCLE,	  /* limiter: a cycle by time may be over */
	SIM_WHAT_BITS = 4 /* above stand bytes of a packet, of SIM_CREDIT and SIM_LEAVE */
};

/* 40 bytes. */
struct sim_packet {
	uint64_t born;	  /* tick at which it left its adapter */
	uint32_t message; /* index of a sim_message */
	uint32_t next;	  /* behind it in its queue; or the next spare one */
	uint32_t lane;	  /* that it came over; FORS_NONE: still at its server */
	uint32_t number;  /* of its message, from 0 */
	uint32_t bytes;
	uint16_t hop;  /* links behind it */
	uint8_t vl;    /* its message's */
	uint32_t onto; /* lane that it goes on over, once it is in a queue */
	uint32_t via;  /* what it has to pass first, as its policy says; FORS_NONE: nothing */
};

/* The link that a switch has chosen for packets to a server. */
struct sim_binding {
	uint64_t until; /* tick */
	uint32_t link;
};

/* A message that is sent, or on its way. Its way is sim->way[max_links * index ..]. */
struct sim_message {
	uint64_t born;	   /* tick */
	uint64_t left;	   /* bytes not yet in packets */
	uint64_t bytes;	   /* all */
	size_t send;	   /* in the program */
	uint32_t src, dst; /* servers */
	uint32_t rank;	   /* who sends it */
	uint32_t last;	   /* link */
	uint32_t nlinks;
	uint32_t sent, arrived, expected; /* packets; the number that should come next */
	uint32_t next;			  /* spare one */
	uint8_t vl;
};

struct sim_queue {
	uint32_t head, tail; /* packets; head FORS_NONE: empty */
	uint32_t next;	     /* in the ring of the lane that its head wants */
};

struct sim_lane {
	uint32_t ring;	      /* last queue in turn, FORS_NONE: nobody wants it */
	uint32_t room;	      /* bytes: credits; with PAUSE what the buffer holds */
	uint32_t early;	      /* bytes of room that may not have come back yet: see switch.c */
	uint64_t early_until; /* tick at which all of it has */
	bool is_paused;	      /* the sender knows */
	bool has_paused;      /* the receiver has said so */
};

/* What each packet touches first. */
struct sim_link {
	uint64_t free_at;    /* tick */
	uint64_t busy;	     /* ticks */
	uint64_t stalled;    /* since this tick, FORS_SIM_NEVER: it is not */
	uint32_t nwaiting;   /* queues in the rings of its lanes */
	uint32_t queued;     /* bytes of packets in queues that want it */
	uint32_t scale;	     /* ticks of a byte times 2^16 */
	uint32_t queues;     /* first queue of what came over it */
	uint16_t rank;	     /* among the links that leave the same node */
	uint8_t vl, turns;   /* whose turn it is, for how many packets more */
	bool is_waking;	     /* a SIM_FREE is on its way */
	bool is_last;	     /* to a server */
	uint32_t step;	     /* that load and step_stall speak of */
	uint32_t step_loads; /* messages over it, in this step */
	uint64_t load;	     /* ticks of all messages over it, in this step with barriers */
	uint64_t step_stall; /* ticks, in this step */
};

#define FORS_SIM_NEVER UINT64_MAX

/* One of a server's ranks, which share its adapter. */
struct sim_rank {
	uint64_t not_before;  /* tick at which its next message may begin */
	size_t next;	      /* that message in the program */
	size_t drawn;	      /* messages whose delay has been drawn are before this one */
	uint32_t outstanding; /* begun and not arrived */
	bool is_waking;	      /* a SIM_TURN is on its way */
};

struct sim_server {
	uint64_t not_before; /* tick at which its adapter may begin another message */
	uint32_t message;    /* the one that is sent now, FORS_NONE */
	uint32_t turn;	     /* whose, among its ranks */
};

struct sim_waiting;

struct sim {
	const struct fors_router *router;
	const struct fors_program *program;
	const struct fors_sim_settings *settings;
	const struct sim_policy *policy; /* NULL: tables */
	struct sim_binding *binding;	 /* nodes * servers; NULL: policy is free */
	uint64_t binding_ticks;
	struct sim_qcn *qcn; /* NULL: no notifications */
	struct fors_sim_result *result;
	struct fors_calendar *calendar;
	double ps;							     /* of a tick */
	uint64_t wire, switching, adapter, barrier, jitter, skew, idle_step; /* ticks */
	uint32_t nvls, vl_bits, nlinks, nqueues;
	uint32_t two_packets;		      /* bytes of two of the largest */
	bool is_pausing, is_fifo, is_uniform; /* is_uniform: one speed */
	uint32_t scale_of_adapter;	      /* 2^16 / adapter_rate */
	struct sim_link *link;
	struct sim_lane *lane;
	struct sim_queue *queue; /* of lanes, then one for each server */
	struct sim_server *server;
	struct sim_rank *rank;
	struct sim_waiting *waiting; /* NULL: servers wait for all of a step, or for nobody */
	uint64_t token;		     /* ticks */
	struct sim_packet *packet;
	uint32_t packet_used, packet_room, packet_spare, in_flight;
	struct sim_message *message;
	uint32_t *way;
	uint32_t message_used, message_room, message_spare;
	uint32_t step, step_left;     /* with barriers: the step, its messages that have not arrived */
	unsigned bin_bits;	      /* a bin of the time line has 2^bin_bits ticks */
	uint64_t messages_left, last; /* last: tick at which the last one arrived, and its barrier was over */
	struct fors_random random;
	bool is_out_of_memory;
};

/* ---- build.c ---- */

enum fors_err fors_sim_build(struct sim *sim, struct fors_error *error);
void fors_sim_clear(struct sim *sim);

static inline uint64_t fors_sim_ps(const struct sim *sim, uint64_t ticks)
{
	return (uint64_t)((double)ticks * sim->ps + 0.5);
}

/* Ticks of so many bytes on a link. */
static inline uint64_t fors_sim_ticks(const struct sim_link *link, uint32_t bytes)
{
	uint64_t ticks = ((uint64_t)bytes * link->scale + 32768) >> 16;

	return ticks ? ticks : 1;
}

/* ---- switch.c ---- */

/* The queue of a server. */
static inline uint32_t fors_sim_server_queue(const struct sim *sim, uint32_t server)
{
	return sim->nqueues + server;
}

/* A packet joins a queue; its link sends when it can. */
void fors_sim_enqueue(struct sim *sim, uint32_t queue, uint32_t packet);
/* An event of a switch. */
void fors_sim_switch_event(struct sim *sim, const struct fors_calendar_event *event);
/* A packet at the end of its way: it is no more. */
void fors_sim_packet_free(struct sim *sim, uint32_t packet);
/* A new packet, all zero; FORS_NONE: out of memory, and the simulation ends. */
uint32_t fors_sim_packet_new(struct sim *sim);

/* ---- traffic.c ---- */

/* The first events of all servers. */
void fors_sim_traffic_begin(struct sim *sim);
void fors_sim_traffic_event(struct sim *sim, const struct fors_calendar_event *event);
/* The packet at the head of a server's queue has left: the next one, of this or the next message. */
void fors_sim_server_sent(struct sim *sim, uint32_t message);
/* A packet has arrived. */
void fors_sim_arrived(struct sim *sim, uint32_t packet);

/* Something that a server's ranks may have waited for has happened. */
void fors_sim_go_on(struct sim *sim, uint32_t server);
/* Where the message of the program with this number goes, in way[router->max_links], *nlinks; false: nowhere. */
bool fors_sim_route(const struct sim *sim, uint32_t server, const struct fors_send *send, uint32_t *way,
		    uint32_t *nlinks);

/* ---- waiting.c ---- */

/* What the settings say of waiting, in sim->waiting. Errors: FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_waiting_new(struct sim *sim, struct fors_error *error);
void fors_waiting_free(struct sim_waiting *waiting);
/* May the next message of a rank begin, as far as others are concerned? sim->waiting is there. */
bool fors_waiting_allows(const struct sim *sim, uint32_t rank);
/* All servers begin. */
void fors_waiting_begin(struct sim *sim);
/* A message of the program, sent by a rank, has arrived, or was left out. */
void fors_waiting_done(struct sim *sim, uint32_t rank, size_t send);
void fors_waiting_event(struct sim *sim, const struct fors_calendar_event *event);

/* ---- notes.c ---- */

/* A message begins: its load on the links of its way. */
void fors_sim_note_load(struct sim *sim, uint32_t message);
/* Stalled time of a link, which ends now. */
void fors_sim_note_stall(struct sim *sim, uint32_t link, uint64_t ticks);
/* Payload has arrived. */
void fors_sim_note_arrival(struct sim *sim, uint32_t bytes);
/* The simulation is over: ticks become picoseconds. */
void fors_sim_finish(struct sim *sim);

/* ---- deadlock.c ---- */

/* Nothing more happens, and not all has arrived: the cycle of lanes that wait for one another, in result->cycle. */
enum fors_err fors_sim_find_deadlock(struct sim *sim, struct fors_error *error);

#endif
