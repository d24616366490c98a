# Examples of applications: built in `make check` where their libraries are, run by tests/apps, installed as documentation.
examples_flags = $(AM_CPPFLAGS) -I$(top_srcdir)/libforsched
example_programs =
if HAVE_MPI
example_programs += libforsched/examples/event_builder libforsched/examples/mpi_exchange libforsched/examples/several libforsched/examples/transpose
endif
libforsched_examples_event_builder_CPPFLAGS = $(examples_flags)
libforsched_examples_event_builder_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
libforsched_examples_event_builder_LDADD = libforsched.la $(MPI_LIBS)
libforsched_examples_mpi_exchange_CPPFLAGS = $(examples_flags)
libforsched_examples_mpi_exchange_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
libforsched_examples_mpi_exchange_LDADD = libforsched.la $(MPI_LIBS)
libforsched_examples_several_CPPFLAGS = $(examples_flags)
libforsched_examples_several_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
libforsched_examples_several_LDADD = libforsched.la $(MPI_LIBS)
libforsched_examples_transpose_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
libforsched_examples_transpose_LDADD = $(MPI_LIBS)
if HAVE_IBVERBS
example_programs += libforsched/examples/verbs
endif
libforsched_examples_verbs_CPPFLAGS = $(examples_flags)
libforsched_examples_verbs_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
libforsched_examples_verbs_LDADD = libforsched.la $(IBVERBS_LIBS)
if HAVE_RDMACM
example_programs += libforsched/examples/rdma_cm
endif
libforsched_examples_rdma_cm_CPPFLAGS = $(examples_flags)
libforsched_examples_rdma_cm_CFLAGS = $(AM_CFLAGS) $(RDMACM_CFLAGS)
libforsched_examples_rdma_cm_LDADD = libforsched.la $(RDMACM_LIBS)
if HAVE_UCT
example_programs += libforsched/examples/uct
endif
libforsched_examples_uct_CPPFLAGS = $(examples_flags)
libforsched_examples_uct_CFLAGS = $(AM_CFLAGS) $(UCT_CFLAGS)
libforsched_examples_uct_LDADD = libforsched.la $(UCT_LIBS)
check_PROGRAMS += $(example_programs)
applicationsdir = $(docdir)/examples
dist_applications_DATA = libforsched/examples/event_builder.c libforsched/examples/event_builder.py libforsched/examples/exchange.py libforsched/examples/mpi_exchange.c libforsched/examples/rdma_cm.c libforsched/examples/several.c libforsched/examples/transpose.c libforsched/examples/transpose.f90 libforsched/examples/uct.c libforsched/examples/verbs.c

# Commands that bring schedules to hosts, for administrators to copy.
publishdir = $(docdir)/examples/publish
dist_publish_DATA = libforsched/examples/publish/README.md libforsched/examples/publish/common
dist_publish_SCRIPTS = libforsched/examples/publish/by-clush libforsched/examples/publish/by-pdsh libforsched/examples/publish/by-rsync libforsched/examples/publish/by-sbcast libforsched/examples/publish/to-shared-folder
