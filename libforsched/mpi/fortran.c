/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a Fortran program calls. Open MPI's own call the C functions by their PMPI_ names, past every
 * preloaded library; so here they are again, calling the C functions by the names that this library answers. They take
 * addresses of everything: numbers, and handles as numbers. A compiler adds an underscore to a name, two, or none; those of
 * the module mpi_f08 have a name of their own, and the same arguments, of which the last may be missing.
 *
 * MPI_IN_PLACE and MPI_BOTTOM are variables in Fortran, known by where they lie. A program without Fortran has none.
 *
 * Other MPIs call the C functions by their usual names: there is nothing to do.
 */
#include "config.h"

#include "follow.h"

#include <stdlib.h>

#ifdef OPEN_MPI

/* A Fortran function under all of its names. `NAME` is `name` in capitals. */
#define PUBLIC __attribute__((visibility("default")))
#define ALSO(name) __attribute__((visibility("default"), alias(#name "_")))
#define FORTRAN(name, NAME, ...)                                                                                       \
	PUBLIC void name##_(__VA_ARGS__);                                                                              \
	ALSO(name) void name(__VA_ARGS__);                                                                             \
	ALSO(name) void name##__(__VA_ARGS__);                                                                         \
	ALSO(name) void NAME(__VA_ARGS__);                                                                             \
	ALSO(name) void name##_f08_(__VA_ARGS__);                                                                      \
	void name##_(__VA_ARGS__)

/* ---- what only Fortran has ---- */

#define MARK(name) extern int name __attribute__((weak))
MARK(mpi_fortran_in_place);
MARK(mpi_fortran_in_place_);
MARK(mpi_fortran_in_place__);
MARK(MPI_FORTRAN_IN_PLACE);
MARK(mpi_fortran_bottom);
MARK(mpi_fortran_bottom_);
MARK(mpi_fortran_bottom__);
MARK(MPI_FORTRAN_BOTTOM);

static bool is_one_of(const void *buffer, const int *const marks[4])
{
	for (int i = 0; i < 4; i++)
		if (marks[i] && buffer == (const void *)marks[i])
			return true;
	return false;
}

/* A buffer as C has it. */
static void *buffer_of(void *buffer)
{
	const int *const in_place[4] = {&mpi_fortran_in_place, &mpi_fortran_in_place_, &mpi_fortran_in_place__,
					&MPI_FORTRAN_IN_PLACE};
	const int *const bottom[4] = {&mpi_fortran_bottom, &mpi_fortran_bottom_, &mpi_fortran_bottom__,
				      &MPI_FORTRAN_BOTTOM};

	return is_one_of(buffer, in_place) ? MPI_IN_PLACE : is_one_of(buffer, bottom) ? MPI_BOTTOM : buffer;
}

static void answer(MPI_Fint *ierror, int err)
{
	if (ierror)
		*ierror = err;
}

/* ---- all-to-all ---- */

FORTRAN(mpi_alltoall, MPI_ALLTOALL, void *out, MPI_Fint *nout, MPI_Fint *tout, void *in, MPI_Fint *nin, MPI_Fint *tin,
	MPI_Fint *comm, MPI_Fint *ierror)
{
	answer(ierror, MPI_Alltoall(buffer_of(out), *nout, PMPI_Type_f2c(*tout), buffer_of(in), *nin,
				    PMPI_Type_f2c(*tin), PMPI_Comm_f2c(*comm)));
}

FORTRAN(mpi_alltoallv, MPI_ALLTOALLV, void *out, MPI_Fint *nout, MPI_Fint *dout, MPI_Fint *tout, void *in,
	MPI_Fint *nin, MPI_Fint *din, MPI_Fint *tin, MPI_Fint *comm, MPI_Fint *ierror)
{
	answer(ierror, MPI_Alltoallv(buffer_of(out), nout, dout, PMPI_Type_f2c(*tout), buffer_of(in), nin, din,
				     PMPI_Type_f2c(*tin), PMPI_Comm_f2c(*comm)));
}

/* So many types as C has them; NULL: no memory. */
static MPI_Datatype *types_of(const MPI_Fint *types, int n)
{
	MPI_Datatype *made = calloc((size_t)n + 1, sizeof(*made));

	for (int i = 0; made && i < n; i++)
		made[i] = PMPI_Type_f2c(types[i]);
	return made;
}

/* With how many ranks a rank exchanges. */
static int peers_of(MPI_Comm comm)
{
	int is_inter = 0, size = 0;

	if (comm == MPI_COMM_NULL)
		return 0;
	PMPI_Comm_test_inter(comm, &is_inter);
	(is_inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size);
	return size;
}

FORTRAN(mpi_alltoallw, MPI_ALLTOALLW, void *out, MPI_Fint *nout, MPI_Fint *dout, MPI_Fint *tout, void *in,
	MPI_Fint *nin, MPI_Fint *din, MPI_Fint *tin, MPI_Fint *comm, MPI_Fint *ierror)
{
	MPI_Comm where = PMPI_Comm_f2c(*comm);
	void *from = buffer_of(out);
	int n = peers_of(where);
	MPI_Datatype *sent = types_of(tout, from == MPI_IN_PLACE ? 0 : n), *received = types_of(tin, n);

	if (sent && received) {
		answer(ierror, MPI_Alltoallw(from, nout, dout, sent, buffer_of(in), nin, din, received, where));
	} else {
		PMPI_Comm_call_errhandler(where, MPI_ERR_NO_MEM);
		answer(ierror, MPI_ERR_NO_MEM);
	}
	free(sent);
	free(received);
}

/* ---- begin and end ---- */

FORTRAN(mpi_init, MPI_INIT, MPI_Fint *ierror)
{
	answer(ierror, MPI_Init(NULL, NULL));
}

FORTRAN(mpi_init_thread, MPI_INIT_THREAD, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
	answer(ierror, MPI_Init_thread(NULL, NULL, *required, provided));
}

FORTRAN(mpi_finalize, MPI_FINALIZE, MPI_Fint *ierror)
{
	answer(ierror, MPI_Finalize());
}

#endif
