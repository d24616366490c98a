# testbed: the exchange with real packets; `lab/testbed/run` builds what it needs.
noinst_PROGRAMS = lab/testbed/exchange
lab_testbed_exchange_SOURCES = lab/testbed/exchange.c lab/testbed/mesh.c lab/testbed/mesh.h lab/testbed/plan.c lab/testbed/plan.h \
	lab/testbed/schedule.c lab/testbed/schedule.h lab/testbed/together.c lab/testbed/together.h lab/testbed/waiting.c lab/testbed/waiting.h
lab_testbed_exchange_CFLAGS = $(AM_CFLAGS) -pthread
lab_testbed_exchange_LDADD = libforsched.la -lm
lab_testbed_exchange_LDFLAGS = $(AM_LDFLAGS) -pthread -no-install
if HAVE_MPI
noinst_PROGRAMS += lab/testbed/alltoallv lab/testbed/many_calls
noinst_LTLIBRARIES += lab/testbed/idle.la
endif
lab_testbed_idle_la_SOURCES = lab/testbed/idle.c
lab_testbed_idle_la_LDFLAGS = -module -avoid-version -shared -rpath $(abs_builddir) # a path makes libtool link a module
lab_testbed_alltoallv_SOURCES = lab/testbed/alltoallv.c lab/testbed/draws.h lab/testbed/messages.c lab/testbed/messages.h
lab_testbed_alltoallv_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
lab_testbed_alltoallv_LDADD = $(MPI_LIBS) -lm
lab_testbed_many_calls_SOURCES = lab/testbed/many_calls.c lab/testbed/draws.h lab/testbed/messages.c lab/testbed/messages.h
lab_testbed_many_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
lab_testbed_many_calls_LDADD = $(MPI_LIBS) -lm
EXTRA_DIST += lab/testbed/run lab/testbed/drawings.py lab/testbed/events.py lab/testbed/first_calls.py lab/testbed/many_calls.py lab/testbed/namespaces.py lab/testbed/osu.py lab/testbed/queue_pair.py lab/testbed/ranks.py lab/testbed/reorder.py lab/testbed/stage.py lab/testbed/testbed.py lab/testbed/unequal.py lab/testbed/waiting.py
