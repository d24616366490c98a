/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_index [thread]: what libforsched-mpi gave to UCX, from all ranks: "path bits 1 1 1 1", "-": nothing. Then one
 * MPI_Alltoall. UCX itself is not needed: what it would read is what is looked at.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS 64

static void start(int *argc, char ***argv)
{
	int provided;

	if (*argc > 1 && strcmp((*argv)[1], "thread") == 0)
		MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	else
		MPI_Init(argc, argv);
}

static void tell(int size)
{
	const char *given = getenv("UCX_IB_LID_PATH_BITS");
	char mine[8] = "", all[MAX_RANKS][8];
	int rank;

	snprintf(mine, sizeof(mine), "%s", given ? given : "-");
	PMPI_Gather(mine, sizeof(mine), MPI_CHAR, all, sizeof(mine), MPI_CHAR, 0, MPI_COMM_WORLD);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		return;
	printf("path bits");
	for (int i = 0; i < size; i++)
		printf(" %s", all[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int out[MAX_RANKS] = {0}, in[MAX_RANKS], size;

	start(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > MAX_RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	tell(size);
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
