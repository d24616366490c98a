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
 * caller's own types; in place they are packed first (packed.c).
 */
#include "config.h"

#include "follow.h"

#define TIMED_BARRIERS 5

/* ---- phases ---- */

struct exchange {
	const struct member *member;
	const struct side *send; /* NULL: in place, then packed is set */
	const struct side *recv;
	struct packed packed;
};

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
	struct block block = forsched_mpi_block_of(exchange->recv, rank);
	MPI_Comm comm = exchange->member->private_comm;
	int err = PMPI_Irecv(block.at, block.count, block.type, rank, TAG_DATA, comm, request);

	if (err)
		PMPI_Irecv(NULL, 0, MPI_BYTE, rank, TAG_DATA, comm, request);
	return err;
}

static int start_send(const struct exchange *exchange, int rank, MPI_Request *request)
{
	MPI_Comm comm = exchange->member->private_comm;
	int err = MPI_SUCCESS;

	if (exchange->send) {
		struct block block = forsched_mpi_block_of(exchange->send, rank);

		err = PMPI_Isend(block.at, block.count, block.type, rank, TAG_DATA, comm, request);
	} else if (exchange->packed.bytes) {
		err = forsched_mpi_send_packed(exchange->member, &exchange->packed, rank, request);
	}
	if (err || (!exchange->send && !exchange->packed.bytes)) /* packing failed: that has been noted */
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

int forsched_mpi_time_barrier(const struct member *member, double *seconds)
{
	int err = MPI_SUCCESS;

	for (int i = 0; !err && i < TIMED_BARRIERS; i++) {
		double began = forsched_mpi_now(), took;

		err = tree_barrier(member);
		took = forsched_mpi_now() - began;
		*seconds = i == 0 || took < *seconds ? took : *seconds;
	}
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

static int in_phases(const struct member *member, const struct call *call)
{
	struct exchange exchange = {.member = member, .send = call->send, .recv = call->recv};
	int packing = call->send ? MPI_SUCCESS : forsched_mpi_pack(member, call->recv, &exchange.packed);
	int err = run_phases(&exchange);

	forsched_mpi_packed_free(&exchange.packed);
	return packing ? packing : err;
}

/* Never in place: what is packed is not cut. */
static int in_chunks(const struct member *member, const struct call *call, uint64_t chunk)
{
	struct exchange exchange = {.member = member, .send = call->send, .recv = call->recv};
	int own = copy_own(&exchange), err = forsched_mpi_run_chunks(member, call->send, call->recv, chunk);

	return own ? own : err;
}

int forsched_mpi_exchange(const struct member *member, const struct call *call, const struct order *order)
{
	return order->way == WAY_CHUNKS ? in_chunks(member, call, order->chunk) : in_phases(member, call);
}
