/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qcn_rate.c - reaction points: a server sends less to a destination whose way is congested; see qcn.h.
 *
 * A notification cuts the rate by up to half; what it was becomes the target, unless no cycle has ended since the last cut.
 * Cycles end after so many bytes sent, and, by themselves, after so much time. In the first five of either (fast recovery)
 * the rate goes half of the way to the target; then (active increase) the target grows too, and cycles are half as long;
 * when both are past five (hyper-active increase) it grows ever faster. At the rate of the cable the limit is gone.
 *
 * A server sends its messages in order, so a limit also holds up messages to others behind it; the paper's adapters have a
 * queue for each destination.
 */
#include "qcn.h"

#define RECOVERY 5		  /* cycles */
#define LEAST (QCN_LINE / 100000) /* 100 kbit/s of 10 Gbit/s */
#define ACTIVE (QCN_LINE / 2000)  /* 5 Mbit/s of them */
#define HYPER (QCN_LINE / 200)	  /* 50 Mbit/s */

static struct sim_limiter *limiter_of(const struct sim *sim, uint32_t message)
{
	const struct sim_message *m = &sim->message[message];

	return &sim->qcn->limiter[(size_t)m->src * sim->program->nservers + m->dst];
}

/* The timer of a limiter is set; one event of it is on its way at most. */
static void set_timer(struct sim *sim, struct sim_limiter *limiter)
{
	limiter->timer = sim->calendar->now + (limiter->time_done < RECOVERY ? sim->qcn->timer : sim->qcn->timer / 2);
	if (limiter->is_ticking)
		return;
	limiter->is_ticking = true;
	fors_calendar_put(sim->calendar, limiter->timer, SIM_CYCLE, (uint32_t)(limiter - sim->qcn->limiter));
}

static uint64_t bytes_of_cycle(const struct sim *sim, const struct sim_limiter *limiter)
{
	return limiter->bytes_done < RECOVERY ? sim->settings->qcn.sample : sim->settings->qcn.sample / 2;
}

void fors_rate_cut(struct sim *sim, const struct sim_notice *notice)
{
	struct sim_limiter *limiter = &sim->qcn->limiter[(size_t)notice->src * sim->program->nservers + notice->dst];

	if (!limiter->rate)
		*limiter =
			(struct sim_limiter){.rate = QCN_LINE, .target = QCN_LINE, .is_ticking = limiter->is_ticking};
	if (limiter->bytes_done || limiter->time_done)
		limiter->target = limiter->rate;
	limiter->rate -= limiter->rate * notice->feedback / (2 * QCN_FULL);
	limiter->rate = limiter->rate > LEAST ? limiter->rate : LEAST;
	limiter->bytes_done = limiter->time_done = 0;
	limiter->bytes = bytes_of_cycle(sim, limiter);
	set_timer(sim, limiter);
}

/* A cycle is over. */
static void rise(struct sim_limiter *limiter)
{
	uint32_t bytes = limiter->bytes_done, time = limiter->time_done, least = bytes < time ? bytes : time;

	if (least > RECOVERY)
		limiter->target += HYPER * (least - RECOVERY);
	else if (bytes > RECOVERY || time > RECOVERY)
		limiter->target += ACTIVE;
	limiter->target = limiter->target < QCN_LINE ? limiter->target : QCN_LINE;
	limiter->rate = (limiter->rate + limiter->target + 1) / 2;
	if (limiter->rate >= QCN_LINE)
		limiter->rate = 0;
}

bool fors_rate_holds(struct sim *sim, uint32_t message)
{
	const struct sim_limiter *limiter = limiter_of(sim, message);

	if (!limiter->rate || limiter->not_before <= sim->calendar->now)
		return false;
	fors_calendar_put(sim->calendar, limiter->not_before, SIM_SEND, message);
	return true;
}

void fors_rate_sent(struct sim *sim, const struct sim_packet *packet)
{
	struct sim_limiter *limiter = limiter_of(sim, packet->message);
	const struct sim_link *link = &sim->link[packet->lane >> sim->vl_bits];

	if (!limiter->rate)
		return;
	limiter->not_before = sim->calendar->now + fors_sim_ticks(link, packet->bytes) * QCN_LINE / limiter->rate;
	if (limiter->bytes > packet->bytes) {
		limiter->bytes -= packet->bytes;
		return;
	}
	limiter->bytes_done++;
	limiter->bytes = bytes_of_cycle(sim, limiter);
	rise(limiter);
}

void fors_rate_cycle(struct sim *sim, uint32_t i)
{
	struct sim_limiter *limiter = &sim->qcn->limiter[i];

	limiter->is_ticking = false;
	if (!limiter->rate || !sim->messages_left)
		return;
	if (limiter->timer > sim->calendar->now) { /* set anew meanwhile */
		limiter->is_ticking = true;
		fors_calendar_put(sim->calendar, limiter->timer, SIM_CYCLE, i);
		return;
	}
	limiter->time_done++;
	rise(limiter);
	if (limiter->rate)
		set_timer(sim, limiter);
}
