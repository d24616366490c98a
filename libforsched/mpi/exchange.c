/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An all-to-all, phase by phase. In each phase a rank sends to at most one other and receives from at most one, and
 * goes on when both are done. No rank waits for ever: the two ends of a message name the same phase, and by
 * induction every rank reaches every phase.
 *
 * Between phases there may be a barrier, as in the paper: else fast pairs run ahead, and flows of different phases,
 * which the plan keeps apart, share links. It is a tree over the servers in the schedule's order, in which those of a
 * leaf are neighbours, so most of its messages stay inside leaves.
 *
 * The results are MPI's own, bit for bit, because all data goes through MPI's own point-to-point messages with the
 * caller's own types. In place: a block has to leave before what replaces it arrives, and the plan knows nothing of
 * that order, so blocks are packed first.
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

#define TAG_DATA 1
#define TAG_BARRIER 2

struct block {
	void *at;
	int count;
	MPI_Datatype type;
};

static struct block block_of(const struct side *side, int rank)
{
	struct block block = {
		.count = side->counts ? side->counts[rank] : side->count,
		.type = side->types ? side->types[rank] : side->type,
	};
	MPI_Aint index = side->displacements ? side->displacements[rank] : (MPI_Aint)rank * side->count;

	block.at = side->buffer + index * side->unit;
	return block;
}

/* ---- in place ---- */

/* All blocks to be sent, packed one behind the other. */
struct packed {
	char *bytes;
	size_t *offset; /* by rank, and the end: room for each */
	int *size;	/* by rank: what it took of it */
};

static void packed_free(struct packed *packed)
{
	free(packed->bytes);
	free(packed->offset);
	free(packed->size);
	*packed = (struct packed){NULL, NULL, NULL};
}

/* Room for each block as MPI says; packed->offset. */
static int measure(const struct member *member, const struct side *from, struct packed *packed)
{
	for (int rank = 0; rank < member->size; rank++) {
		struct block block = block_of(from, rank);
		int size = 0, err = PMPI_Pack_size(block.count, block.type, member->private_comm, &size);

		if (err)
			return err;
		packed->offset[rank + 1] = packed->offset[rank] + (size_t)size;
	}
	return MPI_SUCCESS;
}

static int pack_blocks(const struct member *member, const struct side *from, struct packed *packed)
{
	int err = measure(member, from, packed);

	if (err)
		return err;
	packed->bytes = malloc(packed->offset[member->size] + 1);
	if (!packed->bytes)
		return MPI_ERR_NO_MEM;
	for (int rank = 0; !err && rank < member->size; rank++) {
		struct block block = block_of(from, rank);
		int room = (int)(packed->offset[rank + 1] - packed->offset[rank]);

		err = PMPI_Pack(block.at, block.count, block.type, packed->bytes + packed->offset[rank], room,
				&packed->size[rank], member->private_comm);
	}
	return err;
}

static int pack(const struct member *member, const struct side *from, struct packed *packed)
{
	int err;

	*packed = (struct packed){
		.offset = calloc((size_t)member->size + 1, sizeof(*packed->offset)),
		.size = calloc((size_t)member->size, sizeof(*packed->size)),
	};
	err = packed->offset && packed->size ? pack_blocks(member, from, packed) : MPI_ERR_NO_MEM;
	if (err)
		packed_free(packed);
	return err;
}

/* ---- phases ---- */

struct exchange {
	const struct member *member;
	const struct side *send; /* NULL: in place, then packed is set */
	const struct side *recv;
	struct packed packed;
};

static struct block outgoing(const struct exchange *exchange, int rank)
{
	const struct packed *packed = &exchange->packed;

	if (exchange->send)
		return block_of(exchange->send, rank);
	if (!packed->bytes) /* it failed: the receiver gets nothing, but does not wait for it */
		return (struct block){.type = MPI_BYTE};
	return (struct block){
		.at = packed->bytes + packed->offset[rank],
		.count = packed->size[rank],
		.type = MPI_PACKED,
	};
}

/* What a rank keeps for itself. */
static int copy_own(const struct exchange *exchange)
{
	const struct member *member = exchange->member;
	struct block to = block_of(exchange->recv, member->rank), from;

	if (!exchange->send)
		return MPI_SUCCESS;
	from = block_of(exchange->send, member->rank);
	return PMPI_Sendrecv(from.at, from.count, from.type, member->rank, TAG_DATA, to.at, to.count, to.type,
			     member->rank, TAG_DATA, member->private_comm, MPI_STATUS_IGNORE);
}

static int wait_for(MPI_Request requests[2])
{
	MPI_Status status[2];
	int err = PMPI_Waitall(2, requests, status);

	for (int i = 0; err == MPI_ERR_IN_STATUS && i < 2; i++)
		if (status[i].MPI_ERROR != MPI_SUCCESS)
			return status[i].MPI_ERROR;
	return err;
}

/*
 * Start what this rank receives from another, or sends to it. Where the caller's block is so wrong that MPI refuses it,
 * an empty message takes its place: the other rank waits for one, and must not be served by the next call's.
 */
static int start_receive(const struct exchange *exchange, int rank, MPI_Request *request)
{
	struct block block = block_of(exchange->recv, rank);
	MPI_Comm comm = exchange->member->private_comm;
	int err = PMPI_Irecv(block.at, block.count, block.type, rank, TAG_DATA, comm, request);

	if (err)
		PMPI_Irecv(NULL, 0, MPI_BYTE, rank, TAG_DATA, comm, request);
	return err;
}

static int start_send(const struct exchange *exchange, int rank, MPI_Request *request)
{
	struct block block = outgoing(exchange, rank);
	MPI_Comm comm = exchange->member->private_comm;
	int err = PMPI_Isend(block.at, block.count, block.type, rank, TAG_DATA, comm, request);

	if (err)
		PMPI_Isend(NULL, 0, MPI_BYTE, rank, TAG_DATA, comm, request);
	return err;
}

static int run_phase(const struct exchange *exchange, uint32_t phase)
{
	const struct member *member = exchange->member;
	MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int receiving = MPI_SUCCESS, sending = MPI_SUCCESS, err;
	struct forsched_flow flow;

	if (forsched_flow(member->schedule, member->me, phase, &flow)) /* was prepared: does not fail */
		return MPI_ERR_INTERN;
	if (flow.from != FORSCHED_NOBODY)
		receiving = start_receive(exchange, member->rank_of[flow.from], &requests[0]);
	if (flow.to != FORSCHED_NOBODY)
		sending = start_send(exchange, member->rank_of[flow.to], &requests[1]);
	err = wait_for(requests);
	return receiving ? receiving : sending ? sending : err;
}

/* ---- the barrier ---- */

static int wait_token(const struct member *member, uint32_t server)
{
	return PMPI_Recv(NULL, 0, MPI_BYTE, member->rank_of[server], TAG_BARRIER, member->private_comm,
			 MPI_STATUS_IGNORE);
}

static int send_token(const struct member *member, uint32_t server)
{
	return PMPI_Send(NULL, 0, MPI_BYTE, member->rank_of[server], TAG_BARRIER, member->private_comm);
}

/*
 * Tokens go up a tree when everybody below has come, and down again when everybody has. The parent of server s is s
 * without its lowest bit: half of the tokens go to the next number, a quarter two numbers on.
 */
static int tree_barrier(const struct member *member)
{
	uint32_t me = member->me, size = (uint32_t)member->size, bit = 1;
	int err = MPI_SUCCESS;

	for (; !err && bit < size && !(me & bit); bit *= 2)
		if (me + bit < size)
			err = wait_token(member, me + bit);
	if (!err && me)
		err = send_token(member, me - bit);
	if (!err && me)
		err = wait_token(member, me - bit);
	while (!err && (bit /= 2))
		if (me + bit < size)
			err = send_token(member, me + bit);
	return err;
}

/* ---- all of it ---- */

static int run_phases(const struct exchange *exchange)
{
	const struct member *member = exchange->member;
	uint32_t nphases = forsched_nphases(member->schedule);
	int first = copy_own(exchange);

	for (uint32_t phase = 0; phase < nphases; phase++) {
		int err = run_phase(exchange, phase);

		if (member->has_barrier && phase + 1 < nphases) {
			int late = tree_barrier(member);

			err = err ? err : late;
		}
		first = first ? first : err;
	}
	return first;
}

int forsched_mpi_exchange(const struct member *member, const struct side *send, const struct side *recv)
{
	struct exchange exchange = {.member = member, .send = send, .recv = recv};
	int packing = send ? MPI_SUCCESS : pack(member, recv, &exchange.packed);
	int err = run_phases(&exchange);

	packed_free(&exchange.packed);
	return packing ? packing : err;
}
