/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * traffic.c - what servers do: messages begin, become packets, arrive; slots end.
 *
 * A server has one message in hand, and of it one packet at its adapter; when that leaves, the next one is made, so a
 * message costs no memory for packets that have not left. What it does next is asked in one place, may_begin(),
 * whenever something that it depends on has changed: a packet was sent, a message arrived, a slot began, a time came.
 *
 * With barriers, a slot ends when its last message has arrived; the next one begins when the barrier has cost its
 * time, for each server by its own jitter later. Without, a server goes on at once; kept idle slots put its next
 * message off.
 */
#include <stdlib.h>
#include <string.h>

#include "qcn.h"
#include "state.h"

/* ---- messages ---- */

static bool grow_messages(struct sim *sim)
{
	uint32_t room = sim->message_room ? 2 * sim->message_room : 1024;
	struct sim_message *larger = realloc(sim->message, room * sizeof(*larger));
	uint32_t *way;

	if (larger)
		sim->message = larger;
	way = larger ? realloc(sim->way, (size_t)room * sim->router->max_links * sizeof(*way)) : NULL;
	if (way)
		sim->way = way;
	sim->is_out_of_memory |= !way;
	sim->message_room = way ? room : sim->message_room;
	return way != NULL;
}

static uint32_t message_new(struct sim *sim)
{
	uint32_t m = sim->message_spare;

	if (m != FORS_NONE)
		sim->message_spare = sim->message[m].next;
	else if (sim->message_used < sim->message_room || grow_messages(sim))
		m = sim->message_used++;
	else
		return FORS_NONE;
	sim->message[m] = (struct sim_message){.left = sim->settings->message};
	return m;
}

static void message_free(struct sim *sim, uint32_t m)
{
	sim->message[m].next = sim->message_spare;
	sim->message_spare = m;
}

/* ---- a message begins ---- */

/* The next packet of a message, into its server's queue, unless a limit says later. */
static void next_packet(struct sim *sim, uint32_t m)
{
	uint32_t p, mtu = sim->settings->mtu;
	struct sim_message *message = &sim->message[m];

	if (sim->qcn && sim->qcn->limiter && fors_rate_holds(sim, m))
		return;
	p = fors_sim_packet_new(sim);
	if (p == FORS_NONE)
		return;
	sim->packet[p].message = m;
	sim->packet[p].vl = message->vl;
	sim->packet[p].number = message->sent++;
	sim->packet[p].bytes = (message->left < mtu ? (uint32_t)message->left : mtu) + sim->settings->header;
	message->left -= message->left < mtu ? message->left : mtu;
	sim->packet[p].onto = sim->way[(size_t)m * sim->router->max_links] << sim->vl_bits | message->vl;
	sim->result->sent++;
	fors_sim_enqueue(sim, fors_sim_server_queue(sim, message->src), p);
}

/* A message is done, or has no way: is its slot over? */
static void count_off(struct sim *sim)
{
	sim->messages_left--;
	sim->last = sim->calendar->now + sim->barrier;
	if (!sim->settings->has_barrier || --sim->slot_left)
		return;
	sim->result->slot[sim->slot].end = sim->calendar->now;
	fors_calendar_put(sim->calendar, sim->calendar->now + sim->barrier, SIM_BARRIER, 0);
}

/* Where it goes; false: nowhere. */
static bool route(struct sim *sim, uint32_t m, const struct fors_send *send)
{
	const struct fors_router *router = sim->router;
	const struct fors_pair pair = {sim->message[m].src, send->dst, send->path};

	return router->route(router->context, pair, &sim->way[(size_t)m * router->max_links],
			     &sim->message[m].nlinks) == FORS_WAY_GOOD &&
	       sim->message[m].nlinks;
}

/* When the next message of a server exists. */
static uint64_t exists_at(const struct sim *sim, const struct sim_server *server)
{
	const uint64_t *at = sim->program->at;

	return at ? (uint64_t)((double)at[server->next] / sim->ps) : server->not_before;
}

/* The next message of the program: it has a way, or it is left out, false. */
static bool begin(struct sim *sim, uint32_t s)
{
	struct sim_server *server = &sim->server[s];
	const struct fors_send *send = &sim->program->send[server->next];
	uint32_t m = message_new(sim);

	if (m == FORS_NONE)
		return false;
	sim->message[m].born = sim->program->at ? exists_at(sim, server) : sim->calendar->now;
	sim->message[m].src = s;
	sim->message[m].vl = send->vl % (uint8_t)sim->nvls;
	server->next++;
	if (!route(sim, m, send)) {
		message_free(sim, m);
		sim->result->nbroken++;
		count_off(sim);
		return false;
	}
	sim->result->nmessages++;
	sim->message[m].dst = send->dst;
	sim->message[m].last = sim->way[(size_t)m * sim->router->max_links + sim->message[m].nlinks - 1];
	server->message = m;
	server->outstanding++;
	if (sim->settings->policy == FORS_POLICY_TABLES)
		fors_sim_note_load(sim, m);
	next_packet(sim, m);
	return true;
}

/* ---- servers ---- */

/* Has it something to send now, as far as others are concerned? */
static bool may_begin(const struct sim *sim, uint32_t s)
{
	const struct sim_server *server = &sim->server[s];
	const struct fors_sim_settings *set = sim->settings;

	if (server->message != FORS_NONE || server->next == sim->program->first[s + 1] || sim->is_out_of_memory)
		return false;
	if (set->has_barrier)
		return sim->program->send[server->next].slot == sim->slot;
	return !set->window || server->outstanding < set->window;
}

/* Let a server begin what it may, now or when it is time. */
static void go_on(struct sim *sim, uint32_t s)
{
	struct sim_server *server = &sim->server[s];
	uint64_t now = sim->calendar->now, time;

	while (!server->is_waking && may_begin(sim, s)) {
		time = exists_at(sim, server);
		time = time > server->not_before ? time : server->not_before;
		if (time > now) {
			server->is_waking = true;
			fors_calendar_put(sim->calendar, time, SIM_TURN, s);
		} else if (begin(sim, s)) {
			return;
		}
	}
}

/* The idle slots between a server's last message and its next one. */
static uint32_t idle_slots(const struct sim *sim, uint32_t s)
{
	const struct sim_server *server = &sim->server[s];
	const struct fors_send *send = &sim->program->send[server->next];

	if (!sim->settings->keeps_idle || sim->settings->has_barrier || server->next == sim->program->first[s + 1])
		return 0;
	if (server->next == sim->program->first[s])
		return send->slot;
	return send->slot > send[-1].slot ? send->slot - send[-1].slot - 1 : 0;
}

/* All of a message is on its way. */
static void sent_all(struct sim *sim, uint32_t s, uint32_t m)
{
	struct sim_server *server = &sim->server[s];
	uint32_t first = sim->way[(size_t)m * sim->router->max_links];
	uint64_t pause = sim->adapter + idle_slots(sim, s) * sim->idle_slot;

	server->message = FORS_NONE;
	server->not_before = pause ? sim->link[first].free_at + pause : sim->calendar->now;
	go_on(sim, s);
}

void fors_sim_server_sent(struct sim *sim, uint32_t m)
{
	if (sim->message[m].left)
		next_packet(sim, m);
	else
		sent_all(sim, sim->message[m].src, m);
}

/* ---- arrivals ---- */

static void message_arrived(struct sim *sim, uint32_t m)
{
	uint32_t src = sim->message[m].src;
	uint64_t latency = fors_sim_ps(sim, sim->calendar->now - sim->message[m].born);

	fors_histogram_add(&sim->result->message_ps, latency);
	sim->result->message_rates += 8000. * (double)sim->settings->message / (double)(latency ? latency : 1);
	message_free(sim, m);
	sim->server[src].outstanding--;
	count_off(sim);
	go_on(sim, src);
}

void fors_sim_arrived(struct sim *sim, uint32_t p)
{
	const struct sim_packet *packet = &sim->packet[p];
	struct sim_message *message = &sim->message[packet->message];
	uint32_t m = packet->message;

	sim->result->arrived++;
	if (sim->settings->watch == FORS_NONE || sim->settings->watch == message->dst)
		fors_sim_note_arrival(sim, packet->bytes - sim->settings->header);
	sim->result->nreordered += packet->number < message->expected;
	if (packet->number >= message->expected)
		message->expected = packet->number + 1;
	fors_histogram_add(&sim->result->packet_ps, fors_sim_ps(sim, sim->calendar->now - packet->born));
	fors_sim_packet_free(sim, p);
	if (++message->arrived == message->sent && !message->left)
		message_arrived(sim, m);
}

/* ---- slots ---- */

static uint64_t random_ticks(struct sim *sim, uint64_t most)
{
	return most ? fors_random_next(&sim->random) % (most + 1) : 0;
}

static void begin_slot(struct sim *sim)
{
	sim->slot_left = sim->program->count[sim->slot];
	sim->result->slot[sim->slot].begin = sim->calendar->now;
	for (uint32_t s = 0; s < sim->program->nservers; s++) {
		uint64_t time = sim->calendar->now + (sim->slot ? random_ticks(sim, sim->jitter) : 0);

		if (time > sim->server[s].not_before)
			sim->server[s].not_before = time;
		go_on(sim, s);
	}
}

void fors_sim_traffic_begin(struct sim *sim)
{
	for (uint32_t s = 0; s < sim->program->nservers; s++) {
		struct sim_server *server = &sim->server[s];

		server->next = sim->program->first[s];
		server->message = FORS_NONE;
		server->not_before = random_ticks(sim, sim->skew) + idle_slots(sim, s) * sim->idle_slot;
	}
	if (sim->settings->has_barrier && sim->program->nslots) {
		begin_slot(sim);
		return;
	}
	for (uint32_t s = 0; s < sim->program->nservers; s++)
		go_on(sim, s);
}

void fors_sim_traffic_event(struct sim *sim, const struct fors_calendar_event *event)
{
	if (event->what == SIM_TURN) {
		sim->server[event->which].is_waking = false;
		go_on(sim, event->which);
	} else if (event->what == SIM_SEND) {
		next_packet(sim, event->which);
	} else if (sim->slot + 1 < sim->program->nslots) {
		sim->slot++;
		begin_slot(sim);
	}
}
