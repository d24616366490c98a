/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unequal_calls WHAT CALLS: calls of MPI_Alltoallv and MPI_Alltoallw of which no rank knows by itself how much the others
 * send. Each is done twice, by the MPI_ name, which libforsched-mpi answers, and by the PMPI_ name, into buffers that
 * were filled alike: every byte has to be the same. WHAT:
 *
 *	huge	one rank sends much to one other, some send nothing at all, the rest a few bytes
 *	small	as huge, but the largest message has 999 bytes
 *	many	messages of many chunks, of very different sizes
 *	types	as many, sent as one type and received as another, of other sizes and with gaps
 *	place	as many, in place
 *	same	1500 ints each
 *	sloppy	receivers have room for more than they are sent, which MPI does not allow and Open MPI takes
 *	wide	one rank sends another more than 2 GiB
 *	inter	over an inter-communicator
 *
 * Prints "N calls, N followed, N left, N different".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static const char *what;

static bool is(const char *name)
{
	return strcmp(what, name) == 0;
}

/* Ints that one rank sends to another. */
static int ints(int from, int to, int call)
{
	unsigned x = (unsigned)from * 7919u + (unsigned)to * 104729u + (unsigned)call * 1299709u;

	x = (x ^ x >> 13) * 2654435761u;
	x ^= x >> 16;
	if (is("huge") || is("small"))
		return from == call % size && to == (call + 3) % size ? (is("huge") ? 100000 : 249)
		       : from % 3 == 0				      ? 0
								      : (int)(x % 4);
	if (is("same"))
		return 1500;
	if (is("wide"))
		return from == 0 && to == 1 ? 786432 : 3;
	if (is("place") && from > to)
		return ints(to, from, call);
	return x % 5 ? (int)(x % 301) * 6 : (int)(x % 3001) * 6;
}

struct side {
	int *counts, *displacements;
	MPI_Datatype *types;
	char *bytes;
	size_t size;
};

/* Of types that hold `each` ints and reach over `extent` bytes. */
static void lay_out(struct side *side, MPI_Datatype type, int each, int extent, bool is_sender, int call)
{
	int spare = is("sloppy") && !is_sender ? 3 : 0;

	side->counts = calloc((size_t)size, sizeof(int));
	side->displacements = calloc((size_t)size, sizeof(int));
	side->types = calloc((size_t)size, sizeof(MPI_Datatype));
	side->size = 64;
	for (int i = 0; i < size; i++) {
		int count = (is_sender ? ints(rank, i, call) : ints(i, rank, call)) / each;
		int more = count && i != rank ? spare : 0; /* Open MPI sends no empty messages, and minds its own */

		side->types[i] = type;
		side->counts[i] = count + more;
		side->displacements[i] = (int)side->size;
		side->size += ((size_t)count + (size_t)more) * (size_t)extent + (is("wide") ? 4096 : 64);
	}
	side->bytes = malloc(side->size);
	for (size_t i = 0; i < side->size; i++)
		side->bytes[i] = is_sender ? (char)((size_t)rank * 37 + i * 11 + i / 251) : 7;
}

static void free_side(struct side *side)
{
	free(side->counts);
	free(side->displacements);
	free(side->types);
	free(side->bytes);
}

/* One call both ways; true: the results differ. */
static bool differs(MPI_Datatype out, int out_each, int out_extent, MPI_Datatype in, int in_each, int in_extent,
		    int call)
{
	bool is_in_place = is("place");
	struct side send, one, other;
	int result;

	lay_out(&send, out, out_each, out_extent, true, call);
	lay_out(&one, in, in_each, in_extent, false, call);
	lay_out(&other, in, in_each, in_extent, false, call);
	for (size_t i = 0; is_in_place && i < one.size; i++)
		one.bytes[i] = other.bytes[i] = (char)((size_t)rank * 41 + i * 5);
	MPI_Alltoallw(is_in_place ? MPI_IN_PLACE : send.bytes, send.counts, send.displacements, send.types, one.bytes,
		      one.counts, one.displacements, one.types, MPI_COMM_WORLD);
	PMPI_Alltoallw(is_in_place ? MPI_IN_PLACE : send.bytes, send.counts, send.displacements, send.types,
		       other.bytes, other.counts, other.displacements, other.types, MPI_COMM_WORLD);
	result = memcmp(one.bytes, other.bytes, one.size) != 0;
	free_side(&send);
	free_side(&one);
	free_side(&other);
	return result;
}

static bool differs_in_types(int call)
{
	MPI_Datatype three, gap;
	bool result;

	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_vector(2, 1, 3, MPI_INT, &gap); /* two ints of four */
	MPI_Type_commit(&three);
	MPI_Type_commit(&gap);
	result = differs(three, 3, 12, gap, 2, 16, call);
	MPI_Type_free(&three);
	MPI_Type_free(&gap);
	return result;
}

/* The same 4 KiB again and again: there need not be 3 GiB of memory. */
static bool differs_wide(int call)
{
	MPI_Datatype page, again;
	bool result;

	MPI_Type_contiguous(1024, MPI_INT, &page);
	MPI_Type_create_resized(page, 0, 0, &again);
	MPI_Type_commit(&again);
	result = differs(again, 1, 0, again, 1, 0, call);
	MPI_Type_free(&again);
	MPI_Type_free(&page);
	return result;
}

static bool inter_is_wrong(void)
{
	int *out = calloc((size_t)size * 4, sizeof(int)), *in = out + size, *count = in + size, *place = count + size;
	MPI_Comm half, between;
	int peers, wrong = 0;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
	MPI_Comm_remote_size(between, &peers);
	for (int i = 0; i < peers; i++) {
		out[i] = rank * 100 + i;
		count[i] = 1;
		place[i] = i;
	}
	MPI_Alltoallv(out, count, place, MPI_INT, in, count, place, MPI_INT, between);
	for (int i = 0; i < peers; i++)
		wrong += in[i] != (2 * i + 1 - rank % 2) * 100 + rank / 2;
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
	free(out);
	return wrong > 0;
}

static bool one_call(int call)
{
	if (is("inter"))
		return inter_is_wrong();
	if (is("types"))
		return differs_in_types(call);
	if (is("wide"))
		return differs_wide(call);
	return differs(MPI_INT, 1, 4, MPI_INT, 1, 4, call);
}

int main(int argc, char **argv)
{
	void (*counts)(uint64_t *, uint64_t *, uint64_t *) =
		(void (*)(uint64_t *, uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "forsched_mpi_counts");
	uint64_t followed = 0, left = 0, epochs = 0;
	int different = 0, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	what = argc > 2 ? argv[1] : "";
	for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
		different += one_call(i);
	if (counts)
		counts(&followed, &left, &epochs);
	MPI_Reduce(&different, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s calls, %" PRIu64 " followed, %" PRIu64 " left, %d different\n", argc > 2 ? argv[2] : "no",
		       followed, left, all);
	MPI_Finalize();
	return 0;
}
