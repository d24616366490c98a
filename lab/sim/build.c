/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* build.c - from a graph and settings to a simulation that can begin; and which settings make no sense. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "qcn.h"
#include "state.h"
#include "core/base/text.h"

#define MAX_PS 1000000000000000ull /* 1,000 s */
#define MAX_PACKET (1u << 20)
#define MAX_BINDINGS ((size_t)1 << 26)
#define SLOWEST 4096	  /* times slower than the fastest link */
#define MOST_COUNTED 9e18 /* of 64 bits, as a signed number */

/* ---- what makes no sense ---- */

static enum fors_err bad(struct fors_error *error, const char *what)
{
	return fors_fail(error, FORS_EINPUT, "%s", what);
}

static enum fors_err check_packets(const struct fors_sim_settings *set, struct fors_error *error)
{
	uint64_t packet = (uint64_t)set->mtu + set->header;

	if (!set->message || set->message > (uint64_t)1 << 40)
		return bad(error, "messages have to have from 1 byte to 1 TiB");
	if (!set->mtu || packet > MAX_PACKET)
		return bad(error, "packets have to have from 1 byte to 1 MiB");
	if (set->message / set->mtu >= FORS_NONE)
		return bad(error, "a message has too many packets");
	if (set->buffer < packet)
		return fors_fail(error, FORS_EINPUT,
				 "a buffer of %u bytes is smaller than a packet, %llu %s with its header", set->buffer,
				 (unsigned long long)packet, fors_plural(packet, "byte", "bytes"));
	if (set->buffer > 1u << 30)
		return bad(error, "buffers of more than 1 GiB");
	return FORS_OK;
}

static enum fors_err check_times(const struct fors_sim_settings *set, struct fors_error *error)
{
	const uint64_t times[] = {
		set->wire, set->switching, set->adapter,	  set->barrier,	  set->jitter,
		set->skew, set->token,	   set->adaptive.binding, set->qcn.timer, set->switch_ar.forget};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] > MAX_PS)
			return bad(error, "times of more than 1000 s");
	if (!set->ahead || !(set->message_jitter >= 0 && set->message_jitter <= 10))
		return bad(error, "servers can be 1 phase ahead or more, and lose 0 to 10 times a message's time");
	if (!(set->adapter_rate > 0.0001 && set->adapter_rate <= 1))
		return bad(error, "the rate of adapters has to be a part of their links, above 0.0001, 1 at most");
	if (set->policy >= FORS_NPOLICIES || (fors_sim_needs_hops(set) && !set->hops))
		return bad(error, "routing without tables, and notifications, need sets of next hops");
	if (set->policy == FORS_POLICY_TAGO && !set->blocks)
		return bad(error, "TAGO needs to know which switches belong together");
	if (set->adaptive.level[0] > set->adaptive.level[1] || set->adaptive.level[1] > set->adaptive.level[2])
		return bad(error, "the levels of busy queues have to ascend");
	if (!set->qcn.equilibrium || set->qcn.equilibrium > 1u << 28 || set->qcn.sample < 100 || !set->qcn.timer)
		return bad(error,
			   "notifications: a queue of 1 byte to 256 MiB, looked at each 100 bytes or later, and a "
			   "timer above 0");
	if (set->nvls < 1 || set->nvls > FORS_MAX_VLS)
		return fors_fail(error, FORS_EINPUT, "there can be 1 to %d virtual lanes", FORS_MAX_VLS);
	return FORS_OK;
}

static enum fors_err check_speeds(const struct fors_graph *graph, const double *gbits, double *most,
				  struct fors_error *error)
{
	*most = 0;
	for (uint32_t l = 0; l < graph->nlinks; l++)
		*most = fmax(*most, gbits[l]);
	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (!(gbits[l] > 0) || gbits[l] * SLOWEST < *most || !(gbits[l] <= 1e6))
			return fors_fail(error, FORS_EINPUT,
					 "a link of %g Gbit/s: rates have to be positive, 1,000,000 at most, and not "
					 "below 1/%d of the fastest, %g",
					 gbits[l], SLOWEST, *most);
	return FORS_OK;
}

static uint64_t longest(const struct sim *sim)
{
	uint64_t most = sim->settings->message;

	for (size_t i = 0; sim->program->size && i < fors_program_nmessages(sim->program); i++)
		most = sim->program->size[i] > most ? sim->program->size[i] : most;
	return most;
}

/* Times are counted in 64 bits of picoseconds: a message has to be short enough for many of them to fit. */
static enum fors_err check_length(const struct sim *sim, struct fors_error *error)
{
	const struct fors_sim_settings *set = sim->settings;
	uint64_t bytes = longest(sim), packets = (bytes + set->mtu - 1) / set->mtu;
	double bits = 8. * ((double)bytes + (double)packets * set->header), slowest = INFINITY;

	for (uint32_t l = 0; l < sim->router->graph->nlinks; l++)
		slowest = fmin(slowest, set->gbits[l]);
	if (bits * 1000 / slowest <= MAX_PS)
		return FORS_OK;
	return fors_fail(error, FORS_EINPUT, "a message of %llu bytes takes more than 1000 s over a link of %g Gbit/s",
			 (unsigned long long)bytes, slowest);
}

/*
 * Ticks and picoseconds are counted in 64 bits: all phases and messages, one after the other at the slowest link, have to
 * fit into half of them.
 */
static enum fors_err check_total(const struct sim *sim, double fastest, struct fors_error *error)
{
	const struct fors_sim_settings *set = sim->settings;
	const struct fors_program *program = sim->program;
	double nmessages = (double)fors_program_nmessages(program), most = (double)longest(sim);
	double packets = ceil(most / set->mtu), bytes = (most + packets * set->header) / set->adapter_rate,
	       slowest = fastest, ps;

	for (uint32_t l = 0; l < sim->nlinks; l++)
		slowest = fmin(slowest, set->gbits[l]);
	ps = program->nsteps * ((double)set->barrier + (double)set->jitter + 64. * (double)set->token) +
	     (double)set->skew +
	     nmessages * (bytes * (1 + set->message_jitter) * 8000 / slowest + (double)set->adapter +
			  (double)set->token + 8. * ((double)set->wire + (double)set->switching));
	if (ps < MOST_COUNTED && ps / sim->ps < MOST_COUNTED)
		return FORS_OK;
	return bad(
		error,
		"so many phases and messages may take longer than can be counted, over 100 days or 2^63 bytes of the fastest link");
}

/*
 * PAUSE comes a wire time late, and works a wire time later on what has not been sent: meanwhile packets come that
 * were on the way, and each end may be in the middle of one.
 */
static enum fors_err check_pause(const struct sim *sim, struct fors_error *error)
{
	const struct fors_sim_settings *set = sim->settings;
	uint64_t late = 2 * sim->wire + 2 * ((uint64_t)set->mtu + set->header);

	if (!set->pause_high && !set->pause_low)
		return FORS_OK;
	if (set->pause_low >= set->pause_high)
		return bad(error, "PAUSE: the low mark has to be below the high mark");
	if (set->pause_high + late > set->buffer)
		return fors_fail(error, FORS_EINPUT,
				 "PAUSE at %u %s of a buffer of %u comes too late: up to %llu bytes come after it",
				 set->pause_high, fors_plural(set->pause_high, "byte", "bytes"), set->buffer,
				 (unsigned long long)late);
	return FORS_OK;
}

/* ---- ticks ---- */

static uint64_t ticks_of(const struct sim *sim, uint64_t ps)
{
	return (uint64_t)((double)ps / sim->ps + 0.5);
}

static void set_times(struct sim *sim, double fastest)
{
	const struct fors_sim_settings *set = sim->settings;
	uint64_t packets = (set->message + set->mtu - 1) / set->mtu;

	sim->ps = 8000 / fastest;
	sim->wire = ticks_of(sim, set->wire);
	sim->switching = ticks_of(sim, set->switching);
	sim->adapter = ticks_of(sim, set->adapter);
	sim->barrier = set->has_barrier ? ticks_of(sim, set->barrier) : 0;
	sim->jitter = ticks_of(sim, set->jitter);
	sim->skew = ticks_of(sim, set->skew);
	sim->token = ticks_of(sim, set->token);
	sim->idle_step = (uint64_t)((double)(set->message + packets * set->header) / set->adapter_rate);
	sim->scale_of_adapter = (uint32_t)(65536 / set->adapter_rate + 0.5);
	sim->two_packets = 2 * (set->mtu + set->header);
	sim->binding_ticks = ticks_of(sim, set->adaptive.binding);
	sim->policy = fors_sim_policy(set->policy);
	sim->is_pausing = set->pause_high > 0;
	sim->is_fifo = set->is_fifo;
	sim->random.state = set->seed;
	sim->nvls = set->nvls;
	while (1u << sim->vl_bits < sim->nvls)
		sim->vl_bits++;
}

/* ---- arrays ---- */

static void fill_links(struct sim *sim, double fastest)
{
	const double *gbits = sim->settings->gbits;

	sim->is_uniform = true;
	for (uint32_t l = 0; l < sim->nlinks; l++) {
		sim->link[l].scale = (uint32_t)(65536 * fastest / gbits[l] + 0.5);
		sim->link[l].stalled = FORS_SIM_NEVER;
		sim->link[l].is_last = sim->router->graph->is_terminal[sim->router->graph->to[l]];
		sim->is_uniform &= sim->link[l].scale == sim->link[0].scale;
	}
}

/* Number the links that leave each node, and give each link that comes in a queue for each of these. */
static enum fors_err place_queues(struct sim *sim, uint32_t *degree, struct fors_error *error)
{
	const struct fors_graph *graph = sim->router->graph;
	uint64_t n = 0;

	for (uint32_t l = 0; l < sim->nlinks; l++) {
		if (degree[graph->from[l]] > UINT16_MAX)
			return fors_fail(error, FORS_ELIMIT, "a node with more than 65,535 links");
		sim->link[l].rank = (uint16_t)degree[graph->from[l]]++;
	}
	for (uint32_t l = 0; l < sim->nlinks; l++) {
		sim->link[l].queues = (uint32_t)n;
		n += graph->is_terminal[graph->to[l]] ? 0 : (uint64_t)degree[graph->to[l]] << sim->vl_bits;
		if (n > FORS_NONE / 4)
			return fors_fail(error, FORS_ELIMIT,
					 "more queues than can be simulated; --queues fifo has fewer");
	}
	sim->nqueues = (uint32_t)n;
	return FORS_OK;
}

static enum fors_err count_queues(struct sim *sim, struct fors_error *error)
{
	uint32_t *degree;
	enum fors_err err;

	if (sim->is_fifo) {
		sim->nqueues = sim->nlinks << sim->vl_bits;
		return FORS_OK;
	}
	degree = calloc(sim->router->graph->nnodes + (size_t)1, sizeof(*degree));
	if (!degree)
		return fors_fail_memory(error);
	err = place_queues(sim, degree, error);
	free(degree);
	return err;
}

static enum fors_err alloc(struct sim *sim, struct fors_error *error)
{
	size_t nlanes = (size_t)sim->nlinks << sim->vl_bits, nqueues = sim->nqueues + (size_t)sim->program->nservers;

	sim->lane = calloc(nlanes + 1, sizeof(*sim->lane));
	sim->queue = calloc(nqueues + 1, sizeof(*sim->queue));
	sim->server = calloc(sim->program->nservers + (size_t)1, sizeof(*sim->server));
	sim->rank = calloc((size_t)sim->program->nservers * sim->program->nranks + 1, sizeof(*sim->rank));
	sim->calendar = fors_calendar_new();
	if (!sim->lane || !sim->queue || !sim->server || !sim->rank || !sim->calendar)
		return fors_fail_memory(error);
	for (size_t i = 0; i < nlanes; i++) {
		sim->lane[i].ring = FORS_NONE;
		sim->lane[i].room = sim->is_pausing ? 0 : sim->settings->buffer;
	}
	for (size_t i = 0; i < nqueues; i++)
		sim->queue[i].head = FORS_NONE;
	return FORS_OK;
}

/* What adaptive switches remember. */
static enum fors_err alloc_bindings(struct sim *sim, struct fors_error *error)
{
	size_t n = (size_t)sim->router->graph->nnodes * sim->program->nservers;

	if (sim->settings->policy != FORS_POLICY_ADAPTIVE || !sim->binding_ticks)
		return FORS_OK;
	if (n > MAX_BINDINGS)
		return fors_fail(error, FORS_ELIMIT, "the fabric is too large for a binding time");
	sim->binding = calloc(n + 1, sizeof(*sim->binding));
	return sim->binding ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_sim_build(struct sim *sim, struct fors_error *error)
{
	double fastest;
	enum fors_err err = check_packets(sim->settings, error);

	if (!err)
		err = check_times(sim->settings, error);
	if (!err)
		err = check_speeds(sim->router->graph, sim->settings->gbits, &fastest, error);
	if (!err)
		err = check_length(sim, error);
	if (err)
		return err;
	sim->nlinks = sim->router->graph->nlinks;
	sim->packet_spare = sim->message_spare = FORS_NONE;
	sim->link = calloc(sim->nlinks + (size_t)1, sizeof(*sim->link));
	if (!sim->link)
		return fors_fail_memory(error);
	set_times(sim, fastest);
	fill_links(sim, fastest);
	err = check_total(sim, fastest, error);
	if (!err)
		err = check_pause(sim, error);
	if (!err)
		err = count_queues(sim, error);
	if (!err)
		err = alloc_bindings(sim, error);
	if (!err)
		err = fors_qcn_new(sim, error);
	if (!err)
		err = alloc(sim, error);
	return err ? err : fors_waiting_new(sim, error);
}

void fors_sim_clear(struct sim *sim)
{
	fors_calendar_free(sim->calendar);
	free(sim->link);
	free(sim->lane);
	free(sim->queue);
	free(sim->server);
	free(sim->rank);
	fors_waiting_free(sim->waiting);
	free(sim->packet);
	free(sim->message);
	free(sim->way);
	free(sim->binding);
	fors_qcn_free(sim->qcn);
}
