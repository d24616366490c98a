/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all ranks together want to send. A rank knows its own row and column: how much it sends to each, and how much it
 * gets. One reduction to rank 0 makes of that
 *
 * - the longest message, and the bytes of the fullest port: what any way takes at least;
 * - the longest message of each phase, in at most GROUPS groups of phases that follow each other: the sum over the groups
 *   of their longest message, times their phases, is what phases with barriers wait for. That is exact up to GROUPS
 *   phases, and else too much by a little where sizes differ by a little;
 * - where messages may be cut: the least common multiple of the sizes of all types in use;
 * - whether each rank sends what the other expects: each adds a number made of (from, to, bytes) for what it sends, and
 *   takes away the same for what it gets, so the sum is 0. MPI demands that, and some programs make it so only nearly.
 *   Chunks need it, and nothing else does;
 * - how long the last call took, on the rank that was done last.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 64
#define MAX_UNIT ((uint64_t)1 << 24) /* bytes; messages that may only be cut at more are not cut at all */

/* The numbers: two with a rule of their own, then those of which the largest counts. */
enum { CHECK, UNIT, LARGEST, LONGEST = LARGEST, PORT, TOOK, FIRST_GROUP };

/* ---- the reduction ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Both are at most MAX_UNIT. 0: too much, or not at all. */
static uint64_t multiple(uint64_t a, uint64_t b)
{
	uint64_t both = a && b ? a / divisor(a, b) * b : 0;

	return both <= MAX_UNIT ? both : 0;
}

static void join(const uint64_t *more, uint64_t *all, uint32_t length)
{
	all[CHECK] += more[CHECK];
	all[UNIT] = multiple(all[UNIT], more[UNIT]);
	for (uint32_t i = LARGEST; i < length; i++)
		all[i] = all[i] > more[i] ? all[i] : more[i];
}

/* As MPI calls it: an element is the whole vector. */
static void join_vectors(void *more, void *all, int *count, MPI_Datatype *type)
{
	uint32_t length = (uint32_t)(forsched_mpi_size_of(*type) / sizeof(uint64_t));

	for (int i = 0; i < *count; i++)
		join((uint64_t *)more + (size_t)i * length, (uint64_t *)all + (size_t)i * length, length);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static MPI_Op joining = MPI_OP_NULL;

static void make_op(void)
{
	PMPI_Op_create(join_vectors, true, &joining);
}

static int make_vector(struct member *member)
{
	int err;

	if (member->vector != MPI_DATATYPE_NULL)
		return MPI_SUCCESS;
	member->length = FIRST_GROUP + member->ngroups;
	err = PMPI_Type_contiguous((int)member->length, MPI_UINT64_T, &member->vector);
	return err ? err : PMPI_Type_commit(&member->vector);
}

/* ---- a rank's own part ---- */

uint64_t forsched_mpi_size_of(MPI_Datatype type)
{
	MPI_Count size = 0;

	if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) || size < 0)
		return 0;
	return (uint64_t)size;
}

/* Types come in rows of the same: the size of the last one is remembered. */
struct scale {
	MPI_Datatype type;
	uint64_t size;
};

static uint64_t bytes_of(const struct block *block, struct scale *scale)
{
	uint64_t bytes;

	if (block->count <= 0)
		return 0;
	if (block->type != scale->type)
		*scale = (struct scale){block->type, forsched_mpi_size_of(block->type)};
	return __builtin_mul_overflow(scale->size, (uint64_t)block->count, &bytes) ? UINT64_MAX : bytes;
}

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void lift(uint64_t *largest, uint64_t other)
{
	*largest = *largest > other ? *largest : other;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t mark(int from, int to, uint64_t bytes)
{
	return mix(bytes ^ mix((uint64_t)from << 32 | (uint64_t)to));
}

static void limit_unit(uint64_t *unit, const struct scale *scale)
{
	*unit = multiple(*unit, scale->size <= MAX_UNIT ? scale->size : 0);
}

static void measure_out(const struct member *member, const struct side *side, uint64_t *vector)
{
	struct scale scale = {MPI_DATATYPE_NULL, 0};
	uint64_t sum = 0;

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);
		uint64_t bytes = rank == member->rank ? 0 : bytes_of(&block, &scale);

		if (!bytes)
			continue;
		vector[CHECK] += mark(member->rank, rank, bytes);
		add(&sum, bytes);
		limit_unit(&vector[UNIT], &scale);
		lift(&vector[LONGEST], bytes);
		if (member->ngroups)
			lift(&vector[FIRST_GROUP + member->group_of[rank]], bytes);
	}
	lift(&vector[PORT], sum);
}

static void measure_in(const struct member *member, const struct side *side, uint64_t *vector)
{
	struct scale scale = {MPI_DATATYPE_NULL, 0};
	uint64_t sum = 0;

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);
		uint64_t bytes = rank == member->rank ? 0 : bytes_of(&block, &scale);

		if (!bytes)
			continue;
		vector[CHECK] -= mark(rank, member->rank, bytes);
		add(&sum, bytes);
		limit_unit(&vector[UNIT], &scale);
	}
	lift(&vector[PORT], sum);
}

/* In place messages are packed, and what is packed is not cut. */
static void measure(struct member *member, const struct call *call, uint64_t *vector)
{
	bool may_cut = call->send && forsched_mpi_can_chunk(member);

	memset(vector, 0, member->length * sizeof(*vector));
	vector[UNIT] = may_cut ? 1 : 0;
	vector[TOOK] = (uint64_t)(member->took * 1e9);
	measure_out(member, call->send ? call->send : call->recv, vector);
	measure_in(member, call->recv, vector);
}

uint64_t forsched_mpi_uniform_bytes(const struct call *call)
{
	return (uint64_t)call->recv->count * forsched_mpi_size_of(call->recv->type);
}

/* ---- groups of phases ---- */

static uint32_t group_of_phase(const struct member *member, uint32_t phase)
{
	return (uint32_t)((uint64_t)phase * member->ngroups / forsched_nphases(member->schedule));
}

int forsched_mpi_group(struct member *member)
{
	uint32_t nphases = forsched_nphases(member->schedule);
	struct forsched_flow flow;

	member->ngroups = nphases < GROUPS ? nphases : GROUPS;
	for (uint32_t phase = 0; phase < nphases; phase++) {
		if (forsched_flow(member->schedule, member->me, phase, &flow))
			return MPI_ERR_INTERN;
		if (flow.to != FORSCHED_NOBODY)
			member->group_of[member->rank_of[flow.to]] = (uint16_t)group_of_phase(member, phase);
	}
	return MPI_SUCCESS;
}

static uint64_t sum_turns(const struct member *member, const uint64_t *vector)
{
	uint32_t nphases = member->ngroups ? forsched_nphases(member->schedule) : 0;
	uint64_t sum = 0;

	for (uint32_t phase = 0; phase < nphases; phase++)
		add(&sum, vector[FIRST_GROUP + group_of_phase(member, phase)]);
	return sum;
}

/* ---- all of it ---- */

int forsched_mpi_weigh(struct member *member, MPI_Comm comm, const struct call *call, struct heard *heard)
{
	uint64_t mine[FIRST_GROUP + GROUPS], all[FIRST_GROUP + GROUPS] = {0};
	int err = make_vector(member);

	pthread_once(&once, make_op);
	if (err)
		return err;
	measure(member, call, mine);
	member->took = 0;
	err = PMPI_Reduce(mine, all, 1, member->vector, joining, 0, comm);
	if (err || member->rank)
		return err;
	heard->is_even = all[CHECK] == 0;
	heard->took = (double)all[TOOK] * 1e-9;
	heard->demand = (struct demand){.longest = all[LONGEST],
					.port = all[PORT],
					.turns = sum_turns(member, all),
					.unit = heard->is_even ? all[UNIT] : 0};
	return MPI_SUCCESS;
}
