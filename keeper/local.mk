# What looks at a fabric and keeps files true, without a word of OpenSM: libforskeeper, which every giver of looks links.
noinst_LTLIBRARIES += libforskeeper.la
libforskeeper_la_SOURCES = \
	keeper/base/background.c \
	keeper/base/background.h \
	keeper/base/clock.c \
	keeper/base/clock.h \
	keeper/base/conf.c \
	keeper/base/conf.h \
	keeper/base/digest.c \
	keeper/base/digest.h \
	keeper/base/errors.h \
	keeper/base/io_thread.c \
	keeper/base/io_thread.h \
	keeper/base/log.c \
	keeper/base/log.h \
	keeper/base/thread.c \
	keeper/base/thread.h \
	keeper/board/board.c \
	keeper/board/board.h \
	keeper/board/board_draft.c \
	keeper/board/board_inside.h \
	keeper/board/board_left.c \
	keeper/board/jobboard.c \
	keeper/board/jobboard.h \
	keeper/files/child.c \
	keeper/files/child.h \
	keeper/files/epoch.c \
	keeper/files/epoch.h \
	keeper/files/helper.c \
	keeper/files/helper.h \
	keeper/files/helper_serve.h \
	keeper/files/helper_spawn.c \
	keeper/files/helper_wire.h \
	keeper/files/holder.h \
	keeper/files/input.c \
	keeper/files/input.h \
	keeper/files/outbox.c \
	keeper/files/outbox.h \
	keeper/files/outbox_jobs.c \
	keeper/files/outbox_jobs.h \
	keeper/files/publish.c \
	keeper/files/publish.h \
	keeper/files/publish_ahead.c \
	keeper/files/publish_spare.c \
	keeper/files/publish_inside.h \
	keeper/files/runner.c \
	keeper/files/runner.h \
	keeper/files/trust.c \
	keeper/files/trust.h \
	keeper/keeper.c \
	keeper/keeper.h \
	keeper/keeper_check.c \
	keeper/keeper_entries.c \
	keeper/keeper_inside.h \
	keeper/keeper_leave.c \
	keeper/keeper_look.c \
	keeper/keeper_rehome.c \
	keeper/keeper_reload.c \
	keeper/keeper_shadow.c \
	keeper/keeper_understand.c \
	keeper/look/absent.c \
	keeper/look/absent.h \
	keeper/look/claim.c \
	keeper/look/claim.h \
	keeper/look/drain.c \
	keeper/look/drain.h \
	keeper/look/kept.c \
	keeper/look/kept.h \
	keeper/look/levels.c \
	keeper/look/levels.h \
	keeper/look/look.c \
	keeper/look/look.h \
	keeper/look/rehome.c \
	keeper/look/rehome.h \
	keeper/settings/jobs_file.c \
	keeper/settings/jobs_file.h \
	keeper/settings/loader.c \
	keeper/settings/loader.h \
	keeper/settings/settings.c \
	keeper/settings/settings.h \
	keeper/shadow/shadow.c \
	keeper/shadow/shadow.h \
	keeper/shadow/shadow_files.c \
	keeper/shadow/shadow_find.c \
	keeper/shadow/shadow_inside.h \
	keeper/worker/advisor.c \
	keeper/worker/advisor.h \
	keeper/worker/steps.c \
	keeper/worker/steps.h \
	keeper/worker/worker.c \
	keeper/worker/worker.h \
	keeper/worker/worker_blind.c \
	keeper/worker/worker_demand.c \
	keeper/worker/worker_demand.h \
	keeper/worker/worker_demand_one.c \
	keeper/worker/worker_duties.c \
	keeper/worker/worker_early.c \
	keeper/worker/worker_entries.c \
	keeper/worker/worker_failover.c \
	keeper/worker/worker_inside.h \
	keeper/worker/worker_jobdemand.c \
	keeper/worker/worker_jobdemand.h \
	keeper/worker/worker_jobplan.c \
	keeper/worker/worker_jobs.c \
	keeper/worker/worker_jobs.h \
	keeper/worker/worker_left.c \
	keeper/worker/worker_look.c \
	keeper/worker/worker_mail.c \
	keeper/worker/worker_mail.h \
	keeper/worker/worker_names.c \
	keeper/worker/worker_names.h \
	keeper/worker/worker_over.c \
	keeper/worker/worker_plan.c \
	keeper/worker/worker_publish.c \
	keeper/worker/worker_repairs.c
libforskeeper_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) -pthread
libforskeeper_la_CPPFLAGS = $(AM_CPPFLAGS) $(helper_cppflags)
helper_cppflags = -DFORS_HELPER='"$(pkglibexecdir)/fors-outbox"' -DFORS_LIBDIR='"$(libdir)"'

# What works in publish_dir for it, and may hang there.
if BUILD_PLUGIN
pkglibexec_PROGRAMS += fors-outbox
else
check_PROGRAMS += fors-outbox
endif
fors_outbox_SOURCES = \
	keeper/files/helper_main.c \
	keeper/files/helper_serve.c \
	keeper/files/holder.c
fors_outbox_CFLAGS = $(AM_CFLAGS) -pthread
fors_outbox_LDFLAGS = $(AM_LDFLAGS) -pthread
fors_outbox_LDADD = libforskeeper.la libforscore.la $(ZLIB_LIBS) $(DL_LIBS)
