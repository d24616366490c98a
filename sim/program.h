/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program.h - what each server sends, in which order: the workload of a simulation.
 *
 * A pattern in phases becomes one list of messages per server. Phases in which nobody sends are left out; the others
 * are numbered through, and are called slots. A server without a message in a slot is idle in it.
 *
 * Thread rules: plain data once made; any number of simulations may run it.
 */
#ifndef FORS_SIM_PROGRAM_H
#define FORS_SIM_PROGRAM_H

#include "model/patterns/pattern.h"

struct fors_send {
	uint32_t dst;  /* server */
	uint32_t slot; /* never smaller than that of the one before */
	uint16_t path; /* path index */
	uint8_t vl;    /* virtual lane */
};

struct fors_program {
	uint32_t nservers, nslots;
	size_t *first; /* nservers + 1: server s sends send[first[s]] .. send[first[s + 1] - 1], in this order */
	struct fors_send *send; /* first[nservers] of them */
	uint32_t *phase;	/* nslots: the phase of the pattern */
	uint32_t *count;	/* nslots: messages */
	uint64_t *at;		/* NULL, or for each message the time before which it does not exist, ps */
};

/* A program without messages; owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_program_new(uint32_t nservers, uint32_t nslots, size_t nmessages, struct fors_program **program,
			       struct fors_error *error);

/*
 * The program of a pattern in *program, owned by the caller; all on virtual lane 0. Errors: FORS_ELIMIT (more than 2^27
 * messages), FORS_ENOMEM.
 */
enum fors_err fors_program_of(const struct fors_pattern *pattern, uint32_t nservers, struct fors_program **program,
			      struct fors_error *error);

/* What a server offers: `count` messages from `begin` on; or, with an end, as many as come to be before it. ps. */
struct fors_offer {
	uint64_t gap, begin, end; /* gap: on average, > 0; end 0: none */
	uint32_t count;
};

/*
 * Load at random moments in *program, owned by the caller: each server s that sends anything in `from` sends what
 * offer[s] says, each message to one of those that it sends to there, by chance, and as often as it does; gaps are
 * exponential.
 * Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_program_offer(const struct fors_program *from, const struct fors_offer *offer, uint64_t seed,
				 struct fors_program **program, struct fors_error *error);

/*
 * Random load: each server sends `count` messages to others, all equally likely, or all to server `to` (FORS_NONE: no
 * such), at random moments: gaps are exponential, on average `gap` ps. Errors: FORS_EINPUT (fewer than two servers),
 * FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_program_load(uint32_t nservers, uint32_t count, uint64_t gap, uint32_t to, uint64_t seed,
				struct fors_program **program, struct fors_error *error);
void fors_program_free(struct fors_program *program);

static inline size_t fors_program_nmessages(const struct fors_program *program)
{
	return program->first[program->nservers];
}

#endif
