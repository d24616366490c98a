# Examples of applications: built in `make check` where their libraries are, run by tests/apps, installed as documentation.
examples_flags = $(AM_CPPFLAGS) -I$(top_srcdir)/libforsched
example_programs =
if HAVE_MPI
example_programs += examples/event_builder examples/mpi_exchange examples/several examples/transpose
endif
examples_event_builder_CPPFLAGS = $(examples_flags)
examples_event_builder_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
examples_event_builder_LDADD = libforsched.la $(MPI_LIBS)
examples_mpi_exchange_CPPFLAGS = $(examples_flags)
examples_mpi_exchange_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
examples_mpi_exchange_LDADD = libforsched.la $(MPI_LIBS)
examples_several_CPPFLAGS = $(examples_flags)
examples_several_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
examples_several_LDADD = libforsched.la $(MPI_LIBS)
examples_transpose_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
examples_transpose_LDADD = $(MPI_LIBS)
if HAVE_IBVERBS
example_programs += examples/verbs
endif
examples_verbs_CPPFLAGS = $(examples_flags)
examples_verbs_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
examples_verbs_LDADD = libforsched.la $(IBVERBS_LIBS)
if HAVE_RDMACM
example_programs += examples/rdma_cm
endif
examples_rdma_cm_CPPFLAGS = $(examples_flags)
examples_rdma_cm_CFLAGS = $(AM_CFLAGS) $(RDMACM_CFLAGS)
examples_rdma_cm_LDADD = libforsched.la $(RDMACM_LIBS)
if HAVE_UCT
example_programs += examples/uct
endif
examples_uct_CPPFLAGS = $(examples_flags)
examples_uct_CFLAGS = $(AM_CFLAGS) $(UCT_CFLAGS)
examples_uct_LDADD = libforsched.la $(UCT_LIBS)
check_PROGRAMS += $(example_programs)
applicationsdir = $(docdir)/examples
dist_applications_DATA = examples/event_builder.c examples/event_builder.py examples/exchange.py examples/mpi_exchange.c examples/rdma_cm.c examples/several.c examples/transpose.c examples/transpose.f90 examples/uct.c examples/verbs.c

# Commands that bring schedules to hosts, for administrators to copy.
publishdir = $(docdir)/examples/publish
dist_publish_DATA = examples/publish/README.md examples/publish/common
dist_publish_SCRIPTS = examples/publish/by-clush examples/publish/by-pdsh examples/publish/by-rsync examples/publish/by-sbcast examples/publish/to-shared-folder
