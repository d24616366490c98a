/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program.c - patterns and random load as lists of messages by server.
 *
 * A pattern is walked twice: once to count what each server sends, once to write it down. Phases come in their order,
 * so the list of each server is in order without sorting.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define MAX_MESSAGES ((size_t)1 << 27)

static bool is_sent(struct fors_pair pair)
{
	return pair.dst != FORS_NONE && pair.dst != pair.src;
}

enum fors_err fors_program_new(uint32_t nservers, uint32_t nsteps, size_t nmessages, struct fors_program **program,
			       struct fors_error *error)
{
	struct fors_program *p = nmessages > MAX_MESSAGES ? NULL : calloc(1, sizeof(*p));

	if (nmessages > MAX_MESSAGES)
		return fors_fail(error, FORS_ELIMIT, "%zu messages are more than can be simulated, %zu", nmessages,
				 MAX_MESSAGES);
	if (!p)
		return fors_fail_memory(error);
	p->nservers = nservers;
	p->nsteps = nsteps;
	p->nranks = 1;
	p->first = calloc(nservers + (size_t)1, sizeof(*p->first));
	p->send = calloc(nmessages + 1, sizeof(*p->send));
	p->phase = calloc(nsteps + (size_t)1, sizeof(*p->phase));
	p->count = calloc(nsteps + (size_t)1, sizeof(*p->count));
	if (!p->first || !p->send || !p->phase || !p->count) {
		fors_program_free(p);
		return fors_fail_memory(error);
	}
	*program = p;
	return FORS_OK;
}

void fors_program_free(struct fors_program *program)
{
	if (!program)
		return;
	free(program->first);
	free(program->send);
	free(program->phase);
	free(program->count);
	free(program->at);
	free(program->size);
	free(program);
}

/* ---- of a pattern ---- */

/* Messages of a phase, counted to their servers too. */
static uint32_t count_phase(const struct fors_pattern *pattern, uint32_t phase, size_t *by_server)
{
	size_t n = fors_pattern_npairs(pattern, phase);
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, phase, i);

		if (!is_sent(pair))
			continue;
		by_server[pair.src]++;
		found++;
	}
	return found;
}

static void write_phase(const struct fors_pattern *pattern, uint32_t phase, uint32_t step, struct fors_program *p,
			size_t *cursor)
{
	size_t n = fors_pattern_npairs(pattern, phase);

	for (size_t i = 0; i < n; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, phase, i);

		if (is_sent(pair))
			p->send[cursor[pair.src]++] = (struct fors_send){pair.dst, step, (uint16_t)pair.path, 0, 0};
	}
	p->phase[step] = phase;
}

/* cursor: messages of each server, on entry. */
static void write_program(const struct fors_pattern *pattern, const uint32_t *in_phase, struct fors_program *p,
			  size_t *cursor)
{
	uint32_t step = 0;

	for (uint32_t s = 0; s < p->nservers; s++) {
		p->first[s + 1] = p->first[s] + cursor[s];
		cursor[s] = p->first[s];
	}
	for (uint32_t phase = 0; phase < fors_pattern_nphases(pattern); phase++)
		if (in_phase[phase]) {
			p->count[step] = in_phase[phase];
			write_phase(pattern, phase, step++, p, cursor);
		}
}

enum fors_err fors_program_of(const struct fors_pattern *pattern, uint32_t nservers, struct fors_program **program,
			      struct fors_error *error)
{
	uint32_t nphases = fors_pattern_nphases(pattern), nsteps = 0;
	size_t *by_server = calloc(nservers + (size_t)1, sizeof(*by_server)), nmessages = 0;
	uint32_t *in_phase = calloc(nphases + (size_t)1, sizeof(*in_phase));
	enum fors_err err = by_server && in_phase ? FORS_OK : fors_fail_memory(error);

	for (uint32_t phase = 0; phase < nphases && !err; phase++) {
		in_phase[phase] = count_phase(pattern, phase, by_server);
		nmessages += in_phase[phase];
		nsteps += in_phase[phase] > 0;
	}
	if (!err)
		err = fors_program_new(nservers, nsteps, nmessages, program, error);
	if (!err)
		write_program(pattern, in_phase, *program, by_server);
	free(by_server);
	free(in_phase);
	return err;
}

/* What all servers send in a phase; cursor: the next message of each. */
static void size_phase(const struct fors_pattern *pattern, uint32_t phase, uint64_t factor, size_t *cursor,
		       uint64_t *size)
{
	size_t n = fors_pattern_npairs(pattern, phase);

	for (size_t i = 0; i < n; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, phase, i);

		if (is_sent(pair))
			size[cursor[pair.src]++] = fors_pattern_bytes(pattern, phase, i) * factor;
	}
}

enum fors_err fors_program_resize(struct fors_program *program, const struct fors_pattern *pattern, uint64_t message,
				  struct fors_error *error)
{
	uint64_t *size, factor = fors_pattern_is_unit(pattern) ? message : 1;
	size_t *cursor;

	if (!fors_pattern_has_sizes(pattern))
		return FORS_OK;
	size = calloc(fors_program_nmessages(program) + 1, sizeof(*size));
	cursor = malloc((program->nservers + (size_t)1) * sizeof(*cursor));
	if (!size || !cursor) {
		free(size);
		free(cursor);
		return fors_fail_memory(error);
	}
	memcpy(cursor, program->first, program->nservers * sizeof(*cursor));
	for (uint32_t phase = 0; phase < fors_pattern_nphases(pattern); phase++)
		size_phase(pattern, phase, factor, cursor, size);
	free(cursor);
	free(program->size);
	program->size = size;
	return FORS_OK;
}

/* ---- random load ---- */

/*
 * -log2 of a random number of (0, 1], times 2^32: its whole part are leading zeros; bits of the fraction come by
 * squaring (the number in [1, 2) is squared; when that is 2 or more the bit is 1, and it is halved). The same on every
 * machine.
 */
static uint64_t minus_log2(uint64_t x)
{
	unsigned zeros = x ? (unsigned)__builtin_clzll(x) : 63;
	uint64_t y = (x | 1) << zeros >> 32, fraction = 0; /* 2^31 <= y < 2^32: [1, 2) */

	for (int bit = 0; bit < 32; bit++) {
		y = y * y >> 31;
		fraction = fraction << 1 | y >> 32;
		y >>= y >> 32;
	}
	return ((uint64_t)(zeros + 1) << 32) - fraction;
}

/* Exponential, on average `mean` (below 2^40); at most 44 times that. ln 2 = 45426 / 65536. */
static uint64_t random_gap(struct fors_random *random, uint64_t mean)
{
	uint64_t nats = (minus_log2(fors_random_next(random)) >> 16) * 45426 >> 16; /* times 2^16 */

	return nats * mean >> 16;
}

static uint32_t other_server(struct fors_random *random, uint32_t nservers, uint32_t self)
{
	uint32_t other = fors_random_below(random, nservers - 1);

	return other + (other >= self);
}

static void write_load(struct fors_program *p, uint32_t count, uint64_t gap, uint32_t to, struct fors_random random)
{
	size_t n = 0;

	for (uint32_t s = 0; s < p->nservers; s++) {
		uint64_t time = 0;

		for (uint32_t i = 0; i < count && s != to; i++, n++) {
			p->at[n] = time += random_gap(&random, gap);
			p->send[n].dst = to != FORS_NONE ? to : other_server(&random, p->nservers, s);
		}
		p->first[s + 1] = n;
	}
	p->count[0] = (uint32_t)n;
}

/* A program in one step, with a time for each message. */
static enum fors_err new_load(uint32_t nservers, size_t nmessages, struct fors_program **program,
			      struct fors_error *error)
{
	struct fors_program *p = NULL;
	enum fors_err err = fors_program_new(nservers, 1, nmessages, &p, error);

	if (err)
		return err;
	p->at = calloc(nmessages + 1, sizeof(*p->at));
	if (!p->at) {
		fors_program_free(p);
		return fors_fail_memory(error);
	}
	*program = p;
	return FORS_OK;
}

enum fors_err fors_program_load(uint32_t nservers, uint32_t count, uint64_t gap, uint32_t to, uint64_t seed,
				struct fors_program **program, struct fors_error *error)
{
	size_t nmessages = (size_t)nservers * count;
	struct fors_program *p = NULL;
	enum fors_err err;

	if (nservers < 2)
		return fors_fail(error, FORS_EINPUT, "random load needs two servers");
	err = new_load(nservers, nmessages, &p, error);
	if (err)
		return err;
	write_load(p, count, gap, to, (struct fors_random){seed});
	*program = p;
	return FORS_OK;
}

static uint32_t nsends(const struct fors_program *program, uint32_t server)
{
	return (uint32_t)(program->first[server + 1] - program->first[server]);
}

/* The messages of a server into p, if it has room for them (at); how many. */
static size_t offer_one(const struct fors_program *from, uint32_t s, const struct fors_offer *offer,
			struct fors_random *random, struct fors_program *p, size_t n)
{
	uint32_t choice = nsends(from, s);
	uint64_t time = offer->begin;
	size_t i = 0;

	for (; choice && (offer->end ? i <= MAX_MESSAGES : i < offer->count); i++) {
		uint32_t which;

		time += random_gap(random, offer->gap);
		if (offer->end && time >= offer->end)
			break;
		which = fors_random_below(random, choice);
		if (!p)
			continue;
		p->at[n + i] = time;
		p->send[n + i] = from->send[from->first[s] + which];
		p->send[n + i].step = 0;
	}
	return i;
}

/* Walked twice: to count, p NULL, and to write. */
static size_t offer_all(const struct fors_program *from, const struct fors_offer *offer, struct fors_random random,
			struct fors_program *p)
{
	size_t n = 0;

	for (uint32_t s = 0; s < from->nservers && n <= MAX_MESSAGES; s++) {
		n += offer_one(from, s, &offer[s], &random, p, n);
		if (p)
			p->first[s + 1] = n;
	}
	return n;
}

/* Those of servers whose number is known before: as many there are at least, without walking. */
static uint64_t count_known(const struct fors_program *from, const struct fors_offer *offer)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < from->nservers; s++)
		n += nsends(from, s) && !offer[s].end ? offer[s].count : 0;
	return n;
}

enum fors_err fors_program_offer(const struct fors_program *from, const struct fors_offer *offer, uint64_t seed,
				 struct fors_program **program, struct fors_error *error)
{
	const struct fors_random random = {seed};
	struct fors_program *p = NULL;
	uint64_t n = count_known(from, offer);
	enum fors_err err;

	if (n <= MAX_MESSAGES)
		n = offer_all(from, offer, random, NULL);
	err = new_load(from->nservers, n, &p, error);
	if (err)
		return err;
	p->count[0] = (uint32_t)offer_all(from, offer, random, p);
	*program = p;
	return FORS_OK;
}
