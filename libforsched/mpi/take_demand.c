/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How ranks take up the schedule of a demand, beside that of all with all which they follow already. Of such a schedule, long
 * as it may be, a rank needs the row of its own server only, and rank 0 has checked all of it. So rank 0 deals out rows, some
 * phases in each step, as places of the communicator: a server that has no rank here is nobody.
 *
 * In the end all know that all have their row, and what the fullest port has to carry.
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

#define MOST_BYTES ((uint64_t)1 << 26) /* of a step */

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
static bool number_servers(struct member *member, const struct forsched *file)
{
	struct taking *taking = &member->taking;
	uint32_t nservers = forsched_nservers(file);

	taking->server = calloc(member->places.n, sizeof(*taking->server));
	taking->place = calloc(nservers, sizeof(*taking->place));
	if (!taking->server || !taking->place)
		return false;
	for (uint32_t server = 0; server < nservers; server++)
		taking->place[server] = NO_PLACE;
	for (uint32_t place = 0; place < member->places.n; place++) {
		taking->server[place] = number_of(member, file, place);
		if (taking->server[place] != NO_PLACE)
			taking->place[taking->server[place]] = place;
	}
	return true;
}

/* What a place does in a phase, with other places. */
static struct portion_cell cell_of(const struct member *member, uint32_t place, uint32_t phase)
{
	const struct forsched *file = forsched_mpi_demand_taken(member);
	const struct taking *taking = &member->taking;
	struct portion_cell cell = {.to = NO_PLACE, .from = NO_PLACE};
	struct forsched_piece piece;
	struct forsched_flow flow;

	if (taking->server[place] == NO_PLACE || forsched_flow(file, taking->server[place], phase, &flow) ||
	    forsched_piece(file, taking->server[place], phase, &piece)) /* was checked: does not fail */
		return cell;
	if (flow.to != FORSCHED_NOBODY && taking->place[flow.to] != NO_PLACE)
		cell.to = taking->place[flow.to], cell.bytes = piece.bytes;
	if (flow.from != FORSCHED_NOBODY && taking->place[flow.from] != NO_PLACE)
		cell.from = taking->place[flow.from], cell.in_bytes = piece.in_bytes;
	return cell;
}

static void fill_cells(const struct member *member, uint32_t n)
{
	const struct taking *taking = &member->taking;

	for (int rank = 0; rank < member->size; rank++)
		for (uint32_t i = 0; i < n; i++)
			taking->cells[(size_t)rank * n + i] =
				cell_of(member, member->places.at[rank], taking->phase + i);
}

/* ---- the steps ---- */

/* What all know first. */
enum { NPHASES, LENGTH, IS_UNIT, NCELLS, NHEAD };

/* Phases in a step. */
static uint64_t cells_of_a_step(const struct member *member, uint32_t nphases)
{
	uint64_t bytes = member->taking.piece < MOST_BYTES ? member->taking.piece : MOST_BYTES;
	uint64_t n = bytes / ((uint64_t)member->size * sizeof(struct portion_cell));

	return n < 1 ? 1 : n < nphases ? n : nphases;
}

static void fill_head(const struct member *member, uint64_t *head)
{
	const struct forsched *file = forsched_mpi_demand_taken(member);
	struct forsched_sizes sizes;

	forsched_sizes(file, &sizes);
	head[NPHASES] = forsched_nphases(file);
	head[LENGTH] = sizes.length;
	head[IS_UNIT] = sizes.is_unit;
	head[NCELLS] = cells_of_a_step(member, forsched_nphases(file));
}

int forsched_mpi_take_head(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct taking *taking = &member->taking;
	uint64_t head[NHEAD] = {0};
	bool have_room;
	int err;

	if (member->rank == 0)
		fill_head(member, head);
	err = PMPI_Bcast(head, NHEAD, MPI_UINT64_T, 0, comm);
	if (err)
		return err;
	taking->ncells = (uint32_t)head[NCELLS];
	taking->cells = calloc((member->rank ? 1 : (size_t)member->size) * taking->ncells, sizeof(*taking->cells));
	have_room = taking->cells && forsched_mpi_make_portions(&taking->portions, &member->places, member->rank,
								(uint32_t)head[NPHASES]);
	if (have_room && member->rank == 0)
		have_room = number_servers(member, forsched_mpi_demand_taken(member));
	taking->portions.length = head[LENGTH];
	taking->portions.is_unit = head[IS_UNIT];
	return forsched_mpi_all_agree(comm, have_room, goes_on);
}

int forsched_mpi_take_cells(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct taking *taking = &member->taking;
	uint32_t left = taking->portions.nphases - taking->phase, n = left < taking->ncells ? left : taking->ncells;
	int bytes = (int)(n * sizeof(*taking->cells)), err;

	if (member->rank == 0)
		fill_cells(member, n);
	if (member->rank == 0)
		err = PMPI_Scatter(taking->cells, bytes, MPI_BYTE, MPI_IN_PLACE, bytes, MPI_BYTE, 0, comm);
	else
		err = PMPI_Scatter(NULL, bytes, MPI_BYTE, taking->cells, bytes, MPI_BYTE, 0, comm);
	for (uint32_t i = 0; !err && i < n; i++)
		forsched_mpi_add_portion(&taking->portions, &taking->cells[i]);
	taking->phase += n;
	*goes_on = true;
	if (taking->phase < taking->portions.nphases)
		taking->step--;
	return err;
}

int forsched_mpi_take_totals(struct member *member, MPI_Comm comm, bool *goes_on)
{
	struct portions *portions = &member->taking.portions;
	uint64_t mine = forsched_mpi_portions_port(portions, member->places.n);
	int err = PMPI_Allreduce(&mine, &portions->port, 1, MPI_UINT64_T, MPI_MAX, comm);

	*goes_on = true;
	if (err)
		return err;
	member->portions = *portions;
	*portions = (struct portions){0};
	return MPI_SUCCESS;
}
