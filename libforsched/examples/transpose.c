/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpirun -np P transpose [N [REPEATS]]: a cube of N x N x N numbers, turned as a three-dimensional FFT turns it.
 *
 * Ranks form a grid. Each has a pencil of the cube: all x for some y and z. MPI_Alltoall in its row of the grid gives it all
 * y for some x and z, then MPI_Alltoall in its column all z for some x and y. Each number is compared with what has to
 * be there. Under libforsched-mpi rows and columns follow the schedule, several ranks on a server or one:
 *
 *	mpirun -x LD_PRELOAD=libforsched-mpi.so -x FORSCHED_SCHEDULE=/net/fors/schedule -np 64 transpose 256
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int n; /* along each side */

static double number(int x, int y, int z)
{
	return x + (double)n * (y + (double)n * z);
}

/*
 * in[outer][mid][n] of each of the p ranks of comm becomes out[n / p][outer][n]: what is spread over the ranks (mid = n / p
 * of it on each) comes together, and what was together is spread. `room` is as large as both.
 */
static void turn(MPI_Comm comm, int p, int outer, const double *in, double *out, double *room)
{
	int mid = n / p, part = n / p, block = outer * mid * part;

	for (int to = 0; to < p; to++)
		for (int o = 0; o < outer; o++)
			for (int m = 0; m < mid; m++)
				for (int i = 0; i < part; i++)
					room[(size_t)to * block + (o * mid + m) * part + i] =
						in[((size_t)o * mid + m) * n + to * part + i];
	MPI_Alltoall(room, block, MPI_DOUBLE, out, block, MPI_DOUBLE, comm);
	for (size_t i = 0; i < (size_t)block * p; i++)
		room[i] = out[i];
	for (int from = 0; from < p; from++)
		for (int o = 0; o < outer; o++)
			for (int m = 0; m < mid; m++)
				for (int i = 0; i < part; i++)
					out[((size_t)i * outer + o) * n + from * mid + m] =
						room[(size_t)from * block + (o * mid + m) * part + i];
}

/* From x whole to y whole to z whole; the numbers that are wrong at the end, and the seconds that it took. */
static long turn_cube(const MPI_Comm comm[2], const int dims[2], const int at[2], double *seconds)
{
	int ny = n / dims[0], nz = n / dims[1], nx = n / dims[0], part = n / dims[1];
	size_t size = (size_t)n * ny * nz;
	double *a = malloc(size * sizeof(*a)), *b = malloc(size * sizeof(*b)), *room = malloc(size * sizeof(*room)),
	       began;
	long wrong = 0;

	for (int z = 0; z < nz; z++)
		for (int y = 0; y < ny; y++)
			for (int x = 0; x < n; x++)
				a[((size_t)z * ny + y) * n + x] = number(x, at[0] * ny + y, at[1] * nz + z);
	MPI_Barrier(MPI_COMM_WORLD);
	began = MPI_Wtime();
	turn(comm[0], dims[0], nz, a, b, room); /* [x][z][all y] */
	turn(comm[1], dims[1], nx, b, a, room); /* [y][x][all z] */
	*seconds = MPI_Wtime() - began;
	for (int y = 0; y < part; y++)
		for (int x = 0; x < nx; x++)
			for (int z = 0; z < n; z++)
				wrong += a[((size_t)y * nx + x) * n + z] != number(at[0] * nx + x, at[1] * part + y, z);
	free(a);
	free(b);
	free(room);
	return wrong;
}

int main(int argc, char **argv)
{
	int rank, ranks, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2], repeats = argc > 2 ? atoi(argv[2]) : 1;
	double mine, last = 0;
	long wrong = 0, all = 0;
	MPI_Comm grid, comm[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Dims_create(ranks, 2, dims);
	n = argc > 1 ? atoi(argv[1]) : 4 * dims[0] * dims[1];
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 2, at);
	MPI_Cart_sub(grid, (int[2]){1, 0}, &comm[0]);
	MPI_Cart_sub(grid, (int[2]){0, 1}, &comm[1]);
	if (n <= 0 || n % dims[0] || n % dims[1]) {
		fprintf(stderr, "N has to be a multiple of %d and of %d\n", dims[0], dims[1]);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int i = 0; i < repeats; i++) {
		wrong += turn_cube(comm, dims, at, &mine);
		MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d x %d ranks, %d x %d x %d numbers: %.6f seconds\n", dims[0], dims[1], n, n, n, last);
	}
	MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%ld wrong numbers\n", all);
	MPI_Finalize();
	return all != 0;
}
