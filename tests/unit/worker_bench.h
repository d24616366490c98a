/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_bench.h - a worker without OpenSM: a folder of its own in /tmp, a tree as a sweep would find it, jobs as the
 * engine makes them.
 *
 * A program links worker_bench.c, which has the log (counted, not written), the mastership (as the test says), and no
 * fsync (what a crash of the machine would leave is not looked at, and disks are slow; linked with --wrap=fsync). The
 * clock is fake_clock.h's.
 */
#ifndef FORS_TESTS_WORKER_BENCH_H
#define FORS_TESTS_WORKER_BENCH_H

#include <stdatomic.h>

#include "daemon/look/look.h"
#include "daemon/worker/worker.h"

#define TICK_MS 10	/* how often the worker looks around */
#define LOOK_US 100	/* between looks at what has to come */
#define MOST_LOOKS 1000 /* for a worker that is behind by */
#define BEHIND_MS 1500	/* since it looked around last */

struct bench {
	char directory[64];
	char file[96], copies[96];    /* jobs_file and publish_dir, or "" */
	char demand[96], demands[96]; /* demand_file and demand_dir, or "" */
	struct fors_folder folder;
	struct fors_worker *worker;
	struct fors_copier *copier; /* or NULL */
	struct fors_places *places;
	struct fors_net *intact;
};

extern atomic_int mastership_now, mastership_asked, errors_logged[32];
extern atomic_int status_synced; /* how often status.json was forced to the disk, after it had its name */

enum fors_mastership mastership(void *context);

/* A folder and this tree with LMC 2, known and with LIDs; no worker yet. NULL: it cannot be had. */
struct bench *bench_new(const char *spec);
struct bench *bench_new_lmc(const char *spec, unsigned lmc);

/* Stop the worker, then the copier, if they run. */
void bench_stop(struct bench *bench);

/* The same, and nothing is left of it, the folder neither. 0, as a teardown says it. */
int bench_free(struct bench *bench);

/* A job as the engine makes it; `down` is a cable to cut, or NULL. */
struct fors_look *make_job(struct bench *bench, enum fors_look_kind kind, const char *down);

void submit(struct bench *bench, enum fors_look_kind kind, const char *down);

/* Let the worker look around, and a little real time go by for it to do so. */
void tick(void);

#endif
