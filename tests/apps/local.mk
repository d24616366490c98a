# Applications: the examples, and programs under libforsched-mpi with the MPI that is there (pytest).
apps_log = tests/apps/run.log
if HAVE_MPI
mpi_test_programs = tests/apps/asked_calls tests/apps/communicators tests/apps/path_index tests/apps/random_calls tests/apps/short_calls tests/apps/unequal_calls
check_PROGRAMS += $(mpi_test_programs)
endif
$(apps_log): $(mpi_test_programs) $(example_programs)
tests_apps_asked_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_apps_asked_calls_LDADD = $(MPI_LIBS)
tests_apps_communicators_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_apps_communicators_LDADD = libforsched.la $(MPI_LIBS)
tests_apps_path_index_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_apps_path_index_LDADD = $(MPI_LIBS)
tests_apps_random_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_apps_random_calls_LDADD = $(MPI_LIBS)
tests_apps_short_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) -fno-builtin
tests_apps_short_calls_LDADD = $(MPI_LIBS)
tests_apps_unequal_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_apps_unequal_calls_LDADD = $(MPI_LIBS)
TESTS += tests/apps/run
EXTRA_DIST += tests/apps/run tests/apps/fortran_calls.F90 tests/apps/other_mpi.c $(wildcard $(srcdir)/tests/apps/*.py)
# The whole thousand of random calls on 36 ranks too, with and without barriers. What it takes is processors: each barrier
# needs all ranks to have had their turn.
.PHONY: check-mpi
check-mpi: all $(mpi_test_programs)
	@echo "1000 random calls on 16 to 72 ranks, with and without barriers: an hour on two busy processors"
	FORS_LONG_TESTS=1 srcdir=$(srcdir) $(srcdir)/tests/apps/run -v --durations=4 -k random_calls
