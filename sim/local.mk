# The fabric in time, packet by packet. Built on the model; the plugin does not have it.
noinst_LTLIBRARIES += libforssim.la
libforssim_la_SOURCES = \
	sim/build.c \
	sim/calendar.c sim/calendar.h \
	sim/deadlock.c \
	sim/histogram.c sim/histogram.h \
	sim/notes.c \
	sim/policy.c sim/policy.h \
	sim/policy_adaptive.c \
	sim/policy_detour.c \
	sim/policy_switch.c \
	sim/program.c sim/program.h \
	sim/qcn.c sim/qcn.h \
	sim/qcn_rate.c \
	sim/reshape.c \
	sim/sim.c sim/sim.h \
	sim/state.h \
	sim/switch.c \
	sim/traffic.c \
	sim/waiting.c
libforssim_la_LIBADD = libforsmodel.la
EXTRA_DIST += sim/README.md
