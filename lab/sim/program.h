/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program.h - what each server sends, in which order: the workload of a simulation.
 *
 * A pattern in phases becomes one list of messages per server. Phases in which nobody sends are left out; the others
 * are numbered through, and are called steps. A server without a message in a step is idle in it.
 *
 * Thread rules: plain data once made; any number of simulations may run it.
 */
#ifndef FORS_LAB_SIM_PROGRAM_H
#define FORS_LAB_SIM_PROGRAM_H

#include "lab/model/patterns/pattern.h"

struct fors_send {
	uint32_t dst;  /* server */
	uint32_t step; /* never smaller than that of the one before */
	uint16_t path; /* path index */
	uint8_t vl;    /* virtual lane */
	uint8_t local; /* which of the ranks of dst it is for */
};

#define FORS_MOST_RANKS 64 /* of a server */

struct fors_program {
	uint32_t nservers, nsteps;
	uint32_t
		nranks; /* of each server, 1 but for fors_program_share(); rank i of server s has number s nranks + i */
	size_t *first;	/* nservers nranks + 1: rank r sends send[first[r]] .. send[first[r + 1] - 1], in this order */
	struct fors_send *send; /* first[nservers nranks] of them */
	uint32_t *phase;	/* nsteps: the phase of the pattern */
	uint32_t *count;	/* nsteps: messages */
	uint64_t *at;		/* NULL, or for each message the time before which it does not exist, ps */
	uint64_t *size;		/* NULL, or for each message its bytes, > 0; else all have those of the settings */
};

/* A program without messages; owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_program_new(uint32_t nservers, uint32_t nsteps, size_t nmessages, struct fors_program **program,
			       struct fors_error *error);

/*
 * The program of a pattern in *program, owned by the caller; all on virtual lane 0. Errors: FORS_ELIMIT (more than 2^27
 * messages), FORS_ENOMEM.
 */
enum fors_err fors_program_of(const struct fors_pattern *pattern, uint32_t nservers, struct fors_program **program,
			      struct fors_error *error);

/*
 * The messages of the program of a pattern with sizes get these; where it counts messages of one size, times `message`. Others stay as they are. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_program_resize(struct fors_program *program, const struct fors_pattern *pattern, uint64_t message,
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

/* ---- reshape.c: the same exchange in another form; programs without times (at NULL) ---- */

/*
 * Each server has nranks ranks (1..FORS_MOST_RANKS): a message from server to server becomes one from each rank of the
 * one to each rank of the other, each as long as it was. Rank i begins with rank i of the other server and goes on in a
 * circle. Of a program with one rank for each server, without sizes. Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_program_share(const struct fors_program *from, uint32_t nranks, struct fors_program **program,
				 struct fors_error *error);
/*
 * Messages get sizes: lognormal, `mean` bytes on average, sigma of the logarithm; a message from one rank to another has
 * the same size in each program that has this seed. At least 1 byte, at most 64 times the mean. Errors: FORS_ENOMEM.
 */
enum fors_err fors_program_vary(struct fors_program *program, double sigma, uint64_t mean, uint64_t seed,
				struct fors_error *error);
/*
 * In chunks: each rank sends a chunk of each of its messages in turn, in the order of `from`, then the next chunk of each
 * that has more. `message`: bytes of messages where the program has no sizes. All are in one step. Errors: FORS_ELIMIT,
 * FORS_ENOMEM.
 */
enum fors_err fors_program_cut(const struct fors_program *from, uint64_t message, uint64_t chunk,
			       struct fors_program **program, struct fors_error *error);

static inline size_t fors_program_nmessages(const struct fors_program *program)
{
	return program->first[(size_t)program->nservers * program->nranks];
}

/* Bytes of message i, where those without a size have `message`. */
static inline uint64_t fors_program_size(const struct fors_program *program, size_t i, uint64_t message)
{
	return program->size ? program->size[i] : message;
}

#endif
