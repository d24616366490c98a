/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An all-to-all along the schedule of a demand: in each phase a server sends a piece of a message to one other, and receives
 * a piece from one. Where messages are cut, portions.c says. Nobody waits for a phase to end but for its own pieces:
 * sizes differ, and so do the times that servers need.
 *
 * No rank waits for ever, as in exchange.c: the two ends of a piece name the same phase, in which receives are begun before
 * sends. Pieces of one message go one after another and have one tag, and MPI keeps their order.
 *
 * A call may have shorter messages than the demand, or none: a piece of no bytes is not sent, and its receiver knows that.
 */
#include "config.h"

#include "follow.h"

/* Bytes `from` to `to` of a message. */
struct span {
	uint64_t from, to;
};

static uint64_t bytes_of(const struct block *block, uint64_t size)
{
	uint64_t bytes;

	if (block->count <= 0)
		return 0;
	return __builtin_mul_overflow(size, (uint64_t)block->count, &bytes) ? 0 : bytes;
}

/* The piece of the message of a rank that goes with this part of the demand's; count 0: it is empty. */
static struct block piece_of(const struct side *side, int rank, const struct span *part, uint64_t total, uint64_t unit)
{
	struct block block = forsched_mpi_block_of(side, rank);
	uint64_t size = forsched_mpi_size_of(block.type), bytes = bytes_of(&block, size), begin;
	MPI_Aint lower = 0, extent = 0;

	if (!bytes)
		return (struct block){NULL, 0, MPI_BYTE};
	PMPI_Type_get_extent(block.type, &lower, &extent);
	begin = forsched_mpi_cut(bytes, part->from, total, unit) / size;
	block.count = (int)(forsched_mpi_cut(bytes, part->to, total, unit) / size - begin);
	block.at = (char *)block.at + (MPI_Aint)begin * extent;
	return block;
}

static struct block out_piece(const struct exchange *exchange, const struct portion *portion, int rank, uint64_t unit)
{
	const struct side *side = exchange->send ? exchange->send : exchange->recv;
	struct span part = {portion->offset, portion->offset + portion->bytes};

	return piece_of(side, rank, &part, exchange->member->portions.out_total[portion->to], unit);
}

static struct block in_piece(const struct exchange *exchange, const struct portion *portion, int rank, uint64_t unit)
{
	struct span part = {portion->in_offset, portion->in_offset + portion->in_bytes};

	return piece_of(exchange->recv, rank, &part, exchange->member->portions.in_total[portion->from], unit);
}

/* ---- a phase ---- */

/* How many receives were begun, in *n. */
static int begin_receives(const struct exchange *exchange, const struct portion *portion, uint64_t unit, int *n)
{
	const struct turns *peers = &exchange->member->portions.peers;
	int first = MPI_SUCCESS;

	*n = 0;
	if (portion->from == NO_PLACE)
		return first;
	for (uint32_t i = peers->in_first[portion->from]; i < peers->in_first[portion->from + 1]; i++) {
		struct letter letter = {.rank = peers->in[i], .tag = TAG_PIECE};
		struct block block = in_piece(exchange, portion, letter.rank, unit);

		if (block.count)
			forsched_mpi_note(&first, forsched_mpi_start_receive(exchange, &block, &letter,
									     &exchange->member->requests[(*n)++]));
	}
	return first;
}

/* One behind the other. *item: the number of the next one among all that this rank sends. */
static int send_all(const struct exchange *exchange, const struct portion *portion, uint64_t unit, size_t *item)
{
	const struct turns *peers = &exchange->member->portions.peers;
	MPI_Request sending;
	int first = MPI_SUCCESS;

	if (portion->to == NO_PLACE)
		return first;
	for (uint32_t i = peers->out_first[portion->to]; i < peers->out_first[portion->to + 1]; i++) {
		struct letter letter = {.rank = peers->out[i], .tag = TAG_PIECE, .item = (*item)++};
		struct block block = out_piece(exchange, portion, letter.rank, unit);

		if (!block.count)
			continue;
		forsched_mpi_note(&first, forsched_mpi_start_send(exchange, &block, &letter, &sending));
		forsched_mpi_note(&first, forsched_mpi_wait_for(&sending, 1));
	}
	return first;
}

int forsched_mpi_run_demand(const struct exchange *exchange, uint64_t unit)
{
	const struct member *member = exchange->member;
	size_t item = (size_t)member->size;
	int first = MPI_SUCCESS, n;

	for (uint32_t i = 0; i < member->portions.n; i++) {
		const struct portion *portion = &member->portions.portion[i];

		forsched_mpi_note(&first, begin_receives(exchange, portion, unit, &n));
		forsched_mpi_note(&first, send_all(exchange, portion, unit, &item));
		forsched_mpi_note(&first, forsched_mpi_wait_for(member->requests, n));
	}
	return first;
}

/* ---- in place ---- */

size_t forsched_mpi_count_pieces(const struct member *member)
{
	const struct portions *portions = &member->portions;
	size_t n = 0;

	for (uint32_t i = 0; i < portions->n; i++)
		if (portions->portion[i].to != NO_PLACE)
			n += (size_t)forsched_mpi_ranks_at(&member->places, portions->portion[i].to);
	return n;
}

void forsched_mpi_fill_pieces(const struct exchange *exchange, uint64_t unit, struct block *block)
{
	const struct portions *portions = &exchange->member->portions;
	const struct turns *peers = &portions->peers;

	for (uint32_t i = 0; i < portions->n; i++) {
		const struct portion *portion = &portions->portion[i];

		if (portion->to == NO_PLACE)
			continue;
		for (uint32_t k = peers->out_first[portion->to]; k < peers->out_first[portion->to + 1]; k++)
			*block++ = out_piece(exchange, portion, peers->out[k], unit);
	}
}
