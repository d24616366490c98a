# libforsched: what applications read a schedule with. It links none of fors, and of others only zlib.
# Its code is a library of its own, for the command fors, which has a copy.
lib_LTLIBRARIES += libforsched.la
noinst_LTLIBRARIES += libforschedcode.la
include_HEADERS = libforsched/forsched.h
libforschedcode_la_SOURCES = \
	core/schedule/schedule_format.h \
	libforsched/follow.c \
	libforsched/forsched.c \
	libforsched/head.c \
	libforsched/internal.h \
	libforsched/job.c \
	libforsched/pieces.c \
	libforsched/rounds.c \
	libforsched/row.c \
	libforsched/source.c \
	libforsched/units.c \
	libforsched/watch.c \
	libforsched/whoami.c
libforschedcode_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) -pthread
libforsched_la_SOURCES =
libforsched_la_LDFLAGS = $(AM_LDFLAGS) -version-info 7:0:7 -pthread -no-undefined \
	-Wl,--version-script=$(srcdir)/libforsched/libforsched.map
libforsched_la_LIBADD = libforschedcode.la $(ZLIB_LIBS)
EXTRA_libforsched_la_DEPENDENCIES = libforsched/libforsched.map
EXTRA_DIST += libforsched/libforsched.map libforsched/README.md libforsched/mpi/README.md
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libforsched/forsched.pc
