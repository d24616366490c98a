# The paper's methods: its closed form always, its integer programme when lp_solve is there; part of the core's library.
libforscore_la_SOURCES += ilp/closed_form.c ilp/closed_form.h ilp/closed_form_work.h \
	ilp/closed_form_inside.c \
	ilp/closed_form_lanes.c
if HAVE_LPSOLVE
libforscore_la_SOURCES += ilp/ilp.c ilp/phase.c ilp/phase.h
libforscore_la_LIBADD += $(LPSOLVE_LIBS)
else
EXTRA_DIST += ilp/ilp.c ilp/phase.c ilp/phase.h
endif
