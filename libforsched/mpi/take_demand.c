/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How ranks take up the schedule of a demand, beside that of all with all which they follow already. Of such a schedule, long
 * as it may be, a rank needs the row of its own server only, and rank 0 has checked all of it. So rank 0 deals out rows, some
 * phases at a time, as places of the communicator: a server that has no rank here is nobody.
 *
 * In the end all know that all have their row, and what the fullest port has to carry.
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

#define MOST_BYTES ((uint64_t)1 << 26) /* that are dealt out at a time */

/* What is being taken up. */
struct dealing {
	struct portions portions;   /* so far */
	uint32_t ncells;	    /* phases that are dealt out at a time */
	struct portion_cell *cells; /* room for them; on rank 0 those of each rank */
	uint32_t *server,
		*place; /* rank 0: the demand's server of each place, and the place of each server; or NO_PLACE */
};

/* ---- rank 0 ---- */

/* The demand's number of the server that a place is; NO_PLACE: it has none, so it sends and receives nothing. */
static uint32_t number_of(const struct member *member, const struct forsched *file, uint32_t place)
{
	struct forsched_server server;
	uint32_t number;

	if (forsched_server(member->schedule, member->places.server[place], &server) ||
	    forsched_find_guid(file, server.guid, &number, NULL))
		return NO_PLACE;
	return number;
}

/* False: no memory. */
static bool number_servers(const struct member *member, const struct forsched *file, struct dealing *dealing)
{
	uint32_t nservers = forsched_nservers(file);

	dealing->server = calloc(member->places.n, sizeof(*dealing->server));
	dealing->place = calloc(nservers, sizeof(*dealing->place));
	if (!dealing->server || !dealing->place)
		return false;
	for (uint32_t server = 0; server < nservers; server++)
		dealing->place[server] = NO_PLACE;
	for (uint32_t place = 0; place < member->places.n; place++) {
		dealing->server[place] = number_of(member, file, place);
		if (dealing->server[place] != NO_PLACE)
			dealing->place[dealing->server[place]] = place;
	}
	return true;
}

/* What a place does in a phase, with other places. */
static struct portion_cell cell_of(const struct member *member, const struct dealing *dealing, uint32_t place,
				   uint32_t phase)
{
	const struct forsched *file = forsched_mpi_demand_taken(member);
	struct portion_cell cell = {.to = NO_PLACE, .from = NO_PLACE};
	struct forsched_piece piece;
	struct forsched_flow flow;

	if (dealing->server[place] == NO_PLACE || forsched_flow(file, dealing->server[place], phase, &flow) ||
	    forsched_piece(file, dealing->server[place], phase, &piece)) /* was checked: does not fail */
		return cell;
	if (flow.to != FORSCHED_NOBODY && dealing->place[flow.to] != NO_PLACE)
		cell.to = dealing->place[flow.to], cell.bytes = piece.bytes;
	if (flow.from != FORSCHED_NOBODY && dealing->place[flow.from] != NO_PLACE)
		cell.from = dealing->place[flow.from], cell.in_bytes = piece.in_bytes;
	return cell;
}

static void fill_cells(const struct member *member, const struct dealing *dealing, uint32_t phase, uint32_t n)
{
	for (int rank = 0; rank < member->size; rank++)
		for (uint32_t i = 0; i < n; i++)
			dealing->cells[(size_t)rank * n + i] =
				cell_of(member, dealing, member->places.at[rank], phase + i);
}

/* ---- all ranks ---- */

/* What all know first. */
enum { NPHASES, NCELLS, NHEAD };

static void fill_head(const struct member *member, uint64_t *head)
{
	uint64_t n = MOST_BYTES / ((uint64_t)member->size * sizeof(struct portion_cell));

	head[NPHASES] = forsched_nphases(forsched_mpi_demand_taken(member));
	head[NCELLS] = n < 1 ? 1 : n < head[NPHASES] ? n : head[NPHASES];
}

static int take_head(struct member *member, MPI_Comm comm, struct dealing *dealing, bool *goes_on)
{
	uint64_t head[NHEAD] = {0};
	bool have_room;
	int err;

	if (member->rank == 0)
		fill_head(member, head);
	err = PMPI_Bcast(head, NHEAD, MPI_UINT64_T, 0, comm);
	if (err)
		return err;
	dealing->ncells = (uint32_t)head[NCELLS];
	dealing->cells = calloc((member->rank ? 1 : (size_t)member->size) * dealing->ncells, sizeof(*dealing->cells));
	have_room = dealing->cells && forsched_mpi_make_portions(&dealing->portions, &member->places, member->rank,
								 (uint32_t)head[NPHASES]);
	if (have_room && member->rank == 0)
		have_room = number_servers(member, forsched_mpi_demand_taken(member), dealing);
	return forsched_mpi_all_agree(comm, have_room, goes_on);
}

static int take_cells(const struct member *member, MPI_Comm comm, struct dealing *dealing, uint32_t phase)
{
	uint32_t left = dealing->portions.nphases - phase, n = left < dealing->ncells ? left : dealing->ncells;
	int bytes = (int)(n * sizeof(*dealing->cells)), err;

	if (member->rank == 0)
		fill_cells(member, dealing, phase, n);
	if (member->rank == 0)
		err = PMPI_Scatter(dealing->cells, bytes, MPI_BYTE, MPI_IN_PLACE, bytes, MPI_BYTE, 0, comm);
	else
		err = PMPI_Scatter(NULL, bytes, MPI_BYTE, dealing->cells, bytes, MPI_BYTE, 0, comm);
	for (uint32_t i = 0; !err && i < n; i++)
		forsched_mpi_add_portion(&dealing->portions, &dealing->cells[i]);
	return err;
}

static int deal(struct member *member, MPI_Comm comm, struct dealing *dealing, bool *is_done)
{
	uint64_t mine;
	int err = take_head(member, comm, dealing, is_done);

	if (err || !*is_done)
		return err;
	for (uint32_t phase = 0; !err && phase < dealing->portions.nphases; phase += dealing->ncells)
		err = take_cells(member, comm, dealing, phase);
	mine = forsched_mpi_portions_port(&dealing->portions, member->places.n);
	return err ? err : PMPI_Allreduce(&mine, &dealing->portions.port, 1, MPI_UINT64_T, MPI_MAX, comm);
}

static void say_demand(const struct member *member, uint64_t epoch)
{
	struct forsched_info info;

	forsched_info(forsched_mpi_demand_taken(member), &info);
	forsched_mpi_say(true, "%s: epoch %llu of a demand: followed by %d ranks, in %u phases", info.name,
			 (unsigned long long)epoch, member->size, member->portions.nphases);
}

int forsched_mpi_take_demand(struct member *member, MPI_Comm comm, uint64_t epoch)
{
	struct dealing dealing = {.ncells = 0};
	bool is_done = false;
	int err = deal(member, comm, &dealing, &is_done);

	is_done = !err && is_done;
	if (is_done) {
		member->portions = dealing.portions;
		dealing.portions = (struct portions){0};
	}
	if (is_done && member->rank == 0)
		say_demand(member, epoch);
	if (member->rank == 0)
		forsched_mpi_demand_taken_up(member, is_done);
	forsched_mpi_portions_free(&dealing.portions);
	free(dealing.cells);
	free(dealing.server);
	free(dealing.place);
	return err;
}
