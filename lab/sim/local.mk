# The fabric in time, packet by packet. Built on the model; the plugin does not have it.
noinst_LTLIBRARIES += libforssim.la
libforssim_la_SOURCES = \
	lab/sim/build.c \
	lab/sim/calendar.c lab/sim/calendar.h \
	lab/sim/deadlock.c \
	lab/sim/histogram.c lab/sim/histogram.h \
	lab/sim/notes.c \
	lab/sim/policy.c lab/sim/policy.h \
	lab/sim/policy_adaptive.c \
	lab/sim/policy_detour.c \
	lab/sim/policy_switch.c \
	lab/sim/program.c lab/sim/program.h \
	lab/sim/qcn.c lab/sim/qcn.h \
	lab/sim/qcn_rate.c \
	lab/sim/reshape.c \
	lab/sim/sim.c lab/sim/sim.h \
	lab/sim/state.h \
	lab/sim/switch.c \
	lab/sim/traffic.c \
	lab/sim/waiting.c
libforssim_la_LIBADD = libforsmodel.la
EXTRA_DIST += lab/sim/README.md
