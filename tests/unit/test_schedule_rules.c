/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One set of rules (schedule_format.h), two readers that share no code: what one refuses, the other refuses. Files are
 * changed field by field, byte by byte, by exchanging whole cells, and as plans that are written again; always the same
 * way, and mostly with checksums made right again. Built with the sanitizers, both readers included.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"
#include "libforsched/forsched.h"
#include "published.h"
#include "seal.h"

#define PER_BYTE 3	/* mutants of each byte */
#define PER_FILE 600	/* of each kind that changes several places */
#define WANTED 100000	/* in all */
#define MOST_BYTES 4096 /* of a file are changed one by one; of longer ones a part, evenly */

static unsigned mutants, accepted, by_check; /* by_check: opened, and refused only as a whole */

static bool decodes(struct bytes bytes, struct fors_error *error)
{
	struct fors_schedule *schedule = NULL;
	bool is_good = !fors_schedule_decode(bytes.data, bytes.size, "core", &schedule, error);

	fors_schedule_free(schedule);
	return is_good;
}

static bool checks(struct bytes bytes, struct forsched_error *error)
{
	struct forsched *schedule = NULL;
	bool is_good;

	if (forsched_open_memory(bytes.data, bytes.size, "library", &schedule, error))
		return false;
	is_good = !forsched_check(schedule, error);
	by_check += !is_good;
	forsched_close(schedule);
	return is_good;
}

/* Both verdicts about a copy of exactly this size; returns it. */
static bool judge(struct bytes bytes, const char *how)
{
	struct bytes copy = {.data = malloc(bytes.size + !bytes.size), .size = bytes.size};
	struct forsched_error theirs = {.text = "accepts it"};
	struct fors_error ours = {.text = "accepts it"};
	bool is_good;

	assert_non_null(copy.data);
	memcpy(copy.data, bytes.data, bytes.size);
	is_good = decodes(copy, &ours);
	if (checks(copy, &theirs) != is_good)
		fail_msg("%s, mutant %u: fors_schedule_decode: %s; forsched_check: %s", how, mutants, ours.text,
			 theirs.text);
	free(copy.data);
	mutants++;
	accepted += is_good;
	return is_good;
}

/* ---- fields ---- */

/* A field of 1 to 8 bytes, little-endian. */
struct field {
	size_t at, size;
};

static uint64_t get(const unsigned char *data, struct field field)
{
	uint64_t value = 0;

	memcpy(&value, data + field.at, field.size);
	return le64toh(value);
}

static void set(unsigned char *data, struct field field, uint64_t value)
{
	value = htole64(value);
	memcpy(data + field.at, &value, field.size);
}

/* Value number i of those that a field is given in the place of `old`. */
static uint64_t likely(uint64_t old, uint32_t i, struct rng *rng)
{
	const uint64_t value[] = {0,
				  1,
				  2,
				  old + 1,
				  old - 1,
				  old * 2,
				  old / 2,
				  old + 8,
				  old - 8,
				  7,
				  8,
				  128,
				  129,
				  254,
				  255,
				  0xBFFF,
				  0xC000,
				  0xFFFF,
				  65537,
				  UINT32_MAX,
				  1u << 31,
				  rng_below(rng, 40),
				  rng_next(rng)};

	return value[i % (sizeof(value) / sizeof(value[0]))];
}

#define LIKELY 23 /* values */

#define FIELD(name)                                                                                                    \
	{                                                                                                              \
		offsetof(struct fors_sf_header, name), sizeof(((struct fors_sf_header *)NULL)->name)                   \
	}

static const struct field header_field[] = {
	FIELD(byte_order),     FIELD(version),	    FIELD(epoch),	   FIELD(file_size),	FIELD(fingerprint),
	FIELD(layout),	       FIELD(nservers),	    FIELD(nphases),	   FIELD(nleaves),	FIELD(nlanes),
	FIELD(parts),	       FIELD(round_length), FIELD(nrows),	   FIELD(cell_size),	FIELD(npaths),
	FIELD(servers_offset), FIELD(lanes_offset), FIELD(row_crc_offset), FIELD(cells_offset), FIELD(reserved),
};

#define HEADER_FIELDS (sizeof(header_field) / sizeof(header_field[0]))

#define MORE(name)                                                                                                     \
	{                                                                                                              \
		sizeof(struct fors_sf_header) + offsetof(struct fors_sf_more, name),                                   \
			sizeof(((struct fors_sf_more *)NULL)->name)                                                    \
	}

/* Of version 2 alone. */
static const struct field more_field[] = {
	MORE(fabric_epoch),    MORE(nswitches),	  MORE(nways),	       MORE(nunits),	   MORE(reserved),
	MORE(switches_offset), MORE(ways_offset), MORE(leaves_offset), MORE(units_offset),
};

#define MORE_FIELDS (sizeof(more_field) / sizeof(more_field[0]))

#define SIZES(name)                                                                                                    \
	{                                                                                                              \
		sizeof(struct fors_sf_header) + sizeof(struct fors_sf_more) + offsetof(struct fors_sf_sizes, name),    \
			sizeof(((struct fors_sf_sizes *)NULL)->name)                                                   \
	}

/* Of version 3 alone. The last one is the first length. */
static const struct field sizes_field[] = {
	SIZES(lengths_offset), SIZES(granule), SIZES(is_unit), SIZES(demand_crc), {440, 8},
};

#define SIZES_FIELDS (sizeof(sizes_field) / sizeof(sizes_field[0]))

static uint64_t version_of(struct bytes bytes)
{
	return get(bytes.data, (struct field){offsetof(struct fors_sf_header, version), 4});
}

static bool has_more(struct bytes bytes)
{
	return version_of(bytes) >= FORS_SF_VERSION_WAYS;
}

/* Number of fields of the header of this file, and field number i. */
static size_t count_fields(struct bytes bytes)
{
	return HEADER_FIELDS + (has_more(bytes) ? MORE_FIELDS : 0) +
	       (version_of(bytes) == FORS_SF_VERSION_SIZES ? SIZES_FIELDS : 0);
}

static struct field field_of(size_t i)
{
	if (i >= HEADER_FIELDS + MORE_FIELDS)
		return sizes_field[i - HEADER_FIELDS - MORE_FIELDS];
	return i < HEADER_FIELDS ? header_field[i] : more_field[i - HEADER_FIELDS];
}

/* The checksum of a demand is made right each second time. */
static void try_sealed(struct bytes bad, const char *how)
{
	if (mutants % 2)
		seal_demand(bad.data, bad.size);
	seal(bad.data, bad.size);
	judge(bad, how);
}

static void each_header_field(struct bytes good, struct bytes bad, struct rng *rng)
{
	for (size_t f = 0; f < count_fields(good); f++)
		for (uint32_t i = 0; i < LIKELY; i++) {
			memcpy(bad.data, good.data, good.size);
			set(bad.data, field_of(f), likely(get(good.data, field_of(f)), i, rng));
			try_sealed(bad, "a header field");
		}
}

static void two_header_fields(struct bytes good, struct bytes bad, struct rng *rng)
{
	for (int n = 0; n < PER_FILE; n++) {
		memcpy(bad.data, good.data, good.size);
		for (int i = 0; i < 2; i++) {
			struct field field = field_of(rng_below(rng, (uint32_t)count_fields(good)));

			set(bad.data, field, likely(get(bad.data, field), rng_below(rng, LIKELY), rng));
		}
		try_sealed(bad, "two header fields");
	}
}

static void each_server_field(struct bytes good, struct bytes bad, struct rng *rng)
{
	static const struct field part[] = {{0, 8}, {8, 2}, {10, 2}, {12, 2}, {14, 1}, {15, 1}, {16, 1}, {79, 1}};
	struct fors_sf_header header;
	uint32_t nservers;
	size_t first;

	memcpy(&header, good.data, sizeof(header));
	nservers = le32toh(header.nservers);
	first = (size_t)le64toh(header.servers_offset);
	for (uint32_t s = 0; s < nservers && s < 16; s++)
		for (size_t f = 0; f < sizeof(part) / sizeof(part[0]); f++)
			for (uint32_t i = 0; i < LIKELY; i++) {
				struct field field = {first + s * 80 + part[f].at, part[f].size};
				struct field other = field;

				other.at = first + rng_below(rng, nservers) * (size_t)80 + part[f].at;
				memcpy(bad.data, good.data, good.size);
				set(bad.data, field, i ? likely(get(good.data, field), i, rng) : get(good.data, other));
				try_sealed(bad, "a field of a server");
			}
}

/* ---- switches, ways, leaves and units ---- */

/* A kind of records that a file of version 2 has: where they begin, how many, and their fields. */
struct records {
	size_t at, size;
	uint32_t count, nfields;
	struct field field[6];
};

static size_t records_of(struct bytes bytes, struct records *records)
{
	struct fors_sf_header header;
	struct fors_sf_more more;

	memcpy(&header, bytes.data, sizeof(header));
	memcpy(&more, bytes.data + sizeof(header), sizeof(more));
	records[0] = (struct records){le64toh(more.switches_offset), 8, le32toh(more.nswitches), 1, {{0, 8}}};
	records[1] = (struct records){
		le64toh(more.ways_offset), 8, le32toh(more.nways), 4, {{0, 4}, {4, 2}, {6, 1}, {7, 1}}};
	records[2] = (struct records){le64toh(more.leaves_offset), 8, le32toh(header.nleaves), 2, {{0, 4}, {4, 4}}};
	records[3] = (struct records){le64toh(more.units_offset),
				      12,
				      le32toh(more.nunits),
				      6,
				      {{0, 2}, {2, 2}, {4, 4}, {8, 1}, {9, 1}, {10, 2}}};
	return 4;
}

/* One field of a record: a likely value, or what another record has there. */
static void change_record(struct bytes bad, const struct records *records, uint32_t record, uint32_t f, uint32_t i,
			  struct rng *rng)
{
	struct field field = records->field[f], other = field;

	field.at += records->at + record * records->size;
	other.at += records->at + rng_below(rng, records->count) * records->size;
	set(bad.data, field,
	    i % 3 == 0 ? get(bad.data, other) : likely(get(bad.data, field), rng_below(rng, LIKELY), rng));
}

static void each_record(struct bytes good, struct bytes bad, struct rng *rng)
{
	struct records records[4];

	for (size_t kind = 0; has_more(good) && kind < records_of(good, records); kind++)
		for (uint32_t record = 0; record < records[kind].count; record += records[kind].count / 24 + 1)
			for (uint32_t f = 0; f < records[kind].nfields; f++)
				for (uint32_t i = 0; i < 9; i++) {
					memcpy(bad.data, good.data, good.size);
					change_record(bad, &records[kind], record, f, i, rng);
					try_sealed(bad, "a field of a record");
				}
}

/* Two records change places, one takes the other's, or several fields change. */
static void moved_records(struct bytes good, struct bytes bad, struct rng *rng)
{
	struct records records[4];

	for (int n = 0; has_more(good) && n < PER_FILE * 3; n++) {
		const struct records *kind = &records[rng_below(rng, (uint32_t)records_of(good, records))];
		unsigned char kept[16], *a, *b;

		memcpy(bad.data, good.data, good.size);
		for (uint32_t times = 1 + rng_below(rng, 2); kind->count && times-- > 0;) {
			a = bad.data + kind->at + rng_below(rng, kind->count) * kind->size;
			b = bad.data + kind->at + rng_below(rng, kind->count) * kind->size;
			memcpy(kept, a, kind->size);
			memcpy(a, b, kind->size);
			if (rng_below(rng, 3))
				memcpy(b, kept, kind->size);
			if (rng_below(rng, 3) == 0)
				change_record(bad, kind, rng_below(rng, kind->count), rng_below(rng, kind->nfields),
					      rng_below(rng, 2), rng);
		}
		try_sealed(bad, "moved records");
	}
}

/* ---- bytes ---- */

static void each_byte(struct bytes good, struct bytes bad, struct rng *rng)
{
	size_t step = good.size / MOST_BYTES + 1;

	for (size_t at = 0; at < good.size; at += step)
		for (int i = 0; i < PER_BYTE; i++) {
			memcpy(bad.data, good.data, good.size);
			if (i == 0)
				bad.data[at] ^= (unsigned char)(1u << rng_below(rng, 8));
			else
				bad.data[at] = (unsigned char)(i == 1 ? rng_next(rng)
								      : good.data[rng_below(rng, (uint32_t)good.size)]);
			if (rng_below(rng, 16))
				try_sealed(bad, "a byte");
			else
				judge(bad, "a byte, not sealed");
		}
}

static void each_length(struct bytes good, struct bytes bad)
{
	memcpy(bad.data, good.data, good.size);
	for (struct bytes part = bad; part.size > 0; part.size -= part.size > 300 ? part.size / 40 : 1)
		judge(part, "a part");
}

/* ---- cells ---- */

/* Where cells are, in units of cell_size; 0 rows: withdrawn. */
struct cells {
	unsigned char *at;
	uint32_t nrows, nphases, size;
};

static struct cells cells_of(struct bytes bytes)
{
	struct fors_sf_header header;

	memcpy(&header, bytes.data, sizeof(header));
	return (struct cells){.at = bytes.data + le64toh(header.cells_offset),
			      .nrows = le32toh(header.nrows),
			      .nphases = le32toh(header.nphases),
			      .size = le32toh(header.cell_size)};
}

static void exchange_bytes(unsigned char *a, unsigned char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

static void move_cells(struct cells cells, struct rng *rng)
{
	uint32_t a = rng_below(rng, cells.nphases), b = rng_below(rng, cells.nphases);
	uint32_t row = rng_below(rng, cells.nrows), other = rng_below(rng, cells.nrows);
	size_t width = (size_t)cells.nphases * cells.size, last = cells.size;
	unsigned char *from = cells.at + row * width + a * last;

	switch (rng_below(rng, 5)) {
	case 0: /* in a row */
		exchange_bytes(from, cells.at + row * width + b * last, cells.size);
		break;
	case 1: /* in a phase */
		exchange_bytes(from, cells.at + other * width + a * last, cells.size);
		break;
	case 2: /* whole phases: dense, that is another good plan */
		for (uint32_t r = 0; r < cells.nrows && a != b; r++)
			exchange_bytes(cells.at + r * width + a * last, cells.at + r * width + b * last, cells.size);
		break;
	case 3: /* whole rows */
		for (uint32_t phase = 0; phase < cells.nphases && row != other; phase++)
			exchange_bytes(cells.at + row * width + phase * last, cells.at + other * width + phase * last,
				       cells.size);
		break;
	default: /* a field of a cell, a little more or less */
		from[rng_below(rng, cells.size)] += (unsigned char)(rng_below(rng, 2) ? 1 : 255);
	}
}

static void moved_cells(struct bytes good, struct bytes bad, struct rng *rng)
{
	for (int n = 0; n < PER_FILE * 2 && cells_of(good).nrows; n++) {
		memcpy(bad.data, good.data, good.size);
		for (uint32_t i = rng_below(rng, 2) + 1; i > 0; i--)
			move_cells(cells_of(bad), rng);
		try_sealed(bad, "moved cells");
	}
}

/* ---- plans, changed and written again: whatever follows from the change is right in the file ---- */

static void change_cell(struct fors_schedule *plan, struct rng *rng)
{
	struct fors_cell *cell = &plan->cell[rng_below(rng, (uint32_t)fors_schedule_ncells(plan))];
	struct fors_cell *other = &plan->cell[rng_below(rng, (uint32_t)fors_schedule_ncells(plan))], kept = *cell;

	switch (rng_below(rng, 6)) {
	case 0:
		cell->dst = (uint16_t)rng_below(rng, plan->nservers);
		break;
	case 1:
		cell->path = (uint8_t)rng_below(rng, 9);
		break;
	case 2:
		if (plan->nlanes)
			cell->lane = (uint8_t)rng_below(rng, plan->nlanes);
		break;
	case 3:
		cell->lane = FORS_NO_LANE;
		break;
	case 4:
		*cell = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
		break;
	default:
		*cell = *other;
		*other = kept;
	}
}

static void change_server(struct fors_schedule *plan, struct rng *rng)
{
	struct fors_schedule_server *server = &plan->server[rng_below(rng, plan->nservers)];
	struct fors_schedule_server *other = &plan->server[rng_below(rng, plan->nservers)];

	switch (rng_below(rng, 5)) {
	case 0:
		server->lid = (uint16_t)(other->lid + rng_below(rng, 5));
		break;
	case 1:
		server->lmc = (uint8_t)rng_below(rng, 9);
		break;
	case 2:
		server->guid = other->guid + rng_below(rng, 2);
		break;
	case 3:
		server->rank = (uint16_t)(other->rank + rng_below(rng, 2));
		break;
	default:
		server->leaf = other->leaf;
	}
}

/* What version 2 has besides. */
static void change_more(struct fors_schedule *plan, struct rng *rng)
{
	struct fors_waylist *ways = plan->ways;
	size_t nunits = (size_t)ways->nleaves * ways->nservers * ways->npaths;

	switch (rng_below(rng, 8)) {
	case 0: /* another way, or none */
		ways->of[rng_below(rng, (uint32_t)nunits)] =
			rng_below(rng, 3) ? rng_below(rng, ways->nways) : FORS_NONE;
		break;
	case 1: /* of another unit of the leaf */
		ways->of[rng_below(rng, (uint32_t)nunits)] = ways->of[rng_below(rng, (uint32_t)nunits)];
		break;
	case 2:
		ways->way[rng_below(rng, ways->nways)].top = (uint8_t)rng_below(rng, 4);
		break;
	case 3:
		ways->way[rng_below(rng, ways->nways)].port += (uint8_t)rng_below(rng, 3);
		break;
	case 4:
		ways->guid[rng_below(rng, ways->nswitches)] += rng_below(rng, 3);
		break;
	case 5:
		plan->name[rng_below(rng, sizeof(plan->name))] = (char)rng_below(rng, 256);
		break;
	case 6:
		plan->is_dense = !plan->is_dense;
		break;
	default:
		if (plan->sl)
			plan->sl[rng_below(rng, plan->nservers * plan->nservers)] = (uint8_t)rng_below(rng, 18);
	}
}

/* Lengths as the pieces have them. */
static void fit_lengths(struct fors_schedule *plan)
{
	for (uint32_t phase = 0; phase < plan->nphases; phase++) {
		plan->length[phase] = 0;
		for (uint32_t s = 0; s < plan->nservers; s++) {
			uint64_t bytes = plan->bytes[(size_t)s * plan->nphases + phase];

			plan->length[phase] = bytes > plan->length[phase] ? bytes : plan->length[phase];
		}
	}
}

/* What version 3 has besides. */
static void change_sizes(struct fors_schedule *plan, struct rng *rng)
{
	uint32_t ncells = (uint32_t)fors_schedule_ncells(plan), at = rng_below(rng, ncells);

	switch (rng_below(rng, 8)) {
	case 0:
		plan->granule = likely(plan->granule, rng_below(rng, LIKELY), rng);
		break;
	case 1:
		plan->length[rng_below(rng, plan->nphases)] *= 1 + rng_below(rng, 2);
		break;
	case 2:
		plan->bytes[at] = likely(plan->bytes[at], rng_below(rng, LIKELY), rng);
		break;
	case 3:
		plan->is_unit = !plan->is_unit;
		break;
	case 4: /* a piece less */
		plan->cell[at] = (struct fors_cell){FORS_IDLE, 0, FORS_NO_LANE};
		plan->bytes[at] = 0;
		break;
	default:
		if (plan->bytes[at])
			plan->bytes[at] = plan->granule * (1 + rng_below(rng, 9));
	}
	if (rng_below(rng, 4))
		fit_lengths(plan);
}

static void change_shape(struct fors_schedule *plan, struct rng *rng)
{
	switch (rng_below(rng, 5)) {
	case 0:
		plan->nlanes -= plan->nlanes > 1;
		break;
	case 1:
		plan->nleaves += plan->parts || plan->ways ? 0 : 1;
		break;
	case 2:
		plan->nphases -= plan->parts ? plan->round_length : 1; /* the cells move: another plan altogether */
		break;
	case 3:
		plan->nservers -= plan->nservers > 1 && plan->parts && !plan->ways;
		break;
	default:
		if (fors_schedule_version(plan) == 1) /* of version 2 the writer looks at flows, which would be none */
			plan->round_length = 1 + rng_below(rng, plan->nphases);
	}
}

static void written_again(struct bytes good, struct rng *rng)
{
	for (int n = 0; n < PER_FILE * 2 && cells_of(good).nrows; n++) {
		struct fors_schedule *plan;
		struct bytes bytes;

		assert_int_equal(fors_schedule_decode(good.data, good.size, "good", &plan, NULL), FORS_OK);
		for (uint32_t i = rng_below(rng, plan->ways ? 3 : 2) + !plan->ways; i > 0; i--)
			if (!plan->length || rng_below(rng, 3) == 0)
				change_cell(plan, rng);
		for (uint32_t i = plan->length ? rng_below(rng, 3) : 0; i > 0; i--)
			change_sizes(plan, rng);
		for (uint32_t i = rng_below(rng, 3); plan->ways && plan->ways->nways && i > 0; i--)
			change_more(plan, rng);
		if (rng_below(rng, 3) == 0)
			change_server(plan, rng);
		if (rng_below(rng, 4) == 0)
			change_shape(plan, rng);
		bytes = published_bytes(plan);
		judge(bytes, "a plan written again");
		free(bytes.data);
	}
}

/* ---- all of it ---- */

static void try_file(struct bytes good, uint64_t seed)
{
	struct bytes bad = {.data = malloc(good.size), .size = good.size};
	unsigned before[2] = {mutants, accepted};
	struct rng rng = {seed};

	assert_non_null(bad.data);
	assert_true(judge(good, "as it was published"));
	each_header_field(good, bad, &rng);
	two_header_fields(good, bad, &rng);
	each_server_field(good, bad, &rng);
	each_record(good, bad, &rng);
	moved_records(good, bad, &rng);
	each_byte(good, bad, &rng);
	each_length(good, bad);
	moved_cells(good, bad, &rng);
	written_again(good, &rng);
	assert_true(accepted - before[1] > 30); /* else something hid the rest */
	assert_true(accepted - before[1] < (mutants - before[0]) * 2 / 3);
	free(bad.data);
	free(good.data);
}

TEST(dense)
{
	try_file(published_spec("FT(2;4,3;servers=3)", 2, "exact", 1), 1);
	try_file(published_spec("FT(2;3,2)", 0, "closed-form", 1), 2);
	try_file(published_spec("FT(2;1,1)", 1, "closed-form", 1), 3);
}

TEST(rounds)
{
	try_file(published_spec("FT(2;4,3;servers=3)", 0, "rounds", 1), 4);
	try_file(published_spec("FT(2;4,4)", 1, "rounds", 1), 5);
}

/* Leaves in several groups, and cells that stand for nobody. */
TEST(rounds_with_failures)
{
	struct bed *bed = bed_new("FT(2;3,4;empty=0/0,0/1,2/2)", 2);

	bed_down(bed, "Leaf00[4]");
	try_file(published_bytes(published_plan(bed, "rounds", 1)), 6);
	bed_free(bed);
}

TEST(withdrawn)
{
	try_file(published_withdrawn("no tree", 1), 7);
}

/* Version 2: each layout, with ways and without, service levels of units and of flows, all said and half of it. */
TEST(ways)
{
	try_file(published_spec_2("FT(2;4,3;servers=3)", 2, "exact", 1, PUBLISHED_WAYS), 8);
	try_file(published_spec_2("FT(2;3,3;cables=2)", 3, "exact", 1, PUBLISHED_WAYS | PUBLISHED_SLS | PUBLISHED_HALF),
		 9);
	try_file(published_spec_2("FT(2;3,2)", 0, "closed-form", 1, PUBLISHED_SLS | PUBLISHED_NAME), 10);
}

TEST(ways_dense)
{
	try_file(published_spec_2("FT(2;3,3)", 2, "exact", 1, PUBLISHED_WAYS | PUBLISHED_MIXED_SLS), 11);
	try_file(published_spec_2("FT(2;3,3)", 2, "exact", 1,
				  PUBLISHED_WAYS | PUBLISHED_SLS | PUBLISHED_DENSE | PUBLISHED_HALF),
		 12);
	try_file(published_spec_2("FT(2;3,2)", 0, "rounds", 1, PUBLISHED_MIXED_SLS | PUBLISHED_NAME), 13);
}

TEST(ways_in_rounds)
{
	try_file(published_spec_2("FT(2;4,3;servers=3)", 0, "rounds", 1, PUBLISHED_WAYS | PUBLISHED_SLS), 14);
	try_file(published_spec_2("FT(2;4,4)", 1, "rounds", 1, PUBLISHED_WAYS | PUBLISHED_NAME), 15);
	try_file(published_spec_2("FT(2;1,1)", 1, "rounds", 1, PUBLISHED_NAME), 16);
}

/* Version 3: one path index and several, all ways told and half of them, service levels, granules. */
TEST(sizes)
{
	unsigned before = mutants;

	try_file(published_spec_3("FT(2;4,3;servers=3)", 2, 1, 21, PUBLISHED_WAYS), 21);
	try_file(published_spec_3("FT(2;3,3)", 2, 24, 22, PUBLISHED_WAYS | PUBLISHED_MIXED_SLS | PUBLISHED_NAME), 22);
	try_file(published_spec_3("FT(2;3,3;cables=2)", 3, 1000, 23, PUBLISHED_WAYS | PUBLISHED_SLS | PUBLISHED_HALF),
		 23);
	try_file(published_spec_3("FT(2;3,2)", 2, 1ull << 47, 24, PUBLISHED_SLS), 24);
	assert_true(mutants - before >= 50000);
}

/* A job's schedule is withdrawn under its name. */
TEST(ways_withdrawn)
{
	struct fors_schedule *schedule;

	assert_int_equal(fors_schedule_withdrawn(9, "ended", &schedule, NULL), FORS_OK);
	strcpy(schedule->name, "job");
	try_file(published_bytes(schedule), 17);
}

/* Runs after all of the above. */
TEST(there_were_enough)
{
	print_message("%u mutants, %u accepted by both, %u refused by forsched_check alone\n", mutants, accepted,
		      by_check);
	assert_true(mutants >= WANTED);
	assert_true(by_check > WANTED / 20);
}
