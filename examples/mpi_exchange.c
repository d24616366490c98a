/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mpirun -np P mpi_exchange SCHEDULE: the whole exchange; rank r stands for server r. Every byte is checked. */
#include <mpi.h>
#include <stdio.h>
#include <forsched.h>

#define BLOCK 65536 /* bytes that each server sends to each other */

static unsigned char out[BLOCK], in[BLOCK];
static struct forsched *schedule;

/* What server `from` tells server `to` at place i. */
static unsigned char told(int from, int to, int i)
{
	return (unsigned char)(from * 131 + to * 17 + i + i / 251);
}

/* One phase of this rank; the number of wrong bytes. Blocks received are counted in *blocks. */
static long run_phase(int me, unsigned phase, long *blocks)
{
	struct forsched_flow flow;
	long wrong = 0;

	if (forsched_flow(schedule, (uint32_t)me, phase, &flow))
		MPI_Abort(MPI_COMM_WORLD, 1);
	int to = flow.to == FORSCHED_NOBODY ? MPI_PROC_NULL : (int)flow.to;
	int from = flow.from == FORSCHED_NOBODY ? MPI_PROC_NULL : (int)flow.from;
	for (int i = 0; i < BLOCK; i++)
		out[i] = told(me, to, i), in[i] = (unsigned char)~told(from, me, i);
	MPI_Sendrecv(out, BLOCK, MPI_BYTE, to, 0, in, BLOCK, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; from != MPI_PROC_NULL && i < BLOCK; i++)
		wrong += in[i] != told(from, me, i);
	*blocks += from != MPI_PROC_NULL;
	return wrong;
}

int main(int argc, char **argv)
{
	struct forsched_error error;
	long mine[2] = {0, 0}, all[2]; /* wrong bytes, blocks received */
	int me, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (forsched_open(argv[argc - 1], &schedule, &error) || (int)forsched_nservers(schedule) != size) {
		fprintf(stderr, "%s\n", schedule ? "start one rank for each server of the schedule" : error.text);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		mine[0] += run_phase(me, phase, &mine[1]);
		MPI_Barrier(MPI_COMM_WORLD); /* phases must not overlap: that is what keeps links free of conflicts */
	}
	MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("%d servers: %ld blocks of %d bytes, %ld wrong bytes\n", size, all[1], BLOCK, all[0]);
	forsched_close(schedule);
	MPI_Finalize();
	return me == 0 && (all[0] || all[1] != (long)size * (size - 1));
}
