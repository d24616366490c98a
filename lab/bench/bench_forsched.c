/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_forsched.c - what libforsched costs an application; one JSON object.
 *
 * usage: bench_forsched SCHEDULE
 *
 * Times are the least of many rounds: what the library takes when nothing else disturbs. Look-ups are timed over all
 * phases of one server, in order and in random order; what they say is summed up, so that no compiler leaves them out.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libforsched/forsched.h"

#define ROUNDS 50
#define LOOKS 20000 /* per round: short enough to be left alone */

static const char *path;
static uint64_t sum;

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void must(enum forsched_err err, const struct forsched_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench_forsched: %s\n", error->text);
	exit(1);
}

static struct forsched *open_schedule(void)
{
	struct forsched_error error = {.text = "cannot be opened"};
	struct forsched *schedule = NULL;

	must(forsched_open(path, &schedule, &error), &error);
	return schedule;
}

/* What is timed; each gives nanoseconds. */

static double time_open(void)
{
	double started = now_ns();
	struct forsched *schedule = open_schedule();
	double took = now_ns() - started;

	forsched_close(schedule);
	return took;
}

static double time_prepare(void)
{
	struct forsched_error error = {.text = ""};
	struct forsched *schedule = open_schedule();
	double started = now_ns(), took;

	must(forsched_prepare(schedule, forsched_nservers(schedule) / 2, &error), &error);
	took = now_ns() - started;
	forsched_close(schedule);
	return took;
}

static double time_newest(void)
{
	static struct forsched *schedule;
	struct forsched_error error = {.text = ""};
	double started, took;
	uint64_t epoch;

	if (!schedule)
		schedule = open_schedule();
	started = now_ns();
	must(forsched_newest(schedule, &epoch, &error), &error);
	took = now_ns() - started;
	sum += epoch;
	return took;
}

static double time_check(void)
{
	struct forsched_error error = {.text = ""};
	struct forsched *schedule = open_schedule();
	double started = now_ns(), took;

	must(forsched_check(schedule, &error), &error);
	took = now_ns() - started;
	forsched_close(schedule);
	return took;
}

static double time_flows(bool is_random)
{
	static struct forsched *schedule;
	uint32_t s, phase = 0, nphases, state = 1;
	struct forsched_flow flow = {0};
	double started;

	if (!schedule)
		schedule = open_schedule();
	s = forsched_nservers(schedule) / 2;
	nphases = forsched_nphases(schedule);
	sum += (uint64_t)forsched_flow(schedule, s, 0, &flow);
	started = now_ns();
	for (uint32_t i = 0; i < LOOKS; i++) {
		state = state * 1664525 + 1013904223;
		phase = is_random ? (uint32_t)((uint64_t)state * nphases >> 32) : phase + 1 < nphases ? phase + 1 : 0;
		forsched_flow(schedule, s, phase, &flow);
		sum += flow.dlid + flow.from;
	}
	return (now_ns() - started) / LOOKS;
}

static double time_flows_in_order(void)
{
	return time_flows(false);
}

static double time_flows_at_random(void)
{
	return time_flows(true);
}

static double least(double (*timed)(void), int rounds)
{
	double best = timed();

	for (int round = 1; round < rounds; round++) {
		double took = timed();

		best = took < best ? took : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct forsched_info info;
	struct forsched *schedule;

	if (argc != 2)
		return 2;
	path = argv[1];
	schedule = open_schedule();
	forsched_info(schedule, &info);
	printf("{\"servers\": %" PRIu32 ", \"phases\": %" PRIu32 ", \"method\": \"%s\", ", info.nservers, info.nphases,
	       info.method);
	printf("\"open_us\": %.1f, ", least(time_open, ROUNDS) / 1e3);
	printf("\"first_use_us\": %.1f, ", least(time_prepare, ROUNDS) / 1e3);
	printf("\"newest_us\": %.2f, ", least(time_newest, ROUNDS * 20) / 1e3);
	printf("\"check_all_ms\": %.2f, ", least(time_check, 5) / 1e6);
	printf("\"flow_ns\": %.2f, ", least(time_flows_in_order, ROUNDS * 10));
	printf("\"flow_at_random_ns\": %.2f}\n", least(time_flows_at_random, ROUNDS * 10));
	forsched_close(schedule);
	return sum == 0;
}
