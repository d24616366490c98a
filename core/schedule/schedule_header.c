/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: the first 272 bytes of a schedule (408 in version 2, 440 in version 3) say how long the whole file has to be, and have a
 * checksum of their own. So who wants the epoch reads no more than them, however large a file pretends to be, and
 * judges them just as the reader of the whole file does, which begins here too. In the order in which the checks make
 * sense: the magic and the byte order say that the numbers are numbers, the version that they mean what we think, the
 * checksum that they are those that were written; then sizes have to be possible, and offsets and the size of the
 * file have to follow from them.
 */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/fabric.h"
#include "schedule_header.h"

_Static_assert(sizeof(struct fors_sf_header) == 272, "the header has holes");
_Static_assert(sizeof(struct fors_sf_more) == 136, "the second part of the header has holes");
_Static_assert(sizeof(struct fors_sf_sizes) == 32, "the third part of the header has holes");

/* A header as it lies in a file; parts that its version does not have are all zeros. */
struct raw {
	struct fors_sf_header header;
	struct fors_sf_more more;
	struct fors_sf_sizes sizes;
};

static uint32_t size_of_cells(const struct fors_schedule_shape *shape)
{
	uint64_t paths = (uint64_t)shape->nservers * shape->npaths;

	switch (shape->layout) {
	case FORS_SF_ROUNDS:
		return paths * (shape->nlanes + 1) <= 0xFFFF ? 2 : 4;
	case FORS_SF_UNITS:
		return paths <= 0xFFFF ? 4 : 8;
	case FORS_SF_PIECES:
		return sizeof(struct fors_sf_piece);
	default:
		return sizeof(struct fors_sf_cell);
	}
}

void fors_schedule_find_offsets(struct fors_schedule_shape *shape)
{
	bool has_ways = fors_schedule_has_ways(shape->version), has_sizes = fors_schedule_has_sizes(shape->version);

	shape->nrows = shape->layout == FORS_SF_ROUNDS ? shape->nleaves * shape->parts : shape->nservers;
	shape->cell_size = size_of_cells(shape);
	shape->lengths = sizeof(struct fors_sf_header) + (has_ways ? sizeof(struct fors_sf_more) : 0) +
			 (has_sizes ? sizeof(struct fors_sf_sizes) : 0);
	shape->servers = shape->lengths + (has_sizes ? (uint64_t)shape->nphases * 8 : 0);
	shape->lanes = shape->servers + (uint64_t)shape->nservers * sizeof(struct fors_sf_server);
	shape->switches = shape->lanes + (uint64_t)shape->nlanes * 8;
	shape->ways = shape->switches + (uint64_t)shape->nswitches * 8;
	shape->leaves = shape->ways + (uint64_t)shape->nways * sizeof(struct fors_sf_way);
	shape->units = shape->leaves + (has_ways ? (uint64_t)shape->nleaves * sizeof(struct fors_sf_leaf) : 0);
	shape->row_crc = shape->units + (uint64_t)shape->nunits * sizeof(struct fors_sf_unit);
	shape->cells = (shape->row_crc + (uint64_t)shape->nrows * 4 + 7) / 8 * 8;
	shape->end = shape->cells + (uint64_t)shape->nrows * shape->nphases * shape->cell_size;
}

static enum fors_err corrupt(const char *name, const char *what, struct fors_error *error)
{
	return fors_fail(error, FORS_EINPUT, "%s: corrupted schedule: %s", name, what);
}

/* Do these bytes begin a schedule whose numbers can be read, of a version that is known? */
static enum fors_err check_kind(const void *bytes, size_t size, const char *name, struct fors_sf_header *header,
				struct fors_error *error)
{
	if (size < sizeof(header->magic) || memcmp(bytes, FORS_SF_MAGIC, sizeof(header->magic)) != 0)
		return fors_fail(error, FORS_EINPUT, "%s: not a schedule of fors", name);
	if (size < sizeof(*header))
		return fors_fail(error, FORS_EINPUT, "%s: truncated: %zu bytes, the header alone has %zu", name, size,
				 sizeof(*header));
	memcpy(header, bytes, sizeof(*header));
	if (le32toh(header->byte_order) == __builtin_bswap32(FORS_SF_BYTE_ORDER))
		return fors_fail(error, FORS_EINPUT,
				 "%s: written in the other byte order; schedules are little-endian on every machine",
				 name);
	if (le32toh(header->byte_order) == FORS_SF_BYTE_ORDER && le32toh(header->version) > FORS_SF_NEWEST)
		return fors_fail(error, FORS_EINPUT,
				 "%s: version %u of the format, newer than this program, which knows version %u", name,
				 le32toh(header->version), FORS_SF_NEWEST);
	return FORS_OK;
}

/* The other parts of the header that the version has. */
static enum fors_err check_more(const void *bytes, size_t size, const char *name, struct raw *raw,
				struct fors_error *error)
{
	uint32_t version = le32toh(raw->header.version);
	size_t all = fors_schedule_has_sizes(version) ? sizeof(*raw) : offsetof(struct raw, sizes);
	const unsigned char *start = (const unsigned char *)raw;

	if (!fors_schedule_has_ways(version))
		return FORS_OK;
	if (size < all)
		return fors_fail(error, FORS_EINPUT, "%s: truncated: %zu bytes, the header alone has %zu", name, size,
				 all);
	memcpy(raw, bytes, all);
	if (le32toh(raw->more.more_crc) != (uint32_t)crc32_z(0, start, offsetof(struct raw, more.more_crc)))
		return corrupt(name, "checksum of the second part of the header", error);
	if (fors_schedule_has_sizes(version) &&
	    le32toh(raw->sizes.sizes_crc) != (uint32_t)crc32_z(0, start, offsetof(struct raw, sizes.sizes_crc)))
		return corrupt(name, "checksum of the third part of the header", error);
	return FORS_OK;
}

/* Is the header what was written, and the file whole? */
static enum fors_err check_whole(const void *bytes, size_t size, uint64_t file_size, const char *name, struct raw *raw,
				 struct fors_error *error)
{
	const struct fors_sf_header *header = &raw->header;
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)header, offsetof(struct fors_sf_header, header_crc));
	enum fors_err err;

	if (le32toh(header->header_crc) != crc)
		return corrupt(name, "checksum of the header", error);
	if (le32toh(header->byte_order) != FORS_SF_BYTE_ORDER || le32toh(header->version) < FORS_SF_VERSION)
		return corrupt(name, "byte order or version", error);
	err = check_more(bytes, size, name, raw, error);
	if (err)
		return err;
	if (le64toh(header->file_size) > file_size)
		return fors_fail(error, FORS_EINPUT, "%s: truncated: %llu of %llu bytes", name,
				 (unsigned long long)file_size, (unsigned long long)le64toh(header->file_size));
	if (le64toh(header->file_size) < file_size)
		return corrupt(name, "bytes after its end", error);
	return FORS_OK;
}

/* The bounds of versions 2 and 3, which keep memory and time of readers within limits. */
static bool is_bounded(const struct fors_schedule_shape *shape)
{
	if ((shape->layout == FORS_SF_PIECES) != fors_schedule_has_sizes(shape->version))
		return false;
	if (shape->version == FORS_SF_VERSION)
		return shape->layout != FORS_SF_UNITS;
	return shape->nlanes == 0 && shape->nservers <= FORS_SF_MAX_SERVERS &&
	       (uint64_t)shape->nleaves * shape->nservers * shape->npaths <= FORS_SF_MAX_UNITS;
}

static bool is_possible(const struct fors_schedule_shape *shape)
{
	bool is_rounds = shape->layout == FORS_SF_ROUNDS;

	if (shape->nservers > FORS_LID_MAX || shape->nphases > FORS_SF_MAX_PHASES || shape->nleaves > FORS_LID_MAX ||
	    shape->nlanes > FORS_MAX_LANES || shape->npaths < 1 || shape->npaths > 1u << FORS_MAX_LMC)
		return false;
	if (shape->layout > FORS_SF_PIECES || !is_bounded(shape) ||
	    (shape->layout == FORS_SF_WITHDRAWN) != (shape->nphases == 0))
		return false;
	if (shape->layout == FORS_SF_WITHDRAWN ? shape->nservers || shape->nleaves || shape->nlanes ||
							 shape->nswitches || shape->nways || shape->nunits
					       : !shape->nservers)
		return false;
	if (!is_rounds)
		return shape->parts == 0 && shape->round_length == 0;
	return shape->parts >= 1 && shape->parts <= FORS_LID_MAX && shape->round_length >= 1 &&
	       shape->nphases % shape->round_length == 0 &&
	       (uint64_t)shape->nleaves * shape->parts <= UINT32_MAX / FORS_SF_MAX_PHASES;
}

static void take_sizes(const struct raw *raw, struct fors_schedule_shape *shape)
{
	const struct fors_sf_header *header = &raw->header;

	*shape = (struct fors_schedule_shape){
		.version = le32toh(header->version),
		.layout = (enum fors_sf_layout)le32toh(header->layout),
		.nservers = le32toh(header->nservers),
		.nphases = le32toh(header->nphases),
		.nleaves = le32toh(header->nleaves),
		.nlanes = le32toh(header->nlanes),
		.parts = le32toh(header->parts),
		.round_length = le32toh(header->round_length),
		.npaths = le32toh(header->npaths),
		.nswitches = le32toh(raw->more.nswitches),
		.nways = le32toh(raw->more.nways),
		.nunits = le32toh(raw->more.nunits),
	};
}

/* Does the header say what follows from its sizes? */
static bool is_consistent(const struct raw *raw, const struct fors_schedule_shape *shape)
{
	const struct fors_sf_header *header = &raw->header;
	const struct fors_sf_more *more = &raw->more;

	if (fors_schedule_has_ways(shape->version) &&
	    (shape->end > FORS_SF_MAX_BYTES || le64toh(more->switches_offset) != shape->switches ||
	     le64toh(more->ways_offset) != shape->ways || le64toh(more->leaves_offset) != shape->leaves ||
	     le64toh(more->units_offset) != shape->units))
		return false;
	if (fors_schedule_has_sizes(shape->version) && (le64toh(raw->sizes.lengths_offset) != shape->lengths ||
							!raw->sizes.granule || le32toh(raw->sizes.is_unit) > 1))
		return false;
	return le32toh(header->nrows) == shape->nrows && le32toh(header->cell_size) == shape->cell_size &&
	       le64toh(header->servers_offset) == shape->servers && le64toh(header->lanes_offset) == shape->lanes &&
	       le64toh(header->row_crc_offset) == shape->row_crc && le64toh(header->cells_offset) == shape->cells;
}

/* Sizes within bounds, and everything where it belongs. */
static enum fors_err get_shape(const struct raw *raw, uint64_t file_size, const char *name,
			       struct fors_schedule_shape *shape, struct fors_error *error)
{
	take_sizes(raw, shape);
	if (!is_possible(shape))
		return corrupt(name, "impossible sizes in the header", error);
	fors_schedule_find_offsets(shape);
	if (!is_consistent(raw, shape) || shape->end != file_size)
		return corrupt(name, "sizes and offsets in the header disagree", error);
	return FORS_OK;
}

static void take_rest(const struct raw *raw, struct fors_schedule_header *header)
{
	header->epoch = le64toh(raw->header.epoch);
	header->fingerprint = le64toh(raw->header.fingerprint);
	header->servers_crc = le32toh(raw->header.servers_crc);
	header->lanes_crc = le32toh(raw->header.lanes_crc);
	memcpy(header->method, raw->header.method, sizeof(header->method) - 1);
	memcpy(header->reason, raw->header.reason, sizeof(header->reason) - 1);
	header->fabric_epoch = le64toh(raw->more.fabric_epoch);
	header->switches_crc = le32toh(raw->more.switches_crc);
	header->ways_crc = le32toh(raw->more.ways_crc);
	header->leaves_crc = le32toh(raw->more.leaves_crc);
	memcpy(header->name, raw->more.name, sizeof(header->name) - 1);
	header->granule = le64toh(raw->sizes.granule);
	header->is_unit = le32toh(raw->sizes.is_unit);
	header->lengths_crc = le32toh(raw->sizes.lengths_crc);
}

enum fors_err fors_schedule_header_read(const void *bytes, size_t size, uint64_t file_size, const char *name,
					struct fors_schedule_header *header, struct fors_error *error)
{
	struct fors_schedule_header made = {0};
	struct raw raw = {0};
	enum fors_err err = check_kind(bytes, size, name, &raw.header, error);

	if (!err)
		err = check_whole(bytes, size, file_size, name, &raw, error);
	if (!err)
		err = get_shape(&raw, file_size, name, &made.shape, error);
	if (err)
		return err;
	take_rest(&raw, &made);
	*header = made;
	return FORS_OK;
}
