/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_log.c - a library to be preloaded into opensm on ibsim: every packet that it sends becomes a line of the file that
 * FORS_UMAD_LOG names, in hexadecimal digits. The transaction number is left out, and of a question that names no data (Get of
 * a subnet management packet) the room for data, for the way back and behind the end of the way there, where opensm leaves what
 * was in its memory. So two runs that send the same have the same lines.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/umad.h>

enum { CLASS_LID = 0x01, CLASS_DIRECTED = 0x81, GET = 0x01 };
enum { TRANSACTION = 8, TRANSACTION_END = 16, DATA = 64, DATA_END = 128, HOPS = 7 };

static int is_told(const uint8_t *mad, int at)
{
	int is_question = (mad[1] == CLASS_LID || mad[1] == CLASS_DIRECTED) && mad[3] == GET;

	if (at >= TRANSACTION && at < TRANSACTION_END)
		return 0;
	return !is_question || at < DATA || (at >= DATA_END && at <= DATA_END + mad[HOPS]);
}

static int (*real_send)(int port, int agent, void *umad, int length, int timeout_ms, int retries);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

static void __attribute__((constructor)) start(void)
{
	const char *name = getenv("FORS_UMAD_LOG");

	real_send = (int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	file = name ? fopen(name, "a") : NULL;
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);

	pthread_mutex_lock(&mutex);
	for (int i = 0; file && i < length; i++)
		if (is_told(mad, i))
			fprintf(file, "%02x", mad[i]);
	if (file) {
		fputc('\n', file);
		fflush(file);
	}
	pthread_mutex_unlock(&mutex);
	return real_send(port, agent, umad, length, timeout_ms, retries);
}
