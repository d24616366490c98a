/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * random_calls [-c] CALLS SEED LIVE FILE...: all-to-all calls with random sizes, types and places, each done twice: by the
 * MPI_ name, which the preloaded libforsched-mpi answers, and by the PMPI_ name, which is MPI's own. Both receive into
 * buffers that were filled alike, and afterwards every byte has to be the same, gaps included. On the way, at even
 * distances, each FILE becomes the schedule LIVE, by renaming, as fors does it. With -c calls are on many communicators:
 * all ranks, in another order, halves, rows and columns, and those split once more.
 *
 * Prints "N calls, N followed, N left, N epochs, N different", and what is needed to repeat a call that differs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NTYPES 6
#define UNITS_MAX 40 /* blocks are up to so many units of 6 ints */

/* ---- random numbers: functions of where they are used, so that all ranks have the same ---- */

static uint64_t seed;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint32_t pick(uint32_t below, uint64_t call, uint64_t a, uint64_t b, uint64_t what)
{
	return (uint32_t)(mix(mix(mix(mix(seed ^ call) ^ a) ^ b) ^ what) % below);
}

/* ---- types: all of them hold ints, so any may be received as any other ---- */

static MPI_Datatype type[NTYPES];
static const int ints_of[NTYPES] = {1, 3, 2, 1, 6, 2};
static MPI_Aint extent_of[NTYPES];

static void make_types(void)
{
	const int lengths[2] = {4, 2};
	const MPI_Aint places[2] = {0, 24}, backwards[2] = {8, -4};
	MPI_Aint lower;

	type[0] = MPI_INT;
	MPI_Type_contiguous(3, MPI_INT, &type[1]);
	MPI_Type_vector(2, 1, 3, MPI_INT, &type[2]);	   /* strided */
	MPI_Type_create_resized(MPI_INT, 0, 12, &type[3]); /* a gap behind each */
	MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type[4]);
	MPI_Type_create_hindexed(2, (int[2]){1, 1}, backwards, MPI_INT, &type[5]); /* from behind, below its start */
	for (int t = 0; t < NTYPES; t++) {
		MPI_Type_commit(&type[t]);
		MPI_Type_get_extent(type[t], &lower, &extent_of[t]);
	}
}

/* ---- one side of a call ---- */

struct side {
	int *counts, *displacements;
	MPI_Datatype *types;
	char *buffer;
	size_t size;
};

enum kind { ALLTOALL, ALLTOALLV, ALLTOALLW, NKINDS };

/* A call as all ranks know it. */
struct call {
	uint64_t number;
	enum kind kind;
	bool is_in_place;
};

static int rank, size; /* of the communicator of the call */

/* Units that `from` sends to `to`; often none. */
static int units(const struct call *call, int from, int to)
{
	if (call->kind == ALLTOALL)
		from = to = 0;
	if (call->is_in_place && from > to) { /* as much there as back */
		int swap = from;

		from = to;
		to = swap;
	}
	if (pick(4, call->number, from, to, 1) == 0)
		return 0;
	return (int)pick(pick(8, call->number, 0, 0, 2) ? 5 : UNITS_MAX, call->number, from, to, 3);
}

/* The number of the type at one end of a flow: of all flows of a rank, or of each (alltoallw). */
static int type_number(const struct call *call, int from, int to, bool is_sender)
{
	if (call->is_in_place)
		return (int)pick(NTYPES, call->number, 0, 0, 4);
	if (call->kind == ALLTOALLW)
		return (int)pick(NTYPES, call->number, from, to, is_sender ? 5 : 6);
	return (int)pick(NTYPES, call->number, is_sender ? from : to, 0, is_sender ? 7 : 8);
}

/* Where each block of this rank is: in some order, with gaps. */
static void lay_out(const struct call *call, bool is_sender, struct side *side)
{
	size_t at = 64;

	for (int i = 0; i < size; i++) {
		int other = pick(2, call->number, rank, is_sender, 9) ? i : size - 1 - i;
		int from = is_sender ? rank : other, to = is_sender ? other : rank;
		int t = type_number(call, from, to, is_sender);
		size_t extent = (size_t)extent_of[t], room;

		side->types[other] = type[t];
		side->counts[other] = units(call, from, to) * 6 / ints_of[t];
		room = (size_t)side->counts[other] * extent + 24;
		at += 4 * pick(5, call->number, from, to, 10);
		if (call->kind != ALLTOALLW)
			at = (at + extent - 1) / extent * extent;
		side->displacements[other] = (int)(call->kind == ALLTOALLW ? at : at / extent);
		at += room;
	}
	if (call->kind == ALLTOALL) /* blocks lie side by side */
		at = 64 + (size_t)size * (size_t)side->counts[0] *
				  (size_t)extent_of[type_number(call, rank, rank, is_sender)];
	side->size = at + 64;
}

static void new_side(struct side *side)
{
	side->counts = calloc((size_t)size, sizeof(int));
	side->displacements = calloc((size_t)size, sizeof(int));
	side->types = calloc((size_t)size, sizeof(MPI_Datatype));
}

static void free_side(struct side *side)
{
	free(side->counts);
	free(side->displacements);
	free(side->types);
}

static char *fill(const struct call *call, size_t bytes, uint64_t what)
{
	char *buffer = malloc(bytes + 8);
	uint64_t state = mix(seed ^ call->number) ^ mix((uint64_t)rank + what * 1000);

	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = mix(state + i);

		memcpy(buffer + i, &word, 8);
	}
	return buffer;
}

/* ---- calls ---- */

typedef int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int (*alltoallv)(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
			 MPI_Datatype, MPI_Comm);
typedef int (*alltoallw)(const void *, const int *, const int *, const MPI_Datatype *, void *, const int *, const int *,
			 const MPI_Datatype *, MPI_Comm);

static void make_call(const struct call *call, bool is_own, const struct side *send, const struct side *recv,
		      char *into, MPI_Comm comm)
{
	const void *from = call->is_in_place ? MPI_IN_PLACE : send->buffer;

	if (call->kind == ALLTOALL)
		(is_own ? PMPI_Alltoall : MPI_Alltoall)(call->is_in_place ? MPI_IN_PLACE : send->buffer + 64,
							send->counts[0], send->types[0], into + 64, recv->counts[0],
							recv->types[0], comm);
	else if (call->kind == ALLTOALLV)
		(is_own ? PMPI_Alltoallv : MPI_Alltoallv)(from, send->counts, send->displacements, send->types[0], into,
							  recv->counts, recv->displacements, recv->types[0], comm);
	else
		(is_own ? PMPI_Alltoallw : MPI_Alltoallw)(from, send->counts, send->displacements, send->types, into,
							  recv->counts, recv->displacements, recv->types, comm);
}

/* The same call both ways; false: the results differ. */
static bool is_same(const struct call *call, struct side *send, struct side *recv, MPI_Comm comm)
{
	char *one, *other;
	bool is_equal;

	lay_out(call, true, send);
	lay_out(call, false, recv);
	send->buffer = fill(call, send->size, 1);
	one = fill(call, recv->size, 2);
	other = fill(call, recv->size, 2);
	make_call(call, false, send, recv, one, comm);
	make_call(call, true, send, recv, other, comm);
	is_equal = memcmp(one, other, recv->size) == 0;
	if (!is_equal)
		fprintf(stderr, "rank %d: call %" PRIu64 ", kind %d, in place %d: differs\n", rank, call->number,
			call->kind, call->is_in_place);
	free(send->buffer);
	free(one);
	free(other);
	return is_equal;
}

/* ---- communicators ---- */

#define WIDTH 4 /* ranks of a row */
#define NCOMMS 8

static MPI_Comm known[NCOMMS]; /* on each of them a call is made by all ranks at once */

static void split(int number, MPI_Comm from, int colour, int key)
{
	MPI_Comm_split(from, colour, key, &known[number]);
}

static void make_communicators(void)
{
	int world, own;

	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	known[0] = MPI_COMM_WORLD;
	split(1, MPI_COMM_WORLD, 0, -world);
	split(2, MPI_COMM_WORLD, world % 2, world);
	split(3, MPI_COMM_WORLD, world / WIDTH, world);
	split(4, MPI_COMM_WORLD, world % WIDTH, world);
	MPI_Comm_rank(known[2], &own);
	split(5, known[2], own % 3, -own);
	split(6, known[1], world % 5 == 0, world);
	MPI_Comm_dup(known[4], &known[7]);
}

static void free_communicators(void)
{
	for (int i = 1; i < NCOMMS; i++)
		MPI_Comm_free(&known[i]);
}

static void use(MPI_Comm comm)
{
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
}

/* ---- the run ---- */

/* Wait until there is such a file; MPI's own time limit is that of whoever started us. */
static void wait_for_file(const char *file)
{
	while (access(file, F_OK))
		usleep(10000);
}

/* FILE becomes the heartbeat beside LIVE, or whatever `name` is. */
static int change_beside(const char *file, const char *live, const char *name)
{
	const char *slash = strrchr(live, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - live + 1) : 0, live, name);
	return rename(file, path);
}

/*
 * FILE becomes LIVE: the next call meets it. "beat:FILE": it becomes the heartbeat. "wait:PATH": somebody else changes it, and makes PATH then.
 */
static void change_epoch(const char *file, const char *live)
{
	if (rank == 0 && strncmp(file, "beat:", 5) == 0) {
		if (change_beside(file + 5, live, "heartbeat"))
			MPI_Abort(MPI_COMM_WORLD, 2);
		return;
	}
	if (rank == 0 && strncmp(file, "wait:", 5) == 0) {
		wait_for_file(file + 5);
		return;
	}
	if (rank == 0 && rename(file, live)) {
		perror(file);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

static void report(uint64_t calls, long mine, MPI_Comm comm)
{
	void (*counts)(uint64_t *, uint64_t *, uint64_t *) =
		(void (*)(uint64_t *, uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "forsched_mpi_counts");
	uint64_t followed = 0, left = 0, epochs = 0;
	long different = 0;

	if (counts)
		counts(&followed, &left, &epochs);
	MPI_Reduce(&mine, &different, 1, MPI_LONG, MPI_SUM, 0, comm);
	if (rank == 0)
		printf("%" PRIu64 " calls, %" PRIu64 " followed, %" PRIu64 " left, %" PRIu64 " epochs, %ld different\n",
		       calls, followed, left, epochs, different);
}

int main(int argc, char **argv)
{
	bool has_many = strcmp(argv[1], "-c") == 0;
	struct side send, recv;
	long different = 0;
	uint64_t calls, files;

	argv += has_many;
	argc -= has_many;
	calls = strtoull(argv[1], NULL, 10);
	files = (uint64_t)argc - 4;
	seed = strtoull(argv[2], NULL, 10);
	MPI_Init(&argc, &argv);
	use(MPI_COMM_WORLD);
	make_types();
	make_communicators();
	new_side(&send);
	new_side(&recv);
	for (uint64_t i = 0; i < calls; i++) {
		struct call call = {.number = i,
				    .kind = (enum kind)pick(NKINDS, i, 0, 0, 11),
				    .is_in_place = !pick(4, i, 0, 0, 12)};

		MPI_Comm comm = known[has_many ? pick(NCOMMS, i, 0, 0, 13) : 0];

		use(MPI_COMM_WORLD);
		for (uint64_t k = 0; k < files; k++)
			if (i == calls * k / files)
				change_epoch(argv[4 + k], argv[3]);
		use(comm);
		different += !is_same(&call, &send, &recv, comm);
	}
	use(MPI_COMM_WORLD);
	report(calls, different, MPI_COMM_WORLD);
	free_side(&send);
	free_side(&recv);
	free_communicators();
	MPI_Finalize();
	return 0;
}
