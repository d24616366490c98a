/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpirun -np N several SCHEDULE: the whole exchange of ranks, several on each server. Each rank sends its number to each rank
 * of another server, and checks what it gets. A rank is on the server of its host's InfiniBand port; where there is none
 * FORSCHED_MAP names a file (man forsched_own_guid).
 */
#include <forsched.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static struct forsched *schedule;
static int rank, ranks, *server_of; /* server_of: by rank, -1: not known */

static int ranks_on(int server)
{
	int n = 0;

	for (int i = 0; i < ranks; i++)
		n += server_of[i] == server;
	return server < 0 ? 0 : n;
}

/* Rank `number`, counted from 0, of those on a server. */
static int rank_on(int server, int number)
{
	int i = -1;

	while (number >= 0)
		number -= server_of[++i] == server;
	return i;
}

/* How many ranks with lower numbers are on the server of this one? */
static int own_number(void)
{
	int number = 0;

	while (rank_on(server_of[rank], number) != rank)
		number++;
	return number;
}

static int is_each_server_there(void)
{
	int server = 0;

	while (server < (int)forsched_nservers(schedule) && ranks_on(server))
		server++;
	if (server == (int)forsched_nservers(schedule))
		return 1;
	if (rank == 0)
		fprintf(stderr, "start at least one rank on each server of the schedule\n");
	return 0;
}

/* Who is on which server? All ranks hear the same, and the first that does not know says why; then 0. */
static int meet(const char *path)
{
	struct forsched_error error;
	uint32_t me;
	uint64_t guid;
	int first = 0, is_bad = forsched_open(path, &schedule, &error) ||
				forsched_own_guid(schedule, rank, &guid, &error) ||
				forsched_find_guid(schedule, guid, &me, &error);
	int mine = is_bad ? -1 : (int)me;

	server_of = calloc((size_t)ranks, sizeof(int));
	MPI_Allgather(&mine, 1, MPI_INT, server_of, 1, MPI_INT, MPI_COMM_WORLD);
	while (first < ranks && server_of[first] >= 0)
		first++;
	if (first == rank)
		fprintf(stderr, "rank %d: %s\n", rank, error.text);
	return first == ranks && is_each_server_there();
}

/*
 * One phase: expect what comes from all ranks of one server, send to all ranks of another. Each sender begins at another
 * receiver. How many numbers came, negative: one was wrong.
 */
static int run_phase(int to, int from, int *in, MPI_Request *request)
{
	int ks = ranks_on(server_of[rank]), first, kd = ranks_on(to), n = ranks_on(from), wrong = 0;

	first = own_number() * kd / ks;
	for (int i = 0; i < n; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, rank_on(from, i), 0, MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < kd; i++)
		MPI_Send(&rank, 1, MPI_INT, rank_on(to, (first + i) % kd), 0, MPI_COMM_WORLD);
	MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < n; i++)
		wrong += in[i] != rank_on(from, i);
	return wrong ? -1 : n;
}

/* All phases, with a barrier after each; in all[]: numbers that came, phases that were wrong. */
static void exchange(int *all)
{
	int mine[2] = {0, 0}, *in = calloc((size_t)ranks, sizeof(*in));
	MPI_Request *request = calloc((size_t)ranks, sizeof(MPI_Request));
	struct forsched_flow flow;

	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		forsched_flow(schedule, (uint32_t)server_of[rank], phase, &flow);
		int came = run_phase((int)flow.to, (int)flow.from, in, request); /* FORSCHED_NOBODY: below 0 */
		mine[0] += came;
		mine[1] += came < 0;
		MPI_Barrier(MPI_COMM_WORLD); /* phases must not overlap: that is what keeps links free of conflicts */
	}
	MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	free(in);
	free(request);
}

int main(int argc, char **argv)
{
	int all[2] = {0, 0}, is_good;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	is_good = meet(argv[argc - 1]);
	if (is_good)
		exchange(all);
	if (is_good && rank == 0)
		printf("%d ranks on %u servers: %d messages, %d wrong phases\n", ranks, forsched_nservers(schedule),
		       all[0], all[1]);
	free(server_of);
	forsched_close(schedule);
	MPI_Finalize();
	return is_good ? rank == 0 && all[1] : 2;
}
