/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_wake.c - how long after a schedule got its name do those hear of it who wait; one JSON object.
 *
 * usage: bench_wake FOLDER PROCESSES
 *
 * So many processes wait with forsched_watch_wait() for a newer epoch of FOLDER/schedule. Round after round a newer one is
 * renamed to it, as opensm does, and each process says when it woke.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "libforsched/forsched.h"

#define ROUNDS 40
#define PAUSE_US 50000 /* until all wait again */
#define MAX_PROCESSES 1024

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "bench_wake: %s\n", what);
	exit(1);
}

/* Have a schedule of this epoch beside the one that is published. */
static void write_newer(uint64_t epoch, const char *path)
{
	struct fors_schedule *schedule;
	void *bytes;
	size_t size;
	int fd;

	must(!fors_schedule_withdrawn(epoch, "nothing but an epoch", &schedule, NULL) &&
		     !fors_schedule_encode(schedule, &bytes, &size, NULL),
	     "out of memory");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !close(fd), path);
	free(bytes);
	fors_schedule_free(schedule);
}

/* One process: each time that it wakes it says when. It is killed in the end. */
static void follow(const char *path, int told)
{
	struct forsched_error error;
	struct forsched_watch *watch;
	uint64_t epoch = 0;

	must(!forsched_watch_open(path, &watch, &error) && !forsched_watch_newest(watch, &epoch, &error), path);
	while (!forsched_watch_wait(watch, epoch, -1, &epoch, &error)) {
		double woke = now_us();

		must(write(told, &woke, sizeof(woke)) == sizeof(woke), "nobody listens");
	}
	must(false, error.text);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One round: microseconds from the rename to the half of the processes and to the last one. */
static void publish(const char *newer, const char *path, int told, int processes, double *half, double *last)
{
	double woke[MAX_PROCESSES], renamed = now_us();

	must(!rename(newer, path), path);
	for (int i = 0; i < processes; i++)
		must(read(told, &woke[i], sizeof(woke[i])) == sizeof(woke[i]), "a process has ended");
	qsort(woke, (size_t)processes, sizeof(*woke), compare);
	*half = woke[processes / 2] - renamed;
	*last = woke[processes - 1] - renamed;
}

static void measure(const char *newer, const char *path, int told, int processes)
{
	double half[ROUNDS], last[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		usleep(PAUSE_US);
		write_newer((uint64_t)round + 2, newer);
		publish(newer, path, told, processes, &half[round], &last[round]);
	}
	qsort(half, ROUNDS, sizeof(*half), compare);
	qsort(last, ROUNDS, sizeof(*last), compare);
	printf("{\"processes\": %d, \"half_us\": %.0f, \"last_us\": %.0f, \"worst_us\": %.0f}\n", processes,
	       half[ROUNDS / 2], last[ROUNDS / 2], last[ROUNDS - 1]);
}

int main(int argc, char **argv)
{
	int processes = argc == 3 ? atoi(argv[2]) : 0, told[2];
	char path[4096], newer[4096];
	pid_t pid[MAX_PROCESSES];

	if (processes < 1 || processes > MAX_PROCESSES)
		return 2;
	snprintf(path, sizeof(path), "%s/schedule", argv[1]);
	snprintf(newer, sizeof(newer), "%s/.schedule.new", argv[1]);
	write_newer(1, path);
	must(!pipe(told), "no pipe");
	for (int i = 0; i < processes; i++) {
		pid[i] = fork();
		must(pid[i] >= 0, "no process");
		if (!pid[i])
			follow(path, told[1]);
	}
	usleep(10 * PAUSE_US);
	measure(newer, path, told[0], processes);
	for (int i = 0; i < processes; i++)
		kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
