# What looks at a fabric and keeps files true, without a word of OpenSM: libforsdaemon, which every source of looks links.
noinst_LTLIBRARIES += libforsdaemon.la
libforsdaemon_la_SOURCES = \
	daemon/base/background.c \
	daemon/base/background.h \
	daemon/base/clock.c \
	daemon/base/clock.h \
	daemon/base/conf.c \
	daemon/base/conf.h \
	daemon/base/digest.c \
	daemon/base/digest.h \
	daemon/base/errors.h \
	daemon/base/io_thread.c \
	daemon/base/io_thread.h \
	daemon/base/log.c \
	daemon/base/log.h \
	daemon/base/thread.c \
	daemon/base/thread.h \
	daemon/daemon.c \
	daemon/daemon.h \
	daemon/daemon_check.c \
	daemon/daemon_entries.c \
	daemon/daemon_inside.h \
	daemon/daemon_leave.c \
	daemon/daemon_look.c \
	daemon/daemon_rehome.c \
	daemon/daemon_reload.c \
	daemon/daemon_shadow.c \
	daemon/daemon_understand.c \
	daemon/files/child.c \
	daemon/files/child.h \
	daemon/files/command.h \
	daemon/files/copier.c \
	daemon/files/copier.h \
	daemon/files/copier_program.c \
	daemon/files/copier_wire.h \
	daemon/files/copies.h \
	daemon/files/epoch.c \
	daemon/files/epoch.h \
	daemon/files/holder.h \
	daemon/files/input.c \
	daemon/files/input.h \
	daemon/files/publish.c \
	daemon/files/publish.h \
	daemon/files/publish_inside.h \
	daemon/files/publish_spare.c \
	daemon/files/trust.c \
	daemon/files/trust.h \
	daemon/look/absent.c \
	daemon/look/absent.h \
	daemon/look/claim.c \
	daemon/look/claim.h \
	daemon/look/drain.c \
	daemon/look/drain.h \
	daemon/look/kept.c \
	daemon/look/kept.h \
	daemon/look/levels.c \
	daemon/look/levels.h \
	daemon/look/look.c \
	daemon/look/look.h \
	daemon/look/rehome.c \
	daemon/look/rehome.h \
	daemon/publisher/jobpublisher.c \
	daemon/publisher/jobpublisher.h \
	daemon/publisher/publisher.c \
	daemon/publisher/publisher.h \
	daemon/publisher/publisher_inside.h \
	daemon/publisher/publisher_left.c \
	daemon/settings/jobs_file.c \
	daemon/settings/jobs_file.h \
	daemon/settings/loader.c \
	daemon/settings/loader.h \
	daemon/settings/settings.c \
	daemon/settings/settings.h \
	daemon/shadow/shadow.c \
	daemon/shadow/shadow.h \
	daemon/shadow/shadow_files.c \
	daemon/shadow/shadow_find.c \
	daemon/shadow/shadow_inside.h \
	daemon/worker/advisor.c \
	daemon/worker/advisor.h \
	daemon/worker/steps.c \
	daemon/worker/steps.h \
	daemon/worker/worker.c \
	daemon/worker/worker.h \
	daemon/worker/worker_blind.c \
	daemon/worker/worker_demand.c \
	daemon/worker/worker_demand.h \
	daemon/worker/worker_demand_one.c \
	daemon/worker/worker_duties.c \
	daemon/worker/worker_early.c \
	daemon/worker/worker_entries.c \
	daemon/worker/worker_failover.c \
	daemon/worker/worker_inside.h \
	daemon/worker/worker_jobdemand.c \
	daemon/worker/worker_jobdemand.h \
	daemon/worker/worker_jobplan.c \
	daemon/worker/worker_jobs.c \
	daemon/worker/worker_jobs.h \
	daemon/worker/worker_left.c \
	daemon/worker/worker_look.c \
	daemon/worker/worker_mail.c \
	daemon/worker/worker_mail.h \
	daemon/worker/worker_names.c \
	daemon/worker/worker_names.h \
	daemon/worker/worker_over.c \
	daemon/worker/worker_plan.c \
	daemon/worker/worker_publish.c \
	daemon/worker/worker_repairs.c
libforsdaemon_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) -pthread
libforsdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(helper_cppflags)
helper_cppflags = -DFORS_HELPER='"$(pkglibexecdir)/fors-outbox"' -DFORS_LIBDIR='"$(libdir)"'

# What works in publish_dir for it, and may hang there.
if BUILD_PLUGIN
pkglibexec_PROGRAMS += fors-outbox
else
check_PROGRAMS += fors-outbox
endif
fors_outbox_SOURCES = \
	daemon/files/command.c \
	daemon/files/copier_main.c \
	daemon/files/copies.c \
	daemon/files/copies_jobs.c \
	daemon/files/holder.c
fors_outbox_CFLAGS = $(AM_CFLAGS) -pthread
fors_outbox_LDFLAGS = $(AM_LDFLAGS) -pthread
fors_outbox_LDADD = libforsdaemon.la libforscore.la $(ZLIB_LIBS) $(DL_LIBS)
