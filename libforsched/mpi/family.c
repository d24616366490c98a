/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Communicators that are made together, by one MPI_Comm_split, MPI_Cart_sub or MPI_Comm_create, are a family: the rows of
 * a grid of ranks, or its columns. Each gets to know who the others are, so that the exchanges of all can be planned as
 * one (subset.c): each rank of the old communicator tells all in which new one it is, and the port GUID of its server.
 *
 * Where the server cannot be known without a schedule, on hosts with several ports say, it is left out. Rank 0 of the
 * old communicator says whether there is anything to follow: without FORSCHED_SCHEDULE nobody tells anything.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t own_guid;

/* The port GUID of this process's server as far as it can be known without a schedule; 0: it cannot. */
static void find_guid(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (forsched_own_guid(NULL, rank, &own_guid, NULL))
		own_guid = 0;
}

void forsched_mpi_family_free(struct family *family)
{
	if (!family)
		return;
	free(family->group);
	free(family->guid);
	free(family);
}

static struct family *new_family(int n)
{
	struct family *family = calloc(1, sizeof(*family));

	if (!family)
		return NULL;
	family->n = n;
	family->group = calloc((size_t)n, sizeof(*family->group));
	family->guid = calloc((size_t)n, sizeof(*family->guid));
	if (family->group && family->guid)
		return family;
	forsched_mpi_family_free(family);
	return NULL;
}

/* Which rank of the old communicator is the first of the new one; -1: there is no new one. */
static int first_of(MPI_Comm old, MPI_Comm made)
{
	MPI_Group here, there;
	int zero = 0, first = -1;

	if (made == MPI_COMM_NULL)
		return -1;
	PMPI_Comm_group(old, &here);
	PMPI_Comm_group(made, &there);
	PMPI_Group_translate_ranks(there, 1, &zero, here, &first);
	PMPI_Group_free(&here);
	PMPI_Group_free(&there);
	return first;
}

/* Everybody tells everybody. */
static int gather(MPI_Comm old, int first, struct family *family)
{
	int err = PMPI_Allgather(&first, 1, MPI_INT, family->group, 1, MPI_INT, old);

	pthread_once(&once, find_guid);
	return err ? err : PMPI_Allgather(&own_guid, 1, MPI_UINT64_T, family->guid, 1, MPI_UINT64_T, old);
}

static int tell(MPI_Comm old, int size, MPI_Comm made)
{
	struct family *family = new_family(size);
	bool have_room;
	int err = forsched_mpi_all_agree(old, family != NULL, &have_room);

	if (!err && have_room)
		err = gather(old, first_of(old, made), family);
	if (!err && have_room && made != MPI_COMM_NULL)
		err = forsched_mpi_join_family(made, family);
	else
		forsched_mpi_family_free(family);
	return err;
}

void forsched_mpi_found(MPI_Comm old, MPI_Comm made)
{
	int is_inter = 1, size = 0, is_wanted = forsched_mpi_setting("FORSCHED_SCHEDULE") != NULL;

	PMPI_Comm_test_inter(old, &is_inter);
	if (is_inter)
		return;
	PMPI_Comm_size(old, &size);
	if (size > 1 && !PMPI_Bcast(&is_wanted, 1, MPI_INT, 0, old) && is_wanted)
		tell(old, size, made);
}

/* ---- in the place of MPI's ---- */

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	int err = PMPI_Comm_split(comm, color, key, newcomm);

	if (!err)
		forsched_mpi_found(comm, *newcomm);
	return err;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	int err = PMPI_Comm_create(comm, group, newcomm);

	if (!err)
		forsched_mpi_found(comm, *newcomm);
	return err;
}

int MPI_Cart_sub(MPI_Comm comm, const int *remain_dims, MPI_Comm *newcomm)
{
	int err = PMPI_Cart_sub(comm, remain_dims, newcomm);

	if (!err)
		forsched_mpi_found(comm, *newcomm);
	return err;
}
