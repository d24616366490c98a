# testbed: the exchange with real packets; `testbed/run` builds what it needs.
noinst_PROGRAMS = testbed/exchange
testbed_exchange_SOURCES = testbed/exchange.c testbed/mesh.c testbed/mesh.h testbed/plan.c testbed/plan.h \
	testbed/schedule.c testbed/schedule.h testbed/together.c testbed/together.h testbed/waiting.c testbed/waiting.h
testbed_exchange_CFLAGS = $(AM_CFLAGS) -pthread
testbed_exchange_LDADD = libforsched.la -lm
testbed_exchange_LDFLAGS = $(AM_LDFLAGS) -pthread -no-install
if HAVE_MPI
noinst_PROGRAMS += testbed/alltoallv testbed/many_calls
noinst_LTLIBRARIES += testbed/idle.la
endif
testbed_idle_la_SOURCES = testbed/idle.c
testbed_idle_la_LDFLAGS = -module -avoid-version -shared -rpath $(abs_builddir) # a path makes libtool link a module
testbed_alltoallv_SOURCES = testbed/alltoallv.c testbed/draws.h testbed/messages.c testbed/messages.h
testbed_alltoallv_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
testbed_alltoallv_LDADD = $(MPI_LIBS) -lm
testbed_many_calls_SOURCES = testbed/many_calls.c testbed/draws.h testbed/messages.c testbed/messages.h
testbed_many_calls_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
testbed_many_calls_LDADD = $(MPI_LIBS) -lm
EXTRA_DIST += testbed/run testbed/drawings.py testbed/events.py testbed/first_calls.py testbed/many_calls.py testbed/namespaces.py testbed/osu.py testbed/queue_pair.py testbed/ranks.py testbed/reorder.py testbed/stage.py testbed/testbed.py testbed/unequal.py testbed/waiting.py
