# libforsched-mpi.so, to be preloaded: an MPI program's all-to-all calls run along the schedule.
if HAVE_MPI
lib_LTLIBRARIES += libforsched-mpi.la
endif
libforsched_mpi_la_SOURCES = \
	libforsched/mpi/alltoall.c \
	libforsched/mpi/chunks.c \
	libforsched/mpi/decision.c \
	libforsched/mpi/decision.h \
	libforsched/mpi/exchange.c \
	libforsched/mpi/follow.h \
	libforsched/mpi/fortran.c \
	libforsched/mpi/init.c \
	libforsched/mpi/member.c \
	libforsched/mpi/other.c \
	libforsched/mpi/pack.c \
	libforsched/mpi/pack.h \
	libforsched/mpi/packed.c \
	libforsched/mpi/places.c \
	libforsched/mpi/places.h \
	libforsched/mpi/root.c \
	libforsched/mpi/settings.c \
	libforsched/mpi/sizes.c \
	libforsched/mpi/subset.c \
	libforsched/mpi/subset.h \
	libforsched/mpi/take_up.c
libforsched_mpi_la_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) -pthread
libforsched_mpi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -pthread \
	-Wl,--version-script=$(srcdir)/libforsched/mpi/libforsched-mpi.map
libforsched_mpi_la_LIBADD = libforsched.la $(MPI_LIBS)
EXTRA_libforsched_mpi_la_DEPENDENCIES = libforsched/mpi/libforsched-mpi.map
EXTRA_DIST += libforsched/mpi/libforsched-mpi.map
