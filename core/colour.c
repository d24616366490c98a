/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * colour.c - edge colouring by repeated splitting.
 *
 * To colour with K = 2^i colours, halve the graph (euler.c): every node with at most K
 * times its cap edges keeps at most K/2 times its cap in either half, and so do the
 * groups. i halvings make 2^i graphs that respect the caps as they are: the colours.
 *
 * With any other K, the colours are cut into the largest power of two below K and the rest,
 * and the edges in the same proportion: each edge's share is rounded from a binary fraction, least
 * digit first, halving the graph of those edges whose digit is 1 and rounding one half up and one
 * down (after Alon's and Cole, Ost and Schirra's matchings by halvings). What the rounding
 * left out of bounds, an edge here and there, settle.c mends. There are only as many
 * such uneven splits as K has binary digits that are 1, less one, and they come first, where nodes have many
 * edges and most have room, not at each of the small graphs at the end.
 *
 * Parallel edges are split by number, not one by one: one of m copies gives floor(m/2)
 * to each half, and only the odd ones take part in the halving. A graph with n different
 * edges and many copies of each costs O(n) on its first passes. Once all copies are
 * single, the plain recursion works inside two buffers that take turns.
 */
#include "colour.h"

#include <stdlib.h>
#include <string.h>

#include "euler.h"
#include "settle.h"

/* A graph on the way: edges in both orders, with the caller's numbers. */
struct part {
	struct fors_edges edges;
	uint32_t *id;   /* the caller's number of each edge */
	uint16_t *mult; /* copies, NULL: 1 each */
};

/* One of the two buffers of the plain recursion, and of the graph of the odd edges. */
struct buffer {
	uint16_t *left, *right;
	uint32_t *by_right, *id;
};

struct fors_colour_space {
	uint32_t capacity, nnodes;
	struct buffer buffer[2], odd;
	struct fors_mates *mate;
	uint8_t *half;
	uint32_t *place;      /* new number of an edge in its part */
	uint16_t *take;       /* uneven splits: copies for the first part */
	uint16_t *digits;     /* uneven splits: what is left to round of each edge's share */
	uint32_t *count;      /* per right node, for sorting */
	struct fors_settle_space *settle; /* made when first needed */
};

/* A part that waits for its colours. */
struct piece {
	struct part part;
	uint32_t first, ncolours;
};

struct fors_colour_pieces {
	struct fors_colour_side side[2];
	uint32_t count, room;
	struct piece *piece;
};

/* One call of fors_colour() or of its steps. */
struct job {
	struct fors_colour_space *space;
	const struct fors_colour_side *side;
	fors_colour_emit emit;             /* when colouring */
	void *context;
	struct fors_colour_pieces *pieces; /* when cutting, else NULL */
	uint32_t most;                     /* colours in a piece */
	struct fors_error *error;
};

static bool buffer_alloc(struct buffer *buffer, uint32_t n)
{
	buffer->left = malloc(n * sizeof(*buffer->left));
	buffer->right = malloc(n * sizeof(*buffer->right));
	buffer->by_right = malloc(n * sizeof(*buffer->by_right));
	buffer->id = malloc(n * sizeof(*buffer->id));
	return buffer->left && buffer->right && buffer->by_right && buffer->id;
}

static void buffer_free(struct buffer *buffer)
{
	free(buffer->left);
	free(buffer->right);
	free(buffer->by_right);
	free(buffer->id);
}

struct fors_colour_space *fors_colour_space_new(uint32_t nedges, uint32_t nnodes)
{
	struct fors_colour_space *space = calloc(1, sizeof(*space));
	size_t n = (size_t)nedges + 1;

	if (!space)
		return NULL;
	space->capacity = nedges;
	space->nnodes = nnodes;
	space->mate = malloc(n * sizeof(*space->mate));
	space->half = malloc(n);
	space->place = malloc(n * sizeof(*space->place));
	space->take = malloc(n * sizeof(*space->take));
	space->digits = malloc(n * sizeof(*space->digits));
	space->count = malloc(((size_t)nnodes + 1) * sizeof(*space->count));
	if (buffer_alloc(&space->buffer[0], (uint32_t)n) && buffer_alloc(&space->buffer[1], (uint32_t)n) &&
	    buffer_alloc(&space->odd, (uint32_t)n) && space->mate && space->half && space->place && space->take &&
	    space->digits && space->count)
		return space;
	fors_colour_space_free(space);
	return NULL;
}

void fors_colour_space_free(struct fors_colour_space *space)
{
	if (!space)
		return;
	buffer_free(&space->buffer[0]);
	buffer_free(&space->buffer[1]);
	buffer_free(&space->odd);
	free(space->mate);
	free(space->half);
	free(space->place);
	free(space->take);
	free(space->digits);
	free(space->count);
	fors_settle_space_free(space->settle);
	free(space);
}

static struct fors_edges buffer_edges(const struct buffer *buffer, uint32_t offset, uint32_t n)
{
	return (struct fors_edges){
		.n = n,
		.left = buffer->left + offset,
		.by_right = buffer->by_right + offset,
		.right = buffer->right + offset,
	};
}

/* ---- splitting ---- */

/* half[e] = 0 or 1 for every edge of `part`, all copies taken as one. */
static void halve_all(struct job *job, const struct part *part)
{
	fors_euler_halve(&part->edges, job->side, job->space->mate, job->space->half);
}

/* The edges whose lowest digit is 1, as a graph of its own in space->odd; its id are edges of part. */
static struct fors_edges odd_edges(struct fors_colour_space *space, const struct part *part)
{
	const struct fors_edges *edges = &part->edges;
	struct buffer *odd = &space->odd;
	uint32_t n = 0, m = 0;

	for (uint32_t e = 0; e < edges->n; e++) {
		space->place[e] = n;
		odd->left[n] = edges->left[e];
		odd->id[n] = e;
		n += space->digits[e] & 1;
	}
	for (uint32_t i = 0; i < edges->n; i++) {
		uint32_t e = edges->by_right[i];

		odd->right[m] = edges->right[i];
		odd->by_right[m] = space->place[e];
		m += space->digits[e] & 1;
	}
	return buffer_edges(odd, 0, n);
}

/*
 * Round the lowest of the digits of all shares: the odd ones up or down in equal parts.
 * The digit is shifted out.
 */
static void round_digit(struct job *job, const struct part *part)
{
	struct fors_colour_space *space = job->space;
	struct fors_edges odd = odd_edges(space, part);

	fors_euler_halve(&odd, job->side, space->mate, space->half);
	for (uint32_t i = 0; i < odd.n; i++)
		space->digits[space->odd.id[i]] += space->half[i] ? -1 : 1;
	for (uint32_t e = 0; e < part->edges.n; e++)
		space->digits[e] >>= 1;
}

/* Binary digits that bring first/whole of an edge's copies near enough. */
static unsigned digits_needed(const struct part *part, uint32_t whole, uint32_t first)
{
	unsigned digits;

	if (2 * first == whole)
		return 1;
	if (part->mult)
		return 6;
	for (digits = 1; digits < 6; digits++) {
		int64_t scaled = (int64_t)first << digits, off = (scaled + whole / 2) % whole - whole / 2;

		if (llabs(off) <= (int64_t)1 << digits)
			break;
	}
	return digits;
}

/* take[e] = how many copies of each edge the first `first` of `whole` colours get. */
static enum fors_err divide(struct job *job, const struct part *part, uint32_t whole, uint32_t first)
{
	struct fors_colour_space *space = job->space;
	unsigned digits = digits_needed(part, whole, first);

	for (uint32_t e = 0; e < part->edges.n; e++) {
		uint64_t share = (uint64_t)(part->mult ? part->mult[e] : 1) * first;

		space->take[e] = (uint16_t)(share / whole);
		space->digits[e] = (uint16_t)((((share % whole) << digits) + whole / 2) / whole);
	}
	for (unsigned i = 0; i < digits; i++)
		round_digit(job, part);
	for (uint32_t e = 0; e < part->edges.n; e++)
		space->take[e] = (uint16_t)(space->take[e] + space->digits[e]);
	if (2 * first == whole)
		return FORS_OK;
	if (!space->settle)
		space->settle = fors_settle_space_new(space->capacity, space->nnodes);
	if (!space->settle)
		return fors_fail_memory(job->error);
	return fors_settle(space->settle, &part->edges, part->mult, job->side, whole, first, space->take, job->error);
}

/* The largest power of two below k, but half of k if that is one itself. */
static uint32_t power_below(uint32_t k)
{
	return 1u << (31 - __builtin_clz(k - 1));
}

/* ---- single edges ---- */

/*
 * Sort the edges of `part` by half[] into `to`, from `offset` on: first all with 0, then
 * all with 1, both orders kept. Returns the number of the former.
 */
static uint32_t sort_halves(struct fors_colour_space *space, const struct part *part, const struct buffer *to,
			    uint32_t offset)
{
	const struct fors_edges *edges = &part->edges;
	uint32_t n = edges->n, ones = 0, zeros, at[2], from[2];

	for (uint32_t e = 0; e < n; e++)
		ones += space->half[e];
	zeros = n - ones;
	from[0] = at[0] = offset;
	from[1] = at[1] = offset + zeros;
	for (uint32_t e = 0; e < n; e++) {
		unsigned h = space->half[e];
		uint32_t i = at[h]++;

		to->left[i] = edges->left[e];
		to->id[i] = part->id[e];
		space->place[e] = (i - from[h]) << 1 | h;
	}
	at[0] = from[0];
	at[1] = from[1];
	for (uint32_t j = 0; j < n; j++) {
		uint32_t place = space->place[edges->by_right[j]], i = at[place & 1]++;

		to->right[i] = edges->right[j];
		to->by_right[i] = place >> 1;
	}
	return zeros;
}

/* Two colours: no need to sort more than the numbers. */
static enum fors_err emit_two(struct job *job, const struct part *part, uint32_t first, uint32_t *to)
{
	uint32_t n = part->edges.n, at[2] = {0, 0};
	enum fors_err err;

	for (uint32_t e = 0; e < n; e++)
		at[1] += !job->space->half[e];
	for (uint32_t e = 0; e < n; e++)
		to[at[job->space->half[e]]++] = part->id[e];
	err = job->emit(job->context, first, to, at[0]);
	return err ? err : job->emit(job->context, first + 1, to + at[0], n - at[0]);
}

/* half[] from take[] of single edges. */
static void halve_by_take(struct fors_colour_space *space, uint32_t n)
{
	for (uint32_t e = 0; e < n; e++)
		space->half[e] = !space->take[e];
}

/* Colour `part`, single edges; its parts go to buffer[turn] from `offset` on. */
static enum fors_err colour_single(struct job *job, const struct part *part, uint32_t first, uint32_t ncolours,
				   int turn, uint32_t offset)
{
	const struct buffer *to = &job->space->buffer[turn];
	uint32_t n = part->edges.n, k, zeros;
	struct part zero, one;
	enum fors_err err = FORS_OK;

	if (ncolours == 1)
		return job->emit(job->context, first, part->id, n);
	k = ncolours - power_below(ncolours);
	if (2 * k == ncolours)
		halve_all(job, part);
	else if (!(err = divide(job, part, ncolours, k)))
		halve_by_take(job->space, n);
	if (err)
		return err;
	if (ncolours == 2)
		return emit_two(job, part, first, to->id + offset);
	zeros = sort_halves(job->space, part, to, offset);
	zero = (struct part){.edges = buffer_edges(to, offset, zeros), .id = to->id + offset};
	one = (struct part){.edges = buffer_edges(to, offset + zeros, n - zeros), .id = to->id + offset + zeros};
	err = colour_single(job, &zero, first, k, !turn, offset);
	return err ? err : colour_single(job, &one, first + k, ncolours - k, !turn, offset + zeros);
}

/* ---- edges with copies ---- */

/* Room for n edges with copies; *part is all NULL on failure. */
static enum fors_err part_alloc(struct part *part, uint32_t n, struct fors_error *error)
{
	size_t size = n ? n : 1;
	struct buffer buffer;
	uint16_t *mult = malloc(size * sizeof(*mult));
	bool good = buffer_alloc(&buffer, (uint32_t)size) && mult;

	*part = (struct part){.edges = buffer_edges(&buffer, 0, n), .id = buffer.id, .mult = mult};
	if (good)
		return FORS_OK;
	free(mult);
	buffer_free(&buffer);
	memset(part, 0, sizeof(*part));
	return fors_fail_memory(error);
}

static void part_free(struct part *part)
{
	free(part->edges.left);
	free(part->edges.by_right);
	free(part->edges.right);
	free(part->id);
	free(part->mult);
	memset(part, 0, sizeof(*part));
}

/* Copies of edge e that go to the first part, or those that do not. */
static inline uint32_t share_of(const struct fors_colour_space *space, const struct part *part, uint32_t e, bool rest)
{
	return rest ? (uint32_t)part->mult[e] - space->take[e] : space->take[e];
}

/* The edges of which the first part (or the rest) has copies, in a new part. */
static enum fors_err part_take(struct job *job, const struct part *part, bool rest, struct part *to)
{
	struct fors_colour_space *space = job->space;
	uint32_t n = 0, m = 0;
	enum fors_err err;

	for (uint32_t e = 0; e < part->edges.n; e++)
		n += share_of(space, part, e, rest) > 0;
	err = part_alloc(to, n, job->error);
	if (err)
		return err;
	n = 0;
	for (uint32_t e = 0; e < part->edges.n; e++) {
		uint32_t share = share_of(space, part, e, rest);

		space->place[e] = n;
		if (!share)
			continue;
		to->edges.left[n] = part->edges.left[e];
		to->id[n] = part->id[e];
		to->mult[n++] = (uint16_t)share;
	}
	for (uint32_t i = 0; i < part->edges.n; i++) {
		uint32_t e = part->edges.by_right[i];

		if (!share_of(space, part, e, rest))
			continue;
		to->edges.right[m] = part->edges.right[i];
		to->edges.by_right[m++] = space->place[e];
	}
	return FORS_OK;
}

static bool is_single(const struct part *part)
{
	for (uint32_t e = 0; e < part->edges.n; e++)
		if (part->mult[e] > 1)
			return false;
	return true;
}

/* Put `part` aside as a piece; it is the piece's from then on. */
static enum fors_err keep_piece(struct job *job, struct part *part, uint32_t first, uint32_t ncolours)
{
	struct fors_colour_pieces *pieces = job->pieces;

	if (pieces->count == pieces->room) {
		uint32_t room = pieces->room ? 2 * pieces->room : 16;
		struct piece *more = realloc(pieces->piece, room * sizeof(*more));

		if (!more) {
			part_free(part);
			return fors_fail_memory(job->error);
		}
		pieces->piece = more;
		pieces->room = room;
	}
	pieces->piece[pieces->count++] = (struct piece){*part, first, ncolours};
	memset(part, 0, sizeof(*part));
	return FORS_OK;
}

/* Colour `part`, whose edges have copies, or cut it up, and free it. */
static enum fors_err colour_copies(struct job *job, struct part *part, uint32_t first, uint32_t ncolours)
{
	struct part begin = {0}, rest = {0};
	enum fors_err err;
	uint32_t k;

	if (job->pieces && (ncolours <= job->most || ncolours == 1))
		return keep_piece(job, part, first, ncolours);
	if (!job->pieces && is_single(part)) {
		free(part->mult);
		part->mult = NULL;
		err = colour_single(job, part, first, ncolours, 0, 0);
		part_free(part);
		return err;
	}
	if (ncolours == 1) { /* a cap above 1 cannot give one edge two copies of a colour: emit says each once */
		part_free(part);
		return fors_fail(job->error, FORS_ENOPLAN, "an edge has more copies than there are colours");
	}
	k = ncolours - power_below(ncolours);
	err = divide(job, part, ncolours, k);
	if (!err)
		err = part_take(job, part, false, &begin);
	if (!err)
		err = part_take(job, part, true, &rest);
	part_free(part);
	if (!err)
		err = colour_copies(job, &begin, first, k);
	if (!err)
		err = colour_copies(job, &rest, first + k, ncolours - k);
	part_free(&begin);
	part_free(&rest);
	return err;
}

/* ---- the caller's graph ---- */

/* Order the edges by right node (counting sort); left order is the caller's. */
static void order_by_right(struct fors_colour_space *space, const struct fors_multigraph *graph, struct part *part)
{
	uint32_t nnodes = graph->side[1].nnodes, sum = 0;

	memset(space->count, 0, (nnodes + 1) * sizeof(*space->count));
	for (uint32_t e = 0; e < graph->nedges; e++)
		space->count[graph->right[e]]++;
	for (uint32_t i = 0; i < nnodes; i++) {
		uint32_t n = space->count[i];

		space->count[i] = sum;
		sum += n;
	}
	for (uint32_t e = 0; e < graph->nedges; e++) {
		uint32_t i = space->count[graph->right[e]]++;

		part->edges.by_right[i] = e;
		part->edges.right[i] = graph->right[e];
	}
	for (uint32_t e = 0; e < graph->nedges; e++)
		part->id[e] = e;
	memcpy(part->edges.left, graph->left, graph->nedges * sizeof(*graph->left));
}

/* The caller's graph as a part of its own, with copies. */
static enum fors_err part_of_graph(struct fors_colour_space *space, const struct fors_multigraph *graph,
				   struct part *part, struct fors_error *error)
{
	enum fors_err err = part_alloc(part, graph->nedges, error);

	if (err)
		return err;
	for (uint32_t e = 0; e < graph->nedges; e++)
		part->mult[e] = graph->mult ? graph->mult[e] : 1;
	order_by_right(space, graph, part);
	return FORS_OK;
}

enum fors_err fors_colour(struct fors_colour_space *space, const struct fors_multigraph *graph, uint32_t first,
			  uint32_t ncolours, fors_colour_emit emit, void *context, struct fors_error *error)
{
	struct job job = {.space = space, .side = graph->side, .emit = emit, .context = context, .error = error};
	struct part part = {.edges = buffer_edges(&space->buffer[1], 0, graph->nedges), .id = space->buffer[1].id};
	enum fors_err err;

	if (graph->mult) {
		err = part_of_graph(space, graph, &part, error);
		return err ? err : colour_copies(&job, &part, first, ncolours);
	}
	order_by_right(space, graph, &part);
	return colour_single(&job, &part, first, ncolours, 0, 0);
}

enum fors_err fors_colour_cut(struct fors_colour_space *space, const struct fors_multigraph *graph, uint32_t first,
			      uint32_t ncolours, uint32_t most, struct fors_colour_pieces **pieces,
			      struct fors_error *error)
{
	struct job job = {.space = space, .side = graph->side, .most = most, .error = error};
	enum fors_err err;
	struct part part;

	job.pieces = calloc(1, sizeof(*job.pieces));
	if (!job.pieces)
		return fors_fail_memory(error);
	memcpy(job.pieces->side, graph->side, sizeof(graph->side));
	err = part_of_graph(space, graph, &part, error);
	if (!err)
		err = colour_copies(&job, &part, first, ncolours);
	if (err)
		fors_colour_pieces_free(job.pieces);
	else
		*pieces = job.pieces;
	return err;
}

uint32_t fors_colour_pieces_count(const struct fors_colour_pieces *pieces)
{
	return pieces->count;
}

enum fors_err fors_colour_piece(struct fors_colour_space *space, struct fors_colour_pieces *pieces, uint32_t i,
				fors_colour_emit emit, void *context, struct fors_error *error)
{
	struct job job = {.space = space, .side = pieces->side, .emit = emit, .context = context, .error = error};
	struct piece *piece = &pieces->piece[i];

	return colour_copies(&job, &piece->part, piece->first, piece->ncolours);
}

void fors_colour_pieces_free(struct fors_colour_pieces *pieces)
{
	if (!pieces)
		return;
	for (uint32_t i = 0; i < pieces->count; i++)
		part_free(&pieces->piece[i].part);
	free(pieces->piece);
	free(pieces);
}
