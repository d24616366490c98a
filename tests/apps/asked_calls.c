/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * asked_calls CALLS: which calls does libforsched-mpi ask all ranks about before they begin? CALLS is a word: `s` is an
 * MPI_Alltoallv of 1000 bytes, `l` one of 20000 bytes. MPI's own call takes at least 10 ms here, a large one 1500, and a
 * reduction 1, by this program's own PMPI_Alltoallv and PMPI_Reduce, which stand before MPI's.
 *
 * Prints a word as long: `?` a call that was asked about, `.` one that was not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHORT = 1000, LONG = 20000, CALL_US = 10000, LONG_CALL_US = 1500000, REDUCTION_US = 1000 };

static int nreductions;

int PMPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
	int (*real)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Reduce");

	nreductions++;
	usleep(REDUCTION_US);
	return real(from, to, count, type, op, root, comm);
}

int PMPI_Alltoallv(const void *from, const int *sent, const int *at, MPI_Datatype type, void *to, const int *received,
		   const int *other_at, MPI_Datatype other, MPI_Comm comm)
{
	int (*real)(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
		    MPI_Datatype, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Alltoallv");

	usleep(sent[0] == LONG ? LONG_CALL_US : CALL_US);
	return real(from, sent, at, type, to, received, other_at, other, comm);
}

static void call(char what, int size)
{
	int bytes = what == 's' ? SHORT : LONG, *counts = calloc((size_t)size, sizeof(int)),
	    *at = calloc((size_t)size, sizeof(int));
	char *from = calloc((size_t)size, LONG), *to = calloc((size_t)size, LONG);

	for (int i = 0; i < size; i++) {
		counts[i] = bytes;
		at[i] = i * LONG;
	}
	MPI_Alltoallv(from, counts, at, MPI_BYTE, to, counts, at, MPI_BYTE, MPI_COMM_WORLD);
	free(counts);
	free(at);
	free(from);
	free(to);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	if (argc != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (const char *what = argv[1]; *what; what++) {
		int before = nreductions;

		call(*what, size);
		if (rank == 0)
			putchar(nreductions > before ? '?' : '.');
	}
	if (rank == 0)
		putchar('\n');
	MPI_Finalize();
	return 0;
}
