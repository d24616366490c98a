/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobs_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule_file.h"
#include "daemon/files/copier.h"
#include "unit.h"

#define MANY 50000

atomic_int sweeps_asked;

static void count_sweep(void *context)
{
	atomic_fetch_add(&sweeps_asked, 1);
}

void jobs_bench_start(struct bench *bench)
{
	const struct fors_copier_request request = {.dir = bench->copies};
	struct fors_worker_setup setup = {.folder = &bench->folder,
					  .source = {.mastership = mastership, .sweep = count_sweep},
					  .tick_ms = TICK_MS};

	assert_int_equal(fors_copier_start(NULL, &bench->folder, &bench->copier, NULL), FORS_OK);
	assert_int_equal(fors_copier_set(bench->copier, &request, NULL), FORS_OK);
	setup.copier = bench->copier;
	assert_int_equal(fors_worker_start(&setup, &bench->worker, NULL), FORS_OK);
}

int jobs_bench_open(void **state)
{
	return jobs_bench_open_on(state, "FT(2;4,4)", 2);
}

int jobs_bench_open_on(void **state, const char *spec, unsigned lmc)
{
	struct bench *bench = bench_new_lmc(spec, lmc);

	if (!bench)
		return -1;
	snprintf(bench->file, sizeof(bench->file), "%s/jobs", bench->directory);
	snprintf(bench->copies, sizeof(bench->copies), "%s/copies", bench->directory);
	if (mkdir(bench->copies, 0755))
		return -1;
	jobs_bench_start(bench);
	*state = bench;
	return 0;
}

int jobs_bench_close(void **state)
{
	return bench_free(*state);
}

/* --- what happens --------------------------------------------------------------------------------------------- */

void write_in_place(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0 && !fclose(file));
}

/* As who writes it should. */
void write_jobs(const struct bench *bench, const char *text)
{
	char other[128];

	snprintf(other, sizeof(other), "%s.new", bench->file);
	write_in_place(other, text);
	assert_int_equal(rename(other, bench->file), 0);
}

/* --- what readers have ---------------------------------------------------------------------------------------- */

/* A job's schedule in a folder, or NULL. The caller frees it. */
struct fors_schedule *schedule_in(struct fors_folder folder, const char *name)
{
	struct fors_schedule *schedule = NULL;
	void *bytes = NULL;
	size_t size;

	snprintf(folder.job, sizeof(folder.job), "%s", name);
	assert_int_equal(fors_published(&folder, "schedule", 1 << 20, &bytes, &size, NULL), FORS_OK);
	if (bytes)
		assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, NULL), FORS_OK);
	free(bytes);
	return schedule;
}

/* Wait until a job has so many phases (0: withdrawn; NEVER: no folder) and an epoch above `after`; its epoch. */
uint64_t wait_in(struct fors_folder folder, const char *name, uint32_t phases, uint64_t after)
{
	for (int look = 0; look < MANY; look++) {
		struct fors_schedule *schedule = schedule_in(folder, name);
		bool is_there = schedule ? schedule->nphases == phases && schedule->epoch > after : phases == NEVER;
		uint64_t epoch = schedule ? schedule->epoch : 0;

		fors_schedule_free(schedule);
		if (is_there)
			return epoch;
		tick();
	}
	fail_msg("job %s never had %u phases", name, phases);
	return 0;
}

uint32_t wait_faster(const struct bench *bench, const char *name, uint32_t most)
{
	for (int look = 0; look < 50000; look++) {
		struct fors_schedule *schedule = schedule_in(bench->folder, name);
		uint32_t phases = schedule ? schedule->nphases : 0;

		fors_schedule_free(schedule);
		if (phases && phases < most)
			return phases;
		tick();
	}
	fail_msg("job %s never had fewer phases than %u", name, most);
	return 0;
}

uint64_t wait_job(const struct bench *bench, const char *name, uint32_t phases, uint64_t after)
{
	return wait_in(bench->folder, name, phases, after);
}

/* Wait until status.json contains this text (is_there) or does not. */
void wait_status(const struct bench *bench, const char *text, bool is_there)
{
	for (int look = 0; look < MANY; look++) {
		void *bytes = NULL;
		size_t size;
		bool found;

		assert_int_equal(fors_published(&bench->folder, "status.json", 1 << 24, &bytes, &size, NULL), FORS_OK);
		found = bytes && strstr(bytes, text);
		free(bytes);
		if (found == is_there)
			return;
		tick();
	}
	fail_msg("status.json %s: %s", is_there ? "never has" : "keeps", text);
}

/* Long enough for whatever comes of a file. */
void rest(void)
{
	for (int i = 0; i < 20; i++) {
		tick();
		usleep(1000);
	}
}

void let_work(void)
{
	int before = atomic_load(&mastership_asked);

	for (int look = 0; look < 50000 && atomic_load(&mastership_asked) < before + 8; look++)
		tick();
}
