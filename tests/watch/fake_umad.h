/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_umad.h - libibumad's functions over a kernel in memory: what is sent is kept, what a test gives it comes in. In place of
 * the library. Waiting for a packet moves the fake clock.
 */
#ifndef FORS_TESTS_FAKE_UMAD_H
#define FORS_TESTS_FAKE_UMAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UMAD_MAD 256
#define UMAD_MOST 4096	  /* sendings that are kept */
#define UMAD_PKEY_INDEX 6 /* of packets that come */

/* A packet that left. */
struct umad_sent {
	double ms; /* by the fake clock */
	int agent, timeout_ms, retries;
	uint16_t lid;
	uint32_t qpn;
	uint8_t sl;
	uint16_t pkey_index;
	uint8_t mad[UMAD_MAD];
};

struct umad {
	uint64_t guid;	/* of the port, as the host has numbers */
	int open_errno; /* umad_open_port() fails with it; 0: it does not */
	bool has_no_module, has_no_port, takes_no_reports;
	int send_fails; /* negative: what umad_send() returns */
	unsigned closes, unregistered;
	unsigned nagents;
	struct umad_sent sent[UMAD_MOST];
	unsigned nsent;
	/* Called with each packet that left; may call umad_give(). NULL: nobody answers. */
	void (*hear)(struct umad *kernel, const struct umad_sent *sent);
	unsigned state; /* of hear() */
	struct umad_come {
		double ms;
		int agent;
		bool is_timeout;
		size_t size;
		uint8_t *mad;
	} come[UMAD_MOST];
	unsigned ncome;
};

extern struct umad umad;

/* As at first, with nothing sent and nothing to come; for the end, too. */
void umad_reset(void);

/* A packet that comes so many milliseconds from now. */
void umad_give(int agent, const uint8_t *mad, size_t size, unsigned in_ms, bool is_timeout);

/* The answer to a packet: the same with the bit of responses, this status and these bytes from `at` on. */
void umad_answer(const struct umad_sent *sent, unsigned in_ms, uint16_t status, const uint8_t *data, size_t size);

#endif
