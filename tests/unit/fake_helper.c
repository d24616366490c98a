/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_helper.c - in place of daemon/files/helper_spawn.c: the helper's own code, in a thread of the test. So what a test does to
 * fors_publish() and its like is done to the helper, and one that hangs comes back when the test lets it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/files/helper.h"
#include "daemon/files/helper_serve.h"

/* Without faults.c nothing is spared. */
void faults_spare_me(void) __attribute__((weak));

struct fake {
	int fd;
	char dir[4096];
};

/* No memory that anybody counts. */
static struct fake fakes[64];
static atomic_int running, begun;

static pid_t no_rival(void *context)
{
	(void)context;
	return 0;
}

static void *serve(void *context)
{
	struct fake *fake = context;

	if (faults_spare_me)
		faults_spare_me();
	fors_helper_serve(fake->fd, fake->dir, no_rival, NULL);
	close(fake->fd);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

enum fors_err fors_helper_spawn(const char *state, const char *dir, int *fd, struct fors_child *child,
				struct fors_error *error)
{
	struct fake *fake = &fakes[atomic_fetch_add(&begun, 1) % 64];
	pthread_t thread;
	int ends[2];

	(void)state;
	strcpy(fake->dir, dir);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		abort();
	fake->fd = ends[1];
	atomic_fetch_add(&running, 1);
	if (pthread_create(&thread, NULL, serve, fake)) {
		atomic_fetch_sub(&running, 1);
		close(ends[0]);
		close(ends[1]);
		return fors_fail(error, FORS_ENOMEM, "no thread");
	}
	pthread_detach(thread);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*child = (struct fors_child){.pid = 1, .fd = -1};
	*fd = ends[0];
	return FORS_OK;
}

void fors_helper_kill(struct fors_child *child)
{
	(void)child;
}

bool fors_helper_gone(struct fors_child *child)
{
	(void)child;
	return !atomic_load(&running);
}
