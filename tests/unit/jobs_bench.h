/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs_bench.h - a worker_bench.h whose worker looks at a jobs file, and what readers have of jobs.
 * A program links jobs_bench.c beside worker_bench.c.
 */
#ifndef FORS_TESTS_JOBS_BENCH_H
#define FORS_TESTS_JOBS_BENCH_H

#include "core/schedule/schedule.h"
#include "worker_bench.h"

#define NEVER UINT32_MAX /* no such file */

extern atomic_int sweeps_asked;

/* A bench of FT(2;4,4) with a publish_dir and its worker, as a test's setup; and its teardown. */
int jobs_bench_open(void **state);
/* The same of another tree and LMC. */
int jobs_bench_open_on(void **state, const char *spec, unsigned lmc);
int jobs_bench_close(void **state);
/* Another worker, after bench_stop(). */
void jobs_bench_start(struct bench *bench);

/* Write the jobs file as who writes it should. */
void write_jobs(const struct bench *bench, const char *text);
void write_in_place(const char *path, const char *text);

/* A job's schedule in a folder, or NULL. The caller frees it. */
struct fors_schedule *schedule_in(struct fors_folder folder, const char *name);
/* Wait until a job has so many phases (0: withdrawn; NEVER: no folder) and an epoch above `after`; its epoch. */
uint64_t wait_in(struct fors_folder folder, const char *name, uint32_t phases, uint64_t after);
/* The same in the state folder. */
uint64_t wait_job(const struct bench *bench, const char *name, uint32_t phases, uint64_t after);
/* Wait until a job has fewer phases than `most` there; how many. */
uint32_t wait_faster(const struct bench *bench, const char *name, uint32_t most);
/* Wait until status.json contains this text (is_there) or does not. */
void wait_status(const struct bench *bench, const char *text, bool is_there);

/* Until the worker has looked around a few times, so that what was there before is done, as far as it can be. */
void let_work(void);

/* Long enough for whatever comes of a file. */
void rest(void);

#endif
