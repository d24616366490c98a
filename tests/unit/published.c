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

struct bytes published_encode(const struct fors_schedule *schedule)
{
	struct bytes bytes;
	struct fors_error error;
	void *data;

	if (fors_schedule_encode(schedule, &data, &bytes.size, &error))
		fail_msg("%s", error.text);
	bytes.data = data;
	return bytes;
}

struct fors_schedule *published_decode(struct bytes bytes)
{
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_schedule_decode(bytes.data, bytes.size, "file", &schedule, &error))
		fail_msg("%s", error.text);
	return schedule;
}

struct bytes published_bytes(struct fors_schedule *schedule)
{
	struct bytes bytes = published_encode(schedule);

	fors_schedule_free(schedule);
	return bytes;
}

struct bytes published_spec(const char *spec, unsigned lmc, const char *method, uint64_t epoch)
{
	struct bed *bed = bed_new(spec, lmc);
	struct bytes bytes = published_bytes(published_plan(bed, method, epoch));

	bed_free(bed);
	return bytes;
}

/* The way of a flow over this lane of a two-level tree. */
static uint32_t hops_of(const struct fors_fabric *fabric, uint32_t from, uint32_t to, uint8_t lane,
			struct fors_way_hop *hop)
{
	hop[0].guid = fabric->leaf[from].guid;
	if (lane == FORS_NO_LANE)
		return 1;
	hop[0].port = fors_cable(fabric, from, lane)->leaf_port;
	hop[1].guid = fabric->spine[fabric->lane[lane].spine].guid;
	hop[1].port = fors_cable(fabric, to, lane)->spine_port;
	hop[2].guid = fabric->leaf[to].guid;
	return 3;
}

static bool is_left_out(const struct fors_schedule *schedule, uint32_t s, uint32_t d, unsigned more)
{
	return more & PUBLISHED_HALF && (schedule->server[s].leaf + d) % 2;
}

static void add_ways(const struct bed *bed, struct fors_schedule *schedule, unsigned more)
{
	const struct fors_fabric *fabric = bed->fabric;
	uint64_t guid[256];

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		guid[leaf] = fabric->leaf[leaf].guid;
	assert_int_equal(
		fors_waylist_new(fabric->nleaves, guid, fabric->nservers, 1u << fabric->lmc, &schedule->ways, NULL),
		FORS_OK);
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
			struct fors_way_hop hop[3];
			uint32_t n, leaf = schedule->server[s].leaf;

			if (cell.dst == FORS_IDLE || is_left_out(schedule, s, cell.dst, more))
				continue;
			n = hops_of(fabric, leaf, schedule->server[cell.dst].leaf, cell.lane, hop);
			assert_int_equal(fors_waylist_put(schedule->ways, leaf, cell.dst, cell.path, hop, n, 1, NULL),
					 FORS_OK);
		}
}

static void add_sls(struct fors_schedule *schedule, unsigned more)
{
	size_t n = schedule->nservers;

	schedule->sl = malloc(n * n + 1);
	assert_non_null(schedule->sl);
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t d = 0; d < n; d++)
			schedule->sl[s * n + d] =
				is_left_out(schedule, s, d, more)
					? FORS_NO_SL
					: (uint8_t)((schedule->server[s].leaf + d +
						     (more & PUBLISHED_MIXED_SLS ? schedule->server[s].rank : 0)) %
						    16);
}

void published_add(const struct bed *bed, struct fors_schedule *schedule, unsigned more)
{
	if (more & PUBLISHED_WAYS)
		add_ways(bed, schedule, more);
	if (more & (PUBLISHED_SLS | PUBLISHED_MIXED_SLS))
		add_sls(schedule, more);
	if (more & PUBLISHED_NAME) {
		strcpy(schedule->name, "4711_some-job");
		schedule->fabric_epoch = 41;
	}
	schedule->is_dense = more & PUBLISHED_DENSE;
	schedule->nlanes = 0;
	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++)
		schedule->cell[i].lane = FORS_NO_LANE;
}

struct bytes published_spec_2(const char *spec, unsigned lmc, const char *method, uint64_t epoch, unsigned more)
{
	struct bed *bed = bed_new(spec, lmc);
	struct fors_schedule *schedule = published_plan(bed, method, epoch);
	struct bytes bytes;

	published_add(bed, schedule, more);
	bytes = published_bytes(schedule);
	bed_free(bed);
	return bytes;
}

/* Each phase in which anybody sends, twice. */
static void double_phases(struct fors_schedule *schedule)
{
	uint32_t nphases = schedule->nphases, nbusy = 0;
	struct fors_cell *cell = malloc(2 * fors_schedule_ncells(schedule) * sizeof(*cell));
	uint32_t *busy = malloc(nphases * sizeof(*busy));

	assert_non_null(cell);
	assert_non_null(busy);
	assert_int_equal(schedule->parts, 0);
	for (uint32_t phase = 0; phase < nphases; phase++)
		for (uint32_t s = 0; s < schedule->nservers; s++)
			if (fors_schedule_flow(schedule, s, phase).dst != FORS_IDLE) {
				busy[nbusy++] = phase;
				break;
			}
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t i = 0; i < 2 * nbusy; i++)
			cell[s * 2 * nbusy + i] = fors_schedule_flow(schedule, s, busy[i % nbusy]);
	free(busy);
	free(schedule->cell);
	schedule->cell = cell;
	schedule->nphases = 2 * nbusy;
}

void published_size(struct fors_schedule *schedule, uint64_t granule, uint64_t seed)
{
	struct rng rng = {seed};

	double_phases(schedule);
	assert_int_equal(fors_schedule_make_sizes(schedule, NULL), FORS_OK);
	schedule->granule = granule;
	for (uint32_t phase = 0; phase < schedule->nphases; phase++)
		for (uint32_t s = 0; s < schedule->nservers; s++) {
			size_t at = (size_t)s * schedule->nphases + phase;
			uint64_t bytes = granule * (1 + rng_below(&rng, 5)), *length = &schedule->length[phase];

			if (schedule->cell[at].dst == FORS_IDLE || (*length && rng_below(&rng, 3) == 0)) {
				schedule->cell[at] = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
				continue;
			}
			schedule->bytes[at] = bytes;
			*length = bytes > *length ? bytes : *length;
		}
}

struct bytes published_spec_3(const char *spec, unsigned lmc, uint64_t granule, uint64_t seed, unsigned more)
{
	struct bed *bed = bed_new(spec, lmc);
	struct fors_schedule *schedule = published_plan(bed, "exact", 1);
	struct bytes bytes;

	published_add(bed, schedule, more);
	published_size(schedule, granule, seed);
	bytes = published_bytes(schedule);
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
