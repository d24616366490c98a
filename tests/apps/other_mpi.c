/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One all-to-all of any MPI: what it should give, and whose it is. Built with another MPI's compiler by test_other_mpi.py. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int rank, size, length, sent[64], received[64], wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++)
		sent[i] = 100 * rank + i;
	MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		wrong += received[i] != 100 * i + rank;
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Get_library_version(version, &length);
	if (rank == 0)
		printf("%d ranks, %d wrong, %d arguments, %s, %.5s\n", size, wrong, argc, argv[argc - 1], version);
	return MPI_Finalize();
}
