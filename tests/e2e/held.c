/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * held.c - a library to be preloaded into opensm: it stands still whenever fors is about to publish a schedule.
 *
 * Before the file gets its name a byte is written to the FIFO $FORS_HELD/held, and nothing is sent to the fabric from then on
 * until a byte comes from $FORS_HELD/go. So whoever looks meanwhile sees the hardware as it is at that moment. held.py is
 * the other side. Withdrawn schedules pass.
 *
 * A fabric of sixteen servers is set up within a millisecond, a real one is not: each block of tables and each port that is
 * set takes $FORS_SLOW_MS here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define WITHDRAWN_BYTES 1024 /* no schedule with phases is as short */

enum { METHOD_SET = 2, PORT_INFO = 0x15, FORWARDING_TABLE = 0x19 };

/* The head of a MAD as far as it matters here. */
struct head {
	uint8_t base_version, class, class_version, method;
	uint16_t status, hops;
	uint64_t tid;
	uint16_t attribute;
};

static pthread_rwlock_t sending = PTHREAD_RWLOCK_INITIALIZER; /* read: one packet is being sent; write: nothing is */

static int open_end(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("FORS_HELD"), name);
	return open(path, O_RDWR | O_CLOEXEC); /* which waits for nobody */
}

static void hold(void)
{
	static int held = -1, go = -1;
	char byte = 0;

	if (held < 0) {
		held = open_end("held");
		go = open_end("go");
	}
	if (held < 0 || go < 0 || write(held, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		abort();
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
	struct stat info;
	int result;

	if (strcmp(to, "schedule") || fstatat(from_folder, from, &info, 0) || info.st_size < WITHDRAWN_BYTES)
		return real(from_folder, from, to_folder, to);
	pthread_rwlock_wrlock(&sending);
	hold();
	result = real(from_folder, from, to_folder, to);
	pthread_rwlock_unlock(&sending);
	return result;
}

/* Packets are sent by one thread of opensm, one after another. */
static void take_time(void *umad)
{
	const struct head *head = umad_get_mad(umad);
	unsigned attribute = (unsigned)(head->attribute >> 8 | head->attribute << 8) & 0xffff;
	const char *slow = getenv("FORS_SLOW_MS");

	if (slow && head->method == METHOD_SET && (attribute == PORT_INFO || attribute == FORWARDING_TABLE))
		usleep((useconds_t)(1000 * atoi(slow)));
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	static int (*real)(int, int, void *, int, int, int);
	int result;

	if (!real)
		real = dlsym(RTLD_NEXT, "umad_send");
	take_time(umad);
	pthread_rwlock_rdlock(&sending);
	result = real(port, agent, umad, length, timeout_ms, retries);
	pthread_rwlock_unlock(&sending);
	return result;
}
