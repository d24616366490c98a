/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of forsched.h. A schedule is constant from open to close but for two things that grow: the rows
 * that were asked for, and, in a rounds plan, the numbers they are made of. Both are made under the lock; a row is
 * published by one atomic store, so a look-up is an atomic load (free on most machines), two bounds and a cell.
 */
#include "config.h"

#include "internal.h"

#include <stdlib.h>

/* ---- open and close ---- */

/* A schedule around a source, which it owns from now on, also when it fails. */
static enum forsched_err open_source(struct source *source, struct forsched **schedule, struct forsched_error *error)
{
	struct forsched *made = calloc(1, sizeof(*made));
	enum forsched_err err;

	if (!made) {
		forsched_i_source_close(source);
		return forsched_i_fail_memory(error);
	}
	made->source = *source;
	pthread_mutex_init(&made->lock, NULL);
	err = forsched_i_read_shape(&made->source, &made->shape, error);
	if (!err)
		err = forsched_i_read_head(made, error);
	if (err)
		forsched_close(made);
	else
		*schedule = made;
	return err;
}

enum forsched_err forsched_open(const char *path, struct forsched **schedule, struct forsched_error *error)
{
	struct source source;
	enum forsched_err err = forsched_i_source_file(path, &source, error);

	return err ? err : open_source(&source, schedule, error);
}

enum forsched_err forsched_open_memory(const void *bytes, size_t size, const char *name, struct forsched **schedule,
				       struct forsched_error *error)
{
	struct source source;
	enum forsched_err err = forsched_i_source_memory(bytes, size, name, &source, error);

	return err ? err : open_source(&source, schedule, error);
}

void forsched_close(struct forsched *schedule)
{
	if (!schedule)
		return;
	for (uint32_t s = 0; schedule->row && s < schedule->shape.nservers; s++)
		free(schedule->row[s]);
	for (uint32_t s = 0; schedule->piece && s < schedule->shape.nservers; s++)
		free(schedule->piece[s]);
	free(schedule->piece);
	free(schedule->length);
	forsched_i_source_close(&schedule->source);
	pthread_mutex_destroy(&schedule->lock);
	free(schedule->server);
	free(schedule->by_guid);
	free(schedule->spine);
	free(schedule->row_crc);
	free(schedule->leaf_first);
	for (uint32_t leaf = 0; schedule->units && leaf < schedule->shape.nleaves; leaf++)
		free(schedule->units[leaf]);
	free(schedule->units);
	free(schedule->leaf);
	free(schedule->sw);
	free(schedule->way);
	forsched_i_cells_free(&schedule->cells);
	free(schedule->row);
	free(schedule);
}

/* ---- the whole ---- */

void forsched_info(const struct forsched *schedule, struct forsched_info *info)
{
	const struct shape *shape = &schedule->shape;

	*info = (struct forsched_info){
		.epoch = shape->epoch,
		.fingerprint = shape->fingerprint,
		.nservers = shape->nservers,
		.nphases = shape->nphases,
		.nleaves = shape->nleaves,
		.nlanes = shape->nlanes,
		.method = shape->method,
		.reason = shape->reason,
		.name = schedule->source.name,
	};
}

void forsched_more(const struct forsched *schedule, struct forsched_more *more)
{
	const struct shape *shape = &schedule->shape;

	*more = (struct forsched_more){
		.job = shape->job,
		.fabric_epoch = shape->fabric_epoch ? shape->fabric_epoch : shape->epoch,
		.version = shape->version,
		.nswitches = shape->nswitches,
		.nways = shape->nways,
	};
}

uint64_t forsched_epoch(const struct forsched *schedule)
{
	return schedule->shape.epoch;
}

uint32_t forsched_nservers(const struct forsched *schedule)
{
	return schedule->shape.nservers;
}

uint32_t forsched_nphases(const struct forsched *schedule)
{
	return schedule->shape.nphases;
}

enum forsched_err forsched_copy(const struct forsched *schedule, void **bytes, size_t *size,
				struct forsched_error *error)
{
	size_t room = (size_t)schedule->shape.end;
	void *made = malloc(room);
	enum forsched_err err = made ? FORSCHED_OK : forsched_i_fail_memory(error);

	if (!err)
		err = forsched_i_read(&schedule->source, 0, made, room, error);
	if (err) {
		free(made);
		return err;
	}
	*bytes = made;
	*size = room;
	return FORSCHED_OK;
}

/* ---- servers ---- */

static enum forsched_err fail_withdrawn(const struct forsched *schedule, struct forsched_error *error)
{
	return forsched_i_fail(error, FORSCHED_EWITHDRAWN, "%s: the schedule is withdrawn: %s", schedule->source.name,
			       schedule->shape.reason);
}

enum forsched_err forsched_server(const struct forsched *schedule, uint32_t number, struct forsched_server *server)
{
	if (number >= schedule->shape.nservers)
		return FORSCHED_ERANGE;
	*server = schedule->server[number];
	return FORSCHED_OK;
}

static int compare_guid(const void *key, const void *entry)
{
	uint64_t guid = *(const uint64_t *)key, other = ((const struct by_guid *)entry)->guid;

	return guid < other ? -1 : guid > other;
}

enum forsched_err forsched_find_guid(const struct forsched *schedule, uint64_t guid, uint32_t *number,
				     struct forsched_error *error)
{
	const struct by_guid *found;

	if (!schedule->shape.nphases)
		return fail_withdrawn(schedule, error);
	found = bsearch(&guid, schedule->by_guid, schedule->shape.nservers, sizeof(*found), compare_guid);
	if (!found)
		return forsched_i_fail(error, FORSCHED_ENOTFOUND,
				       "%s: no server has the port GUID 0x%016llx: it takes no part in the exchange",
				       schedule->source.name, (unsigned long long)guid);
	*number = found->number;
	return FORSCHED_OK;
}

enum forsched_err forsched_find_lid(const struct forsched *schedule, uint16_t lid, uint32_t *number,
				    struct forsched_error *error)
{
	if (!schedule->shape.nphases)
		return fail_withdrawn(schedule, error);
	for (uint32_t s = 0; s < schedule->shape.nservers; s++) {
		const struct forsched_server *server = &schedule->server[s];

		if (lid >= server->lid && lid - server->lid < 1 << server->lmc) {
			*number = s;
			return FORSCHED_OK;
		}
	}
	return forsched_i_fail(
		error, FORSCHED_ENOTFOUND,
		"%s: no server has the LID %u: it takes no part in the exchange, or LIDs were assigned anew",
		schedule->source.name, lid);
}

/* ---- the exchange ---- */

/* A row, and in version 3 its pieces, else NULL. */
struct room {
	struct fors_sf_cell *row;
	struct forsched_piece *piece;
};

static void free_room(struct room *room)
{
	free(room->row);
	free(room->piece);
}

/* For cells, with their units or without. */
static enum forsched_err make_room(const struct forsched *schedule, bool has_units, struct room *room,
				   struct forsched_error *error)
{
	size_t nphases = schedule->shape.nphases;
	bool has_sizes = forsched_i_has_sizes(&schedule->shape);

	room->row = malloc(nphases * (sizeof(*room->row) + (has_units ? sizeof(uint32_t) : 0)));
	room->piece = has_sizes ? malloc(nphases * sizeof(*room->piece)) : NULL;
	if (room->row && (room->piece || !has_sizes))
		return FORSCHED_OK;
	free_room(room);
	return forsched_i_fail_memory(error);
}

static enum forsched_err read_cells(struct forsched *schedule, uint32_t s, struct room *room,
				    struct forsched_error *error)
{
	switch (schedule->shape.layout) {
	case FORS_SF_DENSE:
		return forsched_i_dense_row(schedule, s, room->row, error);
	case FORS_SF_UNITS:
		return forsched_i_units_row(schedule, s, room->row, error);
	case FORS_SF_PIECES:
		return forsched_i_pieces_row(schedule, s, room->row, room->piece, error);
	default:
		return forsched_i_rounds_row(schedule, s, room->row, error);
	}
}

/* A row that is an exchange. */
static enum forsched_err read_row(struct forsched *schedule, uint32_t s, struct room *room,
				  struct forsched_error *error)
{
	enum forsched_err err = read_cells(schedule, s, room, error);

	if (err)
		return err;
	if (room->piece)
		return forsched_i_check_pieces(schedule, s, room->row, room->piece, error);
	return forsched_i_check_row(schedule, s, room->row, error);
}

/* Make the row of s; under the lock. */
static enum forsched_err make_row(struct forsched *schedule, uint32_t s, struct forsched_error *error)
{
	bool has_units = forsched_i_has_ways(&schedule->shape);
	struct room room;
	enum forsched_err err = make_room(schedule, has_units, &room, error);

	if (err)
		return err;
	err = read_row(schedule, s, &room, error);
	if (!err && has_units)
		err = forsched_i_find_units(schedule, s, room.row, error);
	if (err) {
		free_room(&room);
		return err;
	}
	schedule->piece[s] = room.piece;
	__atomic_store_n(&schedule->row[s], room.row, __ATOMIC_RELEASE);
	return FORSCHED_OK;
}

static const struct fors_sf_cell *row_of(const struct forsched *schedule, uint32_t s)
{
	return __atomic_load_n(&schedule->row[s], __ATOMIC_ACQUIRE);
}

enum forsched_err forsched_prepare(const struct forsched *schedule, uint32_t number, struct forsched_error *error)
{
	struct forsched *own = (struct forsched *)schedule; /* constant for callers: what grows is under the lock */
	enum forsched_err err = FORSCHED_OK;

	if (!schedule->shape.nphases)
		return fail_withdrawn(schedule, error);
	if (number >= schedule->shape.nservers)
		return forsched_i_fail(error, FORSCHED_ERANGE, "%s: no server %u: there are %u", schedule->source.name,
				       number, schedule->shape.nservers);
	if (row_of(schedule, number))
		return FORSCHED_OK;
	pthread_mutex_lock(&own->lock);
	if (!own->row[number])
		err = make_row(own, number, error);
	pthread_mutex_unlock(&own->lock);
	return err;
}

/* Node GUID of the spine, or of the topmost switch of a tree; 0: none. */
static uint64_t spine_of(const struct forsched *schedule, uint32_t number, const struct fors_sf_cell *row,
			 uint32_t phase)
{
	const struct fors_sf_unit *unit;

	if (schedule->shape.version == FORS_SF_VERSION)
		return row[phase].lane == FORS_SF_NO_LANE ? 0 : schedule->spine[row[phase].lane];
	unit = forsched_i_unit_of(schedule, number, row, phase);
	return unit && unit->top != FORS_SF_NO_TOP ? schedule->sw[unit->top] : 0;
}

static void tell(const struct forsched *schedule, uint32_t number, const struct fors_sf_cell *row, uint32_t phase,
		 struct forsched_flow *flow)
{
	const struct fors_sf_cell *cell = &row[phase];

	*flow = (struct forsched_flow){.to = FORSCHED_NOBODY, .from = FORSCHED_NOBODY};
	if (cell->dst != FORS_SF_IDLE) {
		flow->to = cell->dst;
		flow->dlid = (uint16_t)(schedule->server[cell->dst].lid + cell->path);
		flow->path = cell->path;
		flow->src_path_bits = cell->reverse;
		flow->spine = spine_of(schedule, number, row, phase);
	}
	if (cell->src != FORS_SF_IDLE) {
		flow->from = cell->src;
		flow->in_dlid = (uint16_t)(schedule->server[number].lid + cell->in_path);
		flow->in_path = cell->in_path;
	}
}

/* The row of a server, made when it is not there, in *row; `phase` is in it. */
static enum forsched_err find_row(const struct forsched *schedule, uint32_t number, uint32_t phase,
				  const struct fors_sf_cell **row)
{
	enum forsched_err err;

	if (number >= schedule->shape.nservers || phase >= schedule->shape.nphases)
		return schedule->shape.nphases ? FORSCHED_ERANGE : FORSCHED_EWITHDRAWN;
	*row = row_of(schedule, number);
	if (*row)
		return FORSCHED_OK;
	err = forsched_prepare(schedule, number, NULL);
	if (!err)
		*row = row_of(schedule, number);
	return err;
}

enum forsched_err forsched_flow(const struct forsched *schedule, uint32_t number, uint32_t phase,
				struct forsched_flow *flow)
{
	const struct fors_sf_cell *row;
	enum forsched_err err = find_row(schedule, number, phase, &row);

	if (!err)
		tell(schedule, number, row, phase, flow);
	return err;
}

enum forsched_err forsched_sl(const struct forsched *schedule, uint32_t number, uint32_t phase, uint8_t *sl)
{
	const struct fors_sf_cell *row;
	enum forsched_err err = find_row(schedule, number, phase, &row);

	if (!err)
		*sl = schedule->shape.version == FORS_SF_VERSION ? FORSCHED_NO_SL : row[phase].lane;
	return err;
}

/* ---- how much ---- */

void forsched_sizes(const struct forsched *schedule, struct forsched_sizes *sizes)
{
	const struct shape *shape = &schedule->shape;

	*sizes = (struct forsched_sizes){.length = shape->nphases, .granule = 1, .is_unit = 1};
	if (!forsched_i_has_sizes(shape))
		return;
	sizes->has_demand = 1;
	sizes->length = 0;
	for (uint32_t phase = 0; phase < shape->nphases; phase++)
		sizes->length += schedule->length[phase];
	sizes->granule = shape->granule;
	sizes->is_unit = (uint8_t)shape->is_unit;
	sizes->checksum = shape->demand_crc;
}

enum forsched_err forsched_phase_bytes(const struct forsched *schedule, uint32_t phase, uint64_t *bytes)
{
	if (phase >= schedule->shape.nphases)
		return schedule->shape.nphases ? FORSCHED_ERANGE : FORSCHED_EWITHDRAWN;
	*bytes = schedule->length ? schedule->length[phase] : 1;
	return FORSCHED_OK;
}

enum forsched_err forsched_piece(const struct forsched *schedule, uint32_t number, uint32_t phase,
				 struct forsched_piece *piece)
{
	const struct fors_sf_cell *row;
	enum forsched_err err = find_row(schedule, number, phase, &row);
	uint64_t sends, receives;

	if (err)
		return err;
	if (schedule->piece[number]) {
		*piece = schedule->piece[number][phase];
		return FORSCHED_OK;
	}
	sends = row[phase].dst != FORS_SF_IDLE;
	receives = row[phase].src != FORS_SF_IDLE;
	*piece = (struct forsched_piece){.bytes = sends, .total = sends, .in_bytes = receives, .in_total = receives};
	return FORSCHED_OK;
}

enum forsched_err forsched_role(const struct forsched *schedule, uint32_t number, uint32_t *role)
{
	const struct fors_sf_cell *row;
	enum forsched_err err = find_row(schedule, number, 0, &row);
	uint32_t found = 0;

	if (err)
		return err;
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++) {
		found |= row[phase].dst == FORS_SF_IDLE ? 0 : FORSCHED_SENDS;
		found |= row[phase].src == FORS_SF_IDLE ? 0 : FORSCHED_RECEIVES;
	}
	*role = found;
	return FORSCHED_OK;
}

/* The row of a server, and what is told of ways; `phase` is in it. */
static enum forsched_err find_way(const struct forsched *schedule, uint32_t number, uint32_t phase,
				  const struct fors_sf_cell **row, uint32_t *way, struct forsched_error *error)
{
	const struct fors_sf_unit *unit = NULL;
	enum forsched_err err = forsched_prepare(schedule, number, error);

	if (!err && phase >= schedule->shape.nphases)
		err = forsched_i_fail(error, FORSCHED_ERANGE, "%s: no phase %u: there are %u", schedule->source.name,
				      phase, schedule->shape.nphases);
	if (!err && schedule->shape.nways)
		err = forsched_i_read_ways(schedule, error);
	if (err)
		return err;
	*row = row_of(schedule, number);
	if (schedule->shape.nways)
		unit = forsched_i_unit_of(schedule, number, *row, phase);
	*way = unit ? unit->way : FORS_SF_NONE;
	return FORSCHED_OK;
}

enum forsched_err forsched_way(const struct forsched *schedule, uint32_t number, uint32_t phase,
			       struct forsched_hop *hop, uint32_t room, uint32_t *nhops, struct forsched_error *error)
{
	const struct fors_sf_cell *row;
	uint32_t n = 0, way;
	enum forsched_err err = find_way(schedule, number, phase, &row, &way, error);

	if (err)
		return err;
	for (; way != FORS_SF_NONE; way = schedule->way[way].rest, n++)
		if (n < room)
			hop[n] = (struct forsched_hop){.guid = schedule->sw[schedule->way[way].sw],
						       .port = schedule->way[way].port};
	*nhops = n;
	return FORSCHED_OK;
}

/* ---- links: in version 1 a leaf's cable to a lane, up and down; in version 2 a switch's port ---- */

#define LINKS_OF_SWITCH 512u

static uint32_t put_link(uint32_t *link, uint32_t room, uint32_t n, uint32_t number)
{
	if (n < room)
		link[n] = number;
	return n + 1;
}

/* Number of links of a way that is known. */
static uint32_t links_of_way(const struct forsched *schedule, uint32_t way, uint32_t *link, uint32_t room)
{
	uint32_t n = 0;

	for (; schedule->way[way].rest != FORS_SF_NONE; way = schedule->way[way].rest)
		n = put_link(link, room, n, schedule->way[way].sw * LINKS_OF_SWITCH + schedule->way[way].port);
	return n;
}

static uint32_t links_of_lane(const struct forsched *schedule, uint32_t from, uint32_t to, uint8_t lane, uint32_t *link,
			      uint32_t room)
{
	uint32_t n = put_link(link, room, 0, schedule->server[from].leaf * LINKS_OF_SWITCH + lane);

	return put_link(link, room, n, schedule->server[to].leaf * LINKS_OF_SWITCH + LINKS_OF_SWITCH / 2 + lane);
}

enum forsched_err forsched_links(const struct forsched *schedule, uint32_t number, uint32_t phase, uint32_t *link,
				 uint32_t room, uint32_t *nlinks, struct forsched_error *error)
{
	const struct fors_sf_cell *row;
	uint32_t way;
	enum forsched_err err = find_way(schedule, number, phase, &row, &way, error);
	uint32_t to = err ? FORS_SF_IDLE : row[phase].dst;
	bool is_lane = !err && schedule->shape.version == FORS_SF_VERSION && row[phase].lane != FORS_SF_NO_LANE;

	if (err)
		return err;
	if (to == FORS_SF_IDLE || schedule->server[to].leaf == schedule->server[number].leaf)
		*nlinks = 0;
	else if (way != FORS_SF_NONE)
		*nlinks = links_of_way(schedule, way, link, room);
	else if (is_lane)
		*nlinks = links_of_lane(schedule, number, to, row[phase].lane, link, room);
	else
		return forsched_i_fail(error, FORSCHED_ENOTFOUND,
				       "%s: does not tell the way of the flow of server %u in phase %u",
				       schedule->source.name, number, phase);
	return FORSCHED_OK;
}

/* Does the receiver of each flow know of it? As rows are exchanges, then each sender does too; of a demand that is asked for. */
static bool is_answered(const struct forsched *schedule, uint32_t s, uint32_t phase)
{
	const struct fors_sf_cell *cell = &row_of(schedule, s)[phase], *there;

	if (cell->dst == FORS_SF_IDLE)
		return true;
	there = &row_of(schedule, cell->dst)[phase];
	return there->src == s && there->in_path == cell->path;
}

/* 1 + the largest path index of a dense plan whose rows are all there. */
static uint32_t count_paths(const struct forsched *schedule)
{
	uint32_t npaths = 1;

	for (uint32_t s = 0; s < schedule->shape.nservers; s++)
		for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++)
			if (row_of(schedule, s)[phase].path >= npaths)
				npaths = row_of(schedule, s)[phase].path + 1u;
	return npaths;
}

enum forsched_err forsched_check(const struct forsched *schedule, struct forsched_error *error)
{
	enum forsched_err err = FORSCHED_OK;

	for (uint32_t s = 0; !err && s < schedule->shape.nservers; s++)
		err = forsched_prepare(schedule, s, error);
	/* Phase by phase, because both ends of a flow are in the same phase: what was read for one is near the next. */
	for (uint32_t phase = 0; !err && phase < schedule->shape.nphases; phase++)
		for (uint32_t s = 0; !err && s < schedule->shape.nservers; s++)
			if (!is_answered(schedule, s, phase))
				err = forsched_i_corrupt(&schedule->source, "sender and receiver contradict each other",
							 error);
	if (!err && schedule->shape.npaths != (schedule->cells.number ? schedule->cells.npaths : count_paths(schedule)))
		err = forsched_i_corrupt(&schedule->source, "the number of paths in the header", error);
	if (!err && forsched_i_has_sizes(&schedule->shape))
		err = forsched_i_check_demand(schedule, error);
	if (!err && forsched_i_has_ways(&schedule->shape))
		err = forsched_i_check_units(schedule, error);
	return err;
}

/* ---- one path index for all ---- */

/* The first path index in a row of flows that is not `index`; `index`: there is none. */
static uint8_t other_path(const struct forsched *schedule, const struct fors_sf_cell *row, uint8_t index)
{
	for (uint32_t phase = 0; phase < schedule->shape.nphases; phase++)
		if (row[phase].dst != FORS_SF_IDLE && row[phase].path != index)
			return row[phase].path;
	return index;
}

/* Look at the row of s, and keep nothing: a plan of thousands of servers is large. `room` is for a row; under the lock. */
static enum forsched_err look_at_paths(struct forsched *schedule, uint32_t s, struct room *room, uint8_t index,
				       uint8_t *other, struct forsched_error *error)
{
	const struct fors_sf_cell *row = row_of(schedule, s);
	enum forsched_err err = FORSCHED_OK;

	if (!row) {
		err = read_row(schedule, s, room, error);
		row = room->row;
	}
	if (!err)
		*other = other_path(schedule, row, index);
	return err;
}

/* Do all flows use this index, the largest of them? */
static enum forsched_err check_index(struct forsched *schedule, uint8_t index, struct forsched_error *error)
{
	struct room room;
	enum forsched_err err = make_room(schedule, false, &room, error);
	uint8_t other = index;

	if (err)
		return err;
	for (uint32_t s = 0; !err && other == index && s < schedule->shape.nservers; s++) {
		pthread_mutex_lock(&schedule->lock);
		err = look_at_paths(schedule, s, &room, index, &other, error);
		pthread_mutex_unlock(&schedule->lock);
	}
	free_room(&room);
	if (!err && other != index)
		err = forsched_i_fail(error, FORSCHED_ENOTFOUND,
				      "%s: its flows have several path indices, %u and %u among them",
				      schedule->source.name, other, index);
	return err;
}

enum forsched_err forsched_path_index(const struct forsched *schedule, uint8_t *index, struct forsched_error *error)
{
	struct forsched *own = (struct forsched *)schedule; /* constant for callers: what grows is under the lock */
	enum forsched_err err = FORSCHED_OK;
	uint8_t largest;

	if (!schedule->shape.nphases)
		return fail_withdrawn(schedule, error);
	largest = (uint8_t)(schedule->shape.npaths - 1);
	if (largest)
		err = check_index(own, largest, error);
	if (!err)
		*index = largest;
	return err;
}

/* ---- the library ---- */

const char *forsched_strerror(enum forsched_err code)
{
	static const char *const texts[] = {
		[FORSCHED_OK] = "no error",
		[FORSCHED_ERANGE] = "no such server or phase",
		[FORSCHED_EFILE] = "file cannot be read",
		[FORSCHED_EFORMAT] = "not a valid schedule",
		[FORSCHED_ENOTFOUND] = "no such server in the schedule",
		[FORSCHED_EWITHDRAWN] = "schedule withdrawn",
		[FORSCHED_ECHANGED] = "file changed while open",
		[FORSCHED_ENOMEM] = "out of memory",
	};

	return (size_t)code < sizeof(texts) / sizeof(texts[0]) ? texts[code] : "unknown error";
}

const char *forsched_version(void)
{
	return PACKAGE_VERSION;
}
