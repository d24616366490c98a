# The lab: the commands that only experiments need, as a program that fors becomes. Its files as a library, for fuzzers.
pkglibexec_PROGRAMS += fors-lab
fors_lab_SOURCES = lab/fors_lab.c cli/program.c
fors_lab_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
# Its library twice: commands of the product ask for functions of it, too.
fors_lab_LDADD = libforslab.la libforscli.la libforslab.la libforssim.la libforsmodel.la libforscore.la libforschedcode.la $(JANSSON_LIBS) $(ZLIB_LIBS)
noinst_LTLIBRARIES += libforslab.la
libforslab_la_SOURCES = \
	lab/analyze/analysis.c lab/analyze/analysis.h \
	lab/analyze/analysis_blocks.c \
	lab/analyze/analysis_costs.c \
	lab/analyze/analysis_json.c \
	lab/analyze/analysis_net.c \
	lab/analyze/analysis_page.c \
	lab/analyze/analysis_spread.c \
	lab/analyze/analysis_tree.c \
	lab/analyze/cmd_analyze.c \
	lab/analyze/cmd_indices.c \
	lab/analyze/ends.c lab/analyze/ends.h \
	lab/analyze/per_job.c lab/analyze/per_job.h \
	lab/options.c lab/options.h \
	lab/page/page.c lab/page/page.h \
	lab/replay/jobs_replay.c \
	lab/replay/records.c lab/replay/records.h \
	lab/replay/replay.c lab/replay/replay.h \
	lab/simulate/cmd_simulate.c \
	lab/simulate/simulation.c lab/simulate/simulation.h \
	lab/simulate/simulation_json.c \
	lab/simulate/simulation_load.c \
	lab/simulate/simulation_page.c \
	lab/simulate/simulation_policy.c \
	lab/simulate/simulation_wait.c \
	lab/trial/cmd_trial.c \
	lab/whatif/cmd_whatif.c \
	lab/whatif/explain.c lab/whatif/explain.h \
	lab/whatif/explain_lids.c \
	lab/whatif/whatif.h \
	lab/whatif/whatif_cases.c \
	lab/whatif/whatif_engine.c \
	lab/whatif/whatif_json.c \
	lab/whatif/whatif_net.c \
	lab/whatif/whatif_run.c \
	lab/whatif/whatif_shift.c \
	lab/whatif/whatif_simulate.c \
	lab/whatif/whatif_stop.c \
	lab/whatif/whatif_store.c
nodist_libforslab_la_SOURCES = lab/page/page_html.h
libforslab_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
libforslab_la_LIBTOOLFLAGS = --tag=disable-shared

# Who builds fors has the lab beside it, since it becomes that.
built_fors = fors$(EXEEXT)
$(built_fors): | fors-lab$(EXEEXT)

# fors trial: a program in Python, beside fors-lab; its modules, and what runs on hosts.
pkglibexec_SCRIPTS = fors-trial
CLEANFILES += fors-trial
fors-trial: $(srcdir)/lab/trial/fors-trial
	$(AM_V_GEN)ln -sf $(abs_srcdir)/lab/trial/fors-trial $@
trialexecdir = $(pkglibexecdir)/trial
dist_trialexec_DATA = lab/trial/agent.py lab/trial/children.py lab/trial/fabric.py lab/trial/guard.py lab/trial/hosts.py \
	lab/trial/result.py lab/trial/settings.py lab/trial/steps.py lab/trial/world.py
EXTRA_DIST += lab/trial/fors-trial lab/trial/sweep.py lab/trial/testbed.py

# What `fors trial` promises, over the testbed: some dozens of minutes, as root.
.PHONY: trial-sweep
trial-sweep: fors fors-trial
	FORS_BUILDDIR=$(abs_builddir) python3 $(srcdir)/lab/trial/sweep.py $(TRIAL_FLAGS)

# The page that --html writes, as a C string, with the colours of routing engines that lab/bench/svg.py draws with too.
BUILT_SOURCES = lab/page/page_html.h
CLEANFILES += lab/page/page_html.h
EXTRA_DIST += lab/page/engine_colours.json lab/page/page.html
lab/page/page_html.h: $(srcdir)/lab/page/page.html $(srcdir)/lab/page/engine_colours.json
	$(AM_V_GEN)$(MKDIR_P) lab/page && sed -e '/@ENGINE_COLOURS@/{r $(srcdir)/lab/page/engine_colours.json' -e 'd}' $(srcdir)/lab/page/page.html | \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' >$@
page_object = lab/page/libforslab_la-page.lo
$(page_object): lab/page/page_html.h
