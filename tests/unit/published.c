/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "published.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"

struct fors_schedule *published_plan(const struct bed *bed, const char *method, uint64_t epoch)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_plan(&task, method, &schedule, &error))
		fail_msg("%s", error.text);
	schedule->epoch = epoch;
	return schedule;
}

struct bytes published_bytes(struct fors_schedule *schedule)
{
	struct bytes bytes;
	struct fors_error error;
	void *data;

	if (fors_schedule_encode(schedule, &data, &bytes.size, &error))
		fail_msg("%s", error.text);
	fors_schedule_free(schedule);
	bytes.data = data;
	return bytes;
}

struct bytes published_spec(const char *spec, unsigned lmc, const char *method, uint64_t epoch)
{
	struct bed *bed = bed_new(spec, lmc);
	struct bytes bytes = published_bytes(published_plan(bed, method, epoch));

	bed_free(bed);
	return bytes;
}

struct bytes published_withdrawn(const char *reason, uint64_t epoch)
{
	struct fors_schedule *schedule;

	assert_int_equal(fors_schedule_withdrawn(epoch, reason, &schedule, NULL), FORS_OK);
	return published_bytes(schedule);
}

static uint32_t sum(struct bytes bytes, uint64_t from, uint64_t to, uint32_t old)
{
	return from <= to && to <= bytes.size ? (uint32_t)crc32_z(0, bytes.data + from, to - from) : old;
}

void published_restamp(struct bytes bytes)
{
	struct fors_sf_header header;
	uint64_t row_size;

	if (bytes.size < sizeof(header))
		return;
	memcpy(&header, bytes.data, sizeof(header));
	header.servers_crc = sum(bytes, header.servers_offset, header.lanes_offset, header.servers_crc);
	header.lanes_crc = sum(bytes, header.lanes_offset, header.row_crc_offset, header.lanes_crc);
	header.header_crc = (uint32_t)crc32_z(0, (unsigned char *)&header, offsetof(struct fors_sf_header, header_crc));
	memcpy(bytes.data, &header, sizeof(header));
	row_size = (uint64_t)header.nphases * header.cell_size;
	for (uint64_t row = 0; row < header.nrows && header.row_crc_offset < bytes.size; row++) {
		uint64_t at = header.row_crc_offset + row * 4, cells = header.cells_offset + row * row_size;
		uint32_t crc = sum(bytes, cells, cells + row_size, 0);

		if (at + 4 > bytes.size || cells + row_size > bytes.size)
			return;
		memcpy(bytes.data + at, &crc, 4);
	}
}

void published_write(const char *path, struct bytes bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	assert_int_equal(fclose(file), 0);
}

void published_replace(const char *path, struct bytes bytes)
{
	char temporary[512];

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	published_write(temporary, bytes);
	assert_int_equal(rename(temporary, path), 0);
}
