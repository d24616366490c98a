/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpirun -np P mpi_exchange SCHEDULE: the whole exchange, one rank on each server. Every byte is checked. A rank is on the
 * server of its host's InfiniBand port; where there is none FORSCHED_MAP names a file (man forsched_own_guid).
 */
#include <forsched.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 65536 /* bytes that each server sends to each other */

static unsigned char out[BLOCK], in[BLOCK];
static struct forsched *schedule;
static int rank, size, *rank_on; /* rank_on: by server */

/* What server `from` tells server `to` at place i. */
static unsigned char told(uint32_t from, uint32_t to, uint32_t i)
{
	return (unsigned char)(from * 131 + to * 17 + i + i / 251);
}

/* The server of this rank; -1: none, and the error says why. */
static int find_server(const char *path, struct forsched_error *error)
{
	uint64_t guid;
	uint32_t me;

	if (forsched_open(path, &schedule, error) || forsched_own_guid(schedule, rank, &guid, error) ||
	    forsched_find_guid(schedule, guid, &me, error))
		return -1;
	snprintf(error->text, sizeof(error->text), "start one rank on each server of the schedule");
	return (int)forsched_nservers(schedule) == size ? (int)me : -1;
}

/* Who is on which server? All ranks hear the same, and of what is wrong the first that it is wrong for speaks; then -1. */
static int meet(const char *path)
{
	struct forsched_error error;
	int mine = find_server(path, &error), *server = calloc((size_t)size, sizeof(int));

	MPI_Allgather(&mine, 1, MPI_INT, server, 1, MPI_INT, MPI_COMM_WORLD);
	rank_on = malloc((size_t)size * sizeof(int));
	for (int i = 0; i < size; i++)
		rank_on[i] = -1;
	for (int i = 0; i < size; i++) {
		int is_good = server[i] >= 0 && rank_on[server[i]] < 0;
		if (!is_good && i == rank)
			fprintf(stderr, "rank %d: %s\n", rank, error.text);
		if (!is_good)
			return -1;
		rank_on[server[i]] = i;
	}
	free(server);
	return mine;
}

/* One phase of this rank; the number of wrong bytes. Blocks received are counted in *blocks. */
static long run_phase(uint32_t me, uint32_t phase, long *blocks)
{
	struct forsched_flow flow;
	long wrong = 0;

	if (forsched_flow(schedule, me, phase, &flow))
		MPI_Abort(MPI_COMM_WORLD, 1);
	int to = flow.to == FORSCHED_NOBODY ? MPI_PROC_NULL : rank_on[flow.to];
	int from = flow.from == FORSCHED_NOBODY ? MPI_PROC_NULL : rank_on[flow.from];
	for (uint32_t i = 0; i < BLOCK; i++)
		out[i] = told(me, flow.to, i), in[i] = (unsigned char)~told(flow.from, me, i);
	MPI_Sendrecv(out, BLOCK, MPI_BYTE, to, 0, in, BLOCK, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (uint32_t i = 0; from != MPI_PROC_NULL && i < BLOCK; i++)
		wrong += in[i] != told(flow.from, me, i);
	*blocks += from != MPI_PROC_NULL;
	return wrong;
}

int main(int argc, char **argv)
{
	long mine[2] = {0, 0}, all[2] = {0, 0}; /* wrong bytes, blocks received */
	int me;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	me = meet(argv[argc - 1]);
	for (uint32_t phase = 0; me >= 0 && phase < forsched_nphases(schedule); phase++) {
		mine[0] += run_phase((uint32_t)me, phase, &mine[1]);
		MPI_Barrier(MPI_COMM_WORLD); /* phases must not overlap: that is what keeps links free of conflicts */
	}
	MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0 && me >= 0)
		printf("%d servers: %ld blocks of %d bytes, %ld wrong bytes\n", size, all[1], BLOCK, all[0]);
	forsched_close(schedule);
	MPI_Finalize();
	return me < 0 ? 2 : rank == 0 && (all[0] || all[1] != (long)size * (size - 1));
}
