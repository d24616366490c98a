/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_timeouts.c - a library to be preloaded into opensm on ibsim: requests that nobody answers are sent again, and
 * given up in the end.
 *
 * On a real host the kernel does that: umad_send() says how long to wait and how often to send again, and a request
 * that is given up comes back from umad_recv() with a status. ibsim's umad2sim does neither, and OpenSM ends no sweep
 * while it waits for an answer. One answer fails to come often enough: a subnet manager that has just started sets the
 * IsSM bit, and ignores SMInfo requests until it has discovered its own port a moment later. The trap 144 of that bit
 * makes the master sweep and ask. On a fabric its second request is answered; on ibsim alone it waits for ever.
 *
 * Here as there: of each request that expects an answer a copy is kept until the answer comes. The first pause is what
 * OpenSM asks for, each later one twice as long; how often is up to us, because a busy machine that runs a whole fabric
 * must not look like a broken cable. Answers to what is not waited for any more are dropped.
 *
 * Traps of OpenSM's own (a standby that is stronger than the master sends one) expect a TrapRepress, which opensm sends
 * and ibsim drops: it is made here, as ibsim loses no trap.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/umad.h>

#define MAD_SIZE 256
#define SENDINGS 5 /* of one request: with pauses of 0.2 s and more it is given up after 6.2 s */
#define TICK_MS 20 /* how often the pauses are looked at */
#define NREQUESTS 512

enum { METHOD_TRAP = 0x05, METHOD_TRAP_REPRESS = 0x07, METHOD_RESPONSE = 0x80 };

/* The head of a MAD as far as it matters here. */
struct head {
	uint8_t base_version, class, class_version, method;
	uint16_t status, hops;
	uint32_t tid_high, tid; /* umad2sim changes the high half */
};

struct request {
	bool is_used;
	int port, agent, length, pause_ms, sendings;
	double due_ms; /* when to send it again, or to give it up */
	union {
		ib_user_mad_t umad;
		char bytes[sizeof(ib_user_mad_t) + MAD_SIZE];
	};
};

static struct request requests[NREQUESTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards them; nobody waits for anything while holding it */

static int (*real_send)(int port, int agent, void *umad, int length, int timeout_ms, int retries);
static int (*real_recv)(int port, void *umad, int *length, int timeout_ms);

static void __attribute__((constructor)) start(void)
{
	real_send = (int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	real_recv = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static const struct head *head_of(void *umad)
{
	return umad_get_mad(umad);
}

static bool is_answer(const struct head *head)
{
	return head->method & METHOD_RESPONSE || head->method == METHOD_TRAP_REPRESS;
}

static bool is_trap(const struct head *head)
{
	return head->method == METHOD_TRAP;
}

/* The request with this head that is waited for, or NULL. With the mutex held. */
static struct request *find(const struct head *head)
{
	for (struct request *request = requests; request < requests + NREQUESTS; request++) {
		const struct head *own = head_of(&request->umad);

		if (request->is_used && own->tid == head->tid && own->class == head->class)
			return request;
	}
	return NULL;
}

/* No longer wait for the request with this head; false: nobody did. */
static bool forget(const struct head *head)
{
	struct request *request;

	pthread_mutex_lock(&mutex);
	request = find(head);
	if (request)
		request->is_used = false;
	pthread_mutex_unlock(&mutex);
	return request != NULL;
}

static void remember(int port, int agent, void *umad, int length, int timeout_ms)
{
	pthread_mutex_lock(&mutex);
	for (struct request *request = requests; request < requests + NREQUESTS; request++) {
		if (request->is_used)
			continue;
		request->is_used = true;
		request->port = port;
		request->agent = agent;
		request->length = length;
		request->pause_ms = timeout_ms;
		request->sendings = 1;
		request->due_ms = now_ms() + timeout_ms;
		memcpy(request->bytes, umad, umad_size() + (size_t)length);
		break;
	}
	pthread_mutex_unlock(&mutex);
}

/* A copy of a request whose pause is over. False: there is none. */
static bool next_due(struct request *copy)
{
	double now = now_ms();
	struct request *due = NULL;

	pthread_mutex_lock(&mutex);
	for (struct request *request = requests; request < requests + NREQUESTS && !due; request++)
		if (request->is_used && request->due_ms <= now)
			due = request;
	if (due) {
		*copy = *due;
		due->is_used = due->sendings < SENDINGS && !is_trap(head_of(&due->umad));
		due->sendings++;
		due->pause_ms *= 2;
		due->due_ms = now + due->pause_ms;
	}
	pthread_mutex_unlock(&mutex);
	return due != NULL;
}

/* Before it is sent: the answer may be there at once. */
int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	bool is_waiting = timeout_ms > 0 && length <= MAD_SIZE && !is_answer(head_of(umad));
	int sent;

	if (is_waiting)
		remember(port, agent, umad, length, is_trap(head_of(umad)) ? 0 : timeout_ms);
	sent = real_send(port, agent, umad, length, timeout_ms, retries);
	if (sent < 0 && is_waiting)
		forget(head_of(umad));
	return sent;
}

/* As if it were received: the TrapRepress of a trap, or another request with a status, which says that it is given up.
 */
static int give_back(const struct request *request, void *umad, int *length)
{
	bool is_answered;

	memcpy(umad, request->bytes, umad_size() + (size_t)request->length);
	is_answered = is_trap(head_of(umad));
	((ib_user_mad_t *)umad)->status = is_answered ? 0 : ETIMEDOUT;
	if (is_answered)
		((struct head *)umad_get_mad(umad))->method = METHOD_TRAP_REPRESS;
	*length = request->length;
	return request->agent;
}

/* Send again what is due. The agent of a request that is given back, which is in umad then; -1: none is. */
static int look_after(void *umad, int *length)
{
	struct request due;

	while (next_due(&due)) {
		if (due.sendings >= SENDINGS || is_trap(head_of(&due.umad)))
			return give_back(&due, umad, length);
		real_send(due.port, due.agent, due.bytes, due.length, due.pause_ms, 0);
	}
	return -1;
}

/* Does somebody wait for what was received? What ibsim could not deliver comes back with a status. */
static bool is_wanted(void *umad)
{
	return (!is_answer(head_of(umad)) && !umad_status(umad)) || forget(head_of(umad));
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	double end = timeout_ms < 0 ? 0 : now_ms() + timeout_ms;
	int room = *length, agent;

	do {
		agent = look_after(umad, length);
		if (agent >= 0)
			return agent;
		*length = room;
		agent = real_recv(port, umad, length, TICK_MS);
		if (agent >= 0 && is_wanted(umad))
			return agent;
		if (agent < 0 && agent != -ETIMEDOUT && agent != -EWOULDBLOCK && agent != -EINTR)
			return agent; /* as when the room is too small */
	} while (timeout_ms < 0 || now_ms() < end);
	errno = ETIMEDOUT;
	return -ETIMEDOUT;
}
