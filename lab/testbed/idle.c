/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rank of Open MPI that has nothing to do waits for its sockets instead of spinning: a module to be preloaded in front of an
 * MPI program.
 *
 * Dozens of ranks share the few processors of a testbed, where each of a real fabric has its own. With mpi_yield_when_idle an
 * idle rank calls sched_yield() all the time, and takes the processor's time from those that have packets to move. Here this
 * call waits until an epoll descriptor of the process, Open MPI's event base, has something to read. A message of a
 * neighbour on the same server, in shared memory, wakes nobody: such a rank looks again after a millisecond.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

enum { MOST_BASES = 16, LOOK_AGAIN_MS = 1 };

/* No locks: they are made while a program begins, and one too few only spins longer. */
static struct pollfd bases[MOST_BASES];
static unsigned count;

static int remembered(int base)
{
	if (base >= 0 && count < MOST_BASES)
		bases[count++] = (struct pollfd){.fd = base, .events = POLLIN};
	return base;
}

int epoll_create1(int flags)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "epoll_create1");

	return remembered(real(flags));
}

int epoll_create(int size)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "epoll_create");

	return remembered(real(size));
}

int sched_yield(void)
{
	poll(bases, count, LOOK_AGAIN_MS);
	return 0;
}
