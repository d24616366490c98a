/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reshape.c - the same exchange in another form: several ranks on a server, unequal sizes, chunks.
 *
 * The size of a message hangs on who sends it to whom and on the seed alone, so all ways of waiting are compared with the
 * same sizes.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define MOST_TIMES 64 /* the mean: the largest message */

/* ---- several ranks ---- */

/* Room for the ranks of all servers in a program that is new. */
static enum fors_err give_ranks(struct fors_program *p, uint32_t nranks, struct fors_error *error)
{
	size_t *first = calloc((size_t)p->nservers * nranks + 1, sizeof(*first));

	if (!first)
		return fors_fail_memory(error);
	free(p->first);
	p->first = first;
	p->nranks = nranks;
	return FORS_OK;
}

/* What rank i of a server sends, behind the n-th message; where it ends. */
static size_t write_rank(const struct fors_program *from, uint32_t s, uint32_t i, struct fors_program *p, size_t n)
{
	for (size_t m = from->first[s]; m < from->first[s + 1]; m++)
		for (uint32_t k = 0; k < p->nranks; k++) {
			p->send[n] = from->send[m];
			p->send[n++].local = (uint8_t)((i + k) % p->nranks);
		}
	return n;
}

enum fors_err fors_program_share(const struct fors_program *from, uint32_t nranks, struct fors_program **program,
				 struct fors_error *error)
{
	size_t squares = (size_t)nranks * nranks, n = 0;
	struct fors_program *p = NULL;
	enum fors_err err =
		fors_program_new(from->nservers, from->nsteps, fors_program_nmessages(from) * squares, &p, error);

	if (!err)
		err = give_ranks(p, nranks, error);
	for (uint32_t r = 0; !err && r < from->nservers * nranks; r++)
		p->first[r + 1] = n = write_rank(from, r / nranks, r % nranks, p, n);
	for (uint32_t step = 0; !err && step < from->nsteps; step++) {
		p->phase[step] = from->phase[step];
		p->count[step] = from->count[step] * (uint32_t)squares;
	}
	if (err)
		fors_program_free(p);
	else
		*program = p;
	return err;
}

/* ---- sizes ---- */

/* In (0, 1]. */
static double part(struct fors_random *random)
{
	return (double)((fors_random_next(random) >> 11) + 1) / 9007199254740992.;
}

/* Box and Muller. */
static double lognormal(struct fors_random *random, double sigma)
{
	double radius = sqrt(-2 * log(part(random))), angle = 2 * M_PI * part(random);

	return exp(sigma * radius * cos(angle) - sigma * sigma / 2);
}

static uint64_t size_of(uint64_t from, uint64_t to, double sigma, uint64_t mean, uint64_t seed)
{
	struct fors_random random = {fors_random_of(seed ^ fors_random_of(from << 32 | to))};
	double times = lognormal(&random, sigma), bytes = (double)mean * fmin(times, MOST_TIMES);

	return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

enum fors_err fors_program_vary(struct fors_program *program, double sigma, uint64_t mean, uint64_t seed,
				struct fors_error *error)
{
	uint64_t *size = calloc(fors_program_nmessages(program) + 1, sizeof(*size));

	if (!size)
		return fors_fail_memory(error);
	for (uint32_t r = 0; r < program->nservers * program->nranks; r++)
		for (size_t i = program->first[r]; i < program->first[r + 1]; i++) {
			const struct fors_send *send = &program->send[i];

			size[i] = size_of(r, (uint64_t)send->dst * program->nranks + send->local, sigma, mean, seed);
		}
	free(program->size);
	program->size = size;
	return FORS_OK;
}

/* ---- chunks ---- */

static uint64_t chunks_of(const struct fors_program *from, size_t i, uint64_t message, uint64_t chunk)
{
	uint64_t size = fors_program_size(from, i, message);

	return (size + chunk - 1) / chunk;
}

/* Chunks of all messages, up to more than there may be. */
static uint64_t count_chunks(const struct fors_program *from, uint64_t message, uint64_t chunk)
{
	uint64_t n = 0;

	for (size_t i = 0; i < fors_program_nmessages(from) && n < FORS_NONE; i++)
		n += chunks_of(from, i, message, chunk);
	return n;
}

/* One chunk of each message that has so many; behind the n-th. */
static size_t write_round(const struct fors_program *from, uint32_t r, uint64_t round, const uint64_t bytes[2],
			  struct fors_program *p, size_t n)
{
	for (size_t i = from->first[r]; i < from->first[r + 1]; i++) {
		uint64_t size = fors_program_size(from, i, bytes[0]), begun = round * bytes[1];

		if (begun >= size)
			continue;
		p->send[n] = from->send[i];
		p->send[n].step = 0;
		p->size[n++] = size - begun < bytes[1] ? size - begun : bytes[1];
	}
	return n;
}

static void write_chunks(const struct fors_program *from, const uint64_t bytes[2], struct fors_program *p)
{
	size_t n = 0;

	for (uint32_t r = 0; r < from->nservers * from->nranks; r++) {
		size_t before;
		uint64_t round = 0;

		do {
			before = n;
			n = write_round(from, r, round++, bytes, p, n);
		} while (n > before);
		p->first[r + 1] = n;
	}
	p->count[0] = (uint32_t)n;
}

enum fors_err fors_program_cut(const struct fors_program *from, uint64_t message, uint64_t chunk,
			       struct fors_program **program, struct fors_error *error)
{
	const uint64_t bytes[2] = {message, chunk};
	uint64_t n = count_chunks(from, message, chunk);
	struct fors_program *p = NULL;
	enum fors_err err = fors_program_new(from->nservers, 1, n, &p, error);

	if (!err)
		err = give_ranks(p, from->nranks, error);
	if (!err)
		p->size = calloc(n + 1, sizeof(*p->size));
	if (!err && !p->size)
		err = fors_fail_memory(error);
	if (err) {
		fors_program_free(p);
		return err;
	}
	write_chunks(from, bytes, p);
	*program = p;
	return FORS_OK;
}
