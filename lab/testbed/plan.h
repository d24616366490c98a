/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - who sends to whom in each phase, and between which two LIDs.
 */
#ifndef FORS_LAB_TESTBED_PLAN_H
#define FORS_LAB_TESTBED_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_RANKS 64
#define MAX_PHASES 512
#define NOBODY 0xFFFFu

/* A server of the testbed; its LIDs are addresses 10.77.x.y of its network namespace. */
struct place {
	char name[64]; /* of the namespace */
	uint64_t guid; /* its port GUID in the schedule */
	uint16_t lid;  /* base LID */
};

/* One rank in one phase. */
struct step {
	uint16_t to, from; /* ranks; NOBODY: idle; the rank itself: its message to itself */
};

/* The two ends of the connection between two ranks: the LIDs that carry both directions. */
struct ends {
	uint16_t lid, peer_lid;
};

struct plan {
	uint64_t epoch; /* 0: no plan yet */
	uint32_t nranks, nphases;
	struct step step[MAX_PHASES][MAX_RANKS];
	struct ends ends[MAX_RANKS][MAX_RANKS];
};

/* The places of FILE, one a line: "name guid lid". Returns their number, 0 after an error, which is printed. */
uint32_t places_read(const char *file, struct place place[MAX_RANKS]);

/* The linear shift over the base LIDs: in phase p rank i sends to rank i + p. */
void plan_shift(const struct place *place, uint32_t nranks, struct plan *plan);

#endif
