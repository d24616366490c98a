# The program behind `fors watch`: it asks the fabric, over libibumad. All but main() as a library, for tests.
# Its package needs no plugin, so it has a program of its own for publish_dir.
watchexecdir = $(pkglibexecdir)/watch
watchexec_PROGRAMS =
if HAVE_WATCH
noinst_LTLIBRARIES += libforswatch.la
pkglibexec_PROGRAMS += fors-watch
watchexec_PROGRAMS += watch/fors-outbox
endif
watch_fors_outbox_SOURCES = $(fors_outbox_SOURCES)
watch_fors_outbox_CFLAGS = $(AM_CFLAGS) -pthread
watch_fors_outbox_LDFLAGS = $(AM_LDFLAGS) -pthread
watch_fors_outbox_LDADD = libforsdaemon.la libforscore.la $(ZLIB_LIBS) $(DL_LIBS)
libforswatch_la_SOURCES = \
	watch/bytes.h \
	watch/mads.c \
	watch/mads.h \
	watch/mads_inside.h \
	watch/mads_port.c \
	watch/mkey.c \
	watch/mkey.h \
	watch/notify.c \
	watch/notify.h \
	watch/once.c \
	watch/once.h \
	watch/paths.c \
	watch/paths.h \
	watch/reading.c \
	watch/reading.h \
	watch/service.c \
	watch/service.h \
	watch/service_inside.h \
	watch/service_look.c \
	watch/service_read.c \
	watch/service_reports.c \
	watch/sm.c \
	watch/sm.h \
	watch/survey.c \
	watch/survey.h \
	watch/survey_again.c \
	watch/survey_inside.h \
	watch/survey_net.c \
	watch/survey_tables.c \
	watch/used.c \
	watch/used.h \
	watch/wire.h
libforswatch_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -pthread
libforswatch_la_LIBTOOLFLAGS = --tag=disable-shared
fors_watch_SOURCES = watch/main.c
fors_watch_CFLAGS = $(AM_CFLAGS) -pthread
fors_watch_LDFLAGS = $(AM_LDFLAGS) -pthread
fors_watch_LDADD = libforswatch.la libforsdaemon.la libforscore.la $(UMAD_LIBS) $(ZLIB_LIBS) $(DL_LIBS)
EXTRA_DIST += watch/README.md
