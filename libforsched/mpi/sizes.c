/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all ranks together want to send. A rank knows its own row and column: how much it sends to each, and how much it
 * gets. A reduction to rank 0 makes of that
 *
 * - the longest message, and the bytes of the rank that sends or receives most;
 * - where messages may be cut: the least common multiple of the sizes of all types in use; and whether any rank has no
 *   room for chunks, or all are in place: then there are none;
 * - whether each rank sends what the other expects: each adds a number made of (from, to, bytes) for what it sends, and
 *   takes away the same for what it gets, so the sum is 0. MPI demands that, and some programs make it so only nearly.
 *   Chunks need it, and nothing else does;
 * - how long the last call took, on the rank that was done last, and the asking before it, on the rank that waited longest.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNIT ((uint64_t)1 << 24) /* bytes; messages that may only be cut at more are not cut at all */

/* The numbers: two with a rule of their own, and those of which the largest counts. */
enum { CHECK, UNIT, LONGEST, RANK, TOOK, ASKING, IS_WHOLE, NNUMBERS };

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

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void lift(uint64_t *largest, uint64_t other)
{
	*largest = *largest > other ? *largest : other;
}

/* As MPI calls it: an element is all numbers of a rank. */
static void join(void *more, void *all, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++) {
		const uint64_t *one = (const uint64_t *)more + (size_t)i * NNUMBERS;
		uint64_t *sum = (uint64_t *)all + (size_t)i * NNUMBERS;

		sum[CHECK] += one[CHECK];
		sum[UNIT] = multiple(sum[UNIT], one[UNIT]);
		for (int number = LONGEST; number < NNUMBERS; number++)
			lift(&sum[number], one[number]);
	}
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static MPI_Op op = MPI_OP_NULL;
static MPI_Datatype numbers = MPI_DATATYPE_NULL;

static void make_op(void)
{
	PMPI_Op_create(join, true, &op);
	if (!PMPI_Type_contiguous(NNUMBERS, MPI_UINT64_T, &numbers))
		PMPI_Type_commit(&numbers);
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

/* One side: what this rank sends, or what it receives; the sum of it. */
static uint64_t measure_side(const struct member *member, const struct side *side, bool is_out, uint64_t *number)
{
	struct scale scale = {MPI_DATATYPE_NULL, 0};
	uint64_t sum = 0;

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);
		uint64_t bytes = rank == member->rank ? 0 : bytes_of(&block, &scale);

		number[CHECK] += block.count < 0; /* wrong: MPI has to see it */
		if (!bytes)
			continue;
		number[CHECK] += is_out ? mark(member->rank, rank, bytes) : -mark(rank, member->rank, bytes);
		limit_unit(&number[UNIT], &scale);
		add(&sum, bytes);
		if (is_out)
			lift(&number[LONGEST], bytes);
	}
	return sum;
}

/* In place messages are packed before they are sent, and not in chunks. */
static void measure(struct member *member, const struct call *call, uint64_t *number)
{
	memset(number, 0, NNUMBERS * sizeof(*number));
	number[UNIT] = 1;
	number[TOOK] = (uint64_t)(member->took * 1e9);
	number[ASKING] = (uint64_t)(member->asking * 1e9);
	number[IS_WHOLE] = !call->send || !forsched_mpi_can_chunk(member);
	lift(&number[RANK], measure_side(member, call->send ? call->send : call->recv, true, number));
	lift(&number[RANK], measure_side(member, call->recv, false, number));
}

uint64_t forsched_mpi_uniform_bytes(const struct call *call)
{
	return (uint64_t)call->recv->count * forsched_mpi_size_of(call->recv->type);
}

/* ---- all of it ---- */

static struct heard what_all_say(const uint64_t *all)
{
	struct heard heard = {
		.is_even = all[CHECK] == 0, .took = (double)all[TOOK] * 1e-9, .asking = (double)all[ASKING] * 1e-9};

	heard.sizes = (struct sizes){.longest = all[LONGEST],
				     .rank = all[RANK],
				     .is_whole = all[IS_WHOLE] > 0,
				     .unit = heard.is_even ? all[UNIT] : 0};
	return heard;
}

int forsched_mpi_weigh(struct member *member, MPI_Comm comm, const struct call *call, struct heard *heard)
{
	uint64_t mine[NNUMBERS], all[NNUMBERS] = {0};
	int err;

	pthread_once(&once, make_op);
	measure(member, call, mine);
	member->took = 0;
	err = PMPI_Reduce(mine, all, 1, numbers, op, 0, comm);
	if (!err && member->rank == 0)
		*heard = what_all_say(all);
	return err;
}
