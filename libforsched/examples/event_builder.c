/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpirun -np P event_builder SCHEDULE [EVENTS [own]]: events go from sources to builders, along the schedule of a demand
 * (fors plan --demand --output, or demand_file of the plugin), and then by a linear shift without barriers. There is one rank
 * on each server, as in mpi_exchange. The demand says who sends how much to whom, so nothing else does.
 *
 * Along the schedule a message goes in pieces. A phase ends for all at once; with `own` a rank only waits for its own
 * messages of the phase. In the shift rank r sends whole messages to r + 1, r + 2 and so on, in the order of servers.
 *
 * Rank 0 prints a line of JSON: the seconds of each event until the last rank was done, both ways, and the number of wrong
 * bytes; every byte of the first event is compared.
 */
#include <forsched.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
	unsigned char *out, *in; /* to this server, from this server */
	uint64_t out_bytes, in_bytes;
};

static struct forsched *schedule;
static struct message *message;	 /* by server */
static int rank, size, *rank_on; /* rank_on: by server */
static uint32_t me;

static unsigned char byte_of(uint32_t from, uint32_t to, uint64_t at)
{
	return (unsigned char)(from * 31 + to * 17 + at * 7 + at / 251);
}

/* The server of this rank; -1: none, and the error says why. */
static int find_server(const char *path, struct forsched_error *error)
{
	uint64_t guid;

	if (forsched_open(path, &schedule, error) || forsched_own_guid(schedule, rank, &guid, error) ||
	    forsched_find_guid(schedule, guid, &me, error) || forsched_prepare(schedule, me, error))
		return -1;
	snprintf(error->text, sizeof(error->text), "start one rank on each server of the schedule");
	return (int)forsched_nservers(schedule) == size ? (int)me : -1;
}

/* Who is on which server? The first rank that something is wrong for speaks. */
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
			return 0;
		rank_on[server[i]] = i;
	}
	free(server);
	return 1;
}

/* Room for what the demand says. */
static void lay_out(void)
{
	message = calloc((size_t)size, sizeof(*message));
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		struct forsched_flow flow;
		struct forsched_piece piece;

		forsched_flow(schedule, me, phase, &flow);
		forsched_piece(schedule, me, phase, &piece);
		if (flow.to != FORSCHED_NOBODY)
			message[flow.to].out_bytes = piece.total;
		if (flow.from != FORSCHED_NOBODY)
			message[flow.from].in_bytes = piece.in_total;
	}
	for (uint32_t s = 0; s < (uint32_t)size; s++) {
		message[s].out = malloc(message[s].out_bytes + 1);
		message[s].in = calloc(1, message[s].in_bytes + 1);
		for (uint64_t i = 0; i < message[s].out_bytes; i++)
			message[s].out[i] = byte_of(me, s, i);
	}
}

/* Count wrong bytes, and spoil what was received. */
static long wrong_bytes(void)
{
	long wrong = 0;

	for (uint32_t s = 0; s < (uint32_t)size; s++)
		for (uint64_t i = 0; i < message[s].in_bytes; i++) {
			wrong += message[s].in[i] != byte_of(s, me, i);
			message[s].in[i] = (unsigned char)~byte_of(s, me, i);
		}
	return wrong;
}

/* ---- along the schedule ---- */

static void run_phase(uint32_t phase)
{
	MPI_Request request[2];
	struct forsched_flow flow;
	struct forsched_piece piece;
	int n = 0;

	forsched_flow(schedule, me, phase, &flow);
	forsched_piece(schedule, me, phase, &piece);
	if (flow.from != FORSCHED_NOBODY)
		MPI_Irecv(message[flow.from].in + piece.in_offset, (int)piece.in_bytes, MPI_BYTE, rank_on[flow.from], 0,
			  MPI_COMM_WORLD, &request[n++]);
	if (flow.to != FORSCHED_NOBODY)
		MPI_Isend(message[flow.to].out + piece.offset, (int)piece.bytes, MPI_BYTE, rank_on[flow.to], 0,
			  MPI_COMM_WORLD, &request[n++]);
	MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

static void by_schedule(int has_barriers)
{
	uint32_t nphases = forsched_nphases(schedule);

	for (uint32_t phase = 0; phase < nphases; phase++) {
		run_phase(phase);
		if (has_barriers && phase + 1 < nphases)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* ---- a shift ---- */

static void by_shift(void)
{
	for (uint32_t step = 1; step < (uint32_t)size; step++) {
		uint32_t to = (me + step) % (uint32_t)size, from = (me + (uint32_t)size - step) % (uint32_t)size;
		MPI_Request request[2];
		int n = 0;

		if (message[from].in_bytes)
			MPI_Irecv(message[from].in, (int)message[from].in_bytes, MPI_BYTE, rank_on[from], 0,
				  MPI_COMM_WORLD, &request[n++]);
		if (message[to].out_bytes)
			MPI_Isend(message[to].out, (int)message[to].out_bytes, MPI_BYTE, rank_on[to], 0, MPI_COMM_WORLD,
				  &request[n++]);
		MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
	}
}

/* ---- events ---- */

static double timed(int is_shift, int has_barriers)
{
	double mine, last = 0, begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (is_shift)
		by_shift();
	else
		by_schedule(has_barriers);
	mine = MPI_Wtime() - begin;
	MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return last;
}

/* The two ways by turns, so whatever disturbs the machine meets both. The first event of each is not timed but compared. */
static long run(int events, int has_barriers)
{
	double *seconds = calloc(2 * (size_t)events + 2, sizeof(*seconds));
	long wrong = 0;

	for (int event = 0; event <= events; event++)
		for (int way = 0; way < 2; way++) {
			seconds[2 * event + way] = timed(way, has_barriers);
			wrong += event ? 0 : wrong_bytes();
		}
	for (int way = 0; rank == 0 && way < 2; way++) {
		printf("%s\"%s\": [", way ? ", " : "{", way ? "shift" : "schedule");
		for (int event = 1; event <= events; event++)
			printf("%s%.6f", event > 1 ? ", " : "", seconds[2 * event + way]);
		printf("]");
	}
	free(seconds);
	return wrong;
}

int main(int argc, char **argv)
{
	struct forsched_sizes sizes;
	long wrong, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 2 || !meet(argv[1])) {
		if (argc < 2 && rank == 0)
			fprintf(stderr, "usage: mpirun -np P event_builder SCHEDULE [EVENTS [own]]\n");
		MPI_Finalize();
		return 2;
	}
	forsched_sizes(schedule, &sizes);
	lay_out();
	wrong = run(argc > 2 ? atoi(argv[2]) : 1, argc < 4 || strcmp(argv[3], "own") != 0);
	MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Bcast(&all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf(", \"phases\": %u, \"length\": %llu, \"wrong\": %ld}\n", forsched_nphases(schedule),
		       (unsigned long long)sizes.length, all);
	forsched_close(schedule);
	MPI_Finalize();
	return all != 0;
}
