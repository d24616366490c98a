/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seal.c - see seal.h. */
#include "seal.h"

#include <endian.h>
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

void seal(unsigned char *data, size_t size)
{
	struct fors_sf_header *header = (struct fors_sf_header *)data;

	if (size < sizeof(*header))
		return;
	uint64_t servers = le64toh(header->servers_offset), lanes = le64toh(header->lanes_offset);
	uint64_t crcs = le64toh(header->row_crc_offset), cells = le64toh(header->cells_offset);

	if (servers <= lanes && lanes <= crcs && crcs <= size) {
		header->servers_crc = crc_of(data + servers, lanes - servers);
		header->lanes_crc = crc_of(data + lanes, crcs - lanes);
	}
	seal_rows(data, size, crcs, cells, (uint64_t)le32toh(header->nphases) * le32toh(header->cell_size));
	header->header_crc = crc_of(data, offsetof(struct fors_sf_header, header_crc));
}
