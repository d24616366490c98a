# The command fors: all but main() as a library, for fuzzers.
bin_PROGRAMS += fors
fors_SOURCES = cli/fors.c cli/program.c
noinst_LTLIBRARIES += libforscli.la
libforscli_la_SOURCES = \
	cli/beside.c cli/beside.h \
	cli/cables.c cli/cables.h \
	cli/cli.h \
	cli/cmd_diff.c \
	cli/cmd_fabric.c \
	cli/cmd_forget.c \
	cli/cmd_jobs.c \
	cli/cmd_links.c \
	cli/cmd_plan.c \
	cli/cmd_schedule.c \
	cli/cmd_status.c \
	cli/cmd_verify.c \
	cli/cmd_wait.c \
	cli/cmd_watch.c \
	cli/values.c \
	cli/clock.c cli/clock.h \
	cli/combinations.c cli/combinations.h \
	cli/certificate.c cli/certificate.h \
	cli/compared.c cli/compared.h \
	cli/completion.c cli/completion.h \
	cli/diff_lfts.c cli/diff_lfts.h \
	cli/draw.c cli/draw.h \
	cli/file.c \
	cli/folders.c \
	cli/history.c \
	cli/json.c cli/json.h \
	cli/lacking.c cli/lacking.h \
	cli/levels.c cli/levels.h \
	cli/links.c \
	cli/load.c \
	cli/made.c cli/made.h \
	cli/options.c cli/options.h \
	cli/out.c \
	cli/jobs_demand.c cli/jobs_demand.h \
	cli/jobs_made.c cli/jobs_made.h \
	cli/owned.c cli/owned.h \
	cli/parse.c \
	cli/plan.h \
	cli/plan_demand.c cli/plan_demand.h \
	cli/plan_tell.c \
	cli/setters.c cli/setters.h \
	cli/slurm/child.c cli/slurm/child.h \
	cli/slurm/jobsfile.c cli/slurm/jobsfile.h \
	cli/slurm/lock.c cli/slurm/lock.h \
	cli/slurm/queue.c cli/slurm/queue.h \
	cli/slurm/slurm.c cli/slurm/slurm.h
libforscli_la_CPPFLAGS = $(AM_CPPFLAGS) -DFORS_LIBEXEC='"$(pkglibexecdir)"'
libforscli_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
# Programs link it, no shared library does: each file is compiled once.
libforscli_la_LIBTOOLFLAGS = --tag=disable-shared
fors_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fors_LDADD = libforscli.la libforscore.la libforschedcode.la $(JANSSON_LIBS) $(ZLIB_LIBS)

bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = cli/fors.bash
fishcompletiondir = $(datadir)/fish/vendor_completions.d
fishcompletion_DATA = cli/fors.fish
zshcompletiondir = $(datadir)/zsh/site-functions
zshcompletion_DATA = cli/_fors

# Made by the command itself, from its table of options. Who builds for another kind of machine says which program can
# run here: make FORS_TO_RUN=/usr/bin/fors
FORS_TO_RUN = ./fors$(EXEEXT)
CLEANFILES += cli/fors.bash cli/fors.fish cli/_fors
cli/fors.bash: fors$(EXEEXT)
	$(AM_V_GEN)$(FORS_TO_RUN) completion bash >$@.tmp && mv $@.tmp $@
cli/fors.fish: fors$(EXEEXT)
	$(AM_V_GEN)$(FORS_TO_RUN) completion fish >$@.tmp && mv $@.tmp $@
cli/_fors: fors$(EXEEXT)
	$(AM_V_GEN)$(FORS_TO_RUN) completion zsh >$@.tmp && mv $@.tmp $@

EXTRA_DIST += cli/README.md cli/slurm/README.md
