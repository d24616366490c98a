# libfors.so, which OpenSM loads by its bare name ("event_plugin_name fors").
# Only engine*.c, entry.c, log.c and snapshot.c see OpenSM's headers.
if BUILD_PLUGIN
lib_LTLIBRARIES += libfors.la
endif
libfors_la_SOURCES = \
	keeper/look/absent.c keeper/look/absent.h \
	keeper/worker/advisor.c keeper/worker/advisor.h \
	keeper/base/background.c keeper/base/background.h \
	keeper/board/board.c keeper/board/board.h keeper/board/board_inside.h \
	keeper/board/board_draft.c \
	keeper/board/board_left.c \
	keeper/files/child.c keeper/files/child.h \
	keeper/base/clock.c keeper/base/clock.h \
	keeper/base/conf.c keeper/base/conf.h \
	keeper/base/digest.c keeper/base/digest.h \
	keeper/look/drain.c keeper/look/drain.h \
	plugin/engine.c plugin/engine.h plugin/engine_inside.h \
	plugin/engine_check.c \
	plugin/engine_early.c \
	plugin/engine_entries.c \
	plugin/engine_observe.c \
	plugin/engine_over.c \
	plugin/engine_pods.c \
	plugin/engine_rehome.c \
	plugin/engine_reload.c \
	plugin/engine_route.c \
	plugin/engine_understand.c \
	plugin/entry.c \
	keeper/files/epoch.c keeper/files/epoch.h \
	keeper/base/errors.h \
	keeper/files/helper.c keeper/files/helper.h keeper/files/helper_wire.h \
	keeper/files/helper_spawn.c \
	keeper/files/input.c keeper/files/input.h \
	keeper/look/look.c keeper/look/look.h \
	keeper/look/look_pods.c keeper/look/look_pods.h \
	keeper/board/jobboard.c keeper/board/jobboard.h \
	keeper/settings/jobs_file.c keeper/settings/jobs_file.h \
	keeper/look/kept.c keeper/look/kept.h \
	keeper/base/io_thread.c keeper/base/io_thread.h \
	keeper/look/levels.c keeper/look/levels.h \
	keeper/settings/loader.c keeper/settings/loader.h \
	plugin/log.c plugin/log.h \
	plugin/opensm.h \
	keeper/files/outbox.c keeper/files/outbox.h \
	keeper/files/outbox_jobs.c keeper/files/outbox_jobs.h \
	keeper/files/publish.c keeper/files/publish.h keeper/files/publish_inside.h \
	keeper/files/publish_ahead.c \
	keeper/look/rehome.c keeper/look/rehome.h \
	keeper/files/runner.c keeper/files/runner.h \
	keeper/settings/settings.c keeper/settings/settings.h \
	plugin/snapshot.c plugin/snapshot.h \
	keeper/worker/steps.c keeper/worker/steps.h \
	keeper/base/thread.c keeper/base/thread.h \
	keeper/files/trust.c keeper/files/trust.h \
	keeper/look/claim.c keeper/look/claim.h \
	keeper/worker/worker.c keeper/worker/worker.h keeper/worker/worker_inside.h \
	keeper/worker/worker_duties.c \
	keeper/worker/worker_early.c \
	keeper/worker/worker_entries.c \
	keeper/worker/worker_failover.c \
	keeper/worker/worker_look.c \
	keeper/worker/worker_jobplan.c \
	keeper/worker/worker_jobs.c keeper/worker/worker_jobs.h \
	keeper/worker/worker_names.c keeper/worker/worker_names.h \
	keeper/worker/worker_over.c \
	keeper/worker/worker_plan.c \
	keeper/worker/worker_publish.c \
	keeper/worker/worker_repairs.c
libfors_la_CFLAGS = $(AM_CFLAGS) $(OPENSM_CFLAGS) -pthread
# -z nodelete: a thread that hangs where a program is started from may outlive the plugin (outbox.c, runner.c).
# -z now: a symbol that this opensm does not have makes it refuse the plugin, instead of ending it during a sweep.
libfors_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -pthread -Wl,-z,now -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/plugin/libfors.map
libfors_la_LIBADD = libforscore.la $(ZLIB_LIBS) $(DL_LIBS)
libfors_la_CPPFLAGS = $(AM_CPPFLAGS) $(helper_cppflags)
helper_cppflags = -DFORS_HELPER='"$(pkglibexecdir)/fors-outbox"' -DFORS_LIBDIR='"$(libdir)"'

# What works in publish_dir for it, and may hang there.
if BUILD_PLUGIN
pkglibexec_PROGRAMS = fors-outbox
endif
fors_outbox_SOURCES = \
	keeper/base/clock.c keeper/base/clock.h \
	keeper/files/helper_main.c \
	keeper/files/helper_serve.c keeper/files/helper_serve.h keeper/files/helper_wire.h \
	keeper/base/io_thread.c keeper/base/io_thread.h \
	keeper/files/publish.c keeper/files/publish.h keeper/files/publish_inside.h \
	keeper/base/thread.c keeper/base/thread.h \
	keeper/files/trust.c keeper/files/trust.h
fors_outbox_CFLAGS = $(AM_CFLAGS) -pthread
fors_outbox_LDFLAGS = $(AM_LDFLAGS) -pthread
fors_outbox_LDADD = libforscore.la $(ZLIB_LIBS)
EXTRA_libfors_la_DEPENDENCIES = plugin/libfors.map
EXTRA_DIST += plugin/README.md plugin/libfors.map
