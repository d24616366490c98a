/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a program calls, in the place of MPI's. A call is left to MPI when its communicator does not
 * follow a schedule, and when it is so wrong that MPI will refuse it: then MPI does that in its own words.
 */
#include "config.h"

#include "follow.h"

/* What this process has done, for forsched_mpi_counts(). */
static uint64_t followed;
static uint64_t left[NLEFT];

static void count(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static uint64_t all_left(void)
{
	uint64_t sum = 0;

	for (enum left why = 0; why < NLEFT; why++)
		sum += __atomic_load_n(&left[why], __ATOMIC_RELAXED);
	return sum;
}

/* Each reason that there was, at the end of the program. */
static void say_why_left(void)
{
	static const char *const text[NLEFT] = {
		[LEFT_UNSET] = "FORSCHED_SCHEDULE is not set",
		[LEFT_NO_SCHEDULE] = "there was no schedule that the ranks of the communicator could follow",
		[LEFT_NOT_YET] = "the schedule was not taken up yet",
		[LEFT_ALONE] = "the communicator has one rank, or two groups",
		[LEFT_SMALL] = "no message had FORSCHED_MIN_BYTES",
		[LEFT_SHORT] =
			"messages were short beside the waiting of phases, or MPI's own way was measured, or FORSCHED_WAY says so",
		[LEFT_FAILED] = "of an error, which MPI has told"};

	for (enum left why = 0; why < NLEFT; why++)
		if (left[why])
			forsched_mpi_say(true, "%llu left to MPI because %s", (unsigned long long)left[why], text[why]);
}

void forsched_mpi_counts(uint64_t *calls_followed, uint64_t *calls_left, uint64_t *epochs_followed);

/* For tests and curious programs (dlsym): calls that went along a schedule, calls left to MPI, epochs followed. */
__attribute__((visibility("default"))) void forsched_mpi_counts(uint64_t *calls_followed, uint64_t *calls_left,
								uint64_t *epochs_followed)
{
	*calls_followed = __atomic_load_n(&followed, __ATOMIC_RELAXED);
	*calls_left = all_left();
	*epochs_followed = forsched_mpi_epochs();
}

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint lower = 0, extent = 0;

	PMPI_Type_get_extent(type, &lower, &extent);
	return extent;
}

/* Report an error where the program wants it. */
static int report(MPI_Comm comm, int err)
{
	if (err)
		PMPI_Comm_call_errhandler(comm, err);
	return err;
}

/*
 * Is the call left to MPI? Else it is done, and *err is how it ended. Left to MPI or not, its time is taken by
 * finish(), which wants *member.
 */
static bool is_left(MPI_Comm comm, const struct call *call, struct member **member, int *err)
{
	struct order order;

	*err = forsched_mpi_enter(comm, call, member, &order);
	if (!*err && order.way == WAY_MPI) {
		count(&left[order.why]);
		return true;
	}
	count(*err ? &left[LEFT_FAILED] : &followed);
	if (!*err)
		*err = forsched_mpi_exchange(*member, call, &order);
	*err = report(comm, *err);
	return false;
}

static int finish(struct member *member, int err)
{
	if (member)
		forsched_mpi_leave(member);
	return err;
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
	struct call call = {.send = is_in_place ? NULL : &send, .recv = &recv, .is_uniform = true};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !is_sane(recvcount, recvtype) || (!is_in_place && !is_sane(sendcount, sendtype)))
		return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	recv.unit = extent_of(recvtype);
	send.unit = is_in_place ? 0 : extent_of(sendtype);
	if (is_left(comm, &call, &member, &err))
		err = PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
	return finish(member, err);
}

int MPI_Alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
		  const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
{
	bool is_in_place = sendbuf == MPI_IN_PLACE;
	struct side send = {
		.buffer = (char *)sendbuf, .counts = sendcounts, .displacements = sdispls, .type = sendtype};
	struct side recv = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .type = recvtype};
	struct call call = {.send = is_in_place ? NULL : &send, .recv = &recv};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !recvcounts || !rdispls || !is_sane(0, recvtype) ||
	    (!is_in_place && (!sendcounts || !sdispls || !is_sane(0, sendtype))))
		return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
				      comm);
	recv.unit = extent_of(recvtype);
	send.unit = is_in_place ? 0 : extent_of(sendtype);
	if (is_left(comm, &call, &member, &err))
		err = PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
				     comm);
	return finish(member, err);
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
	struct call call = {.send = is_in_place ? NULL : &send, .recv = &recv};
	struct member *member;
	int err = MPI_SUCCESS;

	if (comm == MPI_COMM_NULL || !recvcounts || !rdispls || !recvtypes ||
	    (!is_in_place && (!sendcounts || !sdispls || !sendtypes)))
		return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
				      comm);
	if (is_left(comm, &call, &member, &err))
		err = PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
				     comm);
	return finish(member, err);
}

int MPI_Finalize(void)
{
	int rank = 0;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		forsched_mpi_say(true, "%llu calls along the schedule, %llu left to MPI, %llu epochs",
				 (unsigned long long)followed, (unsigned long long)all_left(),
				 (unsigned long long)forsched_mpi_epochs());
		say_why_left();
	}
	return PMPI_Finalize();
}
