/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All-to-all calls that do not wait: they are always left to MPI. Phases need all ranks to be there, and somebody who
 * begins the next one; a call that returns at once has nobody. They are counted, and said once each, so that a
 * person who wonders why a program is not quicker sees it.
 */
#include "config.h"

#include "follow.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

static const char *const name[NLATERS] = {"MPI_Ialltoall",	"MPI_Ialltoallv",      "MPI_Ialltoallw",
					  "MPIX_Alltoall_init", "MPIX_Alltoallv_init", "MPIX_Alltoallw_init"};

void forsched_mpi_leave_later(enum later which, MPI_Comm comm)
{
	static bool is_said[NLATERS];
	int rank = 1;

	forsched_mpi_count_left(LEFT_LATER);
	if (__atomic_exchange_n(&is_said[which], true, __ATOMIC_RELAXED))
		return;
	if (comm != MPI_COMM_NULL)
		PMPI_Comm_rank(comm, &rank);
	if (rank == 0)
		forsched_mpi_say(true, "%s: left to MPI, as all calls that do not wait", name[which]);
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
		  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	forsched_mpi_leave_later(IALLTOALL, comm);
	return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Ialltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
		   const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
		   MPI_Request *request)
{
	forsched_mpi_leave_later(IALLTOALLV, comm);
	return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
			       request);
}

int MPI_Ialltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes,
		   void *recvbuf, const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes,
		   MPI_Comm comm, MPI_Request *request)
{
	forsched_mpi_leave_later(IALLTOALLW, comm);
	return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
			       request);
}

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
int MPIX_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
		       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	forsched_mpi_leave_later(ALLTOALL_INIT, comm);
	return PMPIX_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}

int MPIX_Alltoallv_init(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype,
			void *recvbuf, const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
			MPI_Info info, MPI_Request *request)
{
	forsched_mpi_leave_later(ALLTOALLV_INIT, comm);
	return PMPIX_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
				    comm, info, request);
}

int MPIX_Alltoallw_init(const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes,
			void *recvbuf, const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes,
			MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	forsched_mpi_leave_later(ALLTOALLW_INIT, comm);
	return PMPIX_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
				    comm, info, request);
}
#endif
