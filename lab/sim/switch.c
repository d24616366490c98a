/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switch.c - packets on their way: queues, turns, credits and PAUSE.
 *
 * A packet that is sent over a link at tick t makes these events:
 *
 *      SIM_READY    at t + wire + switching: its head may leave the next switch; it joins its queue there. A link that
 *                   is faster than the one before it waits until the tail cannot run dry
 *      SIM_ARRIVE   instead, at its server: when its tail is there
 *      SIM_CREDIT   a wire time after the tail has left the buffer that it came from: room for the sender there
 *      SIM_FREE     when the tail has left, if somebody else waits for the link then
 *
 * A link sends when it is free, somebody wants it, and there is room at its other end. So it is looked at when one of
 * these three changes, and only then: a link never waits for what cannot happen, and nobody is forgotten. All queues
 * that want a link stand in rings, so to look is to look at the first one of each VL.
 *
 * Most credits need no event. A credit that will be back after d ticks may be given at once when nobody can see the
 * difference: when there is room, without it, for all that the sender could begin to send until then. A link sends a
 * byte a tick at most, so that is d bytes and two packets, one in the middle of which the time begins and one in which
 * it ends. Room that was given in this way and may not be back yet (early) does not count as room when the next credit
 * is looked at. What comes out is the same to the tick, with two thirds of the events.
 */
#include "policy.h"
#include "qcn.h"
#include "state.h"

#include <stdlib.h>

/* ---- packets ---- */

static bool grow_packets(struct sim *sim)
{
	uint32_t room = sim->packet_room ? 2 * sim->packet_room : 1024;
	struct sim_packet *larger = room < FORS_NONE / 2 ? realloc(sim->packet, room * sizeof(*larger)) : NULL;

	sim->is_out_of_memory |= !larger;
	if (!larger)
		return false;
	sim->packet = larger;
	sim->packet_room = room;
	return true;
}

uint32_t fors_sim_packet_new(struct sim *sim)
{
	uint32_t p = sim->packet_spare;

	if (p != FORS_NONE)
		sim->packet_spare = sim->packet[p].next;
	else if (sim->packet_used < sim->packet_room || grow_packets(sim))
		p = sim->packet_used++;
	else
		return FORS_NONE;
	sim->packet[p] = (struct sim_packet){.next = FORS_NONE, .lane = FORS_NONE, .via = FORS_NONE};
	if (++sim->in_flight > sim->result->most_in_flight)
		sim->result->most_in_flight = sim->in_flight;
	return p;
}

void fors_sim_packet_free(struct sim *sim, uint32_t packet)
{
	sim->packet[packet].next = sim->packet_spare;
	sim->packet_spare = packet;
	sim->in_flight--;
}

/* ---- queues and rings ---- */

/* The queue joins the ring of the lane that its first packet wants; that lane's link is returned. */
static inline uint32_t join(struct sim *sim, uint32_t q)
{
	struct sim_queue *queue = sim->queue;
	uint32_t l = sim->packet[queue[q].head].onto;
	struct sim_lane *lane = &sim->lane[l];

	if (lane->ring == FORS_NONE) {
		queue[q].next = q;
	} else {
		queue[q].next = queue[lane->ring].next;
		queue[lane->ring].next = q;
	}
	lane->ring = q;
	sim->link[l >> sim->vl_bits].nwaiting++;
	return l >> sim->vl_bits;
}

/* The queue in turn. */
static inline uint32_t in_turn(const struct sim *sim, const struct sim_lane *lane)
{
	return sim->queue[lane->ring].next;
}

/* It leaves the ring. */
static inline void leave(struct sim *sim, struct sim_lane *lane, uint32_t link)
{
	uint32_t q = in_turn(sim, lane);

	if (q == lane->ring)
		lane->ring = FORS_NONE;
	else
		sim->queue[lane->ring].next = sim->queue[q].next;
	sim->link[link].nwaiting--;
}

static inline void wake(struct sim *sim, uint32_t l, uint64_t time)
{
	struct sim_link *link = &sim->link[l];

	if (link->is_waking || !link->nwaiting)
		return;
	link->is_waking = true;
	fors_calendar_put(sim->calendar, time > link->free_at ? time : link->free_at, SIM_FREE, l);
}

/* ---- sending ---- */

static inline bool can_send(const struct sim *sim, const struct sim_lane *lane)
{
	if (lane->ring == FORS_NONE)
		return false;
	if (sim->is_pausing)
		return !lane->is_paused;
	return lane->room >= sim->packet[sim->queue[in_turn(sim, lane)].head].bytes;
}

static inline void take_turn(const struct sim *sim, struct sim_link *link, uint8_t vl)
{
	link->vl = vl;
	link->turns = sim->settings->weight[vl] ? sim->settings->weight[vl] : 1;
}

/* The VL whose turn it is among those that can send, FORS_NONE: none of them. */
static inline uint32_t pick_vl(struct sim *sim, uint32_t l)
{
	struct sim_link *link = &sim->link[l];
	const struct sim_lane *lane = &sim->lane[l << sim->vl_bits];

	if (sim->nvls == 1)
		return can_send(sim, lane) ? 0 : FORS_NONE;
	if (link->turns && can_send(sim, &lane[link->vl]))
		return link->vl;
	for (unsigned i = 1; i <= sim->nvls; i++) {
		unsigned vl = link->vl + i - (link->vl + i >= sim->nvls ? sim->nvls : 0);

		if (can_send(sim, &lane[vl])) {
			take_turn(sim, link, (uint8_t)vl);
			return vl;
		}
	}
	return FORS_NONE;
}

/* Room that is back at tick `back` is given now, if that makes no difference. */
static inline bool give_early(struct sim *sim, struct sim_lane *lane, uint32_t bytes, uint64_t back)
{
	uint64_t now = sim->calendar->now;

	if (now >= lane->early_until)
		lane->early = 0;
	if (lane->room < lane->early + (back - now) + sim->two_packets)
		return false;
	lane->early += bytes;
	lane->room += bytes;
	if (back > lane->early_until)
		lane->early_until = back;
	return true;
}

/* Tail gone: room for who sent it, or for the server's next packet. */
static inline void give_room(struct sim *sim, uint32_t lane, uint32_t bytes, uint64_t gone)
{
	if (sim->is_pausing)
		fors_calendar_put(sim->calendar, gone, SIM_LEAVE | bytes << SIM_WHAT_BITS, lane);
	else if (!give_early(sim, &sim->lane[lane], bytes, gone + sim->wire))
		fors_calendar_put(sim->calendar, gone + sim->wire, SIM_CREDIT | bytes << SIM_WHAT_BITS, lane);
}

/* When the head may leave the next switch; where that is not known yet the next link may be the fastest. */
static uint64_t ready_at(struct sim *sim, struct sim_packet *packet, uint64_t now, uint64_t ticks)
{
	uint64_t ready = now + sim->wire + sim->switching, next;

	if (sim->settings->is_store_and_forward)
		return ready + ticks;
	if (sim->is_uniform)
		return ready;
	next = packet->bytes;
	if (!sim->policy)
		next = fors_sim_ticks(&sim->link[fors_sim_choose(sim, packet) >> sim->vl_bits], packet->bytes);
	return next < ticks ? ready + ticks - next : ready;
}

/* What comes of a packet that goes over `lane` now. */
static inline void launch(struct sim *sim, uint32_t p, uint32_t lane, uint64_t now, uint64_t ticks)
{
	struct sim_packet *packet = &sim->packet[p];

	packet->lane = lane;
	sim->result->hops++;
	if (sim->is_pausing)
		fors_calendar_put(sim->calendar, now + sim->wire, SIM_ENTER, p);
	else
		sim->lane[lane].room -= packet->bytes;
	packet->hop++;
	if (sim->link[lane >> sim->vl_bits].is_last)
		fors_calendar_put(sim->calendar, now + sim->wire + ticks, SIM_ARRIVE, p);
	else
		fors_calendar_put(sim->calendar, ready_at(sim, packet, now, ticks), SIM_READY, p);
}

/* The first packet of the queue in turn leaves it, and the queue takes its new place. */
static inline uint32_t pop(struct sim *sim, struct sim_lane *lane, uint32_t l)
{
	uint32_t q = in_turn(sim, lane), p = sim->queue[q].head;

	sim->queue[q].head = sim->packet[p].next;
	if (sim->queue[q].head != FORS_NONE && !sim->is_fifo) {
		lane->ring = q;
		return p;
	}
	leave(sim, lane, l);
	if (sim->queue[q].head != FORS_NONE)
		wake(sim, join(sim, q), sim->calendar->now);
	return p;
}

/* From its server: the adapter may be slower than the link, and has more to send. */
static void left_server(struct sim *sim, uint32_t p, uint32_t l, uint64_t now)
{
	struct sim_link *link = &sim->link[l];

	sim->packet[p].born = now;
	link->free_at = now + ((link->free_at - now) * sim->scale_of_adapter >> 16);
	if (sim->qcn && sim->qcn->limiter)
		fors_rate_sent(sim, &sim->packet[p]);
	fors_sim_server_sent(sim, sim->packet[p].message);
}

/* The link is taken by a packet that is in no queue any more, for so many ticks. */
static inline uint64_t occupy(struct sim *sim, struct sim_link *link, uint32_t bytes)
{
	uint64_t ticks = fors_sim_ticks(link, bytes);

	link->free_at = sim->calendar->now + ticks;
	link->busy += ticks;
	link->turns--;
	return ticks;
}

/* Such a packet goes over its lane. */
static inline void transmit(struct sim *sim, uint32_t p, uint32_t lane, uint64_t ticks)
{
	uint64_t now = sim->calendar->now;
	uint32_t from = sim->packet[p].lane;

	if (from != FORS_NONE)
		give_room(sim, from, sim->packet[p].bytes, now + ticks);
	launch(sim, p, lane, now, ticks);
	if (from == FORS_NONE)
		left_server(sim, p, lane >> sim->vl_bits, now);
}

/* The first packet of the queue whose turn it is. */
static void send(struct sim *sim, uint32_t l, uint32_t vl)
{
	struct sim_link *link = &sim->link[l];
	uint64_t now = sim->calendar->now, ticks;
	uint32_t lane = l << sim->vl_bits | vl, p;

	if (link->stalled != FORS_SIM_NEVER) {
		fors_sim_note_stall(sim, l, now - link->stalled);
		link->stalled = FORS_SIM_NEVER;
	}
	p = sim->queue[in_turn(sim, &sim->lane[lane])].head;
	ticks = occupy(sim, link, sim->packet[p].bytes);
	link->queued -= sim->packet[p].bytes;
	p = pop(sim, &sim->lane[lane], l);
	transmit(sim, p, lane, ticks);
	wake(sim, l, now);
}

/* Something has changed about a link: does it send? */
static inline void look_at(struct sim *sim, uint32_t l)
{
	struct sim_link *link = &sim->link[l];
	uint32_t vl;

	if (link->is_waking || !link->nwaiting)
		return;
	if (link->free_at > sim->calendar->now) {
		wake(sim, l, link->free_at);
		return;
	}
	vl = pick_vl(sim, l);
	if (vl != FORS_NONE)
		send(sim, l, vl);
	else if (link->stalled == FORS_SIM_NEVER)
		link->stalled = sim->calendar->now;
}

/*
 * Most packets find nobody before them, and room: they leave without having been in a queue, with the same events as if
 * they had.
 */
static inline bool goes_at_once(struct sim *sim, uint32_t p)
{
	const struct sim_packet *packet = &sim->packet[p];
	struct sim_link *link = &sim->link[packet->onto >> sim->vl_bits];
	const struct sim_lane *lane = &sim->lane[packet->onto];
	uint8_t vl = (uint8_t)(packet->onto & ((1u << sim->vl_bits) - 1));

	if (link->nwaiting || link->is_waking || link->free_at > sim->calendar->now)
		return false;
	if (sim->is_pausing ? lane->is_paused : lane->room < packet->bytes)
		return false;
	if (sim->nvls > 1 && !(link->turns && link->vl == vl))
		take_turn(sim, link, vl);
	return true;
}

static inline void go_at_once(struct sim *sim, uint32_t p)
{
	const struct sim_packet *packet = &sim->packet[p];

	transmit(sim, p, packet->onto, occupy(sim, &sim->link[packet->onto >> sim->vl_bits], packet->bytes));
}

void fors_sim_enqueue(struct sim *sim, uint32_t q, uint32_t packet)
{
	struct sim_queue *queue = &sim->queue[q];

	if (queue->head == FORS_NONE && goes_at_once(sim, packet)) {
		go_at_once(sim, packet);
		return;
	}
	sim->link[sim->packet[packet].onto >> sim->vl_bits].queued += sim->packet[packet].bytes;
	if (queue->head == FORS_NONE) {
		queue->head = queue->tail = packet;
		look_at(sim, join(sim, q));
	} else {
		sim->packet[queue->tail].next = packet;
		queue->tail = packet;
	}
}

/* ---- events ---- */

/* Of the buffer that a packet is in, the queue for where it goes on. */
static inline uint32_t queue_of(const struct sim *sim, const struct sim_packet *packet)
{
	const struct sim_link *in = &sim->link[packet->lane >> sim->vl_bits];

	if (sim->is_fifo)
		return packet->lane;
	return in->queues + ((uint32_t)sim->link[packet->onto >> sim->vl_bits].rank << sim->vl_bits) +
	       (packet->onto & ((1u << sim->vl_bits) - 1));
}

/* Where nobody waits for a link, the queues for it are empty, and need not be looked at: they are far apart in memory. */
static inline void ready(struct sim *sim, uint32_t p)
{
	struct sim_packet *packet = &sim->packet[p];

	packet->onto = fors_sim_choose(sim, packet);
	packet->next = FORS_NONE;
	if (!sim->is_fifo && goes_at_once(sim, p))
		go_at_once(sim, p);
	else
		fors_sim_enqueue(sim, queue_of(sim, packet), p);
	if (sim->qcn)
		fors_qcn_look(sim, p);
}

static void arrive(struct sim *sim, uint32_t p)
{
	const struct sim_packet *packet = &sim->packet[p];

	give_room(sim, packet->lane, packet->bytes, sim->calendar->now);
	fors_sim_arrived(sim, p);
}

/* The buffer fills up: is it time to say so? */
static void enter(struct sim *sim, uint32_t p)
{
	uint32_t l = sim->packet[p].lane;
	struct sim_lane *lane = &sim->lane[l];

	lane->room += sim->packet[p].bytes;
	sim->result->noverflows += lane->room > sim->settings->buffer;
	if (lane->has_paused || lane->room < sim->settings->pause_high)
		return;
	lane->has_paused = true;
	fors_calendar_put(sim->calendar, sim->calendar->now + sim->wire, SIM_PAUSE, l);
}

static void left(struct sim *sim, uint32_t l, uint32_t bytes)
{
	struct sim_lane *lane = &sim->lane[l];

	lane->room -= bytes;
	if (!lane->has_paused || lane->room > sim->settings->pause_low)
		return;
	lane->has_paused = false;
	fors_calendar_put(sim->calendar, sim->calendar->now + sim->wire, SIM_RESUME, l);
}

static void pause_event(struct sim *sim, const struct fors_calendar_event *event, uint32_t what)
{
	switch (what) {
	case SIM_ENTER:
		enter(sim, event->which);
		break;
	case SIM_LEAVE:
		left(sim, event->which, event->what >> SIM_WHAT_BITS);
		break;
	default:
		sim->lane[event->which].is_paused = what == SIM_PAUSE;
		look_at(sim, event->which >> sim->vl_bits);
	}
}

void fors_sim_switch_event(struct sim *sim, const struct fors_calendar_event *event)
{
	uint32_t what = event->what & ((1u << SIM_WHAT_BITS) - 1);

	switch (what) {
	case SIM_READY:
		ready(sim, event->which);
		break;
	case SIM_CREDIT:
		sim->lane[event->which].room += event->what >> SIM_WHAT_BITS;
		look_at(sim, event->which >> sim->vl_bits);
		break;
	case SIM_FREE:
		sim->link[event->which].is_waking = false;
		look_at(sim, event->which);
		break;
	case SIM_ARRIVE:
		arrive(sim, event->which);
		break;
	default:
		pause_event(sim, event, what);
	}
}
