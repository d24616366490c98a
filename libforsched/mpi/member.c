/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a communicator has agreed on. It hangs at the communicator as an attribute, made at the first call.
 *
 * Before a call ranks speak: each tells rank 0 how much it sends (sizes.c: one reduction), and rank 0 answers with its
 * word (chief.c: one broadcast of 128 bytes): which way this call goes, whether there is another schedule, and how many
 * calls may pass before ranks speak again. When there is a newer schedule all ranks take it up (take_up.c), or none. So
 * all change over in the same call, whenever they see the new file, and only rank 0 needs to see it. Where that would take
 * long beside a call it goes on over the next ones, a few steps in each, and ranks do not speak meanwhile.
 *
 * Before a schedule is followed ranks may speak while MPI does the call, with a reduction and a broadcast that do not block.
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

#define MOST_TIMES 3 /* that ranks ask before a call: when two schedules are taken up in it */

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
	forsched_mpi_drop(member, is_finalized);
	forsched_mpi_chief_free(member->chief);
	forsched_mpi_family_free(member->family);
	if (!is_finalized)
		forsched_mpi_drop_vector(member);
	if (!is_finalized && member->private_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&member->private_comm);
	free(member->given);
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
	made->private_comm = made->within = made->across = MPI_COMM_NULL;
	made->vector = MPI_DATATYPE_NULL;
	made->speaking = MPI_REQUEST_NULL;
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
	member->is_agreed = true;
	member->is_over = word->is_over && !member->is_following;
	member->quiet = word->quiet;
	member->min_bytes = word->min_bytes;
	if (word->is_new) {
		member->may_have_barrier = word->barrier != BARRIER_NONE;
		forsched_mpi_drop(member, false);
		forsched_mpi_drop_vector(member);
	}
	if (word->demand != DEMAND_SAME)
		forsched_mpi_drop_demand(member);
	member->is_weighing = word->is_weighing;
	member->aside = word->is_aside ? ASIDE_TELL : ASIDE_NOT;
	member->is_for_small = word->is_for_small;
	if ((word->is_new && word->size) || word->demand == DEMAND_NEW) {
		forsched_mpi_begin(member, word, given);
		err = word->weight >= ALL_STEPS ? forsched_mpi_go_on(member, comm) : MPI_SUCCESS;
	}
	return err;
}

/* Was a schedule taken up just now, or that of a demand, or given up? Then nobody knows what the call is, measured by it. */
static bool is_to_ask_again(const struct member *member, const struct word *word)
{
	return member->is_following && !member->taking.step && (word->is_new || word->demand != DEMAND_SAME);
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
		*order = (struct order){(enum way)word.way, order->why, word.chunk, word.unit, word.has_barrier};
	return err;
}

/*
 * Where speaking would be no small part of calls that are left to MPI, ranks speak while MPI does the call: in one call they
 * tell, in the next one they hear. Nothing of it goes on between calls.
 */
static int begin_aside(struct member *member, MPI_Comm comm, const struct call *call)
{
	if (member->aside == ASIDE_TELL)
		return forsched_mpi_weigh_aside(member, comm, call);
	if (member->is_for_small)
		forsched_mpi_note_longest(member, call);
	return PMPI_Ibcast(&member->word, sizeof(member->word) / sizeof(uint64_t), MPI_UINT64_T, 0, comm,
			   &member->speaking);
}

static int end_aside(struct member *member, MPI_Comm comm)
{
	int err = PMPI_Wait(&member->speaking, MPI_STATUS_IGNORE);
	struct heard heard;

	if (!err && member->aside == ASIDE_HEAR)
		return obey(member, comm, &member->word, &member->given);
	if (!err && member->rank == 0) {
		heard = forsched_mpi_heard_aside(member);
		member->word = forsched_mpi_speak(member, &heard, &member->given);
	}
	member->aside = ASIDE_HEAR;
	return err;
}

/* A large MPI_Alltoall after small calls. What rank 0 has said already is heard first. */
static void end_small_calls(struct member *member)
{
	if (!member->is_for_small || member->aside == ASIDE_HEAR)
		return;
	member->is_for_small = false;
	member->aside = ASIDE_NOT;
	member->quiet = 0;
}

/* Do all ranks know without a word that the call is left to MPI? */
static bool is_left(struct member *member, const struct call *call)
{
	if (!member->is_agreed)
		return false;
	if (member->is_over ||
	    (member->min_bytes && call->is_uniform && forsched_mpi_uniform_bytes(call) < member->min_bytes))
		return true;
	if (call->is_uniform)
		end_small_calls(member);
	if (!member->quiet)
		return false;
	member->quiet--;
	if (member->is_for_small)
		forsched_mpi_note_longest(member, call);
	return true;
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
	if (!member->is_following && !member->taking.step)
		return member->is_weighing ? LEFT_NOT_YET : LEFT_NO_SCHEDULE;
	if (member->taking.step)
		return LEFT_NOT_YET;
	return member->is_for_small ? LEFT_SMALL : LEFT_QUICKER;
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

int forsched_mpi_join_family(MPI_Comm comm, struct family *family)
{
	struct member *member = NULL;
	int err = find_member(comm, &member);

	if (err || !member || member->family) {
		forsched_mpi_family_free(family);
		return err;
	}
	member->family = family;
	return MPI_SUCCESS;
}

static int enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order)
{
	int err = find_member(comm, member);

	*order = (struct order){.way = WAY_MPI};
	if (err || !*member)
		return err;
	(*member)->calls++;
	(*member)->began = 0;
	if (is_left(*member, call))
		return MPI_SUCCESS;
	if ((*member)->taking.step) /* nobody speaks while that goes on */
		return forsched_mpi_go_on(*member, comm);
	if ((*member)->aside)
		err = begin_aside(*member, comm, call);
	else
		err = agree(*member, comm, call, order);
	(*member)->began = (*member)->aside == ASIDE_HEAR ? 0 : forsched_mpi_now();
	return err;
}

int forsched_mpi_enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order)
{
	int err = enter(comm, call, member, order);

	if (order->way == WAY_MPI)
		order->why = why_left(*member, call);
	return err;
}

int forsched_mpi_leave(struct member *member, MPI_Comm comm)
{
	if (member->began > 0)
		member->took = forsched_mpi_now() - member->began;
	return member->speaking == MPI_REQUEST_NULL ? MPI_SUCCESS : end_aside(member, comm);
}
