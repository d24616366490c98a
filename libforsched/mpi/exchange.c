/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An all-to-all, phase by phase. In each phase a server sends to at most one other and receives from at most one, and
 * its ranks go on when their messages are done. No rank waits for ever: the two ends of a message name the same phase, in
 * which receives are begun before sends, and by induction every rank reaches every phase.
 *
 * Between phases there may be a barrier, as in the paper: else fast pairs run ahead, and flows of different phases,
 * which the plan keeps apart, share links. Whether there is one, rank 0 says. It is
 * a tree over the servers in the schedule's order, in which those of a leaf are neighbours, so most of its messages
 * stay inside leaves; below each server there is a tree of its ranks.
 *
 * The results are MPI's own, bit for bit, because all data goes through MPI's own point-to-point messages with the
 * caller's own types; in place they are packed first (packed.c).
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

/* An exchange that runs. */
struct exchange {
	const struct member *member;
	const struct side *send; /* NULL: in place, then packed is set */
	const struct side *recv;
	struct packed packed;
};

/* ---- phases ---- */

/* What a rank keeps for itself. */
static int copy_own(const struct exchange *exchange)
{
	const struct member *member = exchange->member;
	struct block to = forsched_mpi_block_of(exchange->recv, member->rank), from;

	if (!exchange->send)
		return MPI_SUCCESS;
	from = forsched_mpi_block_of(exchange->send, member->rank);
	return PMPI_Sendrecv(from.at, from.count, from.type, member->rank, TAG_DATA, to.at, to.count, to.type,
			     member->rank, TAG_DATA, member->private_comm, MPI_STATUS_IGNORE);
}

/* Keep the first error. */
static void note(int *first, int err)
{
	*first = *first ? *first : err;
}

static int wait_for(MPI_Request *requests, int n)
{
	int first = MPI_SUCCESS;

	for (int i = 0; i < n; i++)
		note(&first, PMPI_Wait(&requests[i], MPI_STATUS_IGNORE));
	return first;
}

/*
 * Start what this rank receives from another, or sends to it. Where the caller's block is so wrong that MPI refuses it,
 * an empty message takes its place: the other rank waits for one, and must not be served by the next call's.
 */
static int start_receive(const struct exchange *exchange, int rank, MPI_Request *request)
{
	struct block block = forsched_mpi_block_of(exchange->recv, rank);
	MPI_Comm comm = exchange->member->private_comm;
	int err = PMPI_Irecv(block.at, block.count, block.type, rank, TAG_DATA, comm, request);

	if (err)
		PMPI_Irecv(NULL, 0, MPI_BYTE, rank, TAG_DATA, comm, request);
	return err;
}

static int start_send(const struct exchange *exchange, int rank, MPI_Request *request)
{
	const struct packed *packed = &exchange->packed;
	MPI_Comm comm = exchange->member->private_comm;
	struct block block;
	int err = MPI_SUCCESS;

	if (exchange->send) {
		block = forsched_mpi_block_of(exchange->send, rank);
		err = PMPI_Isend(block.at, block.count, block.type, rank, TAG_DATA, comm, request);
	} else if (packed->bytes) {
		err = forsched_mpi_send_packed(exchange->member, packed, rank, request);
	}
	if (err || (!exchange->send && !packed->bytes)) /* packing failed: that has been noted */
		PMPI_Isend(NULL, 0, MPI_BYTE, rank, TAG_DATA, comm, request);
	return err;
}

/* All messages from one server, which are expected at once, and all to one, one behind the other. */
static int run_phase(const struct exchange *exchange, uint32_t phase)
{
	const struct turns *turns = &exchange->member->turns;
	MPI_Request *requests = exchange->member->requests, sending;
	int first = MPI_SUCCESS, n = 0;

	for (uint32_t i = turns->in_first[phase]; i < turns->in_first[phase + 1]; i++)
		note(&first, start_receive(exchange, turns->in[i], &requests[n++]));
	for (uint32_t i = turns->out_first[phase]; i < turns->out_first[phase + 1]; i++) {
		note(&first, start_send(exchange, turns->out[i], &sending));
		note(&first, wait_for(&sending, 1));
	}
	note(&first, wait_for(requests, n));
	return first;
}

/*
 * Messages between ranks of one server take no link, so they need no phase: all are begun before the first one, and go
 * through memory, or however MPI sends them. Their number is in *n; finish them with wait_for(member->requests + most, n).
 */
static int start_within(const struct exchange *exchange, int *n)
{
	const struct member *member = exchange->member;
	const struct places *places = &member->places;
	const int *peer = &places->rank[places->first[member->me]];
	int k = forsched_mpi_ranks_at(places, member->me), first = MPI_SUCCESS;
	MPI_Request *requests = member->requests + member->most;

	*n = 0;
	for (int i = 1; i < k; i++)
		note(&first, start_receive(exchange, peer[(member->local + k - i) % k], &requests[(*n)++]));
	for (int i = 1; i < k; i++)
		note(&first, start_send(exchange, peer[(member->local + i) % k], &requests[(*n)++]));
	return first;
}

/* ---- the barrier ---- */

/* A tree of ranks with numbers: those of one place, or the first ones of all places. */
struct tree {
	const struct member *member;
	uint32_t me, size;
	bool is_within;
};

static int rank_in(const struct tree *tree, uint32_t number)
{
	const struct places *places = &tree->member->places;

	return places->rank[tree->is_within ? places->first[tree->member->me] + (int)number : places->first[number]];
}

static int wait_token(const struct tree *tree, uint32_t number)
{
	return PMPI_Recv(NULL, 0, MPI_BYTE, rank_in(tree, number), TAG_BARRIER, tree->member->private_comm,
			 MPI_STATUS_IGNORE);
}

static int send_token(const struct tree *tree, uint32_t number)
{
	return PMPI_Send(NULL, 0, MPI_BYTE, rank_in(tree, number), TAG_BARRIER, tree->member->private_comm);
}

/*
 * Tokens go up a tree when everybody below has come, and down again when everybody has. The parent of number n is n
 * without its lowest bit: half of the tokens go to the next number, a quarter two numbers on.
 */
static int climb(const struct tree *tree)
{
	uint32_t bit = 1;
	int err = MPI_SUCCESS;

	for (; !err && bit < tree->size && !(tree->me & bit); bit *= 2)
		if (tree->me + bit < tree->size)
			err = wait_token(tree, tree->me + bit);
	return !err && tree->me ? send_token(tree, tree->me - bit) : err;
}

static int descend(const struct tree *tree)
{
	uint32_t bit = tree->me & (~tree->me + 1);
	int err = tree->me ? wait_token(tree, tree->me - bit) : MPI_SUCCESS;

	for (bit = bit ? bit : 1; !tree->me && bit < tree->size;)
		bit *= 2;
	while (!err && (bit /= 2))
		if (tree->me + bit < tree->size)
			err = send_token(tree, tree->me + bit);
	return err;
}

/* First the ranks of each server, then the first one of each, then back. */
static int tree_barrier(const struct member *member)
{
	const struct places *places = &member->places;
	struct tree within = {member, (uint32_t)member->local, (uint32_t)forsched_mpi_ranks_at(places, member->me),
			      true};
	struct tree across = {member, member->me, places->n, false};
	int err = climb(&within);

	if (!err && member->local == 0)
		err = climb(&across);
	if (!err && member->local == 0)
		err = descend(&across);
	return err ? err : descend(&within);
}

/* ---- how long phases take without data ---- */

/* Sends that end when the receiver has begun the same phase, as those of long messages do. */
static int run_empty_phase(const struct member *member, uint32_t phase)
{
	const struct turns *turns = &member->turns;
	MPI_Request *request = member->requests;
	int first = MPI_SUCCESS;

	for (uint32_t i = turns->in_first[phase]; i < turns->in_first[phase + 1]; i++)
		note(&first, PMPI_Irecv(NULL, 0, MPI_BYTE, turns->in[i], TAG_DATA, member->private_comm, request++));
	for (uint32_t i = turns->out_first[phase]; i < turns->out_first[phase + 1]; i++)
		note(&first, PMPI_Issend(NULL, 0, MPI_BYTE, turns->out[i], TAG_DATA, member->private_comm, request++));
	note(&first, wait_for(member->requests, (int)(request - member->requests)));
	return first;
}

int forsched_mpi_time_phases(const struct member *member, double *seconds)
{
	double began = forsched_mpi_now(), took;
	int first = MPI_SUCCESS;

	for (uint32_t phase = 0; phase < member->turns.n; phase++) {
		note(&first, run_empty_phase(member, phase));
		if (member->has_barrier && phase + 1 < member->turns.n)
			note(&first, tree_barrier(member));
	}
	took = forsched_mpi_now() - began;
	note(&first, PMPI_Allreduce(&took, seconds, 1, MPI_DOUBLE, MPI_MAX, member->private_comm));
	return first;
}

/* ---- all of it ---- */

static int run_phases(const struct exchange *exchange)
{
	const struct member *member = exchange->member;
	int first = MPI_SUCCESS;

	for (uint32_t phase = 0; phase < member->turns.n; phase++) {
		note(&first, run_phase(exchange, phase));
		if (member->has_barrier && phase + 1 < member->turns.n)
			note(&first, tree_barrier(member));
	}
	return first;
}

/* In place nothing goes in chunks: what is packed is not cut. */
static int run(const struct exchange *exchange, const struct order *order)
{
	const struct member *member = exchange->member;
	int first = copy_own(exchange), n;

	note(&first, start_within(exchange, &n));
	if (order->way == WAY_CHUNKS)
		note(&first, forsched_mpi_run_chunks(member, exchange->send, exchange->recv, order->chunk));
	else
		note(&first, run_phases(exchange));
	note(&first, wait_for(member->requests + member->most, n));
	return first;
}

/* In place: all that is sent, before anything is received. */
static int pack(struct exchange *exchange)
{
	const struct member *member = exchange->member;
	struct block *block = calloc((size_t)member->size, sizeof(*block));
	int err = MPI_ERR_NO_MEM;

	if (!block)
		return err;
	for (int rank = 0; rank < member->size; rank++)
		block[rank] = forsched_mpi_block_of(exchange->recv, rank);
	if (block[member->rank].count > 0) /* what is wrong stays so: MPI says that */
		block[member->rank].count = 0;
	err = forsched_mpi_pack(member, block, &exchange->packed);
	free(block);
	return err;
}

int forsched_mpi_exchange(struct member *member, const struct call *call, const struct order *order)
{
	struct exchange exchange = {.member = member, .send = call->send, .recv = call->recv};
	int packing = call->send ? MPI_SUCCESS : pack(&exchange);
	int err = run(&exchange, order);

	forsched_mpi_packed_free(&exchange.packed);
	return packing ? packing : err;
}
