/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a communicator has agreed on. It hangs at the communicator as an attribute, made at the first call.
 *
 * Before a call ranks speak: each tells rank 0 how much it sends (sizes.c: one reduction), and rank 0 answers with its
 * word (chief.c: one broadcast of 80 bytes): which way this call goes, whether there is another schedule, and how many
 * calls may pass before ranks speak again. When there is a schedule of the right number of servers, its bytes are
 * broadcast, each rank finds its server and prepares its row, and all tell all which server they are. The verdict follows
 * from those numbers, and they are the same everywhere: follow when each server has exactly one rank. So all change over
 * in the same call, whenever they see the new file, and only rank 0 needs to see it.
 *
 * Where there is no such schedule nobody tells sizes, and there is only the broadcast, now and then. Small messages of an
 * MPI_Alltoall have the same size on all ranks, so all know without a word that they are left to MPI.
 *
 * What rank 0 cannot read changes nothing: the communicator stays with what it has.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECE (1u << 30) /* of a broadcast: counts are ints */

/* ---- the attribute ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int keyval = MPI_KEYVAL_INVALID;
static uint64_t epochs; /* for forsched_mpi_epochs() */

static void drop_schedule(struct member *member)
{
	forsched_close(member->schedule);
	free(member->bytes);
	free(member->rank_of);
	free(member->group_of);
	free(member->streams);
	member->schedule = NULL;
	member->bytes = NULL;
	member->rank_of = NULL;
	member->group_of = NULL;
	member->streams = NULL;
	member->ngroups = 0;
	member->is_following = false;
}

/* The numbers that ranks tell are others under another schedule. */
static void drop_vector(struct member *member)
{
	if (member->vector != MPI_DATATYPE_NULL)
		PMPI_Type_free(&member->vector);
	member->vector = MPI_DATATYPE_NULL;
}

/* MPI calls it when the communicator is freed; at the end of the program MPI may be too far gone to free another. */
static int delete_member(MPI_Comm comm, int key, void *value, void *extra)
{
	struct member *member = value;
	int is_finalized = 0;

	(void)comm, (void)key, (void)extra;
	drop_schedule(member);
	forsched_mpi_chief_free(member->chief);
	PMPI_Finalized(&is_finalized);
	if (!is_finalized)
		drop_vector(member);
	if (!is_finalized && member->private_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&member->private_comm);
	free(member);
	return MPI_SUCCESS;
}

static void make_keyval(void)
{
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_member, &keyval, NULL);
}

static int new_member(MPI_Comm comm, struct member **member)
{
	struct member *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return MPI_ERR_NO_MEM;
	made->private_comm = MPI_COMM_NULL;
	made->vector = MPI_DATATYPE_NULL;
	made->is_weighing = true;
	PMPI_Comm_rank(comm, &made->rank);
	PMPI_Comm_size(comm, &made->size);
	made->chief = made->rank == 0 ? forsched_mpi_chief_new() : NULL;
	err = made->rank == 0 && !made->chief ? MPI_ERR_NO_MEM : PMPI_Comm_set_attr(comm, keyval, made);
	if (!err) {
		*member = made;
		return MPI_SUCCESS;
	}
	forsched_mpi_chief_free(made->chief);
	free(made);
	return err;
}

/* ---- coming to a verdict ---- */

/* Do all ranks say yes? */
static int all_agree(MPI_Comm comm, bool mine, bool *all)
{
	int yes = mine, least = 0, err = PMPI_Allreduce(&yes, &least, 1, MPI_INT, MPI_MIN, comm);

	*all = least;
	return err;
}

/* The bytes of rank 0 at every rank, in member->bytes; it stays NULL when one of them has no memory. */
static int spread(struct member *member, MPI_Comm comm, void *bytes, uint64_t size)
{
	char *room = member->rank == 0 ? bytes : malloc(size);
	bool have_all;
	int err = all_agree(comm, room != NULL, &have_all);

	for (uint64_t done = 0; !err && have_all && done < size; done += MAX_PIECE) {
		uint64_t piece = size - done < MAX_PIECE ? size - done : MAX_PIECE;

		err = PMPI_Bcast(room + done, (int)piece, MPI_BYTE, 0, comm);
	}
	if (!err && have_all)
		member->bytes = room;
	else
		free(room);
	return err;
}

/* Open what was broadcast, and find this rank's server; false: it is none, `why` says why. */
static bool settle(struct member *member, uint64_t size, char *why)
{
	struct forsched_error error;

	if (forsched_open_memory(member->bytes, size, "the schedule", &member->schedule, &error)) {
		snprintf(why, FORSCHED_ERROR_TEXT, "%s", error.text);
		return false;
	}
	if (!forsched_mpi_whoami(member->schedule, &member->me, why))
		return false;
	if (forsched_prepare(member->schedule, member->me, &error)) {
		snprintf(why, FORSCHED_ERROR_TEXT, "%s", error.text);
		return false;
	}
	return true;
}

/* From which server each rank is (servers[rank], -1: none): rank_of, and whether each server has one rank. */
static bool match(struct member *member, const int *servers, const char *why)
{
	for (int rank = 0; rank < member->size; rank++)
		member->rank_of[rank] = -1;
	for (int rank = 0; rank < member->size; rank++) {
		if (servers[rank] < 0) {
			if (rank == member->rank)
				forsched_mpi_say(false, "rank %d: %s: left to MPI", rank, why);
			return false;
		}
		if (member->rank_of[servers[rank]] >= 0) {
			if (member->rank == 0)
				forsched_mpi_say(false, "ranks %d and %d are on the same server: left to MPI",
						 member->rank_of[servers[rank]], rank);
			return false;
		}
		member->rank_of[servers[rank]] = rank;
	}
	return true;
}

/* What exchanges need, where all have agreed; *barrier: seconds of one. */
static int get_ready(struct member *member, MPI_Comm comm, double *barrier)
{
	int err = MPI_SUCCESS;

	if (member->private_comm == MPI_COMM_NULL)
		err = PMPI_Comm_split(comm, 0, member->rank, &member->private_comm);
	if (!err)
		err = PMPI_Comm_set_errhandler(member->private_comm, MPI_ERRORS_RETURN);
	if (!err)
		err = forsched_mpi_group(member);
	return !err && member->has_barrier ? forsched_mpi_time_barrier(member, barrier) : err;
}

/* Everybody tells everybody. `servers`, member->rank_of and member->group_of have member->size places; have_room is
 * false where one has none. */
static int compare(struct member *member, MPI_Comm comm, uint64_t size, int *servers, bool have_room)
{
	char why[FORSCHED_ERROR_TEXT] = "";
	bool all_have_room;
	int mine = -1, err = all_agree(comm, have_room, &all_have_room);

	if (err || !all_have_room)
		return err;
	if (settle(member, size, why))
		mine = (int)member->me;
	err = PMPI_Allgather(&mine, 1, MPI_INT, servers, 1, MPI_INT, comm);
	if (!err)
		member->is_following = match(member, servers, why);
	return err;
}

/* Take up a schedule; whether that has come about, all ranks know in member->is_following. */
static int take_up(struct member *member, MPI_Comm comm, const struct word *word, void *bytes, double *barrier)
{
	int *servers = calloc((size_t)member->size, sizeof(*servers));
	int err = spread(member, comm, bytes, word->size);

	member->rank_of = calloc((size_t)member->size, sizeof(*member->rank_of));
	member->group_of = calloc((size_t)member->size, sizeof(*member->group_of));
	if (!err && member->bytes)
		err = compare(member, comm, word->size, servers, servers && member->rank_of && member->group_of);
	free(servers);
	if (!err && member->is_following)
		err = get_ready(member, comm, barrier);
	return err;
}

static int adopt(struct member *member, MPI_Comm comm, const struct word *word, void *bytes)
{
	double began = forsched_mpi_now(), barrier = 0;
	int err = take_up(member, comm, word, bytes, &barrier);

	if (err || !member->is_following)
		drop_schedule(member);
	if (member->rank == 0)
		forsched_mpi_taken_up(member, forsched_mpi_now() - began, barrier);
	if (err || !member->is_following)
		return err;
	__atomic_add_fetch(&epochs, 1, __ATOMIC_RELAXED);
	if (member->rank == 0)
		forsched_mpi_say(true, "epoch %llu: followed by %d ranks", (unsigned long long)word->epoch,
				 member->size);
	return MPI_SUCCESS;
}

/* ---- before a call ---- */

/* Tell rank 0 how much is sent, if it wants to know, and hear its word. */
static int ask(struct member *member, MPI_Comm comm, const struct call *call, struct word *word, void **bytes)
{
	struct heard heard = {.took = 0};
	bool is_weighing = member->is_weighing;
	double began = forsched_mpi_now();
	int err = is_weighing ? forsched_mpi_weigh(member, comm, call, &heard) : MPI_SUCCESS;

	if (err)
		return err;
	if (member->rank == 0)
		*word = forsched_mpi_speak(member, is_weighing ? &heard : NULL, bytes);
	err = PMPI_Bcast(word, sizeof(*word) / sizeof(uint64_t), MPI_UINT64_T, 0, comm);
	if (member->rank == 0 && is_weighing)
		forsched_mpi_asked(member, forsched_mpi_now() - began);
	return err;
}

/* Do what the word says. *bytes belong to the caller no more. */
static int obey(struct member *member, MPI_Comm comm, const struct word *word, void **bytes)
{
	void *given = *bytes;
	int err = MPI_SUCCESS;

	*bytes = NULL;
	member->is_settled = true;
	member->is_over = word->is_over && !member->is_following;
	member->quiet = word->quiet;
	member->min_bytes = word->min_bytes;
	if (word->is_new) {
		member->has_barrier = word->has_barrier;
		drop_schedule(member);
		drop_vector(member);
		err = word->size ? adopt(member, comm, word, given) : MPI_SUCCESS;
	}
	member->is_weighing = word->is_weighing && (member->is_following || !word->size);
	return err;
}

/* Who takes up a schedule asks again: only now anybody knows what the call is, measured by it. */
static int agree(struct member *member, MPI_Comm comm, const struct call *call, struct order *order)
{
	struct word word = {.is_new = 0};
	void *bytes = NULL;
	int err = MPI_SUCCESS;
	bool is_again = false;

	do {
		err = ask(member, comm, call, &word, &bytes);
		if (!err)
			err = obey(member, comm, &word, &bytes);
		is_again = !is_again && !err && word.is_new && member->is_following;
	} while (is_again);
	free(bytes);
	if (!err && member->is_following)
		*order = (struct order){(enum way)word.way, word.chunk};
	return err;
}

/* Do all ranks know without a word that the call is left to MPI? */
static bool is_left(struct member *member, const struct call *call)
{
	if (!member->is_settled)
		return false;
	if (member->is_over ||
	    (member->min_bytes && call->is_uniform && forsched_mpi_uniform_bytes(call) < member->min_bytes))
		return true;
	if (!member->quiet)
		return false;
	member->quiet--;
	return true;
}

static int find_member(MPI_Comm comm, struct member **member)
{
	int is_inter = 0, is_found = 0, size = 1, err;

	*member = NULL;
	pthread_once(&once, make_keyval);
	err = PMPI_Comm_get_attr(comm, keyval, member, &is_found);
	if (err || is_found)
		return err;
	*member = NULL;
	PMPI_Comm_test_inter(comm, &is_inter);
	PMPI_Comm_size(comm, &size);
	return is_inter || size < 2 ? MPI_SUCCESS : new_member(comm, member);
}

int forsched_mpi_enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order)
{
	int err = find_member(comm, member);

	*order = (struct order){WAY_MPI, 0};
	if (err || !*member)
		return err;
	(*member)->calls++;
	(*member)->began = 0;
	if (is_left(*member, call))
		return MPI_SUCCESS;
	err = agree(*member, comm, call, order);
	(*member)->began = forsched_mpi_now();
	return err;
}

void forsched_mpi_leave(struct member *member)
{
	if (member->began > 0)
		member->took = forsched_mpi_now() - member->began;
}

uint64_t forsched_mpi_epochs(void)
{
	return __atomic_load_n(&epochs, __ATOMIC_RELAXED);
}
