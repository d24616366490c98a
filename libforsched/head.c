/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a schedule that is read at open: the header, who takes part, and the checksums of the rows. The order of
 * checks is that of trust: the magic word, byte order and version say whether the rest of the header means anything;
 * its checksum, whether it is whole; then sizes are compared with bounds, with each other and with the file, before
 * anything is allocated or read by them. The rules and their numbers are those of schedule_format.h.
 */
#include "config.h"

#include "internal.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define MAX_LID 0xBFFF /* the last unicast LID */
#define MAX_LMC 7
#define MAX_SERVERS MAX_LID /* each has a LID of its own */
#define MAX_LANES 254
#define MAX_ROWS (UINT32_MAX / FORS_SF_MAX_PHASES) /* of a rounds plan: its cells are counted in 32 bits */

enum forsched_err forsched_i_corrupt(const struct source *source, const char *what, struct forsched_error *error)
{
	return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: corrupted schedule: %s", source->name, what);
}

uint32_t forsched_i_crc(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}

/* ---- the header ---- */

/* Is it a schedule, and can this library read its kind? */
static enum forsched_err check_kind(const struct source *source, const struct fors_sf_header *header,
				    struct forsched_error *error)
{
	uint32_t order = le32toh(header->byte_order);

	if (order == __builtin_bswap32(FORS_SF_BYTE_ORDER))
		return forsched_i_fail(
			error, FORSCHED_EFORMAT,
			"%s: written in the other byte order; schedules are little-endian on every machine",
			source->name);
	if (order == FORS_SF_BYTE_ORDER && le32toh(header->version) > FORS_SF_NEWEST)
		return forsched_i_fail(error, FORSCHED_EFORMAT,
				       "%s: version %" PRIu32 " of the format; this libforsched (%s) knows version %d: "
				       "install that of the fors that wrote it",
				       source->name, le32toh(header->version), PACKAGE_VERSION, FORS_SF_NEWEST);
	if (le32toh(header->header_crc) != forsched_i_crc(header, offsetof(struct fors_sf_header, header_crc)))
		return forsched_i_corrupt(source, "checksum of the header", error);
	if (order != FORS_SF_BYTE_ORDER || le32toh(header->version) < FORS_SF_VERSION)
		return forsched_i_corrupt(source, "byte order or version", error);
	return FORSCHED_OK;
}

static enum forsched_err read_header(const struct source *source, struct fors_sf_header *header,
				     struct forsched_error *error)
{
	char magic[8] = "";
	enum forsched_err err;

	if (source->size == 0)
		return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: empty, not a schedule of fors", source->name);
	err = forsched_i_read(source, 0, magic, source->size < 8 ? (size_t)source->size : 8, error);
	if (err)
		return err;
	if (memcmp(magic, FORS_SF_MAGIC, sizeof(magic)) != 0)
		return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: not a schedule of fors", source->name);
	if (source->size < sizeof(*header))
		return forsched_i_fail(error, FORSCHED_EFORMAT,
				       "%s: truncated: %" PRIu64 " bytes, the header alone has %zu", source->name,
				       source->size, sizeof(*header));
	err = forsched_i_read(source, 0, header, sizeof(*header), error);
	return err ? err : check_kind(source, header, error);
}

/* A header as it lies in a file; what its version does not have is zeros. */
struct parts {
	struct fors_sf_header header;
	struct fors_sf_more more;
	struct fors_sf_sizes sizes;
};

_Static_assert(sizeof(struct parts) == 440, "the header has holes");

/* Is a part whole, whose CRC is of everything before it? */
static bool is_part(const struct parts *parts, size_t at, uint32_t crc)
{
	return le32toh(crc) == forsched_i_crc(parts, at);
}

/* What comes after the first part. */
static enum forsched_err read_more(const struct source *source, struct parts *parts, struct forsched_error *error)
{
	const uint32_t version = le32toh(parts->header.version);
	const size_t first = sizeof(parts->header);
	const size_t all = version == FORS_SF_VERSION_WAYS ? offsetof(struct parts, sizes) : sizeof(*parts);
	enum forsched_err err;

	if (version == FORS_SF_VERSION)
		return FORSCHED_OK;
	if (source->size < all)
		return forsched_i_fail(error, FORSCHED_EFORMAT,
				       "%s: truncated: %" PRIu64 " bytes, the header alone has %zu", source->name,
				       source->size, all);
	err = forsched_i_read(source, first, (char *)parts + first, all - first, error);
	if (err)
		return err;
	if (!is_part(parts, offsetof(struct parts, more.more_crc), parts->more.more_crc))
		return forsched_i_corrupt(source, "checksum of the second part of the header", error);
	if (version != FORS_SF_VERSION_WAYS &&
	    !is_part(parts, offsetof(struct parts, sizes.sizes_crc), parts->sizes.sizes_crc))
		return forsched_i_corrupt(source, "checksum of the third part of the header", error);
	return FORSCHED_OK;
}

static void decode_more(const struct fors_sf_more *more, struct shape *shape)
{
	shape->fabric_epoch = le64toh(more->fabric_epoch);
	shape->nswitches = le32toh(more->nswitches);
	shape->nways = le32toh(more->nways);
	shape->nunits = le32toh(more->nunits);
	shape->switches = le64toh(more->switches_offset);
	shape->ways = le64toh(more->ways_offset);
	shape->leaves = le64toh(more->leaves_offset);
	shape->units = le64toh(more->units_offset);
	shape->switches_crc = le32toh(more->switches_crc);
	shape->ways_crc = le32toh(more->ways_crc);
	shape->leaves_crc = le32toh(more->leaves_crc);
	shape->more_crc = le32toh(more->more_crc);
	memcpy(shape->job, more->name, sizeof(more->name));
}

static void decode_sizes(const struct fors_sf_sizes *sizes, struct shape *shape)
{
	shape->lengths = le64toh(sizes->lengths_offset);
	shape->granule = le64toh(sizes->granule);
	shape->is_unit = le32toh(sizes->is_unit);
	shape->lengths_crc = le32toh(sizes->lengths_crc);
	shape->demand_crc = le32toh(sizes->demand_crc);
	shape->sizes_crc = le32toh(sizes->sizes_crc);
}

static void decode(const struct fors_sf_header *header, struct shape *shape)
{
	*shape = (struct shape){
		.layout = (enum fors_sf_layout)le32toh(header->layout),
		.version = le32toh(header->version),
		.epoch = le64toh(header->epoch),
		.fingerprint = le64toh(header->fingerprint),
		.nservers = le32toh(header->nservers),
		.nphases = le32toh(header->nphases),
		.nleaves = le32toh(header->nleaves),
		.nlanes = le32toh(header->nlanes),
		.parts = le32toh(header->parts),
		.round_length = le32toh(header->round_length),
		.nrows = le32toh(header->nrows),
		.cell_size = le32toh(header->cell_size),
		.npaths = le32toh(header->npaths),
		.servers = le64toh(header->servers_offset),
		.lanes = le64toh(header->lanes_offset),
		.row_crc = le64toh(header->row_crc_offset),
		.cells = le64toh(header->cells_offset),
		.end = le64toh(header->file_size),
		.servers_crc = le32toh(header->servers_crc),
		.lanes_crc = le32toh(header->lanes_crc),
		.header_crc = le32toh(header->header_crc),
	};
	memcpy(shape->method, header->method, sizeof(header->method));
	memcpy(shape->reason, header->reason, sizeof(header->reason));
}

/* What versions 2 and 3 bound besides. */
static bool is_within_version(const struct shape *shape)
{
	if ((shape->layout == FORS_SF_PIECES) != forsched_i_has_sizes(shape))
		return false;
	if (!forsched_i_has_ways(shape))
		return true;
	return shape->nlanes == 0 && shape->nservers <= FORS_SF_MAX_SERVERS && shape->end <= FORS_SF_MAX_BYTES &&
	       (uint64_t)shape->nleaves * shape->nservers * shape->npaths <= FORS_SF_MAX_UNITS &&
	       shape->nswitches <= MAX_SERVERS &&
	       (shape->nways ? shape->nswitches >= shape->nleaves : shape->nswitches == 0);
}

static bool is_bounded(const struct shape *shape)
{
	return shape->nservers <= MAX_SERVERS && shape->nphases <= FORS_SF_MAX_PHASES &&
	       shape->nleaves <= MAX_SERVERS && shape->nlanes <= MAX_LANES && shape->npaths >= 1 &&
	       shape->npaths <= 1u << MAX_LMC;
}

static bool is_rounds_possible(const struct shape *shape)
{
	uint64_t numbers = (uint64_t)shape->nservers * (shape->nlanes + 1) * shape->npaths;

	return shape->parts >= 1 && shape->parts <= MAX_SERVERS && shape->round_length >= 1 &&
	       shape->nphases % shape->round_length == 0 && (uint64_t)shape->nleaves * shape->parts == shape->nrows &&
	       shape->nrows <= MAX_ROWS && shape->cell_size == (numbers <= UINT16_MAX ? 2 : 4);
}

/* The sizes that follow from the layout: rules 3 to 5. */
static bool is_layout_possible(const struct shape *shape)
{
	if (shape->layout == FORS_SF_ROUNDS)
		return shape->nphases && shape->nservers && is_rounds_possible(shape);
	if (shape->parts || shape->round_length)
		return false;
	if (shape->layout == FORS_SF_UNITS)
		return forsched_i_has_ways(shape) && shape->nphases && shape->nservers &&
		       shape->nrows == shape->nservers &&
		       shape->cell_size == ((uint64_t)shape->nservers * shape->npaths <= UINT16_MAX ? 4 : 8);
	if (shape->layout == FORS_SF_PIECES)
		return shape->nphases && shape->nservers && shape->nrows == shape->nservers &&
		       shape->cell_size == sizeof(struct fors_sf_piece) && shape->granule && shape->is_unit <= 1;
	if (shape->cell_size != sizeof(struct fors_sf_cell))
		return false;
	if (shape->layout == FORS_SF_DENSE)
		return shape->nphases && shape->nservers && shape->nrows == shape->nservers;
	return shape->layout == FORS_SF_WITHDRAWN && !shape->nservers && !shape->nphases && !shape->nleaves &&
	       !shape->nlanes && !shape->nrows && shape->npaths == 1 && !shape->nswitches && !shape->nways &&
	       !shape->nunits;
}

/* Rule 8: no control characters, and zeros after the end. */
static bool is_text(const char *text, size_t room)
{
	size_t length = strnlen(text, room);

	for (size_t i = 0; i < room; i++)
		if (i < length ? (unsigned char)text[i] < ' ' || text[i] == 0x7f : text[i] != 0)
			return false;
	return true;
}

/* What the header has beside numbers. */
static bool is_clean(const struct fors_sf_header *header, const struct fors_sf_more *more)
{
	return !more->reserved && !more->name[sizeof(more->name) - 1] && is_text(more->name, sizeof(more->name)) &&
	       !header->reserved && !header->method[sizeof(header->method) - 1] &&
	       !header->reason[sizeof(header->reason) - 1] && is_text(header->method, sizeof(header->method)) &&
	       is_text(header->reason, sizeof(header->reason));
}

/* The sections of versions 2 and 3 follow each other; the next one begins at *next. */
static bool is_more_contiguous(const struct shape *shape, uint64_t *next)
{
	if (!forsched_i_has_ways(shape))
		return true;
	*next = shape->units + (uint64_t)shape->nunits * sizeof(struct fors_sf_unit);
	return shape->switches == shape->lanes &&
	       shape->ways == shape->switches + (uint64_t)shape->nswitches * sizeof(uint64_t) &&
	       shape->leaves == shape->ways + (uint64_t)shape->nways * sizeof(struct fors_sf_way) &&
	       shape->units == shape->leaves + (uint64_t)shape->nleaves * sizeof(struct fors_sf_leaf);
}

/* Where servers begin. */
static bool is_first(const struct shape *shape)
{
	uint64_t header = sizeof(struct fors_sf_header), more = header + sizeof(struct fors_sf_more);

	if (forsched_i_has_sizes(shape))
		return shape->lengths == more + sizeof(struct fors_sf_sizes) &&
		       shape->servers == shape->lengths + (uint64_t)shape->nphases * sizeof(uint64_t);
	return shape->servers == (forsched_i_has_ways(shape) ? more : header);
}

/* Sections follow each other without holes, up to the end. */
static bool is_contiguous(const struct shape *shape)
{
	uint64_t next = shape->lanes + (uint64_t)shape->nlanes * sizeof(uint64_t);

	return is_first(shape) &&
	       shape->lanes == shape->servers + (uint64_t)shape->nservers * sizeof(struct fors_sf_server) &&
	       is_more_contiguous(shape, &next) && shape->row_crc == next &&
	       shape->cells == (shape->row_crc + (uint64_t)shape->nrows * sizeof(uint32_t) + 7) / 8 * 8 &&
	       shape->end == shape->cells + (uint64_t)shape->nrows * shape->nphases * shape->cell_size;
}

enum forsched_err forsched_i_read_shape(const struct source *source, struct shape *shape, struct forsched_error *error)
{
	struct parts parts = {0};
	enum forsched_err err = read_header(source, &parts.header, error);

	if (!err)
		err = read_more(source, &parts, error);
	if (err)
		return err;
	decode(&parts.header, shape);
	decode_more(&parts.more, shape);
	decode_sizes(&parts.sizes, shape);
	if (shape->end > source->size)
		return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: truncated: %" PRIu64 " of %" PRIu64 " bytes",
				       source->name, source->size, shape->end);
	if (shape->end < source->size)
		return forsched_i_corrupt(source, "bytes after its end", error);
	if (!is_bounded(shape) || !is_within_version(shape) || !is_layout_possible(shape) || !is_contiguous(shape))
		return forsched_i_corrupt(source, "impossible sizes in the header", error);
	if (!is_clean(&parts.header, &parts.more))
		return forsched_i_corrupt(source, "texts and unused fields of the header", error);
	return FORSCHED_OK;
}

enum forsched_err forsched_i_newest(const char *path, uint64_t *epoch, struct forsched_error *error)
{
	struct source source;
	struct shape shape;
	enum forsched_err err = forsched_i_source_file(path, &source, error);

	if (err)
		return err;
	err = forsched_i_read_shape(&source, &shape, error);
	forsched_i_source_close(&source);
	if (!err)
		*epoch = shape.epoch;
	return err;
}

/* ---- servers, lanes, checksums of rows ---- */

void *forsched_i_read_section(const struct source *source, uint64_t offset, size_t size, uint32_t crc, const char *what,
			      enum forsched_err *err, struct forsched_error *error)
{
	void *bytes = malloc(size + 1);

	if (!bytes) {
		*err = forsched_i_fail_memory(error);
		return NULL;
	}
	*err = forsched_i_read(source, offset, bytes, size, error);
	if (!*err && forsched_i_crc(bytes, size) != crc)
		*err = forsched_i_corrupt(source, what, error);
	if (*err) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static void decode_server(const struct fors_sf_server *from, struct forsched_server *to)
{
	to->guid = le64toh(from->guid);
	to->lid = le16toh(from->lid);
	to->leaf = le16toh(from->leaf);
	to->rank = le16toh(from->rank);
	to->lmc = from->lmc;
	memcpy(to->desc, from->desc, sizeof(from->desc));
}

/* Has server s its place in the order, and LIDs that nobody before it has? `taken` has a bit for each LID. */
static const char *fault_of_server(const struct forsched *schedule, uint32_t s, uint64_t *taken)
{
	const struct forsched_server *server = &schedule->server[s];
	bool is_first = s == 0 || server[-1].leaf != server->leaf;

	if (server->lmc > MAX_LMC || server->lid == 0 || server->lid + (1u << server->lmc) - 1 > MAX_LID)
		return "a server's LID or LMC";
	if (server->leaf >= schedule->shape.nleaves || (s && server[-1].leaf > server->leaf) ||
	    server->rank != (is_first ? 0 : server[-1].rank + 1))
		return "the order of the servers";
	if (schedule->shape.parts && server->rank / schedule->shape.parts >= schedule->shape.round_length)
		return "a leaf with more servers than its rounds have phases";
	for (uint32_t lid = server->lid; lid < server->lid + (1u << server->lmc); lid++) {
		if (taken[lid / 64] >> lid % 64 & 1)
			return "two servers with the same LID";
		taken[lid / 64] |= 1ull << lid % 64;
	}
	return NULL;
}

static enum forsched_err read_servers(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	uint64_t taken[MAX_LID / 64 + 1] = {0};
	enum forsched_err err = FORSCHED_OK;
	struct fors_sf_server *from =
		forsched_i_read_section(&schedule->source, shape->servers, (size_t)(shape->lanes - shape->servers),
					shape->servers_crc, "checksum of the servers", &err, error);

	for (uint32_t s = 0; from && !err && s < shape->nservers; s++) {
		const char *fault;

		decode_server(&from[s], &schedule->server[s]);
		fault = from[s].reserved || !is_text(from[s].desc, sizeof(from[s].desc))
				? "a server's description"
				: fault_of_server(schedule, s, taken);
		if (fault)
			err = forsched_i_corrupt(&schedule->source, fault, error);
	}
	free(from);
	return err;
}

static void find_leaves(struct forsched *schedule)
{
	uint32_t s = 0;

	for (uint32_t leaf = 0; leaf <= schedule->shape.nleaves; leaf++) {
		while (s < schedule->shape.nservers && schedule->server[s].leaf < leaf)
			s++;
		schedule->leaf_first[leaf] = s;
	}
}

static int compare_guids(const void *a, const void *b)
{
	const struct by_guid *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static enum forsched_err sort_guids(struct forsched *schedule, struct forsched_error *error)
{
	uint32_t nservers = schedule->shape.nservers;

	for (uint32_t s = 0; s < nservers; s++)
		schedule->by_guid[s] = (struct by_guid){schedule->server[s].guid, s};
	qsort(schedule->by_guid, nservers, sizeof(*schedule->by_guid), compare_guids);
	for (uint32_t i = 1; i < nservers; i++)
		if (schedule->by_guid[i].guid == schedule->by_guid[i - 1].guid)
			return forsched_i_corrupt(&schedule->source, "two servers with the same GUID", error);
	return FORSCHED_OK;
}

static enum forsched_err read_lanes(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	enum forsched_err err = forsched_i_read(&schedule->source, shape->lanes, schedule->spine,
						(size_t)shape->nlanes * sizeof(uint64_t), error);

	if (!err && forsched_i_crc(schedule->spine, (size_t)shape->nlanes * sizeof(uint64_t)) != shape->lanes_crc)
		return forsched_i_corrupt(&schedule->source, "checksum of the lanes", error);
	for (uint32_t lane = 0; !err && lane < shape->nlanes; lane++)
		schedule->spine[lane] = le64toh(schedule->spine[lane]);
	return err;
}

/* They have no checksum: what is wrong in them shows as a row that does not fit. With them is read what fills up to the
 * cells, for which there is room in row_crc: it has to be 0. */
static enum forsched_err read_row_crcs(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	enum forsched_err err = forsched_i_read(&schedule->source, shape->row_crc, schedule->row_crc,
						(size_t)(shape->cells - shape->row_crc), error);

	if (!err && schedule->row_crc[shape->nrows])
		err = forsched_i_corrupt(&schedule->source, "what fills up to the cells", error);
	for (uint32_t row = 0; !err && row < shape->nrows; row++)
		schedule->row_crc[row] = le32toh(schedule->row_crc[row]);
	return err;
}

enum forsched_err forsched_i_read_head(struct forsched *schedule, struct forsched_error *error)
{
	const struct shape *shape = &schedule->shape;
	enum forsched_err err;

	schedule->server = calloc((size_t)shape->nservers + 1, sizeof(*schedule->server));
	schedule->by_guid = calloc((size_t)shape->nservers + 1, sizeof(*schedule->by_guid));
	schedule->spine = calloc((size_t)shape->nlanes + 1, sizeof(*schedule->spine));
	schedule->row_crc = calloc((size_t)shape->nrows + 1, sizeof(*schedule->row_crc));
	schedule->leaf_first = calloc((size_t)shape->nleaves + 1, sizeof(*schedule->leaf_first));
	schedule->row = calloc((size_t)shape->nservers + 1, sizeof(*schedule->row));
	schedule->piece = calloc((size_t)shape->nservers + 1, sizeof(*schedule->piece));
	if (!schedule->piece || !schedule->server || !schedule->by_guid || !schedule->spine || !schedule->row_crc ||
	    !schedule->leaf_first || !schedule->row)
		return forsched_i_fail_memory(error);
	err = forsched_i_has_sizes(shape) ? forsched_i_read_lengths(schedule, error) : FORSCHED_OK;
	if (!err)
		err = read_servers(schedule, error);
	if (!err)
		err = sort_guids(schedule, error);
	if (!err)
		err = read_lanes(schedule, error);
	if (!err)
		err = read_row_crcs(schedule, error);
	if (!err && forsched_i_has_ways(shape))
		err = forsched_i_read_switches(schedule, error);
	find_leaves(schedule);
	return err;
}
