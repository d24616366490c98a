/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_spy.c - a library to be preloaded into fors watch: it writes down every management packet that leaves or comes, and can do
 * harm.
 *
 *	FORS_SPY_LOG=FILE	a line for each: 'S' or 'R', milliseconds, class, method, attribute, modifier, id
 *	FORS_SPY_DROP=N		N of 100 packets that leave never arrive; no two runs drop the same ones
 *	FORS_SPY_MUTE=FILE	no packet that leaves arrives while there is such a file
 *	FORS_SPY_DEAF=1		no Report comes
 *	FORS_SPY_TAKEN=1	another program of this host has the Reports
 *	FORS_SPY_FROZEN=1	the manager seems not to count its packets
 *	FORS_SPY_DENIED=1	no port may be opened
 *	FORS_SPY_MKEY=KEY	subnet management packets without this M_Key never arrive
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

static FILE *file;
static const char *mute;
static int drop, is_deaf, is_frozen;
static uint64_t m_key;

static int (*real_send)(int port, int agent, void *umad, int length, int timeout_ms, int retries);
static int (*real_recv)(int port, void *umad, int *length, int timeout_ms);
static int (*real_open)(const char *ca, int port);
static int (*real_register)(int port, int class, int version, uint8_t rmpp_version, long mask[16 / sizeof(long)]);

static void __attribute__((constructor)) start(void)
{
	const char *name = getenv("FORS_SPY_LOG"), *percent = getenv("FORS_SPY_DROP");

	real_send = (int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	real_recv = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
	real_open = (int (*)(const char *, int))dlsym(RTLD_NEXT, "umad_open_port");
	real_register = (int (*)(int, int, int, uint8_t, long *))dlsym(RTLD_NEXT, "umad_register");
	file = name ? fopen(name, "ae") : NULL;
	drop = percent ? atoi(percent) : 0;
	is_deaf = getenv("FORS_SPY_DEAF") != NULL;
	is_frozen = getenv("FORS_SPY_FROZEN") != NULL;
	mute = getenv("FORS_SPY_MUTE");
	m_key = getenv("FORS_SPY_MKEY") ? strtoull(getenv("FORS_SPY_MKEY"), NULL, 0) : 0;
	srandom((unsigned)time(NULL));
}

static void note(char what, void *umad)
{
	const struct umad_hdr *head = umad_get_mad(umad);
	struct timespec now;

	if (!file)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(file, "%c %.3f %02x %02x %04x %08x %08x\n", what, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6,
		head->mgmt_class, head->method, be16toh(head->attr_id), be32toh(head->attr_mod),
		(uint32_t)be64toh(head->tid));
	fflush(file);
}

int umad_register(int port, int class, int version, uint8_t rmpp_version, long mask[16 / sizeof(long)])
{
	if (mask && class == UMAD_CLASS_SUBN_ADM && getenv("FORS_SPY_TAKEN"))
		return -EBUSY;
	return real_register(port, class, version, rmpp_version, mask);
}

int umad_open_port(const char *ca, int port)
{
	if (!getenv("FORS_SPY_DENIED"))
		return real_open(ca, port);
	errno = EACCES;
	return -EIO;
}

/* Would the nodes of a fabric with an M_Key leave this without an answer? */
static int is_locked(void *umad)
{
	const struct umad_smp *smp = umad_get_mad(umad);

	return m_key && smp->mgmt_class != UMAD_CLASS_SUBN_ADM && be64toh(smp->mkey) != m_key;
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	note('S', umad);
	if (is_locked(umad) || random() % 100 < drop || (mute && !access(mute, F_OK)))
		return 0;
	return real_send(port, agent, umad, length, timeout_ms, retries);
}

/* SMInfo.ActCount */
static void freeze(void *umad)
{
	uint8_t *mad = umad_get_mad(umad);

	if (((struct umad_hdr *)mad)->attr_id == htobe16(UMAD_SM_ATTR_SM_INFO))
		memset(mad + 64 + 16, 0, 4);
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	int agent = real_recv(port, umad, length, timeout_ms);

	if (agent < 0)
		return agent;
	if (is_deaf && ((struct umad_hdr *)umad_get_mad(umad))->method == UMAD_METHOD_REPORT) {
		errno = EINTR;
		return -EINTR;
	}
	note('R', umad);
	if (is_frozen)
		freeze(umad);
	return agent;
}
