/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "together.h"

#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <time.h>

double monotonic_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The condition counts on the monotonic clock, so that setting the clock disturbs nobody. */
static bool make_barrier(struct together *together)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	return !pthread_mutexattr_init(&mutex) && !pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutex_init(&together->mutex, &mutex) && !pthread_condattr_init(&cond) &&
	       !pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) &&
	       !pthread_condattr_setclock(&cond, CLOCK_MONOTONIC) && !pthread_cond_init(&together->all_here, &cond);
}

struct together *together_new(uint32_t nranks, double bin_seconds)
{
	struct together *together =
		mmap(NULL, sizeof *together, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (together == MAP_FAILED)
		return NULL;
	if (!make_barrier(together)) {
		munmap(together, sizeof *together);
		return NULL;
	}
	together->nranks = nranks;
	together->bin_seconds = bin_seconds;
	together->first_bin = monotonic_seconds();
	return together;
}

static struct timespec after(double seconds)
{
	double then = monotonic_seconds() + seconds, whole = floor(then);

	return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (then - whole))};
}

bool together_wait(struct together *together, double seconds)
{
	struct timespec end = after(seconds);
	uint32_t round;
	int error = 0;

	pthread_mutex_lock(&together->mutex);
	round = together->round;
	if (++together->waiting == together->nranks) {
		together->waiting = 0;
		together->round++;
		pthread_cond_broadcast(&together->all_here);
	}
	while (round == together->round && !together->failed && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&together->all_here, &together->mutex, &end);
	if (round == together->round)
		together->failed = true;
	pthread_mutex_unlock(&together->mutex);
	return !together->failed;
}

void together_fail(struct together *together)
{
	together->failed = true;
	pthread_mutex_lock(&together->mutex);
	pthread_cond_broadcast(&together->all_here);
	pthread_mutex_unlock(&together->mutex);
}

void together_received(struct together *together, uint64_t bytes)
{
	double bin = (monotonic_seconds() - together->first_bin) / together->bin_seconds;

	if (bin < MAX_BINS)
		together->received[(size_t)bin] += bytes;
}
