/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * many_calls FIRST CASES SEED CALLS MEAN: random cases FIRST, FIRST + 1, ...: communicators, sizes of messages, and MPI_Alltoall or
 * MPI_Alltoallv. A case has two equal communicators. The calls on one are PMPI's, which no library stands before, those on the other are
 * MPI's. They take turns, so whatever disturbs the machine meets both alike. Messages have from MEAN / 64 to MEAN bytes on average.
 *
 * Communicators are all ranks, all in the reverse order, halves, rows and columns of the squarest grid, which call together, or some
 * ranks by chance. Rank 0 prints a line of JSON for each case, with the seconds of each call until the last rank was done. Each byte
 * that arrives is compared.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "draws.h"
#include "messages.h"

enum kind { WORLD, REVERSE, HALVES, ROWS, COLUMNS, SOME, NKINDS };
static const char *const kind_names[NKINDS] = {"world", "reverse", "halves", "rows", "columns", "some"};
static const double sigmas[] = {0, 0, 0.1, 0.25, 0.5, 1}; /* the first: MPI_Alltoall */

struct one {
	uint64_t key;
	enum kind kind;
	bool is_alltoall;
	double sigma, mean;
};

static int world, rank; /* all ranks, and which this is */

static struct one case_of(uint64_t seed, int number, double most)
{
	uint64_t key = mix(mix(seed) ^ (uint64_t)number);
	unsigned which = (unsigned)(mix(key ^ 1) % (sizeof(sigmas) / sizeof(*sigmas)));

	return (struct one){.key = key,
			    .kind = (enum kind)(mix(key ^ 2) % NKINDS),
			    .is_alltoall = which == 0,
			    .sigma = sigmas[which],
			    .mean = most * pow(2, -6 * between_0_and_1(key ^ 3))};
}

/* Ranks of a row of the squarest grid. */
static int row_length(void)
{
	int length = (int)sqrt(world);

	while (world % length)
		length--;
	return world / length;
}

/* Which of the communicators of a case a rank is in. */
static int colour_of(const struct one *one)
{
	switch (one->kind) {
	case HALVES:
		return 2 * rank / world;
	case ROWS:
		return rank / row_length();
	case COLUMNS:
		return rank % row_length();
	case SOME:
		return rank < 2 || mix(one->key ^ (uint64_t)(rank + 100)) % 2 ? 0 : MPI_UNDEFINED;
	default:
		return 0;
	}
}

static int bytes_of(const void *what, int from, int to)
{
	const struct one *one = what;
	uint64_t place = one->is_alltoall ? 0 : (uint64_t)from << 32 | (uint64_t)to;

	return lognormal(one->key ^ place, one->mean, one->sigma);
}

static void call(const struct one *one, const struct side *send, const struct side *recv, MPI_Comm comm, bool is_plain)
{
	if (one->is_alltoall)
		(is_plain ? PMPI_Alltoall : MPI_Alltoall)(send->buffer, send->counts[0], MPI_BYTE, recv->buffer,
							  recv->counts[0], MPI_BYTE, comm);
	else
		(is_plain ? PMPI_Alltoallv : MPI_Alltoallv)(send->buffer, send->counts, send->displacements, MPI_BYTE,
							    recv->buffer, recv->counts, recv->displacements, MPI_BYTE,
							    comm);
}

/* Seconds until the last rank is done; right on rank 0. Ranks outside only wait. */
static double timed_call(const struct one *one, const struct side *send, const struct side *recv, MPI_Comm comm,
			 bool is_plain)
{
	double begin, mine, last = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (comm != MPI_COMM_NULL)
		call(one, send, recv, comm, is_plain);
	mine = MPI_Wtime() - begin;
	MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return last;
}

static long run_calls(const struct one *one, const MPI_Comm comm[2], int calls, double *seconds)
{
	struct side send = {0}, recv = {0};
	long wrong = 0;

	if (comm[0] != MPI_COMM_NULL) {
		send = lay_out(comm[0], bytes_of, one, true);
		recv = lay_out(comm[0], bytes_of, one, false);
	}
	for (int i = 0; i < 2 * calls; i++) {
		int which = (int)(((uint64_t)(i + i / 2) + one->key) % 2); /* the first of two calls by turns */

		seconds[which * calls + i / 2] = timed_call(one, &send, &recv, comm[which], which == 0);
		if (comm[which] != MPI_COMM_NULL)
			wrong += take_wrong(&recv, comm[which]);
	}
	free_side(&send);
	free_side(&recv);
	return wrong;
}

static void print_list(const char *name, const double *seconds, int n)
{
	printf(", \"%s\": [", name);
	for (int i = 0; i < n; i++)
		printf("%s%.6f", i ? ", " : "", seconds[i]);
	printf("]");
}

static void print_case(const struct one *one, int number, const double *seconds, int calls, long wrong)
{
	printf("{\"case\": %d, \"communicators\": \"%s\", \"call\": \"%s\", \"sigma\": %g, \"mean\": %.0f", number,
	       kind_names[one->kind], one->is_alltoall ? "alltoall" : "alltoallv", one->sigma, one->mean);
	print_list("plain", seconds, calls);
	print_list("library", seconds + calls, calls);
	printf(", \"wrong\": %ld}\n", wrong);
	fflush(stdout);
}

static void run_case(const struct one *one, int number, int calls)
{
	MPI_Comm comm[2];
	double *seconds = calloc(2 * (size_t)calls, sizeof(*seconds));
	long wrong, all_wrong = 0;

	for (int i = 0; i < 2; i++)
		MPI_Comm_split(MPI_COMM_WORLD, colour_of(one), one->kind == REVERSE ? world - rank : rank, &comm[i]);
	wrong = run_calls(one, comm, calls, seconds);
	MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		print_case(one, number, seconds, calls, all_wrong);
	for (int i = 0; i < 2; i++)
		if (comm[i] != MPI_COMM_NULL)
			MPI_Comm_free(&comm[i]);
	free(seconds);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc != 6) {
		fprintf(stderr, "usage: many_calls FIRST CASES SEED CALLS MEAN\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world);
	for (int i = 0; i < atoi(argv[2]); i++) {
		int number = atoi(argv[1]) + i;
		struct one one = case_of(strtoull(argv[3], NULL, 10), number, atof(argv[5]));

		run_case(&one, number, atoi(argv[4]));
	}
	MPI_Finalize();
	return 0;
}
