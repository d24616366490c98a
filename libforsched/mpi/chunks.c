/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An all-to-all in chunks: a rank sends a chunk to each of its peers in turn, in the order of the schedule's phases, then
 * the next chunk to each that is not served yet. Nobody waits for a phase to end. So a long message shares the links with
 * all others instead of holding up what comes behind it.
 *
 * Both ends cut a message at the same bytes: these are a multiple of the size of every type that a rank uses, and ranks
 * have compared what each sends with what the other expects (sizes.c), so both know how many chunks there are.
 *
 * A few sends and receives are on their way at a time, begun in the order of (round, phase, step; places.c). No rank waits for
 * ever: of all chunks that have not arrived take the first in that order. Whatever comes before it at its sender, or at
 * its receiver, is done, so both have begun it.
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

#define SENDS 4	    /* at a time */
#define RECEIVES 32 /* at a time: they wait for ranks that are not all equally far */

/* What is left of a message. */
struct stream {
	struct block block; /* what has not begun */
	MPI_Aint extent;    /* of its type */
	int each;	    /* elements in a chunk */
	int rank;
};

/* One direction: messages that are not done, in the order of phases. */
struct lane {
	struct stream *stream;
	uint32_t n, next, kept; /* next: whose turn it is; kept: how many of those before it have more */
	bool is_out;
};

static void add_stream(struct lane *lane, const struct side *side, int rank, uint64_t chunk)
{
	struct stream *stream = &lane->stream[lane->n];
	uint64_t size = forsched_mpi_size_of(forsched_mpi_block_of(side, rank).type), each = size ? chunk / size : 0;
	MPI_Aint lower;

	*stream = (struct stream){.block = forsched_mpi_block_of(side, rank), .rank = rank};
	if (stream->block.count <= 0 || !size)
		return;
	PMPI_Type_get_extent(stream->block.type, &lower, &stream->extent);
	stream->each = each < (uint64_t)stream->block.count ? (int)each : stream->block.count;
	lane->n++;
}

bool forsched_mpi_can_chunk(struct member *member)
{
	if (!member->streams)
		member->streams = calloc(2 * (size_t)member->size, sizeof(struct stream));
	return member->streams != NULL;
}

static void fill_lane(struct lane *lane, const struct member *member, const struct side *side, uint64_t chunk)
{
	const struct turns *turns = &member->turns;
	uint32_t n = (lane->is_out ? turns->out_first : turns->in_first)[turns->n];

	for (uint32_t i = 0; i < n; i++)
		add_stream(lane, side, (lane->is_out ? turns->out : turns->in)[i], chunk);
}

/* The stream whose turn it is, NULL: all chunks have begun. Who has no more leaves the lane at the end of its turn. */
static struct stream *take_turn(struct lane *lane)
{
	if (lane->next == lane->n) {
		lane->n = lane->kept;
		lane->next = lane->kept = 0;
	}
	return lane->n ? &lane->stream[lane->next++] : NULL;
}

/* Begin a chunk; one that MPI refuses is an empty message, for the other rank waits for it. */
static int begin(const struct member *member, struct lane *lane, struct stream *stream, MPI_Request *request)
{
	struct block *block = &stream->block;
	int count = stream->each < block->count ? stream->each : block->count, err;
	MPI_Comm comm = member->private_comm;

	err = lane->is_out ? PMPI_Isend(block->at, count, block->type, stream->rank, TAG_CHUNK, comm, request)
			   : PMPI_Irecv(block->at, count, block->type, stream->rank, TAG_CHUNK, comm, request);
	if (err && lane->is_out)
		PMPI_Isend(NULL, 0, MPI_BYTE, stream->rank, TAG_CHUNK, comm, request);
	else if (err)
		PMPI_Irecv(NULL, 0, MPI_BYTE, stream->rank, TAG_CHUNK, comm, request);
	block->at = (char *)block->at + count * stream->extent;
	block->count -= count;
	if (block->count > 0) { /* behind those before it that have more, too */
		struct stream more = *stream;

		lane->stream[lane->kept++] = more;
	}
	return err;
}

/* ---- requests: those of sends, then those of receives ---- */

struct traffic {
	const struct member *member;
	struct lane out, in;
	MPI_Request request[SENDS + RECEIVES];
	int err; /* the first */
};

static void note(struct traffic *traffic, int err)
{
	if (!traffic->err)
		traffic->err = err;
}

static void next_chunk(struct traffic *traffic, int which)
{
	struct lane *lane = which < SENDS ? &traffic->out : &traffic->in;
	struct stream *stream = take_turn(lane);

	traffic->request[which] = MPI_REQUEST_NULL;
	if (stream)
		note(traffic, begin(traffic->member, lane, stream, &traffic->request[which]));
}

static void run(struct traffic *traffic)
{
	MPI_Status status[SENDS + RECEIVES];
	int done[SENDS + RECEIVES], n = 0, err;

	for (int which = 0; which < SENDS + RECEIVES; which++)
		next_chunk(traffic, which);
	while (n != MPI_UNDEFINED) {
		err = PMPI_Waitsome(SENDS + RECEIVES, traffic->request, &n, done, status);
		if (err && err != MPI_ERR_IN_STATUS) {
			note(traffic, err);
			return;
		}
		for (int i = 0; n != MPI_UNDEFINED && i < n; i++) {
			note(traffic, err ? status[i].MPI_ERROR : MPI_SUCCESS);
			next_chunk(traffic, done[i]);
		}
	}
}

int forsched_mpi_run_chunks(const struct member *member, const struct side *send, const struct side *recv,
			    uint64_t chunk)
{
	struct stream *streams = member->streams;
	struct traffic traffic = {
		.member = member, .out = {.stream = streams, .is_out = true}, .in = {.stream = streams + member->size}};

	fill_lane(&traffic.out, member, send, chunk);
	fill_lane(&traffic.in, member, recv, chunk);
	run(&traffic);
	return traffic.err;
}
