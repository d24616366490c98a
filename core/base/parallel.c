/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parallel.c - a loop on several threads: every worker takes the next round that nobody has taken.
 */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

struct loop {
	fors_work work;
	void *context;
	uint32_t nitems;
	atomic_uint next;
	atomic_bool stop;
};

struct worker {
	struct loop *loop;
	pthread_t thread;
	uint32_t number, failed_item;
	enum fors_err err;
	struct fors_error error;
};

/* One round; after a failure there are no more. */
static void do_round(struct worker *worker, uint32_t item)
{
	struct loop *loop = worker->loop;

	worker->err = loop->work(loop->context, worker->number, item, &worker->error);
	if (!worker->err)
		return;
	worker->failed_item = item;
	atomic_store(&loop->stop, true);
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	struct loop *loop = worker->loop;

	while (!atomic_load(&loop->stop)) {
		uint32_t item = atomic_fetch_add(&loop->next, 1);

		if (item >= loop->nitems)
			break;
		do_round(worker, item);
	}
	return NULL;
}

enum fors_err fors_parallel(unsigned threads, uint32_t nitems, fors_work work, void *context, struct fors_error *error)
{
	struct loop loop = {.work = work, .context = context, .nitems = nitems};
	struct worker worker[FORS_MAX_THREADS], *failed = NULL;
	unsigned n = threads > FORS_MAX_THREADS ? FORS_MAX_THREADS : threads ? threads : 1, started = 1;

	n = n > nitems && nitems ? nitems : n;
	for (unsigned i = 0; i < n; i++)
		worker[i] = (struct worker){.loop = &loop, .number = i};
	while (started < n && pthread_create(&worker[started].thread, NULL, run, &worker[started]) == 0)
		started++;
	run(&worker[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(worker[i].thread, NULL);
	for (unsigned i = 0; i < started; i++)
		if (worker[i].err && (!failed || worker[i].failed_item < failed->failed_item))
			failed = &worker[i];
	if (!failed)
		return FORS_OK;
	if (error)
		*error = failed->error;
	return failed->err;
}
