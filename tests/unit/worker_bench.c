/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/tree_net.h"
#include "core/planners/routing.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "fake_clock.h"
#include "unit.h"

atomic_int mastership_now, mastership_asked, errors_logged[32], status_synced;

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	static const char status[] = "/status.json";
	char link[32], path[256];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path)) - ((ssize_t)sizeof(status) - 1);
	if (length > 0 && !memcmp(path + length, status, sizeof(status) - 1))
		atomic_fetch_add(&status_synced, 1);
	return fd < 0 ? -1 : 0;
}

void fors_log_info(struct fors_log *log, const char *format, ...)
{
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	atomic_fetch_add(&errors_logged[code], 1);
}

enum fors_mastership mastership(void *context)
{
	atomic_fetch_add(&mastership_asked, 1);
	return (enum fors_mastership)atomic_load(&mastership_now);
}

struct bench *bench_new(const char *text)
{
	return bench_new_lmc(text, 2);
}

struct bench *bench_new_lmc(const char *text, unsigned lmc)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct fors_tree_spec spec;

	if (!bench)
		return NULL;
	atomic_store(&mastership_now, FORS_MASTER_YES);
	memset(errors_logged, 0, sizeof(errors_logged));
	strcpy(bench->directory, "/tmp/fors-worker-XXXXXX");
	if (!mkdtemp(bench->directory) || fors_folder_init(&bench->folder, bench->directory, 0x123, NULL) ||
	    fors_tree_spec_parse(text, &spec, NULL) || fors_tree_net(&spec, &bench->intact, NULL))
		return NULL;
	fors_tree_spec_clear(&spec);
	bench->places = fors_places_new();
	if (fors_places_learn_tree(bench->places, bench->intact, NULL, 0, NULL, NULL) ||
	    fors_assign_lids(bench->intact, bench->places, lmc, false, NULL))
		return NULL;
	return bench;
}

void bench_stop(struct bench *bench)
{
	fors_worker_stop(bench->worker);
	fors_copier_stop(bench->copier);
	bench->worker = NULL;
	bench->copier = NULL;
}

int bench_free(struct bench *bench)
{
	char command[128];

	bench_stop(bench);
	fors_folder_clear(&bench->folder);
	fors_places_free(bench->places);
	fors_net_free(bench->intact);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

struct fors_look *make_job(struct bench *bench, enum fors_look_kind kind, const char *down)
{
	struct fors_look *job = fors_look_new(kind);

	assert_int_equal(fors_net_copy(bench->intact, &job->net, NULL), FORS_OK);
	if (down)
		assert_int_equal(fors_net_down(bench->intact, job->net, down, NULL), FORS_OK);
	assert_int_equal(fors_look_be_tree(job, bench->places, NULL, NULL), FORS_OK);
	assert_int_equal(fors_routing_make(&job->tree, false, &job->lfts, &job->rounds, NULL), FORS_OK);
	fors_limit_method(&job->limits, "auto");
	snprintf(job->jobs_file, sizeof(job->jobs_file), "%s", bench->file);
	snprintf(job->demand_file, sizeof(job->demand_file), "%s", bench->demand);
	snprintf(job->demand_dir, sizeof(job->demand_dir), "%s", bench->demands);
	if (job->given)
		fors_look_seal(job);
	return job;
}

void submit(struct bench *bench, enum fors_look_kind kind, const char *down)
{
	fors_worker_submit(bench->worker, make_job(bench, kind, down));
}

/* Time does not run far ahead of a worker that gets no processor; one that is held up by the test is not waited for long. */
void tick(void)
{
	static uint64_t looked_ms;
	static int looked;

	fake_clock_advance(TICK_MS);
	usleep(LOOK_US);
	for (int look = 0; atomic_load(&mastership_asked) == looked && look < MOST_LOOKS; look++) {
		if (fors_clock_ms() < looked_ms + BEHIND_MS)
			return;
		usleep(LOOK_US);
	}
	looked = atomic_load(&mastership_asked);
	looked_ms = fors_clock_ms();
}
