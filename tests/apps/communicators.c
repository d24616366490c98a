/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * communicators WHAT: all-to-all calls on many kinds of communicators under libforsched-mpi. Results are compared with
 * what they must be, and lines say how many calls of rank 0 went along the schedule: "world 1 followed 0 left".
 * Messages are watched too: this program defines PMPI_Isend, which the library calls, and notes to whom.
 *
 * WHAT: "kinds" of communicators; "order" of messages (with the schedule in FORSCHED_SCHEDULE); "errors"; "wide" blocks
 * in place, for which PMPI_Pack_size is one that cannot count far.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libforsched/forsched.h"

#define MAX_NOTES 4096
#define MAX_RANKS 64

static int rank, size;
static int note[MAX_NOTES], notes; /* to whom this process sent, by rank */

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
	int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
		(int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT,
												   "PMPI_Isend");

	if (notes < MAX_NOTES)
		note[notes++] = to;
	return real(buffer, count, type, to, tag, comm, request);
}

/* What MPI_Pack_size() does beyond 2 GiB, where int ends, this one does beyond LIMIT. */
#define LIMIT 100000

int PMPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *room)
{
	int (*real)(int, MPI_Datatype, MPI_Comm, int *) =
		(int (*)(int, MPI_Datatype, MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Pack_size");
	int err = real(count, type, comm, room);

	if (!err && *room > LIMIT)
		*room -= INT_MAX;
	return err;
}

static void get_counts(uint64_t *followed, uint64_t *left)
{
	void (*counts)(uint64_t *, uint64_t *, uint64_t *) =
		(void (*)(uint64_t *, uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "forsched_mpi_counts");
	uint64_t epochs;

	*followed = *left = 0;
	if (counts)
		counts(followed, left, &epochs);
}

/* Everybody tells everybody both numbers: of `peers` ranks, this one being number `own`. */
static void exchange(const char *name, MPI_Comm comm)
{
	int own, peers, is_inter, wrong = 0, *out, *in;
	uint64_t followed[2], left[2];

	MPI_Comm_test_inter(comm, &is_inter);
	MPI_Comm_rank(comm, &own);
	(is_inter ? MPI_Comm_remote_size : MPI_Comm_size)(comm, &peers);
	out = calloc((size_t)peers + 1, sizeof(int));
	in = calloc((size_t)peers + 1, sizeof(int));
	for (int i = 0; i < peers; i++)
		out[i] = own * 1000 + i;
	get_counts(&followed[0], &left[0]);
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
	get_counts(&followed[1], &left[1]);
	for (int i = 0; i < peers; i++)
		wrong += in[i] != i * 1000 + own;
	if (rank == 0)
		printf("%s %" PRIu64 " followed %" PRIu64 " left\n", name, followed[1] - followed[0],
		       left[1] - left[0]);
	if (wrong)
		printf("%s: rank %d: wrong\n", name, rank);
	free(out);
	free(in);
}

static void kinds(void)
{
	MPI_Comm comm, half, between;

	exchange("world", MPI_COMM_WORLD);
	exchange("world again", MPI_COMM_WORLD);
	exchange("self", MPI_COMM_SELF);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	exchange("dup", comm);
	exchange("dup again", comm);
	MPI_Comm_free(&comm);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
	exchange("reversed", comm);
	MPI_Comm_free(&comm);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	exchange("half", half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
	exchange("inter", between);
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
	MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &half);
	exchange("all but one", half);
	MPI_Comm_free(&half);
	exchange("world at last", MPI_COMM_WORLD);
}

/* The messages of one call have to go where the schedule says, in its order. */
static void order(void)
{
	struct forsched *schedule;
	struct forsched_flow flow;
	struct forsched_error error;
	uint32_t me, expected = 0, wrong = 0;

	if (forsched_open(getenv("FORSCHED_SCHEDULE"), &schedule, &error) ||
	    forsched_find_guid(schedule, strtoull(getenv("FORSCHED_SERVER"), NULL, 16), &me, &error)) {
		printf("%s\n", error.text);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	exchange("world", MPI_COMM_WORLD); /* what it takes to agree is not of the exchange */
	notes = 0;
	exchange("world again", MPI_COMM_WORLD);
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		if (forsched_flow(schedule, me, phase, &flow) || flow.to == FORSCHED_NOBODY)
			continue;
		/* The test numbers servers backwards: rank r is server P-1-r. */
		wrong += expected >= (uint32_t)notes || note[expected] != size - 1 - (int)flow.to;
		expected++;
	}
	if (wrong || expected != (uint32_t)notes)
		printf("rank %d: %u of %u messages out of order, %d sent\n", rank, wrong, expected, notes);
	forsched_close(schedule);
	if (rank == 0)
		printf("order checked\n");
}

static void say_error(const char *what, int err)
{
	int class = MPI_SUCCESS;

	if (err)
		MPI_Error_class(err, &class);
	if (rank == 0)
		printf("%s: %s\n", what,
		       class == MPI_SUCCESS	   ? "success"
		       : class == MPI_ERR_TRUNCATE ? "truncated"
		       : class == MPI_ERR_TYPE	   ? "type"
		       : class == MPI_ERR_COUNT	   ? "count"
		       : class == MPI_ERR_NO_MEM   ? "no memory"
						   : "other");
}

/* One block of one rank is wrong, what it sends or what it receives: the others have to get theirs, and to go on. */
static void one_is_wrong(const char *what, bool is_sent, bool is_in_place)
{
	int *number = calloc((size_t)size * 5, sizeof(int));
	int *out = number, *in = number + size, *place = in + size, *sent = place + size, *received = sent + size;
	int err, wrong = 0;

	for (int i = 0; i < size; i++) {
		out[i] = rank * 1000 + i;
		place[i] = i;
		sent[i] = received[i] = 1;
	}
	if (rank == 0)
		(is_sent ? sent : received)[2] = -1;
	err = MPI_Alltoallv(is_in_place ? MPI_IN_PLACE : out, sent, place, MPI_INT, in, received, place, MPI_INT,
			    MPI_COMM_WORLD);
	for (int i = 1; i < size && rank > 0 && !is_in_place; i++)
		wrong += in[i] != i * 1000 + rank;
	if (wrong || (rank > 0 && err))
		printf("%s: rank %d: %d wrong, error %d\n", what, rank, wrong, err);
	say_error(what, err);
	free(number);
}

/* Errors reach the communicator's own handler, and nobody waits for ever. */
static void errors(void)
{
	int *out = calloc((size_t)size * 2, sizeof(int)), *in = calloc((size_t)size * 2, sizeof(int));

	exchange("world", MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	say_error("too much for the receiver", MPI_Alltoall(out, 2, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
	say_error("no type", MPI_Alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD));
	say_error("negative", MPI_Alltoall(out, -1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
	one_is_wrong("one sent block", true, false);
	one_is_wrong("one received block", false, false);
	one_is_wrong("one block in place", false, true);
	exchange("world again", MPI_COMM_WORLD);
	free(out);
	free(in);
}

/* A type of `wide` ints, every second one of memory. */
static MPI_Datatype gaps(int wide)
{
	MPI_Datatype type;

	MPI_Type_vector(wide, 1, 2, MPI_INT, &type);
	MPI_Type_commit(&type);
	return type;
}

/* Blocks in place, `wide` ints where the ranks' sum is odd, else 3. */
static void wide_blocks(const char *what, int wide, bool has_gaps)
{
	int *number = malloc((size_t)size * (size_t)wide * 2 * sizeof(int)),
	    *count = calloc((size_t)size * 2, sizeof(int));
	int *place = count + size, step = has_gaps ? 2 : 1, err, wrong = 0;
	MPI_Datatype *types = calloc((size_t)size, sizeof(*types));

	for (int i = 0; i < size; i++) {
		count[i] = (rank + i) % 2 ? wide : 3;
		types[i] = gaps(count[i]);
		place[i] = i * wide * step;
		for (int k = 0; k < count[i] * step; k++)
			number[place[i] + k] = k % step ? -1 : rank * 1000 + i + k * 7;
	}
	if (has_gaps) {
		for (int i = 0; i < size; i++)
			count[i] = 1, place[i] *= (int)sizeof(int);
		err = MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, number, count, place, types, MPI_COMM_WORLD);
	} else {
		err = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, number, count, place, MPI_INT, MPI_COMM_WORLD);
	}
	for (int i = 0; i < size; i++)
		for (int k = 0; k < ((rank + i) % 2 ? wide : 3) * step; k++)
			wrong += number[i * wide * step + k] != (k % step ? -1 : i * 1000 + rank + k * 7);
	if (wrong)
		printf("%s: rank %d: %d wrong\n", what, rank, wrong);
	say_error(what, err);
	for (int i = 0; i < size; i++)
		MPI_Type_free(&types[i]);
	free(types);
	free(count);
	free(number);
}

/* What a rank keeps for itself may be of any size: nobody touches it, so here is no memory behind it. */
static void large_own_block(void)
{
	int *number = calloc((size_t)size * 3, sizeof(int)), *count = number + size, *place = count + size, wrong = 0,
	    err;

	for (int i = 0; i < size; i++) {
		number[i] = rank * 1000 + i;
		count[i] = i == rank ? 560000000 : 1;
		place[i] = i;
	}
	err = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, number, count, place, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		wrong += number[i] != i * 1000 + rank;
	if (wrong)
		printf("rank %d: %d wrong\n", rank, wrong);
	say_error("own block of more than 2 GiB", err);
	free(number);
}

static void wide(void)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	exchange("world", MPI_COMM_WORLD);
	large_own_block();
	wide_blocks("wide", 300000, false); /* more than a MiB */
	wide_blocks("less wide", 30000, false);
	wide_blocks("narrow", 20000, false);
	wide_blocks("wide with gaps", 300000, true);
	exchange("world again", MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(argv[1], "kinds") == 0)
		kinds();
	else if (strcmp(argv[1], "order") == 0)
		order();
	else if (strcmp(argv[1], "wide") == 0)
		wide();
	else
		errors();
	MPI_Finalize();
	return 0;
}
