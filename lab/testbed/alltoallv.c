/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alltoallv SIGMA MEAN SEED CALLS [alltoall|alltoallv|events [EACH [PAIRS [NAME FIRST SECOND]]]]: calls of MPI_Alltoallv whose messages have lognormal sizes
 * of this sigma and about this mean, in bytes; sigma 0: all alike. Each call has the same sizes, the same on every run. Or
 * it is MPI_Alltoall that is called; sigma is 0 then. With `events` it is MPI_Alltoallv, and only the ranks of the first
 * three quarters send, to those of the last. EACH ranks that follow each other are on one server, usually one. All
 * ranks begin together, which is not timed.
 *
 * Rank 0 prints a line of JSON: the bytes of the port that has most to send or to receive (the port bound), the sum over
 * turns of the linear shift of the longest message, and the seconds that each call took until the last rank was done.
 * Each byte that arrives is compared.
 *
 * With PAIRS the calls are the first ones of so many pairs of new communicators, and "pairs" holds their seconds: in each
 * pair those of PMPI_Alltoallv, which no library stands before, then those of MPI_Alltoallv. The calls of the two take
 * turns, so whatever disturbs the machine meets both alike; which is first changes from pair to pair. With NAME both are
 * those of MPI_Alltoallv, with NAME=FIRST in the environment and with NAME=SECOND.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "messages.h"

static int rank, size, each = 1; /* ranks on a server; they follow each other */
static double sigma, mean;
static bool has_roles;
static uint64_t seed;
static char **setting; /* a name and two values; NULL: none */

/* Does a rank receive only? The others send only. */
static bool is_builder(int one)
{
	return 4 * one >= 3 * size;
}

/* Bytes from one rank to another: those of lognormal distribution have this mean. */
static int bytes_between(const void *what, int from, int to)
{
	(void)what;
	uint64_t key = mix(mix(seed) ^ ((uint64_t)from << 32 | (uint64_t)to));

	if (has_roles && (is_builder(from) || !is_builder(to)))
		return 0;
	return lognormal(key, mean, sigma);
}

static int bytes_of(int from, int to)
{
	return bytes_between(NULL, from, to);
}

/* What a server sends and receives over its port, the larger. */
static double port_bytes(int server)
{
	double out = 0, in = 0;

	for (int one = server * each; one < (server + 1) * each; one++)
		for (int i = 0; i < size; i++) {
			out += i / each == server ? 0 : bytes_of(one, i);
			in += i / each == server ? 0 : bytes_of(i, one);
		}
	return out > in ? out : in;
}

static double turns_bytes(void)
{
	double sum = 0;

	for (int shift = 1; shift < size; shift++) {
		int longest = 0;

		for (int from = 0; from < size; from++) {
			int bytes = bytes_of(from, (from + shift) % size);

			longest = bytes > longest ? bytes : longest;
		}
		sum += longest;
	}
	return sum;
}

typedef int alltoall_function(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int alltoallv_function(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
			       MPI_Datatype, MPI_Comm);

/* What a call is made with. */
struct callee {
	alltoall_function *alltoall; /* NULL: alltoallv */
	alltoallv_function *alltoallv;
	MPI_Comm comm;
	const char *name, *value; /* in the environment; NULL: as it is */
};

static double timed_call(const struct side *send, const struct side *recv, const struct callee *callee)
{
	double begin, mine, last = 0;

	if (callee->name)
		setenv(callee->name, callee->value, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (callee->alltoall)
		callee->alltoall(send->buffer, send->counts[0], MPI_BYTE, recv->buffer, recv->counts[0], MPI_BYTE,
				 callee->comm);
	else
		callee->alltoallv(send->buffer, send->counts, send->displacements, MPI_BYTE, recv->buffer, recv->counts,
				  recv->displacements, MPI_BYTE, callee->comm);
	mine = MPI_Wtime() - begin;
	MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return last;
}

/* A call whose bytes are compared. */
static double checked_call(const struct side *send, const struct side *recv, const struct callee *callee, long *wrong)
{
	double seconds = timed_call(send, recv, callee);

	*wrong += take_wrong(recv, MPI_COMM_WORLD);
	return seconds;
}

static void print_list(const double *seconds, int n)
{
	for (int i = 0; rank == 0 && i < n; i++)
		printf("%s%.9f", i ? ", " : "", seconds[i]);
}

/* Whose calls take turns: plain MPI's and those of whoever stands before it, or those with one setting and with another. */
static void make_callees(struct callee callee[2], bool is_uniform)
{
	for (int i = 0; i < 2; i++)
		callee[i] = (struct callee){.alltoall = is_uniform ? MPI_Alltoall : NULL,
					    .alltoallv = MPI_Alltoallv,
					    .name = setting ? setting[0] : NULL,
					    .value = setting ? setting[1 + i] : NULL};
	if (setting)
		return;
	callee[0].alltoall = is_uniform ? PMPI_Alltoall : NULL;
	callee[0].alltoallv = PMPI_Alltoallv;
}

/* The first calls of two new communicators, by turns. */
static void run_pair(const struct side *send, const struct side *recv, bool is_uniform, int calls, int pair,
		     long *wrong)
{
	struct callee callee[2];
	double *seconds = calloc(2 * (size_t)calls, sizeof(*seconds));

	make_callees(callee, is_uniform);
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &callee[i].comm);
	for (int call = 0; call < 2 * calls; call++) {
		int which = (call + pair) % 2;

		seconds[which * calls + call / 2] = checked_call(send, recv, &callee[which], wrong);
	}
	for (int i = 0; i < 2; i++) {
		if (rank == 0)
			printf("%s", i ? "], [" : pair ? ", [[" : "[[");
		print_list(seconds + i * calls, calls);
		MPI_Comm_free(&callee[i].comm);
	}
	if (rank == 0)
		printf("]]");
	fflush(stdout);
	free(seconds);
}

static void run_pairs(const struct side *send, const struct side *recv, bool is_uniform, int calls, int pairs,
		      long *wrong)
{
	for (int pair = 0; pair < pairs; pair++)
		run_pair(send, recv, is_uniform, calls, pair, wrong);
}

static void run_world(const struct side *send, const struct side *recv, bool is_uniform, int calls, long *wrong)
{
	struct callee callee = {
		.alltoall = is_uniform ? MPI_Alltoall : NULL, .alltoallv = MPI_Alltoallv, .comm = MPI_COMM_WORLD};
	double *seconds = calloc((size_t)calls, sizeof(*seconds));

	for (int i = 0; i < calls; i++)
		seconds[i] = checked_call(send, recv, &callee, wrong);
	print_list(seconds, calls);
	free(seconds);
}

static void print_head(const char *what)
{
	double port = 0;

	for (int i = 0; i < size / each; i++)
		port = port_bytes(i) > port ? port_bytes(i) : port;
	printf("{\"ranks\": %d, \"sigma\": %g, \"port_bytes\": %.0f, \"turns_bytes\": %.0f, \"%s\": [", size, sigma,
	       port, turns_bytes(), what);
}

int main(int argc, char **argv)
{
	struct side send, recv;
	long wrong = 0, all_wrong = 0;
	bool is_uniform;
	int calls, pairs;

	MPI_Init(&argc, &argv);
	if (argc < 5) {
		fprintf(stderr,
			"usage: alltoallv SIGMA MEAN SEED CALLS [alltoall|alltoallv|events [EACH [PAIRS [NAME FIRST SECOND]]]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	is_uniform = argc > 5 && strcmp(argv[5], "alltoall") == 0;
	has_roles = argc > 5 && strcmp(argv[5], "events") == 0;
	each = argc > 6 ? atoi(argv[6]) : 1;
	sigma = is_uniform ? 0 : atof(argv[1]);
	mean = atof(argv[2]);
	seed = strtoull(argv[3], NULL, 10);
	calls = atoi(argv[4]);
	pairs = argc > 7 ? atoi(argv[7]) : 0;
	setting = argc > 10 ? argv + 8 : NULL;
	send = lay_out(MPI_COMM_WORLD, bytes_between, NULL, true);
	recv = lay_out(MPI_COMM_WORLD, bytes_between, NULL, false);
	if (rank == 0)
		print_head(pairs ? "pairs" : "seconds");
	if (pairs)
		run_pairs(&send, &recv, is_uniform, calls, pairs, &wrong);
	else
		run_world(&send, &recv, is_uniform, calls, &wrong);
	MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("], \"wrong\": %ld}\n", all_wrong);
	MPI_Finalize();
	return all_wrong != 0;
}
