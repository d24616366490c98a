/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the ranks of a communicator take up a schedule. Its bytes are broadcast, each rank finds its server and prepares
 * its row, and all tell all which server they are. The verdict follows from those numbers, and they are the same
 * everywhere: follow when each rank is on a server of the schedule. A server may have several (places.c), or none
 * (subset.c).
 *
 * All of that is a dozen collective calls and some runs through the phases, before one call of the program.
 */
#include "config.h"

#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECE (1u << 30) /* of a broadcast: counts are ints */

/* A schedule that is being taken up. */
struct taking {
	int *servers; /* by rank; -1: none of the schedule */
	struct phases phases;
	double waiting; /* seconds that phases take without data */
};

static uint64_t epochs; /* for forsched_mpi_epochs() */

uint64_t forsched_mpi_epochs(void)
{
	return __atomic_load_n(&epochs, __ATOMIC_RELAXED);
}

/* ---- to forget ---- */

void forsched_mpi_drop(struct member *member)
{
	forsched_close(member->schedule);
	forsched_mpi_places_free(&member->places);
	forsched_mpi_turns_free(&member->turns);
	free(member->bytes);
	free(member->requests);
	free(member->streams);
	member->schedule = NULL;
	member->bytes = NULL;
	member->requests = NULL;
	member->streams = NULL;
	member->is_following = false;
}

/* ---- the bytes ---- */

int forsched_mpi_all_agree(MPI_Comm comm, bool mine, bool *all)
{
	int yes = mine, least = 0, err = PMPI_Allreduce(&yes, &least, 1, MPI_INT, MPI_MIN, comm);

	*all = least;
	return err;
}

/* Room for what the next steps bring, everywhere or the schedule is left alone. */
static int make_room(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	if (member->rank != 0)
		member->bytes = malloc(member->nbytes);
	taking->servers = calloc((size_t)member->size, sizeof(*taking->servers));
	return forsched_mpi_all_agree(comm, member->bytes && taking->servers, goes_on);
}

/* The bytes of rank 0. */
static int spread(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	int err = MPI_SUCCESS;

	(void)taking;
	*goes_on = true;
	for (uint64_t done = 0; !err && done < member->nbytes; done += MAX_PIECE) {
		uint64_t left = member->nbytes - done;

		err = PMPI_Bcast((char *)member->bytes + done, (int)(left < MAX_PIECE ? left : MAX_PIECE), MPI_BYTE, 0,
				 comm);
	}
	return err;
}

/* Open what was broadcast, and find this rank's server; false: it is none, the error says why. */
static bool find_server(struct member *member, struct forsched_error *error)
{
	uint64_t guid;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return !forsched_open_memory(member->bytes, member->nbytes, "the schedule", &member->schedule, error) &&
	       !forsched_own_guid(member->schedule, rank, &guid, error) &&
	       !forsched_find_guid(member->schedule, guid, &member->server, error) &&
	       !forsched_prepare(member->schedule, member->server, error);
}

/* ---- the verdict ---- */

/* Is each rank on a server (servers[rank], -1: none)? Who is not says why, if it is the first. */
static bool all_have_servers(const struct member *member, const int *servers, const char *why)
{
	for (int rank = 0; rank < member->size; rank++) {
		if (servers[rank] >= 0)
			continue;
		if (rank == member->rank)
			forsched_mpi_say(false, "rank %d: %s: left to MPI", rank, why);
		return false;
	}
	return true;
}

/* Can there be an exchange between the servers that have ranks here? Rank 0 says why not. */
static bool is_possible(const struct member *member)
{
	uint32_t n = member->places.n, nservers = forsched_nservers(member->schedule);
	int all = 0;

	if (n > 1 && (n == nservers || n <= MOST_PLACES))
		return true;
	PMPI_Comm_size(MPI_COMM_WORLD, &all);
	if (member->rank == 0)
		forsched_mpi_say(member->size != all, "a communicator of %d ranks on %u of %u servers%s: left to MPI",
				 member->size, n, nservers, n > 1 ? ", more than are packed" : "");
	return false;
}

/* ---- phases: the schedule's own ---- */

/* The schedule's own, where all its servers have ranks. */
static bool take_schedule(const struct member *member, struct phases *phases)
{
	struct forsched_flow flow;

	phases->n = phases->least = forsched_nphases(member->schedule);
	phases->to = calloc(phases->n, sizeof(*phases->to));
	phases->from = calloc(phases->n, sizeof(*phases->from));
	if (!phases->to || !phases->from)
		return false;
	for (uint32_t phase = 0; phase < phases->n; phase++) {
		if (forsched_flow(member->schedule, member->server, phase, &flow)) /* was prepared: does not fail */
			return false;
		phases->to[phase] = flow.to == FORSCHED_NOBODY ? NO_PLACE : member->places.of[flow.to];
		phases->from[phase] = flow.from == FORSCHED_NOBODY ? NO_PLACE : member->places.of[flow.from];
	}
	return true;
}

static bool is_whole(const struct member *member)
{
	return member->places.n == forsched_nservers(member->schedule);
}

/* ---- some of its servers: rank 0 packs, and all hear in which phase each server sends to each ---- */

/* This rank's row and column. */
static bool take_phases(const struct member *member, const uint16_t *cell, struct phases *phases)
{
	uint32_t n = member->places.n, me = member->places.at[member->rank];

	phases->to = malloc(phases->n * sizeof(*phases->to));
	phases->from = malloc(phases->n * sizeof(*phases->from));
	if (!phases->to || !phases->from)
		return false;
	memset(phases->to, 0xff, phases->n * sizeof(*phases->to));
	memset(phases->from, 0xff, phases->n * sizeof(*phases->from));
	for (uint32_t peer = 0; peer < n; peer++) {
		if (peer == me)
			continue;
		phases->to[cell[(size_t)me * n + peer]] = peer;
		phases->from[cell[(size_t)peer * n + me]] = peer;
	}
	return true;
}

/* head: phases, 0 where there is no memory, and how many there have to be. */
static void pack_places(const struct member *member, uint16_t *cell, uint32_t head[2])
{
	if (!forsched_mpi_pack_places(member->bytes, member->nbytes, &member->places, forsched_mpi_path_in_use(), cell,
				      &head[0], &head[1]))
		head[0] = 0;
}

/* *have_room: false where there is no memory, which may be here only. Collective. */
static int pack_subset(struct member *member, MPI_Comm comm, struct phases *phases, bool *have_room)
{
	size_t n = member->places.n;
	uint16_t *cell = calloc(n * n, sizeof(*cell));
	uint32_t head[2] = {0, 0};
	int err = forsched_mpi_all_agree(comm, cell != NULL, have_room);

	if (!err && *have_room && member->rank == 0)
		pack_places(member, cell, head);
	if (!err && *have_room)
		err = PMPI_Bcast(head, 2, MPI_UINT32_T, 0, comm);
	*have_room = *have_room && head[0];
	if (!err && *have_room)
		err = PMPI_Bcast(cell, (int)(n * n), MPI_UINT16_T, 0, comm);
	phases->n = head[0];
	phases->least = head[1];
	*have_room = !err && *have_room && take_phases(member, cell, phases);
	free(cell);
	return err;
}

/* ---- all that an exchange needs ---- */

/* Where this rank is among the others. */
static void find_place(struct member *member)
{
	const struct places *places = &member->places;

	member->me = places->at[member->rank];
	member->local = 0;
	while (places->rank[places->first[member->me] + member->local] != member->rank)
		member->local++;
	member->most = 0;
	for (uint32_t place = 0; place < places->n; place++) {
		int ranks = forsched_mpi_ranks_at(places, place);

		member->most = ranks > member->most ? ranks : member->most;
	}
}

/* Room for all that an exchange needs; false: there is none. */
static bool furnish(struct member *member, const struct phases *phases)
{
	find_place(member);
	member->requests = calloc(3 * (size_t)member->most, sizeof(*member->requests));
	return member->requests && forsched_mpi_make_turns(&member->turns, &member->places, member->rank, phases->n,
							   phases->to, phases->from);
}

/* Come to phases; all have places. */
static int plan(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	struct phases *phases = &taking->phases;
	bool have_room = true;
	int err = MPI_SUCCESS, agreed;

	if (is_whole(member))
		have_room = take_schedule(member, phases);
	else
		err = pack_subset(member, comm, phases, &have_room);
	have_room = !err && have_room && furnish(member, phases);
	member->least = phases->least;
	agreed = forsched_mpi_all_agree(comm, have_room, goes_on);
	return err ? err : agreed;
}

/* ---- the steps ---- */

/* Everybody tells everybody. */
static int compare(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	struct forsched_error error = {0};
	int *servers = taking->servers, mine = find_server(member, &error) ? (int)member->server : -1;
	int err = PMPI_Allgather(&mine, 1, MPI_INT, servers, 1, MPI_INT, comm);
	bool have_room;

	if (err || !all_have_servers(member, servers, error.text))
		return err;
	have_room =
		forsched_mpi_make_places(&member->places, servers, member->size, forsched_nservers(member->schedule));
	err = forsched_mpi_all_agree(comm, have_room, &have_room);
	*goes_on = !err && have_room && is_possible(member);
	return err;
}

/* All ranks in the order that they have. MPI_Comm_dup would copy the program's attributes, MPI_Comm_split takes longer. */
static int make_private(MPI_Comm comm, MPI_Comm *made)
{
	MPI_Group group;
	int err = PMPI_Comm_group(comm, &group);

	if (err)
		return err;
	err = PMPI_Comm_create(comm, group, made);
	PMPI_Group_free(&group);
	return err;
}

static int split_off(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	int err = MPI_SUCCESS;

	(void)taking;
	*goes_on = true;
	if (member->private_comm == MPI_COMM_NULL)
		err = make_private(comm, &member->private_comm);
	return err ? err : PMPI_Comm_set_errhandler(member->private_comm, MPI_ERRORS_RETURN);
}

/* What all phases take without data: the middle one of three runs, of which the first makes connections. */
static int time_phases(struct member *member, MPI_Comm comm, struct taking *taking, bool *goes_on)
{
	struct three runs = {.n = 0};
	double took = 0;
	int err = MPI_SUCCESS;

	(void)comm;
	*goes_on = true;
	while (!err && runs.n < 3) {
		err = forsched_mpi_time_phases(member, &took);
		forsched_mpi_note_number(&runs, took);
	}
	taking->waiting = forsched_mpi_middle(&runs);
	return err;
}

/* ---- all of it ---- */

static void say_followed(const struct member *member, uint64_t epoch, const struct taking *taking, double seconds)
{
	char which[128] = "";

	if (!is_whole(member))
		snprintf(which, sizeof(which), " on %u of %u servers, in %u phases, where %u are the least",
			 member->places.n, forsched_nservers(member->schedule), member->turns.n, member->least);
	forsched_mpi_say(true, "epoch %llu: followed by %d ranks%s; that took %.3g ms, phases without data %.3g ms",
			 (unsigned long long)epoch, member->size, which, seconds * 1e3, taking->waiting * 1e3);
}

/* *goes_on is false before it. */
typedef int step_function(struct member *, MPI_Comm, struct taking *, bool *goes_on);

static step_function *const steps[] = {make_room, spread, compare, plan, split_off, time_phases};

static int run_steps(struct member *member, MPI_Comm comm, struct taking *taking, bool *is_done)
{
	int err = MPI_SUCCESS;

	*is_done = true;
	for (size_t i = 0; !err && *is_done && i < sizeof(steps) / sizeof(steps[0]); i++) {
		*is_done = false;
		err = steps[i](member, comm, taking, is_done);
	}
	return err;
}

int forsched_mpi_take_up(struct member *member, MPI_Comm comm, const struct word *word, void *bytes)
{
	struct taking taking = {NULL};
	double began = forsched_mpi_now();
	bool is_done = false;
	int err;

	member->bytes = bytes;
	member->nbytes = word->size;
	err = run_steps(member, comm, &taking, &is_done);
	is_done = !err && is_done;
	member->is_following = member->is_weighing = is_done;
	if (is_done)
		__atomic_add_fetch(&epochs, 1, __ATOMIC_RELAXED);
	else
		forsched_mpi_drop(member);
	if (member->rank == 0 && is_done)
		say_followed(member, word->epoch, &taking, forsched_mpi_now() - began);
	if (member->rank == 0)
		forsched_mpi_taken_up(member, forsched_mpi_now() - began, taking.waiting);
	free(taking.servers);
	free(taking.phases.to);
	free(taking.phases.from);
	return err;
}
