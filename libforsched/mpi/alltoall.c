/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a program calls, in the place of MPI's. A call is left to MPI when its communicator does not
 * follow a schedule, and when it is so wrong that MPI will refuse it: then MPI does that in its own words.
 */
#include "config.h"

#include "follow.h"

/* What this process has done, for forsched_mpi_counts(). */
static uint64_t followed, left;

static void count(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

void forsched_mpi_counts(uint64_t *calls_followed, uint64_t *calls_left, uint64_t *epochs_followed);

/* For tests and curious programs (dlsym): calls that went along a schedule, calls left to MPI, epochs followed. */
__attribute__((visibility("default"))) void forsched_mpi_counts(uint64_t *calls_followed, uint64_t *calls_left,
								uint64_t *epochs_followed)
{
	*calls_followed = __atomic_load_n(&followed, __ATOMIC_RELAXED);
	*calls_left = __atomic_load_n(&left, __ATOMIC_RELAXED);
	*epochs_followed = forsched_mpi_epochs();
}

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint lower = 0, extent = 0;

	PMPI_Type_get_extent(type, &lower, &extent);
	return extent;
}

/* Bytes for each rank in an MPI_Alltoall, the same on all ranks. */
static uint64_t bytes_per_rank(const struct side *recv)
{
	MPI_Count size = 0;

	PMPI_Type_size_x(recv->type, &size);
	return (uint64_t)recv->count * (uint64_t)size;
}

/*
 * The member that runs this call, or NULL: left to MPI. An error in agreeing is the caller's: it is reported as one of
 * the call. `uniform`: the receiving side of an MPI_Alltoall, whose size all ranks know; else NULL.
 */
static struct member *follower(MPI_Comm comm, const struct side *uniform, int *err)
{
	struct member *member = NULL;

	*err = forsched_mpi_enter(comm, &member);
	if (*err || !member || !member->is_following || (uniform && bytes_per_rank(uniform) < member->min_bytes)) {
		count(&left);
		return NULL;
	}
	count(&followed);
	return member;
}

/* Report an error where the program wants it. */
static int report(MPI_Comm comm, int err)
{
	if (err)
		PMPI_Comm_call_errhandler(comm, err);
	return err;
}

static int run(MPI_Comm comm, const struct member *member, const void *sendbuf, const struct side *send,
	       const struct side *recv)
{
	return report(comm, forsched_mpi_exchange(member, sendbuf == MPI_IN_PLACE ? NULL : send, recv));
}

/* One type for all ranks: is it one, and the count possible? */
static bool is_sane(int number, MPI_Datatype type)
{
	return number >= 0 && type != MPI_DATATYPE_NULL;
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
		 MPI_Datatype recvtype, MPI_Comm comm)
{
	bool is_in_place = sendbuf == MPI_IN_PLACE;
	struct side send = {.buffer = (char *)sendbuf, .count = sendcount, .type = sendtype};
	struct side recv = {.buffer = recvbuf, .count = recvcount, .type = recvtype};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !is_sane(recvcount, recvtype) || (!is_in_place && !is_sane(sendcount, sendtype)))
		return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	member = follower(comm, &recv, &err);
	if (err)
		return report(comm, err);
	if (!member)
		return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	recv.unit = extent_of(recvtype);
	send.unit = is_in_place ? 0 : extent_of(sendtype);
	return run(comm, member, sendbuf, &send, &recv);
}

int MPI_Alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
		  const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
{
	bool is_in_place = sendbuf == MPI_IN_PLACE;
	struct side send = {
		.buffer = (char *)sendbuf, .counts = sendcounts, .displacements = sdispls, .type = sendtype};
	struct side recv = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .type = recvtype};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !recvcounts || !rdispls || !is_sane(0, recvtype) ||
	    (!is_in_place && (!sendcounts || !sdispls || !is_sane(0, sendtype))))
		return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
				      comm);
	member = follower(comm, NULL, &err);
	if (err)
		return report(comm, err);
	if (!member)
		return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
				      comm);
	recv.unit = extent_of(recvtype);
	send.unit = is_in_place ? 0 : extent_of(sendtype);
	return run(comm, member, sendbuf, &send, &recv);
}

int MPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes,
		  void *recvbuf, const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes,
		  MPI_Comm comm)
{
	bool is_in_place = sendbuf == MPI_IN_PLACE;
	struct side send = {.buffer = (char *)sendbuf,
			    .counts = sendcounts,
			    .displacements = sdispls,
			    .types = sendtypes,
			    .unit = 1};
	struct side recv = {
		.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .types = recvtypes, .unit = 1};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !recvcounts || !rdispls || !recvtypes ||
	    (!is_in_place && (!sendcounts || !sdispls || !sendtypes)))
		return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
				      comm);
	member = follower(comm, NULL, &err);
	if (err)
		return report(comm, err);
	if (!member)
		return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
				      comm);
	return run(comm, member, sendbuf, &send, &recv);
}

int MPI_Finalize(void)
{
	int rank = 0;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		forsched_mpi_say(true, "%llu calls along the schedule, %llu left to MPI, %llu epochs",
				 (unsigned long long)followed, (unsigned long long)left,
				 (unsigned long long)forsched_mpi_epochs());
	return PMPI_Finalize();
}
