/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * traffic.c - what servers do: messages begin, become packets, arrive; steps end.
 *
 * A server has one message in hand, and of it one packet at its adapter; when that leaves, the next one is made, so a
 * message costs no memory for packets that have not left. Its ranks take turns, message by message. What a rank does next
 * is asked in one place, may_begin(), whenever something that it depends on has changed: a packet was sent, a message
 * arrived, a step began, a time came.
 *
 * With barriers, a step ends when its last message has arrived; the next one begins when the barrier has cost its
 * time, for each server by its own jitter later. Without, a server goes on when those have come that it waits for
 * (waiting.c), or at once; kept idle steps put its next message off.
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
	sim->message[m] = (struct sim_message){.left = 0};
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

/* A message is done, or has no way: is its step over? */
static void count_off(struct sim *sim)
{
	sim->messages_left--;
	sim->last = sim->calendar->now + sim->barrier;
	if (!sim->settings->has_barrier || --sim->step_left)
		return;
	sim->result->step[sim->step].end = sim->calendar->now;
	fors_calendar_put(sim->calendar, sim->calendar->now + sim->barrier, SIM_BARRIER, 0);
}

static void done(struct sim *sim, uint32_t rank, size_t send)
{
	count_off(sim);
	if (sim->waiting)
		fors_waiting_done(sim, rank, send);
}

bool fors_sim_route(const struct sim *sim, uint32_t server, const struct fors_send *send, uint32_t *way,
		    uint32_t *nlinks)
{
	const struct fors_router *router = sim->router;
	const struct fors_pair pair = {server, send->dst, send->path};

	return router->route(router->context, pair, way, nlinks) == FORS_WAY_GOOD && *nlinks;
}

/* When the next message of a rank exists. */
static uint64_t exists_at(const struct sim *sim, const struct sim_rank *rank)
{
	const uint64_t *at = sim->program->at;

	return at ? (uint64_t)((double)at[rank->next] / sim->ps) : rank->not_before;
}

static void fill_message(struct sim *sim, uint32_t m, uint32_t r)
{
	struct sim_rank *rank = &sim->rank[r];
	const struct fors_send *send = &sim->program->send[rank->next];
	struct sim_message *message = &sim->message[m];

	message->born = sim->program->at ? exists_at(sim, rank) : sim->calendar->now;
	message->left = message->bytes = fors_program_size(sim->program, rank->next, sim->settings->message);
	message->send = rank->next;
	message->rank = r;
	message->src = r / sim->program->nranks;
	message->dst = send->dst;
	message->vl = send->vl % (uint8_t)sim->nvls;
}

/* The next message of a rank: it has a way, or it is left out, false. */
static bool begin(struct sim *sim, uint32_t r)
{
	struct sim_rank *rank = &sim->rank[r];
	size_t send = rank->next;
	uint32_t m = message_new(sim), *way;

	if (m == FORS_NONE)
		return false;
	way = &sim->way[(size_t)m * sim->router->max_links];
	fill_message(sim, m, r);
	rank->next++;
	if (!fors_sim_route(sim, sim->message[m].src, &sim->program->send[send], way, &sim->message[m].nlinks)) {
		message_free(sim, m);
		sim->result->nbroken++;
		done(sim, r, send);
		return false;
	}
	sim->result->nmessages++;
	sim->result->bytes += sim->message[m].bytes;
	sim->message[m].last = way[sim->message[m].nlinks - 1];
	sim->server[sim->message[m].src].message = m;
	rank->outstanding++;
	if (sim->settings->policy == FORS_POLICY_TABLES)
		fors_sim_note_load(sim, m);
	next_packet(sim, m);
	return true;
}

/* ---- servers ---- */

/* Has a rank something to send now, as far as others are concerned? */
static bool may_begin(const struct sim *sim, uint32_t r)
{
	const struct sim_rank *rank = &sim->rank[r];
	const struct fors_sim_settings *set = sim->settings;

	if (rank->next == sim->program->first[r + 1] || sim->is_out_of_memory)
		return false;
	if (set->has_barrier)
		return sim->program->send[rank->next].step == sim->step;
	if (sim->waiting && !fors_waiting_allows(sim, r))
		return false;
	return !set->window || rank->outstanding < set->window;
}

/* A part of the time of the next message that gets lost before it: of the message's own, whoever waits for whom. */
static void draw_delay(struct sim *sim, uint32_t r)
{
	struct sim_rank *rank = &sim->rank[r];
	const struct fors_sim_settings *set = sim->settings;
	uint64_t random = fors_random_of(set->seed ^ fors_random_of(rank->next));
	double ticks = (double)fors_program_size(sim->program, rank->next, set->message) / set->adapter_rate;
	uint64_t from = rank->not_before > sim->calendar->now ? rank->not_before : sim->calendar->now;

	if (!(set->message_jitter > 0) || rank->drawn > rank->next)
		return;
	rank->drawn = rank->next + 1;
	rank->not_before =
		from + (uint64_t)(ticks * set->message_jitter * ((double)(random >> 11) / 9007199254740992.));
}

/* The rank begins what it may, now or when it is time. Has it begun? */
static bool go_on_with(struct sim *sim, uint32_t r)
{
	struct sim_rank *rank = &sim->rank[r];
	const struct sim_server *server = &sim->server[r / sim->program->nranks];
	uint64_t now = sim->calendar->now, time;

	while (!rank->is_waking && server->message == FORS_NONE && may_begin(sim, r)) {
		draw_delay(sim, r);
		time = exists_at(sim, rank);
		time = time > rank->not_before ? time : rank->not_before;
		time = time > server->not_before ? time : server->not_before;
		if (time > now) {
			rank->is_waking = true;
			fors_calendar_put(sim->calendar, time, SIM_TURN, r);
		} else if (begin(sim, r)) {
			return true;
		}
	}
	return false;
}

void fors_sim_go_on(struct sim *sim, uint32_t s)
{
	struct sim_server *server = &sim->server[s];
	uint32_t nranks = sim->program->nranks;

	for (uint32_t i = 0; server->message == FORS_NONE && i < nranks; i++) {
		uint32_t turn = (server->turn + i) % nranks;

		if (!go_on_with(sim, s * nranks + turn))
			continue;
		server->turn = (turn + 1) % nranks;
		return;
	}
}

/* The idle steps between a rank's last message and its next one. */
static uint32_t idle_steps(const struct sim *sim, uint32_t r)
{
	const struct sim_rank *rank = &sim->rank[r];
	const struct fors_send *send = &sim->program->send[rank->next];

	if (!sim->settings->keeps_idle || sim->settings->has_barrier || rank->next == sim->program->first[r + 1])
		return 0;
	if (rank->next == sim->program->first[r])
		return send->step;
	return send->step > send[-1].step ? send->step - send[-1].step - 1 : 0;
}

/* All of a message is on its way. */
static void sent_all(struct sim *sim, uint32_t m)
{
	uint32_t r = sim->message[m].rank, s = sim->message[m].src;
	uint64_t free_at = sim->link[sim->way[(size_t)m * sim->router->max_links]].free_at;
	uint64_t idle = idle_steps(sim, r) * sim->idle_step;

	sim->server[s].message = FORS_NONE;
	sim->server[s].not_before = sim->adapter ? free_at + sim->adapter : sim->calendar->now;
	sim->rank[r].not_before = idle ? free_at + sim->adapter + idle : sim->calendar->now;
	fors_sim_go_on(sim, s);
}

void fors_sim_server_sent(struct sim *sim, uint32_t m)
{
	if (sim->message[m].left)
		next_packet(sim, m);
	else
		sent_all(sim, m);
}

/* ---- arrivals ---- */

static void message_arrived(struct sim *sim, uint32_t m)
{
	const struct sim_message message = sim->message[m];
	uint64_t latency = fors_sim_ps(sim, sim->calendar->now - message.born);

	fors_histogram_add(&sim->result->message_ps, latency);
	sim->result->message_rates += 8000. * (double)message.bytes / (double)(latency ? latency : 1);
	message_free(sim, m);
	sim->rank[message.rank].outstanding--;
	done(sim, message.rank, message.send);
	fors_sim_go_on(sim, message.src);
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

/* ---- steps ---- */

static uint64_t random_ticks(struct sim *sim, uint64_t most)
{
	return most ? fors_random_next(&sim->random) % (most + 1) : 0;
}

static void begin_step(struct sim *sim)
{
	sim->step_left = sim->program->count[sim->step];
	sim->result->step[sim->step].begin = sim->calendar->now;
	for (uint32_t s = 0; s < sim->program->nservers; s++) {
		uint64_t time = sim->calendar->now + (sim->step ? random_ticks(sim, sim->jitter) : 0);

		if (time > sim->server[s].not_before)
			sim->server[s].not_before = time;
		fors_sim_go_on(sim, s);
	}
}

/* Where each begins, and when. */
static void place_ranks(struct sim *sim)
{
	const struct fors_program *program = sim->program;

	for (uint32_t s = 0; s < program->nservers; s++) {
		uint64_t late = random_ticks(sim, sim->skew);

		sim->server[s].message = FORS_NONE;
		for (uint32_t r = s * program->nranks; r < (s + 1) * program->nranks; r++) {
			sim->rank[r].next = program->first[r];
			sim->rank[r].not_before = late + idle_steps(sim, r) * sim->idle_step;
		}
	}
}

void fors_sim_traffic_begin(struct sim *sim)
{
	place_ranks(sim);
	if (sim->settings->has_barrier && sim->program->nsteps) {
		begin_step(sim);
		return;
	}
	if (sim->waiting)
		fors_waiting_begin(sim);
	for (uint32_t s = 0; s < sim->program->nservers; s++)
		fors_sim_go_on(sim, s);
}

void fors_sim_traffic_event(struct sim *sim, const struct fors_calendar_event *event)
{
	if (event->what == SIM_TURN) {
		sim->rank[event->which].is_waking = false;
		fors_sim_go_on(sim, event->which / sim->program->nranks);
	} else if (event->what == SIM_SEND) {
		next_packet(sim, event->which);
	} else if (event->what != SIM_BARRIER) {
		fors_waiting_event(sim, event);
	} else if (sim->step + 1 < sim->program->nsteps) {
		sim->step++;
		begin_step(sim);
	}
}
