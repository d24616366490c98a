# libfors.so, which OpenSM loads by its bare name ("event_plugin_name fors").
# Only engine*.c, entry.c, log.c and snapshot.c see OpenSM's headers.
if BUILD_PLUGIN
lib_LTLIBRARIES += libfors.la
endif
libfors_la_SOURCES = \
	plugin/absent.c plugin/absent.h \
	plugin/advisor.c plugin/advisor.h \
	plugin/aside.c plugin/aside.h \
	plugin/board.c plugin/board.h plugin/board_inside.h \
	plugin/board_draft.c \
	plugin/board_left.c \
	plugin/child.c plugin/child.h \
	plugin/clock.c plugin/clock.h \
	plugin/conf.c plugin/conf.h \
	plugin/digest.c plugin/digest.h \
	plugin/drain.c plugin/drain.h \
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
	plugin/epoch.c plugin/epoch.h \
	plugin/errors.h \
	plugin/helper.c plugin/helper.h plugin/helper_wire.h \
	plugin/helper_spawn.c \
	plugin/input.c plugin/input.h \
	plugin/job.c plugin/job.h \
	plugin/job_pods.c plugin/job_pods.h \
	plugin/jobs.c plugin/jobs.h \
	plugin/jobs_file.c plugin/jobs_file.h \
	plugin/kept.c plugin/kept.h \
	plugin/leash.c plugin/leash.h \
	plugin/levels.c plugin/levels.h \
	plugin/loader.c plugin/loader.h \
	plugin/log.c plugin/log.h \
	plugin/opensm.h \
	plugin/outbox.c plugin/outbox.h \
	plugin/outbox_jobs.c plugin/outbox_jobs.h \
	plugin/publish.c plugin/publish.h plugin/publish_inside.h \
	plugin/publish_ahead.c \
	plugin/rehome.c plugin/rehome.h \
	plugin/runner.c plugin/runner.h \
	plugin/settings.c plugin/settings.h \
	plugin/snapshot.c plugin/snapshot.h \
	plugin/steps.c plugin/steps.h \
	plugin/thread.c plugin/thread.h \
	plugin/trust.c plugin/trust.h \
	plugin/claim.c plugin/claim.h \
	plugin/worker.c plugin/worker.h plugin/worker_inside.h \
	plugin/worker_duties.c \
	plugin/worker_early.c \
	plugin/worker_entries.c \
	plugin/worker_failover.c \
	plugin/worker_job.c \
	plugin/worker_jobplan.c \
	plugin/worker_jobs.c plugin/worker_jobs.h \
	plugin/worker_names.c plugin/worker_names.h \
	plugin/worker_over.c \
	plugin/worker_plan.c \
	plugin/worker_publish.c \
	plugin/worker_repairs.c
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
	plugin/clock.c plugin/clock.h \
	plugin/helper_main.c \
	plugin/helper_serve.c plugin/helper_serve.h plugin/helper_wire.h \
	plugin/leash.c plugin/leash.h \
	plugin/publish.c plugin/publish.h plugin/publish_inside.h \
	plugin/thread.c plugin/thread.h \
	plugin/trust.c plugin/trust.h
fors_outbox_CFLAGS = $(AM_CFLAGS) -pthread
fors_outbox_LDFLAGS = $(AM_LDFLAGS) -pthread
fors_outbox_LDADD = libforscore.la $(ZLIB_LIBS)
EXTRA_libfors_la_DEPENDENCIES = plugin/libfors.map
EXTRA_DIST += plugin/README.md plugin/libfors.map
