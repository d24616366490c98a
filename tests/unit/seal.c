/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seal.c - see seal.h. */
#include "seal.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "core/schedule/schedule_format.h"

static uint32_t crc_of(const unsigned char *data, size_t size)
{
	return htole32((uint32_t)crc32_z(0, data, size));
}

static void seal_rows(unsigned char *data, size_t size, uint64_t crcs, uint64_t cells, uint64_t row)
{
	for (uint64_t i = 0; row && cells <= size && i < (size - cells) / row; i++) {
		uint32_t crc = crc_of(data + cells + i * row, row);

		if (crcs <= size && crcs + i * 4 + 4 <= size)
			memcpy(data + crcs + i * 4, &crc, 4);
	}
}

/* The units of each leaf, as far as the table says where they are. */
static void seal_leaves(unsigned char *data, size_t size, const struct fors_sf_more *more, uint32_t nleaves)
{
	uint64_t leaves = le64toh(more->leaves_offset), units = le64toh(more->units_offset);

	for (uint64_t i = 0; i < nleaves && leaves <= size && i < (size - leaves) / 8; i++) {
		struct fors_sf_leaf leaf, next = {.first = more->nunits};

		memcpy(&leaf, data + leaves + i * 8, 8);
		if (i + 1 < nleaves && i + 1 < (size - leaves) / 8)
			memcpy(&next, data + leaves + i * 8 + 8, 8);
		uint64_t from = units + le32toh(leaf.first) * 12ull, to = units + le32toh(next.first) * 12ull;

		if (units > size || from > to || to > size)
			continue;
		leaf.crc = crc_of(data + from, to - from);
		memcpy(data + leaves + i * 8, &leaf, 8);
	}
}

static void seal_more(unsigned char *data, size_t size, uint32_t nleaves)
{
	struct fors_sf_more *more = (struct fors_sf_more *)(data + sizeof(struct fors_sf_header));
	uint64_t switches = le64toh(more->switches_offset), ways = le64toh(more->ways_offset);
	uint64_t leaves = le64toh(more->leaves_offset), units = le64toh(more->units_offset);

	seal_leaves(data, size, more, nleaves);
	if (switches <= ways && ways <= leaves && leaves <= units && units <= size) {
		more->switches_crc = crc_of(data + switches, ways - switches);
		more->ways_crc = crc_of(data + ways, leaves - ways);
		more->leaves_crc = crc_of(data + leaves, units - leaves);
	}
}

/* Lengths and the third part's CRC. */
static void seal_sizes(unsigned char *data, size_t size, const struct fors_sf_header *header)
{
	struct fors_sf_sizes *sizes = (struct fors_sf_sizes *)(data + sizeof(*header) + sizeof(struct fors_sf_more));
	uint64_t lengths = le64toh(sizes->lengths_offset), nphases = le32toh(header->nphases);

	if (lengths <= size && nphases <= (size - lengths) / 8)
		sizes->lengths_crc = crc_of(data + lengths, nphases * 8);
	sizes->sizes_crc =
		crc_of(data, sizeof(*header) + sizeof(struct fors_sf_more) + offsetof(struct fors_sf_sizes, sizes_crc));
}

static uint64_t number_at(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

static uint64_t sum_of_pair(const unsigned char *row, uint32_t nphases, uint32_t d)
{
	uint64_t sum = 0;

	for (uint32_t phase = 0; phase < nphases; phase++)
		if (row[phase * 24] + 256u * row[phase * 24 + 1] == d)
			sum += le64toh(number_at(row + phase * 24 + 8));
	return htole64(sum);
}

void seal_demand(unsigned char *data, size_t size)
{
	struct fors_sf_header *header = (struct fors_sf_header *)data;
	struct fors_sf_sizes *sizes = (struct fors_sf_sizes *)(data + 408);
	uint64_t n = le32toh(header->nservers), t = le32toh(header->nphases), servers, cells;
	uint32_t crc = 0;

	if (size < 440 || le32toh(header->version) != FORS_SF_VERSION_SIZES)
		return;
	servers = le64toh(header->servers_offset), cells = le64toh(header->cells_offset);
	if (servers > size || n > (size - servers) / 80 || cells > size || (n && t > (size - cells) / 24 / n))
		return;
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t d = 0; d < n; d++) {
			uint64_t pair[3] = {number_at(data + servers + s * 80), number_at(data + servers + d * 80),
					    sum_of_pair(data + cells + s * t * 24, (uint32_t)t, d)};

			if (pair[2])
				crc = (uint32_t)crc32_z(crc, (unsigned char *)pair, sizeof(pair));
		}
	sizes->demand_crc = htole32(crc);
}

void seal(unsigned char *data, size_t size)
{
	struct fors_sf_header *header = (struct fors_sf_header *)data;
	struct fors_sf_more *more = (struct fors_sf_more *)(header + 1);

	if (size < sizeof(*header))
		return;
	bool has_more = le32toh(header->version) >= FORS_SF_VERSION_WAYS && size >= sizeof(*header) + sizeof(*more);
	uint64_t servers = le64toh(header->servers_offset), lanes = le64toh(header->lanes_offset);
	uint64_t crcs = le64toh(header->row_crc_offset), cells = le64toh(header->cells_offset);
	uint64_t next = has_more ? le64toh(more->switches_offset) : crcs;

	if (servers <= lanes && lanes <= next && next <= size) {
		header->servers_crc = crc_of(data + servers, lanes - servers);
		header->lanes_crc = crc_of(data + lanes, next - lanes);
	}
	if (has_more)
		seal_more(data, size, le32toh(header->nleaves));
	seal_rows(data, size, crcs, cells, (uint64_t)le32toh(header->nphases) * le32toh(header->cell_size));
	header->header_crc = crc_of(data, offsetof(struct fors_sf_header, header_crc));
	if (has_more)
		more->more_crc = crc_of(data, sizeof(*header) + offsetof(struct fors_sf_more, more_crc));
	if (le32toh(header->version) == FORS_SF_VERSION_SIZES && size >= 440)
		seal_sizes(data, size, header);
}
