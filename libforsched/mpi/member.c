/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a communicator has agreed on. It hangs at the communicator as an attribute, made at the first call.
 *
 * Before a call ranks speak: each tells rank 0, the root, how much it sends (sizes.c: one reduction), and the root answers with its
 * word (root.c: one broadcast): which way this call goes, whether there is another schedule, and how many
 * calls may pass before ranks speak again. When there is a newer schedule all ranks take it up (take_up.c), or none. So
 * all change over in the same call, whenever they see the new file, and only the root needs to see it.
 *
 * Of an MPI_Alltoall all ranks know the size without a word. So where ranks do not speak it follows the schedule as well, when its
 * messages are of a size that the last word gave. All other calls in between are left to MPI. Nothing goes on between calls.
 *
 * What the root cannot read changes nothing: the communicator stays with what it has.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TIMES 2 /* that ranks ask before a call: when a schedule is taken up in it */

/* ---- the attribute ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int keyval = MPI_KEYVAL_INVALID;

/* MPI calls it when the communicator is freed; at the end of the program MPI may be too far gone to free another. */
static int delete_member(MPI_Comm comm, int key, void *value, void *extra)
{
	struct member *member = value;
	int is_finalized = 0;

	(void)comm, (void)key, (void)extra;
	PMPI_Finalized(&is_finalized);
	forsched_mpi_drop(member);
	forsched_mpi_root_free(member->root);
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
	made->is_weighing = true;
	PMPI_Comm_rank(comm, &made->rank);
	PMPI_Comm_size(comm, &made->size);
	made->root = made->rank == 0 ? forsched_mpi_root_new(made->size) : NULL;
	err = made->rank == 0 && !made->root ? MPI_ERR_NO_MEM : PMPI_Comm_set_attr(comm, keyval, made);
	if (!err) {
		*member = made;
		return MPI_SUCCESS;
	}
	forsched_mpi_root_free(made->root);
	free(made);
	return err;
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
	if (is_weighing)
		member->asking = forsched_mpi_now() - began;
	return err;
}

/* Do what the word says. *bytes belong to the caller no more. */
static int obey(struct member *member, MPI_Comm comm, const struct word *word, void **bytes)
{
	void *given = *bytes;

	*bytes = NULL;
	member->is_agreed = true;
	member->is_over = word->is_over && !member->is_following;
	member->quiet = word->quiet;
	member->min_bytes = word->min_bytes;
	member->from = word->from;
	member->to = word->to;
	member->has_barrier = word->has_barrier;
	member->is_weighing = word->is_weighing;
	if (word->is_new)
		forsched_mpi_drop(member);
	return word->is_new && word->size ? forsched_mpi_take_up(member, comm, word, given) : MPI_SUCCESS;
}

/* Was a schedule taken up just now? Then nobody knows what the call is, measured by it. */
static bool is_to_ask_again(const struct member *member, const struct word *word)
{
	return member->is_following && word->is_new;
}

static int agree(struct member *member, MPI_Comm comm, const struct call *call, struct order *order)
{
	struct word word = {.is_new = 0};
	void *bytes = NULL;
	int err = MPI_SUCCESS, times = 0;

	do {
		err = ask(member, comm, call, &word, &bytes);
		if (!err)
			err = obey(member, comm, &word, &bytes);
	} while (!err && ++times < MOST_TIMES && is_to_ask_again(member, &word));
	free(bytes);
	if (!err && member->is_following)
		*order = (struct order){(enum way)word.way, order->why, word.chunk};
	return err;
}

/* Do all ranks know without a word that the call is left to MPI, and that it takes little? */
static bool is_left(const struct member *member, const struct call *call)
{
	return member->is_agreed && (member->is_over || (member->min_bytes && call->is_uniform &&
							 forsched_mpi_uniform_bytes(call) < member->min_bytes));
}

/* Nobody speaks before this call. */
static void go_quietly(struct member *member, const struct call *call, struct order *order)
{
	uint64_t bytes = call->is_uniform ? forsched_mpi_uniform_bytes(call) : 0;

	member->quiet--;
	if (call->is_uniform && member->is_following && bytes >= member->from && bytes <= member->to)
		order->way = WAY_PHASES;
}

/* Why a call on this communicator was left to MPI; of the ranks the first one knows. */
static enum left why_left(const struct member *member, const struct call *call)
{
	if (!forsched_mpi_setting("FORSCHED_SCHEDULE"))
		return LEFT_UNSET;
	if (!member)
		return LEFT_ALONE;
	if (member->is_agreed && call->is_uniform && forsched_mpi_uniform_bytes(call) < member->min_bytes)
		return LEFT_SMALL;
	if (!member->is_following)
		return member->is_weighing ? LEFT_NOT_YET : LEFT_NO_SCHEDULE;
	return LEFT_SHORT;
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

static int enter(MPI_Comm comm, const struct call *call, struct member **found, struct order *order)
{
	int err = find_member(comm, found);
	struct member *member = *found;

	*order = (struct order){.way = WAY_MPI};
	if (err || !member)
		return err;
	member->calls++;
	member->began = 0;
	if (is_left(member, call))
		return MPI_SUCCESS;
	member->is_asked = !member->quiet;
	if (member->is_asked)
		err = agree(member, comm, call, order);
	else
		go_quietly(member, call, order);
	member->began = forsched_mpi_now();
	return err;
}

int forsched_mpi_enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order)
{
	int err = enter(comm, call, member, order);

	if (order->way == WAY_MPI)
		order->why = why_left(*member, call);
	return err;
}

void forsched_mpi_leave(struct member *member)
{
	double seconds = forsched_mpi_now() - member->began;

	if (!member->began)
		return;
	if (member->is_asked)
		member->took = seconds;
	if (member->rank == 0)
		forsched_mpi_called(member, seconds);
}
