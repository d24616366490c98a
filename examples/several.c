/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpirun -np N several SCHEDULE: the whole exchange of the ranks of P servers, several on each. Rank r is on server r mod P,
 * number r / P there. Each rank sends its number to each rank of another server, and checks what it gets.
 */
#include <forsched.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, servers;

static int ranks_on(int server)
{
	return server < 0 ? 0 : (ranks - server + servers - 1) / servers;
}

static int rank_on(int server, int number)
{
	return number * servers + server;
}

/*
 * One phase: expect what comes from all ranks of one server, send to all ranks of another. Each sender begins at another
 * receiver. How many numbers came, negative: one was wrong.
 */
static int run_phase(int to, int from, int *in, MPI_Request *request)
{
	int ks = ranks_on(rank % servers), kd = ranks_on(to), n = ranks_on(from), wrong = 0;

	for (int i = 0; i < n; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, rank_on(from, i), 0, MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < kd; i++)
		MPI_Send(&rank, 1, MPI_INT, rank_on(to, (rank / servers * kd / ks + i) % kd), 0, MPI_COMM_WORLD);
	MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < n; i++)
		wrong += in[i] != rank_on(from, i);
	return wrong ? -1 : n;
}

int main(int argc, char **argv)
{
	struct forsched *schedule = NULL;
	struct forsched_error error;
	struct forsched_flow flow;
	int mine[2] = {0, 0}, all[2]; /* numbers that came, phases that were wrong */

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (forsched_open(argv[argc - 1], &schedule, &error) || (int)forsched_nservers(schedule) > ranks) {
		fprintf(stderr, "%s\n",
			schedule ? "start at least one rank for each server of the schedule" : error.text);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	servers = (int)forsched_nservers(schedule);
	int *in = calloc((size_t)ranks, sizeof(*in));
	MPI_Request *request = calloc((size_t)ranks, sizeof(MPI_Request));
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		forsched_flow(schedule, (uint32_t)(rank % servers), phase, &flow);
		int came = run_phase((int)flow.to, (int)flow.from, in, request); /* FORSCHED_NOBODY: below 0 */
		mine[0] += came;
		mine[1] += came < 0;
		MPI_Barrier(MPI_COMM_WORLD); /* phases must not overlap: that is what keeps links free of conflicts */
	}
	MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks on %d servers: %d messages, %d wrong phases\n", ranks, servers, all[0], all[1]);
	free(in);
	free(request);
	forsched_close(schedule);
	MPI_Finalize();
	return rank == 0 && all[1];
}
