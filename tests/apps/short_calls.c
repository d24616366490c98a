/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * short_calls RANK [N]: calls of MPI_Alltoallv while memory ends on one rank, in libforsched-mpi alone: this program has its
 * own malloc(), calloc(), realloc() and strdup(), which fail for callers inside that library only.
 *
 * With N: the N-th allocation of the first call on MPI_COMM_WORLD fails. Prints the class of the call's error.
 *
 * Without: once for each allocation after which a communicator has what it needs for calls. Each time a communicator of all
 * ranks, or of all but the last, is made, an allocation fails on RANK during three calls, and every rank compares what it
 * received. Prints "N failed, N calls of each followed at last, N different".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing_calls.h"

enum { CALLS = 3, MOST = 16, BYTES = 64 };

static long until; /* the allocation that fails; 0: none */
static bool has_failed;

static bool fails(const void *caller)
{
	Dl_info where;

	if (!until || !dladdr(caller, &where) || !strstr(where.dli_fname, "libforsched") || --until)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

/* ---- calls ---- */

/* As many bytes from one to another as both know, each with a value of its own. */
static int bytes_of(int from, int to)
{
	return 1 + (7 * from + 3 * to) % BYTES;
}

static char value_of(int from, int to)
{
	return (char)(1 + from * MOST + to);
}

/* What it returns, and in *different whether anything else arrived than was sent. */
static int call(MPI_Comm comm, long *different)
{
	char sent[MOST * BYTES], received[MOST * BYTES] = {0};
	int out[MOST], in[MOST], at[MOST], rank, size, err;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++) {
		at[i] = i * BYTES;
		out[i] = bytes_of(rank, i);
		in[i] = bytes_of(i, rank);
		memset(sent + at[i], value_of(rank, i), BYTES);
	}
	err = MPI_Alltoallv(sent, out, at, MPI_CHAR, received, in, at, MPI_CHAR, comm);
	for (int i = 0; i < size * BYTES; i++)
		*different += received[i] != (i % BYTES < in[i / BYTES] ? value_of(i / BYTES, rank) : 0);
	return err;
}

/* ---- one allocation after the other ---- */

static uint64_t followed(void)
{
	void (*counts)(uint64_t *, uint64_t *, uint64_t *) =
		(void (*)(uint64_t *, uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "forsched_mpi_counts");
	uint64_t n = 0, left, epochs;

	if (counts)
		counts(&n, &left, &epochs);
	return n;
}

/* The n-th allocation after a communicator was made fails. Has it? */
static bool try_one(int victim, bool is_for_all, long n, long *different)
{
	int rank, size, is_over;
	MPI_Comm comm;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, !is_for_all && rank == size - 1, 0, &comm);
	until = rank == victim ? n : 0;
	has_failed = false;
	for (int i = 0; i < CALLS; i++)
		call(comm, different);
	until = 0;
	MPI_Comm_free(&comm);
	is_over = !has_failed;
	MPI_Bcast(&is_over, 1, MPI_INT, victim, MPI_COMM_WORLD);
	return !is_over;
}

static void try_all(int victim, bool is_for_all)
{
	long n = victim ? 1 : 2, mine = 0,
	     different = 0; /* those without which there is no communicator are try_first()'s */
	uint64_t before;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	do
		before = followed();
	while (try_one(victim, is_for_all, ++n, &mine));
	MPI_Reduce(&mine, &different, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%ld failed, %" PRIu64 " calls of each followed at last, %ld different\n", n - 1,
		       followed() - before, different);
}

/* Others wait for this rank: the program ends here, as most do after an error. */
static void try_first(int victim, long n)
{
	long different = 0;
	int rank, err;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	until = rank == victim ? n : 0;
	err = call(MPI_COMM_WORLD, &different);
	until = 0;
	if (rank != victim)
		return;
	MPI_Error_class(err, &err);
	printf("%s\n", err == MPI_ERR_NO_MEM ? "no memory" : "another error, or none");
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
	int victim = argc > 1 ? atoi(argv[1]) : 0;

	MPI_Init(&argc, &argv);
	if (argc > 2) {
		try_first(victim, atol(argv[2]));
	} else {
		try_all(victim, true);
		try_all(victim, false);
	}
	MPI_Finalize();
	return 0;
}
