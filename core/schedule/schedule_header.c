/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: the first 272 bytes of a schedule say how long the whole file has to be, and have a checksum of their
 * own. So who wants the epoch reads no more than them, however large a file pretends to be, and judges them just as the
 * reader of the whole file does, which begins here too. In the order in which the checks make sense: the magic and the byte
 * order say that the numbers are numbers, the version that they mean what we think, the checksum that they are those that were
 * written; then sizes have to be possible, and offsets and the size of the file have to follow from them.
 */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/fabric.h"
#include "schedule_header.h"

_Static_assert(sizeof(struct fors_sf_header) == 272, "the header has holes");

void fors_schedule_find_offsets(struct fors_schedule_shape *shape)
{
	uint64_t numbers = (uint64_t)shape->nservers * (shape->nlanes + 1) * shape->npaths;

	shape->nrows = 0;
	shape->cell_size = sizeof(struct fors_sf_cell);
	if (shape->layout == FORS_SF_DENSE)
		shape->nrows = shape->nservers;
	if (shape->layout == FORS_SF_ROUNDS) {
		shape->nrows = shape->nleaves * shape->parts;
		shape->cell_size = numbers <= 0xFFFF ? 2 : 4;
	}
	shape->servers = sizeof(struct fors_sf_header);
	shape->lanes = shape->servers + (uint64_t)shape->nservers * sizeof(struct fors_sf_server);
	shape->row_crc = shape->lanes + (uint64_t)shape->nlanes * 8;
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
	if (le32toh(header->byte_order) == FORS_SF_BYTE_ORDER && le32toh(header->version) > FORS_SF_VERSION)
		return fors_fail(error, FORS_EINPUT,
				 "%s: version %u of the format, newer than this program, which knows version %u", name,
				 le32toh(header->version), FORS_SF_VERSION);
	return FORS_OK;
}

/* Is the header what was written, and the file whole? */
static enum fors_err check_whole(const struct fors_sf_header *header, uint64_t file_size, const char *name,
				 struct fors_error *error)
{
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)header, offsetof(struct fors_sf_header, header_crc));

	if (le32toh(header->header_crc) != crc)
		return corrupt(name, "checksum of the header", error);
	if (le32toh(header->byte_order) != FORS_SF_BYTE_ORDER || le32toh(header->version) != FORS_SF_VERSION)
		return corrupt(name, "byte order or version", error);
	if (le64toh(header->file_size) > file_size)
		return fors_fail(error, FORS_EINPUT, "%s: truncated: %llu of %llu bytes", name,
				 (unsigned long long)file_size, (unsigned long long)le64toh(header->file_size));
	if (le64toh(header->file_size) < file_size)
		return corrupt(name, "bytes after its end", error);
	return FORS_OK;
}

static bool is_possible(const struct fors_schedule_shape *shape)
{
	bool is_rounds = shape->layout == FORS_SF_ROUNDS;

	if (shape->nservers > FORS_LID_MAX || shape->nphases > FORS_SF_MAX_PHASES || shape->nleaves > FORS_LID_MAX ||
	    shape->nlanes > FORS_MAX_LANES || shape->npaths < 1 || shape->npaths > 1u << FORS_MAX_LMC)
		return false;
	if (shape->layout > FORS_SF_ROUNDS || (shape->layout == FORS_SF_WITHDRAWN) != (shape->nphases == 0))
		return false;
	if (shape->layout == FORS_SF_WITHDRAWN ? shape->nservers || shape->nleaves || shape->nlanes : !shape->nservers)
		return false;
	if (!is_rounds)
		return shape->parts == 0 && shape->round_length == 0;
	return shape->parts >= 1 && shape->parts <= FORS_LID_MAX && shape->round_length >= 1 &&
	       shape->nphases % shape->round_length == 0 &&
	       (uint64_t)shape->nleaves * shape->parts <= UINT32_MAX / FORS_SF_MAX_PHASES;
}

/* Sizes within bounds, and everything where it belongs. */
static enum fors_err get_shape(const struct fors_sf_header *header, uint64_t file_size, const char *name,
			       struct fors_schedule_shape *shape, struct fors_error *error)
{
	*shape = (struct fors_schedule_shape){
		.layout = (enum fors_sf_layout)le32toh(header->layout),
		.nservers = le32toh(header->nservers),
		.nphases = le32toh(header->nphases),
		.nleaves = le32toh(header->nleaves),
		.nlanes = le32toh(header->nlanes),
		.parts = le32toh(header->parts),
		.round_length = le32toh(header->round_length),
		.npaths = le32toh(header->npaths),
	};
	if (!is_possible(shape))
		return corrupt(name, "impossible sizes in the header", error);
	fors_schedule_find_offsets(shape);
	if (le32toh(header->nrows) != shape->nrows || le32toh(header->cell_size) != shape->cell_size ||
	    le64toh(header->servers_offset) != shape->servers || le64toh(header->lanes_offset) != shape->lanes ||
	    le64toh(header->row_crc_offset) != shape->row_crc || le64toh(header->cells_offset) != shape->cells ||
	    shape->end != file_size)
		return corrupt(name, "sizes and offsets in the header disagree", error);
	return FORS_OK;
}

enum fors_err fors_schedule_header_read(const void *bytes, size_t size, uint64_t file_size, const char *name,
					struct fors_schedule_header *header, struct fors_error *error)
{
	struct fors_schedule_header made = {0};
	struct fors_sf_header raw;
	enum fors_err err = check_kind(bytes, size, name, &raw, error);

	if (!err)
		err = check_whole(&raw, file_size, name, error);
	if (!err)
		err = get_shape(&raw, file_size, name, &made.shape, error);
	if (err)
		return err;
	made.epoch = le64toh(raw.epoch);
	made.fingerprint = le64toh(raw.fingerprint);
	made.servers_crc = le32toh(raw.servers_crc);
	made.lanes_crc = le32toh(raw.lanes_crc);
	memcpy(made.method, raw.method, sizeof(made.method) - 1);
	memcpy(made.reason, raw.reason, sizeof(made.reason) - 1);
	*header = made;
	return FORS_OK;
}
