/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric in time: small cases by hand, deadlocks, and what is refused. */
#include "sims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "lab/sim/calendar.h"

FREES(fors_calendar_free, struct fors_calendar *)

static struct fors_error error;

/* ---- the calendar ---- */

/* Out in order of time, and of putting at one time, near and far, while time goes on. */
TEST(events_come_in_order)
{
	struct fors_calendar *c FREED(fors_calendar_free) = fors_calendar_new();
	struct fors_random random = {7};
	struct fors_calendar_event event, last = {0};
	uint32_t put = 0, taken = 0;

	assert_non_null(c);
	while (taken < 200000) {
		uint32_t far = 1u << fors_random_below(&random, 31);

		for (uint32_t i = fors_random_below(&random, 4); put < 200000 && i; i--)
			fors_calendar_put(c, c->now + fors_random_below(&random, far), 1, put++);
		if (!fors_calendar_take(c, &event))
			continue;
		assert_true(event.time >= last.time && event.time == c->now);
		assert_true(event.time > last.time || !taken || event.which > last.which || event.time == 0);
		last = event;
		taken++;
	}
	assert_false(fors_calendar_take(c, &event));
	assert_int_equal(c->pending, 0);
}

/* What is to happen in days is at hand at once: no step for each of the buckets until then, 2^49 of them. */
TEST(late_events_take_no_time)
{
	struct fors_calendar *c FREED(fors_calendar_free) = fors_calendar_new();
	struct fors_calendar_event event = {0}, last = {0};
	struct fors_random random = {3};

	assert_non_null(c);
	for (uint32_t round = 0; round < 200; round++) {
		for (uint32_t i = 0; i < 20; i++) {
			uint64_t far = (uint64_t)1 << fors_random_below(&random, 52),
				 late = fors_random_next(&random) & (far - 1);

			fors_calendar_put(c, c->now + late, 1, i);
			fors_calendar_put(c, c->now + late, 2, i); /* of one tick: this one later */
		}
		for (uint32_t i = 0; i < 40; i++, last = event) {
			assert_true(fors_calendar_take(c, &event));
			assert_true(event.time >= last.time && event.time == c->now);
			assert_true(event.what == 2 ? last.which == event.which && last.time == event.time : true);
		}
		assert_false(fors_calendar_take(c, &event));
	}
}

TEST(histograms_know_percentiles)
{
	struct fors_histogram *h FREED(free) = calloc(1, sizeof(*h));

	assert_non_null(h);
	assert_int_equal(fors_histogram_at(h, 0.5), 0);
	for (uint64_t i = 1; i <= 100000; i++)
		fors_histogram_add(h, i);
	assert_true(fors_histogram_at(h, 0.5) > 50000 * 31 / 32 && fors_histogram_at(h, 0.5) <= 50000);
	assert_true(fors_histogram_at(h, 0.99) > 99000 * 31 / 32 && fors_histogram_at(h, 0.99) <= 99000);
	assert_int_equal(fors_histogram_at(h, 1), 100000);
	assert_true(fabs(fors_histogram_mean(h) - 50000.5) < 1e-6);
	fors_histogram_add(h, UINT64_MAX);
	assert_int_equal(fors_histogram_bin(UINT64_MAX), FORS_HISTOGRAM_BINS - 1);
}

/* ---- by hand ---- */

TEST(times_of_single_messages)
{
	struct fors_sim_settings set = sims_plain();
	double slow[8] = {8, 8, 8, 8, 8, 2, 8, 8};

	/* Two wires, a switch, and the packet once: its head goes on while the tail comes. */
	assert_int_equal(sims_star_time("0 1\n", &set), 2 * 20000 + 50000 + US);
	set.is_store_and_forward = true;
	assert_int_equal(sims_star_time("0 1\n", &set), 2 * 20000 + 50000 + 2 * US);
	set.is_store_and_forward = false;
	set.message = 2500; /* 1000, 1000, 500 */
	assert_int_equal(sims_star_time("0 1\n", &set), 90000 + 25 * US / 10);
	set.header = 100;
	assert_int_equal(sims_star_time("0 1\n", &set), 90000 + 28 * US / 10);
	set.header = 0;
	set.gbits = slow; /* the way down to server 1 at a quarter: its first packet at once, then all at its pace */
	assert_int_equal(sims_star_time("0 1\n", &set), 90000 + 10 * US);
	slow[5] = 8;
	slow[0] = 2; /* the way up: the tail of the last packet, a quarter of it still to come when it is sent on */
	assert_int_equal(sims_star_time("0 1\n", &set), 90000 + 10 * US);
}

TEST(times_of_phases)
{
	struct fors_sim_settings set = sims_plain();
	const char *shift = "0 1\n1 2\n2 3\n3 0\nphase\n0 2\n1 3\n2 0\n3 1\n";

	assert_int_equal(sims_star_time(shift, &set), 2 * (90000 + US));
	set.barrier = 7 * US;
	assert_int_equal(sims_star_time(shift, &set), 2 * (90000 + US + 7 * US));
	set.has_barrier = false;
	assert_int_equal(sims_star_time(shift, &set), 90000 + 2 * US);
	set.window = 1;
	assert_int_equal(sims_star_time(shift, &set), 2 * (90000 + US));
	set.window = 0;
	set.adapter = US;
	assert_int_equal(sims_star_time(shift, &set), 90000 + 3 * US);
	set.adapter = 0;
	set.adapter_rate = 0.5; /* packets as fast as ever, the next one begins when two would have been sent */
	assert_int_equal(sims_star_time(shift, &set), 90000 + 3 * US);
}

/* Two to one: twice the time; the turns are fair, so both end together. */
TEST(times_of_conflicts)
{
	struct fors_sim_settings set = sims_plain();

	set.message = 100000;
	assert_int_equal(sims_star_time("0 2\n1 2\n", &set), 90000 + 200 * US);
	set.pause_high = 3000;
	set.pause_low = 2000;
	assert_int_equal(sims_star_time("0 2\n1 2\n", &set), 90000 + 200 * US);
}

/* Two to one: both servers wait for room at the switch, each a packet's time for each of the other's packets behind the first. */
TEST(stalls_are_told)
{
	struct fors_sim_settings set = sims_plain();
	struct fors_program *program = sims_text("0 2\n1 2\nphase\n3 1\n", 4);
	struct fors_sim_result *r;
	struct fors_router router;
	struct hand star;

	hand_star(&star, 4);
	router = hand_router(&star);
	set.message = 100000;
	set.gbits = NULL;
	r = sims_run(&router, program, &set);
	assert_true(r->step[0].waiting_links == 2 && r->step[0].waiting_servers == 2);
	assert_true(r->step[0].link <= 1 && r->step[0].stall == r->link[r->step[0].link].stall);
	assert_true(r->step[0].stall >= r->link[0].stall && r->step[0].stall >= r->link[1].stall);
	assert_true(r->link[0].stall > r->step[0].bound / 3 && r->link[1].stall > r->step[0].bound / 3);
	assert_true(r->step[1].link == FORS_NONE && !r->step[1].stall && !r->step[1].waiting_links);
	fors_sim_result_free(r);
	fors_program_free(program);
	fors_graph_free(star.graph);
}

/* One queue: packets for 3 wait behind those for 2, to whom 1 sends too; one for each way on: they do not. */
TEST(one_queue_holds_up)
{
	struct fors_sim_settings set = sims_plain();
	const char *text = "0 2\n0 2\n0 2\n0 3\n0 3\n0 3\n0 3\n0 3\n0 3\n1 2\n1 2\n1 2\n";
	uint64_t voq, fifo;

	set.has_barrier = false;
	set.buffer = 3000;
	voq = sims_star_time(text, &set);
	set.is_fifo = true;
	fifo = sims_star_time(text, &set);
	assert_true(voq < fifo);
}

TEST(idle_steps_kept_and_skipped)
{
	struct fors_sim_settings set = sims_plain();
	const char *text = "0 1\n2 3\nphase\n2 3\nphase\n2 3\nphase\n0 1\n2 3\n"; /* 0 is idle twice */
	const char *late = "2 3\nphase\n0 1\n";

	set.has_barrier = false;
	assert_int_equal(sims_star_time(text, &set), 90000 + 4 * US);
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\nphase\n0 1\n", &set), 90000 + 2 * US);
	set.keeps_idle = true;
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\nphase\n0 1\n", &set), 90000 + 3 * US);
	assert_int_equal(sims_star_time(late, &set), 90000 + 2 * US);
}

TEST(messages_without_a_way)
{
	struct hand ring;
	struct fors_router router;
	struct fors_program *program = sims_text("0 1\n1 0\nphase\n0 3\nphase\n0 1\n", 4);
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *r = NULL;

	hand_ring(&ring, 4, 1); /* 1 to 0 and 0 to 3 have none */
	router = hand_router(&ring);
	set.gbits = sims_speeds(ring.graph, 200);
	assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_OK);
	assert_true(r->nbroken == 2 && r->nmessages == 2 && r->sent == r->arrived && !r->ncycle);
	fors_sim_result_free(r);
	free((void *)set.gbits);
	fors_program_free(program);
	fors_graph_free(ring.graph);
}

/* ---- deadlocks ---- */

static struct fors_sim_result *run_ring(struct fors_sim_settings *set, bool has_dateline)
{
	struct hand ring;
	struct fors_router router;
	struct fors_program *program = sims_text("0 3\n1 0\n2 1\n3 2\n", 4);
	struct fors_sim_result *r;

	hand_ring(&ring, 4, 3);
	router = hand_router(&ring);
	program->send[2].vl = program->send[3].vl = has_dateline;
	set->buffer = set->buffer == 65536 ? 5000 : set->buffer;
	r = sims_run(&router, program, set);
	fors_program_free(program);
	fors_graph_free(ring.graph);
	return r;
}

/* Everybody sends three switches on, clockwise: four links that wait for one another, and are named in their order. */
TEST(a_ring_locks)
{
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *r;

	for (int kind = 0; kind < 3; kind++) {
		set.is_fifo = kind == 1;
		if (kind == 2) {
			set.buffer = 22000;
			set.pause_high = 9000;
			set.pause_low = 5000;
			set.message = 1 << 20;
		}
		r = run_ring(&set, false);
		assert_int_equal(r->ncycle, 4);
		assert_true(r->arrived < r->sent);
		for (uint32_t i = 0; i < 4; i++) {
			assert_in_range(r->cycle[i], 8, 11);
			assert_int_equal(r->cycle[(i + 1) % 4], 8 + (r->cycle[i] - 8 + 1) % 4);
		}
		fors_sim_result_free(r);
	}
}

/* With those that cross a line on a lane of their own it does not. */
TEST(a_second_lane_unlocks_it)
{
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *r;

	set.nvls = 2;
	r = run_ring(&set, true);
	assert_int_equal(r->ncycle, 0);
	fors_sim_result_free(r);
	r = run_ring(&set, false);
	assert_int_equal(r->ncycle, 4);
	fors_sim_result_free(r);
}

/* ---- the same bytes ---- */

static void same(const struct fors_sim_result *a, const struct fors_sim_result *b)
{
	assert_true(a->time == b->time && a->nevents == b->nevents && a->hops == b->hops);
	assert_memory_equal(a->link, b->link, a->nlinks * sizeof(*a->link));
	assert_memory_equal(&a->packet_ps, &b->packet_ps, sizeof(a->packet_ps));
	assert_memory_equal(&a->message_ps, &b->message_ps, sizeof(a->message_ps));
}

TEST(seeds_give_the_same_bytes)
{
	struct hand star;
	struct fors_router router;
	struct fors_program *program = sims_program("linear-shift", 8, 0);
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *a, *b, *other;

	hand_star(&star, 8);
	router = hand_router(&star);
	set.skew = set.jitter = 5 * US;
	a = sims_run(&router, program, &set);
	b = sims_run(&router, program, &set);
	set.seed = 1;
	other = sims_run(&router, program, &set);
	same(a, b);
	assert_true(a->time != other->time);
	fors_sim_result_free(a);
	fors_sim_result_free(b);
	fors_sim_result_free(other);
	fors_program_free(program);
	fors_graph_free(star.graph);
}

/* ---- the cost of barriers ---- */

TEST(a_measured_rate_gives_the_barrier)
{
	struct hand star;
	struct fors_router router;
	struct fors_program *program = sims_program("linear-shift", 8, 0);
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *r;

	hand_star(&star, 8);
	router = hand_router(&star);
	r = sims_run(&router, program, &set);
	assert_int_equal(fors_sim_fit(r, 8, 100, &set.barrier, &error), FORS_OK);
	assert_int_equal(fors_sim_fit(r, 8, 300, &set.barrier, &error), FORS_EINPUT);
	fors_sim_result_free(r);
	r = sims_run(&router, program, &set);
	assert_true(fabs(fors_sim_gbits(r, 8) - 100) < 0.01);
	fors_sim_result_free(r);
	fors_program_free(program);
	fors_graph_free(star.graph);
}

/* ---- what makes no sense ---- */

static void refuse(struct fors_sim_settings set, const char *part)
{
	struct hand star;
	struct fors_router router;
	struct fors_program *program = sims_text("0 1\n", 4);
	struct fors_sim_result *r = NULL;

	hand_star(&star, 4);
	router = hand_router(&star);
	assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_EINPUT);
	assert_null(r);
	if (!strstr(error.text, part))
		fail_msg("'%s' does not say '%s'", error.text, part);
	fors_program_free(program);
	fors_graph_free(star.graph);
}

#define REFUSE(member, value, part)                                                                                    \
	do {                                                                                                           \
		struct fors_sim_settings set = sims_plain();                                                           \
		set.member = value;                                                                                    \
		refuse(set, part);                                                                                     \
	} while (0)

TEST(settings_without_sense_are_refused)
{
	static const double zero[8] = {8, 8, 0, 8, 8, 8, 8, 8}, nan_[8] = {8, 8, NAN, 8, 8, 8, 8, 8};
	static const double far_apart[8] = {8, 8, 0.0001, 8, 8, 8, 8, 8};
	struct fors_sim_settings slow;

	REFUSE(message, 0, "from 1 byte");
	REFUSE(message, (uint64_t)1 << 50, "1 TiB");
	REFUSE(mtu, 0, "packets");
	REFUSE(mtu, UINT32_MAX, "packets");
	REFUSE(buffer, 999, "smaller than a packet, 1000 bytes");
	REFUSE(buffer, UINT32_MAX, "1 GiB");
	REFUSE(nvls, 0, "virtual lanes");
	REFUSE(nvls, 9, "virtual lanes");
	REFUSE(adapter_rate, 0, "adapters");
	REFUSE(adapter_rate, NAN, "adapters");
	REFUSE(wire, UINT64_MAX, "1000 s");
	REFUSE(gbits, zero, "0 Gbit/s");
	REFUSE(gbits, nan_, "nan Gbit/s");
	REFUSE(gbits, far_apart, "below 1/4096");
	REFUSE(pause_low, 5, "below the high mark");
	REFUSE(pause_high, 7000, "too late");
	slow = sims_plain();
	slow.mtu = 1;
	slow.message = FORS_NONE;
	refuse(slow, "too many packets");
	slow = sims_plain();
	slow.pause_low = slow.pause_high = 3000;
	refuse(slow, "below the high mark");
	slow = sims_plain(); /* 1000 s over a link are too long over a ten thousandth of it */
	slow.message = 1000000000000;
	slow.adapter_rate = 0.000101;
	refuse(slow, "so many phases and messages");
}
