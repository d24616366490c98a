/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the ranks of a communicator take up a schedule. Its bytes are broadcast, each rank finds its server and prepares
 * its row, and all tell all which server they are. The verdict follows from those numbers, and they are the same
 * everywhere: follow when each rank is on a server of the schedule. A server may have several (places.c), or none
 * (subset.c).
 *
 * All of that is a dozen collective calls. No call of the program shall take much longer for it, so it is done in steps,
 * as many in each call as rank 0 has allowed, and the calls in between are MPI's. A step has a weight: about so many
 * collective calls that are short.
 */
#include "config.h"

#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMED_BARRIERS 5
#define MAX_PIECE (1u << 30) /* of a broadcast: counts are ints */

static uint64_t epochs; /* for forsched_mpi_epochs() */

uint64_t forsched_mpi_epochs(void)
{
	return __atomic_load_n(&epochs, __ATOMIC_RELAXED);
}

/* ---- to forget ---- */

static void drop_communicator(MPI_Comm *comm, bool is_finalized)
{
	if (*comm != MPI_COMM_NULL && !is_finalized)
		PMPI_Comm_free(comm);
	*comm = MPI_COMM_NULL;
}

static void drop_taking(struct taking *taking)
{
	free(taking->servers);
	free(taking->phases.to);
	free(taking->phases.from);
	free(taking->cells);
	free(taking->server);
	free(taking->place);
	forsched_mpi_portions_free(&taking->portions);
	*taking = (struct taking){.step = STEP_NONE};
}

void forsched_mpi_drop_demand(struct member *member)
{
	drop_taking(&member->taking);
	forsched_mpi_portions_free(&member->portions);
}

void forsched_mpi_drop(struct member *member, bool is_finalized)
{
	drop_communicator(&member->within, is_finalized);
	drop_communicator(&member->across, is_finalized);
	forsched_mpi_drop_demand(member);
	forsched_close(member->schedule);
	forsched_mpi_places_free(&member->places);
	forsched_mpi_turns_free(&member->turns);
	free(member->bytes);
	free(member->group_of);
	free(member->requests);
	free(member->streams);
	member->schedule = NULL;
	member->bytes = NULL;
	member->group_of = NULL;
	member->requests = NULL;
	member->streams = NULL;
	member->ngroups = 0;
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
static int make_room(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct taking *taking = &member->taking;

	if (member->rank != 0)
		member->bytes = malloc(member->nbytes);
	taking->servers = calloc((size_t)member->size, sizeof(*taking->servers));
	return forsched_mpi_all_agree(comm, member->bytes && taking->servers, goes_on);
}

/* A piece of the bytes of rank 0; the step is done again until all are there. */
static int spread(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct taking *taking = &member->taking;
	uint64_t left = member->nbytes - taking->done, piece = left < taking->piece ? left : taking->piece;
	int err = PMPI_Bcast((char *)member->bytes + taking->done, (int)piece, MPI_BYTE, 0, comm);

	taking->done += piece;
	*goes_on = true;
	if (taking->done < member->nbytes)
		taking->step--;
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
	if (!forsched_mpi_pack_places(member->bytes, member->nbytes, &member->places, member->family,
				      forsched_mpi_path_in_use(), cell, &head[0], &head[1]))
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
	member->group_of = calloc((size_t)member->size, sizeof(*member->group_of));
	member->requests = calloc(3 * (size_t)member->most, sizeof(*member->requests));
	if (!member->group_of || !member->requests ||
	    !forsched_mpi_make_turns(&member->turns, &member->places, member->rank, phases->n, phases->to,
				     phases->from))
		return false;
	forsched_mpi_group(member);
	return true;
}

/* Come to phases; all have places. */
static int plan(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct phases *phases = &member->taking.phases;
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
static int compare(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct forsched_error error = {0};
	int *servers = member->taking.servers, mine = find_server(member, &error) ? (int)member->server : -1;
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

static int split_off(struct member *member, MPI_Comm comm, bool *goes_on)
{
	int err = MPI_SUCCESS;

	*goes_on = true;
	if (member->private_comm == MPI_COMM_NULL)
		err = make_private(comm, &member->private_comm);
	return err ? err : PMPI_Comm_set_errhandler(member->private_comm, MPI_ERRORS_RETURN);
}

/* Two communicators for what ranks tell, where servers have several: those of a server, and the first of each. */
static int split_within(struct member *member, MPI_Comm comm, bool *goes_on)
{
	(void)comm;
	*goes_on = true;
	if (member->most < 2)
		return MPI_SUCCESS;
	return PMPI_Comm_split(member->private_comm, (int)member->me, member->rank, &member->within);
}

static int split_across(struct member *member, MPI_Comm comm, bool *goes_on)
{
	(void)comm;
	*goes_on = true;
	if (member->most < 2)
		return MPI_SUCCESS;
	return PMPI_Comm_split(member->private_comm, member->local ? MPI_UNDEFINED : 0, member->rank, &member->across);
}

/* The least of some; the step is done again until there are so many. */
static int time_barrier(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct taking *taking = &member->taking;
	double took = 0;
	int err = member->may_have_barrier ? forsched_mpi_time_barrier(member, &took) : MPI_SUCCESS;

	(void)comm;
	*goes_on = true;
	taking->barrier = taking->barriers++ && taking->barrier < took ? taking->barrier : took;
	if (member->may_have_barrier && taking->barriers < TIMED_BARRIERS)
		taking->step--;
	return err;
}

/* *goes_on is false before it. */
typedef int step_function(struct member *, MPI_Comm, bool *goes_on);

static const struct {
	step_function *run;
	uint64_t weight;
} steps[NSTEPS] = {
	[STEP_ROOM] = {make_room, 1},
	[STEP_BYTES] = {spread, 1},
	[STEP_SERVERS] = {compare, 2},
	[STEP_PHASES] = {plan, 1},
	[STEP_PRIVATE] = {split_off, 4},
	[STEP_WITHIN] = {split_within, 4},
	[STEP_ACROSS] = {split_across, 4},
	[STEP_BARRIER] = {time_barrier, 1},
	[STEP_HEAD] = {forsched_mpi_take_head, 2},
	[STEP_CELLS] = {forsched_mpi_take_cells, 1},
	[STEP_TOTALS] = {forsched_mpi_take_totals, 1},
};

/* ---- all of it ---- */

static void say_followed(const struct member *member)
{
	const struct taking *taking = &member->taking;
	char which[128] = "";

	if (!is_whole(member))
		snprintf(which, sizeof(which), " on %u of %u servers, in %u phases, where %u are the least",
			 member->places.n, forsched_nservers(member->schedule), member->turns.n, member->least);
	forsched_mpi_say(true, "epoch %llu: followed by %d ranks%s; that took %.3g ms in %llu calls",
			 (unsigned long long)taking->epoch, member->size, which, taking->seconds * 1e3,
			 (unsigned long long)taking->calls);
}

static void say_demand(const struct member *member, const struct taking *taking)
{
	struct forsched_info info;

	forsched_info(forsched_mpi_demand_taken(member), &info);
	forsched_mpi_say(
		true, "%s: epoch %llu of a demand: followed by %d ranks, in %u phases; that took %.3g ms in %llu calls",
		info.name, (unsigned long long)taking->epoch, member->size, member->portions.nphases,
		taking->seconds * 1e3, (unsigned long long)taking->calls);
}

/* The same for the schedule of a demand. That of all with all is followed on. */
static void end_demand(struct member *member, bool is_followed)
{
	const struct taking *taking = &member->taking;

	if (is_followed && member->rank == 0)
		say_demand(member, taking);
	if (is_followed)
		drop_taking(&member->taking);
	else
		forsched_mpi_drop_demand(member);
	if (member->rank == 0)
		forsched_mpi_demand_taken_up(member, is_followed);
}

/* The last step is done, or one of them was the last for another reason. */
static void end(struct member *member, bool is_following)
{
	double seconds = member->taking.seconds, barrier = member->taking.barrier;

	member->is_following = is_following;
	if (is_following) {
		__atomic_add_fetch(&epochs, 1, __ATOMIC_RELAXED);
		if (member->rank == 0)
			say_followed(member);
		drop_taking(&member->taking);
	} else {
		forsched_mpi_drop(member, false);
	}
	member->is_weighing = is_following;
	if (member->rank == 0)
		forsched_mpi_taken_up(member, seconds, barrier);
}

static int run_step(struct member *member, MPI_Comm comm)
{
	struct taking *taking = &member->taking;
	double began = forsched_mpi_now();
	bool goes_on = false;
	int err = steps[taking->step++].run(member, comm, &goes_on);

	taking->seconds += forsched_mpi_now() - began;
	if (err || !goes_on || taking->step == STEPS_END || taking->step == NSTEPS)
		(taking->step > STEPS_END ? end_demand : end)(member, !err && goes_on);
	return err;
}

void forsched_mpi_begin(struct member *member, const struct word *word, void *bytes)
{
	if (word->is_new) {
		member->bytes = bytes;
		member->nbytes = word->size;
	}
	member->taking = (struct taking){
		.step = word->is_new ? STEP_ROOM : STEP_HEAD,
		.weight = word->weight,
		.piece = word->piece < MAX_PIECE ? word->piece : MAX_PIECE,
		.epoch = word->epoch,
	};
}

int forsched_mpi_go_on(struct member *member, MPI_Comm comm)
{
	struct taking *taking = &member->taking;
	uint64_t spent = 0, weight = taking->weight;
	int err = MPI_SUCCESS;

	taking->calls++;
	while (!err && taking->step && (!spent || spent + steps[taking->step].weight <= weight)) {
		spent += steps[taking->step].weight;
		err = run_step(member, comm);
	}
	return err;
}
