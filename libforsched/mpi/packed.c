/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks in place: a block has to leave before what replaces it arrives, and the plan knows nothing of that order, so
 * all blocks are packed before the first phase.
 *
 * MPI_Pack counts bytes in an int: a block of 2 GiB and more it cannot pack, though MPI can send it, and MPI_Pack_size
 * tells something else (Open MPI 4.1: what is left of the number in 32 bits). Such a block is wide: this rank sends it
 * to itself, and receives it as MPI_PACKED, as any message may be received, over a type that counts bytes by the MiB.
 * As that it is sent on. In this way the library may do what MPI may do, and no rank has to know of another's blocks.
 */
#include "config.h"

#include "follow.h"

#include <limits.h>
#include <stdlib.h>

#define PIECE (1 << 20)

struct block forsched_mpi_block_of(const struct side *side, int rank)
{
	struct block block = {
		.count = side->counts ? side->counts[rank] : side->count,
		.type = side->types ? side->types[rank] : side->type,
	};
	MPI_Aint index = side->displacements ? side->displacements[rank] : (MPI_Aint)rank * side->count;

	block.at = side->buffer + index * side->unit;
	return block;
}

void forsched_mpi_packed_free(struct packed *packed)
{
	free(packed->bytes);
	free(packed->block);
	*packed = (struct packed){NULL, NULL};
}

/* A type of `size` bytes of MPI_PACKED, committed; the caller frees it. */
static int make_wide_type(size_t size, MPI_Datatype *type)
{
	int count[2] = {(int)(size / PIECE), (int)(size % PIECE)};
	MPI_Aint at[2] = {0, (MPI_Aint)(size - size % PIECE)};
	MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_PACKED};
	int err = PMPI_Type_contiguous(PIECE, MPI_PACKED, &part[0]);

	if (err)
		return err;
	err = PMPI_Type_create_struct(2, count, at, part, type);
	PMPI_Type_free(&part[0]);
	return err ? err : PMPI_Type_commit(type);
}

/* How much room a block takes, and whether it is wide. */
static int measure_block(const struct block *block, MPI_Comm comm, struct packed_block *packed)
{
	MPI_Count each = 0, bytes = 0;
	int size = -1, err = PMPI_Type_size_x(block->type, &each);

	if (block->count < 0) /* MPI_Pack_size may say "good", and -4 */
		return MPI_ERR_COUNT;
	if (!err && __builtin_mul_overflow(each, block->count, &bytes))
		err = MPI_ERR_COUNT;
	if (!err && !block->count)
		size = 0;
	else if (!err && bytes <= INT_MAX)
		err = PMPI_Pack_size(block->count, block->type, comm, &size);
	packed->is_wide = size < 0;
	packed->size = packed->is_wide ? (size_t)bytes : (size_t)size;
	return err;
}

/* *room: of all together. */
static int measure(const struct member *member, const struct block *block, struct packed *packed, size_t *room)
{
	*room = 0;
	for (int i = 0; i < member->size; i++) {
		int err = measure_block(&block[i], member->private_comm, &packed->block[i]);

		if (err)
			return err;
		packed->block[i].offset = *room;
		*room += packed->block[i].size;
	}
	return MPI_SUCCESS;
}

static int pack_wide(const struct member *member, const struct block *block, char *to, size_t size)
{
	MPI_Datatype type;
	int err = make_wide_type(size, &type);

	if (err)
		return err;
	err = PMPI_Sendrecv(block->at, block->count, block->type, member->rank, TAG_DATA, to, 1, type, member->rank,
			    TAG_DATA, member->private_comm, MPI_STATUS_IGNORE);
	PMPI_Type_free(&type);
	return err;
}

static int pack_block(const struct member *member, const struct block *block, struct packed *packed,
		      struct packed_block *to)
{
	int used = 0, err;

	if (to->is_wide)
		return pack_wide(member, block, packed->bytes + to->offset, to->size);
	err = PMPI_Pack(block->at, block->count, block->type, packed->bytes + to->offset, (int)to->size, &used,
			member->private_comm);
	to->size = (size_t)used;
	return err;
}

static int pack_blocks(const struct member *member, const struct block *block, struct packed *packed)
{
	size_t room = 0;
	int err = measure(member, block, packed, &room);

	if (err)
		return err;
	packed->bytes = malloc(room + 1);
	if (!packed->bytes)
		return MPI_ERR_NO_MEM;
	for (int i = 0; !err && i < member->size; i++)
		if (block[i].count)
			err = pack_block(member, &block[i], packed, &packed->block[i]);
	return err;
}

int forsched_mpi_pack(const struct member *member, const struct block *block, struct packed *packed)
{
	int err = MPI_ERR_NO_MEM;

	*packed = (struct packed){.block = calloc((size_t)member->size, sizeof(*packed->block))};
	if (packed->block)
		err = pack_blocks(member, block, packed);
	if (err)
		forsched_mpi_packed_free(packed);
	return err;
}

int forsched_mpi_send_packed(const struct member *member, const struct packed *packed, int rank, MPI_Request *request)
{
	const struct packed_block *block = &packed->block[rank];
	MPI_Datatype type = MPI_PACKED;
	int err = block->is_wide ? make_wide_type(block->size, &type) : MPI_SUCCESS;

	if (err)
		return err;
	err = PMPI_Isend(packed->bytes + block->offset, block->is_wide ? 1 : (int)block->size, type, rank, TAG_DATA,
			 member->private_comm, request);
	if (block->is_wide)
		PMPI_Type_free(&type); /* MPI keeps it for as long as the message needs it */
	return err;
}
