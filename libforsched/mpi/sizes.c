/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all ranks together want to send. A rank knows its own row and column: how much it sends to each, and how much it
 * gets. A reduction to rank 0 makes of that
 *
 * - the longest message, and the bytes of the fullest port: what any way takes at least;
 * - the bytes of the fullest port in each phase, in at most GROUPS groups of phases that follow each other: the sum over
 *   the groups of their most bytes, times their phases, is what phases with barriers wait for. That is exact up to GROUPS
 *   phases, and else too much by a little where sizes differ by a little;
 * - where messages may be cut: the least common multiple of the sizes of all types in use; and whether any rank has no
 *   room for chunks, or all are in place: then there are none;
 * - under the schedule of a demand the largest ratio of a server's message to that of the demand (portions.c);
 * - whether each rank sends what the other expects: each adds a number made of (from, to, bytes) for what it sends, and
 *   takes away the same for what it gets, so the sum is 0. MPI demands that, and some programs make it so only nearly.
 *   Chunks and the schedule of a demand need it, and nothing else does;
 * - how long the last call took, on the rank that was done last.
 *
 * A port is a server's. Where servers have several ranks these add up what they have, and the first of each tells rank 0:
 * two reductions, the first one inside servers. Messages inside a server take no port. As long as no schedule says
 * where ranks are, each counts as a server of its own.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNIT ((uint64_t)1 << 24) /* bytes; messages that may only be cut at more are not cut at all */

/*
 * The numbers: two with a rule of their own, three of which the largest counts, and those of ports, which are added inside a
 * server, and of which the largest counts elsewhere.
 */
enum { CHECK, UNIT, LONGEST, TOOK, IS_WHOLE, OUT, FIRST_OF_PORT = OUT, IN, RATIO, FIRST_GROUP };

_Static_assert(FIRST_GROUP + GROUPS <= MOST_NUMBERS, "there is room for all numbers");

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

static void join(const uint64_t *more, uint64_t *all, uint32_t length, bool is_within)
{
	all[CHECK] += more[CHECK];
	all[UNIT] = multiple(all[UNIT], more[UNIT]);
	lift(&all[LONGEST], more[LONGEST]);
	lift(&all[TOOK], more[TOOK]);
	lift(&all[IS_WHOLE], more[IS_WHOLE]);
	for (uint32_t i = FIRST_OF_PORT; i < length; i++)
		(is_within ? add : lift)(&all[i], more[i]);
}

/* As MPI calls it: an element is the whole vector. */
static void join_vectors(uint64_t *more, uint64_t *all, int count, MPI_Datatype type, bool is_within)
{
	uint32_t length = (uint32_t)(forsched_mpi_size_of(type) / sizeof(uint64_t));

	for (int i = 0; i < count; i++)
		join(more + (size_t)i * length, all + (size_t)i * length, length, is_within);
}

static void join_servers(void *more, void *all, int *count, MPI_Datatype *type)
{
	join_vectors(more, all, *count, *type, false);
}

static void join_ranks(void *more, void *all, int *count, MPI_Datatype *type)
{
	join_vectors(more, all, *count, *type, true);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static MPI_Op across_servers = MPI_OP_NULL, within_server = MPI_OP_NULL;

static void make_ops(void)
{
	PMPI_Op_create(join_servers, true, &across_servers);
	PMPI_Op_create(join_ranks, true, &within_server);
}

void forsched_mpi_drop_vector(struct member *member)
{
	if (member->vector != MPI_DATATYPE_NULL)
		PMPI_Type_free(&member->vector);
	member->vector = MPI_DATATYPE_NULL;
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

/* Does a message to or from another rank take no port? */
static bool is_within(const struct member *member, int rank)
{
	return member->is_following && member->places.at[rank] == member->me;
}

static void measure_out(const struct member *member, const struct side *side, uint64_t *vector)
{
	struct scale scale = {MPI_DATATYPE_NULL, 0};

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);
		uint64_t bytes = rank == member->rank ? 0 : bytes_of(&block, &scale);

		vector[CHECK] += block.count < 0; /* wrong: MPI has to see it */
		if (!bytes)
			continue;
		vector[CHECK] += mark(member->rank, rank, bytes);
		limit_unit(&vector[UNIT], &scale);
		lift(&vector[LONGEST], bytes);
		if (is_within(member, rank))
			continue;
		add(&vector[OUT], bytes);
		if (member->ngroups)
			add(&vector[FIRST_GROUP + member->group_of[rank]], bytes);
		if (member->portions.nphases)
			add(&member->portions.wanted[member->places.at[rank]], bytes);
	}
}

static void measure_in(const struct member *member, const struct side *side, uint64_t *vector)
{
	struct scale scale = {MPI_DATATYPE_NULL, 0};

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);
		uint64_t bytes = rank == member->rank ? 0 : bytes_of(&block, &scale);

		vector[CHECK] += block.count < 0;
		if (!bytes)
			continue;
		vector[CHECK] -= mark(rank, member->rank, bytes);
		limit_unit(&vector[UNIT], &scale);
		if (!is_within(member, rank))
			add(&vector[IN], bytes);
	}
}

/* In place messages are packed before they are sent, and not in chunks. */
static void measure(struct member *member, const struct call *call, uint64_t *vector)
{
	struct portions *portions = &member->portions;

	memset(vector, 0, member->length * sizeof(*vector));
	if (portions->nphases)
		memset(portions->wanted, 0, member->places.n * sizeof(*portions->wanted));
	vector[UNIT] = 1;
	vector[TOOK] = (uint64_t)(member->took * 1e9);
	vector[IS_WHOLE] = !call->send || !forsched_mpi_can_chunk(member);
	measure_out(member, call->send ? call->send : call->recv, vector);
	measure_in(member, call->recv, vector);
	if (portions->nphases)
		vector[RATIO] = call->is_uniform ? NO_RATIO : forsched_mpi_ratio(portions, member->places.n);
}

uint64_t forsched_mpi_uniform_bytes(const struct call *call)
{
	return (uint64_t)call->recv->count * forsched_mpi_size_of(call->recv->type);
}

/* ---- groups of phases ---- */

static uint32_t group_of_phase(const struct member *member, uint32_t phase)
{
	return (uint32_t)((uint64_t)phase * member->ngroups / member->turns.n);
}

void forsched_mpi_group(struct member *member)
{
	const struct turns *turns = &member->turns;

	member->ngroups = turns->n < GROUPS ? turns->n : GROUPS;
	for (uint32_t phase = 0; phase < turns->n; phase++)
		for (uint32_t i = turns->out_first[phase]; i < turns->out_first[phase + 1]; i++)
			member->group_of[turns->out[i]] = (uint16_t)group_of_phase(member, phase);
}

static uint64_t sum_turns(const struct member *member, const uint64_t *vector)
{
	uint64_t sum = 0;

	for (uint32_t phase = 0; member->ngroups && phase < member->turns.n; phase++)
		add(&sum, vector[FIRST_GROUP + group_of_phase(member, phase)]);
	return sum;
}

/* ---- all of it ---- */

/* *all is written on rank 0 only, which is the first of its server. */
static int reduce(const struct member *member, MPI_Comm comm, const uint64_t *mine, uint64_t *all)
{
	uint64_t ours[FIRST_GROUP + GROUPS] = {0};
	int err;

	if (!member->is_following || member->within == MPI_COMM_NULL)
		return PMPI_Reduce(mine, all, 1, member->vector, across_servers, 0, comm);
	err = PMPI_Reduce(mine, ours, 1, member->vector, within_server, 0, member->within);
	if (err || member->across == MPI_COMM_NULL)
		return err;
	return PMPI_Reduce(ours, all, 1, member->vector, across_servers, 0, member->across);
}

/* How long the schedule of the demand is for this call. Pieces are rounded to whole units. */
static void plan(const struct portions *portions, uint64_t ratio, struct demand *demand)
{
	double times = (double)ratio / RATIO_ONE, length = times * (double)portions->length;

	if (!portions->nphases || !ratio || ratio == NO_RATIO || !demand->unit)
		return;
	if (!portions->is_unit)
		length += (double)(demand->unit - 1) * portions->nphases;
	if (length >= (double)INT64_MAX)
		return;
	demand->planned = (uint64_t)length + 1;
	demand->planned_port = (uint64_t)(times * (double)portions->port);
}

static struct heard what_all_say(const struct member *member, const uint64_t *all, uint64_t bytes)
{
	struct heard heard = {.is_even = all[CHECK] == 0, .took = (double)all[TOOK] * 1e-9, .bytes = bytes};

	heard.demand = (struct demand){.longest = all[LONGEST],
				       .port = all[OUT] > all[IN] ? all[OUT] : all[IN],
				       .turns = sum_turns(member, all),
				       .is_whole = all[IS_WHOLE] > 0,
				       .unit = heard.is_even ? all[UNIT] : 0};
	heard.ratio = all[RATIO];
	plan(&member->portions, all[RATIO], &heard.demand);
	return heard;
}

/* This rank's numbers. */
static int say(struct member *member, const struct call *call, uint64_t *mine)
{
	int err = make_vector(member);

	pthread_once(&once, make_ops);
	if (err)
		return err;
	measure(member, call, mine);
	member->took = 0;
	return MPI_SUCCESS;
}

static uint64_t bytes_of_each(const struct call *call)
{
	return call->is_uniform ? forsched_mpi_uniform_bytes(call) : 0;
}

int forsched_mpi_weigh(struct member *member, MPI_Comm comm, const struct call *call, struct heard *heard)
{
	uint64_t mine[FIRST_GROUP + GROUPS], all[FIRST_GROUP + GROUPS] = {0};
	int err = say(member, call, mine);

	if (!err)
		err = reduce(member, comm, mine, all);
	if (!err && member->rank == 0)
		*heard = what_all_say(member, all, bytes_of_each(call));
	return err;
}

void forsched_mpi_note_longest(struct member *member, const struct call *call)
{
	const struct side *side = call->send ? call->send : call->recv;
	struct scale scale = {MPI_DATATYPE_NULL, 0};

	for (int rank = 0; rank < member->size; rank++) {
		struct block block = forsched_mpi_block_of(side, rank);

		if (rank != member->rank)
			lift(&member->unheard, bytes_of(&block, &scale));
	}
}

int forsched_mpi_weigh_aside(struct member *member, MPI_Comm comm, const struct call *call)
{
	int err = say(member, call, member->mine);

	member->bytes_aside = bytes_of_each(call);
	if (err)
		return err;
	lift(&member->mine[LONGEST], member->unheard);
	member->unheard = 0;
	return PMPI_Ireduce(member->mine, member->all, 1, member->vector, across_servers, 0, comm, &member->speaking);
}

struct heard forsched_mpi_heard_aside(const struct member *member)
{
	struct heard heard = what_all_say(member, member->all, member->bytes_aside);

	heard.is_aside = true;
	return heard;
}
